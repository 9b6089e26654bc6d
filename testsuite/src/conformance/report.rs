//! The outcome of a run: counts per overload, failures, files that could not be read, as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use super::case::{Case, CaseError};
use super::compare::Verdict;
use super::known::is_known;
use super::mismatch::Mismatch;

/// A mismatch in words; what crosses process borders and stands in the JSON report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// [`Mismatch::kind`].
    pub kind: String,
    /// The mismatch's message.
    pub text: String,
}

impl From<&Mismatch> for Finding {
    fn from(mismatch: &Mismatch) -> Finding {
        Finding { kind: mismatch.kind().to_owned(), text: mismatch.to_string() }
    }
}

/// A case that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The case's id.
    pub case: String,
    /// Its overload.
    pub op: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// What differs; never empty.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for finding in &self.findings {
            write!(f, "{separator}{}: {}", self.case, finding.text)?;
            separator = "\n";
        }
        Ok(())
    }
}

/// How many cases passed, failed, or named an overload outside the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Everything agreed.
    pub passed: usize,
    /// Something differed.
    pub failed: usize,
    /// The overload is not in the table.
    pub unsupported: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} unsupported", self.passed, self.failed, self.unsupported)
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// The sum over all overloads.
    pub total: Tally,
    /// The tally of each overload.
    pub overloads: BTreeMap<String, Tally>,
    /// The cases that failed, in order of overload and file.
    pub failures: Vec<Failure>,
    /// Files that are malformed or missing, in words. Their cases are in no tally.
    pub unreadable: Vec<String>,
    /// Cases that passed although they are listed as known differences.
    pub agreed: Vec<String>,
}

/// A [`Verdict`] whose mismatches are in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    Passed,
    Unsupported,
    Failed(Vec<Finding>),
}

impl From<&Verdict> for Told {
    fn from(verdict: &Verdict) -> Told {
        match verdict {
            Verdict::Passed => Told::Passed,
            Verdict::Unsupported => Told::Unsupported,
            Verdict::Failed(mismatches) => Told::Failed(mismatches.iter().map(Finding::from).collect()),
        }
    }
}

impl Report {
    /// Counts one case.
    pub fn record(&mut self, case: &Case, verdict: &Verdict) {
        self.tell(case, verdict.into());
    }

    pub(super) fn tell(&mut self, case: &Case, told: Told) {
        let tally = self.overloads.entry(case.op.clone()).or_default();
        match told {
            Told::Passed => {
                tally.passed += 1;
                self.total.passed += 1;
                if is_known(&case.id) {
                    self.agreed.push(case.id.clone());
                }
            }
            Told::Unsupported => {
                tally.unsupported += 1;
                self.total.unsupported += 1;
            }
            Told::Failed(findings) => {
                tally.failed += 1;
                self.total.failed += 1;
                let (case, op, tags) = (case.id.clone(), case.op.clone(), case.tags.clone());
                self.failures.push(Failure { case, op, tags, findings });
            }
        }
    }

    /// Notes a file that could not be read.
    pub fn unreadable(&mut self, error: &CaseError) {
        self.unreadable.push(error.to_string());
    }

    /// Adds another run's outcome.
    pub fn merge(&mut self, other: Report) {
        for (op, theirs) in other.overloads {
            self.overloads.entry(op).or_default().add(theirs);
        }
        self.total.add(other.total);
        self.failures.extend(other.failures);
        self.unreadable.extend(other.unreadable);
        self.agreed.extend(other.agreed);
        self.failures.sort_by(|a, b| a.op.cmp(&b.op));
        self.unreadable.sort();
        self.agreed.sort();
    }

    /// True if no case ran and no file was found broken.
    pub fn is_empty(&self) -> bool {
        self.overloads.is_empty() && self.unreadable.is_empty()
    }

    /// How many of the cases that failed are known differences.
    fn known(&self) -> usize {
        self.failures.iter().filter(|failure| is_known(&failure.case)).count()
    }

    /// True if every file could be read, and the cases that failed are those that are known to differ.
    pub fn is_clean(&self) -> bool {
        self.total.failed == self.known() && self.unreadable.is_empty() && self.agreed.is_empty()
    }

    /// The table, one line per overload that the library has, the unreadable files, and the closing line
    /// `N passed, N failed, N unsupported`.
    pub fn table(&self) -> String {
        let supported: Vec<_> = self.overloads.iter().filter(|(_, t)| t.passed + t.failed > 0).collect();
        let absent = self.overloads.len() - supported.len();
        let width = supported.iter().map(|(op, _)| op.chars().count()).max().unwrap_or(0).max("overload".len());
        let mut text = String::new();
        // Writing to a String cannot fail.
        if !supported.is_empty() {
            let _ = writeln!(text, "{:<width$}  {:>6}  {:>6}", "overload", "passed", "failed");
        }
        for (op, tally) in supported {
            let _ = writeln!(text, "{op:<width$}  {:>6}  {:>6}", tally.passed, tally.failed);
        }
        if absent > 0 {
            let _ = writeln!(text, "({absent} overloads are not in the table)");
        }
        for problem in &self.unreadable {
            let _ = writeln!(text, "unreadable: {problem}");
        }
        for case in &self.agreed {
            let _ = writeln!(text, "no longer different, to be taken out of testsuite/known_differences.txt: {case}");
        }
        if self.known() > 0 {
            let (known, failed) = (self.known(), self.total.failed);
            let _ = writeln!(text, "{known} of {failed} failures are in testsuite/known_differences.txt, with reasons");
        }
        let _ = writeln!(text, "{}", self.total);
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        // Only string keys and plain numbers, so there is nothing that could fail; an empty object would show it.
        serde_json::to_string_pretty(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.unsupported += other.unsupported;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{ErrorSpec, Expected};

    fn case(id: &str, op: &str) -> Case {
        Case {
            id: id.to_owned(),
            op: op.to_owned(),
            args: Vec::new(),
            expected: Expected::Error(ErrorSpec { kind: String::new(), message: String::new() }),
            rtol: 0.0,
            atol: 0.0,
            f64_excess: 0.0,
            tags: vec!["core".to_owned()],
            origin: String::new(),
        }
    }

    #[test]
    fn the_table_closes_with_the_sum() {
        let mut first = Report::default();
        first.record(&case("b#1", "b"), &Verdict::Failed(vec![Mismatch::TimedOut { seconds: 3 }]));
        first.record(&case("c#1", "c"), &Verdict::Unsupported);
        let mut report = Report::default();
        report.record(&case("a.x#1", "a.x"), &Verdict::Passed);
        first.merge(report);
        assert!(!first.is_clean());
        let table = first.table();
        let expected = "overload  passed  failed\na.x            1       0\nb              0       1\n\
                        (1 overloads are not in the table)\n1 passed, 1 failed, 1 unsupported\n";
        assert_eq!(table, expected);
        assert_eq!(first.failures[0].to_string(), "b#1: no answer within 3 s");
        let json: serde_json::Value = serde_json::from_str(&first.json()).unwrap();
        assert_eq!(json["total"]["unsupported"], 1);
        assert_eq!(json["failures"][0]["findings"][0]["kind"], "timed_out");
    }

    #[test]
    fn known_differences_are_clean_until_they_agree() {
        let known = case("triu_#b23b27629ab21595", "triu_");
        let mut differs = Report::default();
        differs.record(&known, &Verdict::Failed(vec![Mismatch::TimedOut { seconds: 3 }]));
        assert!(
            differs.is_clean() && differs.table().contains("1 of 1 failures are in testsuite/known_differences.txt")
        );
        differs.record(&case("triu_#1", "triu_"), &Verdict::Failed(vec![Mismatch::TimedOut { seconds: 3 }]));
        assert!(!differs.is_clean());
        let mut agrees = Report::default();
        agrees.record(&known, &Verdict::Passed);
        assert!(!agrees.is_clean() && agrees.table().contains("no longer different"));
    }

    #[test]
    fn unsupported_is_clean_and_unreadable_is_not() {
        let mut report = Report::default();
        report.record(&case("c#1", "c"), &Verdict::Unsupported);
        assert!(report.is_clean());
        report.unreadable(&CaseError::NoCases { dir: "d".to_owned(), asked: vec![] });
        assert!(!report.is_clean() && report.table().contains("unreadable: d: holds no case files"));
    }
}

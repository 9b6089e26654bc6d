//! What came of many archives: a table with a line for each, and one that closes it.

use super::run::{Checked, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Every archive that was checked.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order in which they were checked.
    pub checked: Vec<Checked>,
}

/// How many archives passed, failed, and lack operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// As recorded.
    pub passed: usize,
    /// Not as recorded.
    pub failed: usize,
    /// Not run, because operators are missing.
    pub unsupported: usize,
}

impl Report {
    /// How many there are of each verdict.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for checked in &self.checked {
            match checked.verdict {
                Verdict::Passed => tally.passed += 1,
                Verdict::Failed(_) => tally.failed += 1,
                Verdict::Unsupported(_) => tally.unsupported += 1,
            }
        }
        tally
    }

    /// Every failure, a line each.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        self.checked.iter().flat_map(|checked| {
            let Verdict::Failed(failures) = &checked.verdict else { return Vec::new() };
            failures.iter().map(|failure| format!("{} ({}): {failure}", checked.name, checked.form)).collect::<Vec<_>>()
        })
    }

    /// Every value whose strides alone are not those that its archive records, a line each.
    pub fn strides(&self) -> impl Iterator<Item = String> {
        self.checked.iter().flat_map(|checked| {
            checked.strides.iter().map(|line| format!("{} ({}): strides: {line}", checked.name, checked.form))
        })
    }

    /// The table, the operators that are missing with the number of archives that lack them, and the closing line.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut lacking: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for Checked { name, form, verdict, values, strides, time } in &self.checked {
            let note = match verdict {
                Verdict::Passed => "passed".to_owned(),
                Verdict::Failed(failures) => format!("FAILED     {} differences", failures.len()),
                Verdict::Unsupported(missing) => {
                    for operator in missing {
                        let (archives, nodes) = lacking.entry(&operator.target).or_default();
                        *archives += 1;
                        *nodes += operator.nodes;
                    }
                    let names: Vec<&str> = missing.iter().map(|operator| &*operator.target).collect();
                    format!("unsupported {}", names.join(", "))
                }
            };
            let note = match strides.len() {
                0 => note,
                count => format!("{note}; {count} values have other strides than recorded"),
            };
            let _ = writeln!(text, "{name:<22} {form:<9} {values:>6} values {:>7.2} s  {note}", time.as_secs_f64());
        }
        for (operator, (archives, nodes)) in lacking {
            let _ = writeln!(text, "missing: {operator}: {archives} archives, {nodes} nodes");
        }
        let Tally { passed, failed, unsupported } = self.tally();
        let _ = writeln!(text, "{passed} passed, {failed} failed, {unsupported} unsupported");
        text
    }
}

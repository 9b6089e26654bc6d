//! What has been checked: the committed list of formulas and folds whose kernels all passed, and what passed on this
//! machine since. Owns both files and the fingerprints in them; an entry counts as long as its text is the same.

use super::Everything;
use monomorph_cuda::source;
use monomorph_testsuite::cuda::Checked;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use xtask::workspace_root;

/// The committed list: a fingerprint of what all kernels share, and one of each formula.
const COMMITTED: &str = "devices/cuda/checked.txt";

/// What passed on this machine.
const LOCAL: &str = "target/cuda/passed.txt";

/// A hash that is the same on every machine and with every compiler (G. Fowler, L. C. Noll, K.-P. Vo).
fn fingerprint<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Which cases have passed.
pub(crate) struct Ledger {
    shared: u64,
    formulas: BTreeMap<String, u64>,
    /// What the cases of each leave in the local list once they have passed.
    lines: BTreeMap<String, Vec<String>>,
    committed: BTreeMap<String, u64>,
    local: BTreeSet<String>,
    file: PathBuf,
}

impl Ledger {
    /// The ledger of a check. `what` is what it depends on beside the text of the kernels.
    pub(crate) fn open(everything: &Everything, what: &str) -> Result<Ledger, String> {
        fn note<C: Checked>(cases: &[C], texts: &mut BTreeMap<String, Vec<(String, String)>>) {
            let all = cases.iter();
            all.for_each(|c| texts.entry(c.family().to_owned()).or_default().push((c.name(), c.text())));
        }
        let mut texts = BTreeMap::new();
        note(&everything.formulas, &mut texts);
        note(&everything.folds, &mut texts);
        note(&everything.nearest, &mut texts);
        let shared = fingerprint([source(&[]).as_str(), what]);
        let hash = |cases: &[(String, String)]| fingerprint(cases.iter().map(|(_, text)| text.as_str()));
        let formulas = texts.iter().map(|(name, cases)| (name.clone(), hash(cases)));
        let line = |(name, text): &(String, String)| line(name, text, shared);
        let lines = texts.iter().map(|(name, cases)| (name.clone(), cases.iter().map(line).collect()));
        let root = workspace_root();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let mut ledger = Ledger {
            shared,
            formulas: formulas.collect(),
            lines: lines.collect(),
            committed: BTreeMap::new(),
            local: read(&root.join(LOCAL)).lines().map(str::to_owned).collect(),
            file: root.join(LOCAL),
        };
        let lines = read(&root.join(COMMITTED));
        let mut entries = lines.lines().filter_map(|line| {
            let (name, hash) = line.split_once(' ')?;
            Some((name.to_owned(), u64::from_str_radix(hash, 16).ok()?))
        });
        // What all kernels share comes first; if that changed, everything did.
        if entries.next() == Some(("shared".to_owned(), ledger.shared)) {
            ledger.committed = entries.collect();
        }
        std::fs::create_dir_all(root.join("target/cuda")).map_err(|error| format!("target/cuda: {error}"))?;
        Ok(ledger)
    }

    /// Whether all cases of this formula passed when the list was committed, and it has not changed since.
    pub(crate) fn is_committed(&self, case: &impl Checked) -> bool {
        self.committed.get(case.family()).is_some_and(|hash| self.formulas.get(case.family()) == Some(hash))
    }

    fn line(&self, case: &impl Checked) -> String {
        line(&case.name(), &case.text(), self.shared)
    }

    /// Whether this case passed on this machine.
    pub(crate) fn has_passed(&self, case: &impl Checked) -> bool {
        self.local.contains(&self.line(case))
    }

    /// Notes that these cases passed.
    pub(crate) fn pass<'a, C: Checked + 'a>(&mut self, cases: impl Iterator<Item = &'a C>) -> Result<(), String> {
        let mut lines = String::new();
        for case in cases {
            let line = self.line(case);
            let _ = writeln!(lines, "{line}");
            self.local.insert(line);
        }
        let failed = |error: std::io::Error| format!("{}: {error}", self.file.display());
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.file).map_err(failed)?;
        std::io::BufWriter::new(file).write_all(lines.as_bytes()).map_err(failed)
    }

    /// Writes the list to commit: every formula and fold all cases of which have passed.
    pub(crate) fn commit(&self) -> Result<(), String> {
        let mut text = format!("shared {:016x}\n", self.shared);
        for (name, hash) in &self.formulas {
            let passed =
                || self.lines.get(name).is_some_and(|lines| lines.iter().all(|line| self.local.contains(line)));
            if self.committed.get(name) == Some(hash) || passed() {
                let _ = writeln!(text, "{name} {hash:016x}");
            }
        }
        std::fs::write(workspace_root().join(COMMITTED), text).map_err(|error| format!("{COMMITTED}: {error}"))
    }
}

/// What a case leaves in the local list.
fn line(name: &str, text: &str, shared: u64) -> String {
    format!("{name} {:016x}", fingerprint([text, &format!("{shared:x}")]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_tell_texts_and_their_borders_apart() {
        assert_eq!(fingerprint(["ab", "c"]), fingerprint(["ab", "c"]));
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
    }
}

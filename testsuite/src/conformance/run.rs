//! Going through a directory of cases: which files, which cases, one verdict each. Runs in this process, so a panic
//! costs one case but an abort costs the run; `worker.rs` has the form that survives aborts.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::case::{Case, CaseError, CaseFile};
use super::compare::{Verdict, compare};
use super::mismatch::Mismatch;
use super::replay::{Call, Replayer};
use super::report::Report;
use super::storages::Storages;

/// Which cases of a directory to run. Empty lists select everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Operators: a file's base name (`add`), a name (`add_`) or an overload (`add.out`). A case needs to match one.
    pub ops: Vec<String>,
    /// Tags. A case needs to have all.
    pub tags: Vec<String>,
}

impl Selection {
    /// Whether this case of the file `base` is selected.
    pub fn takes(&self, base: &str, case: &Case) -> bool {
        let name = case.op.split('.').next().unwrap_or_default();
        let op = |wanted: &String| wanted == base || wanted == name || *wanted == case.op;
        (self.ops.is_empty() || self.ops.iter().any(op)) && self.tags.iter().all(|tag| case.tags.contains(tag))
    }

    /// The error of a run that had nothing to run: a misspelt name must not look like success.
    pub(super) fn found_nothing(&self, dir: &Path) -> CaseError {
        let asked = self.ops.iter().cloned().chain(self.tags.iter().map(|tag| format!("tag {tag}"))).collect();
        CaseError::NoCases { dir: dir.display().to_string(), asked }
    }

    /// Whether a file can hold selected cases, judged by its name alone. `add_`, `add.out` and `__iadd__` may stand in
    /// files of several names, so this only rules out what plainly is another operator.
    fn may_be_in(&self, base: &str) -> bool {
        let core = |name: &str| name.trim_matches('_').replace("__i", "__");
        let same = |op: &String| core(op.split('.').next().unwrap_or_default()).contains(&core(base)) || op == base;
        self.ops.is_empty() || self.ops.iter().any(same)
    }
}

/// The base names of a directory's case files that `selection` may find cases in, sorted. None at all is an error.
pub fn bases(dir: &Path, selection: &Selection) -> Result<Vec<String>, CaseError> {
    let failed = |error: std::io::Error| CaseError::read(dir, &error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "json")
            && let Some(base) = path.file_stem().and_then(|stem| stem.to_str())
            && selection.may_be_in(base)
        {
            names.push(base.to_owned());
        }
    }
    names.sort();
    if names.is_empty() { Err(selection.found_nothing(dir)) } else { Ok(names) }
}

/// Runs one case. A panic is a failure of the case.
pub fn judge(case: &Case, storages: &Storages, replayer: &mut impl Replayer) -> Verdict {
    let outcome = catch_unwind(AssertUnwindSafe(|| replayer.call(&Call::new(case, storages))));
    match outcome {
        Ok(outcome) => compare(case, storages, &outcome),
        Err(panic) => Verdict::Failed(vec![Mismatch::Panicked { message: panic_message(&*panic) }]),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no message)").to_owned()
}

/// Runs the selected cases of `dir` in this process, each base with a replayer of its own from `replayer`.
pub fn run_here<R: Replayer>(
    dir: &Path,
    selection: &Selection,
    mut replayer: impl FnMut() -> R,
) -> Result<Report, CaseError> {
    let mut report = Report::default();
    for base in bases(dir, selection)? {
        match CaseFile::load(dir, &base) {
            Ok(file) => {
                let mut replayer = replayer();
                for case in file.cases.iter().filter(|case| selection.takes(&base, case)) {
                    report.record(case, &judge(case, &file.storages, &mut replayer));
                }
            }
            Err(error) => report.unreadable(&error),
        }
    }
    if report.is_empty() { Err(selection.found_nothing(dir)) } else { Ok(report) }
}

/// The directory of the workspace that this crate was built in.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

static GOLDEN: OnceLock<PathBuf> = OnceLock::new();

/// The small recorded subset that is part of the repository.
pub fn golden_cases() -> PathBuf {
    GOLDEN.get().cloned().unwrap_or_else(|| workspace_root().join("testsuite/golden/cases"))
}

/// Takes the small subset from another folder, for programs that run outside of the repository. `false` where one was
/// told before.
pub fn use_golden_cases(folder: PathBuf) -> bool {
    GOLDEN.set(folder).is_ok()
}

/// The full recording, where there is one: the directory that `MONOMORPH_CASES` names, else
/// `../shared/conformance/dev` beside the workspace.
pub fn recorded_cases() -> Option<PathBuf> {
    let named = std::env::var_os("MONOMORPH_CASES").map(PathBuf::from);
    let dir = named.unwrap_or_else(|| workspace_root().join("../shared/conformance/dev"));
    dir.is_dir().then_some(dir)
}

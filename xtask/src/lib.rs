//! What the commands of `cargo xtask` share: where the workspace is, cargo in it, and lists of steps.
#![forbid(unsafe_code)]

pub mod steps;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of the workspace.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// `cargo` with these arguments, in the workspace.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(workspace_root());
    command
}

/// A command of cargo for all packages that are tested, with the features that they have together. Cargo chooses the
/// features of dependencies by the packages that a command names, and builds everything once more where they differ: so
/// what runs the tests of one package names all of them, too.
pub fn tested(command: &str, args: &[&str]) -> Command {
    cargo(&[&[command, "--workspace", "--exclude", "monomorph-benches"], args].concat())
}

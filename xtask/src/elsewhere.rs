//! Checks that leave the workspace: the out-of-tree crate as its copy in another place, and the crates for a target
//! without an operating system. Owns the copy and the choice of target; what is built is the crates'.

use std::path::Path;
use std::process::Command;
use xtask::steps::{Outcome, Steps};
use xtask::{cargo, workspace_root};

/// The crate that users copy.
const COPIED: &str = "examples/out_of_tree";

/// A target without an operating system, threads or files.
const BARE: &str = "wasm32-unknown-unknown";

pub(crate) fn steps(steps: &mut Steps) {
    steps.step("a copy of the out-of-tree crate", || match copied() {
        Ok(manifest) => {
            status(cargo(&["check", "--quiet", "--offline", "--all-targets", "--manifest-path", &manifest]))
        }
        Err(problem) => {
            eprintln!("{problem}");
            Outcome::Failed
        }
    });
    steps.step(BARE, || match has_target() {
        true => status(cargo(&["check", "--quiet", "-p", "monomorph", "--target", BARE])),
        false => Outcome::Skipped("the target is not installed: rustup target add wasm32-unknown-unknown"),
    });
}

fn status(mut command: Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        _ => Outcome::Failed,
    }
}

/// Copies the crate out of the workspace, with the places of its dependencies written out; its manifest is the result.
fn copied() -> Result<String, String> {
    let root = workspace_root();
    let to = root.join("target/copied");
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    if to.exists() {
        std::fs::remove_dir_all(&to).map_err(|error| failed(&to, error))?;
    }
    for dir in ["src", "tests"] {
        let (from, to) = (root.join(COPIED).join(dir), to.join(dir));
        std::fs::create_dir_all(&to).map_err(|error| failed(&to, error))?;
        for entry in std::fs::read_dir(&from).map_err(|error| failed(&from, error))? {
            let path = entry.map_err(|error| failed(&from, error))?.path();
            let name = path.file_name().unwrap_or_default();
            std::fs::copy(&path, to.join(name)).map_err(|error| failed(&path, error))?;
        }
    }
    let manifest = root.join(COPIED).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| failed(&manifest, error))?;
    let own = to.join("Cargo.toml");
    std::fs::write(&own, outside(&text, &root)).map_err(|error| failed(&own, error))?;
    let lock = root.join("Cargo.lock");
    std::fs::copy(&lock, to.join("Cargo.lock")).map_err(|error| failed(&lock, error))?;
    Ok(own.display().to_string())
}

/// The manifest of the crate where it is no longer below the workspace.
fn outside(manifest: &str, root: &Path) -> String {
    let root = root.display().to_string();
    manifest.replace("\"../../", &format!("\"{root}/")).replace("\"../..\"", &format!("\"{root}\"")) + "\n[workspace]\n"
}

/// True if Rust's standard library for the target is installed.
fn has_target() -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", BARE]).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_out() {
        let text = "[dependencies]\na = { path = \"../..\" }\nb = { path = \"../../testsuite\" }\n";
        let want = "[dependencies]\na = { path = \"/x\" }\nb = { path = \"/x/testsuite\" }\n\n[workspace]\n";
        assert_eq!(outside(text, Path::new("/x")), want);
    }

    #[test]
    fn the_crate_inherits_nothing() {
        let manifest = workspace_root().join(COPIED).join("Cargo.toml");
        let text = std::fs::read_to_string(manifest).expect("the manifest");
        assert!(!text.contains("workspace = true") && !text.contains(".workspace"), "{text}");
    }
}

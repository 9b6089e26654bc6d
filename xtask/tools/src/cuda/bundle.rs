//! `cargo xtask cuda-bundle`: one program with everything that a machine with a GPU needs to run the checks and the
//! figures. Owns where it is made and how large it may be.

use super::setup;
use std::process::Command;
use xtask::cargo;
use xtask::workspace_root;

/// The program, and where machine code is kept between runs.
const PROGRAM: &str = "target/cuda/monomorph-gpu";
const FOLDER: &str = "target/cuda/bundle";

/// Bytes that it may have.
const LIMIT: u64 = 60_000_000;

/// Builds the program and has it carry its kernels.
pub(crate) fn bundle() -> Result<bool, String> {
    let nvrtc = setup::library();
    if !nvrtc.is_file() {
        return Err(format!("{} is not there; cargo xtask cuda-setup installs it", nvrtc.display()));
    }
    let built = cargo(&["build", "--release", "-p", "monomorph-gpu"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("monomorph-gpu does not build".to_owned());
    }
    let root = workspace_root();
    let (built, out) = (root.join("target/release/monomorph-gpu"), root.join(PROGRAM));
    let program = root.join("target/cuda/monomorph-gpu-empty");
    std::fs::create_dir_all(root.join(FOLDER)).map_err(|error| format!("{FOLDER}: {error}"))?;
    // Names are not worth their bytes; where nobody can strip them, they go along.
    let stripped = Command::new("strip").arg("-o").arg(&program).arg(&built).status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(&built, &program).map_err(|error| format!("{}: {error}", program.display()))?;
    }
    let mut pack = Command::new(&program);
    pack.arg("pack").arg("--nvrtc").arg(&nvrtc).arg("--out").arg(&out).arg("--folder").arg(root.join(FOLDER));
    let packed = pack.status().map_err(|error| format!("{}: {error}", program.display()))?;
    if !packed.success() {
        return Ok(false);
    }
    let bytes = std::fs::metadata(&out).map_err(|error| format!("{}: {error}", out.display()))?.len();
    println!("take {PROGRAM} to a machine with a GPU of sm_90 and run it: ./monomorph-gpu");
    if bytes >= LIMIT {
        return Err(format!("{} has {bytes} bytes; fewer than {LIMIT} are wanted", out.display()));
    }
    Ok(true)
}

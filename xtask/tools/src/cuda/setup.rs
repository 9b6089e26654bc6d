//! Where NVIDIA's run-time compiler is, and how it gets there. Owns the folder; the library is loaded by
//! `monomorph-cuda`.

use std::path::PathBuf;
use std::process::Command;
use xtask::workspace_root;

/// What is installed: machine code of this compiler is what the kernels are judged by.
const WHEEL: &str = "nvidia-cuda-nvrtc==13.0.*";

/// Where it is installed, below the workspace.
const FOLDER: &str = ".cuda";

/// The library in the folder.
const LIBRARY: &str = "nvidia/cu13/lib/libnvrtc.so.13";

/// The compiler's library: the one that `MONOMORPH_NVRTC` names, or the installed one.
pub(crate) fn library() -> PathBuf {
    let installed = || workspace_root().join(FOLDER).join(LIBRARY);
    std::env::var_os("MONOMORPH_NVRTC").map_or_else(installed, PathBuf::from)
}

/// `cargo xtask cuda-setup`: installs the compiler unless it is there.
pub(crate) fn install() -> Result<bool, String> {
    let library = library();
    if library.is_file() {
        println!("{} is there", library.display());
        return Ok(true);
    }
    let python = std::env::var_os("MONOMORPH_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--upgrade"]);
    command.arg("--target").arg(workspace_root().join(FOLDER)).arg(WHEEL);
    let failed = |why: String| format!("{} -m pip install {WHEEL}: {why}", python.display());
    let status = command.status().map_err(|error| failed(error.to_string()))?;
    match (status.success(), library.is_file()) {
        (true, true) => {
            println!("{} is installed", library.display());
            Ok(true)
        }
        (true, false) => Err(failed(format!("there is no {} in what it installed", library.display()))),
        _ => Err(failed(format!("{status}"))),
    }
}

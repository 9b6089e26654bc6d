//! A stand-in for NVIDIA's driver and compiler, in one shared object that is built from the C++ of this folder: what
//! `monomorph-cuda` calls is checked and really computes, on a machine without a GPU. Owns building it and the words
//! that it is told; what the stand-in looks at is said in `state.cpp` and `driver.cpp`.

use super::computes::{COMPILER, has_compiler};
use monomorph_cuda::{Nvrtc, Paths};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The stand-in, in use by this process.
pub struct StandIn {
    compiler: Nvrtc,
}

fn text() -> String {
    let parts = [
        "static const char *const SHIM = R\"shim(",
        include_str!("../host.h"),
        ")shim\";",
        include_str!("state.cpp"),
        include_str!("driver.cpp"),
        include_str!("compiler.cpp"),
    ];
    parts.join("\n")
}

impl StandIn {
    /// Builds the stand-in below `folder` and says where it is. `None` where there is no compiler of C++, or no Linux.
    ///
    /// # Errors
    /// No room, or a text that does not compile.
    pub fn build(folder: &Path) -> Result<Option<PathBuf>, String> {
        // Its files are Linux's.
        if !cfg!(target_os = "linux") || !has_compiler() {
            return Ok(None);
        }
        let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let own = format!("stand_in-{}", std::process::id());
        let (file, library) = (folder.join(format!("{own}.cpp")), folder.join(format!("{own}.so")));
        std::fs::write(&file, text()).map_err(|error| failed(&file, error))?;
        let mut command = Command::new(COMPILER);
        command.args(["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]);
        let built =
            command.arg(&library).arg(&file).arg("-ldl").output().map_err(|error| format!("{COMPILER}: {error}"))?;
        std::fs::remove_file(&file).map_err(|error| failed(&file, error))?;
        if !built.status.success() {
            return Err(format!("the stand-in does not compile:\n{}", String::from_utf8_lossy(&built.stderr)));
        }
        Ok(Some(library))
    }

    /// Builds the stand-in below `folder`, where compiled kernels are kept, too, and makes it the driver of this
    /// process. `None` where there is no compiler of C++, or no Linux.
    ///
    /// # Errors
    /// No room, a text that does not compile, or a process that has a driver.
    pub fn start(folder: &Path) -> Result<Option<StandIn>, String> {
        let Some(library) = StandIn::build(folder)? else { return Ok(None) };
        let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
        let paths =
            Paths { driver: Some(library.clone()), nvrtc: Some(library.clone()), cache: Some(folder.join("kernels")) };
        if !paths.apply() {
            return Err("another driver is in use".to_owned());
        }
        let compiler = Nvrtc::load(&library).map_err(|error| error.to_string())?;
        let stand_in = StandIn { compiler };
        stand_in.tell("reset");
        // What is loaded stays where it is without its name.
        monomorph_cuda::device_count().map_err(|error| error.to_string())?;
        std::fs::remove_file(&library).map_err(|error| failed(&library, error))?;
        Ok(Some(stand_in))
    }

    /// Tells the stand-in something and gives its answer: see `compiler.cpp`.
    pub fn tell(&self, words: &str) -> String {
        match self.compiler.compile(&format!("#stand-in {words}"), "sm_90") {
            Ok(compiled) => compiled.ptx,
            Err(error) => format!("{error}"),
        }
    }
}

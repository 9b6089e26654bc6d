//! Programs that a test compiles against the library, which lies as it was built beside the test's own program: nothing
//! is built twice, and no registry is asked.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

/// The program of the running test.
fn program() -> PathBuf {
    std::env::current_exe().expect("the path of this program")
}

fn dependencies() -> PathBuf {
    program().parent().expect("a directory").to_path_buf()
}

/// The library, newest first where there are several: others are left from builds with other features or flags.
fn libraries(dir: &Path) -> Vec<PathBuf> {
    let built = |path: &PathBuf| path.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let linked = built(&program());
    let files = std::fs::read_dir(dir).expect("the directory of this program").flatten().map(|entry| entry.path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libmonomorph-") && name.ends_with(".rlib")
    };
    let mut libraries: Vec<PathBuf> = files.filter(is_library).filter(|path| built(path) <= linked).collect();
    libraries.sort_by_key(|path| std::cmp::Reverse(built(path)));
    assert!(!libraries.is_empty(), "the library is built, because this program depends on it");
    libraries
}

/// Compiles a program up to its object file, which is where errors of constants show.
///
/// # Panics
/// If there is no compiler, or the running program is no test of a crate that depends on the library.
pub fn compile(source: &Path, object: &Path) -> Output {
    let dir = dependencies();
    let mut outputs = libraries(&dir).into_iter().map(|library| compile_with(&library, &dir, source, object));
    let first = outputs.next().expect("at least one library");
    // What a library was built of may have been built anew since.
    let is_stale = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("error[E0463]");
    if is_stale(&first) { outputs.find(|output| !is_stale(output)).unwrap_or(first) } else { first }
}

fn compile_with(library: &Path, dir: &Path, source: &Path, object: &Path) -> Output {
    let mut dependency = std::ffi::OsString::from("dependency=");
    dependency.push(dir);
    let mut library_argument = std::ffi::OsString::from("monomorph=");
    library_argument.push(library);
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--crate-name", "case", "--emit", "obj", "-o"])
        .arg(object)
        .arg("--extern")
        .arg(library_argument)
        .arg("-L")
        .arg(dependency)
        .arg(source.file_name().expect("a file"))
        .current_dir(source.parent().expect("a directory"))
        .output()
        .expect("the compiler that built this program")
}

//! The engine of an installed PyTorch: finds it through a Python interpreter and builds `benches/torch/engine.cpp`
//! against it, once per version and source. Nothing else of the workspace needs PyTorch or a C++ compiler.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::workspace_root;

/// The variable that names the interpreter.
const PYTHON: &str = "MONOMORPH_PYTHON";

/// An installed PyTorch.
#[derive(Debug, PartialEq)]
struct Installed {
    version: String,
    root: PathBuf,
    abi: String,
}

const PROBE: &str =
    "import torch; print(torch.__version__.split('+')[0], int(torch._C._GLIBCXX_USE_CXX11_ABI), torch.__path__[0])";

impl Installed {
    fn find() -> Result<Installed, String> {
        let mut python = python();
        let shown = python.get_program().to_string_lossy().into_owned();
        let way_out = format!("give an interpreter that can `import torch` in {PYTHON}");
        let output = python
            .args(["-c", PROBE])
            .output()
            .map_err(|error| format!("PyTorch is looked for through {shown}: {error}; {way_out}"))?;
        if !output.status.success() {
            let problem = String::from_utf8_lossy(&output.stderr);
            let last = problem.trim_end().lines().last().unwrap_or_default().to_owned();
            return Err(format!("{shown} finds no PyTorch ({last}); {way_out}"));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Installed::parse(&text).ok_or_else(|| format!("{shown} prints {text:?} for its PyTorch"))
    }

    fn parse(text: &str) -> Option<Installed> {
        let mut words = text.trim_end().splitn(3, ' ');
        let (version, abi, root) = (words.next()?, words.next()?, words.next()?);
        Some(Installed { version: version.to_owned(), abi: abi.to_owned(), root: root.into() })
    }
}

/// The interpreter that has a PyTorch.
pub(crate) fn python() -> Command {
    Command::new(std::env::var_os(PYTHON).unwrap_or_else(|| "python3".into()))
}

/// The engine's program, built if it is not there yet.
pub(crate) fn engine() -> Result<PathBuf, String> {
    let installed = Installed::find()?;
    let source = workspace_root().join("benches/torch/engine.cpp");
    let text = std::fs::read(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    let mut hash = DefaultHasher::new();
    (text, &installed.root, &installed.abi).hash(&mut hash);
    let dir = workspace_root().join("target/torch-engine");
    let program = dir.join(format!("{}-{:016x}", installed.version, hash.finish()));
    if !program.is_file() {
        std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        eprintln!("building the engine of PyTorch {} (once)", installed.version);
        build(&installed, &source, &program)?;
    }
    Ok(program)
}

fn build(installed: &Installed, source: &Path, program: &Path) -> Result<(), String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "g++".into());
    let (include, lib) = (installed.root.join("include"), installed.root.join("lib"));
    let unfinished = program.with_extension("unfinished");
    let mut command = Command::new(&compiler);
    command.args(["-std=c++20", "-O2"]);
    command.arg(format!("-DTORCH_VERSION_TEXT=\"{}\"", installed.version));
    command.arg(format!("-D_GLIBCXX_USE_CXX11_ABI={}", installed.abi));
    command.arg("-I").arg(&include).arg("-I").arg(include.join("torch/csrc/api/include"));
    command.arg(source).arg("-o").arg(&unfinished);
    // What the libraries themselves need they find by their own path.
    command.arg("-L").arg(&lib).arg(format!("-Wl,-rpath,{}", lib.display()));
    command.args(["-ltorch_cpu", "-lc10", "-Wl,--allow-shlib-undefined"]);
    let status = command.status().map_err(|error| {
        format!("{}: {error}; the engine of PyTorch needs a C++ compiler, in CXX or g++", compiler.to_string_lossy())
    })?;
    if !status.success() {
        return Err(format!("{} does not build against {}", source.display(), installed.root.display()));
    }
    // A build that was cut short is not taken for a finished one.
    std::fs::rename(&unfinished, program).map_err(|error| format!("{}: {error}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_is_read() {
        let installed = Installed::parse("2.15.0 1 /opt/with a space/torch\n").expect("well formed");
        assert_eq!((&*installed.version, &*installed.abi), ("2.15.0", "1"));
        assert_eq!(installed.root, Path::new("/opt/with a space/torch"));
        assert_eq!(Installed::parse("2.15.0"), None);
    }
}

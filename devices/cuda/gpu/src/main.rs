//! The checks and figures of monomorph on a GPU, as one program for machines that have NVIDIA's driver and nothing
//! else. Made by `cargo xtask cuda-bundle`, it carries its kernels as machine code for sm_90 and the recorded calls of
//! PyTorch.
//!
//! ```text
//! monomorph-gpu                  the device, the tests, the figures; fails where one of them does
//! monomorph-gpu tests [PART..]   only tests that have PART in their name
//! monomorph-gpu figures [N]      only the figures; with N elements they are held to no bar
//! monomorph-gpu engine           answers requests for timings (benches/src/serve.rs)
//! monomorph-gpu pack ..          makes the program that carries everything
//! ```

mod archive;
mod calls;
mod figures;
mod pack;
mod tests;

use archive::Entry;
use monomorph_cuda::{Supply, device_count, device_name};
use monomorph_testsuite::conformance::use_golden_cases;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("monomorph-gpu: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<bool, String> {
    let (command, rest) = args.split_first().map_or(("all", &[][..]), |(first, rest)| (first.as_str(), rest));
    if command == "pack" {
        return pack::run(&packing(rest)?).map(|()| true);
    }
    let program = std::env::current_exe().and_then(std::fs::read).map_err(|error| format!("this program: {error}"))?;
    let folder = Unpacked::new(archive::split(&program)?.1)?;
    drop(program);
    device(command == "engine")?;
    let done = match (command, rest) {
        ("all", []) => {
            let failed = tests::run(&[]);
            println!("{failed} tests failed");
            figures(figures::ELEMENTS).map(|met| met && failed == 0)
        }
        ("tests", parts) => {
            let failed = tests::run(parts);
            println!("{failed} tests failed");
            Ok(failed == 0)
        }
        ("figures", []) => figures(figures::ELEMENTS),
        ("figures", [n]) => figures(n.parse().map_err(|_| format!("figures takes a number of elements, got {n}"))?),
        ("engine", []) => calls::serve().map(|()| true),
        _ => Err(format!(
            "{} is no command; see the first lines of its source: tests, figures, engine, pack",
            args.join(" ")
        )),
    };
    drop(folder);
    done
}

fn figures(elements: i64) -> Result<bool, String> {
    let missed = figures::run(elements)?;
    println!("{missed} figures missed");
    Ok(missed == 0)
}

/// Finds the device and says which it is.
fn device(is_quiet: bool) -> Result<(), String> {
    let words = |error: monomorph::Error| format!("no GPU can be used: {error}");
    let count = device_count().map_err(words)?;
    let name = device_name(0).map_err(words)?;
    if !is_quiet {
        println!("device: {name}, the first of {count}");
    }
    Ok(())
}

/// What the program carries, in use; the folder with its files goes with it.
struct Unpacked(PathBuf);

impl Unpacked {
    fn new(entries: Vec<Entry>) -> Result<Unpacked, String> {
        let folder = new_folder()?;
        if entries.iter().any(|entry| !entry.name.is_empty()) {
            archive::unpack(&entries, &folder)?;
            use_golden_cases(folder.clone());
        }
        let images = entries.into_iter().filter(|entry| !entry.keys.is_empty());
        let supply = Supply::new(images.map(|entry| (entry.keys, entry.bytes)));
        if supply.size() != (0, 0) {
            // SAFETY: they are what the compiler gave for the texts of these keys; a damaged archive is refused.
            unsafe { supply.apply() };
        }
        Ok(Unpacked(folder))
    }
}

/// A folder that nobody had before, so that nobody else has a hand in it.
fn new_folder() -> Result<PathBuf, String> {
    for n in 0u32.. {
        let folder = std::env::temp_dir().join(format!("monomorph-gpu-{}-{n}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{}: {error}", folder.display())),
        }
    }
    Err("no name is left for a temporary folder".to_owned())
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn packing(args: &[String]) -> Result<pack::Options, String> {
    let (mut nvrtc, mut out, mut folder, mut copies) = (None, None, None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let slot = match arg.as_str() {
            "--nvrtc" => &mut nvrtc,
            "--out" => &mut out,
            "--folder" => &mut folder,
            "--copies" => {
                copies = true;
                continue;
            }
            other => return Err(format!("pack takes --nvrtc, --out, --folder and --copies, got {other}")),
        };
        *slot = Some(PathBuf::from(args.next().ok_or_else(|| format!("{arg} needs a path"))?));
    }
    match (nvrtc, out, folder) {
        (Some(nvrtc), Some(out), Some(folder)) => Ok(pack::Options { nvrtc, out, folder, copies }),
        _ => Err("pack needs --nvrtc, --out and --folder".to_owned()),
    }
}

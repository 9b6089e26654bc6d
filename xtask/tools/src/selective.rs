//! `cargo xtask selective`: what is in a program that registers three operators. Owns the questions to the program;
//! what a symbol belongs to is in [`symbols`].
//!
//! The program is built once, with symbols, since those tell which kernels are in it; its size is asked of a stripped
//! copy.

use crate::bloat::symbols::{self, Symbol};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::cargo;
use xtask::steps::{Outcome, Steps};
use xtask::workspace_root;

/// A stripped program may have as many bytes. Tiles of small planes and the names that errors report brought it from
/// 992 kB to 1,004; writing several outputs all or none, and the overlaps that PyTorch's iterator refuses, to 1,012;
/// copies of short rows by tables of offsets, and helpers that linger, to 1,018.
const BAR: u64 = 1_020_000;

/// The formulas of the operators that the program registers.
const REGISTERED: [&str; 3] =
    ["elementwise::arithmetic::AddFn", "elementwise::arithmetic::MulFn", "elementwise::piecewise::ReluFn"];

/// What the C runtime and Rust's standard library run before `main`: bookkeeping of unwinding, and the program's
/// arguments.
const RUNTIME: [&str; 3] = ["frame_dummy", "__frame_dummy_init_array_entry", "std::sys::args::"];

/// Crates that run code before `main`, or collect what is registered all over a program.
const COLLECTORS: [&str; 4] = ["ctor", "inventory", "linkme", "rustc-global-ctors"];

/// Runs the command.
pub(crate) fn run() -> bool {
    let mut steps = Steps::default();
    self::steps(&mut steps);
    steps.finish()
}

/// The same as steps of another command.
pub(crate) fn steps(steps: &mut Steps) {
    if !cfg!(target_os = "linux") {
        return steps.step("a program with three operators", || Outcome::Skipped("its symbols are read as on Linux"));
    }
    let mut built = None;
    steps.step("a program with three operators", || judged(build().map(|program| built = Some(program))));
    let Some(program) = built else { return };
    steps.command("it runs", Command::new(&program));
    steps.step("kernels of three operators", || judged(kernels(&program)));
    steps.step("nothing before main", || judged(before_main(&program).and_then(|()| collectors())));
    steps.step("a size under 1.02 MB", || match size(&program) {
        Ok(None) => Outcome::Skipped("no program `strip`"),
        Ok(Some(bytes)) => {
            println!("{bytes} bytes, the bar is {BAR}");
            if bytes < BAR { Outcome::Passed } else { Outcome::Failed }
        }
        Err(problem) => judged(Err(problem)),
    });
}

fn judged(result: Result<(), String>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(problem) => {
            eprintln!("{problem}");
            Outcome::Failed
        }
    }
}

/// Builds the program with names that keep type arguments, in a directory of its own.
fn build() -> Result<PathBuf, String> {
    let target = workspace_root().join("target/selective");
    let mut command = cargo(&["build", "--quiet", "--profile", "small", "--example", "selective"]);
    command.args(["--config", "profile.small.strip=false", "--target-dir"]).arg(&target);
    command.env("RUSTFLAGS", "-C symbol-mangling-version=v0");
    match command.status() {
        Ok(status) if status.success() => Ok(target.join("small/examples/selective")),
        Ok(_) => Err("the program does not build".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// That there is code of the registered operators, and of no other.
fn kernels(program: &Path) -> Result<(), String> {
    let symbols = symbols::read(program)?;
    let found: BTreeSet<&str> = symbols.iter().filter_map(Symbol::op).collect();
    println!("{} functions; operators: {}", symbols.len(), found.iter().copied().collect::<Vec<_>>().join(", "));
    difference(&found)
}

fn difference(found: &BTreeSet<&str>) -> Result<(), String> {
    let want: BTreeSet<&str> = REGISTERED.into_iter().collect();
    let (more, less): (Vec<_>, Vec<_>) = (found.difference(&want).collect(), want.difference(found).collect());
    if !more.is_empty() {
        return Err(format!("the program has code of operators that it does not register: {more:?}"));
    }
    // Names that were lost would hide every other operator, too.
    if !less.is_empty() {
        return Err(format!("the program has no function of {less:?}: its names do not tell what is in it"));
    }
    Ok(())
}

/// That no section of functions to be run before `main` has one of this library.
fn before_main(program: &Path) -> Result<(), String> {
    let bytes = std::fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("{}: {error}", program.display()))?;
    let early = |name: &str| [".init_array", ".preinit_array", ".ctors"].iter().any(|start| name.starts_with(start));
    let (mut entries, mut named) = (0, 0);
    for section in file.sections().filter(|section| section.name().is_ok_and(early)) {
        entries += section.size() / 8;
        for symbol in
            file.symbols().filter(|symbol| symbol.section_index() == Some(section.index()) && symbol.size() > 0)
        {
            let name = format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or("?")));
            if !is_runtime(&name) {
                return Err(format!("{name} is run before main"));
            }
            named += 1;
        }
    }
    // One more is the C runtime's, whose symbol has no size.
    println!("{entries} functions are run before main, {named} of them Rust's standard library's");
    if entries > named + 1 { Err("a function without a name is run before main".to_owned()) } else { Ok(()) }
}

fn is_runtime(name: &str) -> bool {
    RUNTIME.iter().any(|known| name.starts_with(known))
}

/// That no dependency is one that runs or collects before `main`.
fn collectors() -> Result<(), String> {
    let output =
        cargo(&["tree", "-p", "monomorph", "-e", "normal,build", "--prefix", "none", "--format", "{p}"]).output();
    let output = output.map_err(|error| format!("cargo: {error}"))?;
    let tree = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    if !names.contains("monomorph-core") {
        return Err("cargo tree lists no dependencies".to_owned());
    }
    match COLLECTORS.iter().find(|name| names.contains(**name)) {
        Some(name) => Err(format!("{name} is among the dependencies")),
        None => Ok(()),
    }
}

/// The bytes of a stripped copy; `None` where nothing strips.
fn size(program: &Path) -> Result<Option<u64>, String> {
    let stripped = program.with_extension("stripped");
    match Command::new("strip").arg("-s").arg("-o").arg(&stripped).arg(program).status() {
        Ok(status) if status.success() => {}
        Ok(_) => return Err("the program cannot be stripped".to_owned()),
        Err(_) => return Ok(None),
    }
    let bytes = std::fs::metadata(&stripped).map_err(|error| format!("{}: {error}", stripped.display()))?.len();
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operator_more_or_less_is_found() {
        let found: BTreeSet<&str> = REGISTERED.into_iter().collect();
        assert_eq!(difference(&found), Ok(()));
        let mut more = found.clone();
        more.insert("exponential::ExpFn");
        assert!(difference(&more).unwrap_err().contains("ExpFn"));
        let less: BTreeSet<&str> = found.into_iter().skip(1).collect();
        assert!(difference(&less).is_err() && difference(&BTreeSet::new()).is_err());
    }

    #[test]
    fn the_runtime_is_known_by_name() {
        assert!(is_runtime("std::sys::args::unix::imp::ARGV_INIT_ARRAY") && is_runtime("frame_dummy"));
        assert!(!is_runtime("monomorph_core::register") && !is_runtime("selective::REGISTER"));
    }

    /// This program, which has the runtime's functions and no other.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_test_program_runs_nothing_of_its_own_before_main() {
        assert_eq!(before_main(&std::env::current_exe().expect("a path")), Ok(()));
        assert!(before_main(Path::new("/nowhere at all")).is_err());
    }

    #[test]
    fn no_dependency_collects() {
        assert_eq!(collectors(), Ok(()));
    }
}

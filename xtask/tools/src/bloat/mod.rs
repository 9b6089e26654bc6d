//! `cargo xtask bloat`: bytes and functions of each operator, form and crate, and how long builds take. Owns the builds
//! and the tables; what a function belongs to is in [`symbols`].

pub(crate) mod symbols;

use crate::bench::{commit, machine, today};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use symbols::{Part, Symbol};
use xtask::cargo;
use xtask::workspace_root;

/// A rebuild behind a change of one formula may take as many seconds.
const REBUILD_BAR: f64 = 15.0;

/// The formula that a rebuild is behind a change of, as it is and changed.
const CHANGED: (&str, &str, &str) = ("ops/src/special/gamma.rs", "a.trigamma()\n", "a.trigamma() + a\n");

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Options {
    json: bool,
    timings: bool,
    record: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        for arg in args {
            match arg.as_str() {
                "--json" => options.json = true,
                "--timings" => options.timings = true,
                "--record" => options.record = true,
                other => return Err(format!("bloat takes --json, --timings and --record, got {other}")),
            }
        }
        Ok(options)
    }
}

/// Runs the command. False where a rebuild takes longer than its bar.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let options = Options::parse(args)?;
    let symbols = symbols::read(&program()?)?;
    let weights = Weights::of(&symbols);
    let timings = if options.timings { Some(Timings::take()?) } else { None };
    if options.json {
        println!("{:#}", weights.to_json(timings));
    } else {
        print!("{}", weights.table());
        if let Some(Timings { clean, rebuild }) = timings {
            println!("\nclean release build of the library: {clean:.1} s");
            println!("rebuild behind a change of {}: {rebuild:.1} s, the bar is {REBUILD_BAR} s", CHANGED.0);
        }
    }
    if options.record {
        record(&weights, timings)?;
    }
    Ok(timings.is_none_or(|timings| timings.rebuild < REBUILD_BAR))
}

/// Builds the program that links every operator, with names that keep type arguments; in a directory of its own,
/// because that flag would rebuild everything else.
fn program() -> Result<PathBuf, String> {
    let target = workspace_root().join("target/bloat");
    let mut command = cargo(&["build", "--quiet", "--release", "-p", "monomorph-benches", "--bin", "everything"]);
    command.arg("--target-dir").arg(&target).env("RUSTFLAGS", "-C symbol-mangling-version=v0");
    match command.status() {
        Ok(status) if status.success() => Ok(target.join("release/everything")),
        Ok(_) => Err("the program that links every operator does not build".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Functions and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Weight {
    symbols: u64,
    bytes: u64,
}

impl Weight {
    fn add(&mut self, bytes: u64) {
        self.symbols += 1;
        self.bytes += bytes;
    }

    fn sum<'a>(weights: impl Iterator<Item = &'a Weight>) -> Weight {
        weights
            .fold(Weight::default(), |sum, w| Weight { symbols: sum.symbols + w.symbols, bytes: sum.bytes + w.bytes })
    }
}

/// The code of a program by operator and part, and by crate.
#[derive(Debug, Default)]
struct Weights {
    ops: BTreeMap<String, BTreeMap<Part, Weight>>,
    crates: BTreeMap<String, Weight>,
}

impl Weights {
    fn of(symbols: &[Symbol]) -> Weights {
        let mut weights = Weights::default();
        for symbol in symbols {
            if let Some(op) = symbol.op() {
                weights.ops.entry(op.to_owned()).or_default().entry(symbol.part()).or_default().add(symbol.bytes);
            }
            weights.crates.entry(symbol.krate().to_owned()).or_default().add(symbol.bytes);
        }
        weights
    }

    fn total(&self) -> Weight {
        Weight::sum(self.crates.values())
    }

    /// All loops of all operators.
    fn kernels(&self) -> Weight {
        let parts = self.ops.values().flatten();
        Weight::sum(parts.filter(|(part, _)| part.is_kernel()).map(|(_, weight)| weight))
    }

    fn by_bytes<'a>(entries: impl Iterator<Item = (&'a String, Weight)>) -> Vec<(&'a String, Weight)> {
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|(name, weight)| (std::cmp::Reverse(weight.bytes), *name));
        entries
    }

    fn ops_by_bytes(&self) -> Vec<(&String, Weight)> {
        Weights::by_bytes(self.ops.iter().map(|(op, parts)| (op, Weight::sum(parts.values()))))
    }

    fn table(&self) -> String {
        let mut text = format!("{:<32} {:>7} {:>8}", "bytes of code by operator", "symbols", "total");
        Part::ALL.iter().for_each(|part| text.push_str(&format!(" {:>10}", part.name())));
        text.push('\n');
        let mut row = |name: &str, weight: Weight, part: &dyn Fn(Part) -> u64| {
            text.push_str(&format!("{name:<32} {:>7} {:>8}", weight.symbols, weight.bytes));
            Part::ALL.iter().for_each(|p| text.push_str(&format!(" {:>10}", part(*p))));
            text.push('\n');
        };
        for (op, weight) in self.ops_by_bytes() {
            row(op, weight, &|part| self.ops[op].get(&part).map_or(0, |weight| weight.bytes));
        }
        let of_all = |part: Part| Weight::sum(self.ops.values().filter_map(|parts| parts.get(&part))).bytes;
        row("all operators", Weight::sum(self.ops.values().flat_map(BTreeMap::values)), &of_all);
        let Weight { symbols, bytes } = self.kernels();
        text.push_str(&format!("kernels: {symbols} functions, {bytes} bytes\n\nbytes of code by crate\n"));
        for (krate, Weight { symbols, bytes }) in Weights::by_bytes(self.crates.iter().map(|(name, w)| (name, *w))) {
            text.push_str(&format!("{krate:<32} {symbols:>7} {bytes:>8}\n"));
        }
        let Weight { symbols, bytes } = self.total();
        text.push_str(&format!("{:<32} {symbols:>7} {bytes:>8}\n", "the program"));
        text
    }

    fn to_json(&self, timings: Option<Timings>) -> Value {
        let weight = |weight: &Weight| json!({ "symbols": weight.symbols, "bytes": weight.bytes });
        let parts = |parts: &BTreeMap<Part, Weight>| -> Map<String, Value> {
            parts.iter().map(|(part, w)| (part.name().to_owned(), weight(w))).collect()
        };
        let ops: Map<String, Value> = self.ops.iter().map(|(op, p)| (op.clone(), parts(p).into())).collect();
        let crates: Map<String, Value> = self.crates.iter().map(|(name, w)| (name.clone(), weight(w))).collect();
        let mut value =
            json!({ "ops": ops, "crates": crates, "kernels": weight(&self.kernels()), "total": weight(&self.total()) });
        if let Some(timings) = timings {
            value["timings"] = timings.to_json();
        }
        value
    }
}

/// Seconds that builds of the library take.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Timings {
    clean: f64,
    rebuild: f64,
}

impl Timings {
    /// Builds a copy of the library from clean; then, with the profile for those who edit formulas, twice, the second
    /// time behind a change of one formula: a file with a new date alone is compiled faster.
    fn take() -> Result<Timings, String> {
        let at = workspace_root().join("target/bloat-timings");
        if at.exists() {
            std::fs::remove_dir_all(&at).map_err(|error| format!("{}: {error}", at.display()))?;
        }
        let tree = at.join("tree");
        copy_tracked(&tree)?;
        let clean = build(&tree, "release")?;
        build(&tree, "iterate")?;
        let (file, now, then) = CHANGED;
        let file = tree.join(file);
        let fail = |error| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(&file).map_err(fail)?;
        if !text.contains(now) {
            return Err(format!("{}: the formula to be changed is not there", file.display()));
        }
        std::fs::write(&file, text.replacen(now, then, 1)).map_err(fail)?;
        Ok(Timings { clean, rebuild: build(&tree, "iterate")? })
    }

    fn to_json(self) -> Value {
        let tenths = |seconds: f64| (seconds * 10.0).round() / 10.0;
        json!({ "clean_s": tenths(self.clean), "rebuild_s": tenths(self.rebuild) })
    }
}

/// Copies what belongs to the repository.
fn copy_tracked(to: &Path) -> Result<(), String> {
    let root = workspace_root();
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?;
    let listed = String::from_utf8(listed.stdout).map_err(|error| format!("git: {error}"))?;
    for file in listed.split_terminator('\0') {
        let (from, to) = (root.join(file), to.join(file));
        to.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::copy(&from, &to))
            .map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

/// Seconds that a build of the library takes with this profile.
fn build(tree: &Path, profile: &str) -> Result<f64, String> {
    let start = Instant::now();
    let mut command = cargo(&["build", "--quiet", "--profile", profile, "-p", "monomorph", "--target-dir", "target"]);
    match command.current_dir(tree).status() {
        Ok(status) if status.success() => Ok(start.elapsed().as_secs_f64()),
        Ok(_) => Err("the library does not build".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Appends totals to the history of sizes and builds.
fn record(weights: &Weights, timings: Option<Timings>) -> Result<(), String> {
    let path = workspace_root().join("benches/history/build.jsonl");
    let (kernels, total) = (weights.kernels(), weights.total());
    let mut line = json!({ "machine": machine(), "commit": commit(), "date": today(),
        "kernel_bytes": kernels.bytes, "kernel_symbols": kernels.symbols, "program_bytes": total.bytes });
    if let Some(timings) = timings {
        line["timings"] = timings.to_json();
    }
    let write = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        writeln!(std::fs::OpenOptions::new().create(true).append(true).open(&path)?, "{line}")
    };
    write().map_err(|error: std::io::Error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse = |args: &[&str]| Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok(Options::default()));
        assert_eq!(
            parse(&["--timings", "--json", "--record"]),
            Ok(Options { json: true, timings: true, record: true })
        );
        assert!(parse(&["--time"]).is_err());
    }

    #[test]
    fn code_is_counted_by_operator_and_crate() {
        let symbol = |name: &str, bytes| Symbol { name: name.to_owned(), bytes };
        let weights = Weights::of(&[
            symbol("<monomorph_ops::arithmetic::AddFn as monomorph_cpu::isa::FrameOfAvx2>::frame_avx2::<Run>", 100),
            symbol("<monomorph_ops::arithmetic::AddFn as monomorph_cpu::isa::FrameOfAvx512>::frame_avx512::<Run>", 50),
            symbol("<monomorph_ops::arithmetic::AddFn as monomorph_core::structured::StructuredOp>::meta", 7),
            symbol("<monomorph_ops::arithmetic::MulFn as monomorph_cpu::isa::FrameOfAvx2>::frame_avx2::<Run>", 1000),
            symbol("core::fmt::write", 3),
        ]);
        assert_eq!(weights.kernels(), Weight { symbols: 3, bytes: 1150 });
        assert_eq!(weights.total(), Weight { symbols: 5, bytes: 1160 });
        let names: Vec<&str> = weights.ops_by_bytes().into_iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["arithmetic::MulFn", "arithmetic::AddFn"]);
        let table = weights.table();
        let row = table.lines().find(|line| line.starts_with("arithmetic::AddFn")).expect("a row");
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["arithmetic::AddFn", "3", "157", "0", "100", "50", "0", "0", "0", "0", "0", "7"]
        );
        let json = weights.to_json(Some(Timings { clean: 40.04, rebuild: 9.96 }));
        assert_eq!(json["ops"]["arithmetic::AddFn"]["avx2"]["bytes"], 100);
        assert_eq!(json["crates"]["core"]["symbols"], 1);
        assert_eq!(json["timings"], json!({ "clean_s": 40.0, "rebuild_s": 10.0 }));
    }
}

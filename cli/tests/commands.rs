//! The command on small programs: what it prints, what it writes, and its exit codes.

use monomorph::Cpu;
use monomorph::files::{npy, safetensors};
use monomorph::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testsuite/golden/programs");

fn file(name: &str) -> String {
    format!("{PROGRAMS}/{name}")
}

/// A directory of this test's own.
fn scratch(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

fn monomorph(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_monomorph")).args(args).output().expect("the command")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is printed where all is well.
fn printed(args: &[&str]) -> String {
    let output = monomorph(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The message of an error, whose code is 2.
fn refused(args: &[&str]) -> String {
    let output = monomorph(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stdout));
    text(&output.stderr)
}

fn tensor<'t>(tensors: &'t [(String, Tensor<Cpu>)], name: &str) -> &'t Tensor<Cpu> {
    &tensors.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn inspect_names_inputs_outputs_weights_and_operators() {
    let all = printed(&["inspect", &file("tied.pt2"), "--weights"]);
    for expected in ["written by PyTorch 2.15.0", "input 0 %", "output 0 %", "parameter ", "aten."] {
        assert!(all.contains(expected), "{expected} is not in\n{all}");
    }
    let drawing = std::env::temp_dir().join(format!("monomorph-plan-{}.svg", std::process::id()));
    let plan = printed(&["inspect", &file("norms.pt2"), "--svg", &drawing.display().to_string()]);
    assert!(plan.contains(" kernels kept, ") && plan.contains(" at the same time at most"), "{plan}");
    let svg = std::fs::read_to_string(&drawing).expect("a drawing");
    assert!(svg.starts_with("<svg ") && svg.matches("<title>").count() > 5 && svg.contains("<title>conv2d"), "{svg}");
    std::fs::remove_file(drawing).expect("the file");
    let dynamic = printed(&["inspect", &file("dynamic.pt2")]);
    assert!(dynamic.contains(" in 2..="), "no range of a symbol in\n{dynamic}");
    assert!(printed(&["inspect", &file("tied.pt2"), "--graph"]).contains("return %"));
    let dot = printed(&["inspect", &file("tied.pt2"), "--dot"]);
    assert!(dot.starts_with("digraph program {") && dot.contains("-> out;") && dot.ends_with("}\n"), "{dot}");
}

#[test]
fn run_compares_with_recorded_outputs() {
    let recorded = file("tied.safetensors");
    let args = ["run", &file("tied.pt2"), "-i", &recorded, "--compare", &recorded];
    let said = printed(&args);
    assert!(said.lines().count() > 1 && said.lines().all(|line| line.ends_with(": close")), "{said}");
    // Outputs of other inputs are not those.
    let other = monomorph(&["run", &file("loop.pt2"), "--seed", "3", "--compare", &file("loop.safetensors")]);
    assert_eq!(other.status.code(), Some(1), "{}", text(&other.stderr));
    assert!(text(&other.stdout).contains("elements differ"), "{}", text(&other.stdout));
}

#[test]
fn arrays_of_numpy_go_in_and_come_out() {
    let dir = scratch("numpy");
    let recorded = safetensors::read(file("loop.safetensors")).expect("the recorded values");
    let output = dir.join("outputs");
    let inputs = ["i", "x"].map(|name| dir.join(name).with_extension("npy").to_str().expect("a path").to_owned());
    for (index, path) in inputs.iter().enumerate() {
        npy::write(path, &tensor(&recorded, &format!("in.{index}")).clone().into_any()).expect("an array");
    }
    let program = file("loop.pt2");
    // In order, and by name the other way round.
    let [i, x] = &inputs;
    printed(&["run", &program, "-i", i, "-i", x, "-o", output.to_str().expect("a path")]);
    let (by_name, later) = (format!("x={x}"), format!("i={i}"));
    let (got, want) = (npy::read(output.join("out.0.npy")).expect("an output"), tensor(&recorded, "out.0"));
    assert_eq!(got.sizes(), want.sizes());
    assert!(got.allclose(want).expect("a comparison"), "{got} is not {want}");
    // The same as one file of each kind.
    for name in ["outputs.npz", "outputs.safetensors"] {
        let path = dir.join(name);
        let path = path.to_str().expect("a path");
        printed(&["run", &program, "-i", i, "-i", x, "-o", path]);
        let said = printed(&["run", &program, "-i", &by_name, "-i", &later, "--compare", path]);
        assert!(said.starts_with("out.0: close"), "{name}: {said}");
    }
}

#[test]
fn inputs_that_are_wrong_are_said_to_be() {
    let missing = refused(&["run", &file("dynamic.pt2")]);
    assert!(missing.contains("is missing") && missing.contains("input 1"), "{missing}");
    let unknown = refused(&["run", &file("dynamic.pt2"), "-i", "nothing.txt"]);
    assert!(unknown.contains("nothing.txt is no input") && unknown.contains("the names are"), "{unknown}");
    // A number is a tensor where one without dimensions is wanted, and nowhere else.
    let kind = refused(&["run", &file("loop.pt2"), "-i", "i=0", "-i", "3"]);
    assert!(kind.contains("input 1 (x)") && kind.contains("a tensor is accepted"), "{kind}");
    let absent = refused(&["inspect", "absent.pt2"]);
    assert!(absent.starts_with("monomorph: absent.pt2: "), "{absent}");
    let other = refused(&["inspect", &file("tied.json")]);
    assert!(other.contains("not a readable archive"), "{other}");
    assert_eq!(monomorph(&["run"]).status.code(), Some(2));
}

#[test]
fn every_program_is_checked_on_drawn_inputs() {
    for name in ["counter", "counter.core", "dynamic", "loop", "rows", "scopes", "tied"] {
        let said = printed(&["check", &file(&format!("{name}.pt2")), "--seed", "1"]);
        assert!(said.contains("values compared with what the program records"), "{name}: {said}");
        assert!(!said.starts_with("0 values"), "{name}: {said}");
        assert!(said.contains("runs by a plan give the bits that operators in turn give"), "{name}: {said}");
    }
}

#[test]
fn bench_says_how_long_and_where() {
    let trace = scratch("bench").join("trace.json");
    let said = printed(&[
        "bench",
        &file("tied.pt2"),
        "--runs",
        "4",
        "--threads",
        "1",
        "--trace",
        trace.to_str().expect("a path"),
    ]);
    assert!(said.starts_with("4 runs, 1 thread, ms\n  min "), "{said}");
    assert!(said.contains(" kernels kept, 0 of them run block by block"), "{said}");
    assert!(said.contains("operator\n") && said.contains("module\n") && said.contains("aten."), "{said}");
    let events: serde_json::Value = serde_json::from_slice(&std::fs::read(trace).expect("a file")).expect("JSON");
    let events = events["traceEvents"].as_array().expect("events");
    // One run: every node once.
    let names: std::collections::HashSet<_> = events.iter().map(|event| event["args"]["node"].to_string()).collect();
    assert!(!events.is_empty() && names.len() == events.len(), "{events:?}");
}

//! `cargo xtask bench --device cuda`: this library and PyTorch on the same GPU, cell by cell, and what of the copy's
//! bandwidth ours reaches in the same run. Owns the cells and their bars.

use super::cells::{Cell, Group};
use super::engine::Engine;
use super::measure::{Outcome, measure};
use super::report;
use monomorph_testsuite::cuda::{POINTWISE_SHARE, REDUCTION_SHARE};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::cargo;
use xtask::workspace_root;

/// What every cell is asked for, as theirs / ours.
const RATIO: f64 = 0.95;

const LARGE: &[i64] = &[1 << 26];
const SQUARE: &[i64] = &[8192, 8192];
const TINY: &[i64] = &[1024];

/// Op, dtype, layout, sizes, form, and elements' worth of bytes that it moves where it is held to a bandwidth.
type Row = (&'static str, &'static str, &'static str, &'static [i64], &'static str, Option<i64>);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("copy", "float32", "contiguous", LARGE, "out", Some(2)),
    ("add", "float32", "contiguous", LARGE, "out", Some(3)),
    ("add", "float64", "contiguous", LARGE, "out", Some(3)),
    ("add", "bfloat16", "contiguous", LARGE, "out", Some(3)),
    ("add", "float16", "contiguous", LARGE, "out", Some(3)),
    ("add", "int32", "contiguous", LARGE, "out", Some(3)),
    ("mul", "float32", "contiguous", LARGE, "out", Some(3)),
    ("exp", "float32", "contiguous", LARGE, "out", Some(2)),
    ("tanh", "float32", "contiguous", LARGE, "out", Some(2)),
    ("gelu", "float32", "contiguous", LARGE, "out", Some(2)),
    ("add", "float32", "row-broadcast", SQUARE, "out", Some(2)),
    ("add", "float32", "transposed", SQUARE, "out", None),
    ("sum", "float32", "contiguous", LARGE, "all", Some(1)),
    ("sum", "bfloat16", "contiguous", LARGE, "all", Some(1)),
    ("mean", "float32", "contiguous", LARGE, "all", Some(1)),
    ("sum", "float32", "contiguous", SQUARE, "dim0", None),
    ("sum", "float32", "contiguous", SQUARE, "dim1", None),
    ("amax", "float32", "contiguous", SQUARE, "dim1", None),
    ("add", "float32", "contiguous", TINY, "out", None),
    ("add", "float32", "contiguous", TINY, "functional", None),
];

fn cell(&(op, dtype, layout, sizes, form, _): &Row) -> Cell {
    let (op, sizes, form) = (op.to_owned(), sizes.to_vec(), form.to_owned());
    let group = Group::Figures;
    Cell { group, op, dtype, layout, sizes, form, threads: 1, bar: Some(RATIO), bar_avx2: None }
}

/// Bytes of an element.
fn size(dtype: &str) -> i64 {
    match dtype {
        "float64" => 8,
        "float16" | "bfloat16" => 2,
        _ => 4,
    }
}

/// What of the copy's bandwidth a cell reaches, in per cent, and what is asked for. `copy` is bytes a nanosecond.
fn share(row: &Row, ours: f64, copy: f64) -> Option<(f64, f64)> {
    let &(op, dtype, _, sizes, form, moved) = row;
    let bytes = moved? * size(dtype) * sizes.iter().product::<i64>();
    let asked = if form == "all" { REDUCTION_SHARE } else { POINTWISE_SHARE };
    (op != "copy").then_some((100.0 * bytes as f64 / ours / copy, asked))
}

/// The program that answers for this library on a GPU.
fn ours() -> Result<PathBuf, String> {
    let status = cargo(&["build", "--quiet", "--release", "-p", "monomorph-gpu"]).status();
    match status {
        Ok(status) if status.success() => Ok(workspace_root().join("target/release/monomorph-gpu")),
        Ok(_) => Err("the program monomorph-gpu does not build".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

fn theirs() -> Command {
    let python = std::env::var_os("MONOMORPH_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.arg(workspace_root().join("benches/torch/gpu.py"));
    command
}

fn our_engine(program: &Path) -> Result<Engine, String> {
    let mut command = Command::new(program);
    command.arg("engine").env("MONOMORPH_NVRTC", crate::cuda::library());
    Engine::start(command)
}

/// Times the cells that the filters let through. False where a bar is missed or answers differ.
///
/// # Errors
/// No GPU, or no PyTorch that can use it.
pub(crate) fn run(filters: &[String]) -> Result<bool, String> {
    let found = monomorph_cuda::device_count().map_err(|error| error.to_string());
    if let Ok(0) | Err(_) = found {
        let why = found.err().unwrap_or_else(|| "the driver finds no device".to_owned());
        return Err(format!(
            "bench --device cuda needs a GPU: {why}; cargo xtask cuda-bundle makes a program to take to one"
        ));
    }
    let (mut ours, mut theirs) = (our_engine(&ours()?)?, Engine::start(theirs())?);
    println!("ours:   {}\ntheirs: {}", ours.name, theirs.name);
    let (mut copy, mut held) = (None, true);
    for row in ROWS {
        let cell = cell(row);
        // The copy is what the others are compared with.
        let is_wanted = filters.is_empty() || filters.iter().any(|filter| cell.passes(filter));
        if row.0 != "copy" && !is_wanted {
            continue;
        }
        let outcome = measure([&mut ours, &mut theirs], &cell)?;
        let mut line = report::line(&cell, &outcome, "cuda", 44);
        held &= matches!(&outcome, Outcome::Timed(timing) if timing.ratio() >= RATIO);
        if let Outcome::Timed(timing) = outcome {
            if row.0 == "copy" {
                let bytes = 2 * size(row.1) * row.3.iter().product::<i64>();
                copy = Some(bytes as f64 / timing.ours);
                line += &format!("  {:.0} GB/s", bytes as f64 / timing.ours);
            }
            if let Some((got, asked)) = copy.and_then(|copy| share(row, timing.ours, copy)) {
                let word = if got >= asked { "ok" } else { "MISS" };
                line += &format!("  {got:.0} % of the copy's bandwidth, {asked:.0} are asked for: {word}");
                held &= got >= asked;
            }
        }
        println!("{line}");
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_bytes_that_are_moved() {
        // A copy of 2 · 4 · 2²⁶ bytes in 200 µs, an addition that moves half as much again in 300.
        let copy = (8_i64 << 26) as f64 / 200e3;
        let row = |op| ROWS.iter().find(|row| row.0 == op).expect("a row");
        let (got, asked) = share(row("add"), 300e3, copy).expect("a share");
        assert!((got - 100.0).abs() < 1e-9 && asked == POINTWISE_SHARE, "{got}");
        let (got, asked) = share(row("sum"), 125e3, copy).expect("a share");
        assert!((got - 80.0).abs() < 1e-9 && asked == REDUCTION_SHARE, "{got}");
        assert_eq!(share(row("copy"), 1.0, copy), None);
        assert_eq!(ROWS[0].0, "copy", "the others need it");
    }

    #[test]
    fn without_a_gpu_it_says_so() {
        match monomorph_cuda::device_count() {
            Ok(n) if n > 0 => {}
            _ => assert!(run(&[]).is_err_and(|why| why.contains("needs a GPU") && why.contains("cuda-bundle"))),
        }
    }
}

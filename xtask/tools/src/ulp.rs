//! `cargo xtask ulp`: how far elementary functions are from the exact value, per dtype and level. Owns arguments and
//! output; the measurement is the test suite's.

use monomorph_testsuite::ulp::{Function, Worst, measure_f32, measure_f64};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

/// `cargo xtask ulp [--op NAME] [--dtype f32|f64] [--exhaustive]`.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (mut functions, mut only, mut exhaustive) = (Vec::new(), None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--exhaustive" => exhaustive = true,
            "--op" => {
                let name = args.next().ok_or("--op needs a name")?;
                let known = || Function::ALL.map(Function::name).join(", ");
                let function = Function::ALL.into_iter().find(|f| f.name() == name);
                functions.push(function.ok_or_else(|| format!("no function {name}; there are {}", known()))?);
            }
            "--dtype" => match args.next().map(String::as_str) {
                Some(dtype @ ("f32" | "f64")) => only = Some(dtype),
                other => return Err(format!("--dtype takes f32 or f64, got {}", other.unwrap_or("nothing"))),
            },
            other => return Err(format!("ulp takes --op NAME, --dtype f32 or f64, and --exhaustive, got {other}")),
        }
    }
    if functions.is_empty() {
        functions.extend(Function::ALL);
    }
    // Primes, so that no digit is left out by the stride.
    let (stride, points) = if exhaustive { (1, 5_000_000) } else { (997, 100_000) };
    println!("{:<9}{:<7}{:<10}{:>9}  worst argument", "function", "dtype", "level", "max ULP");
    let mut good = true;
    for function in functions {
        let mut report = |dtype: &str, bar: f64, found: Vec<(_, Worst)>| {
            for (level, Worst { ulp, at }) in found {
                good &= ulp <= bar;
                let level = format!("{level}");
                println!("\r{:<9}{dtype:<7}{level:<10}{ulp:>9.4}  {at:e}", function.name());
            }
        };
        let wanted = |dtype| only.is_none_or(|only| only == dtype);
        if wanted("f32") {
            report("f32", function.bar(), measure_f32(function, stride, |done| progress(function, "f32", done)));
        }
        if wanted("f64") && function.has_pairs() {
            report("f64", function.bar(), measure_f64(function, points, |done| progress(function, "f64", done)));
        }
    }
    Ok(good)
}

/// One line that is written over, in whole percents, where they have changed.
fn progress(function: Function, dtype: &str, done: f64) {
    static SHOWN: AtomicU32 = AtomicU32::new(u32::MAX);
    let percent = (done * 100.0) as u32;
    if SHOWN.swap(percent, Ordering::Relaxed) != percent {
        eprint!("\r{} {dtype}: {percent:3} %  ", function.name());
        // A terminal that cannot be written to shows no progress.
        let _ = std::io::stderr().flush();
    }
}

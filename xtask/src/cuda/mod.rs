//! `cargo xtask cuda` and `cuda-setup`: the kernels of the formulas as CUDA C++, checked without a GPU. Owns what is run, in
//! which order and for how long; the checks are the test suite's.

mod ledger;
mod setup;

use crate::steps::{Outcome, Steps};
use ledger::Ledger;
use monomorph_cuda::Nvrtc;
use monomorph_testsuite::cuda::{Case, Finding, cases, compiles};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use setup::install;

/// Cases of one compilation: what all kernels share is parsed once for them.
const UNIT: usize = 8;

/// One case in so many is always checked.
const SAMPLE: usize = 40;

/// How long a run that is not told to check everything goes on.
const BUDGET: Duration = Duration::from_secs(60);

/// What to check.
#[derive(Default, PartialEq, Eq, Debug)]
struct Options {
    all: bool,
    again: bool,
    formulas: Vec<String>,
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--all" => options.all = true,
            "--again" => options.again = true,
            "--formula" => options.formulas.push(args.next().ok_or("--formula needs a name")?.clone()),
            other => return Err(format!("cuda takes --all, --again and --formula NAME, got {other}")),
        }
    }
    Ok(options)
}

/// The cases to check now, and whether they are all that could have been changed.
fn chosen(cases: Vec<Case>, ledger: &Ledger, options: &Options) -> Vec<Case> {
    let is_sample = |at: usize| at.is_multiple_of(SAMPLE);
    let (mut sample, mut rest) = (Vec::new(), Vec::new());
    for (at, case) in cases.into_iter().enumerate() {
        let passed = !options.again && ledger.has_passed(&case);
        if !options.formulas.is_empty() {
            if options.formulas.contains(&case.formula) {
                rest.push(case);
            }
        } else if options.all {
            if !passed {
                rest.push(case);
            }
        } else if is_sample(at) {
            sample.push(case);
        } else if !passed && !ledger.is_committed(&case) {
            rest.push(case);
        }
    }
    sample.extend(rest);
    sample
}

/// What a run found.
#[derive(Default)]
struct Run {
    findings: Vec<Finding>,
    checked: usize,
    problem: Option<String>,
}

/// `cargo xtask cuda`.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let options = options(args)?;
    let nvrtc = Nvrtc::load(&setup::library()).map_err(|error| error.to_string())?;
    check(&nvrtc, &options)
}

fn check(nvrtc: &Nvrtc, options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let (major, minor) = nvrtc.version().map_err(|error| error.to_string())?;
    let everything = cases();
    let total = everything.len();
    let what = format!("{} NVRTC {major}.{minor}", Nvrtc::options(compiles::ARCH).join(" "));
    let ledger = Mutex::new(Ledger::open(&everything, &what)?);
    let chosen = chosen(everything, &ledger.lock().unwrap_or_else(PoisonError::into_inner), options);
    let unlimited = options.all || !options.formulas.is_empty();
    println!("compiles: {} of {total} cases with NVRTC {major}.{minor} for {}", chosen.len(), compiles::ARCH);

    let (next, run) = (AtomicUsize::new(0), Mutex::new(Run::default()));
    let units: Vec<&[Case]> = chosen.chunks(UNIT).collect();
    let work = || {
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !unlimited && start.elapsed() > BUDGET {
                return;
            }
            let found = compiles::check(nvrtc, unit);
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            match found {
                Ok(findings) => {
                    findings.iter().for_each(|finding| println!("\n{finding}"));
                    let is_bad = |case: &Case| {
                        let own = format!("{}_", case.name().replace(' ', "_"));
                        findings.iter().any(|f| f.place == case.name() || f.place.starts_with(&own))
                    };
                    let passed = unit.iter().filter(|case| !is_bad(case));
                    let noted = ledger.lock().unwrap_or_else(PoisonError::into_inner).pass(passed);
                    run.problem = run.problem.take().or(noted.err());
                    run.findings.extend(findings);
                    run.checked += unit.len();
                    print!("\r{} of {}, {:.0} s", run.checked, chosen.len(), start.elapsed().as_secs_f64());
                    let _ = std::io::stdout().flush();
                }
                Err(error) => {
                    run.problem = Some(error.to_string());
                    return;
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));

    let run = run.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!();
    if let Some(problem) = run.problem {
        return Err(problem);
    }
    let left = chosen.len() - run.checked;
    println!("{} cases, {} findings, {:.1} s", run.checked, run.findings.len(), start.elapsed().as_secs_f64());
    if left > 0 {
        println!("{left} cases changed and are left: cargo xtask cuda --all");
    }
    if options.all && run.findings.is_empty() {
        ledger.into_inner().unwrap_or_else(PoisonError::into_inner).commit()?;
    }
    Ok(run.findings.is_empty())
}

/// The steps of `cargo xtask ci`: the compiler is installed where it can be.
pub(crate) fn steps(steps: &mut Steps) {
    let mut there = false;
    steps.step("CUDA compiler", || match install() {
        Ok(done) => {
            there = done;
            Outcome::Passed
        }
        Err(problem) => {
            println!("{problem}");
            Outcome::Skipped(
                "NVRTC cannot be installed here: it takes Linux on x86-64, Python with pip, and the network",
            )
        }
    });
    if !there {
        return;
    }
    steps.step("CUDA kernels", || match run(&[]) {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed,
        Err(problem) => {
            eprintln!("{problem}");
            Outcome::Failed
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse = |args: &[&str]| options(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok(Options::default()));
        let all = parse(&["--all", "--again", "--formula", "AddFn"]).unwrap();
        assert!(all.all && all.again && all.formulas == ["AddFn"]);
        for args in [&["--formula"][..], &["AddFn"], &["--everything"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}

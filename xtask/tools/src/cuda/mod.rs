//! `cargo xtask cuda` and `cuda-setup`: the kernels of formulas and folds as CUDA C++, checked without a GPU. Owns what
//! is run, in which order and for how long; the checks are the test suite's.

mod bundle;
mod ledger;
mod options;
mod setup;

use ledger::Ledger;
use monomorph_cuda::Nvrtc;
use monomorph_testsuite::cuda::folds::{self, FoldCase};
use monomorph_testsuite::cuda::nearest::{self, NearestCase};
use monomorph_testsuite::cuda::{Case, Checked, Finding, cases, compiles, computes, faults};
use options::{Options, options};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use xtask::steps::{Outcome, Steps};
use xtask::workspace_root;

pub(crate) use bundle::bundle;
pub(crate) use setup::{install, library};

/// Cases of one compilation: what all kernels share is parsed once for them.
const UNIT: usize = 8;

/// One case in so many is always checked.
const SAMPLE: usize = 40;

/// How long a run that is not told to check everything goes on.
const BUDGET: Duration = Duration::from_secs(60);

/// Cases of every kind.
struct Everything {
    formulas: Vec<Case>,
    folds: Vec<FoldCase>,
    nearest: Vec<NearestCase>,
}

impl Everything {
    fn new() -> Everything {
        Everything { formulas: cases(), folds: folds::cases(), nearest: nearest::cases() }
    }

    fn len(&self) -> usize {
        self.formulas.len() + self.folds.len() + self.nearest.len()
    }

    /// The cases to check now.
    fn chosen(self, ledger: &Ledger, options: &Options) -> Everything {
        Everything {
            formulas: chosen(self.formulas, ledger, options),
            folds: chosen(self.folds, ledger, options),
            nearest: chosen(self.nearest, ledger, options),
        }
    }

    /// What is compiled together. Formulas come last: they are many.
    fn units(&self) -> Vec<Unit<'_>> {
        let nearest = self.nearest.chunks(UNIT).map(Unit::Nearest);
        let folds = self.folds.chunks(UNIT).map(Unit::Folds);
        nearest.chain(folds).chain(self.formulas.chunks(UNIT).map(Unit::Formulas)).collect()
    }
}

/// Cases that are compiled together.
#[derive(Clone, Copy)]
enum Unit<'a> {
    Formulas(&'a [Case]),
    Folds(&'a [FoldCase]),
    Nearest(&'a [NearestCase]),
}

/// The cases of one kind to check now: a sample, then the others.
fn chosen<C: Checked>(cases: Vec<C>, ledger: &Ledger, options: &Options) -> Vec<C> {
    let is_sample = |at: usize| at.is_multiple_of(SAMPLE);
    let (mut sample, mut rest) = (Vec::new(), Vec::new());
    for (at, case) in cases.into_iter().enumerate() {
        let passed = !options.again && ledger.has_passed(&case);
        if !options.formulas.is_empty() {
            if options.formulas.iter().any(|name| name == case.family()) {
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

/// The checks that are made.
struct Checks {
    compiles: Option<Nvrtc>,
    computes: bool,
}

impl Checks {
    fn new(only: Option<&str>) -> Result<Checks, String> {
        let compiles = match only {
            Some("computes") => None,
            _ => Some(Nvrtc::load(&setup::library()).map_err(|error| error.to_string())?),
        };
        let computes = only != Some("compiles");
        if computes && !computes::has_compiler() {
            println!("{} is not found: kernels are not run on the host", computes::COMPILER);
        }
        Ok(Checks { compiles, computes: computes && computes::has_compiler() })
    }

    /// Whether a case that they find nothing wrong with has passed.
    fn are_all(&self) -> bool {
        self.compiles.is_some() && self.computes
    }

    /// What the fingerprints depend on beside the text of the kernels.
    fn words(&self) -> Result<String, String> {
        let Some(nvrtc) = &self.compiles else { return Ok(String::new()) };
        let (major, minor) = nvrtc.version().map_err(|error| error.to_string())?;
        Ok(format!("{} by NVRTC {major}.{minor}", Nvrtc::options(compiles::ARCH).join(" ")))
    }

    /// Checks cases that are compiled together, notes those that have passed, and says what is wrong and how many they
    /// were.
    fn run<C: Checked>(
        &self,
        unit: usize,
        cases: &[C],
        ledger: &Mutex<Ledger>,
    ) -> Result<(Vec<Finding>, usize), String> {
        let mut findings = match &self.compiles {
            Some(nvrtc) => C::compiles(nvrtc, cases).map_err(|error| error.to_string())?,
            None => Vec::new(),
        };
        if self.computes {
            findings.extend(C::computes(cases, &workspace_root().join(format!("target/cuda/host_{unit}")))?);
        }
        if self.are_all() {
            let passed = cases.iter().filter(|case| !findings.iter().any(|finding| case.is_of(finding)));
            lock(ledger).pass(passed)?;
        }
        Ok((findings, cases.len()))
    }
}

/// `cargo xtask cuda`.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let options = options(args)?;
    let checks = Checks::new(options.only.as_deref())?;
    if options.faults {
        return Ok(plant(&checks));
    }
    let start = Instant::now();
    let everything = Everything::new();
    let total = everything.len();
    let ledger = Mutex::new(Ledger::open(&everything, &checks.words()?)?);
    let chosen = everything.chosen(&lock(&ledger), &options);
    let unlimited = options.all || !options.formulas.is_empty();
    println!("{} of {total} cases; {}", chosen.len(), checks.words()?);

    let (next, run) = (AtomicUsize::new(0), Mutex::new(Run::default()));
    let units = chosen.units();
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(unit) = units.get(number).filter(|_| unlimited || start.elapsed() < BUDGET) else { return };
        let found = match *unit {
            Unit::Formulas(cases) => checks.run(number, cases, &ledger),
            Unit::Folds(cases) => checks.run(number, cases, &ledger),
            Unit::Nearest(cases) => checks.run(number, cases, &ledger),
        };
        let mut run = lock(&run);
        match found {
            Ok((findings, checked)) => {
                findings.iter().for_each(|finding| println!("\n{finding}"));
                run.findings.extend(findings);
                run.checked += checked;
                print!("\r{} of {}, {:.0} s", run.checked, chosen.len(), start.elapsed().as_secs_f64());
                let _ = std::io::stdout().flush();
            }
            Err(problem) => {
                run.problem = Some(problem);
                return;
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
    if unlimited && checks.are_all() && run.findings.is_empty() {
        lock(&ledger).commit()?;
    }
    Ok(run.findings.is_empty())
}

/// Plants faults, each of which a check has to find.
fn plant(checks: &Checks) -> bool {
    let folder = workspace_root().join("target/cuda/faults");
    let folder = checks.computes.then_some(&*folder);
    let (mut planted, mut missed) = (0, Vec::new());
    for plant in [faults::check, folds::faults::check, nearest::faults::check] {
        let (count, others) = plant(checks.compiles.as_ref(), folder);
        planted += count;
        missed.extend(others);
    }
    missed.iter().for_each(|finding| println!("{finding}"));
    println!("{planted} planted faults, {} missed", missed.len());
    missed.is_empty()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    for (name, args) in [("CUDA kernels", None), ("faults planted into CUDA kernels", Some("--faults".to_owned()))] {
        steps.step(name, || match run(args.as_slice()) {
            Ok(true) => Outcome::Passed,
            Ok(false) => Outcome::Failed,
            Err(problem) => {
                eprintln!("{problem}");
                Outcome::Failed
            }
        });
    }
}

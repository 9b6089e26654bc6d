//! Attacks on the library from safe code. Each case runs in a process of its own with a time and a memory limit, and
//! has to end with the error that is documented, or with a valid result; then come random calls of every operator.
//!
//! ```text
//! cargo test -p monomorph-testsuite --test hostile                          all cases, and 20,000 random calls
//! cargo test -p monomorph-testsuite --test hostile -- NAME                  the cases with this in their name
//! cargo test -p monomorph-testsuite --test hostile -- fuzz --calls N        random calls alone; also --seed, --call,
//! --operator, --without
//! ```
#![forbid(unsafe_code)]

mod cases;

use cases::{CASES, Case};
use monomorph_testsuite::hostile::{End, Limits, Options, Ran, fuzz, run, run_chunk};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a case may take.
const TIME: Duration = Duration::from_secs(20);

/// Calls of a run that is not told how many.
const CALLS: u64 = 20_000;

/// The exit code of a case whose answer is wrong, and of one that panics.
const WRONG: u8 = 10;
const PANICKED: u8 = 11;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = args.split_first().map_or(("", &[][..]), |(command, rest)| (command.as_str(), rest));
    let outcome = match command {
        "case" => return case(rest.first().map_or("", String::as_str)),
        "chunk" => chunk(rest),
        "fuzz" => Options::parse(rest, CALLS).and_then(|options| random_calls(&options)),
        "--list" => Ok(true),
        _ => all(&args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("hostile: {problem}");
            ExitCode::from(2)
        }
    }
}

/// The calls of a chunk, in this process; its report is the last line.
fn chunk(args: &[String]) -> Result<bool, String> {
    let report = run_chunk(&Options::parse(args, CALLS)?)?;
    println!("{}", serde_json::to_string(&report).map_err(|error| error.to_string())?);
    Ok(true)
}

fn program() -> Result<std::path::PathBuf, String> {
    std::env::current_exe().map_err(|error| error.to_string())
}

/// Random calls, in processes of their own, or in this one where `MONOMORPH_FUZZ_IN_PROCESS` is set: valgrind follows
/// no process.
fn random_calls(options: &Options) -> Result<bool, String> {
    if std::env::var_os("MONOMORPH_FUZZ_IN_PROCESS").is_none() {
        return Ok(fuzz(&program()?, options));
    }
    let report = run_chunk(options)?;
    report.failures.iter().for_each(|failure| println!("call {}: {}\n{}", failure.call, failure.what, failure.text));
    println!("fuzz: {} calls in this process, {} failed", options.calls, report.failures.len());
    Ok(report.failures.is_empty())
}

/// One case, in this process.
fn case(name: &str) -> ExitCode {
    let Some(case) = CASES.iter().flat_map(|group| group.iter()).find(|case| case.name == name) else {
        eprintln!("no case is called {name}");
        return ExitCode::from(2);
    };
    match catch_unwind(AssertUnwindSafe(case.run)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(what)) => {
            eprintln!("{what}");
            ExitCode::from(WRONG)
        }
        Err(_) => ExitCode::from(PANICKED),
    }
}

/// All cases whose name has the filter in it, and random calls where there is no filter. Words for the usual harness
/// are passed over.
fn all(args: &[String]) -> Result<bool, String> {
    let mut filters: Vec<&str> = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--skip" | "--test-threads" | "--color" | "--format" => drop(args.next()),
            flag if flag.starts_with('-') => {}
            filter => filters.push(filter),
        }
    }
    let chosen = |case: &&Case| filters.is_empty() || filters.iter().any(|filter| case.name.contains(filter));
    let cases: Vec<&Case> = CASES.iter().flat_map(|group| group.iter()).filter(chosen).collect();
    let good = run_cases(&cases)?;
    if !filters.is_empty() {
        return Ok(good);
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let calls = number("MONOMORPH_FUZZ_ITERS").unwrap_or(CALLS);
    let seed = number("MONOMORPH_FUZZ_SEED").unwrap_or(1);
    Ok(random_calls(&Options { seed, ..Options::new(calls) })? && good)
}

fn run_cases(cases: &[&Case]) -> Result<bool, String> {
    let (program, next, failed) = (program()?, AtomicUsize::new(0), Mutex::new(Vec::new()));
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (verdict, ran) = judged(&program, case);
                    println!("{verdict:<10} {:>5.1} s  {}: {}", ran.took.as_secs_f64(), case.name, case.attacks);
                    if verdict != "held"
                        && let Ok(mut failed) = failed.lock()
                    {
                        failed.push((case.name, verdict, ran));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().map_err(|_| "a case was not judged".to_owned())?;
    for (name, verdict, ran) in &failed {
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| !line.trim().is_empty()).take(12).collect();
        println!("\n== {name}: {verdict} ({:?})\n{}", ran.end, lines.join("\n"));
    }
    println!("\n{} cases, {} did not hold", cases.len(), failed.len());
    Ok(failed.is_empty())
}

/// Runs a case; the word that tells how it ended.
fn judged(program: &Path, case: &Case) -> (&'static str, Ran) {
    let ran = match run(program, &["case", case.name], case.environment, Limits::new(TIME)) {
        Ok(ran) => ran,
        Err(error) => {
            let stderr = format!("{}: {error}", program.display());
            return ("no start", Ran { end: End::Exited(-1), stdout: String::new(), stderr, took: Duration::ZERO });
        }
    };
    let verdict = match ran.end {
        End::Exited(0) => "held",
        End::Exited(code) if code == i32::from(WRONG) => "wrong",
        End::Exited(code) if code == i32::from(PANICKED) => "panicked",
        End::Exited(_) => "ended",
        End::Signal(6) => "aborted",
        End::Signal(_) => "crashed",
        End::TimedOut => "timed out",
    };
    (verdict, ran)
}

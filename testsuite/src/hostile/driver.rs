//! Runs many chunks in processes of their own and sums up. Owns what is done about a process that dies or hangs: its
//! chunk is run again, each call written down before it is made; the call that it died in is reported, and the chunk
//! goes on behind it.

use super::children::{End, Limits, Ran, run};
use super::chunk::{Failure, Report};
use super::options::{Class, Options};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Calls of one process. Few enough that running them again is quick.
const CHUNK: u64 = 10_000;

/// Failures after which a run ends: more of them tell no more.
const MAX_FAILURES: usize = 40;

/// An operator that was called this often, and never returned, was never attacked behind its checks.
const ENOUGH: u64 = 60;

/// Lines that a report ends with.
const SHOWN: usize = 10;

/// Runs the calls of `options` in processes of `program`, whose first word `chunk` makes it run one. Prints a report;
/// true if all was well.
pub fn fuzz(program: &Path, options: &Options) -> bool {
    let start = Instant::now();
    let mut options = options.clone();
    if limits(0).memory.is_none() {
        options.without.push(Class::Gigabytes);
    }
    let options = &options;
    let chunks = options.calls.div_ceil(CHUNK);
    let (next, total) = (AtomicU64::new(0), Mutex::new(Report::default()));
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(chunks as usize) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let failed = total.lock().map_or(MAX_FAILURES, |total| total.failures.len());
                    if number >= chunks || failed >= MAX_FAILURES {
                        return;
                    }
                    let first = options.first + number * CHUNK;
                    let calls = CHUNK.min(options.first + options.calls - first);
                    let report = chunk(program, &Options { first, calls, ..options.clone() });
                    report.failures.iter().for_each(|failure| print_failure(options, failure));
                    let Ok(mut total) = total.lock() else { return };
                    total.add(report);
                    if chunks > 20 && (number + 1) % (chunks / 20) == 0 {
                        println!(
                            "{} of {} calls, {:.0} s",
                            (number + 1) * CHUNK,
                            options.calls,
                            start.elapsed().as_secs_f64()
                        );
                    }
                }
            });
        }
    });
    let Ok(total) = total.into_inner() else { return false };
    summary(options, &total, start.elapsed())
}

fn print_failure(options: &Options, failure: &Failure) {
    let replay = Options { first: failure.call, calls: 1, ..options.clone() }.to_args().join(" ");
    println!("\n== fuzz {replay}\n{}\n{}", failure.what, failure.text);
}

/// The time that a process may take: what its calls should take many times over, and for one of them to hang.
fn limits(calls: u64) -> Limits {
    let slow = if cfg!(debug_assertions) { 20 } else { 1 };
    Limits::new(Duration::from_secs(30 * slow.min(4)) + Duration::from_millis(calls * slow / 4))
}

fn spawn(program: &Path, options: &Options) -> Result<Ran, String> {
    let mut args = vec!["chunk".to_owned()];
    args.extend(options.to_args());
    run(program, &args, &[], limits(options.calls)).map_err(|error| format!("{}: {error}", program.display()))
}

/// One chunk, in as many processes as it takes.
fn chunk(program: &Path, options: &Options) -> Report {
    let mut total = Report::default();
    let (mut first, end) = (options.first, options.first + options.calls);
    while first < end && total.failures.len() < MAX_FAILURES {
        let part = Options { first, calls: end - first, ..options.clone() };
        match spawn(program, &part).map(|ran| (read(&ran), ran)) {
            Ok((Some(report), _)) => {
                total.add(report);
                break;
            }
            Ok((None, ran)) => {
                let failure = culprit(program, &part, &ran);
                first = failure.call.saturating_add(1);
                total.failures.push(failure);
            }
            Err(what) => {
                total.failures.push(Failure { call: first, what, text: String::new() });
                break;
            }
        }
    }
    total
}

/// The report of a process that ran to its end.
fn read(ran: &Ran) -> Option<Report> {
    if ran.end != End::Exited(0) {
        return None;
    }
    serde_json::from_str(ran.stdout.lines().last()?).ok()
}

/// The call in which a chunk dies.
fn culprit(program: &Path, part: &Options, ran: &Ran) -> Failure {
    let path = std::env::temp_dir().join(format!("monomorph-fuzz-{}-{}", std::process::id(), part.first));
    let traced = Options { trace: Some(path.display().to_string()), ..part.clone() };
    let again = spawn(program, &traced);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    // A leftover in the temporary directory is no failure.
    let _ = std::fs::remove_file(&path);
    let (call, text) = text.split_once('\n').unwrap_or(("", ""));
    let how = |ran: &Ran| {
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| !line.trim().is_empty()).take(SHOWN).collect();
        let means = match ran.end {
            End::Signal(6) => " (an abort)",
            End::Signal(11) => " (a wrong address, or a stack that is used up)",
            End::Signal(9) => " (killed from outside)",
            _ => "",
        };
        format!("the process ended: {:?}{means} after {:.1} s\n{}", ran.end, ran.took.as_secs_f64(), lines.join("\n"))
    };
    let last = part.first + part.calls - 1;
    match (again, call.parse()) {
        (Ok(again), Ok(call)) if again.end != End::Exited(0) => {
            Failure { call, what: how(&again), text: text.to_owned() }
        }
        (Ok(_), _) => Failure {
            call: last,
            what: format!("{}\nand the same calls, written down one by one, went well", how(ran)),
            text: format!("some call from {} on", part.first),
        },
        (Err(what), _) => Failure { call: last, what, text: String::new() },
    }
}

fn summary(options: &Options, total: &Report, took: Duration) -> bool {
    let sum = |of: fn(&(u64, u64)) -> u64| total.operators.values().map(of).sum::<u64>();
    let (returned, refused) = (sum(|counts| counts.0), sum(|counts| counts.1));
    println!(
        "\nfuzz: seed {}, {} operators, {returned} calls returned, {refused} were refused, {} failed; {:.1} s",
        options.seed,
        total.operators.len(),
        total.failures.len(),
        took.as_secs_f64()
    );
    let mut shares: Vec<(f64, &str, u64)> = total
        .operators
        .iter()
        .map(|(name, &(yes, no))| (yes as f64 / (yes + no).max(1) as f64, name.as_str(), yes + no))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let lines: Vec<String> = shares
        .iter()
        .take(SHOWN)
        .map(|(share, name, calls)| format!("{name} {:.0} % of {calls}", share * 100.0))
        .collect();
    println!("returned least: {}", lines.join(", "));
    let slow: Vec<String> = total
        .slowest
        .iter()
        .map(|(seconds, call, name)| format!("{name} {:.0} ms (call {call})", seconds * 1e3))
        .collect();
    println!("slowest: {}", slow.join(", "));
    let never: Vec<&str> =
        shares.iter().filter(|(share, _, calls)| *share == 0.0 && *calls >= ENOUGH).map(|(_, name, _)| *name).collect();
    if !never.is_empty() {
        println!("never returned, so nothing behind their checks was attacked: {}", never.join(", "));
    }
    total.failures.is_empty() && never.is_empty()
}

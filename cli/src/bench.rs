//! Many runs, timed.

use crate::profile::{self, Row};
use crate::{Result, message, plan, run};
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use monomorph::program::{Program, Session, Value};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs before those that count: caches are filled, pages of weights read.
const WARM_UP: usize = 3;
/// How long to go on where the number of runs is not given, and how many these may be.
const TIME: Duration = Duration::from_secs(3);
const RUNS: std::ops::RangeInclusive<usize> = 10..=1000;
/// Runs whose nodes are timed, apart from the others, because that takes time itself.
const PROFILED: usize = 10;

pub(crate) fn bench(program: &Program, args: &ArgMatches, out: &mut String) -> Result<bool> {
    let (mut session, inputs) = run::prepare(program, args)?;
    let runs = args.get_one::<u64>("runs").map(|runs| (*runs).max(1) as usize);
    for _ in 0..WARM_UP {
        timed(&mut session, &inputs)?;
    }
    let mut times = repeated(&mut session, &inputs, runs)?;
    times.sort_unstable();
    let threads = rayon::current_num_threads();
    say!(out, "{} runs, {threads} thread{}, ms", times.len(), if threads == 1 { "" } else { "s" });
    let at = |share: f64| milliseconds(times[((times.len() - 1) as f64 * share).round() as usize]);
    let mean = milliseconds(times.iter().sum()) / times.len() as f64;
    say!(
        out,
        "  min {:.3}  median {:.3}  90 % {:.3}  99 % {:.3}  max {:.3}  mean {mean:.3}",
        at(0.0),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );

    if let Some(kept) = session.kept() {
        say!(out, "  {}", plan::in_words(&kept));
    }

    let profiled = PROFILED.min(times.len());
    session.measure();
    for _ in 0..profiled {
        timed(&mut session, &inputs)?;
    }
    let timings = session.take_timings();
    let top = args.get_one::<u64>("top").map_or(15, |top| *top as usize);
    print("operator", &profile::by_operator(&timings), profiled, top, out);
    print("module", &profile::by_module(&timings), profiled, top, out);
    if let Some(path) = args.get_one::<PathBuf>("trace") {
        let one_run = &timings[timings.len() - timings.len() / profiled..];
        std::fs::write(path, profile::trace(one_run)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(true)
}

fn timed(session: &mut Session, inputs: &[Value]) -> Result<Duration> {
    let start = Instant::now();
    session.run(inputs).map_err(message)?;
    Ok(start.elapsed())
}

/// The times of so many runs, or of as many as there is time for; a bar on standard error shows how far it is.
fn repeated(session: &mut Session, inputs: &[Value], runs: Option<usize>) -> Result<Vec<Duration>> {
    let bar = ProgressBar::new(runs.map_or(TIME.as_millis() as u64, |runs| runs as u64));
    let style = ProgressStyle::with_template("{wide_bar} {percent} %").map_err(message)?;
    bar.set_style(style);
    let (start, mut times) = (Instant::now(), Vec::new());
    loop {
        times.push(timed(session, inputs)?);
        let is_over = match runs {
            Some(runs) => times.len() >= runs,
            None => times.len() >= *RUNS.end() || (times.len() >= *RUNS.start() && start.elapsed() >= TIME),
        };
        if is_over {
            break;
        }
        bar.set_position(runs.map_or(start.elapsed().as_millis() as u64, |_| times.len() as u64));
    }
    bar.finish_and_clear();
    Ok(times)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A table of the rows that take longest, each for one run.
fn print(what: &str, rows: &[Row], runs: usize, top: usize, out: &mut String) {
    let all: Duration = rows.iter().map(|row| row.time).sum();
    say!(out, "\n{:>10} {:>6} {:>7}  {what}", "ms", "%", "calls");
    for row in rows.iter().take(top) {
        let share = 100.0 * row.time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        say!(out, "{:>10.4} {share:>6.1} {:>7}  {}", milliseconds(row.time) / runs as f64, row.calls / runs, row.name);
    }
    if rows.len() > top {
        let rest: Duration = rows[top..].iter().map(|row| row.time).sum();
        say!(out, "{:>10.4} {:>6} {:>7}  {} more", milliseconds(rest) / runs as f64, "", "", rows.len() - top);
    }
}

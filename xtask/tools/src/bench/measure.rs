//! Times one cell on two engines in turn. Owns how long, how often and what is taken from it.
//!
//! Rounds alternate between the sides, so that a drift of the machine (frequency, neighbours) meets both; the median
//! over the rounds drops what met only one. A round of a short call is many calls behind a few untimed ones, because
//! the other side has just used the caches.

use super::cells::Cell;
use super::engine::{Digest, Engine};
use std::time::Duration;

/// Rounds of a cell; of one whose calls are long, the fewest that are accepted.
const ROUNDS: usize = 9;
const FEWEST_ROUNDS: usize = 7;

/// Nanoseconds that a round lasts, where it can hold several calls.
const ROUND: f64 = 3e6;

/// A call of so many nanoseconds is long.
const LONG: f64 = 6e6;

/// With more than one thread the workers of one side may still spin when the other starts.
const SETTLE: Duration = Duration::from_millis(20);

/// Medians of the time of a call, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timing {
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
}

impl Timing {
    /// How many times as long theirs takes.
    pub(crate) fn ratio(self) -> f64 {
        self.theirs / self.ours
    }
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Timed(Timing),
    /// An engine has no such call, for this reason.
    Absent(String),
    /// The engines do not give the same answer, so there is nothing to compare.
    Disagree,
}

/// Prepares the call on both sides, compares their answers, and times them in turn.
pub(crate) fn measure([ours, theirs]: [&mut Engine; 2], cell: &Cell) -> Result<Outcome, String> {
    let request = &cell.request();
    let (our_answer, their_answer) = match (prepared(ours, request)?, prepared(theirs, request)?) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(reason), _) => return Ok(Outcome::Absent(reason)),
        (_, Err(reason)) => return Ok(Outcome::Absent(format!("{}: {reason}", theirs.name))),
    };
    if !our_answer.agrees(&their_answer, tolerance(cell)) {
        return Ok(Outcome::Disagree);
    }
    let mut sides = [ours, theirs];
    let calls = [calibrate(|n| sides[0].run(n))?, calibrate(|n| sides[1].run(n))?];
    let (round, rounds) = match cell.group {
        group if group.is_sweep() => (ROUND / 4.0, FEWEST_ROUNDS),
        _ if calls.iter().any(|call| *call > LONG) => (ROUND, FEWEST_ROUNDS),
        _ => (ROUND, ROUNDS),
    };
    let times = in_turn(&mut sides, &calls, round, rounds, cell.threads)?;
    Ok(Outcome::Timed(Timing { ours: times[0], theirs: times[1] }))
}

/// The time of a prepared call on each of several engines, in nanoseconds; all agree in what they answer, or are not
/// asked to.
pub(crate) fn of_each(sides: &mut [&mut Engine], threads: usize) -> Result<Vec<f64>, String> {
    let calls: Vec<f64> = sides.iter_mut().map(|side| calibrate(|n| side.run(n))).collect::<Result<_, _>>()?;
    in_turn(sides, &calls, 4.0 * ROUND, ROUNDS, threads)
}

/// Medians over rounds that alternate between the sides, of calls that take about `calls`.
fn in_turn(
    sides: &mut [&mut Engine],
    calls: &[f64],
    round: f64,
    rounds: usize,
    threads: usize,
) -> Result<Vec<f64>, String> {
    let mut times = vec![Vec::with_capacity(rounds); sides.len()];
    for _ in 0..rounds {
        for ((side, call), times) in sides.iter_mut().zip(calls).zip(&mut times) {
            if threads > 1 {
                std::thread::sleep(SETTLE);
            }
            let n = (round / call).ceil().max(1.0) as u64;
            if *call < round {
                side.run(n.div_ceil(20))?;
            }
            times.push(side.run(n)? / n as f64);
        }
    }
    Ok(times.into_iter().map(median).collect())
}

/// Prepares the call and takes its answer; the inner error says why the engine has none.
pub(crate) fn prepared(engine: &mut Engine, request: &str) -> Result<Result<Digest, String>, String> {
    match engine.prepare(request)? {
        Ok(()) => engine.answer(),
        Err(reason) => Ok(Err(reason)),
    }
}

/// About how long a call takes: more and more calls, until they last long enough to tell.
fn calibrate(mut run: impl FnMut(u64) -> Result<f64, String>) -> Result<f64, String> {
    let mut n = 1;
    loop {
        let took = run(n)?;
        if took >= ROUND / 10.0 || n >= 1 << 40 {
            return Ok((took / n as f64).max(0.1));
        }
        n *= 4;
    }
}

/// The middle value, or the mean of the two in the middle; `times` is not empty.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2.0 }
}

/// How far two answers of a call may be apart, relative to the magnitudes in a piece. Where every step is rounded as
/// IEEE 754 says, not at all.
fn tolerance(cell: &Cell) -> f64 {
    match (&*cell.op, cell.dtype) {
        // That it is the same call is to be seen; how exact each side is, is seen elsewhere.
        (_, "bfloat16") if cell.group.is_sweep() => 1.0 / 16.0,
        _ if cell.group.is_sweep() => 1e-3,
        ("add" | "mul" | "eq" | "where" | "relu" | "maximum" | "minimum" | "fused_relu_mul_add", _) => 1e-13,
        ("sum" | "mean" | "mm" | "lstm_cell" | "lstm.input", "float32") => 1e-3,
        (_, "bfloat16") => 1.0 / 128.0,
        (_, "float16") => 1.0 / 1024.0,
        (_, "float64") => 1e-13,
        _ => 1e-6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_what_met_one_round() {
        assert_eq!(median(vec![3.0, 1.0, 1000.0, 2.0, 4.0]), 3.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }

    #[test]
    fn calibration_finds_the_time_of_a_call() {
        for call in [1e-3, 5.0, 1e4, 1e9] {
            let found = calibrate(|n| Ok(call * n as f64)).expect("nothing fails");
            assert!((found - f64::max(call, 0.1)).abs() < 1e-6 * call.max(0.1), "{found}");
        }
        assert!(calibrate(|_| Err("ended".to_owned())).is_err());
    }

    #[test]
    fn the_ratio_says_how_many_times_as_long_theirs_takes() {
        assert_eq!(Timing { ours: 2.0, theirs: 5.0 }.ratio(), 2.5);
    }
}

//! Recorded runs, one JSON object a line, and the comparison of a run with the last recorded one. Owns the judgement of
//! what has become slower.

use super::run::{Header, Run};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use xtask::workspace_root;

/// A ratio may fall by this much of the stored one before it counts.
const SLACK: f64 = 0.1;

/// How often a cell that seems slower is timed again before it is believed.
pub(crate) const AGAIN: usize = 3;

/// Where the runs against a rival are kept.
pub(crate) fn path(rival: &str) -> PathBuf {
    workspace_root().join("benches/history").join(format!("{rival}.jsonl"))
}

/// Every run of a history, oldest first.
pub(crate) fn read(path: &Path) -> Result<Vec<Run>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{}: {error}; cargo xtask bench --record begins a history", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(i, line)| {
            let run = serde_json::from_str(line).ok().and_then(|value| Run::from_json(&value));
            run.ok_or_else(|| format!("{}:{} is no run", path.display(), i + 1))
        })
        .collect()
}

/// Appends a run.
pub(crate) fn append(path: &Path, run: &Run) -> Result<(), String> {
    let write = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{}", run.to_json())
    };
    write().map_err(|error: std::io::Error| format!("{}: {error}", path.display()))
}

/// The stored ratio of each cell: of the last comparable run that timed it.
pub(crate) struct Baseline(Vec<Run>);

impl Baseline {
    /// The runs of a history that may be compared with one of this header.
    ///
    /// # Errors
    /// If there are none: ratios of another machine or rival would say nothing.
    pub(crate) fn of(history: Vec<Run>, header: &Header) -> Result<Baseline, String> {
        let comparable: Vec<Run> = history.into_iter().filter(|run| run.header.comparable(header)).collect();
        if comparable.is_empty() {
            return Err(format!(
                "no run against {} at {} is stored for this machine ({}); record one with cargo xtask bench --record",
                header.rival, header.isa, header.machine
            ));
        }
        Ok(Baseline(comparable))
    }

    pub(crate) fn ratio(&self, key: &str) -> Option<f64> {
        self.0.iter().rev().find_map(|run| run.ratio(key))
    }
}

/// Whether a ratio has fallen too far below the stored one.
pub(crate) fn falls(now: f64, stored: f64) -> bool {
    now < stored * (1.0 - SLACK)
}

/// The ratio of a cell that may have become slower: `now`, or the first of the new timings that has not fallen, or the
/// best of all that have. An engine that fails is an error.
pub(crate) fn confirm(
    now: f64,
    stored: f64,
    mut again: impl FnMut() -> Result<f64, String>,
) -> Result<Result<f64, f64>, String> {
    let mut best = now;
    for _ in 0..AGAIN {
        if !falls(best, stored) {
            return Ok(Ok(best));
        }
        best = best.max(again()?);
    }
    Ok(if falls(best, stored) { Err(best) } else { Ok(best) })
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::{header, timed};
    use super::*;

    fn run(ratios: &[(&str, f64)]) -> Run {
        let mut run = Run::new(header());
        ratios.iter().for_each(|(name, ratio)| run.set((*name).to_owned(), timed(*ratio)));
        run
    }

    #[test]
    fn eleven_percent_fail_and_nine_pass() {
        for stored in [0.9, 1.0, 7.3] {
            assert!(falls(stored * 0.89, stored));
            assert!(!falls(stored * 0.91, stored));
            assert!(!falls(stored * 2.0, stored));
        }
    }

    #[test]
    fn a_fall_is_believed_after_three_more_timings() {
        let mut timings = 0;
        let always = confirm(0.8, 1.0, || {
            timings += 1;
            Ok(0.85)
        });
        assert_eq!((always, timings), (Ok(Err(0.85)), 3));
        let mut later = [0.8, 0.95].into_iter();
        assert_eq!(confirm(0.8, 1.0, || Ok(later.next().expect("it stops where it recovers"))), Ok(Ok(0.95)));
        assert_eq!(confirm(0.95, 1.0, || Err("it is not asked".to_owned())), Ok(Ok(0.95)));
        assert!(confirm(0.5, 1.0, || Err("ended".to_owned())).is_err());
    }

    #[test]
    fn the_last_comparable_run_counts() {
        let mut elsewhere = run(&[("a", 9.0)]);
        elsewhere.header.machine = "N".to_owned();
        let history = vec![run(&[("a", 1.0), ("b", 2.0)]), run(&[("a", 3.0)]), elsewhere];
        let baseline = Baseline::of(history, &header()).expect("two runs fit");
        assert_eq!((baseline.ratio("a"), baseline.ratio("b"), baseline.ratio("c")), (Some(3.0), Some(2.0), None));
        let newer = Header { rival: "PyTorch 2.16.0".to_owned(), ..header() };
        assert!(Baseline::of(vec![run(&[("a", 1.0)])], &newer).is_err_and(|problem| problem.contains("--record")));
    }

    #[test]
    fn runs_are_appended_and_read() {
        let path = std::env::temp_dir().join(format!("monomorph-history-{}.jsonl", std::process::id()));
        assert!(read(&path).is_err());
        for ratio in [1.0, 2.0] {
            append(&path, &run(&[("a", ratio)])).expect("the directory of temporary files can be written");
        }
        assert_eq!(read(&path), Ok(vec![run(&[("a", 1.0)]), run(&[("a", 2.0)])]));
        std::fs::write(&path, "{}\n").expect("as before");
        assert!(read(&path).is_err_and(|problem| problem.ends_with(":1 is no run")));
        std::fs::remove_file(&path).expect("it was written");
    }
}

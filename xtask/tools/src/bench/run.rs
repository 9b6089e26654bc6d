//! A run: where, when and on what its cells were timed, and their outcomes; as JSON, so that a run can go on where it
//! ended and be compared with later ones. Owns the format; one run is one line of the history.

use super::cells::{Cell, Group};
use super::measure::{Outcome, Timing};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use xtask::workspace_root;

/// What must be the same for two runs to be compared, and the rest that is told about one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) machine: String,
    pub(crate) isa: String,
    /// Threads of every cell, if they were not the cells' own.
    pub(crate) threads: Option<usize>,
    pub(crate) rival: String,
    pub(crate) commit: String,
    pub(crate) date: String,
}

impl Header {
    /// Whether ratios of the two may be compared. The rival's version is part of it.
    pub(crate) fn comparable(&self, other: &Header) -> bool {
        (&self.machine, &self.isa, self.threads, &self.rival)
            == (&other.machine, &other.isa, other.threads, &other.rival)
    }
}

/// A header and the outcome of each cell by `group/name`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) header: Header,
    pub(crate) cells: Vec<(String, Outcome)>,
}

/// The name of a cell in a run.
pub(crate) fn key(cell: &Cell) -> String {
    format!("{}/{}", cell.group.name(), cell.name())
}

impl Run {
    pub(crate) fn new(header: Header) -> Run {
        Run { header, cells: Vec::new() }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Outcome> {
        self.cells.iter().find(|(name, _)| name == key).map(|(_, outcome)| outcome)
    }

    /// Adds or replaces the outcome of a cell.
    pub(crate) fn set(&mut self, key: String, outcome: Outcome) {
        match self.cells.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = outcome,
            None => self.cells.push((key, outcome)),
        }
    }

    pub(crate) fn ratio(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Outcome::Timed(timing) => Some(timing.ratio()),
            _ => None,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let Header { machine, isa, threads, rival, commit, date } = &self.header;
        let outcome = |outcome: &Outcome| match outcome {
            Outcome::Timed(Timing { ours, theirs }) => json!({ "ours": round(*ours), "theirs": round(*theirs) }),
            Outcome::Absent(reason) => json!({ "absent": reason }),
            Outcome::Disagree => json!({ "disagree": true }),
        };
        let cells: Map<String, Value> = self.cells.iter().map(|(name, o)| (name.clone(), outcome(o))).collect();
        json!({ "machine": machine, "isa": isa, "threads": threads, "rival": rival, "commit": commit, "date": date,
            "unit": "ns", "cells": cells })
    }

    pub(crate) fn from_json(value: &Value) -> Option<Run> {
        let word = |name: &str| value[name].as_str().map(str::to_owned);
        let header = Header {
            machine: word("machine")?,
            isa: word("isa")?,
            threads: value["threads"].as_u64().map(|n| n as usize),
            rival: word("rival")?,
            commit: word("commit")?,
            date: word("date")?,
        };
        let outcome = |value: &Value| {
            Some(if let Some(reason) = value["absent"].as_str() {
                Outcome::Absent(reason.to_owned())
            } else if value["disagree"] == true {
                Outcome::Disagree
            } else {
                Outcome::Timed(Timing { ours: value["ours"].as_f64()?, theirs: value["theirs"].as_f64()? })
            })
        };
        let cells = value["cells"].as_object()?.iter().map(|(name, o)| Some((name.clone(), outcome(o)?)));
        Some(Run { header, cells: cells.collect::<Option<_>>()? })
    }

    /// Writes the run in one step, so that a run that is cut short leaves a whole file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let unfinished = path.with_extension("unfinished");
        std::fs::write(&unfinished, format!("{:#}\n", self.to_json()))
            .and_then(|()| std::fs::rename(&unfinished, path))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn read(path: &Path) -> Result<Run, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Run::from_json(&value).ok_or_else(|| format!("{} is no run", path.display()))
    }

    /// The run in `path` if it can go on as one with this header, or a new one if there is none.
    pub(crate) fn resume(path: &Path, header: Header) -> Result<Run, String> {
        if !path.exists() {
            return Ok(Run::new(header));
        }
        let run = Run::read(path)?;
        if !run.header.comparable(&header) || run.header.commit != header.commit {
            return Err(format!(
                "{} is a run of {} on {} ({}); this one is of {} on {} ({}); give another file",
                path.display(),
                run.header.commit,
                run.header.machine,
                run.header.isa,
                header.commit,
                header.machine,
                header.isa,
            ));
        }
        Ok(run)
    }

    /// The worst timed cell of a group.
    pub(crate) fn worst(&self, group: Group) -> Option<(&str, f64)> {
        let of_group = self.cells.iter().filter(|(name, _)| name.split('/').next() == Some(group.name()));
        let ratios = of_group.filter_map(|(name, _)| Some((&**name, self.ratio(name)?)));
        ratios.min_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}

/// Tenths of nanoseconds are below what can be repeated.
fn round(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

/// The processor and how many cores it shows.
pub(crate) fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let (_, value) = info.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name)?;
        Some(value.trim().to_owned())
    };
    let model = value("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    // Makers give whole families one name; these numbers tell them apart.
    let kind = value("model").zip(value("cpu family")).map(|(model, family)| format!(" family {family} model {model}"));
    let cores = info.lines().filter(|line| line.starts_with("processor")).count();
    format!("{model}{}, {cores} cores", kind.unwrap_or_default())
}

/// The commit that is checked out, with a + if files differ from it.
pub(crate) fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(workspace_root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"]) else { return "unknown".to_owned() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
    if changed { commit + "+" } else { commit }
}

/// Today in UTC, as year-month-day.
pub(crate) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    civil((seconds / 86_400) as i64)
}

/// The date of a day counted from 1970-01-01: years of the era of 400 that begin in March, so that the leap day comes
/// last.
fn civil(day: i64) -> String {
    let day = day + 719_468;
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn header() -> Header {
        Header {
            machine: "M, 2 cores".to_owned(),
            isa: "avx2".to_owned(),
            threads: None,
            rival: "PyTorch 2.15.0".to_owned(),
            commit: "abc".to_owned(),
            date: "2026-01-01".to_owned(),
        }
    }

    pub(crate) fn timed(ratio: f64) -> Outcome {
        Outcome::Timed(Timing { ours: 1000.0, theirs: 1000.0 * ratio })
    }

    #[test]
    fn a_run_is_read_as_it_was_written() {
        let mut run = Run::new(Header { threads: Some(2), ..header() });
        run.set("figures/a".to_owned(), timed(1.5));
        run.set("figures/b".to_owned(), Outcome::Absent("not in the table".to_owned()));
        run.set("grid/c".to_owned(), Outcome::Disagree);
        run.set("grid/d".to_owned(), timed(0.5));
        assert_eq!(Run::from_json(&run.to_json()), Some(run.clone()));
        assert_eq!((run.ratio("figures/a"), run.ratio("figures/b")), (Some(1.5), None));
        assert_eq!(run.worst(Group::Grid), Some(("grid/d", 0.5)));
        run.set("grid/d".to_owned(), timed(2.0));
        assert_eq!(run.worst(Group::Grid), Some(("grid/d", 2.0)));
        assert_eq!(Run::from_json(&json!({ "machine": "M" })), None);
    }

    #[test]
    fn a_run_goes_on_only_as_the_same_run() {
        let path = std::env::temp_dir().join(format!("monomorph-bench-{}.json", std::process::id()));
        let mut run = Run::resume(&path, header()).expect("there is no file yet");
        run.set("figures/a".to_owned(), timed(1.5));
        run.write(&path).expect("the directory of temporary files can be written");
        let later = Header { date: "2026-01-02".to_owned(), ..header() };
        assert_eq!(Run::resume(&path, later).map(|run| run.ratio("figures/a")), Ok(Some(1.5)));
        for other in [
            Header { commit: "def".to_owned(), ..header() },
            Header { isa: "avx512".to_owned(), ..header() },
            Header { machine: "N".to_owned(), ..header() },
            Header { threads: Some(1), ..header() },
        ] {
            assert!(Run::resume(&path, other).is_err());
        }
        std::fs::write(&path, "{").expect("as before");
        assert!(Run::resume(&path, header()).is_err());
        std::fs::remove_file(&path).expect("it was written");
    }

    #[test]
    fn days_are_dates() {
        for (day, date) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_777, "2026-11-20")] {
            assert_eq!(civil(day), date);
        }
    }
}

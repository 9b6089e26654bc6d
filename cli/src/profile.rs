//! Where the time of runs goes: by operator, by module, and as events for Chrome's trace viewer.

use monomorph::program::Timing;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// The modules whose times are added up are named by so many parts of their paths.
const MODULE_PARTS: usize = 3;

/// Nodes that have something in common.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) time: Duration,
}

/// The times of operators, the longest first.
pub(crate) fn by_operator(timings: &[Timing]) -> Vec<Row> {
    grouped(timings, |timing| timing.target.clone())
}

/// The times of modules, the longest first.
pub(crate) fn by_module(timings: &[Timing]) -> Vec<Row> {
    grouped(timings, |timing| {
        let parts: Vec<&str> = timing.module.split('.').take(MODULE_PARTS).collect();
        if timing.module.is_empty() { "(outermost)".to_owned() } else { parts.join(".") }
    })
}

fn grouped(timings: &[Timing], name: impl Fn(&Timing) -> String) -> Vec<Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    // Nodes end before those around them, from whose times theirs are taken.
    let mut inside: Vec<Duration> = Vec::new();
    for timing in timings {
        inside.resize(inside.len().max(timing.depth + 2), Duration::ZERO);
        let own = timing.time.saturating_sub(std::mem::take(&mut inside[timing.depth + 1]));
        inside[timing.depth] += timing.time;
        let name = name(timing);
        let row = rows.entry(name.clone()).or_insert(Row { name, ..Row::default() });
        row.calls += 1;
        row.time += own;
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    rows
}

/// Events in the format of Chrome's trace viewer; times in microseconds.
pub(crate) fn trace(timings: &[Timing]) -> String {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let event = |timing: &Timing| {
        json!({
            "name": timing.target, "cat": "node", "ph": "X", "pid": 1, "tid": 1,
            "ts": micros(timing.start), "dur": micros(timing.time),
            "args": { "node": timing.node, "module": timing.module },
        })
    };
    json!({ "traceEvents": timings.iter().map(event).collect::<Vec<_>>() }).to_string()
}

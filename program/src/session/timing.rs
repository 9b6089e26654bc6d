//! How long nodes take.

use super::{Run, Session};
use crate::graph::Node;
use std::time::{Duration, Instant};

/// How long one run of a node took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timing {
    /// The node's name.
    pub node: String,
    /// What it calls.
    pub target: String,
    /// The module that it is part of.
    pub module: String,
    /// How many nodes it is inside of: their times are part of those of the nodes around them.
    pub depth: usize,
    /// When it began, from the beginning of the measurement.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
}

/// What is measured since when.
pub(super) struct Timings {
    begin: Instant,
    all: Vec<Timing>,
}

impl Session {
    /// From now on measures every node.
    pub fn measure(&mut self) {
        self.timings = Some(Timings { begin: Instant::now(), all: Vec::new() });
    }

    /// What was measured since [`measure`](Session::measure), in the order in which nodes ended, and ends it.
    pub fn take_timings(&mut self) -> Vec<Timing> {
        self.timings.take().map_or_else(Vec::new, |timings| timings.all)
    }
}

impl Run<'_> {
    /// Calls `f`, which runs a node, and notes how long that took if this is measured.
    pub(super) fn timed<R>(&mut self, node: &Node, f: impl FnOnce(&mut Self) -> R) -> R {
        let Some(begin) = self.timings.as_ref().map(|timings| timings.begin) else { return f(self) };
        let (start, depth) = (begin.elapsed(), self.frames.len().saturating_sub(1));
        let result = f(self);
        if let Some(timings) = &mut self.timings {
            timings.all.push(Timing {
                node: node.name().to_owned(),
                target: node.target().to_owned(),
                module: node.module().to_owned(),
                depth,
                start,
                time: timings.begin.elapsed().saturating_sub(start),
            });
        }
        result
    }
}

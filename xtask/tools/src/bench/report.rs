//! A run as a table: cell, ours, theirs, ratio, bar, and what to make of it. Owns the words, not the figures.

use super::cells::{Cell, Group};
use super::measure::Outcome;
use super::run::{Run, key};
use std::fmt::Write as _;

/// A ratio this much below its bar, or less, is near it.
const NEAR: f64 = 0.1;

/// How a ratio stands to its bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Met,
    Near,
    Missed,
    /// There is no bar at this level.
    Free,
}

impl Standing {
    fn of(ratio: f64, bar: Option<f64>) -> Standing {
        match bar {
            None => Standing::Free,
            Some(bar) if ratio >= bar => Standing::Met,
            Some(bar) if ratio >= bar * (1.0 - NEAR) => Standing::Near,
            Some(_) => Standing::Missed,
        }
    }

    const fn mark(self) -> &'static str {
        match self {
            Standing::Met => "ok",
            Standing::Near => "near",
            Standing::Missed => "MISS",
            Standing::Free => "",
        }
    }
}

/// The bar of a cell at a level.
fn bar(cell: &Cell, isa: &str) -> Option<f64> {
    if isa == "avx2" { cell.bar_avx2 } else { cell.bar }
}

/// A duration in three digits.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// One cell on one line.
pub(crate) fn line(cell: &Cell, outcome: &Outcome, isa: &str, width: usize) -> String {
    let name = cell.name();
    match outcome {
        Outcome::Timed(timing) => {
            let ratio = timing.ratio();
            let bar = bar(cell, isa);
            let asked = bar.map_or("-".to_owned(), |bar| format!("{bar:.1}"));
            let mark = Standing::of(ratio, bar).mark();
            let (ours, theirs) = (time(timing.ours), time(timing.theirs));
            format!("{name:<width$} {ours:>9} {theirs:>9} {ratio:>7.2} {asked:>5} {mark}").trim_end().to_owned()
        }
        Outcome::Absent(reason) => format!("{name:<width$} {reason}"),
        Outcome::Disagree => format!("{name:<width$} THE ANSWERS DIFFER"),
    }
}

/// The cells of a run that were asked for, by group, with a summary of each.
pub(crate) fn table(run: &Run, cells: &[Cell]) -> String {
    let isa = &run.header.isa;
    let width = cells.iter().map(|cell| cell.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for group in Group::ALL {
        let of_group: Vec<&Cell> = cells.iter().filter(|cell| cell.group == group).collect();
        if of_group.is_empty() {
            continue;
        }
        writeln!(text, "\n{:<width$} {:>9} {:>9} {:>7} {:>5}", group.name(), "ours", "theirs", "ratio", "bar")
            .expect("text takes text");
        let mut standings = Vec::new();
        let mut logarithms = 0.0;
        let (mut absent, mut differ) = (0, 0);
        for cell in of_group {
            let Some(outcome) = run.get(&key(cell)) else { continue };
            match outcome {
                Outcome::Timed(timing) => {
                    standings.push(Standing::of(timing.ratio(), bar(cell, isa)));
                    logarithms += timing.ratio().ln();
                }
                Outcome::Absent(_) => absent += 1,
                Outcome::Disagree => differ += 1,
            }
            if group.is_sweep() && standings.last() == Some(&Standing::Met) && matches!(outcome, Outcome::Timed(_)) {
                continue; // thousands
            }
            writeln!(text, "{}", line(cell, outcome, isa, width)).expect("text takes text");
        }
        let count = |standing| standings.iter().filter(|s| **s == standing).count();
        write!(
            text,
            "{}: {} met, {} within 10 % of the bar, {} missed",
            group.name(),
            count(Standing::Met),
            count(Standing::Near),
            count(Standing::Missed),
        )
        .expect("text takes text");
        for (n, what) in [(count(Standing::Free), "without a bar"), (absent, "absent"), (differ, "with other answers")]
        {
            if n > 0 {
                write!(text, ", {n} {what}").expect("text takes text");
            }
        }
        if group.is_sweep() && !standings.is_empty() {
            let mean = (logarithms / standings.len() as f64).exp();
            write!(text, "; geometric mean {mean:.2}").expect("text takes text");
        }
        match run.worst(group) {
            Some((name, ratio)) => writeln!(text, "; worst {ratio:.2} at {name}").expect("text takes text"),
            None => text.push('\n'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::cells;
    use super::super::run::tests::{header, timed};
    use super::*;

    #[test]
    fn standings() {
        for (ratio, bar, standing) in [
            (1.0, Some(1.0), Standing::Met),
            (0.91, Some(1.0), Standing::Near),
            (0.89, Some(1.0), Standing::Missed),
            (0.1, None, Standing::Free),
        ] {
            assert_eq!(Standing::of(ratio, bar), standing, "{ratio} {bar:?}");
        }
    }

    #[test]
    fn times_have_three_digits() {
        let times: Vec<String> = [5.0, 51.23, 512.3, 5123.0, 51_234.0, 5.1e6, 29.9e6].into_iter().map(time).collect();
        assert_eq!(times, ["5.00 ns", "51.2 ns", "512 ns", "5.12 µs", "51.2 µs", "5.10 ms", "29.9 ms"]);
    }

    #[test]
    fn the_table_marks_what_is_missed() {
        let all = cells::all();
        let asked: Vec<Cell> = all.iter().filter(|cell| cell.passes("64Ki/out")).cloned().collect();
        let mut run = Run::new(header());
        run.set("figures/add/float32/contiguous/64Ki/out".to_owned(), timed(1.31));
        run.set("figures/add/float64/contiguous/64Ki/out".to_owned(), timed(1.0));
        run.set("figures/exp/float32/contiguous/64Ki/out".to_owned(), timed(1.5));
        run.set("figures/gelu/float32/contiguous/64Ki/out".to_owned(), timed(1.5));
        run.set("figures/tanh/float32/contiguous/64Ki/out".to_owned(), Outcome::Absent("not in the table".to_owned()));
        run.set("figures/erf/float32/contiguous/64Ki/out".to_owned(), Outcome::Disagree);
        let text = table(&run, &asked);
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        assert!(row("add/float32/contiguous/64Ki").ends_with("1.31   1.3 ok"), "{text}");
        assert!(row("add/float64").ends_with("1.00   1.1 near"), "{text}");
        assert!(row("exp/float32").ends_with("1.50   2.0 MISS"), "at AVX2 its own bar: {text}");
        assert!(row("gelu").ends_with("1.50     -"), "no bar at AVX2: {text}");
        assert!(row("tanh").ends_with("not in the table"), "{text}");
        assert!(row("erf").ends_with("DIFFER"), "{text}");
        let summary = "figures: 1 met, 1 within 10 % of the bar, 1 missed, 1 without a bar, 1 absent, 1 with other \
                       answers; \
            worst 1.00 at figures/add/float64/contiguous/64Ki/out";
        assert_eq!(row("figures:"), summary);
    }
}

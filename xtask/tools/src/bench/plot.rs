//! The history as a picture: one small chart per figure, the ratio over the recorded runs, and the bar. Owns the
//! drawing.

use super::cells::{Cell, Group, all};
use super::run::{Run, key};
use std::fmt::Write as _;

/// Charts side by side, and the size of each with its title and margin.
const COLUMNS: usize = 4;
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 130.0;
const MARGIN: f64 = 34.0;

/// One series per machine and level, in the order in which they first appear.
const COLOURS: [&str; 6] = ["#1f6f8b", "#c8553d", "#588157", "#7b5ea7", "#b8860b", "#444444"];

/// The charts of every figure that was ever timed.
pub(crate) fn svg(runs: &[Run]) -> String {
    let mut series: Vec<String> = Vec::new();
    for run in runs {
        let name = series_of(run);
        if !series.contains(&name) {
            series.push(name);
        }
    }
    let timed = |cell: &Cell| runs.iter().any(|run| run.ratio(&key(cell)).is_some());
    let figures: Vec<Cell> = all().into_iter().filter(|cell| cell.group == Group::Figures && timed(cell)).collect();
    let legend = 24.0 + 16.0 * series.len() as f64;
    let (width, height) = (COLUMNS as f64 * WIDTH, legend + figures.len().div_ceil(COLUMNS).max(1) as f64 * HEIGHT);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"16\">time of the rival / time of monomorph; dashed: the bar</text>\n"
    );
    for (i, name) in series.iter().enumerate() {
        let y = 32.0 + 16.0 * i as f64;
        let colour = COLOURS[i % COLOURS.len()];
        let name = escape(name);
        writeln!(text, "<text x=\"8\" y=\"{y}\" fill=\"{colour}\">{name}</text>").expect("text takes text");
    }
    for (i, cell) in figures.iter().enumerate() {
        let (x, y) = ((i % COLUMNS) as f64 * WIDTH, legend + (i / COLUMNS) as f64 * HEIGHT);
        chart(&mut text, cell, runs, &series, x, y);
    }
    text.push_str("</svg>\n");
    text
}

fn series_of(run: &Run) -> String {
    format!("{}, {}, against {}", run.header.machine, run.header.isa, run.header.rival)
}

fn chart(text: &mut String, cell: &Cell, runs: &[Run], series: &[String], x: f64, y: f64) {
    let ratios: Vec<Option<f64>> = runs.iter().map(|run| run.ratio(&key(cell))).collect();
    let top = ratios.iter().flatten().copied().chain(cell.bar).fold(1.0, f64::max) * 1.1;
    let (left, right, low, high) = (x + MARGIN, x + WIDTH - 12.0, y + HEIGHT - 16.0, y + 20.0);
    let across = |i: usize| left + (right - left) * (i as f64 + 0.5) / runs.len() as f64;
    let up = |ratio: f64| low - (low - high) * ratio / top;
    let mut write = |line: String| writeln!(text, "{line}").expect("text takes text");
    write(format!("<text x=\"{left}\" y=\"{:.1}\">{}</text>", y + 13.0, escape(&cell.name())));
    write(format!("<path d=\"M{left} {high:.1}V{low:.1}H{right}\" fill=\"none\" stroke=\"#999999\"/>"));
    write(format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{top:.1}</text>", left - 3.0, high + 8.0));
    write(format!("<text x=\"{:.1}\" y=\"{low:.1}\" text-anchor=\"end\">0</text>", left - 3.0));
    if let Some(bar) = cell.bar {
        let at = up(bar);
        write(format!(
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#999999\" stroke-dasharray=\"4 3\" fill=\"none\"/>"
        ));
    }
    for (s, name) in series.iter().enumerate() {
        let of_series = runs.iter().zip(&ratios).enumerate().filter(|(_, (run, _))| series_of(run) == *name);
        let points: Vec<(String, f64, f64)> = of_series
            .filter_map(|(i, (run, ratio))| {
                let ratio = (*ratio)?;
                let told = format!("{} {}: {ratio:.2}", run.header.commit, run.header.date);
                Some((told, across(i), up(ratio)))
            })
            .collect();
        let colour = COLOURS[s % COLOURS.len()];
        let line: Vec<String> = points.iter().map(|(_, x, y)| format!("{x:.1},{y:.1}")).collect();
        write(format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", line.join(" ")));
        for (told, x, y) in points {
            let told = escape(&told);
            write(format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"><title>{told}</title></circle>"
            ));
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::{header, timed};
    use super::super::run::{Header, Run};
    use super::*;

    #[test]
    fn every_ratio_is_a_point_of_its_series() {
        let figure = key(&all()[0]);
        let run = |ratio, isa: &str| {
            let mut run = Run::new(Header { isa: isa.to_owned(), machine: "A & B".to_owned(), ..header() });
            run.set(figure.clone(), timed(ratio));
            run
        };
        let text = svg(&[run(1.0, "avx2"), run(2.0, "avx2"), run(4.0, "avx512")]);
        assert_eq!((text.matches("<circle").count(), text.matches("<polyline").count()), (3, 2));
        assert!(text.contains("A &amp; B, avx2") && text.contains(": 4.00</title>") && text.ends_with("</svg>\n"));
        assert_eq!(svg(&[]).matches("<circle").count(), 0);
    }
}

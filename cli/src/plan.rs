//! What a session keeps for later runs: kernels, and the memory between them, in words and as a drawing.

use crate::{Result, message, run};
use clap::ArgMatches;
use monomorph::program::{Kept, MemoryBlock, Program};
use std::fmt::Write;
use std::path::PathBuf;

/// Runs after which kernels are kept: the first makes a plan, the second binds them, the third in less memory.
const RUNS: usize = 3;

pub(crate) fn plan(program: &Program, args: &ArgMatches, drawing: Option<&PathBuf>, out: &mut String) -> Result<()> {
    let (mut session, inputs) = run::prepare(program, args)?;
    for _ in 0..RUNS {
        session.run(&inputs).map_err(message)?;
    }
    let Some(kept) = session.kept() else {
        say!(out, "\nno kernels are kept: every step reads elements, draws numbers or looks at what a run writes");
        return Ok(());
    };
    say!(out, "\n{}", in_words(&kept));
    if let Some(path) = drawing {
        std::fs::write(path, svg(&kept, &session.memory())).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// What is kept, on a line.
pub(crate) fn in_words(kept: &Kept) -> String {
    format!(
        "{} kernels kept, {} of them run block by block; {} steps called anew; {}",
        kept.kernels,
        kept.grouped,
        kept.steps,
        memory(kept)
    )
}

fn memory(kept: &Kept) -> String {
    format!("{:.3} MB between them, {:.3} MB at the same time at most", mb(kept.bytes), mb(kept.live))
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// The memory as a drawing: kernels from left to right, bytes from bottom to top, a rectangle for each tensor, whose
/// title says which node makes it.
fn svg(kept: &Kept, blocks: &[MemoryBlock]) -> String {
    let (width, height, edge) = (1200.0, 600.0, 60.0);
    let (x_scale, y_scale) = (width / kept.kernels.max(1) as f64, height / kept.bytes.max(1) as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <text x=\"{edge}\" y=\"{}\">{}</text>\n\
         <text x=\"{edge}\" y=\"{}\">{} kernels</text>\n\
         <rect x=\"{edge}\" y=\"{edge}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>\n",
        width + 2.0 * edge,
        height + 2.0 * edge,
        edge - 10.0,
        memory(kept),
        height + edge + 20.0,
        kept.kernels,
    );
    for (index, block) in blocks.iter().enumerate() {
        let (x, y) = (block.kernels.start as f64 * x_scale, (block.offset + block.bytes) as f64 * y_scale);
        // The golden angle tells neighbours apart.
        let hue = index as f64 * 137.508 % 360.0;
        let _ = writeln!(
            svg,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"hsl({hue:.0} 60% 70%)\" \
             stroke=\"#444\" stroke-width=\"0.3\"><title>{}: {} bytes, kernels {} to {}</title></rect>",
            edge + x,
            edge + height - y,
            block.kernels.len() as f64 * x_scale,
            block.bytes as f64 * y_scale,
            escaped(&block.node),
            block.bytes,
            block.kernels.start,
            block.kernels.end.saturating_sub(1),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Text of a file as XML has it.
fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        // XML has no others.
        letter if letter.is_control() => String::new(),
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}

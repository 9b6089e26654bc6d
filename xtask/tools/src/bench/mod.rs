//! `cargo xtask bench`: this library and another one, timed in turn in two processes. Owns the order of the steps; the
//! cells, the engines, the timing, the record and the table are in the modules.

mod cells;
mod cuda;
mod engine;
mod every;
mod figures;
mod history;
mod listed;
mod measure;
mod options;
mod plot;
mod programs;
mod report;
mod run;
mod torch;

use cells::Cell;
use engine::Engine;
use history::Baseline;
use measure::{Outcome, measure};
use options::{Options, Rival};
pub(crate) use programs::{ENGINE as PROGRAM_ENGINE, serve_programs};
use run::{Header, Run, key};
pub(crate) use run::{commit, machine, today};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::cargo;
use xtask::workspace_root;

/// Runs the command. False where a check fails or answers differ.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let options = Options::parse(args)?;
    if options.programs {
        return programs::run(&options);
    }
    if options.cuda {
        return cuda::run(&options.filters);
    }
    if let Some(path) = &options.plot {
        let runs = history::read(&history::path(options.vs.name()))?;
        return std::fs::write(path, plot::svg(&runs))
            .map(|()| true)
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let programs = Programs::build(options.vs)?;
    if options.build {
        return Ok(true);
    }
    let cells = selected(&options)?;
    let mut engines = Engines { programs, options: &options, running: BTreeMap::new() };
    let mut run = begin(&options, &mut engines, &cells)?;
    let baseline = match options.check {
        true => {
            let path = options.baseline.clone().unwrap_or_else(|| history::path(options.vs.name()));
            Some(Baseline::of(history::read(&path)?, &run.header)?)
        }
        false => None,
    };
    time(&options, &mut engines, &cells, &mut run)?;
    print!("{}", report::table(&run, &cells));
    let same = cells.iter().all(|cell| run.get(&key(cell)) != Some(&Outcome::Disagree));
    let held = match baseline {
        Some(baseline) => check(&baseline, &mut engines, &cells, &mut run)?,
        None => true,
    };
    if options.record && held && same {
        history::append(&history::path(options.vs.name()), &run)?;
    }
    Ok(same && held)
}

/// The cells that the filters let through.
fn selected(options: &Options) -> Result<Vec<Cell>, String> {
    let mut cells = if options.vs == Rival::Torch { cells::all() } else { cells::plain() };
    if options.vs == Rival::Torch {
        cells.extend(every::cells());
        cells.extend(listed::cells());
    }
    cells.retain(|cell| options.filters.is_empty() || options.filters.iter().any(|filter| cell.passes(filter)));
    if let Some(threads) = options.threads {
        cells.iter_mut().for_each(|cell| cell.threads = threads);
    }
    if cells.is_empty() {
        let filters = options.filters.join(", ");
        return Err(format!(
            "no cell has {filters} in its name; names are such as figures/add/float32/contiguous/64Ki/out"
        ));
    }
    Ok(cells)
}

/// A new run, or the one that goes on.
fn begin(options: &Options, engines: &mut Engines<'_>, cells: &[Cell]) -> Result<Run, String> {
    let [ours, theirs] = engines.pair(cells[0].threads)?;
    println!("ours:   {}\ntheirs: {}", ours.name, theirs.name);
    if let Some(isa) = &options.isa {
        println!("both are held to {isa}: MONOMORPH_ISA; ATEN_CPU_CAPABILITY and MKL_ENABLE_INSTRUCTIONS");
    }
    // The rival without its level and threads, which the header has.
    let rival: Vec<&str> = theirs.name.split_whitespace().take(2).collect();
    let level = ours.name.split_whitespace().nth(2).unwrap_or_default();
    let header = Header {
        machine: run::machine(),
        isa: options.isa.clone().unwrap_or_else(|| level.to_owned()),
        threads: options.threads,
        rival: rival.join(" "),
        commit: run::commit(),
        date: run::today(),
    };
    match &options.json {
        Some(path) if options.resume => Run::resume(path, header),
        _ => Ok(Run::new(header)),
    }
}

/// Times every cell that the run does not have yet, and writes it down after each.
fn time(options: &Options, engines: &mut Engines<'_>, cells: &[Cell], run: &mut Run) -> Result<(), String> {
    let width = cells.iter().map(|cell| cell.name().len()).max().unwrap_or(0);
    for (i, cell) in cells.iter().enumerate() {
        if matches!(run.get(&key(cell)), Some(Outcome::Timed(_))) {
            continue;
        }
        let outcome = engines.time(cell)?;
        let line = report::line(cell, &outcome, &run.header.isa, width);
        eprintln!("[{:>3}/{}] {line}", i + 1, cells.len());
        run.set(key(cell), outcome);
        if let Some(path) = &options.json {
            run.write(path)?;
        }
    }
    Ok(())
}

/// Compares a run with the stored one. Cells that seem slower are timed again.
fn check(baseline: &Baseline, engines: &mut Engines<'_>, cells: &[Cell], run: &mut Run) -> Result<bool, String> {
    let (mut compared, mut slower) = (0, 0);
    for cell in cells {
        let name = key(cell);
        let Some(stored) = baseline.ratio(&name) else { continue };
        let Some(now) = run.ratio(&name) else {
            println!("{name}: stored is {stored:.2}, but it was not timed");
            slower += 1;
            continue;
        };
        compared += 1;
        let again = || match engines.time(cell)? {
            Outcome::Timed(timing) => {
                if timing.ratio() > run.ratio(&name).unwrap_or(0.0) {
                    run.set(name.clone(), Outcome::Timed(timing));
                }
                Ok(timing.ratio())
            }
            _ => Err(format!("{name} was timed before and is not any more")),
        };
        if let Err(best) = history::confirm(now, stored, again)? {
            println!("{name}: {best:.2}, stored is {stored:.2}, at least {:.2} is accepted", stored * 0.9);
            slower += 1;
        }
    }
    println!("{compared} cells compared with the stored ratios, {slower} slower");
    if compared == 0 {
        return Err("none of the selected cells is stored; record them with --record".to_owned());
    }
    Ok(slower == 0)
}

/// The programs of both sides.
struct Programs {
    ours: PathBuf,
    theirs: PathBuf,
}

impl Programs {
    fn build(rival: Rival) -> Result<Programs, String> {
        let this = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
        let target = this.parent().and_then(Path::parent).ok_or("this program is not in a target directory")?;
        let mut build = cargo(&["build", "--quiet", "--release", "-p", "monomorph-benches", "--bin", "engine"]);
        let status = build.arg("--target-dir").arg(target).status().map_err(|error| format!("cargo: {error}"))?;
        if !status.success() {
            return Err("the engine of this library does not build".to_owned());
        }
        let theirs = match rival {
            Rival::Torch => torch::engine()?,
            Rival::Candle => rust_engine("candle", "candle-core", target)?,
            Rival::Ndarray => rust_engine("ndarray", "ndarray", target)?,
        };
        Ok(Programs { ours: target.join("release/engine"), theirs })
    }
}

/// The engine of a Rust library: a program of the package that is outside the workspace.
fn rust_engine(program: &str, feature: &str, target: &Path) -> Result<PathBuf, String> {
    // In a directory of its own, because the other lock file may choose other versions.
    let target = target.join("rivals");
    let mut build = cargo(&["build", "--quiet", "--release", "--bin", program, "--features", feature]);
    build.arg("--manifest-path").arg(workspace_root().join("benches/rivals/Cargo.toml"));
    match build.arg("--target-dir").arg(&target).status() {
        Ok(status) if status.success() => Ok(target.join("release").join(program)),
        Ok(_) => Err(format!("the engine of {program} does not build")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// The engines that are running, by number of threads: a pool does not change its size.
struct Engines<'a> {
    programs: Programs,
    options: &'a Options,
    running: BTreeMap<usize, [Engine; 2]>,
}

impl Engines<'_> {
    /// Ours and theirs with so many threads.
    fn pair(&mut self, threads: usize) -> Result<[&mut Engine; 2], String> {
        if !self.running.contains_key(&threads) {
            let ours = self.options.engine(Command::new(&self.programs.ours), threads);
            let mut theirs = self.options.engine(Command::new(&self.programs.theirs), threads);
            theirs.arg(threads.to_string());
            self.running.insert(threads, [Engine::start(ours)?, Engine::start(theirs)?]);
        }
        let [ours, theirs] = self.running.get_mut(&threads).ok_or("the engines were just started")?;
        Ok([ours, theirs])
    }

    fn time(&mut self, cell: &Cell) -> Result<Outcome, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cell.threads > cores {
            return Ok(Outcome::Absent(format!("needs {} cores, there are {cores}", cell.threads)));
        }
        let pair = self.pair(cell.threads)?;
        measure(pair, cell)
    }
}

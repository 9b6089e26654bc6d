//! `cargo xtask bench --programs`: whole programs here and in PyTorch, timed in turn: eager, compiled, and by
//! onnxruntime. Owns the table; what a program computes is held against PyTorch by `cargo xtask programs`.

use super::engine::Engine;
use super::measure::{of_each, prepared};
use super::options::Options;
use super::{report, torch};
use monomorph::program::{Program, Session, Value};
use monomorph::{Cpu, DType, Tensor};
use monomorph_benches::calls::describe;
use monomorph_benches::serve::{Task, serve};
use monomorph_testsuite::programs::{Record, inputs};
use std::path::Path;
use std::process::Command;
use xtask::workspace_root;

/// The command that makes this program an engine.
pub(crate) const ENGINE: &str = "program-engine";

/// How far two answers may be apart, relative to the magnitudes in a piece.
const TOLERANCE: f64 = 1e-3;

/// What else runs a program.
pub(crate) const RIVALS: [&str; 3] = ["eager", "compile", "onnxruntime"];

/// The times of a program in nanoseconds: ours, and each rival's or why there is none.
struct Row {
    name: String,
    ours: f64,
    theirs: Vec<Result<f64, String>>,
}

impl Row {
    /// How many times as long the fastest of the others takes.
    fn ratio(&self) -> Option<f64> {
        let fastest = self.theirs.iter().flatten().copied().min_by(f64::total_cmp)?;
        Some(fastest / self.ours)
    }

    fn line(&self, width: usize) -> String {
        let theirs = self.theirs.iter().map(|time| match time {
            Ok(time) => report::time(*time),
            Err(_) => "-".to_owned(),
        });
        let theirs: String = theirs.map(|time| format!(" {time:>11}")).collect();
        let ratio = self.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        format!("{:<width$} {:>11}{theirs} {ratio:>8}", self.name, report::time(self.ours))
    }
}

/// Times the programs of a directory. False where answers differ.
pub(super) fn run(options: &Options) -> Result<bool, String> {
    let cases = options.cases.clone().unwrap_or_else(|| workspace_root().join("testsuite/golden/programs"));
    let names = selected(&cases, &options.filters)?;
    let rivals: Vec<&str> = match &options.rivals[..] {
        [] => vec![RIVALS[0]],
        some => RIVALS.into_iter().filter(|rival| some.iter().any(|own| own.as_str() == *rival)).collect(),
    };
    let threads = options.threads.unwrap_or(1);
    let this = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
    let mut ours = start(options, threads, Command::new(this), &[ENGINE.to_owned()])?;
    let script = workspace_root().join("benches/torch/programs.py").display().to_string();
    let mut theirs: Vec<Engine> = rivals
        .iter()
        .map(|_| start(options, threads, torch::python(), &[script.clone(), threads.to_string()]))
        .collect::<Result<_, _>>()?;
    let version = theirs.first().map_or("", |engine| &engine.name).to_owned();
    println!("ours:   {}\ntheirs: {version} {}, {threads} threads", ours.name, rivals.join(", "));
    let width = names.iter().map(String::len).max().unwrap_or(0).max(7);
    let heads: String = rivals.iter().map(|rival| format!(" {rival:>11}")).collect();
    println!("{:<width$} {:>11}{heads} {:>8}", "program", "ours", "ratio");
    let (mut rows, mut same) = (Vec::new(), true);
    for name in names {
        let request = |rival: &str| format!("prepare {} {name} {rival}", cases.display());
        let our_answer = match prepared(&mut ours, &request("ours"))? {
            Ok(answer) => answer,
            Err(reason) => {
                println!("{name:<width$} {reason}");
                continue;
            }
        };
        let mut ready = Vec::new();
        let mut times: Vec<Result<f64, String>> = Vec::new();
        for (index, (engine, rival)) in theirs.iter_mut().zip(&rivals).enumerate() {
            times.push(match prepared(engine, &request(rival))? {
                Ok(answer) => {
                    if !answer.agrees(&our_answer, TOLERANCE) {
                        println!("{name:<width$} the answer of {rival} is another");
                        same = false;
                    }
                    ready.push(index);
                    Ok(0.0)
                }
                Err(reason) => {
                    eprintln!("{name:<width$} {rival}: {reason}");
                    Err(reason)
                }
            });
        }
        let mut sides = vec![&mut ours];
        sides.extend(theirs.iter_mut().enumerate().filter(|(index, _)| ready.contains(index)).map(|(_, side)| side));
        let medians = of_each(&mut sides, threads)?;
        for (index, time) in ready.iter().zip(&medians[1..]) {
            times[*index] = Ok(*time);
        }
        let row = Row { name, ours: medians[0], theirs: times };
        println!("{}", row.line(width));
        rows.push(row);
    }
    println!("{}", summary(&rows));
    Ok(same)
}

/// The programs, each in the forms that there are.
fn selected(cases: &Path, filters: &[String]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for name in Record::names(cases)? {
        for (form, _) in Record::load(cases, &name)?.archives() {
            names.push(if form == "core" { format!("{name}.core") } else { name.clone() });
        }
    }
    names.retain(|name| filters.is_empty() || filters.iter().any(|filter| name.contains(filter)));
    if names.is_empty() {
        return Err(format!("{}: no program has {} in its name", cases.display(), filters.join(", ")));
    }
    Ok(names)
}

fn start(options: &Options, threads: usize, program: Command, args: &[String]) -> Result<Engine, String> {
    let mut command = match options.pin.filter(|_| threads == 1) {
        Some(core) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(core.to_string()).arg(program.get_program());
            command
        }
        None => program,
    };
    command.args(args).env("RAYON_NUM_THREADS", threads.to_string()).env("OMP_NUM_THREADS", threads.to_string());
    if let Some(isa) = &options.isa {
        command.env("MONOMORPH_ISA", isa).env("ATEN_CPU_CAPABILITY", isa);
        command.env("MKL_ENABLE_INSTRUCTIONS", isa.to_uppercase());
    }
    Engine::start(command)
}

fn summary(rows: &[Row]) -> String {
    let ratios: Vec<f64> = rows.iter().filter_map(Row::ratio).collect();
    let Some(least) = ratios.iter().copied().min_by(f64::total_cmp) else { return "nothing to compare".to_owned() };
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    format!("{} programs against the fastest of the others: minimum {least:.2}, geometric mean {mean:.2}", ratios.len())
}

/// A program with its recorded inputs.
struct Ready {
    session: Session,
    inputs: Vec<Value>,
    outputs: Vec<Value>,
}

impl Task for Ready {
    fn run(&mut self, n: u64) -> Result<(), String> {
        for _ in 0..n {
            self.outputs = self.session.run(&self.inputs).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn result(&mut self) -> Result<Vec<f64>, String> {
        let mut all = Vec::new();
        for value in &self.outputs {
            match value {
                Value::Tensor(tensor) => match tensor.downcast_ref::<Cpu>() {
                    Some(tensor) => all.extend(elements(tensor).map_err(|error| error.to_string())?),
                    None => return Err("an output is not on the CPU".to_owned()),
                },
                other => all.extend(other.to_scalar().map(|number| number.to_f64())),
            }
        }
        Ok(all)
    }
}

/// The elements in order, those of complex tensors as two numbers.
fn elements(tensor: &Tensor<Cpu>) -> monomorph::Result<Vec<f64>> {
    use monomorph::ops::{resolve_conj, to, view_as_real};
    if tensor.dtype().is_complex() {
        return elements(&view_as_real(&resolve_conj(tensor)?)?);
    }
    to(tensor, DType::F64)?.to_vec()
}

/// Answers requests for timings of programs: `prepare DIR NAME ours`.
pub(crate) fn serve_programs() -> Result<bool, String> {
    let prepare = |words: &str| -> Result<Box<dyn Task>, String> {
        let mut words = words.rsplitn(3, ' ');
        let (Some(_), Some(name), Some(dir)) = (words.next(), words.next(), words.next()) else {
            return Err("prepare takes DIR NAME RIVAL".to_owned());
        };
        let dir = Path::new(dir);
        let record = Record::load(dir, name.trim_end_matches(".core"))?;
        let program = Program::load(dir.join(format!("{name}.pt2"))).map_err(|error| error.to_string())?;
        let session = program.session().map_err(|error| error.to_string())?;
        Ok(Box::new(Ready { session, inputs: inputs(&record, &program, "in")?, outputs: Vec::new() }))
    };
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    serve(&describe()?, prepare, input, output).map(|()| true).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, theirs: &[f64]) -> Row {
        Row { name: "p".to_owned(), ours, theirs: theirs.iter().map(|time| Ok(*time)).collect() }
    }

    #[test]
    fn the_ratio_is_to_the_fastest_of_the_others() {
        assert_eq!(row(2.0, &[8.0, 4.0, 6.0]).ratio(), Some(2.0));
        let absent = Row { theirs: vec![Err("no".to_owned()), Ok(6.0)], ..row(2.0, &[]) };
        assert_eq!(absent.ratio(), Some(3.0));
        assert!(absent.line(3).contains(" - "));
        assert_eq!(row(2.0, &[]).ratio(), None);
    }

    #[test]
    fn a_summary_has_the_worst_and_the_mean() {
        let text = summary(&[row(1.0, &[2.0]), row(1.0, &[8.0]), row(1.0, &[])]);
        assert_eq!(text, "2 programs against the fastest of the others: minimum 2.00, geometric mean 4.00");
        assert_eq!(summary(&[]), "nothing to compare");
    }
}

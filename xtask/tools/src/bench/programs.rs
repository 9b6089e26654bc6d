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

/// How far two answers may be apart, relative to the magnitudes in a piece: bfloat16 has eight bits, and errors of deep
/// networks grow. What programs compute is held to the recorded tolerances elsewhere; this finds another program.
const TOLERANCE: f64 = 3e-2;

/// What else runs a program.
pub(crate) const RIVALS: [&str; 3] = ["eager", "compile", "onnxruntime"];

/// The form of our programs that may round otherwise.
const RELAXED: &str = "relaxed";

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
    let mut sides = Sides::start(options)?;
    let width = names.iter().map(String::len).max().unwrap_or(0).max(7);
    let heads: String = sides.rivals.iter().map(|rival| format!(" {rival:>11}")).collect();
    println!("{:<width$} {:>11}{heads} {:>8}", "program", "ours", "ratio");
    let (mut rows, mut same) = (Vec::new(), true);
    for name in names {
        match sides.time(&cases, name)? {
            Ok((row, problems)) => {
                println!("{}", row.line(width));
                problems.iter().for_each(|problem| println!("{:<width$} {problem}", row.name));
                same &= problems.is_empty();
                rows.push(row);
            }
            Err(refused) => println!("{refused}"),
        }
    }
    println!("{}", summary(&rows));
    Ok(same)
}

/// Ours, and an engine for each rival.
struct Sides {
    threads: usize,
    ours: Engine,
    theirs: Vec<Engine>,
    rivals: Vec<&'static str>,
    /// The form of ours.
    form: &'static str,
}

impl Sides {
    fn start(options: &Options) -> Result<Sides, String> {
        let rivals: Vec<&str> = match &options.rivals[..] {
            [] => vec![RIVALS[0]],
            some => RIVALS.into_iter().filter(|rival| some.iter().any(|own| own.as_str() == *rival)).collect(),
        };
        let threads = options.threads.unwrap_or(1);
        let this = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
        let mut ours = options.engine(Command::new(this), threads);
        ours.arg(ENGINE);
        let script = workspace_root().join("benches/torch/programs.py");
        let their_engine = |_: &&str| {
            let mut theirs = options.engine(torch::python(), threads);
            theirs.arg(&script).arg(threads.to_string());
            Engine::start(theirs)
        };
        let theirs: Vec<Engine> = rivals.iter().map(their_engine).collect::<Result<_, _>>()?;
        let form = if options.relaxed { RELAXED } else { "exact" };
        let sides = Sides { threads, ours: Engine::start(ours)?, theirs, rivals, form };
        let version = sides.theirs.first().map_or("", |engine| &engine.name);
        println!(
            "ours:   {}, {form}\ntheirs: {version} {}, {threads} threads",
            sides.ours.name,
            sides.rivals.join(", ")
        );
        Ok(sides)
    }

    /// The times of a program, and whose answers differ from ours; or why we do not run it.
    fn time(&mut self, cases: &Path, name: String) -> Result<Result<(Row, Vec<String>), String>, String> {
        let request = |rival: &str| format!("prepare {} {name} {rival}", cases.display());
        let our_answer = match prepared(&mut self.ours, &request(self.form))? {
            Ok(answer) => answer,
            Err(reason) => return Ok(Err(format!("{name} {reason}"))),
        };
        let mut problems = Vec::new();
        let mut refused: Vec<Option<String>> = Vec::new();
        let mut timed = vec![&mut self.ours];
        for (engine, rival) in self.theirs.iter_mut().zip(&self.rivals) {
            refused.push(match prepared(engine, &request(rival))? {
                Ok(answer) => {
                    if !answer.agrees(&our_answer, TOLERANCE) {
                        problems.push(format!("the answer of {rival} is another"));
                    }
                    timed.push(engine);
                    None
                }
                Err(reason) => {
                    eprintln!("{name} {rival}: {reason}");
                    Some(reason)
                }
            });
        }
        let mut medians = of_each(&mut timed, self.threads)?.into_iter();
        let ours = medians.next().ok_or("nothing was timed")?;
        let time = |refused: Option<String>| match refused {
            Some(reason) => Err(reason),
            None => medians.next().ok_or_else(|| "it was not timed".to_owned()),
        };
        let theirs = refused.into_iter().map(time).collect();
        Ok(Ok((Row { name, ours, theirs }, problems)))
    }
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

/// Answers requests for timings of programs: `prepare DIR NAME exact`, or `relaxed`.
pub(crate) fn serve_programs() -> Result<bool, String> {
    let prepare = |words: &str| -> Result<Box<dyn Task>, String> {
        let mut words = words.rsplitn(3, ' ');
        let (Some(form), Some(name), Some(dir)) = (words.next(), words.next(), words.next()) else {
            return Err("prepare takes DIR NAME FORM".to_owned());
        };
        let dir = Path::new(dir);
        let record = Record::load(dir, name.trim_end_matches(".core"))?;
        let text = |error: monomorph::program::ProgramError| error.to_string();
        let exact = Program::load(dir.join(format!("{name}.pt2"))).map_err(text)?;
        let program = if form == RELAXED { exact.relaxed().map_err(text)? } else { exact };
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

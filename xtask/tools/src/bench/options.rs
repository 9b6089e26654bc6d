//! The command line of `cargo xtask bench`. Owns what it accepts, and does nothing.

use super::programs::RIVALS;
use std::path::PathBuf;
use std::process::Command;

/// A library that ours is timed against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rival {
    Torch,
    Candle,
    Ndarray,
}

impl Rival {
    pub(crate) const ALL: [Rival; 3] = [Rival::Torch, Rival::Candle, Rival::Ndarray];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Rival::Torch => "torch",
            Rival::Candle => "candle",
            Rival::Ndarray => "ndarray",
        }
    }
}

/// What a run is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    pub(crate) vs: Rival,
    /// On the GPU, not on the CPU.
    pub(crate) cuda: bool,
    /// Whole programs, not cells.
    pub(crate) programs: bool,
    /// The directory of the programs.
    pub(crate) cases: Option<PathBuf>,
    /// Our programs may round otherwise than PyTorch's operators.
    pub(crate) relaxed: bool,
    /// What programs are timed against.
    pub(crate) rivals: Vec<String>,
    /// Only cells that one of these is a part of; all cells if there is none.
    pub(crate) filters: Vec<String>,
    pub(crate) json: Option<PathBuf>,
    /// Cells that the JSON file has are not timed again.
    pub(crate) resume: bool,
    /// The level that both sides are held to; their best one if there is none.
    pub(crate) isa: Option<String>,
    /// Threads of every cell, in place of its own number.
    pub(crate) threads: Option<usize>,
    /// The core that engines of one thread are bound to.
    pub(crate) pin: Option<usize>,
    /// Fail where a ratio falls below the stored one.
    pub(crate) check: bool,
    pub(crate) baseline: Option<PathBuf>,
    /// Append the run to the history.
    pub(crate) record: bool,
    /// Draw the history; nothing is timed.
    pub(crate) plot: Option<PathBuf>,
    /// Build the engines; nothing is timed.
    pub(crate) build: bool,
}

impl Options {
    /// A program that is timed with so many threads, bound to the core and held to the level that were asked for.
    pub(crate) fn engine(&self, program: Command, threads: usize) -> Command {
        let mut command = match self.pin.filter(|_| threads == 1) {
            Some(core) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(core.to_string()).arg(program.get_program()).args(program.get_args());
                command
            }
            None => program,
        };
        command.env("RAYON_NUM_THREADS", threads.to_string()).env("OMP_NUM_THREADS", threads.to_string());
        if let Some(isa) = &self.isa {
            // Of PyTorch its own loops follow the second, the library that it takes exp, log and tanh from only the
            // third, and that of its convolutions the fourth. onnxruntime cannot be held to a level.
            command.env("MONOMORPH_ISA", isa).env("ATEN_CPU_CAPABILITY", isa);
            command.env("MKL_ENABLE_INSTRUCTIONS", isa.to_uppercase());
            let theirs = if isa == "avx512" { "AVX512_CORE" } else { "AVX2" };
            command.env("ONEDNN_MAX_CPU_ISA", theirs);
        }
        command
    }

    pub(crate) fn parse(args: &[String]) -> Result<Options, String> {
        let mut options = Options {
            vs: Rival::Torch,
            cuda: false,
            programs: false,
            cases: None,
            relaxed: false,
            rivals: Vec::new(),
            filters: Vec::new(),
            json: None,
            resume: false,
            isa: None,
            threads: None,
            pin: None,
            check: false,
            baseline: None,
            record: false,
            plot: None,
            build: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, joined) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (&**arg, None),
            };
            let flag = match name {
                "--programs" => Some(&mut options.programs),
                "--relaxed" => Some(&mut options.relaxed),
                "--resume" => Some(&mut options.resume),
                "--check" => Some(&mut options.check),
                "--record" => Some(&mut options.record),
                "--build" => Some(&mut options.build),
                "--vs" | "--device" | "--filter" | "--json" | "--isa" | "--threads" | "--pin" | "--baseline"
                | "--plot" | "--cases" | "--rival" => None,
                _ => return Err(format!("bench: unknown argument {arg}; cargo xtask help lists them")),
            };
            if let Some(flag) = flag {
                if joined.is_some() {
                    return Err(format!("{name} takes no value, got {arg}"));
                }
                *flag = true;
                continue;
            }
            let value = joined.or_else(|| args.next().cloned()).ok_or_else(|| format!("{name} needs a value"))?;
            let number = |least: usize| match value.parse() {
                Ok(n) if n >= least => Ok(n),
                _ => Err(format!("{name} is {value}; accepted is a number of at least {least}")),
            };
            match name {
                "--vs" => options.vs = rival(&value)?,
                "--device" => options.cuda = device(&value)?,
                "--filter" => options.filters.push(value),
                "--json" => options.json = Some(value.into()),
                "--isa" => options.isa = Some(level(&value)?),
                "--threads" => options.threads = Some(number(1)?),
                "--pin" => options.pin = Some(number(0)?),
                "--cases" => options.cases = Some(value.into()),
                "--rival" => options.rivals.push(program_rival(value)?),
                "--baseline" => options.baseline = Some(value.into()),
                _ => options.plot = Some(value.into()),
            }
        }
        options.consistent()
    }

    fn consistent(self) -> Result<Options, String> {
        if !self.programs && (self.cases.is_some() || self.relaxed || !self.rivals.is_empty()) {
            return Err("--cases, --relaxed and --rival are of --programs".to_owned());
        }
        let cells = self.json.is_some() || self.check || self.record || self.plot.is_some() || self.build;
        if self.programs && (self.cuda || cells || self.vs != Rival::Torch) {
            return Err("--programs takes --cases, --rival, --filter, --isa, --threads and --pin only".to_owned());
        }
        if self.resume && self.json.is_none() {
            return Err("--resume needs --json, the file that the run goes on with".to_owned());
        }
        let other = self.vs != Rival::Torch || self.json.is_some() || self.isa.is_some() || self.threads.is_some();
        if self.cuda && (other || self.check || self.record || self.plot.is_some()) {
            return Err("--device cuda is timed against torch, and takes --filter and --vs torch only".to_owned());
        }
        if self.baseline.is_some() && !self.check {
            return Err("--baseline is what --check compares with; give both".to_owned());
        }
        if self.threads.is_some() && (self.check || self.record) {
            return Err("the history holds each cell with its own threads; leave --threads out".to_owned());
        }
        Ok(self)
    }
}

fn rival(name: &str) -> Result<Rival, String> {
    Rival::ALL
        .into_iter()
        .find(|rival| rival.name() == name)
        .ok_or_else(|| format!("--vs is {name}; accepted are torch, candle and ndarray"))
}

fn program_rival(name: String) -> Result<String, String> {
    match RIVALS.contains(&&*name) {
        true => Ok(name),
        false => Err(format!("--rival is {name}; accepted are {}", RIVALS.join(", "))),
    }
}

/// Whether it is the GPU.
fn device(name: &str) -> Result<bool, String> {
    match name {
        "cpu" => Ok(false),
        "cuda" => Ok(true),
        _ => Err(format!("--device is {name}; accepted are cpu and cuda")),
    }
}

fn level(name: &str) -> Result<String, String> {
    match name {
        "avx2" | "avx512" => Ok(name.to_owned()),
        _ => Err(format!("--isa is {name}; accepted are avx2 and avx512, which both sides know")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments() {
        let options =
            parse(&["--vs", "candle", "--filter", "add/", "--filter=grid/", "--json=f", "--resume", "--isa", "avx2"])
                .expect("valid arguments");
        assert_eq!((options.vs, options.filters), (Rival::Candle, vec!["add/".to_owned(), "grid/".to_owned()]));
        assert_eq!((options.json, options.resume, options.isa), (Some("f".into()), true, Some("avx2".to_owned())));
        let options = parse(&["--threads", "2", "--pin", "0"]).expect("valid arguments");
        assert_eq!((options.vs, options.threads, options.pin), (Rival::Torch, Some(2), Some(0)));
        let options = parse(&["--check", "--baseline", "b", "--record"]).expect("valid arguments");
        assert_eq!((options.check, options.baseline, options.record), (true, Some("b".into()), true));
        assert_eq!(parse(&["--plot", "p.svg"]).expect("valid arguments").plot, Some("p.svg".into()));
        let options = parse(&["--device", "cuda", "--vs", "torch", "--filter", "sum"]).expect("valid arguments");
        assert!(options.cuda && !parse(&["--device=cpu"]).expect("valid arguments").cuda);
        let options = ["--programs", "--cases", "d", "--rival=compile", "--rival", "eager", "--relaxed"];
        let options = parse(&options).expect("valid arguments");
        assert_eq!((options.cases, options.rivals.len(), options.relaxed), (Some("d".into()), 2, true));
        assert!(parse(&["--build"]).expect("valid arguments").build);
    }

    #[test]
    fn bad_arguments() {
        for args in [
            &["--vs", "numpy"][..],
            &["add"],
            &["--filter"],
            &["--isa", "mmx"],
            &["--threads", "0"],
            &["--pin", "x"],
            &["--check=1"],
            &["--resume"],
            &["--baseline", "b"],
            &["--check", "--threads", "2"],
            &["--cases", "d"],
            &["--relaxed"],
            &["--programs", "--rival", "tvm"],
            &["--programs", "--check"],
            &["--device", "tpu"],
            &["--device", "cuda", "--vs", "candle"],
            &["--device", "cuda", "--record"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}

//! The command line of the conformance oracle, and the worker processes it starts: this very program with another
//! command. Owns no judgement.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use monomorph_testsuite::conformance::library::Library;
use monomorph_testsuite::conformance::{Report, Selection, Supervisor, golden_cases, run_here, serve};

/// The command of a worker process. Not for people.
pub(crate) const WORKER: &str = "conformance-worker";

#[derive(Debug, PartialEq)]
struct Options {
    cases: PathBuf,
    selection: Selection,
    json: Option<PathBuf>,
    list_failures: bool,
    jobs: usize,
    limit: Duration,
    in_process: bool,
}

impl Options {
    fn new(cases: PathBuf) -> Options {
        Options {
            cases,
            selection: Selection::default(),
            json: None,
            list_failures: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: Duration::from_secs(60),
            in_process: false,
        }
    }

    fn parse(args: Vec<String>) -> Result<Options, String> {
        let mut options = Options::new(golden_cases());
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let (name, joined) = match arg.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (arg.clone(), None),
            };
            if matches!(name.as_str(), "--list-failures" | "--in-process") {
                if joined.is_some() {
                    return Err(format!("{name} takes no value, got {arg}"));
                }
                options.list_failures |= name == "--list-failures";
                options.in_process |= name == "--in-process";
                continue;
            }
            if !matches!(name.as_str(), "--cases" | "--op" | "--tag" | "--json" | "--jobs" | "--limit") {
                return Err(format!("conformance: unknown argument {arg}; cargo xtask help lists them"));
            }
            let value = joined.or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value"))?;
            let number = |what| match value.parse() {
                Ok(n) if n > 0 => Ok(n),
                _ => Err(format!("{name} is {value}; accepted is {what} of at least 1")),
            };
            match name.as_str() {
                "--cases" => options.cases = value.into(),
                "--op" => options.selection.ops.push(value),
                "--tag" => options.selection.tags.push(value),
                "--json" => options.json = Some(value.into()),
                "--jobs" => options.jobs = usize::try_from(number("a number")?).unwrap_or(usize::MAX),
                _ => options.limit = Duration::from_secs(number("a number of seconds")?),
            }
        }
        Ok(options)
    }
}

/// `cargo xtask conformance`.
pub(crate) fn run(args: Vec<String>) -> Result<bool, String> {
    let options = Options::parse(args)?;
    let report = report(&options)?;
    if let Some(path) = &options.json {
        std::fs::write(path, report.json()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    print(&report, options.list_failures);
    Ok(report.is_clean())
}

/// All cases of a directory, failures listed.
pub(crate) fn replay(dir: &Path, in_process: bool) -> Result<bool, String> {
    let report = report(&Options { in_process, ..Options::new(dir.to_path_buf()) })?;
    print(&report, true);
    Ok(report.is_clean())
}

fn report(options: &Options) -> Result<Report, String> {
    if options.in_process {
        return run_here(&options.cases, &options.selection, || Library).map_err(|error| error.to_string());
    }
    let program = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
    let command = || {
        let mut command = Command::new(&program);
        command.arg(WORKER).arg(&options.cases);
        command
    };
    let supervisor = Supervisor { command, jobs: options.jobs, limit: options.limit, progress: true };
    supervisor.run(&options.cases, &options.selection).map_err(|error| error.to_string())
}

fn print(report: &Report, list_failures: bool) {
    if list_failures {
        report.failures.iter().for_each(|failure| println!("{failure}"));
    }
    print!("{}", report.table());
}

/// The worker process: verdicts for the requests on standard input.
pub(crate) fn work(args: Vec<String>) -> Result<bool, String> {
    let [dir] = &args[..] else { return Err("the worker needs the directory of the cases".to_owned()) };
    // A panic is a verdict and travels as one; printed as well it would drown the report.
    std::panic::set_hook(Box::new(|_| {}));
    serve(Path::new(dir), io::stdin().lock(), BufWriter::new(io::stdout()), || Library)
        .map_err(|error| error.to_string())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        Options::parse(args.iter().map(|arg| (*arg).to_owned()).collect())
    }

    #[test]
    fn arguments() {
        let args = ["--cases", "d", "--op", "add", "--op=add.out", "--tag", "core", "--json", "f", "--list-failures"];
        let options = parse(&args).expect("valid arguments");
        let selection = Selection { ops: vec!["add".into(), "add.out".into()], tags: vec!["core".into()] };
        assert_eq!((options.cases, options.selection), ("d".into(), selection));
        assert_eq!((options.json, options.list_failures), (Some("f".into()), true));
        let options = parse(&["--jobs", "3", "--limit=7", "--in-process"]).expect("valid arguments");
        assert_eq!((options.jobs, options.limit, options.in_process), (3, Duration::from_secs(7), true));
    }

    #[test]
    fn bad_arguments() {
        for args in [
            &["--ops", "add"][..],
            &["add"],
            &["--op"],
            &["--jobs", "0"],
            &["--jobs", "-1"],
            &["--limit", "x"],
            &["--in-process=1"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}

//! The command line of the checks of exported programs. Owns no judgement.

use monomorph_testsuite::programs::{Record, Report, check};
use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;

#[derive(Debug, Default, PartialEq)]
struct Options {
    cases: PathBuf,
    names: Vec<String>,
    list_failures: bool,
    show: bool,
}

impl Options {
    fn parse(args: Vec<String>) -> Result<Options, String> {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testsuite/golden/programs");
        let mut options = Options { cases: golden.into(), ..Options::default() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let (name, joined) = match arg.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (arg.clone(), None),
            };
            match name.as_str() {
                "--list-failures" | "--show" if joined.is_none() => {
                    options.list_failures |= name == "--list-failures";
                    options.show |= name == "--show";
                }
                "--cases" | "--name" => {
                    let value = joined.or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value"))?;
                    if name == "--cases" { options.cases = value.into() } else { options.names.push(value) }
                }
                _ => return Err(format!("programs: unknown argument {arg}; cargo xtask help lists them")),
            }
        }
        Ok(options)
    }
}

/// `cargo xtask programs`.
pub(crate) fn run(args: Vec<String>) -> Result<bool, String> {
    let options = Options::parse(args)?;
    let mut names = Record::names(&options.cases)?;
    if !options.names.is_empty() {
        if let Some(unknown) = options.names.iter().find(|name| !names.contains(name)) {
            return Err(format!("{}: holds no program {unknown}", options.cases.display()));
        }
        names.retain(|name| options.names.contains(name));
    }
    if options.show {
        for name in &names {
            let path = options.cases.join(format!("{name}.pt2"));
            print!("{}", monomorph::program::Program::load(path).map_err(|error| error.to_string())?);
        }
        return Ok(true);
    }
    // A panic is a verdict; printed as well it would drown the report.
    std::panic::set_hook(Box::new(|_| {}));
    let mut report = Report::default();
    for (index, name) in names.iter().enumerate() {
        tell(&format!("{}/{} {name}", index + 1, names.len()));
        report.checked.extend(check(&Record::load(&options.cases, name)?));
    }
    tell("");
    if options.list_failures {
        report.failures().chain(report.strides()).for_each(|line| println!("{line}"));
    }
    print!("{}", report.table());
    Ok(report.tally().failed == 0)
}

/// The progress, on one line of a terminal.
fn tell(line: &str) {
    if stderr().is_terminal() {
        eprint!("\r\x1b[K{line}");
        let _ = stderr().flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse = |args: &[&str]| Options::parse(args.iter().map(|arg| (*arg).to_owned()).collect());
        let options = parse(&["--cases", "d", "--name=a", "--name", "b", "--list-failures"]).expect("valid arguments");
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(options, Options { cases: "d".into(), names, list_failures: true, show: false });
        for bad in [&["--case", "d"][..], &["--name"], &["x"], &["--show=1"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}

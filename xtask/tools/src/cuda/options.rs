//! The command line of `cargo xtask cuda`. Owns what it accepts, and does nothing.

/// What to check.
#[derive(Default, PartialEq, Eq, Debug)]
pub(super) struct Options {
    pub(super) all: bool,
    pub(super) again: bool,
    pub(super) formulas: Vec<String>,
    pub(super) only: Option<String>,
    pub(super) faults: bool,
}

pub(super) fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--all" => options.all = true,
            "--again" => options.again = true,
            "--faults" => options.faults = true,
            "--only" => match args.next().map(String::as_str) {
                Some(check @ ("compiles" | "computes")) => options.only = Some(check.to_owned()),
                other => {
                    return Err(format!(
                        "--only is {}; accepted are compiles and computes",
                        other.unwrap_or("nothing")
                    ));
                }
            },
            "--formula" => options.formulas.push(args.next().ok_or("--formula needs a name")?.clone()),
            other => {
                return Err(format!(
                    "cuda takes --all, --again, --faults, --only CHECK and --formula NAME, got {other}"
                ));
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let parse = |args: &[&str]| options(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok(Options::default()));
        let all = parse(&["--all", "--again", "--formula", "AddFn"]).unwrap();
        assert!(all.all && all.again && all.formulas == ["AddFn"]);
        for args in [&["--formula"][..], &["AddFn"], &["--everything"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}

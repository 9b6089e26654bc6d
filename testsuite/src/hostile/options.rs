//! What a run of the fuzzer is asked for. Owns the words of the command line and the classes of hostile values.

/// A class of hostile values, which a run can leave out: to find which one a failure needs, or to look behind a known
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Sizes of 2³¹ and more, of expanded and of meta tensors.
    Sizes,
    /// Strides and offsets up to the largest int64 where no element is reached.
    Limits,
    /// Up to 100,000 dimensions, and lists as long.
    Long,
    /// Values of another kind than the schema's.
    Kinds,
    /// Arguments that share storages.
    Aliases,
    /// Numbers at the limits of their type.
    Numbers,
    /// Storages that are frozen.
    Frozen,
    /// Numbers from 2²⁰ to 2⁴²: of so many elements a machine may have the memory, if nothing limits it.
    Gigabytes,
}

impl Class {
    const ALL: [(Class, &'static str); 8] = [
        (Class::Sizes, "sizes"),
        (Class::Limits, "limits"),
        (Class::Long, "long"),
        (Class::Kinds, "kinds"),
        (Class::Aliases, "aliases"),
        (Class::Numbers, "numbers"),
        (Class::Frozen, "frozen"),
        (Class::Gigabytes, "gigabytes"),
    ];
}

/// A run, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which calls: each seed has its own.
    pub seed: u64,
    /// The first call.
    pub first: u64,
    /// How many.
    pub calls: u64,
    /// Only operators whose name begins with this.
    pub operator: String,
    /// The classes that are left out.
    pub without: Vec<Class>,
    /// The file that each call is written to before it is made.
    pub trace: Option<String>,
}

impl Options {
    /// The first `calls` calls of seed 1.
    pub fn new(calls: u64) -> Options {
        Options { seed: 1, first: 0, calls, operator: String::new(), without: Vec::new(), trace: None }
    }

    /// Reads `--calls N`, `--seed N`, `--first K`, `--call K` (that one only), `--operator NAME`, `--without CLASS` and
    /// `--trace FILE`.
    ///
    /// # Errors
    /// A word that is none of these, or one without its value.
    pub fn parse(args: &[String], calls: u64) -> Result<Options, String> {
        let mut options = Options::new(calls);
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{name} is {value}; accepted is a number"));
            match name.as_str() {
                "--calls" => options.calls = number()?,
                "--seed" => options.seed = number()?,
                "--first" => options.first = number()?,
                "--call" => (options.first, options.calls) = (number()?, 1),
                "--operator" => options.operator.clone_from(value),
                "--trace" => options.trace = Some(value.clone()),
                "--without" => {
                    let known = Class::ALL.iter().find(|(_, name)| name == value);
                    let names = Class::ALL.map(|(_, name)| name).join(", ");
                    let (class, _) = known.ok_or_else(|| format!("--without is {value}; accepted are {names}"))?;
                    options.without.push(*class);
                }
                other => {
                    return Err(format!(
                        "{other} is unknown; fuzz takes --calls, --seed, --first, --call, --operator, --without"
                    ));
                }
            }
        }
        Ok(options)
    }

    /// The words that [`parse`](Options::parse) reads as this.
    pub fn to_args(&self) -> Vec<String> {
        let mut args = Vec::new();
        let mut put = |name: &str, value: String| args.extend([name.to_owned(), value]);
        put("--seed", self.seed.to_string());
        put("--first", self.first.to_string());
        put("--calls", self.calls.to_string());
        if !self.operator.is_empty() {
            put("--operator", self.operator.clone());
        }
        for (_, name) in Class::ALL.iter().filter(|(class, _)| self.without.contains(class)) {
            put("--without", (*name).to_owned());
        }
        if let Some(trace) = &self.trace {
            put("--trace", trace.clone());
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let options = Options {
            seed: 7,
            first: 100,
            calls: 3,
            operator: "add".to_owned(),
            without: vec![Class::Sizes, Class::Kinds],
            trace: Some("/tmp/x".to_owned()),
        };
        assert_eq!(Options::parse(&options.to_args(), 1), Ok(options));
        let call = Options::parse(&["--call".to_owned(), "9".to_owned()], 5).expect("a call");
        assert_eq!((call.first, call.calls), (9, 1));
        for args in [&["--calls"][..], &["--calls", "x"], &["--without", "nothing"], &["--what", "1"]] {
            assert!(
                Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), 1).is_err(),
                "{args:?}"
            );
        }
    }
}

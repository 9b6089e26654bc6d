//! An engine: a child process that holds one library and answers requests for timings. Owns the conversation; what an
//! engine can time is its own affair.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An engine that is running.
pub(crate) struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What it says it is.
    pub(crate) name: String,
}

/// An answer, summed up in pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Digest {
    elements: usize,
    sums: Vec<f64>,
    magnitudes: Vec<f64>,
}

impl Digest {
    fn parse(line: &str) -> Option<Digest> {
        let mut words = line.split_whitespace();
        let elements = words.next()?.parse().ok()?;
        let numbers: Vec<f64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        if !numbers.len().is_multiple_of(2) || (numbers.is_empty() && elements != 0) {
            return None;
        }
        let (sums, magnitudes) = numbers.split_at(numbers.len() / 2);
        Some(Digest { elements, sums: sums.to_vec(), magnitudes: magnitudes.to_vec() })
    }

    /// Whether two answers are the same but for rounding: every piece within `tolerance` of its magnitude.
    pub(crate) fn agrees(&self, other: &Digest, tolerance: f64) -> bool {
        let alike = |a: &f64, b: &f64| a == b || (a.is_nan() && b.is_nan());
        let near = |apart: f64, size: &f64| apart.is_finite() && apart <= tolerance * size + f64::MIN_POSITIVE;
        let close = |a: &f64, b: &f64, size: &f64| alike(a, b) || near((a - b).abs(), size);
        self.elements == other.elements
            && self.sums.len() == other.sums.len()
            && self.sums.iter().zip(&other.sums).zip(&self.magnitudes).all(|((a, b), size)| close(a, b, size))
            && self.magnitudes.iter().zip(&other.magnitudes).all(|(a, b)| close(a, b, a))
    }
}

impl Engine {
    /// Starts an engine and reads what it is.
    pub(crate) fn start(mut command: Command) -> Result<Engine, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| format!("{program} has no output"))?;
        let mut engine = Engine { child, input, output: BufReader::new(output), name: program };
        engine.name = engine.read()?;
        Ok(engine)
    }

    fn read(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err(format!("{} ended", self.name)),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(format!("{}: {error}", self.name)),
        }
    }

    fn ask(&mut self, request: &str) -> Result<String, String> {
        let input = self.input.as_mut().ok_or("the engine has ended")?;
        writeln!(input, "{request}").and_then(|()| input.flush()).map_err(|error| format!("{}: {error}", self.name))?;
        self.read()
    }

    /// Prepares a call. The inner error says why the engine has none.
    pub(crate) fn prepare(&mut self, request: &str) -> Result<Result<(), String>, String> {
        let reply = self.ask(request)?;
        match reply.strip_prefix("absent ") {
            Some(reason) => Ok(Err(reason.to_owned())),
            None if reply == "ok" => Ok(Ok(())),
            None => Err(format!("{} answers {reply} to {request}", self.name)),
        }
    }

    /// Runs the prepared call once and sums up its answer. The inner error says why there is none.
    pub(crate) fn answer(&mut self) -> Result<Result<Digest, String>, String> {
        let reply = self.ask("answer")?;
        match reply.strip_prefix("absent ") {
            Some(reason) => Ok(Err(reason.to_owned())),
            None => Digest::parse(&reply).map(Ok).ok_or_else(|| format!("{}: {reply}", self.name)),
        }
    }

    /// Nanoseconds that so many runs of the prepared call take.
    pub(crate) fn run(&mut self, n: u64) -> Result<f64, String> {
        let reply = self.ask(&format!("run {n}"))?;
        reply.parse().map_err(|_| format!("{}: {reply}", self.name))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // An engine ends with its input.
        self.input = None;
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_agree_but_for_rounding() {
        let digest = |line| Digest::parse(line).expect("well formed");
        let a = digest("3 1.0 2.0 1.0 4.0");
        assert!(a.agrees(&a, 0.0));
        assert!(a.agrees(&digest("3 1.0 2.000001 1.0 4.0"), 1e-6));
        assert!(!a.agrees(&digest("3 1.0 2.00001 1.0 4.0"), 1e-6));
        assert!(!a.agrees(&digest("4 1.0 2.0 1.0 4.0"), 1e-6), "another size");
        assert!(!a.agrees(&digest("3 1.0 NaN 1.0 4.0"), 1e-6), "not a number");
        let odd = digest("3 NaN -inf NaN inf");
        assert!(odd.agrees(&odd, 1e-6) && !odd.agrees(&digest("3 NaN inf NaN inf"), 1e-6));
        assert!(!a.agrees(&digest("3 1.0 2.0 1.0 4.1"), 1e-6), "another magnitude");
        for line in ["", "x", "3", "3 1.0", "3 1.0 x"] {
            assert_eq!(Digest::parse(line), None, "{line}");
        }
        assert_eq!(digest("0").elements, 0);
    }

    #[test]
    fn a_program_that_is_no_engine_is_an_error() {
        assert!(Engine::start(Command::new("/nowhere at all")).is_err());
        assert!(Engine::start(Command::new("true")).is_err_and(|problem| problem.contains("ended")));
    }
}

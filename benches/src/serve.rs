//! How an engine, a program that holds one library, is asked for timings: requests are lines on its standard input,
//! each is answered by one line. Owns the protocol and the digest of an answer; the calls are the engine's.
//!
//! ```text
//! prepare CALL   ok, or absent REASON, where the engine has no such call; CALL is OP DTYPE LAYOUT SIZES FORM, or what
//!                else the engine knows
//! answer         runs the call once: NUMEL, 64 sums and 64 sums of magnitudes
//! run N          runs the call N times: the nanoseconds that this took
//! ```
//!
//! The first line of an engine says what it is. It ends with its standard input.

use crate::Layout;
use monomorph::DType;
use std::io::{BufRead, Write};
use std::time::Instant;

/// A call as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The operator, such as `add`.
    pub op: String,
    /// The dtype of the operands.
    pub dtype: DType,
    /// How they lie in memory.
    pub layout: Layout,
    /// Sizes of the result of a pointwise call, or of the operand of a reduction.
    pub sizes: Vec<i64>,
    /// Which form of the operator: `functional`, `out`, ...
    pub form: String,
}

impl Work {
    /// The call that the words behind `prepare` ask for.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(words: &str) -> Result<Work, String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let [op, dtype, layout, sizes, form] = words[..] else {
            return Err(format!("prepare takes OP DTYPE LAYOUT SIZES FORM, got {} words", words.len()));
        };
        Ok(Work {
            op: op.to_owned(),
            dtype: DType::from_name(dtype).ok_or_else(|| format!("{dtype} is no dtype"))?,
            layout: Layout::from_name(layout).ok_or_else(|| format!("{layout} is no layout"))?,
            sizes: self::sizes(sizes)?,
            form: form.to_owned(),
        })
    }
}

/// Sizes as requests write them.
pub(crate) fn sizes(text: &str) -> Result<Vec<i64>, String> {
    let sizes: Result<Vec<i64>, _> = text.split('x').map(str::parse).collect();
    sizes.map_err(|error| format!("sizes are numbers joined by x: {error}"))
}

/// A call that is ready to be run.
pub trait Task {
    /// Runs it `n` times. The result of the last is kept, if the form makes one.
    fn run(&mut self, n: u64) -> Result<(), String>;

    /// The result, in logical order.
    fn result(&mut self) -> Result<Vec<f64>, String>;
}

/// Pieces that an answer is summed up in.
const PIECES: usize = 64;

/// Number of elements, and the weighted sums of the elements and of their magnitudes in each piece: enough to see a
/// wrong element, short enough for a pipe.
pub fn digest(values: &[f64]) -> String {
    let mut line = values.len().to_string();
    let piece = values.len().div_ceil(PIECES).max(1);
    let weighted = |values: &[f64], f: fn(f64) -> f64| -> f64 {
        values.iter().enumerate().map(|(i, x)| f(*x) * ((i % 31) + 1) as f64).sum()
    };
    for f in [std::convert::identity, f64::abs] {
        for chunk in values.chunks(piece) {
            line.push_str(&format!(" {:e}", weighted(chunk, f)));
        }
    }
    line
}

/// Answers requests until the input ends.
///
/// # Errors
/// Those of reading and writing.
pub fn serve(
    name: &str,
    mut prepare: impl FnMut(&str) -> Result<Box<dyn Task>, String>,
    input: impl BufRead,
    mut output: impl Write,
) -> std::io::Result<()> {
    let mut task: Option<Box<dyn Task>> = None;
    writeln!(output, "{name}")?;
    output.flush()?;
    for line in input.lines() {
        let line = line?;
        let reply = match (line.split_once(' ').unwrap_or((&line, "")), &mut task) {
            (("prepare", words), slot) => {
                // The operands of the last call are freed before those of the next are made.
                *slot = None;
                prepare(words).map(|ready| {
                    *slot = Some(ready);
                    "ok".to_owned()
                })
            }
            (("answer", ""), Some(task)) => task.run(1).and_then(|()| Ok(digest(&task.result()?))),
            (("run", n), Some(task)) => n.parse().map_err(|_| format!("{n} is no number")).and_then(|n| {
                let start = Instant::now();
                task.run(n)?;
                Ok(start.elapsed().as_nanos().to_string())
            }),
            (_, None) => Err("nothing is prepared".to_owned()),
            _ => Err(format!("no request: {line}")),
        };
        match reply {
            Ok(reply) => writeln!(output, "{reply}")?,
            Err(reason) => writeln!(output, "absent {}", reason.replace('\n', " "))?,
        }
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count(f64);
    impl Task for Count {
        fn run(&mut self, n: u64) -> Result<(), String> {
            self.0 += n as f64;
            Ok(())
        }
        fn result(&mut self) -> Result<Vec<f64>, String> {
            Ok(vec![self.0, -1.0])
        }
    }

    fn talk(requests: &str) -> Vec<String> {
        let mut output = Vec::new();
        let prepare = |words: &str| -> Result<Box<dyn Task>, String> {
            let work = Work::parse(words)?;
            if work.op == "add" { Ok(Box::new(Count(0.0))) } else { Err(format!("{} is not here", work.op)) }
        };
        serve("engine 1", prepare, requests.as_bytes(), &mut output).expect("nothing fails in memory");
        String::from_utf8(output).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn requests_are_answered_line_by_line() {
        let lines = talk(
            "answer\nprepare add float32 stepped 4x6 out\nanswer\nrun 7\nprepare mul float32 stepped 4 out\nrun 1\n",
        );
        assert_eq!(lines[..4], ["engine 1", "absent nothing is prepared", "ok", "2 1e0 -1e0 1e0 1e0"]);
        assert!(lines[4].parse::<u64>().is_ok(), "{}", lines[4]);
        assert_eq!(lines[5..], ["absent mul is not here", "absent nothing is prepared"]);
    }

    #[test]
    fn work_is_read_or_refused() {
        let work = Work::parse("sum bfloat16 transposed 4096x4096 dim1").expect("well formed");
        assert_eq!((&*work.op, work.dtype, work.layout), ("sum", DType::BF16, Layout::Transposed));
        assert_eq!((work.sizes, &*work.form), (vec![4096, 4096], "dim1"));
        for bad in
            ["", "add float32 stepped 4", "add f32 stepped 4 out", "add int8 flat 4 out", "add int8 stepped 4y out"]
        {
            assert!(Work::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_digest_sees_a_swap_and_a_sign() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut other = values.clone();
        other.swap(500, 501);
        assert_ne!(digest(&values), digest(&other));
        other.swap(500, 501);
        assert_eq!(digest(&values), digest(&other));
        other[7] = -7.0;
        assert_ne!(digest(&values), digest(&other));
        assert_eq!(digest(&[]), "0");
    }
}

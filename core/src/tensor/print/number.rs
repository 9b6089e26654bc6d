//! How the numbers of one tensor are written: one notation and one width for all of them, which PyTorch chooses by
//! looking at them all. Owns the choice and the text of a number; knows nothing of dimensions.
//!
//! Numbers are looked at twice, once to choose and once to be written, so none is kept. What decides about floating
//! numbers is known from four of them: the text of a positive number does not become shorter as it grows in fixed
//! notation, and in scientific notation it is longest where the exponent is, at either end. So the widest text is that
//! of the smallest or the largest magnitude, of the positive or of the negative numbers.

use crate::dtype::{Kind, Scalar};
use std::fmt::Write;

// PyTorch's borders between fixed and scientific notation (`torch/_tensor_str.py`). Scientific are all numbers if
// the largest magnitude is more than this times the smallest,
const MAX_RATIO: f64 = 1000.0;
// or is larger than this,
const MAX_FIXED: f64 = 1e8;
// or if the smallest is smaller than this.
const MIN_FIXED: f64 = 1e-4;

/// The smallest and the largest of some magnitudes.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const EMPTY: Range = Range { low: f64::INFINITY, high: 0.0 };

    fn include(&mut self, magnitude: f64) {
        self.low = self.low.min(magnitude);
        self.high = self.high.max(magnitude);
    }

    fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

#[derive(Clone, Copy)]
enum Notation {
    /// Without decimals, but with the point: all are integers.
    Integral,
    Fixed,
    Scientific,
}

/// What decides how floating numbers are written. Zeroes and what is not finite have no say.
struct Floats {
    positive: Range,
    negative: Range,
    is_integral: bool,
}

impl Floats {
    const NONE: Floats = Floats { positive: Range::EMPTY, negative: Range::EMPTY, is_integral: true };

    fn include(&mut self, x: f64) {
        if x == 0.0 || !x.is_finite() {
            return;
        }
        let range = if x < 0.0 { &mut self.negative } else { &mut self.positive };
        range.include(x.abs());
        self.is_integral &= x.fract() == 0.0;
    }

    fn column(&self, precision: usize) -> Column {
        let low = self.positive.low.min(self.negative.low);
        let high = self.positive.high.max(self.negative.high);
        let is_scientific = low <= high && (high / low > MAX_RATIO || high > MAX_FIXED || low < MIN_FIXED);
        let notation = match (is_scientific, self.is_integral) {
            (true, _) => Notation::Scientific,
            (false, true) => Notation::Integral,
            (false, false) => Notation::Fixed,
        };
        let mut column = Column { notation, precision, width: 1 };
        for (range, sign) in [(self.positive, 1.0), (self.negative, -1.0)] {
            if !range.is_empty() {
                column.widen(sign * range.low);
                column.widen(sign * range.high);
            }
        }
        column
    }
}

/// Notation and width of floating numbers that stand below one another.
struct Column {
    notation: Notation,
    precision: usize,
    width: usize,
}

impl Column {
    fn widen(&mut self, x: f64) {
        let mut text = String::new();
        self.push(x, &mut text);
        self.width = self.width.max(text.len());
    }

    fn push(&self, x: f64, text: &mut String) {
        if x.is_nan() {
            text.push_str("nan");
            return;
        }
        // Writing to a string does not fail.
        let _ = match self.notation {
            _ if x.is_infinite() => write!(text, "{x}"),
            Notation::Integral => write!(text, "{x:.0}."),
            Notation::Fixed => write!(text, "{x:.*}", self.precision),
            Notation::Scientific => {
                let start = text.len();
                let _ = write!(text, "{x:.*e}", self.precision);
                // Rust's exponent has as many digits as it needs; Python's has a sign and at least two.
                let exponent = text[start..].find('e').map(|e| text.split_off(start + e + 1)).unwrap_or_default();
                let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent.as_str()), |d| ('-', d));
                write!(text, "{sign}{digits:0>2}")
            }
        };
    }
}

/// What was seen of the numbers of a tensor, which are of one kind.
pub(super) struct Survey {
    kind: Kind,
    /// Real numbers, or real parts and imaginary ones, which have a notation and a width of their own.
    floats: [Floats; 2],
    /// The length of the longest truth value or integer.
    longest: usize,
}

impl Survey {
    pub(super) fn new(kind: Kind) -> Survey {
        Survey { kind, floats: [Floats::NONE, Floats::NONE], longest: 1 }
    }

    pub(super) fn include(&mut self, number: Scalar) {
        let [real, imaginary] = &mut self.floats;
        match number {
            Scalar::Bool(b) => self.longest = self.longest.max(truth(b).len()),
            // The digits of 0, which has no logarithm, are those of 1.
            Scalar::Int(i) => {
                let digits = 1 + i.unsigned_abs().max(1).ilog10() as usize;
                self.longest = self.longest.max(digits + usize::from(i < 0));
            }
            Scalar::Float(x) => real.include(x),
            Scalar::Complex(z) => {
                real.include(z.re);
                imaginary.include(z.im);
            }
        }
    }

    /// How all of them are written, with `precision` digits behind the point.
    pub(super) fn format(&self, precision: usize) -> Format {
        let columns = [self.floats[0].column(precision), self.floats[1].column(precision)];
        let width = match self.kind {
            Kind::Bool | Kind::Int => self.longest,
            Kind::Float => columns[0].width,
            Kind::Complex => columns[0].width + columns[1].width + "j".len(),
        };
        Format { columns, width }
    }
}

/// How the numbers of one tensor are written.
pub(super) struct Format {
    columns: [Column; 2],
    width: usize,
}

impl Format {
    /// What an element takes of a line. A complex number may be a sign wider or some spaces narrower: spaces are before
    /// its real part alone.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Puts the text of a number behind `text`.
    pub(super) fn push(&self, number: Scalar, text: &mut String) {
        let [real, imaginary] = &self.columns;
        let start = text.len();
        match number {
            Scalar::Bool(b) => text.push_str(truth(b)),
            Scalar::Int(i) => text.push_str(&i.to_string()),
            Scalar::Float(x) => real.push(x, text),
            Scalar::Complex(z) => {
                real.push(z.re, text);
                pad(text, start, real.width);
                let sign = text.len();
                imaginary.push(z.im, text);
                if !text[sign..].starts_with('-') {
                    text.insert(sign, '+');
                }
                text.push('j');
                return;
            }
        }
        pad(text, start, self.width);
    }
}

fn truth(b: bool) -> &'static str {
    if b { "True" } else { "False" }
}

/// Puts spaces before what is behind `start`, where it is narrower than `width`. By hand, since a width in a format
/// string has a limit, beyond which it panics.
fn pad(text: &mut String, start: usize, width: usize) {
    let spaces = width.saturating_sub(text.len() - start);
    text.insert_str(start, &" ".repeat(spaces));
}

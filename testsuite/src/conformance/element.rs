//! Single elements: reading them out of bytes, and when two of them agree. Owns the meaning of the tolerances.

use std::fmt;

use half::{bf16, f16};
use monomorph_core::DType;

/// One element, widened to the largest type of its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Element {
    /// The byte of a bool; anything but 0 is true, and only 1 is a proper true.
    Bool(u8),
    /// uint8 to int64.
    Int(i64),
    /// float16 to float64.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Bool(0) => f.write_str("false"),
            Element::Bool(1) => f.write_str("true"),
            Element::Bool(byte) => write!(f, "true (byte {byte})"),
            Element::Int(n) => write!(f, "{n}"),
            Element::Float(x) => write!(f, "{x:?}"),
            Element::Complex(re, im) => write!(f, "({re:?}, {im:?})"),
        }
    }
}

impl Element {
    /// Reads `bytes` as one element, `None` if their number is not the dtype's size.
    pub fn decode(dtype: DType, bytes: &[u8]) -> Option<Element> {
        Some(match dtype {
            DType::Bool => Element::Bool(u8::from_le_bytes(fixed(bytes)?)),
            DType::U8 => Element::Int(u8::from_le_bytes(fixed(bytes)?).into()),
            DType::I8 => Element::Int(i8::from_le_bytes(fixed(bytes)?).into()),
            DType::I16 => Element::Int(i16::from_le_bytes(fixed(bytes)?).into()),
            DType::I32 => Element::Int(i32::from_le_bytes(fixed(bytes)?).into()),
            DType::I64 => Element::Int(i64::from_le_bytes(fixed(bytes)?)),
            DType::F16 => Element::Float(f16::from_le_bytes(fixed(bytes)?).into()),
            DType::BF16 => Element::Float(bf16::from_le_bytes(fixed(bytes)?).into()),
            DType::F32 => Element::Float(f32::from_le_bytes(fixed(bytes)?).into()),
            DType::F64 => Element::Float(f64::from_le_bytes(fixed(bytes)?)),
            DType::C64 | DType::C128 => {
                let (re, im) = bytes.split_at_checked(dtype.size() / 2)?;
                match (Element::decode(dtype.to_real(), re)?, Element::decode(dtype.to_real(), im)?) {
                    (Element::Float(re), Element::Float(im)) => Element::Complex(re, im),
                    _ => return None,
                }
            }
        })
    }

    /// The value that a tensor with these bits shows for this stored element.
    pub fn seen_through(self, conj: bool, neg: bool) -> Element {
        let conjugated = match self {
            Element::Complex(re, im) if conj => Element::Complex(re, -im),
            other => other,
        };
        match conjugated {
            Element::Int(n) if neg => Element::Int(n.wrapping_neg()),
            Element::Float(x) if neg => Element::Float(-x),
            Element::Complex(re, im) if neg => Element::Complex(-re, -im),
            other => other,
        }
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

/// How far a floating or complex element may be off: `|got - want| <= (atol + rtol * |want|) * scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Relative to the wanted value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
    /// `1 + f64_excess`: the room that PyTorch's own rounding leaves a more accurate answer.
    pub scale: f64,
}

impl Tolerance {
    /// What `want` allows.
    pub fn allowed(&self, want: &Element) -> f64 {
        let size = match want {
            Element::Float(x) => x.abs(),
            Element::Complex(re, im) => re.hypot(*im),
            Element::Bool(_) | Element::Int(_) => return 0.0,
        };
        (self.atol + self.rtol * size) * self.scale
    }

    /// Whether `got` will do for `want`.
    ///
    /// * Integers are equal. A bool has the same truth; its byte is the recorded one or the proper 0 or 1.
    /// * Floats are within tolerance; NaN equals NaN; an infinity equals only itself.
    /// * Complex numbers are compared by modulus, `|got - want|` and `|want|`, as `torch.testing` does; a number with a
    ///   NaN in either part equals any other such number; with an infinity in either part both parts are compared
    ///   as floats.
    pub fn admits(&self, got: &Element, want: &Element) -> bool {
        match (*got, *want) {
            (Element::Bool(got), Element::Bool(want)) => got == want || got == u8::from(want != 0),
            (Element::Int(got), Element::Int(want)) => got == want,
            (Element::Float(got), Element::Float(want)) => self.admits_float(got, want),
            (Element::Complex(a, b), Element::Complex(c, d)) => {
                let (got_nan, want_nan) = (a.is_nan() || b.is_nan(), c.is_nan() || d.is_nan());
                if got_nan || want_nan {
                    got_nan && want_nan
                } else if [a, b, c, d].iter().any(|part| part.is_infinite()) {
                    self.admits_float(a, c) && self.admits_float(b, d)
                } else {
                    (a, b) == (c, d) || (a - c).hypot(b - d) <= self.allowed(want)
                }
            }
            _ => false,
        }
    }

    fn admits_float(&self, got: f64, want: f64) -> bool {
        if got.is_nan() || want.is_nan() {
            return got.is_nan() && want.is_nan();
        }
        if got.is_infinite() || want.is_infinite() {
            return got == want;
        }
        got == want || (got - want).abs() <= self.allowed(&Element::Float(want))
    }
}

/// Calls `visit` with every index of a tensor of these sizes, last dimension fastest, until it returns false.
pub(super) fn each_index(sizes: &[usize], mut visit: impl FnMut(&[usize]) -> bool) {
    if sizes.contains(&0) {
        return;
    }
    let mut index = vec![0; sizes.len()];
    loop {
        if !visit(&index) {
            return;
        }
        let Some(dim) = (0..sizes.len()).rev().find(|&dim| index[dim] + 1 < sizes[dim]) else { return };
        index[dim] += 1;
        index[dim + 1..].fill(0);
    }
}

/// The first byte of the element at `index`. The caller has checked that all elements lie inside the storage.
pub(super) fn byte_of(index: &[usize], strides: &[isize], offset: usize, dtype: DType) -> Option<usize> {
    let moved = index.iter().zip(strides).try_fold(isize::try_from(offset).ok()?, |at, (&i, &stride)| {
        at.checked_add(isize::try_from(i).ok()?.checked_mul(stride)?)
    })?;
    usize::try_from(moved).ok()?.checked_mul(dtype.size())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0, scale: 1.0 };
    const LOOSE: Tolerance = Tolerance { rtol: 0.1, atol: 0.01, scale: 1.0 };

    #[test]
    fn every_dtype_is_read_and_only_at_its_size() {
        let bytes = [0u8; 17];
        for dtype in DType::ALL {
            assert!(Element::decode(dtype, &bytes[..dtype.size()]).is_some(), "{dtype}");
            assert_eq!(Element::decode(dtype, &bytes[..dtype.size() + 1]), None, "{dtype}");
            assert_eq!(Element::decode(dtype, &bytes[..dtype.size() - 1]), None, "{dtype}");
        }
        assert_eq!(Element::decode(DType::I8, &[0xff]), Some(Element::Int(-1)));
        assert_eq!(Element::decode(DType::U8, &[0xff]), Some(Element::Int(255)));
        assert_eq!(Element::decode(DType::BF16, &[0x80, 0x3f]), Some(Element::Float(1.0)));
        assert_eq!(Element::decode(DType::F16, &[0x00, 0x3c]), Some(Element::Float(1.0)));
        let complex = [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0];
        assert_eq!(Element::decode(DType::C64, &complex), Some(Element::Complex(1.0, -2.0)));
    }

    #[test]
    fn bits_apply_to_the_value() {
        assert_eq!(Element::Complex(1.0, 2.0).seen_through(true, false), Element::Complex(1.0, -2.0));
        assert_eq!(Element::Complex(1.0, 2.0).seen_through(true, true), Element::Complex(-1.0, 2.0));
        assert_eq!(Element::Float(1.0).seen_through(false, true), Element::Float(-1.0));
    }

    #[test]
    fn float_rules() {
        let float = |got, want, t: Tolerance| t.admits(&Element::Float(got), &Element::Float(want));
        assert!(float(1.1, 1.0, LOOSE) && !float(1.2, 1.0, LOOSE));
        assert!(float(1.2, 1.0, Tolerance { scale: 2.0, ..LOOSE }));
        assert!(float(f64::NAN, f64::NAN, TIGHT) && !float(1.0, f64::NAN, LOOSE) && !float(f64::NAN, 1.0, LOOSE));
        assert!(float(f64::INFINITY, f64::INFINITY, TIGHT));
        assert!(!float(f64::NEG_INFINITY, f64::INFINITY, LOOSE) && !float(f64::MAX, f64::INFINITY, LOOSE));
        let endless = Tolerance { scale: f64::INFINITY, ..LOOSE };
        assert!(!float(f64::INFINITY, 1.0, endless) && float(5.0, 1.0, endless));
        assert!(float(-0.0, 0.0, TIGHT) && !float(1e-300, 0.0, TIGHT));
    }

    #[test]
    fn exact_kinds_ignore_the_tolerance() {
        assert!(!LOOSE.admits(&Element::Int(1001), &Element::Int(1000)));
        assert!(LOOSE.admits(&Element::Int(1000), &Element::Int(1000)));
        assert!(LOOSE.admits(&Element::Bool(1), &Element::Bool(7)), "a normalised byte");
        assert!(!LOOSE.admits(&Element::Bool(7), &Element::Bool(1)), "a byte that no bool holds");
        assert!(!LOOSE.admits(&Element::Bool(0), &Element::Bool(1)));
    }

    #[test]
    fn complex_rules() {
        let complex = |got: (f64, f64), want: (f64, f64), t: Tolerance| {
            t.admits(&Element::Complex(got.0, got.1), &Element::Complex(want.0, want.1))
        };
        assert!(complex((100.0, 5.0), (100.0, 0.0), LOOSE), "the modulus allows 10");
        assert!(!complex((100.0, 11.0), (100.0, 0.0), LOOSE));
        assert!(complex((f64::NAN, 1.0), (2.0, f64::NAN), TIGHT));
        assert!(!complex((f64::NAN, 1.0), (2.0, 1.0), LOOSE));
        assert!(complex((f64::INFINITY, 1.0), (f64::INFINITY, 1.0), TIGHT));
        assert!(!complex((f64::INFINITY, 1.0), (f64::INFINITY, 3.0), LOOSE));
        assert!(!complex((f64::INFINITY, 1.0), (1.0, f64::INFINITY), LOOSE));
    }

    #[test]
    fn indices_come_in_row_major_order() {
        let mut seen = Vec::new();
        each_index(&[2, 1, 2], |index| {
            seen.push(index.to_vec());
            true
        });
        assert_eq!(seen, [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
        let mut scalars = 0;
        each_index(&[], |_| {
            scalars += 1;
            true
        });
        each_index(&[3, 0], |_| unreachable!());
        assert_eq!(scalars, 1);
    }
}

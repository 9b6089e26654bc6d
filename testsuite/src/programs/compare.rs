//! One value against the recorded one.

use super::record::{Entry, Tolerance};
use monomorph::crates::core::Element;
use monomorph::program::Value;
use monomorph::{AnyTensor, Scalar};
use serde_json::Value as Json;

/// What differs; `None` if the value is as recorded.
pub(super) fn difference(got: &Value, want: &Entry, tolerance: Tolerance) -> Option<String> {
    match (got, want) {
        (Value::Tensor(got), Entry::Tensor(want)) => tensors(got, want.as_any(), tolerance),
        (Value::Int(got), Entry::Number(want)) => (want.as_i64() != Some(*got)).then(|| format!("{got}, not {want}")),
        (Value::Bool(got), Entry::Number(want)) => (want.as_bool() != Some(*got)).then(|| format!("{got}, not {want}")),
        (Value::Float(got), Entry::Number(want)) => float(*got, want).then(|| format!("{got}, not {want}")),
        (got, _) => Some(format!("{}, where another kind of value was recorded", got.kind_name())),
    }
}

/// True if a float is not the recorded number.
fn float(got: f64, want: &Json) -> bool {
    match want.as_f64() {
        Some(want) => got != want,
        None => !(got.is_nan() && want.as_str() == Some("NaN")),
    }
}

fn tensors(got: &AnyTensor, want: &AnyTensor, tolerance: Tolerance) -> Option<String> {
    if got.dtype() != want.dtype() || got.sizes() != want.sizes() {
        return Some(format!("{} {:?}, not {} {:?}", got.dtype(), got.sizes(), want.dtype(), want.sizes()));
    }
    let (got, want) = match (numbers(got), numbers(want)) {
        (Ok(got), Ok(want)) => (got, want),
        (Err(error), _) | (_, Err(error)) => return Some(error),
    };
    let mut wrong = got.iter().zip(&want).enumerate().filter(|(_, (x, y))| !close(**x, **y, tolerance));
    let (index, (x, y)) = wrong.next()?;
    let more = wrong.count();
    let largest = got.iter().zip(&want).map(|(x, y)| distance(*x, *y)).fold(0.0, f64::max);
    Some(format!(
        "{} of {} elements differ, first at {index}: {x:?}, not {y:?}; by {largest:.3e} at most, {:.1e} + {:.1e} * |y| \
         is accepted",
        more + 1,
        got.len(),
        tolerance.atol,
        tolerance.rtol
    ))
}

fn numbers(tensor: &AnyTensor) -> Result<Vec<Scalar>, String> {
    monomorph::crates::core::with_element!(tensor.dtype(), T => {
        let elements = tensor.to_vec::<T>().map_err(|error| error.to_string())?;
        Ok(elements.into_iter().map(Element::to_scalar).collect())
    })
}

fn distance(x: Scalar, y: Scalar) -> f64 {
    match (x, y) {
        (Scalar::Int(x), Scalar::Int(y)) => x.abs_diff(y) as f64,
        (Scalar::Float(x), Scalar::Float(y)) => (x - y).abs(),
        (Scalar::Complex(x), Scalar::Complex(y)) => (x - y).norm(),
        _ => 0.0,
    }
}

/// `|x - y| <= atol + rtol * |y|`; NaN is NaN and an infinity only itself.
fn close(x: Scalar, y: Scalar, tolerance: Tolerance) -> bool {
    let near = |difference: f64, y: f64| difference <= tolerance.atol + tolerance.rtol * y;
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) if x.is_finite() && y.is_finite() => near((x - y).abs(), y.abs()),
        (Scalar::Float(x), Scalar::Float(y)) => x == y || (x.is_nan() && y.is_nan()),
        (Scalar::Complex(x), Scalar::Complex(y)) if x.is_finite() && y.is_finite() => near((x - y).norm(), y.norm()),
        (Scalar::Complex(x), Scalar::Complex(y)) => {
            let part = |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan());
            part(x.re, y.re) && part(x.im, y.im)
        }
        (x, y) => x == y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness() {
        let tolerance = Tolerance { rtol: 0.0, atol: 0.5 };
        let float = |x: f64, y: f64| close(Scalar::Float(x), Scalar::Float(y), tolerance);
        assert!(float(1.0, 1.5) && !float(1.0, 1.6));
        assert!(float(f64::NAN, f64::NAN) && !float(f64::NAN, 1.0) && !float(1.0, f64::NAN));
        assert!(float(f64::INFINITY, f64::INFINITY) && !float(f64::INFINITY, f64::NEG_INFINITY));
        assert!(!float(f64::MAX, f64::INFINITY));
        assert!(!close(Scalar::Int(1), Scalar::Int(2), tolerance));
        assert!(!close(Scalar::Bool(true), Scalar::Bool(false), tolerance));
    }
}

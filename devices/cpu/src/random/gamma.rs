//! Numbers of gamma distributions, by the rejection of G. Marsaglia and W. W. Tsang (*A simple method for generating
//! gamma variables*, ACM TOMS 26(3), 2000): the cube of a shifted normal number is accepted by an even one, which the
//! square of the normal number bounds in most cases without a logarithm.

use super::convert::rounded;
use super::distribution::normal;
use monomorph_core::{DType, Mt19937};

/// A third and the factor of the bound, to float32, in which PyTorch writes them for every dtype.
const THIRD: f64 = (1.0f32 / 3.0) as f64;
const SQUEEZE: f64 = 0.0331f32 as f64;

/// Whether the rejection ends for a shape: a cube of which every number is refused has none of these.
pub(super) fn is_shape(alpha: f64) -> bool {
    alpha > THIRD - 1.0
}

/// A number of the gamma distribution of shape `alpha` and scale 1. The shape and what is made of it alone have the
/// roundings of `dtype`; the number has none yet, and is no less than the least normal one of the dtype.
pub(super) fn gamma(stream: &mut Mt19937, alpha: f64, dtype: DType) -> f64 {
    let least = if dtype == DType::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
    if alpha == 0.0 {
        return least;
    }
    let (mut shape, mut scale) = (alpha, 1.0);
    if alpha < 1.0 {
        // More numbers of a larger shape are accepted: one of the shape `alpha + 1` is scaled.
        scale = (1.0 - stream.unit_f64()).powf(rounded(1.0 / alpha, dtype));
        shape = rounded(alpha + 1.0, dtype);
    }
    let d = rounded(shape - THIRD, dtype);
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (x, y) = loop {
            let x = normal(stream, 0.0, 1.0);
            let y = 1.0 + c * x;
            if y > 0.0 || y.is_nan() {
                break (x, y);
            }
        };
        let (v, u, square) = (y * y * y, 1.0 - stream.unit_f64(), x * x);
        let is_accepted = u < 1.0 - SQUEEZE * square * square || u.ln() < 0.5 * square + d * (1.0 - v + v.ln());
        if is_accepted {
            let drawn = rounded(scale * d * v, dtype);
            return if drawn > least { drawn } else { least };
        }
    }
}

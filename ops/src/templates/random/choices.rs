//! Indices by weight: multinomial.

use super::fills::exponential_;
use super::rule::holds;
use super::{Distribution, draw_by};
use crate::copies::{clone_tensor, reshape};
use crate::factory::{empty, empty_like};
use crate::functions::{amax, amin, argmax_with, div, sum, topk};
use crate::kernels::AllKernels;
use crate::options::Argmax;
use crate::table::{native, resized};
use monomorph_core::{DType, Element, Error, ErrorKind, Generator, MemoryFormat, Result, Tensor, observe};

/// Above this many categories float32 has not every index.
const MOST_CATEGORIES: i64 = 1 << 24;

/// The sizes of the result, after the checks that need no element.
fn sizes<D: AllKernels>(this: &Tensor<D>, samples: i64, replacement: bool) -> Result<Vec<i64>> {
    if !this.dtype().is_floating() {
        let (what, got, accepted) = ("argument self has dtype", this.dtype(), "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let (rows, &categories) = match this.sizes() {
        [categories] => (None, categories),
        [rows, categories] => (Some(*rows), categories),
        sizes => return Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "1 or 2" }.into()),
    };
    let high = if replacement { i64::MAX } else { categories };
    if samples < 1 || samples > high {
        return Err(ErrorKind::OutOfRange { arg: "num_samples", got: samples, low: 1, high }.into());
    }
    holds(categories <= MOST_CATEGORIES, "there are more than 2^24 categories; accepted are up to 2^24")?;
    Ok(rows.into_iter().chain([samples]).collect())
}

/// The places of the largest quotients of weights and exponential numbers: as if drawn in turn, each at most once.
fn without_replacement<D: AllKernels>(
    this: &Tensor<D>,
    samples: i64,
    generator: Option<&Generator>,
) -> Result<Tensor<D>> {
    if D::MEMORY.is_some() {
        let (least, most) = (amin(this, ..)?.item()?.to_f64(), amax(this, ..)?.item()?.to_f64());
        holds(least >= 0.0 && most < f64::INFINITY, "argument self has an element that is below 0, infinite or NaN")?;
        let least = amin(&sum(this, -1)?, ..)?.item()?.to_f64();
        holds(least != 0.0, "argument self has a row whose weights are all 0; accepted are sums above 0")?;
    }
    let mut draws = empty_like(this, None, None, None, None, None)?;
    exponential_(&mut draws, 1.0, generator)?;
    let ranks = div(this, &draws)?;
    match samples {
        1 => argmax_with(&ranks, -1, Argmax { keepdim: true, ..Default::default() }),
        _ => topk(&ranks, samples).map(|(_, places)| places),
    }
}

/// `multinomial`: indices of categories, as many for each row of weights.
pub fn multinomial<D: AllKernels>(
    this: &Tensor<D>,
    num_samples: i64,
    replacement: bool,
    generator: Option<&Generator>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("multinomial", [this.geometry()]);
    let make = || {
        let sizes = sizes(this, num_samples, replacement)?;
        if sizes.contains(&0) || replacement && num_samples > 1 {
            let mut out = empty(&sizes, Some(DType::I64), None, Some(this.device()), None, None)?;
            if out.numel() > 0 {
                let columns = this.sizes().last().copied().unwrap_or(0);
                holds(columns > 0, "argument self has no categories; accepted is one or more")?;
                let rows = (this.numel() as i64).checked_div(columns).unwrap_or(0);
                let weights = clone_tensor(this, Some(MemoryFormat::Contiguous))?;
                let weights = reshape(&weights, &[rows, columns])?;
                draw_by(&mut out, &[&weights], Distribution::Index { samples: num_samples as usize }, generator)?;
            }
            return Ok(out);
        }
        without_replacement(this, num_samples, generator)
    };
    make().map_err(|e: Error| e.called("multinomial"))
}

/// `multinomial.out`.
pub fn multinomial_out<D: AllKernels>(
    this: &Tensor<D>,
    num_samples: i64,
    replacement: bool,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("multinomial", [this.geometry(), out.geometry()]);
    if out.dtype() != i64::DTYPE {
        let error = ErrorKind::OutputDType { index: 0, got: out.dtype(), want: DType::I64 };
        return Err(Error::from(error).called("multinomial"));
    }
    let values = multinomial(this, num_samples, replacement, generator)?;
    resized(out, values.sizes(), |out| out.copy_from(&values))
}

native! {
    family: RandomChoices, functions: crate::kernels::AllKernels;

    /// `num_samples` indices of each row, an index by its weight there, as int64.
    ///
    /// The tensor has one or two dimensions and a floating dtype; weights are finite and not below 0, and no row has
    /// only zeros. Each index is there once at most, unless the option `replacement` is true. The option `generator` is
    /// another source than the shared one.
    ///
    /// ```
    /// assert_eq!(tensor![[0.0f32, 2.0], [0.5, 0.0]].multinomial(1)?.to_vec::<i64>()?, [1, 0]);
    /// ```
    func: multinomial(Tensor self, SymInt num_samples, bool replacement=False, *,
        Generator? generator=None) -> Tensor,
    variants: function, kernel: multinomial;

    func: multinomial.out(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: multinomial_out;
}

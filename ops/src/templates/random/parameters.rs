//! Random numbers whose parameters are tensors: bernoulli, normal, poisson, binomial, gamma, Dirichlet.

use super::fills::{bernoulli_, check_std, normal_};
use super::rule::{check_dtype, holds};
use super::{Distribution, Draws, draw_by};
use crate::copies::{clone_tensor, to_dtype};
use crate::factory::{empty, empty_like, full};
use crate::functions::{add_, amax, amin, clamp, div, mul_, nan_to_num_with};
use crate::kernels::AllKernels;
use crate::options::{NanToNum, Sum};
use crate::table::{native, resized};
use monomorph_core::overlap::{self, Place, Shared};
use monomorph_core::{DType, Error, ErrorKind, Generator, MemoryFormat, Result, Scalar, Tensor, observe, strides};

/// A contiguous tensor of the sizes and the dtype.
pub(super) fn contiguous_like<D: Draws>(this: &Tensor<D>) -> Result<Tensor<D>> {
    empty_like(this, None, None, None, None, Some(MemoryFormat::Contiguous))
}

/// An error for an element that is no probability, before anything is written. Meta tensors hold none.
fn check_probabilities<D: AllKernels>(p: &Tensor<D>) -> Result<()> {
    if D::MEMORY.is_none() || p.numel() == 0 || !p.dtype().is_floating() {
        return Ok(());
    }
    let holds_for_all = amin(p, ..)?.item()?.to_f64() >= 0.0 && amax(p, ..)?.item()?.to_f64() <= 1.0;
    holds(holds_for_all, "a probability is outside of 0 to 1; accepted is 0 <= p <= 1")
}

/// `bernoulli_.Tensor`: one with the probability at its place, else zero.
pub fn bernoulli_of_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    p: &Tensor<D>,
    generator: Option<&Generator>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("bernoulli_", [this.geometry(), p.geometry()]);
    if this.numel() == 0 {
        return Ok(this);
    }
    let drawn = crate::view::expand(p.geometry(), this.sizes(), false)
        .and_then(|geometry| p.with_geometry(geometry))
        .and_then(|p| check_probabilities(&p).map(|()| p))
        .and_then(|p| draw_by(this, &[&p], Distribution::BernoulliOf, generator).map(drop));
    drawn.map_err(|e: Error| e.called("bernoulli_"))?;
    Ok(this)
}

/// `bernoulli.Tensor`: a copy after `bernoulli_.Tensor`.
pub fn bernoulli_of<D: AllKernels>(
    this: &Tensor<D>,
    p: &Tensor<D>,
    generator: Option<&Generator>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("bernoulli", [this.geometry(), p.geometry()]);
    let mut out = clone_tensor(this, None)?;
    bernoulli_of_(&mut out, p, generator)?;
    Ok(out)
}

/// `bernoulli`: the elements are the probabilities.
pub fn bernoulli<D: AllKernels>(this: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("bernoulli", [this.geometry()]);
    let mut out = contiguous_like(this)?;
    bernoulli_of_(&mut out, this, generator)?;
    Ok(out)
}

/// `bernoulli.out`: the same into `out`, in its dtype.
pub fn bernoulli_out<D: AllKernels>(
    this: &Tensor<D>,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("bernoulli", [this.geometry(), out.geometry()]);
    check_probabilities(this).map_err(|e: Error| e.called("bernoulli"))?;
    resized(out, this.sizes(), |out| bernoulli_of_(out, this, generator).map(drop))
}

/// An error for a standard deviation below zero in a tensor. Meta tensors hold none.
fn check_stds<D: AllKernels>(std: &Tensor<D>) -> Result<()> {
    if std.dtype().is_complex() {
        let (what, got, accepted) = ("argument std has dtype", std.dtype(), "real dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    if D::MEMORY.is_none() || std.numel() == 0 {
        return Ok(());
    }
    holds(
        amin(std, ..)?.item()?.to_f64() >= 0.0,
        "argument std has an element below 0 or NaN; accepted are numbers of 0 or more",
    )
}

/// A mean, or a standard deviation.
enum Moment<'t, D: AllKernels> {
    One(f64),
    Each(&'t Tensor<D>),
}

/// What a later step would refuse, found before the first one writes.
fn check_moment<D: AllKernels>(out: &Tensor<D>, moment: &Tensor<D>) -> Result<()> {
    if !moment.dtype().can_cast(out.dtype()) {
        return Err(ErrorKind::Cast { from: moment.dtype(), to: out.dtype() }.into());
    }
    let [written, read] = [out, moment].map(|t| Place::of(t.as_operand(), t.geometry()));
    if overlap::shared(&written, &read) == Shared::Partial {
        return Err(ErrorKind::PartialOverlap { output: 0, other: "the mean or the standard deviation".into() }.into());
    }
    Ok(())
}

/// `out`, which has the sizes, becomes `draws · std + mean`.
fn normal_into<D: AllKernels>(
    out: &mut Tensor<D>,
    mean: Moment<'_, D>,
    std: Moment<'_, D>,
    generator: Option<&Generator>,
) -> Result<()> {
    for moment in [&std, &mean] {
        if let Moment::Each(moment) = moment {
            check_moment(out, moment)?;
        }
    }
    // A number is rounded to the dtype first; one that does not fit is refused before anything is written.
    let mean = match mean {
        Moment::One(mean) => full(&[], Scalar::Float(mean), Some(out.dtype()), None, Some(out.device()), None)?,
        Moment::Each(mean) => mean.clone(),
    };
    match std {
        Moment::One(std) => drop(normal_(out, 0.0, std, generator)?),
        Moment::Each(std) => {
            normal_(out, 0.0, 1.0, generator)?;
            mul_(out, std)?;
        }
    }
    add_(out, &mean)?;
    Ok(())
}

/// `normal.Tensor_float`.
pub fn normal_of_means<D: AllKernels>(mean: &Tensor<D>, std: f64, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("normal", [mean.geometry()]);
    let mut out = contiguous_like(mean)?;
    normal_of_means_out(mean, std, generator, &mut out)?;
    Ok(out)
}

/// `normal.Tensor_float_out`: `out` broadcasts with the means.
pub fn normal_of_means_out<D: AllKernels>(
    mean: &Tensor<D>,
    std: f64,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("normal", [mean.geometry(), out.geometry()]);
    check_std(std)?;
    let sizes = strides::broadcast_sizes(mean.sizes(), out.sizes())?;
    resized(out, &sizes, |out| normal_into(out, Moment::Each(mean), Moment::One(std), generator))
        .map_err(|e: Error| e.called("normal"))
}

/// `normal.float_Tensor`.
pub fn normal_of_stds<D: AllKernels>(mean: f64, std: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("normal", [std.geometry()]);
    let mut out = contiguous_like(std)?;
    normal_of_stds_out(mean, std, generator, &mut out)?;
    Ok(out)
}

/// `normal.float_Tensor_out`.
pub fn normal_of_stds_out<D: AllKernels>(
    mean: f64,
    std: &Tensor<D>,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("normal", [std.geometry(), out.geometry()]);
    check_stds(std)?;
    resized(out, std.sizes(), |out| normal_into(out, Moment::One(mean), Moment::Each(std), generator))
        .map_err(|e: Error| e.called("normal"))
}

/// `normal.Tensor_Tensor`: means and standard deviations broadcast; the dtype is that of the means.
pub fn normal_of<D: AllKernels>(mean: &Tensor<D>, std: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("normal", [mean.geometry(), std.geometry()]);
    check_stds(std)?;
    let sizes = strides::broadcast_sizes(mean.sizes(), std.sizes())?;
    let mut out = empty(&sizes, Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    normal_of_out(mean, std, generator, &mut out)?;
    Ok(out)
}

/// `normal.Tensor_Tensor_out`.
pub fn normal_of_out<D: AllKernels>(
    mean: &Tensor<D>,
    std: &Tensor<D>,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("normal", [mean.geometry(), std.geometry(), out.geometry()]);
    check_stds(std)?;
    let sizes = strides::broadcast_sizes(mean.sizes(), std.sizes())?;
    resized(out, &sizes, |out| normal_into(out, Moment::Each(mean), Moment::Each(std), generator))
        .map_err(|e: Error| e.called("normal"))
}

/// `poisson`: numbers of events, of the dtype of the rates.
pub fn poisson<D: Draws>(this: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("poisson", [this.geometry()]);
    let mut out = contiguous_like(this)?;
    draw_by(&mut out, &[this], Distribution::PoissonOf, generator).map_err(|e: Error| e.called("poisson"))?;
    Ok(out)
}

/// `binomial`: numbers of successes; counts and probabilities broadcast.
pub fn binomial<D: Draws>(count: &Tensor<D>, prob: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("binomial", [count.geometry(), prob.geometry()]);
    let make = || {
        if count.dtype() != prob.dtype() {
            let (got, want) = (prob.dtype(), count.dtype());
            return Err(ErrorKind::DTypeMismatch { arg: "prob", got, want }.into());
        }
        if !count.dtype().is_floating() {
            let (what, got, accepted) = ("argument count has dtype", count.dtype(), "float32 and float64");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        let sizes = strides::broadcast_sizes(count.sizes(), prob.sizes())?;
        let mut out = empty(&sizes, Some(count.dtype()), None, Some(count.device()), None, None)?;
        draw_by(&mut out, &[count, prob], Distribution::BinomialOf, generator)?;
        Ok(out)
    };
    make().map_err(|e: Error| e.called("binomial"))
}

/// `_standard_gamma`: numbers of gamma distributions, of the dtype of the shapes.
pub fn standard_gamma<D: Draws>(this: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("_standard_gamma", [this.geometry()]);
    let mut out = contiguous_like(this)?;
    draw_by(&mut out, &[this], Distribution::GammaOf, generator).map_err(|e: Error| e.called("_standard_gamma"))?;
    Ok(out)
}

/// `_sample_dirichlet`: numbers of gamma distributions, by their sums along the last dimension. They are drawn in
/// float64, in which numbers of small shapes are not 0.
pub fn sample_dirichlet<D: AllKernels>(this: &Tensor<D>, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("_sample_dirichlet", [this.geometry()]);
    let (least, most) = match this.dtype() {
        DType::F32 => (f64::from(f32::MIN_POSITIVE), f64::from(1.0f32.next_down())),
        _ => (f64::MIN_POSITIVE, 1.0f64.next_down()),
    };
    let make = || {
        check_dtype(Distribution::GammaOf, this.dtype())?;
        let mut drawn = empty_like(this, Some(DType::F64), None, None, None, Some(MemoryFormat::Contiguous))?;
        draw_by(&mut drawn, &[this], Distribution::GammaOf, generator)?;
        let sums = crate::functions::sum_with(&drawn, -1, Sum { keepdim: true, ..Default::default() })?;
        let shares = to_dtype(&div(&drawn, &sums)?, this.dtype(), false, false, None)?;
        // No number, where a sum is infinite, counts as the least.
        let shares = clamp(&shares, least, most)?;
        nan_to_num_with(&shares, NanToNum { nan: Some(least), ..Default::default() })
    };
    make().map_err(|e: Error| e.called("_sample_dirichlet"))
}

native! {
    family: RandomByParameters, functions: crate::kernels::AllKernels;

    /// 1 with the probability that each element is, else 0.
    ///
    /// The result has the dtype of the tensor, which is floating. The option `generator` is another source than the
    /// shared one.
    ///
    /// ```
    /// assert_eq!(tensor![0.0f32, 1.0].bernoulli()?.to_vec::<f32>()?, [0.0, 1.0]);
    /// ```
    func: bernoulli(Tensor self, *, Generator? generator=None) -> Tensor,
    variants: function, kernel: bernoulli;

    /// Fills the tensor with 1 with the probability `p`, else with 0.
    ///
    /// Bool, integers and floating dtypes. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(2, F32)?;
    /// x.bernoulli_(1.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 1.0]);
    /// ```
    func: bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!),
    variants: function, positional: [p], kernel: bernoulli_;

    func: bernoulli.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!),
    kernel: bernoulli_out;

    func: bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor,
    autogen: bernoulli.Tensor_out, kernel: bernoulli_of;

    func: bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!),
    kernel: bernoulli_of_;

    func: normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor,
    kernel: normal_of_means;

    func: normal.Tensor_float_out(Tensor mean, float std=1, *, Generator? generator=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: normal_of_means_out;

    func: normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor,
    kernel: normal_of_stds;

    func: normal.float_Tensor_out(float mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!),
    kernel: normal_of_stds_out;

    func: normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor,
    kernel: normal_of;

    func: normal.Tensor_Tensor_out(Tensor mean, Tensor std, *, Generator? generator=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: normal_of_out;

    /// Numbers of events whose rates are the elements.
    ///
    /// The result has the dtype of the rates, which is floating; a rate below 0 is an error. The option `generator` is
    /// another source than the shared one.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.poisson()?.to_vec::<f32>()?, [0.0, 0.0]);
    /// ```
    func: poisson(Tensor self, Generator? generator=None) -> Tensor,
    autogen: poisson.out, variants: function, kernel: poisson;

    /// Numbers of successes of `count` trials with the probability `prob`.
    ///
    /// Both broadcast, and have one dtype: float32 or float64. The option `generator` is another source than the
    /// shared one.
    ///
    /// ```
    /// let (count, prob) = (tensor![5.0f32, 5.0], tensor![0.0f32, 1.0]);
    /// assert_eq!(ops::binomial(&count, &prob)?.to_vec::<f32>()?, [0.0, 5.0]);
    /// ```
    func: binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor,
    autogen: binomial.out, variants: function, kernel: binomial;

    func: _standard_gamma(Tensor self, Generator? generator=None) -> Tensor,
    autogen: _standard_gamma.out, kernel: standard_gamma;

    func: _sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor,
    autogen: _sample_dirichlet.out, kernel: sample_dirichlet;
}

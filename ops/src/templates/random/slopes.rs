//! A leaky relu with random slopes: elements up to zero are multiplied by numbers even over an interval.

use super::parameters::contiguous_like;
use super::rule::holds;
use super::{Distribution, draw_by};
use crate::copies::{clone_tensor, to_dtype};
use crate::factory::empty_like;
use crate::kernels::AllKernels;
use crate::table::{copy_into, native, resized};
use monomorph_core::{DType, Error, ErrorKind, Generator, MemoryFormat, Result, Scalar, Tensor, observe, strides};

/// `rrelu_with_noise`: elements up to zero are multiplied by numbers even over [lower, upper), which are put to
/// `noise`; without `training` by the mean of both.
fn leaky<D: AllKernels>(
    this: &Tensor<D>,
    noise: &Tensor<D>,
    [lower, upper]: [Scalar; 2],
    training: bool,
    generator: Option<&Generator>,
) -> Result<(Tensor<D>, Option<Tensor<D>>)> {
    if this.sizes() != noise.sizes() {
        let (got, want) = (noise.sizes().to_vec(), this.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "noise", got, want }.into());
    }
    let (lower, upper) = (lower.to_f64(), upper.to_f64());
    if !training {
        let out = crate::functions::leaky_relu_with(this, slope((lower + upper) / 2.0))?;
        let is_row_major = out.geometry().is_canonical();
        return Ok((if is_row_major { out } else { clone_tensor(&out, Some(MemoryFormat::Contiguous))? }, None));
    }
    if !matches!(this.dtype(), DType::BF16 | DType::F32 | DType::F64) {
        let (what, got, accepted) = ("argument self has dtype", this.dtype(), "bfloat16, float32 and float64");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    if noise.dtype() != this.dtype() {
        return Err(ErrorKind::DTypeMismatch { arg: "noise", got: noise.dtype(), want: this.dtype() }.into());
    }
    let input = clone_tensor(this, Some(MemoryFormat::Contiguous))?;
    // The product of bfloat16 takes the slope before it is rounded.
    let wide = if this.dtype() == DType::BF16 { DType::F32 } else { this.dtype() };
    let input = to_dtype(&input, wide, false, false, None)?;
    let mut slopes = contiguous_like(&input)?;
    draw_by(&mut slopes, &[&input], Distribution::SlopeOf { lower, upper }, generator)?;
    let out = crate::functions::mul(&input, &slopes)?;
    Ok((to_dtype(&out, this.dtype(), false, false, None)?, Some(to_dtype(&slopes, this.dtype(), false, false, None)?)))
}

fn slope(negative_slope: f64) -> crate::options::LeakyRelu {
    crate::options::LeakyRelu { negative_slope: negative_slope.into(), ..Default::default() }
}

/// The slopes, and where they are kept: in the order of memory, as PyTorch does, where that is dense.
fn kept<D: AllKernels>(slopes: Tensor<D>, noise: &Tensor<D>) -> Result<[Tensor<D>; 2]> {
    let dense = strides::preserve_strides(noise.sizes(), noise.strides());
    if noise.is_contiguous() || dense[..] != *noise.strides() {
        return Ok([slopes, noise.clone()]);
    }
    let count = noise.numel() as i64;
    let row = crate::view::as_strided(noise.geometry(), &[count], &[1], None)?;
    Ok([crate::copies::reshape(&slopes, &[count])?, noise.with_geometry(row)?])
}

/// Writes the result to `out` and the slopes to where they are kept, both or none of them.
fn write<D: AllKernels>(out: &mut Tensor<D>, results: (Tensor<D>, Option<Tensor<D>>), noise: &Tensor<D>) -> Result<()> {
    let (result, slopes) = results;
    let Some(slopes) = slopes else { return out.copy_from(&result) };
    let [slopes, mut place] = kept(slopes, noise)?;
    copy_into(&[result, slopes], &mut [out, &mut place])
}

/// `rrelu_with_noise`.
pub fn rrelu_with_noise<D: AllKernels>(
    this: &Tensor<D>,
    noise: &Tensor<D>,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("rrelu_with_noise", [this.geometry(), noise.geometry()]);
    let (out, slopes) =
        leaky(this, noise, [lower, upper], training, generator).map_err(|e: Error| e.called("rrelu_with_noise"))?;
    if let Some(slopes) = slopes {
        let [slopes, mut place] = kept(slopes, noise)?;
        place.copy_from(&slopes)?;
    }
    Ok(out)
}

/// `rrelu_with_noise_`.
pub fn rrelu_with_noise_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    noise: &Tensor<D>,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("rrelu_with_noise_", [this.geometry(), noise.geometry()]);
    let results = leaky(this, noise, [lower, upper], training, generator);
    results.and_then(|results| write(this, results, noise)).map_err(|e: Error| e.called("rrelu_with_noise_"))?;
    Ok(this)
}

/// `rrelu_with_noise.out`.
pub fn rrelu_with_noise_out<D: AllKernels>(
    this: &Tensor<D>,
    noise: &Tensor<D>,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("rrelu_with_noise", [this.geometry(), out.geometry()]);
    if out.dtype() != this.dtype() {
        return Err(ErrorKind::OutputDType { index: 0, got: out.dtype(), want: this.dtype() }.into());
    }
    let results = leaky(this, noise, [lower, upper], training, generator);
    results
        .and_then(|results| resized(out, this.sizes(), |out| write(out, results, noise)))
        .map_err(|e: Error| e.called("rrelu_with_noise"))
}

/// `rrelu_with_noise_functional`: the slopes are a second result.
pub fn rrelu_with_noise_functional<D: AllKernels>(
    this: &Tensor<D>,
    noise: &Tensor<D>,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("rrelu_with_noise", [this.geometry(), noise.geometry()]);
    let kept = clone_tensor(noise, None)?;
    let out = rrelu_with_noise(this, &kept, lower, upper, training, generator)?;
    Ok((out, kept))
}

/// `rrelu`.
pub fn rrelu<D: AllKernels>(
    this: &Tensor<D>,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("rrelu", [this.geometry()]);
    let make = || {
        let (least, most) = (lower.to_f64(), upper.to_f64());
        holds(least.is_finite(), "argument lower is not finite; accepted are finite numbers")?;
        holds(most.is_finite(), "argument upper is not finite; accepted are finite numbers")?;
        holds(least <= most, "argument lower is above argument upper; accepted is an interval [lower, upper)")?;
        let noise = empty_like(this, None, None, None, None, Some(MemoryFormat::Contiguous))?;
        leaky(this, &noise, [lower, upper], training, generator)
    };
    make().map(|(out, _)| out).map_err(|e: Error| e.called("rrelu"))
}

/// `rrelu_`.
pub fn rrelu_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("rrelu_", [this.geometry()]);
    let out = rrelu(this, lower, upper, training, generator)?;
    this.copy_from(&out)?;
    Ok(this)
}

native! {
    family: RandomSlopes, functions: AllKernels;

    /// Elements above zero, and others times a slope.
    ///
    /// With the option `training` each slope is a random number even over [`lower`, `upper`), else all are their mean.
    /// bfloat16, float32 and float64. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut options = Rrelu::default();
    /// (options.lower, options.upper) = (0.25.into(), 0.75.into());
    /// assert_eq!(tensor![-2.0f32, 3.0].rrelu_with(options)?.to_vec::<f32>()?, [-1.0, 3.0]);
    /// ```
    func: rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False,
        Generator? generator=None) -> Tensor,
    variants: function, kernel: rrelu;

    func: rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False,
        Generator? generator=None) -> Tensor(a!),
    variants: function, kernel: rrelu_;

    func: rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333,
        bool training=False, Generator? generator=None) -> Tensor,
    kernel: rrelu_with_noise;

    func: rrelu_with_noise.out(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333,
        bool training=False, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!),
    kernel: rrelu_with_noise_out;

    func: rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333,
        bool training=False, Generator? generator=None) -> Tensor(a!),
    kernel: rrelu_with_noise_;

    func: rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125,
        Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None)
        -> (Tensor, Tensor noise_out),
    kernel: rrelu_with_noise_functional;
}

//! Maxima of windows that lie where random numbers say.

use super::{Dtypes, FLOATS, Fold, Layout, Planes, Sealed, WindowAxis, WindowFn, WindowInputs, WindowPlan};
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, MemoryFormat, Result};
use smallvec::SmallVec;

/// `fractional_max_pool2d`, `fractional_max_pool3d`: maxima over `N` dimensions.
pub struct FractionalMax<const N: usize>;

/// The size of windows, and how many there are.
pub struct Fractions<'t> {
    kernel_size: &'t [i64],
    output_size: &'t [i64],
}

const DTYPES: Dtypes = FLOATS;

fn axes(planes: &Planes<'_>, parameters: &Fractions<'_>) -> Result<SmallVec<[WindowAxis; 3]>> {
    let n = planes.inner.len();
    for (arg, list) in [("kernel_size", parameters.kernel_size), ("output_size", parameters.output_size)] {
        if list.len() != n {
            return Err(ErrorKind::ListLength { arg, got: list.len(), want: n }.into());
        }
    }
    let axis = |d: usize| {
        let (input, kernel, windows) = (planes.inner[d], parameters.kernel_size[d], parameters.output_size[d]);
        if kernel < 1 {
            return Err(ErrorKind::OutOfRange { arg: "kernel_size", got: kernel, low: 1, high: input }.into());
        }
        // Windows begin at different places; in three dimensions PyTorch asks for one more.
        let most = input.saturating_sub(kernel).saturating_add(i64::from(n == 2));
        if !(0..=most).contains(&windows) || kernel > input {
            return Err(ErrorKind::OutOfRange { arg: "output_size", got: windows, low: 0, high: most }.into());
        }
        let sample = if n == 2 { 1 - d } else { d };
        Ok(WindowAxis { input, windows, layout: Layout::Fractional { kernel, sample } })
    };
    (0..n).map(axis).collect()
}

/// An error if there is not a number for each plane and dimension.
fn check_samples(samples: &Operand<'_>, planes: &Planes<'_>) -> Result<()> {
    let arg = "random_samples";
    let &[batch, channels, dims] = samples.sizes() else {
        return Err(ErrorKind::DimCount { arg, got: samples.sizes().len(), accepted: "3" }.into());
    };
    if let Some(got) = samples.dtype().filter(|got| *got != planes.dtype) {
        return Err(ErrorKind::DTypeMismatch { arg, got, want: planes.dtype }.into());
    }
    let (want_channels, n) = (planes.outer.last().copied().unwrap_or(1), planes.inner.len() as i64);
    let want_batch = if planes.outer.len() == 2 { planes.outer[0] } else { 1 };
    if batch < want_batch || channels < want_channels || dims != n {
        let (got, want) = (samples.sizes().to_vec(), vec![want_batch, want_channels, n]);
        return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
    }
    Ok(())
}

impl<const N: usize> Sealed for FractionalMax<N> {}

impl<const N: usize> WindowFn for FractionalMax<N> {
    const NAME: &'static str = if N == 2 { "fractional_max_pool2d" } else { "fractional_max_pool3d" };
    const OUTPUTS: usize = 2;
    type Parameters<'t> = Fractions<'t>;

    fn plan(operands: &[Operand<'_>], parameters: &Fractions<'_>, sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        let planes = Planes::of(&operands[0], N, "self")?;
        let axes = axes(&planes, parameters)?;
        planes.check_dtype(DTYPES)?;
        check_samples(&operands[1], &planes)?;
        for (i, dtype) in [planes.dtype, DType::I64].into_iter().enumerate() {
            planes.declare(sink, i, (dtype, parameters.output_size), MemoryFormat::Contiguous)?;
        }
        Ok(WindowPlan { fold: Fold::Max, axes, ..WindowPlan::default() })
    }
}

type FractionalArgs<'t, A, B> = (A, &'t [i64], &'t [i64], B);

impl<'t, A: Into<Operand<'t>>, B: Into<Operand<'t>>> FromArgs<FractionalArgs<'t, A, B>>
    for WindowInputs<'t, Fractions<'t>>
{
    fn from_args((this, kernel_size, output_size, samples): FractionalArgs<'t, A, B>) -> Result<Self> {
        Ok(WindowInputs::new([this.into(), samples.into()], Fractions { kernel_size, output_size }))
    }
}

native! {
    family: FractionalPools;

    func: fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples)
        -> (Tensor, Tensor),
    out: fractional_max_pool2d.output as [output, indices], structured: crate::pooling::Windowed<FractionalMax<2>>;

    func: fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples)
        -> (Tensor, Tensor),
    out: fractional_max_pool3d.output as [output, indices], structured: crate::pooling::Windowed<FractionalMax<3>>;
}

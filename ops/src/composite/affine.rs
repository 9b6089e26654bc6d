//! Grids of an affine map: for each place of an image of a size the point that the map takes it to. The places are the
//! centres of elements, or reach from corner to corner, in coordinates from -1 to 1.

use crate::copies::{contiguous, to_dtype};
use crate::factory::zeros;
use crate::functions::{add, div, mul};
use crate::kernels::AllKernels;
use crate::spaced::linspace;
use crate::table::native;
use crate::view;
use monomorph_core::{DType, Error, ErrorKind, MemoryFormat, Result, Scalar, Tensor, observe};

/// The coordinates of so many places, in the dtype of `like`.
fn places<D: AllKernels>(like: &Tensor<D>, steps: i64, align_corners: bool) -> Result<Tensor<D>> {
    let (dtype, device) = (Some(like.dtype()), Some(like.device()));
    if steps <= 1 {
        return zeros(&[steps], dtype, None, device, None);
    }
    let range = linspace::<D>(Scalar::Int(-1), Scalar::Int(1), steps, dtype, None, device, None)?;
    if align_corners {
        return Ok(range);
    }
    let inner = div(&mul(&range, Scalar::Int(steps - 1))?, Scalar::Int(steps))?;
    to_dtype(&inner, like.dtype(), false, false, None)
}

/// `affine_grid_generator`.
pub fn affine_grid_generator<D: AllKernels>(theta: &Tensor<D>, size: &[i64], align_corners: bool) -> Result<Tensor<D>> {
    let _span = observe::operator("affine_grid_generator", [theta.geometry()]);
    let make = || {
        let (batch, spatial) = match size {
            [batch, _, spatial @ ..] if (2..=3).contains(&spatial.len()) => (*batch, spatial),
            _ => return Err(ErrorKind::ListLength { arg: "size", got: size.len(), want: 4 }.into()),
        };
        if let Some(&got) = size.iter().find(|size| **size < 0) {
            return Err(ErrorKind::OutOfRange { arg: "size", got, low: 0, high: i64::MAX }.into());
        }
        let n = spatial.len() as i64;
        let want = vec![batch, n, n + 1];
        if theta.sizes() != want {
            return Err(ErrorKind::UnequalSizes { arg: "theta", got: theta.sizes().to_vec(), want }.into());
        }
        // Halves are multiplied and summed in float32, and rounded once.
        let dtype = if matches!(theta.dtype(), DType::F16 | DType::BF16) { DType::F32 } else { theta.dtype() };
        let cast = |t: &Tensor<D>, dtype: DType| to_dtype(t, dtype, false, false, None);
        let map = contiguous(&cast(theta, dtype)?, MemoryFormat::Contiguous)?;
        // Column `k` of each map, beside the dimensions of the image.
        let column = |k: i64| -> Result<Tensor<D>> {
            let mut shape = vec![1; spatial.len() + 2];
            (shape[0], shape[spatial.len() + 1]) = (batch, n);
            let column = map.with_geometry(view::select(map.geometry(), 2, k)?)?;
            crate::copies::reshape(&column, &shape)
        };
        let mut grid: Option<Tensor<D>> = None;
        // The last dimension of the image is the first coordinate.
        for (k, &steps) in spatial.iter().rev().enumerate() {
            let mut shape = vec![1; spatial.len() + 2];
            shape[spatial.len() - k] = steps;
            let along = cast(&places(theta, steps, align_corners)?, dtype)?;
            let along = along.with_geometry(view::view(along.geometry(), &shape)?)?;
            let term = mul(&column(k as i64)?, &along)?;
            grid = Some(match grid {
                Some(sum) => add(&sum, &term)?,
                None => term,
            });
        }
        let moved = column(n)?;
        let grid = match grid {
            Some(sum) => add(&sum, &moved)?,
            None => moved,
        };
        contiguous(&cast(&grid, theta.dtype())?, MemoryFormat::Contiguous)
    };
    make().map_err(|e: Error| e.called("affine_grid_generator"))
}

native! {
    family: AffineGrids, functions: crate::kernels::AllKernels;

    /// The points to which affine maps take the places of an image of the size `size`.
    ///
    /// `theta` is `[batch, 2, 3]` for the size `[batch, channels, height, width]`, and the result
    /// `[batch, height, width, 2]`; or `[batch, 3, 4]` for a size with a depth. Coordinates reach from -1 to 1, with
    /// `align_corners` from centre to centre of the elements at the corners.
    ///
    /// ```
    /// let theta = tensor![[[1.0f32, 0.0, 0.5], [0.0, 1.0, 0.0]]];
    /// let grid = monomorph::ops::affine_grid_generator(&theta, [1, 1, 1, 2], false)?;
    /// assert_eq!(grid.to_vec::<f32>()?, [0.0, 0.0, 1.0, 0.0]);
    /// ```
    func: affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor,
    autogen: affine_grid_generator.out, variants: function, kernel: affine_grid_generator;
}

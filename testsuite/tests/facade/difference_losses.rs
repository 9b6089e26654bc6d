//! Losses of differences: what PyTorch decides by hand about dtypes and layouts of their results.

use super::corners::empty;
use monomorph::prelude::*;
use monomorph::{Cpu, DType, ErrorKind, Result, Tensor, ops};

/// 0 to 11 in three rows, and the same with the rows in turn.
fn rows() -> Result<[Tensor<Cpu>; 2]> {
    let a: Vec<f32> = (0..12).map(|x| x as f32).collect();
    let b: Vec<f32> = [8, 4, 0].iter().flat_map(|&row| (row..row + 4).map(|x| x as f32)).collect();
    Ok([Tensor::from_vec(a, (3, 4))?, Tensor::from_vec(b, (3, 4))?])
}

#[test]
fn gradients_are_row_major_but_outputs_that_are_resized_are_laid_out_by_the_input() -> Result<()> {
    let [a, b] = rows()?;
    let by_columns = a.t()?.contiguous()?.t()?;
    let one = Tensor::from_vec(vec![1.0f32], 1)?;
    let slopes = [
        ops::mse_loss_backward(&one, &by_columns, &b, 0)?,
        ops::smooth_l1_loss_backward(&one, &by_columns, &b, 0, 1.0)?,
        ops::huber_loss_backward(&one, &by_columns, &b, 0, 3.0)?,
    ];
    let sides = [-8.0f32, 0.0, 8.0];
    for (slopes, of) in slopes.iter().zip([|x: f32| 2.0 * x, |x: f32| x.clamp(-1.0, 1.0), |x: f32| x.clamp(-3.0, 3.0)])
    {
        assert_eq!(slopes.strides(), [4, 1]);
        let want: Vec<f32> = sides.iter().flat_map(|&x| [of(x); 4]).collect();
        assert_eq!(slopes.to_vec::<f32>()?, want);
    }
    let mut out = empty(DType::F32);
    ops::mse_loss_backward_out(&one, &by_columns, &b, 0, &mut out)?;
    assert_eq!((out.sizes(), out.strides()), (&[3, 4][..], &[1, 3][..]));
    Ok(())
}

#[test]
fn a_mean_shares_the_gradient_and_is_of_the_input_and_not_of_what_it_is_broadcast_to() -> Result<()> {
    let [a, b] = rows()?;
    let one = Tensor::from_vec(vec![1.0f32], 1)?;
    let slope = ops::mse_loss_backward(&one, &a.i(0)?, &b, 1)?;
    assert_eq!(slope.sizes(), [3, 4]);
    assert_eq!(slope.to_vec::<f32>()?[..4], [-4.0; 4]);
    // PyTorch has gradients of integers, too, and rounds their share towards zero.
    let [ints, others] = [a.to(I64)?, b.to(I64)?];
    let slopes = ops::mse_loss_backward(&ints, &ints, &others, 2)?.to_vec::<i64>()?;
    assert_eq!(slopes[8..], [128, 144, 160, 176]);
    assert_eq!(ops::mse_loss_backward(&ints, &ints, &others, 1)?.to_vec::<i64>()?, [0; 12]);
    Ok(())
}

#[test]
fn huber_losses_have_the_dtype_and_the_strides_of_the_input() -> Result<()> {
    let [a, b] = rows()?;
    let losses = ops::huber_loss_with(
        &a.t()?.contiguous()?.t()?,
        &b.to(F64)?,
        HuberLoss { reduction: 0, ..Default::default() },
    )?;
    assert_eq!((losses.dtype(), losses.strides()), (F32, &[1, 3][..]));
    assert_eq!(losses.to_vec::<f32>()?, [7.5, 7.5, 7.5, 7.5, 0.0, 0.0, 0.0, 0.0, 7.5, 7.5, 7.5, 7.5]);
    let by_another_number = HuberLoss { reduction: 3, ..Default::default() };
    assert_eq!(ops::huber_loss_with(&a, &b, by_another_number)?.sizes(), [3, 4]);
    let broadcast = ops::huber_loss_with(&a.i(0)?, &b, HuberLoss { reduction: 0, ..Default::default() })?;
    assert_eq!((broadcast.sizes(), broadcast.strides()), (&[3, 4][..], &[4, 1][..]));
    let error = ops::huber_loss_with(&a.to(I64)?, &b, HuberLoss { reduction: 0, ..Default::default() }).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cast { from: DType::F32, to: DType::I64 }), "{error}");
    Ok(())
}

#[test]
fn outputs_decide_in_which_dtype_losses_are_reduced_unless_it_cannot_hold_them() -> Result<()> {
    let [a, b] = rows()?;
    for reduction in [1, 2] {
        let mut out = Tensor::<Cpu>::zeros_contiguous(DType::F64, &[5])?;
        ops::mse_loss_out_with(&a, &b, MseLoss { reduction, ..Default::default() }, &mut out)?;
        let want = if reduction == 1 { 128.0 / 3.0 } else { 512.0 };
        assert_eq!((out.sizes().len(), out.at::<f64>(())?), (0, want));
        let mut out = Tensor::<Cpu>::zeros_contiguous(DType::I64, &[5])?;
        let options = SmoothL1Loss { reduction, ..Default::default() };
        let error = ops::smooth_l1_loss_out_with(&a, &b, options, &mut out).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Cast { from: DType::F32, to: DType::I64 }), "{error}");
        assert_eq!(out.sizes(), [5]);
    }
    Ok(())
}

#[test]
fn nan_stays_and_no_difference_counts_as_below_where_there_is_no_parabola() -> Result<()> {
    let x = tensor![f32::NAN, f32::INFINITY, 0.0, 1.0];
    let zero = x.zeros_like()?;
    let slopes = ops::smooth_l1_loss_backward(&zero.add(1.0)?, &x, &zero, 0, 0.0)?.to_vec::<f32>()?;
    assert!(slopes[0].is_nan());
    assert_eq!(slopes[1..], [1.0, -1.0, 1.0]);
    for losses in [
        ops::smooth_l1_loss_with(&x, &zero, SmoothL1Loss { reduction: 0, ..Default::default() })?,
        ops::huber_loss_with(&x, &zero, HuberLoss { reduction: 0, ..Default::default() })?,
    ] {
        let losses = losses.to_vec::<f32>()?;
        assert!(losses[0].is_nan());
        assert_eq!(losses[1..], [f32::INFINITY, 0.0, 0.5]);
    }
    Ok(())
}

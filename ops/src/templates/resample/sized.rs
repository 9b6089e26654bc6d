//! Resampling to a size, or by a factor: the forms that PyTorch calls `vec`.

use super::{ResampleFn, ResampleInputs, Resampled, Resizing};
use monomorph_core::structured::{Executes, Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The operator of `F`, given a size or factors.
pub struct Sized<F>(PhantomData<fn() -> F>);

type Lists<'t> = (Option<&'t [i64]>, Option<&'t [f64]>);

/// Calls the operator with the size, and the factors as scales.
fn called<'t, F, D, S>(operand: Operand<'t>, lists: Lists<'t>, align_corners: bool, sink: S) -> Result<S::Value>
where
    F: ResampleFn,
    D: Executes<Resampled<F>>,
    S: ValueSink<'t, D>,
{
    let mut resizing = resizing(operand.sizes(), lists, F::DIMS).map_err(|e: Error| e.of(F::NAME))?;
    resizing.align_corners = align_corners;
    let inputs = ResampleInputs::new(operand, resizing);
    monomorph_core::structured::call::<Resampled<F>, D, S>(&inputs, sink).map(S::value::<Resampled<F>>)
}

impl<'t, F, D, A> Operator<'t, D, (A, Option<&'t [i64]>, Option<&'t [f64]>)> for Sized<F>
where
    F: ResampleFn,
    D: Executes<Resampled<F>>,
    A: Into<Operand<'t>>,
{
    fn call<S: ValueSink<'t, D>>(
        (operand, size, factors): (A, Option<&'t [i64]>, Option<&'t [f64]>),
        sink: S,
    ) -> Result<S::Value> {
        called::<F, D, S>(operand.into(), (size, factors), false, sink)
    }
}

impl<'t, F, D, A> Operator<'t, D, (A, Option<&'t [i64]>, bool, Option<&'t [f64]>)> for Sized<F>
where
    F: ResampleFn,
    D: Executes<Resampled<F>>,
    A: Into<Operand<'t>>,
{
    fn call<S: ValueSink<'t, D>>(
        (operand, size, align, factors): (A, Option<&'t [i64]>, bool, Option<&'t [f64]>),
        sink: S,
    ) -> Result<S::Value> {
        called::<F, D, S>(operand.into(), (size, factors), align, sink)
    }
}

/// The size, and the factors if these were given. Exactly one of the lists may be given, with one entry per dimension
/// after the second.
fn resizing<'t>(input: &[i64], (size, factors): Lists<'t>, dims: usize) -> Result<Resizing<'t>> {
    let want = input.len().saturating_sub(2);
    let check = |arg, got| if got == want { Ok(()) } else { Err(ErrorKind::ListLength { arg, got, want }) };
    match (size, factors) {
        (Some(size), None) => {
            check("output_size", size.len())?;
            Ok(Resizing { output_size: size.into(), ..Resizing::default() })
        }
        (None, Some(factors)) => {
            check("scale_factors", factors.len())?;
            let grown = |(&size, &factor): (&i64, &f64)| -> Result<i64> {
                let size = size as f64 * factor;
                // 2^63 is the first float64 that an int64 cannot hold.
                let limit = -(i64::MIN as f64);
                if (-limit..limit).contains(&size) {
                    return Ok(size as i64);
                }
                let got = factor.to_string();
                Err(ErrorKind::NumberRange { arg: "scale_factors", got, dtype: DType::I64 }.into())
            };
            let outer = input.len() - want;
            let output_size: SmallVec<[i64; 3]> =
                input[outer..].iter().zip(factors).map(grown).collect::<Result<_>>()?;
            let scale = |d: usize| factors.get(d).copied().filter(|_| d < dims);
            Ok(Resizing { output_size, scales: [scale(0), scale(1), scale(2)], ..Resizing::default() })
        }
        _ => Err(ErrorKind::ArgumentRule { rule: "exactly one of output_size and scale_factors must be given" }.into()),
    }
}

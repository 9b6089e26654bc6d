//! Norms of vectors: the operators, which choose a fold by the order.

use super::norm::{NormMaxFn, NormMinFn, NormOneFn, NormPowerFn, NormTwoFn, NormTwoScaledFn};
use crate::kernels::Norms;
use crate::prebuilt::Reduce;
use crate::reduce::{Dims, ReduceFn, ReduceInputs};
use crate::table::native;
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{Executes, Operand, Operator, ValueSink, call};
use monomorph_core::{DType, Device, ErrorKind, Result, Scalar};

/// A number without an imaginary part.
pub(super) fn real(number: Scalar) -> Result<f64> {
    let value = number.to_complex();
    if value.im != 0.0 {
        let rule = "found a complex number as the order or the correction; accepted are real numbers";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    Ok(value.re)
}

/// `linalg_vector_norm`: the fold for the order.
pub struct VectorNorm;

type Args<'t> = (Operand<'t>, Scalar, Option<&'t [i64]>, bool, Option<DType>);

impl VectorNorm {
    fn fold<'t, F, D, S>((x, _, dims, keepdim, dtype): Args<'t>, order: f64, sink: S) -> Result<S::Value>
    where
        F: ReduceFn,
        D: Device + Executes<Reduce<F>>,
        S: ValueSink<'t, D>,
    {
        let dims = dims.map_or(Dims::All, Dims::List);
        let inputs = ReduceInputs::told(x, (dims, keepdim), (dtype, false), [order, 0.0]);
        call::<Reduce<F>, D, S>(&inputs, sink).map(S::value::<Reduce<F>>)
    }
}

/// `linalg__powsum`: the sum of powers of absolute values, of which a norm is the root.
pub struct PowerSum;

impl<'t, D: Norms> Operator<'t, D, Args<'t>> for PowerSum {
    fn call<S: ValueSink<'t, D>>((x, order, dims, keepdim, dtype): Args<'t>, sink: S) -> Result<S::Value> {
        // An infinite power is that of any large number, by which the logarithm of 1 is still 0.
        let numbers = [real(order)?.clamp(-1e30, 1e30), 1.0];
        if let Some(got) = dtype.or(x.dtype()).filter(|dtype| dtype.is_integral(true)) {
            let (what, accepted) = ("the elements have dtype", "floating and complex dtypes");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        let dims = dims.map_or(Dims::All, Dims::List);
        let inputs = ReduceInputs::told(x, (dims, keepdim), (dtype, false), numbers);
        call::<Reduce<NormPowerFn>, D, S>(&inputs, sink).map(S::value::<Reduce<NormPowerFn>>)
    }
}

/// What is wrong with the dtype of a tensor, or with the one that its elements are converted to.
pub(crate) fn check_dtype(got: DType, dtype: Option<DType>) -> Result<()> {
    let accepted = "floating and complex dtypes";
    if got.is_integral(true) {
        return Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got, accepted }.into());
    }
    if let Some(to) = dtype {
        if to.is_integral(true) {
            return Err(ErrorKind::DTypeNotSupported { what: "argument dtype is", got: to, accepted }.into());
        }
        if to.is_complex() != got.is_complex() || got.promote(to) != to {
            let rule = "argument dtype is real where the input is complex, complex where it is real, or narrower than \
                        the input; give one that holds all of its numbers";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
    }
    Ok(())
}

/// What is wrong with the dtypes, or with a reduction over no element by an order that says nothing of it.
fn check((x, _, dims, _, dtype): Args<'_>, order: f64) -> Result<()> {
    check_dtype(x.dtype().unwrap_or(DType::I64), dtype)?;
    let sizes = x.sizes();
    if sizes.contains(&0) && (order < 0.0 || order == f64::INFINITY) {
        let Some(list) = dims.filter(|list| !list.is_empty()) else { return Err(ErrorKind::EmptyInput.into()) };
        for &dim in list {
            let dim = wrap_dim(dim, sizes.len(), "dim")?;
            if sizes[dim] == 0 {
                return Err(ErrorKind::EmptyReduction { dim: dim as i64 }.into());
            }
        }
    }
    Ok(())
}

/// Whether no dtype is wider than that of the elements, in which squares would neither over- nor underflow.
fn has_widest_squares((x, _, _, _, dtype): Args<'_>) -> bool {
    matches!(dtype.or(x.dtype()), Some(DType::F64 | DType::C128))
}

impl<'t, D: Norms> Operator<'t, D, Args<'t>> for VectorNorm {
    fn call<S: ValueSink<'t, D>>(args: Args<'t>, sink: S) -> Result<S::Value> {
        let order = real(args.1)?;
        check(args, order)?;
        match order {
            2.0 if has_widest_squares(args) => Self::fold::<NormTwoScaledFn, D, S>(args, order, sink),
            2.0 => Self::fold::<NormTwoFn, D, S>(args, order, sink),
            1.0 => Self::fold::<NormOneFn, D, S>(args, order, sink),
            f64::INFINITY => Self::fold::<NormMaxFn, D, S>(args, order, sink),
            f64::NEG_INFINITY => Self::fold::<NormMinFn, D, S>(args, order, sink),
            _ => Self::fold::<NormPowerFn, D, S>(args, order, sink),
        }
    }
}

/// `norm`: the same, of order 2 where none is given.
pub struct Norm;

impl Norm {
    fn of<'t, D: Norms, S: ValueSink<'t, D>>(
        (x, order, dims, keepdim, dtype): (Operand<'t>, Option<Scalar>, Option<&'t [i64]>, bool, Option<DType>),
        sink: S,
    ) -> Result<S::Value> {
        let order = order.unwrap_or(Scalar::Int(2));
        <VectorNorm as Operator<'t, D, Args<'t>>>::call((x, order, dims, keepdim, dtype), sink)
    }
}

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, Option<Scalar>, DType)> for Norm {
    fn call<S: ValueSink<'t, D>>((x, order, dtype): (Operand<'t>, Option<Scalar>, DType), sink: S) -> Result<S::Value> {
        Self::of::<D, S>((x, order, None, false, Some(dtype)), sink)
    }
}

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, Option<Scalar>, &'t [i64], bool)> for Norm {
    fn call<S: ValueSink<'t, D>>(
        (x, order, dims, keepdim): (Operand<'t>, Option<Scalar>, &'t [i64], bool),
        sink: S,
    ) -> Result<S::Value> {
        Self::of::<D, S>((x, order, Some(dims), keepdim, None), sink)
    }
}

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, Option<Scalar>, &'t [i64], bool, DType)> for Norm {
    fn call<S: ValueSink<'t, D>>(
        (x, order, dims, keepdim, dtype): (Operand<'t>, Option<Scalar>, &'t [i64], bool, DType),
        sink: S,
    ) -> Result<S::Value> {
        Self::of::<D, S>((x, order, Some(dims), keepdim, Some(dtype)), sink)
    }
}

/// `frobenius_norm`: of order 2.
pub struct FrobeniusNorm;

impl<'t, D: Norms> Operator<'t, D, (Operand<'t>, &'t [i64], bool)> for FrobeniusNorm {
    fn call<S: ValueSink<'t, D>>((x, dims, keepdim): (Operand<'t>, &'t [i64], bool), sink: S) -> Result<S::Value> {
        if dims.len() > 2 {
            return Err(ErrorKind::ListLength { arg: "dim", got: dims.len(), want: 2 }.into());
        }
        Norm::of::<D, S>((x, None, Some(dims), keepdim, None), sink)
    }
}

native! {
    family: Norms;

    structured: Reduce<NormTwoFn>;

    structured: Reduce<NormTwoScaledFn>;

    structured: Reduce<NormOneFn>;

    structured: Reduce<NormMaxFn>;

    structured: Reduce<NormMinFn>;

    structured: Reduce<NormPowerFn>;

    /// The norm of the elements along the dimensions `dim` as one vector; all of them without the option `dim`.
    ///
    /// The order `ord` is 2 unless it is given: the root of the sum of squares, which over- or underflows only where
    /// the norm does. 1 is the sum of absolute values, infinity the largest and minus infinity the smallest of them, 0
    /// the number of elements that are not 0, and any other p the p-th root of the sum of p-th powers. The dimensions
    /// go, or become 1 with `keepdim`. The dtype stays, but that of complex numbers becomes real; the option `dtype`
    /// converts the elements first. Integers and bool are an error, and so is a smallest or largest of no elements.
    ///
    /// ```
    /// let x = tensor![[3.0f32, 4.0], [0.0, -1.0]];
    /// let rows = LinalgVectorNorm { dim: Some(&[1]), ..Default::default() };
    /// assert_eq!(x.linalg_vector_norm_with(2, rows)?.to_vec::<f32>()?, [5.0, 1.0]);
    /// assert_eq!(x.linalg_vector_norm(1)?.at::<f32>(())?, 8.0);
    /// ```
    func: linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
        -> Tensor,
    out: linalg_vector_norm.out, variants: function, positional: [ord], operator: VectorNorm;

    func: linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
        -> Tensor,
    operator: PowerSum;

    func: norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor,
    autogen: norm.ScalarOpt_dtype_out, operator: Norm;

    func: norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor,
    out: norm.out, operator: Norm;

    func: norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor,
    out: norm.dtype_out, operator: Norm;

    func: frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor,
    out: frobenius_norm.out, operator: FrobeniusNorm;
}

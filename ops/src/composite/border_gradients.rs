//! Gradients of tensors that were continued beyond their edges: what lies beyond is added to the elements that are seen
//! there, in the order of the elements of the gradient. Sums of half dtypes are rounded one by one, as PyTorch's are.
#![deny(clippy::arithmetic_side_effects)]

use super::border::{Beyond, padded, paddings};
use super::callees::{Callees, Fillers, Typed};
use super::steps::Steps;
use crate::pad_gradient::{PadGradient, PadGradientInputs, ShownAxis};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::{Functional, call};
use monomorph_core::{AnyTensor, DType, ErrorKind, MemoryFormat, Result, Scalar, Tensor};
use smallvec::SmallVec;

/// A composition that adds up what shows an element.
pub trait Folds: Callees {
    /// The gradient of a tensor in `format` whose last dimensions were continued so, of the gradient of that.
    fn folded(&self, grad: &Self::Tensor, axes: &[ShownAxis], format: MemoryFormat) -> Result<Self::Tensor>;
}

impl Folds for Calls<'_> {
    fn folded(&self, grad: &AnyTensor, axes: &[ShownAxis], format: MemoryFormat) -> Result<AnyTensor> {
        let outer = outer_of(grad, axes);
        let sizes: DimVec = outer.iter().copied().chain(axes.iter().map(|axis| axis.size)).collect();
        let sum = self.empty(&sizes, grad.dtype(), grad.device(), format)?;
        self.fill(sum.clone(), Scalar::Int(0))?;
        // Conjugates have no parts to view.
        let grad = if grad.is_conj() { self.unary("resolve_conj", grad.clone())? } else { grad.clone() };
        add_shown(self, &sum, &grad, outer.len(), axes)?;
        Ok(sum)
    }
}

impl<D: crate::kernels::BorderGradients> Folds for Typed<D> {
    fn folded(&self, grad: &Tensor<D>, axes: &[ShownAxis], format: MemoryFormat) -> Result<Tensor<D>> {
        let outer = outer_of(grad.as_any(), axes);
        // Without a batch the format takes another dimension for that of the channels.
        let made = if outer.len() == 2 { format } else { MemoryFormat::Contiguous };
        let inputs = PadGradientInputs::new(grad.into(), outer, axes, made);
        let [sum] = call::<PadGradient, D, _>(&inputs, Functional::<D, 1>::default())?;
        if made == format { Ok(sum) } else { self.cloned(&sum, format) }
    }
}

/// The sizes before those dimensions.
fn outer_of<'a>(grad: &'a AnyTensor, axes: &[ShownAxis]) -> &'a [i64] {
    let outer = grad.ndim().saturating_sub(axes.len());
    grad.sizes().get(..outer).unwrap_or_default()
}

/// Adds every element of `grad` to the one of `sum` that it shows, in their order, along the dimensions from `dim` on.
fn add_shown(calls: &Calls<'_>, sum: &AnyTensor, grad: &AnyTensor, dim: usize, axes: &[ShownAxis]) -> Result<()> {
    let Some((axis, rest)) = axes.split_first() else {
        // A complex 1 times an infinity is NaN in part, so complex numbers are added by their parts.
        let parts = |t: &AnyTensor| match t.dtype().is_complex() {
            true => calls.unary("view_as_real", t.clone()),
            false => Ok(t.clone()),
        };
        return calls.tensor("add_.Tensor", [parts(sum)?.into(), parts(grad)?.into(), 1.into()]).map(drop);
    };
    let mut start = 0_i64;
    for run in axis.runs.iter().filter(|run| run.length > 0) {
        let part = calls.narrow(grad, dim, start, run.length)?;
        start = start.saturating_add(run.length);
        let behind = |place: &AnyTensor, part: &AnyTensor| add_shown(calls, place, part, dim.saturating_add(1), rest);
        match run.step {
            1 => behind(&calls.narrow(sum, dim, run.first, run.length)?, &part)?,
            -1 => {
                let first = run.first.saturating_sub(run.length).saturating_add(1);
                let place = calls.narrow(sum, dim, first, run.length)?;
                behind(&place, &Callees::flip(calls, &part, &[dim as i64])?)?;
            }
            _ => {
                let place = calls.narrow(sum, dim, run.first, 1)?;
                match grad.dtype() {
                    DType::F16 | DType::BF16 => {
                        (0..run.length).try_for_each(|i| behind(&place, &calls.narrow(&part, dim, i, 1)?))?;
                    }
                    _ => behind(&place, &calls.sum(part, &[dim as i64], true)?)?,
                }
            }
        }
    }
    Ok(())
}

/// The gradient of an operator over the last `N` dimensions.
fn folded<C: Folds, const N: usize>(
    calls: &C,
    (grad, this): (&C::Tensor, &C::Tensor),
    pad: &[i64],
    beyond: Beyond,
) -> Result<C::Tensor> {
    let (g, t) = (C::any(grad), C::any(this));
    let paddings = paddings::<N>(t, pad, beyond)?;
    let want = padded(t.sizes(), &paddings)?;
    if g.sizes() != &*want {
        let (got, want) = (g.sizes().to_vec(), want.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "grad_output", got, want }.into());
    }
    if g.dtype() != t.dtype() {
        let (got, want) = (g.dtype(), t.dtype());
        return Err(ErrorKind::DTypeMismatch { arg: "grad_output", got, want }.into());
    }
    if !t.dtype().is_floating() && !t.dtype().is_complex() {
        let (what, got) = ("argument self has dtype", t.dtype());
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "floating-point and complex dtypes" }.into());
    }
    let axes: SmallVec<[ShownAxis; 3]> = paddings.iter().rev().map(|p| p.shown(beyond)).collect();
    calls.folded(grad, &axes, strides::suggest_format(t.sizes(), t.strides()))
}

macro_rules! over_the_last {
    ($($dims:literal: $name:ident, $beyond:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub fn $name<C: Folds>(
            calls: &C,
            grad: &C::Tensor,
            this: &C::Tensor,
            padding: &[i64],
        ) -> Result<C::Tensor> {
            folded::<C, $dims>(calls, (grad, this), padding, Beyond::$beyond)
        }
    )*};
}
over_the_last! {
    1: reflection_pad1d_backward, Reflection;
    2: reflection_pad2d_backward, Reflection;
    3: reflection_pad3d_backward, Reflection;
    1: replication_pad1d_backward, Edge;
    2: replication_pad2d_backward, Edge;
    3: replication_pad3d_backward, Edge;
}

native! {
    family: BorderGradients, functions: crate::kernels::AllKernels;

    structured: PadGradient;

    func: reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor,
    autogen: reflection_pad1d_backward.grad_input,
    direct: true, composed: explicit reflection_pad1d_backward;

    func: reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor,
    out_restrided: reflection_pad2d_backward.grad_input,
    direct: true, composed: explicit reflection_pad2d_backward;

    func: reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor,
    out_restrided: reflection_pad3d_backward.grad_input,
    direct: true, composed: explicit reflection_pad3d_backward;

    func: replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor,
    autogen: replication_pad1d_backward.grad_input,
    direct: true, composed: explicit replication_pad1d_backward;

    func: replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor,
    out_restrided: replication_pad2d_backward.grad_input,
    direct: true, composed: explicit replication_pad2d_backward;

    func: replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor,
    out_restrided: replication_pad3d_backward.grad_input,
    direct: true, composed: explicit replication_pad3d_backward;
}

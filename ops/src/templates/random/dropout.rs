//! Dropout and its kin: elements, or whole planes, that are dropped at random. Compositions over `bernoulli_`;
//! `native_dropout`, which has two results, is a function, of which alone forms into several outputs are generated.

use super::fills::bernoulli_;
use super::rule::holds;
use crate::composite::tensor;
use crate::copies::{clone_tensor, to_dtype};
use crate::factory::{empty_like, full_like};
use crate::functions::{mul, mul_};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, Error, ErrorKind, IValue, MemoryFormat, Result, Tensor, observe};

/// Fills a tensor with one, with this probability, and zero.
fn kept(calls: &Calls<'_>, place: AnyTensor, p: f64) -> Result<AnyTensor> {
    calls.tensor("bernoulli_.float", [place.into(), p.into(), IValue::None])
}

/// A tensor like another one, of this dtype.
fn like(calls: &Calls<'_>, t: &AnyTensor, dtype: DType) -> Result<AnyTensor> {
    let none = || IValue::None;
    calls.tensor("empty_like", [t.clone().into(), dtype.into(), none(), none(), none(), none()])
}

/// What is dropped together, and what is done with what stays.
#[derive(Clone, Copy)]
struct Kind {
    /// Whole planes: all elements of a channel.
    is_feature: bool,
    /// Mean and variance of SELU's results stay.
    is_alpha: bool,
    in_place: bool,
}

const PLAIN: Kind = Kind { is_feature: false, is_alpha: false, in_place: false };

impl Kind {
    fn multiplied(self, calls: &Calls<'_>, t: &AnyTensor, by: AnyTensor) -> Result<AnyTensor> {
        let name = if self.in_place { "mul_.Tensor" } else { "mul.Tensor" };
        calls.tensor(name, [t.clone().into(), by.into()])
    }

    fn noise(self, calls: &Calls<'_>, t: &AnyTensor) -> Result<AnyTensor> {
        if !self.is_feature {
            return like(calls, t, t.dtype());
        }
        if t.ndim() < 2 {
            return Err(ErrorKind::DimCount { arg: "input", got: t.ndim(), accepted: "2 or more" }.into());
        }
        let sizes = t.sizes().iter().enumerate().map(|(d, &size)| if d < 2 { size } else { 1 }).collect();
        let format = MemoryFormat::Contiguous.into();
        let options = [IValue::Ints(sizes), t.dtype().into(), IValue::None, t.device().into(), IValue::None, format];
        calls.tensor("empty.memory_format", options)
    }

    fn run(self, calls: &Calls<'_>, input: &IValue, p: f64, train: bool) -> Result<AnyTensor> {
        let t = tensor(input, "input")?;
        holds((0.0..=1.0).contains(&p), "argument p is no probability; accepted is 0 <= p <= 1")?;
        if p == 0.0 || !train || t.numel() == 0 {
            return Ok(t.clone());
        }
        if p == 1.0 {
            let (sizes, dtype, none) = (IValue::Ints(Vec::new()), t.dtype().into(), IValue::None);
            let zero = calls.tensor("zeros", [sizes, dtype, none.clone(), t.device().into(), none])?;
            return self.multiplied(calls, t, zero);
        }
        let noise = kept(calls, self.noise(calls, t)?, 1.0 - p)?;
        if !self.is_alpha {
            let noise = calls.tensor("div_.Tensor", [noise.into(), (1.0 - p).into()])?;
            return self.multiplied(calls, t, noise);
        }
        // The negative limit of SELU, to which elements are dropped, and the slope that keeps the variance.
        let alpha = 1.7580993408473766;
        let a = 1.0 / ((alpha * alpha * p + 1.0) * (1.0 - p)).sqrt();
        let add = |name: &str, t: AnyTensor, by: IValue| calls.tensor(name, [t.into(), by, 1i64.into()]);
        let b = add("add.Tensor", noise.clone(), (-1i64).into())?;
        let b = calls.tensor("mul_.Tensor", [b.into(), (alpha * a).into()])?;
        let b = add("add_.Tensor", b, (alpha * a * p).into())?;
        let noise = calls.tensor("mul_.Tensor", [noise.into(), a.into()])?;
        add("add_.Tensor", self.multiplied(calls, t, noise)?, b.into())
    }
}

/// Each kind as a function of a composition, and in place.
macro_rules! kinds {
    ($($name:ident $in_place:ident $kind:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub fn $name(calls: &Calls<'_>, input: &IValue, p: f64, train: bool) -> Result<AnyTensor> {
            $kind.run(calls, input, p, train)
        }

        #[doc = concat!("`", stringify!($in_place), "`.")]
        pub fn $in_place(calls: &Calls<'_>, this: &IValue, p: f64, train: bool) -> Result<AnyTensor> {
            Kind { in_place: true, ..$kind }.run(calls, this, p, train)
        }
    )*};
}
kinds! {
    dropout dropout_ PLAIN;
    feature_dropout feature_dropout_ Kind { is_feature: true, ..PLAIN };
    alpha_dropout alpha_dropout_ Kind { is_alpha: true, ..PLAIN };
    feature_alpha_dropout feature_alpha_dropout_ Kind { is_feature: true, is_alpha: true, ..PLAIN };
}

/// `native_dropout`: the result, and which elements stay.
pub fn native_dropout<D: AllKernels>(input: &Tensor<D>, p: f64, train: Option<bool>) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("native_dropout", [input.geometry()]);
    if input.numel() == 0 {
        return Ok((input.clone(), empty_like(input, None, None, None, None, None)?));
    }
    if train == Some(false) {
        return Ok((clone_tensor(input, None)?, full_like(input, 1, Some(DType::Bool), None, None, None, None)?));
    }
    let stay = 1.0 - p;
    let scale = if stay == 0.0 { 0.0 } else { 1.0 / stay };
    let mut mask = empty_like(input, Some(DType::Bool), None, None, None, None)?;
    bernoulli_(&mut mask, stay, None).map_err(|e: Error| e.called("native_dropout"))?;
    let mut out = mul(input, &mask)?;
    mul_(&mut out, scale)?;
    Ok((out, mask))
}

/// `native_dropout_backward`: what stayed, scaled alike.
pub fn native_dropout_backward<D: AllKernels>(grad: &Tensor<D>, mask: &Tensor<D>, scale: f64) -> Result<Tensor<D>> {
    let _span = observe::operator("native_dropout_backward", [grad.geometry(), mask.geometry()]);
    let scaled = || mul(grad, &mul(&to_dtype(mask, grad.dtype(), false, false, None)?, scale)?);
    scaled().map_err(|e: Error| e.called("native_dropout_backward"))
}

native! {
    family: Dropouts, functions: AllKernels;

    func: native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor),
    autogen: native_dropout.out, kernel: native_dropout, silent_view: true;

    func: native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor,
    autogen: native_dropout_backward.out, kernel: native_dropout_backward;

    func: dropout(Tensor input, float p, bool train) -> Tensor,
    composite: implicit dropout, silent_view: true;

    func: dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!),
    composite: implicit dropout_;

    func: feature_dropout(Tensor input, float p, bool train) -> Tensor,
    composite: implicit feature_dropout, silent_view: true;

    func: feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!),
    composite: implicit feature_dropout_;

    func: alpha_dropout(Tensor input, float p, bool train) -> Tensor,
    composite: implicit alpha_dropout, silent_view: true;

    func: alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!),
    composite: implicit alpha_dropout_;

    func: feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor,
    composite: implicit feature_alpha_dropout, silent_view: true;

    func: feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!),
    composite: implicit feature_alpha_dropout_;
}

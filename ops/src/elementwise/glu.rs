//! glu, the first half of a dimension gated by the second, and its backward.

use crate::algebra::{Hyperbolic, Real as HasReal};
use crate::arithmetic::MulFn;
use crate::factory::empty_like;
use crate::kernels::{Arithmetic, Glu};
use crate::pointwise::{Common, Map, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::{native, resized};
use crate::view::narrow;
use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::strides::{broadcast_sizes, wrap_dim};
use monomorph_core::structured::{Functional, Out};
use monomorph_core::{Device, ErrorKind, MemoryFormat, Result, Scalar, Tensor, observe};

pointwise! { GluFn "glu": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: HasReal + Hyperbolic> Map<V> for GluFn {
    #[inline(always)]
    fn eval([a, gate]: [V; 2], (): ()) -> V {
        a * gate.sigmoid()
    }
}

pointwise! { GluGateBackwardFn "glu_backward": Reals, Same<3>; () => Common; Rule::TERNARY }
impl<V: HasReal + Hyperbolic> Map<V> for GluGateBackwardFn {
    #[inline(always)]
    fn eval([part, a, grad]: [V; 3], (): ()) -> V {
        (V::one() - part) * part * a * grad
    }
}

/// Both halves of a tensor along a dimension.
fn halves<D: Device>(this: &Tensor<D>, dim: i64) -> Result<[Tensor<D>; 2]> {
    if this.ndim() == 0 {
        let accepted = "1 or more; glu halves one of them";
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted }.into());
    }
    let place = wrap_dim(dim, this.ndim(), "dim")?;
    let size = this.sizes()[place];
    if size % 2 != 0 {
        let rule = "the dimension must have an even size to be halved";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let half = |start| this.with_geometry(narrow(this.geometry(), dim, start, size / 2)?);
    Ok([half(0)?, half(size / 2)?])
}

/// `glu`: the first half of a dimension, times the sigmoid of the second.
pub fn glu<D: Glu>(this: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("glu", [this.geometry()]);
    let [a, gate] = halves(this, dim).map_err(|e| e.of("glu"))?;
    let [out] = run::<GluFn, D, _, _>((&a, &gate), Functional::<D, 1>::default())?;
    Ok(out)
}

/// `glu.out`.
pub fn glu_out<D: Glu>(this: &Tensor<D>, dim: i64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("glu", [this.geometry(), out.geometry()]);
    let [a, gate] = halves(this, dim).map_err(|e| e.of("glu"))?;
    run::<GluFn, D, _, _>((&a, &gate), Out([out])).map(drop)
}

/// `glu_backward`.
pub fn glu_backward<D: Glu + Arithmetic>(grad: &Tensor<D>, this: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("glu_backward", [grad.geometry(), this.geometry()]);
    let halves = check_glu_backward(grad, this, dim).map_err(|e| e.of("glu_backward"))?;
    let out = empty_like(this, None, None, None, None, Some(MemoryFormat::Contiguous))?;
    glu_backward_into(grad, &halves, self::halves(&out, dim)?)?;
    Ok(out)
}

/// `glu_backward.grad_input`.
pub fn glu_backward_out<D: Glu + Arithmetic>(
    grad: &Tensor<D>,
    this: &Tensor<D>,
    dim: i64,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("glu_backward", [grad.geometry(), this.geometry(), out.geometry()]);
    let into = |out: &mut Tensor<D>| {
        if out.dtype() != this.dtype() {
            return Err(ErrorKind::OutputDType { index: 0, got: out.dtype(), want: this.dtype() }.into());
        }
        let halves = check_glu_backward(grad, this, dim)?;
        resized(out, this.sizes(), |out| {
            let into = self::halves(out, dim)?;
            check_glu_overlap(grad, &halves, &into)?;
            glu_backward_into(grad, &halves, into)
        })
    };
    into(out).map_err(|e| e.of("glu_backward"))
}

/// Both halves of the input, of whose dtype the gradient is to be, and which it is not to exceed.
fn check_glu_backward<D: Device>(grad: &Tensor<D>, this: &Tensor<D>, dim: i64) -> Result<[Tensor<D>; 2]> {
    let halves = halves(this, dim)?;
    if grad.dtype() != this.dtype() {
        let rule = "grad_output and self must have one dtype; cast one of them";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let want = halves[0].sizes();
    let broadcast = broadcast_sizes(grad.sizes(), want)?;
    if broadcast.as_slice() != want {
        return Err(ErrorKind::OutputSize { index: 0, got: want.to_vec(), want: broadcast.to_vec() }.into());
    }
    Ok(halves)
}

/// What the three steps of [`glu_backward_into`] would refuse, found before the first of them writes.
fn check_glu_overlap<D: Device>(
    grad: &Tensor<D>,
    [a, gate]: &[Tensor<D>; 2],
    [by_a, by_gate]: &[Tensor<D>; 2],
) -> Result<()> {
    let overlaps = |out: &Tensor<D>, from: &Tensor<D>| {
        let [a, b] = [out, from].map(|t| Place::of(t.as_operand(), t.geometry()));
        overlap::shared(&a, &b) == Shared::Partial
    };
    for (index, out) in [by_a, by_gate].into_iter().enumerate() {
        if overlap::internal(out.sizes(), out.strides()) == Internal::Yes {
            let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
            return Err(ErrorKind::InternalOverlap { index, sizes, strides }.into());
        }
    }
    let steps = [
        (by_a, gate, "the gate"),
        (by_gate, by_a, "the gradient of the other half"),
        (by_gate, a, "the first half of the input"),
        (by_gate, grad, "the gradient"),
        (by_a, grad, "the gradient"),
    ];
    match steps.into_iter().find(|(out, from, _)| overlaps(out, from)) {
        Some((.., other)) => Err(ErrorKind::PartialOverlap { output: 0, other: other.into() }.into()),
        None => Ok(()),
    }
}

/// The gradient times the sigmoid of the second half, and the gradient by that half. PyTorch writes the sigmoid where
/// the former will be, and reads it there, rounded, for both; what it overwrites so, it reads overwritten.
fn glu_backward_into<D: Glu + Arithmetic>(
    grad: &Tensor<D>,
    [a, gate]: &[Tensor<D>; 2],
    [mut by_a, mut by_gate]: [Tensor<D>; 2],
) -> Result<()> {
    run::<GluFn, D, _, _>((Scalar::Int(1), gate), Out([&mut by_a]))?;
    run::<GluGateBackwardFn, D, _, _>((&by_a, a, grad), Out([&mut by_gate]))?;
    let part = by_a.clone();
    run::<MulFn, D, _, _>((&part, grad), Out([&mut by_a])).map(drop)
}

record! { GluFn "-: x x", Tame within 64: float |[a, b], []| a * record::logistic(b) }
record! { GluGateBackwardFn "-: x x x", Small within 4:
float |[s, a, g], []| (1.0 - s) * s * a * g }

native! {
    family: Glu, functions: crate::kernels::Glu + crate::kernels::Arithmetic;

    /// The gated linear unit: the first half of the dimension `dim` times the [`sigmoid`](super::functions::sigmoid) of
    /// the second one.
    ///
    /// `dim` is the last one by default; its size must be even, and is halved. Floats only.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 0.0, f32::INFINITY];
    /// assert_eq!(x.glu()?.to_vec::<f32>()?, [0.5, 2.0]);
    /// ```
    func: glu(Tensor self, int dim=-1) -> Tensor,
    variants: function, kernel: glu;

    /// [`glu`](super::functions::glu) into `out`.
    func: glu.out(Tensor self, int dim=-1, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: glu_out;

    /// The gradient of [`glu`](super::functions::glu) at `self`, which has its sizes.
    ///
    /// ```
    /// let x = tensor![4.0f32, 0.0];
    /// assert_eq!(ops::glu_backward(&tensor![2.0f32], &x, 0)?.to_vec::<f32>()?, [1.0, 2.0]);
    /// ```
    func: glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor,
    variants: function, kernel: glu_backward;

    /// [`glu_backward`](super::functions::glu_backward) into `grad_input`.
    func: glu_backward.grad_input(Tensor grad_output, Tensor self, int dim, *,
        Tensor(a!) grad_input) -> Tensor(a!),
    variants: function, kernel: glu_backward_out;

    structured: Pointwise<GluFn>;

    structured: Pointwise<GluGateBackwardFn>;
}

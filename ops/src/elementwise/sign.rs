//! Signs: sgn, sign, signbit, copysign, heaviside, and the conjugate of what is not real.

use crate::algebra::{Ordered as HasOrder, Real as HasReal, Signed, Signum};
use crate::kernels::Sign as Kernels;
use crate::pointwise::{AllDTypes, Common, Map, Ordered, Reals, Rule, Same, Truth, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Functional, Operand, Operator, ValueSink, in_place};
use monomorph_core::{Error, ErrorKind, Result, Tensor, observe};

pointwise! { SgnFn "sgn": AllDTypes, Same<1>; () => Common; Rule::UNARY }
impl<V: Signum> Map<V> for SgnFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sgn()
    }
}

pointwise! { ConjFn "conj_physical": AllDTypes, Same<1>; () => Common; Rule::UNARY.with_outputs_like::<AllDTypes>(0) }
impl<V: Signum> Map<V> for ConjFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.conj()
    }
}

pointwise! { SignbitFn "signbit": Ordered, Same<1>; () => Truth; Rule::UNARY_TRUTH }
impl<V: Signed> Map<V> for SignbitFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        a.is_negative()
    }
}

pointwise! { CopysignFn "copysign": Reals, Same<2>; () => Common; Rule::BINARY_FLOAT }
impl<V: HasReal> Map<V> for CopysignFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.copysign(b)
    }
}

pointwise! { HeavisideFn "heaviside": Ordered, Same<2>; () => Common; Rule::BINARY_EXACT }
impl<V: HasOrder> Map<V> for HeavisideFn {
    #[inline(always)]
    fn eval([a, at_zero]: [V; 2], (): ()) -> V {
        let (zero, one) = (V::from_bool(false), V::from_bool(true));
        V::select(a.eq(zero), at_zero, V::select(a.gt(zero), one, zero))
    }
}

/// `sign`: `sgn` of what is not complex.
pub struct Sign;

impl<'t, D: Kernels> Operator<'t, D, (Operand<'t>,)> for Sign {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        if let Some(got) = a.dtype().filter(|dtype| dtype.is_complex()) {
            let accepted = "bool, integers and floats; sgn is the sign of a complex number";
            let error = ErrorKind::DTypeNotSupported { what: "argument self has dtype", got, accepted };
            return Err(Error::new(error).of("sign"));
        }
        run::<SgnFn, D, _, S>((a,), sink)
    }
}

/// `conj_physical`: the conjugate written out; what is not complex is its own, and is returned itself.
pub fn conj_physical<D: Kernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    Ok(conjugate(this)?.unwrap_or_else(|| this.clone()))
}

/// `conj_physical`, or nothing where that is the tensor itself.
pub fn conjugate<D: Kernels>(this: &Tensor<D>) -> Result<Option<Tensor<D>>> {
    let _span = observe::operator("conj_physical", [this.geometry()]);
    if !this.dtype().is_complex() {
        return Ok(None);
    }
    let [conjugate] = run::<ConjFn, D, _, _>((this,), Functional::<D, 1>::default())?;
    Ok(Some(conjugate))
}

/// `conj_physical_`: the same in place.
pub fn conj_physical_<D: Kernels>(this: &mut Tensor<D>) -> Result<&mut Tensor<D>> {
    let _span = observe::operator("conj_physical_", [this.geometry()]);
    if !this.dtype().is_complex() {
        return Ok(this);
    }
    in_place(this, |input, sink, _| run::<ConjFn, D, _, _>((Operand::from(input),), sink))
}

record! { SgnFn "sgn: x", Any within 4: bool |[a], []| a, int |[a], []| a.signum(),
float |[a], []| if a > 0.0 { 1.0 } else if a < 0.0 { -1.0 } else { 0.0 },
complex |[a], []| if a.norm() == 0.0 { 0.0.into() } else { a / a.norm() } }
record! { ConjFn "_conj_physical: x", Any within 0: bool |[a], []| a, int |[a], []| a, float |[a], []| a,
complex |[a], []| a.conj() }
record! { SignbitFn "signbit: x", Any within 0:
bool |[_], []| false, int |[a], []| a < 0, float |[a], []| a.is_sign_negative() }
record! { CopysignFn "copysign.Tensor: x x", Any within 0: float |[a, b], []| a.copysign(b) }
record! { HeavisideFn "heaviside: x x", Any within 0:
bool |[a, b], []| a | b, int |[a, b], []| if a == 0 { b } else { (a > 0).into() },
float |[a, b], []| if a == 0.0 { b } else { f64::from(u8::from(a > 0.0)) } }

native! {
    family: Sign, functions: crate::Kernels;

    /// The sign elementwise: -1, 0 or 1; of a complex number, the one of absolute value 1 in its direction.
    ///
    /// The dtype stays. Of 0 it is 0.
    ///
    /// ```
    /// let x = tensor![-2.5f32, 0.0, 3.0];
    /// assert_eq!(x.sgn()?.to_vec::<f32>()?, [-1.0, 0.0, 1.0]);
    /// ```
    func: sgn(Tensor self) -> Tensor,
    inplace: sgn_, out: sgn.out, variants: function, method, structured: Pointwise<SgnFn>;

    /// The sign elementwise: -1, 0 or 1.
    ///
    /// The dtype stays. Complex numbers are an error: use [`sgn`](super::functions::sgn).
    ///
    /// ```
    /// let x = tensor![-2, 0, 3];
    /// assert_eq!(x.sign()?.to_vec::<i32>()?, [-1, 0, 1]);
    /// ```
    func: sign(Tensor self) -> Tensor,
    inplace: sign_, out: sign.out, variants: function, method, operator: Sign;

    /// Whether the sign bit is set, elementwise: that of -0, too.
    ///
    /// The result is bool. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-2.5f32, -0.0, 0.0];
    /// assert_eq!(x.signbit()?.to_vec::<bool>()?, [true, true, false]);
    /// ```
    func: signbit(Tensor self) -> Tensor,
    out: signbit.out, variants: function, method, structured: Pointwise<SignbitFn>;

    /// The absolute value of `self` with the sign of `other`, elementwise.
    ///
    /// The operands broadcast; the result has the dtype that they promote to, float32 where that is bool or an integer.
    /// The sign of 0 and -0 counts. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, -2.0];
    /// assert_eq!(x.copysign(-0.0)?.to_vec::<f32>()?, [-1.0, -2.0]);
    /// ```
    func: copysign.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: copysign_.Tensor, out: copysign.out, variants: function, method, structured: Pointwise<CopysignFn>;

    func: copysign.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: copysign_.Scalar, out: copysign.Scalar_out, structured: Pointwise<CopysignFn>;

    /// The step function elementwise: 0 where `self` is negative, 1 where it is positive, `values` where it is 0.
    ///
    /// The operands broadcast and have the same dtype. NaN counts as negative. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-1.0f32, 0.0, 2.0];
    /// assert_eq!(x.heaviside(&tensor![0.5f32])?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    /// ```
    func: heaviside(Tensor self, Tensor values) -> Tensor,
    inplace: heaviside_, out: heaviside.out, variants: function, method, structured: Pointwise<HeavisideFn>;

    func: _conj_physical(Tensor self) -> Tensor,
    autogen: _conj_physical.out, structured: Pointwise<ConjFn>;

    /// The conjugate of complex numbers, computed at once; a real tensor is itself.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![Complex32::new(1.0, 2.0)];
    /// assert_eq!(z.conj_physical()?.to_vec::<Complex32>()?, [Complex32::new(1.0, -2.0)]);
    /// ```
    func: conj_physical(Tensor self) -> Tensor,
    variants: function, kernel: conjugate else self, silent_view: true;

    /// [`conj_physical`](super::functions::conj_physical) in place.
    func: conj_physical_(Tensor(a!) self) -> Tensor(a!),
    variants: function, kernel: conj_physical_;

    /// [`conj_physical`](super::functions::conj_physical) into `out`.
    func: conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, structured: Pointwise<ConjFn>;
}

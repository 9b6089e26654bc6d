//! Powers by way of others: float_power, which computes in the widest dtypes, and ldexp, a product with a power of two.

use crate::copies::to_dtype;
use crate::functions;
use crate::kernels::Arithmetic;
use crate::power::{Powered, pow_scalar, pow_scalar_out};
use crate::table::native;
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar, Tensor, TensorOrNumber, observe};

/// A device with powers and products.
pub trait FloatPowers: Powered + Arithmetic + crate::kernels::Powers {}
impl<D: Powered + Arithmetic + crate::kernels::Powers> FloatPowers for D {}

fn wide<D: FloatPowers>(tensor: &Tensor<D>, dtype: DType) -> Result<Tensor<D>> {
    to_dtype(tensor, dtype, false, false, None)
}

/// The widest dtype of the operands' kind.
fn widest(dtypes: [DType; 2]) -> DType {
    if dtypes.iter().any(|dtype| dtype.is_complex()) { DType::C128 } else { DType::F64 }
}

/// A number of that dtype.
fn number(x: Scalar, dtype: DType) -> Scalar {
    if dtype.is_complex() { Scalar::Complex(x.to_complex()) } else { Scalar::Float(x.to_f64()) }
}

fn check_written(got: DType, want: DType) -> Result<()> {
    if got != want {
        return Err(Error::new(ErrorKind::OutputDType { index: 0, got, want }).of("float_power"));
    }
    Ok(())
}

/// `float_power.Tensor_Tensor`: a power in float64, or complex128 if an operand is complex.
pub fn float_power<D: FloatPowers>(this: &Tensor<D>, exponent: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("float_power", [this.geometry(), exponent.geometry()]);
    let dtype = widest([this.dtype(), exponent.dtype()]);
    functions::pow(&wide(this, dtype)?, &wide(exponent, dtype)?)
}

/// `float_power.Tensor_Tensor_out`.
pub fn float_power_out<D: FloatPowers>(this: &Tensor<D>, exponent: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("float_power", [this.geometry(), exponent.geometry(), out.geometry()]);
    let dtype = widest([this.dtype(), exponent.dtype()]);
    check_written(out.dtype(), dtype)?;
    functions::pow_out(&wide(this, dtype)?, &wide(exponent, dtype)?, out).map(drop)
}

/// `float_power_.Tensor`.
pub fn float_power_<'a, D: FloatPowers>(this: &'a mut Tensor<D>, exponent: &Tensor<D>) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("float_power_", [this.geometry(), exponent.geometry()]);
    let dtype = widest([this.dtype(), exponent.dtype()]);
    check_written(this.dtype(), dtype)?;
    functions::pow_(&mut *this, &wide(exponent, dtype)?)?;
    Ok(this)
}

/// `float_power.Tensor_Scalar`.
pub fn float_power_number<D: FloatPowers>(this: &Tensor<D>, exponent: impl Into<Scalar>) -> Result<Tensor<D>> {
    let _span = observe::operator("float_power", [this.geometry()]);
    let exponent = exponent.into();
    let dtype = widest([this.dtype(), exponent.dtype()]);
    let mut base = wide(this, dtype)?;
    // Dimensions of one element, or of none, keep strides in a conversion that they lose in a power.
    if this.dtype() == dtype || !base.geometry().is_ample() {
        return functions::pow(&base, number(exponent, dtype));
    }
    // Nobody else has it, and the power has its strides.
    functions::pow_(&mut base, number(exponent, dtype))?;
    Ok(base)
}

/// `float_power.Tensor_Scalar_out`.
pub fn float_power_number_out<D: FloatPowers>(
    this: &Tensor<D>,
    exponent: impl Into<Scalar>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("float_power", [this.geometry(), out.geometry()]);
    let exponent = exponent.into();
    let dtype = widest([this.dtype(), exponent.dtype()]);
    check_written(out.dtype(), dtype)?;
    functions::pow_out(&wide(this, dtype)?, number(exponent, dtype), out).map(drop)
}

/// `float_power_.Scalar`.
pub fn float_power_number_<D: FloatPowers>(
    this: &mut Tensor<D>,
    exponent: impl Into<Scalar>,
) -> Result<&mut Tensor<D>> {
    let _span = observe::operator("float_power_", [this.geometry()]);
    let exponent = exponent.into();
    let dtype = widest([this.dtype(), exponent.dtype()]);
    check_written(this.dtype(), dtype)?;
    functions::pow_(&mut *this, number(exponent, dtype))?;
    Ok(this)
}

/// `float_power` by a tensor or by a number.
pub fn float_power_of<D: FloatPowers>(this: &Tensor<D>, exponent: TensorOrNumber<'_, D>) -> Result<Tensor<D>> {
    match exponent {
        TensorOrNumber::Tensor(exponent) => float_power(this, exponent),
        TensorOrNumber::Number(exponent) => float_power_number(this, exponent),
    }
}

/// `float_power.out` by a tensor or by a number.
pub fn float_power_of_out<D: FloatPowers>(
    this: &Tensor<D>,
    exponent: TensorOrNumber<'_, D>,
    out: &mut Tensor<D>,
) -> Result<()> {
    match exponent {
        TensorOrNumber::Tensor(exponent) => float_power_out(this, exponent, out),
        TensorOrNumber::Number(exponent) => float_power_number_out(this, exponent, out),
    }
}

/// `float_power_` by a tensor or by a number.
pub fn float_power_of_<'a, D: FloatPowers>(
    this: &'a mut Tensor<D>,
    exponent: TensorOrNumber<'_, D>,
) -> Result<&'a mut Tensor<D>> {
    match exponent {
        TensorOrNumber::Tensor(exponent) => float_power_(this, exponent),
        TensorOrNumber::Number(exponent) => float_power_number_(this, exponent),
    }
}

/// `float_power.Scalar`.
pub fn float_power_scalar<D: FloatPowers>(base: impl Into<Scalar>, exponent: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("float_power", [exponent.geometry()]);
    let base = base.into();
    let dtype = widest([base.dtype(), exponent.dtype()]);
    pow_scalar(number(base, dtype), &wide(exponent, dtype)?)
}

/// `float_power.Scalar_out`.
pub fn float_power_scalar_out<D: FloatPowers>(
    base: impl Into<Scalar>,
    exponent: &Tensor<D>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("float_power", [exponent.geometry(), out.geometry()]);
    let base = base.into();
    let dtype = widest([base.dtype(), exponent.dtype()]);
    check_written(out.dtype(), dtype)?;
    pow_scalar_out(number(base, dtype), &wide(exponent, dtype)?, out)
}

/// Two to the power of an operand: of integers in float32, but in float64 where that is the dtype of what it scales.
fn power_of_two<D: FloatPowers>(this: &Tensor<D>, other: &Tensor<D>) -> Result<Tensor<D>> {
    match (this.dtype(), other.dtype()) {
        (scaled, got @ DType::Bool) if scaled.is_floating() => {
            let (what, accepted) = ("argument other has dtype", "integers and floating dtypes");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
        (DType::F64, exponent) if exponent.is_integral(false) => pow_scalar(2.0, &wide(other, DType::F64)?),
        _ => pow_scalar(2.0, other),
    }
}

/// `ldexp.Tensor`: a product with two to the power of `other`.
pub fn ldexp<D: FloatPowers>(this: &Tensor<D>, other: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("ldexp", [this.geometry(), other.geometry()]);
    let product = power_of_two(this, other).and_then(|power| functions::mul(this, &power));
    let product = product.map_err(|e| e.of("ldexp"))?;
    // An integer exponent promotes no halves.
    match this.dtype().is_floating() && other.dtype().is_integral(false) && product.dtype() != this.dtype() {
        true => to_dtype(&product, this.dtype(), false, false, None),
        false => Ok(product),
    }
}

/// `ldexp.out`.
pub fn ldexp_out<D: FloatPowers>(this: &Tensor<D>, other: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("ldexp", [this.geometry(), other.geometry(), out.geometry()]);
    let mut make = || functions::mul_out(this, &power_of_two(this, other)?, out).map(drop);
    make().map_err(|e: Error| e.of("ldexp"))
}

/// `ldexp_`.
pub fn ldexp_<'a, D: FloatPowers>(this: &'a mut Tensor<D>, other: &Tensor<D>) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("ldexp_", [this.geometry(), other.geometry()]);
    let power = power_of_two(this, other).map_err(|e| e.of("ldexp_"))?;
    functions::mul_(&mut *this, &power).map(drop).map_err(|e| e.of("ldexp_"))?;
    Ok(this)
}

native! {
    family: FloatPower, functions: FloatPowers;

    /// Raises to the power `exponent`, a number or a tensor, elementwise in float64, or complex128.
    ///
    /// ```
    /// let x = tensor![2, 3];
    /// assert_eq!(x.float_power(-1)?.to_vec::<f64>()?, [0.5, 0.3333333333333333]);
    /// ```
    func: float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor,
    variants: function, numbers: [exponent], typed: float_power_of, kernel: float_power;

    /// [`float_power`](super::functions::float_power) into `out`.
    func: float_power.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, name: float_power_out, numbers: [exponent], typed: float_power_of_out,
    kernel: float_power_out;

    /// [`float_power`](super::functions::float_power) in place, of a tensor of float64 or complex128.
    func: float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!),
    variants: function, numbers: [exponent], typed: float_power_of_, kernel: float_power_;

    func: float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor,
    kernel: float_power_number;

    func: float_power.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!),
    kernel: float_power_number_out;

    func: float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!),
    kernel: float_power_number_;

    func: float_power.Scalar(Scalar self, Tensor exponent) -> Tensor,
    kernel: float_power_scalar;

    func: float_power.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!),
    kernel: float_power_scalar_out;

    /// Multiplies by a power of two elementwise: `self · 2^other`.
    ///
    /// The operands broadcast; integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![1.5f32, 3.0];
    /// assert_eq!(x.ldexp(&tensor![1, 2])?.to_vec::<f32>()?, [3.0, 12.0]);
    /// ```
    func: ldexp.Tensor(Tensor self, Tensor other) -> Tensor,
    variants: function, kernel: ldexp;

    /// [`ldexp`](super::functions::ldexp) into `out`.
    func: ldexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: ldexp_out;

    /// [`ldexp`](super::functions::ldexp) in place.
    func: ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!),
    variants: function, kernel: ldexp_;
}

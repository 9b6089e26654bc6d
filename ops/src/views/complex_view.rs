//! Views of complex tensors as real ones and back, and of the lazy bits: conjugation and negation that cost nothing
//! until somebody reads the elements. Strides and offsets are computed modulo 2⁶⁴, as in `view.rs`.
#![deny(clippy::arithmetic_side_effects)]

use crate::Meta;
use crate::copies::clone_tensor;
use crate::table::native;
use monomorph_core::overlap::{self, Internal};
use monomorph_core::strides::DimVec;
use monomorph_core::{DType, Device, Error, ErrorKind, Geometry, Kind, Result, Tensor, observe};

fn accepts(g: &Geometry, accepted: &'static str, ok: bool) -> Result<()> {
    if ok {
        return Ok(());
    }
    Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got: g.dtype(), accepted }.into())
}

/// One part of each complex element: `part` is 0 for the real one.
pub(crate) fn component(g: &Geometry, part: i64, neg: bool) -> Result<Geometry> {
    let strides: DimVec = g.strides().iter().map(|stride| stride.wrapping_mul(2)).collect();
    let offset = g.offset().wrapping_mul(2).wrapping_add(part);
    let geometry = Geometry::new(g.dtype().to_real(), g.sizes(), &strides, offset)?;
    Ok(geometry.with_neg(neg))
}

/// `real`: the real parts; of a real tensor, the tensor itself.
pub fn real(g: &Geometry) -> Result<Geometry> {
    if g.dtype().is_complex() { component(g, 0, g.is_neg()) } else { Ok(g.clone()) }
}

/// `imag`: the imaginary parts of a complex tensor, negated where the tensor is conjugated.
pub fn imag(g: &Geometry) -> Result<Geometry> {
    accepts(g, "complex dtypes", g.dtype().is_complex())?;
    component(g, 1, g.is_neg() != g.is_conj())
}

/// `view_as_real`: a last dimension of real and imaginary part.
pub fn view_as_real(g: &Geometry) -> Result<Geometry> {
    accepts(g, "complex dtypes", g.dtype().is_complex())?;
    if g.is_conj() {
        let rule = "a tensor with its conj bit set has no imaginary parts in memory; resolve_conj it first";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let parts = component(g, 0, g.is_neg())?;
    let (mut sizes, mut strides) = (DimVec::from_slice(parts.sizes()), DimVec::from_slice(parts.strides()));
    sizes.push(2);
    strides.push(1);
    Ok(Geometry::new(parts.dtype(), &sizes, &strides, parts.offset())?.with_neg(g.is_neg()))
}

/// `view_as_complex`: the last dimension, of two floats, as one complex element.
pub fn view_as_complex(g: &Geometry) -> Result<Geometry> {
    accepts(g, "float32 and float64", matches!(g.dtype(), DType::F32 | DType::F64))?;
    let rule = |rule| Err(ErrorKind::ArgumentRule { rule }.into());
    let (Some((&last, sizes)), Some((&unit, lead))) = (g.sizes().split_last(), g.strides().split_last()) else {
        return rule("a tensor without dimensions has no pairs to view as complex");
    };
    if last != 2 || unit != 1 {
        return rule("the last dimension must have size 2 and stride 1 to be viewed as complex");
    }
    if lead.iter().any(|s| s % 2 != 0) || g.offset() % 2 != 0 {
        return rule("strides and offset must be multiples of 2 to be viewed as complex");
    }
    let strides: DimVec = lead.iter().map(|s| s / 2).collect();
    Ok(Geometry::new(g.dtype().to_complex(), sizes, &strides, g.offset() / 2)?.with_neg(g.is_neg()))
}

/// `_conj`: the conj bit flipped.
pub fn conj_view(g: &Geometry) -> Result<Geometry> {
    accepts(g, "complex dtypes", g.dtype().is_complex())?;
    Ok(g.clone().with_conj(!g.is_conj()))
}

/// `conj`: the conj bit of a complex tensor flipped; a real tensor is its own conjugate.
pub fn conj(g: &Geometry) -> Result<Geometry> {
    if g.dtype().kind() == Kind::Complex { conj_view(g) } else { Ok(g.clone()) }
}

/// `_neg_view`: the neg bit flipped.
pub fn neg_view(g: &Geometry) -> Result<Geometry> {
    Ok(g.clone().with_neg(!g.is_neg()))
}

/// A meta tensor of the sizes and strides of any result of two real tensors of float32 or float64. `what` begins what
/// an error says of either.
fn shape_of<D: Device>(what: [&'static str; 2], a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<Meta>> {
    for (part, what) in [a, b].into_iter().zip(what) {
        if !matches!(part.dtype(), DType::F32 | DType::F64) {
            let accepted = "float32 and float64";
            return Err(ErrorKind::DTypeNotSupported { what, got: part.dtype(), accepted }.into());
        }
    }
    if a.dtype() != b.dtype() {
        return Err(ErrorKind::ArgumentRule { rule: "both arguments must have one dtype; cast one of them" }.into());
    }
    crate::meta::add(a, b)
}

/// A complex tensor of zeros for two real ones, laid out like any other result of the two.
pub(crate) fn complex_like<D: Device>(what: [&'static str; 2], a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
    let shape = shape_of(what, a, b)?;
    Tensor::zeroed(a.dtype().to_complex(), shape.sizes(), shape.strides(), a.device().index)
}

/// Has `write` fill a complex output for two real tensors: in place where it has the result's dtype and sizes and lies
/// apart from both, and else in a new tensor first.
pub(crate) fn write_complex<D: Device>(
    what: [&'static str; 2],
    [a, b]: [&Tensor<D>; 2],
    out: &mut Tensor<D>,
    write: impl FnOnce(&mut Tensor<D>) -> Result<()>,
) -> Result<()> {
    let apart = |part: &Tensor<D>| part.storage_id() != out.storage_id();
    let as_out = |part: &Tensor<D>| part.sizes() == out.sizes();
    let is_fit = matches!(a.dtype(), DType::F32 | DType::F64)
        && b.dtype() == a.dtype()
        && out.dtype() == a.dtype().to_complex()
        && !out.is_conj()
        && !out.is_neg()
        && apart(a)
        && apart(b)
        && overlap::internal(out.sizes(), out.strides()) == Internal::No
        && (as_out(a) && as_out(b) || crate::meta::add(a, b)?.sizes() == out.sizes());
    if is_fit {
        return write(out);
    }
    let mut result = complex_like(what, a, b)?;
    write(&mut result)?;
    crate::table::write_out_as_made(&result, out)
}

/// The real and the imaginary parts of a complex tensor.
pub(crate) fn parts<D: Device>(of: &Tensor<D>) -> Result<[Tensor<D>; 2]> {
    Ok([of.with_geometry(component(of.geometry(), 0, false)?)?, of.with_geometry(component(of.geometry(), 1, false)?)?])
}

const PARTS: [&str; 2] = ["argument real has dtype", "argument imag has dtype"];

/// `complex`: a complex tensor of these parts, float32 or float64.
pub fn complex<D: Device>(real: &Tensor<D>, imag: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("complex", [real.geometry(), imag.geometry()]);
    let make = || {
        let shape = shape_of(PARTS, real, imag)?;
        Tensor::joined(shape.sizes(), shape.strides(), [real, imag])
    };
    make().map_err(|e: Error| e.of("complex"))
}

/// `complex.out`.
pub fn complex_out<D: Device>(real: &Tensor<D>, imag: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("complex", [real.geometry(), imag.geometry(), out.geometry()]);
    write_complex(PARTS, [real, imag], out, |out| out.join_from([real, imag])).map_err(|e| e.of("complex"))
}

/// `resolve_conj`: the tensor itself, or a copy if its conj bit is set.
pub fn resolve_conj<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    Ok(conj_resolved(this)?.unwrap_or_else(|| this.clone()))
}

/// `resolve_conj`, or nothing where that is the tensor itself.
pub fn conj_resolved<D: Device>(this: &Tensor<D>) -> Result<Option<Tensor<D>>> {
    let _span = observe::operator("resolve_conj", [this.geometry()]);
    this.is_conj().then(|| clone_tensor(this, None)).transpose()
}

/// `resolve_neg`: the tensor itself, or a copy if its neg bit is set.
pub fn resolve_neg<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    Ok(neg_resolved(this)?.unwrap_or_else(|| this.clone()))
}

/// `resolve_neg`, or nothing where that is the tensor itself.
pub fn neg_resolved<D: Device>(this: &Tensor<D>) -> Result<Option<Tensor<D>>> {
    let _span = observe::operator("resolve_neg", [this.geometry()]);
    this.is_neg().then(|| clone_tensor(this, None)).transpose()
}

native! {
    family: ComplexView, functions: crate::fill::Fills;

    /// The real parts of complex numbers, as a view; a real tensor is itself.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![Complex32::new(1.0, 2.0), Complex32::new(3.0, 4.0)];
    /// assert_eq!(z.real()?.to_vec::<f32>()?, [1.0, 3.0]);
    /// ```
    func: real(Tensor(a) self) -> Tensor(a),
    variants: function, method, view: real;

    /// The imaginary parts of complex numbers, as a view; a real tensor is an error.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![Complex32::new(1.0, 2.0), Complex32::new(3.0, 4.0)];
    /// z.imag()?.fill_(0)?;
    /// assert_eq!(z.to_vec::<Complex32>()?, [Complex32::new(1.0, 0.0), Complex32::new(3.0, 0.0)]);
    /// ```
    func: imag(Tensor(a) self) -> Tensor(a),
    variants: function, method, view: imag;

    /// Makes complex numbers of their real and imaginary parts, elementwise.
    ///
    /// Both have the same dtype, float32 or float64, and broadcast. [`polar`](super::functions::polar) takes the
    /// absolute value and the angle.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = ops::complex(&tensor![1.0f32, 3.0], &tensor![2.0f32, 4.0])?;
    /// assert_eq!(z.to_vec::<Complex32>()?, [Complex32::new(1.0, 2.0), Complex32::new(3.0, 4.0)]);
    /// ```
    func: complex(Tensor real, Tensor imag) -> Tensor,
    variants: function, kernel: complex;

    /// [`complex`](super::functions::complex) into `out`.
    func: complex.out(Tensor real, Tensor imag, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: complex_out;

    /// Views complex numbers as pairs of their real and imaginary parts, in a new last dimension of size 2.
    ///
    /// A conjugate that is not yet computed is an error: use [`resolve_conj`](super::functions::resolve_conj) first.
    ///
    /// ```
    /// let z = tensor![monomorph::Complex32::new(1.0, 2.0)];
    /// assert_eq!(z.view_as_real()?.to_vec::<f32>()?, [1.0, 2.0]);
    /// assert_eq!(z.view_as_real()?.sizes(), [1, 2]);
    /// ```
    func: view_as_real(Tensor(a) self) -> Tensor(a),
    copy: view_as_real_copy, copy_out: view_as_real_copy.out, variants: function, method, view: view_as_real;

    /// Views the pairs of the last dimension, which has size 2, as complex numbers.
    ///
    /// The last stride must be 1, the other strides and the offset even.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![[1.0f32, 2.0], [3.0, 4.0]].view_as_complex()?;
    /// assert_eq!(z.to_vec::<Complex32>()?, [Complex32::new(1.0, 2.0), Complex32::new(3.0, 4.0)]);
    /// ```
    func: view_as_complex(Tensor(a) self) -> Tensor(a),
    copy: view_as_complex_copy, copy_out: view_as_complex_copy.out, variants: function, method,
    view: view_as_complex;

    /// The conjugate of complex numbers, as a view that computes it where it is read.
    ///
    /// [`conj`](super::functions::conj) does the same and takes real tensors, too.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![Complex32::new(1.0, 2.0)];
    /// assert!(z.conj_view()?.is_conj());
    /// assert_eq!(z.conj_view()?.to_vec::<Complex32>()?, [Complex32::new(1.0, -2.0)]);
    /// ```
    func: _conj(Tensor(a) self) -> Tensor(a),
    copy: _conj_copy, copy_out: _conj_copy.out, variants: function, method, name: conj_view, view: conj_view;

    /// The conjugate of complex numbers, as a view that computes it where it is read; a real tensor is itself.
    ///
    /// [`resolve_conj`](super::functions::resolve_conj) computes it, and
    /// [`conj_physical`](super::functions::conj_physical) does so at once.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![Complex32::new(1.0, 2.0)];
    /// assert_eq!(z.conj()?.to_vec::<Complex32>()?, [Complex32::new(1.0, -2.0)]);
    /// ```
    func: conj(Tensor(a) self) -> Tensor(a),
    variants: function, method, view: conj;

    /// The negative, as a view that computes it where it is read.
    ///
    /// [`resolve_neg`](super::functions::resolve_neg) computes it.
    ///
    /// ```
    /// let x = tensor![1, 2].neg_view()?;
    /// assert!(x.is_neg());
    /// assert_eq!(x.to_vec::<i32>()?, [-1, -2]);
    /// ```
    func: _neg_view(Tensor(a) self) -> Tensor(a),
    copy: _neg_view_copy, copy_out: _neg_view_copy.out, variants: function, method, view: neg_view;

    /// Computes the conjugate of a tensor that is one as a view; other tensors are themselves.
    ///
    /// ```
    /// let z = tensor![monomorph::Complex32::new(1.0, 2.0)].conj()?;
    /// assert!(z.is_conj() && !z.resolve_conj()?.is_conj());
    /// ```
    func: resolve_conj(Tensor(a) self) -> Tensor(a),
    variants: function, kernel: conj_resolved else self;

    /// Computes the negative of a tensor that is one as a view; other tensors are themselves.
    ///
    /// ```
    /// let x = tensor![1, 2].neg_view()?;
    /// assert!(x.is_neg() && !x.resolve_neg()?.is_neg());
    /// ```
    func: resolve_neg(Tensor(a) self) -> Tensor(a),
    variants: function, kernel: neg_resolved else self;
}

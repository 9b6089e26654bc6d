//! Convolutions as users call them: one image without a dimension for it, paddings by name, complex numbers. Each is
//! `convolution`, or three of them where elements are complex. The operators are in `windows.rs`.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Fillers, Typed};
use super::pad::{constant_pad_nd, overflow};
use super::steps::Steps;
use crate::kernels::AllKernels;
use crate::{conv, functions};
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::DimVec;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar, Tensor};

/// What convolutions are composed of.
pub trait Convolves: Fillers {
    /// `convolution`, given stride, padding, dilation and output padding.
    fn convolution(
        &self,
        operands: Operands<'_, Self::Tensor>,
        given: [&[i64]; 4],
        transposed: bool,
        groups: i64,
    ) -> Result<Self::Tensor>;

    /// The real and the imaginary parts.
    fn parts(&self, t: &Self::Tensor) -> Result<[Self::Tensor; 2]>;

    /// Complex numbers of their parts.
    fn joined(&self, parts: [Self::Tensor; 2]) -> Result<Self::Tensor>;

    /// `a + b`.
    fn plus(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;

    /// `a - b`.
    fn minus(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;
}

/// Input, weight and bias.
pub type Operands<'a, T> = (&'a T, &'a T, Option<&'a T>);

impl Convolves for Calls<'_> {
    fn convolution(
        &self,
        (input, weight, bias): Operands<'_, AnyTensor>,
        [stride, padding, dilation, output_padding]: [&[i64]; 4],
        transposed: bool,
        groups: i64,
    ) -> Result<AnyTensor> {
        let ints = |list: &[i64]| IValue::Ints(list.to_vec());
        let arguments = [
            input.clone().into(),
            weight.clone().into(),
            bias.map_or(IValue::None, |bias| bias.clone().into()),
            ints(stride),
            ints(padding),
            ints(dilation),
            transposed.into(),
            ints(output_padding),
            groups.into(),
        ];
        self.tensor("convolution", arguments)
    }

    fn parts(&self, t: &AnyTensor) -> Result<[AnyTensor; 2]> {
        Ok([self.unary("real", t.clone())?, self.unary("imag", t.clone())?])
    }

    fn joined(&self, [re, im]: [AnyTensor; 2]) -> Result<AnyTensor> {
        self.tensor("complex", [re.into(), im.into()])
    }

    fn plus(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.add(a.clone(), b.clone())
    }

    fn minus(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.sub(a.clone(), b.clone())
    }
}

impl<D: AllKernels> Convolves for Typed<D> {
    fn convolution(
        &self,
        (input, weight, bias): Operands<'_, Tensor<D>>,
        [stride, padding, dilation, output_padding]: [&[i64]; 4],
        transposed: bool,
        groups: i64,
    ) -> Result<Tensor<D>> {
        let at = conv::forward::convolution;
        at(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    }

    fn parts(&self, t: &Tensor<D>) -> Result<[Tensor<D>; 2]> {
        Ok([functions::real(t)?, functions::imag(t)?])
    }

    fn joined(&self, [re, im]: [Tensor<D>; 2]) -> Result<Tensor<D>> {
        functions::complex(&re, &im)
    }

    fn plus(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::add(a, b)
    }

    fn minus(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::sub(a, b)
    }
}

/// How far a window may stand beyond the image.
#[derive(Clone, Copy)]
pub(super) enum Beyond<'a> {
    /// By so many elements in each dimension.
    By(&'a [i64]),
    /// As the name says: `"valid"` is not at all, `"same"` so that the map has the sizes of the image.
    Named(&'a str),
}

/// A call of one of the operators.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) stride: &'a [i64],
    pub(super) beyond: Beyond<'a>,
    pub(super) dilation: &'a [i64],
    /// The output padding of a transposed convolution.
    pub(super) transposed: Option<&'a [i64]>,
    pub(super) groups: i64,
}

/// An operator over `N` dimensions, of a tensor with or without one for images.
pub(super) fn convolved<C: Convolves, const N: usize>(
    calls: &C,
    (input, weight, bias): Operands<'_, C::Tensor>,
    call: Call<'_>,
) -> Result<C::Tensor> {
    let t = C::any(input);
    if let (None, Beyond::By(_), Some(bias)) = (call.transposed, call.beyond, bias) {
        check_dtype(t.dtype(), C::any(bias).dtype(), "bias")?;
    }
    match t.ndim().checked_sub(N) {
        Some(1) => {
            let one = calls.unsqueeze(input, 0)?;
            calls.select(&of_any_number(calls, (&one, weight, bias), call)?, 0, 0)
        }
        Some(2) => of_any_number(calls, (input, weight, bias), call),
        _ => {
            let accepted = ["2 and 3", "3 and 4", "4 and 5"][N.saturating_sub(1).min(2)];
            Err(ErrorKind::DimCount { arg: "input", got: t.ndim(), accepted }.into())
        }
    }
}

fn check_dtype(want: DType, got: DType, arg: &'static str) -> Result<()> {
    if got == want { Ok(()) } else { Err(ErrorKind::DTypeMismatch { arg, got, want }.into()) }
}

/// A call for real numbers, or the three that give a complex one:
///
/// ```text
///   a = w.re * x.re + b.re     b = w.im * x.im     c = (w.re + w.im) * (x.re + x.im) + b.re + b.im
///   the real parts are a - b, the imaginary ones c - a - b
/// ```
fn of_any_number<C: Convolves>(
    calls: &C,
    (input, weight, bias): Operands<'_, C::Tensor>,
    call: Call<'_>,
) -> Result<C::Tensor> {
    let dtype = C::any(input).dtype();
    if !dtype.is_complex() {
        return padded(calls, (input, weight, bias), call);
    }
    check_dtype(dtype, C::any(weight).dtype(), "weight")?;
    let ([x, xi], [w, wi]) = (calls.parts(input)?, calls.parts(weight)?);
    let (b, both) = match bias {
        None => (None, None),
        Some(bias) => {
            check_dtype(dtype, C::any(bias).dtype(), "bias")?;
            let [b, bi] = calls.parts(bias)?;
            let both = calls.plus(&b, &bi)?;
            (Some(b), Some(both))
        }
    };
    let of_real = padded(calls, (&x, &w, b.as_ref()), call)?;
    let of_imaginary = padded(calls, (&xi, &wi, None), call)?;
    let of_sums = padded(calls, (&calls.plus(&x, &xi)?, &calls.plus(&w, &wi)?, both.as_ref()), call)?;
    let real = calls.minus(&of_real, &of_imaginary)?;
    let imaginary = calls.minus(&calls.minus(&of_sums, &of_real)?, &of_imaginary)?;
    calls.joined([real, imaginary])
}

/// A call with the padding that its name stands for.
pub(super) fn padded<C: Convolves>(
    calls: &C,
    (input, weight, bias): Operands<'_, C::Tensor>,
    call: Call<'_>,
) -> Result<C::Tensor> {
    let Call { stride, dilation, groups, .. } = call;
    let output_padding = call.transposed.unwrap_or(&[0]);
    let name = match call.beyond {
        Beyond::By(padding) => {
            let given = [stride, padding, dilation, output_padding];
            return calls.convolution((input, weight, bias), given, call.transposed.is_some(), groups);
        }
        Beyond::Named(name) => name,
    };
    if name == "valid" {
        return calls.convolution((input, weight, bias), [stride, &[0], dilation, &[0]], false, groups);
    }
    if name != "same" {
        let (arg, got, accepted) = ("padding", name.to_owned(), "valid and same");
        return Err(ErrorKind::UnknownOption { arg, got, accepted }.into());
    }
    let (sizes, windows) = (C::any(input).sizes(), C::any(weight).sizes());
    if windows.len() != sizes.len() || windows.len() < 3 {
        let accepted = "as many as input has";
        return Err(ErrorKind::DimCount { arg: "weight", got: windows.len(), accepted }.into());
    }
    let ndim = windows.len().saturating_sub(2);
    for (arg, list) in [("stride", stride), ("dilation", dilation)] {
        if list.len() != ndim && list.len() != 1 {
            return Err(ErrorKind::ListLength { arg, got: list.len(), want: ndim }.into());
        }
    }
    if stride.iter().any(|&step| step != 1) {
        let rule = "argument padding is \"same\" and stride is not 1; accepted is a stride of 1";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    // Where an odd number is missing, the last one is added behind.
    let (mut paddings, mut pad) = (DimVec::new(), vec![0; ndim.saturating_mul(2)]);
    for (i, &taps) in windows[2..].iter().enumerate() {
        let apart = if dilation.len() == 1 { dilation[0] } else { dilation[i] };
        let missing = taps.checked_sub(1).and_then(|taps| taps.checked_mul(apart)).ok_or_else(|| overflow(windows))?;
        paddings.push(missing.checked_div(2).unwrap_or(0));
        // The list has the last dimension first, and of each what is in front and what is behind.
        if let Some(behind) = pad.chunks_exact_mut(2).rev().nth(i).and_then(|pair| pair.last_mut()) {
            *behind = missing.checked_rem(2).unwrap_or(0).max(0);
        }
    }
    let given = [stride, &*paddings, dilation, &[0]];
    if pad.iter().all(|&by| by == 0) {
        return calls.convolution((input, weight, bias), given, false, groups);
    }
    let wider = constant_pad_nd(calls, input, &pad, Scalar::Int(0))?;
    calls.convolution((&wider, weight, bias), given, false, groups)
}

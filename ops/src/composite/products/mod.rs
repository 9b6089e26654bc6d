//! What is composed of products of matrices: matmul and linear, which choose the product by the dimensions of the
//! operands. The other files have sums over chosen dimensions ([`tensordot`]), chains ([`chain`]), the Einstein
//! summation convention ([`einsum`]), and products that are added to something ([`added`]).
#![deny(clippy::arithmetic_side_effects)]

pub mod added;
pub mod chain;
pub mod einsum;
pub mod tensordot;

use super::callees::{Callees, Typed};
use crate::functions;
use crate::kernels::{Arithmetic, Products};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{AnyTensor, ErrorKind, MemoryFormat, Result, Tensor};

/// A composition that multiplies matrices.
pub trait Multiplies: Callees {
    /// `mm`.
    fn mm(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;
    /// `bmm`.
    fn bmm(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;
    /// `mv`.
    fn mv(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;
    /// `dot`.
    fn dot(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;
    /// `addmm`.
    fn addmm(&self, addend: &Self::Tensor, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;
    /// `add_`: adds to a tensor of the composition's own.
    fn add_to(&self, sum: Self::Tensor, addend: &Self::Tensor) -> Result<Self::Tensor>;
}

impl Multiplies for Calls<'_> {
    fn mm(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("mm", [a.clone().into(), b.clone().into()])
    }
    fn bmm(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("bmm", [a.clone().into(), b.clone().into()])
    }
    fn mv(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("mv", [a.clone().into(), b.clone().into()])
    }
    fn dot(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("dot", [a.clone().into(), b.clone().into()])
    }
    fn addmm(&self, addend: &AnyTensor, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("addmm", [addend.clone().into(), a.clone().into(), b.clone().into(), 1i64.into(), 1i64.into()])
    }
    fn add_to(&self, sum: AnyTensor, addend: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("add_.Tensor", [sum.into(), addend.clone().into(), 1i64.into()])
    }
}

impl<D: Products + Arithmetic> Multiplies for Typed<D> {
    fn mm(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::mm(a, b)
    }
    fn bmm(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::bmm(a, b)
    }
    fn mv(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::mv(a, b)
    }
    fn dot(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::dot(a, b)
    }
    fn addmm(&self, addend: &Tensor<D>, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::addmm(addend, a, b)
    }
    fn add_to(&self, mut sum: Tensor<D>, addend: &Tensor<D>) -> Result<Tensor<D>> {
        functions::add_(&mut sum, addend)?;
        Ok(sum)
    }
}

/// The last two dimensions exchanged.
pub(super) fn transposed<C: Callees>(calls: &C, t: &C::Tensor) -> Result<C::Tensor> {
    match C::any(t).ndim() {
        0 | 1 => Ok(t.clone()),
        ndim => calls.transpose(t, ndim.saturating_sub(2), ndim.saturating_sub(1)),
    }
}

/// The product of sizes, as a size.
pub(super) fn volume(sizes: &[i64]) -> Result<i64> {
    Ok(strides::numel(sizes)? as i64)
}

/// All but the last sizes, and the last.
fn split_last(sizes: &[i64], last: usize) -> (&[i64], &[i64]) {
    sizes.split_at(sizes.len().saturating_sub(last))
}

/// `matmul`: the product of the last two dimensions, of one for a vector, for each member of the batches in front,
/// which broadcast.
pub fn matmul<C: Multiplies>(calls: &C, this: &C::Tensor, other: &C::Tensor) -> Result<C::Tensor> {
    let (a, b) = (C::any(this), C::any(other));
    match (a.ndim(), b.ndim()) {
        (0, _) => Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into()),
        (_, 0) => Err(ErrorKind::DimCount { arg: "other", got: 0, accepted: "1 or more" }.into()),
        (1, 1) => calls.dot(this, other),
        (2, 1) => calls.mv(this, other),
        (1, 2) => {
            let row = calls.mm(&calls.unsqueeze(this, 0)?, other)?;
            let sizes = DimVec::from_slice(C::any(&row).sizes().get(1..).unwrap_or_default());
            calls.view(&row, &sizes)
        }
        (2, 2) => calls.mm(this, other),
        _ if folds(a, b) => folded(calls, this, other),
        _ => batched(calls, this, other),
    }
}

/// Whether a batch of matrices and one matrix or vector are best multiplied as one matrix.
fn folds(a: &AnyTensor, b: &AnyTensor) -> bool {
    let (larger, smaller) = if a.ndim() >= b.ndim() { (a, b) } else { (b, a) };
    if larger.ndim() < 3 || smaller.ndim() > 2 || a.ndim() == 2 {
        return false;
    }
    let (sizes, strides) = (larger.sizes(), larger.strides());
    // All dimensions but the last are one.
    let pairs = larger.ndim().saturating_sub(2);
    larger.numel() == 0
        || (0..pairs).all(|d| {
            let next = d.saturating_add(1);
            Some(strides[d]) == strides[next].checked_mul(sizes[next])
        })
}

/// The product of a batch of matrices, seen as one matrix, and a matrix or vector; or of a vector and such a batch.
fn folded<C: Multiplies>(calls: &C, this: &C::Tensor, other: &C::Tensor) -> Result<C::Tensor> {
    let turns = C::any(other).ndim() > C::any(this).ndim();
    let (batch, one) = match turns {
        true => (transposed(calls, other)?, this.clone()),
        false => (this.clone(), other.clone()),
    };
    let sizes = C::any(&batch).sizes();
    let (outer, last) = split_last(sizes, 1);
    let flat = calls.reshape(&batch, &[volume(outer)?, last[0]])?;
    let mut result = DimVec::from_slice(outer);
    match C::any(&one).sizes() {
        [_, columns] => {
            result.push(*columns);
            calls.view(&calls.mm(&flat, &one)?, &result)
        }
        _ => calls.view(&calls.mv(&flat, &one)?, &result),
    }
}

/// The product of two batches of matrices, which broadcast.
fn batched<C: Multiplies>(calls: &C, this: &C::Tensor, other: &C::Tensor) -> Result<C::Tensor> {
    let is_vector = [this, other].map(|t| C::any(t).ndim() == 1);
    let a = if is_vector[0] { calls.unsqueeze(this, 0)? } else { this.clone() };
    let b = if is_vector[1] { calls.unsqueeze(other, 1)? } else { other.clone() };
    let (a_batch, a_sizes) = split_last(C::any(&a).sizes(), 2);
    let (b_batch, b_sizes) = split_last(C::any(&b).sizes(), 2);
    let batch = strides::broadcast_sizes(a_batch, b_batch)?;
    let members = volume(&batch)?;
    let flat = |t: &C::Tensor, sizes: &[i64]| {
        let whole: DimVec = batch.iter().chain(sizes).copied().collect();
        let expanded = calls.expand(t, &whole)?;
        calls.reshape(&expanded, &[members, sizes[0], sizes[1]])
    };
    let product = calls.bmm(&flat(&a, a_sizes)?, &flat(&b, b_sizes)?)?;
    let mut result = batch.clone();
    result.extend((!is_vector[0]).then_some(a_sizes[0]));
    result.extend((!is_vector[1]).then_some(b_sizes[1]));
    calls.view(&product, &result)
}

/// `linear`: the product with the transposed weight, and the bias.
pub fn linear<C: Multiplies>(
    calls: &C,
    this: &C::Tensor,
    weight: &C::Tensor,
    bias: Option<&C::Tensor>,
) -> Result<C::Tensor> {
    let (input, ndim) = (C::any(this), C::any(weight).ndim());
    for (arg, got) in [("input", input.ndim()), ("weight", ndim)] {
        if got == 0 {
            return Err(ErrorKind::DimCount { arg, got, accepted: "1 or more" }.into());
        }
    }
    if ndim > 2 {
        return Err(ErrorKind::DimCount { arg: "weight", got: ndim, accepted: "1 or 2" }.into());
    }
    let turned = transposed(calls, weight)?;
    let Some(bias) = bias else { return matmul(calls, this, &turned) };
    if input.ndim() == 2 {
        return calls.addmm(bias, this, &turned);
    }
    if input.is_contiguous() && input.ndim() > 2 && C::any(bias).ndim() == 1 && ndim == 2 {
        let (outer, last) = split_last(input.sizes(), 1);
        let flat = calls.reshape(this, &[volume(outer)?, last[0]])?;
        let sum = calls.addmm(bias, &flat, &turned)?;
        let mut sizes = DimVec::from_slice(outer);
        sizes.extend(C::any(&sum).sizes().last().copied());
        return calls.view(&sum, &sizes);
    }
    let product = matmul(calls, this, &turned)?;
    calls.add_to(product, bias)
}

/// The format that results of products have.
pub(super) const DENSE: MemoryFormat = MemoryFormat::Contiguous;

native! {
    family: Matmul, functions: crate::kernels::Products;

    /// The product of two tensors as matrices, vectors or batches of matrices.
    ///
    /// Two vectors give the sum of their products, a matrix and a vector a vector, two matrices a matrix. Of tensors
    /// with more dimensions the last two are matrices, for each member of the batches in front, which broadcast. Both
    /// have one dtype, any but bool.
    ///
    /// ```
    /// let (a, b) = (tensor![[1.0f32, 2.0], [3.0, 4.0]], tensor![1.0f32, 10.0]);
    /// assert_eq!(a.matmul(&b)?.to_vec::<f32>()?, [21.0, 43.0]);
    /// ```
    func: matmul(Tensor self, Tensor other) -> Tensor,
    autogen: matmul.out, variants: function, method, composed: implicit matmul for Products + Arithmetic;

    /// [`matmul`](super::functions::matmul) under another name.
    func: linalg_matmul(Tensor self, Tensor other) -> Tensor,
    autogen: linalg_matmul.out, variants: function, composed: implicit matmul for Products + Arithmetic;

    /// The product of the last dimension with a transposed matrix, and the bias: what a layer of a neural network does.
    ///
    /// The weight is `[out, in]`, or `[in]` for one output; the bias is broadcast. All have one dtype, any but bool.
    ///
    /// ```
    /// let (x, weight) = (tensor![[1.0f32, 2.0]], tensor![[1.0f32, 1.0], [0.0, 10.0]]);
    /// let y = ops::linear(&x, &weight, Some(&tensor![0.5f32, 0.0]))?;
    /// assert_eq!(y.to_vec::<f32>()?, [3.5, 20.0]);
    /// ```
    func: linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor,
    autogen: linear.out, variants: function, positional: [bias], composed: implicit linear for Products + Arithmetic;
}

//! Chains of matrices: linalg_multi_dot and chain_matmul, in the order that takes the fewest multiplications.
#![deny(clippy::arithmetic_side_effects)]

use super::Multiplies;
use crate::composite::callees::Callees;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, ErrorKind, Result, list};

/// `linalg_multi_dot`: the product of matrices, of which the first may be a row and the last a column.
pub fn multi_dot(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<AnyTensor> {
    let ([first, .., last], n) = (tensors, tensors.len()) else {
        return Err(ErrorKind::ListLength { arg: "tensors", got: tensors.len(), want: 2 }.into());
    };
    let is_vector = [first, last].map(|t| t.ndim() == 1);
    let mut matrices = list::with_capacity(n)?;
    for (i, t) in tensors.iter().enumerate() {
        let (is_first, is_last) = (i == 0, i.saturating_add(1) == n);
        matrices.push(match t.ndim() {
            2 => t.clone(),
            1 if is_first => calls.unsqueeze(t, 0)?,
            1 if is_last => calls.unsqueeze(t, 1)?,
            got => {
                let accepted = if is_first || is_last { "1 or 2" } else { "2" };
                return Err(ErrorKind::DimCount { arg: "tensors", got, accepted }.into());
            }
        });
    }
    for pair in matrices.windows(2) {
        let [a, b] = pair else { continue };
        let (got, want) = (b.dtype(), a.dtype());
        if got != want {
            return Err(ErrorKind::DTypeMismatch { arg: "tensors", got, want }.into());
        }
        if b.device() != a.device() {
            let (got, want) = (b.device(), a.device());
            return Err(ErrorKind::DeviceMismatch { arg: "tensors".into(), got, want }.into());
        }
        if b.sizes()[0] != a.sizes()[1] {
            let (got, want) = (b.sizes().to_vec(), vec![a.sizes()[1], b.sizes()[1]]);
            return Err(ErrorKind::UnequalSizes { arg: "tensors", got, want }.into());
        }
    }
    let order = Order::of(&matrices)?;
    let product = order.multiply(calls, &matrices, 0, n.saturating_sub(1))?;
    match is_vector {
        [false, false] => Ok(product),
        [row, column] => {
            let sizes = [(!row).then_some(product.sizes()[0]), (!column).then_some(product.sizes()[1])];
            calls.view(&product, &sizes.into_iter().flatten().collect::<Vec<_>>())
        }
    }
}

/// The order that takes the fewest multiplications: behind which matrix each part of the chain is split last.
struct Order {
    n: usize,
    split: Vec<usize>,
}

impl Order {
    fn of(matrices: &[AnyTensor]) -> Result<Order> {
        let n = matrices.len();
        let entries = n.saturating_mul(n);
        let (mut cost, mut split) = (list::with_capacity(entries)?, list::with_capacity(entries)?);
        cost.resize(entries, 0_u128);
        split.resize(entries, 0_usize);
        let size = |i: usize| {
            let of = |t: &AnyTensor, d: usize| t.sizes()[d].unsigned_abs().into();
            matrices.get(i).map_or_else(|| matrices.last().map_or(0, |t| of(t, 1)), |t| of(t, 0))
        };
        let at = |i: usize, j: usize| i.saturating_mul(n).saturating_add(j);
        for length in 1..n {
            for i in 0..n.saturating_sub(length) {
                let j = i.saturating_add(length);
                let mut best = u128::MAX;
                for k in i..j {
                    let next = k.saturating_add(1);
                    let product = u128::saturating_mul(size(i), size(next)).saturating_mul(size(j.saturating_add(1)));
                    let total = u128::saturating_add(cost[at(i, k)], cost[at(next, j)]).saturating_add(product);
                    if total < best {
                        best = total;
                        split[at(i, j)] = k;
                    }
                }
                cost[at(i, j)] = best;
            }
        }
        Ok(Order { n, split })
    }

    /// The product of the matrices from `i` to `j`. A chain is as deep as it is long, so the stack bounds what a list
    /// can be; parts are multiplied from the innermost on without it.
    fn multiply(&self, calls: &Calls<'_>, matrices: &[AnyTensor], i: usize, j: usize) -> Result<AnyTensor> {
        enum Step {
            Part(usize, usize),
            Product,
        }
        let (mut steps, mut products) = (vec![Step::Part(i, j)], Vec::new());
        while let Some(step) = steps.pop() {
            match step {
                Step::Part(i, j) if i == j => products.push(matrices[i].clone()),
                Step::Part(i, j) => {
                    let k = self.split[i.saturating_mul(self.n).saturating_add(j)];
                    steps.extend([Step::Product, Step::Part(k.saturating_add(1), j), Step::Part(i, k)]);
                }
                Step::Product => {
                    if let (Some(b), Some(a)) = (products.pop(), products.pop()) {
                        products.push(calls.mm(&a, &b)?);
                    }
                }
            }
        }
        products.pop().ok_or_else(|| rule("the list is empty; give at least one tensor"))
    }
}

/// `chain_matmul`: the product of matrices.
pub fn chain_matmul(calls: &Calls<'_>, matrices: &[AnyTensor]) -> Result<AnyTensor> {
    if let Some(t) = matrices.iter().find(|t| t.ndim() != 2) {
        return Err(ErrorKind::DimCount { arg: "matrices", got: t.ndim(), accepted: "2" }.into());
    }
    match matrices {
        [] => Err(rule("the list is empty; give at least one matrix")),
        [one] => calls.cloned(one, super::DENSE),
        _ => multi_dot(calls, matrices),
    }
}

native! {
    family: Chains, functions: crate::fill::Fills;

    func: linalg_multi_dot(Tensor[] tensors) -> Tensor,
    autogen: linalg_multi_dot.out, composite: implicit multi_dot;

    func: chain_matmul(Tensor[] matrices) -> Tensor,
    autogen: chain_matmul.out, composite: implicit chain_matmul;
}

//! The Einstein summation convention: einsum, and what is a sum of its kind: _trilinear and bilinear.
//!
//! ```text
//! "bij,bkj->bik"     every operand is turned to the same dimensions, size 1 where it lacks one:
//!                       b  i  k | j       out dimensions first, in the order of the output, then what is summed
//!                    ►  B  I  1 | J
//!                    ►  B  1  K | J       two at a time, by a product of matrices (`sumproduct_pair`):
//!                    ►  B  I  K | 1       dimensions of both that stay are its batch, others its rows and columns
//! ```
#![deny(clippy::arithmetic_side_effects)]

use super::{Multiplies, volume};
use crate::composite::callees::{Callees, Fillers};
use crate::composite::rule;
use crate::composite::steps::Steps;
use crate::composite::{operand, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{DimVec, MAX_DIMS};
use monomorph_core::{AnyTensor, ErrorKind, IValue, Result, Scalar, list};

/// What stands for dimensions of an operand: a letter, or an ellipsis, which is behind them.
const ELLIPSIS: u8 = 52;

/// Upper case comes before lower case, as in a dictionary of bytes.
fn letter(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => byte.checked_sub(b'A'),
        b'a'..=b'z' => byte.checked_sub(b'a').and_then(|n| n.checked_add(26)),
        _ => None,
    }
}

/// The labels of a part of an equation, without spaces.
fn labels(part: &[u8]) -> Result<Vec<u8>> {
    let mut labels = Vec::new();
    let mut rest = part;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match (byte, letter(byte)) {
            (b' ', _) => {}
            (_, Some(letter)) => labels.push(letter),
            (b'.', _) => {
                let Some(behind) = rest.strip_prefix(b"..").filter(|_| !labels.contains(&ELLIPSIS)) else {
                    return Err(rule("argument equation has a dot that is no part of the only ellipsis of an operand"));
                };
                labels.push(ELLIPSIS);
                rest = behind;
            }
            _ => return Err(rule("argument equation has another sign than letters, commas, an ellipsis and an arrow")),
        }
    }
    Ok(labels)
}

/// An equation: the labels of each operand, and of the output if it says so.
struct Equation {
    operands: Vec<Vec<u8>>,
    output: Option<Vec<u8>>,
}

impl Equation {
    fn parse(text: &str, operands: usize) -> Result<Equation> {
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text, None),
        };
        let parts = left.split(',').map(|part| labels(part.as_bytes())).collect::<Result<Vec<_>>>()?;
        if parts.len() != operands {
            return Err(ErrorKind::ListLength { arg: "tensors", got: operands, want: parts.len() }.into());
        }
        Ok(Equation { operands: parts, output: right.map(|right| labels(right.as_bytes())).transpose()? })
    }
}

/// Where each label is among the dimensions that all operands are turned to.
struct Places {
    /// Of letters and the ellipsis, the first of its dimensions.
    of: [Option<usize>; 53],
    /// Dimensions of the ellipsis.
    ellipsis: usize,
    /// Dimensions of the output, which come first.
    output: usize,
    all: usize,
}

impl Places {
    fn of(equation: &Equation, tensors: &[AnyTensor]) -> Result<Places> {
        let mut counts = [0_usize; 53];
        let mut ellipsis = 0_usize;
        for (labels, t) in equation.operands.iter().zip(tensors) {
            let letters = labels.iter().filter(|&&label| label != ELLIPSIS).count();
            let (has_ellipsis, got) = (letters != labels.len(), t.ndim());
            if if has_ellipsis { got < letters } else { got != letters } {
                let accepted = "as many as the equation has letters for it, or more with an ellipsis";
                return Err(ErrorKind::DimCount { arg: "tensors", got, accepted }.into());
            }
            for &label in labels {
                counts[usize::from(label)] = counts[usize::from(label)].saturating_add(1);
            }
            if has_ellipsis {
                ellipsis = ellipsis.max(got.saturating_sub(letters));
            }
        }
        let mut places = Places { of: [None; 53], ellipsis, output: 0, all: 0 };
        match &equation.output {
            Some(output) => {
                for &label in output {
                    if label != ELLIPSIS && counts[usize::from(label)] == 0 {
                        return Err(rule("argument equation has a letter in the output that no operand has"));
                    }
                    if places.of[usize::from(label)].is_some() {
                        return Err(rule("argument equation has a letter twice in the output"));
                    }
                    places.add(label);
                }
            }
            None => {
                if counts[usize::from(ELLIPSIS)] > 0 {
                    places.add(ELLIPSIS);
                }
                (0..ELLIPSIS).filter(|&label| counts[usize::from(label)] == 1).for_each(|label| places.add(label));
            }
        }
        places.output = places.all;
        for label in [ELLIPSIS].into_iter().chain(0..ELLIPSIS) {
            if counts[usize::from(label)] > 0 && places.of[usize::from(label)].is_none() {
                places.add(label);
            }
        }
        Ok(places)
    }

    fn add(&mut self, label: u8) {
        self.of[usize::from(label)] = Some(self.all);
        let dims = if label == ELLIPSIS { self.ellipsis } else { 1 };
        self.all = self.all.saturating_add(dims);
    }

    /// An operand with all dimensions in their places. A letter that it has twice is a diagonal.
    fn turned(&self, calls: &Calls<'_>, t: &AnyTensor, labels: &[u8]) -> Result<AnyTensor> {
        let letters = labels.iter().filter(|&&label| label != ELLIPSIS).count();
        let own = t.ndim().saturating_sub(letters);
        let (mut t, mut dim) = (t.clone(), 0_usize);
        // For each place the dimension of the operand.
        let mut from: Vec<Option<usize>> = vec![None; self.all];
        for &label in labels {
            let place = self.of[usize::from(label)].unwrap_or(0);
            if label == ELLIPSIS {
                // Missing ones are in front.
                let first = place.saturating_add(self.ellipsis.saturating_sub(own));
                for from in from.iter_mut().skip(first).take(own) {
                    *from = Some(dim);
                    dim = dim.saturating_add(1);
                }
                continue;
            }
            match from[place] {
                None => {
                    from[place] = Some(dim);
                    dim = dim.saturating_add(1);
                }
                Some(first) => {
                    let (want, got) = (t.sizes()[first], t.sizes()[dim]);
                    if got != want {
                        return Err(ErrorKind::UnequalSizes { arg: "tensors", got: vec![got], want: vec![want] }.into());
                    }
                    let diagonal = calls.diagonal(&t, 0, first, dim)?;
                    // Taking one puts its dimension last.
                    let to = [(-1_i64).into(), (first as i64).into()];
                    let [last, first] = to;
                    t = calls.tensor("movedim.int", [diagonal.into(), last, first])?;
                }
            }
        }
        let mut order = DimVec::new();
        for place in from {
            order.push(match place {
                Some(dim) => dim as i64,
                None => {
                    let behind = t.ndim();
                    t = calls.unsqueeze(&t, behind)?;
                    behind as i64
                }
            });
        }
        permuted(calls, &t, &order)
    }
}

fn permuted(calls: &Calls<'_>, t: &AnyTensor, order: &[i64]) -> Result<AnyTensor> {
    calls.tensor("permute", [t.clone().into(), IValue::Ints(order.to_vec())])
}

/// The sum over dimensions of the products of two tensors with the same dimensions, of size 1 where one lacks it. What
/// is summed stays, with size 1.
pub fn sumproduct_pair(calls: &Calls<'_>, left: &AnyTensor, right: &AnyTensor, sum: &[usize]) -> Result<AnyTensor> {
    if sum.is_empty() {
        return calls.mul(left.clone(), right.clone());
    }
    let (mut left, mut right) = (left.clone(), right.clone());
    let (mut both, mut rows, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    let mut summed = 1_i64;
    for d in 0..left.ndim() {
        let (m, n) = (left.sizes()[d], right.sizes()[d]);
        if m != 1 && n != 1 && m != n {
            return Err(ErrorKind::UnequalSizes { arg: "tensors", got: vec![n], want: vec![m] }.into());
        }
        match (sum.contains(&d), m != 1, n != 1) {
            (true, true, true) => summed = volume(&[summed, m])?,
            (true, true, false) => left = calls.sum(left, &[d as i64], true)?,
            (true, false, true) => right = calls.sum(right, &[d as i64], true)?,
            (true, false, false) => {}
            (false, true, true) => both.push(d),
            (false, true, false) => rows.push(d),
            (false, false, _) => columns.push(d),
        }
    }
    // Where the columns come before the rows, the product of the two the other way round is row-major.
    if let (Some(row), Some(column)) = (rows.first(), columns.last())
        && column < row
    {
        std::mem::swap(&mut left, &mut right);
        std::mem::swap(&mut rows, &mut columns);
    }
    let sizes = |t: &AnyTensor, dims: &[usize]| dims.iter().map(|&d| t.sizes()[d]).collect::<DimVec>();
    let (batch_sizes, row_sizes, column_sizes) = (sizes(&left, &both), sizes(&left, &rows), sizes(&right, &columns));
    let [batch, m, n] = [volume(&batch_sizes)?, volume(&row_sizes)?, volume(&column_sizes)?];
    let order = |groups: [&[usize]; 4]| groups.concat().iter().map(|&d| d as i64).collect::<DimVec>();
    let a = permuted(calls, &left, &order([&both, &rows, sum, &columns]))?;
    let b = permuted(calls, &right, &order([&both, sum, &columns, &rows]))?;
    let product = calls.bmm(&calls.reshape(&a, &[batch, m, summed])?, &calls.reshape(&b, &[batch, summed, n])?)?;
    let mut result: DimVec = batch_sizes.iter().chain(&row_sizes).copied().collect();
    result.extend(sum.iter().map(|_| 1));
    result.extend(column_sizes.iter().copied());
    let mut back = DimVec::from_elem(0, left.ndim());
    for (i, &d) in [&both[..], &rows, sum, &columns].concat().iter().enumerate() {
        back[d] = i as i64;
    }
    permuted(calls, &calls.view(&product, &result)?, &back)
}

/// `einsum`: the sum of products over the letters that the output lacks.
pub fn einsum(calls: &Calls<'_>, equation: &str, tensors: &[AnyTensor], path: Option<&[i64]>) -> Result<AnyTensor> {
    let n = tensors.len();
    if n == 0 {
        return Err(rule("the list is empty; give at least one tensor"));
    }
    let equation = Equation::parse(equation, n)?;
    let places = Places::of(&equation, tensors)?;
    if places.all > MAX_DIMS {
        return Err(ErrorKind::TooManyDims { got: places.all, most: MAX_DIMS }.into());
    }
    let mut operands = list::with_capacity(n)?;
    for (t, labels) in tensors.iter().zip(&equation.operands) {
        operands.push(places.turned(calls, t, labels)?);
    }
    // How many operands have each dimension; they agree about its size.
    let mut counts = vec![0_usize; places.all];
    for (d, count) in counts.iter_mut().enumerate() {
        let mut seen = None;
        for size in operands.iter().map(|t| t.sizes()[d]).filter(|&size| size != 1) {
            *count = count.saturating_add(1);
            let want = *seen.get_or_insert(size);
            if size != want {
                return Err(ErrorKind::UnequalSizes { arg: "tensors", got: vec![size], want: vec![want] }.into());
            }
        }
    }
    let steps = n.saturating_sub(1);
    if let Some(path) = path
        && path.len() != steps.saturating_mul(2)
        && !(n == 1 && path.len() == 1)
    {
        return Err(ErrorKind::ListLength { arg: "path", got: path.len(), want: steps.saturating_mul(2) }.into());
    }
    for step in 0..steps {
        let pair = path.and_then(|path| path.chunks(2).nth(step));
        let (a, b) = match pair {
            Some(&[i, j]) => taken(&mut operands, i, j)?,
            _ => taken(&mut operands, 0, 1)?,
        };
        let product = contracted(calls, a, b, &mut counts, places.output)?;
        let at = if pair.is_some() { operands.len() } else { 0 };
        operands.insert(at, product);
    }
    let Some(result) = operands.pop() else { return Err(rule("the list is empty; give at least one tensor")) };
    if places.all == places.output {
        return Ok(result);
    }
    if n > 1 {
        return calls.view(&result, &result.sizes()[..places.output]);
    }
    let summed: Vec<i64> = (places.output..places.all).map(|d| d as i64).collect();
    calls.sum(result, &summed, false)
}

/// Two operands, which are taken out of the list.
fn taken(operands: &mut Vec<AnyTensor>, i: i64, j: i64) -> Result<(AnyTensor, AnyTensor)> {
    let (first, second) = (i.min(j), i.max(j));
    let high = operands.len().saturating_sub(1) as i64;
    for got in [first, second] {
        if !(0..=high).contains(&got) {
            return Err(ErrorKind::OutOfRange { arg: "path", got, low: 0, high }.into());
        }
    }
    if first == second {
        return Err(rule("argument path contracts an operand with itself"));
    }
    let b = operands.remove(second as usize);
    Ok((operands.remove(first as usize), b))
}

/// The product of two operands, summed over all that no other operand and not the output has.
fn contracted(
    calls: &Calls<'_>,
    mut a: AnyTensor,
    mut b: AnyTensor,
    counts: &mut [usize],
    output: usize,
) -> Result<AnyTensor> {
    let (mut of_a, mut of_b, mut of_both) = (Vec::new(), Vec::new(), Vec::new());
    for (d, count) in counts.iter_mut().enumerate().skip(output) {
        match (a.sizes()[d] != 1, b.sizes()[d] != 1) {
            (true, true) => {
                *count = count.saturating_sub(1);
                if *count == 1 {
                    of_both.push(d);
                    *count = 0;
                }
            }
            (in_a, in_b) if *count == 1 && (in_a || in_b) => {
                if in_a { &mut of_a } else { &mut of_b }.push(d as i64);
                *count = 0;
            }
            _ => {}
        }
    }
    if !of_a.is_empty() {
        a = calls.sum(a, &of_a, true)?;
    }
    if !of_b.is_empty() {
        b = calls.sum(b, &of_b, true)?;
    }
    sumproduct_pair(calls, &a, &b, &of_both)
}

/// `_trilinear`: the sum of products of three tensors, each without some of the dimensions, over `sumdim`.
#[allow(clippy::too_many_arguments, reason = "they are the schema's")]
pub fn trilinear(
    calls: &Calls<'_>,
    i1: &IValue,
    i2: &IValue,
    i3: &IValue,
    expand1: &[i64],
    expand2: &[i64],
    expand3: &[i64],
    sumdim: &[i64],
    unroll: i64,
) -> Result<AnyTensor> {
    let tensors = [tensor(i1, "i1")?, tensor(i2, "i2")?, tensor(i3, "i3")?];
    let total = tensors[0].ndim().saturating_add(expand1.len());
    let high = total.saturating_sub(1) as i64;
    if !(0..total as i64).contains(&unroll) {
        return Err(ErrorKind::OutOfRange { arg: "unroll_dim", got: unroll, low: 0, high }.into());
    }
    let unroll = unroll as usize;
    let mask = |arg: &'static str, dims: &[i64]| -> Result<Vec<bool>> {
        let mut mask = vec![false; total];
        for &dim in dims {
            let dim = monomorph_core::strides::wrap_dim(dim, total, arg)?;
            if std::mem::replace(&mut mask[dim], true) {
                return Err(ErrorKind::DimRepeated { arg, dim }.into());
            }
        }
        Ok(mask)
    };
    let lacks = [mask("expand1", expand1)?, mask("expand2", expand2)?, mask("expand3", expand3)?];
    let summed = mask("sumdim", sumdim)?;
    let mut expanded = list::with_capacity(3)?;
    for ((t, lacks), arg) in tensors.iter().zip(&lacks).zip(["i1", "i2", "i3"]) {
        let mut t = (*t).clone();
        let got = t.ndim();
        if got.saturating_add(lacks.iter().filter(|&&lacks| lacks).count()) != total {
            let accepted = "those of the result that it is not expanded by";
            return Err(ErrorKind::DimCount { arg, got, accepted }.into());
        }
        for (d, _) in lacks.iter().enumerate().filter(|(_, lacks)| **lacks) {
            t = calls.unsqueeze(&t, d)?;
        }
        expanded.push(t);
    }
    let size = |d: usize| {
        let mut sizes = expanded.iter().zip(&lacks).filter(|(_, lacks)| !lacks[d]).map(|(t, _)| t.sizes()[d]);
        sizes.next_back().unwrap_or(1)
    };
    let sizes: DimVec = (0..total).map(|d| if summed[d] { 1 } else { size(d) }).collect();
    let third = &lacks[2];
    let sums = |lacking: bool| -> Vec<usize> {
        (0..total).filter(|&d| summed[d] && d != unroll && third[d] == lacking).collect()
    };
    let (first_sums, second_sums) = (sums(true), sums(false));
    let output = calls.full_like(tensors[0], &sizes, Scalar::Int(0))?;
    for k in 0..size(unroll) {
        let slice = |i: usize| calls.narrow(&expanded[i], unroll, if lacks[i][unroll] { 0 } else { k }, 1);
        let product = sumproduct_pair(calls, &slice(0)?, &slice(1)?, &first_sums)?;
        let product = sumproduct_pair(calls, &product, &slice(2)?, &second_sums)?;
        let place = if summed[unroll] { output.clone() } else { calls.narrow(&output, unroll, k, 1)? };
        calls.add_to(place, &product)?;
    }
    let left: DimVec = sizes.iter().zip(&summed).filter(|(_, summed)| !**summed).map(|(&size, _)| size).collect();
    calls.view(&output, &left)
}

/// `bilinear`: `x1 · W[i] · x2` for each output `i`, and the bias.
pub fn bilinear(
    calls: &Calls<'_>,
    input1: &IValue,
    input2: &IValue,
    weight: &IValue,
    bias: &IValue,
) -> Result<AnyTensor> {
    let (x1, x2, w) = (tensor(input1, "input1")?, tensor(input2, "input2")?, tensor(weight, "weight")?);
    let &[outputs, in1, in2] = w.sizes() else {
        return Err(ErrorKind::DimCount { arg: "weight", got: w.ndim(), accepted: "3" }.into());
    };
    let unequal = |arg, got: &[i64], want: Vec<i64>| ErrorKind::UnequalSizes { arg, got: got.to_vec(), want }.into();
    let (Some((&last1, outer)), Some((&last2, outer2))) = (x1.sizes().split_last(), x2.sizes().split_last()) else {
        return Err(ErrorKind::DimCount { arg: "input1", got: 0, accepted: "1 or more" }.into());
    };
    let joined = |outer: &[i64], last: i64| outer.iter().copied().chain([last]).collect::<Vec<_>>();
    if outer != outer2 {
        return Err(unequal("input2", x2.sizes(), joined(outer, in2)));
    }
    if last1 != in1 {
        return Err(unequal("input1", x1.sizes(), joined(outer, in1)));
    }
    if last2 != in2 {
        return Err(unequal("input2", x2.sizes(), joined(outer, in2)));
    }
    let bias = bias.as_tensor().filter(|_| !operand(bias).is_absent());
    if let Some(bias) = bias {
        if bias.dtype() != x1.dtype() {
            return Err(ErrorKind::DTypeMismatch { arg: "bias", got: bias.dtype(), want: x1.dtype() }.into());
        }
        if bias.sizes().first() != Some(&outputs) {
            return Err(unequal("bias", bias.sizes(), vec![outputs]));
        }
    }
    let rows = volume(outer)?;
    let flat = |t: &AnyTensor, last: i64| calls.reshape(t, &[rows, last]);
    let (flat1, flat2) = (flat(x1, last1)?, flat(x2, last2)?);
    let (flat1, flat2) = (flat1.into(), flat2.into());
    let product = trilinear(calls, &flat1, weight, &flat2, &[1, 3], &[0], &[1, 2], &[2, 3], 1)?;
    let sizes = joined(outer, outputs);
    let product = calls.reshape(&product, &sizes)?;
    match bias {
        Some(bias) => calls.add(product, bias.clone()),
        None => Ok(product),
    }
}

native! {
    family: Einstein, functions: crate::fill::Fills;

    func: einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor,
    composite: implicit einsum, silent_view: true;

    func: _trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim,
        int unroll_dim=1) -> Tensor,
    autogen: _trilinear.out, composite: explicit trilinear;

    func: bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor,
    composite: implicit bilinear;
}

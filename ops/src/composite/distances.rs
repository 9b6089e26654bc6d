//! Distances of each row of one matrix from each row of another: cdist and what it is made of. Differences of a few
//! rows at a time are made and reduced, so that what lies between fits into a cache; Euclidean distances of many rows
//! are those of a product of matrices.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Fillers};
use super::products::{matmul, transposed};
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

/// Differences that are made at a time.
const CHUNK: i64 = 1 << 18;

/// Rows from which on a product of matrices is faster.
const MANY: i64 = 25;

/// Two batches of matrices, broadcast to one batch.
struct Rows {
    batch: DimVec,
    a: AnyTensor,
    b: AnyTensor,
    rows: [i64; 2],
    columns: i64,
}

impl Rows {
    fn of(calls: &Calls<'_>, a: &AnyTensor, b: &AnyTensor) -> Result<Rows> {
        let split = |arg, t: &AnyTensor| match *t.sizes() {
            [ref batch @ .., rows, columns] => Ok((DimVec::from_slice(batch), rows, columns)),
            _ => Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "2 or more" }),
        };
        let (a_batch, a_rows, columns) = split("x1", a)?;
        let (b_batch, b_rows, other) = split("x2", b)?;
        if columns != other {
            let (got, want) = (b.sizes().to_vec(), vec![b_rows, columns]);
            return Err(ErrorKind::UnequalSizes { arg: "x2", got, want }.into());
        }
        let batch = strides::broadcast_sizes(&a_batch, &b_batch)?;
        let expanded = |t: &AnyTensor, rows: i64| {
            let sizes: DimVec = batch.iter().copied().chain([rows, columns]).collect();
            if t.sizes() == sizes.as_slice() { Ok(t.clone()) } else { calls.expand(t, &sizes) }
        };
        let (a, b) = (expanded(a, a_rows)?, expanded(b, b_rows)?);
        Ok(Rows { batch, a, b, rows: [a_rows, b_rows], columns })
    }

    /// The sizes of a result with these two behind the batch.
    fn sizes(&self, last: [i64; 2]) -> DimVec {
        self.batch.iter().copied().chain(last).collect()
    }

    /// The dimension of rows.
    fn dim(&self) -> usize {
        self.batch.len()
    }

    /// What `f` makes of the differences of some rows of the first from all of the second, joined along the rows.
    fn chunks(&self, calls: &Calls<'_>, f: impl Fn(i64, i64, AnyTensor) -> Result<AnyTensor>) -> Result<AnyTensor> {
        let row = super::products::volume(&self.sizes([self.rows[1], self.columns]))?.max(1);
        let (dim, step) = (self.dim(), CHUNK.checked_div(row).unwrap_or(1).max(1));
        let behind = calls.unsqueeze(&self.b, dim)?;
        let (mut parts, mut start) = (Vec::new(), 0_i64);
        while start < self.rows[0] {
            let n = step.min(self.rows[0].saturating_sub(start));
            let rows = calls.narrow(&self.a, dim, start, n)?;
            let difference = calls.sub(calls.unsqueeze(&rows, dim.saturating_add(1))?, behind.clone())?;
            parts.push(f(start, n, difference)?);
            start = start.saturating_add(n);
        }
        let joined = match <[AnyTensor; 1]>::try_from(parts) {
            Ok([part]) => part,
            Err(parts) => Callees::cat(calls, parts, dim)?,
        };
        if joined.is_contiguous() { Ok(joined) } else { calls.cloned(&joined, MemoryFormat::Contiguous) }
    }
}

/// Both of one dtype, which is one of these.
fn check_dtypes(a: &AnyTensor, b: &AnyTensor, computes: bool) -> Result<()> {
    for (what, t) in [("argument x1 has dtype", a), ("argument x2 has dtype", b)] {
        let got = t.dtype();
        let half = matches!(got, DType::F16 | DType::BF16);
        if !got.is_floating() || computes && half {
            let accepted = if half { "float32 and float64" } else { "floating dtypes" };
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
    }
    if computes && a.dtype() != b.dtype() {
        return Err(ErrorKind::DTypeMismatch { arg: "x2", got: b.dtype(), want: a.dtype() }.into());
    }
    Ok(())
}

/// `_euclidean_dist`: `√(|a|² - 2 a·b + |b|²)`, as one product of matrices.
pub fn euclidean(calls: &Calls<'_>, x1: &IValue, x2: &IValue) -> Result<AnyTensor> {
    let (a, b) = (tensor(x1, "x1")?, tensor(x2, "x2")?);
    let squares = |t: &AnyTensor| {
        let squares = calls.binary("pow.Tensor_Scalar", t.clone(), Scalar::Int(2))?;
        calls.sum(squares, &[-1], true)
    };
    let ones = |t: &AnyTensor| calls.full_like(t, t.sizes(), Scalar::Int(1));
    let (a_squares, b_squares) = (squares(a)?, squares(b)?);
    let (a_ones, b_ones) = (ones(&a_squares)?, ones(&b_squares)?);
    let doubled = calls.tensor("mul.Tensor", [a.clone().into(), Scalar::Int(-2).into()])?;
    let joined = |parts: [AnyTensor; 3]| calls.tensor("cat", [IValue::Tensors(parts.to_vec()), (-1i64).into()]);
    let left = joined([doubled, a_squares, a_ones])?;
    let right = joined([b.clone(), b_ones, b_squares])?;
    let squared = matmul(calls, &left, &transposed(calls, &right)?)?;
    let squared = calls.tensor("clamp_min", [squared.into(), Scalar::Int(0).into()])?;
    let distance = calls.unary("sqrt", squared)?;
    if distance.dtype() != a.dtype() {
        return Err(ErrorKind::Cast { from: distance.dtype(), to: a.dtype() }.into());
    }
    Ok(distance)
}

/// `cdist` and `_cdist_forward`: distances of order `p`.
pub fn cdist(calls: &Calls<'_>, x1: &IValue, x2: &IValue, p: f64, mode: Option<i64>) -> Result<AnyTensor> {
    let (a, b) = (tensor(x1, "x1")?, tensor(x2, "x2")?);
    let rows = Rows::of(calls, a, b)?;
    check_dtypes(a, b, false)?;
    if p.is_nan() || p < 0.0 {
        return Err(rule("argument p is negative or NaN; accepted are 0, positive numbers and infinity"));
    }
    let mode = mode.unwrap_or(0);
    if !(0..=2).contains(&mode) {
        return Err(ErrorKind::OutOfRange { arg: "compute_mode", got: mode, low: 0, high: 2 }.into());
    }
    let sizes = rows.sizes(rows.rows);
    if sizes.contains(&0) || rows.columns == 0 {
        return calls.full_like(a, &sizes, Scalar::Int(0));
    }
    let many = rows.rows[0] > MANY || rows.rows[1] > MANY;
    if p == 2.0 && (mode == 1 || mode == 0 && many) {
        let distance = euclidean(calls, &rows.a.clone().into(), &rows.b.clone().into())?;
        return calls.view(&distance, &sizes);
    }
    check_dtypes(a, b, true)?;
    rows.chunks(calls, |_, _, difference| match p == f64::INFINITY {
        // The largest difference that is a number, as in PyTorch.
        true => {
            let size = calls.unary("abs", difference)?;
            let numbers = calls.tensor(
                "masked_fill.Scalar",
                [size.clone().into(), calls.unary("isnan", size)?.into(), Scalar::Int(0).into()],
            )?;
            calls.reduced("amax", numbers, &[-1], false)
        }
        false => calls.norm(difference, Scalar::Float(p), Some(&[-1]), false, None),
    })
}

/// `_cdist_backward`: the gradient of the first matrix.
pub fn cdist_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    x1: &IValue,
    x2: &IValue,
    p: f64,
    distances: &IValue,
) -> Result<AnyTensor> {
    let (a, b) = (tensor(x1, "x1")?, tensor(x2, "x2")?);
    let (grad, distances) = (tensor(grad, "grad_output")?, tensor(distances, "cdist")?);
    let rows = Rows::of(calls, a, b)?;
    let sizes = rows.sizes(rows.rows);
    if sizes.contains(&0) || rows.columns == 0 {
        let unset = || IValue::None;
        return calls.tensor("zeros_like", [x1.clone(), unset(), unset(), unset(), unset(), unset()]);
    }
    check_dtypes(a, b, true)?;
    for (arg, t) in [("grad_output", grad), ("cdist", distances)] {
        if t.dtype() != a.dtype() {
            return Err(ErrorKind::DTypeMismatch { arg, got: t.dtype(), want: a.dtype() }.into());
        }
        if t.sizes() != sizes.as_slice() {
            return Err(ErrorKind::UnequalSizes { arg, got: t.sizes().to_vec(), want: sizes.to_vec() }.into());
        }
    }
    if p == 0.0 || p.is_nan() {
        return calls.full_like(a, &rows.sizes([rows.rows[0], rows.columns]), Scalar::Int(0));
    }
    let dim = rows.dim();
    rows.chunks(calls, |start, n, difference| {
        let part = |t: &AnyTensor| {
            let part = calls.narrow(t, dim, start, n)?;
            calls.unsqueeze(&part, dim.saturating_add(2))
        };
        let (grad, distance) = (part(grad)?, part(distances)?);
        let power = |t: AnyTensor, by: f64| calls.binary("pow.Tensor_Scalar", t, Scalar::Float(by));
        let sign = calls.unary("sgn", difference.clone())?;
        let terms = if p == 1.0 {
            calls.mul(sign, grad)?
        } else if p == f64::INFINITY {
            // 1 where the difference is the distance, else 0, and NaN of NaN.
            let gap = calls.unary("abs", calls.sub(calls.unary("abs", difference)?, distance)?)?;
            let other = calls.binary("clamp_max", calls.unary("ceil", gap)?, Scalar::Int(1))?;
            let is_it = calls.tensor("rsub.Scalar", [other.into(), Scalar::Int(1).into(), 1i64.into()])?;
            calls.mul(calls.mul(sign, grad)?, is_it)?
        } else {
            // sign(d) |d|^(p-1) grad / distance^(p-1), and nothing where that is no number: of a distance of 0, or of
            // a difference of 0 below 1.
            let by = p - 1.0;
            let nothing = match p < 1.0 {
                true => calls.binary("eq.Scalar", difference.clone(), Scalar::Int(0))?,
                false => calls.binary("eq.Scalar", distance.clone(), Scalar::Int(0))?,
            };
            let size = power(calls.unary("abs", difference)?, by)?;
            let scaled = calls.div(calls.mul(calls.mul(sign, size)?, grad)?, power(distance, by)?)?;
            calls.tensor("masked_fill.Scalar", [scaled.into(), nothing.into(), Scalar::Int(0).into()])?
        };
        calls.sum(terms, &[-2], false)
    })
}

native! {
    family: Distances, functions: crate::fill::Fills;

    func: cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor,
    composite: implicit cdist;

    func: _euclidean_dist(Tensor x1, Tensor x2) -> Tensor,
    autogen: _euclidean_dist.out, composite: explicit euclidean;

    func: _cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor,
    autogen: _cdist_forward.out, composite: explicit cdist;

    func: _cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor,
    autogen: _cdist_backward.out, composite: explicit cdist_backward;
}

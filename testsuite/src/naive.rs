//! The naive twin of pointwise operators: promotion by the rules, broadcasting by index arithmetic, one element after
//! another through the record's reference. Owns what a call should give; never calls an operator.

use monomorph::crates::core::{Category, Kind, ResultType};
use monomorph::crates::ops::pointwise::OutputKind;
use monomorph::crates::ops::record::Within;
use monomorph::{Complex64, Cpu, DType, Scalar, Tensor};

use crate::formulas::Formula;
use crate::layout::{convert, values};

/// One operand: a tensor or a number.
#[derive(Clone)]
pub enum Arg {
    /// A tensor.
    Tensor(Tensor<Cpu>),
    /// A number.
    Number(Scalar),
}

impl Arg {
    /// The sizes.
    pub fn sizes(&self) -> &[i64] {
        match self {
            Arg::Tensor(t) => t.sizes(),
            Arg::Number(_) => &[],
        }
    }

    fn dtype(&self) -> DType {
        match self {
            Arg::Tensor(t) => t.dtype(),
            Arg::Number(n) => n.dtype(),
        }
    }

    fn category(&self) -> Category {
        match self {
            Arg::Number(_) => Category::Number,
            Arg::Tensor(t) if t.ndim() == 0 => Category::ZeroDim,
            Arg::Tensor(_) => Category::Dimensioned,
        }
    }

    fn values(&self) -> Vec<Scalar> {
        match self {
            Arg::Tensor(t) => values(t),
            Arg::Number(n) => vec![*n],
        }
    }
}

/// What a call should give.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The sizes of the result.
    pub sizes: Vec<i64>,
    /// Its dtype.
    pub dtype: DType,
    /// Its elements in row-major order.
    pub values: Vec<Scalar>,
}

/// Why a call should fail, as far as the rules say it. Checks of single operators are not known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The sizes do not broadcast.
    Sizes,
    /// The operator does not compute in the promoted dtype.
    Domain(DType),
    /// Some element has no result.
    Data,
}

/// The dtype that the formula computes in.
pub fn compute_dtype(formula: &Formula, operands: &[Arg], params: &[Scalar]) -> DType {
    let mut types = ResultType::default();
    let promoted = &operands[formula.masks..];
    for arg in promoted {
        types.push(arg.dtype(), arg.category());
    }
    let common = match promoted {
        [one] if !formula.rule.numbers_promote() && !formula.rule.flags().promotes() => Some(one.dtype()),
        _ => {
            if formula.rule.numbers_promote() {
                params.iter().for_each(|p| types.push(p.dtype(), Category::Number));
            }
            types.dtype()
        }
    };
    let common = common.unwrap_or(DType::F32);
    if formula.rule.flags().promotes_to_float() && common.kind() < Kind::Float { DType::F32 } else { common }
}

/// The result of a formula on these operands.
pub fn pointwise(formula: &Formula, operands: &[Arg], params: &[Scalar]) -> Result<Expected, Refusal> {
    let compute = compute_dtype(formula, operands, params);
    let mut types = ResultType::default();
    operands[formula.masks..].iter().for_each(|arg| types.push(arg.dtype(), arg.category()));
    // There is no complex32.
    if formula.rule.output() == OutputKind::Common && compute.is_complex() && types.is_half_complex() {
        return Err(Refusal::Domain(compute));
    }
    formula.rule.check_domain(compute).map_err(|_| Refusal::Domain(compute))?;
    let sizes = operands.iter().try_fold(Vec::new(), |sizes, arg| broadcast(&sizes, arg.sizes()));
    let sizes = sizes.ok_or(Refusal::Sizes)?;
    let dtype = match formula.rule.output() {
        OutputKind::Common => compute,
        OutputKind::Truth => DType::Bool,
        OutputKind::Magnitude => compute.to_real(),
    };
    let one = operands.last().is_some_and(|last| last.sizes().iter().all(|&size| size == 1));
    let wide = formula.rule.wide_scalar() && one && matches!(compute, DType::F16 | DType::BF16);
    let working = if wide { DType::F32 } else { compute };
    let elements: Vec<Vec<Scalar>> = operands.iter().map(Arg::values).collect();
    let params: Vec<Scalar> = params.iter().map(|&p| convert(p, working)).collect();
    let mut results = Vec::new();
    let mut refused = false;
    each_index(&sizes, |index| {
        let mut x = Vec::new();
        for (k, (arg, elements)) in operands.iter().zip(&elements).enumerate() {
            let element = elements[place(index, arg.sizes())];
            let to = if k < formula.masks { DType::Bool } else { working };
            x.push(convert(element, to));
        }
        match (formula.record.reference)(working, &x, &params) {
            Some(value) => results.push(convert(value, dtype)),
            None => refused = true,
        }
    });
    if refused { Err(Refusal::Data) } else { Ok(Expected { sizes, dtype, values: results }) }
}

/// Sizes that both broadcast to.
pub fn broadcast(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let n = a.len().max(b.len());
    let at = |sizes: &[i64], d: usize| (d + sizes.len()).checked_sub(n).map_or(1, |d| sizes[d]);
    (0..n)
        .map(|d| match (at(a, d), at(b, d)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

/// The row-major place of a broadcast index among the elements of `sizes`.
fn place(index: &[i64], sizes: &[i64]) -> usize {
    let lead = index.len() - sizes.len();
    sizes.iter().zip(&index[lead..]).fold(0, |place, (&size, &i)| place * size as usize + (i % size) as usize)
}

/// Calls `visit` with every index, in row-major order.
pub fn each_index(sizes: &[i64], mut visit: impl FnMut(&[i64])) {
    let count: i64 = sizes.iter().product();
    for number in 0..count {
        let mut rest = number;
        let mut index = vec![0; sizes.len()];
        for d in (0..sizes.len()).rev() {
            index[d] = rest % sizes[d];
            rest /= sizes[d];
        }
        visit(&index);
    }
}

/// Units in the last place between two elements of a dtype. NaN equals NaN; zeros of either sign are one unit apart.
/// For complex numbers the unit is that of the larger part, since cancellation leaves the smaller one nothing of its
/// own.
pub fn distance(dtype: DType, a: Scalar, b: Scalar) -> u64 {
    match dtype {
        DType::F16 => units(
            i16_place(half::f16::from_f64(a.to_f64()).to_bits()),
            nan(a),
            i16_place(half::f16::from_f64(b.to_f64()).to_bits()),
            nan(b),
        ),
        DType::BF16 => units(
            i16_place(half::bf16::from_f64(a.to_f64()).to_bits()),
            nan(a),
            i16_place(half::bf16::from_f64(b.to_f64()).to_bits()),
            nan(b),
        ),
        DType::F32 => {
            let place =
                |x: Scalar| i64_place(i64::from((x.to_f64() as f32).to_bits().cast_signed()), i64::from(i32::MAX));
            units(place(a), nan(a), place(b), nan(b))
        }
        DType::F64 => {
            let place = |x: Scalar| i64_place(x.to_f64().to_bits().cast_signed(), i64::MAX);
            units(place(a), nan(a), place(b), nan(b))
        }
        DType::C64 => complex_units(a.to_complex(), b.to_complex(), f64::from(f32::EPSILON)),
        DType::C128 => complex_units(a.to_complex(), b.to_complex(), f64::EPSILON),
        _ => u64::from(a != b),
    }
}

/// The same, but 0 where floats are as near as a record asks for.
pub fn distance_beyond(dtype: DType, within: Within, got: Scalar, want: Scalar) -> u64 {
    let near = dtype.kind() == Kind::Float && (got.to_f64() - want.to_f64()).abs() <= within.absolute;
    if near { 0 } else { distance(dtype, got, want) }
}

fn nan(x: Scalar) -> bool {
    x.to_f64().is_nan()
}

fn i16_place(bits: u16) -> i128 {
    i64_place(i64::from(bits.cast_signed()), i64::from(i16::MAX))
}

/// The place of a float on the line of all floats, from its bits.
fn i64_place(bits: i64, magnitude: i64) -> i128 {
    i128::from(if bits < 0 { !(bits & magnitude) } else { bits })
}

fn units(a: i128, a_nan: bool, b: i128, b_nan: bool) -> u64 {
    match (a_nan, b_nan) {
        (true, true) => 0,
        (false, false) => u64::try_from(a.abs_diff(b)).unwrap_or(u64::MAX),
        _ => u64::MAX,
    }
}

fn complex_units(a: Complex64, b: Complex64, epsilon: f64) -> u64 {
    let part = |x: f64, y: f64, unit: f64| {
        if x == y || (x.is_nan() && y.is_nan()) {
            0
        } else if x.is_finite() && y.is_finite() {
            ((x - y).abs() / unit).ceil() as u64
        } else {
            u64::MAX
        }
    };
    let size = [b.re, b.im].into_iter().filter(|x| x.is_finite()).fold(0.0, |size: f64, x| size.max(x.abs()));
    let unit = (size * epsilon).max(f64::MIN_POSITIVE);
    part(a.re, b.re, unit).max(part(a.im, b.im, unit))
}

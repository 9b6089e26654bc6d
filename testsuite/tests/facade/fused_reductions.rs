//! Reductions of what pointwise operators give against the same operators one after another: the same bits, strides,
//! dtypes and errors, whatever the operands.

use crate::linalg::run;
use monomorph::crates::ops::Op;
use monomorph::crates::ops::arithmetic::{AbsFn, AddFn, MulFn, SubFn};
use monomorph::crates::ops::comparison::EqFn;
use monomorph::crates::ops::pointwise::{self, Common, Here, Then};
use monomorph::crates::ops::power::PowTwoFn;
use monomorph::crates::ops::record::Inputs;
use monomorph::crates::ops::reduce::{
    Aminmax, Any, Argmax, DimsDtype, Mean, NoIdentity, OptionalDim, OptionalDims, Reduce, ReduceRule, Sum, Takes,
    ThenReduce, Whole, reduction,
};
use monomorph::crates::ops::selection::WhereFn;
use monomorph::{Cpu, DType, IValue, Result, Scalar, Tensor, ops};
use monomorph_testsuite::layout::{Layout, Random, mixed, tensor, values};

type SquaredDistance = ThenReduce<Then<Op<SubFn>, Op<PowTwoFn>>, Sum, DimsDtype>;
type Products = ThenReduce<Op<MulFn>, Sum, DimsDtype>;
type MeanDistance = ThenReduce<Then<Op<SubFn>, Op<AbsFn>>, Mean, DimsDtype>;
type MaskedSum = ThenReduce<Op<WhereFn>, Sum, DimsDtype>;
type AnyEqual = ThenReduce<Op<EqFn>, Any, OptionalDims>;
type LargestSum = ThenReduce<Op<AddFn>, Argmax, OptionalDim>;
type Extremes = ThenReduce<Op<MulFn>, Aminmax, OptionalDim>;

// A formula and a fold of one's own.
pointwise::pointwise! {
    HalfSumFn "half_sum": pointwise::Reals, pointwise::Same<2>; () => Common; pointwise::Rule::BINARY_FLOAT
}
impl<V: monomorph::algebra::TrueDivision> pointwise::Map<V> for HalfSumFn {
    fn eval([a, b]: [V; 2], (): ()) -> V {
        (a + b) / (V::one() + V::one())
    }
}
reduction! { TopFn "top": pointwise::Ordered, Common, NoIdentity => Common; ReduceRule::OWN }
impl Takes<Whole> for TopFn {}
impl<V: monomorph::algebra::Ordered, X: monomorph::algebra::Value<Mask = V::Mask>>
    monomorph::crates::ops::reduce::Fold<V, X> for TopFn
{
    fn one(x: V, _: X) -> V {
        x
    }
    fn merge(a: V, b: V) -> V {
        a.maximum(b)
    }
    fn finish(acc: V, _: X) -> V {
        acc
    }
    fn identity() {}
}
type TopMiddle = ThenReduce<pointwise::Pointwise<HalfSumFn, Here>, Reduce<TopFn>, Whole>;

monomorph::operators! {
    family: Mine;

    func: my::squared_distance(Tensor self, Tensor other, Scalar alpha, Scalar exponent, int[1]? dim, bool keepdim,
        ScalarType? dtype) -> Tensor,
    out: my::squared_distance.out, variants: function, operator: SquaredDistance;

    func: my::products(Tensor self, Tensor other, int[1]? dim, bool keepdim, ScalarType? dtype) -> Tensor,
    out: my::products.out, variants: function, operator: Products;

    func: my::mean_distance(Tensor self, Tensor other, Scalar alpha, int[1]? dim, bool keepdim,
        ScalarType? dtype) -> Tensor,
    out: my::mean_distance.out, variants: function, operator: MeanDistance;

    func: my::masked_sum(Tensor mask, Tensor self, Tensor other, int[1]? dim, bool keepdim,
        ScalarType? dtype) -> Tensor,
    out: my::masked_sum.out, variants: function, operator: MaskedSum;

    func: my::any_equal(Tensor self, Tensor other, int[]? dim, bool keepdim) -> Tensor,
    out: my::any_equal.out, variants: function, operator: AnyEqual;

    func: my::largest_sum(Tensor self, Tensor other, Scalar alpha, int? dim, bool keepdim) -> Tensor,
    out: my::largest_sum.out, variants: function, operator: LargestSum;

    func: my::extremes(Tensor self, Tensor other, int? dim, bool keepdim) -> (Tensor min, Tensor max),
    out: my::extremes.out, variants: function, operator: Extremes;

    func: my::top_middle(Tensor self, Tensor other) -> Tensor,
    out: my::top_middle.out, variants: function, operator: TopMiddle;
}

/// What a call gave: layouts and values, or its error without the operator's name.
type Told = std::result::Result<Vec<(Vec<i64>, Vec<i64>, DType, String)>, String>;

fn told(result: Result<Vec<Tensor<Cpu>>>) -> Told {
    // Values as text: NaN equals NaN, and -0 is not 0.
    let one = |t: &Tensor<Cpu>| (t.sizes().to_vec(), t.strides().to_vec(), t.dtype(), format!("{:?}", values(t)));
    result.map(|all| all.iter().map(one).collect()).map_err(|e| format!("{:?}", e.kind()))
}

fn one(name: &str, arguments: Vec<IValue>) -> Result<Tensor<Cpu>> {
    Ok(run(name, arguments)?.swap_remove(0))
}

/// The arguments of one round.
struct Round {
    a: Tensor<Cpu>,
    b: Tensor<Cpu>,
    mask: Tensor<Cpu>,
    dims: Option<Vec<i64>>,
    keepdim: bool,
    dtype: Option<DType>,
}

impl Round {
    /// Each operator of this file, and what it is composed of in turn.
    fn pairs(&self) -> Vec<(&'static str, Told, Told)> {
        let Round { a, b, mask, dims, keepdim, dtype } = self;
        let (keepdim, dtype) = (*keepdim, *dtype);
        let list = || dims.clone().map_or(IValue::None, IValue::Ints);
        let asked = || dtype.map_or(IValue::None, IValue::DType);
        let [x, y, m] = [a, b, mask].map(|t| || IValue::from(t.clone()));
        let difference = || one("sub.Tensor", vec![x(), y(), 1i64.into()]);
        let along = dims.as_ref().and_then(|dims| dims.first().copied());
        let dim = || along.map_or(IValue::None, IValue::Int);
        let sum = |t: Tensor<Cpu>| run("sum.dim_IntList", vec![t.into(), list(), keepdim.into(), asked()]);
        let d = dims.as_deref();
        vec![
            (
                "squared_distance",
                told(squared_distance(a, b, 1, 2, d, keepdim, dtype).map(|t| vec![t])),
                told(difference().and_then(|t| one("pow.Tensor_Scalar", vec![t.into(), 2i64.into()])).and_then(sum)),
            ),
            (
                "products",
                told(products(a, b, d, keepdim, dtype).map(|t| vec![t])),
                told(one("mul.Tensor", vec![x(), y()]).and_then(sum)),
            ),
            (
                "mean_distance",
                told(mean_distance(a, b, 1, d, keepdim, dtype).map(|t| vec![t])),
                told(
                    difference()
                        .and_then(|t| one("abs", vec![t.into()]))
                        .and_then(|t| run("mean.dim", vec![t.into(), list(), keepdim.into(), asked()])),
                ),
            ),
            (
                "masked_sum",
                told(masked_sum(mask, a, b, d, keepdim, dtype).map(|t| vec![t])),
                told(one("where.self", vec![m(), x(), y()]).and_then(sum)),
            ),
            (
                "any_equal",
                told(any_equal(a, b, d, keepdim).map(|t| vec![t])),
                told(
                    one("eq.Tensor", vec![x(), y()])
                        .and_then(|t| run("any.dims", vec![t.into(), list(), keepdim.into()])),
                ),
            ),
            (
                "largest_sum",
                told(largest_sum(a, b, 1, along, keepdim).map(|t| vec![t])),
                told(
                    one("add.Tensor", vec![x(), y(), 1i64.into()])
                        .and_then(|t| run("argmax", vec![t.into(), dim(), keepdim.into()])),
                ),
            ),
            (
                "extremes",
                told(extremes(a, b, along, keepdim).map(|(least, most)| vec![least, most])),
                told(
                    one("mul.Tensor", vec![x(), y()])
                        .and_then(|t| run("aminmax", vec![t.into(), dim(), keepdim.into()])),
                ),
            ),
        ]
    }
}

const SHAPES: [&[i64]; 10] = [&[], &[1], &[5], &[4, 5], &[4, 1], &[1, 5], &[3, 1, 5], &[2, 4, 5], &[2, 1, 5], &[0, 5]];

fn operand(random: &mut Random, dtype: DType, sizes: &[i64]) -> Tensor<Cpu> {
    let layout = random.pick(&Layout::ALL);
    tensor(layout.geometry(dtype, sizes), &mixed(dtype, Inputs::Any, 41, random))
}

#[test]
fn reductions_of_operators_equal_turns() {
    let mut random = Random::new(17);
    let (mut fine, mut refused) = (0, 0);
    for round in 0..1500 {
        let dtype = DType::ALL[round % DType::COUNT];
        let other = if random.one_in(4) { random.pick(&DType::ALL) } else { dtype };
        let mut operand = |dtype| {
            let sizes = random.pick(&SHAPES);
            operand(&mut random, dtype, sizes)
        };
        let [a, b, mask] = [dtype, other, DType::Bool].map(&mut operand);
        let dims = random.pick(&[None, Some(vec![]), Some(vec![-1]), Some(vec![0]), Some(vec![0, -1]), Some(vec![7])]);
        let keepdim = random.one_in(2);
        let asked = if random.one_in(4) { Some(random.pick(&DType::ALL)) } else { None };
        let round = Round { a, b, mask, dims, keepdim, dtype: asked };
        for (name, got, want) in round.pairs() {
            assert_eq!(got, want, "{name}: {:?} and {:?} along {:?}, {asked:?}", round.a, round.b, round.dims);
            *if want.is_ok() { &mut fine } else { &mut refused } += 1;
        }
    }
    assert!(fine > 3000 && refused > 1000, "{fine} {refused}");
}

/// Sizes of two operands, and what the result is reduced along.
type Case<'a> = (&'a [i64], &'a [i64], &'a [Option<&'a [i64]>]);

/// Sizes at which what is reduced takes more than one window, in each of the ways that windows are made.
#[test]
fn reductions_of_large_operands_equal_turns() {
    let mut random = Random::new(18);
    let cases: [Case<'_>; 14] = [
        // In the loop that accumulates: lanes along a kept dimension, of which one operand may have one element.
        (&[60, 1, 13], &[1, 20, 13], &[Some(&[-1]), Some(&[1])]),
        (&[50, 1, 5], &[1, 150, 5], &[Some(&[-1])]),
        (&[700, 48], &[48], &[Some(&[0])]),
        (&[300, 33], &[300, 1], &[Some(&[0])]),
        (&[9, 40, 16, 31], &[9, 1, 16, 31], &[Some(&[1]), Some(&[1, 2]), Some(&[0, 2])]),
        (&[5, 1, 24, 7], &[3, 1, 7], &[Some(&[-1]), Some(&[0, -1])]),
        (&[900, 1, 16], &[1, 17, 16], &[Some(&[-1]), Some(&[0]), Some(&[1]), Some(&[0, 2]), None]),
        (&[700, 300], &[300], &[Some(&[0]), Some(&[1]), None]),
        (&[300, 1200], &[300, 1], &[Some(&[0]), Some(&[1]), None]),
        (&[3, 70_000], &[70_000], &[Some(&[0]), Some(&[1]), None]),
        (&[40, 3000], &[40, 3000], &[Some(&[1]), Some(&[0])]),
        (&[200_003], &[1], &[None, Some(&[0])]),
        (&[50, 40, 60], &[40, 1], &[Some(&[1]), Some(&[0, 2]), Some(&[1, 2]), Some(&[0, 1])]),
        (&[30_000, 3], &[3], &[Some(&[0]), Some(&[1]), None]),
    ];
    for (sizes, other, dims) in cases {
        for dims in dims {
            for dtype in [DType::F32, DType::F64, DType::BF16, DType::I32, DType::U8, DType::C64] {
                // No NaN and no infinity, which would hide where other elements went.
                let mut numbers = |count: usize| -> Vec<Scalar> {
                    (0..count).map(|_| Scalar::Float(random.below(1 << 9) as f64 / 16.0 - 7.0)).collect()
                };
                let made = [numbers(997), numbers(991)];
                let [a, b] = [(sizes, &made[0]), (other, &made[1])].map(|(sizes, numbers)| {
                    let layout = random.pick(&[Layout::Contiguous, Layout::Transposed, Layout::Stepped]);
                    tensor(layout.geometry(dtype, sizes), numbers)
                });
                let truth: Vec<Scalar> = (0..97).map(|_| Scalar::Bool(random.one_in(2))).collect();
                let mask = tensor(Layout::Contiguous.geometry(DType::Bool, sizes), &truth);
                let dims = dims.map(<[i64]>::to_vec);
                let round = Round { a, b, mask, dims, keepdim: false, dtype: None };
                for (name, got, want) in round.pairs() {
                    let equal = got == want;
                    assert!(
                        equal,
                        "{name}: {:?} and {:?} along {:?}",
                        round.a.geometry(),
                        round.b.geometry(),
                        round.dims
                    );
                }
            }
        }
    }
}

#[test]
fn outputs_are_written_as_in_turn() -> Result<()> {
    let numbers: Vec<f32> = (0..60_000).map(|i| (i % 1001) as f32 / 7.0).collect();
    let a = Tensor::<Cpu>::from_slice(&numbers, [300, 200])?;
    let b = Tensor::<Cpu>::from_slice(&numbers[7..207], [200])?;
    let want = ops::sum(&ops::mul(&a, &b)?, 1)?;
    for sizes in [vec![0], vec![300], vec![2, 3]] {
        let mut out = ops::full(sizes, 7.0)?;
        products_out(&a, &b, 1, false, None, &mut out)?;
        assert_eq!(out.to_vec::<f32>()?, want.to_vec::<f32>()?);
    }
    // In turn, operands are read before the output is written, which one of them may be.
    let mut row = ops::mul(&b, 1)?;
    let column = row.clone();
    let expected = ops::sum(&ops::mul(&a, &column)?, 0)?;
    products_out(&a, &column, 0, false, None, &mut row)?;
    assert_eq!(row.to_vec::<f32>()?, expected.to_vec::<f32>()?);
    let halves: f64 = top_middle(&a, &b)?.item()?.to_f64();
    let want = ops::amax(&ops::div(&ops::add(&a, &b)?, 2.0)?, ..)?;
    assert_eq!(halves, want.item()?.to_f64());
    Ok(())
}

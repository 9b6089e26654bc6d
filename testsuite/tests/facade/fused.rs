//! Chains of pointwise operators against the same operators one after another: the same bits, strides, dtypes and
//! errors, whatever the operands.

use monomorph::crates::ops::Op;
use monomorph::crates::ops::arithmetic::{AddFn, DivFn, MulFn, NegFn};
use monomorph::crates::ops::comparison::LtFn;
use monomorph::crates::ops::exponential::ExpFn;
use monomorph::crates::ops::pointwise::{Chain, PointwiseInputs, Then, symbolic};
use monomorph::crates::ops::record::Inputs;
use monomorph::ops::options::*;
use monomorph::ops::{add_out_with, add_with};
use monomorph::{
    Cpu, DType, IValue, Result, Scalar, Stack, Tensor,
    ops::{div, exp, lt, mul, neg},
};
use monomorph_core::structured::prepare;
use monomorph_testsuite::layout::{Layout, Random, mixed, tensor};

type MulAdd = Then<Op<MulFn>, Op<AddFn>>;
type MulAddNeg = Then<MulAdd, Op<NegFn>>;
type DivLt = Then<Op<DivFn>, Op<LtFn>>;
type MulExp = Then<Op<MulFn>, Op<ExpFn>>;

monomorph::operators! {
    family: Mine;

    func: my::mul_add(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    inplace: my::mul_add_, out: my::mul_add.out, variants: function, method, operator: MulAdd;

    func: my::mul_add_neg(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    out: my::mul_add_neg.out, variants: function, method, operator: MulAddNeg;

    func: my::div_lt(Tensor self, Tensor other, Tensor third) -> Tensor,
    out: my::div_lt.out, variants: function, method, operator: DivLt;

    func: my::mul_exp(Tensor self, Tensor other) -> Tensor,
    inplace: my::mul_exp_, out: my::mul_exp.out, variants: function, method, operator: MulExp;
}

/// What a call gave: its layout and bytes, or its error without the operator's name.
fn told(result: &Result<Tensor<Cpu>>) -> std::result::Result<(Vec<i64>, Vec<i64>, DType, String), String> {
    let t = result.as_ref().map_err(|e| format!("{:?}", e.kind()))?;
    // Values as text: NaN equals NaN, and -0 is not 0.
    Ok((t.sizes().to_vec(), t.strides().to_vec(), t.dtype(), format!("{:?}", monomorph_testsuite::layout::values(t))))
}

const SHAPES: [&[i64]; 9] = [&[], &[1], &[5], &[4, 5], &[4, 1], &[1, 5], &[3, 1, 5], &[2, 4, 5], &[0, 5]];

fn operand(random: &mut Random, dtype: DType) -> Tensor<Cpu> {
    let layout = random.pick(&Layout::ALL);
    let sizes = random.pick(&SHAPES);
    tensor(layout.geometry(dtype, sizes), &mixed(dtype, Inputs::Any, 41, random))
}

#[test]
fn chains_equal_their_operators_in_turn() {
    let mut random = Random::new(7);
    let (mut fine, mut refused) = (0, 0);
    for round in 0..6000 {
        let dtype = DType::ALL[round % DType::COUNT];
        let mut other = || if random.one_in(4) { random.pick(&DType::ALL) } else { dtype };
        let (second, third) = (other(), other());
        let [a, b, c] = [dtype, second, third].map(|dtype| operand(&mut random, dtype));
        let alpha = random.pick(&[Scalar::Int(1), Scalar::Int(-3), Scalar::Float(0.1)]);
        let what = format!("{a:?}\n{b:?}\n{c:?}\n{alpha:?}");
        let turns = || add_with(&mul(&a, &b)?, &c, Add { alpha, ..Default::default() });
        let pairs = [
            (mul_add(&a, &b, &c, alpha), turns()),
            (mul_add_neg(&a, &b, &c, alpha), turns().and_then(|t| neg(&t))),
            (div_lt(&a, &b, &c), div(&a, &b).and_then(|t| lt(&t, &c))),
            (mul_exp(&a, &b), mul(&a, &b).and_then(|t| exp(&t))),
        ];
        for (got, want) in &pairs {
            assert_eq!(told(got), told(want), "{what}");
            *if want.is_ok() { &mut fine } else { &mut refused } += 1;
        }
    }
    assert!(fine > 5000 && refused > 500, "{fine} {refused}");
}

#[test]
fn the_callers_output_takes_what_the_turns_give_it() {
    let mut random = Random::new(8);
    let mut fine = 0;
    for round in 0..4000 {
        let dtype = DType::ALL[round % DType::COUNT];
        let third = if random.one_in(3) { random.pick(&DType::ALL) } else { dtype };
        let [a, b, c] = [dtype, dtype, third].map(|dtype| operand(&mut random, dtype));
        let to = if random.one_in(3) { random.pick(&DType::ALL) } else { dtype };
        let sizes = random.pick(&SHAPES);
        let geometry = random.pick(&Layout::WRITABLE).geometry(to, sizes);
        let out = || tensor(geometry.clone(), &[Scalar::Int(1)]);
        let what = format!("{a:?}\n{b:?}\n{c:?}\n{geometry:?}");
        let into = |f: &dyn Fn(&mut Tensor<Cpu>) -> Result<()>| {
            let mut t = out();
            let result = f(&mut t).map(|()| t.clone());
            (told(&result), told(&Ok(t)))
        };
        let got = into(&|t| mul_add_out(&a, &b, &c, 2, t).map(drop));
        let want =
            into(&|t| add_out_with(&mul(&a, &b)?, &c, Add { alpha: 2.into(), ..Default::default() }, t).map(drop));
        assert_eq!(got, want, "{what}");
        fine += u32::from(want.0.is_ok());
        let got = into(&|t| div_lt_out(&a, &b, &c, t).map(drop));
        let want = into(&|t| monomorph::ops::lt_out(&div(&a, &b)?, &c, t).map(drop));
        assert_eq!(got, want, "{what}");
    }
    assert!(fine > 500, "{fine}");
}

#[test]
fn an_output_may_be_any_operand() {
    let numbers: Vec<f32> = (0..30).map(|i| i as f32).collect();
    let made = || Tensor::<Cpu>::from_slice(&numbers, [30]).unwrap();
    let want: Vec<f32> = numbers.iter().map(|x| x * x + 3.0 * x).collect();
    let mut x = made();
    let same = x.clone();
    x.mul_add_(&same, &same, 3).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), want);

    // The second half of the storage as output, all but its end as operand: in turn, it is read before it is written.
    let base = made();
    let front = monomorph::ops::narrow(&base, 0, 0, 20).unwrap();
    let mut back = monomorph::ops::narrow(&base, 0, 10, 20).unwrap();
    let ones = Tensor::<Cpu>::from_slice(&[1.0f32; 20], [20]).unwrap();
    mul_add_out(&front, &ones, &ones, 1, &mut back).unwrap();
    assert_eq!(back.to_vec::<f32>().unwrap(), (1..21).map(|i| i as f32).collect::<Vec<_>>());
}

#[test]
fn halves_are_rounded_between_operators() {
    // 2049 is no float16: rounded to 2048 before 1 is subtracted.
    let half = |x: f32| Tensor::<Cpu>::from_slice(&[monomorph::f16::from_f32(x)], [1]).unwrap();
    let got = mul_add(&half(683.0), &half(3.0), &half(-1.0), 1).unwrap();
    assert_eq!(got.to_vec::<monomorph::f16>().unwrap(), [monomorph::f16::from_f32(2047.0)]);
    let text = symbolic::<<MulAdd as Chain>::Formula>(DType::F16).unwrap().c_source("chain");
    assert!(text.contains("k_through_f16("), "{text}");
    let text = symbolic::<<MulAdd as Chain>::Formula>(DType::F32).unwrap().c_source("chain");
    assert!(!text.contains("through"), "{text}");
}

#[test]
fn a_chain_has_every_form() {
    let x = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0, 3.0], [3]).unwrap();
    let want = [3.0f32, 8.0, 15.0];
    assert_eq!(x.mul_add(&x, &x, 2).unwrap().to_vec::<f32>().unwrap(), want);
    let dry = meta::mul_add(&x, &x, &x, 2).unwrap();
    assert_eq!((dry.sizes(), dry.dtype()), (&[3][..], DType::F32));

    let dispatcher = monomorph::Dispatcher::new();
    let mut library = dispatcher.library("my");
    register(&mut library).unwrap();
    let mut stack: Stack = vec![x.clone().into(), x.clone().into(), x.clone().into(), IValue::Int(2)];
    dispatcher.call("my::mul_add", &mut stack).unwrap();
    let IValue::Tensor(named) = &stack[0] else { panic!("the schema returns a tensor") };
    assert_eq!(named.to_vec::<f32>().unwrap(), want);

    // Prepared, a chain is one formula: it refuses operands for which it is not.
    type Formula = <MulAdd as Chain>::Formula;
    type Single = monomorph::crates::ops::pointwise::Pointwise<Formula>;
    let mut out = x.mul_add(&x, &x, 0).unwrap();
    let inputs = PointwiseInputs::<Formula>::from_lists(&[(&x).into(), (&x).into(), (&x).into()], &[2.into()]).unwrap();
    prepare::<Single, Cpu, 1>(&inputs, [&mut out]).unwrap().run().unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), want);
    let wide = Tensor::<Cpu>::from_slice(&[1.0f64; 3], [3]).unwrap();
    let lent = [(&x).into(), (&x).into(), (&wide).into()];
    let inputs = PointwiseInputs::<Formula>::from_lists(&lent, &[2.into()]).unwrap();
    let error = prepare::<Single, Cpu, 1>(&inputs, [&mut out]).err().expect("two dtypes").to_string();
    assert!(error.contains("mul then add") && error.contains("different dtypes"), "{error}");

    let error = mul_add(&x, &x, &Tensor::<Cpu>::from_slice(&[1.0f32; 4], [4]).unwrap(), 1).unwrap_err().to_string();
    assert!(error.starts_with("my::mul_add: sizes"), "the operator that was called is named: {error}");
}

//! Recorded kernels that are run block by block: the bits are those of one after another, whatever the calls share, and
//! memory that somebody has a tensor of is written.

use super::again::by_name;
use monomorph::crates::core::structured::Recording;
use monomorph::prelude::*;
use monomorph::{AnyTensor, DType, IValue, Result, Scalar, Tensor, ops};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};

/// A step of a random calculation: which operator, and which earlier tensors it takes.
#[derive(Clone, Debug)]
struct Step {
    op: usize,
    operands: [usize; 3],
    number: f64,
    /// Nobody needs the tensor behind this step any more.
    drops: Option<usize>,
}

fn step() -> impl Strategy<Value = Step> {
    let operands = [any::<usize>(), any::<usize>(), any::<usize>()];
    (0..16usize, operands, -2.0..2.0f64, proptest::option::of(any::<usize>()))
        .prop_map(|(op, operands, number, drops)| Step { op, operands, number, drops })
}

fn call(name: &str, args: &[IValue]) -> Result<AnyTensor> {
    Ok(by_name(name, args)?.into_tensor().expect("a tensor"))
}

/// Does the steps on tensors, of which some are dropped on the way, and gives those that are left.
fn calculate(steps: &[Step], inputs: &[AnyTensor]) -> Result<Vec<AnyTensor>> {
    let mut tensors: Vec<AnyTensor> = inputs.to_vec();
    for step in steps {
        let [a, b, c] = step.operands.map(|k| IValue::from(tensors[k % tensors.len()].clone()));
        let number = || IValue::from(Scalar::Float(step.number));
        let one = || IValue::from(Scalar::Int(1));
        let given = tensors[step.operands[0] % tensors.len()].clone();
        let n = given.numel() as i64;
        let result = match step.op {
            0 => call("add.Tensor", &[a, b, one()]),
            1 => call("mul.Tensor", &[a, b]),
            2 => call("sub.Tensor", &[a, b, number()]),
            3 => call("mul.Scalar", &[a, number()]),
            4 => call("add.Scalar", &[a, number(), one()]),
            5 => call("tanh", &[a]),
            6 => call("relu", &[a]),
            7 => call("gt.Tensor", &[a, b.clone()]).and_then(|mask| call("where.self", &[mask.into(), b, c])),
            8 => call("sigmoid", &[a]),
            9 => call("maximum", &[a, b]),
            10 => call("lerp.Tensor", &[a, b, c]),
            // In place, where nobody's input is changed.
            11 if step.operands[0] % tensors.len() >= inputs.len() => call("mul_.Scalar", &[a, number()]),
            12 if step.operands[0] % tensors.len() >= inputs.len() => call("add_.Tensor", &[a, b, one()]),
            // Elements of other places, and one for all.
            13 => call("cumsum", &[a, 0i64.into(), IValue::None]),
            14 => call("select.int", &[a, 0i64.into(), 0i64.into()])
                .and_then(|x| call("sub.Tensor", &[b, x.into(), one()])),
            // In part, beside the place where it is read.
            15 if step.operands[0] % tensors.len() >= inputs.len() => {
                let part = |x, first: i64| call("narrow", &[x, 0i64.into(), first.into(), (n - 1).into()]);
                let (to, from) = (part(a.clone(), 1)?, call("mul.Scalar", &[part(b, 0)?.into(), number()])?);
                call("add_.Tensor", &[to.into(), from.into(), one()]).map(|_| given)
            }
            _ => call("clamp", &[a, number(), IValue::None]),
        }?;
        tensors.push(result);
        if let Some(k) = step.drops
            && tensors.len() > inputs.len() + 1
        {
            tensors.remove(inputs.len() + k % (tensors.len() - inputs.len()));
        }
    }
    Ok(tensors)
}

fn numbers(n: usize, seed: u64, dtype: DType) -> Result<AnyTensor> {
    let values: Vec<f32> = (0..n).map(|i| (((i as u64 * 7 + seed * 13) % 1013) as f32 * 0.61).sin()).collect();
    let tensor = Tensor::from_vec(values, [n as i64])?.into_any();
    call("to.dtype", &[tensor.into(), dtype.into(), false.into(), true.into(), IValue::None])
}

fn bytes(tensors: &[AnyTensor]) -> Vec<Vec<u8>> {
    let plain = |t: &AnyTensor| call("clone", &[t.clone().into(), IValue::None]).expect("a copy");
    tensors.iter().map(|t| plain(t).storage_to_vec().expect("on the CPU")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// What is left of a random calculation has the bits of the calculation done anew, grouped or not.
    #[test]
    fn blocks_give_the_bits_of_whole_calls(
        steps in proptest::collection::vec(step(), 1..14),
        n in prop_oneof![2usize..40, 3000usize..9000, Just(70_001usize)],
        half in any::<bool>(),
    ) {
        let dtype = if half { DType::BF16 } else { DType::F32 };
        let inputs = |seeds: [u64; 2]| seeds.map(|seed| numbers(n, seed, dtype).expect("a tensor"));
        let given = inputs([0, 1]);
        let other = inputs([3, 4]);
        let mut recording = Recording::default();
        let (left, kernels) = recording.record(|| calculate(&steps, &given));
        let left = left.unwrap();
        let kernels = kernels.expect("nothing is read");
        recording.group(kernels.clone(), 1);
        for (to, from) in given.iter().zip(&other) {
            call("copy_", &[to.clone().into(), from.clone().into()]).unwrap();
        }
        let want = bytes(&calculate(&steps, &other).unwrap());
        for _ in 0..2 {
            recording.run(kernels.clone()).unwrap();
            prop_assert_eq!(&bytes(&left), &want);
        }
    }
}

/// A chain is one group, and its intermediate results are in nobody's memory.
#[test]
fn a_chain_is_one_group() -> Result<()> {
    let x = ops::ones(100_000, DType::F32)?;
    let mut recording = Recording::default();
    let (y, kernels) = recording.record(|| (0..4).try_fold(x.clone(), |y, _| y.mul(1.5)?.add(-0.25)?.tanh()));
    let (y, kernels) = (y?, kernels.expect("kernels"));
    recording.group(kernels.clone(), 1 << 17);
    assert_eq!(recording.grouped(), 0);
    recording.group(kernels.clone(), 1 << 13);
    assert_eq!((kernels.len(), recording.grouped()), (12, 12));
    x.clone().fill_(-1.0)?;
    recording.run(kernels.clone())?;
    let want = (0..4).try_fold(x.clone(), |y, _| y.mul(1.5)?.add(-0.25)?.tanh())?;
    assert_eq!(y.to_vec::<f32>()?, want.to_vec::<f32>()?);
    // One by one, they run as they did before.
    x.clone().fill_(0.5)?;
    for kernel in kernels {
        recording.run(kernel..kernel + 1)?;
    }
    let want = (0..4).try_fold(x.clone(), |y, _| y.mul(1.5)?.add(-0.25)?.tanh())?;
    assert_eq!(y.to_vec::<f32>()?, want.to_vec::<f32>()?);
    Ok(())
}

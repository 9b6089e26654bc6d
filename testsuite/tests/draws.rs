//! Random numbers against what PyTorch drew: checksums of bits over distributions × dtypes × layouts × sizes, seeds 0
//! to 19 (`record/draws.py`); the state of generators; rules of parameters; threads that share a source. A program of
//! its own, because other tests draw from the source that all share.

use monomorph::prelude::*;
use monomorph::{AnyTensor, Cpu, DType, ErrorKind, Generator, IValue, Tensor, call, ops};
use std::collections::HashSet;

const GOLDEN: &str = include_str!("../golden/draws.txt");

/// The bytes of all elements in row-major order.
fn bytes(t: &Tensor<Cpu>) -> Vec<u8> {
    t.contiguous().unwrap().as_bytes().unwrap().to_vec()
}

fn stacked<const N: usize>(name: &str, arguments: [IValue; N]) -> monomorph::Result<Vec<IValue>> {
    let mut stack = arguments.to_vec();
    call(name, &mut stack)?;
    Ok(stack)
}

fn first(results: Vec<IValue>) -> Tensor<Cpu> {
    let tensor = results.into_iter().next().and_then(IValue::into_tensor);
    tensor.as_ref().and_then(AnyTensor::downcast_ref::<Cpu>).unwrap().clone()
}

fn call1<const N: usize>(name: &str, arguments: [IValue; N]) -> Tensor<Cpu> {
    first(stacked(name, arguments).unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn dtype(name: &str) -> DType {
    DType::from_name(name).unwrap()
}

fn target(dtype: DType, layout: &str, n: i64) -> Tensor<Cpu> {
    match layout {
        "stepped" => ops::zeros(2 * n, dtype).unwrap().i((..).by(2)).unwrap(),
        "transposed" => ops::zeros((n, 3), dtype).unwrap().t().unwrap(),
        _ => ops::zeros(n, dtype).unwrap(),
    }
}

fn ramp(n: i64, period: i64, scale: f64, dtype: DType) -> Tensor<Cpu> {
    let numbers: Vec<f64> = (0..n).map(|i| (i % period) as f64 * scale).collect();
    Tensor::from_vec(numbers, n).unwrap().to(dtype).unwrap()
}

const NONE: IValue = IValue::None;

/// What `record/draws.py` does under this name.
fn made(name: &str, dtype: DType, layout: &str, n: i64) -> Tensor<Cpu> {
    let t = || IValue::from(target(dtype, layout, n));
    let ramp = |period, scale| IValue::from(ramp(n, period, scale, dtype));
    let sizes = || IValue::Ints(vec![n]);
    match name {
        "unit" => call1("uniform_", [t(), 0.0.into(), 1.0.into(), NONE]),
        "uniform" => call1("uniform_", [t(), 0.3.into(), 1.7.into(), NONE]),
        "normal" => call1("normal_", [t(), 0.3.into(), 1.7.into(), NONE]),
        "normal_twice" => {
            let once = call1("normal_", [t(), 0.0.into(), 1.0.into(), NONE]);
            call1("normal_", [once.into(), 1.0.into(), 2.0.into(), NONE])
        }
        "log_normal" => call1("log_normal_", [t(), 0.3.into(), 1.7.into(), NONE]),
        "cauchy" => call1("cauchy_", [t(), 0.3.into(), 1.7.into(), NONE]),
        "exponential" => call1("exponential_", [t(), 1.7.into(), NONE]),
        "geometric" => call1("geometric_", [t(), 0.013.into(), NONE]),
        "bernoulli" => call1("bernoulli_.float", [t(), 0.3.into(), NONE]),
        "random" => call1("random_", [t(), NONE]),
        "random_to" => call1("random_.to", [t(), 100i64.into(), NONE]),
        "random_from" => call1("random_.from", [t(), (-7i64).into(), 100i64.into(), NONE]),
        "random_on" => call1("random_.from", [t(), 5i64.into(), NONE, NONE]),
        "random_far" => call1("random_.from", [t(), (-5i64).into(), (1i64 << 40).into(), NONE]),
        "random_every" => call1("random_.from", [t(), i64::MIN.into(), NONE, NONE]),
        "randperm" => call1("randperm", [n.into(), dtype.into(), NONE, NONE, NONE]),
        "bernoulli_of" => call1("bernoulli", [ramp(11, 0.1), NONE]),
        "poisson" => call1("poisson", [ramp(41, 1.5), NONE]),
        "gamma" => call1("_standard_gamma", [ramp(61, 0.13), NONE]),
        "dirichlet" => {
            let shapes = self::ramp(3 * n, 7, 0.25, dtype).reshape((n, 3)).unwrap();
            call1("_sample_dirichlet", [shapes.into(), NONE])
        }
        "binomial" => call1("binomial", [ramp(61, 3.0), ramp(11, 0.1), NONE]),
        "multinomial" => {
            let weights = call1("add.Tensor", [ramp(7, 0.25), 0.25.into(), 1i64.into()]);
            call1("multinomial", [weights.into(), (n / 2).max(1).into(), false.into(), NONE])
        }
        "multinomial_again" => {
            let weights = call1("add.Tensor", [ramp(7, 0.25), 0.25.into(), 1i64.into()]);
            let rows = call1("expand", [weights.into(), IValue::Ints(vec![2, n]), false.into()]);
            call1("multinomial", [rows.into(), 5i64.into(), true.into(), NONE])
        }
        "dropout" => call1("dropout", [ramp(7, 0.25), 0.3.into(), true.into()]),
        "alpha_dropout" => call1("alpha_dropout", [ramp(7, 0.25), 0.3.into(), true.into()]),
        "native_dropout" => call1("native_dropout", [ramp(7, 0.25), 0.3.into(), true.into()]),
        "normal_of" => call1("normal.Tensor_Tensor", [ramp(7, 0.25), ramp(5, 0.5), NONE]),
        "rrelu" => call1("rrelu", [ramp(7, -0.25), 0.1.into(), 0.3.into(), true.into(), NONE]),
        "attention" => {
            let zeros = |rows| IValue::from(ops::zeros::<Cpu>((2, rows, 4), dtype).unwrap());
            let values = ops::eye::<Cpu>(4, dtype).unwrap().expand((2, 4, 4)).unwrap();
            let options = [NONE, 0.3.into(), false.into(), NONE, false.into()];
            let [mask, dropped, causal, scale, grouped] = options;
            call1(
                "scaled_dot_product_attention",
                [zeros(n), zeros(4), values.into(), mask, dropped, causal, scale, grouped],
            )
        }
        "rand" => call1("rand", [sizes(), dtype.into(), NONE, NONE, NONE]),
        "randn" => call1("randn", [sizes(), dtype.into(), NONE, NONE, NONE]),
        "randint" => call1("randint.low", [3i64.into(), 90i64.into(), sizes(), dtype.into(), NONE, NONE, NONE]),
        other => panic!("{other} is not known here"),
    }
}

/// The source that all operators share belongs to one test at a time.
static SHARED: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Logarithms, sines and cosines of float64 are those of the C library, and so are the last bits of what is made of
/// them.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn draws_have_the_bits_of_pytorch() {
    let _alone = alone();
    let mut wrong: Vec<&str> = Vec::new();
    for line in GOLDEN.lines() {
        let [name, of, layout, n, hash] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let n: i64 = n.parse().unwrap();
        let mut got = 0xcbf2_9ce4_8422_2325_u64;
        for seed in 0..20 {
            monomorph::manual_seed(seed);
            for byte in bytes(&made(name, dtype(of), layout, n)) {
                got = (got ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        if format!("{got:016x}") != hash {
            wrong.push(line);
        }
    }
    let names: HashSet<&str> = wrong.iter().filter_map(|line| line.split(' ').next()).collect();
    assert!(wrong.is_empty(), "{} of {}: {names:?}\n{}", wrong.len(), GOLDEN.lines().count(), wrong.join("\n"));
    assert!(GOLDEN.lines().count() > 900);
}

#[test]
fn states_are_read_and_written() {
    let source = Generator::new(7);
    let draw = |n: i64| {
        call1("rand.generator", [IValue::Ints(vec![n]), source.clone().into(), NONE, NONE, NONE, NONE])
            .to_vec::<f32>()
            .unwrap()
    };
    draw(1);
    let t = ops::zeros::<Cpu>((), DType::F64).unwrap();
    call1("normal_", [t.clone().into(), 0.0.into(), 1.0.into(), source.clone().into()]);
    let state = source.state();
    // As PyTorch's: the seed, words that are left, whether it is seeded, the next word, and a kept normal number.
    assert_eq!((state.len(), source.initial_seed()), (5056, 7));
    assert_eq!((state[0], state[8..12].to_vec(), state[12], state[16]), (7, vec![108, 2, 0, 0], 1, 5));
    assert_eq!(state[5040], 1);
    let (copy, again) = (source.deep_clone(), Generator::default());
    again.set_state(&state).unwrap();
    assert_eq!(again.state(), state);
    let numbers = draw(700);
    for other in [copy, again] {
        let sizes = IValue::Ints(vec![700]);
        let drawn = call1("rand.generator", [sizes, other.clone().into(), NONE, NONE, NONE, NONE]);
        assert_eq!(drawn.to_vec::<f32>().unwrap(), numbers);
        assert_eq!(other.state(), source.state());
    }
    let before = source.state();
    let error = source.set_state(&state[..10]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ListLength { arg: "state", got: 10, want: 5056 });
    for (at, byte) in [(8, 0), (9, 7), (12, 0), (17, 9), (20, 1)] {
        let mut broken = state.clone();
        broken[at] = byte;
        if at == 8 {
            broken[9] = 0;
        }
        assert!(source.set_state(&broken).is_err(), "byte {at}");
    }
    assert_eq!(source.state(), before);
}

#[test]
fn threads_share_a_source() {
    let source = Generator::new(3);
    let all = {
        let sizes = IValue::Ints(vec![8000]);
        let other = Generator::new(3);
        call1("rand.generator", [sizes, other.into(), DType::F64.into(), NONE, NONE, NONE]).to_vec::<f64>().unwrap()
    };
    let parts: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let draw = || {
            let draw = |_| {
                let sizes = IValue::Ints(vec![100]);
                let t = call1("rand.generator", [sizes, source.clone().into(), DType::F64.into(), NONE, NONE, NONE]);
                t.to_vec::<f64>().unwrap()
            };
            (0..40).map(draw).collect::<Vec<_>>()
        };
        let threads = [scope.spawn(draw), scope.spawn(draw)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    // Each call has a run of the stream, and all calls have all of it.
    let starts: HashSet<usize> =
        parts.iter().map(|part| all.chunks(100).position(|run| run == part).expect("a run of the stream")).collect();
    assert_eq!(starts.len(), 80);
}

#[test]
fn rules_of_parameters() {
    let _alone = alone();
    let t = || IValue::from(ops::zeros::<Cpu>(3, DType::F32).unwrap());
    let of = |dtype: DType| IValue::from(ops::zeros::<Cpu>(3, dtype).unwrap());
    let tensor = |list: &[f32]| IValue::from(Tensor::<Cpu>::from_slice(list, list.len()).unwrap());
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let refused: Vec<(&str, Vec<IValue>)> = vec![
        ("bernoulli_.float", vec![t(), 1.5.into(), NONE]),
        ("bernoulli_.float", vec![t(), nan.into(), NONE]),
        ("bernoulli_.Tensor", vec![t(), tensor(&[0.5, 2.0, 0.1]), NONE]),
        ("bernoulli_.Tensor", vec![t(), of(DType::I32), NONE]),
        ("bernoulli_.Tensor", vec![t(), tensor(&[0.5, 0.5]), NONE]),
        ("bernoulli", vec![of(DType::I64), NONE]),
        ("bernoulli_.float", vec![of(DType::C64), 0.5.into(), NONE]),
        ("normal_", vec![t(), 0.0.into(), (-1.0).into(), NONE]),
        ("normal_", vec![t(), 0.0.into(), nan.into(), NONE]),
        ("normal_", vec![of(DType::I32), 0.0.into(), 1.0.into(), NONE]),
        ("uniform_", vec![t(), 1.0.into(), 0.0.into(), NONE]),
        ("uniform_", vec![t(), 0.0.into(), inf.into(), NONE]),
        ("uniform_", vec![t(), (-3e38).into(), 3e38.into(), NONE]),
        ("uniform_", vec![of(DType::I32), 0.0.into(), 1.0.into(), NONE]),
        ("exponential_", vec![t(), 0.0.into(), NONE]),
        ("exponential_", vec![of(DType::I32), 1.0.into(), NONE]),
        ("cauchy_", vec![t(), 0.0.into(), 0.0.into(), NONE]),
        ("cauchy_", vec![of(DType::C64), 0.0.into(), 1.0.into(), NONE]),
        ("log_normal_", vec![t(), 0.0.into(), 0.0.into(), NONE]),
        ("geometric_", vec![t(), 1.0.into(), NONE]),
        ("geometric_", vec![of(DType::Bool), 0.5.into(), NONE]),
        ("random_.from", vec![t(), 3i64.into(), 3i64.into(), NONE]),
        ("random_.from", vec![of(DType::U8), 0i64.into(), 257i64.into(), NONE]),
        ("random_.from", vec![of(DType::I32), i64::MIN.into(), NONE, NONE]),
        ("random_.to", vec![t(), 0i64.into(), NONE]),
        ("poisson", vec![tensor(&[1.0, -1.0]), NONE]),
        ("poisson", vec![of(DType::I32), NONE]),
        ("binomial", vec![t(), of(DType::F64), NONE]),
        ("_standard_gamma", vec![tensor(&[1.0, -0.7]), NONE]),
        ("_standard_gamma", vec![tensor(&[1.0, f32::NAN]), NONE]),
        ("_standard_gamma", vec![of(DType::F16), NONE]),
        ("_sample_dirichlet", vec![of(DType::I32), NONE]),
        ("multinomial", vec![tensor(&[1.0, 1.0]), 3i64.into(), false.into(), NONE]),
        ("multinomial", vec![tensor(&[0.0, 0.0]), 1i64.into(), false.into(), NONE]),
        ("multinomial", vec![tensor(&[0.0, 0.0]), 2i64.into(), true.into(), NONE]),
        ("multinomial", vec![tensor(&[1.0, -1.0]), 2i64.into(), true.into(), NONE]),
        ("multinomial", vec![tensor(&[1.0, f32::INFINITY]), 1i64.into(), true.into(), NONE]),
        ("multinomial", vec![t(), 0i64.into(), false.into(), NONE]),
        ("normal.Tensor_Tensor", vec![t(), tensor(&[1.0, -1.0, 1.0]), NONE]),
        ("dropout", vec![t(), 2.0.into(), false.into()]),
        ("feature_dropout", vec![t(), 0.5.into(), true.into()]),
        ("randperm", vec![(-1i64).into(), DType::I64.into(), NONE, NONE, NONE]),
        ("randperm", vec![300i64.into(), DType::U8.into(), NONE, NONE, NONE]),
        ("randperm", vec![3i64.into(), DType::Bool.into(), NONE, NONE, NONE]),
        ("rand", vec![IValue::Ints(vec![-1]), NONE, NONE, NONE, NONE]),
        ("rand", vec![IValue::Ints(vec![i64::MAX, 8]), NONE, NONE, NONE, NONE]),
    ];
    for (name, arguments) in refused {
        let mut stack = arguments.clone();
        let error = call(name, &mut stack).expect_err(name);
        // Nothing is written.
        let written = arguments.first().and_then(IValue::as_tensor).and_then(AnyTensor::downcast_ref::<Cpu>);
        if let Some(t) = written.filter(|t| name.contains('_') && t.dtype() == DType::F32 && t.numel() == 3) {
            assert!(name.starts_with("normal.") || t.to_vec::<f32>().unwrap() == [0.0; 3], "{name}: {error}");
        }
    }
}

#[test]
fn outputs_stay_as_they_are_where_parameters_are_refused() {
    let _alone = alone();
    let t = |list: &[f32]| Tensor::<Cpu>::from_slice(list, list.len()).unwrap();
    let sizes = || IValue::Ints(vec![3, 2]);
    let calls: Vec<(&str, Vec<IValue>)> = vec![
        ("randint.low_out", vec![1i64.into(), (-1i64).into(), sizes()]),
        ("randperm.out", vec![(1i64 << 25).into()]),
        ("bernoulli.out", vec![t(&[0.5, 2.0, 0.5]).into(), NONE]),
        ("normal.Tensor_float_out", vec![t(&[0.0; 3]).into(), (-1.0).into(), NONE]),
        ("normal.float_Tensor_out", vec![(-1e300).into(), t(&[1.0; 4]).into(), NONE]),
        (
            "normal.Tensor_Tensor_out",
            vec![
                call1("zeros_like", [t(&[1.0; 4]).into(), DType::C64.into(), NONE, NONE, NONE, NONE]).into(),
                t(&[1.0; 4]).into(),
                NONE,
            ],
        ),
    ];
    for (name, mut stack) in calls {
        let out = t(&[7.0; 4]);
        stack.push(out.clone().into());
        call(name, &mut stack).expect_err(name);
        assert_eq!((out.to_vec::<f32>().unwrap(), out.version(), out.storage_bytes()), (vec![7.0; 4], 0, 16), "{name}");
    }
    // Nor is a storage enlarged where there are no such numbers of a dtype.
    for name in ["rand.out", "randn.out"] {
        let out = Tensor::<Cpu>::from_slice(&[7i32; 4], 4).unwrap();
        stacked(name, [sizes(), out.clone().into()]).unwrap_err();
        assert_eq!((out.to_vec::<i32>().unwrap(), out.storage_bytes()), (vec![7; 4], 16), "{name}");
    }
    // The slopes and the result are written both or not at all.
    let (frozen, noise) = (t(&[-1.0; 3]), t(&[7.0; 3]));
    frozen.freeze().unwrap();
    let shared = frozen.clone();
    let stack = [frozen.into(), noise.clone().into(), 0.1.into(), 0.3.into(), true.into(), NONE];
    stacked("rrelu_with_noise_", stack).unwrap_err();
    assert_eq!((noise.to_vec::<f32>().unwrap(), shared.to_vec::<f32>().unwrap()), (vec![7.0; 3], vec![-1.0; 3]));
}

#[test]
fn dropped_and_kept() {
    let _alone = alone();
    let x = ramp(12, 5, 1.0, DType::F32);
    for (p, train) in [(0.0, true), (0.5, false)] {
        let same = call1("dropout", [x.clone().into(), p.into(), train.into()]);
        assert_eq!(same.storage_id(), x.storage_id(), "{p} {train}");
    }
    let none = call1("dropout", [x.clone().into(), 1.0.into(), true.into()]);
    assert_eq!(none.to_vec::<f32>().unwrap(), [0.0; 12]);
    let planes =
        call1("feature_dropout", [ops::ones::<Cpu>((4, 5, 3), DType::F32).unwrap().into(), 0.5.into(), true.into()]);
    for plane in planes.to_vec::<f32>().unwrap().chunks(3) {
        assert!(plane == [0.0; 3] || plane == [2.0; 3], "{plane:?}");
    }
    let outs = || [DType::F32, DType::Bool].map(|dtype| IValue::from(ops::zeros::<Cpu>(0, dtype).unwrap()));
    for train in [NONE, false.into()] {
        let [out, mask] = outs();
        let results = stacked("native_dropout.out", [x.clone().into(), 0.0.into(), train, out, mask]).unwrap();
        let [out, mask] = [0, 1].map(|i| first(vec![results[i].clone()]));
        assert_eq!(out.to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap());
        assert_eq!(mask.to_vec::<bool>().unwrap(), [true; 12]);
    }
    let kept = tensor![true, false, true];
    let back = call1("native_dropout_backward", [tensor![1.0f32, 2.0, -3.0].into(), kept.into(), 2.0.into()]);
    assert_eq!(back.to_vec::<f32>().unwrap(), [2.0, 0.0, -6.0]);
    monomorph::manual_seed(5);
    let out = call1("dropout", [x.clone().into(), 0.5.into(), true.into()]).to_vec::<f32>().unwrap();
    monomorph::manual_seed(5);
    let this = call1("clone", [x.clone().into(), NONE]);
    call1("dropout_", [this.clone().into(), 0.5.into(), true.into()]);
    assert_eq!(this.to_vec::<f32>().unwrap(), out);
}

#[test]
fn typed_calls() {
    let _alone = alone();
    let source = Generator::new(1);
    let mut x = ops::zeros(4, F32).unwrap();
    let by = || ops::options::Uniform { generator: Some(&source), ..Default::default() };
    x.uniform_with_(0.0, 1.0, by()).unwrap();
    let first = x.to_vec::<f32>().unwrap();
    source.manual_seed(1);
    assert_eq!(x.uniform_with(0.0, 1.0, by()).unwrap().to_vec::<f32>().unwrap(), first);
    assert!(x.multinomial(2).unwrap().to_vec::<i64>().unwrap().iter().all(|i| (0..4).contains(i)));
}

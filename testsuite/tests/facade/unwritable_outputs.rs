//! Outputs of a caller's that cannot be written: the call is an error, and every argument is as it was.

use monomorph::crates::core::ErrorKind;
use monomorph::{AnyTensor, Cpu, DType, IValue, Result, Tensor, crates::ops};
use ops::functions as f;

/// A call that reads one tensor and writes another.
type Write = fn(&Tensor<Cpu>, &mut Tensor<Cpu>) -> Result<()>;

/// A call by name of `inputs` and an output, which comes back whatever becomes of the call.
fn boxed(name: &str, mut stack: Vec<IValue>, out: &mut Tensor<Cpu>) -> Result<()> {
    stack.push(out.clone().into());
    let called = monomorph::call(name, &mut stack);
    let last = stack.pop().and_then(IValue::into_tensor).and_then(AnyTensor::downcast::<Cpu>);
    *out = last.expect("the output is the last argument, or the result");
    called
}

/// An operator of two results refuses what it cannot write to one of them before it writes the other, and leaves both
/// as they were.
#[test]
fn outputs_are_written_together_or_not_at_all() {
    let x = Tensor::<Cpu>::from_slice(&[1f32, -2.0, 3.0], [3]).expect("three numbers");
    let nothing = |dtype| Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).expect("nothing");
    let state = |t: &Tensor<Cpu>| (t.sizes().to_vec(), t.strides().to_vec(), t.offset());
    for second_is_read in [false, true] {
        for is_frexp in [false, true] {
            let dtype = if is_frexp { DType::I32 } else { DType::F32 };
            let [mut first, mut second] = [nothing(DType::F32), nothing(dtype)];
            let before = [state(&first), state(&second)];
            // A guard of a view: the storage is being read, and cannot be written.
            let reader = if second_is_read { second.clone() } else { first.clone() };
            let floats = (reader.dtype() == DType::F32).then(|| reader.data::<f32>().expect("a read"));
            let ints = (reader.dtype() == DType::I32).then(|| reader.data::<i32>().expect("a read"));
            let call = |first: &mut Tensor<Cpu>, second: &mut Tensor<Cpu>| match is_frexp {
                true => f::frexp_out(&x, (first, second)).map(drop),
                false => f::log_sigmoid_forward_out(&x, (first, second)).map(drop),
            };
            let error = call(&mut first, &mut second).expect_err("one of them is being read");
            assert!(matches!(error.kind(), ErrorKind::Borrowed { .. }), "{error}");
            assert_eq!([state(&first), state(&second)], before, "{is_frexp} {second_is_read}");
            drop((floats, ints));
            call(&mut first, &mut second).expect("nobody reads any more");
            assert_eq!((first.sizes(), second.sizes()), (&[3][..], &[3][..]));
        }
    }
    // An output that overlaps itself.
    let one = Tensor::<Cpu>::from_slice(&[7i32], [1]).expect("one number");
    let (mut first, mut second) = (nothing(DType::F32), f::expand(&one, [3]).expect("a view"));
    let error = f::frexp_out(&x, (&mut first, &mut second)).expect_err("one element for three");
    assert!(matches!(error.kind(), ErrorKind::InternalOverlap { index: 1, .. }), "{error}");
    assert_eq!((first.sizes(), one.to_vec::<i32>()), (&[0][..], Ok(vec![7])));
    // Both in one storage, apart; and the input itself.
    let mut all = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[6]).expect("six numbers");
    let [mut low, mut high] = [0, 3].map(|start| f::narrow(&all, 0, start, 3).expect("a half"));
    f::log_sigmoid_forward_out(&x, (&mut low, &mut high)).expect("they lie apart");
    let (output, buffer) = f::log_sigmoid_forward(&x).expect("a float");
    let want = f::cat(&[&output, &buffer]).and_then(|t| t.to_vec::<f32>());
    assert_eq!(all.to_vec::<f32>(), want);
    f::copy_(&mut all, &f::cat(&[&x, &x]).expect("six numbers")).expect("they lie apart");
    let itself = low.clone();
    f::log_sigmoid_forward_out(&itself, (&mut low, &mut high)).expect("an input may be the output");
    assert_eq!(all.to_vec::<f32>(), want);
}

/// An output that was given other sizes has its own again if it cannot be written.
#[test]
fn an_output_that_is_not_written_keeps_its_sizes() {
    let x = Tensor::<Cpu>::from_slice(&[1f32, -2.0, 3.0], [3]).expect("three numbers");
    let calls: [(&str, Write); 6] = [
        ("zeros", |_, out| f::zeros_out(3, out).map(drop)),
        ("arange", |_, out| f::arange_out(3, out).map(drop)),
        ("eye", |_, out| f::eye_out(2, out).map(drop)),
        ("pow", |x, out| ops::power::pow_scalar_out(1, x, out)),
        ("clone", |x, out| boxed("clone.out", vec![x.clone().into(), IValue::None], out)),
        ("hstack", |x, out| boxed("hstack.out", vec![vec![x.as_any().clone(), x.as_any().clone()].into()], out)),
    ];
    for (name, call) in calls {
        let mut out =
            Tensor::<Cpu>::zeros_contiguous(DType::F32, &[4]).and_then(|t| f::narrow(&t, 0, 1, 1)).expect("a part");
        let reader = out.clone();
        let reader = reader.data::<f32>().expect("a read");
        let error = call(&x, &mut out).expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::Borrowed { .. }), "{name}: {error}");
        assert_eq!((out.sizes(), out.strides(), out.offset()), (&[1][..], &[1][..], 1), "{name}");
        drop(reader);
        call(&x, &mut out).expect(name);
    }
}

/// Outputs that PyTorch iterates over may not overlap an input in part; those in whose place a step works have the
/// sizes of the result.
#[test]
fn outputs_that_are_iterated_over() {
    let call = |name: &str, mut stack: Vec<IValue>, shared: Option<usize>, out: &[i64]| {
        let memory = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[12]).expect("twelve numbers");
        let part = |start: i64, sizes: &[i64]| {
            f::narrow(&memory, 0, start, sizes.iter().product()).and_then(|t| f::view(&t, sizes)).expect("a part")
        };
        if let Some(i) = shared {
            stack[i] = part(0, &[2, 2]).into();
        }
        let mut out = part(1, out);
        let called = boxed(name, stack, &mut out);
        (called, out.sizes().to_vec())
    };
    let half = || Tensor::<Cpu>::from_slice(&[0.5f32; 4], [2, 2]).expect("four numbers").into();
    let reduction = || IValue::Int(0);
    let calls: [(&str, usize, Vec<IValue>); 3] = [
        ("binary_cross_entropy.out", 3, vec![reduction()]),
        ("binary_cross_entropy_backward.grad_input", 4, vec![reduction()]),
        ("huber_loss_backward.out", 3, vec![reduction(), 1.0.into()]),
    ];
    for (name, inputs, numbers) in calls {
        let arguments = || (0..inputs).map(|_| half()).chain(numbers.clone()).collect::<Vec<IValue>>();
        assert_eq!(call(name, arguments(), None, &[2, 2]), (Ok(()), vec![2, 2]), "{name}");
        for i in 0..inputs {
            let (called, _) = call(name, arguments(), Some(i), &[2, 2]);
            let error = called.expect_err("it overlaps an input in part");
            assert!(matches!(error.kind(), ErrorKind::PartialOverlap { output: 0, .. }), "{name}: {error}");
        }
        let (called, sizes) = call(name, arguments(), None, &[2]);
        match name.ends_with("grad_input") {
            true => {
                let error = called.expect_err("weights multiply in its place");
                assert!(matches!(error.kind(), ErrorKind::OutputSize { index: 0, .. }), "{error}");
                assert_eq!(sizes, [2]);
            }
            false => assert_eq!((called, sizes), (Ok(()), vec![2, 2]), "{name}"),
        }
    }
}

/// Without training statistics are not written, but their outputs have one dimension.
#[test]
fn statistics_that_are_not_written_have_one_dimension() {
    let numbers = |sizes: &[i64]| Tensor::<Cpu>::zeros_contiguous(DType::F32, sizes).expect("zeros");
    for (training, input, sizes, fits) in [
        (false, [3, 2], &[0][..], true),
        (false, [3, 2], &[0, 2], false),
        (false, [3, 2], &[], false),
        (false, [0, 2], &[0, 2], true),
        (true, [3, 2], &[0, 2], true),
    ] {
        let two = || IValue::from(numbers(&[2]));
        let mut stack = vec![numbers(&input).into(), two(), two(), two(), two()];
        stack.extend([training.into(), 0.1.into(), 1e-5.into()]);
        stack.extend([numbers(&[0]), numbers(sizes), numbers(sizes)].map(IValue::from));
        let called = monomorph::call("native_batch_norm.out", &mut stack);
        assert_eq!(called.is_ok(), fits, "{training} {sizes:?}: {called:?}");
    }
}

/// The running mean stays as it is if the running variance cannot be written.
#[test]
fn running_statistics_move_together_or_not_at_all() {
    let tensor = |numbers: &[f32], sizes: &[i64]| Tensor::<Cpu>::from_slice(numbers, sizes).expect("numbers");
    let (x, mean) = (tensor(&[1.0, 3.0, 5.0, 9.0], &[1, 2, 2]), tensor(&[1.0, 2.0], &[2]));
    let call = |variance: &Tensor<Cpu>| {
        let mut stack = vec![x.clone().into(), IValue::None, IValue::None];
        stack.extend([mean.clone().into(), variance.clone().into()]);
        stack.extend([true.into(), 0.5.into(), 0.0.into(), false.into()]);
        monomorph::call("instance_norm", &mut stack)
    };
    let error = call(&f::expand(&tensor(&[1.0], &[1]), [2]).expect("a view")).expect_err("one element for two");
    assert!(matches!(error.kind(), ErrorKind::InternalOverlap { .. }), "{error}");
    assert_eq!(mean.to_vec::<f32>(), Ok(vec![1.0, 2.0]));
    let variance = tensor(&[1.0, 2.0], &[2]);
    call(&variance).expect("both can be written");
    assert_eq!((mean.to_vec::<f32>(), variance.to_vec::<f32>()), (Ok(vec![1.5, 4.5]), Ok(vec![1.5, 5.0])));
}

/// Draws with moments that do not fit the output's dtype are refused before it gets other sizes, also if it has no
/// elements.
#[test]
fn an_integral_output_takes_no_floating_moments() {
    let nothing = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[1, 0]).expect("nothing");
    let column = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[3, 1]).expect("three numbers");
    let mut out = Tensor::<Cpu>::zeros_contiguous(DType::I8, &[1, 2]).expect("two numbers");
    let version = out.version();
    let stack = vec![column.into(), nothing.into(), IValue::None];
    let error = boxed("normal.Tensor_Tensor_out", stack, &mut out).expect_err("floats for integers");
    assert!(matches!(error.kind(), ErrorKind::Cast { .. }), "{error}");
    assert_eq!((out.sizes(), out.version()), (&[1, 2][..], version));
}

//! Calls that are recorded and run again: what they give for other elements is what a new call gives; what cannot be
//! run again is not kept.

use monomorph::crates::core::structured::Recording;
use monomorph::prelude::*;
use monomorph::{AnyTensor, DType, ErrorKind, IValue, Result, Stack, call, dispatcher, ops, tensor};
use monomorph_testsuite::hostile::fitting_stack;

/// How the tensors of a call are laid out.
#[derive(Clone, Copy, Debug)]
enum Form {
    Plain,
    /// Floats in another dtype.
    Cast(DType),
    /// The first two dimensions exchanged in memory.
    Exchanged,
}

pub(super) fn by_name(name: &str, arguments: &[IValue]) -> Result<IValue> {
    let mut stack = arguments.to_vec();
    call(name, &mut stack)?;
    Ok(stack.swap_remove(0))
}

/// The elements in reverse order, in the same memory.
fn reverse(t: &AnyTensor) -> Result<()> {
    let dims = IValue::Ints((0..t.ndim() as i64).collect());
    let reversed = by_name("flip", &[t.clone().into(), dims])?;
    by_name("copy_", &[t.clone().into(), reversed]).map(drop)
}

fn laid_out(t: &AnyTensor, form: Form) -> Result<AnyTensor> {
    let exchanged = |t: IValue| by_name("transpose.int", &[t, 0.into(), 1.into()]);
    let made = match form {
        Form::Cast(dtype) if t.dtype().is_floating() => {
            by_name("to.dtype", &[t.clone().into(), dtype.into(), false.into(), true.into(), IValue::None])?
        }
        Form::Exchanged if t.ndim() >= 2 => {
            exchanged(by_name("contiguous", &[exchanged(t.clone().into())?, MemoryFormat::Contiguous.into()])?)?
        }
        _ => t.clone().into(),
    };
    Ok(made.into_tensor().expect("a tensor"))
}

/// Arguments with tensors in a form.
fn arguments(stack: Stack, form: Form) -> Result<Stack> {
    let each = |value| match value {
        IValue::Tensor(t) => Ok(laid_out(&t, form)?.into()),
        IValue::Tensors(list) => Ok(IValue::Tensors(list.iter().map(|t| laid_out(t, form)).collect::<Result<_>>()?)),
        value => Ok(value),
    };
    stack.into_iter().map(each).collect()
}

/// Geometries and bytes of all tensors.
fn seen(stack: &[IValue]) -> Vec<String> {
    let text = |t: &AnyTensor| {
        let plain = by_name("clone", &[t.clone().into(), MemoryFormat::Contiguous.into()]).expect("a copy");
        let bytes = plain.as_tensor().map(|t| t.storage_to_vec().expect("on the CPU"));
        format!("{} {:?} {:?} {bytes:?}", t.dtype(), t.sizes(), t.strides())
    };
    stack.iter().flat_map(IValue::tensors).map(text).collect()
}

/// Every overload, once on the elements that it was recorded with, once on others: results and written arguments are
/// those of new calls. Drawing ones are not kept.
#[test]
fn every_kept_call_follows_its_operands() {
    let (mut kept, mut wrong, mut called) = (0, Vec::new(), 0);
    for form in [Form::Plain, Form::Cast(DType::BF16), Form::Cast(DType::F64), Form::Exchanged] {
        for handle in dispatcher().operators() {
            let schema = handle.schema().unwrap();
            let Ok(given) = arguments(fitting_stack(&schema), form) else { continue };
            let tensors: Vec<AnyTensor> = given.iter().flat_map(IValue::tensors).cloned().collect();
            let fresh = || arguments(fitting_stack(&schema), form).expect("arguments");
            let mut recording = Recording::default();
            let mut results = given.clone();
            let (done, kernels) = recording.record(|| handle.call(&mut results));
            if done.is_err() {
                continue;
            }
            called += 1;
            let Some(kernels) = kernels.filter(|kernels| !kernels.is_empty()) else { continue };
            // The same memory with other elements, and those elements in memory of their own.
            let mut others = fresh();
            let is_reset = tensors.iter().zip(fresh().iter().flat_map(IValue::tensors)).try_for_each(|(t, before)| {
                by_name("copy_", &[t.clone().into(), before.clone().into()])?;
                reverse(t)
            });
            let are_other = others.iter().flat_map(IValue::tensors).try_for_each(reverse);
            if is_reset.is_err() || are_other.is_err() {
                continue;
            }
            let operands = others.clone();
            let want = handle.call(&mut others);
            let got = recording.run(kernels);
            kept += 1;
            if want.is_err() || got.is_err() {
                if want.is_err() != got.is_err() {
                    wrong.push(format!("{} {form:?}: {want:?} and {got:?}", handle.name()));
                }
                continue;
            }
            if seen(&results) != seen(&others) || seen(&given) != seen(&operands) {
                wrong.push(format!("{} {form:?}", handle.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {kept} kept of {called} calls:\n{}", wrong.len(), wrong.join("\n"));
    assert!(kept > called / 2, "{kept} kept of {called} calls");
}

/// Kernels pack weights that are frozen once, and others in every run: a weight that changes is followed. Packed or
/// not, results have the bits of a new call.
#[test]
fn packed_weights_are_followed_or_frozen() -> Result<()> {
    let numbers = |sizes: &[i64]| -> Result<AnyTensor> {
        let numbers: Vec<f32> = (0..sizes.iter().product()).map(|i: i64| (i as f32 * 0.37).sin()).collect();
        Ok(Tensor::from_vec(numbers, sizes)?.into_any())
    };
    let scaled = |t: &AnyTensor, by: f64| by_name("mul_.Scalar", &[t.clone().into(), by.into()]);
    // Products of more than eight rows; convolutions of few and of many weights, of single channels and elements.
    let linear = |x: &AnyTensor, w: &AnyTensor, bias: &AnyTensor| {
        by_name("linear", &[x.clone().into(), w.clone().into(), bias.clone().into()])
    };
    let conv = |x: &AnyTensor, w: &AnyTensor, bias: &AnyTensor| {
        let (ones, padding) = (|| IValue::Ints(vec![1, 1]), IValue::Ints(vec![w.sizes()[2] / 2; 2]));
        let groups = IValue::Int(x.sizes()[1] / w.sizes()[1]);
        by_name("conv2d", &[x.clone().into(), w.clone().into(), bias.clone().into(), ones(), padding, ones(), groups])
    };
    let last = |x: &AnyTensor, w: &AnyTensor, bias: &AnyTensor| {
        let x = by_name("permute", &[x.clone().into(), IValue::Ints(vec![0, 3, 1, 2])])?;
        conv(x.as_tensor().expect("a tensor"), w, bias)
    };
    // Of a stride of two: four lattices, each with weights of its own.
    let transposed = |x: &AnyTensor, w: &AnyTensor, bias: &AnyTensor| {
        let list = |n: i64| IValue::Ints(vec![n, n]);
        let groups = IValue::Int(bias.numel() as i64 / w.sizes()[1]);
        let given = [list(2), list(1), list(0), groups, list(1)];
        let operands = [x, w, bias].map(|t| IValue::from(t.clone()));
        by_name("conv_transpose2d.input", &[&operands[..], &given].concat())
    };
    type Op<'a> = &'a dyn Fn(&AnyTensor, &AnyTensor, &AnyTensor) -> Result<IValue>;
    let cases: [(Op<'_>, &[i64], &[i64]); 12] = [
        (&linear, &[13, 40], &[70, 40]),
        (&linear, &[2, 20, 33], &[33, 33]),
        (&conv, &[2, 8, 9, 11], &[7, 8, 3, 3]),
        (&conv, &[1, 64, 30, 32], &[128, 64, 3, 3]),
        (&conv, &[2, 8, 9, 11], &[8, 1, 3, 3]),
        (&conv, &[2, 8, 9, 11], &[7, 8, 1, 1]),
        (&last, &[2, 9, 10, 128], &[70, 128, 3, 3]),
        (&last, &[1, 9, 10, 70], &[70, 1, 3, 3]),
        (&transposed, &[1, 5, 6, 7], &[5, 5, 4, 4]),
        (&transposed, &[1, 40, 6, 7], &[40, 40, 4, 4]),
        (&transposed, &[1, 40, 6, 7], &[40, 40, 3, 3]),
        (&transposed, &[1, 9, 6, 7], &[9, 1, 4, 4]),
    ];
    for (op, x, w) in cases {
        for are_frozen in [[false, false], [true, false], [true, true]] {
            let (x, weights) = (numbers(x)?, [numbers(w)?, numbers(&w[..1])?]);
            for (weight, is_frozen) in weights.iter().zip(are_frozen) {
                if is_frozen {
                    weight.freeze()?;
                }
            }
            let mut recording = Recording::default();
            let [w, bias] = &weights;
            let (y, kernels) = recording.record(|| op(&x, w, bias));
            let (y, kernels) = (y?, kernels.expect("kernels"));
            scaled(&x, -0.8)?;
            for (weight, is_frozen) in weights.iter().zip(are_frozen) {
                if !is_frozen {
                    scaled(weight, 0.3)?;
                }
            }
            recording.run(kernels.clone())?;
            recording.run(kernels)?;
            assert_eq!(seen(&[y]), seen(&[op(&x, w, bias)?]), "{:?} {:?} frozen {are_frozen:?}", x.sizes(), w.sizes());
        }
    }
    Ok(())
}

#[test]
fn memory_is_used_again() -> Result<()> {
    let x = ops::ones(1000, F32)?;
    let mut recording = Recording::default();
    let (y, kernels) = recording.record(|| (0..20).try_fold(x.clone(), |y, _| y.mul(1.5)?.add(-0.25)));
    let (y, kernels) = (y?, kernels.expect("kernels"));
    // Two factors and a sum live at once.
    assert_eq!((kernels.len(), recording.bytes()), (40, 3 * 4000));
    let before = y.to_vec::<f32>()?;
    assert_eq!(before[0], (0..20).fold(1.0f32, |y, _| y * 1.5 - 0.25));
    x.clone().fill_(2.0)?;
    recording.run(kernels.clone())?;
    assert_eq!(y.to_vec::<f32>()?[7], (0..20).fold(2.0f32, |y, _| y * 1.5 - 0.25));
    // What the recording made and a tensor has is not given to others.
    drop(y);
    recording.run(kernels)?;
    Ok(())
}

/// Copies are kept as kernels are: of other dtypes and layouts, broadcast, reversed, of the parts of complex numbers.
#[test]
fn copies_are_run_again() -> Result<()> {
    let x = tensor![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let copies = || -> Result<Vec<Tensor<Cpu>>> {
        let [cast, reversed] = [x.to(F64)?.to(F32)?, x.flip([0, 1])?];
        let mut wide = ops::zeros((2, 2, 3), F32)?;
        wide.copy_from(&x.i(1)?)?;
        let parts = ops::complex(&x, &reversed)?;
        Ok(vec![cast, reversed, x.t()?.contiguous()?, wide.select(0, 1)?, parts.imag()?])
    };
    let elements = |made: &[Tensor<Cpu>]| made.iter().map(Tensor::to_vec::<f32>).collect::<Result<Vec<_>>>();
    let mut recording = Recording::default();
    let (made, kernels) = recording.record(copies);
    let (made, kernels) = (made?, kernels.expect("kernels"));
    let before = elements(&made)?;
    x.clone().mul_(-1.5)?;
    recording.run(kernels)?;
    assert_eq!(elements(&made)?, elements(&copies()?)?);
    assert_ne!(elements(&made)?, before);
    Ok(())
}

/// Calls that are recorded once more find their memory in one block, unless somebody still has what lies there.
#[test]
fn memory_is_arranged() -> Result<()> {
    let x = ops::ones(1000, F32)?;
    let steps = |kept: &mut Vec<Tensor<Cpu>>, keeps: bool| -> Result<Tensor<Cpu>> {
        let mut y = x.mul(1.5)?;
        for i in 1..12 {
            // Of different sizes, so that a pool serves few of them twice.
            let wide = ops::cat(&vec![&y; i as usize])?;
            y = wide.i(..1000)?.add(&wide.i(-1000..)?)?.mul(0.5)?.add(i)?;
            if keeps {
                kept.push(wide);
            }
        }
        Ok(y)
    };
    let mut pool = Recording::default();
    let (_, kernels) = pool.record(|| steps(&mut Vec::new(), false).map(drop));
    assert!(kernels.is_some());
    let arrangement = pool.arrangement();
    assert!(arrangement.bytes() < pool.bytes(), "{} of {}", arrangement.bytes(), pool.bytes());
    for keeps in [false, true] {
        let mut recording = Recording::arranged(arrangement.clone());
        let mut kept = Vec::new();
        let (y, kernels) = recording.record(|| steps(&mut kept, keeps));
        let (y, kernels) = (y?, kernels.expect("kernels"));
        if !keeps {
            // Three temporaries of a statement live to its end, longer than kernels need them.
            assert!(recording.bytes() <= arrangement.bytes() + 3 * 4000, "{} bytes", recording.bytes());
        }
        for factor in [1.0, -3.0] {
            x.clone().fill_(factor)?;
            recording.run(kernels.clone())?;
            let mut again = Vec::new();
            assert_eq!(y.to_vec::<f32>()?, steps(&mut again, keeps)?.to_vec::<f32>()?, "{keeps}");
            for (kept, again) in kept.iter().zip(&again) {
                assert_eq!(kept.to_vec::<f32>()?, again.to_vec::<f32>()?);
            }
        }
        x.clone().fill_(1.0)?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_run_again_is_not_kept() -> Result<()> {
    let x = tensor![1.0f32, 2.0];
    let refused = |f: &dyn Fn() -> Result<()>| {
        let mut recording = Recording::default();
        let (done, kernels) = recording.record(f);
        done.map(|()| kernels.is_none())
    };
    assert!(!refused(&|| x.exp().map(drop))?);
    assert!(refused(&|| x.sum(..)?.item().map(drop))?);
    assert!(refused(&|| x.to_vec::<f32>().map(drop))?);
    assert!(refused(&|| ops::rand(3, F32).map(drop))?);
    assert!(refused(&|| x.clone().data_mut::<f32>().map(drop))?);
    let mut grows = ops::empty(0, F32)?;
    let (done, kernels) = Recording::default().record(|| ops::exp_out(&x, &mut grows).map(drop));
    assert_eq!((done, kernels), (Ok(()), None));
    // A panic ends a recording, and the thread records again.
    let panics = std::panic::catch_unwind(|| Recording::default().record(|| panic!("within")));
    assert!(panics.is_err() && !refused(&|| x.exp().map(drop))?);
    Ok(())
}

#[test]
fn a_run_borrows_what_others_have() -> Result<()> {
    let x = tensor![1.0f32, 2.0];
    let mut recording = Recording::default();
    let (y, kernels) = recording.record(|| x.exp());
    let (mut y, kernels) = (y?, kernels.expect("kernels"));
    let reader = y.clone();
    let guard = reader.data::<f32>()?;
    assert!(matches!(recording.run(kernels.clone()).unwrap_err().error.kind(), ErrorKind::Borrowed { .. }));
    drop(guard);
    recording.run(kernels.clone())?;
    // One that is enlarged has other memory.
    ops::exp_out(&ops::ones(1 << 16, F32)?, &mut y)?;
    assert!(matches!(recording.run(kernels).unwrap_err().error.kind(), ErrorKind::ArgumentRule { .. }));
    Ok(())
}

/// A recording may go to another thread.
#[test]
fn recordings_are_sent() -> Result<()> {
    let x = tensor![1.0f32, 4.0];
    let mut recording = Recording::default();
    let (y, kernels) = recording.record(|| x.sqrt());
    let (y, kernels) = (y?, kernels.expect("kernels"));
    x.clone().fill_(9.0)?;
    let ran = std::thread::spawn(move || recording.run(kernels)).join().expect("no panic");
    assert_eq!((ran, y.to_vec::<f32>()?), (Ok(()), vec![3.0, 3.0]));
    Ok(())
}

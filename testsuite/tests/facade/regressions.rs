//! Calls that were once answered otherwise than by PyTorch, with its answers.

use super::corners::{empty, strided};
use monomorph::prelude::*;
use monomorph::{Complex64, Cpu, DType, Geometry, IValue, Result, Tensor, call};

/// What an operator returns, called by its name.
fn called<const N: usize>(name: &str, arguments: [IValue; N]) -> Result<Vec<Tensor<Cpu>>> {
    let mut stack = arguments.to_vec();
    call(name, &mut stack)?;
    let tensors = stack.into_iter().filter_map(IValue::into_tensor);
    Ok(tensors.map(|t| t.downcast_ref::<Cpu>().expect("a tensor of the CPU").clone()).collect())
}

fn of(dtype: DType, numbers: &[f64], sizes: &[i64]) -> Tensor<Cpu> {
    Tensor::from_slice(numbers, sizes).and_then(|t| t.to(dtype)).expect("as many numbers as the sizes say")
}

fn doubles(t: &Tensor<Cpu>) -> Vec<f64> {
    t.to(DType::F64).and_then(|t| t.to_vec()).expect("real numbers")
}

#[test]
fn halves_are_rounded_after_the_steps_after_which_pytorch_rounds_them() -> Result<()> {
    let numbers = [0.5, -1.25, 3.0, 2.125, 0.0, -0.75, 1.5, 4.0];
    let logarithms = |dtype, dim: i64| {
        let result = called("_log_softmax", [of(dtype, &numbers, &[2, 4]).into(), dim.into(), false.into()])?;
        Ok::<_, monomorph::Error>(doubles(&result[0]))
    };
    // The sum and its logarithm, but of the last dimension only.
    let last = [-2.921875, -4.65625, -0.416015625, -1.2890625, -4.09375, -4.84375, -2.609375, -0.10400390625];
    assert_eq!(logarithms(DType::BF16, 1)?, last);
    let last =
        [-2.9140625, -4.6640625, -0.41455078125, -1.2890625, -4.10546875, -4.85546875, -2.603515625, -0.10382080078125];
    assert_eq!(logarithms(DType::F16, 1)?, last);
    let first =
        [-0.474609375, -0.97265625, -0.201171875, -2.015625, -0.97265625, -0.474609375, -1.703125, -0.142578125];
    assert_eq!(logarithms(DType::BF16, 0)?, first);
    // The second weight, and the first one, which is what that leaves.
    let row = [1.0, -2.0, 4.0, 0.5, 3.0];
    for (dtype, want) in [
        (DType::BF16, [1.0, -0.7109375, -0.2890625, 4.0, 1.5, 1.5703125, 3.0]),
        (DType::F16, [1.0, -0.7138671875, -0.2861328125, 4.0, 1.5, 1.5712890625, 3.0]),
    ] {
        let x = of(dtype, &row, &[1, 1, 5]).into();
        let result = called("upsample_linear1d", [x, IValue::Ints(vec![7]), false.into(), IValue::None])?;
        assert_eq!(doubles(&result[0]), want);
    }
    // The terms at the last point, in the order of the points.
    let points = of(DType::F16, &[0.0, 1.5, 1.8, 4.0, 4.7], &[5]);
    let (spacing, dims) = (IValue::Tensors(vec![points.into_any()]), IValue::Ints(vec![0]));
    let mut stack = vec![of(DType::F16, &row, &[5]).into(), spacing, dims, 2i64.into()];
    call("gradient.tensorarray", &mut stack)?;
    let Some(IValue::Tensors(slopes)) = stack.pop() else { panic!("a list") };
    let slopes = slopes[0].downcast_ref::<Cpu>().expect("a tensor of the CPU");
    assert_eq!(doubles(slopes), [-20.34375, 16.34375, 17.421875, 2.328125, 4.8203125]);
    Ok(())
}

#[test]
fn sums_of_slices_in_halves_are_rounded_where_pytorch_rounds_them() -> Result<()> {
    let sum = |dim: i64, index: DType, alpha: f64| {
        let x = Tensor::<Cpu>::zeros_contiguous(DType::F16, &[3, 3, 3]);
        let values = of(DType::F16, &[1.0, 0.01, 0.013, -0.7], &[4]);
        let sizes: Vec<i64> = (0..3).map(|d| if d == dim { 4 } else { 1 }).collect();
        let all: Vec<i64> = (0..3).map(|d| if d == dim { 4 } else { 3 }).collect();
        let values = values.reshape(&sizes)?.expand(&all)?;
        let index = of(index, &[0.0; 4], &[4]);
        let result = called("index_add", [x?.into(), dim.into(), index.into(), values.into(), alpha.into()])?;
        Ok::<_, monomorph::Error>(doubles(&result[0])[0])
    };
    // Once by way of a scatter, and else after each addition, and of each product.
    assert_eq!([sum(0, DType::I64, 1.0)?, sum(2, DType::I64, 1.0)?], [0.32275390625; 2]);
    assert_eq!([sum(1, DType::I64, 1.0)?, sum(0, DType::I32, 1.0)?], [0.322265625; 2]);
    assert_eq!([sum(0, DType::I64, 0.3)?, sum(1, DType::I64, 0.3)?], [0.0968017578125; 2]);
    Ok(())
}

#[test]
fn turns_of_logarithms_of_sums_are_those_of_the_larger_part() -> Result<()> {
    // The first two all but cancel, so that the third is more than their sum, if not more than each.
    let z: Vec<Complex64> = [(1.0, 0.0), (1.0, 3.0), (0.0, 5.5)].map(|(re, im)| Complex64::new(re, im)).to_vec();
    let result = called("logcumsumexp", [Tensor::<Cpu>::from_slice(&z, [3])?.into(), 0i64.into()])?;
    let got = result[0].to_vec::<Complex64>()?;
    let want = [(1.0, 0.0), (-0.9556364734184897, 1.5), (-0.21913460082500333, 5.870784059653787)];
    for (got, (re, im)) in got.iter().zip(want) {
        assert!((got - Complex64::new(re, im)).norm() < 1e-12, "{got}, want {re} + {im}i");
    }
    Ok(())
}

#[test]
fn powers_beyond_an_integer_are_converted_as_elements_are() -> Result<()> {
    let powers = |dtype: DType, end: i64, steps: i64| {
        let none = || IValue::None;
        let ends = [0i64.into(), end.into(), steps.into(), 10.0.into()];
        let [start, end, steps, base] = ends;
        let result = called("logspace", [start, end, steps, base, dtype.into(), none(), none(), none()])?;
        Ok::<_, monomorph::Error>(doubles(&result[0]))
    };
    assert_eq!(powers(DType::U8, -3, 4)?, [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(powers(DType::U8, 3, 4)?, [1.0, 10.0, 100.0, 232.0]);
    assert_eq!(powers(DType::I32, 12, 4)?, [1.0, 1e4, 1e8, i32::MIN.into()]);
    assert_eq!(powers(DType::I64, 100, 2)?, [1.0, i64::MIN as f64]);
    Ok(())
}

#[test]
fn strides_that_results_have_whatever_the_operands_have() -> Result<()> {
    let one = |strides: &[i64]| strided(DType::F32, &[1, 3], strides);
    let crossed = called("linalg_cross", [one(&[3, 1]).into(), one(&[7, 2]).into(), 1i64.into()])?;
    assert_eq!(crossed[0].strides(), [3, 1]);
    let turned = strided(DType::F32, &[3, 4], &[1, 3]);
    let noise = strided(DType::F32, &[3, 4], &[4, 1]);
    let bounds = [turned.clone().into(), noise.into(), 0.1.into(), 0.3.into(), false.into(), IValue::None];
    assert_eq!(called("rrelu_with_noise", bounds)?[0].strides(), [4, 1]);
    // The gradient of a dense input is like it, of others row-major.
    for (strides, want) in [([24, 3, 1], [24, 3, 1]), ([18, 1, 6], [18, 3, 1])] {
        let x = strided(DType::F32, &[1, 6, 3], &strides);
        let (grad, rows) = (strided(DType::F32, &[1, 6, 3], &[18, 3, 1]), strided(DType::F32, &[1, 2], &[2, 1]));
        let sizes = [1i64, 6, 3, 2].map(IValue::from);
        let [n, c, s, groups] = sizes;
        let mask = IValue::Bools(vec![true; 3]);
        let tensors = [grad.into(), x.into(), rows.clone().into(), rows.into(), IValue::None];
        let [grad, x, mean, rstd, weight] = tensors;
        let slopes = called("native_group_norm_backward", [grad, x, mean, rstd, weight, n, c, s, groups, mask]);
        assert_eq!(slopes?[0].strides(), want);
    }
    Ok(())
}

#[test]
fn calls_that_pytorch_refuses_are_refused_and_write_nothing() -> Result<()> {
    // The diagonal behind the first square would lie behind the storage.
    let tall = of(DType::F32, &[0.0; 99], &[3, 33]).t()?;
    assert!(called("fill_diagonal_", [tall.clone().into(), 1i64.into(), true.into()]).is_err());
    assert_eq!(doubles(&tall), [0.0; 99]);
    let whole = |sizes: &[i64]| of(DType::I64, &vec![0.0; sizes.iter().product::<i64>() as usize], sizes);
    let states = IValue::Tensors(vec![whole(&[2, 5]).into_any(), whole(&[2, 5]).into_any()]);
    let weights = |gates: i64| [whole(&[5 * gates, 4]).into(), whole(&[5 * gates, 5]).into()];
    let ([a, b], [c, d]) = (weights(4), weights(3));
    let (none, x) = (|| IValue::None, || IValue::from(whole(&[2, 4])));
    assert!(called("lstm_cell", [x(), states, a, b, none(), none()]).is_err());
    assert!(called("gru_cell", [x(), whole(&[2, 5]).into(), c, d, none(), none()]).is_err());
    // Lists of indices are read as they lie in memory.
    let weights_of_samples = |lists: [Tensor<Cpu>; 3]| {
        let [indices, offsets, bags] = lists.map(IValue::from);
        let (grad, rows) = (of(DType::F32, &[0.0; 6], &[2, 3]).into(), of(DType::F32, &[0.0; 12], &[4, 3]).into());
        let (mode, padding) = (0i64.into(), (-1i64).into());
        called("_embedding_bag_per_sample_weights_backward", [grad, rows, indices, offsets, bags, mode, padding])
    };
    let (list, stepped) = (whole(&[3]), whole(&[6]).i((..).by(2))?);
    assert!(weights_of_samples([list.clone(), stepped.clone(), list.clone()]).is_ok());
    assert!(weights_of_samples([stepped.clone(), list.clone(), list.clone()]).is_err());
    assert!(weights_of_samples([list.clone(), list.clone(), stepped]).is_err());
    assert!(weights_of_samples([list.to(DType::I16)?, list.to(DType::I16)?, list.to(DType::I16)?]).is_err());
    let empty = || IValue::from(whole(&[0]));
    let probabilities = of(DType::F32, &[], &[50, 0, 20]).into();
    let targets = whole(&[0, 30]).into();
    assert!(called("_ctc_loss.Tensor", [probabilities, targets, empty(), empty(), 0i64.into(), false.into()]).is_err());
    let marked = |marks: &[f64]| {
        let (grad, x) = (of(DType::F32, &[1.0], &[]).into(), of(DType::F32, &[0.5, -1.0], &[2]).into());
        let [targets, marks] = [of(DType::I64, &[1.0, -1.0], &[2]), of(DType::F32, marks, &[2])].map(IValue::from);
        called("multilabel_margin_loss_backward", [grad, x, targets, 1i64.into(), marks])
    };
    assert!(marked(&[0.0, 1.0]).is_ok() && marked(&[0.5, 0.0]).is_ok());
    assert!(marked(&[0.0, 2.0]).is_err() && marked(&[-1.0, 0.0]).is_err() && marked(&[f64::NAN, 0.0]).is_err());
    Ok(())
}

#[test]
fn what_batch_norm_does_not_keep_is_left_alone() -> Result<()> {
    let x = of(DType::F32, &[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let row = |x: f64| IValue::from(of(DType::F32, &[x; 2], &[2]));
    let reserve = of(DType::U8, &[7.0; 2], &[2]);
    let (weight, bias) = (IValue::None, IValue::None);
    let arguments = [x.into(), weight, bias, row(0.0), row(1.0), 0.1.into(), 1e-5.into()];
    let outs = [empty(DType::F32).into(), empty(DType::F32).into(), empty(DType::F32).into(), reserve.into()];
    let mut stack: Vec<IValue> = arguments.into_iter().chain(outs).collect();
    call("_batch_norm_with_update.out", &mut stack)?;
    let kept = stack[3].as_tensor().and_then(|t| t.downcast_ref::<Cpu>()).expect("the last output");
    assert_eq!(doubles(kept), [7.0, 7.0]);
    Ok(())
}

#[test]
fn strides_and_offsets_of_few_elements_are_those_of_the_steps() -> Result<()> {
    // The base is converted, which keeps them, and raised, which does not.
    for (sizes, strides, want) in
        [(&[1, 5][..], &[10, 1][..], &[5, 1][..]), (&[0, 1, 7], &[14, 7, 1], &[7, 7, 1]), (&[2, 3], &[1, 2], &[1, 2])]
    {
        for dtype in [DType::F32, DType::F64] {
            let power = called("float_power.Tensor_Scalar", [strided(dtype, sizes, strides).into(), 2.5.into()])?;
            assert_eq!(power[0].strides(), want, "{dtype:?} {sizes:?}");
        }
    }
    let nothing = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[2, 0])?;
    let behind = nothing.with_geometry(Geometry::new(DType::F32, &[2, 0], &[2, 1], 1)?)?;
    let copy = called("copy", [behind.into(), empty(DType::F32).into(), false.into()])?;
    assert_eq!((copy[0].strides(), copy[0].geometry().offset()), (&[2, 1][..], 0));
    Ok(())
}

#[test]
fn one_element_is_zero_or_not() -> Result<()> {
    for (dtype, number, want) in [(DType::F32, -0.0, false), (DType::F64, f64::NAN, true), (DType::I8, 3.0, true)] {
        for sizes in [&[][..], &[1, 1]] {
            let mut stack = vec![of(dtype, &[number], sizes).into()];
            call("is_nonzero", &mut stack)?;
            assert!(matches!(stack[..], [IValue::Bool(got)] if got == want), "{dtype:?} {number}");
        }
    }
    for sizes in [0, 2] {
        assert!(call("is_nonzero", &mut vec![of(DType::F32, &[0.0; 2][..sizes as usize], &[sizes]).into()]).is_err());
    }
    Ok(())
}

#[test]
fn an_infinite_factor_of_a_logarithm_leaves_a_power_of_zero() -> Result<()> {
    const INF: f64 = f64::INFINITY;
    for (base, exponent) in [
        (Complex64::new(INF, f64::NAN), Complex64::new(-1.0, 0.0)),
        (Complex64::new(-INF, f64::NAN), Complex64::new(-0.5, 0.0)),
        (Complex64::new(-1.0, 0.0), Complex64::new(INF, INF)),
        (Complex64::new(0.5, 0.0), Complex64::new(INF, f64::NAN)),
        (Complex64::new(-2.0, 0.0), Complex64::new(-INF, f64::NAN)),
    ] {
        let tensor = |z: Complex64| Tensor::<Cpu>::from_slice(&[z], &[1][..]).map(IValue::from);
        let power = called("pow.Tensor_Tensor", [tensor(base)?, tensor(exponent)?])?;
        assert_eq!(power[0].to_vec::<Complex64>()?, [Complex64::new(0.0, 0.0)], "{base} to {exponent}");
    }
    Ok(())
}

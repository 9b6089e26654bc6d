//! The forms of a call, and the corners: empty and 0-dim tensors, numbers, overlap, faults, sizes beyond memory.

use super::formulas::{
    Abs, Axpy, Choose, Fill, FloorDivide, Less, NO_RECIPROCAL, Reciprocals, T, Times, apply, apply_tuned, axpy, axpy_,
    axpy_out, numbers, tensor, times_prebuilt,
};
use monomorph_core::structured::{MetaSink, Operand, call, in_place, prepare};
use monomorph_core::{Complex32, DType, ErrorKind, Geometry, Meta, Scalar, Tensor, bf16, f16};
use monomorph_cpu::Cpu;
use monomorph_cpu::tuning::Tuned;
use monomorph_ops::pointwise::{Pointwise, PointwiseInputs};

fn floats(t: &T) -> Vec<f32> {
    t.to_vec().unwrap()
}

#[test]
fn every_form_gives_one_answer() {
    let (a, b) = (tensor(&[1.0f32, 2.0, 3.0], &[3]), tensor(&[10.0f32, 20.0, 30.0], &[3]));
    let want = [21.0, 42.0, 63.0];
    assert_eq!(floats(&axpy(&a, &b, 2).unwrap()), want);
    let mut out = tensor(&[0.0f32], &[1]);
    axpy_out(&a, &b, 2, &mut out).unwrap();
    assert_eq!(floats(&out), want);
    let mut this = tensor(&[1.0f32, 2.0, 3.0], &[3]);
    let version = this.version();
    axpy_(&mut this, Some(&b), 2).unwrap();
    assert_eq!((floats(&this), this.version()), (want.to_vec(), version + 1));

    let inputs = PointwiseInputs::<Axpy>::new((&a, &b, Scalar::Int(2))).unwrap();
    let [meta] = call::<Pointwise<Axpy>, Meta, _>(&inputs, MetaSink::<1>).unwrap();
    assert_eq!((meta.sizes(), meta.dtype()), (&[3i64][..], DType::F32));

    let mut out = tensor(&[0.0f32; 3], &[3]);
    let mut prepared = prepare::<Pointwise<Axpy>, Cpu, 1>(&inputs, [&mut out]).unwrap();
    prepared.run().unwrap();
    drop(prepared);
    assert_eq!(floats(&out), want);
}

#[test]
fn a_prepared_call_reads_its_numbers_where_it_was_moved_to() {
    let a = tensor(&[1.0f32, 2.0], &[2]);
    let mut outs: Vec<T> = (0..4).map(|_| tensor(&[0.0f32; 2], &[2])).collect();
    let inputs: Vec<_> = (0..4)
        .map(|i| PointwiseInputs::<Axpy>::new((&a, Operand::from(Scalar::Int(i)), Scalar::Int(10))).unwrap())
        .collect();
    let mut prepared = Vec::new();
    for (inputs, out) in inputs.iter().zip(&mut outs) {
        // A vector that grows moves what it holds.
        prepared.push(prepare::<Pointwise<Axpy>, Cpu, 1>(inputs, [out]).unwrap());
    }
    prepared.iter_mut().for_each(|p| p.run().unwrap());
    drop(prepared);
    for (i, out) in outs.iter().enumerate() {
        assert_eq!(floats(out), [1.0 + 10.0 * i as f32, 2.0 + 10.0 * i as f32]);
    }
}

#[test]
fn a_prepared_call_sees_new_contents_and_counts_versions() {
    let a = tensor(&[1.0f32, 2.0], &[2]);
    let mut out = tensor(&[0.5f32, 0.5], &[2]);
    let version = out.version();
    let alias = out.clone();
    let inputs = PointwiseInputs::<Axpy>::new((&alias, &a, Scalar::Int(1))).unwrap();
    let mut prepared = prepare::<Pointwise<Axpy>, Cpu, 1>(&inputs, [&mut out]).unwrap();
    for _ in 0..3 {
        prepared.run().unwrap();
    }
    drop(prepared);
    assert_eq!((floats(&out), out.version()), (vec![3.5, 6.5], version + 3));
}

#[test]
fn the_output_may_be_both_inputs() {
    for n in [1, 5, 100, 5000] {
        let mut x = tensor(&vec![1.5f32; n], &[n as i64]);
        axpy_(&mut x, None, 2).unwrap();
        assert_eq!(floats(&x), vec![4.5; n]);
        let mut y = tensor(&vec![3i64; n], &[n as i64]);
        in_place(&mut y, |this, sink, _| {
            let inputs = PointwiseInputs::<Times>::new((this, this))?;
            call::<Pointwise<Times, Tuned>, Cpu, _>(&inputs, sink)
        })
        .unwrap();
        assert_eq!(y.to_vec::<i64>().unwrap(), vec![9; n]);
    }
}

#[test]
fn a_mask_may_be_the_output() {
    let mut mask = tensor(&[true, false, true, false], &[4]);
    let (a, b) = (tensor(&[false, false, true, true], &[4]), tensor(&[true, true, false, true], &[4]));
    in_place(&mut mask, |this, sink, _| {
        let inputs = PointwiseInputs::<Choose>::new((this, &a, &b))?;
        call::<Pointwise<Choose, Tuned>, Cpu, _>(&inputs, sink)
    })
    .unwrap();
    assert_eq!(mask.to_vec::<bool>().unwrap(), [false, true, true, true]);
}

#[test]
fn bool_bytes_count_by_being_nonzero() {
    let bytes = tensor(&[0u8, 1, 2, 255], &[4]);
    let mask = bytes.with_geometry(Geometry::new(DType::Bool, &[4], &[1], 0).unwrap()).unwrap();
    let (a, b) = (tensor(&[1i32; 4], &[4]), tensor(&[0i32; 4], &[4]));
    let chosen = apply_tuned::<Choose, _>((&mask, &a, &b)).unwrap();
    assert_eq!(chosen.to_vec::<i32>().unwrap(), [0, 1, 1, 1]);
    let both = apply_tuned::<Times, _>((&mask, &mask)).unwrap();
    assert_eq!(both.storage_to_vec().unwrap(), [0, 1, 1, 1]);
    let sum = axpy(&mask, &a, 0).unwrap();
    assert_eq!(sum.to_vec::<i32>().unwrap(), [0, 1, 1, 1]);
}

#[test]
fn outputs_of_other_kinds() {
    let (a, b) = (tensor(&[1.0f32, 5.0, f32::NAN], &[3]), tensor(&[2i64, 3, 1], &[3]));
    assert_eq!(apply::<Less, _>((&a, &b)).unwrap().to_vec::<bool>().unwrap(), [true, false, false]);
    let mut out = tensor(&[9.0f64; 3], &[3]);
    let inputs = PointwiseInputs::<Less>::new((&a, &b)).unwrap();
    call::<Pointwise<Less>, Cpu, _>(&inputs, monomorph_core::structured::Out([&mut out])).unwrap();
    assert_eq!(out.to_vec::<f64>().unwrap(), [1.0, 0.0, 0.0]);

    let z = tensor(&[Complex32::new(3.0, -4.0), Complex32::new(0.0, 2.0)], &[2]);
    let abs = apply::<Abs, _>((&z,)).unwrap();
    assert_eq!((abs.dtype(), floats(&abs)), (DType::F32, vec![5.0, 2.0]));
}

#[test]
fn an_operator_without_inputs_fills() {
    let mut out = Tensor::<Cpu>::zeroed(DType::F16, &[2, 3], &[1, 4], 0).unwrap();
    let inputs = PointwiseInputs::<Fill>::new((Scalar::Float(1.5),)).unwrap();
    call::<Pointwise<Fill>, Cpu, _>(&inputs, monomorph_core::structured::Out([&mut out])).unwrap();
    assert_eq!(out.to_vec::<f16>().unwrap(), [f16::from_f32(1.5); 6]);
    // The gaps between columns are not the operator's.
    assert_eq!(out.storage_to_vec().unwrap()[4..8], [0; 4]);
}

#[test]
fn halves_round_once_and_numbers_stay_wide_where_the_rule_says_so() {
    let x = tensor(&[f16::from_f32(3.0), f16::from_f32(7.0)], &[2]);
    let product = apply_tuned::<Times, _>((&x, Operand::from(Scalar::Float(0.1)))).unwrap();
    // float16(7 · 0.1f), not float16(7 · float16(0.1)): recorded from PyTorch.
    assert_eq!(product.to_vec::<f16>().unwrap(), [3.0f32, 7.0].map(|x| f16::from_f32(x * 0.1)));
    let tenth = tensor(&[f16::from_f64(0.1); 2], &[2]);
    let narrow = apply_tuned::<Times, _>((&x, &tenth)).unwrap();
    assert_ne!(narrow.to_vec::<f16>().unwrap(), product.to_vec::<f16>().unwrap());

    // An output of another dtype takes what a float16 result would be: 156.0546875 is none.
    let x = tensor(&[f16::from_f64(1.5607)], &[1]);
    let inputs = PointwiseInputs::<Times>::new((&x, Scalar::Int(100))).unwrap();
    let mut out = tensor(&[0.0f32], &[1]);
    prepare::<Pointwise<Times, Tuned>, Cpu, 1>(&inputs, [&mut out]).unwrap().run().unwrap();
    assert_eq!(floats(&out), [156.0]);

    // 1 + 2⁻⁸ + 2⁻⁸ is exact in float32, but not if the first sum is rounded to bfloat16.
    let (one, step) = (bf16::from_f32(1.0), bf16::from_f32(2f32.powi(-8)));
    let sum = axpy(&tensor(&[one], &[1]), &tensor(&[step], &[1]), 2).unwrap();
    assert_eq!(sum.to_vec::<bf16>().unwrap(), [bf16::from_f32(1.0 + 2f32.powi(-7))]);
}

#[test]
fn prebuilt_kernels_are_the_same() {
    let (a, b) = (tensor(&[1.5f64, -2.0, 0.1], &[3]), tensor(&[3.0f64, 0.7, 0.2], &[3]));
    let (here, there) = (apply::<Times, _>((&a, &b)).unwrap(), times_prebuilt(&a, &b).unwrap());
    assert_eq!(here.to_vec::<f64>().unwrap(), there.to_vec::<f64>().unwrap());
}

#[test]
fn division_by_zero_is_an_error_in_every_layout() {
    for n in [1usize, 7, 2000, 100_000] {
        let a = tensor(&vec![7i32; n], &[n as i64]);
        let mut divisors = vec![2i32; n];
        let good = tensor(&divisors, &[n as i64]);
        assert_eq!(apply::<FloorDivide, _>((&a, &good)).unwrap().to_vec::<i32>().unwrap(), vec![3; n]);
        divisors[n - 1] = 0;
        let bad = tensor(&divisors, &[n as i64]);
        let error = apply::<FloorDivide, _>((&a, &bad)).unwrap_err();
        assert_eq!((error.op(), error.kind()), ("floor_divide", &ErrorKind::DivisionByZero));
        let wide = tensor(&vec![7i64; n], &[n as i64]);
        assert_eq!(apply::<FloorDivide, _>((&wide, &bad)).unwrap_err().kind(), &ErrorKind::DivisionByZero);
        let zero = Operand::from(Scalar::Int(0));
        assert_eq!(apply::<FloorDivide, _>((&a, zero)).unwrap_err().kind(), &ErrorKind::DivisionByZero);
    }
    let (a, b) = (tensor(&[1.0f32], &[1]), tensor(&[0.0f32], &[1]));
    assert_eq!(floats(&apply::<FloorDivide, _>((&a, &b)).unwrap()), [f32::INFINITY]);
    let none = tensor::<i32>(&[], &[0]);
    assert_eq!(apply::<FloorDivide, _>((&none, Operand::from(Scalar::Int(0)))).unwrap().numel(), 0);
}

#[test]
fn a_formula_names_the_error_of_what_it_refuses() {
    for n in [1i64, 2000] {
        let (ones, bad) = (tensor(&vec![1i32; n as usize], &[n]), tensor(&vec![0i32; n as usize], &[n]));
        let errors = [(&ones, &bad), (&bad, &ones)].map(|pair| apply::<Reciprocals, _>(pair).unwrap_err());
        let with_number = apply::<Reciprocals, _>((&ones, Operand::from(Scalar::Int(0)))).unwrap_err();
        assert!(errors.iter().chain([&with_number]).all(|error| *error.kind() == NO_RECIPROCAL));
    }
}

#[test]
fn empty_and_zero_dim_tensors() {
    let none = tensor::<f32>(&[], &[2, 0, 3]);
    assert_eq!(axpy(&none, &tensor(&[1.0f32], &[1]), 1).unwrap().sizes(), [2, 0, 3]);
    let one = tensor(&[2.0f32], &[]);
    let sum = axpy(&one, &one, 3).unwrap();
    assert_eq!((sum.ndim(), floats(&sum)), (0, vec![8.0]));
    let sum = axpy(&one, Operand::from(Scalar::Float(0.5)), 1).unwrap();
    assert_eq!((sum.ndim(), floats(&sum)), (0, vec![2.5]));
}

#[test]
fn bits_are_resolved_on_load_and_set_on_store() {
    let z = [Complex32::new(1.0, 2.0), Complex32::new(3.0, -4.0)];
    let t = tensor(&z, &[2]);
    let conj = t.with_geometry(t.geometry().clone().with_conj(true)).unwrap();
    let sum = axpy(&conj, &t, 1).unwrap();
    assert_eq!(sum.to_vec::<Complex32>().unwrap(), [Complex32::new(2.0, 0.0), Complex32::new(6.0, 0.0)]);

    let storage = tensor(&[0.0f32; 2], &[2]);
    let mut out = storage.with_geometry(storage.geometry().clone().with_neg(true)).unwrap();
    axpy_out(&tensor(&[1.0f32, 2.0], &[2]), &tensor(&[1.0f32, 1.0], &[2]), 1, &mut out).unwrap();
    assert_eq!(floats(&out), [2.0, 3.0]);
    assert_eq!(floats(&storage), [-2.0, -3.0]);
}

#[test]
fn memory_that_may_overlap_is_walked_one_element_after_the_other() {
    // Rows of 3 with a stride of 2: nobody can prove that indices are distinct, and they are not.
    let n = 20_000i64;
    let mut storage = tensor(&vec![0i64; 2 * n as usize + 1], &[2 * n + 1]);
    let mut out = storage.with_geometry(Geometry::new(DType::I64, &[n, 3], &[2, 1], 0).unwrap()).unwrap();
    let a: Vec<i64> = (0..3 * n).collect();
    axpy_out(&tensor(&a, &[n, 3]), Operand::from(Scalar::Int(0)), 1, &mut out).unwrap();
    drop(out);
    let got = storage.data_mut::<i64>().unwrap().to_vec();
    // The order of the walk is that of the rows: each row overwrites the last element of the one before.
    for row in 0..n as usize {
        assert_eq!(got[2 * row..2 * row + 2], [3 * row as i64, 3 * row as i64 + 1]);
    }

    // x[1:] = x[:-1] + x[1:] through interleaved views: strided views of one storage are too hard to tell apart.
    let mut x = tensor(&vec![1i64; 64], &[64]);
    let view = |start| Geometry::new(DType::I64, &[31], &[2], start).unwrap();
    let (from, mut to) = (x.with_geometry(view(0)).unwrap(), x.with_geometry(view(2)).unwrap());
    axpy_out(&from, Operand::from(Scalar::Int(1)), 1, &mut to).unwrap();
    drop((from, to));
    let got = x.data_mut::<i64>().unwrap().to_vec();
    let running: Vec<i64> = (0..32).map(|i| 1 + i).collect();
    assert_eq!(got.iter().step_by(2).copied().collect::<Vec<_>>(), running);
}

#[test]
fn partial_overlap_is_refused() {
    let x = tensor(&[1.0f32, 2.0, 3.0], &[3]);
    let view = |start| x.with_geometry(Geometry::new(DType::F32, &[2], &[1], start).unwrap()).unwrap();
    let (from, mut to) = (view(0), view(1));
    let error = axpy_out(&from, &from, 1, &mut to).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::PartialOverlap { .. }), "{error}");
    assert_eq!(floats(&x), [1.0, 2.0, 3.0]);
}

#[test]
fn sizes_beyond_memory_are_errors() {
    for n in [1i64 << 45, 1 << 59, 1 << 61, i64::MAX] {
        assert!(Tensor::<Cpu>::zeros_contiguous(DType::F32, &[n]).is_err());
        let one = tensor(&[1.0f32], &[1]);
        let Ok(wide) = Geometry::new(DType::F32, &[n], &[0], 0) else { continue };
        let wide = one.with_geometry(wide).unwrap();
        let error = axpy(&wide, &one, 1).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooManyElements { .. }), "{n}: {error}");
        // As many as are computed, but more than there is memory.
        let wide = one.with_geometry(Geometry::new(DType::F32, &[1 << 40], &[0], 0).unwrap()).unwrap();
        let error = axpy(&wide, &one, 1).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Allocation { .. }), "{n}: {error}");
        let row = one.with_geometry(Geometry::new(DType::F32, &[n, 1], &[0, 0], 0).unwrap()).unwrap();
        let column = one.with_geometry(Geometry::new(DType::F32, &[1, n], &[0, 0], 0).unwrap()).unwrap();
        let error = axpy(&row, &column, 1).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::SizeOverflow { .. }), "{n}: {error}");
    }
}

#[test]
fn large_calls_run_on_every_layout() {
    let n = 300i64;
    let data: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
    let a = tensor(&data, &[n, n]);
    let t = a.with_geometry(Geometry::new(DType::F32, &[n, n], &[1, n], 0).unwrap()).unwrap();
    let row = tensor(&data[..n as usize], &[n]);
    let naive = |f: &dyn Fn(i64, i64) -> f32| (0..n * n).map(|i| f(i / n, i % n)).collect::<Vec<_>>();
    assert_eq!(floats(&axpy(&a, &a, 1).unwrap()), naive(&|i, j| 2.0 * (i * n + j) as f32));
    assert_eq!(floats(&axpy(&a, &t, 1).unwrap()), naive(&|i, j| (i * n + j + j * n + i) as f32));
    assert_eq!(floats(&axpy(&a, &row, 1).unwrap()), naive(&|i, j| (i * n + j + j) as f32));
    let sum = axpy(&a, Operand::from(Scalar::Float(0.5)), 1).unwrap();
    assert_eq!(floats(&sum), naive(&|i, j| (i * n + j) as f32 + 0.5));
    assert_eq!(numbers(&sum).len(), (n * n) as usize);
}

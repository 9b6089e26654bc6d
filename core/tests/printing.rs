//! Tensors as text: what PyTorch printed of a thousand tensors (`testsuite/golden/printing.json`; its format is
//! described in `testsuite/record/printing.py`), character for character; and what it has no answer for: tensors that
//! are being written, memory that the host cannot reach, giants, names, one line of `Debug`. Printing never fails.

mod host;

use host::Host;
use monomorph_core::{AnyTensor, Complex32, DType, Geometry, Meta, Tensor, bf16, f16};
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

type T = Tensor<Host>;

fn geometry(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Geometry {
    Geometry::new(dtype, sizes, strides, offset).expect("legal")
}

fn floats(values: &[f32]) -> T {
    T::from_slice(values, [values.len() as i64]).expect("a tensor")
}

// ---- recorded -----------------------------------------------------------------------------------------------------

fn ints(v: &Value) -> Vec<i64> {
    v.as_array().expect("a list").iter().map(|x| x.as_i64().expect("an integer")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("two digits");
    hex.as_bytes().chunks(2).map(byte).collect()
}

/// The tensor of a row.
fn rebuilt(row: &Value) -> AnyTensor {
    let dtype = DType::from_name(row["dtype"].as_str().expect("a name")).expect("a dtype");
    let g = geometry(dtype, &ints(&row["sizes"]), &ints(&row["strides"]), row["offset"].as_i64().unwrap_or(0));
    let g = g.with_conj(row["conj"] == true).with_neg(row["neg"] == true);
    if row["device"] == "meta" {
        return Tensor::<Meta>::zeroed(dtype, g.sizes(), g.strides(), 0).expect("a tensor").into_any();
    }
    let values = bytes(row["values"].as_str().expect("digits"));
    let storage = values.repeat(row["repeat"].as_u64().unwrap_or(1) as usize);
    T::from_storage(&storage, g).expect("a tensor").into_any()
}

#[test]
fn tensors_print_as_recorded() {
    let golden: Value = serde_json::from_str(include_str!("../../testsuite/golden/printing.json")).expect("JSON");
    let rows = golden["text"].as_array().expect("a section");
    assert!(rows.len() > 900, "{}", rows.len());
    for row in rows {
        let t = rebuilt(row);
        let got = match (row["full"] == true, row["precision"].as_u64()) {
            (false, None) => format!("{t}"),
            (false, Some(precision)) => format!("{t:.0$}", precision as usize),
            (true, None) => format!("{t:#}"),
            (true, Some(precision)) => format!("{t:#.0$}", precision as usize),
        };
        assert_eq!(got, row["text"].as_str().expect("a text"), "{row}\ngot\n{got}");
        let line = format!("{t:?}");
        assert!(line.lines().count() == 1 && !line.contains("..."), "{line}");
    }
}

// ---- by hand ------------------------------------------------------------------------------------------------------

#[test]
fn elements_print_as_numbers_of_their_dtype() {
    let third = 1.0 / 3.0;
    assert_eq!(floats(&[1.0, third]).to_string(), "tensor([1.0000, 0.3333])");
    let double = T::from_slice(&[third.into(), 0.1f64], [2]).expect("a tensor");
    assert_eq!(double.to_string(), "tensor([0.3333, 0.1000], dtype=torch.float64)");
    let half = T::from_slice(&[f16::from_f32(third)], ()).expect("a tensor");
    assert_eq!(half.to_string(), "tensor(0.3333, dtype=torch.float16)");
    let brain = T::from_slice(&[bf16::from_f32(third)], [1]).expect("a tensor");
    assert_eq!(format!("{brain:.6}"), "tensor([0.333984], dtype=torch.bfloat16)");
    let complex = T::from_slice(&[Complex32::new(third, -2.0)], [1]).expect("a tensor");
    assert_eq!(complex.to_string(), "tensor([0.3333-2.j])");
    assert_eq!(T::from_slice(&[true, false], [2]).expect("a tensor").to_string(), "tensor([ True, False])");
}

#[test]
fn the_format_string_has_a_precision_and_a_flag() {
    let t = floats(&[2.0 / 3.0, 10.0]);
    assert_eq!(format!("{t:.2}"), "tensor([ 0.67, 10.00])");
    assert_eq!(format!("{t:.0}"), "tensor([ 1, 10])");
    let many = T::from_slice(&(0..1001).collect::<Vec<i32>>(), [1001]).expect("a tensor");
    assert_eq!(many.to_string(), "tensor([   0,    1,    2,  ...,  998,  999, 1000], dtype=torch.int32)");
    let whole = format!("{many:#}");
    assert!(!whole.contains("...") && whole.ends_with(" 1000], dtype=torch.int32)"));
    assert_eq!(whole.matches(',').count(), 1001);
    assert!(whole.lines().all(|line| line.len() <= 80));
    // As many digits as there may be, and as wide elements.
    for values in [[1e-30, 1.5], [0.5, 1.5], [2.0, f32::NAN]] {
        let text = format!("{:.65535}", floats(&values));
        assert!(text.starts_with("tensor([") && text.ends_with("])"));
    }
}

#[test]
fn notations() {
    let text = |values: &[f32]| floats(values).to_string();
    assert_eq!(text(&[1.0, -2.0, 30.0]), "tensor([ 1., -2., 30.])");
    assert_eq!(text(&[1.0, -2.5, 30.0]), "tensor([ 1.0000, -2.5000, 30.0000])");
    assert_eq!(text(&[1.0, 1001.0]), "tensor([1.0000e+00, 1.0010e+03])");
    assert_eq!(text(&[1e-5]), "tensor([1.0000e-05])");
    // What is not finite, and zero, stand aside where the others choose, and may be wider than they are.
    assert_eq!(text(&[f32::NAN, f32::NEG_INFINITY, 2.0]), "tensor([nan, -inf, 2.])");
    assert_eq!(text(&[f32::NAN, f32::INFINITY, 0.5, -0.0]), "tensor([   nan,    inf, 0.5000, -0.0000])");
    assert_eq!(text(&[f32::NAN, 1e-5]), "tensor([       nan, 1.0000e-05])");
    assert_eq!(
        floats(&[-0.0]).with_geometry(geometry(DType::F32, &[], &[], 0)).expect("a view").to_string(),
        "tensor(-0.)"
    );
}

#[test]
fn lines_and_suffixes() {
    let rows = T::from_slice(&[1234567i64; 9], [9]).expect("a tensor");
    let line = ["1234567"; 8].join(", ");
    assert_eq!(rows.to_string(), format!("tensor([{line},\n        1234567])"));
    let planes = T::from_slice(&[0u8, 1, 2, 3, 4, 5, 6, 7], [2, 2, 2]).expect("a tensor");
    let text = "tensor([[[0, 1],
         [2, 3]],

        [[4, 5],
         [6, 7]]], dtype=torch.uint8)";
    assert_eq!(planes.to_string(), text);
    assert_eq!(T::zeros_contiguous(DType::F32, &[0]).expect("a tensor").to_string(), "tensor([])");
    let empty = T::zeros_contiguous(DType::Bool, &[0, 3]).expect("a tensor");
    assert_eq!(empty.to_string(), "tensor([], size=(0, 3), dtype=torch.bool)");
}

/// More dimensions than PyTorch's operators take, and than a recursion should.
#[test]
fn deep_tensors() {
    let one = floats(&[7.0]);
    let deep = one.with_geometry(geometry(DType::F32, &[1; 128], &[1; 128], 0)).expect("a view");
    assert_eq!(deep.to_string(), format!("tensor({}7.{})", "[".repeat(128), "]".repeat(128)));
}

/// What is not shown is not read, and what nobody can wait for is not shown.
#[test]
fn giants() {
    let one = floats(&[7.0]);
    let giant = one.with_geometry(geometry(DType::F32, &[1 << 61], &[0], 0)).expect("a view");
    assert_eq!(giant.to_string(), "tensor([7., 7., 7.,  ..., 7., 7., 7.])");
    assert_eq!(format!("{giant:#}"), giant.to_string());
    assert_eq!(
        format!("{giant:?}"),
        format!("Tensor {{ dtype: float32, sizes: [{}], strides: [0], device: cpu }}", 1u64 << 61)
    );
    let many = one.with_geometry(geometry(DType::F32, &[4; 30], &[0; 30], 0)).expect("a view");
    assert_eq!(
        many.to_string(),
        format!("tensor(..., size=({}4))", "4, ".repeat(29)).replace("..., size", "...,\n       size")
    );
    let empty = T::zeros_contiguous(DType::I64, &[i64::MAX, 0]).expect("a tensor");
    assert_eq!(empty.to_string(), format!("tensor([], size=({}, 0), dtype=torch.int64)", i64::MAX));
    // As many as there are in memory are shown where all are asked for.
    let real = T::zeros_contiguous(DType::U8, &[(1 << 20) + 1]).expect("a tensor");
    assert_eq!(format!("{real:#}").matches('0').count(), 1 << 20 | 1);
}

#[test]
fn a_tensor_that_is_being_written_prints_without_elements() {
    let t = T::from_slice(&[1i32, 2], [2]).expect("a tensor");
    let mut other = t.clone();
    let writer = other.data_mut::<i32>().expect("nobody else borrows it");
    assert_eq!(t.to_string(), "tensor(..., size=(2,), dtype=torch.int32)");
    assert_eq!(format!("{t:?}"), "Tensor { dtype: int32, sizes: [2], device: cpu }");
    drop(writer);
    assert_eq!(t.to_string(), "tensor([1, 2], dtype=torch.int32)");
}

/// PyTorch 2.15 has no names any more; this is how those before it printed them.
#[test]
fn names_are_shown() {
    let named = |sizes: &[i64], names: &[Option<&str>]| {
        let names = names.iter().map(|name| name.map(Arc::from)).collect();
        let g = Geometry::contiguous(DType::F32, sizes).and_then(|g| g.with_names(Some(names))).expect("legal");
        floats(&[1.0, 2.0]).with_geometry(g).expect("a view").to_string()
    };
    assert_eq!(named(&[2], &[Some("N")]), "tensor([1., 2.], names=('N',))");
    assert_eq!(named(&[1, 2], &[None, Some("C")]), "tensor([[1., 2.]], names=(None, 'C'))");
}

#[test]
fn debug_is_one_line() {
    let t = T::from_slice(&[1.0f32, 0.1, f32::NAN, -0.0, 1e30, 2.5], [2, 3]).expect("a tensor");
    let line = "Tensor { dtype: float32, sizes: [2, 3], device: cpu, values: [1.0, 0.1, NaN, -0.0, 1e30, 2.5] }";
    assert_eq!(format!("{t:?}"), line);
    assert_eq!(format!("{t:#?}"), line);
    assert_eq!(format!("{:?}", t.as_any()), line);
    let stepped = t.with_geometry(geometry(DType::F32, &[2], &[5], 0)).expect("a view");
    let line = "Tensor { dtype: float32, sizes: [2], strides: [5], device: cpu, values: [1.0, 2.5] }";
    assert_eq!(format!("{stepped:?}"), line);
    let complex = T::from_slice(&[Complex32::new(0.1, -0.2)], ()).expect("a tensor");
    assert_eq!(format!("{complex:?}"), "Tensor { dtype: complex64, sizes: [], device: cpu, values: [0.1-0.2j] }");
    let eleven = format!("{:?}", floats(&[1.0; 11]));
    assert_eq!(eleven, "Tensor { dtype: float32, sizes: [11], device: cpu }");
    assert!(format!("{:?}", floats(&[1.0; 10])).contains("values: [1.0, 1.0"));
    let meta = Tensor::<Meta>::zeros_contiguous(DType::Bool, &[2]).expect("a tensor");
    assert_eq!(format!("{meta:?}"), "Tensor { dtype: bool, sizes: [2], device: meta }");
}

/// A writer that has no room is an error of its own, not a panic.
#[test]
fn a_writer_may_fail() {
    struct Short(usize);
    impl Write for Short {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 = self.0.checked_sub(text.len()).ok_or(std::fmt::Error)?;
            Ok(())
        }
    }
    let t = T::from_slice(&[0.5f64; 12], [3, 4]).expect("a tensor");
    let length = t.to_string().len();
    for room in 0..length {
        assert!(write!(Short(room), "{t}").is_err(), "{room}");
    }
    assert!(write!(Short(length), "{t}").is_ok());
}

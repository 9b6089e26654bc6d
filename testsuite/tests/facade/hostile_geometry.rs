//! Views and calls of tensors whose sizes, strides and offsets are as large as they can be: whatever is asked, nothing
//! panics (tests are built with overflow checks), and what is returned lies in its storage. Where PyTorch has an
//! answer, its strides and offset.

use monomorph::crates::core::{ErrorKind, strides};
use monomorph::ops::options::*;
use monomorph::{Cpu, DType, Geometry, Meta, Result, Tensor, bf16, crates::ops};
use ops::functions as f;

const HUGE: i64 = 1 << 62;

/// What a caller may pass for a number.
const NUMBERS: [i64; 12] = [0, 1, 2, 3, 1 << 31, 1 << 40, HUGE, i64::MAX, -1, -2, -HUGE, i64::MIN];

/// What a size, a stride or an offset of a tensor without elements may be.
const PLACES: [i64; 5] = [0, 1, 1 << 31, HUGE, i64::MAX];

/// A tensor over `storage` with any of these, if there is one.
fn over(storage: &Tensor<Cpu>, dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Option<Tensor<Cpu>> {
    storage.with_geometry(Geometry::new(dtype, sizes, strides, offset).ok()?).ok()
}

fn storage() -> Tensor<Cpu> {
    Tensor::zeros_contiguous(DType::U8, &[64]).expect("64 bytes")
}

/// Tensors of up to three dimensions, most of them without elements.
fn tensors(dtype: DType) -> Vec<Tensor<Cpu>> {
    let storage = storage();
    let mut all = vec![];
    let sizes: [&[i64]; 14] = [
        &[],
        &[0],
        &[1],
        &[3],
        &[0, 5],
        &[5, 0],
        &[0, HUGE],
        &[i64::MAX, 0],
        &[1, 1],
        &[2, 1],
        &[0, 1, 2],
        &[3, 0, 2],
        &[0, HUGE, 2],
        &[1, 1, 3],
    ];
    for sizes in sizes {
        // Of three dimensions some of all strides: 7 and 5 have no divisor.
        for k in (0..PLACES.len().pow(sizes.len() as u32)).step_by(if sizes.len() > 2 { 7 } else { 1 }) {
            let strides: Vec<i64> = (0..sizes.len() as u32).map(|d| PLACES[k / 5usize.pow(d) % 5]).collect();
            all.extend(PLACES.iter().filter_map(|&offset| over(&storage, dtype, sizes, &strides, offset)));
        }
    }
    all
}

/// A result that is no tensor is none that reaches outside.
fn inside<'t>(call: &str, results: impl IntoIterator<Item = &'t Tensor<Cpu>>) {
    for t in results {
        assert!(t.sizes().iter().chain(t.strides()).all(|&n| n >= 0) && t.offset() >= 0, "{call}: {:?}", t.geometry());
        if t.sizes().contains(&0) {
            continue;
        }
        let reach = t.sizes().iter().zip(t.strides()).map(|(&n, &stride)| (i128::from(n) - 1) * i128::from(stride));
        let end = (reach.sum::<i128>() + i128::from(t.offset()) + 1) * t.dtype().size() as i128;
        assert!(end <= t.storage_bytes() as i128, "{call}: {:?} in {} bytes", t.geometry(), t.storage_bytes());
    }
}

fn one(call: &str, result: Result<Tensor<Cpu>>) {
    inside(call, &result.ok());
}

fn many(call: &str, result: Result<Vec<Tensor<Cpu>>>) {
    inside(call, &result.unwrap_or_default());
}

/// Calls that take a dimension, and numbers.
fn with_dim(t: &Tensor<Cpu>, dim: i64) {
    for n in NUMBERS {
        one("select", f::select(t, dim, n));
        one("narrow", f::narrow(t, dim, n, 1));
        one("narrow", f::narrow(t, dim, 1, n));
        one("slice", f::slice(t, dim, Some(n), None, 1));
        one("slice", f::slice(t, dim, None, Some(n), 3));
        one("slice", f::slice(t, dim, Some(1), None, n));
        one("unfold", f::unfold(t, dim, n, 1));
        one("unfold", f::unfold(t, dim, 1, n));
        one("unfold", f::unfold(t, dim, 0, n));
        one("unflatten", f::unflatten(t, dim, [n, -1]));
        // Millions of parts are accepted, and take their time.
        if n != 1 << 40 {
            many("split", f::split_with(t, n, Split { dim, ..Default::default() }));
        }
        many("split_sizes", f::split_with_sizes_with(t, [n, 1], SplitWithSizes { dim, ..Default::default() }));
        many("tensor_split", f::tensor_split_indices_with(t, [n, 2], TensorSplitIndices { dim, ..Default::default() }));
        if n < 1 << 31 {
            many("chunk", f::chunk_with(t, n, Chunk { dim, ..Default::default() }));
            many("tensor_split", f::tensor_split_with(t, n, TensorSplit { dim, ..Default::default() }));
        }
        let mut split = t.clone();
        if let Ok((a, b)) = split.split_at_mut(dim, n) {
            inside("split_at_mut", [&*a, &*b]);
        }
    }
    many("unbind", f::unbind(t, dim));
    one("unsqueeze", f::unsqueeze(t, dim));
    one("squeeze", f::squeeze(t, dim));
    for other in [-2, -1, 0, 1, 2] {
        one("transpose", f::transpose(t, dim, other));
        one("movedim", f::movedim(t, dim, other));
        one("flatten", f::flatten_with(t, Flatten { start_dim: dim, end_dim: other, ..Default::default() }));
        for n in NUMBERS {
            one("diagonal", f::diagonal_with(t, Diagonal { offset: n, dim1: dim, dim2: other, ..Default::default() }));
        }
    }
}

#[test]
fn views_by_a_dimension_are_total() {
    with_dim(&storage(), i64::MIN);
    for t in tensors(DType::F32) {
        (-1..t.ndim().max(1) as i64).for_each(|dim| with_dim(&t, dim));
    }
}

#[test]
fn views_by_sizes_are_total() {
    for t in tensors(DType::F32) {
        for a in NUMBERS {
            for b in NUMBERS {
                one("view", f::view(&t, [a, b]));
                one("view", f::view(&t, [0, a, b]));
                one("view", f::view(&t, [a, 0, b]));
                one("expand", f::expand(&t, [a, b]));
                one("expand", f::expand(&t, [1, a, b]));
                one("expand", f::expand(&t, [a, b, 0]));
                one(
                    "as_strided",
                    f::as_strided_with(&t, [a, 0], [b, a], AsStrided { storage_offset: Some(b), ..Default::default() }),
                );
                one("as_strided", f::as_strided(&t, [a, 1], [b, a]));
                one("reshape", f::reshape(&t, [0, a, b]));
            }
        }
        one("t", f::t(&t));
        one("mt", f::mt(&t));
        one("numpy_t", f::numpy_t(&t));
        one("squeeze", f::squeeze(&t, ..));
        one("atleast_3d", f::atleast_3d(&t));
        one("view_as", f::view_as(&t, &t));
    }
}

#[test]
fn views_as_another_dtype_are_total() {
    for from in [DType::U8, DType::F16, DType::F32, DType::C64, DType::C128] {
        for t in tensors(from) {
            for to in [DType::Bool, DType::I16, DType::F32, DType::F64, DType::C128] {
                one("view_dtype", f::view_as_type(&t, to));
            }
            one("real", f::real(&t));
            one("imag", f::imag(&t));
            one("view_as_real", f::view_as_real(&t));
            one("view_as_complex", f::view_as_complex(&t));
            one("conj", f::conj(&t));
        }
    }
}

#[test]
fn calls_are_total() {
    for t in tensors(DType::F32) {
        one("neg", f::neg(&t));
        one("add", f::add(&t, &t));
        one("add", f::add(&t, 1));
        one("clone", f::deep_clone(&t));
        one("contiguous", f::contiguous(&t));
        one("to", f::to(&t, DType::F64));
        one("cat", f::cat(&[&t, &t, &t]));
        one("cat", f::cat_with(&[&t, &t, &t], Cat { dim: -1, ..Default::default() }));
        one("stack", f::stack(&[&t, &t, &t]));
        one("stack", f::stack_with(&[&t, &t], StackOptions { dim: -1, ..Default::default() }));
        one("empty_like", f::empty_like(&t));
        many("where", f::where_nonzero(&t));
        many("broadcast_tensors", f::broadcast_tensors(&[&t, &storage()]));
        one("from_any", Tensor::<Cpu>::from_any(t.as_any(), 0));
        let _ = (t.to_vec::<f32>(), t.to_string(), Tensor::<Meta>::from_any(t.as_any(), 0));
        let mut written = t.clone();
        let _ = (f::fill_(&mut written, 2).map(drop), f::copy_(&mut written, &t).map(drop));
        for n in [0, 1, 3, 1 << 44, HUGE, i64::MAX] {
            one("upsample", f::upsample_nearest1d(&t, [n]));
            one("upsample", f::upsample_nearest1d_vec(&t, None, Some(&[n as f64])));
        }
    }
}

#[test]
fn tensors_that_change_their_sizes_are_total() {
    for t in tensors(DType::F32) {
        for a in [0, 1, 3, 1 << 44, HUGE, i64::MAX, -1, i64::MIN] {
            for b in [0, 1, 1 << 44, HUGE, i64::MAX, -1, i64::MIN] {
                let mut own = f::deep_clone(&t).unwrap_or_else(|_| storage());
                let _ = f::resize_(&mut own, [0, a, b]).map(|t| inside("resize_", [&*t]));
                let _ = f::resize_with_(
                    &mut own,
                    [a, 0, b, 2],
                    Resize { memory_format: Some(monomorph::MemoryFormat::ChannelsLast), ..Default::default() },
                )
                .map(drop);
                let source = own.storage();
                let _ = ops::resize::set_storage_offset_(&mut own, &source, b, &[a, 0], &[b, a]).map(drop);
                let _ = ops::resize::set_storage_offset_(&mut own, &source, b, &[0, a], &[]).map(drop);
                let _ = ops::resize::set_tensor_offset_(&mut own, &t, a, &[0, b], &[a, b]).map(drop);
                inside("set_", [&own]);
            }
        }
    }
}

/// Sizes, strides and offset of an empty tensor's view.
fn view_of(
    (sizes, strides, offset): (&[i64], &[i64], i64),
    view: impl Fn(&Tensor<Cpu>) -> Result<Tensor<Cpu>>,
) -> Option<(Vec<i64>, Vec<i64>, i64)> {
    let t = over(&storage(), DType::F32, sizes, strides, offset).expect("a tensor without elements");
    view(&t).ok().map(|t| (t.sizes().to_vec(), t.strides().to_vec(), t.offset()))
}

/// Recorded from PyTorch 2.15: sums and products are taken modulo 2⁶⁴, and what comes out below zero is refused.
#[test]
fn strides_and_offsets_that_reach_nothing_are_pytorchs() {
    let wide: (&[i64], &[i64], i64) = (&[0, 5], &[1, HUGE], 0);
    let all = |sizes: &[i64], strides: &[i64], offset| Some((sizes.to_vec(), strides.to_vec(), offset));
    assert_eq!(view_of(wide, |t| f::select(t, 1, 4)), all(&[0], &[1], 0));
    assert_eq!(view_of(wide, |t| f::select(t, 1, 3)), None);
    assert_eq!(view_of((&[0, 5], &[1, HUGE], HUGE), |t| f::select(t, 1, 1)), None);
    assert_eq!(view_of(wide, |t| f::narrow(t, 1, 4, 1)), all(&[0, 1], &[1, HUGE], 0));
    assert_eq!(view_of(wide, |t| f::narrow(t, 1, 2, 2)), None);
    assert_eq!(view_of(wide, |t| f::slice(t, 1, None, None, 3)), None);
    assert_eq!(view_of(wide, |t| f::slice(t, 1, None, None, 4)), all(&[0, 2], &[1, 0], 0));
    assert_eq!(view_of((&[0, 5], &[HUGE, HUGE], 0), f::diagonal), None);
    assert_eq!(
        view_of(wide, |t| f::diagonal_with(t, Diagonal { offset: 3, ..Default::default() })),
        all(&[0], &[HUGE + 1], 0)
    );
    assert_eq!(view_of(wide, |t| f::unfold(t, 1, 2, 3)), None);
    assert_eq!(view_of(wide, |t| f::unsqueeze(t, 1)), all(&[0, 1, 5], &[1, HUGE, HUGE], 0));
    assert_eq!(view_of((&[0, 4], &[1, HUGE], 0), |t| f::unsqueeze(t, 1)), all(&[0, 1, 4], &[1, 0, HUGE], 0));
    let most = (&[0, 3][..], &[1, i64::MAX][..], 0);
    assert_eq!(view_of(most, |t| f::unsqueeze(t, 1)), all(&[0, 1, 3], &[1, i64::MAX - 2, i64::MAX], 0));
    let rows = (&[3, 0][..], &[i64::MAX, 1][..], 0);
    let grown = |t: &Tensor<Cpu>| f::expand(t, [1, 3, 0]);
    assert_eq!(view_of(rows, grown), all(&[1, 3, 0], &[i64::MAX - 2, i64::MAX, 1], 0));
    assert_eq!(view_of((&[0], &[1], 0), |t| f::view(t, [0, HUGE, 4])), all(&[0, HUGE, 4], &[0, 4, 1], 0));
    assert_eq!(view_of((&[0], &[1], 0), |t| f::view(t, [0, HUGE, 2])), None);
    assert_eq!(view_of((&[0, 1], &[HUGE, 1], 0), |t| f::view_as_type(t, DType::U8)), all(&[0, 4], &[0, 1], 0));
    let row = (&[2, 4][..], &[4, 1][..], 0);
    assert_eq!(view_of(row, |t| f::slice(t, 0, None, None, HUGE)), all(&[1, 4], &[0, 1], 0));
    assert_eq!(view_of(row, |t| f::unfold(t, 0, 2, HUGE)), all(&[1, 4, 2], &[0, 1, 4], 0));
    assert_eq!(view_of((&[2, 2], &[2, 1], 0), |t| f::slice(t, 0, None, None, i64::MAX)), None);
    // PyTorch makes a view whose stride is below zero of this one; there is none such here.
    let pairs = over(&storage(), DType::C64, &[0], &[HUGE], 1).expect("nothing in it");
    let error = f::view_as_real(&pairs).expect_err("twice the stride does not fit");
    assert!(matches!(error.kind(), ErrorKind::NegativeStride { .. }), "{error}");
}

#[test]
fn joined_sizes_that_cannot_be_counted_are_refused() {
    let t = over(&storage(), DType::F32, &[HUGE, 0], &[1, 1], 0).expect("nothing in it");
    let error = f::cat(&[&t, &t, &t]).expect_err("PyTorch's, too");
    assert!(matches!(error.kind(), ErrorKind::SizeOverflow { .. }), "{error}");
    assert_eq!(
        f::cat_with(&[&t, &t, &t], Cat { dim: 1, ..Default::default() }).map(|t| t.sizes().to_vec()),
        Ok(vec![HUGE, 0])
    );
    let error = f::flatten_with(
        &over(&storage(), DType::F32, &[HUGE, 8, 0], &[1, 1, 1], 0).expect("nothing"),
        Flatten { end_dim: 1, ..Default::default() },
    );
    assert!(matches!(error.expect_err("PyTorch's, too").kind(), ErrorKind::SizeOverflow { .. }));
}

/// As many parts as nobody can want are refused before the first is made, at once.
#[test]
fn lists_of_parts_are_limited() {
    let one = Tensor::<Cpu>::from_slice(&[bf16::ONE], [1]).expect("one number");
    let wide = f::expand(&one, [1i64 << 40]).expect("a view");
    let empty = f::expand(&f::view(&f::narrow(&one, 0, 0, 0).expect("a view"), [0, 1]).expect("a view"), [0, HUGE]);
    let empty = empty.expect("a view");
    let calls: [(&str, Result<Vec<Tensor<Cpu>>>); 11] = [
        ("unbind", f::unbind(&wide, 0)),
        ("split", f::split(&wide, 1)),
        ("split", f::split(&wide, 1 << 10)),
        ("chunk", f::chunk(&wide, 1 << 39)),
        ("tensor_split", f::tensor_split(&wide, 1 << 40)),
        ("hsplit", f::hsplit(&wide, 1 << 40)),
        ("unbind_copy", f::unbind_copy(&wide, 0)),
        ("unsafe_split", f::unsafe_split(&wide, 1)),
        ("unsafe_chunk", f::unsafe_chunk(&empty, i64::MAX)),
        ("unbind", f::unbind(&empty, 1)),
        ("chunk", f::chunk(&empty, i64::MAX)),
    ];
    for (call, result) in calls {
        let error = result.expect_err(call);
        assert!(matches!(error.kind(), ErrorKind::OutOfRange { high: 0x100_0000, .. }), "{call}: {error}");
    }
    assert_eq!(f::unbind(&f::expand(&one, [1 << 10]).expect("a view"), 0).expect("few").len(), 1 << 10);
}

/// Lists of one entry per element or column are made of what there is room for, and of nothing where there is no
/// element.
#[test]
fn what_there_is_no_room_for_is_an_error() {
    let mask = f::expand(&Tensor::<Cpu>::from_slice(&[true], [1]).expect("a truth"), [1i64 << 46]).expect("a view");
    let error = f::where_nonzero(&mask).expect_err("64 TiB");
    assert!(matches!(error.kind(), ErrorKind::Allocation { .. }), "{error}");
    let batch = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0, 3, 2]).expect("nothing");
    let wide = f::upsample_nearest1d(&batch, [1i64 << 44]).expect("nothing to be written");
    assert_eq!(wide.sizes(), [0, 3, 1 << 44]);
    let one = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[1, 1, 2]).expect("two");
    let error = f::upsample_nearest1d(&one, [1i64 << 46]).expect_err("256 TiB");
    assert!(matches!(error.kind(), ErrorKind::Allocation { .. }), "{error}");
}

/// What is made is as much work as it has elements, however many rows there are without one.
#[test]
fn rows_without_elements_are_not_walked() {
    let numbers = |t: Result<Tensor<Cpu>>| t.and_then(|t| t.to_vec::<i64>());
    let (rows, at) = (HUGE, HUGE - 2);
    assert_eq!(
        numbers(f::tril_indices_with(rows, 1, TrilIndices { offset: 2 - rows, ..Default::default() })),
        Ok(vec![at, at + 1, 0, 0])
    );
    assert_eq!(
        numbers(f::tril_indices_with(rows, 2, TrilIndices { offset: 1 - rows, ..Default::default() })),
        Ok(vec![rows - 1, 0])
    );
    assert_eq!(numbers(f::triu_indices(rows, 2)), Ok(vec![0, 0, 1, 0, 1, 1]));
    assert_eq!(
        numbers(f::triu_indices_with(rows, rows, TriuIndices { offset: rows - 1, ..Default::default() })),
        Ok(vec![0, rows - 1])
    );
    for offset in [i64::MIN, i64::MAX] {
        for (rows, columns) in [(0, rows), (rows, 0), (rows, 1), (i64::MAX, 1)] {
            let _ =
                f::triu_indices_with::<Cpu>(rows, columns, TriuIndices { offset: offset.max(0), ..Default::default() })
                    .map(|t| t.sizes().to_vec());
            let _ =
                f::tril_indices_with::<Cpu>(rows, columns, TrilIndices { offset: offset.min(0), ..Default::default() })
                    .map(|t| t.sizes().to_vec());
        }
    }
    assert_eq!(f::eye_m::<Cpu>(rows, 0, None).map(|t| t.numel()), Ok(0));
    let nothing = |sizes: [i64; 3]| {
        let nothing = Geometry::new(DType::F32, &sizes, &[0, 0, 1], 0).expect("no element");
        Tensor::<Cpu>::zeros_contiguous(DType::F32, &[1]).and_then(|t| t.with_geometry(nothing)).expect("no element")
    };
    let result = |t: Result<Tensor<Cpu>>| t.map(|t| t.sizes().to_vec());
    for inner in [1, 2] {
        assert_eq!(result(f::softmax(&nothing([HUGE, 0, inner]), 1)), Ok(vec![HUGE, 0, inner]));
    }
    let mut stack: monomorph::Stack = vec![nothing([HUGE, 0, 1]).into()];
    let channels = || monomorph::IValue::from(Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0]).expect("nothing"));
    stack.extend([monomorph::IValue::None, monomorph::IValue::None, channels(), channels()]);
    stack.extend([false.into(), 0.1.into(), 1e-5.into()]);
    let called = monomorph::call("native_batch_norm", &mut stack);
    assert!(called.is_ok(), "{called:?}");
}

#[test]
fn dimensions_are_limited_wherever_they_are_made() {
    let one = Tensor::<Cpu>::from_slice(&[1f32], [1]).expect("one number");
    let ones = vec![1; 100_000];
    let refused = |result: Result<Tensor<Cpu>>| {
        let error = result.expect_err("too many dimensions");
        assert!(matches!(error.kind(), ErrorKind::TooManyDims { most: 128, .. }), "{error}");
    };
    refused(f::view(&one, &ones));
    refused(f::reshape(&one, &ones));
    refused(f::expand(&one, &ones));
    refused(f::as_strided(&one, &ones, &ones));
    refused(f::unflatten(&one, 0, &ones));
    refused(f::zeros(&ones, None));
    refused(f::empty_strided(&ones, &ones, None));
    refused(f::empty_permuted(&ones, (0..100_000).collect::<Vec<_>>(), None));
    refused(f::resize(&one, &ones));
    let most = f::view(&one, &ones[..strides::MAX_DIMS]).expect("as many as there may be");
    refused(f::unsqueeze(&most, 0));
    refused(f::unfold(&most, 0, 1, 1));
    refused(f::stack(&[&most, &most]));
    assert_eq!(f::add(&most, &most).map(|t| t.ndim()), Ok(strides::MAX_DIMS));
}

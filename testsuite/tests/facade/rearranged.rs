//! Operators that put elements in other places, against loops over indices: each says where the element at an index
//! comes from, over dtypes of every size × layouts × sizes; and what reads tensors without computing.

use monomorph::{AnyTensor, Cpu, DType, IValue, Result, Scalar, Stack, Tensor, call};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

/// One dtype of each element size, and those whose elements are more than their bytes.
const DTYPES: [DType; 6] = [DType::Bool, DType::I8, DType::BF16, DType::F32, DType::I64, DType::C128];

/// Sizes on both sides of what is copied in squares and in runs.
const SIZES: [&[i64]; 9] =
    [&[1], &[7], &[0, 3], &[3, 4], &[70, 67], &[2, 3, 4], &[5, 1, 6], &[2, 17, 33], &[2, 3, 2, 5]];

fn called(name: &str, mut stack: Stack) -> Result<AnyTensor> {
    call(name, &mut stack)?;
    Ok(stack.pop().and_then(IValue::into_tensor).expect("one result"))
}

/// Calls `name` on a tensor of each sort with what `arguments` says of its sizes; `None` where that is no call. The
/// element of the result at an index is that of the input at the index that `source` gives, or zero.
fn check(
    name: &str,
    arguments: impl Fn(&[i64]) -> Option<Vec<IValue>>,
    sizes_of: impl Fn(&[i64]) -> Vec<i64>,
    source: impl Fn(&[i64], &[i64]) -> Option<Vec<i64>>,
) {
    let mut random = Random::new(7);
    let mut calls = 0;
    for sizes in SIZES {
        let Some(rest) = arguments(sizes) else { continue };
        for (dtype, layout) in DTYPES.iter().flat_map(|dtype| Layout::ALL.map(|layout| (*dtype, layout))) {
            let geometry = layout.geometry(dtype, sizes);
            let t = tensor(geometry, &plain(dtype, 16, &mut random));
            let all = values(&t);
            let place = |index: &[i64]| index.iter().zip(sizes).fold(0, |at, (i, size)| at * size + i) as usize;
            let zero = match dtype {
                DType::Bool => Scalar::Bool(false),
                dtype if dtype.is_complex() => Scalar::Complex(Default::default()),
                dtype if dtype.is_floating() => Scalar::Float(0.0),
                _ => Scalar::Int(0),
            };
            let mut want = Vec::new();
            each_index(&sizes_of(sizes), |index| {
                want.push(source(index, sizes).map_or(zero, |from| all[place(&from)]))
            });
            let mut stack: Stack = vec![t.into()];
            stack.extend(rest.iter().cloned());
            let got = called(name, stack).unwrap_or_else(|e| panic!("{name} of {sizes:?} {layout:?}: {e}"));
            assert_eq!(got.sizes(), sizes_of(sizes), "{name} of {sizes:?}");
            let got = values(&got.downcast::<Cpu>().expect("on the CPU"));
            assert!(got == want, "{name} of {dtype} {sizes:?} {layout:?}: {rest:?}");
            calls += 1;
        }
    }
    assert!(calls > 0, "{name}");
}

fn ints(list: &[i64]) -> IValue {
    IValue::Ints(list.to_vec())
}

fn same(sizes: &[i64]) -> Vec<i64> {
    sizes.to_vec()
}

/// An index with one place changed.
fn with(index: &[i64], dim: usize, i: i64) -> Vec<i64> {
    let mut index = index.to_vec();
    index[dim] = i;
    index
}

#[test]
fn flips_read_from_the_end() {
    for mask in 1_u32..16 {
        let dims = |n: usize| (0..n as i64).filter(|d| mask >> d & 1 == 1).collect::<Vec<_>>();
        // Half of them counted from the end.
        let named = |sizes: &[i64]| {
            let n = sizes.len() as i64;
            let all: Vec<i64> = dims(sizes.len()).iter().map(|&d| if d % 2 == 0 { d - n } else { d }).collect();
            (mask >> n == 0).then(|| vec![ints(&all)])
        };
        check("flip", named, same, |index, sizes| {
            let at = |d: usize| if mask >> d & 1 == 1 { sizes[d] - 1 - index[d] } else { index[d] };
            Some((0..sizes.len()).map(at).collect())
        });
    }
    let ends = |dim: usize| move |index: &[i64], sizes: &[i64]| Some(with(index, dim, sizes[dim] - 1 - index[dim]));
    check("flipud", |_| Some(vec![]), same, ends(0));
    check("fliplr", |sizes| (sizes.len() > 1).then(Vec::new), same, ends(1));
}

#[test]
fn rolls_and_turns() {
    for shift in [0, 1, -1, 5, -1000, i64::MAX, i64::MIN] {
        for dim in [0_usize, 1] {
            let arguments = |sizes: &[i64]| (dim < sizes.len()).then(|| vec![ints(&[shift]), ints(&[dim as i64])]);
            let source = move |index: &[i64], sizes: &[i64]| {
                let from = (i128::from(index[dim]) - i128::from(shift)).rem_euclid(i128::from(sizes[dim]));
                Some(with(index, dim, from as i64))
            };
            check("roll", arguments, same, source);
        }
    }
    let plane = |k: i64| move |sizes: &[i64]| (sizes.len() > 1).then(|| vec![k.into(), ints(&[0, 1])]);
    let turned = |sizes: &[i64]| [&[sizes[1], sizes[0]], &sizes[2..]].concat();
    let from = |i: i64, j: i64, index: &[i64]| Some([&[i, j], &index[2..]].concat());
    check("rot90", plane(1), turned, |index, sizes| from(index[1], sizes[1] - 1 - index[0], index));
    check("rot90", plane(-1), turned, |index, sizes| from(sizes[0] - 1 - index[1], index[0], index));
    check("rot90", plane(6), same, |index, sizes| from(sizes[0] - 1 - index[0], sizes[1] - 1 - index[1], index));
    check("rot90", plane(4), same, |index, _| Some(index.to_vec()));
}

#[test]
fn triangles_and_diagonals() {
    for diagonal in [0, 1, -2, 40, -40, 1000, i64::MAX, i64::MIN] {
        let arguments = |sizes: &[i64]| (sizes.len() > 1).then(|| vec![diagonal.into()]);
        let beyond = move |index: &[i64]| {
            let [.., row, column] = *index else { panic!("a matrix") };
            i128::from(column) - i128::from(row) > i128::from(diagonal)
        };
        check("tril", arguments, same, |index, _| (!beyond(index)).then(|| index.to_vec()));
        let before = move |index: &[i64]| {
            let [.., row, column] = *index else { panic!("a matrix") };
            i128::from(column) - i128::from(row) < i128::from(diagonal)
        };
        check("triu", arguments, same, |index, _| (!before(index)).then(|| index.to_vec()));
    }
    for offset in [0_i64, 2, -3] {
        let square = move |sizes: &[i64]| {
            let (last, others) = sizes.split_last().expect("a dimension");
            let side = last + offset.abs();
            [others, &[side, side]].concat()
        };
        check(
            "diag_embed",
            |_| Some(vec![offset.into(), (-2).into(), (-1).into()]),
            square,
            |index, _| {
                let [others @ .., row, column] = index else { panic!("a matrix") };
                (column - row == offset).then(|| [others, &[*row.min(column)]].concat())
            },
        );
    }
}

#[test]
fn repeats_and_pads() {
    for name in ["repeat", "tile"] {
        let arguments = |sizes: &[i64]| Some(vec![ints(&vec![2; sizes.len() + 1])]);
        let repeated = |sizes: &[i64]| [&[2], &sizes.iter().map(|size| 2 * size).collect::<Vec<_>>()[..]].concat();
        check(name, arguments, repeated, |index, sizes| {
            Some(index[1..].iter().zip(sizes).map(|(i, size)| i % size).collect())
        });
    }
    // Two before and three behind the last dimension; and one off either end.
    for pad in [[2_i64, 3], [-1, -1], [0, 2], [-1, 4]] {
        let arguments = |sizes: &[i64]| {
            let last = sizes[sizes.len() - 1];
            (last + pad[0].min(0) + pad[1].min(0) >= 0).then(|| vec![ints(&pad), 0.into()])
        };
        let padded = |sizes: &[i64]| with(sizes, sizes.len() - 1, sizes[sizes.len() - 1] + pad[0] + pad[1]);
        check("constant_pad_nd", arguments, padded, |index, sizes| {
            let d = sizes.len() - 1;
            let from = index[d] - pad[0];
            (0..sizes[d]).contains(&from).then(|| with(index, d, from))
        });
    }
}

/// Refusals name what was found, and nothing is written.
#[test]
fn refusals() {
    let x = || -> IValue { Tensor::<Cpu>::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap().into() };
    let refused = |name: &str, rest: Vec<IValue>, text: &str| {
        let error = called(name, [vec![x()], rest].concat()).expect_err(name).to_string();
        assert!(error.starts_with(&format!("{name}: ")) && error.contains(text), "{error}");
    };
    refused("flip", vec![ints(&[2])], "dims");
    refused("flip", vec![ints(&[0, -2])], "twice");
    refused("roll", vec![ints(&[1, 2]), ints(&[0])], "dims");
    refused("roll", vec![ints(&[]), ints(&[])], "shifts");
    refused("rot90", vec![1.into(), ints(&[0])], "dims");
    refused("diag_embed", vec![0.into(), 1.into(), 1.into()], "dim");
    refused("diag_embed", vec![i64::MIN.into(), 0.into(), 1.into()], "addressed");
    refused("repeat", vec![ints(&[2])], "");
    refused("repeat", vec![ints(&[-1, 1])], "-1");
    refused("constant_pad_nd", vec![ints(&[1]), 0.into()], "pad");
    refused("constant_pad_nd", vec![ints(&[-3, 0]), 0.into()], "");
    refused("constant_pad_nd", vec![ints(&[i64::MAX, i64::MAX]), 0.into()], "");
}

/// A filled diagonal, again behind each square where it is to wrap.
#[test]
fn a_diagonal_is_filled_in_place() {
    for (sizes, wrap) in [([3, 3], false), ([7, 3], false), ([7, 3], true), ([3, 7], true)] {
        for layout in [Layout::Contiguous, Layout::Transposed, Layout::Stepped] {
            let t = tensor(layout.geometry(DType::I32, &sizes), &[Scalar::Int(1)]);
            let got = called("fill_diagonal_", vec![t.clone().into(), 9.into(), wrap.into()]).unwrap();
            let mut want = Vec::new();
            each_index(&sizes, |index| {
                let is_on = index[0] == index[1] || wrap && index[0] % (sizes[1] + 1) == index[1];
                want.push(Scalar::Int(if is_on { 9 } else { 1 }));
            });
            assert_eq!(values(&t), want, "{sizes:?} {wrap} {layout:?}");
            assert_eq!(got.storage_id(), t.into_any().storage_id());
        }
    }
}

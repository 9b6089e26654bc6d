//! Resampling: what is the same for every mode, linear weights against a formula, gradients as transposes, and bytes as
//! PyTorch 2.15 rounds them.

use monomorph::{AnyTensor, Cpu, DType, IValue, Result, Scalar, Stack, Tensor, call};
use monomorph_testsuite::layout::{Layout, convert, tensor, values};

fn called(name: &str, arguments: Vec<IValue>) -> Result<AnyTensor> {
    let mut stack: Stack = arguments;
    call(name, &mut stack)?;
    Ok(stack.pop().and_then(IValue::into_tensor).expect("one result"))
}

fn ints(list: &[i64]) -> IValue {
    IValue::Ints(list.to_vec())
}

fn numbers(t: &AnyTensor) -> Vec<f64> {
    values(&t.clone().downcast::<Cpu>().expect("on the CPU")).into_iter().map(Scalar::to_f64).collect()
}

fn input(dtype: DType, sizes: &[i64], layout: Layout) -> Tensor<Cpu> {
    let all: Vec<Scalar> = (0..41).map(|i: i64| convert(Scalar::Int(i * 7 % 23), dtype)).collect();
    tensor(layout.geometry(dtype, sizes), &all)
}

/// Operators, the number of their dimensions, and whether they take `align_corners`.
const OPERATORS: [(&str, usize, bool); 13] = [
    ("upsample_nearest1d", 1, false),
    ("upsample_nearest2d", 2, false),
    ("upsample_nearest3d", 3, false),
    ("_upsample_nearest_exact1d", 1, false),
    ("_upsample_nearest_exact2d", 2, false),
    ("_upsample_nearest_exact3d", 3, false),
    ("upsample_linear1d", 1, true),
    ("upsample_bilinear2d", 2, true),
    ("upsample_trilinear3d", 3, true),
    ("upsample_bicubic2d", 2, true),
    ("_upsample_bilinear2d_aa", 2, true),
    ("_upsample_bicubic2d_aa", 2, true),
    ("_upsample_lanczos2d_aa", 2, true),
];

/// Sizes of the input and of the output, up to three of them.
const RESIZES: [([i64; 3], [i64; 3]); 4] =
    [([3, 5, 4], [7, 5, 9]), ([6, 7, 40], [2, 3, 5]), ([1, 1, 1], [3, 2, 4]), ([2, 3, 5], [2, 3, 5])];

/// The arguments behind the tensor: sizes, the corners, no scales.
fn resizing(sizes: Vec<IValue>, align: Option<bool>, dims: usize) -> Vec<IValue> {
    sizes.into_iter().chain(align.map(IValue::from)).chain((0..dims).map(|_| IValue::None)).collect()
}

fn with_planes(planes: &[i64], last: &[i64]) -> Vec<i64> {
    planes.iter().chain(last).copied().collect()
}

/// Calls `check` with each operator, its corners, and sizes of inputs and outputs.
fn each_resize(mut check: impl FnMut(&str, Option<bool>, &[i64], &[i64])) {
    for (name, dims, aligns) in OPERATORS {
        for (from, to) in RESIZES {
            let corners = if aligns { vec![Some(false), Some(true)] } else { vec![None] };
            for align in corners {
                check(name, align, &from[3 - dims..], &to[3 - dims..]);
            }
        }
    }
}

#[test]
fn layouts_do_not_change_results_and_constants_stay() {
    each_resize(|name, align, from, to| {
        for planes in [[2, 3], [1, 20]] {
            let sizes = with_planes(&planes, from);
            let arguments = |t: Tensor<Cpu>| {
                let rest = resizing(vec![ints(to)], align, from.len());
                [IValue::from(t)].into_iter().chain(rest).collect::<Vec<_>>()
            };
            for layout in Layout::ALL {
                let x = input(DType::F64, &sizes, layout);
                let whole = numbers(x.as_any());
                let row_major = Tensor::<Cpu>::from_slice(&whole, &sizes[..]).unwrap();
                let want = numbers(&called(name, arguments(row_major)).unwrap());
                let got = called(name, arguments(x)).unwrap();
                assert_eq!(got.sizes(), with_planes(&planes, to), "{name}");
                let close = numbers(&got).iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(close, "{name} {sizes:?} to {to:?} {layout:?}");
                assert!(from != to || want == whole, "{name} {sizes:?}");
            }
            let one = tensor(Layout::ALL[0].geometry(DType::F32, &sizes), &[Scalar::Float(3.0)]);
            let constant = numbers(&called(name, arguments(one)).unwrap());
            assert!(constant.iter().all(|x| (x - 3.0).abs() < 1e-5), "{name} {sizes:?} to {to:?}: {constant:?}");
        }
    });
}

#[test]
fn gradients_are_transposes() {
    each_resize(|name, align, from, to| {
        let (sizes, output) = (with_planes(&[1, 2], from), with_planes(&[1, 2], to));
        let forward = |t: Tensor<Cpu>| {
            let rest = resizing(vec![ints(to)], align, from.len());
            called(name, [IValue::from(t)].into_iter().chain(rest).collect()).unwrap()
        };
        let (x, g) = (input(DType::F64, &sizes, Layout::ALL[0]), input(DType::F64, &output, Layout::ALL[3]));
        let rest = resizing(vec![ints(to), ints(&sizes)], align, from.len());
        let back = called(&format!("{name}_backward"), [IValue::from(g.clone())].into_iter().chain(rest).collect());
        let product = |a: &AnyTensor, b: &AnyTensor| numbers(a).iter().zip(numbers(b)).map(|(a, b)| a * b).sum::<f64>();
        let (a, b) = (product(&forward(x.clone()), g.as_any()), product(x.as_any(), &back.unwrap()));
        // Nearest elements of float64 and of gradients are found with positions in different precisions.
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{name} {align:?} {from:?} to {to:?}: {a} and {b}");
    });
}

#[test]
fn linear_weights_follow_distances() {
    for (n, m, align) in [(4, 9, true), (4, 9, false), (9, 4, true), (9, 4, false), (5, 1, true), (5, 1, false)] {
        let x = input(DType::F64, &[1, 1, n], Layout::ALL[0]);
        let all = numbers(x.as_any());
        let at = |o: i64| match align {
            true if m == 1 => 0.0,
            true => o as f64 * (n - 1) as f64 / (m - 1) as f64,
            false => ((o as f64 + 0.5) * n as f64 / m as f64 - 0.5).max(0.0),
        };
        let want = (0..m).map(|o| {
            let index = (at(o).floor() as usize).min(n as usize - 1);
            let behind = at(o) - index as f64;
            all[index] * (1.0 - behind) + all[(index + 1).min(n as usize - 1)] * behind
        });
        let arguments = [IValue::from(x)].into_iter().chain(resizing(vec![ints(&[m])], Some(align), 1));
        let got = numbers(&called("upsample_linear1d", arguments.collect()).unwrap());
        assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{n} to {m}, {align}: {got:?}");
    }
}

#[test]
fn bytes_round_as_pytorchs_do() {
    let x: Vec<u8> = (0..20).map(|i: usize| (i * 37 % 256) as u8).collect();
    let x = Tensor::<Cpu>::from_slice(&x, [1, 1, 4, 5]).unwrap();
    for (name, to, want) in RECORDED {
        let arguments = [IValue::from(x.clone())].into_iter().chain(resizing(vec![ints(&to)], Some(false), 2));
        let got: Vec<u8> = numbers(&called(name, arguments.collect()).unwrap()).iter().map(|x| *x as u8).collect();
        assert_eq!(got, want, "{name} to {to:?}");
    }
}

/// What PyTorch makes of the same bytes.
const RECORDED: [(&str, [i64; 2], &[u8]); 10] = [
    ("upsample_bilinear2d", [3, 3], &[43, 62, 124, 162, 96, 72, 67, 129, 162]),
    ("upsample_bilinear2d", [2, 7], &[93, 114, 104, 39, 65, 92, 113, 79, 100, 127, 153, 179, 151, 99]),
    ("upsample_bicubic2d", [3, 3], &[40, 61, 128, 192, 96, 56, 62, 130, 166]),
    ("upsample_bicubic2d", [2, 7], &[98, 133, 108, 21, 37, 87, 123, 69, 87, 127, 170, 213, 162, 90]),
    ("_upsample_bilinear2d_aa", [3, 3], &[71, 70, 111, 166, 124, 81, 80, 138, 153]),
    ("_upsample_bilinear2d_aa", [2, 7], &[96, 117, 112, 60, 86, 97, 97, 94, 115, 131, 131, 157, 137, 95]),
    ("_upsample_bicubic2d_aa", [3, 3], &[65, 62, 113, 176, 130, 72, 69, 145, 161]),
    ("_upsample_bicubic2d_aa", [2, 7], &[96, 123, 116, 53, 79, 96, 98, 92, 114, 135, 138, 171, 142, 92]),
    ("_upsample_lanczos2d_aa", [3, 3], &[68, 53, 112, 183, 135, 65, 59, 154, 166]),
    ("_upsample_lanczos2d_aa", [2, 7], &[95, 128, 118, 54, 75, 98, 93, 96, 120, 138, 137, 176, 140, 90]),
];

//! Tensors continued beyond their edges, against formulas of indices; their gradients, which must be the adjoint maps;
//! and what is refused.

use monomorph::crates::core::dispatch::KeySet;
use monomorph::{AnyTensor, Cpu, DType, ErrorKind, IValue, Result, Scalar, Stack, Tensor, call};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

const DTYPES: [DType; 5] = [DType::I8, DType::BF16, DType::F32, DType::I64, DType::C128];

/// Sizes with one to three dimensions to pad behind the channels, or behind a batch and the channels.
const SIZES: [(&[i64], usize); 6] =
    [(&[2, 4], 1), (&[2, 1, 5], 1), (&[3, 4, 3], 2), (&[0, 2, 3, 4], 2), (&[2, 3, 2, 5], 2), (&[1, 2, 3, 4, 3], 3)];

/// Paddings in front and behind, the same for each dimension from the last one on.
const PADDINGS: [(i64, i64); 9] = [(1, 2), (0, 1), (2, 0), (-1, 1), (2, -1), (-1, -1), (-5, 3), (-5, 7), (7, -5)];

fn called(name: &str, mut stack: Stack) -> Result<AnyTensor> {
    call(name, &mut stack)?;
    Ok(stack.pop().and_then(IValue::into_tensor).expect("one result"))
}

fn reflected(i: i64, size: i64) -> i64 {
    let i = i.abs();
    if i < size { i } else { 2 * (size - 1) - i }
}

fn replicated(i: i64, size: i64) -> i64 {
    i.clamp(0, size - 1)
}

/// Where the element at a place, maybe beyond an edge, comes from in a dimension of a size.
type Source = fn(i64, i64) -> i64;

/// An operator's name without its dimensions, and its rule.
const FAMILIES: [(&str, Source); 2] = [("reflection_pad", reflected), ("replication_pad", replicated)];

/// Each call that the operators accept: sizes, dimensions, paddings, sizes of the result.
fn calls(family: &str, mut call: impl FnMut(&[i64], usize, (i64, i64), &[i64])) {
    for ((sizes, dims), by) in SIZES.into_iter().flat_map(|sizes| PADDINGS.map(|by| (sizes, by))) {
        let padded: Vec<i64> = (sizes.iter().enumerate())
            .map(|(d, size)| if d < sizes.len() - dims { *size } else { size + by.0 + by.1 })
            .collect();
        let inside = &sizes[sizes.len() - dims..];
        let reaches = family == "reflection_pad" && inside.iter().any(|&size| by.0.max(by.1) >= size);
        if padded[sizes.len() - dims..].iter().all(|&size| size > 0) && !reaches {
            call(sizes, dims, by, &padded);
        }
    }
}

fn padding(dims: usize, by: (i64, i64)) -> IValue {
    IValue::Ints([by.0, by.1].repeat(dims))
}

#[test]
fn borders_show_the_elements_that_their_formulas_name() {
    let mut random = Random::new(3);
    for (family, source) in FAMILIES {
        let mut count = 0;
        calls(family, |sizes, dims, by, padded| {
            for (dtype, layout) in DTYPES.iter().flat_map(|dtype| Layout::ALL.map(|layout| (*dtype, layout))) {
                let t = tensor(layout.geometry(dtype, sizes), &plain(dtype, 16, &mut random));
                let all = values(&t);
                let mut want = Vec::new();
                each_index(padded, |index| {
                    let at = index.iter().zip(sizes).enumerate().fold(0, |at, (d, (&i, &size))| {
                        at * size + if d < sizes.len() - dims { i } else { source(i - by.0, size) }
                    });
                    want.push(all[at as usize]);
                });
                let got = called(&format!("{family}{dims}d"), vec![t.into(), padding(dims, by)]).unwrap();
                assert_eq!(got.sizes(), padded);
                let got = values(&got.downcast::<Cpu>().unwrap());
                assert!(got == want, "{family}{dims}d of {dtype} {sizes:?} {layout:?} by {by:?}");
                count += 1;
            }
        });
        assert!(count > 100, "{family}");
    }
}

/// A circle has no edge: whatever is cut off is not seen at the other end either.
#[test]
fn circular_borders_start_again() {
    let x = Tensor::<Cpu>::from_slice(&[1i32, 2, 3, 4], [1, 1, 4]).unwrap();
    let with = |pad: [i64; 2]| called("_pad_circular", vec![x.clone().into(), IValue::Ints(pad.to_vec())]);
    let list = |pad| with(pad).unwrap().downcast::<Cpu>().unwrap().to_vec::<i32>().unwrap();
    assert_eq!(list([2, 1]), [3, 4, 1, 2, 3, 4, 1]);
    assert_eq!(list([4, 4]), [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
    assert_eq!(list([-1, 2]), [2, 3, 4, 2, 3]);
    assert!(matches!(with([5, 0]).unwrap_err().kind(), ErrorKind::OutOfRange { got: 5, .. }));
    assert!(matches!(with([-3, -2]).unwrap_err().kind(), ErrorKind::OutOfRange { got: -1, .. }));
    // Without a batch, too.
    let padded = |sizes: &[i64], pad: &[i64]| {
        let x = Tensor::<Cpu>::from_slice(&[1i32, 2, 3, 4], sizes).unwrap();
        let result = called("_pad_circular", vec![x.into(), IValue::Ints(pad.to_vec())])?;
        Ok::<_, monomorph::Error>(result.downcast::<Cpu>().unwrap().to_vec::<i32>().unwrap())
    };
    assert_eq!(padded(&[2, 2], &[1, 0]).unwrap(), [2, 1, 2, 4, 3, 4]);
    assert_eq!(padded(&[1, 2, 2], &[1, 0, 0, 1]).unwrap(), [2, 1, 2, 4, 3, 4, 2, 1, 2]);
    for (sizes, pad) in
        [(&[4][..], &[1, 1][..]), (&[2, 2], &[1, 1, 1, 1]), (&[1, 2, 2], &[1]), (&[1, 1, 2, 2], &[1, 1])]
    {
        let error = padded(sizes, pad).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }), "{error}");
    }
}

fn product(a: &[Scalar], b: &[Scalar]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}

/// `⟨pad(x), g⟩ = ⟨x, backward(g)⟩`: exact, because all numbers are small integers.
#[test]
fn gradients_are_adjoint() {
    let mut random = Random::new(5);
    for (family, _) in FAMILIES {
        calls(family, |sizes, dims, by, padded| {
            for layout in Layout::ALL {
                let mut integers = |sizes: &[i64]| {
                    let numbers: Vec<Scalar> = (0..16).map(|_| Scalar::Float(random.below(7) as f64)).collect();
                    tensor(layout.geometry(DType::F64, sizes), &numbers)
                };
                let (x, grad) = (integers(sizes), integers(padded));
                let result = called(&format!("{family}{dims}d"), vec![x.clone().into(), padding(dims, by)]).unwrap();
                let name = format!("{family}{dims}d_backward");
                let back = called(&name, vec![grad.clone().into(), x.clone().into(), padding(dims, by)]).unwrap();
                let [result, back] = [result, back].map(|t| values(&t.downcast::<Cpu>().unwrap()));
                let (left, right) = (product(&result, &values(&grad)), product(&values(&x), &back));
                assert_eq!(left, right, "{name} of {sizes:?} {layout:?} by {by:?}");
            }
        });
    }
}

/// Sums of halves are rounded one by one, so they tell in which order they were made; conjugates have no parts that
/// could be added.
#[test]
fn gradients_are_added_in_one_order_composed_or_not() {
    let (dispatcher, _table) = crate::composites::dispatcher();
    let mut random = Random::new(11);
    for (family, _) in FAMILIES {
        calls(family, |sizes, dims, by, padded| {
            for dtype in [DType::F16, DType::BF16, DType::C64] {
                let mut fractions = |sizes: &[i64]| {
                    let numbers: Vec<Scalar> =
                        (0..97).map(|_| Scalar::Float(random.below(999) as f64 / 64.0)).collect();
                    tensor(Layout::Contiguous.geometry(dtype, sizes), &numbers)
                };
                let grad = monomorph::ops::conj(&fractions(padded)).unwrap();
                let stack: Stack = vec![grad.into(), fractions(sizes).into(), padding(dims, by)];
                let name = format!("{family}{dims}d_backward");
                let handle = dispatcher.find(&name).unwrap();
                let (mut kernel, mut composed) = (stack.clone(), stack);
                handle.call(&mut kernel).unwrap();
                handle.redispatch(KeySet::EMPTY, &mut composed).unwrap();
                let [kernel, composed] = [kernel, composed].map(|mut stack| {
                    values(&stack.pop().and_then(IValue::into_tensor).unwrap().downcast::<Cpu>().unwrap())
                });
                assert_eq!(kernel, composed, "{name} of {dtype} {sizes:?} by {by:?}");
            }
        });
    }
}

#[test]
fn what_is_refused_says_why() {
    let x = Tensor::<Cpu>::from_slice(&[0.0f32; 12], [2, 2, 3]).unwrap();
    let empty = Tensor::<Cpu>::from_slice::<f32>(&[], [2, 0, 3]).unwrap();
    let flags = Tensor::<Cpu>::from_slice(&[true; 6], [2, 3]).unwrap();
    let refused = |name: &str, t: &Tensor<Cpu>, pad: &[i64]| {
        let error = called(name, vec![t.clone().into(), IValue::Ints(pad.to_vec())]).expect_err(name);
        assert!(error.to_string().starts_with(name), "{error}");
        error
    };
    for family in ["reflection_pad", "replication_pad"] {
        let name = format!("{family}1d");
        assert!(matches!(refused(&name, &x, &[1]).kind(), ErrorKind::ListLength { got: 1, want: 2, .. }));
        assert!(matches!(refused(&name, &x, &[-2, -2]).kind(), ErrorKind::OutOfRange { got: -1, low: 1, .. }));
        assert!(matches!(
            refused(&name, &x, &[i64::MAX, 1]).kind(),
            ErrorKind::OutOfRange { .. } | ErrorKind::SizeOverflow { .. }
        ));
        assert!(matches!(refused(&name, &empty, &[1, 1]).kind(), ErrorKind::ArgumentRule { .. }));
        assert!(matches!(
            refused(&name, &flags, &[1, 1]).kind(),
            ErrorKind::DTypeNotSupported { got: DType::Bool, .. }
        ));
        let name = format!("{family}3d");
        assert!(matches!(refused(&name, &x, &[1; 6]).kind(), ErrorKind::DimCount { got: 3, .. }));
    }
    assert!(matches!(refused("reflection_pad1d", &x, &[0, 3]).kind(), ErrorKind::OutOfRange { got: 3, high: 2, .. }));
    let mut modes: Stack = vec![x.into(), IValue::Ints(vec![1, 1]), IValue::from("wrap"), IValue::None];
    let error = call("pad", &mut modes).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownOption { arg: "mode", .. }), "{error}");
}

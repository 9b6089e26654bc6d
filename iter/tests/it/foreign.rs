//! Foreign memory: what is accepted, what is refused, and what the closures see.

use monomorph_core::{BoolByte, DType, ErrorKind};
use monomorph_iter::foreign::{ForeignIter, ForeignView, ForeignViewMut, accumulate, fold, map1, map2, map3, update};
use monomorph_iter::{Config, DimCounter, Flags, GRAIN, TensorIter, View, build_over};

#[test]
fn broadcast_and_negative_strides() {
    let a = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let scale = [10.0f32];
    let mut out = [0.0f64; 6];
    // a as 3 × 2, rows from the last to the first, columns swapped; out transposed.
    map2(
        ForeignViewMut::from_slice(&mut out, &[3, 2], &[1, 3], 0).unwrap(),
        ForeignView::from_slice(&a, &[3, 2], &[-2, -1], 5).unwrap(),
        ForeignView::contiguous(&scale, &[]).unwrap(),
        |x, s| x * f64::from(s),
    )
    .unwrap();
    assert_eq!(out, [60.0, 40.0, 20.0, 50.0, 30.0, 10.0]);
}

#[test]
fn every_arity() {
    let (a, b, c) = ([1i32, 2, 3], [10i64, 20, 30], [true, false, true].map(BoolByte::from));
    let mut out = [0i64; 3];
    let view = |x: &'static [i32]| ForeignView::contiguous(x, &[3]).unwrap();
    map1(ForeignViewMut::contiguous(&mut out, &[3]).unwrap(), view(&[7, 8, 9]), |x| -i64::from(x)).unwrap();
    assert_eq!(out, [-7, -8, -9]);
    map3(
        ForeignViewMut::contiguous(&mut out, &[3]).unwrap(),
        ForeignView::from_bool_bytes(&c, &[3], &[1], 0).unwrap(),
        ForeignView::contiguous(&a, &[3]).unwrap(),
        ForeignView::contiguous(&b, &[3]).unwrap(),
        |mask, x, y| if mask { i64::from(x) } else { y },
    )
    .unwrap();
    assert_eq!(out, [1, 20, 3]);
    let short = ForeignView::contiguous(&a, &[2]).unwrap();
    update(ForeignViewMut::contiguous(&mut out, &[3]).unwrap(), short, |_, _| 0).unwrap_err();
    update(ForeignViewMut::contiguous(&mut out, &[3]).unwrap(), ForeignView::contiguous(&a, &[3]).unwrap(), |o, x| {
        o + i64::from(x)
    })
    .unwrap();
    assert_eq!(out, [2, 22, 6]);

    let mut sum = [0i64; 3];
    let rows = [ForeignView::contiguous(&out, &[3]).unwrap(), ForeignView::contiguous(&b, &[1, 3]).unwrap()];
    let [x, y] = rows;
    let mut plan =
        ForeignIter::default().output(ForeignViewMut::contiguous(&mut sum, &[1, 3]).unwrap()).input(x).input(y);
    plan = plan.input(ForeignView::contiguous(&b, &[3]).unwrap());
    let mut plan = plan.build().unwrap();
    assert!(plan.iter().is_contiguous());
    plan.map(|[x, y, z]: [i64; 3]| x + y + z).unwrap();
    let wrong_type = plan.map(|[x, y, z]: [f32; 3]| x + y + z).unwrap_err();
    assert!(matches!(wrong_type.kind(), ErrorKind::ElementType { got: DType::I64, want: DType::F32 }));
    assert!(plan.map(|[x]: [i64; 1]| x).is_err());
    drop(plan);
    assert_eq!(sum, [22, 62, 66]);
}

#[test]
fn reductions() {
    let n = 100_000;
    let a: Vec<i64> = (0..n).collect();
    let view = || ForeignView::contiguous(&a, &[100, 1000]).unwrap();
    assert_eq!(fold(view(), || 0, |s, x| s + x, |s, t| s + t).unwrap(), n * (n - 1) / 2);
    let empty = ForeignView::<i64>::contiguous(&[], &[0, 3]).unwrap();
    assert_eq!(fold(empty, || 5, |s, x| s + x, |s, t| s + t).unwrap(), 5);
    // Joined in order: the fold of an associative operation that does not commute is right.
    let step = |s: String, x| if x % 9973 == 0 { format!("{s}{x} ") } else { s };
    let text = fold(view(), String::new, step, |s, t| s + &t).unwrap();
    assert_eq!(text, (0..n).step_by(9973).map(|x| format!("{x} ")).collect::<String>());

    let mut rows = vec![0i64; 100];
    let out = ForeignViewMut::contiguous(&mut rows, &[100, 1]).unwrap();
    accumulate(out, view(), |s, x| s + x).unwrap();
    assert!(rows.iter().enumerate().all(|(i, &s)| s == (0..1000).map(|j| i as i64 * 1000 + j).sum::<i64>()));
    let mut columns = vec![0i64; 1000];
    let out = ForeignViewMut::contiguous(&mut columns, &[1, 1000]).unwrap();
    accumulate(out, view(), |s, x| s + x).unwrap();
    assert!(columns.iter().enumerate().all(|(j, &s)| s == (0..100).map(|i| i * 1000 + j as i64).sum::<i64>()));
    let out = ForeignViewMut::contiguous(&mut columns, &[2, 500]).unwrap();
    assert!(matches!(accumulate(out, view(), |s, x| s + x).unwrap_err().kind(), ErrorKind::Broadcast { .. }));
}

/// Many elements, so that several threads take pieces of a kept dimension, where there is one.
#[test]
fn every_choice_of_reduced_dimensions_sums_the_same() {
    let sizes = [40, 50, 60];
    let a: Vec<i64> = (0..40 * 50 * 60).map(|i| i % 1009).collect();
    for mask in 0..8usize {
        let kept: Vec<usize> = (0..3).map(|d| if mask >> d & 1 == 1 { 1 } else { sizes[d] }).collect();
        let mut sums = vec![0i64; kept.iter().product()];
        let mut want = sums.clone();
        for (i, x) in a.iter().enumerate() {
            let index = [i / 3000, i / 60 % 50, i % 60];
            let at = (0..3).fold(0, |at, d| at * kept[d] + if kept[d] == 1 { 0 } else { index[d] });
            want[at] += x;
        }
        let view = ForeignView::contiguous(&a, &sizes).unwrap();
        accumulate(ForeignViewMut::contiguous(&mut sums, &kept).unwrap(), view, |s, x| s + x).unwrap();
        assert_eq!(sums, want, "reduced dims {mask:03b}");
    }
}

#[test]
fn a_fold_is_cut_by_shape_alone() {
    let n = 7 * GRAIN - 5;
    let alone = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let a: Vec<f32> = (0..n).map(|i| (i as f32).sin()).collect();
    let sum = || fold(ForeignView::contiguous(&a, &[n]).unwrap(), || 0.0, |s, x| s + x, |s, t| s + t).unwrap();
    assert_eq!(sum().to_bits(), alone(1).install(sum).to_bits());
    assert_eq!(sum().to_bits(), alone(3).install(sum).to_bits());

    // The reduction tree itself, from as many threads as there are and from one.
    let chunks: Vec<i64> = (0..n).map(|i| (i / GRAIN) as i64).collect();
    let tree = |n: usize| {
        let view = ForeignView::contiguous(&chunks[..n], &[n]).unwrap();
        let step = |s: String, x: i64| if s.is_empty() { x.to_string() } else { s };
        fold(view, String::new, step, |a, b| format!("({a} {b})")).unwrap()
    };
    assert_eq!(tree(n), "(((0 1) (2 3)) ((4 5) 6))");
    assert_eq!(tree(5 * GRAIN), "(((0 1) (2 3)) 4)");
    assert_eq!(alone(1).install(|| tree(5 * GRAIN)), "(((0 1) (2 3)) 4)");
}

#[test]
fn bounds_are_checked() {
    let a = [0u8; 6];
    let view =
        |sizes: &[usize], strides: &[isize], offset| ForeignView::from_slice(&a, sizes, strides, offset).map(drop);
    assert!(view(&[2, 3], &[3, 1], 0).is_ok());
    assert!(view(&[6], &[-1], 5).is_ok());
    assert!(view(&[0, 9], &[1, 1], 99).is_ok());
    let offset = |result: monomorph_core::Result<()>| match result.unwrap_err().kind() {
        ErrorKind::OutOfRange { low, high, .. } => (*low, *high),
        other => panic!("{other:?}"),
    };
    assert_eq!(offset(view(&[2, 2], &[3, 1], 2)), (0, 1));
    assert_eq!(offset(view(&[6], &[-1], 4)), (5, 5));
    assert_eq!(offset(view(&[], &[], 6)), (0, 5));
    assert!(matches!(view(&[7], &[1], 0).unwrap_err().kind(), ErrorKind::OutOfStorage { need: 7, have: 6, .. }));
    assert!(matches!(view(&[2], &[1, 1], 0).unwrap_err().kind(), ErrorKind::ListLength { got: 2, want: 1, .. }));
    assert!(matches!(view(&[usize::MAX, 2], &[1, 1], 0).unwrap_err().kind(), ErrorKind::SizeOverflow { .. }));
    assert!(matches!(view(&[3], &[isize::MAX], 0).unwrap_err().kind(), ErrorKind::SizeOverflow { .. }));
    assert!(matches!(view(&[3], &[isize::MIN], 0).unwrap_err().kind(), ErrorKind::SizeOverflow { .. }));
    assert!(ForeignView::<u8>::contiguous(&[], &[1]).is_err());
}

#[test]
fn bytes_must_be_aligned() {
    let words = [1i32, 2, 3, 4];
    // SAFETY: 16 initialised bytes.
    let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 16) };
    let view = ForeignView::<i32>::from_bytes(bytes, &[3], &[1], 4).unwrap();
    assert_eq!(fold(view, || 0, |s, x| s + x, |s, t| s + t).unwrap(), 9);
    let unaligned = ForeignView::<i32>::from_bytes(bytes, &[2], &[1], 2).unwrap_err();
    assert_eq!(*unaligned.kind(), ErrorKind::Unaligned { arg: "a foreign view", align: 4 });
    assert!(ForeignView::<i32>::from_bytes(bytes, &[4], &[1], 4).is_err());
    assert!(ForeignView::<i32>::from_bytes(bytes, &[1], &[1], 16).is_err());
    assert!(ForeignView::<i32>::from_bytes(bytes, &[1], &[1], 20).is_err());
    // An aligned block that begins in the middle of nowhere: elements before it count as well.
    let view = ForeignView::<i32>::from_bytes(&bytes[1..], &[3], &[-1], 11).unwrap();
    assert_eq!(fold(view, || 0, |s, x| s * 10 + x, |s, t| s + t).unwrap(), 432);
    // SAFETY: never read: the constructor refuses it.
    let null = unsafe { ForeignView::<i32>::from_raw_parts(std::ptr::null(), &[0], &[1]) };
    assert!(null.is_err());
    // SAFETY: four words, borrowed for as long as the view lives.
    let raw = unsafe { ForeignView::<i32>::from_raw_parts(words.as_ptr(), &[2, 2], &[1, 2]) }.unwrap();
    assert_eq!(fold(raw, || 0, |s, x| s + x, |s, t| s + t).unwrap(), 10);
}

#[test]
fn written_views_reach_each_element_once() {
    let mut out = [0i32; 8];
    let a = [1i32; 9];
    let mut call = |sizes: &[usize], strides: &[isize], offset| {
        let out = ForeignViewMut::from_slice(&mut out, sizes, strides, offset)?;
        map1(out, ForeignView::contiguous(&a, &[1]).unwrap(), |x| x)
    };
    assert!(call(&[2, 3], &[4, 1], 0).is_ok());
    assert!(call(&[2, 3], &[-4, 1], 4).is_ok());
    for (sizes, strides) in [([2, 3], [0, 1]), ([2, 3], [1, 1]), ([3, 2], [2, 3])] {
        assert!(matches!(call(&sizes, &strides, 0).unwrap_err().kind(), ErrorKind::InternalOverlap { index: 0, .. }));
    }
}

#[test]
fn sizes_and_conversions_are_refused() {
    let a = [1i32, 2, 3];
    let mut out = [0f32; 2];
    let input = || ForeignView::contiguous(&a, &[3]).unwrap();
    let mut grows = |sizes: &[usize]| {
        map1(ForeignViewMut::contiguous(&mut out, sizes).unwrap(), input(), |x| x as f32).unwrap_err().kind().clone()
    };
    assert!(matches!(grows(&[1]), ErrorKind::OutputSize { .. }));
    assert!(matches!(grows(&[2]), ErrorKind::Broadcast { .. }));
    let iter =
        ForeignIter::new(Config::new(Flags::TERNARY)).output(ForeignViewMut::contiguous(&mut out, &[2]).unwrap());
    let cast = iter.input(ForeignView::contiguous(&a, &[1]).unwrap()).build().unwrap_err();
    assert!(matches!(cast.kind(), ErrorKind::ArgumentRule { .. }));
}

/// Numbers of a configuration that name no input, and questions about operands that there are none of.
#[test]
fn what_there_is_none_of() {
    let (mut out, x) = ([0f32; 2], [1f32, 2.0]);
    for n in [2, 3, usize::MAX - 1, usize::MAX] {
        for config in
            [Config { promote_from: n, ..Config::default() }, Config { outputs_like: Some(n - 1), ..Config::default() }]
        {
            let out = ForeignViewMut::contiguous(&mut out, &[2]).unwrap();
            let build = ForeignIter::new(config).output(out).input(ForeignView::contiguous(&x, &[2]).unwrap()).build();
            assert!(matches!(build.unwrap_err().kind(), ErrorKind::OutOfRange { low: 0, .. }), "{config:?}");
        }
        let view = View::new(DType::F32, &[2], &[1]);
        let config = Config { promote_from: n, outputs_like: Some(n), ..Config::default() };
        let _ = build_over(&config, &[view], &[view, view]);
    }
    let view = View::new(DType::F64, &[3, 2], &[1, 3]);
    let iter = build_over(&Config::default(), &[view], &[view]).unwrap();
    for k in [2, 7, usize::MAX / 2, usize::MAX] {
        assert_eq!((iter.strides(k), iter.dtype(k), iter.loop_dtype(k)), (&[][..], DType::F64, DType::F64));
        assert!(!iter.is_conj(k) && !iter.is_neg(k) && !iter.is_dim_reduced(k));
        assert!(iter.narrow(k, 0, 1).is_err() && iter.split(k).is_err());
    }
    let none = TensorIter::default();
    assert_eq!((none.dtype(0), none.strides(0), none.ninputs()), (DType::F32, &[][..], 0));
    let deep = vec![1; 100_000];
    let view = View::new(DType::F64, &deep, &deep);
    let error = build_over(&Config::default(), &[view], &[view]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooManyDims { .. }));
    let deep = vec![1usize; 100_000];
    let error = ForeignView::contiguous(&x[..1], &deep).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooManyDims { .. }));
}

/// A counter of any shape and range ends, and counts the elements of the range.
#[test]
fn counters_are_total() {
    const NUMBERS: [usize; 6] = [0, 1, 3, 1 << 33, usize::MAX - 1, usize::MAX];
    for a in NUMBERS {
        for b in NUMBERS {
            for shape in [&[][..], &[a], &[a, b], &[b, 2, a], &[3, a, b]] {
                for range in [a..b, b..a, 0..a.min(100), usize::MAX - 2..usize::MAX] {
                    let mut counter = DimCounter::new(shape, range.clone());
                    for _ in 0..1000 {
                        let [n0, n1] = counter.max_2d_step();
                        assert_eq!(n0 == 0 || n1 == 0, counter.is_done(), "{shape:?} {range:?}");
                        assert!(counter.values().iter().zip(shape).all(|(i, n)| i < n || *n == 0 || counter.is_done()));
                        counter.advance();
                    }
                }
            }
        }
    }
}

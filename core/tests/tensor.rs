//! Tensors in safe hands and unsafe ones: views, growth, borrows, freezing, bytes; and the algebra of sizes
//! and dtypes against PyTorch's answers (`testsuite/golden/geometry.json` and `promotion.json`; their formats are
//! described in `testsuite/record/geometry.py` and `promotion.py`). Whatever a caller passes is an `Err` or right,
//! never a panic.

mod host;

use host::Host;
use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::{
    AnyTensor, BoolByte, Category, Complex, Complex32, Complex64, DType, Element, ErrorKind, Geometry, MemoryFormat,
    Meta, Result, ResultType, Scalar, Tensor, bf16, f16, strides, with_element,
};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::Barrier;

type T = Tensor<Host>;

fn kind<R>(result: Result<R>) -> ErrorKind {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error.kind().clone(),
    }
}

fn geometry(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Geometry {
    Geometry::new(dtype, sizes, strides, offset).expect("legal")
}

fn six() -> T {
    T::from_slice(&[1f32, 2., 3., 4., 5., 6.], [2, 3]).expect("a tensor")
}

// ---- construction -------------------------------------------------------------------------------------------------

#[test]
fn views_stay_inside_their_storage() {
    let t = six();
    let view =
        |sizes: &[i64], strides: &[i64], offset| t.with_geometry(Geometry::new(DType::F32, sizes, strides, offset)?);
    assert_eq!(view(&[6], &[1], 0).expect("all of it").to_vec::<f32>(), Ok(vec![1., 2., 3., 4., 5., 6.]));
    assert_eq!(view(&[1], &[9], 5).expect("the last").to_vec::<f32>(), Ok(vec![6.]));
    for (sizes, strides, offset) in [
        (&[7][..], &[1][..], 0),
        (&[6], &[1], 1),
        (&[1], &[1], 6),
        (&[2, 3], &[4, 1], 0),
        (&[2], &[i64::MAX / 8], 0),
        (&[1], &[1], i64::MAX / 8),
    ] {
        let error = kind(view(sizes, strides, offset));
        assert!(matches!(error, ErrorKind::OutOfStorage { have: 24, .. }), "{error:?}");
    }
    // Another dtype counts in its own elements.
    assert_eq!(t.with_geometry(geometry(DType::F64, &[3], &[1], 0)).map(|v| v.numel()), Ok(3));
    assert!(matches!(
        kind(t.with_geometry(geometry(DType::F64, &[3], &[1], 1))),
        ErrorKind::OutOfStorage { need: 32, .. }
    ));
    assert!(matches!(
        kind(t.with_geometry(geometry(DType::C128, &[2], &[1], 0))),
        ErrorKind::OutOfStorage { need: 32, .. }
    ));
    // Nothing is reached by an empty view, wherever it begins.
    for offset in [0, 6, 7, i64::MAX] {
        for dtype in DType::ALL {
            let empty = t.with_geometry(geometry(dtype, &[0, 3], &[5, 7], offset)).expect("an empty view");
            assert_eq!(empty.storage_bytes(), 24);
            let rows = T::zeros_contiguous(DType::F32, &[0, 3]).expect("a tensor");
            empty.clone().copy_from(&rows).expect("nothing to copy");
            rows.clone().copy_from(&empty).expect("nothing to copy");
            with_element!(dtype, E => {
                assert_eq!(empty.to_vec::<E>(), Ok(vec![]));
                assert!(empty.clone().data::<E>().expect("an empty slice").is_empty());
                assert!(empty.clone().data_mut::<E>().expect("an empty slice").is_empty());
            });
        }
    }
    // The same through a view that is set, on any tensor, and on meta.
    let mut set = t.clone();
    assert!(matches!(kind(set.set_view(geometry(DType::F32, &[7], &[1], 0))), ErrorKind::OutOfStorage { .. }));
    assert_eq!(set.sizes(), [2, 3]);
    assert!(matches!(
        kind(t.as_any().with_geometry(geometry(DType::U8, &[25], &[1], 0))),
        ErrorKind::OutOfStorage { .. }
    ));
    let meta = Tensor::<Meta>::zeros_contiguous(DType::F32, &[6]).expect("a tensor");
    assert!(matches!(kind(meta.with_geometry(geometry(DType::F32, &[7], &[1], 0))), ErrorKind::OutOfStorage { .. }));
}

#[test]
fn impossible_geometries_are_refused() {
    let new = |sizes: &[i64], strides: &[i64], offset| kind(Geometry::new(DType::F32, sizes, strides, offset));
    assert_eq!(new(&[2, -1], &[1, 1], 0), ErrorKind::NegativeSize { arg: "size", got: -1 });
    assert_eq!(new(&[0, i64::MIN], &[1, 1], 0), ErrorKind::NegativeSize { arg: "size", got: i64::MIN });
    assert_eq!(new(&[2], &[-1], 0), ErrorKind::NegativeStride { arg: "stride", got: -1 });
    assert!(matches!(new(&[2], &[1, 1], 0), ErrorKind::ListLength { got: 2, want: 1, .. }));
    assert!(matches!(new(&[2], &[1], -1), ErrorKind::OutOfRange { got: -1, .. }));
    assert!(matches!(new(&[2], &[1], i64::MIN), ErrorKind::OutOfRange { .. }));
    for (sizes, strides, offset) in [
        (&[i64::MAX, 2][..], &[0, 0][..], 0),
        (&[1 << 32, 1 << 32], &[0, 0], 0),
        (&[i64::MAX], &[1], 0),
        (&[1 << 62], &[1], 0),
        (&[2], &[i64::MAX], 0),
        (&[3, 3], &[i64::MAX / 2, i64::MAX / 2], 0),
        (&[1], &[1], i64::MAX),
        (&[2], &[1], i64::MAX / 4),
    ] {
        assert!(
            matches!(new(sizes, strides, offset), ErrorKind::SizeOverflow { .. }),
            "{sizes:?} {strides:?} {offset}"
        );
    }
    assert!(matches!(kind(T::zeros_contiguous(DType::F32, &[-3])), ErrorKind::NegativeSize { got: -3, .. }));
    assert!(matches!(kind(T::zeros_contiguous(DType::F32, &[0, -3])), ErrorKind::NegativeSize { got: -3, .. }));
    assert!(matches!(kind(T::zeros_contiguous(DType::U8, &[i64::MAX, 2])), ErrorKind::SizeOverflow { .. }));
    assert!(matches!(kind(T::zeros_contiguous(DType::U8, &[i64::MAX])), ErrorKind::Allocation { .. }));
    assert!(matches!(kind(T::zeros_contiguous(DType::U8, &[1 << 60])), ErrorKind::Allocation { .. }));
    assert!(matches!(kind(T::from_slice(&[1u8], [-1])), ErrorKind::NegativeSize { .. }));
    assert!(matches!(kind(T::from_slice(&[1u8], [2])), ErrorKind::ShapeNumel { numel: 1, .. }));
    assert!(matches!(kind(T::from_slice(&[0u8; 0], ())), ErrorKind::ShapeNumel { numel: 0, .. }));
}

/// A zero among huge sizes is an empty tensor, whatever the others would come to.
#[test]
fn huge_sizes_with_a_zero_are_empty() {
    for sizes in [&[i64::MAX, i64::MAX, 0][..], &[0, i64::MAX], &[1 << 40, 0, 1 << 40]] {
        let t = T::zeros_contiguous(DType::C128, sizes).expect("an empty tensor");
        assert_eq!((t.numel(), t.storage_bytes(), t.sizes()), (0, 0, sizes));
        assert!(t.is_contiguous());
        assert_eq!(t.to_vec::<Complex64>(), Ok(vec![]));
        assert!(t.to_string().len() < 200);
        let mut grown = t.clone();
        grown.grow_to(t.geometry().clone()).expect("nothing to do");
        grown.copy_from(&t).expect("nothing to copy");
    }
}

/// A new tensor's strides are exact, also where there is nothing to reach: PyTorch refuses the same sizes.
#[test]
fn strides_that_cannot_be_counted_are_refused() {
    for sizes in
        [&[1 << 40, 1 << 40, 0, 1 << 40][..], &[0, 1 << 62, 4], &[0, 1 << 62, 2], &[7, i64::MAX, i64::MAX, 0, 3]]
    {
        assert!(matches!(kind(T::zeros_contiguous(DType::U8, sizes)), ErrorKind::SizeOverflow { .. }), "{sizes:?}");
    }
}

#[test]
fn tensors_have_at_most_128_dimensions() {
    let one = T::from_slice(&[7f32], ()).expect("a tensor");
    let most = vec![1; strides::MAX_DIMS];
    let deep = one.with_geometry(geometry(DType::F32, &most, &most, 0)).expect("as many as there may be");
    assert_eq!(deep.to_vec::<f32>(), Ok(vec![7.]));
    for ndim in [strides::MAX_DIMS + 1, 100_000] {
        let sizes = vec![1; ndim];
        let refused = |error| assert!(matches!(error, ErrorKind::TooManyDims { got, most: 128 } if got == ndim));
        refused(kind(Geometry::new(DType::F32, &sizes, &sizes, 0)));
        refused(kind(Geometry::contiguous(DType::F32, &sizes)));
        refused(kind(T::zeros_contiguous(DType::F32, &sizes)));
        refused(kind(strides::broadcast_sizes(&sizes, &[2])));
        refused(kind(strides::infer_size(&sizes, 1)));
    }
}

/// The functions are public: what they are given need not come from a tensor.
#[test]
fn the_algebra_is_total() {
    const NUMBERS: [i64; 9] = [0, 1, 2, 3, 1 << 31, 1 << 62, i64::MAX, -1, i64::MIN];
    let mut lists: Vec<Vec<i64>> = vec![vec![], vec![2; 4], vec![2; 5], vec![3; 200]];
    for a in NUMBERS {
        lists.push(vec![a]);
        for b in NUMBERS {
            lists.push(vec![a, b]);
            lists.extend(NUMBERS.map(|c| vec![a, b, c]));
        }
    }
    let formats = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];
    for (k, a) in lists.iter().enumerate() {
        for b in lists.iter().skip(k % 7).step_by(7) {
            let _ = (strides::numel(a), strides::extent(a, b), strides::is_contiguous(a, b));
            let _ = (strides::contiguous_strides(a), strides::is_non_overlapping_and_dense(a, b));
            let _ = (strides::preserve_strides(a, b), strides::broadcast_sizes(a, b), strides::suggest_format(a, b));
            let _ = (strides::view_strides(a, b, a), strides::view_strides(a, a, b), overlap::internal(a, b));
            let geometry = Geometry::new(DType::C64, a, b, a.first().copied().unwrap_or(0));
            let _ = geometry.map(|g| (g.offset_at(0, i64::MAX), g.offset_at(9, 1), g.bytes_needed()));
            for format in formats {
                let _ = (strides::is_channels_last(a, b, format), strides::strides_for(a, format));
                let _ = strides::is_channels_last_strides(a, b, format);
            }
            for &n in a {
                let _ = (strides::infer_size(b, n as usize), strides::wrap_dim(n, b.len(), "dim"));
                let _ = (strides::wrap_dim(n, n as usize, "dim"), strides::wrap_dims(b, n as usize, "dim"));
                let _ = strides::offset_at(n, n, n);
            }
            let place = |list: &'static [i64], start, bytes| overlap::Place {
                storage: 1,
                start,
                bytes,
                element: 4,
                sizes: list,
                strides: &[1],
            };
            if let ([a, ..], [b, ..]) = (a.as_slice(), b.as_slice()) {
                let _ = overlap::shared(&place(&[2], *a, *b), &place(&[3], *b, *a));
            }
        }
    }
}

/// An expanded tensor can have more elements than there is memory; asking for all of them is an error.
#[test]
fn expanded_giants() {
    let one = T::from_slice(&[7f32], ()).expect("a tensor");
    let giant = one.with_geometry(geometry(DType::F32, &[1 << 61], &[0], 0)).expect("a view");
    assert!(matches!(kind(giant.to_vec::<f32>()), ErrorKind::Allocation { .. }));
    assert!(matches!(kind(giant.item()), ErrorKind::OneElement { .. }));
    let mut whole = one.clone();
    whole.copy_from(&one).expect("itself");
    let mut giant_out = giant.clone();
    assert!(matches!(kind(giant_out.copy_from(&one)), ErrorKind::InternalOverlap { .. }));
}

#[test]
fn storages_from_bytes() {
    let bytes: Vec<u8> = (0..16).collect();
    let t = T::from_storage(&bytes, geometry(DType::I16, &[3, 2], &[1, 3], 1)).expect("a tensor");
    let at = |i: usize| i16::from_ne_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    assert_eq!(t.to_vec::<i16>(), Ok([1, 4, 2, 5, 3, 6].map(at).to_vec()));
    assert_eq!(t.storage_to_vec(), Ok(bytes.clone()));
    assert_eq!((t.version(), t.storage_bytes()), (0, 16));
    let outside = T::from_storage(&bytes, geometry(DType::I16, &[3, 2], &[1, 3], 3));
    assert!(matches!(kind(outside), ErrorKind::OutOfStorage { need: 18, have: 16, .. }));
    let empty = T::from_storage(&[], geometry(DType::F64, &[0], &[1], 0)).expect("a tensor");
    assert_eq!(empty.storage_to_vec(), Ok(vec![]));
    assert!(matches!(kind(T::from_storage(&[], geometry(DType::U8, &[1], &[1], 0))), ErrorKind::OutOfStorage { .. }));
}

/// Nothing that was not written or zeroed is ever seen: fresh blocks of the device of these tests are garbage.
#[test]
fn uninitialised_memory_is_never_visible() {
    for dtype in DType::ALL {
        let gapped = T::zeroed(dtype, &[3, 2], &[10, 3], 0).expect("a tensor");
        assert!(gapped.storage_to_vec().expect("bytes").iter().all(|b| *b == 0));
        let mut grown = T::zeros_contiguous(dtype, &[0]).expect("a tensor");
        grown.grow_to(geometry(dtype, &[100], &[3], 5)).expect("memory");
        assert!(grown.storage_to_vec().expect("bytes").iter().all(|b| *b == 0));
        assert_eq!(grown.storage_bytes(), (5 + 99 * 3 + 1) * dtype.size());
    }
}

#[test]
fn growth_keeps_other_views() {
    let mut t = six();
    let row = t.with_geometry(geometry(DType::F32, &[3], &[1], 3)).expect("a view");
    let other = t.clone();
    t.grow_to(geometry(DType::F32, &[4, 3], &[3, 1], 0)).expect("memory");
    assert_eq!(t.to_vec::<f32>(), Ok(vec![1., 2., 3., 4., 5., 6., 0., 0., 0., 0., 0., 0.]));
    assert_eq!(row.to_vec::<f32>(), Ok(vec![4., 5., 6.]));
    assert_eq!((row.storage_id(), row.storage_bytes()), (t.storage_id(), 48));
    // Writes are seen by all, and a second growth moves all again.
    t.data_mut::<f32>().expect("contiguous")[4] = 50.;
    t.grow_to(geometry(DType::F32, &[1000], &[1], 0)).expect("memory");
    assert_eq!(row.to_vec::<f32>(), Ok(vec![4., 50., 6.]));
    drop(t);
    assert_eq!(other.to_vec::<f32>(), Ok(vec![1., 2., 3., 4., 50., 6.]));
    // A smaller geometry leaves the storage alone.
    let mut last = other;
    last.grow_to(geometry(DType::F32, &[1], &[1], 999)).expect("inside");
    assert_eq!(last.storage_bytes(), 4000);
    // Too much, or borrowed: nothing happens.
    let before = (last.geometry().clone(), last.storage_bytes());
    assert!(matches!(kind(last.grow_to(geometry(DType::F32, &[1 << 60], &[1], 0))), ErrorKind::Allocation { .. }));
    let mut twin = last.clone();
    let guard = last.data::<f32>().expect("a borrow");
    assert!(matches!(kind(twin.grow_to(geometry(DType::F32, &[2000], &[1], 0))), ErrorKind::Borrowed { .. }));
    drop(guard);
    assert!(twin.geometry().same_elements(&before.0) && twin.storage_bytes() == before.1);
    // Meta tensors grow too.
    let mut meta = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2]).expect("a tensor");
    meta.grow_to(geometry(DType::F32, &[5], &[1], 0)).expect("no memory is needed");
    assert_eq!((meta.storage_bytes(), meta.sizes()), (20, &[5][..]));
}

/// Growth through two tensors of one storage at once never leaves it smaller than either needs.
#[test]
fn racing_growths_never_shrink() {
    for round in 0..200 {
        let t = six();
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for n in [10 + round, 300 - round] {
                let (mut mine, barrier) = (t.clone(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    loop {
                        match mine.grow_to(geometry(DType::F32, &[n], &[1], 0)) {
                            Ok(()) => break,
                            Err(error) => assert!(matches!(error.kind(), ErrorKind::Borrowed { .. })),
                        }
                    }
                    // The other may be growing it; once it is free, all is there.
                    let values = loop {
                        match mine.to_vec::<f32>() {
                            Ok(values) => break values,
                            Err(error) => assert!(matches!(error.kind(), ErrorKind::Borrowed { .. })),
                        }
                    };
                    assert_eq!(values.len(), n as usize);
                    assert_eq!(values[..6], [1., 2., 3., 4., 5., 6.]);
                });
            }
        });
        assert_eq!(t.storage_bytes(), 4 * (10 + round).max(300 - round) as usize);
    }
}

// ---- borrows ------------------------------------------------------------------------------------------------------

#[test]
fn guards_exclude_each_other() {
    let (t, mut clone) = (six(), T::zeros_contiguous(DType::F32, &[1]).expect("a tensor"));
    drop(std::mem::replace(&mut clone, t.clone()));
    {
        let (a, b) = (t.data::<f32>().expect("a reader"), t.data::<f32>().expect("another"));
        assert_eq!(a[..], b[..]);
        let refused = ErrorKind::Borrowed { arg: "self", state: "read" };
        assert_eq!(kind(clone.data_mut::<f32>()), refused);
        assert_eq!(kind(clone.copy_from(&six())), refused);
        drop(a);
        assert_eq!(kind(clone.data_mut::<f32>()), refused);
    }
    assert_eq!(clone.version(), 0);
    {
        let mut writer = clone.data_mut::<f32>().expect("free again");
        writer[0] = 10.;
        let refused = ErrorKind::Borrowed { arg: "self", state: "written" };
        assert_eq!(kind(t.data::<f32>()), refused);
        assert_eq!(kind(t.to_vec::<f32>()), refused);
        assert_eq!(kind(t.item()), ErrorKind::OneElement { numel: 6 });
        assert_eq!(kind(t.storage_to_vec()), refused);
        assert_eq!(kind(t.freeze()), refused);
        let mut target = six();
        let refused = ErrorKind::Borrowed { arg: "src", state: "written" };
        assert_eq!(kind(target.copy_from(&t)), refused);
        assert_eq!(target.to_vec::<f32>(), Ok(vec![1., 2., 3., 4., 5., 6.]));
    }
    assert_eq!(t.to_vec::<f32>().expect("free again")[0], 10.);
    assert_eq!(t.version(), 1);
}

#[test]
fn guards_check_dtype_layout_and_bits() {
    let mut t = six();
    assert_eq!(kind(t.data::<f64>()), ErrorKind::ElementType { got: DType::F32, want: DType::F64 });
    assert_eq!(kind(t.to_vec::<i32>()), ErrorKind::ElementType { got: DType::F32, want: DType::I32 });
    t.set_view(geometry(DType::F32, &[3, 2], &[1, 3], 0)).expect("a view");
    assert!(matches!(kind(t.data::<f32>()), ErrorKind::NotContiguous { .. }));
    assert!(matches!(kind(t.data_mut::<f32>()), ErrorKind::NotContiguous { .. }));
    t.set_view(geometry(DType::F32, &[3], &[1], 0).with_neg(true)).expect("a view");
    assert!(matches!(kind(t.data::<f32>()), ErrorKind::NotContiguous { .. }));
    assert!(matches!(kind(t.data_mut::<f32>()), ErrorKind::NotContiguous { .. }));
    assert_eq!(t.version(), 0);
    let mut meta = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2]).expect("a tensor");
    assert!(matches!(kind(meta.data::<f32>()), ErrorKind::NoHostData { .. }));
    assert!(matches!(kind(meta.data_mut::<f32>()), ErrorKind::NoHostData { .. }));
    assert!(matches!(kind(meta.storage_to_vec()), ErrorKind::NoHostData { .. }));
    assert!(matches!(kind(Tensor::<Meta>::from_slice_on(0, &[1f32], 1)), ErrorKind::NoHostData { .. }));
}

/// The slice of a guard may go to other threads, and a guard that is dropped in one frees the storage for the others.
#[test]
fn guards_across_threads() {
    let t = six();
    let guard = t.data::<f32>().expect("a reader");
    let sum: f32 = std::thread::scope(|scope| {
        let halves = [&guard[..3], &guard[3..]];
        let threads = halves.map(|half| scope.spawn(move || half.iter().sum::<f32>()));
        threads.into_iter().map(|thread| thread.join().expect("a sum")).sum()
    });
    assert_eq!(sum, 21.);
    drop(guard);
    // Many threads, each writing through its own clone: a write is whole or refused, and no write is lost.
    let t = T::zeros_contiguous(DType::I64, &[2]).expect("a tensor");
    let written: i64 = std::thread::scope(|scope| {
        let work = |mut mine: T| {
            move || {
                let mut done = 0;
                while done < 200 {
                    if let Ok(mut data) = mine.data_mut::<i64>() {
                        data[0] += 1;
                        data[1] -= 1;
                        done += 1;
                    }
                    if let Ok(data) = mine.data::<i64>() {
                        assert_eq!(data[0], -data[1]);
                    }
                }
                done
            }
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work(t.clone()))).collect();
        threads.into_iter().map(|thread| thread.join().expect("done")).sum()
    });
    assert_eq!(t.to_vec::<i64>(), Ok(vec![written, -written]));
    assert_eq!(t.version(), written as u64);
}

#[test]
fn frozen_storages() {
    let mut t = six();
    let mut clone = t.clone();
    t.freeze().expect("free");
    assert!(clone.is_frozen());
    assert_eq!(kind(clone.data_mut::<f32>()), ErrorKind::Frozen);
    assert_eq!(kind(t.data_mut::<f32>()), ErrorKind::Frozen);
    assert_eq!(kind(t.copy_from(&six())), ErrorKind::Frozen);
    assert_eq!(kind(t.grow_to(geometry(DType::F32, &[100], &[1], 0))), ErrorKind::Frozen);
    assert_eq!(t.data::<f32>().expect("readable")[..], clone.data::<f32>().expect("readable")[..]);
    t.freeze().expect("twice is once");
    drop(clone);
    // The only tensor thaws it by writing.
    t.data_mut::<f32>().expect("thawed")[0] = 9.;
    assert!(!t.is_frozen());
    // A reader from before freezing, still counted.
    let other = t.clone();
    let guard = t.data::<f32>().expect("a reader");
    t.freeze().expect("readers do not mind");
    drop(guard);
    drop(other);
    t.data_mut::<f32>().expect("thawed");
    // A frozen meta tensor is nothing special.
    let meta = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2]).expect("a tensor");
    meta.freeze().expect("nothing to freeze");
    assert!(!meta.is_frozen());
}

#[test]
fn forgotten_guards_heal() {
    let mut t = six();
    let clone = t.clone();
    std::mem::forget(clone.data::<f32>());
    assert!(t.data_mut::<f32>().is_err(), "the storage is shared");
    drop(clone);
    t.data_mut::<f32>().expect("the only tensor heals");
    let mut t = six();
    let mut clone = t.clone();
    std::mem::forget(clone.data_mut::<f32>());
    assert!(t.data::<f32>().is_err());
    drop(clone);
    assert!(t.data::<f32>().is_err(), "reading cannot know");
    t.data_mut::<f32>().expect("the only tensor heals");
    t.data::<f32>().expect("healed");
}

/// Whatever is dropped first, views, clones and erased tensors keep the storage alive.
#[test]
fn drop_order() {
    let t = six();
    let view = t.with_geometry(geometry(DType::F32, &[2], &[3], 1)).expect("a view");
    let any = t.clone().into_any();
    drop(t);
    assert_eq!(view.to_vec::<f32>(), Ok(vec![2., 5.]));
    drop(view);
    assert_eq!(any.to_vec::<f32>(), Ok(vec![1., 2., 3., 4., 5., 6.]));
    let guard = any.data::<f32>().expect("a borrow");
    let other = any.clone();
    assert_eq!(guard[5], 6.);
    drop(guard);
    drop(any);
    std::thread::spawn(move || assert_eq!(other.numel(), 6)).join().expect("dropped elsewhere");
}

#[test]
fn erasing_and_recovering_the_device() {
    let mut any: AnyTensor = six().into_any();
    assert!(any.downcast_ref::<Meta>().is_none() && any.downcast_mut::<Meta>().is_none());
    any.downcast_mut::<Host>().expect("a host tensor").data_mut::<f32>().expect("data")[0] = 8.;
    assert_eq!(any.downcast_ref::<Host>().expect("a host tensor").as_any().storage_id(), any.storage_id());
    assert!(any.clone().downcast::<Meta>().is_none());
    assert_eq!(any.downcast::<Host>().expect("a host tensor").to_vec::<f32>().expect("data")[0], 8.);
    let meta = Tensor::<Meta>::zeros_contiguous(DType::U8, &[2]).expect("a tensor").into_any();
    assert!(meta.clone().downcast::<Host>().is_none());
    assert_eq!(meta.downcast::<Meta>().expect("a meta tensor").sizes(), [2]);
}

// ---- bytes and values ---------------------------------------------------------------------------------------------

/// Bool tensors over bytes that are neither 0 nor 1 are lent as bytes with a truth value, never as `&[bool]`.
#[test]
fn bool_bytes() {
    let bytes: Vec<u8> = (0..=255).collect();
    let t = T::from_storage(&bytes, geometry(DType::Bool, &[256], &[1], 0)).expect("a tensor");
    let want: Vec<bool> = bytes.iter().map(|b| *b != 0).collect();
    assert_eq!(t.to_vec::<bool>().as_ref(), Ok(&want));
    let data = t.data::<bool>().expect("a slice");
    let lent: &[BoolByte] = &data;
    assert!(lent.iter().zip(&want).all(|(b, w)| b.get() == *w && *b == BoolByte::from(*w)));
    for at in [0, 1, 2, 128, 255] {
        let one = t.with_geometry(geometry(DType::Bool, &[], &[], at)).expect("a view");
        assert_eq!(one.item(), Ok(Scalar::Bool(at != 0)));
        assert_eq!(one.to_string(), if at == 0 { "tensor(False)" } else { "tensor(True)" });
    }
    // A copy writes 0 or 1.
    let mut copy = T::zeros_contiguous(DType::Bool, &[256]).expect("a tensor");
    drop(data);
    copy.copy_from(&t).expect("a copy");
    assert!(copy.storage_to_vec().expect("bytes").iter().zip(&bytes).all(|(c, b)| *c == u8::from(*b != 0)));
}

#[test]
fn values_honour_conj_and_neg() {
    let c = |re, im| Complex::new(re, im);
    let t = T::from_slice(&[c(1f32, 2.), c(3., -4.)], [2]).expect("a tensor");
    let bits = |conj, neg| {
        let g = t.geometry().clone().with_conj(conj).with_neg(neg);
        t.with_geometry(g).expect("a view").to_vec::<Complex32>()
    };
    assert_eq!(bits(false, false), Ok(vec![c(1., 2.), c(3., -4.)]));
    assert_eq!(bits(true, false), Ok(vec![c(1., -2.), c(3., 4.)]));
    assert_eq!(bits(false, true), Ok(vec![c(-1., -2.), c(-3., 4.)]));
    assert_eq!(bits(true, true), Ok(vec![c(-1., 2.), c(-3., -4.)]));
    // The conj bit means nothing on real tensors; the neg bit wraps on integers.
    assert!(!geometry(DType::F32, &[1], &[1], 0).with_conj(true).is_conj());
    let i = T::from_slice(&[i64::MIN, 5], [2]).expect("a tensor");
    let neg = i.with_geometry(i.geometry().clone().with_neg(true)).expect("a view");
    assert_eq!(neg.to_vec::<i64>(), Ok(vec![i64::MIN, -5]));
    let u = T::from_slice(&[0u8, 1, 200], [3]).expect("a tensor");
    let neg = u.with_geometry(u.geometry().clone().with_neg(true)).expect("a view");
    assert_eq!(neg.to_vec::<u8>(), Ok(vec![0, 255, 56]));
    let f = T::from_slice(&[0f32, f32::INFINITY], [2]).expect("a tensor");
    let neg = f.with_geometry(f.geometry().clone().with_neg(true)).expect("a view");
    assert!(neg.to_vec::<f32>().expect("data")[0].is_sign_negative());
}

/// A copy within one storage: exact where the elements are the same ones or apart, refused where they provably overlap
/// in part, and through a copy where it is too hard to tell.
#[test]
fn copies_within_a_storage() {
    let base = T::from_slice(&(0..12).map(|i| i as f32).collect::<Vec<_>>(), [12]).expect("a tensor");
    let view = |sizes: &[i64], strides: &[i64], offset| {
        base.with_geometry(geometry(DType::F32, sizes, strides, offset)).expect("a view")
    };
    assert!(matches!(kind(view(&[4], &[1], 0).copy_from(&view(&[4], &[1], 2))), ErrorKind::PartialOverlap { .. }));
    assert!(matches!(
        kind(view(&[3, 4], &[4, 1], 0).copy_from(&view(&[4], &[1], 0))),
        ErrorKind::PartialOverlap { .. }
    ));
    // Stepped views that share elements: as if the source had been copied out first.
    view(&[4], &[2], 2).copy_from(&view(&[4], &[2], 0)).expect("staged");
    assert_eq!(base.to_vec::<f32>(), Ok(vec![0., 1., 0., 3., 2., 5., 4., 7., 6., 9., 10., 11.]));
    // The same elements read another way: conjugated, and as another dtype.
    let c = T::from_slice(&[Complex::new(1f32, 2.)], [1]).expect("a tensor");
    let conj = c.with_geometry(c.geometry().clone().with_conj(true)).expect("a view");
    c.clone().copy_from(&conj).expect("staged");
    assert_eq!(c.to_vec::<Complex32>(), Ok(vec![Complex::new(1., -2.)]));
    let bits = base.with_geometry(geometry(DType::I32, &[2], &[1], 1)).expect("a view");
    view(&[2], &[1], 1).copy_from(&bits).expect("staged");
    assert_eq!(base.to_vec::<f32>().expect("data")[1], 1f32.to_bits() as f32);
    // Broadcasts and conversions, from elsewhere.
    let mut out = T::zeros_contiguous(DType::I16, &[2, 2]).expect("a tensor");
    out.copy_from(&T::from_slice(&[1.9f64, -3.9], [2]).expect("a tensor")).expect("a copy");
    assert_eq!(out.to_vec::<i16>(), Ok(vec![1, -3, 1, -3]));
    assert!(matches!(kind(out.copy_from(&six())), ErrorKind::Broadcast { .. }));
    let wide = T::zeros_contiguous(DType::I16, &[3, 2, 2]).expect("a tensor");
    assert!(matches!(kind(out.copy_from(&wide)), ErrorKind::OutputSize { .. }));
    assert_eq!(out.version(), 1);
}

/// Every value of the 8- and 16-bit dtypes survives a round trip through scalars and storages.
#[test]
fn elements_round_trip() {
    fn check<E: Element>(values: Vec<E>) {
        let t = T::from_slice(&values, [values.len() as i64]).expect("a tensor");
        let back = t.to_vec::<E>().expect("data");
        for (a, b) in values.iter().zip(&back) {
            assert!(a == b || a != a && b != b, "{a:?} {b:?}");
            let again = E::from_scalar(a.to_scalar());
            assert!(again == *a || a != a, "{a:?} {again:?}");
        }
    }
    check((0..=255u8).collect());
    check((-128..=127i8).collect());
    check((i16::MIN..=i16::MAX).collect());
    check((0..=u16::MAX).map(f16::from_bits).collect());
    check((0..=u16::MAX).map(bf16::from_bits).collect());
    check(vec![i64::MIN, i64::MAX, 0, (1 << 53) + 1]);
    check(vec![f64::MIN_POSITIVE, -0.0, f64::MAX, f64::NAN]);
    check(vec![Complex64::new(f64::MAX, -0.0)]);
    check(vec![true, false]);
}

// ---- the algebra, against PyTorch ---------------------------------------------------------------------------------

fn recorded(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn ints(v: &Value) -> Vec<i64> {
    v.as_array().expect("a list").iter().map(|x| x.as_i64().expect("an integer")).collect()
}

fn rows<'v>(v: &'v Value, section: &str) -> &'v [Value] {
    let rows = v[section].as_array().expect("a section");
    assert!(!rows.is_empty());
    rows
}

/// float16 with a complex number is complex32 in PyTorch, and bfloat16 a complex of its own. Ours has twelve dtypes;
/// the next wider complex stands in.
fn ours(name: &str) -> DType {
    match name {
        "complex32" | "bcomplex32" => DType::C64,
        name => DType::from_name(name).expect("a dtype"),
    }
}

fn operand(name: &str) -> (DType, Category) {
    match name.split_once(':').expect("category:dtype") {
        ("dim", d) => (ours(d), Category::Dimensioned),
        ("zero", d) => (ours(d), Category::ZeroDim),
        (_, "bool") => (DType::Bool, Category::Number),
        (_, "int") => (DType::I64, Category::Number),
        (_, "float") => (DType::F64, Category::Number),
        (_, _) => (DType::C128, Category::Number),
    }
}

fn result_type<'v>(operands: impl Iterator<Item = &'v Value>) -> DType {
    let mut result = ResultType::default();
    for name in operands {
        let (dtype, category) = operand(name.as_str().expect("a name"));
        result.push(dtype, category);
    }
    result.dtype().expect("operands")
}

#[test]
fn promotion_as_recorded() {
    let golden = recorded(include_str!("../../testsuite/golden/promotion.json"));
    let dtypes: Vec<DType> = rows(&golden, "dtypes").iter().map(|d| ours(d.as_str().expect("a name"))).collect();
    assert_eq!(dtypes, DType::ALL);
    for (a, (promoted, castable)) in rows(&golden, "promote_types").iter().zip(rows(&golden, "can_cast")).enumerate() {
        for b in 0..DType::COUNT {
            let want = ours(promoted[b].as_str().expect("a name"));
            assert_eq!(dtypes[a].promote(dtypes[b]), want, "{} with {}", dtypes[a], dtypes[b]);
            assert_eq!(dtypes[a].can_cast(dtypes[b]), castable[b] == true, "{} to {}", dtypes[a], dtypes[b]);
        }
    }
    let operands = rows(&golden, "operands");
    for (a, row) in operands.iter().zip(rows(&golden, "result_type")) {
        for (b, want) in operands.iter().zip(row.as_array().expect("a row")) {
            let got = result_type([a, b].into_iter());
            assert_eq!(got, ours(want.as_str().expect("a name")), "{a} with {b}");
        }
    }
    let many = rows(&golden, "common_dtype");
    for row in many {
        let (want, operands) = row.as_array().and_then(|r| r.split_last()).expect("a row");
        assert_eq!(result_type(operands.iter()), ours(want.as_str().expect("a name")), "{row}");
    }
    assert_eq!(many.len(), 728);
    assert_eq!(ResultType::default().dtype(), None);
}

#[test]
fn views_as_recorded() {
    let golden = recorded(include_str!("../../testsuite/golden/geometry.json"));
    let (mut made, mut refused) = (0, 0);
    for row in rows(&golden, "view") {
        let (sizes, strides, want) = (ints(&row[0]), ints(&row[1]), ints(&row[2]));
        let numel = strides::numel(&sizes).expect("a legal tensor");
        let got = strides::infer_size(&want, numel).ok().and_then(|w| strides::view_strides(&sizes, &strides, &w));
        match row[3].as_array() {
            Some(_) => {
                assert_eq!(got.as_deref(), Some(ints(&row[3]).as_slice()), "{row}");
                made += 1;
            }
            None => {
                assert_eq!(got, None, "{row}");
                refused += 1;
            }
        }
    }
    assert_eq!((made, refused), (420, 180));
}

#[test]
fn layouts_as_recorded() {
    let golden = recorded(include_str!("../../testsuite/golden/geometry.json"));
    let layouts = rows(&golden, "layouts");
    assert_eq!(layouts.len(), 600);
    for row in layouts {
        let (sizes, strides) = (ints(&row[0]), ints(&row[1]));
        assert_eq!(strides::is_contiguous(&sizes, &strides), row[2] == true, "contiguous {row}");
        let last = |format| strides::is_channels_last(&sizes, &strides, format);
        assert_eq!(last(MemoryFormat::ChannelsLast), row[3] == true, "channels_last {row}");
        assert_eq!(last(MemoryFormat::ChannelsLast3d), row[4] == true, "channels_last_3d {row}");
        assert_eq!(strides::is_non_overlapping_and_dense(&sizes, &strides), row[5] == true, "dense {row}");
        let suggested = match strides::suggest_format(&sizes, &strides) {
            MemoryFormat::ChannelsLast => 2,
            MemoryFormat::ChannelsLast3d => 3,
            _ => 0,
        };
        assert_eq!(row[6], suggested, "suggested {row}");
        judge_internal(&sizes, &strides, row[7].as_i64().expect("a verdict"), row);
        assert_eq!(strides::preserve_strides(&sizes, &strides).as_slice(), ints(&row[8]), "empty_like {row}");
        assert_eq!(strides::preserve_strides(&sizes, &strides).as_slice(), ints(&row[9]), "clone {row}");
    }
}

/// Ours decides more than PyTorch, which knows "no" only of dense tensors: where it gives up, ours may say no, and is
/// then right.
fn judge_internal(sizes: &[i64], strides: &[i64], recorded: i64, row: &Value) {
    match (overlap::internal(sizes, strides), recorded) {
        (Internal::No, 0) | (Internal::Yes, 1) | (Internal::Unknown, 2) => {}
        (Internal::No, 2) => assert!(!collides(sizes, strides), "{row}"),
        (got, want) => panic!("{got:?}, recorded {want}: {row}"),
    }
}

fn reached(sizes: &[i64], strides: &[i64]) -> Vec<i64> {
    host::indices(sizes).iter().map(|i| host::offset(i, strides, DType::U8) as i64).collect()
}

fn collides(sizes: &[i64], strides: &[i64]) -> bool {
    let mut all = reached(sizes, strides);
    all.sort_unstable();
    all.windows(2).any(|w| w[0] == w[1])
}

#[test]
fn overlaps_as_recorded() {
    let golden = recorded(include_str!("../../testsuite/golden/geometry.json"));
    let calls = rows(&golden, "overlap");
    assert_eq!(calls.len(), 400);
    for row in calls {
        let tensor = |name: &str| (ints(&row[name][0]), ints(&row[name][1]), row[name][2].as_i64().expect("an offset"));
        let (out, a) = (tensor("out"), tensor("a"));
        judge_internal(&out.0, &out.1, row["internal"].as_i64().expect("a verdict"), row);
        let place = |(sizes, strides, offset): &(Vec<i64>, Vec<i64>, i64)| {
            let bytes = 4 * strides::extent(sizes, strides).expect("legal") as i64;
            (4 * offset, bytes)
        };
        let ((start, bytes), (a_start, a_bytes)) = (place(&out), place(&a));
        let p = Place { storage: 1, start, bytes, element: 4, sizes: &out.0, strides: &out.1 };
        let q = Place { storage: 1, start: a_start, bytes: a_bytes, element: 4, sizes: &a.0, strides: &a.1 };
        let got = overlap::shared(&p, &q);
        assert_eq!(got, overlap::shared(&q, &p));
        assert_eq!(overlap::shared(&p, &Place { storage: 2, ..q }), Shared::None);
        match (got, row["status"].as_i64().expect("a verdict")) {
            (Shared::Full, 0) | (Shared::Partial, 1) | (Shared::None, 2) | (Shared::Unknown, 3) => {}
            // PyTorch compares tensors by identity before it gives up on gaps; ours by geometry, which is never wrong.
            (Shared::Full, 3) => assert_eq!(out, a),
            (got, want) => panic!("{got:?}, recorded {want}: {row}"),
        }
    }
}

proptest! {
    /// The verdicts on overlap against counting.
    #[test]
    fn internal_overlap_is_never_wrong(dims in prop::collection::vec((0i64..5, 0i64..9), 0..5)) {
        let (sizes, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        match overlap::internal(&sizes, &strides) {
            Internal::No => prop_assert!(!collides(&sizes, &strides)),
            Internal::Yes => prop_assert!(collides(&sizes, &strides)),
            Internal::Unknown => {}
        }
    }

    #[test]
    fn shared_memory_is_never_wrong(
        dims in prop::collection::vec((1i64..4, 0i64..7, 0i64..7), 0..4), offsets in (0i64..12, 0i64..12),
        same in any::<bool>(),
    ) {
        let sizes: Vec<i64> = dims.iter().map(|d| d.0).collect();
        let a: Vec<i64> = dims.iter().map(|d| d.1).collect();
        let b: Vec<i64> = if same { a.clone() } else { dims.iter().map(|d| d.2).collect() };
        let end = |s: &[i64]| strides::extent(&sizes, s).expect("small") as i64;
        let p = Place { storage: 1, start: offsets.0, bytes: end(&a), element: 1, sizes: &sizes, strides: &a };
        let q = Place { storage: 1, start: offsets.1, bytes: end(&b), element: 1, sizes: &sizes, strides: &b };
        let all = |s: &[i64], o: i64| reached(&sizes, s).iter().map(|e| e + o).collect::<Vec<_>>();
        let (x, y) = (all(&a, offsets.0), all(&b, offsets.1));
        match overlap::shared(&p, &q) {
            Shared::None => prop_assert!(x.iter().all(|e| !y.contains(e))),
            Shared::Full => prop_assert_eq!(x, y),
            // Two dense tensors of one element each may differ in strides that do not matter; that counts as partial.
            Shared::Partial => prop_assert!(x.iter().any(|e| y.contains(e))),
            Shared::Unknown => {}
        }
    }

    /// A view has the same elements in the same order.
    #[test]
    fn views_keep_the_elements(
        dims in prop::collection::vec((0i64..5, 0i64..9), 0..5), want in prop::collection::vec(0i64..7, 0..5),
    ) {
        let (sizes, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        let numel = strides::numel(&sizes).expect("small");
        if strides::numel(&want).expect("small") == numel
            && let Some(view) = strides::view_strides(&sizes, &strides, &want)
        {
            prop_assert_eq!(reached(&sizes, &strides), reached(&want, &view));
        }
    }

    /// Nothing that a caller passes for sizes, strides and offset panics, and what is accepted reaches no further than
    /// the storage.
    #[test]
    fn no_geometry_panics(
        dims in prop::collection::vec((any::<i64>(), any::<i64>()), 0..4),
        small in prop::collection::vec((0i64..4, 0i64..6), 0..4),
        offset in prop_oneof![any::<i64>(), 0i64..8], dtype in 0..DType::COUNT,
    ) {
        let dtype = DType::ALL[dtype];
        let base = T::zeros_contiguous(DType::U8, &[64]).expect("a tensor");
        for dims in [dims, small] {
            let (sizes, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
            let _ = (strides::numel(&sizes), strides::infer_size(&sizes, 12));
            let _ = strides::broadcast_sizes(&sizes, &strides);
            let Ok(geometry) = Geometry::new(dtype, &sizes, &strides, offset) else { continue };
            let _ = (geometry.is_contiguous(), strides::suggest_format(&sizes, &strides));
            let _ = overlap::internal(&sizes, &strides);
            let _ = strides::preserve_strides(&sizes, &strides);
            if let Ok(view) = base.with_geometry(geometry) {
                let text = view.to_string();
                prop_assert!(text.starts_with("tensor("));
                if view.numel() < 1000 {
                    with_element!(dtype, E => prop_assert_eq!(view.to_vec::<E>().expect("data").len(), view.numel()));
                }
            }
        }
    }
}

//! Single stages that the recorded rows cannot show: coalescing, the walk's order, parts, reductions, devices, the
//! verdict on parallel walks.

use crate::support::Host;
use monomorph_core::structured::Operand;
use monomorph_core::{DType, Device, DeviceId, DeviceKind, ErrorKind, Meta, Tensor};
use monomorph_iter::{Config, Flags, MAX_ELEMENTS, TensorIter, View, build_over};

const F: DType = DType::F32;
const KEEP: Flags = Flags::TERNARY.without_resizing();

fn over(flags: Flags, outputs: &[View<'_>], inputs: &[View<'_>]) -> TensorIter {
    build_over(&Config::new(flags), outputs, inputs).unwrap()
}

#[test]
fn neighbours_merge_where_every_operand_allows_it() {
    let out = View::new(F, &[2, 3, 4, 5], &[60, 20, 5, 1]);
    let row = View::new(F, &[4, 5], &[5, 1]);
    let iter = over(KEEP, &[out], &[out, row]);
    assert_eq!(iter.shape(), [20, 6]);
    assert_eq!([iter.strides(0), iter.strides(1), iter.strides(2)], [[4, 80], [4, 80], [4, 0]]);
    assert_eq!(iter.perm(), [3, 2, 1, 0]);
    // A size of 1 merges whatever its stride is.
    let odd = View::new(F, &[3, 1, 4], &[4, 77, 1]);
    let iter = over(KEEP, &[odd], &[View::new(F, &[3, 1, 4], &[4, 4, 1])]);
    assert_eq!((iter.shape(), iter.strides(0)), (&[12][..], &[4][..]));
}

#[test]
fn linear_iteration_keeps_the_order() {
    let (out, t) = (View::new(F, &[3, 4], &[4, 1]), View::new(F, &[3, 4], &[1, 3]));
    let linear = KEEP.with_linear_order(true);
    assert_eq!(over(linear, &[t], &[t]).shape(), [4, 3]);
    assert_eq!(over(KEEP, &[t], &[t]).shape(), [12]);
    assert_eq!(over(linear, &[out], &[t]).strides(1), [12, 4]);
}

#[test]
fn casts_do_not_change_what_is_walked() {
    // PyTorch would walk a dense copy of the expanded int input; here its own strides are walked in the same order.
    let out = View::new(DType::F64, &[3, 4], &[4, 1]);
    let iter = over(KEEP, &[out], &[View::new(DType::I32, &[3, 4], &[0, 2]), View::new(F, &[], &[])]);
    assert_eq!((iter.shape(), iter.strides(1), iter.strides(0)), (&[4, 3][..], &[8, 0][..], &[8, 32][..]));
    assert_eq!((iter.dtype(1), iter.loop_dtype(1), iter.loop_dtype(0)), (DType::I32, F, F));
    assert!(iter.has_casts() && iter.common_dtype() == F);
}

#[test]
fn masks_take_no_part_in_promotion() {
    let config = Config { promote_from: 1, ..Config::new(KEEP) };
    let (out, mask) = (View::new(DType::F64, &[3], &[1]), View::new(DType::U8, &[3], &[1]));
    let numbers = [View::new(DType::I64, &[3], &[1]), View::new(DType::F16, &[3], &[1])];
    let iter = build_over(&config, &[out], &[mask, numbers[0], numbers[1]]).unwrap();
    let dtypes = [0, 1, 2, 3].map(|k| iter.loop_dtype(k));
    assert_eq!(dtypes, [DType::F16, DType::Bool, DType::F16, DType::F16]);
}

#[test]
fn operands_that_may_touch_are_walked_serially() {
    let at = |start: i64, strides: &'static [i64]| View { storage: Some(1), start, ..View::new(F, &[2, 3], strides) };
    let serial = |flags, out, input| over(flags, &[out], &[input]).must_be_serial();
    // In place; apart in one storage; interleaved (too hard to tell, and passes).
    assert!(!serial(KEEP, at(0, &[3, 1]), at(0, &[3, 1])));
    assert!(!serial(KEEP, at(0, &[3, 1]), at(24, &[3, 1])));
    assert!(serial(KEEP, at(0, &[6, 2]), at(4, &[6, 2])));
    assert!(serial(KEEP, at(0, &[1, 1]), View::new(F, &[], &[])));
    // Partial overlap passes only unchecked, as in reductions.
    let unchecked = KEEP.with_overlap_check(false);
    assert!(serial(unchecked, at(0, &[3, 1]), at(4, &[3, 1])));
    assert!(serial(unchecked, at(0, &[3, 1]), at(0, &[1, 2])));
    let two = [at(0, &[3, 1]), at(4, &[3, 1])];
    assert!(over(unchecked, &two, &[View::new(F, &[], &[])]).must_be_serial());
}

#[test]
fn more_elements_than_memory_holds_are_not_walked() {
    let (most, more) = ([1 << 20, 1 << 20], [1 << 20, (1 << 20) + 1]);
    let walk = |sizes: &[i64]| {
        let out = View::new(F, &[1, 1], &[0, 0]);
        let config = Config::new(Flags::REDUCE_1);
        build_over(&config, &[out], &[View::new(F, sizes, &[0, 0])]).map(|iter| iter.numel())
    };
    assert_eq!(walk(&most), Ok(MAX_ELEMENTS));
    let refused = ErrorKind::TooManyElements { sizes: more.to_vec(), limit: MAX_ELEMENTS };
    assert_eq!(walk(&more).map_err(|error| error.kind().clone()), Err(refused));
}

#[test]
fn reduced_dimensions_come_first() {
    let sizes = [4, 5, 6];
    let input = View::new(F, &sizes, &[30, 6, 1]);
    let out = View::new(F, &[4, 1, 6], &[6, 0, 1]);
    let iter = over(Flags::REDUCE_1, &[out], &[input]);
    assert_eq!((iter.shape(), iter.strides(0), iter.strides(1)), (&[5, 6, 4][..], &[0, 4, 24][..], &[24, 4, 120][..]));
    assert_eq!((iter.num_reduce_dims(), iter.num_output_elements()), (1, 24));
    assert!(iter.is_dim_reduced(0) && !iter.is_dim_reduced(1));
    let all = over(Flags::REDUCE_1, &[View::new(F, &[1, 1, 1], &[0, 0, 0])], &[input]);
    assert_eq!(all.shape(), [120]);
}

#[test]
fn parts_out_of_range_are_errors() {
    let iter = over(KEEP, &[View::new(F, &[3, 4], &[8, 1])], &[]);
    assert_eq!(iter.narrow(0, 1, 2).unwrap().offsets[0], 4);
    for (dim, start, len) in [(2, 0, 1), (0, 3, 2), (0, usize::MAX, 2), (1, 4, 0)] {
        assert!(matches!(iter.narrow(dim, start, len).unwrap_err().kind(), ErrorKind::OutOfRange { .. }));
    }
}

#[test]
fn devices() {
    let other = DeviceId { kind: DeviceKind(21), index: 0 };
    let on = |device, sizes: &'static [i64]| View {
        device,
        ..View::new(F, sizes, if sizes.is_empty() { &[] } else { &[1] })
    };
    let binary = Flags::BINARY.without_resizing();
    let out = on(other, &[3]);
    let build = |flags, inputs: &[View<'_>]| build_over(&Config::new(flags), &[out], inputs).map(drop);
    assert!(build(binary, &[on(other, &[3]), on(DeviceId::CPU, &[])]).is_ok());
    let wrong = [
        build(KEEP, &[on(other, &[3]), on(DeviceId::CPU, &[])]),
        build(binary, &[on(other, &[3]), on(DeviceId::CPU, &[3])]),
        build(binary, &[on(other, &[3]), on(DeviceId::CPU, &[]), on(DeviceId::CPU, &[])]),
        build(binary, &[on(DeviceId { index: 1, ..other }, &[3])]),
    ];
    for result in wrong {
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::DeviceMismatch { .. }));
    }
    assert!(build(KEEP.with_device_check(false), &[on(DeviceId::CPU, &[3])]).is_ok());
}

#[test]
fn shape_and_names_of_outputs() {
    let names = |list: &[Option<&str>]| Some(list.iter().map(|n| n.map(Into::into)).collect::<Vec<_>>().into());
    fn named<D: Device>(sizes: &[i64], names: Option<monomorph_core::Names>) -> Tensor<D> {
        let t = Tensor::<D>::zeros_contiguous(F, sizes).unwrap();
        t.with_geometry(t.geometry().clone().with_names(names).unwrap()).unwrap()
    }
    let a = named::<Meta>(&[2, 3], names(&[None, Some("c")]));
    let b = named::<Meta>(&[4, 1, 1], None);
    let operands: Vec<Operand<'_>> = vec![(&a).into(), (&b).into()];
    let arguments = crate::support::Arguments { preset: crate::support::Preset::Binary, operands };
    let out = crate::support::meta_call(&arguments).unwrap();
    assert_eq!((out.sizes(), out.names()), (&[4, 2, 3][..], names(&[None, None, Some("c")]).as_ref()));
    let c = named::<Meta>(&[3], names(&[Some("d")]));
    let arguments = crate::support::Arguments { operands: vec![(&a).into(), (&c).into()], ..arguments };
    assert!(matches!(crate::support::meta_call(&arguments).unwrap_err().kind(), ErrorKind::Names { .. }));
    let huge = named::<Meta>(&[1 << 40, 1], None);
    let wide = named::<Meta>(&[1, 1 << 40], None);
    let arguments = crate::support::Arguments { operands: vec![(&huge).into(), (&wide).into()], ..arguments };
    assert!(matches!(crate::support::meta_call(&arguments).unwrap_err().kind(), ErrorKind::SizeOverflow { .. }));
    let arguments = crate::support::Arguments { operands: vec![Operand::Absent], ..arguments };
    assert!(crate::support::meta_call(&arguments).is_err());
    let _ = Host::KIND;
}

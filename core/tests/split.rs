//! Two parts of one tensor, written at the same time.

mod host;

use host::Host;
use monomorph_core::{DType, ErrorKind, Geometry, Tensor};

fn tensor(sizes: &[i64]) -> Tensor<Host> {
    let data: Vec<i32> = (0..sizes.iter().product::<i64>() as i32).collect();
    Tensor::from_slice(&data, sizes).unwrap()
}

#[test]
fn two_threads_write_two_parts() {
    let mut t = tensor(&[4, 3]);
    let version = t.version();
    {
        let (mut low, mut high) = t.split_at_mut(0, 1).unwrap();
        assert_eq!((low.sizes(), high.sizes()), (&[1i64, 3][..], &[3i64, 3][..]));
        std::thread::scope(|s| {
            s.spawn(|| low.data_mut::<i32>().unwrap().fill(-1));
            s.spawn(|| high.data_mut::<i32>().unwrap().fill(-2));
        });
    }
    assert_eq!(t.to_vec::<i32>().unwrap(), [-1, -1, -1, -2, -2, -2, -2, -2, -2, -2, -2, -2]);
    assert!(t.version() > version);
}

#[test]
fn the_split_storage_is_borrowed_until_every_part_is_gone() {
    let mut t = tensor(&[4]);
    let view = t.clone();
    let kept = {
        let (low, _high) = t.split_at_mut(0, 2).unwrap();
        assert!(matches!(view.to_vec::<i32>().unwrap_err().kind(), ErrorKind::Borrowed { state: "written", .. }));
        Tensor::clone(&low)
    };
    assert!(view.data::<i32>().is_err());
    assert!(t.data_mut::<i32>().is_err());
    assert_eq!(kept.to_vec::<i32>().unwrap(), [0, 1]);
    drop(kept);
    assert_eq!(view.to_vec::<i32>().unwrap(), [0, 1, 2, 3]);
}

#[test]
fn a_part_outlives_its_tensor() {
    let mut t = tensor(&[4]);
    let kept = Tensor::clone(&t.split_at_mut(0, 2).unwrap().1);
    drop(t);
    assert_eq!(kept.to_vec::<i32>().unwrap(), [2, 3]);
}

#[test]
fn parts_reach_no_byte_of_each_other() {
    let mut t = tensor(&[4, 4]);
    let (mut low, high) = t.split_at_mut(0, 1).unwrap();
    let wide = |offset| Geometry::new(DType::I32, &[4], &[1], offset).unwrap();
    assert!(matches!(low.with_geometry(wide(1)).unwrap_err().kind(), ErrorKind::OutOfStorage { .. }));
    assert!(matches!(high.with_geometry(wide(9)).unwrap_err().kind(), ErrorKind::OutOfStorage { .. }));
    // Four bytes of alignment are all that a part is sure to have.
    let doubles = Geometry::new(DType::F64, &[2], &[1], 0).unwrap();
    assert!(matches!(high.with_geometry(doubles).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    assert!(matches!(low.grow_to(wide(1)).unwrap_err().kind(), ErrorKind::Borrowed { state: "split", .. }));
}

#[test]
fn interleaved_parts_are_refused_and_empty_ones_are_not() {
    let mut t = tensor(&[4, 4]);
    assert!(matches!(t.split_at_mut(1, 2).err().unwrap().kind(), ErrorKind::ArgumentRule { .. }));
    assert!(matches!(t.split_at_mut(0, 5).err().unwrap().kind(), ErrorKind::OutOfRange { .. }));
    assert!(matches!(t.split_at_mut(2, 0).err().unwrap().kind(), ErrorKind::DimOutOfRange { .. }));
    let (none, all) = t.split_at_mut(1, 0).unwrap();
    assert_eq!((none.sizes(), all.sizes()), (&[4i64, 0][..], &[4i64, 4][..]));
    assert_eq!(all.to_vec::<i32>().unwrap().len(), 16);
    drop((none, all));
    assert_eq!(t.to_vec::<i32>().unwrap().len(), 16);
}

/// A part of odd bytes is aligned for nothing larger, whichever way it gets its geometry.
#[test]
fn parts_are_never_misaligned() {
    let mut t = Tensor::<Host>::from_slice(&[0u8; 33], [33]).unwrap();
    let (_low, mut high) = t.split_at_mut(0, 1).unwrap();
    let doubles = Geometry::new(DType::F64, &[4], &[1], 0).unwrap();
    assert!(matches!(high.with_geometry(doubles.clone()).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    assert!(matches!(high.set_view(doubles.clone()).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    assert!(matches!(high.grow_to(doubles).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    assert_eq!((high.dtype(), high.sizes()), (DType::U8, &[32i64][..]));
}

/// Splitting is a write: it heals what forgotten guards left on a unique storage, and thaws it; a shared one refuses.
#[test]
fn splitting_heals_and_thaws() {
    let mut t = tensor(&[4]);
    std::mem::forget(t.clone().data_mut::<i32>());
    assert!(t.data::<i32>().is_err());
    drop(t.split_at_mut(0, 2).unwrap());
    t.freeze().unwrap();
    drop(t.split_at_mut(0, 2).unwrap());
    assert!(!t.is_frozen());
    let view = t.clone();
    t.freeze().unwrap();
    assert_eq!(t.split_at_mut(0, 2).err().unwrap().kind(), &ErrorKind::Frozen);
    drop(view);
    drop(t.split_at_mut(0, 2).unwrap());
    t.data_mut::<i32>().unwrap();
}

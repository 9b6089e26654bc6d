//! Tensors over memory that another value owns: what weights of a mapped file are.

#![allow(clippy::single_range_in_vec_init, reason = "a part is a range of bytes")]

use monomorph::prelude::*;
use monomorph::{DType, Geometry};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory whose drops are counted, aligned as a map is.
struct Counted(Vec<u128>, Arc<AtomicUsize>);

impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

fn memory(blocks: usize) -> (Counted, Arc<AtomicUsize>) {
    let drops = Arc::new(AtomicUsize::new(0));
    let ones = u128::from_le_bytes([1; 16]);
    (Counted(vec![ones; blocks], drops.clone()), drops)
}

#[test]
fn parts_lie_in_the_memory_and_keep_it() {
    let (memory, drops) = memory(8);
    let mut parts = Tensor::<Cpu>::from_owner(memory, &[0..16, 16..16, 32..100]).expect("parts");
    assert_eq!(parts.iter().map(|part| part.numel()).collect::<Vec<_>>(), [16, 0, 68]);
    let ints = parts[2].with_geometry(Geometry::new(DType::I16, &[2, 3], &[1, 8], 2).expect("a geometry"));
    let ints = ints.expect("a view");
    assert_eq!(ints.to_vec::<i16>().expect("its elements"), [257; 6]);
    let outside = Geometry::contiguous(DType::I32, &[18]).expect("a geometry");
    assert!(parts[2].with_geometry(outside).is_err());
    // A part can be written, and the others do not see it.
    parts[0].fill_(7).expect("a write");
    assert_eq!(parts[0].to_vec::<u8>().expect("its elements"), [7; 16]);
    assert_eq!(parts[2].to_vec::<u8>().expect("its elements"), [1; 68]);
    drop(parts);
    assert_eq!(drops.load(Ordering::SeqCst), 0, "a view keeps the memory");
    std::thread::spawn(move || drop(ints)).join().expect("a thread");
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn a_frozen_part_is_not_written_and_a_part_does_not_grow() {
    let (memory, _) = memory(2);
    let mut part = Tensor::<Cpu>::from_owner(memory, &[0..32]).expect("parts").remove(0);
    part.freeze().expect("nobody writes it");
    let mut view = part.clone();
    assert!(view.fill_(0).is_err());
    drop(view);
    assert!(part.resize_(64).is_err());
    assert_eq!(part.numel(), 32);
}

#[test]
fn wrong_parts_are_errors() {
    let wrong: [&[std::ops::Range<usize>]; 6] = [
        &[0..33],
        &[0..16, 0..16],
        &[16..32, 0..16],
        &[8..16],
        &[usize::MAX..usize::MAX],
        &[std::ops::Range { start: 16, end: 0 }],
    ];
    for parts in wrong {
        let (memory, drops) = memory(2);
        assert!(Tensor::<Cpu>::from_owner(memory, parts).is_err(), "{parts:?}");
        assert_eq!(drops.load(Ordering::SeqCst), 1, "{parts:?}");
    }
    let (memory, drops) = memory(1);
    assert!(Tensor::<Cpu>::from_owner(memory, &[]).expect("no parts").is_empty());
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

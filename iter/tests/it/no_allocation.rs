//! Planning up to 5 dimensions and 4 operands allocates nothing.

use crate::support::{Arguments, Preset};
use monomorph_core::structured::Operand;
use monomorph_core::{DType, Geometry, Meta, Scalar, Tensor};
use monomorph_iter::{Config, Flags, TensorIter, View, build_over_into};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    f();
    COUNT.with(Cell::get) - before
}

fn tensor(dtype: DType, sizes: &[i64], strides: &[i64]) -> Tensor<Meta> {
    let geometry = Geometry::new(dtype, sizes, strides, 0).unwrap();
    let bytes = geometry.bytes_needed().unwrap() as i64;
    Tensor::<Meta>::zeros_contiguous(DType::U8, &[bytes]).unwrap().with_geometry(geometry).unwrap()
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn meta_calls_allocate_nothing() {
    let sizes = [2, 3, 4, 5, 6];
    let f32s = |strides: &[i64]| tensor(DType::F32, &sizes, strides);
    let contiguous = f32s(&[360, 120, 30, 6, 1]);
    let reversed = f32s(&[1, 2, 6, 24, 120]);
    let integers = tensor(DType::I32, &sizes, &[720, 240, 60, 12, 2]);
    let row = tensor(DType::F64, &[1, 6], &[6, 1]);
    let mask = tensor(DType::Bool, &sizes, &[1, 2, 6, 24, 120]);
    let channels_last = tensor(DType::F32, &[2, 3, 4, 5], &[60, 1, 15, 3]);
    let calls: [(Preset, Vec<Operand<'_>>); 7] = [
        (Preset::Binary, vec![(&contiguous).into(), (&contiguous).into()]),
        (Preset::Binary, vec![(&contiguous).into(), (&reversed).into()]),
        (Preset::Binary, vec![(&integers).into(), Scalar::Float(1.5).into()]),
        (Preset::Ternary, vec![(&integers).into(), (&reversed).into(), (&row).into()]),
        (Preset::Where, vec![(&mask).into(), (&integers).into(), (&row).into()]),
        (Preset::Unary, vec![(&reversed).into()]),
        (Preset::Binary, vec![(&channels_last).into(), (&channels_last).into()]),
    ];
    for (preset, operands) in calls {
        let arguments = Arguments { preset, operands };
        let count = allocations(|| drop(crate::support::meta_call(&arguments).unwrap()));
        assert_eq!(count, 0, "{preset:?}");
    }
}

#[test]
fn plans_over_views_allocate_nothing() {
    let sizes = [2, 3, 4, 5, 6];
    let (straight, reversed) = ([360, 120, 30, 6, 1], [1, 2, 6, 24, 120]);
    let kept = [2, 1, 4, 1, 6];
    let mut iter = TensorIter::default();
    let config = Config::new(Flags::TERNARY.without_resizing());
    let inputs = [
        View::new(DType::I32, &sizes, &reversed),
        View::new(DType::F32, &kept, &reversed),
        View::new(DType::F64, &[], &[]),
    ];
    let count = allocations(|| {
        build_over_into(&config, &[View::new(DType::F64, &sizes, &straight)], &inputs, &mut iter).unwrap();
    });
    assert_eq!((count, iter.ndim()), (0, 5));
    let count = allocations(|| {
        let out = View::new(DType::F64, &kept, &[24, 0, 6, 0, 1]);
        build_over_into(&Config::new(Flags::REDUCE_1), &[out], &inputs[..1], &mut iter).unwrap();
    });
    assert_eq!(count, 0);
}

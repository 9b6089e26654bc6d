//! How often calls allocate: once for a new tensor, never for a prepared or a meta call.

use monomorph_core::structured::{Functional, MetaSink, Operand, call, prepare};
use monomorph_core::{DType, Geometry, Meta, Scalar, Tensor};
use monomorph_cpu::Cpu;
use monomorph_ops::algebra::Num;
use monomorph_ops::pointwise;
use monomorph_ops::pointwise::{AllDTypes, Common, Map, Number, Pointwise, PointwiseInputs, Rule, Same};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pointwise! { Add "add": AllDTypes, Same<2>; Number => Common; Rule::BINARY }
impl<V: Num> Map<V> for Add {
    fn eval([a, b]: [V; 2], alpha: V) -> V {
        a + alpha * b
    }
}

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: everything is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: passed on.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = COUNT.get();
    let result = f();
    (COUNT.get() - before, result)
}

type Op = Pointwise<Add>;

/// Pairs of operands: contiguous, transposed with broadcast, promoted, five dimensions.
fn operands() -> Vec<[Tensor<Cpu>; 2]> {
    let zeros = |dtype, sizes: &[i64]| Tensor::<Cpu>::zeros_contiguous(dtype, sizes).unwrap();
    let square = zeros(DType::F32, &[20, 20]);
    let transposed = square.view_as(Geometry::new(DType::F32, &[20, 20], &[1, 20], 0).unwrap()).unwrap();
    vec![
        [zeros(DType::F32, &[100]), zeros(DType::F32, &[100])],
        [transposed, zeros(DType::F32, &[20, 1])],
        [zeros(DType::I32, &[7, 9]), zeros(DType::F16, &[9])],
        [zeros(DType::F64, &[2, 3, 2, 3, 2]), zeros(DType::F64, &[3, 1, 3, 1])],
    ]
}

#[test]
fn a_functional_call_allocates_its_result() {
    for [a, b] in operands() {
        let run = || {
            let inputs = PointwiseInputs::<Add>::new((&a, &b, Scalar::Int(1)))?;
            call::<Op, Cpu, _>(&inputs, Functional::<Cpu, 1>::default())
        };
        // The first call may set up what belongs to the process.
        run().unwrap();
        let (count, result) = allocations(run);
        assert_eq!(count, 1, "{:?} {:?}", a.geometry(), b.geometry());
        result.unwrap();
        let number = || {
            let inputs = PointwiseInputs::<Add>::new((&a, Operand::from(Scalar::Float(0.5)), Scalar::Int(1)))?;
            call::<Op, Cpu, _>(&inputs, Functional::<Cpu, 1>::default())
        };
        assert_eq!(allocations(number).0, 1);
    }
}

#[test]
fn a_prepared_call_allocates_nothing() {
    for [a, b] in operands() {
        let inputs = PointwiseInputs::<Add>::new((&a, &b, Scalar::Int(1))).unwrap();
        let [mut out] = call::<Op, Cpu, _>(&inputs, Functional::<Cpu, 1>::default()).unwrap();
        let mut prepared = prepare::<Op, Cpu, 1>(&inputs, [&mut out]).unwrap();
        assert_eq!(allocations(|| prepared.run().unwrap()).0, 0, "{:?} {:?}", a.geometry(), b.geometry());
    }
}

#[test]
fn a_meta_call_allocates_nothing() {
    for [a, b] in operands() {
        let inputs = PointwiseInputs::<Add>::new((&a, &b, Scalar::Int(1))).unwrap();
        let (count, result) = allocations(|| call::<Op, Meta, _>(&inputs, MetaSink::<1>));
        assert_eq!(count, 0, "{:?} {:?}", a.geometry(), b.geometry());
        result.unwrap();
    }
}

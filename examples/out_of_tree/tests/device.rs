//! The arenas pass the tests that any device has to pass.

use arena_device::{ARENAS, Arena, register, usage};
use monomorph::{DType, Dispatcher, Library, Result};
use monomorph_testsuite::device_tree::Subject;

/// Both arenas.
struct Arenas;

impl Subject for Arenas {
    type Device = Arena;
    const DEVICES: u8 = ARENAS;
    /// Kernels of its own, forms that dispatch completes, and what every device with memory has.
    const OPERATORS: &'static [&'static str] = &[
        "add.Tensor",
        "add_.Tensor",
        "add.out",
        "sum.dim_IntList",
        "sum.IntList_out",
        "mul.Tensor",
        "mul_.Tensor",
        "mul.out",
        "neg",
        "neg_",
        "neg.out",
        // Composed of these.
        "sub.Tensor",
        "sub_.Tensor",
        "sub.out",
        "rsub.Tensor",
        "addcmul",
        "addcmul.out",
        "lerp.Scalar",
        "outer",
        "cat",
        "cat.out",
        "stack",
        "stack.out",
        "hstack",
        "vstack",
        "dstack",
        "column_stack",
        "broadcast_tensors",
        "flatten.using_ints",
        "ravel",
        "type_as",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "clone",
        "fill_.Scalar",
        "view",
        "empty_strided",
    ];
    const COMPUTES: &'static [DType] = &[DType::I32, DType::I64, DType::F32, DType::F64];

    fn register(dispatcher: &Dispatcher) -> Result<Vec<Library>> {
        Ok(vec![register(dispatcher)?])
    }

    fn live_blocks() -> Option<usize> {
        (0..ARENAS).map(|index| usage(index).map(|usage| usage.blocks)).sum()
    }
}

monomorph_testsuite::device_tests! { Arenas }

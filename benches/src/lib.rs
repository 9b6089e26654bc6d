//! What the benchmarks share: sizes, layouts, operands and names of groups. Owns no benchmark.
#![forbid(unsafe_code)]

use monomorph::core::{Element, with_element};
use monomorph::{Cpu, DType, Tensor, to_dtype, transpose};

/// The sides of the square operands: 1Ki and 64Ki elements.
pub const SIDES: [i64; 2] = [32, 256];

/// How the operands of a call lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Dense rows.
    Contiguous,
    /// The first operand is transposed, the second is not: no order of dimensions suits both.
    Transposed,
    /// The second operand is one row for all rows of the first.
    RowBroadcast,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 3] = [Layout::Contiguous, Layout::Transposed, Layout::RowBroadcast];

    /// The layout in the name of a group.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Contiguous => "contiguous",
            Layout::Transposed => "transposed",
            Layout::RowBroadcast => "row-broadcast",
        }
    }

    /// Two operands of a call whose result is `side` × `side`.
    pub fn operands(self, dtype: DType, side: i64) -> [Tensor<Cpu>; 2] {
        let square = |seed| tensor(dtype, &[side, side], seed);
        match self {
            Layout::Contiguous => [square(0), square(1)],
            Layout::Transposed => [transpose(&square(0), 0, 1).expect("two dimensions"), square(1)],
            Layout::RowBroadcast => [square(0), tensor(dtype, &[side], 1)],
        }
    }
}

/// The name of a group: `op/dtype/layout/size`.
pub fn group(op: &str, dtype: DType, layout: Layout, side: i64) -> String {
    format!("{op}/{dtype}/{}/{}Ki", layout.name(), side * side / 1024)
}

/// A dense tensor of small whole numbers and, in floating dtypes, halves.
pub fn tensor(dtype: DType, sizes: &[i64], seed: i64) -> Tensor<Cpu> {
    let n: i64 = sizes.iter().product();
    let numbers: Vec<f32> = (0..n).map(|i| ((i * 7 + seed * 3) % 11 - 5) as f32 / 2.0).collect();
    let floats = Tensor::<Cpu>::from_slice(&numbers, sizes).expect("as many numbers as the sizes say");
    to_dtype(&floats, dtype, false, true, None).expect("a float becomes any dtype")
}

/// The elements in logical order, as double precision.
pub fn values(t: &Tensor<Cpu>) -> Vec<f64> {
    with_element!(t.dtype(), T => {
        t.to_vec::<T>().expect("a CPU tensor").into_iter().map(|x| x.to_scalar().to_f64()).collect()
    })
}

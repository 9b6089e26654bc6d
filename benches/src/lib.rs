//! What the benchmarks share: sizes, layouts, operands and names of groups; the calls of this library that are timed
//! against other libraries ([`calls`]) and how an engine is asked for them ([`serve`]). Owns no benchmark and no bar.
#![forbid(unsafe_code)]

pub mod calls;
pub mod fused;
pub mod named;
pub mod serve;

use monomorph::crates::core::{Element, with_element};
use monomorph::{
    Cpu, DType, Tensor,
    ops::{expand, options::To, slice, to_with, transpose},
};

/// The sides of the square operands: 1Ki and 64Ki elements.
pub const SIDES: [i64; 2] = [32, 256];

/// How the operands of a call lie in memory. The result is dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Dense rows.
    Contiguous,
    /// The last operand is one row for all rows of the result.
    RowBroadcast,
    /// The last operand is one column for all columns of the result.
    ColumnBroadcast,
    /// The last operand is transposed, the others are not: no order of dimensions suits all.
    Transposed,
    /// Every operand is each second element of its rows.
    Stepped,
    /// Of three dimensions: the first operand has size 1 in the second of them, the last in the first.
    Pairwise,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 6] = [
        Layout::Contiguous,
        Layout::RowBroadcast,
        Layout::ColumnBroadcast,
        Layout::Transposed,
        Layout::Stepped,
        Layout::Pairwise,
    ];

    /// The layout in the name of a group.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Contiguous => "contiguous",
            Layout::RowBroadcast => "row-broadcast",
            Layout::ColumnBroadcast => "column-broadcast",
            Layout::Transposed => "transposed",
            Layout::Stepped => "stepped",
            Layout::Pairwise => "pairwise",
        }
    }

    /// The layout of this [`name`](Layout::name).
    pub fn from_name(name: &str) -> Option<Layout> {
        Layout::ALL.into_iter().find(|layout| layout.name() == name)
    }

    /// Operand `index` of `count` of a call whose result has `sizes`: two dimensions, or three of a pairwise layout,
    /// unless the layout is contiguous.
    /// An only operand that is broadcast is expanded.
    ///
    /// # Errors
    /// Of the views, if the sizes have fewer dimensions.
    pub fn operand(self, data: Data, sizes: &[i64], index: usize, count: usize) -> monomorph::Result<Tensor<Cpu>> {
        let seed = index as u32;
        let (is_last, is_only) = (index + 1 == count, count == 1);
        let dense = |sizes: &[i64]| data.tensor(sizes, seed);
        if let (Layout::Pairwise, &[n, k, d]) = (self, sizes) {
            let own: &[i64] = if is_last { &[1, k, d] } else { &[n, 1, d] };
            return Ok(dense(own));
        }
        let (&[rows, columns], false) = (sizes, self == Layout::Contiguous) else { return Ok(dense(sizes)) };
        let broadcast = |small: Tensor<Cpu>| if is_only { expand(&small, sizes) } else { Ok(small) };
        match self {
            Layout::RowBroadcast if is_last => broadcast(dense(&[columns])),
            Layout::ColumnBroadcast if is_last => broadcast(dense(&[rows, 1])),
            Layout::Transposed if is_last => transpose(&dense(&[columns, rows]), 0, 1),
            Layout::Stepped => slice(&dense(&[rows, 2 * columns]), 1, None, None, 2),
            _ => Ok(dense(sizes)),
        }
    }

    /// Two operands of a call whose result is `side` × `side`.
    pub fn operands(self, dtype: DType, side: i64) -> [Tensor<Cpu>; 2] {
        [0, 1].map(|i| self.operand(Data::signed(dtype), &[side, side], i, 2).expect("two dimensions"))
    }
}

/// The name of a group: `op/dtype/layout/size`.
pub fn group(op: &str, dtype: DType, layout: Layout, side: i64) -> String {
    format!("{op}/{dtype}/{}/{}Ki", layout.name(), side * side / 1024)
}

/// Which numbers an operand holds: every engine makes the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// The dtype of the operand.
    pub dtype: DType,
    /// Where the numbers lie.
    pub domain: Domain,
}

/// Where the numbers of an operand lie, as operators want them. Booleans are either, but above zero true; integers that
/// are not around zero are 1 to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Around zero.
    Signed,
    /// Above zero, as a logarithm wants them.
    Positive,
    /// Between 0 and 1, both excluded.
    Unit,
    /// Above 1.
    AboveOne,
    /// Around zero and small, as the weights of a network: rounding errors do not grow from step to step.
    Weights,
}

impl Domain {
    fn is_signed(self) -> bool {
        matches!(self, Domain::Signed | Domain::Weights)
    }
}

impl Data {
    /// Numbers around zero.
    pub const fn signed(dtype: DType) -> Data {
        Data { dtype, domain: Domain::Signed }
    }

    /// A dense tensor of these numbers.
    pub fn tensor(self, sizes: &[i64], seed: u32) -> Tensor<Cpu> {
        let n: i64 = sizes.iter().product();
        let numbers: Vec<f32> = (0..n as u64).map(|i| self.number(i, seed)).collect();
        let floats = Tensor::<Cpu>::from_slice(&numbers, sizes).expect("as many numbers as the sizes say");
        if self.dtype == DType::F32 {
            return floats;
        }
        to_with(&floats, self.dtype, To { copy: true, ..To::default() }).expect("a float becomes any dtype")
    }

    /// Number `i`, which every dtype of the class holds exactly: in floats -4 to 4 in 2¹⁶ steps, or in 2⁸ if they are
    /// half as wide; in integers -5 to 5, and 0 to 10 where there is no sign.
    pub fn number(self, i: u64, seed: u32) -> f32 {
        let hash = hash(i as u32, seed) >> 16;
        let signed = match self.dtype {
            DType::Bool => return f32::from(!self.domain.is_signed() || hash & 1 == 1),
            DType::U8 => (hash % 11) as f32,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => (hash % 11) as f32 - 5.0,
            DType::F16 | DType::BF16 => (hash >> 8) as f32 / 32.0 - 4.0,
            _ => hash as f32 / 8192.0 - 4.0,
        };
        let integral = self.dtype.is_integral(true);
        let positive = signed.abs() + if integral { 1.0 } else { 1.0 / 32.0 };
        match self.domain {
            Domain::Weights if !integral => signed / 32.0,
            Domain::Signed | Domain::Weights => signed,
            Domain::Unit if !integral => positive / 8.0,
            Domain::AboveOne if !integral => positive + 1.0,
            _ => positive,
        }
    }
}

/// A number that looks random, of every bit of `i` and the seed.
pub(crate) fn hash(i: u32, seed: u32) -> u32 {
    let mut hash = i.wrapping_add(seed.wrapping_mul(0x85EB_CA6B)).wrapping_mul(0x9E37_79B1);
    hash ^= hash >> 15;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^ (hash >> 13)
}

/// A dense tensor of numbers around zero.
pub fn tensor(dtype: DType, sizes: &[i64], seed: u32) -> Tensor<Cpu> {
    Data::signed(dtype).tensor(sizes, seed)
}

/// The elements in logical order, as double precision.
pub fn values(t: &Tensor<Cpu>) -> Vec<f64> {
    with_element!(t.dtype(), T => {
        t.to_vec::<T>().expect("a CPU tensor").into_iter().map(|x| x.to_scalar().to_f64()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_in_their_dtype_and_differ_with_the_seed() {
        for dtype in [DType::Bool, DType::U8, DType::I32, DType::BF16, DType::F16, DType::F32, DType::F64] {
            for domain in [Domain::Signed, Domain::Positive, Domain::Unit, Domain::AboveOne, Domain::Weights] {
                let data = Data { dtype, domain };
                let want: Vec<f64> = (0..1000).map(|i| f64::from(data.number(i, 1))).collect();
                assert_eq!(values(&data.tensor(&[1000], 1)), want, "{data:?}");
                let always = dtype == DType::Bool && !domain.is_signed();
                assert_eq!(values(&data.tensor(&[1000], 2)) == want, always, "{data:?}");
            }
        }
        for dtype in [DType::Bool, DType::U8, DType::I64, DType::F32] {
            let all = |domain, holds: fn(f32) -> bool| (0..10_000).all(|i| holds(Data { dtype, domain }.number(i, 0)));
            assert!(all(Domain::Positive, |x| x > 0.0) && all(Domain::AboveOne, |x| x >= 1.0), "{dtype}");
            assert!(all(Domain::Unit, |x| x > 0.0 && x < 1.0) || dtype.is_integral(true), "{dtype}");
            assert!(all(Domain::Weights, |x| x.abs() <= 0.125) || dtype.is_integral(true), "{dtype}");
        }
    }

    #[test]
    fn layouts_are_what_they_say() {
        let strides = |layout: Layout, index, count| {
            let operand = layout.operand(Data::signed(DType::F32), &[4, 6], index, count).expect("two dimensions");
            (operand.sizes().to_vec(), operand.strides().to_vec())
        };
        assert_eq!(strides(Layout::Contiguous, 1, 2), (vec![4, 6], vec![6, 1]));
        assert_eq!(strides(Layout::RowBroadcast, 0, 1), (vec![4, 6], vec![0, 1]));
        assert_eq!(strides(Layout::RowBroadcast, 1, 2), (vec![6], vec![1]));
        assert_eq!(strides(Layout::ColumnBroadcast, 1, 2), (vec![4, 1], vec![1, 1]));
        assert_eq!(strides(Layout::ColumnBroadcast, 0, 2), (vec![4, 6], vec![6, 1]));
        assert_eq!(strides(Layout::Transposed, 0, 1), (vec![4, 6], vec![1, 4]));
        assert_eq!(strides(Layout::Stepped, 0, 2), (vec![4, 6], vec![12, 2]));
        for layout in Layout::ALL {
            assert_eq!(Layout::from_name(layout.name()), Some(layout));
        }
    }
}

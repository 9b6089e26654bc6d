//! Index operators against loops over coordinates: every dtype × layout of base and indices, every form, hostile
//! indices. Here is the twin that all of them share.

mod advanced;
mod bags;
mod fuzz;
mod masked;
mod refused;
mod scatter;
mod select;

use monomorph::crates::core::strides::contiguous_strides;
use monomorph::{Cpu, DType, Error, Result, Scalar, Tensor};
use monomorph_testsuite::layout::{Layout, Random, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

/// The elements of a tensor, found by their coordinates.
pub(crate) struct Elements {
    values: Vec<Scalar>,
    sizes: Vec<i64>,
}

impl Elements {
    pub(crate) fn of(t: &Tensor<Cpu>) -> Elements {
        Elements { values: values(t), sizes: t.sizes().to_vec() }
    }

    fn place(&self, at: &[usize]) -> usize {
        assert!(at.iter().zip(&self.sizes).all(|(&i, &n)| (i as i64) < n), "{at:?} of {:?}", self.sizes);
        at.iter().zip(&contiguous_strides(&self.sizes)[..]).map(|(i, s)| i * *s as usize).sum()
    }

    pub(crate) fn get(&self, at: &[usize]) -> Scalar {
        self.values[self.place(at)]
    }

    /// An index as a place below `size`; negative ones count from the end.
    pub(crate) fn index(&self, at: &[usize], size: i64) -> usize {
        let index = self.get(at).to_i64();
        usize::try_from(if index < 0 { index + size } else { index }).expect("an index in range")
    }
}

/// The elements `at` every coordinate of these sizes.
pub(crate) fn each(sizes: &[i64], mut at: impl FnMut(&[usize]) -> Scalar) -> Vec<Scalar> {
    let mut all = Vec::new();
    each_index(sizes, |index| all.push(at(&index.iter().map(|&i| i as usize).collect::<Vec<_>>())));
    all
}

/// A tensor of random values in a layout.
pub(crate) fn random_tensor(dtype: DType, layout: Layout, sizes: &[i64], random: &mut Random) -> Tensor<Cpu> {
    let n = sizes.iter().product::<i64>().max(1) as usize;
    tensor(layout.geometry(dtype, sizes), &plain(dtype, 2 * n, random))
}

/// A tensor of random indices from `low` below `high`.
pub(crate) fn random_indices(
    dtype: DType,
    layout: Layout,
    sizes: &[i64],
    (low, high): (i64, i64),
    random: &mut Random,
) -> Tensor<Cpu> {
    let n = sizes.iter().product::<i64>().max(1) as usize;
    let indices: Vec<Scalar> =
        (0..2 * n).map(|_| Scalar::Int(low + random.below((high - low) as usize) as i64)).collect();
    tensor(layout.geometry(dtype, sizes), &indices)
}

pub(crate) fn is_row_major(t: &Tensor<Cpu>) -> bool {
    t.strides() == &contiguous_strides(t.sizes())[..]
}

/// The error of a call.
pub(crate) fn error<T>(result: Result<T>) -> Error {
    result.map(drop).unwrap_err()
}

/// What both dtypes of indices are.
pub(crate) const INDEX_DTYPES: [DType; 2] = [DType::I64, DType::I32];

//! Sizes and dimensions as callers write them: one integer, a tuple, an array, a slice, a vector, an iterator; integers
//! of any type.

use super::strides::{DimVec, MAX_DIMS};
use std::ops::{Deref, RangeFull};

mod sealed {
    pub trait Sealed {}
}

/// An integer that can be a size, a dimension or an index.
pub trait Integer: sealed::Sealed + Copy {
    /// As the integers of schemas; what is larger becomes the largest one, which no tensor has.
    fn to_i64(self) -> i64;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Integer for $t {
            #[inline]
            fn to_i64(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}
integers! { i32 i64 isize u8 u16 u32 u64 usize }

/// Sizes of a tensor: from `3`, `(2, 3)`, `[2, 3]`, a slice, a vector; `()` for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(DimVec);

impl Deref for Sizes {
    type Target = [i64];
    fn deref(&self) -> &[i64] {
        &self.0
    }
}

impl<T: Integer> FromIterator<T> for Sizes {
    fn from_iter<I: IntoIterator<Item = T>>(sizes: I) -> Sizes {
        Sizes(sizes.into_iter().map(Integer::to_i64).collect())
    }
}

/// Dimensions of a tensor: from `1`, `-1`, `(0, 2)`, `[0, 2]`, a slice, a vector, or `..` for all. Negative ones count
/// from the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims(Option<Sizes>);

impl Dims {
    /// The dimensions that were named; `None` for all.
    #[inline]
    pub fn optional(&self) -> Option<&[i64]> {
        self.0.as_deref()
    }

    /// The dimensions that were named, or all of a tensor with `ndim` dimensions.
    #[inline]
    pub fn list(&self, ndim: usize) -> &[i64] {
        const ALL: [i64; MAX_DIMS] = {
            let mut all = [0; MAX_DIMS];
            let mut i = 0;
            while i < MAX_DIMS {
                all[i] = i as i64;
                i += 1;
            }
            all
        };
        self.optional().unwrap_or(&ALL[..ndim.min(MAX_DIMS)])
    }
}

impl From<RangeFull> for Dims {
    fn from(_: RangeFull) -> Dims {
        Dims(None)
    }
}

impl From<Option<&[i64]>> for Dims {
    fn from(list: Option<&[i64]>) -> Dims {
        Dims(list.map(Sizes::from))
    }
}

/// One dimension of a tensor: from `1`, `-1`, or `..` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim(pub Option<i64>);

impl From<RangeFull> for Dim {
    fn from(_: RangeFull) -> Dim {
        Dim(None)
    }
}

impl<T: Integer> From<T> for Dim {
    fn from(dim: T) -> Dim {
        Dim(Some(dim.to_i64()))
    }
}

impl From<Option<i64>> for Dim {
    fn from(dim: Option<i64>) -> Dim {
        Dim(dim)
    }
}

/// Everything that is a list of integers, for each type of lists.
macro_rules! from_lists {
    ($(($($generics:tt)*) $from:ty, |$list:ident| $sizes:expr;)*) => {$(
        impl<$($generics)*> From<$from> for Sizes {
            fn from($list: $from) -> Sizes { $sizes }
        }
        impl<$($generics)*> From<$from> for Dims {
            fn from(list: $from) -> Dims { Dims(Some(list.into())) }
        }
    )*};
}
from_lists! {
    () (), |_none| std::iter::empty::<i64>().collect();
    (T: Integer) T, |one| std::iter::once(one).collect();
    (T: Integer, const N: usize) [T; N], |list| list.into_iter().collect();
    (T: Integer, const N: usize) &[T; N], |list| list.iter().copied().collect();
    (T: Integer) &[T], |list| list.iter().copied().collect();
    (T: Integer) Vec<T>, |list| list.into_iter().collect();
    (T: Integer) &Vec<T>, |list| list.iter().copied().collect();
    () &Sizes, |sizes| sizes.clone();
    (A: Integer) (A,), |t| [t.0.to_i64()].into_iter().collect();
    (A: Integer, B: Integer) (A, B), |t| [t.0.to_i64(), t.1.to_i64()].into_iter().collect();
    (A: Integer, B: Integer, C: Integer) (A, B, C),
        |t| [t.0.to_i64(), t.1.to_i64(), t.2.to_i64()].into_iter().collect();
    (A: Integer, B: Integer, C: Integer, D: Integer) (A, B, C, D),
        |t| [t.0.to_i64(), t.1.to_i64(), t.2.to_i64(), t.3.to_i64()].into_iter().collect();
    (A: Integer, B: Integer, C: Integer, D: Integer, E: Integer) (A, B, C, D, E),
        |t| [t.0.to_i64(), t.1.to_i64(), t.2.to_i64(), t.3.to_i64(), t.4.to_i64()].into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(sizes: impl Into<Sizes>) -> Vec<i64> {
        sizes.into().to_vec()
    }

    #[test]
    fn sizes_in_every_way() {
        let n = 3usize;
        assert_eq!(sizes([2, 3]), [2, 3]);
        assert_eq!(sizes([n, n]), [3, 3]);
        assert_eq!(sizes((2, n, -1)), [2, 3, -1]);
        assert_eq!(sizes(n), [3]);
        assert_eq!(sizes(vec![4u32]), [4]);
        assert_eq!(sizes(&[1i64, 2][..]), [1, 2]);
        assert_eq!(sizes(()), [0i64; 0]);
        assert_eq!((0..3).map(|i| i * 2).collect::<Sizes>().to_vec(), [0, 2, 4]);
        assert_eq!(sizes([1; 9]).len(), 9);
    }

    #[test]
    fn dims_are_lists_or_all() {
        let dims = |dims: Dims| (dims.optional().map(<[i64]>::to_vec), dims.list(3).to_vec());
        assert_eq!(dims((..).into()), (None, vec![0, 1, 2]));
        assert_eq!(dims((-1).into()), (Some(vec![-1]), vec![-1]));
        assert_eq!(dims((0, 2).into()), (Some(vec![0, 2]), vec![0, 2]));
        assert_eq!(dims([0i64; 0].into()), (Some(vec![]), vec![]));
        assert_eq!(Dims::from(..).list(usize::MAX).len(), MAX_DIMS);
        assert_eq!([Dim::from(..), Dim::from(-1)], [Dim(None), Dim(Some(-1))]);
    }

    #[test]
    fn what_no_tensor_has_stays_so() {
        assert_eq!(sizes([u64::MAX]), [i64::MAX]);
    }
}

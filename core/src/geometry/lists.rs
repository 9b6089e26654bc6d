//! Sizes and dimensions as callers write them: one integer, a tuple, an array, a slice, a vector, an iterator; integers
//! of any type. A function that takes `impl Into<Sizes>` is compiled for the list alone, not for each way to write it.

use super::strides::Dims as Inline;
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
pub struct Sizes(Inline);

/// Dimensions of a tensor: from `1`, `-1`, `(0, 2)`, `[0, 2]`, a slice, a vector; `..` for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimList(Option<Inline>);

impl Deref for Sizes {
    type Target = [i64];
    fn deref(&self) -> &[i64] {
        &self.0
    }
}

impl DimList {
    /// The dimensions; `None` for all.
    pub fn listed(&self) -> Option<&[i64]> {
        self.0.as_deref()
    }
}

impl From<RangeFull> for DimList {
    fn from(_: RangeFull) -> DimList {
        DimList(None)
    }
}

impl<T: Integer> FromIterator<T> for Sizes {
    fn from_iter<I: IntoIterator<Item = T>>(sizes: I) -> Sizes {
        Sizes(sizes.into_iter().map(Integer::to_i64).collect())
    }
}

impl<T: Integer> FromIterator<T> for DimList {
    fn from_iter<I: IntoIterator<Item = T>>(dims: I) -> DimList {
        DimList(Some(dims.into_iter().map(Integer::to_i64).collect()))
    }
}

macro_rules! from_lists {
    ($($list:ty)*) => {$(
        impl From<()> for $list {
            fn from((): ()) -> $list {
                std::iter::empty::<i64>().collect()
            }
        }
        impl<T: Integer> From<T> for $list {
            fn from(one: T) -> $list {
                std::iter::once(one).collect()
            }
        }
        impl<T: Integer, const N: usize> From<[T; N]> for $list {
            fn from(list: [T; N]) -> $list {
                list.into_iter().collect()
            }
        }
        impl<T: Integer, const N: usize> From<&[T; N]> for $list {
            fn from(list: &[T; N]) -> $list {
                list.iter().copied().collect()
            }
        }
        impl<T: Integer> From<&[T]> for $list {
            fn from(list: &[T]) -> $list {
                list.iter().copied().collect()
            }
        }
        impl<T: Integer> From<Vec<T>> for $list {
            fn from(list: Vec<T>) -> $list {
                list.into_iter().collect()
            }
        }
        impl<T: Integer> From<&Vec<T>> for $list {
            fn from(list: &Vec<T>) -> $list {
                list.iter().copied().collect()
            }
        }
        from_tuples! { $list: (A); (A B); (A B C); (A B C D); (A B C D E); (A B C D E F) }
    )*};
}

macro_rules! from_tuples {
    ($list:ty: $(($($t:ident)*));*) => {$(
        impl<$($t: Integer),*> From<($($t,)*)> for $list {
            #[allow(non_snake_case, reason = "each value is named like its type")]
            fn from(($($t,)*): ($($t,)*)) -> $list {
                [$($t.to_i64()),*].into_iter().collect()
            }
        }
    )*};
}
from_lists! { Sizes DimList }

impl From<&Sizes> for Sizes {
    fn from(sizes: &Sizes) -> Sizes {
        sizes.clone()
    }
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
    fn what_no_tensor_has_stays_so() {
        assert_eq!(sizes([u64::MAX]), [i64::MAX]);
    }

    #[test]
    fn dims_in_every_way() {
        assert_eq!(DimList::from(..).listed(), None);
        assert_eq!(DimList::from(-1).listed(), Some(&[-1][..]));
        assert_eq!(DimList::from((0, 2)).listed(), Some(&[0, 2][..]));
    }
}

//! Sizes as callers write them: one integer, a tuple, an array, a slice, a vector, an iterator; integers of any type.

use super::strides::Dims;
use std::ops::Deref;

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
pub struct Sizes(Dims);

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

impl From<()> for Sizes {
    fn from((): ()) -> Sizes {
        std::iter::empty::<i64>().collect()
    }
}

impl<T: Integer> From<T> for Sizes {
    fn from(one: T) -> Sizes {
        std::iter::once(one).collect()
    }
}

impl<T: Integer, const N: usize> From<[T; N]> for Sizes {
    fn from(list: [T; N]) -> Sizes {
        list.into_iter().collect()
    }
}

impl<T: Integer, const N: usize> From<&[T; N]> for Sizes {
    fn from(list: &[T; N]) -> Sizes {
        list.iter().copied().collect()
    }
}

impl<T: Integer> From<&[T]> for Sizes {
    fn from(list: &[T]) -> Sizes {
        list.iter().copied().collect()
    }
}

impl<T: Integer> From<Vec<T>> for Sizes {
    fn from(list: Vec<T>) -> Sizes {
        list.into_iter().collect()
    }
}

impl<T: Integer> From<&Vec<T>> for Sizes {
    fn from(list: &Vec<T>) -> Sizes {
        list.iter().copied().collect()
    }
}

macro_rules! from_tuples {
    ($(($($t:ident)*))*) => {$(
        impl<$($t: Integer),*> From<($($t,)*)> for Sizes {
            #[allow(non_snake_case, reason = "each value is named like its type")]
            fn from(($($t,)*): ($($t,)*)) -> Sizes {
                [$($t.to_i64()),*].into_iter().collect()
            }
        }
    )*};
}
from_tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

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
}

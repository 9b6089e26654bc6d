//! Elements as unsigned keys that are in order where the elements are, so that there is one body for each width and not
//! for each dtype. Owns the order of elements: NaN above everything, the two zeros equal.
//!
//! ```text
//! signed    flip the sign bit
//! floats    of positive ones flip the sign bit, of negative ones all bits; -0 becomes 0, NaN the largest key
//! bool      0 or 1
//! ```
//!
//! A descending order flips all bits of a key.

use monomorph_core::DType;

/// The unsigned integer that holds an element as it lies in memory, and its key.
pub(crate) trait Word: Copy + Ord + Default + Send + Sync + 'static {
    /// All bits.
    const MAX: Self;
    /// The key of a signed integer.
    fn signed(self) -> Self;
    /// The key of a float whose infinity has these bits.
    fn float(self, infinity: Self) -> Self;
    /// Whether the key of a float is that of another element, too: a zero with a sign, or NaN.
    fn shares_key(self, infinity: Self) -> bool;
    /// The float that has this key and no other element has.
    fn of_float(self) -> Self;
    /// The key of a bool.
    fn truth(self) -> Self;
    /// Flips the bits that are set in `mask`.
    fn flip(self, mask: Self) -> Self;
    /// The number.
    fn wide(self) -> u64;
    /// The lowest bits of a number.
    fn of(wide: u64) -> Self;
}

macro_rules! words {
    ($($word:ty, $signed:ty;)*) => {$(
        impl Word for $word {
            const MAX: Self = Self::MAX;
            #[inline(always)]
            fn signed(self) -> Self {
                self ^ (1 << (Self::BITS - 1))
            }
            #[inline(always)]
            fn float(self, infinity: Self) -> Self {
                let sign = 1 << (Self::BITS - 1);
                let magnitude = self & !sign;
                let key = self ^ ((self as $signed >> (Self::BITS - 1)) as Self | sign);
                let key = if magnitude == 0 { sign } else { key };
                if magnitude > infinity { Self::MAX } else { key }
            }
            #[inline(always)]
            fn shares_key(self, infinity: Self) -> bool {
                let sign = 1 << (Self::BITS - 1);
                (self & !sign > infinity) | (self == sign)
            }
            #[inline(always)]
            fn of_float(self) -> Self {
                let sign = 1 << (Self::BITS - 1);
                self ^ (!(self as $signed >> (Self::BITS - 1)) as Self | sign)
            }
            #[inline(always)]
            fn truth(self) -> Self {
                (self != 0) as Self
            }
            #[inline(always)]
            fn flip(self, mask: Self) -> Self {
                self ^ mask
            }
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn of(wide: u64) -> Self {
                wide as Self
            }
        }
    )*};
}
words! { u8, i8; u16, i16; u32, i32; u64, i64; }

/// What the bits of an element mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class<U> {
    Bool,
    Unsigned,
    Signed,
    /// With the bits of infinity.
    Float(U),
}

/// How elements of a dtype become keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys<U> {
    class: Class<U>,
    mask: U,
}

impl<U: Word> Keys<U> {
    /// Those of a dtype that has an order and elements of this width.
    pub(crate) fn new(dtype: DType, descending: bool) -> Keys<U> {
        let class = match dtype {
            DType::Bool => Class::Bool,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Class::Signed,
            DType::F16 => Class::Float(U::of(0x7c00)),
            DType::BF16 => Class::Float(U::of(0x7f80)),
            DType::F32 => Class::Float(U::of(0x7f80_0000)),
            DType::F64 => Class::Float(U::of(0x7ff0_0000_0000_0000)),
            _ => Class::Unsigned,
        };
        Keys { class, mask: if descending { U::MAX } else { U::default() } }
    }

    /// The key of an element.
    #[inline(always)]
    pub(crate) fn key(&self, x: U) -> U {
        let key = match self.class {
            Class::Bool => x.truth(),
            Class::Unsigned => x,
            Class::Signed => x.signed(),
            Class::Float(infinity) => x.float(infinity),
        };
        key.flip(self.mask)
    }

    /// Calls `f` with the key of each element in turn, in a loop for each meaning of bits.
    #[inline(always)]
    pub(crate) fn each(&self, row: &[U], mut f: impl FnMut(U)) {
        let mask = self.mask;
        match self.class {
            Class::Bool => row.iter().for_each(|x| f(x.truth().flip(mask))),
            Class::Unsigned => row.iter().for_each(|x| f(x.flip(mask))),
            Class::Signed => row.iter().for_each(|x| f(x.signed().flip(mask))),
            Class::Float(infinity) => row.iter().for_each(|x| f(x.float(infinity).flip(mask))),
        }
    }

    /// Whether any of these elements has a key below the threshold.
    #[inline(always)]
    pub(crate) fn any_below<const N: usize>(&self, elements: &[U; N], threshold: U) -> bool {
        let mask = self.mask;
        match self.class {
            Class::Bool => any_below(elements, threshold, |x| x.truth().flip(mask)),
            Class::Unsigned => any_below(elements, threshold, |x| x.flip(mask)),
            Class::Signed => any_below(elements, threshold, |x| x.signed().flip(mask)),
            Class::Float(infinity) => any_below(elements, threshold, |x| x.float(infinity).flip(mask)),
        }
    }

    /// Whether each element is not equal to the one before it, as NaN never is.
    #[inline(always)]
    pub(crate) fn changes<const N: usize>(&self, elements: &[U; N], before: &[U; N]) -> [bool; N] {
        match self.class {
            Class::Bool => differ(elements, before, |x| x.truth(), None),
            Class::Unsigned | Class::Signed => differ(elements, before, |x| x, None),
            Class::Float(infinity) => differ(elements, before, |x| x.float(infinity), Some(U::MAX)),
        }
    }

    /// Appends what `f` makes of the key of each element and its index.
    #[inline(always)]
    pub(crate) fn extend<T>(&self, row: &[U], list: &mut Vec<T>, f: impl Fn(U, usize) -> T) {
        let (mask, row) = (self.mask, row.iter().enumerate());
        match self.class {
            Class::Bool => list.extend(row.map(|(i, x)| f(x.truth().flip(mask), i))),
            Class::Unsigned => list.extend(row.map(|(i, x)| f(x.flip(mask), i))),
            Class::Signed => list.extend(row.map(|(i, x)| f(x.signed().flip(mask), i))),
            Class::Float(infinity) => list.extend(row.map(|(i, x)| f(x.float(infinity).flip(mask), i))),
        }
    }

    /// Writes what `f` makes of the key of each element and its index.
    #[inline(always)]
    pub(crate) fn fill<T>(&self, row: &[U], to: &mut [T], f: impl Fn(U, usize) -> T) {
        let (mask, all) = (self.mask, to.iter_mut().zip(row).enumerate());
        match self.class {
            Class::Bool => all.for_each(|(i, (to, x))| *to = f(x.truth().flip(mask), i)),
            Class::Unsigned => all.for_each(|(i, (to, x))| *to = f(x.flip(mask), i)),
            Class::Signed => all.for_each(|(i, (to, x))| *to = f(x.signed().flip(mask), i)),
            Class::Float(infinity) => all.for_each(|(i, (to, x))| *to = f(x.float(infinity).flip(mask), i)),
        }
    }

    /// The key of NaN, where there is NaN.
    pub(crate) fn nan(&self) -> Option<U> {
        matches!(self.class, Class::Float(_)).then(|| U::MAX.flip(self.mask))
    }

    /// Whether every element of the row is the only one that has its key, so that keys can be turned back.
    pub(crate) fn is_exact(&self, row: &[U]) -> bool {
        match self.class {
            Class::Float(infinity) => !row.iter().fold(false, |any, x| any | x.shares_key(infinity)),
            _ => true,
        }
    }

    /// The element that has this key, where [`is_exact`](Keys::is_exact).
    #[inline(always)]
    pub(crate) fn element(&self, key: U) -> U {
        let key = key.flip(self.mask);
        match self.class {
            Class::Bool | Class::Unsigned => key,
            Class::Signed => key.signed(),
            Class::Float(_) => key.of_float(),
        }
    }
}

/// Whether the keys of elements differ, or are that of NaN.
#[inline(always)]
fn differ<U: Word, const N: usize>(a: &[U; N], b: &[U; N], key: impl Fn(U) -> U, nan: Option<U>) -> [bool; N] {
    let mut differ = [false; N];
    for i in 0..N {
        let own = key(a[i]);
        differ[i] = (own != key(b[i])) | (Some(own) == nan);
    }
    differ
}

/// Without an exit, so that it vectorises.
#[inline(always)]
fn any_below<U: Word, const N: usize>(elements: &[U; N], threshold: U, key: impl Fn(U) -> U) -> bool {
    let mut any = false;
    for &x in elements {
        any |= key(x) < threshold;
    }
    any
}

/// A key with the index of its element in one word. In order of keys, equal ones in order of indices, which is what
/// makes every sort of them stable.
pub(crate) trait Item: Copy + Ord + Default + Send + Sync + 'static {
    /// Packs both. The index is below [`MOST`](Item::MOST).
    fn new(key: u64, index: usize) -> Self;
    /// The key.
    fn key(self) -> u64;
    /// The index.
    fn index(self) -> usize;
    /// The most elements of a row.
    const MOST: usize;
}

/// For keys of up to 32 bits.
impl Item for u64 {
    const MOST: usize = u32::MAX as usize;
    #[inline(always)]
    fn new(key: u64, index: usize) -> u64 {
        key << 32 | index as u64
    }
    #[inline(always)]
    fn key(self) -> u64 {
        self >> 32
    }
    #[inline(always)]
    fn index(self) -> usize {
        self as u32 as usize
    }
}

/// For all keys.
impl Item for u128 {
    const MOST: usize = usize::MAX;
    #[inline(always)]
    fn new(key: u64, index: usize) -> u128 {
        u128::from(key) << 64 | index as u128
    }
    #[inline(always)]
    fn key(self) -> u64 {
        (self >> 64) as u64
    }
    #[inline(always)]
    fn index(self) -> usize {
        self as u64 as usize
    }
}

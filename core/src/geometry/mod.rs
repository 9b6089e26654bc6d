//! Geometry: everything about a tensor but its memory. Sizes, strides and offset are validated against their storage
//! where a tensor is made, never later.
#![deny(clippy::arithmetic_side_effects)]

mod names;
pub mod overlap;
pub mod strides;

pub use names::{Names, unify as unify_names};

use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::options::MemoryFormat;

/// Dimensions that sizes and strides have room for without an allocation.
const INLINE: usize = 6;

/// Equality of whole arrays without a branch per element or a call: 0 if they are equal.
#[inline(always)]
fn differ(a: &[i64; INLINE], b: &[i64; INLINE]) -> i64 {
    a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b))
}

/// What few geometries have. One pointer, so that making, copying and dropping the others asks one question.
#[derive(Clone, Debug, Default)]
struct Far {
    /// Sizes, then strides, of more than [`INLINE`] dimensions.
    lists: Box<[i64]>,
    names: Option<Names>,
}

/// Sizes, strides, offset, dtype, bits and names of a tensor. Sizes and strides are inline up to 6 dimensions: plain
/// arrays rather than a small vector, since a copy of so few words costs less than copying just the used ones through a
/// call. What is beyond the dimensions is 0.
#[derive(Clone, Debug)]
pub struct Geometry {
    sizes: [i64; INLINE],
    strides: [i64; INLINE],
    numel: usize,
    offset: i64,
    far: Option<Box<Far>>,
    tags: Tags,
}

/// What is compared of every operand of every call, as one word.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
struct Tags {
    ndim: u32,
    dtype: DType,
    traits: Traits,
    zero: u16,
}

impl Tags {
    #[inline(always)]
    fn word(self) -> u64 {
        let (dtype, traits) = (u64::from(self.dtype as u8), u64::from(self.traits.0));
        u64::from(self.ndim) | dtype << 32 | traits << 40 | u64::from(self.zero) << 48
    }
}

/// What is asked of every operand of every call, as bits: found out once, where a geometry is made, and compared at
/// once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Traits(u8);

impl Traits {
    const CONJ: u8 = 1;
    const NEG: u8 = 2;
    const WRAPPED: u8 = 4;
    const NAMED: u8 = 8;
    /// The elements lie row-major without gaps.
    const ROW_MAJOR: u8 = 16;
    /// The strides are those of a new row-major tensor, also where they do not matter.
    const CANONICAL: u8 = 32;
    /// There are dimensions, and every one has more than one element: strides of the same elements can only be the
    /// same.
    const AMPLE: u8 = 64;
    /// What says nothing of the values.
    const LAYOUT: u8 = Traits::ROW_MAJOR | Traits::CANONICAL | Traits::AMPLE;

    /// What sizes and strides tell.
    #[inline]
    fn of(sizes: &[i64], strides: &[i64]) -> Traits {
        let mut running: i64 = 1;
        let mut ample = !sizes.is_empty();
        let mut canonical = true;
        for (&size, &stride) in sizes.iter().zip(strides).rev() {
            ample &= size > 1;
            // Below zero where the product does not fit, which is the stride of no tensor: new tensors of such sizes
            // are refused.
            canonical &= stride == running;
            running = if running < 0 { running } else { running.checked_mul(size.max(1)).unwrap_or(-1) };
        }
        let layout = match canonical {
            true => Traits::ROW_MAJOR | Traits::CANONICAL,
            false if strides::is_contiguous(sizes, strides) => Traits::ROW_MAJOR,
            false => 0,
        };
        Traits(layout | if ample { Traits::AMPLE } else { 0 })
    }

    #[inline]
    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    #[inline]
    fn set(&mut self, bit: u8, on: bool) {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }
}

impl Geometry {
    /// A geometry that has been checked: equal lengths, at most [`MAX_DIMS`](strides::MAX_DIMS) dimensions, nothing
    /// negative, and an extent that fits an `i64` in bytes.
    pub fn new(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Geometry> {
        strides::check_ndim(sizes.len())?;
        if sizes.len() != strides.len() {
            return Err(ErrorKind::ListLength { arg: "stride", got: strides.len(), want: sizes.len() }.into());
        }
        if let Some(&got) = sizes.iter().find(|s| **s < 0) {
            return Err(ErrorKind::NegativeSize { arg: "size", got }.into());
        }
        if let Some(&got) = strides.iter().find(|s| **s < 0) {
            return Err(ErrorKind::NegativeStride { arg: "stride", got }.into());
        }
        if offset < 0 {
            return Err(ErrorKind::OutOfRange { arg: "storage_offset", got: offset, low: 0, high: i64::MAX }.into());
        }
        strides::numel(sizes)?;
        let geometry = Geometry::unchecked(dtype, sizes, strides, offset);
        geometry.bytes_needed()?;
        Ok(geometry)
    }

    /// The geometry of a new row-major tensor: what [`Geometry::new`] makes of contiguous strides, in one pass.
    pub fn contiguous(dtype: DType, sizes: &[i64]) -> Result<Geometry> {
        let mut strides = [0; INLINE];
        let mut running: i64 = 1;
        let dense = sizes.len() <= INLINE
            && sizes.iter().enumerate().rev().all(|(d, &size)| {
                strides[d] = running;
                // Empty tensors, wrong sizes and large ones take the long way.
                let next = running.checked_mul(size).filter(|_| size > 0);
                running = next.unwrap_or(0);
                next.is_some()
            });
        if !dense || running.checked_mul(dtype.size() as i64).is_none() {
            strides::check_ndim(sizes.len())?;
            strides::numel(sizes)?;
            return Geometry::new(dtype, sizes, &strides::strides_for(sizes, MemoryFormat::Contiguous)?, 0);
        }
        Ok(Geometry::unchecked(dtype, sizes, &strides[..sizes.len()], 0))
    }

    #[inline]
    fn unchecked(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Geometry {
        let traits = Traits::of(sizes, strides);
        // The product was checked, except that a 0 hides an overflow of the others; then wrapping, which the 0 makes 0
        // whatever the others are, is right as well.
        let numel = sizes.iter().fold(1, |n: i64, &size| n.wrapping_mul(size)) as usize;
        let ndim = sizes.len() as u32;
        let none = [0; INLINE];
        let mut geometry = Geometry {
            sizes: none,
            strides: none,
            numel,
            offset,
            far: None,
            tags: Tags { ndim, dtype, traits, zero: 0 },
        };
        if sizes.len() > INLINE {
            geometry.far = Some(Geometry::on_heap(sizes, strides));
            return geometry;
        }
        for (d, (&size, &stride)) in sizes.iter().zip(strides).enumerate().take(INLINE) {
            geometry.sizes[d] = size;
            geometry.strides[d] = stride;
        }
        geometry
    }

    #[cold]
    #[inline(never)]
    fn on_heap(sizes: &[i64], strides: &[i64]) -> Box<Far> {
        Box::new(Far { lists: [sizes, strides].concat().into(), names: None })
    }

    /// Sizes, then strides, where there are more than [`INLINE`] dimensions.
    #[cold]
    fn far_lists(&self) -> &[i64] {
        self.far.as_ref().map_or(&[], |far| &far.lists)
    }

    /// Bytes of storage, counted from its start, that the elements reach; 0 for an empty tensor.
    pub fn bytes_needed(&self) -> Result<usize> {
        // Of a row-major one, whose number of elements was checked at construction, that is the extent.
        let extent = match self.is_contiguous() {
            true => self.numel(),
            false => strides::extent(self.sizes(), self.strides())?,
        };
        if extent == 0 {
            return Ok(0);
        }
        // Neither is negative, so the signed sum and product overflow exactly where the number of bytes does.
        let end = (extent as i64).checked_add(self.offset);
        match end.and_then(|end| end.checked_mul(self.tags.dtype.size() as i64)) {
            Some(bytes) => Ok(bytes as usize),
            None => {
                let (sizes, strides) = (self.sizes().to_vec(), self.strides().to_vec());
                Err(ErrorKind::SizeOverflow { sizes, strides }.into())
            }
        }
    }

    /// The sizes.
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        self.sizes.get(..self.ndim()).unwrap_or_else(|| &self.far_lists()[..self.ndim()])
    }

    /// The strides, in elements.
    #[inline]
    pub fn strides(&self) -> &[i64] {
        self.strides.get(..self.ndim()).unwrap_or_else(|| &self.far_lists()[self.ndim()..])
    }

    /// The offset of index `index` of dimension `dim` of all others' first, modulo 2⁶⁴: exact if there is such an
    /// element. That of a dimension that there is none of is the tensor's own.
    #[inline]
    pub fn offset_at(&self, dim: usize, index: i64) -> i64 {
        strides::offset_at(self.offset, self.strides().get(dim).copied().unwrap_or(0), index)
    }

    /// The number of dimensions.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.tags.ndim as usize
    }

    /// The number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        self.numel
    }

    /// Elements between the start of the storage and the first element.
    #[inline]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The dtype.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.tags.dtype
    }

    /// True if the tensor's values are the conjugates of the stored ones.
    #[inline]
    pub fn is_conj(&self) -> bool {
        self.tags.traits.has(Traits::CONJ)
    }

    /// True if the tensor's values are the negatives of the stored ones.
    #[inline]
    pub fn is_neg(&self) -> bool {
        self.tags.traits.has(Traits::NEG)
    }

    /// True for a number that joined as a tensor: lowest priority in type promotion.
    #[inline]
    pub fn is_wrapped(&self) -> bool {
        self.tags.traits.has(Traits::WRAPPED)
    }

    /// Names of the dimensions, if any has one.
    #[inline]
    pub fn names(&self) -> Option<&Names> {
        self.far.as_ref()?.names.as_ref()
    }

    /// True if the elements lie row-major without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.tags.traits.has(Traits::ROW_MAJOR)
    }

    /// True if the strides are those of a new row-major tensor, also where they do not matter.
    #[inline]
    pub fn is_canonical(&self) -> bool {
        self.tags.traits.has(Traits::CANONICAL)
    }

    /// True if the values are what is stored, no dimension has a name and it is no wrapped number: nothing but dtype,
    /// sizes and strides matters to a call.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.tags.traits.0 & !Traits::LAYOUT == 0
    }

    /// True if there are dimensions, and every one has more than one element.
    #[inline]
    pub fn is_ample(&self) -> bool {
        self.tags.traits.has(Traits::AMPLE)
    }

    /// True if all that can be asked of the geometry is in its arrays and traits, and it [is
    /// plain](Geometry::is_plain).
    #[inline]
    pub(crate) fn is_simple(&self) -> bool {
        self.is_plain() && self.ndim() <= INLINE
    }

    /// 0 if the other is [simple](Geometry::is_simple) as this one is, has the same sizes, and both are row-major or
    /// neither is. With `DTYPE`, if the dtype is the same too.
    #[inline(always)]
    pub(crate) fn unlike<const DTYPE: bool>(&self, other: &Geometry) -> u64 {
        const LAYOUT: u64 = ((Traits::CANONICAL | Traits::AMPLE) as u64) << 40;
        let ignored = if DTYPE { LAYOUT } else { LAYOUT | 0xff << 32 };
        (self.tags.word() ^ other.tags.word()) & !ignored | differ(&self.sizes, &other.sizes) as u64
    }

    /// Bytes of a row-major geometry that begins where its storage does: what [`bytes_needed`](Geometry::bytes_needed)
    /// is then.
    #[inline]
    pub(crate) fn dense_bytes(&self) -> Option<usize> {
        // The product was checked where the geometry was made.
        (self.is_contiguous() && self.offset == 0).then(|| self.numel.wrapping_mul(self.dtype().size()))
    }

    /// True if [`renewed`](Geometry::renewed) is the geometry of a new row-major tensor of these sizes and that dtype.
    #[inline(always)]
    pub(crate) fn is_renewable(&self, dtype: DType) -> bool {
        // Whatever is no larger was checked when this geometry was made.
        self.tags.traits.has(Traits::CANONICAL) && dtype.size() <= self.dtype().size() && self.ndim() <= INLINE
    }

    /// The same sizes and strides at the start of a storage, plain, with another dtype.
    #[inline(always)]
    pub(crate) fn renewed(&self, dtype: DType) -> Geometry {
        let Geometry { sizes, strides, numel, tags, .. } = *self;
        let traits = Traits(tags.traits.0 & Traits::LAYOUT);
        Geometry { sizes, strides, numel, offset: 0, far: None, tags: Tags { dtype, traits, ..tags } }
    }

    /// The same with the conj bit set or cleared. Only a complex tensor can have it.
    #[must_use]
    pub fn with_conj(mut self, conj: bool) -> Geometry {
        self.tags.traits.set(Traits::CONJ, conj && self.tags.dtype.is_complex());
        self
    }

    /// The same with the neg bit set or cleared.
    #[must_use]
    pub fn with_neg(mut self, neg: bool) -> Geometry {
        self.tags.traits.set(Traits::NEG, neg);
        self
    }

    /// The same, marked as a wrapped number or not. Only tensors without dimensions can be.
    #[must_use]
    pub fn with_wrapped(mut self, wrapped: bool) -> Geometry {
        self.tags.traits.set(Traits::WRAPPED, wrapped && self.tags.ndim == 0);
        self
    }

    /// The same with other names; there must be one entry per dimension.
    pub fn with_names(mut self, names: Option<Names>) -> Result<Geometry> {
        if let Some(names) = &names
            && names.len() != self.ndim()
        {
            return Err(ErrorKind::ListLength { arg: "names", got: names.len(), want: self.ndim() }.into());
        }
        let names = names.filter(|n| n.iter().any(Option::is_some));
        self.tags.traits.set(Traits::NAMED, names.is_some());
        if names.is_some() || self.ndim() > INLINE {
            self.far.get_or_insert_default().names = names;
        } else {
            self.far = None;
        }
        Ok(self)
    }

    /// True if both have the same sizes.
    #[inline]
    pub fn same_sizes(&self, other: &Geometry) -> bool {
        if self.ndim() > INLINE {
            return self.sizes() == other.sizes();
        }
        // What is beyond the dimensions is 0, so whole arrays can be compared, which takes no loop.
        self.tags.ndim == other.tags.ndim && differ(&self.sizes, &other.sizes) == 0
    }

    /// True if both have the same strides.
    #[inline]
    pub fn same_strides(&self, other: &Geometry) -> bool {
        if self.ndim() > INLINE {
            return self.strides() == other.strides();
        }
        self.tags.ndim == other.tags.ndim && differ(&self.strides, &other.strides) == 0
    }

    /// True if both reach the same elements in the same order and read them the same way.
    #[inline(always)]
    pub fn same_elements(&self, other: &Geometry) -> bool {
        self.same_sizes(other)
            && self.same_strides(other)
            && self.offset == other.offset
            && self.tags.dtype == other.tags.dtype
            && self.is_conj() == other.is_conj()
            && self.is_neg() == other.is_neg()
    }
}

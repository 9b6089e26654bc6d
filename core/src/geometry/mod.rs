//! Geometry: everything about a tensor but its memory. Sizes, strides and offset are validated against their storage
//! where a tensor is made, never later.
#![deny(clippy::arithmetic_side_effects)]

mod changed;
mod index;
mod names;
pub mod overlap;
mod sizes;
pub mod strides;
mod tags;

pub use index::{By, Ellipsis, Index, IndexArg, IndexItem, NewDim};
pub use names::{Names, unify as unify_names};
pub use sizes::{Dim, Dims, Integer, Sizes};

use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::options::MemoryFormat;
use tags::{Tags, Traits};

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

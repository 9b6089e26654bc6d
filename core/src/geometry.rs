//! Geometry: everything about a tensor but its memory. Sizes, strides and offset are validated against their storage where
//! a tensor is made, never later.

use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::names::Names;
use crate::strides;

/// Dimensions that sizes and strides have room for without an allocation.
const INLINE: usize = 6;

/// Sizes and strides. Plain arrays rather than a small vector: a copy of so few words costs less than copying just the used
/// ones through a call.
#[derive(Clone, Debug)]
enum Lists {
    Inline {
        sizes: [i64; INLINE],
        strides: [i64; INLINE],
    },
    /// Sizes, then strides.
    Heap(Box<[i64]>),
}

impl Lists {
    #[inline]
    fn new(sizes: &[i64], strides: &[i64]) -> Lists {
        if sizes.len() > INLINE {
            return Lists::on_heap(sizes, strides);
        }
        let mut lists = ([0; INLINE], [0; INLINE]);
        for (d, (&size, &stride)) in sizes.iter().zip(strides).enumerate().take(INLINE) {
            lists.0[d] = size;
            lists.1[d] = stride;
        }
        Lists::Inline { sizes: lists.0, strides: lists.1 }
    }

    #[cold]
    #[inline(never)]
    fn on_heap(sizes: &[i64], strides: &[i64]) -> Lists {
        Lists::Heap([sizes, strides].concat().into())
    }
}

/// Sizes, strides, offset, dtype, bits and names of a tensor. Sizes and strides are inline up to 6 dimensions.
#[derive(Clone, Debug)]
pub struct Geometry {
    lists: Lists,
    ndim: u32,
    offset: i64,
    dtype: DType,
    conj: bool,
    neg: bool,
    wrapped: bool,
    names: Option<Names>,
}

impl Geometry {
    /// A geometry that has been checked: equal lengths, nothing negative, and an extent that fits an `i64` in bytes.
    pub fn new(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Geometry> {
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
            return Geometry::new(dtype, sizes, &strides::contiguous_strides(sizes), 0);
        }
        Ok(Geometry::unchecked(dtype, sizes, &strides[..sizes.len()], 0))
    }

    #[inline]
    fn unchecked(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Geometry {
        let (lists, ndim) = (Lists::new(sizes, strides), sizes.len() as u32);
        Geometry { lists, ndim, offset, dtype, conj: false, neg: false, wrapped: false, names: None }
    }

    /// Bytes of storage, counted from its start, that the elements reach; 0 for an empty tensor.
    pub fn bytes_needed(&self) -> Result<usize> {
        let extent = strides::extent(self.sizes(), self.strides())?;
        if extent == 0 {
            return Ok(0);
        }
        // Neither is negative, so the signed sum and product overflow exactly where the number of bytes does.
        let end = (extent as i64).checked_add(self.offset);
        match end.and_then(|end| end.checked_mul(self.dtype.size() as i64)) {
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
        match &self.lists {
            Lists::Inline { sizes, .. } => &sizes[..self.ndim()],
            Lists::Heap(lists) => &lists[..self.ndim()],
        }
    }

    /// The strides, in elements.
    #[inline]
    pub fn strides(&self) -> &[i64] {
        match &self.lists {
            Lists::Inline { strides, .. } => &strides[..self.ndim()],
            Lists::Heap(lists) => &lists[self.ndim()..],
        }
    }

    /// The number of dimensions.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.ndim as usize
    }

    /// The number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        // The product was checked at construction, except that a 0 hides an overflow of the others; then wrapping, which the
        // 0 makes 0 whatever the others are, is right as well.
        self.sizes().iter().fold(1, |n: i64, &size| n.wrapping_mul(size)) as usize
    }

    /// Elements between the start of the storage and the first element.
    #[inline]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The dtype.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// True if the tensor's values are the conjugates of the stored ones.
    #[inline]
    pub fn is_conj(&self) -> bool {
        self.conj
    }

    /// True if the tensor's values are the negatives of the stored ones.
    #[inline]
    pub fn is_neg(&self) -> bool {
        self.neg
    }

    /// True for a number that joined as a tensor: lowest priority in type promotion.
    #[inline]
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// Names of the dimensions, if any has one.
    #[inline]
    pub fn names(&self) -> Option<&Names> {
        self.names.as_ref()
    }

    /// True if the elements lie row-major without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        strides::is_contiguous(self.sizes(), self.strides())
    }

    /// The same with the conj bit set or cleared. Only a complex tensor can have it.
    #[must_use]
    pub fn with_conj(mut self, conj: bool) -> Geometry {
        self.conj = conj && self.dtype.is_complex();
        self
    }

    /// The same with the neg bit set or cleared.
    #[must_use]
    pub fn with_neg(mut self, neg: bool) -> Geometry {
        self.neg = neg;
        self
    }

    /// The same, marked as a wrapped number or not. Only tensors without dimensions can be.
    #[must_use]
    pub fn with_wrapped(mut self, wrapped: bool) -> Geometry {
        self.wrapped = wrapped && self.ndim == 0;
        self
    }

    /// The same with other names; there must be one entry per dimension.
    pub fn with_names(mut self, names: Option<Names>) -> Result<Geometry> {
        if let Some(names) = &names
            && names.len() != self.ndim()
        {
            return Err(ErrorKind::ListLength { arg: "names", got: names.len(), want: self.ndim() }.into());
        }
        self.names = names.filter(|n| n.iter().any(Option::is_some));
        Ok(self)
    }

    /// True if both reach the same elements in the same order and read them the same way.
    #[inline]
    pub fn same_elements(&self, other: &Geometry) -> bool {
        self.sizes() == other.sizes()
            && self.strides() == other.strides()
            && self.offset == other.offset
            && self.dtype == other.dtype
            && self.conj == other.conj
            && self.neg == other.neg
    }
}

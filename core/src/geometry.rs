//! Geometry: everything about a tensor but its memory. Sizes, strides and offset are validated against their storage where
//! a tensor is made, never later.

use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::names::Names;
use crate::strides;
use smallvec::SmallVec;

/// Sizes, strides, offset, dtype, bits and names of a tensor. Sizes and strides are inline up to 6 dimensions.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Sizes, then strides.
    dims: SmallVec<[i64; 12]>,
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

    fn unchecked(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Geometry {
        let mut dims: SmallVec<[i64; 12]> = SmallVec::from_slice(sizes);
        dims.extend_from_slice(strides);
        Geometry { dims, offset, dtype, conj: false, neg: false, wrapped: false, names: None }
    }

    /// Bytes of storage, counted from its start, that the elements reach; 0 for an empty tensor.
    pub fn bytes_needed(&self) -> Result<usize> {
        let extent = strides::extent(self.sizes(), self.strides())?;
        if extent == 0 {
            return Ok(0);
        }
        let bytes = extent as u128 + self.offset as u128;
        let bytes = bytes * self.dtype.size() as u128;
        if bytes > i64::MAX as u128 {
            let (sizes, strides) = (self.sizes().to_vec(), self.strides().to_vec());
            return Err(ErrorKind::SizeOverflow { sizes, strides }.into());
        }
        Ok(bytes as usize)
    }

    /// The sizes.
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        &self.dims[..self.dims.len() / 2]
    }

    /// The strides, in elements.
    #[inline]
    pub fn strides(&self) -> &[i64] {
        &self.dims[self.dims.len() / 2..]
    }

    /// The number of dimensions.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.dims.len() / 2
    }

    /// The number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        // The product was checked at construction, except that a 0 hides an overflow of the others.
        if self.sizes().contains(&0) { 0 } else { self.sizes().iter().product::<i64>() as usize }
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
    pub fn names(&self) -> Option<&Names> {
        self.names.as_ref()
    }

    /// True if the elements lie row-major without gaps.
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
        self.wrapped = wrapped && self.dims.is_empty();
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
    pub fn same_elements(&self, other: &Geometry) -> bool {
        self.dims == other.dims
            && self.offset == other.offset
            && self.dtype == other.dtype
            && self.conj == other.conj
            && self.neg == other.neg
    }
}

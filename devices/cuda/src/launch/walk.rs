//! How the pointwise loops walk: element by element, or row by row in groups. Owns what a layout of operands allows,
//! and the part of the argument that says it.

use super::{Base, Bytes, Call, DIMS, INDICES, Launch, LaunchError, THREADS};
use crate::functor::{Form, Functor};
use monomorph_iter::TensorIter;

/// Dimensions of more than one element, the fastest first, with the bytes between elements of each operand.
pub(super) struct Walk {
    sizes: Vec<u64>,
    strides: Vec<Vec<u64>>,
    numel: u64,
}

impl Walk {
    pub(super) fn new(iter: &TensorIter, operands: usize) -> Result<Walk, LaunchError> {
        let numel = iter.numel() as u64;
        let kept: Vec<usize> = (0..iter.ndim()).filter(|&d| iter.shape()[d] != 1 && numel != 0).collect();
        let sizes: Vec<u64> = kept.iter().map(|&d| iter.shape()[d] as u64).collect();
        let strides = kept.iter().map(|&d| (0..operands).map(|k| iter.strides(k)[d] as u64).collect()).collect();
        if sizes.len() > DIMS {
            return Err(LaunchError::Dimensions(sizes.len()));
        }
        Ok(Walk { sizes, strides, numel })
    }

    /// Whether, from dimension `from` on, kernels can count bytes and elements.
    fn fits(&self, from: usize) -> bool {
        let operands = self.strides.first().map_or(0, Vec::len);
        let elements = self.sizes[from..].iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
        let reach = |k: usize| {
            let spans = self.sizes[from..].iter().zip(&self.strides[from..]);
            spans.into_iter().try_fold(0_u64, |all, (size, strides)| all.checked_add(strides[k].checked_mul(size - 1)?))
        };
        elements.is_some_and(|n| n < INDICES) && (0..operands).all(|k| reach(k).is_some_and(|end| end < INDICES))
    }

    /// Sizes as divisors and strides, in arrays of `room`.
    fn write(&self, from: usize, room: usize, operands: usize, bytes: &mut Bytes) {
        let none = vec![0; operands];
        (0..room).for_each(|d| bytes.divisor(self.sizes.get(from + d).map_or(1, |&size| size as u32)));
        for strides in (0..room).map(|d| self.strides.get(from + d).unwrap_or(&none)) {
            strides.iter().for_each(|&stride| bytes.u32(stride as u32));
        }
    }

    /// Element by element; converted if `cast` is the iteration that has the dtypes.
    pub(super) fn launch(
        &self,
        call: &Call<'_>,
        bases: &[Base],
        cast: Option<&TensorIter>,
    ) -> Result<Launch, LaunchError> {
        if !self.fits(0) {
            return Err(LaunchError::TooLarge);
        }
        let mut bytes = call.head(bases);
        bytes.u32(self.numel as u32);
        bytes.u32(self.sizes.len() as u32);
        self.write(0, DIMS, bases.len(), &mut bytes);
        let (form, each) = match cast {
            None => (Form::Strided, call.functor.strided()),
            Some(iter) => {
                (0..bases.len()).for_each(|k| bytes.u32(iter.dtype(k) as u32));
                (0..bases.len()).for_each(|k| bytes.u32(u32::from(iter.is_conj(k)) | u32::from(iter.is_neg(k)) << 1));
                (Form::Casting, 1)
            }
        };
        let blocks = self.numel.div_ceil((each * THREADS) as u64) as u32;
        Ok(Launch { form, blocks, arguments: bytes.finish(&call.numbers) })
    }
}

/// How the vectorised loop walks: along the fastest dimension, every operand dense or one element.
pub(super) struct Rows {
    length: u64,
    repeated: u32,
}

impl Rows {
    /// `None` where an operand is neither along the fastest dimension, is not aligned to words, or rows are shorter
    /// than one.
    pub(super) fn new(functor: &Functor, iter: &TensorIter, walk: &Walk, bases: &[Base]) -> Option<Rows> {
        let (length, first) = match (walk.sizes.first(), walk.strides.first()) {
            (Some(&length), Some(first)) => (length, first.clone()),
            // One element, or none: dense by definition.
            _ => (walk.numel, (0..bases.len()).map(|k| iter.dtype(k).size() as u64).collect()),
        };
        let outer = walk.sizes.len().min(1);
        if !walk.fits(outer) || (walk.sizes.len() > 1 && length < functor.group() as u64) {
            return None;
        }
        let mut repeated = 0;
        for (k, &base) in bases.iter().enumerate() {
            let Base::At(base) = base else {
                repeated |= 1 << k;
                continue;
            };
            let size = iter.dtype(k).size() as u64;
            if k > 0 && first[k] == 0 {
                repeated |= 1 << k;
                continue;
            }
            let word = size * functor.group() as u64;
            let aligned = base.is_multiple_of(word) && walk.strides[outer..].iter().all(|s| s[k].is_multiple_of(word));
            if first[k] != size || !aligned {
                return None;
            }
        }
        Some(Rows { length, repeated })
    }

    pub(super) fn launch(&self, call: &Call<'_>, walk: &Walk, bases: &[Base]) -> Result<Launch, LaunchError> {
        let functor = call.functor;
        let outer = walk.sizes.len().min(1);
        let per_row = self.length.div_ceil(functor.group() as u64);
        let rows: u64 = walk.sizes[outer..].iter().product();
        let groups = per_row.checked_mul(rows).filter(|&groups| groups < INDICES).ok_or(LaunchError::TooLarge)?;
        let mut bytes = call.head(bases);
        bytes.u64(self.length);
        bytes.u32(groups as u32);
        bytes.u32(self.repeated);
        bytes.u32(walk.sizes.len().saturating_sub(1) as u32);
        bytes.divisor(per_row.max(1) as u32);
        walk.write(outer, DIMS - 1, bases.len(), &mut bytes);
        let blocks = groups.div_ceil((functor.groups() * THREADS) as u64) as u32;
        Ok(Launch { form: Form::Vector, blocks, arguments: bytes.finish(&call.numbers) })
    }
}

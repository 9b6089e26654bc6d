//! Tensors of a call as they lie in memory, and copies of those that do not suit the loops.

use crate::cast::Bits;
use monomorph_core::strides::{DimVec, contiguous_strides, is_contiguous, numel};
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{DType, Result, Strided, list, scalar_bytes};

/// A tensor, or a number in its place.
///
/// Invariant: P1: while the call lives, `data` is the first of elements of `dtype` with these sizes and strides, in
/// bounds.
#[derive(Clone)]
pub(crate) struct Placed {
    pub(crate) data: *mut u8,
    pub(crate) dtype: DType,
    pub(crate) sizes: DimVec,
    /// In elements.
    pub(crate) strides: DimVec,
    conj: bool,
    neg: bool,
}

/// Memory of our own, aligned for any dtype.
pub(crate) type Own = Vec<u128>;

/// An operand of a call.
pub(crate) enum Argument {
    Tensor(Placed),
    Number(monomorph_core::Scalar),
    Absent,
}

impl Argument {
    /// # Safety
    ///
    /// The operand's storage is borrowed as long as the result lives.
    pub(crate) unsafe fn of(operand: &Operand<'_>) -> Argument {
        match operand {
            Operand::Tensor(tensor) => {
                let g = tensor.geometry();
                // SAFETY: the caller's promise.
                let data = unsafe { tensor.data() };
                Argument::Tensor(Placed {
                    data,
                    dtype: g.dtype(),
                    sizes: g.sizes().into(),
                    strides: g.strides().into(),
                    conj: g.is_conj(),
                    neg: g.is_neg(),
                })
            }
            Operand::Number(number) => Argument::Number(number.scalar()),
            Operand::Absent => Argument::Absent,
        }
    }

    pub(crate) fn tensor(&self) -> Option<&Placed> {
        if let Argument::Tensor(placed) = self { Some(placed) } else { None }
    }
}

/// How many elements there are of these sizes, or the most that can be counted: beside a 0 the others may be as large
/// as they like, and so may those of a tensor without elements before its 0 is found.
pub(crate) fn product(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.fold(1, usize::saturating_mul)
}

impl Placed {
    pub(crate) fn output(outputs: &Outputs<'_>) -> Placed {
        Placed::output_at(outputs, 0)
    }

    /// Output `i`.
    pub(crate) fn output_at(outputs: &Outputs<'_>, i: usize) -> Placed {
        let (g, data) = (outputs.geometry(i), outputs.data(i));
        let (sizes, strides) = (g.sizes().into(), g.strides().into());
        Placed { data, dtype: g.dtype(), sizes, strides, conj: g.is_conj(), neg: g.is_neg() }
    }

    /// A number of this dtype, the first in `own`.
    pub(crate) fn number(number: monomorph_core::Scalar, dtype: DType, own: &mut Own) -> Placed {
        own.clear();
        own.push(u128::from_ne_bytes(scalar_bytes(number, dtype)));
        let (sizes, strides) = (DimVec::new(), DimVec::new());
        Placed { data: own.as_mut_ptr().cast(), dtype, sizes, strides, conj: false, neg: false }
    }

    fn bits(&self) -> Bits {
        Bits::of(self.dtype, self.conj, self.neg)
    }

    /// True if its elements are its values.
    pub(crate) fn is_plain(&self) -> bool {
        self.bits().is_none()
    }

    pub(crate) fn is_contiguous(&self) -> bool {
        is_contiguous(&self.sizes, &self.strides)
    }

    /// A contiguous tensor as one dimension; a number stays one.
    pub(crate) fn flattened(&self) -> Placed {
        if self.sizes.is_empty() {
            return self.clone();
        }
        let (sizes, strides) = (DimVec::from_slice(&[self.numel() as i64]), DimVec::from_slice(&[1]));
        Placed { sizes, strides, ..self.clone() }
    }

    pub(crate) fn numel(&self) -> usize {
        product(self.sizes.iter().map(|&size| size as usize))
    }

    /// Bytes from one element of a dimension to the next; modulo 2^64, which is exact where there are two.
    pub(crate) fn step(&self, dim: usize) -> isize {
        (self.strides[dim] as isize).wrapping_mul(self.dtype.size() as isize)
    }

    /// The same elements in the same order.
    pub(crate) fn is(&self, other: &Placed) -> bool {
        let bits = (self.conj, self.neg) == (other.conj, other.neg);
        self.data == other.data && self.strides == other.strides && self.sizes == other.sizes && bits
    }

    /// True if some byte may be in both.
    pub(crate) fn may_share(&self, other: &Placed) -> bool {
        let ends = |t: &Placed| {
            let last: isize = t.sizes.iter().enumerate().map(|(d, &n)| (n as isize - 1).wrapping_mul(t.step(d))).sum();
            (t.data as usize, (t.data as usize).wrapping_add_signed(last) + t.dtype.size())
        };
        if self.numel() == 0 || other.numel() == 0 {
            return false;
        }
        let ((a, a_end), (b, b_end)) = (ends(self), ends(other));
        a < b_end && b < a_end
    }

    fn strided(&self) -> Strided<'_> {
        Strided { data: self.data, strides: &self.strides, dtype: self.dtype, conj: self.conj, neg: self.neg }
    }

    /// Copies all elements to `to`, which has the same sizes.
    ///
    /// # Safety
    ///
    /// P1 for both; they share no memory; nobody else writes `self`, or uses `to`.
    pub(crate) unsafe fn copy_to(&self, to: &Placed) -> Result<()> {
        // SAFETY: C1: P1 and the caller's promise that the sizes are equal; C2: they share nothing.
        unsafe { crate::copy::copy(&self.sizes, to.strided(), self.strided()) }
    }

    /// An error if there is no memory for a copy.
    pub(crate) fn check_room(&self) -> Result<()> {
        let words = numel(&self.sizes)?.saturating_mul(self.dtype.size()).div_ceil(size_of::<u128>());
        list::with_capacity::<u128>(words).map(drop)
    }

    /// A contiguous tensor of these sizes in memory of its own, all zero.
    pub(crate) fn zeroed(&self, dtype: DType) -> Result<(Own, Placed)> {
        let words = numel(&self.sizes)?.saturating_mul(dtype.size()).div_ceil(size_of::<u128>());
        let mut own = list::with_capacity(words)?;
        own.resize(words, 0_u128);
        let strides = contiguous_strides(&self.sizes);
        let sizes = self.sizes.clone();
        let placed = Placed { data: own.as_mut_ptr().cast(), dtype, sizes, strides, conj: false, neg: false };
        Ok((own, placed))
    }

    /// A contiguous copy without lazy bits, in memory of its own.
    ///
    /// # Safety
    ///
    /// P1; nobody writes it meanwhile.
    pub(crate) unsafe fn copied(&self, dtype: DType) -> Result<(Own, Placed)> {
        let (own, placed) = self.zeroed(dtype)?;
        // SAFETY: the copy has these sizes, and memory that nobody else knows.
        unsafe { self.copy_to(&placed) }?;
        Ok((own, placed))
    }
}

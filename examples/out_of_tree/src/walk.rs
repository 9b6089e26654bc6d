//! Elements of an arena one after another: where a strided walk goes, and how bytes become numbers. Knows no operator.

use crate::memory::Bytes;
use monomorph::crates::core::{scalar_bytes, scalar_from_bytes};
use monomorph::crates::iter::TensorIter;
use monomorph::{DType, ErrorKind, Geometry, Result, Scalar};

/// How the elements of a tensor lie in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) dtype: DType,
    pub(crate) conj: bool,
    pub(crate) neg: bool,
}

impl Elements {
    /// Those of operand `k` of an iteration.
    pub(crate) fn of(iter: &TensorIter, k: usize) -> Elements {
        Elements { dtype: iter.dtype(k), conj: iter.is_conj(k), neg: iter.is_neg(k) }
    }

    /// Those of a tensor.
    pub(crate) fn in_geometry(g: &Geometry) -> Elements {
        Elements { dtype: g.dtype(), conj: g.is_conj(), neg: g.is_neg() }
    }

    /// The element at an address.
    pub(crate) fn load(self, arena: &Bytes, at: *const u8) -> Result<Scalar> {
        let bytes = arena.load(at, self.dtype.size())?;
        let short = ErrorKind::ListLength { arg: "bytes", got: bytes.len(), want: self.dtype.size() };
        Ok(self.turned(scalar_from_bytes(bytes, self.dtype).ok_or(short)?))
    }

    /// Writes a number as the element at an address, converted.
    pub(crate) fn store(self, arena: &mut Bytes, at: *mut u8, value: Scalar) -> Result<()> {
        let size = self.dtype.size();
        arena.store(at, size)?.copy_from_slice(&scalar_bytes(self.turned(value.cast(self.dtype)), self.dtype)[..size]);
        Ok(())
    }

    /// A stored number as its value, and a value as it is stored.
    pub(crate) fn turned(self, value: Scalar) -> Scalar {
        let value = match value {
            Scalar::Complex(z) if self.conj => Scalar::Complex(z.conj()),
            other => other,
        };
        if self.neg { negated(value) } else { value }
    }
}

/// A number with the other sign; integers wrap.
pub(crate) fn negated(value: Scalar) -> Scalar {
    match value {
        Scalar::Bool(b) => Scalar::Bool(b),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(z) => Scalar::Complex(-z),
    }
}

/// Strides in bytes.
pub(crate) fn byte_strides(strides: &[i64], dtype: DType) -> Vec<isize> {
    strides.iter().map(|&stride| stride as isize * dtype.size() as isize).collect()
}

/// Calls `visit` with the addresses of each operand's element, at every index, the first dimension fastest. There is
/// one list of strides, in bytes, for each base.
pub(crate) fn each<const N: usize>(
    sizes: &[usize],
    strides: [&[isize]; N],
    bases: [*mut u8; N],
    mut visit: impl FnMut([*mut u8; N]) -> Result<()>,
) -> Result<()> {
    if sizes.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; sizes.len()];
    let mut at = bases;
    loop {
        visit(at)?;
        let mut d = 0;
        loop {
            if d == sizes.len() {
                return Ok(());
            }
            index[d] += 1;
            let back = index[d] == sizes[d];
            for (at, strides) in at.iter_mut().zip(strides) {
                let steps = if back { 1 - sizes[d] as isize } else { 1 };
                *at = at.wrapping_offset(strides[d].wrapping_mul(steps));
            }
            if !back {
                break;
            }
            index[d] = 0;
            d += 1;
        }
    }
}

//! Operands in the dtype that a kernel computes in, where they lie or as copies in the same order of dimensions, and
//! outputs that are converted from it. For kernels that look at each element of an operand many times.

use crate::cast::Bits;
use crate::scratch::{Scratch, scratch, unwritten};
use monomorph_core::strides::{DimVec, preserve_strides};
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{DType, Geometry, Result, Strided, TensorRef};

/// Memory for so many elements, zero.
pub(crate) fn zeroed(elements: usize, dtype: DType) -> Result<Scratch<u128>> {
    scratch(units(elements, dtype))
}

/// Memory for so many elements, of no particular values.
pub(crate) fn room(elements: usize, dtype: DType) -> Result<Scratch<u128>> {
    unwritten(units(elements, dtype))
}

/// Units of 16 bytes for so many elements.
fn units(elements: usize, dtype: DType) -> usize {
    elements.saturating_mul(dtype.size()).div_ceil(size_of::<u128>())
}

/// A copy of an operand in a dtype, in memory of its own.
///
/// Invariant: `own` has an element of `dtype` for each of the operand's, which has this geometry and lies at `from`.
#[derive(Debug)]
pub(crate) struct Copied {
    own: Scratch<u128>,
    dtype: DType,
    strides: DimVec,
    from: *mut u8,
    geometry: Geometry,
}

// SAFETY: only `load`, which needs the only reference, writes the memory.
unsafe impl Send for Copied {}
// SAFETY: as above.
unsafe impl Sync for Copied {}

impl Copied {
    /// Memory for a copy with these strides, which are dense; of no particular values before it is
    /// [loaded](Copied::load).
    pub(crate) fn new(tensor: &TensorRef<'_>, dtype: DType, strides: &[i64]) -> Result<Copied> {
        let geometry = tensor.geometry().clone();
        let own = room(geometry.numel(), dtype)?;
        // SAFETY: the address is followed only by `load`, whose caller promises that it may be.
        let from = unsafe { tensor.data() };
        Ok(Copied { own, dtype, strides: strides.into(), from, geometry })
    }

    /// The first element.
    pub(crate) fn data(&self) -> *mut u8 {
        self.own.as_ptr().cast_mut().cast()
    }

    /// Copies the operand as it is now.
    ///
    /// # Safety
    ///
    /// The operand is initialised, and borrowed.
    pub(crate) unsafe fn load(&mut self) -> Result<()> {
        let g = &self.geometry;
        let data = self.own.as_mut_ptr().cast();
        let to = Strided { data, strides: &self.strides, dtype: self.dtype, conj: false, neg: false };
        let from =
            Strided { data: self.from, strides: g.strides(), dtype: g.dtype(), conj: g.is_conj(), neg: g.is_neg() };
        // SAFETY: C1 and C2 of `Device::copy`: the operand is in bounds and initialised (the caller's promise), and the
        // target is memory of our own with room for all elements (the invariant), which dense strides reach once each.
        unsafe { crate::copy::copy(g.sizes(), to, from) }
    }
}

/// An input.
///
/// Invariant: `data` is the first element of a tensor of the operand's sizes with these strides, initialised, of the
/// dtype and aligned to it, as long as the operand is borrowed.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) data: *mut u8,
    pub(crate) strides: DimVec,
    /// What is copied to memory of its own, for each run anew. Boxed, since a few of these are moved together.
    copied: Option<Box<Copied>>,
}

// SAFETY: only `load`, which needs the only reference, writes what it has.
unsafe impl Send for Converted {}
// SAFETY: as above.
unsafe impl Sync for Converted {}

impl Converted {
    /// No operand.
    pub(crate) fn none() -> Converted {
        Converted { data: std::ptr::null_mut(), strides: DimVec::new(), copied: None }
    }

    /// The elements of a tensor in a dtype, in a copy if `copies`. A copy has no particular values before it
    /// is [loaded](Converted::load).
    ///
    /// # Safety
    ///
    /// The operand is initialised, and stays borrowed as long as the result lives.
    pub(crate) unsafe fn new(operand: &Operand<'_>, dtype: DType, copies: bool) -> Result<Option<Converted>> {
        let Operand::Tensor(tensor) = operand else { return Ok(None) };
        let g = tensor.geometry();
        // SAFETY: the storage is borrowed: the caller's promise.
        let data = unsafe { tensor.data() };
        let is_plain = g.dtype() == dtype && !g.is_conj() && !g.is_neg() && data.addr().is_multiple_of(dtype.size());
        if is_plain && !copies || g.numel() == 0 {
            return Ok(Some(Converted { data, strides: g.strides().into(), copied: None }));
        }
        let strides = preserve_strides(g.sizes(), g.strides());
        let copied = Copied::new(tensor, dtype, &strides)?;
        Ok(Some(Converted { data: copied.data(), strides, copied: Some(Box::new(copied)) }))
    }

    /// Copies what is copied, as it is now. Every run begins with it.
    ///
    /// # Safety
    ///
    /// The operand is initialised, and nobody writes it meanwhile.
    pub(crate) unsafe fn load(&mut self) -> Result<()> {
        // SAFETY: the caller's promise.
        self.copied.as_mut().map_or(Ok(()), |copied| unsafe { copied.load() })
    }
}

/// An output in the dtype of a kernel, and the caller's.
///
/// Invariant: `own` has an element of the dtype for each of the output's, whose strides are dense.
#[derive(Debug)]
pub(crate) struct ConvertedOutput {
    own: Scratch<u128>,
    dtype: DType,
    geometry: Geometry,
    data: *mut u8,
}

// SAFETY: whoever has the only reference writes it.
unsafe impl Send for ConvertedOutput {}

impl ConvertedOutput {
    /// Memory for an output that the kernel cannot write where it lies. Meta functions ask for dense strides.
    pub(crate) fn new(outputs: &Outputs<'_>, i: usize, dtype: DType) -> Result<Option<ConvertedOutput>> {
        let (g, data) = (outputs.geometry(i), outputs.data(i));
        if g.dtype() == dtype && !g.is_neg() && !g.is_conj() && data.addr().is_multiple_of(dtype.size()) {
            return Ok(None);
        }
        Ok(Some(ConvertedOutput { own: zeroed(g.numel(), dtype)?, dtype, geometry: g.clone(), data }))
    }

    /// Where the kernel writes, with the strides of the output.
    pub(crate) fn data(&mut self) -> *mut u8 {
        self.own.as_mut_ptr().cast()
    }

    /// Converts what was written.
    ///
    /// # Safety
    ///
    /// The output is borrowed, and nobody else uses it.
    pub(crate) unsafe fn store(&mut self) -> Result<()> {
        let g = &self.geometry;
        let own = self.own.as_mut_ptr().cast();
        let from = Strided { data: own, strides: g.strides(), dtype: self.dtype, conj: false, neg: false };
        let Bits { conj, neg } = Bits::of(g.dtype(), g.is_conj(), g.is_neg());
        let to = Strided { data: self.data, strides: g.strides(), dtype: g.dtype(), conj, neg };
        // SAFETY: C1 and C2 of `Device::copy`: memory of our own is initialised and has the strides of the output,
        // which are dense, and the output is in bounds and nobody else's (the caller's promise).
        unsafe { crate::copy::copy(g.sizes(), to, from) }
    }
}

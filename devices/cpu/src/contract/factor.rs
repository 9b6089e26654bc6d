//! The tensors of a contraction as memory, or as copies that each run makes anew. Owns where their elements are.

use crate::cast::Bits;
use crate::index::placed::product;
use crate::matrix::Layout;
use monomorph_core::strides::{DimVec, contiguous_strides};
use monomorph_core::structured::Operand;
use monomorph_core::{DType, Geometry, Result, Strided, list, scalar_bytes};
use monomorph_ops::contract::Dims;

/// A tensor as memory, or a copy of it that each run makes anew.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) data: *mut u8,
    pub(super) dtype: DType,
    pub(super) sizes: DimVec,
    pub(super) strides: DimVec,
    bits: Bits,
    /// The copy, in row-major order and without bits.
    own: Vec<u128>,
}

impl Input {
    pub(super) fn new(data: *mut u8, g: &Geometry) -> Input {
        let bits = Bits::of(g.dtype(), g.is_conj(), g.is_neg());
        Input { data, dtype: g.dtype(), sizes: g.sizes().into(), strides: g.strides().into(), bits, own: Vec::new() }
    }

    /// An operand.
    ///
    /// # Safety
    ///
    /// Its storage stays borrowed as long as the result lives.
    pub(super) unsafe fn of(operand: &Operand<'_>, dtype: DType) -> Input {
        match operand {
            // SAFETY: the caller's promise.
            Operand::Tensor(tensor) => Input::new(unsafe { tensor.data() }, tensor.geometry()),
            number => {
                let bytes = number.number().map_or([0; 16], |number| scalar_bytes(number, dtype));
                let mut own = vec![u128::from_ne_bytes(bytes)];
                let (data, bits) = (own.as_mut_ptr().cast(), Bits::default());
                Input { data, dtype, sizes: DimVec::new(), strides: DimVec::new(), bits, own }
            }
        }
    }

    fn numel(&self) -> usize {
        product(self.sizes.iter().map(|&size| size as usize))
    }

    /// Makes room for a copy, if elements are not where a kernel may read them.
    fn stage_unaligned(&mut self) -> Result<()> {
        if !is_aligned(self.data, self.dtype) {
            self.own = room(self.numel(), self.dtype)?;
        }
        Ok(())
    }

    /// Where its elements are: bits of the copy are none.
    fn place(&self) -> (*mut u8, DimVec, Bits) {
        match self.own.is_empty() {
            true => (self.data, self.strides.clone(), self.bits),
            false => (self.own.as_ptr().cast_mut().cast(), contiguous_strides(&self.sizes), Bits::default()),
        }
    }

    /// What the kernel is to read: the elements, copied if there is room for that.
    ///
    /// # Safety
    ///
    /// The tensor is initialised, and nobody writes it meanwhile.
    unsafe fn refresh(&mut self) -> Result<*const u8> {
        let (place, strides, _) = self.place();
        if !std::ptr::eq(place, self.data) {
            let to = Strided { data: place, strides: &strides, dtype: self.dtype, conj: false, neg: false };
            // SAFETY: C1, C2 of `Device::copy`: the tensor is initialised (the caller's promise), and the target is
            // memory of our own with room for all elements.
            unsafe { crate::copy::copy(&self.sizes, to, self.strided(&self.strides)) }?;
        }
        Ok(place)
    }

    /// Its elements with these strides.
    pub(super) fn strided<'a>(&self, strides: &'a [i64]) -> Strided<'a> {
        let Bits { conj, neg } = self.bits;
        Strided { data: self.data, strides, dtype: self.dtype, conj, neg }
    }
}

/// A factor, as the kernel reads it.
#[derive(Debug)]
pub(super) enum Factor {
    InPlace(*const u8),
    /// Each run copies it first.
    Copied(Box<Input>),
}

impl Factor {
    /// An operand, of whose dimensions the plan says which is which; with it where its matrices lie, and bits.
    ///
    /// # Safety
    ///
    /// Its storage stays borrowed as long as the result lives.
    pub(super) unsafe fn of(operand: &Operand<'_>, dtype: DType, dims: Dims, is_read: bool) -> Result<(Factor, Place)> {
        if let Operand::Tensor(tensor) = operand {
            // SAFETY: the caller's promise.
            let (data, g) = (unsafe { tensor.data() }, tensor.geometry());
            if !is_read || is_aligned(data, g.dtype()) {
                let place = Place::of(g.strides(), dims, Bits::of(g.dtype(), g.is_conj(), g.is_neg()));
                return Ok((Factor::InPlace(data), place));
            }
        }
        // SAFETY: the caller's promise.
        let mut input = unsafe { Input::of(operand, dtype) };
        input.stage_unaligned()?;
        let (_, strides, bits) = input.place();
        Ok((Factor::Copied(Box::new(input)), Place::of(&strides, dims, bits)))
    }

    /// Where the kernel is to read it.
    ///
    /// # Safety
    ///
    /// The tensor is initialised, and nobody writes it meanwhile.
    #[inline]
    pub(super) unsafe fn refresh(&mut self) -> Result<*const u8> {
        match self {
            Factor::InPlace(data) => Ok(*data),
            // SAFETY: the caller's promise.
            Factor::Copied(input) => unsafe { input.refresh() },
        }
    }
}

/// Where the matrices of a batch lie: the layout of one, elements from one to the next, and what elements are to those
/// in memory.
pub(super) struct Place {
    pub(super) layout: Layout,
    pub(super) step: isize,
    pub(super) bits: Bits,
}

impl Place {
    /// Those of a tensor with these strides.
    pub(super) fn of(strides: &[i64], dims: Dims, bits: Bits) -> Place {
        let [step, row, col] = dims.map(|dim| dim.map_or(0, |d| strides[d] as isize));
        Place { layout: Layout { row, col }, step, bits }
    }
}

/// Whether elements lie where their type may be read.
pub(super) fn is_aligned(data: *const u8, dtype: DType) -> bool {
    data.addr().is_multiple_of(dtype.to_real().size())
}

/// Memory for so many elements.
pub(super) fn room(elements: usize, dtype: DType) -> Result<Vec<u128>> {
    let words = elements.saturating_mul(dtype.size()).div_ceil(size_of::<u128>());
    let mut room = list::with_capacity(words)?;
    room.resize(words, 0_u128);
    Ok(room)
}

/// The strides of a tensor that is broadcast to these sizes.
pub(super) fn broadcast(tensor: &Input, sizes: &[i64]) -> DimVec {
    let missing = sizes.len().saturating_sub(tensor.sizes.len());
    let stride = |d: usize| match d.checked_sub(missing) {
        Some(own) if tensor.sizes[own] == sizes[d] => tensor.strides[own],
        _ => 0,
    };
    (0..sizes.len()).map(stride).collect()
}

//! Operands as dense runs of one dtype, for kernels that reach elements by number: searches, bins, groups. An input
//! that lies so already is read where it lies, any other is copied; outputs are row-major, which meta functions ask
//! for.

use crate::cast::Bits;
use crate::converted::Copied;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{DType, Geometry, Result, list, scalar_bytes, strides};

/// A type of the elements of dense runs: plain integers and floats, of which any bytes are values.
///
/// # Safety
///
/// Every pattern of bits is a value, and none are padding.
pub(crate) unsafe trait Plain: Copy + Send + Sync + 'static {}
macro_rules! plain {
    ($($t:ty)*) => {$(
        // SAFETY: integers and floats are values whatever their bits.
        unsafe impl Plain for $t {}
    )*};
}
plain! { u8 u16 u32 u64 i64 i32 f32 f64 }

// SAFETY: two of them without padding (`repr(C)`).
unsafe impl<T: Plain> Plain for num_complex::Complex<T> {}

/// An input.
///
/// Invariant: `data` are `n` initialised elements of `size` bytes, aligned to that, which nobody writes meanwhile.
#[derive(Debug)]
pub(crate) struct Dense {
    data: *const u8,
    n: usize,
    size: usize,
    /// What is copied to memory of its own, for each run anew. Boxed, since a few of these are moved together.
    copied: Option<Box<Copied>>,
    _number: Option<Box<u128>>,
}

// SAFETY: it is read only.
unsafe impl Send for Dense {}
// SAFETY: it is read only.
unsafe impl Sync for Dense {}

impl Dense {
    /// The elements of an operand in a dtype, in a copy if `copies`; none of an absent one. A copy has no
    /// particular values before it is [loaded](Dense::load).
    ///
    /// # Safety
    ///
    /// The operand is initialised, and stays borrowed as long as the result lives.
    pub(crate) unsafe fn new(operand: &Operand<'_>, dtype: DType, copies: bool) -> Result<Dense> {
        // SAFETY: the caller's promise.
        unsafe { Dense::in_strides(operand, dtype, copies, &strides::contiguous_strides(operand.sizes())) }
    }

    /// The same in the order of dense strides.
    ///
    /// # Safety
    ///
    /// As for [`new`](Dense::new), and the strides are dense: elements lie apart, within as many as there are.
    pub(crate) unsafe fn in_strides(
        operand: &Operand<'_>,
        dtype: DType,
        copies: bool,
        strides: &[i64],
    ) -> Result<Dense> {
        let size = dtype.size();
        match operand {
            Operand::Absent => Ok(Dense { data: std::ptr::null(), n: 0, size, copied: None, _number: None }),
            Operand::Number(number) => {
                let own = Box::new(u128::from_ne_bytes(scalar_bytes(number.scalar(), dtype)));
                Ok(Dense { data: std::ptr::from_ref(&*own).cast(), n: 1, size, copied: None, _number: Some(own) })
            }
            Operand::Tensor(tensor) => {
                let g = tensor.geometry();
                let n = g.numel();
                // SAFETY: the storage is borrowed: the caller's promise.
                let data = unsafe { tensor.data() }.cast_const();
                let is_plain = g.dtype() == dtype && dtype != DType::Bool && !g.is_conj() && !g.is_neg();
                if n == 0 || is_plain && !copies && lies_in(g, strides) && data.addr().is_multiple_of(size) {
                    return Ok(Dense { data, n, size, copied: None, _number: None });
                }
                let copied = Copied::new(tensor, dtype, strides)?;
                Ok(Dense { data: copied.data(), n, size, copied: Some(Box::new(copied)), _number: None })
            }
        }
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

    /// The first element.
    pub(crate) fn start(&self) -> *const u8 {
        self.data
    }

    /// The elements as a type of their width; none where the width is another.
    pub(crate) fn elements<T: Plain>(&self) -> &[T] {
        if self.n == 0 || self.size != size_of::<T>() {
            return &[];
        }
        // SAFETY: `n` initialised and aligned elements of this width, which nobody writes meanwhile (the invariant);
        // their bits are values of `T`.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.n) }
    }
}

/// Whether elements lie in these strides; of one element along a dimension its stride does not matter.
fn lies_in(g: &Geometry, strides: &[i64]) -> bool {
    g.sizes().iter().zip(g.strides().iter().zip(strides)).all(|(&size, (got, want))| size == 1 || got == want)
}

/// An output that is dense, row-major or in other strides, or of which runs of elements are.
///
/// Invariant: `data` are `n` elements of `dtype`, aligned, which nobody else uses: runs of as many as `run[0]` begin
/// `run[1]` apart.
#[derive(Debug)]
pub(crate) struct Target {
    data: *mut u8,
    n: usize,
    run: [usize; 2],
    dtype: DType,
    bits: Bits,
}

// SAFETY: whoever has the only reference writes it.
unsafe impl Send for Target {}

impl Target {
    /// An output, which meta declared to be contiguous.
    ///
    /// # Safety
    ///
    /// Its storage stays borrowed as long as the result lives, which alone uses it.
    pub(crate) unsafe fn new(outputs: &Outputs<'_>, i: usize) -> Target {
        let strides = strides::contiguous_strides(outputs.geometry(i).sizes());
        // SAFETY: the caller's promise.
        unsafe { Target::in_strides(outputs, i, &strides) }
    }

    /// The same of one that meta declared to have these strides, which are dense.
    ///
    /// # Safety
    ///
    /// As for [`new`](Target::new), and elements in these strides lie apart, within as many as there are.
    pub(crate) unsafe fn in_strides(outputs: &Outputs<'_>, i: usize, strides: &[i64]) -> Target {
        let n = outputs.geometry(i).numel();
        // SAFETY: the caller's promise.
        unsafe { Target::in_runs(outputs, i, strides, [n, n]) }
    }

    /// The same of one of which so many elements are dense, and the next so many begin `run[1]` elements after them.
    ///
    /// # Safety
    ///
    /// As for [`new`](Target::new), and elements in these strides lie in such runs.
    pub(crate) unsafe fn in_runs(outputs: &Outputs<'_>, i: usize, strides: &[i64], run: [usize; 2]) -> Target {
        let g = outputs.geometry(i);
        let n = if lies_in(g, strides) { g.numel() } else { 0 };
        Target { data: outputs.data(i), n, run, dtype: g.dtype(), bits: Bits::of(g.dtype(), g.is_conj(), g.is_neg()) }
    }

    /// True if there are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Has `write` write every element, in the order in which they lie, which are zeros first.
    pub(crate) fn write<T: Plain + Default>(&mut self, write: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
        if self.n == 0 || self.dtype.size() != size_of::<T>() {
            return write(&mut []);
        }
        if self.n != self.run[0] {
            return self.write_runs(write);
        }
        // SAFETY: there is room for `n` elements of this width (the invariant), of which zero bytes are values.
        unsafe { self.data.write_bytes(0, self.n * size_of::<T>()) };
        // SAFETY: `n` aligned elements that were just initialised, and that nobody else uses (the invariant).
        let elements = unsafe { std::slice::from_raw_parts_mut(self.data.cast(), self.n) };
        write(elements)?;
        // SAFETY: the elements are initialised, and nobody else uses them.
        unsafe { self.bits.apply(self.dtype, self.data, self.n) };
        Ok(())
    }

    /// The same where there is room between the runs, which is not written.
    fn write_runs<T: Plain + Default>(&mut self, write: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
        let mut elements = list::with_capacity(self.n)?;
        elements.resize(self.n, T::default());
        write(&mut elements)?;
        let [length, step] = self.run;
        for (i, run) in elements.chunks_exact(length).enumerate() {
            // SAFETY: the invariant: there is such a run.
            let to = unsafe { self.data.cast::<T>().add(i * step) };
            // SAFETY: as many elements are there, aligned, and nobody else uses them (the invariant).
            unsafe { to.copy_from_nonoverlapping(run.as_ptr(), length) };
            // SAFETY: the elements are initialised, and nobody else uses them.
            unsafe { self.bits.apply(self.dtype, to.cast(), length) };
        }
        Ok(())
    }
}

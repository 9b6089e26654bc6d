//! A CPU device for tests of the core, which has none of its own: memory from the system allocator, filled with garbage
//! where nobody asked for zeroes, and a copy that goes through scalars. Runs no operator; the tests' own do.

use monomorph_core::{
    Contents, DType, DefaultDevice, Device, DeviceKind, Element, Memory, Reach, Result, Scalar, Standard, Strided,
    with_element,
};
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// The host, as a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host;

/// What a fresh block holds where nobody asked for zeroes.
pub(crate) const GARBAGE: u8 = 0xAB;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), 16).ok()
}

pub(crate) fn allocate(bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    let layout = layout(bytes)?;
    if contents == Contents::Zeroed {
        // SAFETY: the size is not 0.
        return NonNull::new(unsafe { alloc_zeroed(layout) });
    }
    // SAFETY: the size is not 0.
    let block = NonNull::new(unsafe { alloc(layout) })?;
    // SAFETY: the block has that many bytes.
    unsafe { block.write_bytes(GARBAGE, bytes) };
    Some(block)
}

/// # Safety
///
/// `block` came from `allocate` with the same number of bytes.
pub(crate) unsafe fn free(block: NonNull<u8>, bytes: usize) {
    let Some(layout) = layout(bytes) else { return };
    // SAFETY: the caller's promise.
    unsafe { dealloc(block.as_ptr(), layout) };
}

unsafe fn free_any(_: u8, block: NonNull<u8>, bytes: usize) {
    // SAFETY: M2.
    unsafe { free(block, bytes) };
}

unsafe fn copy_bytes(_: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    // SAFETY: M2: two live blocks of that size that do not overlap.
    unsafe { to.copy_from_nonoverlapping(from, bytes) };
}

static MEMORY: Memory = Memory {
    allocate: |_, bytes, contents| allocate(bytes, contents),
    free: free_any,
    copy: copy_bytes,
    reach: Reach::Host,
};

// SAFETY: blocks are the host's, and `copy` asks of one no more than its alignment.
unsafe impl DefaultDevice<Host> for Standard {}

// SAFETY: no other type of this binary has the kind; the memory functions are those of the system allocator; `copy`
// follows sizes and strides.
unsafe impl Device for Host {
    const KIND: DeviceKind = DeviceKind::CPU;
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    type Guard = ();
    type StdOps = ();

    fn enter(_: u8) {}

    unsafe fn copy(_: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        // SAFETY: C1 and C2, passed on.
        unsafe { copy_elements(sizes, to, from) };
        Ok(())
    }
}

/// Copies element by element, through scalars.
///
/// # Safety
///
/// C1 and C2 of [`Device::copy`], with pointers that the host can follow.
pub(crate) unsafe fn copy_elements(sizes: &[i64], to: Strided<'_>, from: Strided<'_>) {
    for index in indices(sizes) {
        let place = |side: &Strided<'_>| side.data.wrapping_offset(offset(&index, side.strides, side.dtype));
        // SAFETY: C1: in bounds.
        let mut value = unsafe { load(place(&from), from.dtype) };
        if from.conj != to.conj
            && let Scalar::Complex(c) = value
        {
            value = Scalar::Complex(c.conj());
        }
        if from.neg != to.neg {
            value = match value {
                Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
                Scalar::Float(f) => Scalar::Float(-f),
                Scalar::Complex(c) => Scalar::Complex(-c),
                Scalar::Bool(b) => Scalar::Bool(b),
            };
        }
        // SAFETY: C1: in bounds.
        unsafe { store(place(&to), to.dtype, value) };
    }
}

/// Every index of a tensor of `sizes`, in row-major order.
pub(crate) fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &size in sizes {
        all = all.iter().flat_map(|head| (0..size).map(move |i| [head.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// Bytes from the first element to the one at `index`.
pub(crate) fn offset(index: &[i64], strides: &[i64], dtype: DType) -> isize {
    let elements: i64 = index.iter().zip(strides).map(|(i, s)| i * s).sum();
    elements as isize * dtype.size() as isize
}

/// # Safety
///
/// `place` may be read as an element of `dtype`.
pub(crate) unsafe fn load(place: *const u8, dtype: DType) -> Scalar {
    // SAFETY: the caller's promise; Stored is plain data.
    with_element!(dtype, T => T::load(unsafe { place.cast::<<T as Element>::Stored>().read() }).to_scalar())
}

/// # Safety
///
/// `place` may be written as an element of `dtype`.
pub(crate) unsafe fn store(place: *mut u8, dtype: DType, value: Scalar) {
    with_element!(dtype, T => {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<<T as Element>::Stored>().write(T::from_scalar(value).store()) }
    });
}

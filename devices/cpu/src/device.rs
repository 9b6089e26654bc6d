//! The CPU as a device: its kind, its memory, its copy. How operators run on it is `pointwise`.

use crate::copy;
use crate::join;
use crate::memory::MEMORY;
use crate::rearrange::rearrange;
use monomorph_core::{DefaultDevice, Device, DeviceKind, Memory, Rearrange, Result, Scalar, Standard, Strided, Tensor};
use monomorph_ops::fill::{Fills, fill_by_kernel};

/// The host's processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu;

// SAFETY: the device's blocks are the host's, and its kernels and copies ask of one no more than its alignment.
unsafe impl DefaultDevice<Cpu> for Standard {}

// SAFETY: no other type has the kind CPU. `MEMORY` keeps M1 (16-byte aligned blocks of the global allocator, zeroed by
// it where asked), M2 and M3 (host memory). `copy` touches the elements it is given and nothing else.
unsafe impl Device for Cpu {
    const KIND: DeviceKind = DeviceKind::CPU;
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    const REVERSES: bool = true;
    const REARRANGE: Option<Rearrange> = Some(rearrange);
    type Guard = ();
    type StdOps = monomorph_ops::StdOps;

    fn enter(_index: u8) {}

    unsafe fn copy(_index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        // SAFETY: the caller promises C1 and C2 for these very arguments.
        unsafe { copy::copy(sizes, to, from) }
    }

    unsafe fn join(_index: u8, sizes: &[i64], to: &Strided<'_>, parts: &[Strided<'_>; 2]) -> Result<bool> {
        // SAFETY: the caller promises for these very arguments what `Device::join` asks for, and `join::join` asks for
        // no more.
        unsafe { join::join(sizes, to, parts) }
    }
}

impl Fills for Cpu {
    fn fill(this: &mut Tensor<Cpu>, value: Scalar) -> Result<()> {
        fill_by_kernel(this, value)
    }
}

//! An operator called on a device that has no kernel for it.
use monomorph::crates::core::{Contents, DeviceKind, Memory, Reach, Strided};
use monomorph::prelude::*;
use std::ptr::NonNull;

#[derive(Clone, Copy)]
struct Mock;

static MEMORY: Memory = Memory { allocate, free, copy, reach: REACH };
const REACH: Reach = Reach::Transfer { write: move_bytes, read: move_bytes, refusal: |_| None };
fn allocate(_: u8, _: usize, _: Contents) -> Option<NonNull<u8>> {
    None
}
unsafe fn free(_: u8, _: NonNull<u8>, _: usize) {}
unsafe fn copy(_: u8, _: NonNull<u8>, _: NonNull<u8>, _: usize) {}
unsafe fn move_bytes(_: u8, _: *mut u8, _: *const u8, _: usize) -> monomorph::Result<()> {
    Ok(())
}

// SAFETY: there is no memory.
unsafe impl Device for Mock {
    const KIND: DeviceKind = DeviceKind(16);
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    type Guard = ();
    type StdOps = ();
    fn enter(_: u8) {}
    unsafe fn copy(_: u8, _: &[i64], _: Strided<'_>, _: Strided<'_>) -> monomorph::Result<()> {
        Ok(())
    }
}

fn twice(a: &Tensor<Mock>) -> monomorph::Result<Tensor<Mock>> {
    a.add(a)
}

fn main() {
    let _ = twice;
}

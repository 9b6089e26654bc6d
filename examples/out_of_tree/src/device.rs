//! The arenas as a device: identity, current device, strided copy. Owns no kernel.

use crate::memory::{MEMORY, arena};
use crate::walk::{Elements, byte_strides, each};
use monomorph::crates::core::{DeviceKind, Memory, Strided};
use monomorph::crates::ops::fill::Fills;
use monomorph::{Device, ErrorKind, Result};
use std::cell::Cell;

/// The device of the arenas. Kinds from 16 on are for devices outside of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena;

thread_local! {
    static CURRENT: Cell<u8> = const { Cell::new(0) };
}

/// Makes the former device current again.
#[derive(Debug)]
pub struct Guard(u8);

impl Drop for Guard {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl Arena {
    /// The index that kernels of this thread run on.
    pub(crate) fn current() -> u8 {
        CURRENT.get()
    }
}

// SAFETY: kind 16 is this crate's in programs that link it. M1, M2: blocks are checked against the list of live ones,
// aligned to 64 within addresses that are, and zeroed where asked. M4: `write` and `read` copy slices of as many bytes,
// checked likewise. `copy` reaches no byte outside of live blocks of its arena, and only those of the elements it is
// given.
unsafe impl Device for Arena {
    const KIND: DeviceKind = DeviceKind(16);
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    type Guard = Guard;
    type StdOps = monomorph::crates::ops::StdOps;

    fn enter(index: u8) -> Guard {
        Guard(CURRENT.replace(index))
    }

    unsafe fn copy(index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        let mut arena = arena(index).ok_or(ErrorKind::ArgumentRule { rule: "there is no arena of this index" })?;
        let side = |s: &Strided<'_>| Elements { dtype: s.dtype, conj: s.conj, neg: s.neg };
        let (target, source) = (side(&to), side(&from));
        let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
        let strides = [byte_strides(to.strides, to.dtype), byte_strides(from.strides, from.dtype)];
        each(&sizes, [&strides[0], &strides[1]], [to.data, from.data], |[to, from]| {
            let value = source.load(&arena, from)?;
            target.store(&mut arena, to, value)
        })
    }
}

/// By the copy: there is no kernel for it.
impl Fills for Arena {}

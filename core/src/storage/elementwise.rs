//! Calls that can be run in parts: each element of the output is computed from the elements at the same place of the
//! inputs, and from nothing else. Owns what a device says of such a call; who runs parts is `groups.rs`.

use smallvec::SmallVec;

/// A bound call of which any part may be run by itself, also on other memory.
pub struct Elementwise {
    /// Elements of the output.
    pub numel: usize,
    /// The operands, output first.
    pub operands: SmallVec<[PartOperand; 4]>,
    /// Into how many pieces the device would cut the work.
    pub pieces: usize,
    /// Calls a function with each number below the first argument, from any number of threads.
    pub share: fn(usize, &(dyn Fn(usize) + Sync)),
}

/// Where the elements of an operand are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartOperand {
    /// The first element.
    pub data: *mut u8,
    /// Bytes from one element to the next: those of an element, or 0 for an input that has one element for all.
    pub step: usize,
}

/// Some of the elements of a call.
pub struct Part<'a> {
    /// The first element of each operand, output first.
    pub at: &'a [*mut u8],
    /// How many there are.
    pub numel: usize,
    /// The output is read again soon, so it had better stay in the cache.
    pub is_read_soon: bool,
}

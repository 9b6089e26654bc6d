//! What a session keeps for later runs, for whoever asks.

use std::ops::Range;

/// What a session keeps of the sizes that it ran last, to run them again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Kernels that are bound to memory.
    pub kernels: usize,
    /// How many of them are run block by block, with what they read and write in the cache.
    pub grouped: usize,
    /// Steps between them that are called anew: they draw numbers, or look at elements.
    pub steps: usize,
    /// Bytes of the tensors between kernels. What lives at different times shares them.
    pub bytes: usize,
    /// Bytes of those that live at the same time, at most: no other way to lay them out takes fewer.
    pub live: usize,
}

/// A tensor between kernels of a session, or memory that a kernel works in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryBlock {
    /// Where it begins, in bytes. What lives at different times may lie in the same place.
    pub offset: usize,
    /// Its bytes.
    pub bytes: usize,
    /// The kernels between which it lives, of [`Kept::kernels`].
    pub kernels: Range<usize>,
    /// The node that makes it, and its module.
    pub node: String,
}

//! Calls that can be run in parts: each element of the output is computed from the elements at the same place of the
//! inputs, and from nothing else. Owns what a device says of such a call; who runs parts is `groups.rs`.

use smallvec::SmallVec;

/// A bound call of which any part may be run by itself, also on other memory. It has addresses in the call, and may be
/// used as long as that stays where it is and is not run.
pub struct Elementwise {
    /// Elements of the output.
    pub numel: usize,
    /// The operands, output first.
    pub operands: SmallVec<[PartOperand; 4]>,
    /// Runs a part: the same results for the same elements as those of the whole call.
    ///
    /// # Safety
    ///
    /// E4: the context is that of the call, which is where it was. Other threads may run parts of it at the same time.
    /// E5: the part has an address for each operand: of `numel` elements, initialised for inputs, or of one where the
    /// call has one. They are equal where those of the call are, and else what is written overlaps no other operand.
    /// Nobody else writes these elements, or reads those of the output.
    pub run: unsafe fn(context: &[*const (); 3], part: &Part<'_>),
    /// What `run` is told.
    pub context: [*const (); 3],
    /// Into how many pieces the device would cut the work.
    pub pieces: usize,
    /// Calls a function with each number below the first argument, from any number of threads.
    pub share: fn(usize, &(dyn Fn(usize) + Sync)),
    /// What a thread calls behind its last part: others see what it has written.
    pub finish: fn(),
    /// Has the processor fetch so many bytes from an address on, which may lead out of memory.
    pub prefetch: fn(*const u8, usize),
}

/// Where the elements of an operand are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartOperand {
    /// One behind the other, from an address on, of so many bytes each.
    Run(*mut u8, usize),
    /// One for all, in memory.
    One(*mut u8),
    /// A number: its bytes, as the call takes them.
    Number(NumberBytes),
}

impl PartOperand {
    /// Bytes of an element, of an operand that has one for each place.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            PartOperand::Run(_, size) => Some(*size),
            _ => None,
        }
    }
}

/// An element of any dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub struct NumberBytes(pub [u8; 16]);

/// Some of the elements of a call.
pub struct Part<'a> {
    /// The first element of each operand, output first.
    pub at: &'a [*mut u8],
    /// How many there are.
    pub numel: usize,
    /// The output is read again soon, so it had better stay in the cache.
    pub is_read_soon: bool,
}

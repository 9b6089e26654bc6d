//! Where an operand of a bound call begins: in borrowed memory, or in the call itself if it is a number.
//!
//! A call may be moved between its creation and its run, so a number's address is taken only when the call runs
//! ([`OperandBase::pointer`]); until then the call owns bytes, not a pointer into itself.

pub(crate) use monomorph_core::structured::NumberBytes;
use monomorph_core::structured::{Operand, Outputs};
use smallvec::SmallVec;

/// One more than the inputs that a pointwise operator may have: the most operands of a call.
pub(crate) const MAX_OPERANDS: usize = 8;

/// Where an operand begins.
#[derive(Clone, Copy)]
pub(crate) enum OperandBase {
    /// In memory that is borrowed for as long as the call lives.
    Memory(*mut u8),
    /// In the call itself.
    Number(NumberBytes),
}

impl OperandBase {
    /// A number, as it lies in a tensor of its dtype.
    pub(crate) fn number(bytes: [u8; 16]) -> OperandBase {
        OperandBase::Number(NumberBytes(bytes))
    }

    /// The address of the first element. Of a number, which is an input and only read, it is valid as long as `self`
    /// stays in place.
    pub(crate) fn pointer(&self) -> *mut u8 {
        match self {
            OperandBase::Memory(pointer) => *pointer,
            OperandBase::Number(number) => number.0.as_ptr().cast_mut(),
        }
    }
}

/// Where the operands of a call begin, output first.
///
/// # Safety
///
/// E2 of [`Executes`](monomorph_core::structured::Executes): the storages stay borrowed as long as the result lives.
pub(super) unsafe fn bases(inputs: &[Operand<'_>], outputs: &Outputs<'_>) -> SmallVec<[OperandBase; 4]> {
    // SAFETY: the caller's promise.
    unsafe { bases_of(OperandBase::Memory(outputs.data(0)), inputs) }
}

/// The same with an output that begins there.
///
/// # Safety
///
/// As for [`bases`], of the inputs.
pub(super) unsafe fn bases_of(output: OperandBase, inputs: &[Operand<'_>]) -> SmallVec<[OperandBase; 4]> {
    let base = |input: &Operand<'_>| match input {
        // SAFETY: the caller promises that the storage stays borrowed as long as the pointer is used.
        Operand::Tensor(tensor) => Some(OperandBase::Memory(unsafe { tensor.data() })),
        Operand::Number(number) => Some(OperandBase::number(number.bytes())),
        // The plan refuses absent operands.
        Operand::Absent => None,
    };
    std::iter::once(output).chain(inputs.iter().filter_map(base)).collect()
}

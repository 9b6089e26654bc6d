//! A kernel together with what it takes of each operand: dtypes, rows, and how an operand's memory is brought to it.
//! Not generic, so everything that binds a call to memory is compiled once for all formulas. Refuses to look at memory.

use super::kernel_fn::KernelFn;
use super::row_layout::RowMode;
use crate::cast::Bits;
use crate::isa::Level;
use crate::staging::Stager;
use monomorph_core::DType;
use monomorph_iter::TensorIter;
use monomorph_ops::pointwise::OutputKind;

/// A kernel, chosen for this host (K1), and what it takes.
#[derive(Clone, Copy)]
pub(super) struct KernelSpec {
    pub(super) kernel: KernelFn,
    /// What the output holds.
    pub(super) kind: OutputKind,
    /// How many inputs, from the first, are masks.
    pub(super) masks: u8,
    /// An element takes longer to move than to compute.
    pub(super) light: bool,
    /// The rows that the kernel takes (K6).
    pub(super) row_mode: RowMode,
    /// The dtype that the operator computes in.
    pub(super) common: DType,
    /// The dtype that the kernel computes in, which is the same or wider.
    pub(super) compute: DType,
    /// The level that the kernel was chosen for.
    pub(super) level: Level,
}

impl KernelSpec {
    /// The dtype that the kernel takes for an operand; 0 is the output (K2).
    #[inline]
    pub(super) fn dtype(&self, operand: usize) -> DType {
        match (operand, self.kind) {
            (0, OutputKind::Common) => self.compute,
            (0, OutputKind::Truth) => DType::Bool,
            (0, OutputKind::Magnitude) => self.compute.to_real(),
            (k, _) if k <= usize::from(self.masks) => DType::Bool,
            _ => self.compute,
        }
    }

    /// The operand, counted from the output, that a kernel compares with its output to run in place: the first input
    /// that is no mask.
    #[inline]
    pub(super) fn first_value(&self) -> usize {
        usize::from(self.masks) + 1
    }

    /// Whether operands of the dtypes that the kernel takes may be handed to it as they are. Otherwise they are rounded
    /// to the common dtype first: an int32 operand of a float16 operator that is computed in float32.
    #[inline]
    pub(super) fn takes_common_dtype(&self) -> bool {
        self.common == self.compute
    }

    /// What stages an operand: from its memory to the kernel, or back.
    pub(super) fn stager(&self, iter: &TensorIter, operand: usize) -> Stager {
        let (dtype, want) = (iter.dtype(operand), self.dtype(operand));
        let bits = Bits::of(dtype, iter.is_conj(operand), iter.is_neg(operand));
        let make = if operand == 0 { Stager::output } else { Stager::input };
        let stager = make(dtype, want, bits, self.level);
        // An operator may compute wider than its operands promote to; what it writes is rounded to their dtype all the
        // same.
        let through = match iter.maybe_common_dtype() {
            Some(half @ (DType::F16 | DType::BF16)) if operand == 0 && want == DType::F32 => half,
            _ => self.common,
        };
        if want == self.compute && through != want { stager.through(through, self.level) } else { stager }
    }
}

//! A body together with what it takes of each operand. Owns which lane leads from an operand's memory to the body; refuses to
//! look at memory.

use super::body::Body;
use super::rows::Walks;
use crate::cast::Bits;
use crate::isa::Level;
use crate::lane::Lane;
use monomorph_core::DType;
use monomorph_iter::TensorIter;
use monomorph_ops::pointwise::OutputKind;

/// A body, chosen for this host (K1), and what it takes.
#[derive(Clone, Copy)]
pub(super) struct Taking {
    pub(super) body: Body,
    pub(super) kind: OutputKind,
    pub(super) masks: u8,
    /// An element takes longer to move than to compute.
    pub(super) light: bool,
    /// The rows that the body takes (K6).
    pub(super) walks: Walks,
    /// The dtype that the operator computes in.
    pub(super) common: DType,
    /// The dtype that the body computes in, which is the same or wider.
    pub(super) compute: DType,
    pub(super) level: Level,
}

impl Taking {
    /// The dtype that the body takes for an operand; 0 is the output (K2).
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

    /// The place of the first operand that is no mask, which a body may find to be its output.
    #[inline]
    pub(super) fn first(&self) -> usize {
        usize::from(self.masks) + 1
    }

    /// True if operands of the dtypes that the body takes may be handed to it as they are: none passes through another.
    #[inline]
    pub(super) fn is_own(&self) -> bool {
        self.common == self.compute
    }

    /// The way from an operand's memory to the body, or back.
    pub(super) fn lane(&self, iter: &TensorIter, operand: usize) -> Lane {
        let (dtype, want) = (iter.dtype(operand), self.dtype(operand));
        let bits = Bits::of(dtype, iter.is_conj(operand), iter.is_neg(operand));
        let make = if operand == 0 { Lane::output } else { Lane::input };
        let lane = make(dtype, want, bits, self.level);
        // An operator may compute wider than its operands promote to; what it writes is theirs all the same.
        let through = match iter.maybe_common_dtype() {
            Some(half @ (DType::F16 | DType::BF16)) if operand == 0 && want == DType::F32 => half,
            _ => self.common,
        };
        if want == self.compute && through != want { lane.through(through, self.level) } else { lane }
    }
}

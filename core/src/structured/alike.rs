//! One look at the tensors of a call, before anything else looks at them: in most calls they are alike in all that a plan asks
//! for, and no later stage has to look again. Owns the comparison; decides nothing, and says nothing of other calls.

use super::operand::Operand;
use super::state::{Place, Slot};
use crate::device::DeviceId;
use crate::dtype::{DType, Kind};
use crate::geometry::Geometry;
use crate::tensor::TensorRef;

/// The most operands of a call that is looked at.
const OPERANDS: usize = 8;

/// What the tensors of a call with one output have in common: all are plain, on one device, of the same sizes, and dense in the
/// same order (row-major, or with equal strides); the inputs have one dtype, and no number a higher kind. The caller's
/// output, where it shares the storage of an input, is that very tensor.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    /// The operands that were looked at, by address, which nothing else has while the call lasts.
    operands: (usize, usize),
    first: u8,
    numbers: u8,
    dtype: DType,
    output: Option<DType>,
    device: DeviceId,
    row_major: bool,
}

impl Alike {
    /// Looks at all of them; `None` if they are not alike.
    pub(super) fn look(operands: &[Operand<'_>], slots: &[Slot<'_>]) -> Option<Alike> {
        let [Slot { place, .. }] = slots else { return None };
        if operands.len() > OPERANDS {
            return None;
        }
        let first = operands.iter().position(|operand| matches!(operand, Operand::Tensor(_)))?;
        let Operand::Tensor(one) = &operands[first] else { return None };
        let (geometry, device) = (one.geometry(), one.device());
        let dtype = geometry.dtype();
        let (mut unlike, mut numbers) = (geometry.unlike(geometry), 0);
        for (k, operand) in operands.iter().enumerate() {
            match operand {
                Operand::Tensor(_) if k == first => {}
                Operand::Tensor(t) => {
                    let g = t.geometry();
                    unlike |= geometry.unlike(g) | u64::from(dtype as u8 ^ g.dtype() as u8);
                    unlike |= u64::from(t.device().bits() ^ device.bits());
                }
                Operand::Number(number) if number.dtype().kind() <= dtype.kind() => numbers |= 1 << k,
                _ => return None,
            }
        }
        let mut output = None;
        if let Place::Existing(out) = place {
            let out = out.as_ref();
            unlike |= geometry.unlike(out.geometry()) | u64::from(out.device().bits() ^ device.bits());
            if unlike == 0 && !operands.iter().filter_map(Operand::tensor).all(|t| apart_or_same(t, out)) {
                return None;
            }
            output = Some(out.geometry().dtype());
        }
        let row_major = geometry.is_contiguous();
        let at = (operands.as_ptr().addr(), operands.len());
        (unlike == 0).then_some(Alike { operands: at, first: first as u8, numbers, dtype, output, device, row_major })
    }

    /// True if these are the operands that were looked at.
    #[inline]
    pub(super) fn is_of(&self, operands: &[Operand<'_>]) -> bool {
        self.operands == (operands.as_ptr().addr(), operands.len())
    }

    /// The geometry of the first tensor: up to offset and strides that do not matter, that of all of them.
    #[inline]
    pub fn geometry<'t>(&self, operands: &[Operand<'t>]) -> Option<&'t Geometry> {
        operands.get(usize::from(self.first))?.geometry()
    }

    /// Bit `k` is set if operand `k` is a number; the others are tensors.
    #[inline]
    pub fn numbers(&self) -> u8 {
        self.numbers
    }

    /// The dtype of the tensors among the operands.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The kind of that dtype.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.dtype.kind()
    }

    /// The dtype of the caller's output, if there is one.
    #[inline]
    pub fn output(&self) -> Option<DType> {
        self.output
    }

    /// The device.
    #[inline]
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// True if all are row-major; else all have the same strides.
    #[inline]
    pub fn is_row_major(&self) -> bool {
        self.row_major
    }
}

/// True if an input does not share the output's storage, or is the output.
#[inline]
fn apart_or_same(input: TensorRef<'_>, out: TensorRef<'_>) -> bool {
    input.storage_id() != out.storage_id() || input.geometry().same_elements(out.geometry())
}

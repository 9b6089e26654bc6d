//! One look at the tensors of a call, before anything else looks at them: in most calls they are alike in all that a
//! plan asks for, and no later stage has to look again. Owns the comparison; decides nothing, and says nothing of other
//! calls.

use super::operand::Operand;
use super::slot::{Place, Slot};
use crate::dtype::{DType, Kind};
use crate::geometry::Geometry;
use crate::options::DeviceId;
use crate::tensor::TensorRef;

/// The most operands of a call that is looked at.
const OPERANDS: usize = 8;

/// What the tensors of a call with one output have in common: all are plain, on one device, of the same sizes, and
/// dense in the same order (row-major, or with equal strides); the inputs have one dtype, and no number a higher kind.
/// The caller's output, where it shares the storage of an input, is that very tensor.
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
    /// Looks at all of them, and writes what it sees where it is to be: a result that is moved is read in other pieces
    /// than it was written in, for which processors wait.
    pub(super) fn look(operands: &[Operand<'_>], slots: &[Slot<'_>], into: &mut Option<Alike>) {
        *into = None;
        let [Slot { place, .. }] = slots else { return };
        let (first, one) = match operands {
            [Operand::Tensor(t), ..] => (0, t),
            [_, Operand::Tensor(t), ..] => (1, t),
            _ => return,
        };
        let geometry = one.geometry();
        if operands.len() > OPERANDS || !geometry.is_simple() {
            return;
        }
        let out = match place {
            Place::Existing(out) => Some(out.as_ref()),
            Place::New(_) => None,
        };
        let dtype = geometry.dtype();
        let (first_storage, device) = one.whereabouts();
        // No storage is at 0.
        let (written, on) = out.map_or((0, device), |out| out.whereabouts());
        let mut unlike = out.map_or(0, |out| geometry.unlike::<false>(out.geometry()));
        let (mut elsewhere, mut shares, mut numbers) = (on ^ device, first_storage == written, 0);
        for (k, operand) in operands.iter().enumerate().filter(|(k, _)| *k != first) {
            match operand {
                Operand::Tensor(t) => {
                    let (storage, on) = t.whereabouts();
                    unlike |= geometry.unlike::<true>(t.geometry());
                    elsewhere |= on ^ device;
                    shares |= storage == written;
                }
                Operand::Number(number) if number.dtype().kind() <= dtype.kind() => numbers |= 1 << k,
                _ => return,
            }
        }
        let stands_apart = || !shares || out.is_some_and(|out| apart_or_same(operands, out));
        if unlike != 0 || elsewhere != 0 || !stands_apart() {
            return;
        }
        let (output, row_major) = (out.map(|out| out.geometry().dtype()), geometry.is_contiguous());
        if !row_major && !same_strides(operands, geometry, out) {
            return;
        }
        let at = (operands.as_ptr().addr(), operands.len());
        *into =
            Some(Alike { operands: at, first: first as u8, numbers, dtype, output, device: one.device(), row_major });
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

/// True if each input does not share the output's storage, or is the output.
#[cold]
fn apart_or_same(operands: &[Operand<'_>], out: TensorRef<'_>) -> bool {
    let storage = out.storage_id();
    let mut inputs = operands.iter().filter_map(Operand::tensor);
    inputs.all(|t| t.storage_id() != storage || t.geometry().same_elements(out.geometry()))
}

/// True if all have these strides.
#[cold]
fn same_strides(operands: &[Operand<'_>], like: &Geometry, out: Option<TensorRef<'_>>) -> bool {
    let mut tensors = operands.iter().filter_map(Operand::tensor).chain(out);
    tensors.all(|t| t.geometry().same_strides(like))
}

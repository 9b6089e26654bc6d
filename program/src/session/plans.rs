//! The plans of a session, by the sizes that they are for. Owns which one inputs run by, and how many are kept; making
//! and running one is in `replay.rs`.

use super::captured::Capture;
use super::plan::Plan;
use super::{Kept, Value};
use monomorph_core::IValue;
use monomorph_core::structured::Arrangement;

/// The plans of a session: one for each set of input sizes that it has met, the last ones.
#[derive(Default)]
pub(super) struct Plans {
    known: Vec<Known>,
    /// The key of the inputs that are run.
    key: Vec<i64>,
    /// The one that ran last, if one did.
    last: Option<usize>,
}

/// The plan for one set of input sizes, which are its key.
pub(super) struct Known {
    key: Vec<i64>,
    pub(super) plan: Plan,
    pub(super) kernels: Kernels,
}

/// What of a plan is bound to memory.
pub(super) enum Kernels {
    /// The plan has not run again.
    Unknown,
    /// Nothing that would be worth it.
    Nothing,
    /// They are captured once more, with their memory in one block: how it lies there, and the steps that are not kept.
    Arranged(Arrangement, Vec<usize>),
    Captured(Box<Capture>),
}

/// How many plans a session keeps.
const KEPT: usize = 16;

/// How many of them keep the memory that their kernels are bound to.
const CAPTURED: usize = 4;

/// How inputs are run.
pub(super) enum Way<'p> {
    Replayed(&'p mut Known),
    /// Operator by operator, which leaves a plan to keep under this key.
    Planned(Vec<i64>),
    /// Operator by operator.
    InTurn,
}

impl Plans {
    /// How to run inputs. While those of `share_memory` are run no plan can be made.
    pub(super) fn way(&mut self, inputs: &[Value], share_memory: impl FnOnce() -> bool) -> Way<'_> {
        self.last = None;
        if !key(inputs, &mut self.key) {
            return Way::InTurn;
        }
        match self.known.iter().position(|known| known.key == self.key) {
            Some(position) => {
                self.release(position);
                self.last = Some(position);
                Way::Replayed(&mut self.known[position])
            }
            None if share_memory() => Way::InTurn,
            None => Way::Planned(self.key.clone()),
        }
    }

    /// Makes room for the kernels of a plan, if it has none yet: those that were captured first are given up.
    fn release(&mut self, position: usize) {
        if !matches!(self.known[position].kernels, Kernels::Unknown | Kernels::Arranged(..)) {
            return;
        }
        let captured = |known: &Known| matches!(known.kernels, Kernels::Captured(_));
        if self.known.iter().filter(|known| captured(known)).count() >= CAPTURED
            && let Some(first) = self.known.iter_mut().find(|known| captured(known))
        {
            first.kernels = Kernels::Unknown;
        }
    }

    /// The one that ran last, and its kernels.
    pub(super) fn captured(&self) -> Option<(&Plan, &Capture)> {
        let known = self.known.get(self.last?)?;
        match &known.kernels {
            Kernels::Captured(capture) => Some((&known.plan, capture)),
            _ => None,
        }
    }

    /// What is kept of it.
    pub(super) fn kept(&self) -> Option<Kept> {
        self.captured().map(|(_, capture)| capture.kept())
    }

    pub(super) fn keep(&mut self, key: Vec<i64>, plan: Plan) {
        if self.known.len() >= KEPT {
            self.known.remove(0);
        }
        self.known.push(Known { key, plan, kernels: Kernels::Unknown });
    }
}

/// What sizes, strides and dtypes of a run hang on. False where a tensor has what plans do not know.
fn key(inputs: &[Value], key: &mut Vec<i64>) -> bool {
    key.clear();
    for value in inputs {
        match value {
            IValue::Tensor(tensor) if tensor.names().is_none() => {
                let g = tensor.geometry();
                let bits = i64::from(g.is_conj()) | i64::from(g.is_neg()) << 1 | i64::from(g.is_wrapped()) << 2;
                key.extend([1, g.dtype() as i64, bits, g.offset(), g.ndim() as i64]);
                key.extend_from_slice(g.sizes());
                key.extend_from_slice(g.strides());
            }
            IValue::Tensor(_) => return false,
            IValue::Int(i) => key.extend([2, *i]),
            IValue::Bool(b) => key.extend([3, i64::from(*b)]),
            // Of others no size hangs on the value.
            _ => key.push(4),
        }
    }
    true
}

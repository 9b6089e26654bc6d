//! Values of a run against what the program recorded of them.

use super::Run;
use crate::graph::{Graph, Recorded, ValueId};
use crate::program::{Program, recorded_tensor};
use monomorph_core::IValue;

/// A value that is not what the program recorded of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The node that made it, with its module.
    pub node: String,
    /// The value.
    pub value: String,
    /// What it is, and what was recorded.
    pub what: String,
    /// True if only the strides differ: which kernel PyTorch chooses, and so the strides of its result, may depend on
    /// whether gradients are wanted, as they are while a program is exported.
    pub strides: bool,
}

impl Run<'_> {
    /// Notes a value that is not what was recorded of it, and learns the symbols in what was recorded.
    pub(super) fn observe(&mut self, graph: &Graph, id: ValueId, place: &dyn Fn() -> String) {
        let info = graph.value(id);
        let Some(value) = self.frames.last().and_then(|frame| frame.get(id.index())) else { return };
        match (&info.recorded, value) {
            (Recorded::Int(expr), IValue::Int(value)) => {
                self.bindings.unify(expr, *value);
            }
            (recorded, IValue::Tensor(tensor)) if self.compares => {
                let Some(recorded) = recorded_tensor(recorded) else { return };
                *self.compared += 1;
                let compared = Program::compare(&self.program.symbols, &mut self.bindings, recorded, tensor);
                if let Some((what, strides)) = compared {
                    let value = info.name.to_string();
                    self.differences.push(Difference { node: place(), value, what, strides });
                }
            }
            _ => {}
        }
    }
}

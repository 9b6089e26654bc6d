//! Making a plan while the graph runs operator by operator. Owns what of a node may become steps of its own.
//!
//! A node is taken apart where nothing about it hangs on data: its arguments are of sizes that follow from those of the
//! inputs, and its operator gives the same sizes on the meta device. Every other node stays a node.

use super::plan::{Action, Plan, Slot, Source, Step, Target};
use super::trace::Call;
use crate::graph::{Argument, Graph, Node, Output, ValueId};
use monomorph_core::dispatch::OperatorHandle;
use monomorph_core::{AnyTensor, DeviceId, Geometry, IValue, Stack};

/// A plan that is being made.
pub(super) struct Planner {
    steps: Vec<Step>,
    slots: usize,
    /// Values that are the same, or tensors of the same geometry, for all inputs of these sizes.
    fixed: Vec<bool>,
}

/// Two tensors are the same elements with the same meaning.
fn same(a: &AnyTensor, b: &AnyTensor) -> bool {
    a.storage_id() == b.storage_id() && same_geometry(a.geometry(), b.geometry())
}

pub(crate) fn same_geometry(a: &Geometry, b: &Geometry) -> bool {
    let bits = |g: &Geometry| (g.dtype(), g.is_conj(), g.is_neg(), g.is_wrapped(), g.offset());
    bits(a) == bits(b)
        && a.sizes() == b.sizes()
        && a.strides() == b.strides()
        && a.names().is_none()
        && b.names().is_none()
}

/// The tensors that a node's calls can have, each with its slot: the first of a storage is the one that views are of.
struct Known<'p> {
    planner: &'p mut Planner,
    node: usize,
    tensors: Vec<(AnyTensor, Slot)>,
    steps: Vec<Step>,
}

impl Known<'_> {
    /// The slot of a tensor: one that is known, or a view of one.
    fn slot(&mut self, tensor: &AnyTensor) -> Option<Slot> {
        if let Some((_, slot)) = self.tensors.iter().find(|(known, _)| same(known, tensor)) {
            return Some(*slot);
        }
        let (_, from) = self.tensors.iter().find(|(known, _)| known.storage_id() == tensor.storage_id())?;
        let (from, to) = (*from, self.planner.slot());
        let geometry = tensor.geometry().clone();
        self.push(Action::View { from, to, geometry });
        self.tensors.push((tensor.clone(), to));
        Some(to)
    }

    fn is_known(&self, tensor: &AnyTensor) -> bool {
        self.tensors.iter().any(|(known, _)| known.storage_id() == tensor.storage_id())
    }

    fn push(&mut self, action: Action) {
        self.steps.push(Step::new(self.node, action));
    }

    /// A slot for a new tensor.
    fn fresh(&mut self, tensor: &AnyTensor) -> Slot {
        let slot = self.planner.slot();
        self.tensors.push((tensor.clone(), slot));
        slot
    }

    fn source(&mut self, value: &IValue) -> Option<Source> {
        Some(match value {
            IValue::Tensor(tensor) => Source::Slot(self.slot(tensor)?),
            IValue::Tensors(list) => Source::Tensors(list.iter().map(|t| self.slot(t)).collect::<Option<_>>()?),
            IValue::OptionalTensors(list) => {
                let slot = |t: &Option<AnyTensor>| match t {
                    Some(t) => self.slot(t).map(Some),
                    None => Some(None),
                };
                Source::OptionalTensors(list.iter().map(slot).collect::<Option<_>>()?)
            }
            // What a list of another kind holds is not looked at.
            IValue::List(list) if !list.is_empty() => return None,
            other => Source::Constant(other.clone()),
        })
    }

    /// One call. None if a tensor comes from nowhere.
    fn call(&mut self, call: &Call) -> Option<()> {
        let writes = call.handle.may_write(&call.args).ok()?;
        let results = || call.results.iter().flat_map(IValue::tensors);
        if !writes && results().all(|tensor| self.is_known(tensor)) {
            // Views and numbers: nothing is left to do for them.
            return Some(());
        }
        let args = call.args.iter().map(|arg| self.source(arg)).collect::<Option<Vec<_>>>()?;
        if writes {
            // The written tensors are the arguments, and stay as they were but for their elements.
            if !results().all(|tensor| self.tensors.iter().any(|(known, _)| same(known, tensor))) {
                return None;
            }
            self.push(Action::Call { handle: call.handle.clone(), args, results: Vec::new() });
            return Some(());
        }
        let results = call.results.iter().map(|result| match result {
            // A result that is an argument, beside one that is new.
            result if result.tensors().any(|tensor| self.is_known(tensor)) => None,
            IValue::Tensor(tensor) => Some(Target::Slot(self.fresh(tensor))),
            IValue::Tensors(list) => Some(Target::Items(list.iter().map(|tensor| self.fresh(tensor)).collect())),
            IValue::OptionalTensors(_) => None,
            _ => Some(Target::Nothing),
        });
        let results = results.collect::<Option<Vec<_>>>()?;
        let action = Action::Call { handle: call.handle.clone(), args, results };
        let bytes = call.results.iter().flat_map(IValue::tensors).map(AnyTensor::storage_bytes).sum();
        self.steps.push(Step { bytes, ..Step::new(self.node, action) });
        Some(())
    }

    /// Gives a value of the graph its result.
    fn bind(&mut self, id: ValueId, result: &IValue) -> Option<()> {
        let to = id.index();
        let action = match result {
            IValue::Tensor(tensor) => {
                let values = self.planner.fixed.len();
                let known = self.tensors.iter().find(|(known, _)| same(known, tensor)).map(|(_, slot)| *slot);
                match known {
                    // What a call of this node has made is made for the value.
                    Some(own) if own >= values => {
                        self.rename(own, to);
                        return Some(());
                    }
                    Some(from) => Action::Same { from, to },
                    None => {
                        let (_, from) = self.tensors.iter().find(|(t, _)| t.storage_id() == tensor.storage_id())?;
                        Action::View { from: *from, to, geometry: tensor.geometry().clone() }
                    }
                }
            }
            IValue::Tensors(_) | IValue::OptionalTensors(_) | IValue::List(_) => return None,
            number => Action::Constant { to, value: number.clone() },
        };
        self.push(action);
        if let IValue::Tensor(tensor) = result {
            self.tensors.push((AnyTensor::clone(tensor), to));
        }
        Some(())
    }

    fn rename(&mut self, old: Slot, new: Slot) {
        let change = |slot: &mut Slot| {
            if *slot == old {
                *slot = new;
            }
        };
        self.tensors.iter_mut().for_each(|(_, slot)| change(slot));
        self.steps.iter_mut().for_each(|step| step.action.each_slot(change));
    }
}

impl Planner {
    /// A plan whose first slots are the values of a graph, of which the inputs are fixed but for `loose` ones.
    pub(super) fn new(graph: &Graph, loose: impl Fn(usize) -> bool) -> Planner {
        let mut fixed = vec![false; graph.values.len()];
        for (position, id) in graph.inputs.iter().enumerate() {
            fixed[id.index()] = !loose(position);
        }
        Planner { steps: Vec::new(), slots: graph.values.len(), fixed }
    }

    fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    /// Whether all that a node is given is fixed.
    pub(super) fn is_fixed(&self, node: &Node) -> bool {
        node.args.iter().flat_map(Argument::values).all(|id| self.fixed[id.index()])
    }

    /// Leaves a node as it is; `fixed` if what it gives follows from the sizes all the same.
    pub(super) fn keep(&mut self, index: usize, node: &Node, fixed: bool) {
        self.steps.push(Step::new(index, Action::Node));
        self.fix(node, fixed);
    }

    /// Notes numbers that follow from the sizes; of an assertion about such numbers that has passed nothing is left.
    pub(super) fn numbers(&mut self, index: usize, node: &Node, results: &[IValue]) {
        for (output, value) in node.outputs.iter().zip(results) {
            if let Output::One(id) = output {
                let action = Action::Constant { to: id.index(), value: value.clone() };
                self.steps.push(Step::new(index, action));
            }
        }
        self.fix(node, true);
    }

    /// Takes a node apart into its calls. False if it has to stay as it is.
    pub(super) fn take_apart(
        &mut self,
        index: usize,
        node: &Node,
        value: impl Fn(ValueId) -> IValue,
        calls: &[Call],
        results: &[IValue],
    ) -> bool {
        let before = self.slots;
        let mut known = Known { planner: self, node: index, tensors: Vec::new(), steps: Vec::new() };
        for id in node.args.iter().flat_map(Argument::values) {
            if let IValue::Tensor(tensor) = value(id) {
                known.tensors.push((tensor.into_tensor(), id.index()));
            }
        }
        let done = calls.iter().all(|call| known.call(call).is_some())
            && node.outputs.iter().zip(results).all(|(output, result)| match (output, result) {
                (Output::Nothing, _) => true,
                (Output::One(id), result) => known.bind(*id, result).is_some(),
                (Output::Items(ids), IValue::Tensors(list)) if ids.len() == list.len() => {
                    ids.iter().zip(list).all(|(id, tensor)| known.bind(*id, &tensor.clone().into()).is_some())
                }
                (Output::Items(ids), IValue::Ints(list)) if ids.len() == list.len() => {
                    ids.iter().zip(list).all(|(id, int)| known.bind(*id, &IValue::Int(*int)).is_some())
                }
                _ => false,
            });
        let steps = known.steps;
        if !done {
            self.slots = before;
            return false;
        }
        self.steps.extend(steps);
        self.fix(node, true);
        true
    }

    fn fix(&mut self, node: &Node, fixed: bool) {
        for id in node.outputs.iter().flat_map(Output::values) {
            self.fixed[id.index()] = fixed;
        }
    }

    /// The plan.
    pub(super) fn finish(self, graph: &Graph) -> Plan {
        Plan::new(graph, self.steps, self.slots)
    }
}

/// Whether an operator gives the same sizes, strides and dtypes on the meta device: then they hang on no data.
pub(super) fn agrees_on_meta(handle: &OperatorHandle, args: &[IValue], results: &[IValue]) -> bool {
    let on_meta = |value: &IValue| match value {
        IValue::Tensor(tensor) => tensor.to_meta().into(),
        IValue::Tensors(list) => IValue::Tensors(list.iter().map(AnyTensor::to_meta).collect()),
        IValue::OptionalTensors(list) => {
            IValue::OptionalTensors(list.iter().map(|t| t.as_ref().map(AnyTensor::to_meta)).collect())
        }
        // `to.device` and its like, which no meta tensor's elements could follow.
        IValue::Device(_) => IValue::Device(DeviceId::META),
        other => other.clone(),
    };
    let mut stack: Stack = args.iter().map(on_meta).collect();
    if handle.call(&mut stack).is_err() || stack.len() != results.len() {
        return false;
    }
    stack.iter().zip(results).all(|(shape, result)| {
        if let Some(number) = result.to_scalar() {
            return shape.to_scalar() == Some(number);
        }
        let (shapes, results) = (shape.tensors(), result.tensors());
        let geometries = |t: &AnyTensor| t.geometry().clone();
        let (shapes, results): (Vec<_>, Vec<_>) = (shapes.map(geometries).collect(), results.map(geometries).collect());
        shapes.len() == results.len() && shapes.iter().zip(&results).all(|(a, b)| same_geometry(a, b))
    })
}

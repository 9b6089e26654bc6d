//! Running a plan in place of its graph, and making one while the graph runs.

use super::execute::failed;
use super::plan::{Action, Plan, Slot, Source, Step, Target};
use super::planner::{Planner, agrees_on_meta};
use super::plans::{Kernels, Known};
use super::trace::traced;
use super::{Run, Value};
use crate::error::Result;
use crate::graph::{Argument, Called, Callee, Check, Graph, InputKind, Node, ValueId};
use monomorph_core::structured::Recording;
use monomorph_core::{AnyTensor, IValue, Stack};

/// Whether a value is the same for all inputs of one key.
fn is_in_key(value: &Value) -> bool {
    matches!(value, IValue::Tensor(_) | IValue::Int(_) | IValue::Bool(_) | IValue::None)
}

impl Run<'_> {
    /// Runs a graph operator by operator, and gives beside its outputs and values the plan for the next time.
    pub(super) fn planned(
        &mut self,
        graph: &Graph,
        kinds: &[InputKind],
        inputs: Vec<IValue>,
    ) -> Result<(Vec<IValue>, Vec<IValue>, Plan)> {
        let loose: Vec<bool> = kinds
            .iter()
            .zip(&inputs)
            .map(|(kind, value)| matches!(kind, InputKind::User(_)) && !is_in_key(value))
            .collect();
        let mut planner = Planner::new(graph, |position| loose.get(position).copied().unwrap_or(true));
        self.begin(graph, inputs, graph.values.len());
        let results = self.nodes(graph, None, Some(&mut planner));
        let (results, frame) = self.end(results)?;
        Ok((results, frame, planner.finish(graph)))
    }

    /// Runs a node, and notes what is left of it.
    pub(super) fn planned_node(
        &mut self,
        graph: &Graph,
        (index, node): (usize, &Node),
        planner: &mut Planner,
    ) -> Result<Vec<IValue>> {
        let is_tensor = |id: ValueId| self.value(id).tensors().next().is_some();
        let has_tensors = || node.args.iter().flat_map(Argument::values).any(is_tensor);
        let follows_from_sizes = match &node.callee {
            _ if !planner.is_fixed(node) => false,
            Callee::Operator(called) => return self.planned_call(graph, (index, node), called, planner),
            Callee::Check(Check::Metadata) => true,
            // Of a tensor, what is asserted or computed hangs on its elements.
            Callee::Number(_) | Callee::Check(_) => !has_tensors(),
            _ => false,
        };
        let results = self.node(graph, node, None)?;
        if follows_from_sizes {
            planner.numbers(index, node, &results);
        } else {
            planner.keep(index, node, false);
        }
        Ok(results)
    }

    fn planned_call(
        &mut self,
        graph: &Graph,
        (index, node): (usize, &Node),
        called: &Called,
        planner: &mut Planner,
    ) -> Result<Vec<IValue>> {
        let args = self.arguments(node)?;
        if !called.writes.is_empty() {
            // What writes its arguments is left as it is: the session may have to make them its own first.
            let results = self.call(graph, node, called, None)?;
            planner.keep(index, node, agrees_on_meta(&called.handle, &args, &results));
            return Ok(results);
        }
        let mut stack: Stack = args.clone();
        let calls = traced(&called.handle, &mut stack).map_err(|error| failed(node, error))?;
        if !agrees_on_meta(&called.handle, &args, &stack) {
            planner.keep(index, node, false);
            return Ok(stack);
        }
        let value = |id| self.value(id).clone();
        if !calls.is_some_and(|calls| planner.take_apart(index, node, value, &calls, &stack)) {
            planner.keep(index, node, true);
        }
        Ok(stack)
    }

    /// Runs inputs whose plan is known: the outputs of the graph, and the values that are left. Outputs of a run before
    /// may be written again.
    pub(super) fn again(
        &mut self,
        graph: &Graph,
        kinds: &[InputKind],
        known: &mut Known,
        inputs: Vec<IValue>,
        before: &mut [Value],
    ) -> Result<(Vec<IValue>, Vec<IValue>)> {
        if let Kernels::Captured(capture) = &known.kernels
            && !capture.is_current(|position| self.state.tensor(position).map(AnyTensor::storage_id))
        {
            known.kernels = Kernels::Unknown;
        }
        match &mut known.kernels {
            Kernels::Captured(capture) => self.run_captured(graph, &known.plan, capture, inputs, before),
            Kernels::Nothing => self.replay(graph, &known.plan, inputs),
            Kernels::Unknown => {
                let recording = (Recording::default(), &[][..]);
                let (results, frame, capture) = self.capture(graph, kinds, &known.plan, inputs, recording)?;
                known.kernels = match capture {
                    None => Kernels::Nothing,
                    Some(capture) => match capture.arrangement() {
                        Some(arrangement) => Kernels::Arranged(arrangement, capture.skipped().collect()),
                        None => Kernels::Captured(Box::new(capture)),
                    },
                };
                Ok((results, frame))
            }
            Kernels::Arranged(arrangement, skipped) => {
                let recording = (Recording::arranged(arrangement.clone()), &skipped[..]);
                let (results, frame, capture) = self.capture(graph, kinds, &known.plan, inputs, recording)?;
                known.kernels = capture.map_or(Kernels::Nothing, |capture| Kernels::Captured(Box::new(capture)));
                Ok((results, frame))
            }
        }
    }

    /// Runs a plan: the outputs of its graph, and the values that are left.
    pub(super) fn replay(
        &mut self,
        graph: &Graph,
        plan: &Plan,
        inputs: Vec<IValue>,
    ) -> Result<(Vec<IValue>, Vec<IValue>)> {
        self.begin(graph, inputs, plan.slots);
        let results = self.steps(graph, plan);
        self.end(results)
    }

    fn steps(&mut self, graph: &Graph, plan: &Plan) -> Result<Vec<IValue>> {
        let mut stack = Stack::new();
        for step in &plan.steps {
            self.step(graph, step, &mut stack)?;
            self.forget(step);
        }
        self.outputs(graph)
    }

    /// Does one step.
    pub(super) fn step(&mut self, graph: &Graph, step: &Step, stack: &mut Stack) -> Result<()> {
        let node = &graph.nodes[step.node];
        if let Action::Node = step.action {
            let results = self.node(graph, node, None)?;
            self.define(node, results)?;
        } else if let Some(frame) = self.frames.last_mut() {
            apply(step, frame, stack).map_err(|error| failed(node, error))?;
        }
        Ok(())
    }

    /// Drops the values that no step after this one uses.
    pub(super) fn forget(&mut self, step: &Step) {
        if let Some(frame) = self.frames.last_mut() {
            for slot in &step.last_uses {
                frame[*slot] = IValue::None;
            }
        }
    }

    /// The values of the graph that is being run.
    pub(super) fn frame(&self) -> &[IValue] {
        self.frames.last().map_or(&[], Vec::as_slice)
    }

    /// Puts a value in a slot.
    pub(super) fn put(&mut self, slot: Slot, value: IValue) {
        if let Some(place) = self.frames.last_mut().and_then(|frame| frame.get_mut(slot)) {
            *place = value;
        }
    }
}

/// Does one step.
fn apply(step: &Step, frame: &mut [IValue], stack: &mut Stack) -> monomorph_core::Result<()> {
    match &step.action {
        Action::Node => {}
        Action::Constant { to, value } => frame[*to] = value.clone(),
        Action::Same { from, to } => frame[*to] = frame[*from].clone(),
        Action::View { from, to, geometry } => {
            if let IValue::Tensor(tensor) = &frame[*from] {
                frame[*to] = tensor.with_geometry(geometry.clone())?.into();
            }
        }
        Action::Call { handle, args, results } => {
            stack.clear();
            stack.extend(args.iter().map(|arg| argument(arg, frame)));
            handle.call(stack)?;
            for (target, result) in results.iter().zip(stack.drain(..)) {
                match (target, result) {
                    (Target::Slot(slot), result) => frame[*slot] = result,
                    (Target::Items(slots), IValue::Tensors(list)) => {
                        for (slot, tensor) in slots.iter().zip(list) {
                            frame[*slot] = tensor.into();
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

fn argument(source: &Source, frame: &[IValue]) -> IValue {
    let tensor = |slot: &usize| frame[*slot].as_tensor().cloned();
    match source {
        Source::Constant(value) => value.clone(),
        Source::Slot(slot) => frame[*slot].clone(),
        Source::Tensors(slots) => IValue::Tensors(slots.iter().filter_map(tensor).collect()),
        Source::OptionalTensors(slots) => {
            IValue::OptionalTensors(slots.iter().map(|slot| slot.as_ref().and_then(tensor)).collect())
        }
    }
}

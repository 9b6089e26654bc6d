//! Keeping the kernels of a plan. Owns which of its steps are kept; how they run is in `captured.rs`.
//!
//! The second run of a plan records the kernels of each step whose operands lie in memory that stays: parameters, a
//! copy of each input, and what recorded steps have made. Later runs copy the inputs there and run the kernels. A step
//! that reads elements, draws numbers or looks at what does not stay is run as it stands.
//! What it gives has the same sizes in each run if shape functions told them, and is copied to memory that stays, so
//! that the steps behind it are kept again.

use super::Run;
use super::captured::{Capture, Item, failed};
use super::origins::Origins;
use super::plan::{Action, Plan, Slot, Step};
use super::planner::same_geometry;
use crate::error::Result;
use crate::graph::{Argument, Callee, Graph, InputKind, Node};
use monomorph_core::dispatch::OperatorHandle;
use monomorph_core::strides::is_non_overlapping_and_dense;
use monomorph_core::structured::Recording;
use monomorph_core::{AnyTensor, IValue, Stack};

/// Bytes up to which a result that only goes out is copied for the caller. A call makes one that is larger, unless it
/// reads parameters of as many bytes: a kept kernel may have these in an order of its own, which takes as long to make.
const COPIED: usize = 1 << 16;

/// A plan whose kernels are being recorded.
struct Capturing<'p> {
    graph: &'p Graph,
    plan: &'p Plan,
    /// Steps that are known not to be kept.
    skipped: &'p [usize],
    origins: Origins,
    /// Slots whose value is the same memory, or the same number, in every run.
    stays: Vec<bool>,
    capture: Capture,
    /// Later runs would not be what this one is.
    is_refused: bool,
}

impl Capturing<'_> {
    /// Whether a step may be kept: all that it reads stays, and operators of the library alone are called.
    fn may_keep(&self, step: &Step, frame: &[IValue]) -> bool {
        let is_own = match &step.action {
            Action::Call { handle, .. } => is_own(handle),
            Action::Node => calls_own(&self.graph.nodes[step.node]),
            Action::View { .. } | Action::Same { .. } | Action::Constant { .. } => true,
        };
        let is_call = matches!(step.action, Action::Call { .. } | Action::Node);
        let results = step.writes(self.graph);
        let goes_out = !results.is_empty() && results.into_iter().all(|slot| self.origins.is_only_output(slot));
        let frozen = |slot: Slot| frame[slot].as_tensor().filter(|tensor| tensor.is_frozen()).map_or(0, bytes);
        let parameters = || step.reads(self.graph).into_iter().map(frozen).fold(0, usize::saturating_add);
        is_own
            && !(is_call && goes_out && step.bytes > COPIED && step.bytes > parameters())
            && step.reads(self.graph).into_iter().all(|slot| self.stays[slot])
    }

    /// The values that a step reads and that stay, as they are before it.
    fn before(&self, step: &Step, frame: &[IValue]) -> Vec<(Slot, IValue)> {
        let staying = step.reads(self.graph).into_iter().filter(|slot| self.stays[*slot]);
        staying.map(|slot| (slot, frame[slot].clone())).collect()
    }

    /// Keeps values that steps of the plan, or outputs, look at.
    fn keep(&mut self, looked_at: Vec<(Slot, IValue)>) {
        let values = &mut self.capture.values;
        for (slot, value) in looked_at {
            if !values.iter().any(|(known, _)| *known == slot) {
                values.push((slot, value));
            }
        }
    }
}

/// Whether an operator is the library's. Others, whose names have a namespace, may have effects that are no kernel's.
fn is_own(handle: &OperatorHandle) -> bool {
    !handle.name().contains("::")
}

/// Whether a node, and the graphs that it runs, call operators of the library alone.
fn calls_own(node: &Node) -> bool {
    let all = |graph: &Graph| graph.nodes.iter().all(calls_own);
    match &node.callee {
        Callee::Operator(called) => is_own(&called.handle),
        Callee::Number(_) | Callee::Check(_) => true,
        Callee::Cond(graphs) | Callee::While(graphs) => graphs.iter().all(all),
        Callee::Scan(graph, _) | Callee::Inline(graph, _) => all(graph),
    }
}

/// Whether a step that was kept has left other sizes or strides in a slot that it read: then the slot has more than one
/// value.
fn is_reshaped(before: &[(Slot, IValue)], frame: &[IValue]) -> bool {
    let geometry = |value: &IValue| value.as_tensor().map(|tensor| tensor.geometry().clone());
    before.iter().any(|(slot, value)| {
        let (was, is) = (geometry(value), geometry(&frame[*slot]));
        was.zip(is).is_some_and(|(was, is)| !same_geometry(&was, &is))
    })
}

/// Whether a copy of a tensor's storage can stand for it: no element is there twice, and little beside the elements.
fn is_plain(tensor: &AnyTensor) -> bool {
    let g = tensor.geometry();
    is_non_overlapping_and_dense(g.sizes(), g.strides())
        && tensor.storage_bytes() <= bytes(tensor).saturating_mul(2).saturating_add(4096)
}

/// Bytes of a tensor's elements.
fn bytes(tensor: &AnyTensor) -> usize {
    tensor.numel().saturating_mul(tensor.dtype().size())
}

/// Whether an input is a tensor of the caller's.
fn is_callers(kind: &InputKind, value: &IValue) -> bool {
    matches!(kind, InputKind::User(_) | InputKind::Literal(..)) && value.as_tensor().is_some()
}

impl Run<'_> {
    /// Runs a plan and records its kernels, but for those of steps that are called in any case: the outputs of the
    /// graph, the values that are left, and the capture, if there is something to be had by one.
    pub(super) fn capture(
        &mut self,
        graph: &Graph,
        kinds: &[InputKind],
        plan: &Plan,
        mut inputs: Vec<IValue>,
        (recording, skipped): (Recording, &[usize]),
    ) -> Result<(Vec<IValue>, Vec<IValue>, Option<Capture>)> {
        let callers = |inputs: &[IValue]| -> Vec<usize> {
            (0..inputs.len()).filter(|&position| is_callers(&kinds[position], &inputs[position])).collect()
        };
        let callers = callers(&inputs);
        let are_plain = callers.iter().filter_map(|&position| inputs[position].as_tensor()).all(is_plain);
        let Some(origins) = Origins::of(graph, kinds, plan).filter(|_| are_plain) else {
            let (results, frame) = self.replay(graph, plan, inputs)?;
            return Ok((results, frame, None));
        };
        let mut copies = Vec::with_capacity(callers.len());
        for position in callers {
            if let IValue::Tensor(tensor) = &inputs[position] {
                let copy = self.state.copied(tensor).map_err(failed)?;
                copies.push((position, copy.clone()));
                inputs[position] = copy.into();
            }
        }
        let mut stays = vec![false; plan.slots];
        let mut parameters = Vec::new();
        for (position, (kind, (id, value))) in kinds.iter().zip(graph.inputs.iter().zip(&inputs)).enumerate() {
            stays[id.index()] = match value {
                _ if is_callers(kind, value) => true,
                // A buffer that a run has written is the session's own from then on, and stays where it is.
                IValue::Tensor(tensor) if tensor.is_frozen() || !self.state.is_shared(tensor.storage_id()) => {
                    parameters.push((position, tensor.storage_id()));
                    true
                }
                value => matches!(value, IValue::Int(_) | IValue::Bool(_) | IValue::None),
            };
        }
        let capture =
            Capture { recording, items: Vec::new(), steps: Vec::new(), copies, parameters, values: Vec::new() };
        let mut capturing = Capturing { graph, plan, skipped, origins, stays, capture, is_refused: false };
        self.begin(graph, inputs, plan.slots);
        let results = self.record(&mut capturing);
        let (mut results, frame) = self.end(results)?;
        let mut capture = capturing.capture;
        self.apart(&capture, &mut results, &mut [])?;
        capture.group();
        let has_kernels = capture.items.iter().any(|item| matches!(item, Item::Kernels(_)));
        let is_worth_it = has_kernels && !capturing.is_refused;
        Ok((results, frame, is_worth_it.then_some(capture)))
    }

    /// Has later runs find the result of a step that is not kept in memory that stays; false if it cannot be there.
    fn settle(&mut self, capturing: &mut Capturing<'_>, step: &Step, slot: Slot) -> Result<bool> {
        let frame = self.frame();
        let IValue::Tensor(result) = &frame[slot] else { return Ok(false) };
        let sharing = frame.iter().flat_map(IValue::tensors).filter(|t| t.storage_id() == result.storage_id());
        let is_read = !step.last_uses.contains(&slot) && !capturing.origins.is_only_output(slot);
        // Of a call shape functions have told what it gives; a node may give other sizes for other elements.
        if !matches!(step.action, Action::Call { .. }) || !is_read || !is_plain(result) || sharing.count() > 1 {
            return Ok(false);
        }
        let copy = self.state.copied(result).map_err(failed)?;
        capturing.capture.items.push(Item::Settle(slot, copy.clone()));
        self.put(slot, copy.into());
        Ok(true)
    }

    fn record(&mut self, capturing: &mut Capturing<'_>) -> Result<Vec<IValue>> {
        let (graph, plan) = (capturing.graph, capturing.plan);
        let mut stack = Stack::new();
        for (index, step) in plan.steps.iter().enumerate() {
            let mut is_kept = capturing.may_keep(step, self.frame()) && !capturing.skipped.contains(&index);
            let before = capturing.before(step, self.frame());
            if is_kept && matches!(step.action, Action::Call { .. } | Action::Node) {
                let (done, kernels) = capturing.capture.recording.record(|| self.step(graph, step, &mut stack));
                done?;
                is_kept = kernels.is_some();
                if let Some(kernels) = kernels {
                    capturing.capture.steps.resize(kernels.end, index);
                    Item::push_kernels(&mut capturing.capture.items, kernels);
                    capturing.is_refused |= is_reshaped(&before, self.frame());
                }
            } else {
                self.step(graph, step, &mut stack)?;
            }
            if !is_kept {
                capturing.capture.items.push(Item::Step(index));
                capturing.keep(before);
            }
            for slot in step.writes(graph) {
                capturing.stays[slot] = is_kept || self.settle(capturing, step, slot)?;
            }
            self.forget(step);
        }
        let outputs = graph.outputs.iter().flat_map(Argument::values).map(|id| id.index());
        let staying = outputs.filter(|slot| capturing.stays[*slot]).map(|slot| (slot, self.frame()[slot].clone()));
        let staying = staying.collect();
        capturing.keep(staying);
        self.outputs(graph)
    }
}

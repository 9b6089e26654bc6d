//! Running a plan by kernels that are bound already: without dispatch, shape functions and allocation. Owns the memory
//! that they run on, and what of it the caller gets.

use super::plan::{Plan, Slot};
use super::{Kept, Run, execute};
use crate::error::{ProgramError, Result};
use crate::graph::Graph;
use monomorph_core::structured::Recording;
use monomorph_core::{AnyTensor, IValue, Stack};
use std::ops::Range;

/// The kernels of a plan and the values that stay between runs.
pub(super) struct Capture {
    pub(super) recording: Recording,
    pub(super) items: Vec<Item>,
    /// The step that each kernel is of.
    pub(super) steps: Vec<usize>,
    /// The tensors of the caller that are copied: their position among the inputs of the graph, and the copy.
    pub(super) copies: Vec<(usize, AnyTensor)>,
    /// The parameters that kernels are bound to: their position, and the storage.
    pub(super) parameters: Vec<(usize, usize)>,
    /// What steps that are not kept, and outputs, look at.
    pub(super) values: Vec<(Slot, IValue)>,
}

/// Elements from which on pointwise kernels are run block by block: the caches next to the processor hold what fewer of
/// them read and write.
const GROUPED: usize = 1 << 13;

/// What is done in a run.
pub(super) enum Item {
    /// Kernels are run.
    Kernels(Range<usize>),
    /// A step of the plan is done as it stands.
    Step(usize),
    /// What it gave is copied to the memory that kernels read.
    Settle(Slot, AnyTensor),
}

impl Item {
    /// Adds kernels to the last ones, if nothing else came between.
    pub(super) fn push_kernels(items: &mut Vec<Item>, kernels: Range<usize>) {
        match items.last_mut() {
            _ if kernels.is_empty() => {}
            Some(Item::Kernels(last)) if last.end == kernels.start => last.end = kernels.end,
            _ => items.push(Item::Kernels(kernels)),
        }
    }
}

impl Capture {
    /// Whether the parameters are those that kernels were bound to: the session has its own of one that it writes.
    pub(super) fn is_current(&self, parameter: impl Fn(usize) -> Option<usize>) -> bool {
        self.parameters.iter().all(|(position, storage)| parameter(*position) == Some(*storage))
    }

    /// Has kernels that follow each other run block by block, where that is worth it.
    pub(super) fn group(&mut self) {
        for item in &self.items {
            if let Item::Kernels(kernels) = item {
                self.recording.group(kernels.clone(), GROUPED);
            }
        }
    }

    /// What there is.
    pub(super) fn kept(&self) -> Kept {
        let steps = self.items.iter().filter(|item| matches!(item, Item::Step(_))).count();
        let (kernels, grouped) = (self.recording.len(), self.recording.grouped());
        Kept { kernels, grouped, steps, bytes: self.recording.bytes() }
    }

    /// Whether a storage is written by every run.
    fn has(&self, storage: usize) -> bool {
        let is_copy = |copy: &AnyTensor| copy.storage_id() == storage;
        self.recording.has_made(storage)
            || self.copies.iter().any(|(_, copy)| is_copy(copy))
            || self.items.iter().any(|item| matches!(item, Item::Settle(_, copy) if is_copy(copy)))
    }
}

/// An error of what is done for all kernels.
#[cold]
pub(super) fn failed(source: monomorph_core::Error) -> ProgramError {
    ProgramError::Tensor { place: "a run by kept kernels".to_owned(), source }
}

impl Run<'_> {
    /// Runs kept kernels, and the steps between them: the outputs of the graph, and the values that are left.
    pub(super) fn run_captured(
        &mut self,
        graph: &Graph,
        plan: &Plan,
        capture: &mut Capture,
        inputs: Vec<IValue>,
    ) -> Result<(Vec<IValue>, Vec<IValue>)> {
        for (position, copy) in &capture.copies {
            self.fill(copy, inputs[*position].clone())?;
        }
        self.begin(graph, inputs, plan.slots);
        if let Some(frame) = self.frames.last_mut() {
            for (slot, value) in &capture.values {
                frame[*slot] = value.clone();
            }
        }
        let results = self.items(graph, plan, capture);
        let (results, frame) = self.end(results)?;
        Ok((self.apart(capture, results)?, frame))
    }

    /// Copies elements to where kernels read them.
    fn fill(&self, to: &AnyTensor, from: IValue) -> Result<()> {
        self.program.dispatcher.call("copy_", &mut vec![to.clone().into(), from]).map_err(failed)
    }

    fn items(&mut self, graph: &Graph, plan: &Plan, capture: &mut Capture) -> Result<Vec<IValue>> {
        let mut stack = Stack::new();
        for item in &capture.items {
            match item {
                Item::Kernels(kernels) => capture.recording.run(kernels.clone()).map_err(|failure| {
                    let step = capture.steps.get(failure.kernel).map_or(0, |step| *step);
                    execute::failed(&graph.nodes[plan.steps[step].node], failure.error)
                })?,
                Item::Step(index) => {
                    let step = &plan.steps[*index];
                    self.step(graph, step, &mut stack)?;
                    self.forget(step);
                }
                Item::Settle(slot, copy) => {
                    self.fill(copy, self.frame()[*slot].clone())?;
                    self.put(*slot, copy.clone().into());
                }
            }
        }
        self.outputs(graph)
    }

    /// Results whose memory is the next run's, in memory of their own; what lies in one storage stays in one.
    pub(super) fn apart(&self, capture: &Capture, mut results: Vec<IValue>) -> Result<Vec<IValue>> {
        let mut moved: Vec<(usize, AnyTensor)> = Vec::new();
        let mut apart = |tensor: &AnyTensor| -> Result<AnyTensor> {
            let storage = tensor.storage_id();
            let copy = match moved.iter().find(|(from, _)| *from == storage) {
                Some((_, copy)) => copy.with_geometry(tensor.geometry().clone()).map_err(failed)?,
                None => self.state.copied(tensor).map_err(failed)?,
            };
            moved.push((storage, copy.clone()));
            Ok(copy)
        };
        for result in &mut results {
            match result {
                IValue::Tensor(tensor) if capture.has(tensor.storage_id()) => *result = apart(tensor)?.into(),
                IValue::Tensors(list) => {
                    for tensor in list.iter_mut().filter(|tensor| capture.has(tensor.storage_id())) {
                        *tensor = apart(tensor)?;
                    }
                }
                IValue::OptionalTensors(list) => {
                    for tensor in list.iter_mut().flatten().filter(|tensor| capture.has(tensor.storage_id())) {
                        *tensor = apart(tensor)?;
                    }
                }
                _ => {}
            }
        }
        Ok(results)
    }
}

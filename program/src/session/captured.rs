//! Running a plan by kernels that are bound already: without dispatch, shape functions and allocation. Owns the memory
//! that they run on, and what of it the caller gets.

use super::plan::{Plan, Slot};
use super::planner::same_geometry;
use super::{Kept, Run, Value, execute};
use crate::error::{ProgramError, Result};
use crate::graph::{Graph, OutputKind};
use monomorph_core::structured::{Arrangement, Block, Recording};
use monomorph_core::{AnyTensor, IValue, Stack};
use smallvec::SmallVec;
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

/// Bytes that are worth another capture.
const ARRANGED: usize = 1 << 16;

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

    /// How the memory would lie in one block, where that takes notably less.
    pub(super) fn arrangement(&self) -> Option<Arrangement> {
        let arrangement = self.recording.arrangement();
        let less = self.recording.bytes().saturating_sub(arrangement.bytes());
        (less > ARRANGED && less > self.recording.bytes() / 16).then_some(arrangement)
    }

    /// The steps that are called in each run.
    pub(super) fn skipped(&self) -> impl Iterator<Item = usize> {
        self.items.iter().filter_map(|item| match item {
            Item::Step(index) => Some(*index),
            _ => None,
        })
    }

    /// What there is.
    pub(super) fn kept(&self) -> Kept {
        let steps = self.items.iter().filter(|item| matches!(item, Item::Step(_))).count();
        let (kernels, grouped) = (self.recording.len(), self.recording.grouped());
        let live = most_at_once(&self.recording.blocks());
        Kept { kernels, grouped, steps, bytes: self.recording.bytes(), live }
    }

    /// What lies where in memory, and the step that it is of.
    pub(super) fn memory(&self) -> impl Iterator<Item = (Block, usize)> {
        let step = |block: &Block| self.steps.get(block.kernels.start).copied().unwrap_or(0);
        self.recording.blocks().into_iter().map(move |block| {
            let step = step(&block);
            (block, step)
        })
    }

    /// Whether a storage is written by every run.
    fn has(&self, storage: usize) -> bool {
        let is_copy = |copy: &AnyTensor| copy.storage_id() == storage;
        self.recording.has_made(storage)
            || self.copies.iter().any(|(_, copy)| is_copy(copy))
            || self.items.iter().any(|item| matches!(item, Item::Settle(_, copy) if is_copy(copy)))
    }
}

/// The most bytes that live at the same time.
fn most_at_once(blocks: &[Block]) -> usize {
    let live = |at: usize| blocks.iter().filter(|block| block.kernels.contains(&at)).map(|block| block.bytes).sum();
    blocks.iter().map(|block| live(block.kernels.start)).max().unwrap_or(0)
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
        mut inputs: Vec<IValue>,
        before: &mut [Value],
    ) -> Result<(Vec<IValue>, Vec<IValue>)> {
        for (position, copy) in &capture.copies {
            if let IValue::Tensor(input) = &inputs[*position] {
                self.fill(copy, input)?;
            }
        }
        self.begin(graph, inputs.drain(..), plan.slots);
        self.done_with(inputs);
        if let Some(frame) = self.frames.last_mut() {
            for (slot, value) in &capture.values {
                frame[*slot] = value.clone();
            }
        }
        let results = self.items(graph, plan, capture);
        let (mut results, frame) = self.end(results)?;
        self.apart(capture, &mut results, before)?;
        Ok((results, frame))
    }

    /// Copies elements to where kernels read them.
    fn fill(&self, to: &AnyTensor, from: &AnyTensor) -> Result<()> {
        (self.program.copies.elements)(&mut to.clone(), from).map_err(failed)
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
                    if let IValue::Tensor(result) = &self.frame()[*slot] {
                        self.fill(copy, result)?;
                    }
                    self.put(*slot, copy.clone().into());
                }
            }
        }
        self.outputs(graph)
    }

    /// Has results whose memory is the next run's lie in memory of their own, or in that of the outputs of a run
    /// before; what lies in one storage stays in one. What is written to an input is copied there in any case.
    pub(super) fn apart(&self, capture: &Capture, results: &mut [IValue], before: &mut [Value]) -> Result<()> {
        let mut moved: SmallVec<[(usize, AnyTensor); 2]> = SmallVec::new();
        let mut before = before.iter_mut();
        let mut apart = |tensor: &AnyTensor| -> Result<AnyTensor> {
            let storage = tensor.storage_id();
            let copy = match moved.iter().find(|(from, _)| *from == storage) {
                Some((_, copy)) => copy.with_geometry(tensor.geometry().clone()).map_err(failed)?,
                None => {
                    let bytes = capture.recording.bytes_of(storage).unwrap_or(usize::MAX);
                    self.state.copied_in(tensor, bytes).map_err(failed)?
                }
            };
            moved.push((storage, copy.clone()));
            Ok(copy)
        };
        for i in 0..results.len() {
            let Some(OutputKind::User) = self.program.outputs.get(i) else { continue };
            let before = before.next();
            if let IValue::Tensor(tensor) = &results[i] {
                let storage = tensor.storage_id();
                if !capture.has(storage) {
                    continue;
                }
                let shares = |other: &&AnyTensor| other.storage_id() == storage;
                let sharing = results.iter().flat_map(IValue::tensors).filter(shares).count();
                let again = match before {
                    Some(before) if sharing == 1 => self.written_again(tensor, before)?,
                    _ => None,
                };
                results[i] = match again {
                    Some(again) => again,
                    None => apart(tensor)?.into(),
                };
                continue;
            }
            let tensors: &mut dyn Iterator<Item = &mut AnyTensor> = match &mut results[i] {
                IValue::Tensors(list) => &mut list.iter_mut(),
                IValue::OptionalTensors(list) => &mut list.iter_mut().flatten(),
                _ => continue,
            };
            for tensor in tensors.filter(|tensor| capture.has(tensor.storage_id())) {
                *tensor = apart(tensor)?;
            }
        }
        Ok(())
    }

    /// An output of a run before with the elements of this one, if nobody else has it and it is of the same kind.
    fn written_again(&self, tensor: &AnyTensor, before: &mut Value) -> Result<Option<Value>> {
        let IValue::Tensor(mut before) = std::mem::take(before) else { return Ok(None) };
        let is_alike = before.device() == tensor.device() && same_geometry(before.geometry(), tensor.geometry());
        if !is_alike || !before.is_alone() {
            return Ok(None);
        }
        (self.program.copies.elements)(before.make_mut(), tensor).map_err(failed)?;
        Ok(Some(before.into()))
    }
}

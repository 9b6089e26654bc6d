//! Running a program: operator by operator, in the order of its nodes, where inputs of new sizes come, and by the plan
//! that this leaves behind from then on. Owns the buffers of one instance and the values of one run.
//!
//! Weights are frozen storages that all sessions share. A node that is about to write one makes this session's own copy
//! of it first, and every value of the run that lies in the storage moves along (`state`); what no run writes is never
//! copied.
//!
//! | file | owns |
//! | --- | --- |
//! | `inputs` | whether inputs are those that the program was exported for |
//! | `state` | tensors that outlive a run, and copies before writes |
//! | `execute` | the nodes of a graph, one after the other |
//! | `control` | nodes that run graphs |
//! | `plan` | the steps that are left of a graph for one set of input sizes |
//! | `planner` | what of a node may become steps of its own |
//! | `trace` | what an operator calls in the end, noted while it runs |
//! | `plans` | the plans of a session, by the sizes that they are for |
//! | `replay` | making a plan while a graph runs, and running it from then on |
//! | `origins` | where the values of a plan come from and go |
//! | `capture` | the kernels of a plan, kept by its second run |
//! | `captured` | later runs of a plan by its kernels |
//! | `autocast` | what autocast casts |
//! | `check` | what a program asserts |
//! | `compare` | values against what the program recorded of them |
//! | `kept` | what is said of what is kept |
//! | `timing` | how long nodes take |

mod autocast;
mod capture;
mod captured;
mod check;
mod compare;
mod control;
mod execute;
mod inputs;
mod kept;
mod origins;
mod plan;
pub(crate) mod planner;
mod plans;
mod replay;
mod state;
mod timing;
mod trace;

use crate::error::{ProgramError, Result, within};
use crate::graph::{InputKind, OutputKind};
use crate::program::{Inner, Program};
use crate::symbol::Bindings;
use monomorph_core::structured::Block;
use monomorph_core::{AnyTensor, IValue, rounding};
use plans::{Plans, Way};
use state::State;
use std::sync::Arc;
use timing::Timings;

pub use compare::Difference;
pub use kept::{Kept, MemoryBlock};
pub use timing::Timing;
pub(crate) use trace::observed;

/// An input or output of a run: a tensor, a number, a bool, text or none.
pub type Value = IValue;

/// An instance of a program: its buffers keep what runs write to them.
pub struct Session {
    program: Arc<Inner>,
    state: State,
    plans: Plans,
    plans_are_made: bool,
    /// Room for what runs have on the way, empty between them.
    frames: Vec<Vec<IValue>>,
    spare: Vec<Vec<IValue>>,
    compares: bool,
    differences: Vec<Difference>,
    compared: usize,
    timings: Option<Timings>,
}

/// One run.
struct Run<'s> {
    program: &'s Inner,
    state: &'s mut State,
    bindings: Bindings,
    /// The values of the graphs that are being run, outermost first.
    frames: Vec<Vec<IValue>>,
    spare: Vec<Vec<IValue>>,
    compares: bool,
    differences: &'s mut Vec<Difference>,
    compared: &'s mut usize,
    timings: Option<&'s mut Timings>,
}

impl Session {
    pub(crate) fn new(program: Arc<Inner>) -> Session {
        let state = State::new(&program);
        let plans = Plans::default();
        Session {
            program,
            state,
            plans,
            plans_are_made: true,
            frames: Vec::new(),
            spare: Vec::new(),
            compares: false,
            differences: Vec::new(),
            compared: 0,
            timings: None,
        }
    }

    /// Runs the program on inputs in the order in which they are flattened, and gives the outputs likewise.
    ///
    /// Inputs that the program writes are written in the caller's own tensors, as in PyTorch. An input is checked
    /// before anything runs: its dtype, its number of dimensions, each size against that of the example or its range,
    /// and that a symbol has one value.
    ///
    /// # Errors
    ///
    /// The number of inputs, one that is not accepted, or a node that failed. Buffers that nodes had written by then
    /// stay written.
    pub fn run(&mut self, inputs: &[Value]) -> Result<Vec<Value>> {
        let mut outputs = Vec::new();
        self.run_into(inputs, &mut outputs)?;
        Ok(outputs)
    }

    /// The same, with the outputs of a run before: those that nobody else has by now are written again, so that where
    /// sizes come again nothing is allocated. Other values in the list are dropped.
    ///
    /// ```no_run
    /// # fn speech(mut session: monomorph_program::Session, frames: Vec<monomorph_program::Value>)
    /// #     -> monomorph_program::Result<()> {
    /// let mut outputs = Vec::new();
    /// for frame in frames {
    ///     session.run_into(&[frame], &mut outputs)?;
    ///     println!("{:?}", outputs[0]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`run`](Session::run). Then the list is as it was, but for values that it may have lost.
    pub fn run_into(&mut self, inputs: &[Value], outputs: &mut Vec<Value>) -> Result<()> {
        match self.program.is_relaxed {
            true => rounding::relaxed(|| self.run_once(inputs, outputs)),
            false => self.run_once(inputs, outputs),
        }
    }

    /// One run, with the roundings that this thread takes.
    fn run_once(&mut self, inputs: &[Value], outputs: &mut Vec<Value>) -> Result<()> {
        let program = &*self.program;
        let mut bindings = Bindings::default();
        inputs::check(program, inputs, &mut bindings)?;
        let mut bound = self.spare.pop().unwrap_or_default();
        bound.extend(program.inputs.iter().enumerate().map(|(position, kind)| match kind {
            InputKind::User(index) | InputKind::Literal(index, _) => inputs[*index].clone(),
            _ => self.state.value(position),
        }));
        let is_watched = self.compares || self.timings.is_some();
        let way = match self.plans_are_made && !is_watched {
            // Kernels that are kept read copies of inputs, which do not change with a buffer.
            true if self.state.has_written(inputs) => Way::InTurn,
            true => self.plans.way(inputs, || self.state.shares_memory(inputs)),
            false => Way::InTurn,
        };
        let mut run = Run {
            program,
            state: &mut self.state,
            bindings,
            frames: std::mem::take(&mut self.frames),
            spare: std::mem::take(&mut self.spare),
            compares: self.compares,
            differences: &mut self.differences,
            compared: &mut self.compared,
            timings: self.timings.as_mut(),
        };
        let (mut results, frame) = match way {
            Way::Replayed(known) => run.again(&program.graph, &program.inputs, known, bound, outputs)?,
            Way::Planned(key) => {
                let (results, frame, plan) = run.planned(&program.graph, &program.inputs, bound)?;
                self.plans.keep(key, plan);
                (results, frame)
            }
            Way::InTurn => run.graph(&program.graph, bound, None)?,
        };
        run.frames.push(frame);
        outputs.clear();
        for (kind, result) in program.outputs.iter().zip(results.drain(..)) {
            match kind {
                OutputKind::User => outputs.push(result),
                OutputKind::Token => {}
                OutputKind::Mutation(position) => run.mutate(*position, inputs, result)?,
            }
        }
        run.done_with(results);
        while let Some(frame) = run.frames.pop() {
            run.done_with(frame);
        }
        let Run { frames, spare, .. } = run;
        (self.frames, self.spare) = (frames, spare);
        Ok(())
    }

    /// From now on runs one operator after another as they stand in the program: the reference that plans are held to.
    pub fn run_in_turn(&mut self) {
        self.plans_are_made = false;
    }

    /// What is kept of the sizes that ran last; none before they have run twice, or three times where the second shows
    /// how they take less memory, or if nothing is.
    pub fn kept(&self) -> Option<Kept> {
        self.plans.kept()
    }

    /// The memory between the kernels that are [kept](Session::kept): what lies where, from when to when.
    pub fn memory(&self) -> Vec<MemoryBlock> {
        let Some((plan, capture)) = self.plans.captured() else { return Vec::new() };
        let block = |(block, step): (Block, usize)| {
            let node = plan.steps.get(step).and_then(|step| self.program.graph.nodes.get(step.node));
            let node = node.map_or_else(String::new, |node| format!("{}{}", node.name(), within(node.module())));
            let Block { offset, bytes, kernels } = block;
            MemoryBlock { offset, bytes, kernels, node }
        };
        capture.memory().map(block).collect()
    }

    /// A parameter, buffer or constant as it is now.
    pub fn weight(&self, name: &str) -> Option<&AnyTensor> {
        let named = |kind: &InputKind| match kind {
            InputKind::Parameter(own) | InputKind::Buffer(own) | InputKind::Constant(own) => **own == *name,
            _ => false,
        };
        self.state.tensor(self.program.inputs.iter().position(named)?)
    }

    /// From now on holds every value against the dtype, sizes and strides that the program recorded of it.
    pub fn compare_values(&mut self) {
        self.compares = true;
    }

    /// What differed since [`compare_values`](Session::compare_values), and how many values were compared.
    pub fn differences(&self) -> (&[Difference], usize) {
        (&self.differences, self.compared)
    }

    /// The program.
    pub fn program(&self) -> Program {
        Program { inner: self.program.clone() }
    }
}

impl Run<'_> {
    /// Writes an output of the graph to what it is the new contents of.
    fn mutate(&mut self, position: usize, inputs: &[Value], result: IValue) -> Result<()> {
        let place = || self.program.graph.value(self.program.graph.inputs[position]).name().to_owned();
        let target = match &self.program.inputs[position] {
            InputKind::User(index) => inputs[*index].clone(),
            _ => {
                let target = self.state.value(position);
                if let Some(tensor) = target.as_tensor() {
                    let id = tensor.storage_id();
                    self.state
                        .own(id, &mut self.frames)
                        .map_err(|source| ProgramError::Tensor { place: place(), source })?;
                }
                self.state.value(position)
            }
        };
        let failed = |source| ProgramError::Tensor { place: place(), source };
        if let (IValue::Tensor(target), IValue::Tensor(result)) = (&target, &result)
            && target.device() == result.device()
        {
            return (self.program.copies.elements)(&mut AnyTensor::clone(target), result).map_err(failed);
        }
        let mut stack = vec![target, result];
        self.program.dispatcher.call("copy_", &mut stack).map_err(failed)
    }
}

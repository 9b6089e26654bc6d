//! A plan for one set of input sizes: the calls that are left of a graph once composed operators are taken apart and
//! views are known. Owns what a step is, and which slots it touches.

use crate::graph::{Argument, Graph, Node, Output, ValueId};
use monomorph_core::dispatch::OperatorHandle;
use monomorph_core::{Geometry, IValue};

/// Where a value of a run is kept: the values of the graph first, then what only steps know.
pub(super) type Slot = usize;

/// An argument of a call.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Constant(IValue),
    Slot(Slot),
    Tensors(Vec<Slot>),
    OptionalTensors(Vec<Option<Slot>>),
}

/// A result of a call.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Nothing,
    Slot(Slot),
    Items(Vec<Slot>),
}

impl Source {
    fn slots(&self) -> Vec<Slot> {
        match self {
            Source::Constant(_) => Vec::new(),
            Source::Slot(slot) => vec![*slot],
            Source::Tensors(slots) => slots.clone(),
            Source::OptionalTensors(slots) => slots.iter().flatten().copied().collect(),
        }
    }
}

impl Target {
    fn slots(&self) -> &[Slot] {
        match self {
            Target::Nothing => &[],
            Target::Slot(slot) => std::slice::from_ref(slot),
            Target::Items(slots) => slots,
        }
    }
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Runs a node as it is.
    Node,
    /// Calls an operator.
    Call { handle: OperatorHandle, args: Vec<Source>, results: Vec<Target> },
    /// Looks at a storage in another way.
    View { from: Slot, to: Slot, geometry: Geometry },
    /// Another name for a value.
    Same { from: Slot, to: Slot },
    /// A number that follows from the sizes.
    Constant { to: Slot, value: IValue },
}

impl Action {
    /// Visits the slots that a call, a view or a constant reads or writes. Those of a node are in the graph.
    pub(super) fn each_slot(&mut self, mut f: impl FnMut(&mut Slot)) {
        match self {
            Action::Node => {}
            Action::Call { args, results, .. } => {
                for arg in args {
                    match arg {
                        Source::Constant(_) => {}
                        Source::Slot(slot) => f(slot),
                        Source::Tensors(list) => list.iter_mut().for_each(&mut f),
                        Source::OptionalTensors(list) => list.iter_mut().flatten().for_each(&mut f),
                    }
                }
                for result in results {
                    match result {
                        Target::Nothing => {}
                        Target::Slot(slot) => f(slot),
                        Target::Items(list) => list.iter_mut().for_each(&mut f),
                    }
                }
            }
            Action::View { from, to, .. } | Action::Same { from, to } => {
                f(from);
                f(to);
            }
            Action::Constant { to, .. } => f(to),
        }
    }
}

/// A step, and the slots that no later one uses.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The node that it is of.
    pub(super) node: usize,
    pub(super) action: Action,
    pub(super) last_uses: Vec<Slot>,
    /// Bytes of the tensors that a call makes; `usize::MAX` where that is not known.
    pub(super) bytes: usize,
}

impl Step {
    pub(super) fn new(node: usize, action: Action) -> Step {
        Step { node, action, last_uses: Vec::new(), bytes: usize::MAX }
    }

    /// The slots that it reads.
    pub(super) fn reads(&self, graph: &Graph) -> Vec<Slot> {
        match &self.action {
            Action::Node => values(&graph.nodes[self.node]).collect(),
            Action::Call { args, .. } => args.iter().flat_map(Source::slots).collect(),
            Action::View { from, .. } | Action::Same { from, .. } => vec![*from],
            Action::Constant { .. } => Vec::new(),
        }
    }

    /// The slots that it gives values.
    pub(super) fn writes(&self, graph: &Graph) -> Vec<Slot> {
        match &self.action {
            Action::Node => results(&graph.nodes[self.node]).collect(),
            Action::Call { results, .. } => results.iter().flat_map(Target::slots).copied().collect(),
            Action::View { to, .. } | Action::Same { to, .. } | Action::Constant { to, .. } => vec![*to],
        }
    }
}

/// The steps of a graph.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) slots: usize,
}

impl Plan {
    /// The plan of these steps: without those whose result nobody uses, and with the last use of every slot.
    pub(super) fn new(graph: &Graph, steps: Vec<Step>, slots: usize) -> Plan {
        let mut used = vec![false; slots];
        for id in graph.outputs.iter().flat_map(Argument::values) {
            used[id.index()] = true;
        }
        let mut kept = Vec::with_capacity(steps.len());
        for mut step in steps.into_iter().rev() {
            let is_needed = match &step.action {
                Action::View { to, .. } | Action::Same { to, .. } | Action::Constant { to, .. } => used[*to],
                Action::Call { .. } | Action::Node => true,
            };
            if !is_needed {
                continue;
            }
            let slots = [step.reads(graph), step.writes(graph)].concat();
            let last_uses = &mut step.last_uses;
            let use_slot = |slot: Slot| {
                if !std::mem::replace(&mut used[slot], true) {
                    last_uses.push(slot);
                }
            };
            slots.into_iter().for_each(use_slot);
            kept.push(step);
        }
        kept.reverse();
        Plan { steps: kept, slots }
    }
}

/// The slots of the values that a node is given.
fn values(node: &Node) -> impl Iterator<Item = Slot> {
    node.args.iter().flat_map(Argument::values).map(ValueId::index)
}

/// Those of the values that it gives.
fn results(node: &Node) -> impl Iterator<Item = Slot> {
    node.outputs.iter().flat_map(Output::values).map(|id| id.index())
}

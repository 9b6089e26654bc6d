//! Where the values of a plan come from and where they go: what decides whether its steps may run on copies of the
//! inputs.

use super::plan::{Action, Plan, Slot};
use crate::graph::{Argument, Callee, Graph, InputKind, Node, Output};

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// A tensor that a step has made, or a number.
    Made,
    /// What the session keeps.
    Kept,
    /// The caller, perhaps.
    Given,
}

/// What is known of the slots of a plan.
pub(super) struct Origins {
    /// Outputs, and what outputs are views of, that no step computes with.
    only_outputs: Vec<bool>,
}

impl Origins {
    /// None if the caller would notice that copies stand for the inputs: one of them is written by a step, or seen
    /// through an output.
    pub(super) fn of(graph: &Graph, kinds: &[InputKind], plan: &Plan) -> Option<Origins> {
        let mut origins = vec![Origin::Made; plan.slots];
        for (kind, id) in kinds.iter().zip(&graph.inputs) {
            let is_given = matches!(kind, InputKind::User(_) | InputKind::Literal(..));
            origins[id.index()] = if is_given { Origin::Given } else { Origin::Kept };
        }
        for step in &plan.steps {
            let results = match &step.action {
                Action::Call { .. } | Action::Constant { .. } => Origin::Made,
                Action::View { from, .. } | Action::Same { from, .. } => origins[*from],
                Action::Node => of_node(&graph.nodes[step.node], &origins)?,
            };
            step.writes(graph).into_iter().for_each(|slot| origins[slot] = results);
        }
        let outputs = || graph.outputs.iter().flat_map(Argument::values).map(|id| id.index());
        if outputs().any(|slot| origins[slot] == Origin::Given) {
            return None;
        }
        let (mut escapes, mut is_read) = (vec![false; plan.slots], vec![false; plan.slots]);
        outputs().for_each(|slot| escapes[slot] = true);
        for step in plan.steps.iter().rev() {
            match &step.action {
                Action::View { from, to, .. } | Action::Same { from, to } => {
                    escapes[*from] |= escapes[*to];
                    is_read[*from] |= is_read[*to];
                }
                _ => step.reads(graph).into_iter().for_each(|slot| is_read[slot] = true),
            }
        }
        let only_outputs = escapes.iter().zip(&is_read).map(|(escapes, is_read)| *escapes && !is_read).collect();
        Some(Origins { only_outputs })
    }

    /// Whether a value goes out and nowhere else.
    pub(super) fn is_only_output(&self, slot: Slot) -> bool {
        self.only_outputs[slot]
    }
}

/// Where the results of a node come from; none if it may write what the caller has given.
fn of_node(node: &Node, origins: &[Origin]) -> Option<Origin> {
    let of = |argument: &Argument| argument.values().map(|id| origins[id.index()]).max().unwrap_or(Origin::Made);
    let read = node.args.iter().map(of).max().unwrap_or(Origin::Made);
    match &node.callee {
        Callee::Operator(called) => {
            let mut written = called.writes.iter().filter_map(|position| node.args.get(*position));
            if written.any(|argument| of(argument) == Origin::Given) {
                return None;
            }
            Some(if called.gives_views() { read } else { Origin::Made })
        }
        Callee::Number(_) | Callee::Check(_) => Some(Origin::Made),
        Callee::Inline(graph, _) => of_graph(graph, read),
        // What their graphs do is not looked at.
        Callee::Cond(_) | Callee::While(_) | Callee::Scan(..) => (read != Origin::Given).then_some(read),
    }
}

/// The same of a graph all of whose inputs come from there.
fn of_graph(graph: &Graph, inputs: Origin) -> Option<Origin> {
    let mut origins = vec![Origin::Made; graph.values.len()];
    graph.inputs.iter().for_each(|id| origins[id.index()] = inputs);
    for node in &graph.nodes {
        let results = of_node(node, &origins)?;
        node.outputs.iter().flat_map(Output::values).for_each(|id| origins[id.index()] = results);
    }
    let outputs = graph.outputs.iter().flat_map(Argument::values).map(|id| origins[id.index()]);
    Some(outputs.max().unwrap_or(Origin::Made))
}

//! Graphs in Graphviz's language: a box for each node, and an edge for each value from where it is made to where it is
//! used.

use super::{Argument, Graph, InputKind, Node, Output, Shown, ValueId};
use crate::symbol::Symbols;
use std::collections::HashMap;
use std::fmt::Write;

/// The outermost graph; of nodes that run graphs only the nodes themselves.
pub(crate) fn dot(graph: &Graph, symbols: &Symbols, inputs: &[InputKind]) -> String {
    let shown = Shown { graph, symbols, indent: 0 };
    let mut text = String::from("digraph program {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    let mut makers: HashMap<ValueId, String> = HashMap::new();
    for (index, (id, kind)) in graph.inputs.iter().zip(inputs).enumerate() {
        // Weights would be more boxes than operators.
        if matches!(kind, InputKind::User(_) | InputKind::Literal(..)) {
            let name = format!("in{index}");
            let _ = writeln!(text, "  {name} [shape=ellipse, label={}];", quoted(&shown.typed(*id)));
            makers.insert(*id, name);
        }
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        let name = format!("n{index}");
        let _ = writeln!(text, "  {name} [label={}];", quoted(&label(&shown, node)));
        edges(&mut text, &makers, node.args.iter(), &name);
        makers.extend(node.outputs.iter().flat_map(Output::values).map(|id| (*id, name.clone())));
    }
    let _ = writeln!(text, "  out [shape=ellipse, label=\"outputs\"];");
    edges(&mut text, &makers, graph.outputs.iter(), "out");
    text.push_str("}\n");
    text
}

fn label(shown: &Shown<'_>, node: &Node) -> String {
    let outputs: Vec<String> = node.outputs.iter().flat_map(Output::values).map(|id| shown.typed(*id)).collect();
    [&*node.target, &*node.module, &*outputs.join(", ")]
        .iter()
        .filter(|line| !line.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join("\n")
}

fn edges<'a>(text: &mut String, makers: &HashMap<ValueId, String>, used: impl Iterator<Item = &'a Argument>, by: &str) {
    for id in used.flat_map(Argument::values) {
        if let Some(maker) = makers.get(&id) {
            let _ = writeln!(text, "  {maker} -> {by};");
        }
    }
}

/// Text as a string of the language.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

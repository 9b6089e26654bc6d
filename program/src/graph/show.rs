//! Graphs as text, one node a line.

use super::{Argument, Callee, Graph, Item, Node, Output, Recorded, ValueId};
use crate::error::cut;
use crate::symbol::Symbols;
use monomorph_core::IValue;
use std::fmt;

/// A graph with the names of its symbols.
pub(crate) struct Shown<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) symbols: &'a Symbols,
    pub(crate) indent: usize,
}

/// Where a node stands, for messages.
pub(crate) fn node_place(name: &str, target: &str) -> String {
    format!("node {} ({})", cut(name), cut(target))
}

impl Shown<'_> {
    fn name(&self, id: ValueId) -> String {
        format!("%{}", self.graph.value(id).name)
    }

    /// A value with what was recorded of it.
    pub(crate) fn typed(&self, id: ValueId) -> String {
        let info = self.graph.value(id);
        match &info.recorded {
            Recorded::Nothing => self.name(id),
            Recorded::Int(expr) => format!("%{}: {}", info.name, self.symbols.show(expr)),
            Recorded::Tensor(tensor) => {
                let sizes: Vec<String> = tensor.sizes.iter().map(|size| self.symbols.show(size)).collect();
                format!("%{}: {}[{}]", info.name, tensor.dtype, sizes.join(", "))
            }
        }
    }

    fn argument(&self, argument: &Argument) -> String {
        match argument {
            Argument::Constant(value) => constant(value),
            Argument::Value(id) => self.name(*id),
            Argument::List(_, items) => {
                let item = |item: &Item| match item {
                    Item::Constant(value) => constant(value),
                    Item::Value(id) => self.name(*id),
                };
                format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn node(&self, node: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pad = " ".repeat(self.indent);
        let output = |output: &Output| match output {
            Output::Nothing => "_".to_owned(),
            Output::One(id) => self.typed(*id),
            Output::Items(ids) => format!("[{}]", ids.iter().map(|id| self.typed(*id)).collect::<Vec<_>>().join(", ")),
        };
        let outputs: Vec<String> = node.outputs.iter().map(output).collect();
        let args: Vec<String> = node.args.iter().map(|arg| self.argument(arg)).collect();
        write!(f, "{pad}")?;
        if !outputs.is_empty() {
            write!(f, "{} = ", outputs.join(", "))?;
        }
        write!(f, "{}({})", node.target, args.join(", "))?;
        if let Callee::Inline(_, Some(autocast)) = &node.callee {
            write!(f, " {autocast:?}")?;
        }
        if !node.module.is_empty() {
            write!(f, "  # {}", node.module)?;
        }
        writeln!(f)?;
        for graph in node.subgraphs() {
            let shown = Shown { graph, symbols: self.symbols, indent: self.indent + 4 };
            let inputs: Vec<String> = graph.inputs.iter().map(|id| shown.typed(*id)).collect();
            writeln!(f, "{pad}  {}({}):", graph.name, inputs.join(", "))?;
            write!(f, "{shown}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.graph.nodes {
            self.node(node, f)?;
        }
        let outputs: Vec<String> = self.graph.outputs.iter().map(|output| self.argument(output)).collect();
        writeln!(f, "{}return {}", " ".repeat(self.indent), outputs.join(", "))
    }
}

fn constant(value: &IValue) -> String {
    match value {
        IValue::None => "None".to_owned(),
        IValue::Bool(b) => b.to_string(),
        IValue::Int(i) => i.to_string(),
        IValue::Float(x) => format!("{x:?}"),
        IValue::Str(text) => format!("{:?}", cut(text)),
        IValue::DType(dtype) => dtype.to_string(),
        IValue::Ints(list) => format!("{list:?}"),
        IValue::Floats(list) => format!("{list:?}"),
        IValue::Bools(list) => format!("{list:?}"),
        IValue::Device(device) => device.to_string(),
        other => format!("{other:?}"),
    }
}

//! Graphs of operator calls in single-assignment form: values, nodes that compute them, and what comes in and goes out.
//! Owns the structure and its text; reads no file and runs nothing.

mod called;
mod dot;
mod show;

use crate::number::NumberOp;
use crate::symbol::Expr;
use monomorph_core::{DType, IValue};
use std::collections::HashMap;

pub use called::Called;
pub(crate) use dot::dot;
pub(crate) use show::{Shown, node_place};

/// A value of a graph, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    /// The number, from 0 on in each graph.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a value before anything runs.
#[derive(Clone, Debug)]
pub struct ValueInfo {
    pub(crate) name: Box<str>,
    pub(crate) recorded: Recorded,
}

impl ValueInfo {
    /// The name in the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the program recorded of it.
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }
}

/// What a program recorded of a value when it was exported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Recorded {
    /// Nothing.
    Nothing,
    /// A tensor.
    Tensor(Box<RecordedTensor>),
    /// An integer, as an expression over symbols.
    Int(Expr),
}

/// The dtype and geometry of a recorded tensor; sizes are expressions over symbols.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedTensor {
    /// The dtype.
    pub dtype: DType,
    /// The sizes.
    pub sizes: Vec<Expr>,
    /// The strides, in elements.
    pub strides: Vec<Expr>,
}

/// An argument of a node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Argument {
    /// A value that stands in the program.
    Constant(IValue),
    /// A value of the graph.
    Value(ValueId),
    /// A list of which some items are values of the graph.
    List(ListKind, Vec<Item>),
}

/// An item of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Item {
    /// An item that stands in the program.
    Constant(IValue),
    /// A value of the graph.
    Value(ValueId),
}

/// What a list holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListKind {
    /// Tensors.
    Tensors,
    /// Tensors, of which some may be missing.
    OptionalTensors,
    /// Integers.
    Ints,
    /// Floats.
    Floats,
    /// Bools.
    Bools,
    /// Numbers.
    Scalars,
    /// Operands of a subgraph, each of its own type.
    Operands,
}

impl Argument {
    /// The values of the graph in it.
    pub fn values(&self) -> impl Iterator<Item = ValueId> {
        let (one, items) = match self {
            Argument::Constant(_) => (None, &[][..]),
            Argument::Value(id) => (Some(*id), &[][..]),
            Argument::List(_, items) => (None, &items[..]),
        };
        let listed = items.iter().filter_map(|item| if let Item::Value(id) = item { Some(*id) } else { None });
        one.into_iter().chain(listed)
    }
}

/// What a node defines by one result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Nothing: the result is not used.
    Nothing,
    /// One value.
    One(ValueId),
    /// A value for each item of a list.
    Items(Vec<ValueId>),
}

impl Output {
    /// The values that are defined.
    pub fn values(&self) -> &[ValueId] {
        match self {
            Output::Nothing => &[],
            Output::One(id) => std::slice::from_ref(id),
            Output::Items(ids) => ids,
        }
    }
}

/// The rules of autocast inside of a subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autocast {
    /// Casts to this dtype where autocast does.
    To(DType),
    /// No casts.
    Off,
}

/// What a node does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Callee {
    /// Calls an operator.
    Operator(Box<Called>),
    /// Computes with numbers.
    Number(NumberOp),
    /// Checks something, and fails the run if it is not so.
    Check(Check),
    /// Runs one of two graphs: on true, on false.
    Cond(Box<[Graph; 2]>),
    /// Runs the second graph as long as the first one says so.
    While(Box<[Graph; 2]>),
    /// Runs a graph for each row of some operands, from the first on, handing values from row to row.
    Scan(Box<Graph>, Rows),
    /// Runs a graph, with other rules of autocast or with those outside.
    Inline(Box<Graph>, Option<Autocast>),
}

/// How the operands of a scan are divided; those behind are the same for all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Values that go from row to row come first. The last ones are the first results.
    pub(crate) carried: usize,
    /// Tensors whose rows are gone through come next. What the graph makes of each row is put together.
    pub(crate) scanned: usize,
}

/// What a program asserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// That a number or a tensor of one element is true; a message may follow it.
    True,
    /// That a tensor has these sizes, strides and dtype, each if it is given.
    Metadata,
    /// That a number lies between two bounds, each if it is given.
    Range,
}

/// One node: a call, its arguments, and the values that it defines.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) name: Box<str>,
    pub(crate) target: Box<str>,
    pub(crate) module: Box<str>,
    pub(crate) callee: Callee,
    pub(crate) args: Vec<Argument>,
    pub(crate) outputs: Vec<Output>,
    /// Values that no later node uses.
    pub(crate) last_uses: Vec<ValueId>,
}

impl Node {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it calls, as the program names it, without `torch.ops.`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The path of the module that it is part of; empty for the outermost one.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// What it does.
    pub fn callee(&self) -> &Callee {
        &self.callee
    }

    /// Its arguments, for an operator in the order of the schema and none missing.
    pub fn args(&self) -> &[Argument] {
        &self.args
    }

    /// What it defines, one for each result.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The graphs that it may run.
    pub fn subgraphs(&self) -> &[Graph] {
        match &self.callee {
            Callee::Cond(graphs) | Callee::While(graphs) => &graphs[..],
            Callee::Inline(graph, _) | Callee::Scan(graph, _) => std::slice::from_ref(graph),
            _ => &[],
        }
    }
}

/// Nodes in an order in which they can run: every value is defined before it is used, and once.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) name: Box<str>,
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<Argument>,
}

impl Graph {
    /// The name of a subgraph.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values, by number.
    pub fn values(&self) -> &[ValueInfo] {
        &self.values
    }

    /// One value.
    pub fn value(&self, id: ValueId) -> &ValueInfo {
        &self.values[id.index()]
    }

    /// The values that are given to it.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// The nodes in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What it gives.
    pub fn outputs(&self) -> &[Argument] {
        &self.outputs
    }

    /// Every node, those of subgraphs included, outer ones first.
    pub fn visit_nodes<'g>(&'g self, visit: &mut impl FnMut(&'g Node)) {
        for node in &self.nodes {
            visit(node);
            node.subgraphs().iter().for_each(|graph| graph.visit_nodes(visit));
        }
    }

    /// Notes at each node which values end there.
    pub(crate) fn find_last_uses(&mut self) {
        let mut last: HashMap<ValueId, usize> = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let defined = node.outputs.iter().flat_map(|output| output.values().iter().copied());
            for id in node.args.iter().flat_map(Argument::values).chain(defined) {
                last.insert(id, index);
            }
        }
        for id in self.outputs.iter().flat_map(Argument::values) {
            last.remove(&id);
        }
        for (id, index) in last {
            self.nodes[index].last_uses.push(id);
        }
    }
}

/// What a value that is given to the outermost graph is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputKind {
    /// A parameter, by its name in the module.
    Parameter(Box<str>),
    /// A buffer, likewise.
    Buffer(Box<str>),
    /// A constant tensor, likewise.
    Constant(Box<str>),
    /// The caller's input of this number.
    User(usize),
    /// The caller's input of this number, which must be this very value.
    Literal(usize, Literal),
    /// The order of effects, which needs no value.
    Token,
}

/// A value that an input must be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// None.
    None,
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// Text.
    Str(Box<str>),
}

impl From<&Literal> for IValue {
    fn from(literal: &Literal) -> IValue {
        match literal {
            Literal::None => IValue::None,
            Literal::Int(i) => IValue::Int(*i),
            Literal::Float(x) => IValue::Float(*x),
            Literal::Bool(b) => IValue::Bool(*b),
            Literal::Str(text) => IValue::Str(text.clone()),
        }
    }
}

/// What a value that the outermost graph gives is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputKind {
    /// One of the caller's outputs.
    User,
    /// The new contents of what is given as this input of the graph: a buffer, a parameter or an input of the caller.
    Mutation(usize),
    /// The order of effects.
    Token,
}

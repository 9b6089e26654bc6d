//! The nodes of a graph, one after the other: arguments gathered from values, the call, results put in their places,
//! values dropped that no later node uses.

use super::Run;
use super::autocast;
use super::planner::Planner;
use crate::error::{ProgramError, Result, cut};
use crate::graph::{Argument, Autocast, Called, Callee, Graph, Item, ListKind, Node, Output, ValueId, node_place};
use crate::program::recorded_tensor;
use monomorph_core::{DType, IValue, ItemList, Stack};

/// An error of a node.
#[cold]
pub(super) fn failed(node: &Node, what: impl ToString) -> ProgramError {
    ProgramError::Node {
        node: cut(&node.name),
        target: cut(&node.target),
        module: cut(&node.module),
        what: what.to_string(),
    }
}

impl Run<'_> {
    /// Runs a graph on values for its inputs: its outputs, and the values that are left.
    pub(super) fn graph(
        &mut self,
        graph: &Graph,
        inputs: Vec<IValue>,
        cast: Option<Autocast>,
    ) -> Result<(Vec<IValue>, Vec<IValue>)> {
        self.begin(graph, inputs, graph.values.len());
        let results = self.nodes(graph, cast, None);
        self.end(results)
    }

    /// Makes room for the values of a graph, the first of which are its inputs.
    pub(super) fn begin(&mut self, graph: &Graph, inputs: impl IntoIterator<Item = IValue>, slots: usize) {
        let mut frame = self.spare();
        frame.resize(slots, IValue::None);
        for (id, value) in graph.inputs.iter().zip(inputs) {
            frame[id.index()] = value;
        }
        self.frames.push(frame);
    }

    /// Ends what [`begin`](Run::begin) began: the results of the graph, and the values that are left.
    pub(super) fn end(&mut self, results: Result<Vec<IValue>>) -> Result<(Vec<IValue>, Vec<IValue>)> {
        let frame = self.frames.pop().unwrap_or_default();
        results.map(|results| (results, frame))
    }

    /// Runs the nodes of a graph one after the other; a planner notes what is left of each.
    pub(super) fn nodes(
        &mut self,
        graph: &Graph,
        cast: Option<Autocast>,
        mut planner: Option<&mut Planner>,
    ) -> Result<Vec<IValue>> {
        for id in &graph.inputs {
            self.observe(graph, *id, &|| "an input".to_owned());
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            let results = self.timed(node, |run| match &mut planner {
                Some(planner) => run.planned_node(graph, (index, node), planner),
                None => run.node(graph, node, cast),
            })?;
            self.define(node, results)?;
            for id in node.outputs.iter().flat_map(Output::values) {
                self.observe(graph, *id, &|| format!("{} {}", node_place(&node.name, &node.target), node.module));
            }
            for id in &node.last_uses {
                self.set(*id, IValue::None);
            }
        }
        self.outputs(graph)
    }

    /// The outputs of a graph whose nodes have run.
    pub(super) fn outputs(&mut self, graph: &Graph) -> Result<Vec<IValue>> {
        let malformed = |what| ProgramError::Malformed { place: "outputs".to_owned(), what };
        let mut results = self.spare();
        for output in &graph.outputs {
            results.push(self.argument(output).map_err(malformed)?);
        }
        Ok(results)
    }

    /// An empty list, with the room of one that is done with.
    pub(super) fn spare(&mut self) -> Vec<IValue> {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps the room of a list that is done with.
    pub(super) fn done_with(&mut self, mut values: Vec<IValue>) {
        values.clear();
        self.spare.push(values);
    }

    pub(super) fn node(&mut self, graph: &Graph, node: &Node, cast: Option<Autocast>) -> Result<Vec<IValue>> {
        match &node.callee {
            Callee::Operator(called) => self.call(graph, node, called, cast),
            Callee::Number(op) => {
                let args = self.arguments(node)?;
                Ok(vec![op.apply(&args).map_err(|what| failed(node, what))?])
            }
            Callee::Check(check) => {
                let args = self.arguments(node)?;
                super::check::check(*check, &args).map_err(|what| failed(node, what))?;
                Ok(Vec::new())
            }
            Callee::Cond(graphs) => self.cond(node, graphs, cast),
            Callee::While(graphs) => self.while_loop(node, graphs, cast),
            Callee::Scan(graph, rows) => self.scan(node, graph, *rows, cast),
            Callee::Inline(inlined, inner) => {
                let args = self.operands(node, 0)?;
                self.subgraph(node, inlined, args, inner.or(cast))
            }
        }
    }

    pub(super) fn call(
        &mut self,
        graph: &Graph,
        node: &Node,
        called: &Called,
        cast: Option<Autocast>,
    ) -> Result<Vec<IValue>> {
        for position in &called.writes {
            let written = node.args.get(*position).map(Argument::values).into_iter().flatten();
            for id in written {
                self.own_value(id).map_err(|error| failed(node, error))?;
            }
        }
        let mut stack: Stack = self.arguments(node)?;
        if let Some(Autocast::To(lower)) = cast {
            let recorded = recorded_dtype(graph, node);
            autocast::call(&called.handle, lower, recorded, &mut stack).map_err(|error| failed(node, error))?;
        } else {
            called.handle.call(&mut stack).map_err(|error| failed(node, error))?;
        }
        // A written argument that is returned may have another geometry; its value is this tensor, too.
        for (result, position) in stack.iter().zip(&called.returned) {
            if let Some(Argument::Value(id)) = position.and_then(|position| node.args.get(position)) {
                let result = result.clone();
                self.set(*id, result);
            }
        }
        Ok(stack)
    }

    /// Lets the tensors of a value lie in storages of this session.
    fn own_value(&mut self, id: ValueId) -> monomorph_core::Result<()> {
        let storages: Vec<usize> = self.value(id).tensors().map(|tensor| tensor.storage_id()).collect();
        storages.into_iter().try_for_each(|storage| self.state.own(storage, &mut self.frames))
    }

    pub(super) fn value(&self, id: ValueId) -> &IValue {
        static NONE: IValue = IValue::None;
        self.frames.last().and_then(|frame| frame.get(id.index())).unwrap_or(&NONE)
    }

    pub(super) fn set(&mut self, id: ValueId, value: IValue) {
        if let Some(place) = self.frames.last_mut().and_then(|frame| frame.get_mut(id.index())) {
            *place = value;
        }
    }

    /// The arguments of a node.
    pub(super) fn arguments(&self, node: &Node) -> Result<Vec<IValue>> {
        let arguments = node.args.iter().map(|argument| self.argument(argument));
        arguments.collect::<Result<_, String>>().map_err(|what| failed(node, what))
    }

    /// The arguments of a node from a position on, lists taken apart: what a subgraph is given.
    pub(super) fn operands(&self, node: &Node, from: usize) -> Result<Vec<IValue>> {
        let mut operands = Vec::new();
        for argument in node.args.iter().skip(from) {
            match argument {
                Argument::List(_, items) => operands.extend(items.iter().map(|item| self.item(item))),
                Argument::Constant(IValue::Ints(ints)) => operands.extend(ints.iter().map(|i| IValue::Int(*i))),
                other => operands.push(self.argument(other).map_err(|what| failed(node, what))?),
            }
        }
        Ok(operands)
    }

    fn item(&self, item: &Item) -> IValue {
        match item {
            Item::Constant(value) => value.clone(),
            Item::Value(id) => self.value(*id).clone(),
        }
    }

    pub(super) fn argument(&self, argument: &Argument) -> Result<IValue, String> {
        match argument {
            Argument::Constant(value) => Ok(value.clone()),
            Argument::Value(id) => Ok(self.value(*id).clone()),
            Argument::List(kind, items) => list(*kind, items.iter().map(|item| self.item(item))),
        }
    }

    /// Puts the results of a node in their places.
    pub(super) fn define(&mut self, node: &Node, results: Vec<IValue>) -> Result<()> {
        let used =
            node.outputs.iter().rposition(|output| !matches!(output, Output::Nothing)).map_or(0, |last| last + 1);
        if results.len() < used {
            let what = format!("{} results where the program uses {used}", results.len());
            return Err(failed(node, what));
        }
        for (output, result) in node.outputs.iter().zip(results) {
            match output {
                Output::Nothing => {}
                Output::One(id) => self.set(*id, result),
                Output::Items(ids) => {
                    let items: Vec<IValue> = match result {
                        IValue::Tensors(tensors) => tensors.into_iter().map(IValue::from).collect(),
                        IValue::OptionalTensors(tensors) => tensors.into_iter().map(IValue::from).collect(),
                        IValue::Ints(ints) => ints.into_iter().map(IValue::Int).collect(),
                        IValue::List(list) => list.into_vec(),
                        other => return Err(failed(node, format!("{} where a list is expected", other.kind_name()))),
                    };
                    if items.len() != ids.len() {
                        let what = format!("a list of {} items where the program uses {}", items.len(), ids.len());
                        return Err(failed(node, what));
                    }
                    for (id, item) in ids.iter().zip(items) {
                        self.set(*id, item);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The dtype that the program recorded of a node's first result.
fn recorded_dtype(graph: &Graph, node: &Node) -> Option<DType> {
    let first = node.outputs.first()?.values().first()?;
    recorded_tensor(graph.value(*first).recorded()).map(|recorded| recorded.dtype)
}

/// A list of its kind.
fn list(kind: ListKind, items: impl Iterator<Item = IValue>) -> Result<IValue, String> {
    let wrong = |value: &IValue| format!("a list has {} as an item, which is not of its kind", value.kind_name());
    Ok(match kind {
        ListKind::Tensors => {
            IValue::Tensors(items.map(|v| v.clone().into_tensor().ok_or_else(|| wrong(&v))).collect::<Result<_, _>>()?)
        }
        ListKind::OptionalTensors => {
            let tensor = |value: IValue| match value {
                IValue::None => Ok(None),
                other => other.clone().into_tensor().map(Some).ok_or_else(|| wrong(&other)),
            };
            IValue::OptionalTensors(items.map(tensor).collect::<Result<_, _>>()?)
        }
        ListKind::Ints => {
            let int = |value: IValue| match value {
                IValue::Int(i) => Ok(i),
                IValue::Bool(b) => Ok(b.into()),
                other => Err(wrong(&other)),
            };
            IValue::Ints(items.map(int).collect::<Result<_, _>>()?)
        }
        ListKind::Floats => {
            let float = |value: IValue| match value {
                IValue::Float(f) => Ok(f),
                IValue::Int(i) => Ok(i as f64),
                other => Err(wrong(&other)),
            };
            IValue::Floats(items.map(float).collect::<Result<_, _>>()?)
        }
        ListKind::Bools => {
            let truth = |value: IValue| if let IValue::Bool(b) = value { Ok(b) } else { Err(wrong(&value)) };
            IValue::Bools(items.map(truth).collect::<Result<_, _>>()?)
        }
        ListKind::Scalars => {
            IValue::Scalars(items.map(|v| v.to_scalar().ok_or_else(|| wrong(&v))).collect::<Result<_, _>>()?)
        }
        ListKind::Operands => IValue::List(ItemList::try_from(items.collect::<Vec<_>>()).map_err(|e| e.to_string())?),
    })
}

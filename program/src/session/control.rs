//! Nodes that run graphs: a choice between two, a loop, a graph for each row, a graph in its place.

use super::Run;
use super::execute::failed;
use crate::error::Result;
use crate::graph::{Autocast, Graph, Node, Output, Rows};
use crate::number::truth;
use monomorph_core::IValue;

/// Whether a condition holds: a number, or a tensor of one element.
pub(super) fn holds(condition: &IValue) -> Result<bool, String> {
    match condition {
        IValue::Tensor(tensor) => {
            let number = tensor.item().map_err(|error| error.to_string())?;
            Ok(match number {
                monomorph_core::Scalar::Complex(c) => c.re != 0.0 || c.im != 0.0,
                real => truth(&IValue::from(real))?,
            })
        }
        other => truth(other),
    }
}

impl Run<'_> {
    /// Runs a graph inside of the present one, and gives its results in the form that the node defines.
    pub(super) fn subgraph(
        &mut self,
        node: &Node,
        graph: &Graph,
        operands: Vec<IValue>,
        cast: Option<Autocast>,
    ) -> Result<Vec<IValue>> {
        let results = self.results(node, graph, operands, cast)?;
        Ok(as_defined(node, results))
    }

    fn results(
        &mut self,
        node: &Node,
        graph: &Graph,
        operands: Vec<IValue>,
        cast: Option<Autocast>,
    ) -> Result<Vec<IValue>> {
        if operands.len() != graph.inputs.len() {
            let what = format!("{} operands for a graph of {} inputs", operands.len(), graph.inputs.len());
            return Err(failed(node, what));
        }
        Ok(self.graph(graph, operands, cast)?.0)
    }

    pub(super) fn cond(&mut self, node: &Node, graphs: &[Graph; 2], cast: Option<Autocast>) -> Result<Vec<IValue>> {
        let mut operands = self.operands(node, 0)?;
        if operands.is_empty() {
            return Err(failed(node, "there is no condition"));
        }
        let condition = holds(&operands.remove(0)).map_err(|what| failed(node, what))?;
        self.subgraph(node, &graphs[usize::from(!condition)], operands, cast)
    }

    pub(super) fn while_loop(
        &mut self,
        node: &Node,
        graphs: &[Graph; 2],
        cast: Option<Autocast>,
    ) -> Result<Vec<IValue>> {
        let [condition, step] = graphs;
        let carried = step.outputs.len();
        let mut operands = self.operands(node, 0)?;
        if operands.len() < carried {
            return Err(failed(node, format!("{} operands where {carried} are carried", operands.len())));
        }
        loop {
            let goes_on = self.results(node, condition, operands.clone(), cast)?;
            let [goes_on] = &goes_on[..] else { return Err(failed(node, "the condition gives no single value")) };
            if !holds(goes_on).map_err(|what| failed(node, what))? {
                operands.truncate(carried);
                return Ok(as_defined(node, operands));
            }
            let next = self.results(node, step, operands.clone(), cast)?;
            operands.splice(..carried, next);
        }
    }

    /// What is carried at the end, and what the graph made of each row, put together.
    pub(super) fn scan(
        &mut self,
        node: &Node,
        graph: &Graph,
        Rows { carried, scanned }: Rows,
        cast: Option<Autocast>,
    ) -> Result<Vec<IValue>> {
        let mut operands = self.operands(node, 0)?;
        let row_count = |value: &IValue| value.as_tensor().and_then(|tensor| tensor.sizes().first().copied());
        let counts: Vec<Option<i64>> = operands.iter().skip(carried).take(scanned).map(row_count).collect();
        let count = match counts.first() {
            Some(Some(count)) if *count > 0 && counts.iter().all(|other| other == &Some(*count)) => *count,
            _ => return Err(failed(node, "what is scanned are no tensors of one number of rows, at least one")),
        };
        let all = operands.split_off(carried);
        let (tensors, others) = all.split_at(scanned);
        let mut made: Vec<Vec<IValue>> = Vec::new();
        for row in 0..count {
            let mut arguments = std::mem::take(&mut operands);
            for tensor in tensors {
                arguments.push(self.called(node, "select.int", [tensor.clone(), IValue::Int(0), IValue::Int(row)])?);
            }
            arguments.extend(others.iter().cloned());
            let mut results = self.results(node, graph, arguments, cast)?;
            let of_row = results.split_off(carried.min(results.len()));
            operands = results;
            made.resize_with(of_row.len(), Vec::new);
            made.iter_mut().zip(of_row).for_each(|(made, one)| made.push(one));
        }
        for rows in made {
            let tensors: Option<Vec<_>> = rows.into_iter().map(IValue::into_tensor).collect();
            let tensors = tensors.ok_or_else(|| failed(node, "what the graph makes of a row is no tensor"))?;
            operands.push(self.called(node, "stack", [IValue::Tensors(tensors), IValue::Int(0)])?);
        }
        Ok(as_defined(node, operands))
    }

    /// The result of an operator that a node stands for.
    fn called<const N: usize>(&self, node: &Node, operator: &str, arguments: [IValue; N]) -> Result<IValue> {
        let mut stack = Vec::from(arguments);
        self.program.dispatcher.call(operator, &mut stack).map_err(|error| failed(node, error))?;
        Ok(stack.pop().unwrap_or_default())
    }
}

/// Results as the node defines them: one by one, or all as one list.
fn as_defined(node: &Node, results: Vec<IValue>) -> Vec<IValue> {
    let [Output::Items(ids)] = &node.outputs[..] else { return results };
    let is_list = |value: &IValue| matches!(value, IValue::List(_));
    if ids.len() != results.len() || results.iter().any(is_list) {
        return results;
    }
    match monomorph_core::ItemList::try_from(results.clone()) {
        Ok(list) => vec![IValue::List(list)],
        Err(_) => results,
    }
}

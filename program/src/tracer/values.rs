//! The values of a graph that is traced, and its nodes. Owns which tensor of the function is which value: a tensor is
//! known by its storage and its geometry.

use crate::error::{ProgramError, Result, malformed};
use crate::graph::{
    Argument, Called, Callee, Item, ListKind, Node, Output, Recorded, RecordedTensor, ValueId, ValueInfo, node_place,
};
use crate::session::planner::same_geometry;
use crate::symbol::Expr;
use monomorph_core::dispatch::Dispatcher;
use monomorph_core::trace::TracedCall;
use monomorph_core::{
    AnyTensor, Device, DeviceHandle, DeviceId, Error as OperatorError, Geometry, IValue, default_value,
};
use std::collections::HashMap;

/// The values of the graph, and which tensors of shapes they are.
#[derive(Default)]
pub(super) struct Values {
    pub(super) infos: Vec<ValueInfo>,
    names: HashMap<String, usize>,
    /// By storage, in the order in which they came to be.
    known: HashMap<usize, Vec<(AnyTensor, ValueId)>>,
    pub(super) nodes: Vec<Node>,
}

impl Values {
    /// A name that no other value has.
    fn unique(&mut self, name: &str) -> String {
        let count = self.names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        match *count {
            1 => name.to_owned(),
            count => {
                let numbered = format!("{name}_{}", count - 1);
                self.unique(&numbered)
            }
        }
    }

    /// A value that is this tensor.
    pub(super) fn define(&mut self, name: &str, tensor: &AnyTensor) -> ValueId {
        let id = ValueId(self.infos.len() as u32);
        let known = |list: &[i64]| list.iter().copied().map(Expr::Int).collect();
        let (sizes, strides) = (known(tensor.sizes()), known(tensor.strides()));
        let recorded = RecordedTensor { dtype: tensor.dtype(), sizes, strides };
        let name = self.unique(name).into_boxed_str();
        self.infos.push(ValueInfo { name, recorded: Recorded::Tensor(Box::new(recorded)) });
        self.known.entry(tensor.storage_id()).or_default().push((tensor.clone(), id));
        id
    }

    /// The value that is just this tensor, if there is one.
    fn find(&self, tensor: &AnyTensor) -> Option<ValueId> {
        let same = |(known, _): &&(AnyTensor, ValueId)| same_geometry(known.geometry(), tensor.geometry());
        self.known.get(&tensor.storage_id())?.iter().rev().find(same).map(|(_, id)| *id)
    }

    /// The value that a tensor is. One that views a known one in a way of its own is made by a node.
    pub(super) fn value(&mut self, dispatcher: &Dispatcher, tensor: &AnyTensor) -> Result<ValueId> {
        if let Some(id) = self.find(tensor) {
            return Ok(id);
        }
        let meaning = |g: &Geometry| (g.dtype(), g.is_conj(), g.is_neg());
        let views = |(known, _): &&(AnyTensor, ValueId)| meaning(known.geometry()) == meaning(tensor.geometry());
        let base = self.known.get(&tensor.storage_id()).and_then(|known| known.iter().find(views));
        let Some(&(_, base)) = base else {
            let what = format!(
                "a tensor of {} {:?} is neither an input, a parameter or a buffer nor what an operator gave",
                tensor.dtype(),
                tensor.sizes()
            );
            return Err(malformed("the traced function", what));
        };
        let (called, _) = Called::find(dispatcher, "as_strided").map_err(failed)?;
        let list = |list: &[i64]| Argument::Constant(IValue::Ints(list.to_vec()));
        let args = vec![
            Argument::Value(base),
            list(tensor.sizes()),
            list(tensor.strides()),
            Argument::Constant(IValue::Int(tensor.offset())),
        ];
        let id = self.define("as_strided", tensor);
        self.push("as_strided", called, args, vec![Output::One(id)]);
        Ok(id)
    }

    fn push(&mut self, name: &str, called: Box<Called>, args: Vec<Argument>, outputs: Vec<Output>) {
        let first = outputs.iter().flat_map(Output::values).next().map(|id| self.infos[id.index()].name.clone());
        let node = Node {
            name: first.unwrap_or_else(|| self.unique(stem(name)).into_boxed_str()),
            target: target(name).into_boxed_str(),
            module: "".into(),
            callee: Callee::Operator(called),
            args,
            outputs,
            last_uses: Vec::new(),
        };
        self.nodes.push(node);
    }

    /// An argument of a call.
    fn argument<D: Device>(&mut self, dispatcher: &Dispatcher, value: IValue) -> Result<Argument> {
        let mut item = |tensor: &AnyTensor| self.value(dispatcher, tensor).map(Item::Value);
        Ok(match value {
            IValue::Tensor(tensor) => Argument::Value(self.value(dispatcher, &tensor)?),
            IValue::Tensors(list) => Argument::List(ListKind::Tensors, list.iter().map(item).collect::<Result<_>>()?),
            IValue::OptionalTensors(list) => {
                let optional = |tensor: &Option<AnyTensor>| match tensor {
                    Some(tensor) => item(tensor),
                    None => Ok(Item::Constant(IValue::None)),
                };
                Argument::List(ListKind::OptionalTensors, list.iter().map(optional).collect::<Result<_>>()?)
            }
            // In the function shapes stand for tensors of the program's device.
            IValue::Device(DeviceId::META) => Argument::Constant(IValue::Device(DeviceHandle::<D>::new(0).id())),
            other => Argument::Constant(other),
        })
    }

    /// The node of a call.
    pub(super) fn call<D: Device>(&mut self, dispatcher: &Dispatcher, call: TracedCall) -> Result<(), Refused> {
        let (mut called, schema) = Called::find(dispatcher, &call.name).map_err(Refused::Missing)?;
        let place = node_place(&call.name, &call.name);
        if call.args.len() != schema.args().len() {
            let what = format!("{} arguments for {schema}", call.args.len());
            return Err(Refused::Error(malformed(&place, what)));
        }
        let complete = |(arg, declared): (Option<IValue>, _)| match arg {
            Some(value) => self.argument::<D>(dispatcher, value),
            None => default_value(declared)
                .map(Argument::Constant)
                .ok_or_else(|| malformed(&place, format!("argument {} has no default", declared.name()))),
        };
        let args = call.args.into_iter().zip(schema.args()).map(complete);
        let args = args.collect::<Result<Vec<_>>>().map_err(Refused::Error)?;
        called.note_writes(&schema, &args);
        let stem = stem(&call.name);
        let outputs = call.results.iter().map(|result| match result {
            // What was written, or given back as it is, has its value.
            IValue::Tensor(tensor) if self.find(tensor).is_some() => Output::Nothing,
            IValue::Tensor(tensor) => Output::One(self.define(stem, tensor)),
            IValue::Tensors(list) => Output::Items(list.iter().map(|tensor| self.define(stem, tensor)).collect()),
            _ => Output::Nothing,
        });
        let outputs = outputs.collect();
        self.push(&call.name, called, args, outputs);
        Ok(())
    }
}

/// Why a call is no node.
pub(super) enum Refused {
    Missing(OperatorError),
    Error(ProgramError),
}

/// The name of an operator as exported programs have it.
pub(super) fn target(name: &str) -> String {
    let (namespace, name) = name.split_once("::").unwrap_or(("aten", name));
    let overload = if name.contains('.') { "" } else { ".default" };
    format!("{namespace}.{name}{overload}")
}

/// The name of an operator without namespace, overload and the sign of an in-place form.
fn stem(name: &str) -> &str {
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    name.split('.').next().unwrap_or_default()
}

pub(super) fn failed(source: OperatorError) -> ProgramError {
    ProgramError::Tensor { place: "the traced function".to_owned(), source }
}

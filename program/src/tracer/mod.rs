//! Programs from functions of tensors: a function runs once on shapes, and the operators that it calls become the nodes
//! of a graph. Owns what such a function is given, and what is made of it; which tensors are which values of the graph
//! is in `values`, and the calls are noted by `monomorph_core::trace`.

mod values;

use crate::copies::{Copies, copied};
use crate::error::{MissingOperator, ProgramError, Result, cut};
use crate::graph::{Argument, Graph, InputKind, OutputKind, ValueId};
use crate::program::{Inner, Program};
use crate::session::observed;
use monomorph_core::dispatch::Dispatcher;
use monomorph_core::trace;
use monomorph_core::{
    AnyTensor, DType, DefaultDevice, Device, DeviceId, Error as OperatorError, ErrorKind, Geometry, Meta, Sizes,
    Standard, Tensor,
};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::sync::Arc;
use values::{Refused, Values, failed, target};

/// What a function that is traced computes with: its inputs, and the tensors that the program is to bring along.
///
/// Each is a tensor without data, of the device of shapes, and in the program it is a tensor of `D`. `S` is what
/// computes with tensors by Rust's operators ([`StdOps`](Device::StdOps)).
pub struct Tracer<D: Device, S = ()> {
    inputs: Vec<InputKind>,
    given: Vec<Option<AnyTensor>>,
    values: Values,
    graph_inputs: Vec<ValueId>,
    /// Copies of the storages that the program brings along, by the storages that they are copies of.
    storages: HashMap<usize, Tensor<D>>,
    device: PhantomData<fn() -> S>,
}

/// What a function that is traced may give.
pub trait TracedOutputs {
    /// The tensors in order.
    fn into_outputs(self) -> Vec<AnyTensor>;
}

impl<S: 'static> TracedOutputs for Tensor<Meta<S>> {
    fn into_outputs(self) -> Vec<AnyTensor> {
        vec![self.into_any()]
    }
}

impl TracedOutputs for AnyTensor {
    fn into_outputs(self) -> Vec<AnyTensor> {
        vec![self]
    }
}

impl<T: TracedOutputs> TracedOutputs for Vec<T> {
    fn into_outputs(self) -> Vec<AnyTensor> {
        self.into_iter().flat_map(T::into_outputs).collect()
    }
}

impl<T: TracedOutputs, const N: usize> TracedOutputs for [T; N] {
    fn into_outputs(self) -> Vec<AnyTensor> {
        self.into_iter().flat_map(T::into_outputs).collect()
    }
}

impl<A: TracedOutputs, B: TracedOutputs> TracedOutputs for (A, B) {
    fn into_outputs(self) -> Vec<AnyTensor> {
        [self.0.into_outputs(), self.1.into_outputs()].concat()
    }
}

impl<A: TracedOutputs, B: TracedOutputs, C: TracedOutputs> TracedOutputs for (A, B, C) {
    fn into_outputs(self) -> Vec<AnyTensor> {
        [self.0.into_outputs(), self.1.into_outputs(), self.2.into_outputs()].concat()
    }
}

impl<D: Device, S: 'static> Tracer<D, S> {
    /// The next input of the program: contiguous, of just these sizes.
    ///
    /// # Errors
    ///
    /// A name that an input or tensor of the program has; negative sizes, or a tensor that no memory could hold.
    pub fn input(
        &mut self,
        name: &str,
        sizes: impl Into<Sizes>,
        dtype: DType,
    ) -> Result<Tensor<Meta<S>>, OperatorError> {
        let geometry = Geometry::contiguous(dtype, &sizes.into())?;
        let tensor = Tensor::zeroed(geometry.dtype(), geometry.sizes(), geometry.strides(), 0)?;
        let index = self.inputs.iter().filter(|kind| matches!(kind, InputKind::User(_))).count();
        self.add(name, InputKind::User(index), tensor.as_any(), None)?;
        Ok(tensor)
    }

    /// A tensor that the program brings along and only reads: a copy, unless it is frozen.
    ///
    /// # Errors
    ///
    /// A name that an input or tensor of the program has; memory that cannot be had, a storage that is being written.
    pub fn parameter(&mut self, name: &str, tensor: &Tensor<D>) -> Result<Tensor<Meta<S>>, OperatorError> {
        self.bring(name, InputKind::Parameter(name.into()), tensor)
    }

    /// A tensor that is state: what runs write to it, later runs of the same session find. It starts as a copy of this.
    ///
    /// # Errors
    ///
    /// Those of [`parameter`](Tracer::parameter).
    pub fn buffer(&mut self, name: &str, tensor: &Tensor<D>) -> Result<Tensor<Meta<S>>, OperatorError> {
        self.bring(name, InputKind::Buffer(name.into()), tensor)
    }

    fn bring(&mut self, name: &str, kind: InputKind, tensor: &Tensor<D>) -> Result<Tensor<Meta<S>>, OperatorError> {
        let given = match tensor.as_any().is_frozen() {
            true => tensor.clone(),
            false => {
                let storage = match self.storages.entry(tensor.storage_id()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let copy = copied::<D>(&tensor.storage_to_vec()?)?;
                        copy.freeze()?;
                        place.insert(copy)
                    }
                };
                storage.with_geometry(tensor.geometry().clone())?
            }
        };
        let shape = given.as_any().to_meta();
        self.add(name, kind, &shape, Some(given.into_any()))?;
        let device = shape.device();
        let wrong = || ErrorKind::DeviceMismatch { arg: name.to_owned().into(), got: device, want: DeviceId::META };
        shape.downcast().ok_or_else(|| wrong().into())
    }

    fn add(
        &mut self,
        name: &str,
        kind: InputKind,
        shape: &AnyTensor,
        given: Option<AnyTensor>,
    ) -> Result<(), OperatorError> {
        if self.values.infos.iter().any(|info| *info.name == *name) {
            let rule = "two inputs or tensors of a traced program have the same name";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let id = self.values.define(name, shape);
        self.graph_inputs.push(id);
        self.inputs.push(kind);
        self.given.push(given);
        Ok(())
    }
}

impl Program {
    /// Runs a function once on shapes, and makes a program of the operators that it calls: typed functions and
    /// methods on tensors of [`Meta`], and calls by name on `dispatcher`. `D` is the device of the program.
    ///
    /// A function that is written over any device gives the same program as it gives results. The program is for
    /// tensors of just the sizes that the function was traced with: its ifs and loops are decided.
    ///
    /// # Errors
    ///
    /// Those of the function, which also may not read elements; a tensor that comes from no operator;
    /// [`ProgramError::MissingOperators`] lists every operator that is not registered.
    pub fn trace_with<D, S, R>(
        dispatcher: &Dispatcher,
        function: impl FnOnce(&mut Tracer<D, S>) -> Result<R, OperatorError>,
    ) -> Result<Program>
    where
        D: Device,
        S: 'static,
        R: TracedOutputs,
        Standard: DefaultDevice<D>,
    {
        let mut tracer = Tracer {
            inputs: Vec::new(),
            given: Vec::new(),
            values: Values::default(),
            graph_inputs: Vec::new(),
            storages: HashMap::new(),
            device: PhantomData,
        };
        let (results, calls) = observed(dispatcher, || trace::calls(|| function(&mut tracer)));
        let results = results.map_err(failed)?.into_outputs();
        let Tracer { inputs, given, mut values, graph_inputs, .. } = tracer;
        let mut missing: BTreeMap<String, MissingOperator> = BTreeMap::new();
        for call in calls {
            let name = call.name.clone();
            match values.call::<D>(dispatcher, call) {
                Ok(()) => {}
                Err(Refused::Missing(error)) => {
                    let target = cut(&target(&name));
                    let one = || {
                        let why = error.kind().to_string();
                        MissingOperator { target: target.clone(), nodes: 0, modules: Vec::new(), why }
                    };
                    missing.entry(target.clone()).or_insert_with(one).nodes += 1;
                }
                // What follows from an operator that is missing is no other error.
                Err(Refused::Error(error)) if missing.is_empty() => return Err(error),
                Err(Refused::Error(_)) => {}
            }
        }
        if !missing.is_empty() {
            return Err(ProgramError::MissingOperators(missing.into_values().collect()));
        }
        let outputs = results.iter().map(|tensor| values.value(dispatcher, tensor).map(Argument::Value));
        let outputs = outputs.collect::<Result<Vec<_>>>()?;
        let Values { infos, nodes, .. } = values;
        let mut graph = Graph { name: "".into(), values: infos, inputs: graph_inputs, nodes, outputs };
        graph.find_last_uses();
        let outputs = vec![OutputKind::User; graph.outputs.len()];
        let inner = Inner {
            graph,
            symbols: Default::default(),
            inputs,
            outputs,
            ranges: Vec::new(),
            given,
            dispatcher: dispatcher.clone(),
            copies: Copies::of::<D>(),
            torch_version: String::new(),
            verifiers: Vec::new(),
            is_relaxed: false,
        };
        Ok(Program { inner: Arc::new(inner) })
    }
}

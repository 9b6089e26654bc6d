//! One graph of the JSON, with its subgraphs, as a [`Graph`]. Owns single assignment, the order of arguments and what a
//! node of control flow is made of; operators that are missing are noted, not reported, so that all are known.

use super::literal::{Scope, argument};
use super::model;
use super::numbers;
use super::target::{Target, resolve};
use crate::error::{MissingOperator, Result, cut, malformed, unsupported};
use crate::graph::{
    Argument, Autocast, Callee, Graph, Node, Output, Recorded, RecordedTensor, Rows, ValueId, ValueInfo, node_place,
};
use crate::symbol::{Expr, Symbols};
use monomorph_core::dispatch::Dispatcher;
use monomorph_core::schema::Schema;
use monomorph_core::{IValue, default_value};
use std::collections::{BTreeMap, HashMap};

/// How many modules an operator that is missing is listed with.
const MODULES_LISTED: usize = 4;

/// What the graphs of one program have in common.
pub(super) struct Builder<'a> {
    pub(super) dispatcher: &'a Dispatcher,
    pub(super) symbols: Symbols,
    pub(super) missing: BTreeMap<String, MissingOperator>,
}

/// A graph that is being made.
struct Scoped {
    graph: Graph,
    scope: Scope,
    tensors: HashMap<String, model::TensorMeta>,
    ints: HashMap<String, model::SymInt>,
}

impl Scoped {
    /// Defines a value.
    fn define(&mut self, symbols: &mut Symbols, place: &str, name: &str) -> Result<ValueId> {
        let number = u32::try_from(self.graph.values.len()).map_err(|_| malformed(place, "too many values"))?;
        let id = ValueId(number);
        if self.scope.0.insert(name.into(), id).is_some() {
            return Err(malformed(place, format!("value {} is defined twice", cut(name))));
        }
        let recorded = if let Some(meta) = self.tensors.remove(name) {
            // A dtype that there is none of here is an error only where it is computed with.
            match numbers::dtype(meta.dtype) {
                Ok(dtype) if meta.sizes.len() == meta.strides.len() => {
                    let sizes = meta.sizes.iter().map(|size| int(symbols, size)).collect();
                    let strides = meta.strides.iter().map(|stride| int(symbols, stride)).collect();
                    Recorded::Tensor(Box::new(RecordedTensor { dtype, sizes, strides }))
                }
                Ok(_) => {
                    let what = format!(
                        "value {} has {} sizes and {} strides",
                        cut(name),
                        meta.sizes.len(),
                        meta.strides.len()
                    );
                    return Err(malformed(place, what));
                }
                Err(_) => Recorded::Nothing,
            }
        } else {
            self.ints.remove(name).map_or(Recorded::Nothing, |value| Recorded::Int(int(symbols, &value)))
        };
        self.graph.values.push(ValueInfo { name: name.into(), recorded });
        Ok(id)
    }
}

/// A symbolic integer.
pub(super) fn int(symbols: &mut Symbols, value: &model::SymInt) -> Expr {
    match value {
        model::SymInt::Int(value) => Expr::Int(*value),
        model::SymInt::Expr(symbolic) => {
            let expr = symbols.parse(&symbolic.expr_str);
            if let Some(model::Hint::Int(value)) = symbolic.hint {
                symbols.note_example(&expr, value);
            }
            expr
        }
    }
}

impl Builder<'_> {
    /// The graph, or one that lacks the nodes whose operators are missing.
    pub(super) fn graph(&mut self, name: &str, model: model::Graph) -> Result<Graph> {
        let model::Graph { inputs, outputs, nodes, tensor_values, sym_int_values } = model;
        let mut scoped = Scoped {
            graph: Graph { name: name.into(), ..Graph::default() },
            scope: Scope::default(),
            tensors: tensor_values,
            ints: sym_int_values,
        };
        let place = if name.is_empty() { "the graph's inputs".to_owned() } else { format!("inputs of {}", cut(name)) };
        for (index, input) in inputs.into_iter().enumerate() {
            // What is no value has no name; it takes a place all the same.
            let name = names_of(&place, input)?.pop().unwrap_or_else(|| format!("constant_input_{index}"));
            let id = scoped.define(&mut self.symbols, &place, &name)?;
            scoped.graph.inputs.push(id);
        }
        for node in nodes {
            self.node(&mut scoped, node)?;
        }
        let place =
            if name.is_empty() { "the graph's outputs".to_owned() } else { format!("outputs of {}", cut(name)) };
        for output in outputs {
            let output = argument(&scoped.scope, &place, output, None)?;
            scoped.graph.outputs.push(output);
        }
        scoped.graph.find_last_uses();
        Ok(scoped.graph)
    }

    fn node(&mut self, scoped: &mut Scoped, node: model::Node) -> Result<()> {
        let model::Node { target, mut inputs, outputs, metadata, name } = node;
        let short = target.strip_prefix("torch.ops.").unwrap_or(&target).to_owned();
        let name = match name {
            Some(name) => name,
            None => outputs.iter().find_map(first_name).unwrap_or_default().to_owned(),
        };
        let place = node_place(&name, &short);
        let module = module_path(metadata.nn_module_stack.as_deref().unwrap_or(""));
        let mut resolved = resolve(self.dispatcher, &target);
        let mut shown = short.clone();
        let effects = matches!(&resolved, Some(Target::HigherOrder(name)) if name == "with_effects");
        if effects {
            // A token that orders effects, and the operator that has them: nodes run in order anyway.
            if inputs.len() < 2 {
                return Err(malformed(&place, "with_effects has no operator"));
            }
            inputs.remove(0);
            let model::Argument::AsOperator(operator) = inputs.remove(0).arg else {
                return Err(malformed(&place, "the second argument of with_effects is no operator"));
            };
            resolved = resolve(self.dispatcher, &operator);
            shown = operator.strip_prefix("torch.ops.").unwrap_or(&operator).to_owned();
        }
        let (callee, args) = match resolved {
            None => return Err(unsupported(format!("{place}: programs call no such function here"))),
            Some(Target::Missing(error)) => {
                self.note_missing(&shown, &module, &error);
                // Its results are defined, so that what follows is looked at, too.
                for output in outputs {
                    for name in names_of(&place, output)? {
                        scoped.define(&mut self.symbols, &place, &name)?;
                    }
                }
                return Ok(());
            }
            Some(Target::Operator(mut called, schema)) => {
                let args = in_schema_order(&scoped.scope, &place, &schema, inputs)?;
                called.note_writes(&schema, &args);
                (Callee::Operator(called), args)
            }
            Some(Target::Number(op)) => (Callee::Number(op), in_order(&scoped.scope, &place, inputs)?),
            Some(Target::Check(check)) => {
                let args = match check {
                    crate::graph::Check::True => in_order(&scoped.scope, &place, inputs)?,
                    crate::graph::Check::Metadata => {
                        by_name(&scoped.scope, &place, inputs, &["a", "size", "stride", "dtype"])?
                    }
                    crate::graph::Check::Range => {
                        let number = if inputs.iter().any(|input| input.name == "symbol") { "symbol" } else { "size" };
                        by_name(&scoped.scope, &place, inputs, &[number, "min", "max"])?
                    }
                };
                (Callee::Check(check), args)
            }
            Some(Target::HigherOrder(name)) => self.higher_order(&scoped.scope, &place, &name, inputs)?,
        };
        let mut defined = Vec::with_capacity(outputs.len());
        for output in outputs {
            let list = matches!(
                output,
                model::Argument::AsTensors(_) | model::Argument::AsSymInts(_) | model::Argument::AsOptionalTensors(_)
            );
            let mut ids = Vec::new();
            for name in names_of(&place, output)? {
                ids.push(scoped.define(&mut self.symbols, &place, &name)?);
            }
            defined.push(match (list, ids.pop()) {
                (false, Some(id)) => Output::One(id),
                (false, None) => Output::Nothing,
                (true, last) => {
                    ids.extend(last);
                    Output::Items(ids)
                }
            });
        }
        if effects {
            // The token stays without a value.
            if defined.is_empty() {
                return Err(malformed(&place, "with_effects gives no token"));
            }
            defined.remove(0);
        }
        scoped.graph.nodes.push(Node {
            name: name.into(),
            target: shown.into(),
            module: module.into(),
            callee,
            args,
            outputs: defined,
            last_uses: Vec::new(),
        });
        Ok(())
    }

    fn note_missing(&mut self, target: &str, module: &str, error: &monomorph_core::Error) {
        let missing = self.missing.entry(target.to_owned()).or_insert_with(|| {
            let left_out = matches!(
                error.kind(),
                monomorph_core::ErrorKind::Dispatch(monomorph_core::dispatch::DispatchError::LeftOut { .. })
            );
            let why = if left_out { error.kind().to_string() } else { String::new() };
            MissingOperator { target: cut(target), nodes: 0, modules: Vec::new(), why }
        });
        missing.nodes += 1;
        if !module.is_empty() && missing.modules.len() < MODULES_LISTED && !missing.modules.iter().any(|m| m == module)
        {
            missing.modules.push(cut(module));
        }
    }

    fn higher_order(
        &mut self,
        scope: &Scope,
        place: &str,
        name: &str,
        inputs: Vec<model::NamedArgument>,
    ) -> Result<(Callee, Vec<Argument>)> {
        let mut graphs = Vec::new();
        let mut args = Vec::new();
        for input in inputs {
            match input.arg {
                model::Argument::AsGraph(graph) => graphs.push(self.graph(&graph.name, graph.graph)?),
                other => args.push(argument(scope, place, other, None)?),
            }
        }
        let two = |graphs: Vec<Graph>| {
            <[Graph; 2]>::try_from(graphs).map(Box::new).map_err(|_| malformed(place, "two graphs are needed"))
        };
        let one = |graphs: Vec<Graph>| {
            let [graph] = <[Graph; 1]>::try_from(graphs).map_err(|_| malformed(place, "one graph is needed"))?;
            Result::Ok(Box::new(graph))
        };
        let front = |args: &mut Vec<Argument>, count: usize| {
            if args.len() < count {
                return Err(malformed(place, format!("{} arguments, {count} or more are needed", args.len())));
            }
            Ok(args.drain(..count).collect::<Vec<_>>())
        };
        let callee = match name {
            "cond" if args.is_empty() => return Err(malformed(place, "there is no condition")),
            "cond" => Callee::Cond(two(graphs)?),
            "while_loop" => {
                // The condition first, then what a step does.
                let graphs = two(graphs)?;
                let carried = args.first().map_or(0, |carried| match carried {
                    Argument::List(_, items) => items.len(),
                    _ => 1,
                });
                if graphs[1].outputs.len() != carried {
                    let what = format!("a step gives {} values, {carried} are carried", graphs[1].outputs.len());
                    return Err(malformed(place, what));
                }
                Callee::While(graphs)
            }
            "scan" | "map_impl" => {
                let listed = |position: usize| match args.get(position) {
                    None => 0,
                    Some(Argument::List(_, items)) => items.len(),
                    Some(Argument::Constant(IValue::List(list))) => list.len(),
                    Some(_) => 1,
                };
                // A map carries nothing.
                let (carried, scanned) = if name == "scan" { (listed(0), listed(1)) } else { (0, listed(0)) };
                let graph = one(graphs)?;
                if graph.outputs.len() < carried {
                    let what = format!("a row gives {} values, {carried} are carried", graph.outputs.len());
                    return Err(malformed(place, what));
                }
                Callee::Scan(graph, Rows { carried, scanned })
            }
            "wrap_with_set_grad_enabled" => {
                front(&mut args, 1)?;
                Callee::Inline(one(graphs)?, None)
            }
            "wrap_with_autocast" => {
                let autocast = match &front(&mut args, 4)?[..] {
                    [Argument::Constant(IValue::Str(device)), dtype, Argument::Constant(IValue::Bool(enabled)), _] => {
                        match (&**device, enabled, dtype) {
                            // Another device's rules touch nothing on the CPU.
                            (device, ..) if device != "cpu" => None,
                            (_, false, _) => Some(Autocast::Off),
                            (_, true, Argument::Constant(IValue::DType(dtype))) => Some(Autocast::To(*dtype)),
                            (_, true, Argument::Constant(IValue::None)) => {
                                Some(Autocast::To(monomorph_core::DType::BF16))
                            }
                            _ => return Err(malformed(place, "the dtype of autocast is no dtype")),
                        }
                    }
                    _ => return Err(malformed(place, "autocast is not told device, dtype and whether it is on")),
                };
                Callee::Inline(one(graphs)?, autocast)
            }
            _ => return Err(unsupported(format!("{place}: this higher-order operator is not run here"))),
        };
        Ok((callee, args))
    }
}

/// Arguments in the order of the schema, defaults for those that are left out.
fn in_schema_order(
    scope: &Scope,
    place: &str,
    schema: &Schema,
    inputs: Vec<model::NamedArgument>,
) -> Result<Vec<Argument>> {
    let mut args: Vec<Option<Argument>> = Vec::new();
    args.resize_with(schema.args().len(), || None);
    for (index, input) in inputs.into_iter().enumerate() {
        let by_name = || schema.args().position(|arg| arg.name() == input.name);
        let position = if input.name.is_empty() { Some(index) } else { by_name() };
        let Some((position, declared)) = position.and_then(|p| schema.args().nth(p).map(|declared| (p, declared)))
        else {
            return Err(malformed(place, format!("argument {} is none of {schema}", cut(&input.name))));
        };
        if args[position].is_some() {
            return Err(malformed(place, format!("argument {} is given twice", declared.name())));
        }
        let place = format!("{place}, argument {}", declared.name());
        args[position] = Some(argument(scope, &place, input.arg, Some(declared.ty()))?);
    }
    let complete = |(arg, declared): (Option<Argument>, _)| match arg {
        Some(arg) => Ok(arg),
        None => default_value(declared)
            .map(Argument::Constant)
            .ok_or_else(|| malformed(place, format!("argument {} is missing and has no default", declared.name()))),
    };
    args.into_iter().zip(schema.args()).map(complete).collect()
}

/// Arguments as they stand.
fn in_order(scope: &Scope, place: &str, inputs: Vec<model::NamedArgument>) -> Result<Vec<Argument>> {
    inputs.into_iter().map(|input| argument(scope, place, input.arg, None)).collect()
}

/// The arguments of these names, None for those that are left out; others are not looked at.
fn by_name(scope: &Scope, place: &str, inputs: Vec<model::NamedArgument>, names: &[&str]) -> Result<Vec<Argument>> {
    let mut args = vec![Argument::Constant(IValue::None); names.len()];
    for input in inputs {
        if let Some(position) = names.iter().position(|name| *name == input.name) {
            args[position] = argument(scope, place, input.arg, None)?;
        }
    }
    Ok(args)
}

/// The name of the first value in an output.
fn first_name(output: &model::Argument) -> Option<&str> {
    match output {
        model::Argument::AsTensor(named) => Some(&named.name),
        model::Argument::AsTensors(list) => list.first().map(|named| &*named.name),
        _ => None,
    }
}

/// The names of the values that an input or output stands for.
fn names_of(place: &str, output: model::Argument) -> Result<Vec<String>> {
    use model::Argument as A;
    Ok(match output {
        A::AsTensor(named) => vec![named.name],
        A::AsTensors(list) => list.into_iter().map(|named| named.name).collect(),
        A::AsSymInt(model::SymArgument::Name(name)) => vec![name],
        A::AsSymFloat(model::SymArgument::Name(name)) => vec![name],
        A::AsSymBool(model::SymArgument::Name(name)) => vec![name],
        A::AsSymInts(list) => {
            let name = |one| match one {
                model::SymArgument::Name(name) => Ok(name),
                model::SymArgument::Number(_) => Err(malformed(place, "a number where a value is defined")),
            };
            list.into_iter().map(name).collect::<Result<_>>()?
        }
        A::AsOptionalTensor(model::OptionalTensor::AsTensor(named)) => vec![named.name],
        A::AsNone(_) | A::AsOptionalTensor(model::OptionalTensor::AsNone(_)) => Vec::new(),
        A::AsInt(_) | A::AsFloat(_) | A::AsBool(_) | A::AsString(_) => Vec::new(),
        A::AsCustomObj(named) => {
            return Err(unsupported(format!("{place}: object {} of a custom class is not read", cut(&named.name))));
        }
        _ => return Err(unsupported(format!("{place}: what is defined is no tensor, list of tensors or number"))),
    })
}

/// The path of the innermost module of `key,path,type;key,path,type`.
fn module_path(stack: &str) -> String {
    let path = stack.rsplit(';').find_map(|entry| entry.split(',').nth(1)).unwrap_or("");
    if path.starts_with("_empty_nn_module_stack") { String::new() } else { path.to_owned() }
}

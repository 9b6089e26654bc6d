//! The whole of an archive: which model, which version, its graph, what its inputs and outputs are, its weights.

use super::archive::Archive;
use super::graph::Builder;
use super::model;
use super::weights::Weights;
use crate::copies::Copies;
use crate::error::{ProgramError, Result, cut, malformed, unsupported};
use crate::graph::{InputKind, Literal, OutputKind};
use crate::program::{Inner, RangeOf};
use monomorph_core::dispatch::Dispatcher;
use monomorph_core::{AnyTensor, DefaultDevice, Device, Standard};
use std::collections::{BTreeMap, HashMap};

/// The major version of the schema that is read. PyTorch raises it for every change that breaks readers.
const MAJOR: i64 = 8;

/// The program in an archive, whose memory it takes.
pub(crate) fn read<D, O>(dispatcher: &Dispatcher, mut owner: O) -> Result<Inner>
where
    D: Device,
    O: AsMut<[u8]> + Send + 'static,
    Standard: DefaultDevice<D>,
{
    let bytes: &[u8] = owner.as_mut();
    let mut archive = Archive::new(bytes)?;
    let model_name = model_of(&archive)?;
    if archive.has("byteorder") {
        let order = archive.text("byteorder")?;
        if order != "little" {
            return Err(unsupported(format!(
                "the archive's numbers are in byte order {:?}; little is read",
                cut(&order)
            )));
        }
    }
    let place = format!("models/{model_name}.json");
    let json = archive.bytes(&place)?;
    let wrong = |error: serde_json::Error| malformed(&place, error.to_string());
    let model::Versioned { schema_version } = serde_json::from_slice(&json).map_err(wrong)?;
    if schema_version.major != MAJOR {
        return Err(unsupported(format!(
            "the archive's schema is {}.{}; major version {MAJOR} is read, export with PyTorch 2.2 or later",
            schema_version.major, schema_version.minor
        )));
    }
    let exported: model::ExportedProgram = serde_json::from_slice(&json).map_err(wrong)?;
    drop(json);
    let mut builder = Builder { dispatcher, symbols: Default::default(), missing: BTreeMap::new() };
    let model::GraphModule { graph, signature } = exported.graph_module;
    let graph = builder.graph("", graph)?;
    if !builder.missing.is_empty() {
        return Err(ProgramError::MissingOperators(builder.missing.into_values().collect()));
    }
    let inputs = input_kinds(&signature, graph.inputs.len())?;
    let outputs = output_kinds(&signature, &inputs, &graph)?;
    let range = |(text, range): (String, model::Range)| RangeOf {
        expr: builder.symbols.parse(&text),
        min: range.min_val.unwrap_or(i64::MIN),
        max: range.max_val.unwrap_or(i64::MAX),
    };
    let ranges = exported.range_constraints.into_iter().map(range).collect();
    let mut weights = Weights::default();
    weights.add(&mut archive, "data/weights", &format!("{model_name}_weights_config.json"))?;
    weights.add(&mut archive, "data/constants", &format!("{model_name}_constants_config.json"))?;
    drop(archive);
    let weights = weights.make::<D, O>(owner)?;
    let given = given(&graph, &inputs, weights)?;
    Ok(Inner {
        graph,
        symbols: builder.symbols,
        inputs,
        outputs,
        ranges,
        given,
        dispatcher: dispatcher.clone(),
        copies: Copies::of::<D>(),
        torch_version: cut(&exported.torch_version),
        verifiers: exported.verifiers.iter().map(|verifier| cut(verifier)).collect(),
        is_relaxed: false,
    })
}

/// The name of the model: `model`, or the only one.
fn model_of(archive: &Archive<'_>) -> Result<String> {
    let mut names: Vec<&str> = archive
        .paths()
        .filter_map(|path| path.strip_prefix("models/")?.strip_suffix(".json"))
        .filter(|name| !name.contains('/'))
        .collect();
    names.sort_unstable();
    if names.contains(&"model") {
        return Ok("model".to_owned());
    }
    match names[..] {
        [one] => Ok(one.to_owned()),
        [] if archive.paths().any(|path| path.starts_with("data/aotinductor/")) => Err(unsupported(
            "the archive holds machine code of AOTInductor and no graph; save the exported program with \
             torch.export.save",
        )),
        [] if archive.paths().any(|path| path == "serialized_exported_program.json" || path.ends_with("data.pkl")) => {
            Err(unsupported(
                "the archive is of another format of PyTorch's (TorchScript, a state dict, or an export of PyTorch \
                 before 2.8); save the exported program with torch.export.save of a newer one",
            ))
        }
        [] => Err(unsupported("the archive holds no model (models/NAME.json)")),
        _ => Err(unsupported(format!("the archive holds {} models and none is called model", names.len()))),
    }
}

fn input_kinds(signature: &model::Signature, count: usize) -> Result<Vec<InputKind>> {
    let place = "the signature's inputs";
    if signature.input_specs.len() != count {
        let what = format!("{} inputs in the signature, {count} in the graph", signature.input_specs.len());
        return Err(malformed(place, what));
    }
    let mut users = 0;
    let mut user = || {
        users += 1;
        users - 1
    };
    let kind = |spec: &model::InputSpec| {
        Ok(match spec {
            model::InputSpec::UserInput(_) => InputKind::User(user()),
            model::InputSpec::Parameter { parameter_name } => InputKind::Parameter(parameter_name.as_str().into()),
            model::InputSpec::Buffer { buffer_name } => InputKind::Buffer(buffer_name.as_str().into()),
            model::InputSpec::TensorConstant { tensor_constant_name } => {
                InputKind::Constant(tensor_constant_name.as_str().into())
            }
            model::InputSpec::CustomObj { custom_obj_name } => {
                return Err(unsupported(format!("object {} of a custom class is not read", cut(custom_obj_name))));
            }
            model::InputSpec::Token(_) => InputKind::Token,
            model::InputSpec::ConstantInput { value } => InputKind::Literal(
                user(),
                match value {
                    model::ConstantValue::AsNone(_) => Literal::None,
                    model::ConstantValue::AsInt(i) => Literal::Int(*i),
                    model::ConstantValue::AsFloat(f) => Literal::Float(f.0),
                    model::ConstantValue::AsString(text) => Literal::Str(text.as_str().into()),
                    model::ConstantValue::AsBool(b) => Literal::Bool(*b),
                },
            ),
        })
    };
    signature.input_specs.iter().map(kind).collect()
}

fn output_kinds(
    signature: &model::Signature,
    inputs: &[InputKind],
    graph: &crate::graph::Graph,
) -> Result<Vec<OutputKind>> {
    let place = "the signature's outputs";
    if signature.output_specs.len() != graph.outputs.len() {
        let (got, want) = (signature.output_specs.len(), graph.outputs.len());
        return Err(malformed(place, format!("{got} outputs in the signature, {want} in the graph")));
    }
    let mutated = |position: Option<usize>, name: &str| {
        let none = || malformed(place, format!("{} is changed and is no input", cut(name)));
        position.map(OutputKind::Mutation).ok_or_else(none)
    };
    let kind = |spec: &model::OutputSpec| {
        Ok(match spec {
            model::OutputSpec::UserOutput(_) | model::OutputSpec::LossOutput(_) => OutputKind::User,
            model::OutputSpec::Token(_) => OutputKind::Token,
            model::OutputSpec::BufferMutation { buffer_name: name } => mutated(
                inputs.iter().position(|input| matches!(input, InputKind::Buffer(buffer) if **buffer == **name)),
                name,
            )?,
            model::OutputSpec::ParameterMutation { parameter_name: name } => mutated(
                inputs.iter().position(|input| matches!(input, InputKind::Parameter(known) if **known == **name)),
                name,
            )?,
            model::OutputSpec::UserInputMutation { user_input_name: name } => mutated(
                graph
                    .inputs
                    .iter()
                    .zip(inputs)
                    .position(|(id, kind)| matches!(kind, InputKind::User(_)) && *graph.value(*id).name == **name),
                name,
            )?,
            model::OutputSpec::GradientToParameter(_) | model::OutputSpec::GradientToUserInput(_) => {
                return Err(unsupported("the program computes gradients as outputs; programs for inference are run"));
            }
        })
    };
    signature.output_specs.iter().map(kind).collect()
}

/// The tensors that the program brings along, by input of the graph.
fn given(
    graph: &crate::graph::Graph,
    inputs: &[InputKind],
    weights: HashMap<Box<str>, AnyTensor>,
) -> Result<Vec<Option<AnyTensor>>> {
    let one = |(kind, id): (&InputKind, &crate::graph::ValueId)| {
        let (InputKind::Parameter(name) | InputKind::Buffer(name) | InputKind::Constant(name)) = kind else {
            return Ok(None);
        };
        let place = format!("weight {}", cut(name));
        let Some(tensor) = weights.get(name) else {
            return Err(malformed(&place, "the archive has no such tensor"));
        };
        if let crate::graph::Recorded::Tensor(recorded) = graph.value(*id).recorded() {
            let agrees = recorded.dtype == tensor.dtype()
                && recorded.sizes.len() == tensor.ndim()
                && recorded.sizes.iter().zip(tensor.sizes()).all(|(expr, size)| match expr {
                    crate::symbol::Expr::Int(want) => want == size,
                    _ => true,
                });
            if !agrees {
                let what = format!("stored as {} {:?}, which the graph does not say", tensor.dtype(), tensor.sizes());
                return Err(malformed(&place, what));
            }
        }
        Ok(Some(tensor.clone()))
    };
    inputs.iter().zip(&graph.inputs).map(one).collect()
}

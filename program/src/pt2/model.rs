//! The JSON of an archive as structures, in the names of `torch/_export/serde/schema.py`. Fields that nothing reads are
//! not here; unknown fields, which a later minor version may have, are skipped, and an unknown kind of value is an
//! error.

use serde::{Deserialize, Deserializer};
use std::collections::HashMap;

#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) major: i64,
    #[serde(default)]
    pub(super) minor: i64,
}

/// What is read first: an archive of another major version may have another shape.
#[derive(Deserialize)]
pub(super) struct Versioned {
    pub(super) schema_version: Version,
}

#[derive(Deserialize)]
pub(super) struct ExportedProgram {
    pub(super) graph_module: GraphModule,
    #[serde(default)]
    pub(super) range_constraints: HashMap<String, Range>,
    #[serde(default)]
    pub(super) torch_version: String,
    #[serde(default)]
    pub(super) verifiers: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Range {
    pub(super) min_val: Option<i64>,
    pub(super) max_val: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct GraphModule {
    pub(super) graph: Graph,
    pub(super) signature: Signature,
}

#[derive(Deserialize)]
pub(super) struct Graph {
    pub(super) inputs: Vec<Argument>,
    pub(super) outputs: Vec<Argument>,
    pub(super) nodes: Vec<Node>,
    pub(super) tensor_values: HashMap<String, TensorMeta>,
    #[serde(default)]
    pub(super) sym_int_values: HashMap<String, SymInt>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    pub(super) target: String,
    pub(super) inputs: Vec<NamedArgument>,
    pub(super) outputs: Vec<Argument>,
    #[serde(default)]
    pub(super) metadata: Metadata,
    #[serde(default)]
    pub(super) name: Option<String>,
}

#[derive(Deserialize, Default)]
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) nn_module_stack: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct NamedArgument {
    #[serde(default)]
    pub(super) name: String,
    pub(super) arg: Argument,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names are the keys of the JSON")]
pub(super) enum Argument {
    AsNone(serde::de::IgnoredAny),
    AsTensor(Named),
    AsTensors(Vec<Named>),
    AsInt(i64),
    AsInts(Vec<i64>),
    AsFloat(Float),
    AsFloats(Vec<Float>),
    AsString(String),
    AsStrings(Vec<String>),
    AsSymInt(SymArgument<i64>),
    AsSymInts(Vec<SymArgument<i64>>),
    AsSymFloat(SymArgument<Float>),
    AsSymFloats(Vec<SymArgument<Float>>),
    AsSymBool(SymArgument<bool>),
    AsSymBools(Vec<SymArgument<bool>>),
    AsScalarType(i64),
    AsMemoryFormat(i64),
    AsLayout(i64),
    AsDevice(Device),
    AsBool(bool),
    AsBools(Vec<bool>),
    AsGraph(Box<GraphArgument>),
    AsOptionalTensor(OptionalTensor),
    AsOptionalTensors(Vec<OptionalTensor>),
    AsCustomObj(Named),
    AsOperator(String),
    AsComplex(Complex),
    AsNestedTensors(serde::de::IgnoredAny),
    AsIntLists(serde::de::IgnoredAny),
    AsFloatLists(serde::de::IgnoredAny),
    AsStringToArgument(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OptionalTensor {
    AsTensor(Named),
    AsNone(serde::de::IgnoredAny),
}

/// A number, or the name of one that the program computes.
#[derive(Deserialize)]
pub(super) enum SymArgument<T> {
    #[serde(rename = "as_name")]
    Name(String),
    #[serde(rename = "as_int", alias = "as_float", alias = "as_bool")]
    Number(T),
}

#[derive(Deserialize)]
pub(super) struct Device {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

#[derive(Deserialize)]
pub(super) struct GraphArgument {
    pub(super) name: String,
    pub(super) graph: Graph,
}

#[derive(Deserialize)]
pub(super) struct Complex {
    pub(super) real: Float,
    pub(super) imag: Float,
}

/// A float: what JSON has no number for is a string.
#[derive(Clone, Copy)]
pub(super) struct Float(pub(super) f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Float, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Float;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, \"Infinity\", \"-Infinity\" or \"NaN\"")
            }
            fn visit_f64<E>(self, value: f64) -> Result<Float, E> {
                Ok(Float(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Float, E> {
                Ok(Float(value as f64))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Float, E> {
                Ok(Float(value as f64))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Float, E> {
                match text {
                    "Infinity" => Ok(Float(f64::INFINITY)),
                    "-Infinity" => Ok(Float(f64::NEG_INFINITY)),
                    "NaN" => Ok(Float(f64::NAN)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[derive(Deserialize)]
pub(super) struct TensorMeta {
    pub(super) dtype: i64,
    pub(super) sizes: Vec<SymInt>,
    pub(super) strides: Vec<SymInt>,
    pub(super) storage_offset: SymInt,
    #[serde(default)]
    pub(super) layout: Option<i64>,
}

#[derive(Deserialize)]
pub(super) enum SymInt {
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(rename = "as_expr")]
    Expr(SymExpr),
}

#[derive(Deserialize)]
pub(super) struct SymExpr {
    pub(super) expr_str: String,
    #[serde(default)]
    pub(super) hint: Option<Hint>,
}

/// The value in the example.
#[derive(Deserialize)]
pub(super) enum Hint {
    #[serde(rename = "as_int")]
    Int(i64),
    #[serde(untagged)]
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct Signature {
    pub(super) input_specs: Vec<InputSpec>,
    pub(super) output_specs: Vec<OutputSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InputSpec {
    UserInput(serde::de::IgnoredAny),
    Parameter { parameter_name: String },
    Buffer { buffer_name: String },
    TensorConstant { tensor_constant_name: String },
    CustomObj { custom_obj_name: String },
    Token(serde::de::IgnoredAny),
    ConstantInput { value: ConstantValue },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names are the keys of the JSON")]
pub(super) enum ConstantValue {
    AsNone(serde::de::IgnoredAny),
    AsInt(i64),
    AsFloat(Float),
    AsString(String),
    AsBool(bool),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputSpec {
    UserOutput(serde::de::IgnoredAny),
    LossOutput(serde::de::IgnoredAny),
    BufferMutation { buffer_name: String },
    ParameterMutation { parameter_name: String },
    GradientToParameter(serde::de::IgnoredAny),
    GradientToUserInput(serde::de::IgnoredAny),
    UserInputMutation { user_input_name: String },
    Token(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct PayloadConfig {
    pub(super) config: HashMap<String, Payload>,
}

#[derive(Deserialize)]
pub(super) struct Payload {
    pub(super) path_name: String,
    #[serde(default)]
    pub(super) use_pickle: bool,
    pub(super) tensor_meta: Option<TensorMeta>,
}

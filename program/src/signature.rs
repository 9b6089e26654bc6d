//! What a caller gives to a program, and what it had in the example with which the program was exported.

use crate::graph::{Argument, InputKind, Literal, OutputKind, Recorded, Shown};
use crate::program::Program;
use monomorph_core::DType;

/// An input that the caller gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UserInput {
    /// Its place among the inputs of [`Session::run`](crate::Session::run).
    pub index: usize,
    /// Its name in the program.
    pub name: String,
    /// What is accepted.
    pub kind: UserInputKind,
}

/// What kind of value an input is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum UserInputKind {
    /// A tensor.
    Tensor {
        /// Its dtype.
        dtype: DType,
        /// Its sizes in the example, as far as the program says.
        sizes: Vec<Option<i64>>,
    },
    /// An integer, and what it was in the example.
    Int(Option<i64>),
    /// This very value.
    Literal(Literal),
    /// Nothing is recorded of it.
    Any,
}

impl Program {
    /// The inputs that the caller gives, in the order of [`Session::run`](crate::Session::run).
    pub fn user_inputs(&self) -> Vec<UserInput> {
        let inner = &*self.inner;
        let input = |(kind, id): (&InputKind, &crate::ValueId)| {
            let info = inner.graph.value(*id);
            let (index, kind) = match kind {
                InputKind::User(index) => (*index, None),
                InputKind::Literal(index, literal) => (*index, Some(UserInputKind::Literal(literal.clone()))),
                _ => return None,
            };
            let kind = kind.unwrap_or_else(|| match info.recorded() {
                Recorded::Tensor(tensor) => UserInputKind::Tensor {
                    dtype: tensor.dtype,
                    sizes: tensor.sizes.iter().map(|size| inner.symbols.in_example(size)).collect(),
                },
                Recorded::Int(expr) => UserInputKind::Int(inner.symbols.in_example(expr)),
                Recorded::Nothing => UserInputKind::Any,
            });
            Some(UserInput { index, name: info.name().to_owned(), kind })
        };
        let mut inputs: Vec<UserInput> = inner.inputs.iter().zip(&inner.graph.inputs).filter_map(input).collect();
        inputs.sort_by_key(|input| input.index);
        inputs
    }

    /// The outputs that the caller gets with their sizes, one a line.
    pub fn outputs_text(&self) -> String {
        let inner = &*self.inner;
        let shown = Shown { graph: &inner.graph, symbols: &inner.symbols, indent: 0 };
        let user = inner.outputs.iter().zip(&inner.graph.outputs).filter(|(kind, _)| **kind == OutputKind::User);
        let line = |(index, (_, argument)): (usize, (&OutputKind, &Argument))| match argument {
            Argument::Value(id) => format!("output {index} {}", shown.typed(*id)),
            _ => format!("output {index}, a constant"),
        };
        user.enumerate().map(line).collect::<Vec<_>>().join("\n")
    }
}

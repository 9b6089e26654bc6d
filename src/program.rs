//! Programs that PyTorch's `torch.export` wrote (.pt2), on the CPU with the operators of this library. Owns the choice
//! of both; what a program is, is `monomorph_program`'s.

pub use monomorph_program::{
    Argument, Autocast, Called, Callee, Check, Difference, Expr, Function, Graph, InputKind, Item, Kept, ListKind,
    Literal, MissingOperator, Node, NumberOp, Output, OutputKind, ProgramError, Recorded, RecordedTensor, Result,
    Session, Timing, UserInput, UserInputKind, Value, ValueId, ValueInfo,
};

use crate::{Cpu, Dispatcher, Library, selection};
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::LazyLock;

/// The operators of programs: those of the table, and from the first program on those of the namespace
/// `quantized_decomposed`, unless a library of the user's has defined one of them.
fn dispatcher() -> &'static Dispatcher {
    /// What it registers is there as long as it is.
    static QUANTIZED: LazyLock<Library> = LazyLock::new(|| {
        let mut library = crate::dispatcher().library("quantized_decomposed");
        // The user's operators are the ones that count; programs name those that are missing.
        let _ = selection::register_quantized(&mut library);
        library
    });
    LazyLock::force(&QUANTIZED);
    crate::dispatcher()
}

/// A program that `torch.export` wrote, with the operators of [`dispatcher`](crate::dispatcher) and PyTorch's of the
/// namespace `quantized_decomposed`.
///
/// ```no_run
/// use monomorph::prelude::*;
/// use monomorph::program::Program;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // In Python: torch.export.save(torch.export.export(model, (x,)), "model.pt2")
/// let program = Program::load("model.pt2")?;
/// let x = Tensor::from_vec(vec![0.5f32; 20], (1, 20))?;
/// let outputs = program.session()?.run(&[x.into()])?;
/// println!("{:?}", outputs[0]);
/// # Ok(())
/// # }
/// ```
///
/// Its weights lie in a map of the file and are not copied. A [`Session`] is an instance with buffers of its own; any
/// number of them share the weights.
#[derive(Clone, Debug)]
pub struct Program(monomorph_program::Program);

impl Program {
    /// Reads an archive (.pt2). See [`load_with`](monomorph_program::Program::load_with) for what is checked, and for
    /// what must not happen to the file meanwhile.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, content that is not understood or contradicts the format, operators that are not
    /// there: [`ProgramError::MissingOperators`] lists all of them.
    pub fn load(path: impl AsRef<Path>) -> Result<Program> {
        monomorph_program::Program::load_with::<Cpu>(dispatcher(), path).map(Program)
    }

    /// The same from bytes, which it keeps.
    ///
    /// # Errors
    ///
    /// As for [`load`](Program::load).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Program> {
        monomorph_program::Program::from_bytes_with::<Cpu>(dispatcher(), bytes).map(Program)
    }

    /// The same program with fewer roundings, or others: faster, and near the exact results instead of equal to them.
    /// See [`relaxed`](monomorph_program::Program::relaxed) for what is changed.
    ///
    /// # Errors
    ///
    /// There is no memory for weights.
    pub fn relaxed(&self) -> Result<Program> {
        self.0.relaxed().map(Program)
    }
}

impl Deref for Program {
    type Target = monomorph_program::Program;

    fn deref(&self) -> &monomorph_program::Program {
        &self.0
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

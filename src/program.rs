//! Programs that PyTorch's `torch.export` wrote (.pt2) or that functions of tensors give, on the CPU with the operators
//! of this library. Owns the choice of both; what a program is, is `monomorph_program`'s.

pub use monomorph_program::{
    Argument, Autocast, Called, Callee, Check, Difference, Expr, Function, Graph, InputKind, Item, Kept, ListKind,
    Literal, MemoryBlock, MissingOperator, Node, NumberOp, Output, OutputKind, ProgramError, Recorded, RecordedTensor,
    Result, Session, Timing, TracedOutputs, UserInput, UserInputKind, Value, ValueId, ValueInfo,
};

use crate::{Cpu, Dispatcher, Library, selection};
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::LazyLock;

/// The operators of programs: those of the table, and from the first program on those of the namespaces
/// `quantized_decomposed` and `transformers`, unless a library of the user's has defined one of them.
fn dispatcher() -> &'static Dispatcher {
    /// What they register is there as long as they are.
    static LIBRARIES: LazyLock<[Library; 2]> = LazyLock::new(|| {
        let mut libraries =
            ["quantized_decomposed", "transformers"].map(|namespace| crate::dispatcher().library(namespace));
        // The user's operators are the ones that count; programs name those that are missing.
        let _ = selection::register_quantized(&mut libraries[0]);
        let _ = selection::register_transformers(&mut libraries[1]);
        libraries
    });
    LazyLock::force(&LIBRARIES);
    crate::dispatcher()
}

/// What a function that is traced computes with, by [`Program::trace`].
pub type Tracer = monomorph_program::Tracer<Cpu, monomorph_ops::StdOps>;

/// A program that `torch.export` wrote, with the operators of [`dispatcher`](crate::dispatcher) and PyTorch's of the
/// namespace `quantized_decomposed`, and those of the Python library transformers.
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

    /// Makes a program of a function of tensors, which runs once, on shapes: the operators that it calls are the nodes.
    /// It may be written over any device, and computes with what it is given by the [`Tracer`].
    ///
    /// ```
    /// use monomorph::{kernels::AllKernels, prelude::*, program::Program};
    ///
    /// fn layer<D: AllKernels>(x: &Tensor<D>, w: &Tensor<D>) -> monomorph::Result<Tensor<D>> {
    ///     x.matmul(w)?.relu()
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let w = tensor![[1.0f32, -1.0], [2.0, 0.5]];
    /// let program = Program::trace(|tracer| {
    ///     let (x, w) = (tracer.input("x", [1, 2], F32)?, tracer.parameter("w", &w)?);
    ///     layer(&x, &w)
    /// })?;
    /// let x = tensor![[1.0f32, 4.0]];
    /// let mut outputs = program.session()?.run(&[x.clone().into()])?;
    /// let y = outputs.remove(0).into_tensor().ok_or("no tensor")?;
    /// assert_eq!(y.to_vec::<f32>()?, layer(&x, &w)?.to_vec::<f32>()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// See [`trace_with`](monomorph_program::Program::trace_with).
    pub fn trace<R: TracedOutputs>(function: impl FnOnce(&mut Tracer) -> crate::Result<R>) -> Result<Program> {
        monomorph_program::Program::trace_with(dispatcher(), function).map(Program)
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

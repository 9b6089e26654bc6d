//! A program that was read: its graph, what its inputs and outputs are, and the tensors that it brings along. Owns
//! loading and the text; running is a session's.

use crate::copies::Copies;
use crate::error::{ProgramError, Result};
use crate::graph::{Graph, InputKind, OutputKind, Recorded, RecordedTensor, Shown, dot};
use crate::pt2;
use crate::relaxed::relaxed;
use crate::session::Session;
use crate::symbol::{Expr, Symbols};
use memmap2::MmapOptions;
use monomorph_core::dispatch::Dispatcher;
use monomorph_core::{AnyTensor, DefaultDevice, Device, Standard};
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The range of a symbol or expression.
#[derive(Clone)]
pub(crate) struct RangeOf {
    pub(crate) expr: Expr,
    pub(crate) min: i64,
    pub(crate) max: i64,
}

/// What a program is. Sessions share it.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) graph: Graph,
    pub(crate) symbols: Symbols,
    pub(crate) inputs: Vec<InputKind>,
    pub(crate) outputs: Vec<OutputKind>,
    pub(crate) ranges: Vec<RangeOf>,
    /// The tensors that are given with the program, by input of the graph; their storages are frozen.
    pub(crate) given: Vec<Option<AnyTensor>>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) copies: Copies,
    pub(crate) torch_version: String,
    pub(crate) verifiers: Vec<String>,
    /// Runs may round otherwise than the operators in turn.
    pub(crate) is_relaxed: bool,
}

/// A program that `torch.export` wrote: a graph of operator calls with its weights.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
}

impl Program {
    /// Reads an archive (.pt2) whose weights stay where they lie, in a map of the file: loading copies none of them,
    /// and what no run reads is never read. `D` is the device of tensors, and `dispatcher` has the operators.
    ///
    /// A file that another program cuts short while it is mapped ends this one; so programs are replaced by new files,
    /// as every build tool does, not overwritten.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no such archive; it has a part that contradicts the format or is not understood;
    /// [`ProgramError::MissingOperators`] lists every operator that is not registered.
    pub fn load_with<D: Device>(dispatcher: &Dispatcher, path: impl AsRef<Path>) -> Result<Program>
    where
        Standard: DefaultDevice<D>,
    {
        let path = path.as_ref();
        let failed =
            |error: std::io::Error| ProgramError::File { path: path.display().to_string(), source: Arc::new(error) };
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the map is private, so what is written to it is seen by nobody else, and the pages that were written
        // no longer change with the file. That nobody changes the file meanwhile is what is asked of the caller above,
        // as of everybody who maps a file: then the bytes are this process's alone.
        let map = unsafe { MmapOptions::new().map_copy(&file) }.map_err(failed)?;
        Ok(Program { inner: Arc::new(pt2::read::<D, _>(dispatcher, map)?) })
    }

    /// The same from bytes, which it keeps.
    ///
    /// # Errors
    ///
    /// As for [`load_with`](Program::load_with).
    pub fn from_bytes_with<D: Device>(dispatcher: &Dispatcher, bytes: Vec<u8>) -> Result<Program>
    where
        Standard: DefaultDevice<D>,
    {
        Ok(Program { inner: Arc::new(pt2::read::<D, _>(dispatcher, bytes)?) })
    }

    /// An instance of the program, with buffers of its own as they are in the archive.
    ///
    /// # Errors
    ///
    /// None today; memory for what a session keeps may be short tomorrow.
    pub fn session(&self) -> Result<Session> {
        Ok(Session::new(self.inner.clone()))
    }

    /// The same program with fewer roundings, or others: faster, and near the exact results instead of equal to them.
    /// Sessions of this one stay exact.
    ///
    /// * Batch norms by running statistics are folded into the weights of the convolutions before them, where nothing
    ///   else uses these: each weight is off by one rounding, and a norm's own roundings are gone.
    /// * Operators are called in [`rounding::relaxed`](monomorph_core::rounding::relaxed).
    ///
    /// # Errors
    ///
    /// There is no memory for weights.
    pub fn relaxed(&self) -> Result<Program> {
        Ok(Program { inner: Arc::new(relaxed(&self.inner)?) })
    }

    /// The outermost graph.
    pub fn graph(&self) -> &Graph {
        &self.inner.graph
    }

    /// What each input of the graph is.
    pub fn inputs(&self) -> &[InputKind] {
        &self.inner.inputs
    }

    /// What each output of the graph is.
    pub fn outputs(&self) -> &[OutputKind] {
        &self.inner.outputs
    }

    /// How many inputs a run is given.
    pub fn input_count(&self) -> usize {
        let user = |kind: &&InputKind| matches!(kind, InputKind::User(_) | InputKind::Literal(..));
        self.inner.inputs.iter().filter(user).count()
    }

    /// The strides that the example of a caller's input had, for these sizes: those for which the values of a run are
    /// recorded. None if the program did not record them, or not for such sizes.
    pub fn example_strides(&self, index: usize, sizes: &[i64]) -> Option<Vec<i64>> {
        let position = self.inner.inputs.iter().position(|kind| *kind == InputKind::User(index))?;
        let recorded = recorded_tensor(self.inner.graph.value(self.inner.graph.inputs[position]).recorded())?;
        let mut bindings = crate::symbol::Bindings::default();
        for (expr, size) in recorded.sizes.iter().zip(sizes) {
            bindings.unify(expr, *size);
        }
        recorded.strides.iter().map(|expr| bindings.evaluate(expr)).collect()
    }

    /// The parameters, buffers and constants by name, as they are in the archive.
    pub fn weights(&self) -> impl Iterator<Item = (&str, &AnyTensor)> {
        self.inner.inputs.iter().zip(&self.inner.given).filter_map(|(kind, tensor)| match kind {
            InputKind::Parameter(name) | InputKind::Buffer(name) | InputKind::Constant(name) => {
                Some((&**name, tensor.as_ref()?))
            }
            _ => None,
        })
    }

    /// The graph in Graphviz's language: operators, the values between them, inputs and outputs; no weights.
    pub fn to_dot(&self) -> String {
        dot(&self.inner.graph, &self.inner.symbols, &self.inner.inputs)
    }

    /// The caller's inputs with their sizes, and the ranges of symbols, one a line.
    pub fn inputs_text(&self) -> String {
        let Inner { graph, symbols, inputs, .. } = &*self.inner;
        let shown = Shown { graph, symbols, indent: 0 };
        let mut lines = self.ranges_text();
        for (id, kind) in graph.inputs.iter().zip(inputs) {
            match kind {
                InputKind::User(index) => lines.push(format!("input {index} {}", shown.typed(*id))),
                InputKind::Literal(index, literal) => {
                    lines.push(format!("input {index} {}, always {literal:?}", shown.typed(*id)));
                }
                _ => {}
            }
        }
        lines.join("\n")
    }

    /// The ranges of symbols.
    fn ranges_text(&self) -> Vec<String> {
        let range = |range: &RangeOf| {
            let max = if range.max == i64::MAX { "..".to_owned() } else { format!("..={}", range.max) };
            format!("{} in {}{max}", self.inner.symbols.show(&range.expr), range.min)
        };
        let mut lines: Vec<String> = self.inner.ranges.iter().map(range).collect();
        lines.sort();
        lines
    }

    /// The version of PyTorch that wrote it.
    pub fn torch_version(&self) -> &str {
        &self.inner.torch_version
    }

    /// What its graph is made of, in PyTorch's words: `TRAINING` as it was exported, with composed and in-place
    /// operators; `ATEN` decomposed to core operators.
    pub fn verifiers(&self) -> &[String] {
        &self.inner.verifiers
    }

    /// Holds a tensor of a run against what the program recorded of it; `None` where they agree, else what differs and
    /// whether that is only the strides. Sizes are compared as far as symbols are known; so are strides, of dimensions
    /// that have any.
    pub(crate) fn compare(
        symbols: &Symbols,
        bindings: &mut crate::symbol::Bindings,
        recorded: &RecordedTensor,
        tensor: &AnyTensor,
    ) -> Option<(String, bool)> {
        use crate::symbol::Unified;
        let text = |exprs: &[Expr]| {
            let shown: Vec<String> = exprs.iter().map(|expr| symbols.show(expr)).collect();
            format!("[{}]", shown.join(", "))
        };
        if recorded.dtype != tensor.dtype() {
            return Some((format!("dtype {}, recorded is {}", tensor.dtype(), recorded.dtype), false));
        }
        let differs = |bindings: &mut crate::symbol::Bindings, (expr, value): (&Expr, &i64)| {
            matches!(bindings.unify(expr, *value), Unified::Differs(_) | Unified::NoSolution)
        };
        let sizes = tensor.sizes();
        if recorded.sizes.len() != sizes.len() || recorded.sizes.iter().zip(sizes).any(|pair| differs(bindings, pair)) {
            return Some((format!("sizes {sizes:?}, recorded are {}", text(&recorded.sizes)), false));
        }
        let strides = tensor.strides();
        let stride_differs = |(index, (expr, stride)): (usize, (&Expr, &i64))| {
            sizes[index] > 1 && bindings.evaluate(expr).is_some_and(|want| want != *stride)
        };
        if tensor.numel() > 0 && recorded.strides.iter().zip(strides).enumerate().any(stride_differs) {
            let want = text(&recorded.strides);
            return Some((format!("strides {strides:?} of sizes {sizes:?}, recorded are {want}"), true));
        }
        None
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("inputs", &self.input_count())
            .field("nodes", &self.inner.graph.nodes.len())
            .finish_non_exhaustive()
    }
}

/// The whole program as text: inputs, nodes with their modules, outputs.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { graph, symbols, inputs, outputs, .. } = &*self.inner;
        match &*self.inner.torch_version {
            "" => writeln!(f, "traced program")?,
            version => writeln!(f, "program of PyTorch {version}")?,
        }
        self.ranges_text().iter().try_for_each(|range| writeln!(f, "  {range}"))?;
        let shown = Shown { graph, symbols, indent: 2 };
        for (id, kind) in graph.inputs.iter().zip(inputs) {
            let kind = match kind {
                InputKind::Parameter(name) => format!("parameter {name}"),
                InputKind::Buffer(name) => format!("buffer {name}"),
                InputKind::Constant(name) => format!("constant {name}"),
                InputKind::User(index) => format!("input {index}"),
                InputKind::Literal(index, literal) => format!("input {index}, always {literal:?}"),
                InputKind::Token => "token".to_owned(),
            };
            writeln!(f, "  {} = {kind}", shown.typed(*id))?;
        }
        write!(f, "{shown}")?;
        for (index, kind) in outputs.iter().enumerate() {
            if let OutputKind::Mutation(input) = kind {
                writeln!(f, "  output {index} is written to %{}", graph.value(graph.inputs[*input]).name())?;
            }
        }
        Ok(())
    }
}

/// True if something was recorded of a value.
pub(crate) fn recorded_tensor(recorded: &Recorded) -> Option<&RecordedTensor> {
    if let Recorded::Tensor(tensor) = recorded { Some(tensor) } else { None }
}

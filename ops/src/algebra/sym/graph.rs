//! The graph behind symbolic values: nodes in single assignment, equal ones merged, recorded while a formula runs.
//!
//! Formulas are generic over values that are `Copy + 'static`, so a node cannot borrow its graph. The graph being
//! recorded lives in a thread-local slot instead, and each handle carries the number of its recording: a handle that
//! strays into another one is recognised, and makes that recording an error.

use super::repeat::{Loop, escapes};
use super::{Compute, Sym};
use monomorph_core::DType;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::marker::PhantomData;

/// What a node computes. Its operands are earlier nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Neg,
    Div,
    DivTrunc,
    DivFloor,
    RemTrunc,
    RemFloor,
    Gcd,
    Select,
    Eq,
    Ne,
    Lt,
    Le,
    And,
    Or,
    Xor,
    Not,
    ShiftLeft,
    ShiftRight,
    Truth,
    Abs,
    Floor,
    Ceil,
    Trunc,
    Round,
    Sgn,
    IsNegative,
    IsInfinite,
    NextAfter,
    Mantissa,
    Exponent,
    Hypot,
    IsNan,
    IsFinite,
    Copysign,
    MulAdd,
    AddScaled,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Sqrt,
    Rsqrt,
    Tanh,
    Sigmoid,
    Erf,
    Erfc,
    Erfinv,
    Gelu,
    GeluTanh,
    Lgamma,
    Digamma,
    Trigamma,
    Zeta,
    Igamma,
    Igammac,
    Pow,
    PowNumber,
    Make,
    Re,
    Im,
    Conj,
    Widen,
    Narrow,
    Through,
    FromIndex,
}

/// A constant, by its bits, so that equal means equal and NaN merges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Literal {
    Bool(bool),
    Int(i64),
    F32(u32),
    F64(u64),
    C64(u32, u32),
    C128(u64, u64),
}

/// Where a node's value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    Input(usize),
    Param(usize),
    Constant(Literal),
    /// `operand` is the dtype of the first operand, which names the function: `Abs` of complex64 is not `Abs` of
    /// float32. Unused places in `args` are 0.
    Apply {
        op: Op,
        arity: usize,
        operand: DType,
        args: [u32; 3],
    },
    /// What loop `of` carries in its place, before a step.
    Carried {
        of: u32,
        place: u32,
    },
    /// The number of the step that loop `of` is at, from 0.
    Index {
        of: u32,
    },
    /// What loop `of` leaves in its place.
    Result {
        of: u32,
        place: u32,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Node {
    pub(super) dtype: DType,
    pub(super) source: Source,
}

/// A node of one recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    recording: u64,
    index: u32,
}

#[derive(Default)]
pub(super) struct Graph {
    recording: u64,
    nodes: Vec<Node>,
    seen: HashMap<Node, u32>,
    foreign: bool,
    /// The loops, each after what encloses it.
    pub(super) loops: Vec<Loop>,
    /// The loops whose steps are being recorded, from the outermost.
    pub(super) open: Vec<u32>,
}

impl Graph {
    pub(super) fn push(&mut self, node: Node) -> Handle {
        let next = self.nodes.len() as u32;
        let index = *self.seen.entry(node).or_insert(next);
        if index == next {
            self.nodes.push(node);
        }
        Handle { recording: self.recording, index }
    }

    pub(super) fn index_of(&mut self, handle: Handle) -> u32 {
        if handle.recording != self.recording {
            self.foreign = true;
            return 0;
        }
        handle.index
    }
}

thread_local! {
    static GRAPH: RefCell<Option<Graph>> = const { RefCell::new(None) };
    static RECORDINGS: Cell<u64> = const { Cell::new(0) };
}

/// Runs `f` on the graph being recorded. Outside a recording there is none.
pub(super) fn recording<T>(f: impl FnOnce(&mut Graph) -> T) -> Option<T> {
    GRAPH.with_borrow_mut(|graph| graph.as_mut().map(f))
}

/// The node that `f` records. Outside a recording the handle belongs to nothing.
fn record(f: impl FnOnce(&mut Graph) -> Handle) -> Handle {
    recording(f).unwrap_or(Handle { recording: 0, index: 0 })
}

/// Records a node without operands. Not inlined, as what records operations is not: the code of every formula on every
/// dtype would hold it many times.
#[inline(never)]
pub(super) fn record_leaf(node: Node) -> Handle {
    record(|g| g.push(node))
}

impl<C: Compute> Sym<C> {
    pub(super) fn of(node: Handle) -> Self {
        Sym { node, element: PhantomData }
    }

    /// The same node, where two names of one element type meet.
    pub(super) fn retyped<R: Compute>(self) -> Sym<R> {
        debug_assert_eq!(C::DTYPE, R::DTYPE);
        Sym::of(self.node)
    }

    /// The node of a constant.
    pub(super) fn literal(literal: Literal) -> Self {
        Sym::of(record_leaf(Node { dtype: C::DTYPE, source: Source::Constant(literal) }))
    }
}

/// One operand, whatever its element type.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    node: Handle,
    dtype: DType,
}

impl<C: Compute> From<Sym<C>> for Operand {
    fn from(sym: Sym<C>) -> Self {
        Operand { node: sym.node, dtype: C::DTYPE }
    }
}

/// The node of an operation on one to three operands. `N` is checked by [`Source::Apply`]'s three places.
pub(super) fn apply<C: Compute, const N: usize>(op: Op, named_by: DType, operands: [Operand; N]) -> Sym<C> {
    const { assert!(N >= 1 && N <= 3) };
    Sym::of(record_operation(C::DTYPE, op, named_by, &operands))
}

/// Records an operation on at most three operands.
#[inline(never)]
fn record_operation(dtype: DType, op: Op, named_by: DType, operands: &[Operand]) -> Handle {
    record(|g| {
        let mut args = [0; 3];
        for (arg, operand) in args.iter_mut().zip(operands) {
            *arg = g.index_of(operand.node);
        }
        g.push(Node { dtype, source: Source::Apply { op, arity: operands.len(), operand: named_by, args } })
    })
}

impl Operand {
    pub(super) fn dtype(self) -> DType {
        self.dtype
    }
}

/// Why a formula gave no function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// A value of another recording, or of none, was used, or what a loop carries outside of it.
    ForeignNode,
    /// Nothing was declared as an output.
    NoOutput,
}

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TraceError::ForeignNode => {
                "trace: a symbolic value of another trace was used; make every value inside the closure"
            }
            TraceError::NoOutput => "trace: the closure declared no output; pass the result to Tracer::output",
        })
    }
}

impl std::error::Error for TraceError {}

/// Declares what the function being recorded takes and gives.
#[derive(Debug, Default)]
pub struct Tracer {
    inputs: Vec<DType>,
    params: Vec<DType>,
    outputs: Vec<Handle>,
}

impl Tracer {
    /// The next input: `x0`, `x1`, …
    pub fn input<C: Compute>(&mut self) -> Sym<C> {
        let place = self.inputs.len();
        self.inputs.push(C::DTYPE);
        Sym::of(record_leaf(Node { dtype: C::DTYPE, source: Source::Input(place) }))
    }

    /// The next parameter: `p0`, `p1`, … It is an argument of the function, never part of its text.
    pub fn param<C: Compute>(&mut self) -> Sym<C> {
        let place = self.params.len();
        self.params.push(C::DTYPE);
        Sym::of(record_leaf(Node { dtype: C::DTYPE, source: Source::Param(place) }))
    }

    /// The next output.
    pub fn output<C: Compute>(&mut self, value: Sym<C>) {
        self.outputs.push(value.node);
    }
}

/// A recorded formula: a function of one element, straight but for its loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub(super) nodes: Vec<Node>,
    pub(super) inputs: Vec<DType>,
    pub(super) params: Vec<DType>,
    pub(super) outputs: Vec<u32>,
    pub(super) loops: Vec<Loop>,
}

impl Function {
    /// The dtypes of the inputs.
    pub fn inputs(&self) -> &[DType] {
        &self.inputs
    }

    /// The dtypes of the parameters.
    pub fn params(&self) -> &[DType] {
        &self.params
    }

    /// The dtypes of the outputs.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = DType> + '_ {
        self.outputs.iter().map(|&index| self.nodes[index as usize].dtype)
    }
}

/// Gives the thread's slot back its former graph, also when the closure unwinds.
struct Restore(Option<Graph>);

impl Drop for Restore {
    fn drop(&mut self) {
        GRAPH.set(self.0.take());
    }
}

/// Runs a formula on symbolic values and returns what it computes. Recordings may nest; each sees its own values only.
///
/// # Errors
/// [`TraceError::ForeignNode`] if a value made outside the closure was used, [`TraceError::NoOutput`] if the closure
/// declared no output.
pub fn trace(formula: impl FnOnce(&mut Tracer)) -> Result<Function, TraceError> {
    let mut formula = Some(formula);
    recorded(&mut |tracer| {
        if let Some(formula) = formula.take() {
            formula(tracer);
        }
    })
}

/// [`trace`], compiled once: there are thousands of formulas on dtypes.
fn recorded(formula: &mut dyn FnMut(&mut Tracer)) -> Result<Function, TraceError> {
    // Recording 0 is that of values made outside any.
    let recording = RECORDINGS.get() + 1;
    RECORDINGS.set(recording);
    let restore = Restore(GRAPH.replace(Some(Graph { recording, ..Graph::default() })));
    let mut tracer = Tracer::default();
    formula(&mut tracer);
    let graph = GRAPH.take();
    drop(restore);

    let mut graph = graph.unwrap_or_default();
    let outputs: Vec<u32> = tracer.outputs.iter().map(|&handle| graph.index_of(handle)).collect();
    if graph.foreign || escapes(&graph.nodes, &graph.loops, &outputs) {
        return Err(TraceError::ForeignNode);
    }
    if outputs.is_empty() {
        return Err(TraceError::NoOutput);
    }
    let Graph { nodes, loops, .. } = graph;
    Ok(Function { nodes, inputs: tracer.inputs, params: tracer.params, outputs, loops })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{Cartesian, Magnitude, Num, Ordered, Value};
    use num_complex::Complex;

    #[test]
    fn equal_subexpressions_merge_and_unused_ones_vanish() {
        let function = trace(|t| {
            let (a, b) = (t.input::<i32>(), t.input::<i32>());
            let _unused = a - b;
            t.output((a * b) + (a * b) * Num::one());
        })
        .unwrap();
        let text = function.c_source("f");
        assert_eq!(text.matches("k_mul_i32(x0, x1)").count(), 1, "{text}");
        assert!(!text.contains("k_sub"), "{text}");
        assert!(text.contains("((k_i32)1LL)"), "{text}");
    }

    #[test]
    fn several_outputs_go_through_pointers() {
        let function = trace(|t| {
            let (a, b) = (t.input::<Complex<f64>>(), t.param::<f64>());
            t.output(a.abs());
            t.output(a.re().lt(b));
        })
        .unwrap();
        assert_eq!(function.outputs().collect::<Vec<_>>(), [DType::F64, DType::Bool]);
        assert_eq!(
            function.c_source("f"),
            "K_FN void f(k_c128 x0, k_f64 p0, k_f64 *y0, k_bool *y1) {
    const k_f64 v2 = k_abs_c128(x0);
    const k_f64 v3 = k_re_c128(x0);
    const k_bool v4 = k_lt_f64(v3, p0);
    *y0 = v2;
    *y1 = v4;
}
"
        );
    }

    #[test]
    fn values_of_another_trace_are_an_error() {
        let outside = Sym::<f32>::from_f64(1.0);
        assert_eq!(trace(|t| t.output(outside)), Err(TraceError::ForeignNode));
        let mut inner = None;
        let outer = trace(|t| {
            let a = t.input::<f32>();
            inner = Some(trace(|u| u.output(a + Num::one())));
            t.output(a);
        });
        assert_eq!(inner, Some(Err(TraceError::ForeignNode)));
        assert_eq!(outer.unwrap().c_source("f"), "K_FN k_f32 f(k_f32 x0) {\n    return x0;\n}\n");
        assert_eq!(trace(|_| ()), Err(TraceError::NoOutput));
    }

    #[test]
    fn literals_survive_the_text() {
        let text = |f: &dyn Fn(&mut Tracer)| trace(f).unwrap().c_source("f");
        assert!(text(&|t| t.output(Sym::<i64>::from_i64(i64::MIN))).contains("(-9223372036854775807LL - 1)"));
        assert!(text(&|t| t.output(Sym::<i64>::from_i64((1 << 53) + 1))).contains("9007199254740993LL"));
        assert!(text(&|t| t.output(Sym::<f32>::from_f64(0.1))).contains("return 1e-1f;"));
        assert!(text(&|t| t.output(Sym::<f64>::from_f64(-0.0))).contains("return -0e0;"));
        assert!(text(&|t| t.output(Sym::<f32>::from_f64(f64::NAN))).contains("K_NAN_F32"));
        assert!(text(&|t| t.output(Sym::<u8>::from_i64(-1))).contains("((k_u8)255LL)"));
        assert!(text(&|t| t.output(Sym::<bool>::from_complex(0.0, 1.0))).contains("((k_bool)1)"));
    }
}

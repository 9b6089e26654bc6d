//! The build: from configuration and operands to a finished plan, in PyTorch's order of stages, so that of several errors
//! the same one is reported.
//!
//! ```text
//!  config, operands ─► plan: outputs marked, overlap, names, shape, resize marks, types, layout ─► Plan
//!                                                                                                  │
//!  outputs declared to the sink, which realises them ◄─────────── strides hint, dtype, names ──────┤
//!        │                                                                                         ▼
//!        └──── their final strides ───────────────────────────────────────────► finish: strides, coalesce ─► TensorIter
//! ```
//!
//! Nothing here is generic over operator or dtype, and up to 5 dimensions and 4 operands nothing allocates.

use crate::Dims;
use crate::config::{Config, View};
use crate::finish;
use crate::operand::Op;
use crate::order::{self, Fast};
use crate::tensor_iter::{Fixed, TensorIter};
use crate::types;
use monomorph_core::overlap::{self, Internal, Shared};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Names, Options, Result, strides, unify_names};
use smallvec::SmallVec;

type Ops<'a> = SmallVec<[Op<'a>; 4]>;

/// Everything that is decided before the outputs are realised.
pub(crate) struct Plan {
    /// The broadcast shape, outermost first.
    pub(crate) shape: Dims,
    pub(crate) numel: usize,
    /// Dimensions in the order of the walk; empty if `fast` and `uniform` make it needless.
    pub(crate) perm: SmallVec<[usize; 6]>,
    pub(crate) fast: Fast,
    /// Every operand is really laid out as it seems.
    pub(crate) uniform: bool,
    pub(crate) fixed: SmallVec<[Fixed; 4]>,
    pub(crate) noutputs: usize,
    pub(crate) common: Option<DType>,
    pub(crate) reduction: bool,
    outputs: SmallVec<[Declaration; 2]>,
    names: Option<Names>,
}

/// What the sink is told of one output.
struct Declaration {
    device: DeviceId,
    /// Its own sizes where they are kept and are not the shape: in reductions.
    sizes: Option<Dims>,
    strides: Option<Dims>,
    format: Option<MemoryFormat>,
}

/// Plans an iteration whose outputs are those of `sink`, and declares each of them to it: strides hint, dtype, names.
///
/// Errors: an absent input; forbidden overlap; names that do not unify; sizes that do not broadcast; an output that has
/// another size and cannot be resized; dtypes or devices that the flags do not allow; whatever the sink refuses.
pub fn build(config: &Config<'_>, inputs: &[Operand<'_>], sink: &mut SinkState<'_>) -> Result<TensorIter> {
    let mut iter = TensorIter::default();
    build_into(config, inputs, sink, &mut iter)?;
    Ok(iter)
}

/// [`build`] into a plan in place, which is unspecified after an error.
pub fn build_into(
    config: &Config<'_>,
    inputs: &[Operand<'_>],
    sink: &mut SinkState<'_>,
    iter: &mut TensorIter,
) -> Result<()> {
    let is_meta = sink.is_meta();
    let noutputs = sink.noutputs();
    let mut plan = {
        let mut ops: Ops<'_> = SmallVec::new();
        for i in 0..noutputs {
            ops.push(match sink.existing(i) {
                Some(out) => Op { names: out.geometry().names(), ..Op::new(View::of_tensor(out), true) },
                None => Op::undefined(),
            });
        }
        push_inputs(&mut ops, inputs)?;
        plan(config, &mut ops, is_meta)?
    };
    for (i, declared) in std::mem::take(&mut plan.outputs).into_iter().enumerate() {
        let dtype = plan.fixed[i].dtype;
        let options = Options { dtype, device: declared.device, memory_format: declared.format };
        let sizes = declared.sizes.as_ref().unwrap_or(&plan.shape);
        sink.set_output_raw_strided(i, sizes, declared.strides.as_deref(), options, plan.names.clone())?;
    }
    let sink = &*sink;
    let mut ops: Ops<'_> = SmallVec::new();
    for i in 0..noutputs {
        let undeclared = ErrorKind::MetaContract { index: i, rule: "did not declare an output" };
        ops.push(Op::new(View::of_output(sink, i).ok_or(undeclared)?, true));
    }
    push_inputs(&mut ops, inputs)?;
    finish::finish(plan, &ops, is_meta, iter);
    Ok(())
}

fn push_inputs<'a>(ops: &mut Ops<'a>, inputs: &'a [Operand<'a>]) -> Result<()> {
    for input in inputs {
        let absent = ErrorKind::ArgumentRule { rule: "an operand of an iteration is absent; leave it out or give it" };
        let view = View::of_operand(input).ok_or(absent)?;
        ops.push(Op { names: input.geometry().and_then(|g| g.names()), ..Op::new(view, false) });
    }
    Ok(())
}

/// Plans over operands that all exist: reductions with the reduced dimensions put back, copies, foreign memory. Nothing is
/// declared, so no output may need to be resized.
///
/// Errors: as for [`build`], sizes and strides of different lengths, negative sizes, and any output of another size than
/// the shape (but in reductions).
pub fn build_over(config: &Config<'_>, outputs: &[View<'_>], inputs: &[View<'_>]) -> Result<TensorIter> {
    let mut iter = TensorIter::default();
    build_over_into(config, outputs, inputs, &mut iter)?;
    Ok(iter)
}

/// [`build_over`] into a plan in place, which is unspecified after an error.
pub fn build_over_into(
    config: &Config<'_>,
    outputs: &[View<'_>],
    inputs: &[View<'_>],
    iter: &mut TensorIter,
) -> Result<()> {
    let mut ops: Ops<'_> = SmallVec::new();
    let views = outputs.iter().map(|v| (v, true)).chain(inputs.iter().map(|v| (v, false)));
    for (view, output) in views {
        if view.sizes.len() != view.strides.len() {
            let (got, want) = (view.strides.len(), view.sizes.len());
            return Err(ErrorKind::ListLength { arg: "strides", got, want }.into());
        }
        strides::numel(view.sizes)?;
        ops.push(Op::new(*view, output));
    }
    let plan = plan(config, &mut ops, false)?;
    if let Some(i) = ops.iter().position(|op| op.output && op.resize) {
        let (got, want) = (ops[i].view.sizes.to_vec(), plan.shape.to_vec());
        return Err(ErrorKind::OutputSize { index: i, got, want }.into());
    }
    finish::finish(plan, &ops, false, iter);
    Ok(())
}

/// Every stage up to the layout of the outputs.
fn plan(config: &Config<'_>, ops: &mut Ops<'_>, is_meta: bool) -> Result<Plan> {
    let flags = &config.flags;
    let noutputs = ops.iter().filter(|op| op.output).count();
    mark_read_write(ops, noutputs);
    if flags.check_mem_overlap {
        check_overlap(ops, noutputs, false)?;
    }
    let names = unified_names(ops, flags.resize_outputs)?;
    let Shape { shape, same, all_scalars } = broadcast(ops, config)?;
    let numel = strides::numel(&shape)?;
    mark_resize(ops, config, &shape)?;
    let common = types::compute(ops, config, all_scalars, is_meta)?;

    if flags.check_mem_overlap {
        check_overlap(ops, noutputs, true)?;
    }

    let fast = order::fast_setup(ops, flags, same);
    let uniform = ops.iter().filter(|op| op.has_layout()).all(Op::is_as_it_seems);
    let perm = match fast {
        Fast::No => order::sorted_order(ops, &shape, flags),
        _ if uniform => SmallVec::new(),
        _ => order::implied_order(fast, &shape, &ops[ops.len() - 1]),
    };
    let hint = if fast == Fast::No { order::output_strides(&perm, &shape) } else { None };
    let outputs = ops[..noutputs]
        .iter()
        .map(|op| {
            let kept = op.has_layout();
            let strides = match fast {
                _ if kept => None,
                Fast::No => hint.clone(),
                Fast::Dense => Some(Dims::from_slice(ops[ops.len() - 1].order_strides())),
                Fast::Contiguous | Fast::ChannelsLast => None,
            };
            Declaration {
                device: op.view.device,
                sizes: (kept && op.view.sizes != shape.as_slice()).then(|| Dims::from_slice(op.view.sizes)),
                strides,
                format: (fast == Fast::ChannelsLast && !kept).then_some(MemoryFormat::ChannelsLast),
            }
        })
        .collect();
    let fix = |op: &Op<'_>| Fixed { dtype: op.view.dtype, loop_dtype: op.target, conj: op.view.conj, neg: op.view.neg };
    Ok(Plan {
        numel,
        perm,
        fast,
        uniform,
        fixed: ops.iter().map(fix).collect(),
        noutputs,
        common,
        reduction: flags.is_reduction,
        outputs,
        names: padded(names, shape.len()),
        shape,
    })
}

/// An output that is an input as well is never resized.
fn mark_read_write(ops: &mut Ops<'_>, noutputs: usize) {
    let (outputs, inputs) = ops.split_at_mut(noutputs);
    for out in outputs.iter_mut().filter(|out| out.defined) {
        out.read_write = inputs.iter().any(|input| out.is_same(input));
    }
}

/// Refuses outputs that overlap themselves or, partially, an input.
///
/// PyTorch copies operands that are lazy or cast, and so accepts some that overlap. Nothing is copied here: they are refused
/// too, but later (`lazy`), after everything that PyTorch would have complained about.
fn check_overlap(ops: &Ops<'_>, noutputs: usize, lazy: bool) -> Result<()> {
    let is_lazy = |op: &Op<'_>| op.view.conj || op.view.neg;
    for (o, out) in ops[..noutputs].iter().enumerate().filter(|(_, out)| out.defined) {
        if is_lazy(out) == lazy && finish::internal(out.view.sizes, out.view.strides) == Internal::Yes {
            let (sizes, strides) = (out.view.sizes.to_vec(), out.view.strides.to_vec());
            return Err(ErrorKind::InternalOverlap { index: o, sizes, strides }.into());
        }
        for (k, input) in ops[noutputs..].iter().enumerate() {
            if out.view.storage.is_none() || out.view.storage != input.view.storage || out.is_same(input) {
                continue;
            }
            let (Some(a), Some(b)) = (out.place(), input.place()) else { continue };
            let forbidden = match overlap::shared(&a, &b) {
                Shared::Partial => (is_lazy(out) || is_lazy(input)) == lazy,
                // The same bytes as elements of another width: an element would be written before it is read.
                Shared::Full => lazy && a.element != b.element,
                Shared::None | Shared::Unknown => false,
            };
            if forbidden {
                return Err(ErrorKind::PartialOverlap { output: o, other: format!("input {k}") }.into());
            }
        }
    }
    Ok(())
}

/// Names of the result, from the operands that keep theirs.
fn unified_names(ops: &Ops<'_>, resize_outputs: bool) -> Result<Option<Names>> {
    let mut names: Option<Names> = None;
    for op in ops.iter().filter(|op| op.defined && !(op.output && resize_outputs)) {
        if op.names.is_some() {
            names = if names.is_some() { unify_names(names.as_ref(), op.names)? } else { op.names.cloned() };
        }
    }
    Ok(names)
}

/// Names for `ndim` dimensions: leading ones have none.
fn padded(names: Option<Names>, ndim: usize) -> Option<Names> {
    let names = names?;
    if names.len() >= ndim {
        return Some(names);
    }
    let mut all = vec![None; ndim - names.len()];
    all.extend(names);
    Some(all.into())
}

struct Shape {
    shape: Dims,
    /// All operands that take part have this very shape.
    same: bool,
    /// No operand that takes part has dimensions.
    all_scalars: bool,
}

fn broadcast(ops: &Ops<'_>, config: &Config<'_>) -> Result<Shape> {
    if let Some(shape) = config.shape {
        let shape = Dims::from_slice(shape);
        for op in ops.iter().filter(|op| op.defined && !(op.output && config.flags.resize_outputs)) {
            let both = strides::broadcast_sizes(&shape, op.view.sizes)?;
            if both != shape {
                return Err(exceeds(&shape, op.view.sizes));
            }
        }
        return Ok(Shape { shape, same: false, all_scalars: false });
    }
    let mut shape: Option<Dims> = None;
    let mut same = true;
    let mut all_scalars = true;
    for op in ops.iter().filter(|op| op.defined && !(op.output && config.flags.resize_outputs)) {
        let sizes = op.view.sizes;
        all_scalars &= sizes.is_empty();
        match &shape {
            None => shape = Some(Dims::from_slice(sizes)),
            Some(so_far) if so_far.as_slice() == sizes => {}
            Some(so_far) => {
                same = false;
                shape = Some(strides::broadcast_sizes(so_far, sizes)?);
            }
        }
    }
    Ok(Shape { shape: shape.unwrap_or_default(), same, all_scalars })
}

/// The error of an operand that would broadcast with `shape` to something larger.
#[cold]
fn exceeds(shape: &[i64], sizes: &[i64]) -> Error {
    let (left, right) = (shape.to_vec(), sizes.to_vec());
    let missing = sizes.len().saturating_sub(shape.len());
    let at = |d: usize| if d < missing { 1 } else { shape[d - missing] };
    let skip = shape.len().saturating_sub(sizes.len());
    let dim = (0..sizes.len()).find(|&d| d < missing || at(d + skip) != sizes[d]).unwrap_or(0);
    let (left_size, right_size) = (at(dim + skip), sizes.get(dim).copied().unwrap_or(1));
    ErrorKind::Broadcast { left, right, dim, left_size, right_size }.into()
}

/// Outputs of another size are resized if that is allowed, and refused otherwise but in reductions.
fn mark_resize(ops: &mut Ops<'_>, config: &Config<'_>, shape: &[i64]) -> Result<()> {
    let flags = &config.flags;
    for (i, op) in ops.iter_mut().enumerate().filter(|(_, op)| op.output && op.defined) {
        if op.view.sizes == shape {
            continue;
        }
        if flags.resize_outputs && !op.read_write {
            op.resize = true;
        } else if !(flags.is_reduction && reduces_to(op.view.sizes, shape)) {
            let (got, want) = (op.view.sizes.to_vec(), shape.to_vec());
            return Err(ErrorKind::OutputSize { index: i, got, want }.into());
        }
    }
    Ok(())
}

/// True if `sizes` are those of `shape` with some set to 1: an output of a reduction, reduced dimensions put back.
fn reduces_to(sizes: &[i64], shape: &[i64]) -> bool {
    sizes.len() == shape.len() && sizes.iter().zip(shape).all(|(&s, &n)| s == n || s == 1)
}

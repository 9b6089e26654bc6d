//! The build: from configuration and operands to a finished plan, in PyTorch's order of stages, so that of several
//! errors the same one is reported.
//!
//! ```text
//!  config, operands ─► plan: outputs marked, overlap, names, shape, resize marks, types, layout ─► Plan
//!                                                                                                  │
//!  outputs declared to the sink, which realises them ◄─────────── strides hint, dtype, names ──────┤
//!        │                                                                                         ▼
//!        └──── their final strides ──────────────────────────────────────────► finish: strides, coalesce
//!                                                                                                  └─► TensorIter
//! ```
//!
//! The commonest calls take a shortcut (`fast`) that finds the same plan at one look, most others a second one
//! (`ordered`).
//!
//! Nothing here is generic over operator or dtype, and up to 5 dimensions and 4 operands nothing allocates.

use crate::DimVec;
use crate::config::{Config, View};
use crate::fast;
use crate::finish;
use crate::operand::{Op, Replaced};
use crate::order::{self, FastSetup};
use crate::ordered;
use crate::tensor_iter::{Fixed, TensorIter};
use crate::types;
use monomorph_core::overlap::{self, Internal, Shared};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Names, Options, Result, strides, unify_names};
use smallvec::SmallVec;

type Ops<'a> = SmallVec<[Op<'a>; 4]>;

/// The most elements of an iteration over operands with data: some minutes of work. Memory holds fewer, so more than
/// that are only reached by expanding, and computing them would never end.
pub const MAX_ELEMENTS: usize = 1 << 40;

/// What is decided before the outputs are realised, besides what the iteration itself keeps.
pub(crate) struct Plan {
    /// The broadcast shape, outermost first.
    pub(crate) shape: DimVec,
    pub(crate) fast: FastSetup,
    /// The strides that decided order and layout are those of the operands, not of copies that PyTorch would make.
    pub(crate) real_strides: bool,
    /// No output exists: what is written is reached by nothing else.
    pub(crate) fresh: bool,
    /// The strides of new and resized outputs; none for row-major or `format`.
    hint: Option<DimVec>,
    format: Option<MemoryFormat>,
    /// The device of each output.
    devices: SmallVec<[DeviceId; 4]>,
    names: Option<Names>,
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
    match fast::build(config, inputs, sink, iter).or_else(|| ordered::build(config, inputs, sink, iter)) {
        Some(built) => built,
        None => build_in_stages(config, inputs, sink, iter),
    }
}

/// [`build_into`] without the shortcuts, for tests that compare the two.
#[inline(never)]
pub fn build_in_stages(
    config: &Config<'_>,
    inputs: &[Operand<'_>],
    sink: &mut SinkState<'_>,
    iter: &mut TensorIter,
) -> Result<()> {
    let is_meta = sink.is_meta();
    let noutputs = sink.noutputs();
    let plan = {
        let (mut ops, mut store) = (Ops::new(), Replaced::new());
        for i in 0..noutputs {
            ops.push(match sink.existing(i) {
                Some(out) => Op::new(View::of_tensor(out), out.geometry().names(), true, &mut store),
                None => Op::undefined(),
            });
        }
        for input in inputs {
            let view = present(input)?;
            let names = input.geometry().and_then(|g| g.names());
            ops.push(Op::new(view, names, false, &mut store));
        }
        plan(config, &mut ops, &mut store, is_meta, iter)?
    };
    for i in 0..noutputs {
        let options = Options { memory_format: plan.format, ..Options::new(iter.dtype(i), plan.devices[i]) };
        // A reduction keeps outputs of other sizes than the shape.
        let own: Option<DimVec> = match sink.existing(i) {
            Some(out) if config.flags.is_reduction => Some(DimVec::from_slice(out.geometry().sizes())),
            _ => None,
        };
        let sizes = own.as_ref().unwrap_or(&plan.shape);
        let hint = if own.is_some() { None } else { plan.hint.as_deref() };
        sink.set_output_raw_strided(i, sizes, hint, options, plan.names.clone())?;
    }
    let sink = &*sink;
    if (0..noutputs).any(|i| sink.written(i).is_none()) {
        return Err(ErrorKind::MetaContract { index: 0, rule: "did not declare an output" }.into());
    }
    let view = |k: usize| {
        let output = if k < noutputs { View::of_output(sink, k) } else { View::of_operand(&inputs[k - noutputs]) };
        // Outputs are declared and inputs are present: both were checked above.
        output.unwrap_or(View::new(DType::F32, &[], &[]))
    };
    finish::finish(&plan, view, is_meta, iter)
}

fn present<'a>(input: &'a Operand<'_>) -> Result<View<'a>> {
    match View::of_operand(input) {
        Some(view) => Ok(view),
        None => {
            let rule = "an operand of an iteration is absent; leave it out or give it";
            Err(ErrorKind::ArgumentRule { rule }.into())
        }
    }
}

/// Plans over operands that all exist: reductions with the reduced dimensions put back, copies, foreign memory. Nothing
/// is declared, so no output may need to be resized.
///
/// Errors: as for [`build`], sizes and strides of different lengths, negative sizes, and any output of another size
/// than the shape (but in reductions).
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
    let (mut ops, mut store) = (Ops::new(), Replaced::new());
    let views = outputs.iter().map(|v| (v, true)).chain(inputs.iter().map(|v| (v, false)));
    for (view, output) in views {
        if view.sizes.len() != view.strides.len() {
            let (got, want) = (view.strides.len(), view.sizes.len());
            return Err(ErrorKind::ListLength { arg: "strides", got, want }.into());
        }
        strides::numel(view.sizes)?;
        ops.push(Op::new(*view, None, output, &mut store));
    }
    let plan = plan(config, &mut ops, &mut store, false, iter)?;
    if let Some(i) = ops.iter().position(|op| op.output && op.resize) {
        let (got, want) = (ops[i].view.sizes.to_vec(), plan.shape.to_vec());
        return Err(ErrorKind::OutputSize { index: i, got, want }.into());
    }
    finish::finish(&plan, |k| ops[k].view, false, iter)
}

/// Every stage up to the layout of the outputs. Leaves in `iter` what it keeps: operands, order, counts.
fn plan(
    config: &Config<'_>,
    ops: &mut Ops<'_>,
    store: &mut Replaced,
    is_meta: bool,
    iter: &mut TensorIter,
) -> Result<Plan> {
    let flags = &config.flags;
    let noutputs = ops.iter().filter(|op| op.output).count();
    mark_read_write(ops, noutputs);
    if flags.check_mem_overlap {
        check_overlap(ops, noutputs, false)?;
    }
    let names = unified_names(ops, flags.resize_outputs)?;
    let Shape { shape, same, all_scalars } = broadcast(ops, config)?;
    iter.numel = strides::numel(&shape)?;
    if iter.numel > MAX_ELEMENTS && !is_meta {
        return Err(ErrorKind::TooManyElements { sizes: shape.to_vec(), limit: MAX_ELEMENTS }.into());
    }
    mark_resize(ops, config, &shape)?;
    iter.common = types::compute(ops, store, config, all_scalars, is_meta)?;
    if flags.check_mem_overlap {
        check_overlap(ops, noutputs, true)?;
    }

    let fast = order::fast_setup(ops, store, flags, same);
    let real_strides = ops.iter().all(|op| !op.has_layout() || op.is_as_it_seems(store));
    iter.perm = match fast {
        FastSetup::No => order::sorted_order(ops, store, &shape, flags),
        _ if real_strides => SmallVec::new(),
        _ => order::implied_order(fast, &shape, &ops[ops.len() - 1], store),
    };
    let hint = match fast {
        FastSetup::No => order::output_strides(&iter.perm, &shape),
        FastSetup::Dense => Some(DimVec::from_slice(ops[ops.len() - 1].order_strides(store))),
        FastSetup::Contiguous | FastSetup::ChannelsLast => None,
    };
    let (hint, fast_format) = match config.outputs_like.and_then(|input| ops.get(noutputs.saturating_add(input))) {
        Some(input) if input.view.sizes == shape.as_slice() => {
            (Some(strides::preserve_strides(input.view.sizes, input.order_strides(store))), false)
        }
        _ => (hint, fast == FastSetup::ChannelsLast),
    };
    let fix = |op: &Op<'_>| Fixed { dtype: op.view.dtype, loop_dtype: op.target, conj: op.view.conj, neg: op.view.neg };
    iter.operands.clear();
    iter.operands.extend(ops.iter().map(fix));
    iter.noutputs = noutputs;
    iter.reduction = flags.is_reduction;
    Ok(Plan {
        fast,
        real_strides,
        fresh: !ops[..noutputs].iter().any(|op| op.defined),
        hint,
        format: fast_format.then_some(MemoryFormat::ChannelsLast),
        devices: ops[..noutputs].iter().map(|op| op.view.device).collect(),
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
/// PyTorch copies operands that are lazy or cast, and so accepts some that overlap. Nothing is copied here: they are
/// refused too, but later (`lazy`), after everything that PyTorch would have complained about.
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
            let (Some(a), Some(b)) = (out.view.place(), input.view.place()) else { continue };
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
    shape: DimVec,
    /// All operands that take part have this very shape.
    same: bool,
    /// No operand that takes part has dimensions.
    all_scalars: bool,
}

fn broadcast(ops: &Ops<'_>, config: &Config<'_>) -> Result<Shape> {
    if let Some(shape) = config.shape {
        let shape = DimVec::from_slice(shape);
        for op in ops.iter().filter(|op| op.defined && !(op.output && config.flags.resize_outputs)) {
            let both = strides::broadcast_sizes(&shape, op.view.sizes)?;
            if both != shape {
                return Err(exceeds(&shape, op.view.sizes));
            }
        }
        return Ok(Shape { shape, same: false, all_scalars: false });
    }
    let mut shape: Option<DimVec> = None;
    let mut same = true;
    let mut all_scalars = true;
    for op in ops.iter().filter(|op| op.defined && !(op.output && config.flags.resize_outputs)) {
        let sizes = op.view.sizes;
        all_scalars &= sizes.is_empty();
        match &shape {
            None => shape = Some(DimVec::from_slice(sizes)),
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

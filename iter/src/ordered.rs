//! The second shortcut: calls that walk a row-major output in its own order, whatever is broadcast, cast or strided
//! beside it. `fast` takes what is one dense run; this takes bias rows, columns, 0-dim operands, masks, mixed dtypes
//! and views. Decides no rule of its own: whatever it does not recognise goes through the stages of `plan`, and a test
//! compares the two on random calls.
//!
//! What is proved, stage by stage:
//!
//! | stage | because |
//! | --- | --- |
//! | read-write, overlap | the output is row-major; where it shares its storage with an input, it is that very tensor |
//! | names, bits | nobody has any |
//! | shape, resize | the inputs broadcast, and a caller's output has just that shape |
//! | types | one device; dtypes are promoted as they are there, and what they refuse is left to them |
//! | order | see [`Sides::walks_in_order`] |
//! | coalesce | done as it is there |

use crate::config::Config;
use crate::plan::MAX_ELEMENTS;
use crate::tensor_iter::{Fixed, TensorIter};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{Category, DEFAULT_FLOAT, DType, DeviceId, Geometry, Options, Result, ResultType, TensorRef};
use smallvec::SmallVec;

/// The operands of such a call at most, the output included: what a plan holds without an allocation.
const OPERANDS: usize = 4;

/// The dimensions of such a call at most, likewise.
const DIMS: usize = 6;

/// The order of such a walk in every number of dimensions: the last so many of these.
const REVERSED: [usize; DIMS] = [5, 4, 3, 2, 1, 0];

/// Plans the call and declares its output, if it is one of these; otherwise does nothing and returns `None`.
#[inline(never)]
pub(crate) fn build(
    config: &Config<'_>,
    inputs: &[Operand<'_>],
    sink: &mut SinkState<'_>,
    iter: &mut TensorIter,
) -> Option<Result<()>> {
    let flags = &config.flags;
    let other =
        flags.is_reduction || config.outputs_like.is_some() || config.shape.is_some() || config.device.is_some();
    if other || sink.noutputs() != 1 || inputs.len() >= OPERANDS || inputs.len() <= config.promote_from {
        return None;
    }
    let out = sink.existing(0);
    let sides = Sides::of(inputs, out, sink.is_meta())?;
    let types = Types::of(config, inputs, out)?;
    let flat = sides.same && sides.canonical;
    if !flat && !sides.walks_in_order(inputs, out) {
        return None;
    }
    let whole = |g: &&Geometry| g.is_canonical() && g.sizes() == sides.sizes();
    let declared = match inputs.iter().filter_map(Operand::geometry).find(whole) {
        Some(like) => sink.set_output_like(like, types.output, sides.device),
        None => {
            let options = Options::new(types.output, sides.device);
            sink.set_output_raw_strided(0, sides.sizes(), None, options, None)
        }
    };
    if let Err(error) = declared {
        return Some(Err(error));
    }
    iter.noutputs = 1;
    iter.numel = sides.numel;
    iter.common = Some(types.common);
    iter.serial = false;
    iter.reduction = false;
    types.write(config, inputs, iter);
    let out = sink.written(0)?;
    if flat {
        iter.perm.clear();
        iter.shape.clear();
        iter.strides.clear();
        if sides.ndim > 0 {
            iter.shape.push(sides.numel);
            let sizes = [0, 1, 2, 3].map(|k| iter.operands.get(k).map_or(0, |op| op.dtype.size() as isize));
            iter.strides.extend_from_slice(&sizes[..=inputs.len()]);
        }
    } else {
        iter.perm = SmallVec::from_slice(&REVERSED[DIMS - sides.ndim..]);
        sides.write(inputs, out, !sink.is_meta(), iter);
    }
    iter.find_flat();
    Some(Ok(()))
}

/// How the operands lie.
struct Sides {
    /// Innermost last, at the end of the array.
    shape: [i64; DIMS],
    ndim: usize,
    numel: usize,
    device: DeviceId,
    /// All operands have that shape.
    same: bool,
    /// All strides are those of a new row-major tensor.
    canonical: bool,
}

impl Sides {
    /// What the operands have in common; `None` if a rule other than those above has something to decide.
    #[inline(always)]
    fn of(inputs: &[Operand<'_>], out: Option<TensorRef<'_>>, is_meta: bool) -> Option<Sides> {
        let mut shape = [1; DIMS];
        let mut ndim = 0;
        let mut device = out.map(|out| out.device());
        let mut canonical = true;
        for input in inputs {
            let tensor = match input {
                Operand::Tensor(tensor) => tensor,
                Operand::Number(_) => continue,
                Operand::Absent => return None,
            };
            let geometry = tensor.geometry();
            let sizes = geometry.sizes();
            // Strides that do not matter may have been chosen to mislead.
            let odd = geometry.is_contiguous() && !geometry.is_canonical();
            let elsewhere = *device.get_or_insert(tensor.device()) != tensor.device();
            if !geometry.is_plain() || odd || elsewhere || sizes.len() > DIMS {
                return None;
            }
            if let Some(out) = out
                && out.storage_id() == tensor.storage_id()
                && !out.geometry().same_elements(geometry)
            {
                return None;
            }
            ndim = ndim.max(sizes.len());
            canonical &= geometry.is_canonical();
            for (all, &size) in shape[DIMS - sizes.len()..].iter_mut().zip(sizes) {
                if *all == 1 {
                    *all = size;
                } else if size != 1 && size != *all {
                    return None;
                }
            }
        }
        let mut numel: i64 = 1;
        for &size in &shape[DIMS - ndim..] {
            // Of tensors without elements, and of those that cannot be, the stages know more.
            numel = numel.checked_mul(size).filter(|&n| n > 0 && n <= MAX_ELEMENTS as i64)?;
        }
        let sizes = &shape[DIMS - ndim..];
        if let Some(out) = out {
            let geometry = out.geometry();
            if !geometry.is_plain() || !geometry.is_canonical() || geometry.sizes() != sizes {
                return None;
            }
        }
        let same = inputs.iter().all(|input| matches!(input, Operand::Tensor(_)) && input.sizes() == sizes);
        // Devices of meta tensors do not count in a call about shapes.
        let device = if is_meta && device?.is_meta() { DeviceId::CPU } else { device? };
        // Numbers among operands without dimensions are promoted in a way of their own.
        (ndim > 0 || same).then_some(Sides { shape, ndim, numel: numel as usize, device, same, canonical })
    }

    #[inline]
    fn sizes(&self) -> &[i64] {
        &self.shape[DIMS - self.ndim..]
    }

    /// True if sorting would leave the dimensions in row-major order.
    ///
    /// The operands decide about two dimensions one after the other, by their strides, those of the output first if it
    /// is there. The first alone decides all of them if it has every dimension with more than one element and is
    /// row-major. Otherwise all must be row-major: then a stride further in is never larger, and equal only where the
    /// inner dimension has one element, so nobody decides for an exchange. Copies that PyTorch would make of operands
    /// that are cast have the same strides as those operands, if they are row-major.
    #[inline]
    fn walks_in_order(&self, inputs: &[Operand<'_>], out: Option<TensorRef<'_>>) -> bool {
        let first = out.map(|out| out.geometry()).or_else(|| inputs.first()?.geometry());
        let decides = |g: &Geometry| g.is_contiguous() && g.is_ample() && g.ndim() == self.ndim;
        self.canonical || self.ndim <= 1 || first.is_some_and(decides)
    }

    /// Writes shape and strides, neighbouring dimensions merged if `merge`.
    #[inline]
    fn write(&self, inputs: &[Operand<'_>], out: &Geometry, merge: bool, iter: &mut TensorIter) {
        let n = inputs.len() + 1;
        // Innermost first.
        let mut strides = [[0isize; OPERANDS]; DIMS];
        let geometries = std::iter::once(Some(out)).chain(inputs.iter().map(Operand::geometry));
        for (k, geometry) in geometries.enumerate() {
            let Some(geometry) = geometry else { continue };
            let size = geometry.dtype().size() as i64;
            let own = geometry.sizes().iter().zip(geometry.strides()).rev();
            for ((&own, &stride), (to, &all)) in own.zip(strides.iter_mut().zip(self.shape.iter().rev())) {
                to[k] = if own == 1 && all != 1 { 0 } else { stride.wrapping_mul(size) as isize };
            }
        }
        let mut shape = [0usize; DIMS];
        let mut last = 0;
        for (d, &size) in self.sizes().iter().rev().enumerate() {
            let size = size as usize;
            let (before, here) = (if d == 0 { 1 } else { shape[last] }, strides[d]);
            let as_one = |k: usize| strides[last][k].wrapping_mul(before as isize) == here[k];
            if d == 0 {
                shape[0] = size;
            } else if merge && (before == 1 || size == 1 || (0..n).all(as_one)) {
                if before == 1 {
                    strides[last] = here;
                }
                shape[last] = before * size;
            } else {
                last += 1;
                strides[last] = here;
                shape[last] = size;
            }
        }
        let ndim = if self.ndim == 0 { 0 } else { last + 1 };
        iter.shape = SmallVec::from_slice(&shape[..ndim]);
        let mut by_operand = [0isize; OPERANDS * DIMS];
        for (k, to) in by_operand.chunks_exact_mut(ndim.max(1)).take(n).enumerate() {
            for (to, strides) in to.iter_mut().zip(&strides) {
                *to = strides[k];
            }
        }
        iter.strides.clear();
        iter.strides.extend_from_slice(&by_operand[..n * ndim]);
    }
}

/// What is computed in which dtype.
struct Types {
    common: DType,
    output: DType,
    /// What the loop writes.
    written: DType,
}

impl Types {
    /// The dtypes; `None` if they are refused, which the stages know to say, or if a mask is not of bools.
    #[inline(always)]
    fn of(config: &Config<'_>, inputs: &[Operand<'_>], out: Option<TensorRef<'_>>) -> Option<Types> {
        let flags = &config.flags;
        let (masks, promoted) = inputs.split_at_checked(config.promote_from)?;
        if !masks.iter().all(|mask| mask.dtype() == Some(DType::Bool)) {
            return None;
        }
        let first = promoted.first()?.dtype()?;
        let mut common = first;
        if promoted.iter().any(|input| input.dtype() != Some(first)) {
            if !flags.promote_inputs_to_common_dtype {
                return None;
            }
            common = promotion(promoted)?;
        }
        if flags.promote_integer_inputs_to_float && common.is_integral(true) {
            common = DEFAULT_FLOAT;
        }
        common = config.common_dtype.unwrap_or(common);
        let (cast, safe) = (flags.cast_common_dtype_to_outputs, flags.enforce_safe_casting_to_output);
        let (output, written) = match out.map(|out| out.geometry().dtype()) {
            None => {
                let output = config.output_dtype.unwrap_or(common);
                (output, output)
            }
            Some(own) => {
                let exact = flags.check_all_same_dtype && !flags.promote_inputs_to_common_dtype && !cast;
                if (exact && own != first) || (safe && !common.can_cast(own)) {
                    return None;
                }
                (own, if cast { common } else { own })
            }
        };
        Some(Types { common, output, written })
    }

    /// Writes what is fixed of the operands.
    #[inline]
    fn write(&self, config: &Config<'_>, inputs: &[Operand<'_>], iter: &mut TensorIter) {
        let promote = config.flags.promote_inputs_to_common_dtype || config.common_dtype.is_some();
        let fixed = |dtype, loop_dtype| Fixed { dtype, loop_dtype, conj: false, neg: false };
        iter.operands.clear();
        iter.operands.push(fixed(self.output, self.written));
        for (k, input) in inputs.iter().enumerate() {
            let Some(own) = input.dtype() else { continue };
            let is_read_as = if promote && k >= config.promote_from { self.common } else { own };
            iter.operands.push(fixed(own, is_read_as));
        }
    }
}

/// What operands of different dtypes promote to.
fn promotion(operands: &[Operand<'_>]) -> Option<DType> {
    let mut types = ResultType::default();
    for operand in operands {
        let category = match operand {
            Operand::Number(_) => Category::Number,
            _ if operand.sizes().is_empty() => Category::ZeroDim,
            _ => Category::Dimensioned,
        };
        types.push(operand.dtype()?, category);
    }
    types.dtype()
}

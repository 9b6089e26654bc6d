//! Convolutions on the CPU: an image, a map or a weight of the two others.
//!
//! ```text
//!              taps of channel c                       one tile of the output: pixels side by side
//!           ┌───────────────────┐                    ┌──────────┐
//!  weight   │ ··· C·K columns ··│  of M channels  ×  │  pixels  │  of the image that a tap sees, row by row
//!           └───────────────────┘                    │          │  (`gather`), never of more than a tile
//!                                                    └──────────┘
//! ```
//!
//! A convolution is a product of the weight with a matrix that holds the image again and again; only a tile of that
//! matrix is ever there ([`tiles`]). Elements of the computed side that see the same elements of the window form a
//! [`lattice`]: all of a map, and every `stride`-th one of an image, so that an image is gathered, too, and no two
//! threads write the same element. The gradient of a weight sums the same tiles over all pixels ([`weights`]).
//!
//! Where weights are few, channels are [`spread`] out instead, so that every tap sees its pixels in a run of them, and
//! nothing is gathered ([`shifted`]); those that a window of one element sees lie so already. Where a group has one
//! channel on either side there is no product to win from, so what is not spread out is summed where it lies
//! ([`direct`]). Where roundings are relaxed, windows of 3×3 take fewer multiplications ([`winograd`]).
//!
//! Kernels exist for float32, float64 and int64. Operands of other dtypes are converted first and results last: sums
//! are made in float32 for halves, and modulo 2^64 for smaller integers, which is the same modulo theirs.

mod algorithm;
mod direct;
mod gather;
mod lattice;
mod padded;
mod shifted;
mod spread;
mod tiles;
mod weights;
mod winograd;

pub(crate) use tiles::share_fallible;

use crate::converted::{Converted, ConvertedOutput};
use crate::device::Cpu;
use crate::isa::Level;
use crate::scratch::Scratch;
use crate::tile_product::Number;
use algorithm::Algorithms;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::conv::{ConvInputs, ConvPlan, Convolve, Pass};
use std::ops::Deref;
use std::sync::OnceLock;

/// Elements of a tensor as kernels reach them: a step for images, channels and each of three dimensions.
///
/// Invariant A1: `data` is the first element of a tensor of the sizes that the plan says, aligned to its dtype, whose
/// elements are initialised unless it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    data: *mut u8,
    steps: [isize; 5],
}

// SAFETY: a call reads its inputs, which nobody writes, and threads write elements of the output of their own.
unsafe impl Send for Array {}
// SAFETY: a call reads its inputs, which nobody writes, and threads write elements of the output of their own.
unsafe impl Sync for Array {}

impl Array {
    const NONE: Array = Array { data: std::ptr::null_mut(), steps: [0; 5] };

    fn new(data: *mut u8, geometry: &[i64], strides: &[i64], plan: &ConvPlan) -> Array {
        let mut steps = [0; 5];
        let taps = plan.axes.map(|axis| axis.taps as isize);
        match (geometry.len(), strides) {
            // A weight that is a matrix has the window in its columns.
            (2, &[row, column]) => {
                let column = column as isize;
                let inner = taps[2].wrapping_mul(column);
                let plane = taps[1].wrapping_mul(inner);
                steps = [row as isize, taps[0].wrapping_mul(plane), plane, inner, column];
            }
            (1, &[each]) => steps[1] = each as isize,
            (_, strides) => {
                for (i, &stride) in strides.iter().enumerate() {
                    steps[if i < 2 { i } else { i + 5 - strides.len() }] = stride as isize;
                }
            }
        }
        Array { data, steps }
    }

    /// The element so many steps on in each direction.
    fn at<T>(&self, image: usize, channel: usize, place: [usize; 3]) -> *mut T {
        let all = [image, channel, place[0], place[1], place[2]];
        let offset = all
            .iter()
            .zip(self.steps)
            .fold(0_isize, |offset, (&i, step)| offset.wrapping_add((i as isize).wrapping_mul(step)));
        self.data.cast::<T>().wrapping_offset(offset)
    }

    /// The step from one pixel to the next in row-major order, if there is one for all.
    fn pixel_step(&self, sizes: [usize; 3]) -> Option<isize> {
        let mut step = None;
        let mut expected = 0_isize;
        for (&size, own) in sizes.iter().zip(&self.steps[2..]).rev() {
            if size == 1 {
                continue;
            }
            if step.is_some() && *own != expected {
                return None;
            }
            step.get_or_insert(*own);
            expected = own.wrapping_mul(size as isize);
        }
        Some(step.unwrap_or(1))
    }
}

/// An input, and the memory of the copy if it had to be converted.
#[derive(Debug)]
struct Input {
    array: Array,
    memory: Converted,
}

/// A call bound to memory. A1 holds for its arrays.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    result: DType,
    first: Input,
    second: Input,
    bias: Option<Input>,
    output: Array,
    /// The output that is converted afterwards.
    staged: Option<ConvertedOutput>,
    /// The weight is frozen, so that it is kept for all runs in the order of a kernel: here for all that is computed,
    /// or in `algorithms` for a lattice.
    kept: Option<OnceLock<Scratch<u128>>>,
    /// The bias is frozen, too, or there is none.
    bias_stays: bool,
    /// How a map or an image is computed, for all runs.
    algorithms: Option<Algorithms>,
}

/// The dtype that kernels compute a dtype in.
fn computed_in(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        _ if dtype.is_floating() => DType::F32,
        _ => DType::I64,
    }
}

/// An operand in the dtype of the kernels.
///
/// # Safety
///
/// The operand is initialised, and stays borrowed as long as the result lives.
unsafe fn input(operand: &Operand<'_>, dtype: DType, plan: &ConvPlan) -> Result<Option<Input>> {
    // SAFETY: the caller's promise.
    let Some(memory) = unsafe { Converted::new(operand, dtype, plan.copies) }? else { return Ok(None) };
    Ok(Some(Input { array: Array::new(memory.data, operand.sizes(), &memory.strides, plan), memory }))
}

// SAFETY: operands are read and the output is written within the sizes of the plan, which are theirs (meta checks
// that), each element of the output by one piece of work.
unsafe impl Executes<Convolve> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &ConvPlan, inputs: &ConvInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let out = outputs.geometry(0);
        let dtype = computed_in(out.dtype());
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let make = |operand| unsafe { input(operand, dtype, plan) };
        let none = || Input { array: Array::NONE, memory: Converted::none() };
        let first = make(inputs.first())?.unwrap_or_else(none);
        let second = make(inputs.second())?.unwrap_or_else(none);
        let bias = make(inputs.bias())?;
        let mut staged = ConvertedOutput::new(outputs, 0, dtype)?;
        let data = staged.as_mut().map_or_else(|| outputs.data(0), ConvertedOutput::data);
        let output = Array::new(data, out.sizes(), out.strides(), plan);
        let stays = |operand: &Operand<'_>| match operand {
            Operand::Tensor(tensor) => tensor.is_frozen(),
            other => matches!(other, Operand::Absent),
        };
        let kept = (stays(inputs.second()) && plan.pass != Pass::Weight).then(OnceLock::new);
        Ok(Ready {
            level: crate::level()?,
            dtype,
            result: out.dtype(),
            first,
            second,
            bias,
            output,
            staged,
            kept,
            bias_stays: stays(inputs.bias()),
            algorithms: None,
        })
    }

    unsafe fn run(ready: &mut Ready, plan: &ConvPlan) -> Result<()> {
        let is_laid_out = ready.kept.as_ref().is_some_and(|kept| kept.get().is_some())
            || ready.algorithms.as_ref().is_some_and(Algorithms::are_laid_out);
        let second = (!is_laid_out).then_some(&mut ready.second);
        for input in [Some(&mut ready.first), second, ready.bias.as_mut()].into_iter().flatten() {
            // SAFETY: E2: the operands are borrowed.
            unsafe { input.memory.load() }?;
        }
        // SAFETY: A1 by E2; the type is that of the kernels' dtype.
        match ready.dtype {
            // SAFETY: see above.
            DType::F64 => unsafe { ready.run::<f64>(plan) },
            // SAFETY: see above.
            DType::F32 => unsafe { ready.run::<f32>(plan) },
            // SAFETY: see above.
            _ => unsafe { ready.run::<i64>(plan) },
        }
    }
}

/// Memory that threads write and read in turn.
struct Memory<T>(*mut T);

// SAFETY: threads write parts of their own, and read when all have been written.
unsafe impl<T: Send> Sync for Memory<T> {}

/// What kernels are given: the plan, the arrays and the level. A1 holds for the arrays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    plan: &'a ConvPlan,
    level: Level,
    first: Array,
    second: Array,
    bias: Option<Array>,
    output: Array,
    /// The dtype of the result.
    dtype: DType,
    /// Where the weight is kept in the order of a kernel, if it may be.
    kept: Option<&'a OnceLock<Scratch<u128>>>,
    /// The bias may be kept with it.
    bias_stays: bool,
}

/// A weight in the order of a kernel, of a number of elements that is rounded up.
enum LaidOut<'a> {
    /// For all runs.
    Kept(&'a [u128]),
    /// For this one.
    Own(Scratch<u128>),
}

impl Deref for LaidOut<'_> {
    type Target = [u128];

    fn deref(&self) -> &[u128] {
        match self {
            LaidOut::Kept(weights) => weights,
            LaidOut::Own(weights) => weights,
        }
    }
}

impl<'a> Job<'a> {
    /// The weight in the order of a kernel: as it is kept, or as `lay_out` gives it.
    fn laid_out(&self, lay_out: impl FnOnce() -> Result<Scratch<u128>>) -> Result<LaidOut<'a>> {
        let Some(kept) = self.kept else { return lay_out().map(LaidOut::Own) };
        if kept.get().is_none() {
            let own = lay_out()?;
            kept.get_or_init(|| own);
        }
        Ok(LaidOut::Kept(kept.get().map_or(&[], |kept| kept)))
    }

    /// What is added to a channel of the result.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`, and there is this channel.
    #[inline(always)]
    unsafe fn bias<T: Number>(&self, channel: usize) -> T {
        // SAFETY: A1: the bias has an element for each channel.
        self.bias.as_ref().map_or_else(T::default, |bias| unsafe { bias.at::<T>(0, channel, [0; 3]).read() })
    }

    /// The weight of a channel of the computed side and one of the seen side of a group.
    fn weight<T>(&self, group: usize, made: usize, seen: usize, place: [usize; 3]) -> *const T {
        let (map, image) = if self.plan.pass == Pass::Map { (made, seen) } else { (seen, made) };
        self.second.at::<T>(group * self.plan.map_channels + map, image, place)
    }
}

impl Ready {
    /// # Safety
    ///
    /// A1 for elements of `T`; nobody else uses the output.
    unsafe fn run<T: Number>(&mut self, plan: &ConvPlan) -> Result<()> {
        let job = Job {
            plan,
            level: self.level,
            first: self.first.array,
            second: self.second.array,
            bias: self.bias.as_ref().map(|bias| bias.array),
            output: self.output,
            dtype: self.result,
            kept: self.kept.as_ref(),
            bias_stays: self.bias_stays,
        };
        // SAFETY: A1, and nobody else uses the output: the caller's promise.
        match plan.pass {
            // SAFETY: see above.
            Pass::Weight => unsafe { weights::run::<T>(&job) }?,
            // SAFETY: see above; elements are of float32.
            _ if T::DTYPE == DType::F32 && unsafe { winograd::run(&job) }? => {}
            _ => {
                let algorithms = match &mut self.algorithms {
                    Some(algorithms) => algorithms,
                    none => none.insert(Algorithms::of::<T>(&job)?),
                };
                // SAFETY: see above; they were chosen for a job of the same sizes and steps.
                unsafe { algorithms.run::<T>(&job) }?;
            }
        }
        match &mut self.staged {
            // SAFETY: the elements were just written, and the output is nobody else's (E2).
            Some(staged) => unsafe { staged.store() },
            None => Ok(()),
        }
    }
}

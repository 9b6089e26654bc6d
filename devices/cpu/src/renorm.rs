//! Slices scaled down to a norm on the CPU. Norms are of float64; factors are computed in float32 for halves, as the
//! composition does, and rounded to the dtype before elements are multiplied by them.

use crate::dense::Dense;
use crate::device::Cpu;
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level};
use crate::lane_tree::{LANES, merged};
use crate::left_out::no_kernel;
use crate::scratch::scratch;
use half::{bf16, f16};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{Complex, DType, Result};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::composite::renorm::{EPSILON, Renorm, RenormInputs, RenormPlan, Renormed};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    input: Dense,
    output: *mut u8,
}

// SAFETY: the output is written by whoever has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the input is in bounds, and every one of the output, which is row-major, is written.
unsafe impl Executes<Renorm> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &RenormPlan, inputs: &RenormInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        slices_kernel(dtype).ok_or_else(|| no_kernel(dtype, "others"))?;
        // SAFETY: E2: the operand is borrowed as long as the result lives.
        let input = unsafe { Dense::new(inputs.operand(), dtype, plan.copies) }?;
        Ok(Ready { level: crate::level()?, dtype, input, output: outputs.data(0) })
    }

    unsafe fn run(ready: &mut Ready, plan: &RenormPlan) -> Result<()> {
        let [outer, slices, inner] = plan.block;
        if plan.block.contains(&0) {
            return Ok(());
        }
        // SAFETY: E2: the operand is borrowed.
        unsafe { ready.input.load() }?;
        let Some(kernel) = slices_kernel(ready.dtype) else { return Err(no_kernel(ready.dtype, "others").into()) };
        let call = Slices { plan, input: ready.input.start(), output: ready.output };
        let (level, slice) = (ready.level, outer * inner);
        let together = if is_parallel(slices * slice, GRAIN) { (GRAIN / slice).max(1) } else { slices };
        let failed = Mutex::new(None);
        share(slices.div_ceil(together), |piece| {
            let part = piece * together..slices.min((piece + 1) * together);
            // SAFETY: S1, S2: both have as many elements, and slices of the output are one piece's.
            if let Err(error) = unsafe { kernel(level, &call, part) } {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// What the threads of a call share. Invariants:
/// * S1: `input` are the dense elements of the plan's block, of the dtype, which nobody writes;
/// * S2: so is `output`, which nobody else uses.
struct Slices<'a> {
    plan: &'a RenormPlan,
    input: *const u8,
    output: *mut u8,
}

// SAFETY: threads read the input, and write slices of their own.
unsafe impl Sync for Slices<'_> {}

/// Scales slices. Unsafe to call: S1, S2 for a dtype, whose kernel it is, and these slices of the output are nobody
/// else's.
type SlicesKernel = unsafe fn(Level, &Slices<'_>, Range<usize>) -> Result<()>;

fn slices_kernel(dtype: DType) -> Option<SlicesKernel> {
    Some(match dtype {
        #[cfg(feature = "halves")]
        DType::F16 => scaled::<f16>,
        #[cfg(feature = "halves")]
        DType::BF16 => scaled::<bf16>,
        DType::F32 => scaled::<f32>,
        DType::F64 => scaled::<f64>,
        #[cfg(feature = "complex")]
        DType::C64 => scaled::<Complex<f32>>,
        #[cfg(feature = "complex")]
        DType::C128 => scaled::<Complex<f64>>,
        _ => return None,
    })
}

/// Elements that have a size and are scaled.
trait Scaled: CpuElement {
    /// Factors are computed in float32.
    const IS_HALF: bool = false;
    fn size(x: Self::Repr) -> f64;
    /// A factor in the dtype.
    fn factor(factor: f64) -> Self::Repr;
    fn times(x: Self::Repr, factor: Self::Repr) -> Self::Repr;
}
macro_rules! halves {
    ($($t:ty)*) => {$(
        impl Scaled for $t {
            const IS_HALF: bool = true;
            #[inline(always)]
            fn size(x: f32) -> f64 {
                x.abs().into()
            }
            #[inline(always)]
            fn factor(factor: f64) -> f32 {
                Self::widen(Self::narrow(factor as f32))
            }
            #[inline(always)]
            fn times(x: f32, factor: f32) -> f32 {
                x * factor
            }
        }
    )*};
}
halves! { f16 bf16 }
macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Scaled for $t {
            #[inline(always)]
            fn size(x: $t) -> f64 {
                x.abs().into()
            }
            #[inline(always)]
            fn factor(factor: f64) -> $t {
                factor as $t
            }
            #[inline(always)]
            fn times(x: $t, factor: $t) -> $t {
                x * factor
            }
        }
        impl Scaled for Complex<$t> {
            #[inline(always)]
            fn size(x: Self) -> f64 {
                f64::from(x.re).hypot(x.im.into())
            }
            #[inline(always)]
            fn factor(factor: f64) -> Self {
                Complex::new(factor as $t, 0.0)
            }
            #[inline(always)]
            fn times(x: Self, factor: Self) -> Self {
                x * factor
            }
        }
    )*};
}
floats! { f32 f64 }

/// # Safety
///
/// S1, S2 for elements of `C`; nobody else uses these slices of the output.
unsafe fn scaled<C: Scaled>(level: Level, of: &Slices<'_>, slices: Range<usize>) -> Result<()> {
    let mut norms = scratch::<f64>(slices.len())?;
    level.enter(Scaling::<C>(of, slices, &mut norms, PhantomData));
    Ok(())
}

/// With what each slice's norm is kept in.
struct Scaling<'a, C>(&'a Slices<'a>, Range<usize>, &'a mut [f64], PhantomData<C>);

impl<C: Scaled, I: Isa> Kernel<I> for Scaling<'_, C> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Scaling(call, slices, norms, _) = self;
        let Renormed { order, most, .. } = call.plan.how;
        match order {
            1.0 => folded::<C>(call, slices.clone(), norms, |sum, x| sum + x, |a, b| a + b),
            2.0 => {
                folded::<C>(call, slices.clone(), norms, |sum, x| sum + x * x, |a, b| a + b);
                norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
            }
            f64::INFINITY => {
                let larger = |most: f64, x: f64| if x > most || x.is_nan() { x } else { most };
                folded::<C>(call, slices.clone(), norms, larger, larger);
            }
            _ => {
                folded::<C>(call, slices.clone(), norms, |sum, x| sum + x.powf(order), |a, b| a + b);
                norms.iter_mut().for_each(|norm| *norm = norm.powf(1.0 / order));
            }
        }
        norms.iter_mut().for_each(|norm| *norm = factor::<C>(*norm, most));
        multiplied::<C>(call, slices, norms);
    }
}

/// Where rows of slices lie: of place `o` in front of slice `k`.
#[inline(always)]
fn row_at<C: Scaled>(call: &Slices<'_>, o: usize, k: usize) -> usize {
    let [_, slices, inner] = call.plan.block;
    (o * slices + k) * inner * size_of::<C::Stored>()
}

/// Folds the sizes of the elements of each slice into a number, which is 0 first.
#[inline(always)]
fn folded<C: Scaled>(
    call: &Slices<'_>,
    slices: Range<usize>,
    to: &mut [f64],
    step: impl Fn(f64, f64) -> f64,
    merge: impl Fn(f64, f64) -> f64,
) {
    let [outer, _, inner] = call.plan.block;
    for o in 0..outer {
        if inner == 1 {
            let row = call.input.wrapping_add(row_at::<C>(call, o, slices.start));
            for (i, to) in to.iter_mut().enumerate() {
                // SAFETY: S1: an element of these slices.
                *to = step(*to, C::size(unsafe { load::<C>(row, i) }));
            }
            continue;
        }
        for (k, to) in slices.clone().zip(to.iter_mut()) {
            let row = call.input.wrapping_add(row_at::<C>(call, o, k));
            let mut lanes = [0.0; LANES];
            for start in (0..inner - inner % LANES).step_by(LANES) {
                for (lane, sum) in lanes.iter_mut().enumerate() {
                    // SAFETY: S1: an element of the slice.
                    *sum = step(*sum, C::size(unsafe { load::<C>(row, start + lane) }));
                }
            }
            let mut sum = merged(lanes, &merge);
            for i in inner - inner % LANES..inner {
                // SAFETY: S1: an element of the slice.
                sum = step(sum, C::size(unsafe { load::<C>(row, i) }));
            }
            *to = merge(*to, sum);
        }
    }
}

/// What a slice of this norm is multiplied by.
#[inline(always)]
fn factor<C: Scaled>(norm: f64, most: f64) -> f64 {
    match C::IS_HALF {
        true if norm as f32 > most as f32 => (1.0 / (norm as f32 + EPSILON as f32) * most as f32).into(),
        false if norm > most => 1.0 / (norm + EPSILON) * most,
        _ => 1.0,
    }
}

/// Writes the slices times their factors.
#[inline(always)]
fn multiplied<C: Scaled>(call: &Slices<'_>, slices: Range<usize>, factors: &[f64]) {
    let [outer, _, inner] = call.plan.block;
    for o in 0..outer {
        if inner == 1 {
            let at = row_at::<C>(call, o, slices.start);
            let (from, to) = (call.input.wrapping_add(at), call.output.wrapping_add(at));
            for (i, &factor) in factors.iter().enumerate() {
                // SAFETY: S1, S2: an element of these slices.
                unsafe { multiply::<C>(from, to, i, C::factor(factor)) };
            }
            continue;
        }
        for (k, &factor) in slices.clone().zip(factors) {
            let at = row_at::<C>(call, o, k);
            // By value, so that what is stored is not taken for a change of where that is.
            let (from, to, factor) = (call.input.wrapping_add(at), call.output.wrapping_add(at), C::factor(factor));
            for i in 0..inner {
                // SAFETY: S1, S2: an element of the slice.
                unsafe { multiply::<C>(from, to, i, factor) };
            }
        }
    }
}

/// Writes an element times a factor.
///
/// # Safety
///
/// Element `i` of `from` is in bounds and initialised, and that of `to` nobody else's.
#[inline(always)]
unsafe fn multiply<C: Scaled>(from: *const u8, to: *mut u8, i: usize, factor: C::Repr) {
    // SAFETY: the caller's promise.
    let x = unsafe { load::<C>(from, i) };
    // SAFETY: the caller's promise.
    unsafe { store::<C>(to, i, C::times(x, factor)) };
}

//! Vector products on the CPU: the three elements of a vector are read once, wherever their dimension is.

use crate::dense::Dense;
use crate::device::Cpu;
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::left_out::no_kernel;
use crate::scalar::Lane;
#[cfg(feature = "halves")]
use half::{bf16, f16};
#[cfg(feature = "complex")]
use monomorph_core::Complex;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::algebra::Num;
use monomorph_ops::cross::{Cross, CrossInputs, CrossPlan};
use std::marker::PhantomData;
use std::ops::Range;

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    operands: [Dense; 2],
    output: *mut u8,
}

// SAFETY: the output is written by whoever has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the operands is in bounds, and every one of the output, which is row-major, is written.
unsafe impl Executes<Cross> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &CrossPlan, inputs: &CrossInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        vectors_kernel(dtype).ok_or_else(|| no_kernel(dtype, "others"))?;
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |i: usize| unsafe { Dense::new(&inputs.operands()[i], dtype, plan.copies) };
        Ok(Ready { level: crate::level()?, dtype, operands: [dense(0)?, dense(1)?], output: outputs.data(0) })
    }

    unsafe fn run(ready: &mut Ready, plan: &CrossPlan) -> Result<()> {
        let CrossPlan { outer, inner, .. } = *plan;
        if outer == 0 || inner == 0 {
            return Ok(());
        }
        for operand in &mut ready.operands {
            // SAFETY: E2: the operands are borrowed.
            unsafe { operand.load() }?;
        }
        let Some(kernel) = vectors_kernel(ready.dtype) else { return Err(no_kernel(ready.dtype, "others").into()) };
        let [a, b] = ready.operands.each_ref().map(Dense::start);
        let call = Vectors { a, b, output: ready.output, inner };
        let together = if is_parallel(outer * inner * 3, GRAIN) { (GRAIN / (inner * 3)).max(1) } else { outer };
        let level = ready.level;
        share(outer.div_ceil(together), |piece| {
            let blocks = piece * together..outer.min((piece + 1) * together);
            // SAFETY: V1, V2: the operands and the output have as many elements, of whose blocks each is one piece's.
            unsafe { kernel(level, &call, blocks) };
        });
        Ok(())
    }
}

/// What the threads of a call share: blocks of three rows of `inner` elements. Invariants:
/// * V1: `a` and `b` are dense elements of the dtype, which nobody writes;
/// * V2: so is `output`, which nobody else uses.
struct Vectors {
    a: *const u8,
    b: *const u8,
    output: *mut u8,
    inner: usize,
}

// SAFETY: threads read the operands, and write blocks of their own.
unsafe impl Sync for Vectors {}

/// Computes blocks. Unsafe to call: V1, V2 for a dtype, whose kernel it is, and these blocks of the output are nobody
/// else's.
type VectorsKernel = unsafe fn(Level, &Vectors, Range<usize>);

fn vectors_kernel(dtype: DType) -> Option<VectorsKernel> {
    Some(match dtype {
        DType::U8 => products::<u8>,
        DType::I8 => products::<i8>,
        DType::I16 => products::<i16>,
        DType::I32 => products::<i32>,
        DType::I64 => products::<i64>,
        #[cfg(feature = "halves")]
        DType::F16 => products::<f16>,
        #[cfg(feature = "halves")]
        DType::BF16 => products::<bf16>,
        DType::F32 => products::<f32>,
        DType::F64 => products::<f64>,
        #[cfg(feature = "complex")]
        DType::C64 => products::<Complex<f32>>,
        #[cfg(feature = "complex")]
        DType::C128 => products::<Complex<f64>>,
        _ => return None,
    })
}

/// # Safety
///
/// V1, V2 for elements of `C`; nobody else uses these blocks of the output.
unsafe fn products<C: CpuElement>(level: Level, of: &Vectors, blocks: Range<usize>)
where
    Lane<C, Portable>: Num,
{
    level.enter(Products::<C>(of, blocks, PhantomData));
}

struct Products<'a, C>(&'a Vectors, Range<usize>, PhantomData<C>);

impl<C: CpuElement, I: Isa> Kernel<I> for Products<'_, C>
where
    Lane<C, Portable>: Num,
{
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Products(call, blocks, _) = self;
        let bytes = call.inner * size_of::<C::Stored>();
        for block in blocks {
            let row = |of: *const u8, d: usize| of.wrapping_add((block * 3 + d) * bytes);
            for (d, (e, f)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
                let (a, b) = ([row(call.a, e), row(call.a, f)], [row(call.b, f), row(call.b, e)]);
                let to = call.output.wrapping_add((block * 3 + d) * bytes);
                for i in 0..call.inner {
                    // SAFETY: V1: elements of these rows.
                    let [first, second] = [0, 1].map(|k| unsafe { product::<C>(a[k], b[k], i) });
                    // SAFETY: V2: an element of the row.
                    unsafe { store::<C>(to, i, (first - second).get()) };
                }
            }
        }
    }
}

/// The product of two elements, rounded to the dtype.
///
/// # Safety
///
/// Element `i` of both is in bounds and initialised.
#[inline(always)]
unsafe fn product<C: CpuElement>(a: *const u8, b: *const u8, i: usize) -> Lane<C, Portable>
where
    Lane<C, Portable>: Num,
{
    // SAFETY: the caller's promise.
    let a = Lane::<C, Portable>::new(unsafe { load::<C>(a, i) });
    // SAFETY: the caller's promise.
    let b = Lane::<C, Portable>::new(unsafe { load::<C>(b, i) });
    Lane::new(C::widen(C::narrow((a * b).get())))
}

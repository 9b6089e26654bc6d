//! Traces on the CPU: a walk along the diagonal.

use crate::cast::Bits;
use crate::device::Cpu;
use crate::element::{CpuElement, load, store};
use crate::left_out::no_kernel;
#[cfg(feature = "halves")]
use half::{bf16, f16};
#[cfg(feature = "complex")]
use monomorph_core::Complex;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::reductions::trace::{Trace, TraceInputs, TracePlan};

/// A call bound to memory.
///
/// Invariants:
/// * T1: the elements of the diagonal, as many as the plan says, lie `step` bytes apart from `input` on, initialised;
/// * T2: `output` is the first element of the output, which nobody else uses.
#[derive(Debug)]
pub struct Ready {
    sum: Sum,
    input: *const u8,
    step: isize,
    bits: Bits,
    output: *mut u8,
    output_bits: Bits,
    of_sum: DType,
}

// SAFETY: it has addresses in the operands; whoever has the only reference reads and writes there.
unsafe impl Send for Ready {}

/// Adds up elements with lazy bits, and writes their sum. Unsafe to call: so many elements of the dtype that it is
/// chosen for lie so many bytes apart, initialised, and there is room for the sum.
type Sum = unsafe fn(*const u8, isize, usize, Bits, *mut u8);

// SAFETY: the diagonal lies within the matrix, and the one element of the output is written.
unsafe impl Executes<Trace> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &TracePlan, inputs: &TraceInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let g = outputs.geometry(0);
        let mut ready = Ready {
            sum: nothing,
            input: std::ptr::null(),
            step: 0,
            bits: Bits::default(),
            output: outputs.data(0),
            output_bits: Bits::of(g.dtype(), g.is_conj(), g.is_neg()),
            of_sum: g.dtype(),
        };
        if let Operand::Tensor(matrix) = inputs.operand() {
            let (g, dtype) = (matrix.geometry(), matrix.geometry().dtype());
            ready.sum = sum_of(dtype).ok_or_else(|| no_kernel(dtype, "others"))?;
            if plan.length > 0 {
                // SAFETY: E2: the storage is borrowed as long as the result lives.
                ready.input = unsafe { matrix.data() };
            }
            // Modulo 2^64: exact where there are two elements.
            let step = g.strides().iter().fold(0_i64, |step, stride| step.wrapping_add(*stride));
            ready.step = (step as isize).wrapping_mul(dtype.size() as isize);
            ready.bits = Bits::of(dtype, g.is_conj(), g.is_neg());
        }
        Ok(ready)
    }

    unsafe fn run(ready: &mut Ready, plan: &TracePlan) -> Result<()> {
        // SAFETY: T1, T2; the output has the dtype of the sum.
        unsafe { (ready.sum)(ready.input, ready.step, plan.length, ready.bits, ready.output) };
        // SAFETY: T2: it was just written.
        unsafe { ready.output_bits.apply(ready.of_sum, ready.output, 1) };
        Ok(())
    }
}

unsafe fn nothing(_: *const u8, _: isize, _: usize, _: Bits, _: *mut u8) {}

/// The value of an element.
///
/// # Safety
///
/// An element of `C` lies there, initialised.
#[inline(always)]
unsafe fn value<C: CpuElement>(at: *const u8, dtype: DType, bits: Bits) -> C::Repr {
    if bits.is_none() {
        // SAFETY: the caller's promise.
        return unsafe { load::<C>(at, 0) };
    }
    let mut own = 0_u128;
    let own = (&raw mut own).cast::<u8>();
    // SAFETY: an element of at most so many bytes (the caller's promise), and memory of our own.
    unsafe { at.copy_to_nonoverlapping(own, size_of::<C::Stored>()) };
    // SAFETY: an element of our own.
    unsafe { bits.apply(dtype, own, 1) };
    // SAFETY: an element of our own.
    unsafe { load::<C>(own, 0) }
}

/// The sum of elements of a dtype.
fn sum_of(dtype: DType) -> Option<Sum> {
    macro_rules! sums {
        ($(
            $(#[$cfg:meta])*
            $dtype:ident $c:ty => $to:ty, $zero:expr, |$sum:ident, $x:ident| $plus:expr, $narrow:expr;
        )*) => {
            match dtype {
                $($(#[$cfg])* DType::$dtype => {
                    /// # Safety
                    ///
                    /// As for [`Sum`].
                    unsafe fn sum(input: *const u8, step: isize, n: usize, bits: Bits, to: *mut u8) {
                        let mut $sum = $zero;
                        for i in 0..n as isize {
                            let at = input.wrapping_offset(i.wrapping_mul(step));
                            // SAFETY: element `i` of those: the caller's promise.
                            let $x = unsafe { value::<$c>(at, DType::$dtype, bits) };
                            $sum = $plus;
                        }
                        // SAFETY: there is room for it: the caller's promise.
                        unsafe { store::<$to>(to, 0, $narrow($sum)) };
                    }
                    Some(sum)
                })*
                _ => None,
            }
        };
    }
    sums! {
        U8 u8 => i64, 0_i64, |sum, x| sum.wrapping_add(x.into()), |sum| sum;
        I8 i8 => i64, 0_i64, |sum, x| sum.wrapping_add(x.into()), |sum| sum;
        I16 i16 => i64, 0_i64, |sum, x| sum.wrapping_add(x.into()), |sum| sum;
        I32 i32 => i64, 0_i64, |sum, x| sum.wrapping_add(x.into()), |sum| sum;
        I64 i64 => i64, 0_i64, |sum, x| sum.wrapping_add(x), |sum| sum;
        #[cfg(feature = "halves")]
        F16 f16 => f16, 0_f32, |sum, x| sum + x, |sum| sum;
        #[cfg(feature = "halves")]
        BF16 bf16 => bf16, 0_f32, |sum, x| sum + x, |sum| sum;
        F32 f32 => f32, 0_f64, |sum, x| sum + f64::from(x), |sum| sum as f32;
        F64 f64 => f64, 0_f64, |sum, x| sum + x, |sum| sum;
        #[cfg(feature = "complex")]
        C64 Complex<f32> => Complex<f32>, Complex::new(0_f64, 0.0),
            |sum, x| Complex::new(sum.re + f64::from(x.re), sum.im + f64::from(x.im)),
            |sum: Complex<f64>| Complex::new(sum.re as f32, sum.im as f32);
        #[cfg(feature = "complex")]
        C128 Complex<f64> => Complex<f64>, Complex::new(0_f64, 0.0), |sum, x| sum + x, |sum| sum;
    }
}

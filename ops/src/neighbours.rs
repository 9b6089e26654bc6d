//! Numbers as their format has them: nextafter.

use crate::algebra::Format;
use crate::pointwise::{Common, Map, Reals, Rule, Same, pointwise};
use crate::record;
use crate::record::{Inputs, Record, Recorded};
use monomorph_core::{DType, bf16, f16};

pointwise! { NextafterFn "nextafter": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: Format> Map<V> for NextafterFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.next_after(b)
    }
}

impl Recorded for NextafterFn {
    const RECORD: Record = Record {
        call: "nextafter: x x",
        inputs: Inputs::Any,
        ulp: 0,
        reference: |dtype, x, p| {
            let next = |[a, b]: [f64; 2], []: [f64; 0]| match dtype {
                DType::F16 => {
                    step(a, b, 1 << 15, |x| f16::from_f64(x).to_bits().into(), |y| f16::from_bits(y as u16).to_f64())
                }
                DType::BF16 => {
                    step(a, b, 1 << 15, |x| bf16::from_f64(x).to_bits().into(), |y| bf16::from_bits(y as u16).to_f64())
                }
                DType::F32 => step(a, b, 1 << 31, |x| (x as f32).to_bits().into(), |y| f32::from_bits(y as u32).into()),
                _ => step(a, b, 1 << 63, f64::to_bits, f64::from_bits),
            };
            record::float(dtype, x, p, next).flatten()
        },
    };
}

/// The number behind `a` on the way to `b`, in a format whose sign is the bit `sign`.
fn step(a: f64, b: f64, sign: u64, bits: impl Fn(f64) -> u64, number: impl Fn(u64) -> f64) -> f64 {
    match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        () if a == b => b,
        () if a == 0.0 => number(1 | if b < 0.0 { sign } else { 0 }),
        () if (a < b) == (a > 0.0) => number(bits(a) + 1),
        () => number(bits(a) - 1),
    }
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __neighbours_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [nextafter] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::neighbours::NextafterFn) {
            functional nextafter; inplace nextafter_ [nextafter_]; out nextafter_out [nextafter.out];
        } }
    } };
}

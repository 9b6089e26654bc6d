//! What is worked out once for a length: the order of its factors and the roots of unity. A thread keeps the plans of
//! lengths that it had.

use crate::dense::Plain;
use monomorph_core::{Result, list};
use num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread::LocalKey;

/// A thread that has plans for more elements than these begins anew; a plan has a few numbers for each.
const KEPT: usize = 1 << 20;

/// From which length on memory is tried before a plan takes it, and how many numbers one may take for each element:
/// where the largest prime factor is large it convolves in a power of two of up to four times the length.
const LARGE: usize = 1 << 16;
const NUMBERS: usize = 8;

/// The plans of a thread.
pub(super) struct Planner<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    /// The lengths that were planned, and their sum.
    lengths: Vec<usize>,
    elements: usize,
}

impl<T: FftNum> Planner<T> {
    fn new() -> Self {
        Planner { complex: FftPlanner::new(), real: RealFftPlanner::new(), lengths: Vec::new(), elements: 0 }
    }
}

/// float32 or float64.
pub(super) trait Real: FftNum + Plain + Default + bytemuck::Pod {
    /// The plans of this thread.
    fn planner() -> &'static LocalKey<RefCell<Option<Planner<Self>>>>;

    /// The number nearest to `x`.
    fn of(x: f64) -> Self;

    /// The float32 nearest to it.
    fn to_f32(self) -> f32;
}

macro_rules! real {
    ($($t:ident)*) => {$(
        impl Real for $t {
            fn planner() -> &'static LocalKey<RefCell<Option<Planner<$t>>>> {
                thread_local! {
                    static PLANNER: RefCell<Option<Planner<$t>>> = const { RefCell::new(None) };
                }
                &PLANNER
            }

            fn of(x: f64) -> $t {
                x as $t
            }

            fn to_f32(self) -> f32 {
                self as f32
            }
        }
    )*};
}
real! { f32 f64 }

/// What a planner makes for a length.
fn planned<T: Real, P>(length: usize, plan: impl FnOnce(&mut Planner<T>) -> P) -> Result<P> {
    if length >= LARGE {
        // Given back at once: what the plan then takes is there.
        let _tried: Vec<Complex<T>> = list::with_capacity(length.saturating_mul(NUMBERS))?;
    }
    let with = |kept: &mut Option<Planner<T>>| {
        let planner = kept.get_or_insert_with(Planner::new);
        if !planner.lengths.contains(&length) {
            planner.lengths.push(length);
            planner.elements = planner.elements.saturating_add(length);
        }
        let plan = plan(planner);
        if planner.elements > KEPT {
            *kept = None;
        }
        plan
    };
    Ok(T::planner().with_borrow_mut(with))
}

/// The transform of complex numbers.
pub(super) fn complex<T: Real>(length: usize, forward: bool) -> Result<Arc<dyn Fft<T>>> {
    let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
    planned(length, |planner| planner.complex.plan_fft(length, direction))
}

/// The transform of real numbers.
pub(super) fn from_real<T: Real>(length: usize) -> Result<Arc<dyn RealToComplex<T>>> {
    planned(length, |planner| planner.real.plan_fft_forward(length))
}

/// The transform to real numbers.
pub(super) fn to_real<T: Real>(length: usize) -> Result<Arc<dyn ComplexToReal<T>>> {
    planned(length, |planner| planner.real.plan_fft_inverse(length))
}

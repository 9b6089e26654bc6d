//! The cross entropy of probabilities, element by element.

use super::frame::{Real, Work, enter};
use super::output::{Output, each_run};
use crate::isa::{Isa, Level};
use crate::rounding::{Exact, Rounding, ToBf16, ToF16};
use monomorph_core::{DType, ErrorKind, Result};

/// Elements that a thread does at a time.
const RUN: usize = 4096;

/// Elements that are looked at side by side.
const TOGETHER: usize = 256;

/// An error unless all are from 0 to 1.
pub(super) fn check_probabilities<T: Real>(lists: [&[T]; 2]) -> Result<()> {
    let are_all = |part: &[T]| part.iter().fold(true, |all, x| all & (*x >= T::zero()) & (*x <= T::one()));
    if lists.iter().all(|list| list.chunks(TOGETHER).all(are_all)) {
        return Ok(());
    }
    let rule = "arguments self and target must be from 0 to 1";
    Err(ErrorKind::ArgumentRule { rule }.into())
}

/// The cross entropy of each probability; logarithms are not below -100. PyTorch rounds every step to the dtype.
pub(super) fn cross_entropies<T: Real>(
    level: Level,
    n: usize,
    dtype: DType,
    [x, targets]: [&[T]; 2],
    out: &mut Output,
) {
    each_run(n, RUN, [out.parts::<T>()], |range, [out]| {
        enter(level, Entropies { x: &x[range.clone()], targets: &targets[range], dtype, out });
    });
}

struct Entropies<'a, T> {
    x: &'a [T],
    targets: &'a [T],
    dtype: DType,
    out: &'a mut [T],
}

impl<T: Real> Work for Entropies<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        match self.dtype {
            DType::F16 => self.each::<I>(ToF16),
            DType::BF16 => self.each::<I>(ToBf16),
            _ => self.each::<I>(Exact),
        }
    }
}

impl<T: Real> Entropies<'_, T> {
    #[inline(always)]
    fn each<I: Isa>(self, rounds: impl Rounding) {
        let floor = T::of(-100.0);
        for ((out, &x), &target) in self.out.iter_mut().zip(self.x).zip(self.targets) {
            let (log, log_apart) = (rounds.of(x.log_at::<I>()), rounds.of((-x).log1p_at::<I>()));
            let apart = rounds.of(rounds.of(target - T::one()) * log_apart.larger(floor));
            *out = apart - rounds.of(target * log.larger(floor));
        }
    }
}

//! Searches on the CPU: binary searches for keys among the keys of a sequence.
//!
//! Keys of a sequence are made once where there are values enough, in the order of `sorter` if there is one, and each
//! step of a search is a comparison whose result is added to a place, not a branch. [`LANES`] values are searched for
//! at a time, so that their steps wait for memory together. A sequence with NaN is in no order that `<` knows;
//! PyTorch's result follows from the elements that it looks at, so those are looked at here.

use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use crate::order::key::{Keys, Word};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, ErrorKind, Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::search::{Question, Search, SearchFn, SearchInputs, SearchPlan};
use std::hint::select_unpredictable;

/// Values that are searched for at a time.
const LANES: usize = 8;

/// A call bound to memory: sequences, values and sorter.
#[derive(Debug)]
pub struct Ready {
    inputs: [Dense; 3],
    has_sorter: bool,
    output: Target,
    result: DType,
}

// SAFETY: every element of the inputs is in bounds, and every one of the output is written: a `Target` writes all.
unsafe impl<F: SearchFn> Executes<Search<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &SearchPlan, inputs: &SearchInputs<'_, F>, outputs: &Outputs<'_>) -> Result<Ready> {
        let [sequence, values, sorter] = inputs.operands();
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |operand, dtype| unsafe { Dense::new(operand, dtype, plan.copies) };
        let inputs = [dense(sequence, plan.common)?, dense(values, plan.common)?, dense(sorter, DType::I64)?];
        // SAFETY: E2, and inputs that share memory with it were copied.
        let output = unsafe { Target::new(outputs, 0) };
        let result = outputs.geometry(0).dtype();
        let mut ready = Ready { inputs, has_sorter: !sorter.is_absent(), output, result };
        // Before the output counts as written; and in each run, because contents change between runs.
        // SAFETY: E2: the operands are borrowed.
        unsafe { ready.inputs[2].load() }?;
        ready.check(plan)?;
        Ok(ready)
    }

    unsafe fn run(ready: &mut Ready, plan: &SearchPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        ready.inputs.iter_mut().try_for_each(|input| unsafe { input.load() })?;
        match plan.common.size() {
            1 => ready.run::<u8>(plan),
            2 => ready.run::<u16>(plan),
            4 => ready.run::<u32>(plan),
            _ => ready.run::<u64>(plan),
        }
    }
}

/// What is done with the values of a sequence, of which the first has this number, and the sequence.
type Visit<'a, U> = dyn FnMut(usize, &[U], Sequence<'_, U>) + 'a;

impl Ready {
    /// Whether the sorter names elements that there are.
    fn check(&self, plan: &SearchPlan) -> Result<()> {
        let sorter = self.inputs[2].elements::<i64>();
        if self.has_sorter && sorter.iter().any(|&i| i < 0 || i as usize >= plan.length) {
            let rule = "argument sorter has an index out of range; accepted are those of elements of a sequence";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        Ok(())
    }

    fn run<U: Word + Plain>(&mut self, plan: &SearchPlan) -> Result<()> {
        self.check(plan)?;
        let [sequences, values, sorter] = &self.inputs;
        let sorter = sorter.elements::<i64>();
        let (keys, sequences, values) =
            (Keys::<U>::new(plan.common, false), sequences.elements::<U>(), values.elements::<U>());
        if values.is_empty() {
            return Ok(());
        }
        let search = |f: &mut Visit<'_, U>| -> Result<()> {
            let mut made: Vec<U> = list::with_capacity(plan.length)?;
            for (row, values) in values.chunks(plan.values.max(1)).enumerate() {
                let sequence = match sequences.len() > plan.length {
                    true => &sequences[row * plan.length..][..plan.length],
                    false => sequences,
                };
                let sorter = match sorter.len() > plan.length {
                    true => &sorter[row * plan.length..][..plan.length],
                    false => sorter,
                };
                if row == 0 || sequences.len() > plan.length {
                    fill(&mut made, &keys, sequence, sorter, plan.question);
                }
                let has_nan = keys.nan().is_some_and(|nan| made.contains(&nan));
                f(row * plan.values, values, Sequence { keys: &made, of: keys, has_nan });
            }
            Ok(())
        };
        match (plan.question, self.result) {
            (Question::Place { right }, DType::I32) => self.output.write(|out: &mut [i32]| {
                search(&mut |at, values, s| {
                    s.each(values, &mut out[at..][..values.len()], |s, v| s.places(v, right).map(|place| place as i32));
                })
            }),
            (Question::Place { right }, _) => self.output.write(|out: &mut [i64]| {
                search(&mut |at, values, s| {
                    s.each(values, &mut out[at..][..values.len()], |s, v| s.places(v, right).map(|place| place as i64));
                })
            }),
            (Question::Member { invert }, _) => self.output.write(|out: &mut [u8]| {
                search(&mut |at, values, s| {
                    s.each(values, &mut out[at..][..values.len()], |s, v| {
                        let places = s.places(v, false);
                        std::array::from_fn(|i| {
                            let found = s.keys.get(places[i]).is_some_and(|&key| key == v[i]);
                            u8::from(found != invert)
                        })
                    });
                })
            }),
        }
    }
}

/// The keys of a sequence in the order of `sorter`, or sorted and without NaN where only membership matters.
fn fill<U: Word>(made: &mut Vec<U>, keys: &Keys<U>, sequence: &[U], sorter: &[i64], question: Question) {
    made.clear();
    match sorter {
        [] => keys.extend(sequence, made, |key, _| key),
        sorter => made.extend(sorter.iter().map(|&i| keys.key(sequence[i as usize]))),
    }
    if let Question::Member { .. } = question {
        let nan = keys.nan();
        made.retain(|&key| Some(key) != nan);
        made.sort_unstable();
    }
}

/// A sequence to search in.
#[derive(Clone, Copy)]
struct Sequence<'a, U> {
    keys: &'a [U],
    of: Keys<U>,
    has_nan: bool,
}

impl<U: Word> Sequence<'_, U> {
    /// What `f` finds about the keys of values, several at a time, and threads side by side.
    fn each<T: Plain>(&self, values: &[U], out: &mut [T], f: impl Fn(&Self, [U; LANES]) -> [T; LANES] + Sync) {
        let run = |values: &[U], out: &mut [T]| {
            for (values, out) in values.chunks(LANES).zip(out.chunks_mut(LANES)) {
                let mut lanes = [U::default(); LANES];
                for (lane, &value) in lanes.iter_mut().zip(values) {
                    *lane = self.of.key(value);
                }
                out.copy_from_slice(&f(self, lanes)[..out.len()]);
            }
        };
        let steps = self.keys.len().max(2).ilog2() as usize;
        if !is_parallel(values.len().saturating_mul(steps), GRAIN) {
            return run(values, out);
        }
        let together = (GRAIN / steps).next_multiple_of(LANES);
        let pieces: Vec<_> = out.chunks_mut(together).map(std::sync::Mutex::new).collect();
        share(pieces.len(), |piece| {
            let mut out = pieces[piece].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            run(&values[piece * together..][..out.len()], &mut out);
        });
    }

    /// How many keys come before each value, or are equal to it.
    fn places(&self, values: [U; LANES], right: bool) -> [usize; LANES] {
        match (self.has_nan, right) {
            (true, _) => values.map(|value| self.bisected(value, right)),
            (false, false) => self.counts(values, |key, value| key < value),
            (false, true) => self.counts(values, |key, value| key <= value),
        }
    }

    /// How many keys at the start of the sequence are `before` each value.
    #[inline(always)]
    fn counts(&self, values: [U; LANES], before: impl Fn(U, U) -> bool) -> [usize; LANES] {
        let mut places = [0; LANES];
        let mut rest = self.keys.len();
        if rest == 0 {
            return places;
        }
        while rest > 1 {
            let half = rest / 2;
            for (place, value) in places.iter_mut().zip(values) {
                // Half of the comparisons of values in no order hold: a branch on them would be mispredicted.
                let is_before = before(self.keys[*place + half - 1], value);
                *place = select_unpredictable(is_before, *place + half, *place);
            }
            rest -= half;
        }
        for (place, value) in places.iter_mut().zip(values) {
            *place += usize::from(before(self.keys[*place], value));
        }
        places
    }

    /// The place that PyTorch's bisection finds in a sequence with NaN: it goes on to the right of NaN.
    fn bisected(&self, value: U, right: bool) -> usize {
        let nan = self.of.nan();
        let (mut start, mut end) = (0, self.keys.len());
        while start < end {
            let middle = start + (end - start) / 2;
            let key = self.keys[middle];
            let is_before = if right { key <= value } else { key < value };
            if is_before || Some(key) == nan || Some(value) == nan {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }
}

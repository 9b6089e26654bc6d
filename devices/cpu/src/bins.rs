//! Counting into bins on the CPU.
//!
//! Sums are in the dtype of the points and in their order, so that they are PyTorch's to the bit: halves are computed
//! in float32 and rounded after each step. Where points have no weights, what is counted are integers, and a sum of
//! ones stops where the dtype has no next integer.

use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use crate::half_bits;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result, list};
use monomorph_ops::bins::{BinInputs, BinPlan, Bins, CountInputs, CountPlan, Counts, Finding};
use num_traits::{AsPrimitive, Float};

/// Tables that counts are spread over, so that equal numbers one after another do not wait for each other.
const TABLES: usize = 4;

/// Results of at most so many elements have that many tables, which stay in the second-level cache.
const SPREAD: usize = 1 << 13;

/// Points whose bins are found before they are counted.
const BLOCK: usize = 256;

/// A call bound to memory: points, weights and edges.
#[derive(Debug)]
pub struct Ready {
    inputs: [Dense; 3],
    dtype: DType,
    output: Target,
}

// SAFETY: every element of the inputs is in bounds, and every one of the output is written: a `Target` writes all.
unsafe impl Executes<Bins> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &BinPlan, inputs: &BinInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        // Halves are computed in float32.
        let wide = if dtype.size() == 2 { DType::F32 } else { dtype };
        let [points, weights, edges] = inputs.operands();
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |operand| unsafe { Dense::new(operand, wide, plan.copies) };
        let inputs = [dense(points)?, dense(weights)?, dense(edges)?];
        // SAFETY: E2, and inputs that share memory with it were copied.
        let output = unsafe { Target::new(outputs, 0) };
        Ok(Ready { inputs, dtype, output })
    }

    unsafe fn run(ready: &mut Ready, plan: &BinPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        ready.inputs.iter_mut().try_for_each(|input| unsafe { input.load() })?;
        let Ready { inputs, dtype, output } = ready;
        match dtype {
            DType::F64 => {
                let sums = histogram(inputs, plan, &|x: f64| x, 1 << 53)?;
                output.write(|out: &mut [f64]| {
                    out.copy_from_slice(&sums);
                    Ok(())
                })
            }
            DType::F32 => {
                let sums = histogram(inputs, plan, &|x: f32| x, 1 << 24)?;
                output.write(|out: &mut [f32]| {
                    out.copy_from_slice(&sums);
                    Ok(())
                })
            }
            DType::F16 => halves(inputs, plan, output, (half_bits::f16_to_f32, half_bits::f32_to_f16), 1 << 11),
            _ => halves(inputs, plan, output, (half_bits::bf16_to_f32, half_bits::f32_to_bf16), 1 << 8),
        }
    }
}

/// A half as a float32, and rounded to one.
type Half = (fn(u16) -> f32, fn(f32) -> u16);

/// The same in a half, which has integers up to `most`.
fn halves(inputs: &[Dense; 3], plan: &BinPlan, output: &mut Target, (widen, narrow): Half, most: u64) -> Result<()> {
    let sums = histogram(inputs, plan, &|x: f32| widen(narrow(x)), most)?;
    output.write(|out: &mut [u16]| {
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = narrow(sum));
        Ok(())
    })
}

/// The edges of the bins of one coordinate.
struct Edges<'a, T> {
    edges: &'a [T],
    first: T,
    last: T,
    count: T,
}

/// The sums of all bins. `round` rounds to the dtype, of which `most` is the last integer that ones add up to.
fn histogram<T: Float + AsPrimitive<i64> + Plain + Default>(
    [points, weights, edges]: &[Dense; 3],
    plan: &BinPlan,
    round: &impl Fn(T) -> T,
    most: u64,
) -> Result<Vec<T>> {
    let (points_of_one, weights) = (points.elements::<T>(), weights.elements::<T>());
    let mut rest = edges.elements::<T>();
    let mut all = Vec::new();
    for &count in &plan.counts {
        let (edges, behind) = rest.split_at((count + 1).min(rest.len()));
        rest = behind;
        let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else { continue };
        all.push(Edges { edges, first, last, count: round(T::from(count).unwrap_or_else(T::infinity)) });
    }
    let bins = plan.counts.iter().product::<usize>();
    let bin_of = |point: &[T]| {
        let mut bin = 0;
        for (&x, edges) in point.iter().zip(&all) {
            bin = bin * (edges.edges.len() - 1) + edges.find(x, plan.finding, round)?;
        }
        Some(bin)
    };
    // Of no coordinates there are no points.
    let points = points_of_one.chunks(plan.counts.len().max(1));
    let mut sums: Vec<T> = list::with_capacity(bins)?;
    if plan.is_weighted {
        sums.resize(bins, T::zero());
        for (point, &weight) in points.zip(weights) {
            if let Some(bin) = bin_of(point) {
                sums[bin] = round(sums[bin] + weight);
            }
        }
        return Ok(sums);
    }
    let mut counts = Tables::new(bins, points.len())?;
    match &all[..] {
        // One after another, points find their bins in a loop that waits for no count.
        [edges] if plan.finding == Finding::Division => {
            let mut found = [bins; BLOCK];
            for points in points_of_one.chunks(BLOCK) {
                for (bin, &x) in found.iter_mut().zip(points) {
                    *bin = edges.divided_or(x, round, bins);
                }
                counts.count(found[..points.len()].iter().copied());
            }
        }
        _ => counts.count(points.filter_map(bin_of)),
    }
    sums.extend(counts.sums().map(|count| T::from(count.min(most)).unwrap_or_else(T::infinity)));
    Ok(sums)
}

impl<T: Float + AsPrimitive<i64>> Edges<'_, T> {
    /// The bin of an element; NaN and what is outside of all bins have none.
    #[inline(always)]
    fn find(&self, x: T, finding: Finding, round: &impl Fn(T) -> T) -> Option<usize> {
        if !(x >= self.first && x <= self.last) {
            return None;
        }
        let end = self.edges.len();
        let bin = match finding {
            Finding::Search => upper_bound(self.edges, x).wrapping_sub(1),
            Finding::Division => self.divided(x, round),
            Finding::Corrected => {
                let bin = self.divided(x, round);
                let start = bin.saturating_sub(1).min(end);
                let beside = &self.edges[start..(bin + 2).clamp(start, end)];
                (start + upper_bound(beside, x)).wrapping_sub(1)
            }
        };
        // The last bin has both of its edges. Edges in no order may give no bin.
        (bin < end).then(|| bin.min(end - 2))
    }

    #[inline(always)]
    fn divided(&self, x: T, round: &impl Fn(T) -> T) -> usize {
        let part = round(round(x - self.first) * self.count);
        let bin: i64 = round(part / round(self.last - self.first)).as_();
        (bin.max(0) as usize).min(self.edges.len() - 1)
    }

    /// The bin by [division](Finding::Division), without a branch; `none` where there is none.
    #[inline(always)]
    fn divided_or(&self, x: T, round: &impl Fn(T) -> T, none: usize) -> usize {
        let bin = self.divided(x, round).min(self.edges.len() - 2);
        if x >= self.first && x <= self.last { bin } else { none }
    }
}

/// The first place whose element is above `x`, as `std::upper_bound` of C++ finds it, also where edges are in no order.
fn upper_bound<T: Float>(edges: &[T], x: T) -> usize {
    let (mut first, mut length) = (0, edges.len());
    while length > 0 {
        let half = length / 2;
        if x < edges[first + half] {
            length = half;
        } else {
            first += half + 1;
            length -= half + 1;
        }
    }
    first
}

/// A call of `bincount` bound to memory: numbers and weights.
#[derive(Debug)]
pub struct ReadyCounts {
    inputs: [Dense; 2],
    dtype: DType,
    output: Target,
}

// SAFETY: every element of the inputs is in bounds, and every one of the output is written: a `Target` writes all.
unsafe impl Executes<Counts> for Cpu {
    type Ready = ReadyCounts;

    unsafe fn ready(plan: &CountPlan, inputs: &CountInputs<'_>, outputs: &Outputs<'_>) -> Result<ReadyCounts> {
        let dtype = outputs.geometry(0).dtype();
        let [numbers, weights] = inputs.operands();
        // SAFETY: E2: the operands are borrowed as long as the result lives.
        let dense = |operand, dtype| unsafe { Dense::new(operand, dtype, plan.copies) };
        let inputs = [dense(numbers, DType::I64)?, dense(weights, dtype)?];
        // SAFETY: E2, and inputs that share memory with it were copied.
        let output = unsafe { Target::new(outputs, 0) };
        Ok(ReadyCounts { inputs, dtype, output })
    }

    unsafe fn run(ready: &mut ReadyCounts, _: &CountPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        ready.inputs.iter_mut().try_for_each(|input| unsafe { input.load() })?;
        let ReadyCounts { inputs: [numbers, weights], dtype, output } = ready;
        let numbers = numbers.elements::<i64>();
        match dtype {
            DType::I64 => output.write(|out: &mut [i64]| count(numbers, out)),
            DType::F32 => output.write(|out: &mut [f32]| {
                add_up(numbers, weights.elements(), out);
                Ok(())
            }),
            _ => output.write(|out: &mut [f64]| {
                add_up(numbers, weights.elements(), out);
                Ok(())
            }),
        }
    }
}

/// Numbers that another thread changed since they were checked are passed over.
fn add_up<T: Float>(numbers: &[i64], weights: &[T], out: &mut [T]) {
    for (&number, &weight) in numbers.iter().zip(weights) {
        if let Some(sum) = out.get_mut(number as usize) {
            *sum = *sum + weight;
        }
    }
}

/// Numbers that another thread changed since they were checked are passed over.
fn count(numbers: &[i64], out: &mut [i64]) -> Result<()> {
    let mut counts = Tables::new(out.len(), numbers.len())?;
    counts.count(numbers.iter().map(|&number| number as usize));
    out.iter_mut().zip(counts.sums()).for_each(|(out, sum)| *out = sum as i64);
    Ok(())
}

/// Counts of bins, in several tables if there are few bins for many things to count: equal ones one after another then
/// do not wait for each other's stores.
struct Tables {
    bins: usize,
    /// How often each bin was counted. A last one is for what is in none.
    counts: Vec<u64>,
    /// What is not yet in `counts`: the tables one after the other, narrow, so that all stay in the first-level cache.
    /// Empty if there are many bins.
    spread: Vec<u32>,
    /// The most that any element of a table may be.
    rounds: u32,
}

impl Tables {
    /// For so many bins, and so many things to count.
    fn new(bins: usize, things: usize) -> Result<Tables> {
        let size = bins + 1;
        let mut counts = list::with_capacity(size)?;
        counts.resize(size, 0);
        let spread = if bins <= SPREAD && TABLES * bins <= things { vec![0; TABLES * size] } else { Vec::new() };
        Ok(Tables { bins, counts, spread, rounds: 0 })
    }

    /// Counts bins; what is no bin counts for none.
    #[inline(always)]
    fn count(&mut self, mut bins: impl Iterator<Item = usize>) {
        if self.spread.is_empty() {
            return bins.for_each(|bin| self.counts.get_mut(bin).into_iter().for_each(|count| *count += 1));
        }
        while !self.spread_out(&mut bins) {
            self.gather();
        }
    }

    /// Counts bins in one table after the other, without a variable that says which is next, until there are no more or
    /// the tables may be full. Whether there are no more.
    #[inline(always)]
    fn spread_out(&mut self, bins: &mut impl Iterator<Item = usize>) -> bool {
        let size = self.counts.len();
        let (first, second) = self.spread.split_at_mut(2 * size);
        let [(a, b), (c, d)] = [first.split_at_mut(size), second.split_at_mut(size)];
        for round in self.rounds..u32::MAX {
            for table in [&mut *a, &mut *b, &mut *c, &mut *d] {
                let Some(bin) = bins.next() else {
                    self.rounds = round + 1;
                    return true;
                };
                if let Some(count) = table.get_mut(bin) {
                    *count += 1;
                }
            }
        }
        false
    }

    /// Moves what the tables have into the counts.
    fn gather(&mut self) {
        for table in self.spread.chunks_mut(self.counts.len()) {
            for (all, count) in self.counts.iter_mut().zip(table) {
                *all += u64::from(std::mem::take(count));
            }
        }
        self.rounds = 0;
    }

    fn sums(&mut self) -> impl Iterator<Item = u64> {
        self.gather();
        self.counts[..self.bins].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_may_be_full_are_gathered() {
        let mut counts = Tables::new(3, 100).expect("memory");
        // As after so many rounds: the next one is the last before they may be full.
        counts.rounds = u32::MAX - 1;
        counts.spread[0] = u32::MAX - 1;
        counts.count((0..30).map(|i| i % 4));
        let most = u64::from(u32::MAX - 1);
        assert_eq!(counts.sums().collect::<Vec<_>>(), [most + 8, 8, 7]);
    }
}

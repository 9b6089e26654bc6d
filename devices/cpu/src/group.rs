//! Groups of equal rows on the CPU: rows are put in order by their keys, equal ones are next to each other then.

use crate::compact::compact;
use crate::dense::{Dense, Plain, Target};
use crate::device::Cpu;
use crate::isa::{Isa, Kernel};
use crate::order::key::{Keys, Word};
use crate::order::select;
use crate::order::sort::Packed;
use crate::scratch::unwritten;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result, list};
use monomorph_ops::group::{GroupInputs, GroupPlan, Grouping, Groups};

/// A call bound to memory: the matrix and the four outputs.
#[derive(Debug)]
pub struct Ready {
    matrix: Dense,
    dtype: DType,
    outputs: [Target; 4],
}

// SAFETY: every element of the input is in bounds, and every one of the outputs is written: a `Target` writes all.
unsafe impl Executes<Groups> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &GroupPlan, inputs: &GroupInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = inputs.operand().dtype().unwrap_or(DType::F32);
        // SAFETY: E2: the operand is borrowed as long as the result lives.
        let matrix = unsafe { Dense::new(inputs.operand(), dtype, plan.copies) }?;
        // SAFETY: E2, and an input that shares memory with one was copied; each is written before the next.
        let outputs = [0, 1, 2, 3].map(|i| unsafe { Target::new(outputs, i) });
        Ok(Ready { matrix, dtype, outputs })
    }

    unsafe fn run(ready: &mut Ready, plan: &GroupPlan) -> Result<()> {
        // SAFETY: E2: the operand is borrowed.
        unsafe { ready.matrix.load() }?;
        match ready.dtype.size() {
            1 => ready.run::<u8>(plan),
            2 => ready.run::<u16>(plan),
            4 => ready.run::<u32>(plan),
            _ => ready.run::<u64>(plan),
        }
    }
}

/// Elements that are compared before any of them is written; no more than a byte counts.
const BLOCK: usize = 64;

impl Ready {
    fn run<U: Word + Plain>(&mut self, plan: &GroupPlan) -> Result<()> {
        let keys = Keys::<U>::new(self.dtype, false);
        if plan.grouping == Grouping::Sorted && keys.nan().is_none() {
            return self.sorted(keys);
        }
        if plan.grouping == Grouping::Consecutive && plan.columns == 1 {
            return self.consecutive(keys);
        }
        let rows = Rows::new(self.matrix.elements::<U>(), plan.columns, Keys::new(self.dtype, false))?;
        let order = rows.in_order(plan)?;
        let [values, inverse, counts, number] = &mut self.outputs;
        let mut groups = 0;
        // The number of the group of each row in order.
        let mut members: Vec<i64> = list::with_capacity(order.len())?;
        for (i, &row) in order.iter().enumerate() {
            groups += i64::from(i == 0 || !rows.are_equal(order[i - 1] as usize, row as usize));
            members.push(groups - 1);
        }
        values.write(|values: &mut [U]| {
            let mut values = values.chunks_mut(plan.columns.max(1));
            for (i, &row) in order.iter().enumerate() {
                if (i == 0 || members[i - 1] != members[i])
                    && let Some(value) = values.next()
                {
                    value.copy_from_slice(rows.row(row as usize));
                }
            }
            Ok(())
        })?;
        inverse.write(|inverse: &mut [i64]| {
            if !inverse.is_empty() {
                order.iter().zip(&members).for_each(|(&row, &group)| inverse[row as usize] = group);
            }
            Ok(())
        })?;
        counts.write(|counts: &mut [i64]| {
            if !counts.is_empty() {
                members.iter().for_each(|&group| counts[group as usize] += 1);
            }
            Ok(())
        })?;
        number.write(|number: &mut [i64]| {
            number.fill(groups);
            Ok(())
        })
    }
}

impl Ready {
    /// The first of each group of equal elements one after another.
    fn firsts<U: Word + Plain>(&mut self, keys: Keys<U>) -> Result<()> {
        let (elements, level) = (self.matrix.elements::<U>(), crate::level()?);
        let [values, .., number] = &mut self.outputs;
        let mut groups = 0;
        values.write(|values: &mut [U]| {
            groups = level.enter(Firsts { keys, elements, values });
            Ok(())
        })?;
        number.write(|number: &mut [i64]| {
            number.fill(groups as i64);
            Ok(())
        })
    }

    /// Groups of equal elements one after another.
    fn consecutive<U: Word + Plain>(&mut self, keys: Keys<U>) -> Result<()> {
        if self.outputs[1].is_empty() && self.outputs[2].is_empty() {
            return self.firsts(keys);
        }
        let (elements, nan) = (self.matrix.elements::<U>(), keys.nan());
        // Where groups start, and where the last one ends: each place is written, and kept if it is one.
        let mut starts = unwritten::<usize>(elements.len() + 1)?;
        let (mut groups, mut i, mut before) = (0, 0, elements.first().map(|&x| keys.key(x)).unwrap_or_default());
        keys.each(elements, |key| {
            starts[groups] = i;
            // NaN is not equal to itself.
            groups += usize::from(i == 0 || key != before || Some(key) == nan);
            (i, before) = (i + 1, key);
        });
        starts[groups] = elements.len();
        let starts = &starts[..=groups];
        let [values, inverse, counts, number] = &mut self.outputs;
        values.write(|values: &mut [U]| {
            values.iter_mut().zip(&starts[..groups]).for_each(|(value, &start)| *value = elements[start]);
            Ok(())
        })?;
        inverse.write(|inverse: &mut [i64]| {
            if !inverse.is_empty() {
                for (group, ends) in starts.windows(2).enumerate() {
                    inverse[ends[0]..ends[1]].fill(group as i64);
                }
            }
            Ok(())
        })?;
        counts.write(|counts: &mut [i64]| {
            counts.iter_mut().zip(starts.windows(2)).for_each(|(count, ends)| *count = (ends[1] - ends[0]) as i64);
            Ok(())
        })?;
        number.write(|number: &mut [i64]| {
            number.fill(groups as i64);
            Ok(())
        })
    }

    /// Groups of single elements, each of which can be made of its key, in order.
    fn sorted<U: Word + Plain>(&mut self, keys: Keys<U>) -> Result<()> {
        let elements = self.matrix.elements::<U>();
        let mut sorted = Packed::new(elements.len())?;
        sorted.sort(&keys, elements)?;
        let mut ordered: Vec<U> = list::with_capacity(elements.len())?;
        match sorted.keys() {
            Some(of_keys) => ordered.extend(of_keys.map(|key| keys.element(key))),
            None => ordered.extend(sorted.indices().map(|index| elements[index])),
        }
        let starts = |i: usize| i == 0 || ordered[i - 1] != ordered[i];
        let groups = (0..ordered.len()).filter(|&i| starts(i));
        let [values, inverse, counts, number] = &mut self.outputs;
        values.write(|values: &mut [U]| {
            values.iter_mut().zip(groups.clone()).for_each(|(value, i)| *value = ordered[i]);
            Ok(())
        })?;
        inverse.write(|inverse: &mut [i64]| {
            let mut group = -1;
            for (i, index) in sorted.indices().enumerate().take(inverse.len()) {
                group += i64::from(starts(i));
                inverse[index] = group;
            }
            Ok(())
        })?;
        counts.write(|counts: &mut [i64]| {
            let ends = groups.clone().skip(1).chain([ordered.len()]);
            counts.iter_mut().zip(groups.clone().zip(ends)).for_each(|(count, (start, end))| {
                *count = (end - start) as i64;
            });
            Ok(())
        })?;
        number.write(|number: &mut [i64]| {
            number.fill(groups.clone().count() as i64);
            Ok(())
        })
    }
}

/// The first of each group of equal elements one after another, in a frame of a level; the result is their number.
struct Firsts<'a, U> {
    keys: Keys<U>,
    elements: &'a [U],
    /// Room for all elements.
    values: &'a mut [U],
}

impl<U: Word, I: Isa> Kernel<I> for Firsts<'_, U> {
    type Home = U;
    type Output = usize;

    #[inline(always)]
    fn run(self, _: I) -> usize {
        let Firsts { keys, elements, values } = self;
        let Some((&first, rest)) = elements.split_first() else { return 0 };
        values[0] = first;
        let mut groups = 1;
        let (blocks, tail) = rest.as_chunks::<BLOCK>();
        let (before_blocks, before_tail) = elements[..rest.len()].as_chunks::<BLOCK>();
        for (block, before) in blocks.iter().zip(before_blocks) {
            let begins = keys.changes(block, before);
            // Most blocks are of groups of one, or of one group.
            match begins.iter().map(|&begins| u8::from(begins)).sum::<u8>().into() {
                0 => {}
                BLOCK => {
                    values[groups..groups + BLOCK].copy_from_slice(block);
                    groups += BLOCK;
                }
                // There is room for a block: no more elements were kept than come before it.
                _ => {
                    let to = values[groups..].first_chunk_mut::<BLOCK>();
                    groups += to.map_or(0, |to| compact::<I, U, BLOCK>(block, &begins, to));
                }
            }
        }
        for (&x, &before) in tail.iter().zip(before_tail) {
            values[groups] = x;
            groups += keys.changes(&[x], &[before]).map(usize::from)[0];
        }
        groups
    }
}

/// The rows of a matrix and their keys.
struct Rows<'a, U> {
    elements: &'a [U],
    columns: usize,
    of: Keys<U>,
    keys: Vec<U>,
}

impl<'a, U: Word> Rows<'a, U> {
    fn new(elements: &'a [U], columns: usize, of: Keys<U>) -> Result<Self> {
        let mut keys = list::with_capacity(elements.len())?;
        of.extend(elements, &mut keys, |key, _| key);
        Ok(Rows { elements, columns, of, keys })
    }

    fn row(&self, row: usize) -> &'a [U] {
        &self.elements[row * self.columns..][..self.columns]
    }

    fn keys(&self, row: usize) -> &[U] {
        &self.keys[row * self.columns..][..self.columns]
    }

    /// NaN is not equal to itself.
    fn are_equal(&self, a: usize, b: usize) -> bool {
        let nan = self.of.nan();
        self.keys(a).iter().zip(self.keys(b)).all(|(&a, &b)| a == b && Some(a) != nan)
    }

    /// Lexicographic order, to which NaN does not matter, as in PyTorch.
    fn is_less(&self, a: usize, b: usize) -> bool {
        let nan = self.of.nan();
        let mut differing = self.keys(a).iter().zip(self.keys(b)).filter(|&(&a, &b)| a != b);
        differing.find(|&(&a, &b)| Some(a) != nan && Some(b) != nan).is_some_and(|(a, b)| a < b)
    }

    /// The numbers of the rows in the order that groups have.
    fn in_order(&self, plan: &GroupPlan) -> Result<Vec<i64>> {
        let rows = plan.rows;
        let mut order: Vec<i64> = list::with_capacity(rows)?;
        match plan.grouping {
            Grouping::Sorted => {
                let mut sorted = Packed::new(rows)?;
                sorted.sort(&self.of, self.elements)?;
                order.extend(sorted.indices().map(|row| row as i64));
            }
            Grouping::SortedRows => {
                order.extend(0..rows as i64);
                select::sort(&mut order, &|a, b| self.is_less(a as usize, b as usize));
            }
            Grouping::Consecutive => order.extend(0..rows as i64),
        }
        Ok(order)
    }
}

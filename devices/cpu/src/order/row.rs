//! What is asked of a row, answered on dense memory: the values and the indices of its results.

use super::heap::EnterHeap;
use super::key::{Item, Keys, Word};
use super::select;
use super::sort::Packed;
use crate::isa::{Isa, Kernel, Level};
use monomorph_core::{DType, Result, list};
use monomorph_ops::order::Task;
use std::mem::MaybeUninit;

/// The memory that rows are worked on in, and the order of their elements.
pub(super) struct RowWork<U, I> {
    task: Task,
    keys: Keys<U>,
    items: Vec<I>,
    sorted: Packed,
    level: Level,
}

/// A row and where its results go, all of which are written.
pub(super) struct Row<'a, U> {
    /// The elements, as they lie in memory.
    pub(super) elements: &'a [U],
    /// The values of the results.
    pub(super) values: &'a mut [MaybeUninit<U>],
    /// The indices that they have in the row.
    pub(super) indices: &'a mut [MaybeUninit<i64>],
}

/// A row beyond this is sorted by PyTorch with equal elements in an order of its own, and up to it by insertion.
const INSERTION: usize = 16;

impl<U: Word, I: Item> RowWork<U, I> {
    /// For rows of `n` elements.
    pub(super) fn new(task: Task, dtype: DType, n: usize) -> Result<Self> {
        let descending = match task {
            Task::Sort { descending } => descending,
            Task::Top { largest, .. } => largest,
            _ => false,
        };
        let keys = Keys::new(dtype, descending);
        let (sorts, n) = (matches!(task, Task::Sort { .. }), |is: bool| if is { n } else { 0 });
        let (items, sorted, level) = (list::with_capacity(n(!sorts))?, Packed::new(n(sorts))?, crate::level()?);
        Ok(RowWork { task, keys, items, sorted, level })
    }

    /// Answers for the row.
    pub(super) fn answer(&mut self, row: Row<'_, U>) -> Result<()> {
        match self.task {
            Task::Sort { .. } => {
                self.sorted.sort(&self.keys, row.elements)?;
                self.take_sorted(row);
            }
            Task::Top { k, .. } if k.saturating_mul(64) <= row.elements.len() => {
                self.heap_of_first(row.elements, k);
                self.take(row);
            }
            Task::Top { k, sorted, .. } => {
                self.itemize(&row);
                // The last of them is in its place then.
                if let Some(last) = k.checked_sub(1) {
                    select::nth_element(&mut self.items, last, &less);
                    if sorted {
                        select::sort(&mut self.items[..last], &less);
                    }
                }
                self.take(row);
            }
            Task::Kth { below } => {
                self.itemize(&row);
                select::quick_select(&mut self.items, below, &less);
                self.take_one(row, below);
            }
            Task::Median { skips_nan } => self.median(row, skips_nan),
            Task::Mode => self.mode(row),
        }
        Ok(())
    }

    fn itemize(&mut self, row: &Row<'_, U>) {
        self.items.clear();
        self.level.enter(Itemize { keys: self.keys, elements: row.elements, items: &mut self.items });
    }

    /// The first items are the results.
    fn take(&self, row: Row<'_, U>) {
        for (index, item) in row.indices.iter_mut().zip(&self.items) {
            index.write(item.index() as i64);
        }
        // Of few results each is read where it lies: all elements would be asked whether their keys are exact.
        if self.items.len() > row.elements.len() / 8 && self.keys.is_exact(row.elements) {
            for (value, item) in row.values.iter_mut().zip(&self.items) {
                value.write(self.keys.element(U::of(item.key())));
            }
        } else {
            for (value, item) in row.values.iter_mut().zip(&self.items) {
                value.write(row.elements[item.index()]);
            }
        }
    }

    /// All elements are the results.
    fn take_sorted(&self, row: Row<'_, U>) {
        for (to, index) in row.indices.iter_mut().zip(self.sorted.indices()) {
            to.write(index as i64);
        }
        match self.sorted.keys().filter(|_| self.keys.is_exact(row.elements)) {
            Some(keys) => row.values.iter_mut().zip(keys).for_each(|(value, key)| {
                value.write(self.keys.element(key));
            }),
            None => row.values.iter_mut().zip(self.sorted.indices()).for_each(|(value, index)| {
                value.write(row.elements[index]);
            }),
        }
    }

    /// The item at a place is the result.
    fn take_one(&self, row: Row<'_, U>, place: usize) {
        row.one(self.items[place].index());
    }

    /// The first `k` items in order, as a partial sort finds them. What it leaves behind them is no result, so only the
    /// heap is ever made.
    fn heap_of_first(&mut self, row: &[U], k: usize) {
        self.items.clear();
        if k == 0 {
            return;
        }
        let (keys, items) = (self.keys, &mut self.items);
        let (first, rest) = row.split_at(k);
        keys.extend(first, items, |key, i| I::new(key.wide(), i));
        select::make_heap(items, &less);
        self.level.enter(EnterHeap { keys, heap: items, elements: rest, start: k });
        select::sort_heap(items, &less);
    }

    fn median(&mut self, row: Row<'_, U>, skips_nan: bool) {
        let mut count = row.elements.len();
        if let Some(nan) = self.keys.nan() {
            // Counted side by side: mostly there is none to look for.
            let nans = self.level.enter(Count { keys: self.keys, elements: row.elements, key: nan });
            let is_nan = |x: &U| self.keys.key(*x) == nan;
            if nans > 0
                && !skips_nan
                && let Some(place) = row.elements.iter().position(is_nan)
            {
                return row.one(place);
            }
            count -= nans;
        }
        let middle = count.saturating_sub(1) / 2;
        self.itemize(&row);
        match count {
            // Where all are NaN, nothing is less than anything else.
            0 => select::nth_element(&mut self.items, middle, &|_, _| false),
            // Of equal elements the first ones come first.
            _ => drop(self.items.select_nth_unstable(middle)),
        }
        self.take_one(row, middle);
    }

    fn mode(&mut self, row: Row<'_, U>) {
        self.itemize(&row);
        let nan = self.keys.nan().map(U::wide);
        let is_nan = |item: I| Some(item.key()) == nan;
        // NaN is less than nothing there, and nothing is less than it.
        let by_value = |a: I, b: I| less(a, b) && !is_nan(b);
        match self.items.len() {
            ..=INSERTION => select::insertion_sort(&mut self.items, &by_value),
            _ => select::sort(&mut self.items, &less),
        }
        let (mut best, mut last, mut start) = (0, 0, 0);
        for (i, item) in self.items.iter().enumerate() {
            let ends = self.items.get(i + 1).is_none_or(|next| next.key() != item.key() || is_nan(*item));
            if ends {
                if i + 1 - start > best {
                    (best, last) = (i + 1 - start, i);
                }
                start = i + 1;
            }
        }
        self.take_one(row, last);
    }
}

impl<U: Copy> Row<'_, U> {
    /// The element with this index is the only result.
    fn one(self, index: usize) {
        for (value, to) in self.values.iter_mut().zip(self.indices) {
            value.write(self.elements[index]);
            to.write(index as i64);
        }
    }
}

/// The items of elements, in the frame of a level.
struct Itemize<'a, U, I> {
    keys: Keys<U>,
    elements: &'a [U],
    /// An empty list, with room for all.
    items: &'a mut Vec<I>,
}

impl<U: Word, I: Item, A: Isa> Kernel<A> for Itemize<'_, U, I> {
    type Home = U;
    type Output = ();

    #[inline(always)]
    fn run(self, _: A) {
        self.keys.extend(self.elements, self.items, |key, i| I::new(key.wide(), i));
    }
}

/// How many elements have a key, counted in the frame of a level.
struct Count<'a, U> {
    keys: Keys<U>,
    elements: &'a [U],
    key: U,
}

impl<U: Word, A: Isa> Kernel<A> for Count<'_, U> {
    type Home = U;
    type Output = usize;

    #[inline(always)]
    fn run(self, _: A) -> usize {
        /// Elements that are counted in a byte of each lane.
        const BLOCK: usize = 128;
        let mut count = 0;
        for block in self.elements.chunks(BLOCK) {
            let mut of_block = 0_u8;
            self.keys.each(block, |key| of_block += u8::from(key == self.key));
            count += usize::from(of_block);
        }
        count
    }
}

/// The order of keys alone: equal ones are equal, whatever their indices.
#[inline(always)]
pub(super) fn less<I: Item>(a: I, b: I) -> bool {
    a.key() < b.key()
}

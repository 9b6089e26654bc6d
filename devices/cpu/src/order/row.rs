//! What is asked of a row, answered on dense memory: the values and the indices of its results.

use super::key::{Item, Keys, Word};
use super::{select, sort};
use monomorph_core::{DType, Result, list};
use monomorph_ops::order::Task;

/// The memory that rows are worked on in, and the order of their elements.
pub(super) struct RowWork<U, I> {
    task: Task,
    keys: Keys<U>,
    /// The elements, as they lie in memory.
    pub(super) row: Vec<U>,
    /// The results.
    pub(super) values: Vec<U>,
    pub(super) indices: Vec<i64>,
    items: Vec<I>,
    spare: Vec<I>,
}

/// Elements that are compared with the threshold of a heap at a time.
const BLOCK: usize = 64;

/// A row beyond this is sorted by PyTorch with equal elements in an order of its own, and up to it by insertion.
const INSERTION: usize = 16;

impl<U: Word, I: Item> RowWork<U, I> {
    /// For rows of `n` elements with `results` each.
    pub(super) fn new(task: Task, dtype: DType, n: usize, results: usize) -> Result<Self> {
        let descending = match task {
            Task::Sort { descending } => descending,
            Task::Top { largest, .. } => largest,
            _ => false,
        };
        let mut work = RowWork {
            task,
            keys: Keys::new(dtype, descending),
            row: list::with_capacity(n)?,
            values: list::with_capacity(results)?,
            indices: list::with_capacity(results)?,
            items: list::with_capacity(n)?,
            spare: Vec::new(),
        };
        work.row.resize(n, U::default());
        work.values.resize(results, U::default());
        work.indices.resize(results, 0);
        Ok(work)
    }

    /// Answers for the row.
    pub(super) fn answer(&mut self) -> Result<()> {
        match self.task {
            Task::Sort { .. } => {
                self.itemize();
                sort::sort(&mut self.items, &mut self.spare)?;
                self.take();
            }
            Task::Top { k, .. } if k.saturating_mul(64) <= self.row.len() => {
                self.heap_of_first(k);
                self.take();
            }
            Task::Top { k, sorted, .. } => {
                self.itemize();
                // The last of them is in its place then.
                if let Some(last) = k.checked_sub(1) {
                    select::nth_element(&mut self.items, last, &less);
                    if sorted {
                        select::sort(&mut self.items[..last], &less);
                    }
                }
                self.take();
            }
            Task::Kth { below } => {
                self.itemize();
                select::quick_select(&mut self.items, below, &less);
                self.take_one(below);
            }
            Task::Median { skips_nan } => self.median(skips_nan),
            Task::Mode => self.mode(),
        }
        Ok(())
    }

    fn itemize(&mut self) {
        self.items.clear();
        let items = &mut self.items;
        self.keys.each(&self.row, |i, key| items.push(I::new(key.wide(), i)));
    }

    /// The first items are the results.
    fn take(&mut self) {
        for (index, item) in self.indices.iter_mut().zip(&self.items) {
            *index = item.index() as i64;
        }
        if self.keys.is_exact(&self.row) {
            for (value, item) in self.values.iter_mut().zip(&self.items) {
                *value = self.keys.element(U::of(item.key()));
            }
        } else {
            for (value, item) in self.values.iter_mut().zip(&self.items) {
                *value = self.row[item.index()];
            }
        }
    }

    /// The item at a place is the result.
    fn take_one(&mut self, place: usize) {
        let index = self.items[place].index();
        (self.values[0], self.indices[0]) = (self.row[index], index as i64);
    }

    /// The first `k` items in order, as a partial sort finds them. What it leaves behind them is no result, so only the
    /// heap is ever made.
    fn heap_of_first(&mut self, k: usize) {
        self.items.clear();
        if k == 0 {
            return;
        }
        let (keys, items) = (self.keys, &mut self.items);
        let (first, rest) = self.row.split_at(k);
        keys.each(first, |i, key| items.push(I::new(key.wide(), i)));
        select::make_heap(items, &less);
        let mut threshold = U::of(items[0].key());
        let mut start = k;
        for block in rest.chunks(BLOCK) {
            // One comparison for all: hardly any block has an element that enters.
            let mut enters = false;
            keys.each(block, |_, key| enters |= key < threshold);
            if enters {
                for (i, &x) in block.iter().enumerate() {
                    let key = keys.key(x);
                    if key < threshold {
                        select::replace_top(items, I::new(key.wide(), start + i), &less);
                        threshold = U::of(items[0].key());
                    }
                }
            }
            start += block.len();
        }
        select::sort_heap(items, &less);
    }

    fn median(&mut self, skips_nan: bool) {
        let nan = self.keys.nan();
        let is_nan = |x: &U| Some(self.keys.key(*x)) == nan;
        let mut count = self.row.len();
        if nan.is_some() {
            if !skips_nan && let Some(place) = self.row.iter().position(is_nan) {
                (self.values[0], self.indices[0]) = (self.row[place], place as i64);
                return;
            }
            count -= self.row.iter().filter(|x| is_nan(x)).count();
        }
        let middle = count.saturating_sub(1) / 2;
        self.itemize();
        // Of equal elements the first ones come first.
        self.items.select_nth_unstable(middle);
        self.take_one(middle);
    }

    fn mode(&mut self) {
        self.itemize();
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
        self.take_one(last);
    }
}

/// The order of keys alone: equal ones are equal, whatever their indices.
#[inline(always)]
fn less<I: Item>(a: I, b: I) -> bool {
    a.key() < b.key()
}

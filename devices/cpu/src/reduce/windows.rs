//! Reductions of elements that are computed when they are read. Some at a time are computed into a *window*, a block of
//! memory that stays in a cache, and reduced there as if it were a part of a tensor:
//!
//! ```text
//!  tasks of few elements       several in a window, if they lie one behind the other
//!  a task of many elements     a node of its reduction tree, the largest that fits
//!  dense runs in a batch       as many of them as fit
//!  rows of many lanes          groups of rows, put together
//! ```
//!
//! What is merged with what is as in memory, so that results have the same bits.

use super::chunks::Chunks;
use super::driver::{Compute, Input, TaskRunner};
use super::lanes::Lanes;
use super::layout::{Layout, Task, Vectorization};
use super::rows::{GROUP_ROWS, RowGroups};
use super::runs::Runs;
use crate::pointwise::Producer;
use crate::staging::StageBuffer;
use monomorph_iter::TensorIter;
use std::ops::Range;

/// Bytes of a window: it and what its elements are computed from stay in the second-level cache.
const WINDOW_BYTES: usize = 1 << 16;

type Window = StageBuffer<WINDOW_BYTES>;

/// One run of a producer: elements that are computed into memory when they are asked for.
pub(super) struct Elements<'a> {
    pub(super) producer: &'a Producer,
    pub(super) iter: &'a TensorIter,
    pub(super) params: *const (),
}

// SAFETY: `params` points to a formula's parameters, which are `Sync` and only read; the operands of the producer are
// only read.
unsafe impl Sync for Elements<'_> {}

impl Elements<'_> {
    /// Computes the elements with these numbers, from `to` on.
    ///
    /// # Safety
    ///
    /// There are such elements, of operands that are borrowed; `to` has room for them, aligned, which nobody else uses.
    pub(super) unsafe fn compute(&self, elements: Range<usize>, to: *mut u8) {
        // SAFETY: the iteration and the parameters are those of the producer, as it was made, whose inputs are
        // borrowed; the caller promises the elements and the room.
        unsafe { self.producer.compute(self.iter, self.params, elements, to) };
    }
}

impl Compute for Elements<'_> {
    unsafe fn run_tasks(&self, runner: &TaskRunner<'_>, tasks: Range<usize>) {
        // SAFETY: the caller's promise; elements are given to a driver only where its layout suits windows.
        unsafe { runner.run_windows(self, tasks) };
    }

    unsafe fn reduce(&self, runner: &TaskRunner<'_>, task: &Task, chunks: Range<usize>, into: Lanes) -> bool {
        // SAFETY: the caller's promise; elements are given to a driver only where its layout suits windows.
        unsafe { runner.reduce_windows(self, task, chunks, into) }
    }
}

impl Layout {
    /// The bytes of elements `elements` of the outputs of a task, if they lie one behind the other and fit in a window.
    pub(super) fn window(&self, task: &Task, elements: Range<usize>) -> Option<Range<usize>> {
        let needed = task.lanes.checked_mul(elements.len())?.checked_mul(self.size)?;
        if needed > WINDOW_BYTES {
            return None;
        }
        let (mut low, mut high) = (isize::MAX, isize::MIN);
        for run in Runs::new(&self.reduced, elements) {
            (low, high) = (low.min(run.offset), high.max(run.offset + run.stride * (run.len as isize - 1)));
        }
        let lanes = self.lane_stride() * (task.lanes as isize - 1);
        let span = (task.input + low) as usize..(task.input + high + lanes) as usize + self.size;
        (span.len() == needed).then_some(span)
    }

    /// Whether elements that are computed can be reduced window by window.
    pub(super) fn suits_windows(&self) -> bool {
        let rows = |rows: usize| self.task_lanes().saturating_mul(rows).saturating_mul(self.size) <= WINDOW_BYTES;
        match self.vectorization {
            Vectorization::Outer(..) if self.in_place => rows(GROUP_ROWS),
            Vectorization::Outer(..) => self.window(&self.task(0), 0..self.count).is_some(),
            Vectorization::Inner(_) => self.has_dense_runs(self.task_lanes()) && rows(self.chunk_elements()),
            Vectorization::BatchedInner(..) => {
                self.has_dense_runs(1) && self.chunk_elements().saturating_mul(self.size) <= WINDOW_BYTES
            }
        }
    }

    /// Whether the elements of one output, or of so many that alternate, lie one behind the other in order.
    fn has_dense_runs(&self, outputs: usize) -> bool {
        let mut next = (outputs * self.size) as isize;
        self.reduced.iter().all(|dim| {
            let is_next = dim.input == next;
            next = next.wrapping_mul(dim.size as isize);
            is_next
        })
    }
}

impl TaskRunner<'_> {
    /// Computes tasks whose elements are computed.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`](super::driver::Driver::run), of a layout that suits windows.
    pub(super) unsafe fn run_windows(&self, elements: &Elements<'_>, tasks: Range<usize>) {
        let layout = &self.driver.layout;
        let (mut window, mut buffer) = (Window::NEW, self.task_buffer());
        let all = |task: &Task| layout.window(task, 0..layout.count);
        let mut next = tasks.start;
        while next < tasks.end {
            let task = layout.task(next);
            let Some(mut span) = all(&task) else {
                // SAFETY: the caller's promise.
                unsafe { self.run_task(&task, &mut buffer) };
                next += 1;
                continue;
            };
            let first = next;
            next += 1;
            while next < tasks.end
                && let Some(more) = all(&layout.task(next))
                && more.start == span.end
                && more.end - span.start <= WINDOW_BYTES
            {
                (span.end, next) = (more.end, next + 1);
            }
            // SAFETY: the span fits in the window, which is this function's own.
            let runner = unsafe { self.over(elements, span, &mut window) };
            for index in first..next {
                // SAFETY: the operands are borrowed, by the caller's promise, and the elements of these tasks are in
                // the window.
                unsafe { runner.run_task(&layout.task(index), &mut buffer) };
            }
        }
    }

    /// Accumulates chunks, if their elements fit in a window or it is a single one.
    ///
    /// # Safety
    ///
    /// As for [`reduce_tree`](TaskRunner::reduce_tree), of a layout that suits windows.
    pub(super) unsafe fn reduce_windows(
        &self,
        elements: &Elements<'_>,
        task: &Task,
        chunks: Range<usize>,
        into: Lanes,
    ) -> bool {
        let layout = &self.driver.layout;
        if let Some(span) = layout.window(task, layout.elements_of(chunks.clone())) {
            // SAFETY: the caller's promise; these are the bytes of the chunks.
            unsafe { self.reduce_in_window(elements, span, task, chunks, into) };
            return true;
        }
        if chunks.len() > 1 {
            return false;
        }
        // SAFETY: the caller's promise, of one chunk.
        unsafe { self.fold_computed(elements, task, chunks, into) };
        true
    }

    /// Accumulates a chunk that is no window: of a batch of dense runs as many as fit in one at a time, of rows of many
    /// lanes some rows.
    ///
    /// # Safety
    ///
    /// As for [`reduce_tree`](TaskRunner::reduce_tree), of one chunk of a layout that suits windows.
    unsafe fn fold_computed(&self, elements: &Elements<'_>, task: &Task, chunks: Range<usize>, into: Lanes) {
        let (driver, layout) = (self.driver, &self.driver.layout);
        let range = layout.elements_of(chunks.clone());
        let Vectorization::BatchedInner(dim, _) = layout.vectorization else {
            let rows = Chunks { layout, kernels: &driver.kernels, stager: &driver.stager, numbers: driver.numbers };
            // SAFETY: H2 by R2; the rest is the caller's promise.
            return unsafe { rows.fold_rows(elements, task, range, into) };
        };
        let run = range.len() * layout.size;
        // Others do not lie one behind the other.
        let together = if dim.input == run as isize { (WINDOW_BYTES / run).max(1) } else { 1 };
        for start in (0..task.lanes).step_by(together) {
            let input = task.input.wrapping_add(dim.input.wrapping_mul(start as isize));
            let part = Task { input, lanes: together.min(task.lanes - start), ..*task };
            let Some(span) = layout.window(&part, range.clone()) else { continue };
            let into = into.offset(driver.kernels.parts, start);
            // SAFETY: the caller's promise; these are the bytes of some of the task's lanes.
            unsafe { self.reduce_in_window(elements, span, &part, chunks.clone(), into) };
        }
    }

    /// A runner over elements that were computed into a window.
    ///
    /// # Safety
    ///
    /// The elements in these bytes exist, and fit in the window, in which the runner may be used as long as nothing
    /// else is written there.
    unsafe fn over(&self, elements: &Elements<'_>, span: Range<usize>, window: &mut Window) -> TaskRunner<'_> {
        let (size, first) = (self.driver.layout.size, window.data());
        // SAFETY: the caller's promise; a window is aligned to more than any element.
        unsafe { elements.compute(span.start / size..span.end / size, first) };
        TaskRunner { driver: self.driver, input: Input::Memory(first.cast_const().wrapping_sub(span.start)) }
    }

    /// Accumulates chunks whose elements fit in a window. Not inlined, so that the window takes stack only once.
    ///
    /// # Safety
    ///
    /// As for [`reduce_tree`](TaskRunner::reduce_tree); `span` are the bytes of these chunks, and fit in a window.
    #[inline(never)]
    unsafe fn reduce_in_window(
        &self,
        elements: &Elements<'_>,
        span: Range<usize>,
        task: &Task,
        chunks: Range<usize>,
        into: Lanes,
    ) {
        let mut window = Window::NEW;
        // SAFETY: the caller's promise; the window is this function's own.
        let runner = unsafe { self.over(elements, span, &mut window) };
        // SAFETY: the caller's promise; the elements of these chunks are in the window.
        unsafe { runner.reduce_tree(task, chunks, into) };
    }
}

impl Chunks<'_> {
    /// Accumulates elements `range` of the outputs of a task along a kept dimension, of which each lane has one: the
    /// rows are computed one by one, and put together in a window.
    ///
    /// # Safety
    ///
    /// H2; `elements` has those of the layout, which suits windows; `into` has room for the lanes of the task, which
    /// nobody else uses, and the range is not empty.
    #[inline(never)]
    pub(super) unsafe fn fold_rows(&self, elements: &Elements<'_>, task: &Task, range: Range<usize>, into: Lanes) {
        debug_assert!(matches!(self.layout.vectorization, Vectorization::Outer(..)) && self.layout.in_place);
        let mut window = Window::NEW;
        let (layout, bytes) = (self.layout, task.lanes * self.layout.size);
        let most = (WINDOW_BYTES / bytes / GROUP_ROWS * GROUP_ROWS).max(GROUP_ROWS);
        let mut fresh = true;
        for run in Runs::new(&layout.reduced, range) {
            let mut done = 0;
            while done < run.len {
                let rows = most.min(run.len - done);
                for row in 0..rows {
                    let at = task.input + run.offset + run.stride * (done + row) as isize;
                    let first = at as usize / layout.size;
                    let to = window.data().wrapping_add(row * bytes);
                    // SAFETY: a row has so many elements, one behind the other; the window has room for `most` rows
                    // (`suits_windows`).
                    unsafe { elements.compute(first..first + task.lanes, to) };
                }
                let group = RowGroups {
                    at: window.data(),
                    row_stride: bytes as isize,
                    group_stride: 0,
                    groups: 1,
                    tall: false,
                    lanes: task.lanes,
                    index: [(run.start + done) as i64, 1, 0, 0],
                    fresh,
                    prefetch: 0,
                    outputs: 1,
                    output_strides: (0, 0),
                    numbers: self.numbers,
                };
                for part in group.repeated(rows) {
                    // SAFETY: A1 by H2, A2 by the caller's promise, A3: the rows were just computed.
                    unsafe { (self.kernels.accumulate)(into, &part) };
                }
                fresh = false;
                done += rows;
            }
        }
    }
}

//! Drives the bodies of a fold over a layout: tasks, the tree over their chunks, results, threads. Knows no fold.

use super::body::Bodies;
use super::chunk::Chunks;
use super::lanes::Lanes;
use super::layout::{LANES, Layout, Task};
use crate::lane::{Block, Lane, Tile};
use monomorph_iter::GRAIN;
use smallvec::SmallVec;
use std::ops::Range;

/// Aligned room for parts of accumulators.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Cell([u8; 16]);

/// Accumulators of a task: one needs no allocation.
struct Accs {
    memory: SmallVec<[Cell; 2]>,
    /// Bytes before the second parts.
    second: usize,
}

impl Accs {
    fn new(parts: [usize; 2], width: usize) -> Accs {
        let cells = |part: usize| (part * width).div_ceil(size_of::<Cell>());
        let [first, second] = parts.map(cells);
        Accs { memory: SmallVec::from_elem(Cell([0; 16]), first + second), second: first * size_of::<Cell>() }
    }

    fn lanes(&mut self) -> Lanes {
        let first = self.memory.as_mut_ptr().cast::<u8>();
        Lanes { first, second: first.wrapping_add(self.second) }
    }
}

/// A reduction bound to memory.
///
/// Invariants:
/// * R1: `input` and `outs` are the first elements of the operands that the layout was made for.
/// * R2: the bodies take what `lane` loads, give what `stores` store, and were chosen for this host (B1).
pub(super) struct Driver {
    pub(super) layout: Layout,
    pub(super) bodies: Bodies,
    pub(super) lane: Lane,
    pub(super) stores: SmallVec<[Lane; 2]>,
    pub(super) outs: [*mut u8; 2],
    /// Operands may overlap in a way that nobody could analyse.
    pub(super) serial: bool,
}

/// One run of a driver, shared by the threads that do it.
#[derive(Clone, Copy)]
struct Job<'a> {
    driver: &'a Driver,
    input: *const u8,
    parallel: bool,
}

// SAFETY: threads read the input, which nobody writes, and write the outputs of different tasks, which lie apart: a job
// that cannot be sure of that is not parallel.
unsafe impl Send for Job<'_> {}
// SAFETY: as above.
unsafe impl Sync for Job<'_> {}

/// Accumulators that a thread fills for another one.
struct Sent(Lanes);

// SAFETY: the lanes are used by one thread at a time: the one that fills them, then the one that waited for it.
unsafe impl Send for Sent {}

impl Driver {
    /// Computes every output. There is at least one element.
    ///
    /// # Safety
    ///
    /// The operands are borrowed: nobody else writes the input, or uses the outputs. `input` is that of R1.
    pub(super) unsafe fn run(&self, input: *const u8) {
        let elements = self.layout.count * self.layout.width() * self.layout.tasks;
        // A thread of a pool works alone: while it waited for others it could be handed another task of the caller's, which
        // would find the storages of this call borrowed.
        let alone = self.serial || rayon::current_thread_index().is_some();
        let parallel = !alone && elements > GRAIN && rayon::current_num_threads() > 1;
        let job = Job { driver: self, input, parallel };
        // SAFETY: passed on.
        unsafe { job.tasks(0..self.layout.tasks) };
    }

    /// Stores the results of `n` lanes, each of `count` elements.
    ///
    /// # Safety
    ///
    /// The lanes hold accumulators (B2); from `outs` on there are `n` elements with these strides that nobody else uses.
    pub(super) unsafe fn store(&self, lanes: Lanes, n: usize, count: i64, outs: [*mut u8; 2], strides: [isize; 2]) {
        let dense = |(k, lane): (usize, &Lane)| lane.is_direct() && (n == 1 || strides[k] == lane.size() as isize);
        if self.stores.iter().enumerate().all(dense) {
            // SAFETY: dense runs of what the bodies give (R2).
            return unsafe { (self.bodies.finish)(lanes, n, count, outs) };
        }
        let [first, second] = self.bodies.parts;
        let (mut blocks, mut scratch) = ([Block::NEW, Block::NEW], Block::NEW);
        for start in (0..n).step_by(LANES) {
            let len = LANES.min(n - start);
            let from = Lanes {
                first: lanes.first.wrapping_add(start * first),
                second: lanes.second.wrapping_add(start * second),
            };
            let staged = blocks.each_mut().map(Block::data);
            // SAFETY: a block has room for LANES elements of any dtype.
            unsafe { (self.bodies.finish)(from, len, count, staged) };
            for (k, lane) in self.stores.iter().enumerate() {
                let memory = outs[k].wrapping_offset(strides[k] * start as isize);
                let tile = Tile { cols: len, rows: 1, inner: strides[k], outer: 0 };
                // SAFETY: L1 by the caller's promise, L2: no more than LANES elements; the block was just filled.
                unsafe { lane.store(staged[k], memory, tile, scratch.data()) };
            }
        }
    }
}

impl Job<'_> {
    /// Elements of one task.
    fn weight(&self) -> usize {
        self.driver.layout.count * self.driver.layout.width()
    }

    /// # Safety
    ///
    /// As for [`Driver::run`].
    unsafe fn tasks(&self, tasks: Range<usize>) {
        if self.parallel && tasks.len() > 1 && tasks.len() * self.weight() > GRAIN {
            let middle = tasks.start + tasks.len() / 2;
            let (left, right) = (tasks.start..middle, middle..tasks.end);
            rayon::join(
                // SAFETY: passed on; the halves have different outputs.
                || unsafe { self.tasks(left) },
                // SAFETY: as above.
                || unsafe { self.tasks(right) },
            );
            return;
        }
        let driver = self.driver;
        let mut accs = Accs::new(driver.bodies.parts, driver.layout.width());
        for index in tasks {
            let task = driver.layout.task(index);
            let chunks = driver.layout.count.div_ceil(driver.layout.chunk());
            // SAFETY: passed on; there is room for the lanes of any task.
            unsafe { self.tree(&task, 0..chunks, accs.lanes()) };
            let outs = [0, 1].map(|k| driver.outs[k].wrapping_offset(task.outs[k]));
            let count = driver.layout.count as i64;
            // SAFETY: the lanes were just filled; R1: these are the task's outputs.
            unsafe { driver.store(accs.lanes(), task.lanes, count, outs, task.strides) };
        }
    }

    /// Folds chunks into lanes: the left half of a node is the largest power of two below its number of chunks.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`]; `into` has room for the lanes of the task, which nobody else uses.
    unsafe fn tree(&self, task: &Task, chunks: Range<usize>, into: Lanes) {
        let driver = self.driver;
        let layout = &driver.layout;
        if chunks.len() <= 1 {
            let elements = chunks.start * layout.chunk()..layout.count.min(chunks.end * layout.chunk());
            let fold = Chunks { layout, bodies: &driver.bodies, lane: &driver.lane };
            let at = self.input.wrapping_offset(task.input);
            // SAFETY: H1 by R1, H2 by R2.
            return unsafe { fold.fold(at, task.lanes, elements, into) };
        }
        let middle = chunks.start + chunks.len().next_power_of_two() / 2;
        let (left, right) = (chunks.start..middle, middle..chunks.end);
        let mut accs = Accs::new(driver.bodies.parts, task.lanes);
        let (to_left, to_right) = (Sent(into), Sent(accs.lanes()));
        let split = self.parallel && chunks.len() * layout.chunk() * task.lanes > GRAIN;
        // SAFETY: passed on; the right half has lanes of its own.
        let one = move || unsafe { self.tree(task, left, { to_left }.0) };
        // SAFETY: as above.
        let other = move || unsafe { self.tree(task, right, { to_right }.0) };
        if split {
            rayon::join(one, other);
        } else {
            one();
            other();
        }
        // SAFETY: both were just filled, and lie apart.
        unsafe { (driver.bodies.merge)(into, accs.lanes(), task.lanes) };
    }
}

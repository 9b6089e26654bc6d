//! Drives the bodies of a fold over a layout: tasks, the tree over their chunks, results, threads. Knows no fold.

use super::body::Bodies;
use super::chunk::Chunks;
use super::lanes::Lanes;
use super::layout::{LANES, Layout, Task};
use crate::staging::{StageBlock, Stager, Tile};
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
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
    pub(super) lane: Stager,
    pub(super) stores: SmallVec<[Stager; 2]>,
    pub(super) outs: [*mut u8; 2],
    /// Operands may overlap in a way that nobody could analyse.
    pub(super) serial: bool,
}

/// One run of a driver, shared by the threads that do it.
#[derive(Clone, Copy)]
struct Job<'a> {
    driver: &'a Driver,
    input: *const u8,
}

// SAFETY: threads read the input, which nobody writes, and write the outputs of different tasks, which lie apart: a job
// that cannot be sure of that is not parallel.
unsafe impl Send for Job<'_> {}
// SAFETY: as above.
unsafe impl Sync for Job<'_> {}

/// Accumulators that a thread fills for another one.
struct Sent(Lanes);

// SAFETY: the lanes are used by one thread at a time: the one that fills them, then the one that waited for it.
unsafe impl Sync for Sent {}

impl Driver {
    /// Computes every output. There is at least one element.
    ///
    /// # Safety
    ///
    /// The operands are borrowed: nobody else writes the input, or uses the outputs. `input` is that of R1.
    pub(super) unsafe fn run(&self, input: *const u8) {
        let (layout, job) = (&self.layout, Job { driver: self, input });
        let (tasks, weight) = (layout.tasks, layout.count * layout.width());
        if self.serial || !is_parallel(tasks * weight, GRAIN) {
            // SAFETY: passed on.
            return unsafe { job.tasks(0..tasks) };
        }
        let chunks = layout.count.div_ceil(layout.chunk());
        if tasks >= pieces() || chunks == 1 {
            let together = tasks.div_ceil(pieces()).max(GRAIN.div_ceil(weight));
            return share(tasks.div_ceil(together), |piece| {
                // SAFETY: passed on; pieces have different outputs.
                unsafe { job.tasks(piece * together..tasks.min((piece + 1) * together)) };
            });
        }
        let least = GRAIN.div_ceil(layout.chunk() * layout.width());
        let node = chunks.div_ceil(pieces().div_ceil(tasks)).max(least).next_power_of_two();
        // SAFETY: passed on; a node is a power of two.
        unsafe { job.nodes(chunks, node) };
    }

    /// Stores the results of `n` lanes, each of `count` elements.
    ///
    /// # Safety
    ///
    /// The lanes hold accumulators (B2); from `outs` on there are `n` elements with these strides that nobody else uses.
    pub(super) unsafe fn store(&self, lanes: Lanes, n: usize, count: i64, outs: [*mut u8; 2], strides: [isize; 2]) {
        let dense = |(k, lane): (usize, &Stager)| lane.is_direct() && (n == 1 || strides[k] == lane.size() as isize);
        if self.stores.iter().enumerate().all(dense) {
            // SAFETY: dense runs of what the bodies give (R2).
            return unsafe { (self.bodies.finish)(lanes, n, count, outs) };
        }
        let [first, second] = self.bodies.parts;
        let (mut blocks, mut scratch) = ([StageBlock::NEW, StageBlock::NEW], StageBlock::NEW);
        for start in (0..n).step_by(LANES) {
            let len = LANES.min(n - start);
            let from = Lanes {
                first: lanes.first.wrapping_add(start * first),
                second: lanes.second.wrapping_add(start * second),
            };
            let staged = blocks.each_mut().map(StageBlock::data);
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
    /// # Safety
    ///
    /// As for [`Driver::run`].
    unsafe fn tasks(&self, tasks: Range<usize>) {
        let driver = self.driver;
        let mut accs = Accs::new(driver.bodies.parts, driver.layout.width());
        for index in tasks {
            let task = driver.layout.task(index);
            let chunks = driver.layout.count.div_ceil(driver.layout.chunk());
            // SAFETY: passed on; there is room for the lanes of any task.
            unsafe { self.tree(&task, 0..chunks, accs.lanes()) };
            // SAFETY: passed on; the lanes were just filled.
            unsafe { self.end(&task, accs.lanes()) };
        }
    }

    /// Computes every task, of so many chunks, in pieces: nodes of the tree of a power of two of chunks each. What is above them is left
    /// to this thread.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`].
    unsafe fn nodes(&self, chunks: usize, node: usize) {
        let (layout, parts) = (&self.driver.layout, self.driver.bodies.parts);
        let (tasks, nodes) = (layout.tasks, chunks.div_ceil(node));
        let room = || Accs::new(parts, layout.width());
        let mut accs: Vec<Accs> = std::iter::repeat_with(room).take(tasks * nodes).collect();
        let lanes: Vec<Sent> = accs.iter_mut().map(|accs| Sent(accs.lanes())).collect();
        share(tasks * nodes, |piece| {
            let (task, start) = (layout.task(piece / nodes), piece % nodes * node);
            // SAFETY: passed on; each piece has lanes of its own, with room for those of any task.
            unsafe { self.tree(&task, start..chunks.min(start + node), lanes[piece].0) };
        });
        for (index, lanes) in lanes.chunks(nodes).enumerate() {
            let task = layout.task(index);
            // SAFETY: all were filled, and lie apart.
            unsafe { self.meet(lanes, task.lanes) };
            // SAFETY: passed on; the lanes were just filled.
            unsafe { self.end(&task, lanes[0].0) };
        }
    }

    /// Merges the accumulators of nodes into those of the first, in the order of [`tree`](Job::tree).
    ///
    /// # Safety
    ///
    /// All lanes are filled, and lie apart.
    unsafe fn meet(&self, nodes: &[Sent], lanes: usize) {
        if nodes.len() > 1 {
            let (left, right) = nodes.split_at(nodes.len().next_power_of_two() / 2);
            // SAFETY: passed on.
            unsafe { self.meet(left, lanes) };
            // SAFETY: passed on.
            unsafe { self.meet(right, lanes) };
            // SAFETY: passed on.
            unsafe { (self.driver.bodies.merge)(left[0].0, right[0].0, lanes) };
        }
    }

    /// Stores the results of a task.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`]; the lanes hold the accumulators of all its elements.
    unsafe fn end(&self, task: &Task, lanes: Lanes) {
        let outs = [0, 1].map(|k| self.driver.outs[k].wrapping_offset(task.outs[k]));
        let count = self.driver.layout.count as i64;
        // SAFETY: passed on; R1: these are the task's outputs.
        unsafe { self.driver.store(lanes, task.lanes, count, outs, task.strides) };
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
        let mut accs = Accs::new(driver.bodies.parts, task.lanes);
        // SAFETY: passed on.
        unsafe { self.tree(task, chunks.start..middle, into) };
        // SAFETY: passed on; the right half has lanes of its own.
        unsafe { self.tree(task, middle..chunks.end, accs.lanes()) };
        // SAFETY: both were just filled, and lie apart.
        unsafe { (driver.bodies.merge)(into, accs.lanes(), task.lanes) };
    }
}

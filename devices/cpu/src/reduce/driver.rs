//! Drives the bodies of a fold over a layout: tasks, the tree over their chunks, results, threads. Knows no fold.

use super::body::Bodies;
use super::chunk::Chunks;
use super::lanes::Lanes;
use super::layout::{Layout, MOST_LANES, Task};
use super::parts::PART;
use super::results::Stores;
use crate::staging::Stager;
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use smallvec::SmallVec;
use std::ops::Range;

/// Aligned room for parts of accumulators.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Cell([u8; PART]);
const _: () = assert!(align_of::<Cell>() == PART);

/// Accumulators of a task: one needs no allocation. Others take no more than [`MOST_LANES`] cells for each part, 32
/// KiB, and a thread has no more of them than the tree is high, whatever the sizes of the operands.
struct Accs {
    memory: SmallVec<[Cell; 2]>,
    /// Bytes before the second parts.
    second: usize,
}

impl Accs {
    /// Room for `width` accumulators.
    fn new(parts: [usize; 2], width: usize) -> Accs {
        debug_assert!(width <= MOST_LANES);
        let cells = |part: usize| (part * width).div_ceil(size_of::<Cell>());
        let [first, second] = parts.map(cells);
        Accs { memory: SmallVec::from_elem(Cell([0; PART]), first + second), second: first * size_of::<Cell>() }
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
    pub(super) stores: Stores,
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
// SAFETY: a job is read only; what threads do with its pointers is said at `Send`.
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
        // The elements of a task are no more than those of the input, which an `isize` counts. Those of all may be
        // twice as many where the last tasks are not full.
        let (tasks, weight) = (layout.tasks, layout.count.saturating_mul(layout.width()));
        if self.serial || !is_parallel(tasks.saturating_mul(weight), GRAIN) {
            // SAFETY: the operands are borrowed, and `input` is that of R1.
            return unsafe { job.tasks(0..tasks) };
        }
        let (chunks, pieces) = (layout.count.div_ceil(layout.chunk()), pieces());
        if tasks >= pieces || chunks == 1 {
            let together = tasks.div_ceil(pieces).max(GRAIN.div_ceil(weight));
            return share(tasks.div_ceil(together), |piece| {
                let start = piece * together;
                // SAFETY: the operands are borrowed, and `input` is that of R1; pieces have different outputs.
                unsafe { job.tasks(start..tasks.min(start.saturating_add(together))) };
            });
        }
        let least = GRAIN.div_ceil(layout.chunk() * layout.width());
        // All tasks together have fewer than twice as many nodes as there are pieces, so the memory of their accumulators
        // is bounded by the number of threads.
        let node = chunks.div_ceil(pieces.div_ceil(tasks)).max(least).next_power_of_two();
        // SAFETY: the operands are borrowed, and `input` is that of R1; a node is a power of two.
        unsafe { job.nodes(chunks, node) };
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
            // SAFETY: the operands are borrowed, by the caller's promise; `accs` has room for the lanes of any task,
            // and is this function's own.
            unsafe { self.tree(&task, 0..chunks, accs.lanes()) };
            // SAFETY: the operands are borrowed, by the caller's promise; the lanes were just filled with all chunks.
            unsafe { self.end(&task, accs.lanes()) };
        }
    }

    /// Computes every task, of so many chunks, in pieces: nodes of the tree of a power of two of chunks each. What is
    /// above them is left to this thread.
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
            // SAFETY: the operands are borrowed, by the caller's promise; each piece has lanes of its own, with room
            // for those of any task, and they live until all pieces are done.
            unsafe { self.tree(&task, start..chunks.min(start + node), lanes[piece].0) };
        });
        for (index, lanes) in lanes.chunks(nodes).enumerate() {
            let task = layout.task(index);
            // SAFETY: `share` has returned, so all were filled, and no other thread uses them; they lie apart.
            unsafe { self.meet(lanes, task.lanes) };
            // SAFETY: the operands are borrowed, by the caller's promise; the first lanes have met all the others.
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
            // SAFETY: these are some of the caller's lanes, which are filled, and lie apart.
            unsafe { self.meet(left, lanes) };
            // SAFETY: these are the others of the caller's lanes, which are filled, and lie apart.
            unsafe { self.meet(right, lanes) };
            // SAFETY: B1 by R2; B2: both hold accumulators, and lie apart, by the caller's promise.
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
        // SAFETY: B1 by R2; B2 by the caller's promise; the bodies give what the stores are for (R2); from `outs` on
        // there are the task's outputs (R1), which no other task has.
        unsafe { self.driver.stores.store(&self.driver.bodies, lanes, task.lanes, count, outs, task.strides) };
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
            // SAFETY: H1 by R1, as the input is borrowed, H2 by R2; `into` has room for the lanes of the task, which
            // nobody else uses, and a chunk has an element.
            return unsafe { fold.fold(at, task.lanes, elements, into) };
        }
        let middle = chunks.start + chunks.len().next_power_of_two() / 2;
        let mut accs = Accs::new(driver.bodies.parts, task.lanes);
        // SAFETY: the operands are borrowed and `into` has room, by the caller's promise.
        unsafe { self.tree(task, chunks.start..middle, into) };
        // SAFETY: the operands are borrowed, by the caller's promise; `accs` has room for the lanes of this task, and
        // is this function's own.
        unsafe { self.tree(task, middle..chunks.end, accs.lanes()) };
        // SAFETY: B1 by R2; B2: both were just filled with the accumulators of the task's lanes, and lie apart.
        unsafe { (driver.bodies.merge)(into, accs.lanes(), task.lanes) };
    }
}

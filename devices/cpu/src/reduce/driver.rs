//! Drives the kernels of a fold over a layout: shares tasks among threads, merges the chunks of each in a reduction
//! tree, and stores the results. Pairwise summation: the rounding error of a sum grows with the logarithm of the number
//! of chunks, and the tree follows from that number alone, so the result is the same for any number of threads. Knows
//! no fold.

use super::chunks::Chunks;
use super::fold_kernels::FoldKernels;
use super::lanes::Lanes;
use super::layout::{Layout, MAX_TASK_LANES, Task};
use super::output::OutputStagers;
use super::parts::PART;
use crate::staging::Stager;
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use monomorph_ops::reduce::Numbers;
use smallvec::SmallVec;
use std::ops::Range;

/// Aligned room for parts of accumulators.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct AlignedPart([u8; PART]);
const _: () = assert!(align_of::<AlignedPart>() == PART);

/// Memory for the accumulators of a task. For one lane it needs no allocation. For more it is at most
/// [`MAX_TASK_LANES`] cells for each part, 32 KiB, and a thread has no more buffers than the tree has levels, whatever
/// the sizes of the operands.
pub(super) struct LaneBuffer {
    memory: SmallVec<[AlignedPart; 2]>,
    /// Bytes before the second parts.
    second: usize,
}

impl LaneBuffer {
    /// Room for `width` accumulators.
    fn new(parts: [usize; 2], width: usize) -> LaneBuffer {
        debug_assert!(width <= MAX_TASK_LANES);
        let cells = |part: usize| (part * width).div_ceil(size_of::<AlignedPart>());
        let [first, second] = parts.map(cells);
        let memory = SmallVec::from_elem(AlignedPart([0; PART]), first + second);
        LaneBuffer { memory, second: first * size_of::<AlignedPart>() }
    }

    pub(super) fn lanes(&mut self) -> Lanes {
        let first = self.memory.as_mut_ptr().cast::<u8>();
        Lanes { first, second: first.wrapping_add(self.second) }
    }
}

/// A reduction bound to memory.
///
/// Invariants:
/// * R1: `input` and `outs` are the first elements of the operands that the layout was made for.
/// * R2: the kernels take what `stager` loads, give what `output` stores, and were chosen for this host (A1).
pub(super) struct Driver {
    pub(super) layout: Layout,
    pub(super) kernels: FoldKernels,
    pub(super) stager: Stager,
    pub(super) output: OutputStagers,
    pub(super) outs: [*mut u8; 2],
    /// Whether operands overlap in a way that was not analysed, which only one thread may then work on.
    pub(super) serial: bool,
    /// What the fold is told besides the elements.
    pub(super) numbers: Numbers,
}

/// Where the elements of a run are.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// In memory: the first one.
    Memory(*const u8),
    /// Nowhere: some at a time are computed when their turn comes.
    Computed(&'a dyn Compute),
}

/// Elements that are computed when they are read. They are dense, and numbered in the order in which they would lie.
/// A trait, so that a program that computes none is without what that takes.
pub(super) trait Compute: Sync {
    /// Computes tasks.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`].
    unsafe fn run_tasks(&self, runner: &TaskRunner<'_>, tasks: Range<usize>);

    /// Accumulates chunks, if there are few enough of them. One always is.
    ///
    /// # Safety
    ///
    /// As for [`TaskRunner::reduce_tree`].
    unsafe fn reduce(&self, runner: &TaskRunner<'_>, task: &Task, chunks: Range<usize>, into: Lanes) -> bool;
}

/// One run of a driver, shared by the threads that do it.
#[derive(Clone, Copy)]
pub(super) struct TaskRunner<'a> {
    pub(super) driver: &'a Driver,
    pub(super) input: Input<'a>,
}

// SAFETY: threads read the input, which nobody writes, or compute it each for itself, and write the outputs of
// different tasks, which lie apart: a runner that cannot be sure of that is not parallel.
unsafe impl Send for TaskRunner<'_> {}
// SAFETY: a runner is read only; what threads do with its pointers is said at `Send`.
unsafe impl Sync for TaskRunner<'_> {}

/// Lanes that one thread fills for another.
struct SharedLanes(Lanes);

// SAFETY: the lanes are used by one thread at a time: the one that fills them, then the one that waited for it.
unsafe impl Sync for SharedLanes {}

impl Driver {
    /// Computes every output. There is at least one element.
    ///
    /// # Safety
    ///
    /// The operands are borrowed: nobody else writes the input, or uses the outputs. `input` is that of R1, or computes
    /// what the layout was made for.
    pub(super) unsafe fn run(&self, input: Input<'_>) {
        let (layout, runner) = (&self.layout, TaskRunner { driver: self, input });
        // A task has no more elements than the input, so `weight` does not overflow. `tasks * weight` may be twice the
        // number of elements where the last tasks are not full.
        let (tasks, weight) = (layout.tasks, layout.count.saturating_mul(layout.task_lanes()));
        if self.serial || !is_parallel(tasks.saturating_mul(weight), GRAIN) {
            // SAFETY: the operands are borrowed, and `input` is that of R1.
            return unsafe { runner.run_tasks(0..tasks) };
        }
        let (chunks, pieces) = (layout.count.div_ceil(layout.chunk_elements()), pieces());
        if tasks >= pieces || chunks == 1 {
            let together = tasks.div_ceil(pieces).max(GRAIN.div_ceil(weight));
            return share(tasks.div_ceil(together), |piece| {
                let start = piece * together;
                // SAFETY: the operands are borrowed, and `input` is that of R1; pieces have different outputs.
                unsafe { runner.run_tasks(start..tasks.min(start.saturating_add(together))) };
            });
        }
        let least = GRAIN.div_ceil(layout.chunk_elements() * layout.task_lanes());
        // All tasks together have fewer than twice as many nodes as there are pieces, so the number of threads bounds
        // the memory of their accumulators.
        let node = chunks.div_ceil(pieces.div_ceil(tasks)).max(least).next_power_of_two();
        // SAFETY: the operands are borrowed, and `input` is that of R1; a node is a power of two.
        unsafe { runner.run_nodes(chunks, node) };
    }
}

impl TaskRunner<'_> {
    /// # Safety
    ///
    /// As for [`Driver::run`].
    unsafe fn run_tasks(&self, tasks: Range<usize>) {
        if let Input::Computed(elements) = self.input {
            // SAFETY: the caller's promise.
            return unsafe { elements.run_tasks(self, tasks) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_each(tasks) };
    }

    /// Computes tasks one by one.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`].
    pub(super) unsafe fn run_each(&self, tasks: Range<usize>) {
        let mut buffer = self.task_buffer();
        for index in tasks {
            // SAFETY: the caller's promise.
            unsafe { self.run_task(&self.driver.layout.task(index), &mut buffer) };
        }
    }

    /// Room for the lanes of any task.
    pub(super) fn task_buffer(&self) -> LaneBuffer {
        LaneBuffer::new(self.driver.kernels.parts, self.driver.layout.task_lanes())
    }

    /// Computes a task, with room for its lanes.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`].
    pub(super) unsafe fn run_task(&self, task: &Task, buffer: &mut LaneBuffer) {
        let layout = &self.driver.layout;
        let chunks = layout.count.div_ceil(layout.chunk_elements());
        // SAFETY: the operands are borrowed, by the caller's promise; `buffer` has room for the lanes of any task, and
        // is the caller's own.
        unsafe { self.reduce_tree(task, 0..chunks, buffer.lanes()) };
        // SAFETY: the operands are borrowed, by the caller's promise; the lanes were just filled with all chunks.
        unsafe { self.store_results(task, buffer.lanes()) };
    }

    /// Computes every task, of so many chunks, in pieces: nodes of the reduction tree, of `node` chunks each, a power
    /// of two. This thread merges what is above them.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`].
    unsafe fn run_nodes(&self, chunks: usize, node: usize) {
        let (layout, parts) = (&self.driver.layout, self.driver.kernels.parts);
        let (tasks, nodes) = (layout.tasks, chunks.div_ceil(node));
        let room = || LaneBuffer::new(parts, layout.task_lanes());
        let mut buffer: Vec<LaneBuffer> = std::iter::repeat_with(room).take(tasks * nodes).collect();
        let lanes: Vec<SharedLanes> = buffer.iter_mut().map(|buffer| SharedLanes(buffer.lanes())).collect();
        share(tasks * nodes, |piece| {
            let (task, start) = (layout.task(piece / nodes), piece % nodes * node);
            // SAFETY: the operands are borrowed, by the caller's promise; each piece has lanes of its own, with room
            // for those of any task, and they live until all pieces are done.
            unsafe { self.reduce_tree(&task, start..chunks.min(start + node), lanes[piece].0) };
        });
        for (index, lanes) in lanes.chunks(nodes).enumerate() {
            let task = layout.task(index);
            // SAFETY: `share` has returned, so all were filled, and no other thread uses them; they lie apart.
            unsafe { self.merge_nodes(lanes, task.lanes) };
            // SAFETY: the operands are borrowed, by the caller's promise; all the others were merged into the first
            // lanes.
            unsafe { self.store_results(&task, lanes[0].0) };
        }
    }

    /// Merges the lanes of nodes into those of the first node, in the order of [`tree`](TaskRunner::reduce_tree).
    ///
    /// # Safety
    ///
    /// All lanes are filled, and lie apart.
    unsafe fn merge_nodes(&self, nodes: &[SharedLanes], lanes: usize) {
        if nodes.len() > 1 {
            let (left, right) = nodes.split_at(nodes.len().next_power_of_two() / 2);
            // SAFETY: these are some of the caller's lanes, which are filled, and lie apart.
            unsafe { self.merge_nodes(left, lanes) };
            // SAFETY: these are the others of the caller's lanes, which are filled, and lie apart.
            unsafe { self.merge_nodes(right, lanes) };
            // SAFETY: A1 by R2; A2: both hold accumulators, and lie apart, by the caller's promise.
            unsafe { (self.driver.kernels.merge)(left[0].0, right[0].0, lanes) };
        }
    }

    /// Stores the results of a task.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`]; the lanes hold the accumulators of all its elements.
    unsafe fn store_results(&self, task: &Task, lanes: Lanes) {
        let outs = [0, 1].map(|k| self.driver.outs[k].wrapping_offset(task.outs[k]));
        let count = (self.driver.layout.count as i64, self.driver.numbers);
        // SAFETY: A1 by R2; A2 by the caller's promise; the kernels give what `output` stores (R2); from `outs` on
        // there are the task's outputs (R1), which no other task has.
        unsafe { self.driver.output.store(&self.driver.kernels, lanes, task.lanes, count, outs, task.strides) };
    }

    /// Accumulates chunks into lanes, as a reduction tree: the left half of a node is the largest power of two below
    /// its number of chunks.
    ///
    /// # Safety
    ///
    /// As for [`Driver::run`]; `into` has room for the lanes of the task, which nobody else uses.
    pub(super) unsafe fn reduce_tree(&self, task: &Task, chunks: Range<usize>, into: Lanes) {
        let driver = self.driver;
        let layout = &driver.layout;
        let first = match self.input {
            Input::Memory(first) => first,
            // SAFETY: the caller's promise.
            Input::Computed(elements) if unsafe { elements.reduce(self, task, chunks.clone(), into) } => return,
            Input::Computed(_) => std::ptr::null(),
        };
        if chunks.len() <= 1 {
            let elements = layout.elements_of(chunks);
            let chunk = Chunks { layout, kernels: &driver.kernels, stager: &driver.stager, numbers: driver.numbers };
            let at = first.wrapping_offset(task.input);
            // SAFETY: H1 by R1, as the input is borrowed, H2 by R2; `into` has room for the lanes of the task, which
            // nobody else uses, and a chunk has an element. Of elements that are computed no chunk is left.
            return unsafe { chunk.fold(at, task.lanes, elements, into) };
        }
        let middle = chunks.start + chunks.len().next_power_of_two() / 2;
        let mut buffer = LaneBuffer::new(driver.kernels.parts, task.lanes);
        // SAFETY: the operands are borrowed and `into` has room, by the caller's promise.
        unsafe { self.reduce_tree(task, chunks.start..middle, into) };
        // SAFETY: the operands are borrowed, by the caller's promise; `buffer` has room for the lanes of this task, and
        // is this function's own.
        unsafe { self.reduce_tree(task, middle..chunks.end, buffer.lanes()) };
        // SAFETY: A1 by R2; A2: both were just filled with the accumulators of the task's lanes, and lie apart.
        unsafe { (driver.kernels.merge)(into, buffer.lanes(), task.lanes) };
    }
}

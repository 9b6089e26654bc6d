//! What a recording keeps: the kernels, bound as they were when they ran, and the memory that they run on. Owns running
//! them again; which kernels are kept, and what memory they get, is `recorder.rs`'s.

use super::arena::{Arena, Arrangement};
use super::blocks::Group;
use super::elementwise::Elementwise;
use super::groups;
use super::lifetimes::{Block, Lifetimes};
use super::{Handle, Header, Held};
use crate::error::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// A kernel bound to memory.
pub(crate) trait BoundKernel: Send {
    /// Runs it once more.
    ///
    /// # Safety
    ///
    /// The memory that it was bound to is where it was; nobody else writes it, or reads what the kernel writes.
    unsafe fn run(&mut self) -> Result<()>;

    /// What there is to know of one that can be run in parts.
    fn elementwise(&self) -> Option<Elementwise> {
        None
    }
}

/// A storage that a kernel was bound to and that was not made meanwhile.
pub(super) struct Used {
    pub(super) handle: Handle,
    /// Where its block was.
    pub(super) data: *mut u8,
    pub(super) is_written: bool,
    /// It was frozen already, and stays so: there is a second handle, or it is ours alone.
    pub(super) is_frozen: bool,
}

// SAFETY: the address is compared, and never followed.
unsafe impl Send for Used {}

/// A storage that was made while calls were recorded.
pub(super) struct Made {
    pub(super) handle: Handle,
    pub(super) data: *mut u8,
    pub(super) bytes: usize,
    /// Where it lies in the arena, if it does.
    pub(super) place: Option<Range<usize>>,
}

// SAFETY: as for `Used`.
unsafe impl Send for Made {}

/// Kernels that calls ran, to be run again.
///
/// What they were bound to is what they run on: a tensor that was read is read again with its present elements, and one
/// that was written is written again. Tensors that the calls made may be kept, looked at and written between runs;
/// those that were dropped are memory that later calls had. Without the feature `recording` no kernel is kept.
#[derive(Default)]
pub struct Recording {
    pub(super) kernels: Vec<Box<dyn BoundKernel>>,
    pub(super) made: Vec<Made>,
    pub(super) used: Vec<Used>,
    pub(super) lifetimes: Lifetimes,
    /// In the order of their kernels.
    groups: Vec<Group>,
    /// How storages are to lie, until the first is asked for, and the block in which they do from then on.
    pub(super) arrangement: Option<Arrangement>,
    pub(super) arena: Option<Arena>,
}

/// A kernel that failed when it was run again, or that could not be run.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelFailure {
    /// Its number in the recording.
    pub kernel: usize,
    /// Why.
    pub error: Error,
}

impl From<KernelFailure> for Error {
    fn from(failure: KernelFailure) -> Error {
        failure.error
    }
}

impl Recording {
    /// Runs kernels once more, in their order.
    ///
    /// # Errors
    ///
    /// The first kernel, if a storage is used by somebody else or its memory is no longer where it was; one that fails.
    pub fn run(&mut self, kernels: Range<usize>) -> std::result::Result<(), KernelFailure> {
        let Recording { kernels: all, made, used, groups, .. } = self;
        let failure = |kernel| move |error| KernelFailure { kernel, error };
        let mut held: SmallVec<[(Held<'_>, bool); 16]> = SmallVec::new();
        borrow(made, used, &mut held).map_err(failure(kernels.start))?;
        let mut next = groups.partition_point(|group| group.kernels.start < kernels.start);
        let end = kernels.end.min(all.len());
        let mut at = kernels.start;
        let mut ran = Ok(());
        while at < end && ran.is_ok() {
            if let Some(group) = groups.get_mut(next).filter(|group| group.kernels.start == at) {
                next += 1;
                if group.kernels.end <= end {
                    at = group.kernels.end;
                    // SAFETY: as below, and these are its kernels.
                    unsafe { group.run(&all[group.kernels.clone()]) };
                    continue;
                }
            }
            // SAFETY: every storage that the kernel was bound to is in `used` or `made`, and its block is where it was,
            // and no smaller, as blocks never are. Nobody else uses it: its only handle is ours, which `&mut self`
            // borrows, or it is frozen, or `held` has a borrow.
            ran = unsafe { all[at].run() }.map_err(failure(at));
            at += 1;
        }
        held.iter().filter(|(_, is_written)| *is_written).for_each(|(held, _)| held.header().bump_version());
        ran
    }

    /// Whether a storage is one that recorded calls have made.
    pub fn has_made(&self, storage: usize) -> bool {
        self.made.iter().any(|made| std::ptr::from_ref(made.handle.header()).addr() == storage)
    }

    /// The bytes that recorded calls asked for when they made a storage, the last time; it may have more.
    pub fn bytes_of(&self, storage: usize) -> Option<usize> {
        let is_it = |made: &Made| std::ptr::from_ref(made.handle.header()).addr() == storage;
        self.lifetimes.bytes(self.made.iter().position(is_it)?)
    }

    /// The bytes that recorded calls have made.
    pub fn bytes(&self) -> usize {
        let arena = self.made.iter().filter_map(|made| made.place.as_ref()).map(|place| place.end).max();
        arena.unwrap_or(0) + self.made.iter().filter(|made| made.place.is_none()).map(|made| made.bytes).sum::<usize>()
    }

    /// How the storages would lie in one block, each as long as kernels need it, for a recording of the same calls.
    pub fn arrangement(&self) -> Arrangement {
        let groups: Vec<Range<usize>> = self.groups.iter().map(|group| group.kernels.clone()).collect();
        Arrangement::of(&self.lifetimes.asked(&self.made), &groups)
    }

    /// A recording whose storages lie so, as far as its calls ask for the same ones in the same order.
    pub fn arranged(arrangement: Arrangement) -> Recording {
        Recording { arrangement: Some(arrangement), ..Recording::default() }
    }

    /// What lies where in them while the kernels run.
    pub fn blocks(&self) -> Vec<Block> {
        self.lifetimes.asked(&self.made).into_iter().flatten().collect()
    }

    /// Has kernels of these that follow each other, and compute elements of the same places from each other, run block
    /// by block from now on, so that what one gives is in the cache when the next reads it. What nobody else has or
    /// reads is not written to memory at all. Results are the same bits.
    ///
    /// Only outputs of `least` elements and more are worth it. The kernels have been recorded by this recording, and
    /// are run together from now on, or one by one.
    pub fn group(&mut self, kernels: Range<usize>, least: usize) {
        let found = groups::find(&self.kernels, kernels, least, &self.lifetimes, &self.made);
        self.groups.extend(found);
        self.groups.sort_by_key(|group| group.kernels.start);
    }

    /// How many kernels it has.
    pub fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// How many kernels are run block by block.
    pub fn grouped(&self) -> usize {
        self.groups.iter().map(|group| group.kernels.len()).sum()
    }

    pub(super) fn position(&self, header: &Header) -> Option<usize> {
        self.made.iter().position(|made| std::ptr::eq(made.handle.header(), header))
    }
}

/// Borrows what others have handles of, and holds the addresses of all against what they were.
fn borrow<'h>(made: &'h [Made], used: &'h [Used], held: &mut SmallVec<[(Held<'h>, bool); 16]>) -> Result<()> {
    for used in used.iter().filter(|used| !used.is_frozen) {
        let header = used.handle.header();
        match used.is_written {
            _ if header.borrow().is_unique() => {}
            true => held.push((Held::write(header, false, "out")?, true)),
            false => held.push((Held::read(header, "an input")?, false)),
        }
        check_place(header, used.data)?;
    }
    for made in made {
        let header = made.handle.header();
        if !header.borrow().is_unique() {
            held.push((Held::write(header, false, "out")?, true));
        }
        check_place(header, made.data)?;
    }
    Ok(())
}

/// An error if the block of a storage, which is borrowed or nobody else's, is not where it was.
fn check_place(header: &Header, data: *mut u8) -> Result<()> {
    // SAFETY: nobody else moves it (above), and the address is only compared.
    if unsafe { header.data() } == data {
        return Ok(());
    }
    let rule = "a recorded call runs on the memory that it was recorded with; a tensor of it was enlarged since";
    Err(ErrorKind::ArgumentRule { rule }.into())
}

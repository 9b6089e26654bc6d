//! Keeping what calls do, to do it again on the same memory: the kernels that ran on this thread, in their order, bound
//! as they were, and the storages that they were bound to. Owns what is kept and which memory calls get meanwhile; what
//! a kernel is, the calls of structured operators know (`structured/bound.rs`), and what else touches memory while a
//! recording lasts refuses it.
//!
//! Storages that are made meanwhile are kept, and given out again once all their tensors are gone, as CUDA's graphs do
//! it with a pool of their own: what lives at different times lies in the same memory, also when the kernels run again.

use super::arena::Arena;
use super::recording::{BoundKernel, Made, Recording, Used};
use super::{Contents, Handle, Header, Memory};
use crate::error::{ErrorKind, Result};
use crate::options::DeviceId;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// What is recorded on a thread.
#[derive(Default)]
struct Recorder {
    recording: Recording,
    /// Something that cannot be done again by running kernels.
    is_refused: bool,
    /// A kernel is being bound.
    binds: bool,
}

thread_local! {
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Whether calls of this thread are being recorded.
#[inline]
pub(crate) fn is_recording() -> bool {
    cfg!(feature = "recording") && IS_RECORDING.get()
}

/// Gives up what is being recorded: something reads or writes memory that no kernel will read or write again.
#[inline]
pub(crate) fn refuse() {
    if is_recording() {
        with(|recorder| recorder.is_refused = true);
    }
}

/// Says that elements are read. While a kernel is bound that is no part of running it, so that what is being recorded
/// is given up; a kernel that runs may read what it likes.
#[inline]
pub fn elements_are_read() {
    if is_recording() {
        with(|recorder| recorder.is_refused |= recorder.binds);
    }
}

/// A kernel is being bound from now on, or no longer.
#[cold]
pub(crate) fn binds(binds: bool) {
    with(|recorder| recorder.binds = binds);
}

#[cold]
fn with(f: impl FnOnce(&mut Recorder)) {
    RECORDER.with_borrow_mut(|recorder| recorder.as_mut().map(f));
}

/// Ends a recording also where it panics.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        IS_RECORDING.set(false);
        RECORDER.take();
    }
}

impl Recording {
    /// Calls `f` and keeps the kernels that it runs on this thread, unless it does something beside: reads elements,
    /// writes them other than by an operator's kernel, draws random numbers, gives an output other sizes. The second
    /// value says which kernels are kept, or is none.
    ///
    /// Recordings do not nest: within another one, `f` is called and nothing is kept.
    pub fn record<R>(&mut self, f: impl FnOnce() -> R) -> (R, Option<Range<usize>>) {
        if is_recording() {
            refuse();
            return (f(), None);
        }
        let (first, lifetimes) = (self.kernels.len(), self.lifetimes.mark());
        RECORDER.set(Some(Recorder { recording: std::mem::take(self), is_refused: false, binds: false }));
        IS_RECORDING.set(true);
        let ends = Ends;
        let result = f();
        let recorder = RECORDER.take().unwrap_or_default();
        drop(ends);
        *self = recorder.recording;
        if recorder.is_refused || !cfg!(feature = "recording") {
            self.kernels.truncate(first);
            self.lifetimes.truncate(lifetimes);
            return (result, None);
        }
        (result, Some(first..self.kernels.len()))
    }
}

/// Keeps a kernel, which has just run, with the storages that it was bound to; `written` of them were written. One that
/// ran while another was bound is no part of running that one, so that what is being recorded is given up.
pub(crate) fn keep<'h>(kernel: Box<dyn BoundKernel>, storages: impl Iterator<Item = &'h Header>, written: usize) {
    with(|recorder| {
        let Recorder { recording, is_refused, binds } = recorder;
        *is_refused |= *binds;
        let mut touched: SmallVec<[usize; 4]> = SmallVec::new();
        for (position, header) in storages.enumerate() {
            if let Some(made) = recording.position(header) {
                touched.push(made);
                continue;
            }
            let is_written = position < written;
            match recording.used.iter_mut().find(|used| std::ptr::eq(used.handle.header(), header)) {
                Some(used) => used.is_written |= is_written,
                None => {
                    let handle = Handle::of(header);
                    // SAFETY: the call that ran the kernel still borrows the storage; the address is only compared.
                    let data = unsafe { header.data() };
                    let is_frozen = header.borrow().is_frozen();
                    recording.used.push(Used { handle, data, is_written, is_frozen });
                }
            }
        }
        recording.kernels.push(kernel);
        recording.lifetimes.touch(touched);
    });
}

/// Sets memory to zero, which allocation did the first time.
struct Zeroed {
    data: *mut u8,
    bytes: usize,
}

// SAFETY: memory that whoever runs it has for itself.
unsafe impl Send for Zeroed {}

impl BoundKernel for Zeroed {
    unsafe fn run(&mut self) -> Result<()> {
        // SAFETY: the block of a storage that is made by the recording, nobody else's now (the caller's promise).
        unsafe { self.data.write_bytes(0, self.bytes) };
        Ok(())
    }
}

/// Keeps a storage; its number.
fn made(made: Made) -> usize {
    let mut position = 0;
    with(|Recorder { recording, .. }| {
        position = recording.made.len();
        recording.made.push(made);
    });
    position
}

/// The storage at the next place of the arena, if there is one for it.
fn placed(memory: &'static Memory, device: DeviceId, bytes: usize) -> Result<Option<Made>> {
    let mut next = Ok(None);
    with(|Recorder { recording, .. }| {
        if let Some(arrangement) = recording.arrangement.take() {
            match Arena::new(memory, device, arrangement) {
                Ok(arena) => recording.arena = Some(arena),
                Err(error) => next = Err(error),
            }
        }
        if let Some(arena) = &mut recording.arena
            && next.is_ok()
        {
            next = Ok(arena.next(memory, device, bytes, &recording.made));
        }
    });
    next
}

/// The number of a storage that was made before and that no tensor has any more, if one fits.
fn free(memory: &'static Memory, device: DeviceId, bytes: usize) -> Option<usize> {
    RECORDER.with_borrow(|recorder| {
        let made = recorder.iter().flat_map(|recorder| &recorder.recording.made);
        let fits = |made: &Made| {
            let header = made.handle.header();
            let is_same = std::ptr::eq(header.memory, memory) && header.device() == device && made.place.is_none();
            // A much larger one is left to those who need it.
            is_same && header.borrow().is_unique() && (bytes..=bytes.saturating_mul(2)).contains(&made.bytes)
        };
        let free = made.enumerate().filter(|(_, made)| fits(made)).min_by_key(|(_, made)| made.bytes);
        free.map(|(position, _)| position)
    })
}

/// A storage for `bytes` bytes: its place in the arena, one that was made before and that no tensor has any more, or
/// what `allocate` gives.
#[cold]
pub(crate) fn storage(
    memory: &'static Memory,
    device: DeviceId,
    bytes: usize,
    contents: Contents,
    allocate: impl FnOnce() -> Result<Handle>,
) -> Result<Handle> {
    let position = match placed(memory, device, bytes)? {
        Some(placed) => made(placed),
        None => match free(memory, device, bytes) {
            Some(position) => position,
            None => {
                let handle = allocate()?;
                // SAFETY: nobody else has the handle yet; the address is followed only as long as this lasts.
                let data = unsafe { handle.header().data() };
                made(Made { handle, data, bytes, place: None })
            }
        },
    };
    let known = RECORDER.with_borrow(|recorder| {
        let made = recorder.as_ref().and_then(|recorder| recorder.recording.made.get(position));
        made.map(|made| (made.handle.clone(), made.data))
    });
    // A thread that records has a recorder.
    let Some((handle, data)) = known else { return Err(ErrorKind::Allocation { bytes, device }.into()) };
    with(|Recorder { recording, .. }| recording.lifetimes.begin(position, recording.kernels.len(), bytes));
    if contents == Contents::Zeroed {
        let mut zeroed = Zeroed { data, bytes };
        // SAFETY: the storage has as many bytes, and no tensor yet.
        unsafe { zeroed.run() }?;
        with(|Recorder { recording, .. }| {
            recording.kernels.push(Box::new(zeroed));
            recording.lifetimes.touch([position]);
        });
    }
    Ok(handle)
}

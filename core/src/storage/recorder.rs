//! Keeping what calls do, to do it again on the same memory: the kernels that ran on this thread, in their order, bound
//! as they were, and the storages that they were bound to. Owns the list and the memory; what a kernel is, the calls of
//! structured operators know (`structured/bound.rs`), and what else touches memory while a recording lasts refuses it.
//!
//! Storages that are made meanwhile are kept, and given out again once all their tensors are gone, as CUDA's graphs do
//! it with a pool of their own: what lives at different times lies in the same memory, also when the kernels run again.

use super::{Contents, Handle, Header, Held, Memory};
use crate::error::{Error, ErrorKind, Result};
use crate::options::DeviceId;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// A kernel bound to memory.
pub(crate) trait BoundKernel: Send {
    /// Runs it once more.
    ///
    /// # Safety
    ///
    /// The memory that it was bound to is where it was; nobody else writes it, or reads what the kernel writes.
    unsafe fn run(&mut self) -> Result<()>;
}

/// A storage that a kernel was bound to and that was not made meanwhile.
struct Used {
    handle: Handle,
    /// Where its block was.
    data: *mut u8,
    is_written: bool,
    /// It was frozen already, and stays so: there is a second handle, or it is ours alone.
    is_frozen: bool,
}

// SAFETY: the address is compared, and never followed.
unsafe impl Send for Used {}

/// A storage that was made while calls were recorded.
struct Made {
    handle: Handle,
    data: *mut u8,
    bytes: usize,
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
    kernels: Vec<Box<dyn BoundKernel>>,
    made: Vec<Made>,
    used: Vec<Used>,
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
        let first = self.kernels.len();
        RECORDER.set(Some(Recorder { recording: std::mem::take(self), is_refused: false, binds: false }));
        IS_RECORDING.set(true);
        let ends = Ends;
        let result = f();
        let recorder = RECORDER.take().unwrap_or_default();
        drop(ends);
        *self = recorder.recording;
        if recorder.is_refused || !cfg!(feature = "recording") {
            self.kernels.truncate(first);
            return (result, None);
        }
        (result, Some(first..self.kernels.len()))
    }

    /// Runs kernels once more, in their order.
    ///
    /// # Errors
    ///
    /// The first kernel, if a storage is used by somebody else or its memory is no longer where it was; one that fails.
    pub fn run(&mut self, kernels: Range<usize>) -> std::result::Result<(), KernelFailure> {
        let Recording { kernels: all, made, used } = self;
        let first = kernels.start;
        let failure = |kernel| move |error| KernelFailure { kernel, error };
        let mut held: SmallVec<[(Held<'_>, bool); 16]> = SmallVec::new();
        borrow(made, used, &mut held).map_err(failure(first))?;
        let ran = all.get_mut(kernels).unwrap_or_default().iter_mut().enumerate().try_for_each(|(i, kernel)| {
            // SAFETY: every storage that the kernel was bound to is in `used` or `made`, and its block is where it was,
            // and no smaller, as blocks never are. Nobody else uses it: its only handle is ours, which `&mut self`
            // borrows, or it is frozen, or `held` has a borrow.
            unsafe { kernel.run() }.map_err(failure(first + i))
        });
        held.iter().filter(|(_, is_written)| *is_written).for_each(|(held, _)| held.header().bump_version());
        ran
    }

    /// Whether a storage is one that recorded calls have made.
    pub fn has_made(&self, storage: usize) -> bool {
        self.made.iter().any(|made| std::ptr::from_ref(made.handle.header()).addr() == storage)
    }

    /// The bytes that recorded calls have made.
    pub fn bytes(&self) -> usize {
        self.made.iter().map(|made| made.bytes).sum()
    }

    fn makes(&self, header: &Header) -> bool {
        self.made.iter().any(|made| std::ptr::eq(made.handle.header(), header))
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

/// Keeps a kernel, which has just run, with the storages that it was bound to; `written` of them were written.
pub(crate) fn keep<'h>(kernel: Box<dyn BoundKernel>, storages: impl Iterator<Item = &'h Header>, written: usize) {
    with(|recorder| {
        let Recorder { recording, .. } = recorder;
        for (position, header) in storages.enumerate() {
            if recording.makes(header) {
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

/// A storage for `bytes` bytes: one that was made before and that no tensor has any more, or what `allocate` gives.
#[cold]
pub(crate) fn storage(
    memory: &'static Memory,
    device: DeviceId,
    bytes: usize,
    contents: Contents,
    allocate: impl FnOnce() -> Result<Handle>,
) -> Result<Handle> {
    let free = RECORDER.with_borrow(|recorder| {
        let made = recorder.iter().flat_map(|recorder| &recorder.recording.made);
        let fits = |made: &&Made| {
            let header = made.handle.header();
            let is_same = std::ptr::eq(header.memory, memory) && header.device() == device;
            // A much larger one is left to those who need it.
            is_same && header.borrow().is_unique() && (bytes..=bytes.saturating_mul(2)).contains(&made.bytes)
        };
        made.filter(fits).min_by_key(|made| made.bytes).map(|made| (made.handle.clone(), made.data))
    });
    let (handle, data) = match free {
        Some(free) => free,
        None => {
            let handle = allocate()?;
            // SAFETY: nobody else has the handle yet; the address is followed only as long as this lasts.
            let data = unsafe { handle.header().data() };
            with(|recorder| recorder.recording.made.push(Made { handle: handle.clone(), data, bytes }));
            (handle, data)
        }
    };
    if contents == Contents::Zeroed {
        let mut zeroed = Zeroed { data, bytes };
        // SAFETY: the storage has as many bytes, and no tensor yet.
        unsafe { zeroed.run() }?;
        with(|recorder| recorder.recording.kernels.push(Box::new(zeroed)));
    }
    Ok(handle)
}

//! The memory functions that storages call, and bytes on their way between the host and the device. Owns staging:
//! pieces go through pinned buffers, two of them in turn, so that the host fills one while the device empties the
//! other.

use crate::driver::{Address, CudaError, Event, Pinned};
use crate::gpu::{Gpu, Use, gpu, lock, open_already};
use crate::stream::Stream;
use monomorph_core::{Contents, Error, Memory, Reach, Result};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ptr::NonNull;

/// What storages call. Addresses are the device's, and no pointers of the host.
///
/// * M1: the driver's blocks are aligned to 256 bytes, and are set to zero behind their allocation in the same stream.
/// * M2: `free` and `copy` keep errors for the next call: they cannot tell them.
/// * M4: `write` and `read` wait until the bytes have arrived.
pub(crate) static MEMORY: Memory = Memory { allocate, free, copy, reach: Reach::Transfer { write, read, refusal } };

/// Bytes of the largest staging buffer.
const PIECE: usize = 4 << 20;
/// Bytes of the smallest.
const LEAST: usize = 4096;
/// Staging buffers that are kept for later.
const KEPT: usize = 8;

thread_local! {
    static REFUSAL: RefCell<Option<Error>> = const { RefCell::new(None) };
}

fn allocate(index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    let made = gpu(index).and_then(|gpu| gpu.allocate(bytes, contents == Contents::Zeroed));
    match made {
        Ok(at) => NonNull::new(std::ptr::without_provenance_mut(at as usize)),
        Err(error) => {
            REFUSAL.set((!error.is_out_of_memory()).then(|| error.on(index)));
            None
        }
    }
}

fn refusal(_: u8) -> Option<Error> {
    REFUSAL.take()
}

unsafe fn free(index: u8, block: NonNull<u8>, _: usize) {
    if let Some(gpu) = open_already(index) {
        gpu.free(block.addr().get() as Address);
    }
}

unsafe fn copy(index: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    let Some(gpu) = open_already(index) else { return };
    let (to, from) = (to.addr().get() as Address, from.addr().get() as Address);
    // SAFETY: M2.
    if let Err(error) = unsafe { gpu.copy(to, from, bytes) } {
        gpu.context().keep(error);
    }
}

unsafe fn write(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    let sent = gpu(index).and_then(|gpu| {
        // SAFETY: M4.
        unsafe { gpu.send(to.addr() as Address, from, bytes) }
    });
    sent.map_err(|error| error.on(index))
}

unsafe fn read(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    let fetched = gpu(index).and_then(|gpu| {
        // SAFETY: M4.
        unsafe { gpu.fetch(to, from.addr() as Address, bytes) }
    });
    fetched.map_err(|error| error.on(index))
}

/// A staging buffer, and the point behind the device's last use of it.
struct Buffer {
    pinned: Pinned,
    busy: Option<Event>,
}

/// Staging buffers of a transfer on a stream. They are kept for later once the device is done with them.
pub(crate) struct Staging<'a> {
    gpu: &'a Gpu,
    stream: &'a Stream,
    buffers: SmallVec<[Buffer; 2]>,
    /// Whether the device may still use a buffer.
    pending: bool,
}

impl<'a> Staging<'a> {
    /// Buffers for a transfer of so many bytes, in pieces of [`piece`](Staging::piece).
    pub(crate) fn new(gpu: &'a Gpu, stream: &'a Stream, bytes: usize) -> std::result::Result<Staging<'a>, CudaError> {
        let piece = bytes.next_power_of_two().clamp(LEAST, PIECE);
        let mut staging = Staging { gpu, stream, buffers: SmallVec::new(), pending: false };
        for _ in 0..if bytes > piece { 2 } else { 1 } {
            let kept = {
                let mut idle = lock(&gpu.idle);
                let at = idle.iter().position(|pinned| pinned.len() == piece);
                at.map(|at| idle.swap_remove(at))
            };
            let pinned = match kept {
                Some(pinned) => pinned,
                None => Pinned::new(gpu.context(), piece)?,
            };
            staging.buffers.push(Buffer { pinned, busy: None });
        }
        Ok(staging)
    }

    fn piece(&self) -> usize {
        self.buffers[0].pinned.len()
    }

    /// The first buffer.
    pub(crate) fn first(&self) -> &Pinned {
        &self.buffers[0].pinned
    }

    /// From here on the device may use the buffers.
    pub(crate) fn lend(&mut self) {
        self.pending = true;
    }

    /// Waits until the device is done with all.
    pub(crate) fn settle(&mut self) -> std::result::Result<(), CudaError> {
        self.stream.queue().synchronize()?;
        self.pending = false;
        Ok(())
    }

    /// Notes that the device uses buffer `k` until it has come to here.
    fn mark(&mut self, k: usize) -> std::result::Result<(), CudaError> {
        if self.buffers.len() > 1 {
            self.buffers[k].busy = Some(Gpu::event(self.stream)?);
        }
        Ok(())
    }

    /// Waits until the device is done with buffer `k`.
    fn wait(&mut self, k: usize) -> std::result::Result<(), CudaError> {
        match self.buffers[k].busy.take() {
            Some(event) => event.synchronize(),
            None => Ok(()),
        }
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // A call failed on the way. If the device cannot be waited for, the buffers are of no use to anybody.
        let known = !self.pending || self.stream.queue().synchronize().is_ok();
        for buffer in self.buffers.drain(..) {
            let list = if known { &self.gpu.idle } else { &self.gpu.doubtful };
            let mut list = lock(list);
            if !known || list.len() < KEPT {
                list.push(buffer.pinned);
            }
        }
    }
}

impl Gpu {
    /// Copies bytes between two blocks on the thread's stream.
    ///
    /// # Safety
    ///
    /// They lie in live blocks, and do not overlap.
    pub(crate) unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> std::result::Result<(), CudaError> {
        let stream = self.stream();
        self.order(&stream, &[Use { at: to, writes: true }, Use { at: from, writes: false }])?;
        // SAFETY: the stream has waited for who uses the blocks; the rest is the caller's.
        unsafe { stream.queue().copy(to, from, bytes) }
    }

    /// Copies bytes of the host into a block; they have arrived when it returns.
    ///
    /// # Safety
    ///
    /// M4.
    unsafe fn send(&self, to: Address, from: *const u8, bytes: usize) -> std::result::Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let stream = self.stream();
        self.order(&stream, &[Use { at: to, writes: true }])?;
        let mut staging = Staging::new(self, &stream, bytes)?;
        let piece = staging.piece();
        for (number, start) in (0..bytes).step_by(piece).enumerate() {
            let (k, n) = (number % staging.buffers.len(), piece.min(bytes - start));
            staging.wait(k)?;
            let buffer = staging.buffers[k].pinned.data();
            let source = from.wrapping_add(start);
            // SAFETY: M4: so many bytes of the host; the buffer has room, and the device is done with it.
            unsafe { buffer.copy_from_nonoverlapping(source, n) };
            staging.lend();
            // SAFETY: ordered above; the buffer is left alone until the event or the end.
            unsafe { stream.queue().copy_in(to + start as u64, &staging.buffers[k].pinned, n) }?;
            staging.mark(k)?;
        }
        staging.settle()
    }

    /// Copies bytes of a block to the host; they have arrived when it returns.
    ///
    /// # Safety
    ///
    /// M4.
    unsafe fn fetch(&self, to: *mut u8, from: Address, bytes: usize) -> std::result::Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let stream = self.stream();
        self.order(&stream, &[Use { at: from, writes: false }])?;
        let mut staging = Staging::new(self, &stream, bytes)?;
        let piece = staging.piece();
        let pieces = bytes.div_ceil(piece);
        let range = |number: usize| (number * piece, piece.min(bytes - number * piece));
        for number in 0..=pieces {
            if number < pieces {
                let (k, (start, n)) = (number % staging.buffers.len(), range(number));
                staging.lend();
                // SAFETY: ordered above; the host took what was in the buffer two pieces ago.
                unsafe { stream.queue().copy_out(&staging.buffers[k].pinned, from + start as u64, n) }?;
                staging.mark(k)?;
            }
            let Some(done) = number.checked_sub(1) else { continue };
            let (k, (start, n)) = (done % staging.buffers.len(), range(done));
            if number == pieces {
                staging.settle()?
            } else {
                staging.wait(k)?
            }
            let (target, buffer) = (to.wrapping_add(start), staging.buffers[k].pinned.data());
            // SAFETY: M4: so many bytes of the host, the caller's alone; the device has filled the buffer.
            unsafe { target.copy_from_nonoverlapping(buffer, n) };
        }
        Ok(())
    }
}

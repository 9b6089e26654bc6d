//! What the process holds of one device: its context, its default stream, its memory pool, who uses which block,
//! staging buffers, compiled kernels. Owns when it is opened and given back.
//!
//! Work on one stream is done in order. A block knows the stream that wrote it last and those that have read it since;
//! work on another stream waits for them by an event, recorded when it is needed and not before. So tensors pass
//! between streams and threads as on the CPU, and calls that stay on one stream pay a look-up and no event.

use crate::compile::Kernels;
use crate::driver::{Address, Context, CudaError, DEVICES, Event, Pinned, Pool, late};
use crate::execute::is_blocking;
use crate::stream::Stream;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Result<T> = std::result::Result<T, CudaError>;

/// The devices that are in use. A device is opened by what first needs it.
static OPEN: [Mutex<Option<Arc<Gpu>>>; DEVICES] = [const { Mutex::new(None) }; DEVICES];

/// A block of memory and the streams that use it.
#[derive(Debug)]
struct Block {
    bytes: usize,
    /// The stream that wrote it last, or was given it.
    written: Stream,
    /// The streams that have read it since.
    read: SmallVec<[Stream; 1]>,
}

impl Block {
    /// The streams that work on `stream` has to wait for. Who reads the block again has waited for what wrote it; what
    /// that stream has read since then is not noted, and who writes waits for it.
    fn others<'a>(&'a self, stream: &'a Stream, writes: bool) -> impl Iterator<Item = &'a Stream> {
        let written = (writes || !self.read.contains(stream)).then_some(&self.written);
        let read = if writes { self.read.as_slice() } else { &[] };
        written.into_iter().chain(read).filter(move |other| *other != stream)
    }

    fn used(&mut self, stream: &Stream, writes: bool) {
        if writes {
            self.read.clear();
            if self.written != *stream {
                self.written = stream.clone();
            }
        } else if self.written != *stream && !self.read.contains(stream) {
            self.read.push(stream.clone());
        }
    }
}

/// The use of a block by work on a stream: an address in it, and whether it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) at: Address,
    pub(crate) writes: bool,
}

/// One device.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) kernels: Kernels,
    /// Staging buffers that nobody uses.
    pub(crate) idle: Mutex<Vec<Pinned>>,
    /// Staging buffers of which it is not known whether the device is done with them.
    pub(crate) doubtful: Mutex<Vec<Pinned>>,
    blocks: Mutex<BTreeMap<Address, Block>>,
    main: Stream,
    pool: Pool,
    context: Arc<Context>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Device `index`, if it is open.
pub(crate) fn open_already(index: u8) -> Option<Arc<Gpu>> {
    lock(OPEN.get(usize::from(index))?).clone()
}

/// Device `index`, after an error that it has not told yet.
pub(crate) fn gpu(index: u8) -> Result<Arc<Gpu>> {
    late(index)?;
    let slot = OPEN.get(usize::from(index)).ok_or(CudaError::NoDevice { count: DEVICES })?;
    let mut slot = lock(slot);
    if let Some(gpu) = &*slot {
        gpu.context.sound()?;
        return Ok(gpu.clone());
    }
    let gpu = Arc::new(Gpu::open(index)?);
    *slot = Some(gpu.clone());
    Ok(gpu)
}

/// Gives device `index` back: waits for its work, unloads its kernels, frees its buffers and its context. It is opened
/// again by what needs it next.
///
/// # Errors
/// Tensors of the device, or streams; and the first error that nobody has been told. If only streams were left, the
/// rest is given back, and the context with the last of them.
pub fn release(index: u8) -> Result<()> {
    let Some(slot) = OPEN.get(usize::from(index)) else { return Ok(()) };
    let gpu = {
        let mut slot = lock(slot);
        let Some(gpu) = &*slot else { return late(index) };
        if !lock(&gpu.blocks).is_empty() {
            return Err(CudaError::InUse { what: "tensors" });
        }
        if Arc::strong_count(gpu) > 1 {
            return Err(CudaError::InUse { what: "a call" });
        }
        slot.take()
    };
    let done =
        gpu.as_ref().map_or(Ok(()), |gpu| if gpu.context.is_broken() { Ok(()) } else { gpu.context.synchronize() });
    let context = gpu.as_ref().map(|gpu| Arc::downgrade(&gpu.context));
    drop(gpu);
    // What the device has read of others it has read.
    for other in (0..DEVICES as u8).filter(|&other| other != index).filter_map(open_already) {
        lock(&other.blocks).values_mut().for_each(|block| block.read.retain(|stream| stream.index() != index));
    }
    let left = context.is_some_and(|context| context.strong_count() > 0);
    done.and(late(index))?;
    if left { Err(CudaError::InUse { what: "streams" }) } else { Ok(()) }
}

impl Gpu {
    fn open(index: u8) -> Result<Gpu> {
        let context = Context::new(index)?;
        let pool = Pool::new(&context)?;
        let architecture = context.architecture()?;
        let main = Stream::of(&context)?;
        let none = || Mutex::new(Vec::new());
        let kernels = Kernels::new(architecture);
        Ok(Gpu { kernels, idle: none(), doubtful: none(), blocks: Mutex::default(), main, pool, context })
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The stream that the calling thread's work goes to.
    pub(crate) fn stream(&self) -> Stream {
        Stream::chosen(self.context.index()).unwrap_or_else(|| self.main.clone())
    }

    /// How many blocks are live, and their bytes.
    pub(crate) fn blocks(&self) -> (usize, usize) {
        let blocks = lock(&self.blocks);
        (blocks.len(), blocks.values().map(|block| block.bytes).sum())
    }

    /// A block of so many bytes for work on the thread's stream. Where memory is short, what is kept for later is given
    /// back first.
    pub(crate) fn allocate(&self, bytes: usize, zeroed: bool) -> Result<Address> {
        let stream = self.stream();
        let queue = stream.queue();
        let block = match queue.allocate(bytes) {
            Err(error) if error.is_out_of_memory() => {
                lock(&self.idle).clear();
                self.pool.trim()?;
                queue.allocate(bytes)?
            }
            other => other?,
        };
        if zeroed {
            // SAFETY: the block was just made, in this stream.
            if let Err(error) = unsafe { queue.zero(block, bytes) } {
                // SAFETY: nobody else knows it.
                unsafe { queue.free(block) };
                return Err(error);
            }
        }
        lock(&self.blocks).insert(block, Block { bytes, written: stream, read: SmallVec::new() });
        Ok(block)
    }

    /// Frees a block behind everything that uses it. Errors are kept. In a broken context there is nothing to free.
    pub(crate) fn free(&self, at: Address) {
        let Some(block) = lock(&self.blocks).remove(&at) else { return };
        if self.context.is_broken() {
            return;
        }
        let waited = block.others(&block.written, true).try_for_each(|other| {
            let waits = block.written.wait(other);
            waits.or_else(|error| {
                self.context.keep(error);
                if block.written.outlives(other) { Ok(()) } else { other.queue().synchronize() }
            })
        });
        match waited {
            // SAFETY: the block is forgotten here, and the stream has waited for the others.
            Ok(()) => unsafe { block.written.queue().free(at) },
            // Somebody may still use it.
            Err(error) => self.context.keep(error),
        }
    }

    /// Lets `stream` wait for whatever uses these blocks, and notes that it will.
    ///
    /// # Errors
    /// Those of the driver, and addresses that are in no block.
    pub(crate) fn order(&self, stream: &Stream, uses: &[Use]) -> Result<()> {
        let mut blocks = lock(&self.blocks);
        for &Use { at, writes } in uses {
            let found = blocks.range_mut(..=at).next_back().filter(|(start, block)| at - **start < block.bytes as u64);
            let (_, block) = found.ok_or(CudaError::Stray { what: "an address lies in no block of the device" })?;
            for other in block.others(stream, writes) {
                stream.wait(other)?;
            }
            block.used(stream, writes);
        }
        Ok(())
    }

    /// Copies bytes of a block of another device into one of this, on the thread's stream here, which both blocks
    /// remember.
    ///
    /// # Safety
    ///
    /// They lie in live blocks, `from` in one of the other device.
    pub(crate) unsafe fn take(&self, to: Address, other: &Gpu, from: Address, bytes: usize) -> Result<()> {
        let stream = self.stream();
        self.order(&stream, &[Use { at: to, writes: true }])?;
        other.order(&stream, &[Use { at: from, writes: false }])?;
        // Giving back the event of a wait may have told that the other device broke.
        other.context.sound()?;
        // SAFETY: the stream has waited for who uses the blocks, on either device; the rest is the caller's.
        unsafe { stream.queue().copy_peer(to, &other.context, from, bytes) }?;
        if is_blocking() { stream.queue().synchronize() } else { Ok(()) }
    }

    /// Waits for everything on the device.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }

    /// Gives back what is kept for later.
    pub(crate) fn trim(&self) -> Result<()> {
        lock(&self.idle).clear();
        self.pool.trim()
    }

    /// The point behind what is on a stream now.
    pub(crate) fn event(stream: &Stream) -> Result<Event> {
        Event::after(stream.queue())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_says_so() {
        // Where there is one, a device of this index is not.
        let error = gpu(63).unwrap_err();
        assert!(
            matches!(error, CudaError::NoDriver { .. } | CudaError::NoDevice { .. } | CudaError::Call { .. }),
            "{error}"
        );
        assert!(release(63).is_ok() && release(200).is_ok());
        assert!(matches!(gpu(200), Err(CudaError::NoDevice { .. })));
    }
}

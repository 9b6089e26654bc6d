//! What the driver hands out beside contexts, given back when dropped: streams, events, pinned memory. Each keeps
//! its context, as O1 there says.

use super::api::{
    Address, EVENT_DISABLE_TIMING, EventHandle, MEMORY_POOLS_SUPPORTED, POOL_RELEASE_THRESHOLD, PoolHandle,
    STREAM_NON_BLOCKING, StreamHandle,
};
use super::context::Context;
use super::error::CudaError;
use super::module::Function;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

type Result<T> = std::result::Result<T, CudaError>;

/// The pool that blocks come from: the driver's own, which keeps what is freed.
#[derive(Debug)]
pub(crate) struct Pool {
    context: Arc<Context>,
    handle: PoolHandle,
}

impl Pool {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Pool> {
        if context.attribute(MEMORY_POOLS_SUPPORTED)? == 0 {
            return Err(CudaError::Lacks { what: "stream-ordered memory" });
        }
        let mut handle = PoolHandle::NULL;
        // SAFETY: D2: the place is written only.
        context.call(|driver| unsafe { driver.pool(&mut handle, context.device) })?;
        let mut all = u64::MAX;
        let threshold = ptr::from_mut(&mut all).cast();
        // SAFETY: D2: the attribute is a number of 64 bits.
        context.call(|driver| unsafe { driver.pool_set(handle, POOL_RELEASE_THRESHOLD, threshold) })?;
        Ok(Pool { context: context.clone(), handle })
    }

    /// Gives the system back what nobody uses, once everything is done.
    pub(crate) fn trim(&self) -> Result<()> {
        self.context.synchronize()?;
        // SAFETY: O1.
        self.context.call(|driver| unsafe { driver.pool_trim(self.handle, 0) })
    }
}

/// A stream of the driver: work that is done in order, beside that of others.
#[derive(Debug)]
pub(crate) struct Queue {
    context: Arc<Context>,
    handle: StreamHandle,
}

impl Queue {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Queue> {
        let mut handle = StreamHandle::NULL;
        // SAFETY: D2: the place is written only.
        context.call(|driver| unsafe { driver.stream_create(&mut handle, STREAM_NON_BLOCKING) })?;
        Ok(Queue { context: context.clone(), handle })
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Waits until everything is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        // SAFETY: O1.
        self.context.call(|driver| unsafe { driver.stream_synchronize(self.handle) })
    }

    /// Whether everything is done.
    pub(crate) fn is_done(&self) -> Result<bool> {
        // SAFETY: O1.
        done(self.context.call(|driver| unsafe { driver.stream_query(self.handle) }))
    }

    /// What comes behind this call waits for the event.
    pub(crate) fn wait(&self, event: &Event) -> Result<()> {
        // SAFETY: O1.
        self.context.call(|driver| unsafe { driver.stream_wait(self.handle, event.handle, 0) })
    }

    /// A block of so many bytes, which may be used by what comes behind in this stream.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Address> {
        let mut block = 0;
        // SAFETY: O1; the place is written only.
        self.context.call(|driver| unsafe { driver.allocate(&mut block, bytes, self.handle) })?;
        Ok(block)
    }

    /// Frees a block of [`allocate`](Queue::allocate) behind what is in this stream. An error is kept.
    ///
    /// # Safety
    ///
    /// The block is live, and nobody uses it behind this call or in a stream that this one has not waited for.
    pub(crate) unsafe fn free(&self, block: Address) {
        // SAFETY: O1; the rest is the caller's.
        self.context.end(|driver| unsafe { driver.free(block, self.handle) });
    }

    /// Sets bytes to zero.
    ///
    /// # Safety
    ///
    /// They are of one live block, and nobody uses them in a stream that this one has not waited for, or waits for.
    pub(crate) unsafe fn zero(&self, to: Address, bytes: usize) -> Result<()> {
        // SAFETY: O1; the rest is the caller's.
        self.context.call(|driver| unsafe { driver.set_bytes(to, 0, bytes, self.handle) })
    }

    /// Copies bytes between blocks.
    ///
    /// # Safety
    ///
    /// As for [`zero`](Queue::zero), on both sides, which do not overlap.
    pub(crate) unsafe fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<()> {
        // SAFETY: O1; the rest is the caller's.
        self.context.call(|driver| unsafe { driver.copy_within(to, from, bytes, self.handle) })
    }

    /// Copies bytes of a block of another context.
    ///
    /// # Safety
    ///
    /// As for [`zero`](Queue::zero), on both sides, `from` being of the other context.
    pub(crate) unsafe fn copy_peer(&self, to: Address, other: &Context, from: Address, bytes: usize) -> Result<()> {
        let (here, there) = (self.context.handle, other.handle);
        // SAFETY: O1; the rest is the caller's.
        self.context.call(|driver| unsafe { driver.copy_peer(to, here, from, there, bytes, self.handle) })
    }

    /// Copies the first `bytes` bytes of pinned memory to a block.
    ///
    /// # Safety
    ///
    /// As for [`zero`](Queue::zero), and the pinned memory has as many bytes and is left alone until the copy is done.
    pub(crate) unsafe fn copy_in(&self, to: Address, from: &Pinned, bytes: usize) -> Result<()> {
        let from = from.data.as_ptr().cast_const().cast();
        // SAFETY: O1; the rest is the caller's.
        self.context.call(|driver| unsafe { driver.copy_in(to, from, bytes, self.handle) })
    }

    /// Copies bytes of a block to the first of pinned memory.
    ///
    /// # Safety
    ///
    /// As for [`copy_in`](Queue::copy_in).
    pub(crate) unsafe fn copy_out(&self, to: &Pinned, from: Address, bytes: usize) -> Result<()> {
        let to = to.data.as_ptr().cast();
        // SAFETY: O1; the rest is the caller's.
        self.context.call(|driver| unsafe { driver.copy_out(to, from, bytes, self.handle) })
    }

    /// Launches `blocks` blocks of `threads` threads of a kernel that takes one argument, these bytes.
    ///
    /// # Safety
    ///
    /// The kernel takes an argument of that size, and does with it what [`zero`](Queue::zero) asks of its caller.
    pub(crate) unsafe fn launch(&self, kernel: &Function, blocks: u32, threads: u32, argument: &[u8]) -> Result<()> {
        let mut arguments = [argument.as_ptr().cast_mut().cast::<c_void>()];
        let (list, none) = (arguments.as_mut_ptr(), ptr::null_mut());
        let (function, queue) = (kernel.handle(), self.handle);
        let launched = self.context.call(|driver| {
            // SAFETY: O1: the function keeps its module. The driver reads the argument before it returns.
            unsafe { driver.launch(function, blocks, 1, 1, threads, 1, 1, 0, queue, list, none) }
        });
        launched.map_err(|error| error.of(kernel.name()))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: O1; the driver finishes what is in it.
        self.context.end(|driver| unsafe { driver.stream_destroy(self.handle) });
    }
}

fn done(queried: Result<()>) -> Result<bool> {
    match queried {
        Ok(()) => Ok(true),
        Err(error) if error.is_not_ready() => Ok(false),
        Err(error) => Err(error),
    }
}

/// A point in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    context: Arc<Context>,
    handle: EventHandle,
}

impl Event {
    /// The point behind everything that is in the stream.
    pub(crate) fn after(queue: &Queue) -> Result<Event> {
        let context = &queue.context;
        let mut handle = EventHandle::NULL;
        // SAFETY: D2: the place is written only.
        context.call(|driver| unsafe { driver.event_create(&mut handle, EVENT_DISABLE_TIMING) })?;
        let event = Event { context: context.clone(), handle };
        // SAFETY: O1.
        context.call(|driver| unsafe { driver.event_record(handle, queue.handle) })?;
        Ok(event)
    }

    /// Waits until the stream has come to it.
    pub(crate) fn synchronize(&self) -> Result<()> {
        // SAFETY: O1.
        self.context.call(|driver| unsafe { driver.event_synchronize(self.handle) })
    }

    /// Whether the stream has come to it.
    pub(crate) fn is_done(&self) -> Result<bool> {
        // SAFETY: O1.
        done(self.context.call(|driver| unsafe { driver.event_query(self.handle) }))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: O1; streams that wait for it go on doing so.
        self.context.end(|driver| unsafe { driver.event_destroy(self.handle) });
    }
}

/// Memory of the host that the device reaches by the same address.
#[derive(Debug)]
pub(crate) struct Pinned {
    context: Arc<Context>,
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its memory, which any thread may reach.
unsafe impl Send for Pinned {}
// SAFETY: shared, it gives its address and nothing else.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// So many bytes, zero.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Pinned> {
        let mut data = ptr::null_mut();
        // SAFETY: D2: the place is written only. No flags: what is written to be read by the device alone would be slow
        // to read.
        context.call(|driver| unsafe { driver.host_allocate(&mut data, bytes, 0) })?;
        let data = NonNull::new(data.cast::<u8>()).ok_or(CudaError::Lacks { what: "pinned memory" })?;
        // SAFETY: the driver gave as many bytes.
        unsafe { data.write_bytes(0, bytes) };
        Ok(Pinned { context: context.clone(), data, bytes })
    }

    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// The address, for the host and the device.
    pub(crate) fn data(&self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: O1; who owns it knows that the device is done with it.
        self.context.end(|driver| unsafe { driver.host_free(self.data.as_ptr().cast()) });
    }
}

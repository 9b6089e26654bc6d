//! What the driver hands out, given back when dropped: contexts, streams, events, pinned memory, modules. Owns which
//! context is bound, and what becomes of errors: one that ends the context is every later call's, one of a drop is the
//! next call's.

use super::api::{
    Address, COMPUTE_CAPABILITY, ContextHandle, DeviceHandle, Driver, EVENT_DISABLE_TIMING, EventHandle,
    FunctionHandle, MEMORY_POOLS_SUPPORTED, ModuleHandle, POOL_RELEASE_THRESHOLD, PoolHandle, STREAM_NON_BLOCKING,
    StreamHandle, driver,
};
use super::error::CudaError;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Result<T> = std::result::Result<T, CudaError>;

/// How many devices of a driver can be used.
pub(crate) const DEVICES: usize = 64;

/// The first error of each device that nobody was told: of a drop, or of a call that has no result.
static LATE: [Mutex<Option<CudaError>>; DEVICES] = [const { Mutex::new(None) }; DEVICES];

/// The untold error of a device, told now.
pub(crate) fn late(index: u8) -> Result<()> {
    let slot = LATE.get(usize::from(index)).map(|slot| slot.lock().unwrap_or_else(PoisonError::into_inner).take());
    slot.flatten().map_or(Ok(()), Err)
}

/// The primary context of a device, retained as long as this lives.
///
/// *Invariant* O1: every object below is of the context that it keeps alive, live until it is dropped, and used with
/// that context bound.
#[derive(Debug)]
pub(crate) struct Context {
    driver: &'static Driver,
    index: u8,
    device: DeviceHandle,
    handle: ContextHandle,
    broken: OnceLock<CudaError>,
}

impl Context {
    /// The context of device `index`.
    pub(crate) fn new(index: u8) -> Result<Arc<Context>> {
        let driver = driver()?;
        let count = driver.count()?.min(DEVICES);
        if usize::from(index) >= count {
            return Err(CudaError::NoDevice { count });
        }
        let mut device = 0;
        // SAFETY: D2: the place is written only.
        unsafe { driver.device(&mut device, c_int::from(index)) }?;
        let mut handle = ContextHandle::NULL;
        // SAFETY: D2: the device was just found.
        unsafe { driver.context_retain(&mut handle, device) }?;
        Ok(Arc::new(Context { driver, index, device, handle, broken: OnceLock::new() }))
    }

    /// Which device it is of.
    pub(crate) fn index(&self) -> u8 {
        self.index
    }

    /// Keeps an error for the next call that can tell it.
    #[cold]
    pub(crate) fn keep(&self, error: CudaError) {
        let mut slot = LATE[usize::from(self.index)].lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
    }

    /// Whether an error ended the context.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.get().is_some()
    }

    /// An error if the context is broken.
    pub(crate) fn sound(&self) -> Result<()> {
        match self.broken.get() {
            None => Ok(()),
            Some(cause) => Err(CudaError::Broken { cause: Box::new(cause.clone()) }),
        }
    }

    /// Makes the context that of the calling thread.
    fn bind(&self) -> Result<Bound<&Context>> {
        let former = self.exchange()?;
        Ok(Bound { context: self, former })
    }

    /// The same for as long as the guard lives.
    pub(crate) fn enter(self: &Arc<Context>) -> Result<Bound<Arc<Context>>> {
        let former = self.exchange()?;
        Ok(Bound { context: self.clone(), former })
    }

    /// Makes the context that of the calling thread, and gives the former one where that is another.
    fn exchange(&self) -> Result<Option<ContextHandle>> {
        let mut former = ContextHandle::NULL;
        // SAFETY: D2: the place is written only.
        self.seen(unsafe { self.driver.context_get(&mut former) })?;
        if former == self.handle {
            return Ok(None);
        }
        // SAFETY: D2: the context is retained.
        self.seen(unsafe { self.driver.context_set(self.handle) })?;
        Ok(Some(former))
    }

    /// The same result; an error that ends the context is remembered.
    fn seen(&self, result: Result<()>) -> Result<()> {
        result.inspect_err(|error| {
            if error.ends_context() {
                let _ = self.broken.set(error.clone());
            }
        })
    }

    /// A call of the driver with the context bound.
    pub(crate) fn call(&self, f: impl FnOnce(&Driver) -> Result<()>) -> Result<()> {
        self.sound()?;
        let _bound = self.bind()?;
        self.seen(f(self.driver))
    }

    /// A call that gives something back: an error is kept. A broken context gave everything back already.
    fn end(&self, f: impl FnOnce(&Driver) -> Result<()>) {
        if self.is_broken() {
            return;
        }
        // A second time, since what is not given back now never is.
        let bound = self.bind().or_else(|error| {
            self.keep(error);
            self.sound()?;
            self.bind()
        });
        if let Err(error) = bound.and_then(|_bound| self.seen(f(self.driver))) {
            self.keep(error);
        }
    }

    /// Waits for everything.
    pub(crate) fn synchronize(&self) -> Result<()> {
        // SAFETY: O1.
        self.call(|driver| unsafe { driver.context_synchronize() })
    }

    fn attribute(&self, attribute: c_int) -> Result<c_int> {
        let mut value = 0;
        // SAFETY: D2: the place is written only.
        self.call(|driver| unsafe { driver.device_attribute(&mut value, attribute, self.device) })?;
        Ok(value)
    }

    /// The architecture that kernels are compiled for, such as `sm_90`.
    pub(crate) fn architecture(&self) -> Result<String> {
        let [major, minor] = COMPUTE_CAPABILITY;
        Ok(format!("sm_{}{}", self.attribute(major)?, self.attribute(minor)?))
    }

    /// The device's name.
    pub(crate) fn name(&self) -> Result<String> {
        let mut name = [0; 256];
        // SAFETY: D2: there is room for as many bytes.
        self.call(|driver| unsafe { driver.device_name(name.as_mut_ptr(), name.len() as c_int, self.device) })?;
        let bytes: Vec<u8> = name.iter().map(|&c| c.to_ne_bytes()[0]).take_while(|&c| c != 0).collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: D2: it was retained once, and O1: nothing of it is left.
        if let Err(error) = unsafe { self.driver.context_release(self.device) } {
            self.keep(error);
        }
    }
}

/// Binds the former context again when dropped.
#[derive(Debug)]
pub(crate) struct Bound<C: Deref<Target = Context>> {
    context: C,
    former: Option<ContextHandle>,
}

impl<C: Deref<Target = Context>> Drop for Bound<C> {
    fn drop(&mut self) {
        let Some(former) = self.former else { return };
        // SAFETY: D2: it was bound before; if it was destroyed since, the driver says so.
        let set = unsafe { self.context.driver.context_set(former) };
        if let Err(error) = self.context.seen(set) {
            self.context.keep(error);
        }
    }
}

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
        let (function, queue) = (kernel.handle, self.handle);
        let launched = self.context.call(|driver| {
            // SAFETY: O1: the function keeps its module. The driver reads the argument before it returns.
            unsafe { driver.launch(function, blocks, 1, 1, threads, 1, 1, 0, queue, list, none) }
        });
        launched.map_err(|error| error.of(&kernel.name))
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

/// Machine code on the device.
#[derive(Debug)]
pub(crate) struct Module {
    context: Arc<Context>,
    handle: ModuleHandle,
}

/// A kernel of a module, which it keeps.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    name: Arc<str>,
    handle: FunctionHandle,
    _module: Arc<Module>,
}

impl Function {
    /// The kernel's name.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl Module {
    /// The machine code of a compilation: a whole ELF file.
    ///
    /// # Safety
    ///
    /// The bytes are what the compiler gave.
    pub(crate) unsafe fn load(context: &Arc<Context>, code: &[u8]) -> Result<Arc<Module>> {
        let mut handle = ModuleHandle::NULL;
        // SAFETY: the driver reads as many bytes as the file says that it has.
        context.call(|driver| unsafe { driver.module_load(&mut handle, code.as_ptr().cast()) })?;
        Ok(Arc::new(Module { context: context.clone(), handle }))
    }

    /// The kernel of this name.
    pub(crate) fn function(self: &Arc<Module>, name: &str) -> Result<Function> {
        let text = CString::new(name).map_err(|_| CudaError::Stray { what: "the name of a kernel holds a NUL" })?;
        let text: &CStr = &text;
        let mut handle = FunctionHandle::NULL;
        // SAFETY: O1; the name ends in NUL.
        self.context.call(|driver| unsafe { driver.module_function(&mut handle, self.handle, text.as_ptr()) })?;
        Ok(Function { name: name.into(), handle, _module: self.clone() })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: O1; a function of it would keep it.
        self.context.end(|driver| unsafe { driver.module_unload(self.handle) });
    }
}

//! The primary context of a device. Owns which context is bound, and what becomes of errors: one that ends the context
//! is every later call's, one of a drop is the next call's.

use super::api::{COMPUTE_CAPABILITY, ContextHandle, DeviceHandle, Driver, driver};
use super::error::CudaError;
use std::ffi::c_int;
use std::ops::Deref;
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
/// *Invariant* O1: every object of `objects` is of the context that it keeps alive, live until it is dropped, and used
/// with that context bound.
#[derive(Debug)]
pub(crate) struct Context {
    driver: &'static Driver,
    index: u8,
    pub(super) device: DeviceHandle,
    pub(super) handle: ContextHandle,
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
    pub(super) fn end(&self, f: impl FnOnce(&Driver) -> Result<()>) {
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

    pub(super) fn attribute(&self, attribute: c_int) -> Result<c_int> {
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

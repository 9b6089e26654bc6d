//! The functions of NVIDIA's driver that this crate calls, loaded while the program runs. Owns their names and types
//! and the reading of status codes; keeps no handle.

use super::error::CudaError;
use crate::paths;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

/// `CUresult`.
pub(crate) type Status = c_int;
/// `CUdevice`.
pub(crate) type DeviceHandle = c_int;
/// `CUdeviceptr`.
pub(crate) type Address = u64;

/// What the driver knows by a pointer.
macro_rules! handles {
    ($($name:ident = $of:literal;)*) => {$(
        #[doc = concat!("`", $of, "`: means something to the driver only, from any thread.")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(transparent)]
        pub(crate) struct $name(*mut c_void);
        // SAFETY: the pointer is never followed here, and the driver takes its handles from any thread.
        unsafe impl Send for $name {}
        // SAFETY: a shared handle gives copies of a pointer that is never followed here, and the driver takes its
        // handles from any thread.
        unsafe impl Sync for $name {}
        impl $name {
            pub(crate) const NULL: $name = $name(ptr::null_mut());
        }
    )*};
}
handles! {
    ContextHandle = "CUcontext";
    StreamHandle = "CUstream";
    EventHandle = "CUevent";
    PoolHandle = "CUmemoryPool";
    ModuleHandle = "CUmodule";
    FunctionHandle = "CUfunction";
}

/// `CU_STREAM_NON_BLOCKING`: the stream does not wait for the default one.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const EVENT_DISABLE_TIMING: c_uint = 2;
/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`: a `cuuint64_t`.
pub(crate) const POOL_RELEASE_THRESHOLD: c_int = 4;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
pub(crate) const COMPUTE_CAPABILITY: [c_int; 2] = [75, 76];
/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`.
pub(crate) const MEMORY_POOLS_SUPPORTED: c_int = 115;

/// `functions! { init = "cuInit"(flags: c_uint); }` expands to a field of [`Functions`] that holds the library's
/// function, and to
///
/// ```text
/// pub(crate) unsafe fn init(&self, flags: c_uint) -> Result<(), CudaError>    // an error names the call
/// ```
macro_rules! functions {
    ($($name:ident = $symbol:literal($($arg:ident: $type:ty),*);)*) => {
        /// *Invariant* D1: each is the function of the library that `cuda.h` declares under this name, with this type.
        #[derive(Debug)]
        struct Functions {
            $($name: unsafe extern "system" fn($($type),*) -> Status,)*
        }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: D1: the types are those of `cuda.h`.
                    $($name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }?,)*
                })
            }
        }

        /// One method for each function: the call, and its status as a result.
        ///
        /// # Safety
        ///
        /// D2: handles are live ones of this driver, addresses are what the function is said to take, and what it
        /// writes through has room. The context of the handles is current where the function asks for one.
        impl Driver {
            $(
                #[doc = concat!("`", $symbol, "`.")]
                #[allow(clippy::too_many_arguments, reason = "as the driver has it")]
                pub(crate) unsafe fn $name(&self, $($arg: $type),*) -> Result<(), CudaError> {
                    // SAFETY: D1: this is the driver's function, with this type; the caller promises D2 for these very
                    // arguments.
                    let status = unsafe { (self.functions.$name)($($arg),*) };
                    if status == 0 { Ok(()) } else { Err(self.failure($symbol, status)) }
                }
            )*
        }
    };
}
functions! {
    init = "cuInit"(flags: c_uint);
    device_count = "cuDeviceGetCount"(count: *mut c_int);
    device = "cuDeviceGet"(device: *mut DeviceHandle, ordinal: c_int);
    device_name = "cuDeviceGetName"(name: *mut c_char, bytes: c_int, device: DeviceHandle);
    device_attribute = "cuDeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: DeviceHandle);
    context_retain = "cuDevicePrimaryCtxRetain"(context: *mut ContextHandle, device: DeviceHandle);
    context_release = "cuDevicePrimaryCtxRelease_v2"(device: DeviceHandle);
    context_set = "cuCtxSetCurrent"(context: ContextHandle);
    context_get = "cuCtxGetCurrent"(context: *mut ContextHandle);
    context_synchronize = "cuCtxSynchronize"();
    stream_create = "cuStreamCreate"(stream: *mut StreamHandle, flags: c_uint);
    stream_destroy = "cuStreamDestroy_v2"(stream: StreamHandle);
    stream_synchronize = "cuStreamSynchronize"(stream: StreamHandle);
    stream_query = "cuStreamQuery"(stream: StreamHandle);
    stream_wait = "cuStreamWaitEvent"(stream: StreamHandle, event: EventHandle, flags: c_uint);
    event_create = "cuEventCreate"(event: *mut EventHandle, flags: c_uint);
    event_record = "cuEventRecord"(event: EventHandle, stream: StreamHandle);
    event_query = "cuEventQuery"(event: EventHandle);
    event_synchronize = "cuEventSynchronize"(event: EventHandle);
    event_destroy = "cuEventDestroy_v2"(event: EventHandle);
    pool = "cuDeviceGetDefaultMemPool"(pool: *mut PoolHandle, device: DeviceHandle);
    pool_set = "cuMemPoolSetAttribute"(pool: PoolHandle, attribute: c_int, value: *mut c_void);
    pool_trim = "cuMemPoolTrimTo"(pool: PoolHandle, keep: usize);
    allocate = "cuMemAllocAsync"(block: *mut Address, bytes: usize, stream: StreamHandle);
    free = "cuMemFreeAsync"(block: Address, stream: StreamHandle);
    set_bytes = "cuMemsetD8Async"(to: Address, byte: u8, bytes: usize, stream: StreamHandle);
    copy_in = "cuMemcpyHtoDAsync_v2"(to: Address, from: *const c_void, bytes: usize, stream: StreamHandle);
    copy_out = "cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: Address, bytes: usize, stream: StreamHandle);
    copy_within = "cuMemcpyDtoDAsync_v2"(to: Address, from: Address, bytes: usize, stream: StreamHandle);
    copy_peer = "cuMemcpyPeerAsync"(
        to: Address, to_context: ContextHandle, from: Address, from_context: ContextHandle, bytes: usize,
        stream: StreamHandle
    );
    host_allocate = "cuMemHostAlloc"(block: *mut *mut c_void, bytes: usize, flags: c_uint);
    host_free = "cuMemFreeHost"(block: *mut c_void);
    module_load = "cuModuleLoadData"(module: *mut ModuleHandle, image: *const c_void);
    module_unload = "cuModuleUnload"(module: ModuleHandle);
    module_function = "cuModuleGetFunction"(function: *mut FunctionHandle, module: ModuleHandle, name: *const c_char);
    launch = "cuLaunchKernel"(
        function: FunctionHandle,
        grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared_bytes: c_uint, stream: StreamHandle,
        arguments: *mut *mut c_void, extra: *mut *mut c_void
    );
}

type Describe = unsafe extern "system" fn(Status, *mut *const c_char) -> Status;

/// The driver, loaded and initialised.
#[derive(Debug)]
pub(crate) struct Driver {
    functions: Functions,
    /// `cuGetErrorName` and `cuGetErrorString`.
    describe: [Describe; 2],
    _library: Library,
}

static DRIVER: OnceLock<Result<Driver, CudaError>> = OnceLock::new();

/// The driver of this process: loaded by the first call, or found missing once and for all.
pub(crate) fn driver() -> Result<&'static Driver, CudaError> {
    DRIVER.get_or_init(|| Driver::load(&paths::driver())).as_ref().map_err(Clone::clone)
}

impl Driver {
    /// The driver of this library file, initialised.
    fn load(path: &Path) -> Result<Driver, CudaError> {
        let fail = |why: libloading::Error| CudaError::NoDriver { path: path.to_owned(), why: why.to_string() };
        // SAFETY: NVIDIA's library may be loaded at any time: its initialisers set up tables of its own.
        let library = unsafe { Library::new(path) }.map_err(fail)?;
        let functions = Functions::load(&library).map_err(fail)?;
        // SAFETY: D1.
        let name: Describe = *unsafe { library.get(b"cuGetErrorName\0") }.map_err(fail)?;
        // SAFETY: D1.
        let text: Describe = *unsafe { library.get(b"cuGetErrorString\0") }.map_err(fail)?;
        let driver = Driver { functions, describe: [name, text], _library: library };
        // SAFETY: D2: there are no flags.
        unsafe { driver.init(0) }?;
        Ok(driver)
    }

    /// The error of a call with this status.
    #[cold]
    fn failure(&self, call: &'static str, code: Status) -> CudaError {
        let words = self.describe.map(|describe| {
            let mut text = ptr::null();
            // SAFETY: D1; any number may be asked for, and the place is written only.
            let known = unsafe { describe(code, &mut text) } == 0 && !text.is_null();
            // SAFETY: a known code has a string of the library's own that ends in NUL.
            if known { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { String::new() }
        });
        let [name, message] = words;
        CudaError::Call { call, code, name, message, kernel: None }
    }

    /// How many devices there are.
    pub(crate) fn count(&self) -> Result<usize, CudaError> {
        let mut count = 0;
        // SAFETY: D2: the place is written only.
        unsafe { self.device_count(&mut count) }?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_is_an_error_that_says_what_to_do() {
        let error = Driver::load(Path::new("/nowhere/libcuda.so.1")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/libcuda.so.1") && error.contains("MONOMORPH_CUDA_DRIVER"), "{error}");
        // A library that is something else.
        let error = Driver::load(Path::new("libc.so.6")).unwrap_err().to_string();
        assert!(error.contains("cuInit"), "{error}");
    }
}

//! Machine code that the driver holds, and the kernels in it. As other objects they keep their context, as O1 there
//! says.

use super::api::{FunctionHandle, ModuleHandle};
use super::context::Context;
use super::error::CudaError;
use std::ffi::{CStr, CString};
use std::sync::Arc;

type Result<T> = std::result::Result<T, CudaError>;

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
    pub(super) fn handle(&self) -> FunctionHandle {
        self.handle
    }

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

//! Kernels that are compiled when they are first needed, for the device's architecture. Owns the tables in memory, the
//! compiler of the process, and what a translation unit holds; files are `cache`'s.
//!
//! A formula at a dtype is recorded once. Its loops for operands of its own dtypes are one translation unit, the loop
//! that converts is another: most calls never need it. [`Kernels::ahead`] puts many formulas into one unit, since
//! reading what all kernels share takes longer than compiling a small one.

use crate::cache;
use crate::driver::{Context, CudaError, Function, Module};
use crate::functor::{Form, Functor, source_of};
use crate::gpu::lock;
use crate::nvrtc::Nvrtc;
use crate::paths;
use monomorph_core::DType;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

type Result<T> = std::result::Result<T, CudaError>;

/// A formula at a dtype.
pub(crate) type Key = (TypeId, DType);

/// The kernels of a formula at a dtype.
#[derive(Debug)]
pub(crate) struct Kernel {
    functor: Functor,
    /// By the place of the form in [`Form::ALL`].
    functions: [OnceLock<Function>; Form::ALL.len()],
}

impl Kernel {
    fn new(functor: Functor) -> Kernel {
        Kernel { functor, functions: Default::default() }
    }

    pub(crate) fn functor(&self) -> &Functor {
        &self.functor
    }

    fn slot(&self, form: Form) -> &OnceLock<Function> {
        &self.functions[form as usize]
    }
}

/// The kernels of a device.
#[derive(Debug)]
pub(crate) struct Kernels {
    architecture: String,
    table: RwLock<HashMap<Key, Arc<Kernel>>>,
    /// One thread compiles; others wait for what it gives.
    compiling: Mutex<()>,
}

/// The forms of one translation unit, of which this is one.
fn unit(form: Form) -> &'static [Form] {
    if form == Form::Casting { &[Form::Casting] } else { &Form::EXACT }
}

/// The compiler of this process.
fn compiler() -> Result<&'static Nvrtc> {
    static COMPILER: OnceLock<Result<Nvrtc>> = OnceLock::new();
    let load = || {
        let mut first = None;
        for path in paths::compilers() {
            match Nvrtc::load(&path) {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.map_or(CudaError::Lacks { what: "compiler" }, CudaError::from))
    };
    COMPILER.get_or_init(load).as_ref().map_err(Clone::clone)
}

impl Kernels {
    pub(crate) fn new(architecture: String) -> Kernels {
        Kernels { architecture, table: RwLock::default(), compiling: Mutex::default() }
    }

    /// The formula's kernels, which are recorded by the first call; `None` outside of its domain.
    pub(crate) fn of(&self, key: Key, record: impl FnOnce() -> Option<Functor>) -> Option<Arc<Kernel>> {
        if let Some(kernel) = self.table.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Some(kernel.clone());
        }
        let made = Arc::new(Kernel::new(record()?));
        Some(self.table.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone())
    }

    /// The kernel of a form, compiled by the first call.
    pub(crate) fn function(&self, context: &Arc<Context>, kernel: &Kernel, form: Form) -> Result<Function> {
        if let Some(function) = kernel.slot(form).get() {
            return Ok(function.clone());
        }
        self.compile(context, &[kernel], unit(form))?;
        let function = kernel.slot(form).get().cloned();
        function.ok_or(CudaError::Stray { what: "a form is in no translation unit" })
    }

    /// Compiles what these kernels lack of the forms, in one translation unit.
    pub(crate) fn ahead(&self, context: &Arc<Context>, kernels: &[Arc<Kernel>], casting: bool) -> Result<()> {
        let kernels: Vec<&Kernel> = kernels.iter().map(|kernel| &**kernel).collect();
        self.compile(context, &kernels, unit(if casting { Form::Casting } else { Form::Vector }))
    }

    fn compile(&self, context: &Arc<Context>, kernels: &[&Kernel], forms: &[Form]) -> Result<()> {
        let _turn = lock(&self.compiling);
        let lacking = |kernel: &&&Kernel| forms.iter().any(|&form| kernel.slot(form).get().is_none());
        let kernels: Vec<&Kernel> = kernels.iter().filter(lacking).copied().collect();
        if kernels.is_empty() {
            return Ok(());
        }
        let functors: Vec<Functor> = kernels.iter().map(|kernel| kernel.functor.clone()).collect();
        let code = self.code(&source_of(&functors, forms))?;
        // SAFETY: it is what the compiler gave, now or to another process.
        let module = unsafe { Module::load(context, &code) }?;
        for kernel in kernels {
            for &form in forms {
                let function = module.function(&kernel.functor.kernel(form))?;
                // Who has the turn is alone.
                let _ = kernel.slot(form).set(function);
            }
        }
        Ok(())
    }

    /// The machine code of a translation unit.
    fn code(&self, source: &str) -> Result<Vec<u8>> {
        let compiler = compiler()?;
        let (major, minor) = compiler.version()?;
        let version = format!("{major}.{minor}");
        let options = Nvrtc::options(&self.architecture);
        let words = [source, version.as_str()].into_iter().chain(options.iter().map(String::as_str));
        let (folder, key) = (paths::cache(), cache::fingerprint(words));
        if let Some(code) = folder.as_ref().and_then(|folder| cache::get(folder, key)) {
            return Ok(code);
        }
        let code = compiler.compile(source, &self.architecture)?.cubin;
        if let Some(folder) = folder {
            cache::put(&folder, key, &code);
        }
        Ok(code)
    }
}

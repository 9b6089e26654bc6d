//! Kernels that are compiled when they are first needed, for the device's architecture. Owns the tables in memory, the
//! compiler of the process, and what a translation unit holds; files are `cache`'s.
//!
//! A formula at a dtype is recorded once. Its loops for operands of its own dtypes are one translation unit, the loop
//! that converts is another: most calls never need it. A fold is recorded for operands as they lie, and both of its
//! loops are one unit. [`Kernels::ahead`] puts many into one unit, since reading what all kernels share takes longer
//! than compiling a small one.

use crate::cache;
use crate::driver::{Context, CudaError, Function, Module};
use crate::functor::{Form, Functor, source_of};
use crate::gpu::lock;
use crate::nearest::{Nearest, nearest_source};
use crate::nvrtc::Nvrtc;
use crate::paths;
use crate::reduce::{InputLayout, Reduction, Stored, reductions_source};
use crate::supply::Supply;
use monomorph_core::DType;
use smallvec::SmallVec;
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

type Result<T> = std::result::Result<T, CudaError>;

/// What is recorded: it has a kernel for each of its ways to loop.
pub(crate) trait Recorded: Clone + 'static {
    /// The type of a way to loop. It varies because formulas and folds loop differently.
    type Form: Copy + 'static;

    /// How many ways there are.
    const FORMS: usize;

    /// The place of a way among them.
    fn place(form: Self::Form) -> usize;

    /// The ways of one translation unit, of which this is one.
    fn unit(form: Self::Form) -> &'static [Self::Form];

    /// The name of a kernel.
    fn kernel(&self, form: Self::Form) -> String;

    /// A translation unit with these ways of all.
    fn source(all: &[Self], forms: &[Self::Form]) -> String;
}

impl Recorded for Functor {
    type Form = Form;
    const FORMS: usize = Form::ALL.len();

    fn place(form: Form) -> usize {
        form as usize
    }
    fn unit(form: Form) -> &'static [Form] {
        if form == Form::Casting { &[Form::Casting] } else { &Form::EXACT }
    }
    fn kernel(&self, form: Form) -> String {
        Functor::kernel(self, form)
    }
    fn source(all: &[Functor], forms: &[Form]) -> String {
        source_of(all, forms)
    }
}

impl Recorded for Reduction {
    type Form = InputLayout;
    const FORMS: usize = InputLayout::ALL.len();

    fn place(layout: InputLayout) -> usize {
        layout as usize
    }
    fn unit(_: InputLayout) -> &'static [InputLayout] {
        &InputLayout::ALL
    }
    fn kernel(&self, layout: InputLayout) -> String {
        Reduction::kernel(self, layout)
    }
    fn source(all: &[Reduction], _: &[InputLayout]) -> String {
        reductions_source(all)
    }
}

impl Recorded for Nearest {
    type Form = ();
    const FORMS: usize = 1;

    fn place((): ()) -> usize {
        0
    }
    fn unit((): ()) -> &'static [()] {
        &[()]
    }
    fn kernel(&self, (): ()) -> String {
        Nearest::kernel(self)
    }
    fn source(all: &[Nearest], _: &[()]) -> String {
        nearest_source(all)
    }
}

/// The kernels of a formula at a dtype, of a fold, or of an operator without a template.
#[derive(Debug)]
pub(crate) struct Kernel<T = Functor> {
    recorded: T,
    /// By the place of the form.
    functions: Box<[OnceLock<Function>]>,
}

impl<T: Recorded> Kernel<T> {
    fn new(recorded: T) -> Kernel<T> {
        Kernel { recorded, functions: (0..T::FORMS).map(|_| OnceLock::new()).collect() }
    }

    pub(crate) fn recorded(&self) -> &T {
        &self.recorded
    }

    fn slot(&self, form: T::Form) -> &OnceLock<Function> {
        &self.functions[T::place(form)]
    }
}

/// Kernels by what they compute.
#[derive(Debug)]
pub(crate) struct Table<K, T>(RwLock<HashMap<K, Arc<Kernel<T>>>>);

impl<K: Hash + Eq, T: Recorded> Table<K, T> {
    fn new() -> Self {
        Table(RwLock::default())
    }

    /// The kernels of a key, which are recorded by the first call; `None` where there is nothing to record.
    pub(crate) fn of(&self, key: K, record: impl FnOnce() -> Option<T>) -> Option<Arc<Kernel<T>>> {
        if let Some(kernel) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Some(kernel.clone());
        }
        let made = Arc::new(Kernel::new(record()?));
        Some(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone())
    }
}

/// A fold on a dtype, and how its operands lie: the results, then the input.
pub(crate) type FoldKey = (TypeId, DType, SmallVec<[Stored; 3]>);

/// The kernels of a device.
#[derive(Debug)]
pub(crate) struct Kernels {
    architecture: String,
    /// By formula and dtype.
    pub(crate) formulas: Table<(TypeId, DType), Functor>,
    pub(crate) folds: Table<FoldKey, Reduction>,
    pub(crate) nearest: Table<DType, Nearest>,
    /// One thread compiles; others wait for what it gives.
    compiling: Mutex<()>,
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
        let (formulas, folds, nearest) = (Table::new(), Table::new(), Table::new());
        Kernels { architecture, formulas, folds, nearest, compiling: Mutex::default() }
    }

    /// The kernel of a form, compiled by the first call.
    pub(crate) fn function<T: Recorded>(
        &self,
        context: &Arc<Context>,
        kernel: &Kernel<T>,
        form: T::Form,
    ) -> Result<Function> {
        if let Some(function) = kernel.slot(form).get() {
            return Ok(function.clone());
        }
        self.compile(context, &[kernel], T::unit(form))?;
        let function = kernel.slot(form).get().cloned();
        function.ok_or(CudaError::Stray { what: "a form is in no translation unit" })
    }

    /// Compiles what these kernels lack of the forms that come with this one, in one translation unit.
    pub(crate) fn ahead<T: Recorded>(
        &self,
        context: &Arc<Context>,
        kernels: &[Arc<Kernel<T>>],
        form: T::Form,
    ) -> Result<()> {
        let kernels: Vec<&Kernel<T>> = kernels.iter().map(|kernel| &**kernel).collect();
        self.compile(context, &kernels, T::unit(form))
    }

    fn compile<T: Recorded>(&self, context: &Arc<Context>, kernels: &[&Kernel<T>], forms: &[T::Form]) -> Result<()> {
        let _turn = lock(&self.compiling);
        let lacking = |kernel: &&&Kernel<T>| forms.iter().any(|&form| kernel.slot(form).get().is_none());
        let kernels: Vec<&Kernel<T>> = kernels.iter().filter(lacking).copied().collect();
        if kernels.is_empty() {
            return Ok(());
        }
        let mut left = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            // What came with the program has a text of its own.
            let own = || T::source(std::slice::from_ref(&kernel.recorded), forms);
            let found = if Supply::is_in_use() { Supply::find(&own(), &self.architecture) } else { None };
            match found {
                Some(code) => install(context, code, &[kernel], forms)?,
                None => left.push(kernel),
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        let recorded: Vec<T> = left.iter().map(|kernel| kernel.recorded.clone()).collect();
        install(context, &self.code(&T::source(&recorded, forms))?, &left, forms)
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

/// Loads machine code, and takes these kernels' functions from it. Who has the turn to compile is alone.
fn install<T: Recorded>(context: &Arc<Context>, code: &[u8], kernels: &[&Kernel<T>], forms: &[T::Form]) -> Result<()> {
    // SAFETY: it is what the compiler gave, now, to another process, or to whom made the program.
    let module = unsafe { Module::load(context, code) }?;
    for kernel in kernels {
        for &form in forms {
            let function = module.function(&kernel.recorded.kernel(form))?;
            let _ = kernel.slot(form).set(function);
        }
    }
    Ok(())
}

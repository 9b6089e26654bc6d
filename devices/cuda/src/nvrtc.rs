//! NVIDIA's run-time compiler, loaded while the program runs: building needs nothing of CUDA, and compiling needs no
//! GPU and no driver. Owns the calls into the library; knows nothing of kernels.

use libloading::Library;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// Why nothing was compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The library is not there, or is not the compiler.
    #[error("{}: {source}; `cargo xtask cuda-setup` installs the compiler, or name its libnvrtc in MONOMORPH_NVRTC",
        path.display())]
    Library {
        /// Where it was looked for.
        path: PathBuf,
        /// What the loader says.
        source: libloading::Error,
    },
    /// The library refused a call.
    #[error("{call}: {message}")]
    Call {
        /// The function of the library.
        call: &'static str,
        /// Its word for the problem.
        message: String,
    },
    /// The text or an option does not compile.
    #[error("the kernels do not compile:\n{log}")]
    Text {
        /// What the compiler says.
        log: String,
    },
    /// The text or an option holds a NUL.
    #[error("the text or an option of a compilation holds a NUL character")]
    Nul(#[from] std::ffi::NulError),
}

/// What a compilation gave.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machine code, an ELF file that the driver loads.
    pub cubin: Vec<u8>,
    /// The intermediate code, as text.
    pub ptx: String,
    /// What the compiler and the assembler say, with the resources of every kernel.
    pub log: String,
}

type Program = *mut c_void;
type Status = c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> Status;
type Fill = unsafe extern "C" fn(Program, *mut c_char) -> Status;

/// The compiler.
///
/// *Invariant* N1: the pointers are functions of the library, of the types that its header states, and it stays loaded
/// as long as they are here. Programs are independent of each other, so any number of threads may compile.
#[derive(Debug)]
pub struct Nvrtc {
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    describe: unsafe extern "C" fn(Status) -> *const c_char,
    log: (Size, Fill),
    ptx: (Size, Fill),
    cubin: (Size, Fill),
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    _libraries: [Option<Library>; 2],
}

/// The library with the functions that the compiler knows by itself: a sibling of the compiler, which does not always
/// find it.
fn builtins(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.to_owned();
    let version = name.strip_prefix("libnvrtc.so")?;
    let siblings = path.parent()?.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let wanted = OsString::from(format!("libnvrtc-builtins.so{version}"));
    siblings
        .filter(|sibling| {
            sibling.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&*wanted.to_string_lossy()))
        })
        .min()
}

impl Nvrtc {
    /// The compiler of this library file.
    ///
    /// # Errors
    /// [`CompileError::Library`] if it cannot be loaded.
    pub fn load(path: &Path) -> Result<Nvrtc, CompileError> {
        let fail = |source| CompileError::Library { path: path.to_owned(), source };
        // SAFETY: NVIDIA's libraries may be loaded at any time: their initialisers set up tables of their own.
        let open = |path: &Path| unsafe { Library::new(path) };
        let sibling = builtins(path).map(|path| open(&path)).transpose().map_err(fail)?;
        let library = open(path).map_err(fail)?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of `nvrtc.h` for this name, and the library is kept (N1).
                *unsafe { library.get($name) }.map_err(fail)?
            };
        }
        Ok(Nvrtc {
            create: function!(b"nvrtcCreateProgram"),
            compile: function!(b"nvrtcCompileProgram"),
            destroy: function!(b"nvrtcDestroyProgram"),
            describe: function!(b"nvrtcGetErrorString"),
            log: (function!(b"nvrtcGetProgramLogSize"), function!(b"nvrtcGetProgramLog")),
            ptx: (function!(b"nvrtcGetPTXSize"), function!(b"nvrtcGetPTX")),
            cubin: (function!(b"nvrtcGetCUBINSize"), function!(b"nvrtcGetCUBIN")),
            version: function!(b"nvrtcVersion"),
            _libraries: [Some(library), sibling],
        })
    }

    /// The options with which kernels keep what formulas promise: no product is fused with a sum unless it says so.
    pub fn options(arch: &str) -> Vec<String> {
        let rest = ["--std=c++17", "--fmad=false", "--ptxas-options=-v", "--diag-suppress=177"];
        std::iter::once(format!("--gpu-architecture={arch}")).chain(rest.map(str::to_owned)).collect()
    }

    /// The version of the compiler.
    ///
    /// # Errors
    /// [`CompileError::Call`] if the library does not say.
    pub fn version(&self) -> Result<(i32, i32), CompileError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: N1; both places are written only.
        self.check("nvrtcVersion", unsafe { (self.version)(&mut major, &mut minor) })?;
        Ok((major, minor))
    }

    /// Compiles a translation unit for an architecture such as `sm_90`.
    ///
    /// # Errors
    /// [`CompileError::Text`] with the compiler's words if it does not compile.
    pub fn compile(&self, text: &str, arch: &str) -> Result<Compiled, CompileError> {
        let text = CString::new(text)?;
        let options = Nvrtc::options(arch).into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program = Owned { of: self, program: ptr::null_mut() };
        let name = c"kernels.cu".as_ptr();
        // SAFETY: N1; both strings end in NUL and live through the call, and there are no headers.
        let status = unsafe { (self.create)(&mut program.program, text.as_ptr(), name, 0, ptr::null(), ptr::null()) };
        self.check("nvrtcCreateProgram", status)?;
        let count = c_int::try_from(pointers.len()).unwrap_or(0);
        // SAFETY: N1; the program was created, and there are `count` strings that live through the call.
        let status = unsafe { (self.compile)(program.program, count, pointers.as_ptr()) };
        let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
        let log = text_of(program.get("nvrtcGetProgramLog", self.log)?);
        if status != 0 {
            return Err(CompileError::Text { log });
        }
        let ptx = text_of(program.get("nvrtcGetPTX", self.ptx)?);
        Ok(Compiled { cubin: program.get("nvrtcGetCUBIN", self.cubin)?, ptx, log })
    }

    fn check(&self, call: &'static str, status: Status) -> Result<(), CompileError> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: N1; any number may be asked for.
        let message = unsafe { (self.describe)(status) };
        // SAFETY: the library answers with a string of its own that ends in NUL.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        Err(CompileError::Call { call, message })
    }
}

/// A program, destroyed in the end.
struct Owned<'a> {
    of: &'a Nvrtc,
    program: Program,
}

impl Owned<'_> {
    /// What the library has of the program: its size, then its bytes.
    fn get(&self, call: &'static str, (size, fill): (Size, Fill)) -> Result<Vec<u8>, CompileError> {
        let mut bytes = 0;
        // SAFETY: N1; the program exists, the place is written only.
        self.of.check(call, unsafe { size(self.program, &mut bytes) })?;
        let mut buffer = vec![0_u8; bytes];
        // SAFETY: N1; the buffer has as many bytes as the library asked for.
        self.of.check(call, unsafe { fill(self.program, buffer.as_mut_ptr().cast()) })?;
        Ok(buffer)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: N1; the program was created and is used no more.
            unsafe { (self.of.destroy)(&mut self.program) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_an_error_that_says_what_to_do() {
        let error = Nvrtc::load(Path::new("/nowhere/libnvrtc.so.13")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/libnvrtc.so.13") && error.contains("cargo xtask cuda-setup"), "{error}");
    }
}

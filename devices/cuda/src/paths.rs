//! Where the driver, the compiler and compiled kernels are looked for. Owns the variables of the environment; loads
//! nothing.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Files and folders that this crate uses, in place of those that it would find by itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Paths {
    /// The driver's library, in place of `libcuda.so.1`. `MONOMORPH_CUDA_DRIVER` in the environment.
    pub driver: Option<PathBuf>,
    /// The compiler's library, in place of `libnvrtc.so` of version 13 or 12. `MONOMORPH_NVRTC` in the environment.
    pub nvrtc: Option<PathBuf>,
    /// The folder of compiled kernels, in place of `monomorph/cuda` in the user's cache. `MONOMORPH_CUDA_CACHE` in the
    /// environment; empty for none.
    pub cache: Option<PathBuf>,
}

static PATHS: OnceLock<Paths> = OnceLock::new();

impl Paths {
    /// Uses these paths in this process. The libraries must be what they are said to be. `false`, and nothing changed,
    /// where paths are in use already.
    pub fn apply(self) -> bool {
        PATHS.set(self).is_ok()
    }

    fn get() -> &'static Paths {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        PATHS.get_or_init(|| Paths {
            driver: variable("MONOMORPH_CUDA_DRIVER"),
            nvrtc: variable("MONOMORPH_NVRTC"),
            cache: variable("MONOMORPH_CUDA_CACHE"),
        })
    }
}

/// The driver's library.
pub(crate) fn driver() -> PathBuf {
    Paths::get().driver.clone().unwrap_or_else(|| "libcuda.so.1".into())
}

/// Libraries that may be the compiler, the likeliest first.
pub(crate) fn compilers() -> Vec<PathBuf> {
    match &Paths::get().nvrtc {
        Some(path) => vec![path.clone()],
        None => ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"].map(PathBuf::from).to_vec(),
    }
}

/// The folder of compiled kernels; `None` where nothing is to be kept.
pub(crate) fn cache() -> Option<PathBuf> {
    if let Some(path) = &Paths::get().cache {
        return (!path.as_os_str().is_empty()).then(|| path.clone());
    }
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(user.join(Path::new("monomorph/cuda")))
}

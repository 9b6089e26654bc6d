//! Dispatch keys: which kernel of an operator a call means. A run-time key is a functionality on a backend; an alias
//! key stands for several of them at registration and is never dispatched to. Owns names, order and parsing; knows no
//! operator.

use crate::options::DeviceKind;
use std::fmt;

/// A family of devices as dispatch sees it. The order is the precedence among the tensors of one call: a 0-dim CPU
/// tensor beside a CUDA tensor runs on CUDA, and a meta tensor makes the call a meta call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Backend(u8);

impl Backend {
    /// The host's processor.
    pub const CPU: Backend = Backend(0);
    /// NVIDIA GPUs.
    pub const CUDA: Backend = Backend(1);
    /// Shapes only.
    pub const META: Backend = Backend(7);
    /// How many there are.
    pub const COUNT: usize = 8;
    /// How many devices of other crates there are room for.
    pub const PRIVATE: usize = 5;
    /// The first device kind of other crates.
    const FIRST_PRIVATE_KIND: u8 = 16;
    const FIRST_PRIVATE: u8 = 2;

    /// The backend of other crates' device number `n`: kind `16 + n`.
    pub const fn private(n: u8) -> Option<Backend> {
        if n < Backend::PRIVATE as u8 { Some(Backend(Backend::FIRST_PRIVATE + n)) } else { None }
    }

    /// The backend of a device kind; `None` for a kind that dispatch has no room for.
    #[inline]
    pub const fn of(kind: DeviceKind) -> Option<Backend> {
        match kind.0 {
            0 => Some(Backend::CPU),
            1 => Some(Backend::META),
            2 => Some(Backend::CUDA),
            Backend::FIRST_PRIVATE_KIND.. => Backend::private(kind.0 - Backend::FIRST_PRIVATE_KIND),
            _ => None,
        }
    }

    /// The device kind.
    pub const fn kind(self) -> DeviceKind {
        match self {
            Backend::CPU => DeviceKind::CPU,
            Backend::CUDA => DeviceKind::CUDA,
            Backend::META => DeviceKind::META,
            Backend(n) => DeviceKind(n - Backend::FIRST_PRIVATE + Backend::FIRST_PRIVATE_KIND),
        }
    }

    /// All, in order of precedence from low to high.
    pub fn all() -> impl Iterator<Item = Backend> {
        (0..Backend::COUNT as u8).map(Backend)
    }

    /// True for a device that is not of this library: one for which `Common` completes the forms that it lacks.
    pub const fn is_private(self) -> bool {
        self.0 >= Backend::FIRST_PRIVATE && self.0 != Backend::META.0
    }

    pub(super) const fn index(self) -> u8 {
        self.0
    }

    /// The name in keys.
    pub const fn name(self) -> &'static str {
        ["Cpu", "Cuda", "Private0", "Private1", "Private2", "Private3", "Private4", "Meta"][self.0 as usize]
    }
}

/// What a kernel does around or instead of computing, from the last to run to the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Functionality {
    /// Computes.
    Dense,
    /// Completes a device of another crate: meta checks and allocation around its out= kernel.
    Common,
    /// The slot of automatic differentiation.
    Autograd,
    /// The slot of tracing; one for all backends.
    Tracer,
}

/// A key that a call can be dispatched to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DispatchKey(u8);

impl DispatchKey {
    /// No tensor and no device says where to run: a call over an empty list.
    pub const UNDEFINED: DispatchKey = DispatchKey(0);
    /// Dense CPU kernels.
    pub const CPU: DispatchKey = DispatchKey::dense(Backend::CPU);
    /// Dense CUDA kernels.
    pub const CUDA: DispatchKey = DispatchKey::dense(Backend::CUDA);
    /// Shape functions.
    pub const META: DispatchKey = DispatchKey::dense(Backend::META);
    /// The slot of tracing.
    pub const TRACER: DispatchKey = DispatchKey(1 + 3 * Backend::COUNT as u8);
    /// How many there are.
    pub const COUNT: usize = 2 + 3 * Backend::COUNT;

    const fn at(level: u8, backend: Backend) -> DispatchKey {
        DispatchKey(1 + level * Backend::COUNT as u8 + backend.index())
    }

    /// The kernels that compute on a backend.
    pub const fn dense(backend: Backend) -> DispatchKey {
        DispatchKey::at(0, backend)
    }

    /// The kernels that complete a backend.
    pub const fn common(backend: Backend) -> DispatchKey {
        DispatchKey::at(1, backend)
    }

    /// The slot of automatic differentiation on a backend.
    pub const fn autograd(backend: Backend) -> DispatchKey {
        DispatchKey::at(2, backend)
    }

    /// All, from the last to run to the first.
    pub fn all() -> impl DoubleEndedIterator<Item = DispatchKey> {
        (0..DispatchKey::COUNT as u8).map(DispatchKey)
    }

    /// The place in a table and the bit in a set.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub(super) const fn from_index(index: usize) -> DispatchKey {
        debug_assert!(index < DispatchKey::COUNT);
        DispatchKey(index as u8)
    }

    /// The backend; `None` for [`UNDEFINED`](Self::UNDEFINED) and [`TRACER`](Self::TRACER).
    pub fn backend(self) -> Option<Backend> {
        match self {
            DispatchKey::UNDEFINED | DispatchKey::TRACER => None,
            DispatchKey(n) => Some(Backend((n - 1) % Backend::COUNT as u8)),
        }
    }

    /// The functionality; `None` for [`UNDEFINED`](Self::UNDEFINED).
    pub fn functionality(self) -> Option<Functionality> {
        match self {
            DispatchKey::UNDEFINED => None,
            DispatchKey::TRACER => Some(Functionality::Tracer),
            DispatchKey(n) => Some(
                [Functionality::Dense, Functionality::Common, Functionality::Autograd]
                    [(n - 1) as usize / Backend::COUNT],
            ),
        }
    }

    /// True for a key of kernels that compute.
    pub fn is_dense(self) -> bool {
        self.functionality() == Some(Functionality::Dense)
    }
}

impl fmt::Display for DispatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = self.backend().map_or("", Backend::name);
        match self.functionality() {
            None => f.write_str("Undefined"),
            Some(Functionality::Dense) => f.write_str(backend),
            Some(Functionality::Tracer) => f.write_str("Tracer"),
            Some(functionality) => write!(f, "{functionality:?}{backend}"),
        }
    }
}

impl fmt::Debug for DispatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A key that stands for others where a kernel is registered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AliasKey {
    /// Every backend's slot of automatic differentiation.
    Autograd,
    /// A functional operator composed of operators that alias; a backend may decline to decompose it.
    CompositeExplicitNonFunctional,
    /// Composed of other operators, for every backend; derivatives have to be given.
    CompositeExplicit,
    /// Composed of other operators, for every backend; derivatives follow from theirs.
    CompositeImplicit,
}

impl AliasKey {
    /// All.
    pub const ALL: [AliasKey; 4] = [
        AliasKey::Autograd,
        AliasKey::CompositeExplicitNonFunctional,
        AliasKey::CompositeExplicit,
        AliasKey::CompositeImplicit,
    ];

    /// True for the keys of composed kernels, of which an operator has at most one.
    pub const fn is_composite(self) -> bool {
        !matches!(self, AliasKey::Autograd)
    }
}

/// Where a kernel is registered: at one key, or at all that an alias stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegistrationKey {
    /// One run-time key.
    Runtime(DispatchKey),
    /// Several.
    Alias(AliasKey),
    /// All keys that nothing else serves: a kernel registered without a key.
    CatchAll,
}

impl RegistrationKey {
    /// Dense CPU kernels.
    pub const CPU: RegistrationKey = RegistrationKey::Runtime(DispatchKey::CPU);
    /// Dense CUDA kernels.
    pub const CUDA: RegistrationKey = RegistrationKey::Runtime(DispatchKey::CUDA);
    /// Shape functions.
    pub const META: RegistrationKey = RegistrationKey::Runtime(DispatchKey::META);

    /// Every key.
    pub fn all() -> impl Iterator<Item = RegistrationKey> {
        let runtime = DispatchKey::all().map(RegistrationKey::Runtime);
        runtime.chain(AliasKey::ALL.map(RegistrationKey::Alias)).chain([RegistrationKey::CatchAll])
    }

    /// The key of this name, as it is printed.
    pub fn from_name(name: &str) -> Option<RegistrationKey> {
        RegistrationKey::all().find(|key| key.to_string() == name)
    }
}

impl From<DispatchKey> for RegistrationKey {
    fn from(key: DispatchKey) -> Self {
        RegistrationKey::Runtime(key)
    }
}

impl From<Backend> for RegistrationKey {
    fn from(backend: Backend) -> Self {
        RegistrationKey::Runtime(DispatchKey::dense(backend))
    }
}

impl From<AliasKey> for RegistrationKey {
    fn from(key: AliasKey) -> Self {
        RegistrationKey::Alias(key)
    }
}

impl fmt::Display for RegistrationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistrationKey::Runtime(key) => fmt::Display::fmt(key, f),
            RegistrationKey::Alias(alias) => write!(f, "{alias:?}"),
            RegistrationKey::CatchAll => f.write_str("CatchAll"),
        }
    }
}

impl fmt::Debug for RegistrationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

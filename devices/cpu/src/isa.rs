//! Instruction-set levels: which exist, which the host has, which one runs, and the frame that code of a level is
//! compiled in. Refuses intrinsics: kernels are plain loops, and the frame tells the compiler what it may use.
//!
//! A [`Kernel`] is generic code with `#[inline(always)]` all the way down. [`Isa::enter`] calls it inside a function
//! that carries `#[target_feature]`; inlined into that frame, the loop is vectorised for the level. Whatever is *not*
//! inlined there is compiled for the baseline: one `#[inline(never)]` helper in a hot loop undoes the frame.
//!
//! Invariant I1: a value of a token type ([`Avx2`], [`Avx512`]) exists only where the host has every feature of its
//! frame. Tokens are made by their `detect`, or by [`Isa::assume`] where `detect` has answered before.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// The environment variable that forces a level.
pub const VARIABLE: &str = "MONOMORPH_ISA";

/// An instruction-set level, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Level {
    /// What the compilation target guarantees, on any architecture.
    Portable,
    /// The baseline of x86-64: the same code as `Portable` there.
    Sse2,
    /// AVX2 with FMA, F16C and BMI (x86-64-v3).
    Avx2,
    /// AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    Avx512,
}

/// Why the level that the environment asks for cannot run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsaError {
    /// The variable names no level.
    #[error("MONOMORPH_ISA is {got:?}; accepted are portable, sse2, avx2 and avx512; unset it to detect the level")]
    Unknown {
        /// What the variable holds.
        got: String,
    },
    /// The host lacks the level that the variable names.
    #[error("MONOMORPH_ISA asks for {wanted}, which this host lacks; it has up to {best}")]
    Missing {
        /// The level asked for.
        wanted: Level,
        /// The best level of the host.
        best: Level,
    },
}

impl Level {
    /// Every level, ascending.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Sse2, Level::Avx2, Level::Avx512];

    /// The name that `MONOMORPH_ISA` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Sse2 => "sse2",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// The level with this [`name`](Level::name), if there is one; case does not matter.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }

    /// Whether the host has the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            Level::Sse2 => cfg!(target_arch = "x86_64"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Avx512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }

    /// The levels of the host, ascending: what a test runs through.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Whether work that one loop can do gets a second, faster one where it is a special case (a call in place, a run
    /// long enough to keep accumulators in registers, prefetches). Not at the baseline of x86-64: processors without
    /// AVX2 are too old for what it takes to compile.
    #[inline(always)]
    pub(crate) const fn has_special_loops(self) -> bool {
        !(cfg!(target_arch = "x86_64") && matches!(self, Level::Portable | Level::Sse2))
    }

    /// The best level of the host.
    pub fn detected() -> Level {
        Level::available().last().unwrap_or(Level::Portable)
    }

    /// The level that a value of `MONOMORPH_ISA` means here; `None`, or an empty value, means the best one.
    ///
    /// # Errors
    /// [`IsaError::Unknown`] for a value that names no level, [`IsaError::Missing`] for a level that the host lacks.
    pub fn requested(value: Option<&str>) -> Result<Level, IsaError> {
        let best = Level::detected();
        let Some(name) = value.map(str::trim).filter(|name| !name.is_empty()) else { return Ok(best) };
        let wanted = Level::from_name(name).ok_or_else(|| IsaError::Unknown { got: name.to_owned() })?;
        if wanted.is_available() { Ok(wanted) } else { Err(IsaError::Missing { wanted, best }) }
    }

    /// The level that the environment asks for, read anew.
    ///
    /// # Errors
    /// As [`Level::requested`].
    pub fn from_env() -> Result<Level, IsaError> {
        let value = std::env::var_os(VARIABLE);
        Level::requested(value.as_deref().map(|v| v.to_string_lossy()).as_deref())
    }

    /// The level that kernels run at: [`Level::from_env`], decided once per process.
    ///
    /// # Errors
    /// As [`Level::requested`]; the same error at every call.
    #[inline]
    pub fn current() -> Result<Level, IsaError> {
        static CURRENT: OnceLock<Result<Level, IsaError>> = OnceLock::new();
        match CURRENT.get_or_init(Level::from_env) {
            Ok(level) => Ok(*level),
            Err(error) => Err(error.clone()),
        }
    }

    /// Of a thing that was compiled at every level, the one of this level, or of the best one below it that the host
    /// has.
    #[inline]
    pub(crate) fn choose<T>(self, portable: T, #[cfg(target_arch = "x86_64")] [avx2, avx512]: [T; 2]) -> T {
        #[cfg(target_arch = "x86_64")]
        {
            if self >= Level::Avx512 && Avx512::detect().is_some() {
                return avx512;
            }
            if self >= Level::Avx2 && Avx2::detect().is_some() {
                return avx2;
            }
        }
        portable
    }

    /// Runs a kernel that exists at every level in the frame of this one, or of the best one below it that the host
    /// has.
    #[inline]
    pub fn enter<K, R>(self, kernel: K) -> R
    where
        K: Kernel<Portable, Output = R> + Kernel<Avx2, Output = R> + Kernel<Avx512, Output = R>,
    {
        #[cfg(target_arch = "x86_64")]
        {
            if self >= Level::Avx512
                && let Some(isa) = Avx512::detect()
            {
                return isa.enter(kernel);
            }
            if self >= Level::Avx2
                && let Some(isa) = Avx2::detect()
            {
                return isa.enter(kernel);
            }
        }
        Portable.enter(kernel)
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A piece of work that is compiled into the frame of the level `I`. `run` must be `#[inline(always)]`, and so must
/// everything in its hot loops: a closure that is called at two places, or by `array::from_fn`, may stay a function of
/// its own, which is compiled for the baseline.
pub trait Kernel<I: Isa> {
    /// The type of the result. It varies because some kernels fold and some only write.
    type Output;

    /// The type whose module the frame's code is put to. The compiler makes one unit of what belongs to a module, and
    /// only units that a change reaches are compiled again: the loops of a formula are to be with the formula.
    type Home: ?Sized;

    /// Does the work.
    fn run(self, isa: I) -> Self::Output;
}

/// A piece of work that is called by pointer. Where a [`Kernel`] is called in a frame, this *is* a frame's function: of
/// many small ones that are chosen at run time, half the code would be functions that do nothing but call another.
pub trait Entry<I: Isa> {
    /// The type of what the function takes. One type for all that one pointer may point to.
    type Args;

    /// Does the work. It must be `#[inline(always)]`, and so must everything in its hot loops.
    ///
    /// # Safety
    ///
    /// The host has the level `I` (I1), and what the work itself asks for.
    unsafe fn run(args: Self::Args);
}

mod sealed {
    /// Only this module makes levels, because their tokens are proofs.
    pub trait Sealed {}
}

/// The token of a level: proof that the host has it, and what code of the level may count on.
pub trait Isa: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The level of the token.
    const LEVEL: Level;

    /// Whether `mul_add` is one instruction. Without it, it would be a library call.
    const FMA: bool;

    /// The token, where the level is known to be there: code that was chosen by level need not ask again.
    ///
    /// # Safety
    ///
    /// The host has every feature of the level (I1).
    unsafe fn assume() -> Self;

    /// Runs the kernel in the level's frame.
    fn enter<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// The work as a function that is compiled for the level. Calling it is unsafe as [`Entry::run`] is.
    fn entry<E: Entry<Self>>() -> unsafe fn(E::Args);
}

/// The token of the baseline: [`Level::Portable`], and [`Level::Sse2`] on x86-64, where both are the same code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Portable;

impl sealed::Sealed for Portable {}

impl Isa for Portable {
    const LEVEL: Level = Level::Portable;
    // A build for a newer target raises the baseline; AArch64 has always had the instruction.
    const FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

    #[inline(always)]
    unsafe fn assume() -> Self {
        Portable
    }

    #[inline(always)]
    fn enter<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn entry<E: Entry<Self>>() -> unsafe fn(E::Args) {
        E::run
    }
}

/// Declares one x86-64 level: token, detection, frame.
macro_rules! level {
    (
        $token:ident, $trait:ident, $frame:ident, $entry:ident, $level:expr, $doc:literal, [$($feature:tt),+],
        $enable:literal
    ) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $token(());

        impl $token {
            /// The token, if the host has every feature of the level.
            #[inline]
            pub fn detect() -> Option<$token> {
                // 1 and 2: the answer is no and yes. Every call asks, so it is one load.
                static ANSWER: AtomicU8 = AtomicU8::new(0);
                let answer = match ANSWER.load(Ordering::Relaxed) {
                    0 => {
                        let answer = 1 + u8::from($token::is_there());
                        ANSWER.store(answer, Ordering::Relaxed);
                        answer
                    }
                    known => known,
                };
                (answer == 2).then_some($token(()))
            }

            #[cold]
            #[inline(never)]
            fn is_there() -> bool {
                #[cfg(target_arch = "x86_64")]
                {
                    true $(&& std::arch::is_x86_feature_detected!($feature))+
                }
                #[cfg(not(target_arch = "x86_64"))]
                false
            }
        }

        impl sealed::Sealed for $token {}

        impl Isa for $token {
            const LEVEL: Level = $level;
            const FMA: bool = cfg!(target_arch = "x86_64");

            #[inline(always)]
            unsafe fn assume() -> Self {
                $token(())
            }

            #[inline(always)]
            fn enter<K: Kernel<Self>>(self, kernel: K) -> K::Output {
                // SAFETY: by I1 a token exists only where the host has every feature that the frame enables: both come
                // from the same row below.
                #[cfg(target_arch = "x86_64")]
                unsafe {
                    <K::Home as $trait>::$frame(self, kernel)
                }
                #[cfg(not(target_arch = "x86_64"))]
                kernel.run(self)
            }

            #[inline(always)]
            fn entry<E: Entry<Self>>() -> unsafe fn(E::Args) {
                #[cfg(target_arch = "x86_64")]
                {
                    $entry::<E>
                }
                #[cfg(not(target_arch = "x86_64"))]
                E::run
            }
        }

        #[cfg(target_arch = "x86_64")]
        trait $trait {
            /// # Safety
            ///
            /// The host has the level.
            unsafe fn $frame<K: Kernel<$token>>(isa: $token, kernel: K) -> K::Output;
        }

        #[cfg(target_arch = "x86_64")]
        impl<H: ?Sized> $trait for H {
            #[target_feature(enable = $enable)]
            unsafe fn $frame<K: Kernel<$token>>(isa: $token, kernel: K) -> K::Output {
                kernel.run(isa)
            }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $enable)]
        unsafe fn $entry<E: Entry<$token>>(args: E::Args) {
            // SAFETY: the caller's promise is the same.
            unsafe { E::run(args) }
        }
    };
}

level!(
    Avx2,
    FrameOfAvx2,
    frame_avx2,
    entry_avx2,
    Level::Avx2,
    "The token of [`Level::Avx2`].",
    ["avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt"],
    "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
);
level!(
    Avx512,
    FrameOfAvx512,
    frame_avx512,
    entry_avx512,
    Level::Avx512,
    "The token of [`Level::Avx512`].",
    [
        "avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt", "avx512f", "avx512bw", "avx512cd", "avx512dq",
        "avx512vl"
    ],
    "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
);

#[cfg(test)]
mod tests {
    use super::*;

    struct WhichLevel;
    impl<I: Isa> Kernel<I> for WhichLevel {
        type Home = Self;
        type Output = Level;
        #[inline(always)]
        fn run(self, _: I) -> Level {
            I::LEVEL
        }
    }

    #[test]
    fn every_available_level_runs_its_own_frame() {
        for level in Level::available() {
            let ran = level.enter(WhichLevel);
            let expected = if level == Level::Sse2 { Level::Portable } else { level };
            assert_eq!(ran, expected);
        }
    }

    #[test]
    fn the_variable_names_a_level_or_is_an_error() {
        assert_eq!(Level::requested(None), Ok(Level::detected()));
        assert_eq!(Level::requested(Some("  ")), Ok(Level::detected()));
        assert_eq!(Level::requested(Some("Portable")), Ok(Level::Portable));
        let error = Level::requested(Some("mmx")).unwrap_err();
        assert_eq!(error, IsaError::Unknown { got: "mmx".to_owned() });
        assert!(error.to_string().contains("accepted are portable, sse2, avx2 and avx512"));
        for level in Level::ALL {
            let expected = if level.is_available() {
                Ok(level)
            } else {
                Err(IsaError::Missing { wanted: level, best: Level::detected() })
            };
            assert_eq!(Level::requested(Some(level.name())), expected);
        }
    }
}

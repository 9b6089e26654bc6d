//! A source of random numbers as a value: shared, behind a lock, seeded, read and written as bytes in PyTorch's layout.

use super::mt19937::Mt19937;
use crate::error::{ErrorKind, Result};
use crate::storage::recorder;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A source of random numbers. Clones are the same source; [`deep_clone`](Generator::deep_clone) is another one.
///
/// The same seed and the same calls give the numbers that PyTorch's generator of the CPU gives. Threads may share one:
/// an operator holds its lock from its first number to its last, so what each gets is a run of the stream.
#[derive(Clone)]
pub struct Generator(Arc<Mutex<Mt19937>>);

/// Where the parts of a state lie: PyTorch's `CPUGeneratorImplState`.
mod place {
    pub(super) const SEED: usize = 0;
    pub(super) const LEFT: usize = 8;
    pub(super) const SEEDED: usize = 12;
    pub(super) const NEXT: usize = 16;
    pub(super) const WORDS: usize = 24;
    pub(super) const NORMAL: usize = 5024;
    pub(super) const HAS_NORMAL: usize = 5040;
    pub(super) const NORMAL_F32: usize = 5048;
    pub(super) const HAS_NORMAL_F32: usize = 5052;
}

impl Generator {
    /// The seed of the [shared](Generator::shared) source before anybody seeds it.
    pub const DEFAULT_SEED: u64 = 67_280_421_310_721;

    /// Bytes of a [state](Generator::state).
    pub const STATE_BYTES: usize = 5056;

    /// A source of its own.
    pub fn new(seed: u64) -> Generator {
        Generator(Arc::new(Mutex::new(Mt19937::new(seed))))
    }

    /// The source that operators draw from if they are given none.
    pub fn shared() -> &'static Generator {
        static SHARED: LazyLock<Generator> = LazyLock::new(|| Generator::new(Generator::DEFAULT_SEED));
        &SHARED
    }

    /// Begins the stream of this seed.
    pub fn manual_seed(&self, seed: u64) {
        *self.lock() = Mt19937::new(seed);
    }

    /// The seed of the stream.
    pub fn initial_seed(&self) -> u64 {
        self.lock().seed
    }

    /// Another source, which goes on as this one does.
    pub fn deep_clone(&self) -> Generator {
        Generator(Arc::new(Mutex::new(self.lock().clone())))
    }

    /// The stream, which nobody else draws from meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Mt19937> {
        // A kernel that is run again would draw the same numbers.
        recorder::refuse();
        // Whatever was drawn before a panic, the stream is a valid one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the stream is: the bytes that PyTorch's `Generator.get_state` gives.
    pub fn state(&self) -> Vec<u8> {
        let engine = self.lock();
        let mut bytes = vec![0; Generator::STATE_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(place::SEED, &engine.seed.to_le_bytes());
        put(place::LEFT, &(engine.left as u32).to_le_bytes());
        put(place::SEEDED, &1u32.to_le_bytes());
        put(place::NEXT, &(engine.next as u64).to_le_bytes());
        for (i, &word) in engine.words.iter().enumerate() {
            put(place::WORDS + 8 * i, &u64::from(word).to_le_bytes());
        }
        if let Some(normal) = engine.next_normal {
            put(place::NORMAL, &normal.to_le_bytes());
            put(place::HAS_NORMAL, &1u32.to_le_bytes());
        }
        if let Some(normal) = engine.next_normal_f32 {
            put(place::NORMAL_F32, &normal.to_le_bytes());
            put(place::HAS_NORMAL_F32, &[1]);
        }
        bytes
    }

    /// Goes on from a [state](Generator::state).
    ///
    /// # Errors
    ///
    /// Another number of bytes, or what is no state of this stream. The source is as before.
    pub fn set_state(&self, state: &[u8]) -> Result<()> {
        if state.len() != Generator::STATE_BYTES {
            let (got, want) = (state.len(), Generator::STATE_BYTES);
            return Err(ErrorKind::ListLength { arg: "state", got, want }.into());
        }
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| state[at + i]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| state[at + i]));
        let (left, next) = (u64::from(word(place::LEFT)), long(place::NEXT));
        let words: [u32; 624] = std::array::from_fn(|i| word(place::WORDS + 8 * i));
        let most = words.len() as u64;
        let is_valid = (1..=most).contains(&left) && next <= most && next + left <= most + 1;
        if word(place::SEEDED) == 0 || !is_valid {
            let rule = "argument state is no state of MT19937; accepted is what `state` of a generator gave";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let has_normal = word(place::HAS_NORMAL) != 0;
        let has_f32 = state[place::HAS_NORMAL_F32] != 0;
        *self.lock() = Mt19937 {
            seed: long(place::SEED),
            left: left as usize,
            next: next as usize,
            words,
            next_normal: has_normal.then(|| f64::from_bits(long(place::NORMAL))),
            next_normal_f32: has_f32.then(|| f32::from_bits(word(place::NORMAL_F32))),
        };
        Ok(())
    }
}

/// Whether both are one source.
impl PartialEq for Generator {
    fn eq(&self, other: &Generator) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The source with the seed that the shared one begins with.
impl Default for Generator {
    fn default() -> Generator {
        Generator::new(Generator::DEFAULT_SEED)
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("initial_seed", &self.initial_seed()).finish()
    }
}

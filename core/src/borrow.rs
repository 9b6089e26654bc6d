//! The borrow state of a storage: one word that counts readers or marks a writer. Owns the protocol and nothing else, so
//! that loom can check all of it.
//!
//! ```text
//! word:  0 free     n > 0: n readers     WRITER: one writer
//! ```
//!
//! Rules:
//! * A reader always counts itself, even if its tensor is the only one: another thread that holds `&Tensor` may clone it
//!   and write through the clone meanwhile.
//! * A writer that holds `&mut` to the only tensor of a storage needs no count: nobody else can reach the storage. The
//!   reference count is read with Acquire, pairing with the Release of the drop that made it 1.
//! * An in-place call hands out a reference to its own tensor, so there somebody else can: its writer always marks the
//!   word, after [`heal`](BorrowState::heal) had its chance while the `&mut` was still the only way in.
//! * A conflict is reported, never waited for.

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const WRITER: usize = usize::MAX;

/// How many handles share something.
#[derive(Debug)]
pub struct RefCount(AtomicUsize);

impl RefCount {
    /// One handle.
    #[inline]
    #[allow(clippy::new_without_default, reason = "a count without its handle is no sensible default")]
    pub fn new() -> RefCount {
        RefCount(AtomicUsize::new(1))
    }

    /// Counts one more handle. Aborts on a count that only forgotten handles could reach.
    #[inline]
    pub fn retain(&self) {
        if self.0.fetch_add(1, Ordering::Relaxed) > usize::MAX / 2 {
            std::process::abort();
        }
    }

    /// Gives a handle back; true if it was the last one, and then everything done through the others happened before.
    #[inline]
    pub fn release(&self) -> bool {
        // The only handle is the caller's, which nobody can copy any more: there is nobody to tell.
        if self.is_unique() {
            return true;
        }
        if self.0.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        self.0.load(Ordering::Acquire);
        true
    }

    /// True if there is one handle; with `&mut` to it this proves exclusive access.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}

/// The borrow word, the reference count and the frozen bit of one storage.
#[derive(Debug)]
pub struct BorrowState {
    refs: RefCount,
    word: AtomicUsize,
    frozen: AtomicBool,
}

/// Proof of a read borrow; give it back with [`BorrowState::end_read`].
#[derive(Debug)]
#[must_use]
pub enum ReadProof {
    /// The word counts this reader.
    Counted,
    /// The storage is frozen: nobody writes while it is.
    Frozen,
}

/// Proof of a write borrow; give it back with [`BorrowState::end_write`].
#[derive(Debug)]
#[must_use]
pub enum WriteProof {
    /// The word is marked.
    Marked,
    /// The caller's `&mut` reaches the only tensor of the storage.
    Unique,
}

/// Why a borrow was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A writer is active.
    Written,
    /// Readers are active.
    Read,
    /// The storage is frozen.
    Frozen,
}

impl Default for BorrowState {
    fn default() -> BorrowState {
        BorrowState::new()
    }
}

impl BorrowState {
    /// A storage with one reference and no borrow.
    pub fn new() -> BorrowState {
        BorrowState { refs: RefCount::new(), word: AtomicUsize::new(0), frozen: AtomicBool::new(false) }
    }

    /// Counts one more reference.
    #[inline]
    pub fn retain(&self) {
        self.refs.retain();
    }

    /// Gives a reference back; true if it was the last one, and then everything done through the others happened before.
    #[inline]
    pub fn release(&self) -> bool {
        self.refs.release()
    }

    /// True if there is one reference; with `&mut` to its holder this proves exclusive access.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.refs.is_unique()
    }

    /// Begins to read.
    #[inline]
    pub fn begin_read(&self) -> Result<ReadProof, Refused> {
        if self.frozen.load(Ordering::Acquire) {
            return Ok(ReadProof::Frozen);
        }
        let mut seen = self.word.load(Ordering::Relaxed);
        loop {
            if seen >= WRITER - 1 {
                return Err(Refused::Written);
            }
            match self.word.compare_exchange_weak(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(ReadProof::Counted),
                Err(now) => seen = now,
            }
        }
    }

    /// Ends a read.
    #[inline]
    pub fn end_read(&self, proof: ReadProof) {
        if let ReadProof::Counted = proof {
            self.word.fetch_sub(1, Ordering::Release);
        }
    }

    /// Clears what forgotten guards left behind, and thaws, if there is one reference; true if so. The caller holds `&mut`
    /// to a tensor of the storage and has lent it to nobody, so with one reference nobody borrows.
    #[inline]
    pub fn heal(&self) -> bool {
        if !self.is_unique() {
            return false;
        }
        self.word.store(0, Ordering::Relaxed);
        self.frozen.store(false, Ordering::Relaxed);
        true
    }

    /// Begins to write. `unique_holder` says that the caller holds `&mut` to one of the storage's tensors for as long as
    /// the borrow lasts, and has lent it to nobody; if that tensor is the only one, a borrow word left behind by a
    /// forgotten guard is healed.
    #[inline]
    pub fn begin_write(&self, unique_holder: bool) -> Result<WriteProof, Refused> {
        if unique_holder && self.heal() {
            return Ok(WriteProof::Unique);
        }
        match self.word.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => {}
            Err(WRITER) => return Err(Refused::Written),
            Err(_) => return Err(Refused::Read),
        }
        // Freezing takes a read borrow, so the bit cannot change while the word is marked.
        if self.frozen.load(Ordering::Acquire) {
            self.word.store(0, Ordering::Release);
            return Err(Refused::Frozen);
        }
        Ok(WriteProof::Marked)
    }

    /// Turns the caller's own counted read, if it is the only one, into a write; give it back with
    /// [`end_upgrade`](BorrowState::end_upgrade), which leaves the read as it was.
    pub fn upgrade(&self, proof: &ReadProof) -> Result<(), Refused> {
        if let ReadProof::Frozen = proof {
            return Err(Refused::Frozen);
        }
        // Acquire: what readers that have ended did came before.
        if self.word.compare_exchange(1, WRITER, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Err(Refused::Read);
        }
        // Freezing takes a read borrow, so the bit cannot change while the word is marked.
        if self.frozen.load(Ordering::Acquire) {
            self.end_upgrade();
            return Err(Refused::Frozen);
        }
        Ok(())
    }

    /// Ends the write of an [`upgrade`](BorrowState::upgrade).
    pub fn end_upgrade(&self) {
        self.word.store(1, Ordering::Release);
    }

    /// Ends a write.
    #[inline]
    pub fn end_write(&self, proof: WriteProof) {
        if let WriteProof::Marked = proof {
            self.word.store(0, Ordering::Release);
        }
    }

    /// Makes the storage read-only until the only tensor of it is written through `&mut`.
    pub fn freeze(&self) -> Result<(), Refused> {
        let proof = self.begin_read()?;
        self.frozen.store(true, Ordering::Release);
        self.end_read(proof);
        Ok(())
    }

    /// True after [`freeze`](BorrowState::freeze).
    pub fn is_frozen(&self) -> bool {
        self.frozen.load(Ordering::Acquire)
    }
}

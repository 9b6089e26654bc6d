//! The borrow state of a storage: one word that counts readers or marks a writer. Owns the protocol and nothing else,
//! so that loom can check all of it.
//!
//! ```text
//! word:  0 free     n > 0: n readers     WRITER: one writer
//! home:  how many reads the thread that made the storage has announced
//! ```
//!
//! Rules:
//! * A reader always counts itself, even if its tensor is the only one: another thread that holds `&Tensor` may clone
//!   it and write through the clone meanwhile.
//! * The thread that made the storage may *announce* a read instead, for the time of one call: nobody else writes
//!   `home`, so a plain store does. The announcements of a call are followed by one [`fence`], and only then by a look
//!   at each word. A writer marks the word, passes a fence, and looks at `home`. Of two fences one comes first, and who
//!   passes the second sees what the other did before the first (Dekker's handshake): a reader and a writer never both
//!   go on, though both may give way. So a call of two inputs has one locked instruction where counting has four.
//! * A writer that holds `&mut` to the only tensor of a storage needs no count: nobody else can reach the storage. The
//!   reference count is read with Acquire, pairing with the Release of the drop that made it 1.
//! * An in-place call hands out a reference to its own tensor, so there somebody else can: its writer always marks the
//!   word, after [`heal`](BorrowState::heal) had its chance while the `&mut` was still the only way in.
//! * A conflict is reported, never waited for.

mod count;
mod home;

pub use count::RefCount;
pub use home::Home;

#[cfg(loom)]
use loom::sync::atomic::{self, AtomicBool, AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{self, AtomicBool, AtomicUsize, Ordering};

const WRITER: usize = usize::MAX;

/// Orders the announcements of a call before its look at what others announced.
#[inline]
pub fn fence() {
    atomic::fence(Ordering::SeqCst);
}

/// The borrow word, the reference count and the frozen bit of one storage.
#[derive(Debug)]
pub struct BorrowState {
    refs: RefCount,
    word: AtomicUsize,
    home: AtomicUsize,
    /// Whose word `home` is.
    whose: Home,
    frozen: AtomicBool,
    /// It stays frozen.
    locked: AtomicBool,
}

/// Proof of a read borrow; give it back with [`BorrowState::end_read`].
#[derive(Debug)]
#[must_use]
pub enum ReadProof {
    /// The word counts this reader.
    Counted,
    /// The thread at home announced itself, which is a borrow once it is [confirmed](BorrowState::confirm_read). To be
    /// given back on that thread.
    Announced,
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

impl BorrowState {
    /// A storage with one reference and no borrow.
    #[inline]
    pub fn new(whose: Home) -> BorrowState {
        let (word, home) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (frozen, locked) = (AtomicBool::new(false), AtomicBool::new(false));
        BorrowState { refs: RefCount::one(), word, home, whose, frozen, locked }
    }

    /// Counts one more reference.
    #[inline]
    pub fn retain(&self) {
        self.refs.retain();
    }

    /// Gives a reference back; true if it was the last one, and then everything done through the others happened
    /// before.
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

    /// Begins to read for the time of a call on the thread `here`. What it gives is no borrow before a [`fence`] and
    /// [`confirm_read`](BorrowState::confirm_read).
    #[inline]
    pub fn announce_read(&self, here: Home) -> Result<ReadProof, Refused> {
        if self.whose != here || here == Home::NOWHERE {
            return self.begin_read();
        }
        if self.frozen.load(Ordering::Acquire) {
            return Ok(ReadProof::Frozen);
        }
        // Of this thread alone: what was loaded is what is there.
        self.home.store(self.home.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Ok(ReadProof::Announced)
    }

    /// Makes a borrow of an announced read; an error if a writer was there first. The read is to be ended in any case.
    #[inline]
    pub fn confirm_read(&self, proof: &ReadProof) -> Result<(), Refused> {
        match proof {
            // Acquire: what the last writer did came before.
            ReadProof::Announced if self.word.load(Ordering::Acquire) == WRITER => Err(Refused::Written),
            _ => Ok(()),
        }
    }

    /// Ends a read.
    #[inline]
    pub fn end_read(&self, proof: ReadProof) {
        match proof {
            ReadProof::Counted => drop(self.word.fetch_sub(1, Ordering::Release)),
            // `home` is written by this thread alone: an announced read ends on the thread that announced it. Release:
            // a writer that sees this comes after the read.
            ReadProof::Announced => self.home.store(self.home.load(Ordering::Relaxed) - 1, Ordering::Release),
            ReadProof::Frozen => {}
        }
    }

    /// Clears what forgotten guards left behind, and thaws, if there is one reference and it is not
    /// [locked](BorrowState::lock); true if so. The caller holds `&mut` to a tensor of the storage and has lent it to
    /// nobody, so with one reference nobody borrows.
    #[inline]
    pub fn heal(&self) -> bool {
        if !self.is_unique() || self.is_locked() {
            return false;
        }
        self.word.store(0, Ordering::Relaxed);
        self.frozen.store(false, Ordering::Relaxed);
        true
    }

    /// Begins to write. `unique_holder` says that the caller holds `&mut` to one of the storage's tensors for as long
    /// as the borrow lasts, and has lent it to nobody; if that tensor is the only one, a borrow word left behind by a
    /// forgotten guard is healed.
    #[inline]
    pub fn begin_write(&self, unique_holder: bool) -> Result<WriteProof, Refused> {
        let proof = self.announce_write(unique_holder)?;
        if let WriteProof::Marked = proof {
            fence();
            if let Err(refused) = self.confirm_write(&proof) {
                self.end_write(proof);
                return Err(refused);
            }
        }
        Ok(proof)
    }

    /// [`begin_write`](BorrowState::begin_write) for a call that has more to announce: what it gives is no borrow
    /// before a [`fence`] and [`confirm_write`](BorrowState::confirm_write).
    #[inline]
    pub fn announce_write(&self, unique_holder: bool) -> Result<WriteProof, Refused> {
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

    /// Makes a borrow of an announced write; an error if the thread at home reads. The write is to be ended in any
    /// case.
    #[inline]
    pub fn confirm_write(&self, proof: &WriteProof) -> Result<(), Refused> {
        match proof {
            WriteProof::Marked => self.nobody_home(),
            WriteProof::Unique => Ok(()),
        }
    }

    /// An error if the thread at home reads. The caller has marked the word and passed a fence.
    #[inline]
    fn nobody_home(&self) -> Result<(), Refused> {
        // Acquire: reads that have ended came before.
        if self.home.load(Ordering::Acquire) == 0 { Ok(()) } else { Err(Refused::Read) }
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
        fence();
        let alone = self.nobody_home();
        if alone.is_err() {
            self.end_upgrade();
        }
        alone
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

    /// Makes the storage read-only for good: it is memory that must not be written.
    pub fn lock(&self) -> Result<(), Refused> {
        self.freeze()?;
        self.locked.store(true, Ordering::Release);
        Ok(())
    }

    /// True after [`lock`](BorrowState::lock).
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.locked.load(Ordering::Relaxed)
    }

    /// True after [`freeze`](BorrowState::freeze).
    pub fn is_frozen(&self) -> bool {
        self.frozen.load(Ordering::Acquire)
    }
}

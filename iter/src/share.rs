//! Pieces of work that several threads take: the caller, and threads of rayon's pool that come in time. Decides who may help; refuses to
//! know what a piece is.
//!
//! The caller does not sleep while others work. Waking a thread takes longer than many a call: the caller waits for helpers that have taken
//! a piece, never for one that has yet to wake up. So a call on a machine whose other cores are busy takes as long as on one thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Pieces for each thread that a loop is best cut into: those who are held up leave some to the others.
const PIECES: usize = 8;

/// How often the caller looks for helpers to leave before it sleeps.
const LOOKS: usize = 200;

/// What the caller and its helpers share.
///
/// Invariants:
/// * S1: `work` points to what `call` takes. It may be used by several threads, and lives until all pieces are taken and no helper is inside.
/// * S2: whoever takes pieces is the caller, or a helper that is counted as inside. Who comes in later finds no piece: the caller looks for
///   helpers behind the last piece, and numbers of pieces only grow.
struct Job {
    work: *const (),
    call: unsafe fn(*const (), usize),
    pieces: usize,
    /// The next piece to be taken.
    next: AtomicUsize,
    helpers: Mutex<Helpers>,
    left: Condvar,
}

// SAFETY: what `work` points to may be used by several threads (S1); everything else is a thread's own or made for several.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// Who is at work besides the caller.
#[derive(Default)]
struct Helpers {
    inside: usize,
    /// What the first piece that failed said.
    panic: Option<Box<dyn Any + Send>>,
}

impl Job {
    fn helpers(&self) -> MutexGuard<'_, Helpers> {
        // Nothing panics while they are locked.
        self.helpers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes pieces until there are none.
    ///
    /// # Safety
    ///
    /// S2.
    unsafe fn take(&self) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces {
                return;
            }
            // SAFETY: S1 by S2.
            unsafe { (self.call)(self.work, piece) };
        }
    }

    /// Helps, behind calling the others: `helpers` threads, this one included.
    fn help(self: Arc<Job>, helpers: usize) {
        if self.next.load(Ordering::Relaxed) >= self.pieces {
            return;
        }
        self.helpers().inside += 1;
        let half = (helpers - 1) / 2;
        for helpers in [half, helpers - 1 - half] {
            self.clone().call(helpers);
        }
        // SAFETY: S2: it is inside.
        let result = catch_unwind(AssertUnwindSafe(|| unsafe { self.take() }));
        let mut all = self.helpers();
        all.inside -= 1;
        if let Err(panic) = result {
            // The result is lost, so the other pieces need not be done.
            self.next.store(self.pieces, Ordering::Relaxed);
            all.panic.get_or_insert(panic);
        }
        if all.inside == 0 {
            self.left.notify_one();
        }
    }

    /// Asks the pool for so many helpers. One thread wakes two others, so that many are awake soon and none has to wake all.
    fn call(self: Arc<Job>, helpers: usize) {
        if helpers > 0 {
            rayon::spawn(move || self.help(helpers));
        }
    }
}

/// Lets nobody take another piece, and waits for those who are inside.
struct End<'a>(&'a Job);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // There are some left if the caller panics.
        self.0.next.store(self.0.pieces, Ordering::Relaxed);
        // Most leave sooner than a sleeping thread wakes up.
        for _ in 0..LOOKS {
            if self.0.helpers().inside == 0 {
                return;
            }
            std::thread::yield_now();
        }
        let mut all = self.0.helpers();
        while all.inside > 0 {
            all = self.0.left.wait(all).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Whether work is worth several threads and may have them.
///
/// A thread of a rayon pool works alone: while it waited for others it could be handed another task of the caller's, which
/// would find the storages of this call borrowed.
pub fn is_parallel(numel: usize, grain: usize) -> bool {
    numel > grain.max(1) && rayon::current_thread_index().is_none() && rayon::current_num_threads() > 1
}

/// Into how many pieces work is best cut where [`is_parallel`].
pub fn pieces() -> usize {
    PIECES * rayon::current_num_threads()
}

/// Calls `f` with each number below `pieces`, from this thread and as many of the rayon pool as come in time; on this thread alone, in order,
/// where that is a thread of a pool.
///
/// # Panics
///
/// If `f` does, when all calls that have begun have ended.
pub fn share<F: Fn(usize) + Sync>(pieces: usize, f: F) {
    /// # Safety
    ///
    /// `work` points to an `F`.
    unsafe fn call<F: Fn(usize)>(work: *const (), piece: usize) {
        // SAFETY: the caller's promise.
        unsafe { (*work.cast::<F>())(piece) }
    }
    if pieces < 2 || !is_parallel(pieces, 1) {
        return (0..pieces).for_each(f);
    }
    let job = Arc::new(Job {
        work: std::ptr::from_ref(&f).cast(),
        call: call::<F>,
        pieces,
        next: AtomicUsize::new(0),
        helpers: Mutex::default(),
        left: Condvar::new(),
    });
    // S1: `f` is dropped behind it.
    let end = End(&job);
    job.clone().call((rayon::current_num_threads() - 1).min(pieces - 1));
    // SAFETY: S2: this is the caller.
    unsafe { job.take() };
    drop(end);
    let panic = job.helpers().panic.take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

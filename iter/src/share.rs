//! Pieces of work that several threads take: the caller, and threads of rayon's pool that come in time. Decides who may
//! help; refuses to know what a piece is.
//!
//! The caller does not sleep while others work. Waking a thread takes longer than many a call: the caller waits for
//! helpers that have taken a piece, never for one that has yet to wake up. So a call on a machine whose other cores are
//! busy takes as long as on one thread.
//!
//! Nor do helpers sleep at once: the next piece of a model is often a few microseconds away, and waking up takes tens.
//! They look for work a little longer, and whatever else the pool has to do they do meanwhile.
//!
//! A piece is a caller's code and may panic. The first panic is carried to the caller, to go on there when nobody is at
//! work. What any other says is forgotten, not dropped: a drop of it is a caller's code as well, and a panic on a
//! thread of the pool ends the process.

#[cfg(loom)]
use loom::{
    sync::atomic::{AtomicUsize, Ordering},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{spawn, yield_now},
};
#[cfg(not(loom))]
use rayon::spawn;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
// The standard library's in a model, too: loom does not see it, so it orders nothing there.
use std::sync::Arc;
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
    time::{Duration, Instant},
};

/// Pieces for each thread that a loop is best cut into: those who are held up leave some to the others.
const PIECES: usize = 8;

/// How often the caller looks for helpers to leave before it sleeps. In a model, where looking is waiting, it sleeps at
/// once.
const LOOKS: usize = if cfg!(loom) { 0 } else { 200 };

/// How long a helper looks for more work before it leaves the thread to the pool, which puts it to sleep.
#[cfg(not(loom))]
const LINGER: Duration = Duration::from_micros(50);

/// What a panic says.
pub(crate) type Payload = Box<dyn Any + Send>;

/// What a caller's code gives, or what its panic says.
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, Payload> {
    // Nobody sees what a panic left half done: the call is over, and what it worked on is its caller's.
    catch_unwind(AssertUnwindSafe(code))
}

/// What the caller and its helpers share.
///
/// Invariants:
/// * S1: `work` points to what `call` takes. It may be used by several threads, and lives until all pieces are taken
///   and no helper is inside.
/// * S2: whoever takes pieces is the caller, or a helper that is counted as inside. Who comes in later finds no piece:
///   the caller looks for helpers behind the last piece, and numbers of pieces only grow.
struct Job {
    work: *const (),
    call: unsafe fn(*const (), usize),
    pieces: usize,
    /// The next piece to be taken.
    next: AtomicUsize,
    helpers: Mutex<Helpers>,
    left: Condvar,
}

// SAFETY: what `work` points to may be used by several threads (S1); everything else is a thread's own or made for
// several.
unsafe impl Send for Job {}
// SAFETY: `work` may be used by several threads (S1), and all that changes is an atomic or behind a mutex.
unsafe impl Sync for Job {}

/// Who is at work besides the caller.
#[derive(Default)]
struct Helpers {
    inside: usize,
    /// What the first piece that failed said.
    panic: Option<Payload>,
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
    fn help(self: &Arc<Job>, helpers: usize) {
        if self.next.load(Ordering::Relaxed) >= self.pieces {
            return;
        }
        self.helpers().inside += 1;
        let half = (helpers - 1) / 2;
        for helpers in [half, helpers - 1 - half] {
            self.clone().call(helpers);
        }
        // SAFETY: S2: it is inside.
        let result = caught(|| unsafe { self.take() });
        let mut all = self.helpers();
        all.inside -= 1;
        if let Err(panic) = result {
            // The result is lost, so the other pieces need not be done.
            self.next.store(self.pieces, Ordering::Relaxed);
            match &all.panic {
                None => all.panic = Some(panic),
                // See the head of this file.
                Some(_) => std::mem::forget(panic),
            }
        }
        if all.inside == 0 {
            self.left.notify_one();
        }
    }

    /// Asks the pool for so many helpers. One thread wakes two others, so that many are awake soon and none has to wake
    /// all.
    fn call(self: Arc<Job>, helpers: usize) {
        if helpers > 0 {
            spawn(move || {
                self.help(helpers);
                drop(self);
                #[cfg(not(loom))]
                linger();
            });
        }
    }
}

/// Has a thread of the pool do what there is to do, until there has been nothing for a while. It holds nothing
/// meanwhile.
#[cfg(not(loom))]
fn linger() {
    thread_local! {
        static LINGERS: Cell<bool> = const { Cell::new(false) };
    }
    // Work that is found is done further down on the same stack, which must not grow with each.
    if LINGERS.replace(true) {
        return;
    }
    let mut idle_since = Instant::now();
    while idle_since.elapsed() < LINGER {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => idle_since = Instant::now(),
            Some(rayon::Yield::Idle) => std::hint::spin_loop(),
            None => break,
        }
    }
    LINGERS.set(false);
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
            yield_now();
        }
        let mut all = self.0.helpers();
        while all.inside > 0 {
            all = self.0.left.wait(all).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Whether work is worth several threads and may have them.
///
/// A thread of a rayon pool works alone: while it waited for others it could be handed another task of the caller's,
/// which would find the storages of this call borrowed.
pub fn is_parallel(numel: usize, grain: usize) -> bool {
    numel > grain.max(1) && rayon::current_thread_index().is_none() && rayon::current_num_threads() > 1
}

/// Into how many pieces work is best cut where [`is_parallel`].
pub fn pieces() -> usize {
    PIECES * rayon::current_num_threads()
}

/// Calls `f` with each number below `pieces`, from this thread and as many of the rayon pool as come in time; on this
/// thread alone, in order, where that is a thread of a pool.
///
/// # Panics
///
/// If `f` does, when all calls that have begun have ended: with what one of them says, its own if this thread failed as
/// well.
pub fn share<F: Fn(usize) + Sync>(pieces: usize, f: F) {
    if pieces < 2 || !is_parallel(pieces, 1) {
        return (0..pieces).for_each(f);
    }
    share_among((rayon::current_num_threads() - 1).min(pieces - 1), pieces, f);
}

/// [`share`] with so many helpers.
#[cfg_attr(not(loom), allow(unreachable_pub, reason = "models of the hand-off call it"))]
pub fn share_among<F: Fn(usize) + Sync>(helpers: usize, pieces: usize, f: F) {
    /// # Safety
    ///
    /// `work` points to an `F`.
    unsafe fn call<F: Fn(usize)>(work: *const (), piece: usize) {
        // SAFETY: the caller's promise.
        unsafe { (*work.cast::<F>())(piece) }
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
    job.clone().call(helpers);
    // SAFETY: S2: this is the caller.
    let own = caught(|| unsafe { job.take() }).err();
    drop(end);
    // Nobody is inside any more, so this is all that will ever be said. It is taken from the job, which a helper may be
    // the last to drop.
    let other = job.helpers().panic.take();
    if let Some(panic) = match (own, other) {
        (Some(own), other) => {
            std::mem::forget(other);
            Some(own)
        }
        (None, other) => other,
    } {
        resume_unwind(panic);
    }
}

//! The hand-off of shared work, model-checked: every interleaving of a caller and its helpers. What the pieces use is a
//! loom cell that the caller writes when the call is over, so that a helper that comes too late is reported by loom
//! itself. How pieces are taken on real threads is `share.rs`'s.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p monomorph-iter --release --test loom --target-dir target/loom
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use monomorph_iter::share_among;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A loom cell for each piece: the pieces share it, and each may touch only its own.
struct Cells(Vec<UnsafeCell<u32>>);

// SAFETY: loom's cells check every access; that is the test.
unsafe impl Sync for Cells {}

impl Cells {
    fn new(pieces: usize) -> Cells {
        Cells((0..pieces).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, piece: usize) {
        self.0[piece].with_mut(|p| {
            // SAFETY: nobody else uses it, if the hand-off is right.
            unsafe { *p += 1 }
        });
    }

    fn counts(&self) -> Vec<u32> {
        let read = |cell: &UnsafeCell<u32>| {
            cell.with(|p| {
                // SAFETY: the call is over, so nobody writes it, if the hand-off is right.
                unsafe { *p }
            })
        };
        self.0.iter().map(read).collect()
    }
}

/// Every piece is taken once, and what it did is seen by the caller, with helpers that come at any time or too late.
#[test]
fn pieces_are_done_when_the_call_returns() {
    for (helpers, pieces) in [(1, 1), (1, 2), (1, 3), (2, 2)] {
        loom::model(move || {
            let cells = Cells::new(pieces);
            share_among(helpers, pieces, |piece| cells.add(piece));
            assert!(cells.counts().iter().all(|&n| n == 1));
        });
    }
}

/// What a panic says: a drop of it is a caller's code, which must run on no helper.
struct Said<'a>(&'a AtomicUsize);

impl Drop for Said<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Whoever panics, and however many do: one payload reaches the caller when nobody is at work, and no other is dropped.
#[test]
fn one_panic_reaches_the_caller() {
    std::panic::set_hook(Box::new(|_| ()));
    for (helpers, pieces) in [(1, 2), (2, 2)] {
        loom::model(move || {
            let cells = Cells::new(pieces);
            let call = || {
                share_among(helpers, pieces, |piece| {
                    cells.add(piece);
                    resume_unwind(Box::new(Said(&DROPPED)));
                });
            };
            let said = catch_unwind(AssertUnwindSafe(call)).expect_err("pieces fail");
            assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
            assert!(said.is::<Said<'static>>());
            std::mem::forget(said);
            // Nobody is at work: the cells are the caller's again.
            assert!(cells.counts().iter().any(|&n| n == 1));
        });
    }
}

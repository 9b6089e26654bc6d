//! Growing a storage, model-checked against views that other threads make and use meanwhile: whether the operator for
//! which it grew fails or not, a view that was allowed never reaches beyond the block. The borrow state and the extent
//! are the library's own; the block is a number, its length.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p monomorph-core --release --test loom_growth --target-dir target/loom
//! ```
#![cfg(loom)]

use loom::thread;
use monomorph_core::borrow::{BorrowState, Home};
use monomorph_core::extent::Extent;
use std::sync::Arc;

const SHORT: usize = 4;
const LONG: usize = 8;

struct Storage {
    state: BorrowState,
    extent: Extent<usize>,
}

impl Storage {
    /// A storage that two tensors share.
    fn shared() -> Arc<Storage> {
        let storage = Storage { state: BorrowState::new(Home::NOWHERE), extent: Extent::new(SHORT, SHORT) };
        storage.state.retain();
        Arc::new(storage)
    }

    /// An out= call that grows the storage and then succeeds or fails. False if the storage was borrowed.
    fn grow(&self, succeeds: bool) -> bool {
        let Ok(proof) = self.state.begin_write(false) else { return false };
        let mut other = LONG;
        // SAFETY: the write borrow was just taken.
        unsafe { self.extent.exchange(&mut other) };
        if succeeds {
            self.extent.promise(LONG);
        } else {
            // SAFETY: the write borrow still lasts.
            unsafe { self.extent.exchange(&mut other) };
        }
        self.state.end_write(proof);
        true
    }

    /// A view as long as is allowed, read as far as it reaches: its length, if the storage was not being written.
    fn view(&self) -> Option<usize> {
        let length = self.extent.bytes();
        let proof = self.state.begin_read().ok()?;
        // SAFETY: the read borrow was just taken.
        let block = unsafe { self.extent.block() };
        self.state.end_read(proof);
        assert!(length <= block, "a view of {length} bytes over a block of {block}");
        Some(length)
    }
}

#[test]
fn a_view_made_while_a_growth_fails_fits_the_block_that_stays() {
    loom::model(|| {
        let storage = Storage::shared();
        let other = storage.clone();
        let thread = thread::spawn(move || {
            other.grow(false);
        });
        assert!(matches!(storage.view(), Some(SHORT) | None));
        thread.join().unwrap();
        assert_eq!(storage.view(), Some(SHORT));
    });
}

#[test]
fn a_view_made_while_a_growth_succeeds_fits_either_block() {
    loom::model(|| {
        let storage = Storage::shared();
        let other = storage.clone();
        let thread = thread::spawn(move || other.grow(true));
        assert!(matches!(storage.view(), Some(SHORT | LONG) | None));
        if thread.join().unwrap() {
            assert_eq!(storage.view(), Some(LONG));
        }
    });
}

/// One thread's growth fails, another's succeeds: the promise of the second outlasts what the first takes back.
#[test]
fn a_failed_growth_takes_back_its_own_only() {
    loom::model(|| {
        let storage = Storage::shared();
        let other = storage.clone();
        let thread = thread::spawn(move || {
            other.grow(false);
        });
        let grown = storage.grow(true);
        thread.join().unwrap();
        assert_eq!(storage.view(), Some(if grown { LONG } else { SHORT }));
    });
}

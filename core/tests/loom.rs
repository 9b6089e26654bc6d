//! The borrow protocol of a storage and the publication of dispatch tables, model-checked: loom runs every interleaving
//! of a few threads and every value that a relaxed load may return. The data of the storage is a loom cell, so that an
//! access that the protocol should have kept apart is reported by loom itself and not by an assertion here. Tests of
//! values live elsewhere.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p monomorph-core --release --test loom --target-dir target/loom
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;
use monomorph_core::borrow::{self, BorrowState, Home, Refused};
use monomorph_core::dispatch::lock::{LockGuard, retire};
use monomorph_core::dispatch::published::{Published, Reader};
use std::sync::{Arc, Weak};

/// What tensors share: a borrow state and data that only a borrow may touch.
struct Storage {
    state: BorrowState,
    data: UnsafeCell<u32>,
    freed: UnsafeCell<bool>,
}

// SAFETY: loom's cells check every access; that is the test.
unsafe impl Sync for Storage {}
// SAFETY: as above.
unsafe impl Send for Storage {}

/// A tensor: a counted reference. The `Arc`, which only keeps the memory of the model alive, is the standard library's:
/// loom does not see it, so it orders nothing.
struct Tensor(Arc<Storage>);

impl Tensor {
    fn new() -> (Tensor, Arc<Storage>) {
        Tensor::at_home(Home::NOWHERE)
    }

    fn at_home(home: Home) -> (Tensor, Arc<Storage>) {
        let state = BorrowState::new(home);
        let storage = Arc::new(Storage { state, data: UnsafeCell::new(0), freed: UnsafeCell::new(false) });
        (Tensor(storage.clone()), storage)
    }

    /// A read as by an operator that the thread at home calls.
    fn read_at_home(&self, home: Home) -> Result<u32, Refused> {
        let [value] = read_all_at_home([self], home)?;
        Ok(value)
    }

    /// A read under a borrow, as by `data()` or as the input of an operator.
    fn read(&self) -> Result<u32, Refused> {
        let proof = self.0.state.begin_read()?;
        let value = self.0.data.with(|p| {
            // SAFETY: the borrow, if the protocol is right.
            unsafe { *p }
        });
        self.0.state.end_read(proof);
        Ok(value)
    }

    /// A write under a borrow, as by `data_mut()` or to an out= tensor.
    fn write(&mut self, value: u32) -> Result<(), Refused> {
        self.write_as(true, value)
    }

    fn write_as(&self, unique_holder: bool, value: u32) -> Result<(), Refused> {
        let proof = self.0.state.begin_write(unique_holder)?;
        self.0.data.with_mut(|p| {
            // SAFETY: the borrow, if the protocol is right.
            unsafe { *p = value }
        });
        self.0.state.end_write(proof);
        Ok(())
    }
}

/// Reads of several storages as the inputs of one call: one fence for all of them.
fn read_all_at_home<const N: usize>(tensors: [&Tensor; N], home: Home) -> Result<[u32; N], Refused> {
    let states = tensors.map(|tensor| &tensor.0.state);
    let proofs = states.map(|state| state.announce_read(home));
    borrow::fence();
    let mut read = Ok([0; N]);
    for (state, proof) in states.iter().zip(&proofs) {
        let confirmed = proof.as_ref().map_err(|refused| *refused).and_then(|proof| state.confirm_read(proof));
        read = confirmed.and(read);
    }
    if let Ok(values) = &mut read {
        for (value, tensor) in values.iter_mut().zip(tensors) {
            *value = tensor.0.data.with(|p| {
                // SAFETY: the borrow, if the protocol is right.
                unsafe { *p }
            });
        }
    }
    for (state, proof) in states.iter().zip(proofs) {
        if let Ok(proof) = proof {
            state.end_read(proof);
        }
    }
    read
}

impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        self.0.state.retain();
        Tensor(self.0.clone())
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        if self.0.state.release() {
            // What freeing the block does: an access that everything before must have happened before.
            self.0.data.with_mut(|_| ());
            self.0.freed.with_mut(|p| {
                // SAFETY: only the last reference comes here.
                unsafe { *p = true }
            });
        }
    }
}

/// Runs `model` with every interleaving.
fn check(model: impl Fn() + Sync + Send + 'static) {
    loom::model(model);
}

#[test]
fn two_readers_read_at_once() {
    check(|| {
        let (tensor, _keep) = Tensor::new();
        let other = tensor.clone();
        let thread = thread::spawn(move || assert_eq!(other.read(), Ok(0)));
        assert_eq!(tensor.read(), Ok(0));
        thread.join().unwrap();
    });
}

#[test]
fn a_reader_and_a_writer_exclude_each_other() {
    check(|| {
        let (mut tensor, _keep) = Tensor::new();
        let other = tensor.clone();
        let thread = thread::spawn(move || {
            let read = other.read();
            assert!(matches!(read, Ok(0 | 7) | Err(Refused::Written)), "{read:?}");
        });
        let written = tensor.write(7);
        assert!(matches!(written, Ok(()) | Err(Refused::Read)), "{written:?}");
        thread.join().unwrap();
    });
}

#[test]
fn two_writers_exclude_each_other() {
    check(|| {
        let (mut tensor, _keep) = Tensor::new();
        let mut other = tensor.clone();
        let thread = thread::spawn(move || assert!(matches!(other.write(1), Ok(()) | Err(Refused::Written))));
        assert!(matches!(tensor.write(2), Ok(()) | Err(Refused::Written)));
        thread.join().unwrap();
    });
}

/// The case that makes unique readers count themselves: the reader's tensor is the only one when it begins, and another
/// thread clones it through `&Tensor` and writes through the clone.
#[test]
fn a_reader_of_a_once_held_storage_counts_itself() {
    check(|| {
        let (tensor, _keep) = Tensor::new();
        let shared = Arc::new(tensor);
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let mut clone = Tensor::clone(&other);
            assert!(matches!(clone.write(7), Ok(()) | Err(Refused::Read)));
        });
        assert!(matches!(shared.read(), Ok(0 | 7) | Err(Refused::Written)));
        thread.join().unwrap();
    });
}

/// Acquire/Release: once a writer finds itself alone, it sees all that was done through the tensors that are gone.
#[test]
fn a_unique_writer_follows_the_release_of_the_others() {
    check(|| {
        let (mut tensor, _keep) = Tensor::new();
        let mut other = tensor.clone();
        let thread = thread::spawn(move || {
            let _ = other.write(7);
            let _ = other.read();
        });
        // Without joining: that would order everything by itself.
        let _ = tensor.write(9);
        let _ = tensor.write(10);
        drop(tensor);
        thread.join().unwrap();
    });
}

/// The last reference frees the block after every access through the others.
#[test]
fn the_last_release_follows_every_access() {
    check(|| {
        let (tensor, keep) = Tensor::new();
        let mut other = tensor.clone();
        let thread = thread::spawn(move || {
            let _ = other.write(7);
        });
        let _ = tensor.read();
        drop(tensor);
        thread.join().unwrap();
        keep.freed.with(|p| {
            // SAFETY: all threads are joined.
            assert!(unsafe { *p });
        });
    });
}

#[test]
fn freezing_and_writing_exclude_each_other() {
    check(|| {
        let (tensor, keep) = Tensor::new();
        let mut other = tensor.clone();
        let thread = thread::spawn(move || {
            let written = other.write(7);
            assert!(matches!(written, Ok(()) | Err(Refused::Read | Refused::Frozen)), "{written:?}");
            drop(other);
        });
        if tensor.0.state.freeze().is_ok() {
            // Frozen: whatever it holds, it holds from now on.
            let first = tensor.read().expect("a frozen storage may be read");
            assert_eq!(tensor.read(), Ok(first));
            assert!(keep.state.is_frozen());
        }
        thread.join().unwrap();
    });
}

/// A frozen reader does not count itself; the writer that thaws must wait until the reader's tensor is gone.
#[test]
fn thawing_follows_every_frozen_reader() {
    check(|| {
        let (mut tensor, keep) = Tensor::new();
        tensor.0.state.freeze().unwrap();
        let other = tensor.clone();
        let thread = thread::spawn(move || {
            assert_eq!(other.read(), Ok(0));
            drop(other);
        });
        match tensor.write(7) {
            Ok(()) => assert!(!keep.state.is_frozen()),
            Err(refused) => assert_eq!(refused, Refused::Frozen),
        }
        thread.join().unwrap();
        assert_eq!(tensor.write(8), Ok(()));
        assert!(!keep.state.is_frozen());
        assert_eq!(tensor.read(), Ok(8));
    });
}

/// Freeze, a counted reader from before, and a writer. Three threads: bounded to three preemptions, or it takes
/// minutes.
#[test]
fn a_counted_reader_survives_freezing() {
    let mut few = loom::model::Builder::new();
    few.preemption_bound = Some(3);
    few.check(|| {
        let (tensor, _keep) = Tensor::new();
        let (a, mut b) = (tensor.clone(), tensor.clone());
        let reader = thread::spawn(move || {
            let _ = a.read();
        });
        let writer = thread::spawn(move || {
            let _ = b.write(7);
        });
        let _ = tensor.0.state.freeze();
        let _ = tensor.read();
        reader.join().unwrap();
        writer.join().unwrap();
    });
}

#[test]
fn a_forgotten_guard_heals_when_the_storage_is_unique() {
    check(|| {
        let (mut tensor, _keep) = Tensor::new();
        let other = tensor.clone();
        let thread = thread::spawn(move || {
            // Refused while the writer below is at it.
            let forgotten = other.0.state.begin_read();
            assert!(matches!(forgotten, Ok(_) | Err(Refused::Written)));
            drop(other);
        });
        let first = tensor.write(1);
        // Refused while the reader may still be there, or healed because its tensor is gone; or it came before the
        // reader.
        assert!(matches!(first, Ok(()) | Err(Refused::Read)), "{first:?}");
        thread.join().unwrap();
        assert_eq!(tensor.write(2), Ok(()));
        assert_eq!(tensor.read(), Ok(2));
    });
}

#[test]
fn a_forgotten_write_guard_heals_when_the_storage_is_unique() {
    check(|| {
        let (mut tensor, _keep) = Tensor::new();
        let clone = tensor.clone();
        let forgotten = clone.0.state.begin_write(true);
        assert!(forgotten.is_ok());
        assert_eq!(tensor.read(), Err(Refused::Written));
        let thread = thread::spawn(move || drop(clone));
        let early = tensor.write(1);
        assert!(matches!(early, Ok(()) | Err(Refused::Written)));
        thread.join().unwrap();
        assert_eq!(tensor.write(2), Ok(()));
        assert_eq!(tensor.read(), Ok(2));
    });
}

/// An in-place call lends its own tensor as an input. Another thread may use that reference for a call of its own, so
/// the in-place writer marks the word although its tensor is the only one.
#[test]
fn an_in_place_writer_excludes_readers_of_the_reference_that_it_lent() {
    check(|| {
        let (tensor, keep) = Tensor::new();
        assert!(keep.state.heal());
        let lent = Arc::new(tensor);
        let input = lent.clone();
        let thread = thread::spawn(move || {
            assert!(matches!(input.read(), Ok(0 | 7) | Err(Refused::Written)));
        });
        assert!(matches!(lent.write_as(false, 7), Ok(()) | Err(Refused::Read)));
        thread.join().unwrap();
    });
}

/// A prepared call holds a read of its input, and turns it into a write to refill it.
#[test]
fn an_upgraded_read_excludes_readers_and_writers() {
    check(|| {
        let (tensor, keep) = Tensor::new();
        let mut other = tensor.clone();
        let proof = keep.state.begin_read().expect("nobody else is there yet");
        let thread = thread::spawn(move || {
            assert!(matches!(other.read(), Ok(0 | 7) | Err(Refused::Written)));
            assert!(other.write(9).is_err() || other.read() == Ok(9));
        });
        if keep.state.upgrade(&proof).is_ok() {
            keep.data.with_mut(|p| {
                // SAFETY: the borrow, if the protocol is right.
                unsafe { *p = 7 }
            });
            keep.state.end_upgrade();
        }
        keep.data.with(|p| {
            // SAFETY: as above: the read is as it was.
            let value = unsafe { *p };
            assert!(matches!(value, 0 | 7));
        });
        keep.state.end_read(proof);
        thread.join().unwrap();
        drop(tensor);
    });
}

/// The handshake: the thread at home announces its read by plain stores, a writer elsewhere marks the word.
#[test]
fn a_reader_at_home_and_a_writer_exclude_each_other() {
    check(|| {
        let home = Home::fresh();
        let (tensor, _keep) = Tensor::at_home(home);
        let mut other = tensor.clone();
        let thread = thread::spawn(move || {
            assert!(matches!(other.write(7), Ok(()) | Err(Refused::Read)));
            assert!(matches!(other.write(8), Ok(()) | Err(Refused::Read)));
        });
        for _ in 0..2 {
            assert!(matches!(tensor.read_at_home(home), Ok(0 | 7 | 8) | Err(Refused::Written)));
        }
        thread.join().unwrap();
    });
}

/// One fence for two inputs: each of them is as safe as by itself.
#[test]
fn one_fence_guards_every_input_of_a_call() {
    check(|| {
        let home = Home::fresh();
        let (a, _keep_a) = Tensor::at_home(home);
        let (b, _keep_b) = Tensor::at_home(home);
        let (mut c, mut d) = (a.clone(), b.clone());
        let thread = thread::spawn(move || {
            let _ = d.write(5);
            let _ = c.write(7);
        });
        let read = read_all_at_home([&a, &b], home);
        assert!(matches!(read, Ok([0 | 7, 0 | 5]) | Err(Refused::Written)), "{read:?}");
        thread.join().unwrap();
    });
}

/// The reader at home has the only tensor when it begins, and another thread writes through a clone of it.
#[test]
fn a_reader_at_home_of_a_once_held_storage_is_seen() {
    check(|| {
        let home = Home::fresh();
        let (tensor, _keep) = Tensor::at_home(home);
        let shared = Arc::new(tensor);
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let mut clone = Tensor::clone(&other);
            assert!(matches!(clone.write(7), Ok(()) | Err(Refused::Read)));
        });
        assert!(matches!(shared.read_at_home(home), Ok(0 | 7) | Err(Refused::Written)));
        thread.join().unwrap();
    });
}

/// A writer that finds itself alone, and the freeing of the block, follow the reads at home.
#[test]
fn what_follows_the_last_release_follows_reads_at_home() {
    check(|| {
        let home = Home::fresh();
        let (tensor, _keep) = Tensor::at_home(home);
        let mut other = tensor.clone();
        let thread = thread::spawn(move || {
            let _ = other.write(7);
            drop(other);
        });
        let _ = tensor.read_at_home(home);
        drop(tensor);
        thread.join().unwrap();
    });
}

/// Readers elsewhere count themselves in the word, beside the announcements; a refill sees both.
#[test]
fn an_upgraded_read_excludes_the_reader_at_home() {
    check(|| {
        let home = Home::fresh();
        let (tensor, keep) = Tensor::at_home(home);
        let other = tensor.clone();
        let thread = thread::spawn(move || {
            let Ok(proof) = other.0.state.begin_read() else { return };
            if other.0.state.upgrade(&proof).is_ok() {
                other.0.data.with_mut(|p| {
                    // SAFETY: the borrow, if the protocol is right.
                    unsafe { *p = 7 }
                });
                other.0.state.end_upgrade();
            }
            other.0.state.end_read(proof);
        });
        assert!(matches!(tensor.read_at_home(home), Ok(0 | 7) | Err(Refused::Written)));
        thread.join().unwrap();
        drop(keep);
    });
}

/// An in-place call marks its output and announces its other input behind one fence.
#[test]
fn an_in_place_call_announces_both_at_once() {
    check(|| {
        let home = Home::fresh();
        let (a, _keep_a) = Tensor::at_home(home);
        let (b, _keep_b) = Tensor::at_home(home);
        let (reader, mut writer) = (a.clone(), b.clone());
        let thread = thread::spawn(move || {
            assert!(matches!(reader.read(), Ok(0 | 9) | Err(Refused::Written)));
            assert!(matches!(writer.write(7), Ok(()) | Err(Refused::Read)));
        });
        if let Ok(write) = a.0.state.announce_write(false) {
            let read = b.0.state.announce_read(home).expect("a reader at home announces itself in any case");
            borrow::fence();
            if a.0.state.confirm_write(&write).is_ok() && b.0.state.confirm_read(&read).is_ok() {
                b.0.data.with(|p| {
                    // SAFETY: the borrow, if the protocol is right.
                    assert!(matches!(unsafe { *p }, 0 | 7));
                });
                a.0.data.with_mut(|p| {
                    // SAFETY: the borrow, if the protocol is right.
                    unsafe { *p = 9 }
                });
            }
            b.0.state.end_read(read);
            a.0.state.end_write(write);
        }
        thread.join().unwrap();
    });
}

/// What is published: a value that loom checks each access of, so that a value that is read before it is written is
/// found.
struct Value(UnsafeCell<u32>);

// SAFETY: loom's cells check every access; that is the test.
unsafe impl Sync for Value {}
// SAFETY: as above.
unsafe impl Send for Value {}

impl Value {
    fn new(value: u32) -> Value {
        let cell = UnsafeCell::new(0);
        cell.with_mut(|p| {
            // SAFETY: nobody else has it yet.
            unsafe { *p = value }
        });
        Value(cell)
    }

    fn get(&self) -> u32 {
        self.0.with(|p| {
            // SAFETY: written before it was published, if the protocol is right.
            unsafe { *p }
        })
    }
}

/// What a reader makes for a value.
fn copied(value: &Value) -> Value {
    Value::new(value.get())
}

/// One reader in two threads while a third replaces the value: what is read is one of the values, whole, never an older
/// one than was read before, and the new one once `replace` is known to have returned.
#[test]
fn a_table_is_replaced_while_a_shared_handle_reads_it() {
    loom::model(|| {
        let published = Arc::new(Published::new(Value::new(1)));
        let reader: Arc<Reader<Value, Value>> = Arc::new(Reader::new(published.clone()));
        let returned = Arc::new(AtomicU32::new(0));
        let writer = {
            let (published, returned) = (published.clone(), returned.clone());
            thread::spawn(move || {
                published.replace(Value::new(2));
                returned.store(1, loom::sync::atomic::Ordering::Release);
            })
        };
        let other = {
            let reader = reader.clone();
            thread::spawn(move || {
                let first = reader.read(copied);
                assert_eq!(first.value.get(), first.state.get());
                let second = reader.read(copied);
                assert!(second.state.get() >= first.state.get(), "an older table after a newer one");
                assert_eq!(first.value.get(), first.state.get(), "what was read stays while the reader lives");
            })
        };
        let after = returned.load(loom::sync::atomic::Ordering::Acquire) == 1;
        let seen = reader.read(copied);
        assert_eq!(seen.value.get(), seen.state.get());
        assert!(!after || seen.state.get() == 2, "a registration that has returned is not seen");
        writer.join().unwrap();
        other.join().unwrap();
        assert_eq!(reader.read(copied).state.get(), 2);
    });
}

/// A reader that keeps one value (models have the smallest that has both modes) reads three: what it does not keep is
/// counted, and lives as long as it is lent.
#[test]
fn a_reader_that_has_kept_enough_counts() {
    loom::model(|| {
        let published = Arc::new(Published::new(Value::new(1)));
        let reader: Arc<Reader<Value, Value>> = Arc::new(Reader::new(published.clone()));
        let first = reader.read(copied);
        let writer = {
            let published = published.clone();
            thread::spawn(move || (2..=3).for_each(|n| drop(published.replace(Value::new(n)))))
        };
        let second = reader.read(copied);
        let third = reader.read(copied);
        assert!(first.state.get() <= second.state.get() && second.state.get() <= third.state.get());
        for seen in [&first, &second, &third] {
            assert_eq!(seen.value.get(), seen.state.get(), "what was read stays while it is lent");
        }
        writer.join().unwrap();
        assert_eq!(reader.read(copied).state.get(), 3);
        assert_eq!(first.state.get(), 1);
    });
}

/// A value that uses what it was published by when it is dropped: it reads it, and the first also replaces it.
struct Reentrant {
    number: u32,
    published: Weak<Published<Reentrant>>,
}

impl Drop for Reentrant {
    fn drop(&mut self) {
        let Some(published) = self.published.upgrade() else { return };
        assert!(published.load().number > self.number, "dropped while it was published");
        if self.number == 1 {
            let next = Reentrant { number: 3, published: self.published.clone() };
            drop(published.replace(next));
        }
    }
}

/// Values and states that are dropped or made while another thread publishes may read and publish themselves: none of
/// it happens under a lock, or loom would report a deadlock.
#[test]
fn values_may_use_what_published_them_when_they_are_dropped() {
    loom::model(|| {
        let published = Arc::new_cyclic(|me| Published::new(Reentrant { number: 1, published: me.clone() }));
        let reader: Arc<Reader<Reentrant, u32>> = Arc::new(Reader::new(published.clone()));
        let writer = {
            let published = published.clone();
            thread::spawn(move || {
                let next = Reentrant { number: 2, published: Arc::downgrade(&published) };
                drop(published.replace(next));
            })
        };
        let inner = reader.clone();
        let seen = reader.read(|value| value.number.max(inner.read(|value| value.number).state));
        assert!((1..=3).contains(&seen.state));
        drop(seen);
        writer.join().unwrap();
    });
}

/// Something of a user's in a table, and a table behind a lock as the dispatcher has it. Its drop takes the lock and
/// registers.
struct User(Weak<Table>);

type Table = loom::sync::Mutex<Vec<Owned>>;

/// What holds it, as the types of kernels do.
struct Owned(Option<User>);

impl Drop for Owned {
    fn drop(&mut self) {
        retire(self.0.take());
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let Some(table) = self.0.upgrade() else { return };
        let mut held = LockGuard::new(|| table.lock().unwrap());
        held.push(Owned(None));
        // Removed under the lock: what it has is dropped later.
        held.remove(0);
    }
}

/// Registration against the drop of user values: two threads put values into a table and throw them out under its lock,
/// and each value takes the lock when it is dropped.
#[test]
fn what_a_table_loses_is_dropped_after_its_lock() {
    loom::model(|| {
        let table: Arc<Table> = Arc::new(loom::sync::Mutex::new(Vec::new()));
        let register = |table: &Arc<Table>| {
            let mut held = LockGuard::new(|| table.lock().unwrap());
            held.push(Owned(Some(User(Arc::downgrade(table)))));
            drop(held);
            LockGuard::new(|| table.lock().unwrap()).clear();
        };
        let other = {
            let table = table.clone();
            thread::spawn(move || register(&table))
        };
        register(&table);
        other.join().unwrap();
    });
}

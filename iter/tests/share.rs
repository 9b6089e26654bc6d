//! Work that several threads share, with a pool of three threads whatever the machine has.

use monomorph_iter::{is_parallel, share};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// The pool is that of the process: one test at a time uses it.
fn pool() -> MutexGuard<'static, ()> {
    static BUILT: Once = Once::new();
    static ALONE: Mutex<()> = Mutex::new(());
    BUILT.call_once(|| rayon::ThreadPoolBuilder::new().num_threads(3).build_global().expect("no other test built it"));
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn every_piece_is_taken_once() {
    let _alone = pool();
    for pieces in [0, 1, 2, 3, 17, 1000] {
        let taken: Vec<AtomicUsize> = std::iter::repeat_with(AtomicUsize::default).take(pieces).collect();
        for _ in 0..20 {
            share(pieces, |i| {
                taken[i].fetch_add(1, Ordering::Relaxed);
            });
        }
        assert!(taken.iter().all(|n| n.load(Ordering::Relaxed) == 20), "{pieces}: {taken:?}");
    }
}

/// Pieces that wait for each other end only if three threads take them at a time, of which the caller is one.
#[test]
fn as_many_threads_as_the_pool_has_take_part() {
    let _alone = pool();
    let (meeting, who) = (Barrier::new(3), Mutex::new(Vec::<ThreadId>::new()));
    share(3, |_| {
        who.lock().expect("no piece panics").push(std::thread::current().id());
        meeting.wait();
    });
    let who = who.into_inner().expect("no piece panics");
    assert!(who.contains(&std::thread::current().id()), "{who:?}");
}

#[test]
fn the_caller_waits_for_pieces_that_helpers_have_begun() {
    let _alone = pool();
    let (begun, ended, caller) = (Barrier::new(2), AtomicUsize::new(0), std::thread::current().id());
    share(2, |_| {
        begun.wait();
        if std::thread::current().id() != caller {
            std::thread::sleep(Duration::from_millis(50));
        }
        ended.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(ended.into_inner(), 2);
}

#[test]
fn a_busy_pool_holds_nobody_up() {
    let _alone = pool();
    let (done, free) = (AtomicUsize::new(0), channel::<()>());
    let (stop, busy) = (Mutex::new(free.1), Barrier::new(4));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            rayon::broadcast(|_| {
                busy.wait();
                // The first waits for the word, the others for the first.
                let _ended = stop.lock().expect("nobody panics").recv_timeout(Duration::from_secs(60));
            });
        });
        busy.wait();
        share(100, |_| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.load(Ordering::Relaxed), 100);
        // Had it waited for the pool, this would come too late for anybody to hear.
        for _ in 0..3 {
            free.0.send(()).expect("the pool still waits");
        }
    });
    // Helpers that come late find no piece: the closure is gone.
    rayon::broadcast(|_| ());
    assert_eq!(done.load(Ordering::Relaxed), 100);
}

#[test]
fn a_panic_reaches_the_caller_when_nobody_is_at_work() {
    let _alone = pool();
    for fails in [0, 1, 500] {
        let at_work = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            share(1000, |i| {
                assert!(i != fails, "piece {i} fails");
                at_work.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_micros(50));
                at_work.fetch_sub(1, Ordering::SeqCst);
            });
        }));
        let panic = result.expect_err("a piece failed");
        assert_eq!(panic.downcast_ref::<String>(), Some(&format!("piece {fails} fails")));
        assert_eq!(at_work.load(Ordering::SeqCst), 0);
    }
    every_number(64);
}

#[test]
fn a_thread_of_a_pool_works_alone_and_in_order() {
    let _alone = pool();
    let order = rayon::scope(|_| {
        assert!(!is_parallel(1 << 20, 1));
        let order = Mutex::new(Vec::new());
        share(50, |i| order.lock().expect("no piece panics").push(i));
        order.into_inner().expect("no piece panics")
    });
    assert_eq!(order, Vec::from_iter(0..50));
}

fn every_number(pieces: usize) {
    let sum = AtomicUsize::new(0);
    share(pieces, |i| {
        sum.fetch_add(i, Ordering::Relaxed);
    });
    assert_eq!(sum.into_inner(), pieces * (pieces - 1) / 2);
}

//! Work that several threads share, with a pool of three threads whatever the machine has.

use monomorph_iter::{is_parallel, share};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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

/// What a panic says, if a drop of it panics as well.
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("{} was dropped", self.0);
    }
}

/// Three threads panic at once. One payload is the caller's; a drop of another would end the process.
#[test]
fn payloads_are_not_dropped_by_helpers() {
    let _alone = pool();
    for _ in 0..20 {
        let together = Barrier::new(3);
        let result = catch_unwind(AssertUnwindSafe(|| {
            share(3, |_| {
                together.wait();
                resume_unwind(Box::new(Bomb("a piece")));
            });
        }));
        let payload = result.expect_err("every piece fails").downcast::<Bomb>().expect("a bomb");
        assert_eq!(payload.0, "a piece");
        std::mem::forget(payload);
    }
    every_number(64);
}

/// The same for closures over foreign memory, in the walk and in the tree of a fold, whose accumulators are bombs as
/// well.
#[test]
fn panics_of_closures_over_foreign_memory_reach_the_caller() {
    use monomorph_iter::foreign::{ForeignView, ForeignViewMut, accumulate, fold, map1};
    let _alone = pool();
    let numbers = vec![1.0f32; 1 << 18];
    let sizes = [numbers.len()];
    let view = || ForeignView::contiguous(&numbers, &sizes).expect("all of it");
    let escaped = |call: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("it panics");
        assert!(payload.is::<Bomb>());
        std::mem::forget(payload);
    };
    let bomb = || -> f32 { resume_unwind(Box::new(Bomb("a closure"))) };
    for _ in 0..10 {
        escaped(&|| {
            let mut out = vec![0.0f32; numbers.len()];
            let _ = map1(ForeignViewMut::contiguous(&mut out, &sizes).expect("all of it"), view(), |_: f32| bomb());
        });
        escaped(&|| {
            let mut sums = vec![0.0f32; 1 << 10];
            let out = ForeignViewMut::contiguous(&mut sums, &[1 << 10, 1]).expect("all of it");
            let rows = ForeignView::contiguous(&numbers, &[1 << 10, 1 << 8]).expect("all of it");
            let _ = accumulate(out, rows, |_: f32, _: f32| bomb());
        });
        escaped(&|| {
            let _ = fold(view(), || (), |(), _: f32| resume_unwind(Box::new(Bomb("a step"))), |(), ()| ());
        });
        escaped(&|| {
            let step = |bomb: Bomb, _: f32| bomb;
            let folded = fold(
                view(),
                || Bomb("an accumulator"),
                step,
                |a, b| {
                    std::mem::forget((a, b));
                    resume_unwind(Box::new(Bomb("a join")))
                },
            );
            std::mem::forget(folded);
        });
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

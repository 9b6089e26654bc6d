//! Several threads at one storage, and panics of a caller's closures on threads of the library.

use super::{Case, call, case, in_bounds, unexpected};
use monomorph::crates::iter::foreign::{ForeignView, ForeignViewMut, fold, map1};
use monomorph::{AnyTensor, Cpu, DType, Geometry, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    Case {
        // Whatever binds a kernel is refused, behind the growth of its output.
        environment: &[("MONOMORPH_ISA", "none that there is")],
        ..case("growth_undone", "a view made of a storage that grew, of a call that then failed", growth_undone)
    },
    case("growth_while_viewed", "views and calls of many threads while a storage grows", growth_while_viewed),
    case(
        "panic_of_a_closure",
        "a closure that panics on every thread, with payloads whose drop panics",
        panic_of_a_closure,
    ),
    case("panic_of_a_fold", "the same in a fold", panic_of_a_fold),
    case("panic_in_a_panic", "a closure that panics while its thread is already unwinding the payload", panic_twice),
];

const TIME: Duration = Duration::from_secs(2);

fn ints(n: i64) -> Result<AnyTensor, String> {
    let data = vec![1i64; usize::try_from(n).map_err(|error| error.to_string())?];
    Tensor::<Cpu>::from_slice(&data, [n]).map(Tensor::into_any).map_err(unexpected)
}

fn growth_undone() -> Result<(), String> {
    let start = Instant::now();
    let long = ints(200_000)?;
    let wanted = Geometry::new(DType::I64, &[200_000], &[1], 0).map_err(unexpected)?;
    while start.elapsed() < TIME {
        let out = ints(1)?;
        let (seen, stop) = (out.clone(), AtomicBool::new(false));
        let view = std::thread::scope(|scope| {
            let maker = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if let Ok(view) = seen.with_geometry(wanted.clone()) {
                        return Some(view);
                    }
                }
                None
            });
            let outcome = call("neg.out", [long.clone().into(), out.into()]);
            stop.store(true, Ordering::Relaxed);
            (outcome.is_err(), maker.join())
        });
        let (true, Ok(view)) = view else {
            return Err("the call returned, or a thread panicked".to_owned());
        };
        // Nothing is read of a view that lies outside.
        if let Some(view) = view {
            in_bounds(&view)?;
            view.to_vec::<i64>().map(|_| ()).map_err(unexpected)?;
        }
    }
    Ok(())
}

fn growth_while_viewed() -> Result<(), String> {
    let start = Instant::now();
    let shared = ints(1)?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let own = shared.clone();
                scope.spawn(move || -> Result<(), String> {
                    let mut size = 1;
                    while start.elapsed() < TIME {
                        size = (size * 7 + worker) % 5000 + 1;
                        match worker % 2 {
                            // May be refused while another writes.
                            0 => drop(call("neg.out", [ints(size)?.into(), own.clone().into()])),
                            _ => {
                                let bytes = own.storage_bytes() as i64;
                                let geometry = Geometry::new(DType::I64, &[bytes / 8], &[1], 0).map_err(unexpected)?;
                                let view = own.with_geometry(geometry).map_err(unexpected)?;
                                in_bounds(&view)?;
                                let _ = view.to_vec::<i64>();
                                in_bounds(&view)?;
                            }
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked".to_owned())?)
    })
}

/// A payload whose drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload of the caller's is dropped");
    }
}

const ELEMENTS: usize = 1 << 20;

/// Panics as soon as two threads are here, or after a while.
fn together(here: &AtomicUsize) -> ! {
    let start = Instant::now();
    here.fetch_add(1, Ordering::Relaxed);
    while here.load(Ordering::Relaxed) < 2 && start.elapsed() < Duration::from_millis(50) {
        std::hint::spin_loop();
    }
    panic_any(Bomb)
}

/// The panic must come out here, once; its payload is the caller's again, who does not drop it either.
fn comes_out(run: impl FnOnce() -> bool) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(_) => Err("the closure's panic was lost".to_owned()),
        Err(payload) => {
            let own = payload.is::<Bomb>();
            std::mem::forget(payload);
            if own { Ok(()) } else { Err("another panic came out".to_owned()) }
        }
    }
}

fn panic_of_a_closure() -> Result<(), String> {
    let data = vec![1.0f32; ELEMENTS];
    for _ in 0..20 {
        let mut out = vec![0.0f32; ELEMENTS];
        let to = ForeignViewMut::contiguous(&mut out, &[ELEMENTS]).map_err(unexpected)?;
        let from = ForeignView::contiguous(&data, &[ELEMENTS]).map_err(unexpected)?;
        let here = AtomicUsize::new(0);
        comes_out(|| map1(to, from, |_: f32| -> f32 { together(&here) }).is_ok())?;
    }
    Ok(())
}

fn panic_of_a_fold() -> Result<(), String> {
    let data = vec![1.0f32; ELEMENTS];
    for _ in 0..20 {
        let from = ForeignView::contiguous(&data, &[ELEMENTS]).map_err(unexpected)?;
        let here = AtomicUsize::new(0);
        comes_out(|| fold(from, || 0.0f32, |_, _: f32| together(&here), |a, _| a).is_ok())?;
    }
    Ok(())
}

fn panic_twice() -> Result<(), String> {
    let data = vec![1.0f32; ELEMENTS];
    for round in 0..20 {
        let mut out = vec![0.0f32; ELEMENTS];
        let to = ForeignViewMut::contiguous(&mut out, &[ELEMENTS]).map_err(unexpected)?;
        let from = ForeignView::contiguous(&data, &[ELEMENTS]).map_err(unexpected)?;
        let here = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            map1(to, from, |x: f32| if round % 2 == 0 { panic!("{x}") } else { together(&here) }).is_ok()
        }));
        let Err(payload) = outcome else { return Err("the closure's panic was lost".to_owned()) };
        std::mem::forget(payload);
    }
    // The threads are still at work.
    let mut out = vec![0.0f32; ELEMENTS];
    let to = ForeignViewMut::contiguous(&mut out, &[ELEMENTS]).map_err(unexpected)?;
    let from = ForeignView::contiguous(&data, &[ELEMENTS]).map_err(unexpected)?;
    map1(to, from, |x: f32| x + 1.0).map_err(unexpected)?;
    if out.iter().all(|x| *x == 2.0) { Ok(()) } else { Err("an element was left out".to_owned()) }
}

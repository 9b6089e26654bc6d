//! Faults planted between the device and the driver, each of which the stand-in or the scenario has to find: a check
//! that finds none of them proves nothing.

use crate::tests::{calls, failing};
use crate::{Outcome, reductions, release_all, scenario};
use monomorph_cuda::release;
use monomorph_testsuite::cuda::fake::StandIn;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the stand-in is told, and a word of what has to be found.
const FAULTS: [(&str, &str); 15] = [
    ("omit cuMemFreeAsync", "blocks are left"),
    ("omit cuStreamDestroy_v2", "streams are left"),
    ("omit cuEventDestroy_v2", "events are left"),
    ("omit cuMemFreeHost", "pinned buffers are left"),
    ("omit cuModuleUnload", "modules are left"),
    ("omit cuDevicePrimaryCtxRelease_v2", "contexts are left"),
    ("omit cuStreamWaitEvent", "without waiting for it"),
    ("omit cuEventRecord", "without waiting for it"),
    ("omit cuStreamSynchronize", "panicked"),
    ("omit cuEventSynchronize", "panicked"),
    ("omit cuLaunchKernel", "panicked"),
    ("omit cuCtxSetCurrent", "a call without a context"),
    ("omit cuMemsetD8Async", "panicked"),
    ("omit cuMemcpyPeerAsync", "panicked"),
    ("widen", "reaches beyond"),
];

/// What is found of a fault.
fn found(stand_in: &StandIn, fault: &str) -> String {
    stand_in.tell(fault);
    let ran = catch_unwind(AssertUnwindSafe(|| {
        reductions::scenario()
            .and_then(|()| scenario::run())
            .and_then(|()| scenario::transfer())
            .and_then(|()| scenario::across())
    }));
    let mut found = match ran {
        Ok(Ok(())) => String::new(),
        Ok(Err(error)) => format!("{error}\n"),
        Err(_) => "panicked\n".to_owned(),
    };
    for index in [0, 1, 0, 1, 0, 1] {
        found += &release(index).err().map_or(String::new(), |error| format!("{error}\n"));
    }
    found += &stand_in.tell("report");
    stand_in.tell("reset");
    found
}

pub(crate) fn all_are_found(stand_in: &StandIn) -> Outcome {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let missed: Vec<String> = FAULTS
        .iter()
        .filter_map(|(fault, word)| {
            let found = found(stand_in, fault);
            (!found.contains(word)).then(|| format!("{fault}: found is {found:?}, wanted {word:?}"))
        })
        .chain(lost_error(stand_in))
        .collect();
    std::panic::set_hook(hook);
    if missed.is_empty() { Ok(()) } else { Err(missed.join("\n")) }
}

/// An error that somebody loses on the way: the check that tries every call has to see it.
fn lost_error(stand_in: &StandIn) -> Option<String> {
    let calls = match calls(stand_in, scenario::run) {
        Ok(calls) => calls,
        Err(problem) => return Some(problem),
    };
    let loses = |at: u64| {
        stand_in.tell("reset");
        stand_in.tell(&format!("mute {at} 1"));
        let verdict = catch_unwind(AssertUnwindSafe(|| failing(stand_in, scenario::run, at, 1)));
        release_all(3);
        stand_in.tell("reset");
        !matches!(verdict, Ok(Ok(())))
    };
    // The last call gives the context back.
    let unseen: Vec<u64> = [calls, calls - 1, calls / 2].into_iter().filter(|&at| !loses(at)).collect();
    (!unseen.is_empty()).then(|| format!("errors of calls {unseen:?} are lost and nobody sees it"))
}

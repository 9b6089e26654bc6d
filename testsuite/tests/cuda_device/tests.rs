//! What is asked of CUDA beyond the tests of every device: errors of the driver at every call, broken contexts, short
//! memory, streams of threads.

use crate::{Outcome, calls, processes, reductions, release_all, scenario, settled};
use monomorph::crates::core::DeviceKind;
use monomorph::crates::ops::{arithmetic, comparison, exponential, fill, selection};
use monomorph::{DType, DeviceId, ErrorKind, Tensor, ops::add};
use monomorph_cuda::{
    Cuda, Stream, compile, compile_copies, compile_nearest, device_count, device_name, live_blocks, release,
    set_blocking, trim,
};
use monomorph_testsuite::cuda::fake::StandIn;

/// A test that may tell the stand-in something.
type Test = fn(&StandIn) -> Outcome;

/// Every test, by name.
pub(crate) const ALL: [(&str, Test); 18] = [
    ("a_scenario_runs_and_gives_everything_back", runs),
    ("an_error_of_any_call_is_told_and_leaves_nothing", every_call_fails),
    ("an_error_that_ends_the_context_is_every_later_calls", contexts_break),
    ("short_memory_is_made_by_giving_back", memory_is_short),
    ("streams_of_threads_are_ordered", threads_have_streams),
    ("blocking_calls_name_the_kernel", blocking),
    ("what_is_in_use_is_not_released", in_use),
    ("devices_are_found", devices),
    ("devices_copy_to_each_other", calls::devices_copy),
    ("streams_are_of_their_device", calls::streams_have_a_device),
    ("fused_operators_are_those_of_the_cpu_in_one_launch", calls::fused),
    ("tensors_are_printed", calls::printed),
    ("processes_share_a_cache", processes::share_a_cache),
    ("what_does_not_compile_says_why_and_whose_it_is", calls::uncompiled),
    ("reductions_are_those_of_the_cpu", reductions::agree),
    ("reductions_write_what_the_caller_has", reductions::outputs),
    ("blocks_share_outputs_again_and_again", reductions::share),
    ("blocking_reductions_name_the_kernel", reductions::named),
];

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// In few translation units: most of the time would be spent on reading what kernels share.
pub(crate) fn kernels_compile() -> Outcome {
    // The compiler is another process, so that two threads take half the time.
    std::thread::scope(|scope| {
        let others = scope.spawn(|| compile_without_casts().map_err(words));
        let first = compile_all(true).map_err(words);
        first.and(others.join().map_err(|_| "the other thread panicked".to_owned())?)
    })
}

fn compile_without_casts() -> monomorph::Result<()> {
    compile_all(false)?;
    compile_nearest(0)?;
    reductions::compile()
}

fn compile_all(casting: bool) -> monomorph::Result<()> {
    let all = &DType::ALL;
    compile_copies(0, casting)?;
    compile::<fill::FillFn>(0, all, casting)?;
    compile::<arithmetic::AddFn>(0, all, casting)?;
    compile::<arithmetic::MulFn>(0, all, casting)?;
    compile::<arithmetic::DivFn>(0, all, casting)?;
    compile::<arithmetic::DivFloorFn>(0, all, casting)?;
    compile::<arithmetic::NegFn>(0, all, casting)?;
    compile::<arithmetic::AbsFn>(0, all, casting)?;
    compile::<exponential::ExpFn>(0, all, casting)?;
    compile::<comparison::LtFn>(0, all, casting)?;
    compile::<selection::WhereFn>(0, all, casting)
}

fn runs(_: &StandIn) -> Outcome {
    scenario::run().and_then(|()| scenario::transfer()).map_err(words)
}

/// Codes of calls that fail: one that says nothing of what comes after, short memory, and one that ends the context.
const CODES: [i32; 3] = [1, 2, 700];

/// A scenario.
pub(crate) type Scenario = fn() -> monomorph::Result<()>;

fn every_call_fails(stand_in: &StandIn) -> Outcome {
    for scenario in [scenario::run, scenario::transfer, scenario::across, reductions::scenario] {
        let calls = calls(stand_in, scenario)?;
        for code in CODES {
            for at in 1..=calls {
                stand_in.tell(&format!("inject {at} {code}"));
                failing(stand_in, scenario, at, code)?;
            }
        }
    }
    Ok(())
}

/// How many calls a scenario makes that begins with a closed device and ends with it.
pub(crate) fn calls(stand_in: &StandIn, scenario: Scenario) -> Result<u64, String> {
    // Kernels are on disk before calls are counted.
    scenario().map_err(words)?;
    settled(stand_in)?;
    stand_in.tell("inject 0 0");
    scenario().map_err(words)?;
    if release_all(1) > 0 {
        return Err("an error of a scenario without one".to_owned());
    }
    let calls = stand_in.tell("calls").parse().map_err(words);
    stand_in.tell("reset");
    calls
}

/// A scenario with one call that fails: somebody is told, and nothing is left.
pub(crate) fn failing(stand_in: &StandIn, scenario: Scenario, at: u64, code: i32) -> Outcome {
    let ran = scenario();
    let place = format!("call {at}, {}, with code {code}", stand_in.tell("injected"));
    let told = usize::from(ran.is_err()) + release_all(3);
    // Short memory may be made by giving back.
    let made = code == 2 && stand_in.tell("trimmed") != "0";
    let report = stand_in.tell("report");
    let live = live_blocks(0).0 + live_blocks(1).0;
    stand_in.tell("reset");
    match () {
        () if !report.is_empty() => Err(format!("{place}: {report}")),
        () if told == 0 && !made => Err(format!("{place}: the error is lost")),
        () if live != 0 => Err(format!("{place}: blocks are live")),
        () => Ok(()),
    }
}

fn contexts_break(stand_in: &StandIn) -> Outcome {
    let tensor = Tensor::<Cuda>::from_slice_on(0, &[1.0f32, 2.0], [2]).map_err(words)?;
    // The copy, between two that make the context current.
    stand_in.tell("inject 3 719");
    let first = tensor.to_vec::<f32>().err().ok_or("a call in a context that ends")?.to_string();
    for later in [tensor.to_vec::<f32>().map(|_| ()), add(&tensor, &tensor).map(|_| ()), trim(0)] {
        let error = later.err().ok_or("a call in a broken context")?.to_string();
        if !error.contains("CUDA_ERROR_LAUNCH_FAILED") || !error.contains("monomorph_cuda::release") {
            return Err(format!("{first}; and then {error}"));
        }
    }
    // The other device goes on.
    let other = Tensor::<Cuda>::from_slice_on(1, &[3i32], [1]).map_err(words)?;
    drop((tensor, other));
    release(0).map_err(words)?;
    let again = Tensor::<Cuda>::from_slice_on(0, &[5.0f32], [1]).map_err(words)?;
    if again.to_vec::<f32>().map_err(words)? == [5.0] { Ok(()) } else { Err("another value".to_owned()) }
}

fn memory_is_short(stand_in: &StandIn) -> Outcome {
    // The stand-in has 192 MiB, and keeps what is freed.
    let large = || Tensor::<Cuda>::zeroed(DType::U8, &[100 << 20], &[1], 0);
    let first = large().map_err(words)?;
    let device = DeviceId { kind: DeviceKind::CUDA, index: 0 };
    let refused = large().err().ok_or("200 MiB")?;
    if *refused.kind() != (ErrorKind::Allocation { bytes: 100 << 20, device }) {
        return Err(format!("another error: {refused}"));
    }
    drop(first);
    let trimmed = stand_in.tell("trimmed");
    let second = large().map_err(words)?;
    if stand_in.tell("trimmed") == trimmed {
        return Err("memory was there without giving back".to_owned());
    }
    drop(second);
    Ok(())
}

fn threads_have_streams(_: &StandIn) -> Outcome {
    let shared = Tensor::<Cuda>::from_slice_on(0, &[1i64, 2, 3], [3]).map_err(words)?;
    let work = |number: i64| -> monomorph::Result<Vec<i64>> {
        let stream = Stream::new(0)?;
        let _entered = stream.enter();
        let mut sum = shared.clone();
        for _ in 0..number {
            sum = add(&sum, &shared)?;
        }
        sum.to_vec::<i64>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|number| (number, scope.spawn(move || work(number)))).collect();
        threads.into_iter().try_for_each(|(number, thread)| {
            let got = thread.join().map_err(|_| "a thread panicked".to_owned())?.map_err(words)?;
            let want: Vec<i64> = [1, 2, 3].map(|x| x * (number + 1)).to_vec();
            if got == want { Ok(()) } else { Err(format!("{got:?}, want {want:?}")) }
        })
    })
}

fn blocking(stand_in: &StandIn) -> Outcome {
    let x = Tensor::<Cuda>::from_slice_on(0, &[1.0f64, 2.0], [2]).map_err(words)?;
    set_blocking(true);
    let _ = add(&x, &x).map_err(words)?;
    let mut errors = Vec::new();
    for at in 1..20 {
        stand_in.tell(&format!("inject {at} 1"));
        errors.extend(add(&x, &x).err().map(words));
    }
    stand_in.tell("inject 0 0");
    set_blocking(false);
    // Errors of drops are told by the next call.
    let _ = add(&x, &x);
    for call in ["cuLaunchKernel", "cuStreamSynchronize"] {
        if !errors.iter().any(|error| error.contains(&format!("{call} of f_add_f64_vector: "))) {
            return Err(format!("no error of {call} names the kernel: {errors:?}"));
        }
    }
    Ok(())
}

fn in_use(_: &StandIn) -> Outcome {
    let x = Tensor::<Cuda>::from_slice_on(0, &[1.0f64], [1]).map_err(words)?;
    let refused = release(0).err().ok_or("a device with a tensor was released")?.to_string();
    drop(x);
    let stream = Stream::new(0).map_err(words)?;
    let held = release(0).err().ok_or("a device with a stream was released")?.to_string();
    // It can be used yet.
    let _entered = stream.enter();
    let y = Tensor::<Cuda>::from_slice_on(0, &[4.0f64], [1]).map_err(words)?;
    let sum = add(&y, &y).map_err(words)?.to_vec::<f64>().map_err(words)?;
    match (refused.contains("tensors"), held.contains("streams"), sum == [8.0]) {
        (true, true, true) => Ok(()),
        _ => Err(format!("{refused}; {held}; {sum:?}")),
    }
}

fn devices(_: &StandIn) -> Outcome {
    let name = device_name(1).map_err(words)?;
    let none = device_name(2).err().ok_or("there is a third device")?.to_string();
    let lost = Tensor::<Cuda>::from_slice_on(2, &[1.0f32], [1]).err().ok_or("a tensor on a third device")?.to_string();
    let right = device_count().map_err(words)? == 2 && name == "stand-in 1";
    if right && none.contains("the driver has 2") && lost.contains("cuda:2") && lost.contains("the driver has 2") {
        Ok(())
    } else {
        Err(format!("{name}; {none}; {lost}"))
    }
}

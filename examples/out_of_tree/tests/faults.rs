//! The tests that any device has to pass find what is wrong with devices that do not: one device, one fault at a time,
//! and the checks that have to notice it.

use monomorph::crates::core::dispatch::{Backend, KernelFunction};
use monomorph::crates::core::{Contents, DeviceKind, Memory, Reach, Strided};
use monomorph::crates::ops::fill::Fills;
use monomorph::{
    AnyTensor, Cpu, Device, Dispatcher, Library, Result, Scalar, Tensor,
    ops::{abs, add_with, neg, options::Add},
    selection,
};
use monomorph_testsuite::device_tree::{Subject, alone, every_check};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

macro_rules! faults {
    ($($fault:ident => $($check:literal)*;)*) => {
        /// What is wrong with the device.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        enum Fault { Nothing, $($fault),* }

        /// Each fault, and the checks that find it.
        const FAULTS: &[(Fault, &[&str])] = &[$((Fault::$fault, &[$($check),*])),*];
    };
}
faults! {
    ForgetsToFree => "memory_is_given_back" "contents_arrive" "failed_calls_change_nothing";
    LeavesGarbage => "zeroed_memory_is_zero" "growth_keeps_contents";
    HandsOutOneBlock => "blocks_lie_apart";
    GrantsTheImpossible => "impossible_sizes_are_errors";
    KnowsEveryIndex => "devices_of_a_kind_lie_apart";
    GrowthLosesBytes => "growth_keeps_contents";
    WritesTooFew => "contents_arrive" "blocks_lie_apart";
    ReadsTooFew => "contents_arrive" "copies_cross_devices" "tensors_move_between_devices";
    CopyDropsTheLastElement => "copies_reach_every_layout" "copies_convert_every_dtype" "recorded_calls_agree";
    CopyForgetsConversion => "copies_convert_every_dtype" "recorded_calls_agree";
    CopyIgnoresStrides => "copies_reach_every_layout" "recorded_calls_agree";
    CopyIgnoresBits => "copies_convert_every_dtype" "recorded_calls_agree";
    KernelIsWrong => "recorded_calls_agree";
    KernelWritesItsInput => "recorded_calls_agree";
    KernelForgetsToResize => "recorded_calls_agree";
    KernelReturnsItsInput => "recorded_calls_agree" "unboxed_calls_agree";
    KernelMovesToTheFirstDevice => "results_stay_on_their_device";
    KernelTakesAnyDevice => "mixed_devices_are_errors";
    KernelIsMissing => "recorded_calls_agree";
    RegistersTwice => "registration_is_undone";
    StaysRegistered => "registration_is_undone";
}

static FAULT: AtomicU8 = AtomicU8::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);

fn is(fault: Fault) -> bool {
    FAULT.load(Ordering::Relaxed) == fault as u8
}

/// The host's memory behind transfers, and kernels that compute on the CPU.
#[derive(Clone, Copy, Debug)]
struct Faulty;

static MEMORY: Memory =
    Memory { allocate, free, copy: copy_block, reach: Reach::Transfer { write, read, refusal: |_| None } };

fn host() -> &'static Memory {
    Cpu::MEMORY.expect("the CPU has memory")
}

/// The one block of [`Fault::HandsOutOneBlock`].
fn only_block() -> NonNull<u8> {
    static BLOCK: AtomicUsize = AtomicUsize::new(0);
    if BLOCK.load(Ordering::Relaxed) == 0 {
        let block = (host().allocate)(0, 4096, Contents::Zeroed).expect("memory");
        BLOCK.store(block.as_ptr().expose_provenance(), Ordering::Relaxed);
    }
    NonNull::new(std::ptr::with_exposed_provenance_mut(BLOCK.load(Ordering::Relaxed))).expect("a block")
}

fn allocate(index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    if index > 1 && !is(Fault::KnowsEveryIndex) {
        return None;
    }
    let bytes = if is(Fault::GrantsTheImpossible) { bytes.min(4096) } else { bytes };
    LIVE.fetch_add(1, Ordering::Relaxed);
    if is(Fault::HandsOutOneBlock) && bytes <= 4096 {
        return Some(only_block());
    }
    let block = (host().allocate)(0, bytes, contents);
    match block {
        None => {
            LIVE.fetch_sub(1, Ordering::Relaxed);
        }
        Some(block) if contents == Contents::Unspecified || is(Fault::LeavesGarbage) => {
            // SAFETY: the block has that many bytes.
            unsafe { block.write_bytes(0xA5, bytes) };
        }
        Some(_) => {}
    }
    block
}

unsafe fn free(_: u8, block: NonNull<u8>, bytes: usize) {
    if is(Fault::ForgetsToFree) {
        return;
    }
    LIVE.fetch_sub(1, Ordering::Relaxed);
    let (small, large) = (bytes <= 4096, bytes > 4096);
    let kept = is(Fault::HandsOutOneBlock) && small || is(Fault::GrantsTheImpossible) && large;
    if !kept {
        // SAFETY: M2, and the block is one of the CPU's.
        unsafe { (host().free)(0, block, bytes) };
    }
}

unsafe fn copy_block(_: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    let bytes = if is(Fault::GrowthLosesBytes) { bytes / 2 } else { bytes };
    // SAFETY: M2.
    unsafe { (host().copy)(0, to, from, bytes) };
}

unsafe fn write(_: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    // SAFETY: M4.
    unsafe { to.copy_from_nonoverlapping(from, bytes - usize::from(is(Fault::WritesTooFew))) };
    Ok(())
}

unsafe fn read(_: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    // SAFETY: M4.
    unsafe { to.copy_from_nonoverlapping(from, bytes - usize::from(is(Fault::ReadsTooFew))) };
    Ok(())
}

// SAFETY: no other type of this binary has kind 17. The faults touch less than they should, or what is theirs to touch:
// none leaves a block of the CPU's.
unsafe impl Device for Faulty {
    const KIND: DeviceKind = DeviceKind(17);
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    type Guard = ();
    type StdOps = monomorph::crates::ops::StdOps;

    fn enter(_: u8) {}

    unsafe fn copy(_: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        let mut sizes = sizes.to_vec();
        let (mut from, mut dense) = (from, from.strides.to_vec());
        if let (true, Some(last)) = (is(Fault::CopyDropsTheLastElement), sizes.last_mut()) {
            *last -= 1;
        }
        if is(Fault::CopyForgetsConversion) && from.dtype.size() == to.dtype.size() {
            from.dtype = to.dtype;
        }
        // Transposed ones only: they reach as far as dense ones.
        if is(Fault::CopyIgnoresStrides)
            && monomorph::crates::core::strides::is_non_overlapping_and_dense(&sizes, from.strides)
        {
            dense = monomorph::crates::core::strides::contiguous_strides(&sizes).to_vec();
        }
        if is(Fault::CopyIgnoresBits) {
            (from.conj, from.neg) = (false, false);
        }
        // SAFETY: C1, C2, and what the faults make of them is no more.
        unsafe { Cpu::copy(0, &sizes, to, Strided { strides: &dense, ..from }) }
    }
}

impl Fills for Faulty {}

/// The device and its fault.
struct Planted;

impl Subject for Planted {
    type Device = Faulty;
    const DEVICES: u8 = 2;
    const OPERATORS: &'static [&'static str] = &["neg", "neg_", "neg.out", "add.Tensor", "add_.Tensor", "add.out"];

    fn register(dispatcher: &Dispatcher) -> Result<Vec<Library>> {
        let mut library = dispatcher.library("faulty");
        let backend = Backend::of(Faulty::KIND).expect("kind 17 has a dispatch key");
        if is(Fault::RegistersTwice) && dispatcher.key("Faulty").is_ok() {
            return Ok(vec![library]);
        }
        library.backend::<Faulty>("Faulty")?;
        selection::register_memory::<Faulty>(&mut library)?;
        if !is(Fault::KernelIsMissing) {
            let kernel = match is(Fault::KernelForgetsToResize) {
                true => KernelFunction::function(neg_out),
                false => KernelFunction::after_meta::<Faulty, _, _>(neg_out),
            };
            library.kernel("neg.out", backend, kernel)?;
        }
        if is(Fault::KernelReturnsItsInput) {
            library.kernel("neg", backend, KernelFunction::function(|x: &Tensor<Faulty>| x.clone()))?;
        }
        if is(Fault::KernelMovesToTheFirstDevice) {
            let first = |x: &Tensor<Faulty>| Tensor::<Faulty>::from_any(x.as_any(), 0);
            library.kernel("neg", backend, KernelFunction::function(first))?;
        }
        let kernel = match is(Fault::KernelTakesAnyDevice) {
            true => KernelFunction::function(add_any_out),
            false => KernelFunction::after_meta::<Faulty, _, _>(add_out),
        };
        library.kernel("add.out", backend, kernel)?;
        if is(Fault::StaysRegistered) {
            std::mem::forget(library);
            return Ok(vec![dispatcher.library("faulty")]);
        }
        Ok(vec![library])
    }

    fn live_blocks() -> Option<usize> {
        Some(LIVE.load(Ordering::Relaxed))
    }
}

fn here(tensor: &AnyTensor) -> Result<Tensor<Cpu>> {
    let moved = Tensor::<Cpu>::from_any(tensor, 0)?;
    moved.with_geometry(moved.geometry().clone().with_wrapped(tensor.geometry().is_wrapped()))
}

fn put(result: &Tensor<Cpu>, out: &mut Tensor<Faulty>) -> Result<()> {
    out.copy_from(&Tensor::from_any(result.as_any(), out.device().index)?)
}

fn neg_out(this: &Tensor<Faulty>, out: &mut Tensor<Faulty>) -> Result<()> {
    let result = if is(Fault::KernelIsWrong) { abs(&here(this.as_any())?) } else { neg(&here(this.as_any())?) }?;
    if is(Fault::KernelWritesItsInput) {
        this.clone().copy_from(&Tensor::from_any(result.as_any(), this.device().index)?)?;
    }
    put(&result, out)
}

fn add_any_out(a: &AnyTensor, b: &AnyTensor, alpha: Scalar, out: &mut Tensor<Faulty>) -> Result<()> {
    put(&add_with(&here(a)?, &here(b)?, Add { alpha, ..Default::default() })?, out)
}

fn add_out(a: &Tensor<Faulty>, b: &Tensor<Faulty>, alpha: Scalar, out: &mut Tensor<Faulty>) -> Result<()> {
    add_any_out(a.as_any(), b.as_any(), alpha, out)
}

#[test]
fn each_fault_is_found() {
    let every = every_check::<Planted>();
    let mut wrong = Vec::new();
    for (name, check) in &every {
        if let Err(failure) = alone(*check) {
            wrong.push(format!("without a fault {name} fails: {failure}"));
        }
    }
    for (fault, checks) in FAULTS {
        FAULT.store(*fault as u8, Ordering::Relaxed);
        for wanted in *checks {
            match every.iter().find(|(name, _)| name == wanted) {
                None => wrong.push(format!("there is no check {wanted}")),
                Some((_, check)) if alone(*check).is_ok() => wrong.push(format!("{wanted} does not find {fault:?}")),
                Some(_) => {}
            }
        }
    }
    FAULT.store(Fault::Nothing as u8, Ordering::Relaxed);
    // Every check can fail, but for those that only a wrong library fails.
    const OF_THE_LIBRARY: [&str; 5] = [
        "empty_tensors_have_no_memory",
        "threads_share_the_device",
        "views_share_memory",
        "overlapping_copies_are_errors",
        "missing_kernels_are_named",
    ];
    for (name, _) in &every {
        if !FAULTS.iter().any(|(_, checks)| checks.contains(name)) && !OF_THE_LIBRARY.contains(name) {
            wrong.push(format!("no fault is planted for {name}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

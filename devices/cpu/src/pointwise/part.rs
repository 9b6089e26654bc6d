//! Some of the elements of a bound call, on other memory than the call's: for kernels that are run block by block
//! (`storage/groups.rs` of the core). Owns the ways to call a kernel for a part, and which calls have one; a block is a
//! few thousand elements, so that a way must cost next to nothing.

use super::call::Strategy;
use super::driver::{Driver, Reach};
use super::kernel_fn::{KernelFn, Traversal};
use super::non_temporal;
use super::operand_base::{MAX_OPERANDS, NumberBytes};
use super::planes::STAGE_BYTES;
use super::row_layout::{RowLayout, RowMode};
use crate::cache_lines::{prefetch_run, store_fence};
use crate::staging::{StageBuffer, Stager};
use crate::tile_copy::Tile;
use monomorph_core::structured::{Elementwise, Part, PartOperand};
use monomorph_iter::{GRAIN, TensorIter, is_parallel, pieces, share};
use smallvec::SmallVec;

type Context = [*const (); 3];

/// Hands out pieces to the threads of the pool.
fn share_pieces(count: usize, f: &(dyn Fn(usize) + Sync)) {
    share(count, f);
}

/// A call by its elements, if they are independent and lie densely. `iter` and `params` are those that it was made
/// from, of a formula without faults.
#[inline(never)]
pub(super) fn elementwise(call: &Strategy, iter: &TensorIter, params: *const ()) -> Option<Elementwise> {
    if iter.ndim() > 1 || iter.must_be_serial() || iter.noperands() > MAX_OPERANDS {
        return None;
    }
    let numel = iter.numel();
    let data = |k: usize| match call {
        Strategy::Dense(call) => call.operand(k),
        Strategy::Driver(driver) => Some(driver.base(k)),
        _ => None,
    };
    let operand = |k: usize| match (iter.strides(k).first(), iter.dtype(k).size()) {
        (Some(0), _) if k != 0 => Some(PartOperand::One(data(k)?)),
        (stride, size) if stride.is_none_or(|&stride| stride == size as isize) => {
            Some(PartOperand::Run(data(k)?, size))
        }
        _ => None,
    };
    let mut operands: SmallVec<[PartOperand; 4]> = (0..iter.noperands()).map(operand).collect::<Option<_>>()?;
    let (run, context): (unsafe fn(&Context, &Part<'_>), Context) = match call {
        Strategy::Dense(call) => (run_dense, [call.kernel() as *const (), params, std::ptr::null()]),
        Strategy::Driver(driver) => driver.parts(iter, params, &mut operands),
        _ => return None,
    };
    let pieces = if is_parallel(numel, GRAIN) { pieces() } else { 1 };
    let (share, finish, prefetch) = (share_pieces, store_fence, prefetch_run);
    Some(Elementwise { numel, operands, run, context, pieces, share, finish, prefetch })
}

impl Driver {
    /// How parts of it are run. A number is exchanged for what the kernel takes, where that saves staging.
    fn parts(
        &self,
        iter: &TensorIter,
        params: *const (),
        operands: &mut [PartOperand],
    ) -> (unsafe fn(&Context, &Part<'_>), Context) {
        let kernel = self.kernel as *const ();
        let planes = (run_planes as _, [std::ptr::from_ref(self).cast(), std::ptr::from_ref(iter).cast(), params]);
        let Reach::Planes(stagers) = &self.reach else { return (run_dense, [kernel, params, std::ptr::null()]) };
        let is_apart = |k: usize| self.base(k) != self.base(0);
        let is_run = |k: usize| matches!(operands[k], PartOperand::Run(..));
        let others = 1..operands.len();
        let broadcast = others.clone().find(|&k| !is_run(k));
        let direct = |k: usize| stagers[k].is_direct();
        match broadcast {
            _ if !direct(0) => planes,
            None if others.clone().all(|k| direct(k) && (k == 1 || is_apart(k))) => {
                let is_large = self.light && non_temporal::is_worthwhile(iter.numel() * stagers[0].size());
                let run = if is_large && is_apart(1) { run_dense_past_caches } else { run_dense };
                (run, [kernel, params, std::ptr::null()])
            }
            // Neither is the output (K6).
            Some(one)
                if self.row_mode == RowMode::Broadcast
                    && others.clone().all(|k| is_apart(k) && (k == one || is_run(k) && direct(k)))
                    && (direct(one) || self.is_number(one)) =>
            {
                if self.is_number(one) {
                    operands[one] = PartOperand::Number(self.number(one, &stagers[one]));
                }
                (if one == 1 { run_broadcast::<0> } else { run_broadcast::<1> }, [kernel, params, std::ptr::null()])
            }
            _ => planes,
        }
    }

    /// A number as the kernel takes it.
    fn number(&self, operand: usize, stager: &Stager) -> NumberBytes {
        let mut block = StageBuffer::<STAGE_BYTES>::NEW;
        let mut scratch = StageBuffer::<STAGE_BYTES>::NEW;
        let mut bytes = NumberBytes([0; 16]);
        let tile = Tile { cols: 1, rows: 1, inner: 0, outer: 0 };
        // SAFETY: L1, L3: a number is one element of the dtype that the stager takes, and nobody writes it; L2: two
        // blocks.
        unsafe { stager.load(self.base(operand).cast_const(), tile, block.data(), scratch.data()) };
        let size = stager.size().min(bytes.0.len());
        // SAFETY: the element was just loaded, of `size` bytes, and both sides are locals.
        unsafe { std::ptr::copy_nonoverlapping(block.data().cast_const(), bytes.0.as_mut_ptr(), size) };
        bytes
    }
}

/// The kernel of a context.
///
/// # Safety
///
/// The first pointer of the context is a kernel.
unsafe fn kernel(context: &Context) -> KernelFn {
    // SAFETY: the caller's promise; a function is as large as a pointer.
    unsafe { std::mem::transmute::<*const (), KernelFn>(context[0]) }
}

/// Calls a kernel for a part.
///
/// # Safety
///
/// * PD1: the context is a kernel that was chosen for this host (K1), and parameters of its formula (K4).
/// * PD2: operands of its call are what the kernel takes: dense runs, of [`Traversal::Rows`] but for the one that is
///   broadcast.
/// * E5 of [`Elementwise`].
unsafe fn call(context: &Context, part: &Part<'_>, traversal: Traversal<'_>) {
    // SAFETY: PD1: a kernel comes first.
    let kernel = unsafe { kernel(context) };
    let ins = part.at[1..].as_ptr().cast::<*const u8>();
    // SAFETY: K1, K4 by PD1; K2, K3, K6: operands are what the kernel takes (PD2), as many elements as the part has,
    // equal to the output or apart from it (E5), and apart where the call's are.
    let done = unsafe { kernel(part.at[0], ins, part.numel, context[1], traversal) };
    debug_assert!(done, "an elementwise call cannot fail");
}

/// Runs a part of a call whose operands are all dense.
///
/// # Safety
///
/// E4 and E5 of [`Elementwise`].
unsafe fn run_dense(context: &Context, part: &Part<'_>) {
    // SAFETY: PD1, PD2 as the call was made (E4); the caller promises E5.
    unsafe { call(context, part, Traversal::Dense) }
}

/// The same of a light formula and an output that no cache holds, which is no input (K5).
///
/// # Safety
///
/// E4 and E5 of [`Elementwise`].
unsafe fn run_dense_past_caches(context: &Context, part: &Part<'_>) {
    if part.is_read_soon {
        // SAFETY: the caller's promise.
        return unsafe { run_dense(context, part) };
    }
    // SAFETY: PD1, PD2 as the call was made (E4); the caller promises E5. K5: no input is the output, and `finish` is
    // the fence.
    unsafe { call(context, part, Traversal::NonTemporal) }
}

/// The same of a call with one input of one element.
///
/// # Safety
///
/// E4 and E5 of [`Elementwise`].
unsafe fn run_broadcast<const INPUT: usize>(context: &Context, part: &Part<'_>) {
    const { assert!(INPUT < 2) };
    let row = RowLayout { count: 1, strides: [0; MAX_OPERANDS], broadcast: Some(INPUT) };
    // SAFETY: PD1, PD2 as the call was made (E4), of a kernel that takes such rows; the caller promises E5.
    unsafe { call(context, part, Traversal::Rows(&row)) }
}

/// Runs a part of any other call: operands are staged.
///
/// # Safety
///
/// E4 and E5 of [`Elementwise`].
unsafe fn run_planes(context: &Context, part: &Part<'_>) {
    let [driver, iter, params] = *context;
    // SAFETY: the context was made of a driver, which is where it was (E4).
    let driver = unsafe { &*driver.cast::<Driver>() };
    // SAFETY: behind it is its iteration, likewise.
    let iter = unsafe { &*iter.cast::<TensorIter>() };
    let Reach::Planes(stagers) = &driver.reach else { return };
    let mut planes = driver.planes(iter, stagers, params);
    planes.non_temporal &= !part.is_read_soon;
    let inner: SmallVec<[isize; 4]> =
        (0..iter.noperands()).map(|k| iter.strides(k).first().copied().unwrap_or(0)).collect();
    let outer = SmallVec::<[isize; 4]>::from_elem(0, inner.len());
    // SAFETY: PL1: the part has `numel` elements of each operand, which nobody else uses (E5); D1 and D2 are the
    // driver's; K4: these are the formula's parameters.
    unsafe { planes.plane(part.at, &inner, &outer, part.numel, 1) };
}

//! A small call of which some operands are not what the body takes: those are staged whole, and the body is called once, on
//! one thread. What such a call costs is the way to the body, not the elements. Refuses everything else, which the driver
//! handles; the answers are the same.

use super::body::Going;
use super::driver::STAGE;
use super::flat::Value;
use super::taking::Taking;
use crate::lane::{Lane, Stage, Tile};
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{ErrorKind, Result};
use monomorph_iter::TensorIter;

/// The most operands that such a call has, the output included.
const OPERANDS: usize = 4;

/// A call of a body on one tile, bound to memory. What can be asked of the iteration again is not kept: copying it would cost
/// more.
///
/// Invariants:
/// * TL1: `at` are the first elements of the operands of an iteration of at most two dimensions that need not be serial,
///   output first, but of the number among them. No operand has more bytes than a stage, in memory or staged.
/// * TL2: the body was chosen for this host and takes what `taking` says (K1, K2).
pub(super) struct Tiled {
    taking: Taking,
    at: [*mut u8; OPERANDS],
    /// What operand `number` points to, if that is not the output; it is not of memory, because a call may be moved.
    value: Value,
    number: u8,
}

impl Tiled {
    /// The call, if it is such a call.
    ///
    /// # Safety
    ///
    /// As for [`Flat::new`](super::flat::Flat::new).
    #[inline]
    pub(super) unsafe fn new(
        iter: &TensorIter,
        taking: &Taking,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<Tiled> {
        let n = iter.noperands();
        if iter.ndim() > 2 || n > OPERANDS || n != inputs.len() + 1 || iter.must_be_serial() {
            return None;
        }
        // No operand is wider than 16 bytes; asked first, since most calls are far smaller or far larger.
        let wide = |k: usize| iter.numel() > STAGE / iter.dtype(k).size().max(taking.dtype(k).size());
        if iter.numel() > STAGE / 16 && (0..n).any(wide) {
            return None;
        }
        let mut tiled = Tiled { taking: *taking, at: [outputs.data(0); OPERANDS], value: Value([0; 16]), number: 0 };
        for ((k, input), at) in (1..).zip(inputs).zip(&mut tiled.at[1..]) {
            match input {
                // SAFETY: E2: the storage is borrowed as long as the result lives.
                Operand::Tensor(tensor) => *at = unsafe { tensor.data() },
                Operand::Number(number) if tiled.number == 0 => {
                    tiled.value = Value(number.bytes());
                    tiled.number = k;
                }
                _ => return None,
            }
        }
        Some(tiled)
    }

    /// Computes every element.
    ///
    /// # Safety
    ///
    /// K4 for `params`; the operands are borrowed: nobody else writes inputs, or uses the output; `iter` is the iteration
    /// that the call was made for.
    #[inline]
    pub(super) unsafe fn run(&self, iter: &TensorIter, params: *const ()) -> Result<()> {
        // SAFETY: as for this function.
        let done = iter.numel() == 0 || unsafe { self.tile(iter, params) };
        if done { Ok(()) } else { Err(ErrorKind::DivisionByZero.into()) }
    }

    /// # Safety
    ///
    /// As for [`run`](Tiled::run), and there are elements.
    #[inline(never)]
    unsafe fn tile(&self, iter: &TensorIter, params: *const ()) -> bool {
        let mut blocks = [const { Stage::<STAGE>::NEW }; OPERANDS];
        let mut scratch = Stage::<STAGE>::NEW;
        let scratch = scratch.data();
        let size = |d: usize| iter.shape().get(d).copied().unwrap_or(1);
        let (cols, rows) = (size(0), size(1));
        let side = |k: usize| {
            let (inner, outer) = match *iter.strides(k) {
                [] => (0, 0),
                [inner] => (inner, 0),
                [inner, outer, ..] => (inner, outer),
            };
            (self.taking.lane(iter, k), Tile { cols, rows, inner, outer })
        };
        let as_it_is = |lane: &Lane, tile: &Tile| lane.is_direct() && tile.is_dense(lane.size());
        let to = self.at[0];
        let mut ins = [std::ptr::null::<u8>(); OPERANDS];
        for k in 1..iter.noperands().min(OPERANDS) {
            let is_number = k == usize::from(self.number);
            let from = if is_number { self.value.0.as_ptr() } else { self.at[k].cast_const() };
            ins[k - 1] = from;
            // A body looks for its output among its inputs in one place only; found elsewhere it would run one element at a
            // time.
            let (lane, tile) = side(k);
            if !as_it_is(&lane, &tile) || (k != self.taking.first() && std::ptr::eq(from, to)) {
                let block = blocks[k].data();
                // SAFETY: L1, L2 by TL1, L3 since nobody else writes the operand and the output is not written yet.
                unsafe { lane.load(from, tile, block, scratch) };
                ins[k - 1] = block;
            }
        }
        let (lane, tile) = side(0);
        if as_it_is(&lane, &tile) {
            // SAFETY: K1, K2 by TL1 and TL2 (staged operands are dense in their blocks, the others in memory), K3 since the
            // plan found no doubtful overlap, K4 passed on.
            return unsafe { (self.taking.body)(to, ins.as_ptr(), cols * rows, params, Going::Along) };
        }
        let block = blocks[0].data();
        // SAFETY: as above; a block is apart from all operands.
        if !unsafe { (self.taking.body)(block, ins.as_ptr(), cols * rows, params, Going::Along) } {
            return false;
        }
        // SAFETY: L1, L2 by TL1; the body filled the block; nobody else uses the output.
        unsafe { lane.store(block, to, tile, scratch) };
        true
    }
}

//! A small call whose operands are what the body takes: one call of the body on one thread, with nothing staged but a number.
//! Refuses everything else, which the driver handles; the answers are the same.

use super::body::{Body, Going};
use super::{streaming, taking::Taking};
use crate::cast::{self, moved};
use crate::isa::Level;
use crate::lane::Block;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_iter::{GRAIN, TensorIter, Uniform, is_parallel};

/// The most inputs that such a call has.
pub(super) const INPUTS: usize = 3;

/// The most elements over which a number is spread beforehand; a block holds as many of any dtype.
const SPREAD: usize = 128;

/// The most elements that one call of a body computes: less than what had better be streamed past the caches.
const WHOLE: usize = 1 << 20;

/// Whether so many elements are computed by one call of a body: no thread will help, so a walk would have nothing to hand out.
#[inline(always)]
pub(super) fn is_whole(numel: usize) -> bool {
    const { assert!(WHOLE * DType::C128.size() <= streaming::FAR_BYTES) };
    numel <= GRAIN || numel <= WHOLE && !is_parallel(numel, GRAIN)
}

/// A call of a body, bound to memory.
///
/// Invariants:
/// * FL1: `out` and the tensors among `ins` are dense runs of `n` elements of the dtypes that the body takes, each input is
///   `out` or lies apart from it, and the body was chosen for this host.
/// * FL2: `spread`, if there is one, is an input, and holds an element of the dtype that the body takes for it; `n` is at most
///   `SPREAD`.
pub(super) struct Flat {
    body: Body,
    out: *mut u8,
    ins: [*const u8; INPUTS],
    n: usize,
    spread: Option<Spread>,
}

/// A number that is an input.
struct Spread {
    input: u8,
    size: u8,
    value: Value,
}

/// The bytes of a number, aligned for any dtype.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct Value(pub(super) [u8; 16]);

impl Spread {
    /// The number as input `input` of dtype `want`.
    fn new(number: &monomorph_core::structured::Number, input: usize, want: DType, level: Level) -> Spread {
        let mut value = Value(number.bytes());
        if let Some(cast) = cast::cast(number.dtype(), want, level) {
            let from = value;
            // SAFETY: R1, R2: both hold one element of any dtype, and they are apart.
            unsafe { cast.run(from.0.as_ptr(), value.0.as_mut_ptr(), 1) };
        }
        Spread { input: input as u8, size: want.size() as u8, value }
    }
}

impl Flat {
    /// The call of these inputs, all of them tensors or none at all.
    #[inline(always)]
    pub(super) fn of(body: Body, outputs: &Outputs<'_>, n: usize, ins: [*const u8; INPUTS]) -> Flat {
        Flat { body, out: outputs.data(0), ins, n, spread: None }
    }

    /// Whether a plan in few words may be such a call: the operands have the operator's dtype, so that nothing passes through it where it is the
    /// body's.
    #[inline(always)]
    pub(super) fn suits(uniform: &Uniform, taking: &Taking, inputs: &[Operand<'_>]) -> bool {
        let as_taken =
            uniform.dtype() == taking.compute && uniform.output_dtype() == taking.dtype(0) && taking.masks == 0;
        as_taken && is_whole(uniform.numel()) && inputs.len() <= INPUTS
    }

    /// The inputs of such a call if all are tensors, for [`of`](Flat::of): a call is made where it stays, since what is moved is read in other
    /// pieces than it was written in, for which processors wait.
    ///
    /// # Safety
    ///
    /// As for [`new`](Flat::new).
    #[inline(always)]
    pub(super) unsafe fn tensors(inputs: &[Operand<'_>], outputs: &Outputs<'_>) -> Option<[*const u8; INPUTS]> {
        let out = outputs.data(0);
        let pointer = |k: usize| match inputs.get(k) {
            None => Some(std::ptr::null()),
            Some(Operand::Tensor(tensor)) => {
                // SAFETY: E2: the storage is borrowed as long as the result lives.
                let at = unsafe { tensor.data() }.cast_const();
                // The body looks for its output in one place only, and runs element by element if it is in another.
                (k == 0 || !std::ptr::eq(at, out)).then_some(at)
            }
            Some(_) => None,
        };
        Some([pointer(0)?, pointer(1)?, pointer(2)?])
    }

    /// A call that [`suits`](Flat::suits), of which an input may be a number.
    ///
    /// # Safety
    ///
    /// As for [`new`](Flat::new).
    #[inline(always)]
    pub(super) unsafe fn with_number(
        n: usize,
        taking: &Taking,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<Flat> {
        let mut flat = Flat::of(taking.body, outputs, n, [std::ptr::null(); INPUTS]);
        for (i, (input, place)) in inputs.iter().zip(&mut flat.ins).enumerate() {
            match input {
                // SAFETY: E2: the storage is borrowed as long as the result lives.
                Operand::Tensor(tensor) => *place = unsafe { tensor.data() },
                Operand::Number(number) if flat.spread.is_none() && n <= SPREAD => {
                    flat.spread = Some(Spread::new(number, i, taking.compute, taking.level));
                }
                _ => return None,
            }
            if i != 0 && std::ptr::eq(*place, flat.out) {
                return None;
            }
        }
        Some(flat)
    }

    /// The call, if it is such a call.
    ///
    /// # Safety
    ///
    /// E1 and E2 of `Executes`; the body is one of the operator's formula, for the dtype that it computes in.
    #[inline]
    pub(super) unsafe fn new(
        iter: &TensorIter,
        taking: &Taking,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<Flat> {
        if !iter.is_flat()
            || !is_whole(iter.numel())
            || iter.must_be_serial()
            || inputs.len() > INPUTS
            || !taking.is_own()
        {
            return None;
        }
        let want = |k: usize| taking.dtype(k);
        let mut dtypes = iter.dtypes();
        if dtypes.next() != Some(want(0)) {
            return None;
        }
        let mut flat = Flat::of(taking.body, outputs, iter.numel(), [std::ptr::null(); INPUTS]);
        for ((i, input), dtype) in inputs.iter().enumerate().zip(dtypes) {
            match input {
                Operand::Tensor(tensor) => {
                    // SAFETY: E2: the storage is borrowed as long as the result lives.
                    let data = unsafe { tensor.data() };
                    // The body looks for its output in one place only, and runs element by element if it is in another.
                    let one = iter.ndim() > 0 && iter.strides(i + 1)[0] == 0;
                    if one || dtype != want(i + 1) || (i + 1 != taking.first() && std::ptr::eq(data, flat.out)) {
                        return None;
                    }
                    flat.ins[i] = data;
                }
                Operand::Number(number) if flat.spread.is_none() && flat.n <= SPREAD => {
                    flat.spread = Some(Spread::new(number, i, want(i + 1), taking.level));
                }
                _ => return None,
            }
        }
        Some(flat)
    }

    /// Computes every element.
    ///
    /// # Safety
    ///
    /// K4 for `params`, and the operands are borrowed: nobody else writes inputs, or uses the output.
    #[inline]
    pub(super) unsafe fn run(&self, params: *const ()) -> Result<()> {
        let done = match &self.spread {
            _ if self.n == 0 => true,
            // SAFETY: K1 to K3 by FL1, K4 passed on.
            None => unsafe { (self.body)(self.out, self.ins.as_ptr(), self.n, params, Going::Along) },
            // SAFETY: as for this function.
            Some(spread) => unsafe { self.run_spread(spread, params) },
        };
        if done { Ok(()) } else { Err(ErrorKind::DivisionByZero.into()) }
    }

    /// The same with a number.
    ///
    /// # Safety
    ///
    /// As for [`run`](Flat::run).
    #[inline(never)]
    unsafe fn run_spread(&self, spread: &Spread, params: *const ()) -> bool {
        let mut block = Block::NEW;
        let (data, size) = (block.data(), usize::from(spread.size));
        // SAFETY: R1, R2: a block has room for `n` elements (FL2) and is no operand.
        unsafe { moved(spread.value.0.as_ptr(), 0, data, size as isize, size, self.n) };
        let mut ins = self.ins;
        ins[usize::from(spread.input)] = data;
        // SAFETY: K1 to K3 by FL1; the block holds the `n` elements of the number; K4 passed on.
        unsafe { (self.body)(self.out, ins.as_ptr(), self.n, params, Going::Along) }
    }
}

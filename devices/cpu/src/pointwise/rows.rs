//! Light formulas over rows: the body goes from row to row itself. To call it for each would cost as much as a short row takes, to join
//! copies of a row that is broadcast almost as much. An operand of two may be the same element for a whole row, of a column that is
//! broadcast: it is held in a register.

use super::body::{Body, Going, Run, is_plain};
use super::driver::MAX;
use super::flat::{INPUTS, is_whole};
use super::operands::{Load, Store};
use super::taking::Taking;
use crate::cell::Cell;
use crate::isa::{Isa, Kernel, Level};
use crate::on::On;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_iter::TensorIter;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Operands, Params, PointwiseFn};

/// Rows shorter than this are joined into tiles: a call of a body costs about as much as so many elements.
pub(super) const SHORT: usize = 64;

/// Rows of so many bytes are not joined where the body goes through them itself.
pub(super) const LONG: usize = 1024;

/// Rows of as many elements each, and what leads from one to the next.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// How many rows.
    pub count: usize,
    /// Bytes from the beginning of a row to that of the next, of the output and then of each input.
    pub steps: [isize; MAX],
    /// The operand, counted from 0, that is one element all along a row.
    pub still: Option<usize>,
}

impl Rows {
    /// `count` rows of `cols` elements as a body takes them, if every one of so many operands is a dense run in each, or stands still and may.
    /// `operand` says how many bytes an element of one has, and how many are between elements and between rows.
    #[inline]
    pub(super) fn of(
        walks: Walks,
        [cols, count]: [usize; 2],
        operands: usize,
        operand: impl Fn(usize) -> (usize, [isize; 2]),
    ) -> Option<Rows> {
        let mut rows = Rows { count, steps: [0; MAX], still: None };
        for (k, step) in rows.steps.iter_mut().enumerate().take(operands) {
            let (size, [inner, outer]) = operand(k);
            let stands = k > 0 && inner == 0 && walks == Walks::Still && rows.still.is_none() && cols >= SHORT;
            match inner == size as isize {
                true => {}
                false if stands => rows.still = Some(k - 1),
                false => return None,
            }
            *step = outer;
        }
        (walks != Walks::One && count > 1).then_some(rows)
    }
}

/// A call over rows that are what the body takes, bound to memory: one call of the body on one thread.
///
/// Invariants:
/// * RW1: `rows` are those of a body that takes them, on this host: of `out` and the `ins`, `cols` elements each, and no input is `out`.
pub(super) struct Planar {
    body: Body,
    out: *mut u8,
    ins: [*const u8; INPUTS],
    cols: usize,
    rows: Rows,
}

impl Planar {
    /// The call, if it is such a call, and its rows are worth it.
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
    ) -> Option<Planar> {
        let &[cols, count] = iter.shape() else { return None };
        let operands = inputs.len() + 1;
        let plain = is_whole(iter.numel()) && !iter.must_be_serial() && taking.is_own();
        if !plain || inputs.len() > INPUTS || iter.noperands() != operands {
            return None;
        }
        let as_taken = |k: usize| iter.dtype(k) == taking.dtype(k) && !iter.is_conj(k) && !iter.is_neg(k);
        let operand = |k: usize| (taking.dtype(k).size(), [iter.strides(k)[0], iter.strides(k)[1]]);
        let rows = Rows::of(taking.walks, [cols, count], operands, operand)?;
        let is_worth = rows.still.is_some() || cols * taking.dtype(0).size() >= LONG;
        if !is_worth || !(0..operands).all(as_taken) {
            return None;
        }
        let out = outputs.data(0);
        let mut ins = [std::ptr::null(); INPUTS];
        for (input, at) in inputs.iter().zip(&mut ins) {
            let Operand::Tensor(tensor) = input else { return None };
            // SAFETY: E2: the storage is borrowed as long as the result lives.
            *at = unsafe { tensor.data() };
            if std::ptr::eq(*at, out) {
                return None;
            }
        }
        Some(Planar { body: taking.body, out, ins, cols, rows })
    }

    /// Computes every element.
    ///
    /// # Safety
    ///
    /// K4 for `params`, and the operands are borrowed: nobody else writes inputs, or uses the output.
    pub(super) unsafe fn run(&self, params: *const ()) -> Result<()> {
        // SAFETY: K1, K2, K6 by RW1; K3 since the plan found no doubtful overlap and no input is the output; K4 passed on.
        let done = unsafe { (self.body)(self.out, self.ins.as_ptr(), self.cols, params, Going::Rows(&self.rows)) };
        if done { Ok(()) } else { Err(ErrorKind::DivisionByZero.into()) }
    }
}

/// Which rows a body goes through by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Walks {
    /// One.
    One,
    /// Any number, of which each operand is a dense run.
    Dense,
    /// The same, and one of two operands may stand still.
    Still,
}

impl Walks {
    /// What bodies of the formula do at best.
    pub(super) const fn of<F: PointwiseFn>() -> Walks {
        match is_plain::<F>() {
            false => Walks::One,
            true if F::Operands::ALIKE && F::Operands::COUNT == 2 && !F::ELEMENTWISE_ONLY => Walks::Still,
            true => Walks::Dense,
        }
    }

    /// What they do on this dtype at this level.
    pub(super) fn taken(self, dtype: DType, level: Level) -> Walks {
        if stands(dtype, level) { self } else { self.min(Walks::Dense) }
    }
}

/// Whether bodies on the dtype are compiled, at the level, for operands that stand still as well. Not where the processor is an old
/// one, nor where it gains little: halves are loaded by pairs, bools are looked up, complex numbers take longer to compute.
pub(super) const fn stands(dtype: DType, level: Level) -> bool {
    let is_new = matches!(level, Level::Avx2 | Level::Avx512) || !cfg!(target_arch = "x86_64");
    is_new && !matches!(dtype, DType::Bool | DType::F16 | DType::BF16 | DType::C64 | DType::C128)
}

/// Rows of which operand `STILL` stands still. The output is no operand.
pub(super) struct Beside<'r, F: PointwiseFn, C, const STILL: usize>(pub(super) Run<'r, F, C>, pub(super) &'r Rows);

impl<F, C, I, const STILL: usize> Kernel<I> for Beside<'_, F, C, STILL>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    type Home = F;
    type Output = bool;

    #[inline(always)]
    fn run(self, _: I) -> bool {
        let Beside(Run { mut out, ins, n, params, .. }, Rows { count, steps: [step, steps @ ..], .. }) = self;
        if n == 0 {
            return true;
        }
        // SAFETY: K4.
        let params = unsafe { &*params }.bind::<On<C, I>>();
        // SAFETY: K2: there is a pointer for each operand.
        let mut ins = unsafe { <F::Operands as Load<On<C, I>>>::pointers(ins) };
        for _ in 0..*count {
            // SAFETY: K6: there is an element of each.
            let held = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, 0) };
            let others = <F::Operands as Load<On<C, I>>>::without(ins, STILL);
            for i in 0..n {
                // SAFETY: K2: the other operand is read alone.
                let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(others, i) };
                let x = <F::Operands as Load<On<C, I>>>::holding(x, &held, STILL);
                // SAFETY: K2.
                unsafe { <F::Out as Store<On<C, I>>>::store::<false>(out, i, F::eval(x, params), F::EXACT) };
            }
            out = out.wrapping_offset(*step);
            ins = <F::Operands as Load<On<C, I>>>::moved(ins, steps);
        }
        true
    }
}

//! A call whose one or two tensors are of bool, or whose only one is of integers that are all the same to the formula: the formula is
//! asked for each value that there is, and the answers are spread. Refuses everything else; the answers are the same.

use super::body::{Body, Going};
use super::driver::{Driver, MAX};
use super::rows::Walks;
use super::taking::Taking;
use crate::cast::{Bits, moved};
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::lane::{Block, Lane, Stage, Tile};
use crate::moves::Mover;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Result, each};
use monomorph_iter::{GRAIN, TensorIter};
use smallvec::SmallVec;

/// Fewer elements are computed as fast.
const LEAST: usize = 64;

/// The most bytes of an element.
const WIDEST: usize = 16;

/// The most tensors.
const TENSORS: usize = 2;

/// The most values, all tensors taken together.
const VALUES: usize = 1 << TENSORS;

/// What two bools may be, and one, tensor by tensor; of anything else there is one value, 0.
static COLUMNS: [[[u8; WIDEST]; TENSORS]; TENSORS] = {
    const fn column(values: [u8; VALUES]) -> [u8; WIDEST] {
        let [a, b, c, d] = values;
        [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }
    [[column([0, 1, 0, 0]), [0; WIDEST]], [column([0, 0, 1, 1]), column([0, 1, 0, 1])]]
};

/// Such a call, bound to memory.
///
/// Invariants:
/// * FW1: `taking` is chosen for this host; `spread` is a driver of [`choose`] over the operands of the iteration that the call was
///   made for, of which `tensors` are the operands that are tensors.
/// * FW2: the iteration need not be serial, and its output has no lazy bits.
pub(super) struct Few {
    taking: Taking,
    spread: Driver,
    tensors: Tensors,
    /// How many different values they may have together.
    values: usize,
}

/// Which operands are tensors, in order.
type Tensors = SmallVec<[usize; TENSORS]>;

/// What [`choose`] takes: the places of the operands among the inputs, and the outputs for each value, those of the last operand next to
/// each other.
struct Choice {
    places: [usize; TENSORS],
    outputs: Stage<{ VALUES * WIDEST }>,
}

impl Few {
    /// The call, if it is such a call. `alike` says that to the formula all integers are the same.
    ///
    /// # Safety
    ///
    /// As for [`Flat::new`](super::flat::Flat::new), of a formula without faults.
    #[inline]
    pub(super) unsafe fn new(
        iter: &TensorIter,
        taking: &Taking,
        alike: bool,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<Few> {
        let is_bool = |&k: &usize| iter.dtype(k) == DType::Bool;
        let tensors = (1..).zip(inputs).filter(|(_, input)| matches!(input, Operand::Tensor(_))).map(|(k, _)| k);
        let first = tensors.clone().next()?;
        let values = match tensors.clone().count() {
            count @ ..=TENSORS if tensors.clone().all(|k| is_bool(&k)) => 1 << count,
            1 if alike && iter.dtype(first).is_integral(false) => 1,
            _ => return None,
        };
        // Bools that the body takes as they are it computes as fast as they are looked up, one of two at least if its rows are dense runs.
        let is_dense = || iter.strides(first).first().is_none_or(|&stride| stride == 1);
        let is_own = taking.compute == DType::Bool && (values == VALUES || is_dense());
        let plain = !is_own && iter.numel() >= LEAST && !iter.must_be_serial() && !iter.is_conj(0) && !iter.is_neg(0);
        if !plain || iter.noperands() != inputs.len() + 1 {
            return None;
        }
        // SAFETY: passed on.
        Some(unsafe { Few::bound(iter, taking, tensors.collect(), values, inputs, outputs) })
    }

    /// # Safety
    ///
    /// As for [`new`](Few::new), and it is such a call.
    #[inline(never)]
    unsafe fn bound(
        iter: &TensorIter,
        taking: &Taking,
        tensors: Tensors,
        values: usize,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Few {
        // SAFETY: passed on.
        let bases = unsafe { super::call::bases(inputs, outputs) };
        let as_it_is = |dtype| Lane::input(dtype, dtype, Bits::default(), taking.level);
        let lane = |k: usize| as_it_is(if k == 0 { iter.dtype(0) } else { DType::Bool });
        let lanes: SmallVec<[Lane; 4]> = (0..iter.noperands()).map(lane).collect();
        let body = choose(iter.dtype(0).size(), tensors.len(), taking.level);
        // SAFETY: D1 by E1; D2: the body takes outputs as they are, inputs of bytes and no others, of which a byte is staged.
        let spread = unsafe { Driver::over(iter, body, (true, Walks::One), tensors[0], lanes, bases) };
        Few { taking: *taking, spread, tensors, values }
    }

    /// Computes every element.
    ///
    /// # Safety
    ///
    /// K4 for `params`; the operands are borrowed: nobody else writes inputs, or uses the output; `iter` is the iteration that the
    /// call was made for.
    pub(super) unsafe fn run(&self, iter: &TensorIter, params: *const ()) -> Result<()> {
        let mut choice = Choice { places: [0; TENSORS], outputs: Stage::NEW };
        for (place, k) in choice.places.iter_mut().zip(&self.tensors) {
            *place = k - 1;
        }
        let table = choice.outputs.data();
        // SAFETY: passed on.
        if !unsafe { self.ask(iter, params, table) } {
            return Err(ErrorKind::DivisionByZero.into());
        }
        let size = iter.dtype(0).size();
        // SAFETY: the table has so many values of this size.
        let answers = unsafe { std::slice::from_raw_parts(table, self.values * size) };
        if answers.chunks_exact(size).all(|answer| answer == &answers[..size]) {
            // SAFETY: passed on; the table holds a value of the output's dtype.
            unsafe { self.fill(iter, table) };
            return Ok(());
        }
        // SAFETY: passed on; K4: these are the parameters of `choose` (FW1).
        unsafe { self.spread.run(iter, std::ptr::from_ref(&choice).cast()) }
    }

    /// Asks for the output of every value. False if one has no result.
    ///
    /// # Safety
    ///
    /// As for [`run`](Few::run), and `table` has room for so many outputs.
    unsafe fn ask(&self, iter: &TensorIter, params: *const (), table: *mut u8) -> bool {
        let mut blocks = [const { Block::NEW }; MAX];
        let mut scratch = Block::NEW;
        let scratch = scratch.data();
        let mut ins = [std::ptr::null::<u8>(); MAX];
        let mut columns = COLUMNS[self.tensors.len() - 1].iter();
        let row = |inner: usize| Tile { cols: self.values, rows: 1, inner: inner as isize, outer: 0 };
        for k in 1..iter.noperands() {
            let column = if self.tensors.contains(&k) { columns.next() } else { None };
            let from = column.map_or(self.spread.start(k).cast_const(), |column| column.as_ptr());
            let block = blocks[k].data();
            // SAFETY: L1: there are so many bools, one value of any other dtype, or one number; L2: a block has room for so many; L3.
            unsafe { self.taking.lane(iter, k).load(from, row(usize::from(column.is_some())), block, scratch) };
            ins[k - 1] = block;
        }
        let out = blocks[0].data();
        // SAFETY: K1 by FW1; K2: the blocks hold so many elements of the dtypes that the body takes; K3: they lie apart; K4.
        if !unsafe { (self.taking.body)(out, ins.as_ptr(), self.values, params, Going::Along) } {
            return false;
        }
        // SAFETY: L1: the table has room; L2; the body filled the block.
        unsafe { self.taking.lane(iter, 0).store(out, table, row(iter.dtype(0).size()), scratch) };
        true
    }

    /// Fills the output with one value.
    ///
    /// # Safety
    ///
    /// As for [`run`](Few::run); `value` points to one of the output's dtype.
    unsafe fn fill(&self, iter: &TensorIter, value: *const u8) {
        let bases: SmallVec<[*mut u8; 4]> = (0..iter.noperands()).map(|k| self.spread.start(k)).collect();
        let (size, mover, value) = (iter.dtype(0).size(), Mover::at(self.taking.level), Value(value));
        let row = |at: &[*mut u8], strides: &[isize], cols: usize, rows: usize| {
            let value = &value;
            let (inner, outer) = (strides[0], strides[at.len()]);
            if (Tile { cols, rows, inner, outer }).is_dense(size) {
                let all = Tile { cols: cols * rows, rows: 1, inner: 0, outer: 0 };
                // SAFETY: V1, V2 by W1: the output is a dense run of so many elements, and the value lies apart.
                return unsafe { mover.gather(value.0, &all, at[0], size) };
            }
            for row in 0..rows {
                let to = at[0].wrapping_offset(row as isize * outer);
                // SAFETY: R1, R2 by W1.
                unsafe { moved(value.0, 0, to, inner, size, cols) };
            }
        };
        // SAFETY: W1 by D1, W2 since the operands are borrowed.
        unsafe { iter.for_each(&bases, GRAIN, row) };
    }
}

/// A value that several threads read.
struct Value(*const u8);

// SAFETY: nobody writes what it points to as long as `fill` runs.
unsafe impl Sync for Value {}

/// The body that chooses outputs of so many bytes by the bytes of one or two inputs. Its parameters are a [`Choice`].
fn choose(size: usize, tensors: usize, level: Level) -> Body {
    match size {
        1 => chosen::<u8>(tensors, level),
        2 => chosen::<u16>(tensors, level),
        4 => chosen::<u32>(tensors, level),
        8 => chosen::<u64>(tensors, level),
        _ => chosen::<[u64; 2]>(tensors, level),
    }
}

fn chosen<T: Copy>(tensors: usize, level: Level) -> Body {
    if tensors == 1 {
        return level.choose(
            choose_at::<T, Portable, 1>,
            #[cfg(target_arch = "x86_64")]
            [choose_at::<T, Avx2, 1>, choose_at::<T, Avx512, 1>],
        );
    }
    level.choose(
        choose_at::<T, Portable, 2>,
        #[cfg(target_arch = "x86_64")]
        [choose_at::<T, Avx2, 2>, choose_at::<T, Avx512, 2>],
    )
}

/// # Safety
///
/// K1–K4 of `body.rs`.
unsafe fn choose_at<T: Copy, I: Isa, const N: usize>(
    out: *mut u8,
    ins: *const *const u8,
    n: usize,
    params: *const (),
    _going: Going<'_>,
) -> bool {
    // SAFETY: K4.
    let choice = unsafe { &*params.cast::<Choice>() };
    let from = std::array::from_fn::<_, N, _>(|k| {
        // SAFETY: K2.
        unsafe { ins.wrapping_add(choice.places[k]).read() }
    });
    let outputs = std::ptr::from_ref(&choice.outputs).cast::<T>();
    let table = std::array::from_fn(|k| {
        // SAFETY: K4: there is an output of this size for each value; those beyond are the first once more.
        unsafe { outputs.wrapping_add(if k >> N == 0 { k } else { 0 }).read_unaligned() }
    });
    // SAFETY: K1.
    let isa = unsafe { I::assume() };
    isa.enter(Chosen { out: out.cast::<T>(), from, n, table });
    true
}

struct Chosen<T, const N: usize> {
    out: *mut T,
    from: [*const u8; N],
    n: usize,
    table: [T; VALUES],
}

impl<T: Copy, const N: usize, I: Isa> Kernel<I> for Chosen<T, N> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let [neither, last, first, both] = self.table;
        for i in 0..self.n {
            let is: [bool; N] = each(
                #[inline(always)]
                |k| {
                    // SAFETY: K2.
                    unsafe { self.from[k].wrapping_add(i).read() != 0 }
                },
            );
            let [no, yes] = if N > 1 && is[0] { [first, both] } else { [neither, last] };
            let to = self.out.wrapping_add(i);
            // SAFETY: K2; an input that is the output is read before (K3).
            unsafe { to.write_unaligned(if is[N - 1] { yes } else { no }) };
        }
    }
}

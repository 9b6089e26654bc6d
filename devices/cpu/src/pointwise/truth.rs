//! Bodies of formulas of one or two bools. There are four operands at most, so the formula is asked for each of them, and what it
//! says becomes a polynomial over the two-element field (its algebraic normal form, Zhegalkin 1927): one loop for all formulas.

use super::body::{Going, NEAR, OWNED};
use super::driver::MAX;
use super::operands::{Load, Store};
use super::rows::Rows;
use crate::isa::{Isa, Kernel, Portable};
use crate::lines::prefetch_run;
use crate::on::On;
use crate::processor::Maker;
use monomorph_core::each;
use monomorph_ops::pointwise::{Map, Operands, Params, PointwiseFn};

/// Whether [`truth`] is a body of the formula.
pub(super) const fn applies<F: PointwiseFn>() -> bool {
    matches!(F::Operands::COUNT, 1 | 2) && !F::FAULT
}

/// Elements that are computed at a time: those of the widest register.
const BLOCK: usize = 64;

/// No other row.
static ONE: Rows = Rows { count: 1, steps: [0; MAX], still: None };

/// So many elements as they are stored.
type Block = [u8; BLOCK];

/// What two operands may be, operand by operand; of one operand, the second.
static OPERANDS: [[u8; 4]; 2] = [[0, 0, 1, 1], [0, 1, 0, 1]];

/// The body of formula `F` on bool at level `I`.
///
/// # Safety
///
/// K1–K4 and K6 of `body.rs`, and [`applies`] says so.
pub(super) unsafe fn truth<F, I>(
    out: *mut u8,
    ins: *const *const u8,
    n: usize,
    params: *const (),
    going: Going<'_>,
) -> bool
where
    I: Isa,
    F: Map<On<bool, Portable>>,
    F::Operands: Load<On<bool, Portable>>,
    F::Out: Store<On<bool, Portable>>,
{
    const { assert!(<F::Out as Store<On<bool, Portable>>>::SIZE == 1, "what a formula makes of bools is bool") };
    let columns = [OPERANDS[0].as_ptr(), OPERANDS[1].as_ptr()];
    let columns = columns[columns.len() - F::Operands::COUNT..].as_ptr();
    // SAFETY: K4.
    let params = unsafe { &*params.cast::<F::Params>() }.bind::<On<bool, Portable>>();
    // SAFETY: there is a column for each operand.
    let columns = unsafe { <F::Operands as Load<On<bool, Portable>>>::pointers(columns) };
    let mut table = [0; 4];
    for i in 0..1 << F::Operands::COUNT {
        // SAFETY: a column has four elements.
        let x = unsafe { <F::Operands as Load<On<bool, Portable>>>::load::<false>(columns, i) };
        let y = F::eval(x, params);
        // SAFETY: so has the table, whose elements are of a byte.
        unsafe { <F::Out as Store<On<bool, Portable>>>::store::<false>(table.as_mut_ptr(), i, y, F::EXACT) };
    }
    let rows = if let Going::Rows(rows) = going { rows } else { &ONE };
    if F::Operands::COUNT == 2 {
        // SAFETY: K2: there are two pointers.
        let ins = unsafe { ins.cast::<[*const u8; 2]>().read() };
        // SAFETY: K1–K3, K6.
        unsafe { sweep::<I, 2>(out, ins, n, rows, table) };
    } else {
        // SAFETY: K2: there is a pointer.
        let ins = unsafe { ins.cast::<[*const u8; 1]>().read() };
        // SAFETY: K1–K3, K6.
        unsafe { sweep::<I, 1>(out, ins, n, rows, table) };
    }
    true
}

/// Dense runs of bools, and what becomes of them.
struct Runs<'r, const N: usize> {
    out: *mut u8,
    ins: [*const u8; N],
    n: usize,
    rows: &'r Rows,
    table: [u8; 4],
}

/// Not inlined: one for all formulas.
///
/// # Safety
///
/// K1–K3, K6.
#[inline(never)]
unsafe fn sweep<I: Isa, const N: usize>(out: *mut u8, ins: [*const u8; N], n: usize, rows: &Rows, table: [u8; 4]) {
    // SAFETY: K1.
    let isa = unsafe { I::assume() };
    isa.enter(Runs { out, ins, n, rows, table });
}

impl<const N: usize, I: Isa> Kernel<I> for Runs<'_, N> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Runs { mut out, mut ins, n, rows, table: [t0, t1, t2, t3] } = self;
        // y = c0 ^ ca·a ^ cb·b ^ cab·a·b
        let (c0, ca, cb, cab) = (t0, t0 ^ t2, t0 ^ t1, t0 ^ t1 ^ t2 ^ t3);
        // One by one, not as an array of blocks: that would go by way of memory.
        let block = |a: &Block, b: &Block, to: &mut Block| {
            for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                // Any nonzero byte is true.
                let (a, b) = ((*a).min(1), (*b).min(1));
                *to = c0 ^ (cb & b);
                if N == 2 {
                    *to ^= (ca ^ (cab & b)) & a;
                }
            }
        };
        let owns = n > NEAR && ins.iter().all(|&at| !std::ptr::eq(at, out)) && Maker::current().waits_for_lines();
        let [step, steps @ ..] = &rows.steps;
        for _ in 0..rows.count {
            // SAFETY: K2, K3 for each row (K6).
            unsafe { row(out, ins, n, owns, block) };
            out = out.wrapping_offset(*step);
            ins = each(|k| ins[k].wrapping_offset(steps[k]));
        }
    }
}

/// A row, block by block; `owns` says whether lines are asked for before they are written.
///
/// # Safety
///
/// K2, K3.
#[inline(always)]
unsafe fn row<const N: usize>(
    out: *mut u8,
    ins: [*const u8; N],
    n: usize,
    owns: bool,
    block: impl Fn(&Block, &Block, &mut Block),
) {
    let whole = n - n % BLOCK;
    let mut done = 0;
    while done < whole {
        let end = if owns { whole.min(done + OWNED) } else { whole };
        if owns {
            prefetch_run(out.wrapping_add(done), end - done);
        }
        while done < end {
            let read = |k: usize| {
                // SAFETY: K2.
                unsafe { ins[k].wrapping_add(done).cast::<Block>().read_unaligned() }
            };
            let (a, b) = (read(0), read(N - 1));
            let mut to = [0; BLOCK];
            block(&a, &b, &mut to);
            // SAFETY: K2; what is overwritten was read (K3).
            unsafe { out.wrapping_add(done).cast::<Block>().write_unaligned(to) };
            done += BLOCK;
        }
    }
    if done == n {
        return;
    }
    let mut last = [[0; BLOCK]; N];
    for (at, last) in ins.iter().zip(&mut last) {
        // SAFETY: K2; a block has room for less than a block.
        unsafe { std::ptr::copy_nonoverlapping(at.wrapping_add(done), last.as_mut_ptr(), n - done) };
    }
    let mut to = [0; BLOCK];
    block(&last[0], &last[N - 1], &mut to);
    // SAFETY: K2, K3.
    unsafe { std::ptr::copy_nonoverlapping(to.as_ptr(), out.wrapping_add(done), n - done) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Avx2, Avx512, Level};

    type Sweep<const N: usize> = unsafe fn(*mut u8, [*const u8; N], usize, &Rows, [u8; 4]);

    fn at<const N: usize>(level: Level) -> Sweep<N> {
        level.choose(
            sweep::<Portable, N>,
            #[cfg(target_arch = "x86_64")]
            [sweep::<Avx2, N>, sweep::<Avx512, N>],
        )
    }

    /// Every table, over bytes that are not all 0 and 1, apart and in place, of every length up to some blocks.
    #[test]
    fn a_table_is_looked_up_for_every_byte() {
        let [a, b]: [Vec<u8>; 2] = [3, 5].map(|m| (0..200u8).map(|i| if i % m == 0 { 0 } else { i | 1 }).collect());
        for level in Level::available() {
            for number in 0..16u8 {
                let table = [0, 1, 2, 3].map(|i| number >> i & 1);
                for n in [0, 1, 31, 63, 64, 65, 128, 199] {
                    let row = |i: usize| 2 * usize::from(a[i] != 0) + usize::from(b[i] != 0);
                    let want: Vec<u8> = (0..n).map(|i| table[row(i)]).collect();
                    let mut out = vec![9; 200];
                    // SAFETY: K1 by the choice, K2: all have 200 elements, K3: they lie apart.
                    unsafe { at::<2>(level)(out.as_mut_ptr(), [a.as_ptr(), b.as_ptr()], n, &ONE, table) };
                    assert_eq!((&out[..n], &out[n..]), (&want[..], &vec![9; 200 - n][..]), "{number} {n} {level}");
                    let mut this = a.clone();
                    // SAFETY: as above; the first input is the output (K3).
                    unsafe { at::<2>(level)(this.as_mut_ptr(), [this.as_ptr(), b.as_ptr()], n, &ONE, table) };
                    assert_eq!((&this[..n], &this[n..]), (&want[..], &a[n..]), "{number} {n} {level} in place");
                    let want: Vec<u8> = (0..n).map(|i| table[usize::from(b[i] != 0)]).collect();
                    // SAFETY: as above.
                    unsafe { at::<1>(level)(out.as_mut_ptr(), [b.as_ptr()], n, &ONE, table) };
                    assert_eq!(out[..n], want, "{number} {n} {level} of one");
                }
            }
        }
    }
}

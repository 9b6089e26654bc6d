//! The kernel of formulas of one or two bools: one loop for all of them.
//!
//! Such a formula is a truth table of two or four entries. The kernel asks the formula for each entry and turns the
//! table into a polynomial over the two-element field (the algebraic normal form, Zhegalkin 1927), which needs no
//! branch and no blend:
//!
//! ```text
//! y = c ^ ca·a ^ cb·b ^ cab·a·b          and: a·b     or: a ^ b ^ a·b     xor: a ^ b     not: 1 ^ b
//! ```
//!
//! The loop computes it on whole bytes, with the coefficients in registers. In a loop of its own over `bool` values,
//! `and` took twice the time of its memory traffic, because the compiler makes mask registers of them and tests those
//! again (decision 0024).

use super::dense_loop::{OUTPUT_PREFETCH_CHUNK, OUTPUT_PREFETCH_MIN};
use super::kernel_fn::Traversal;
use super::operand_base::MAX_OPERANDS;
use super::operands::{LoadOperands, StoreOutput};
use super::row_layout::RowLayout;
use crate::cache_lines::prefetch_run;
use crate::isa::{Isa, Kernel, Portable};
use crate::processor::Vendor;
use crate::scalar::Lane;
use monomorph_core::each;
use monomorph_ops::pointwise::{Map, Operands, Params, PointwiseFn};

/// Whether [`bool_kernel`] is a kernel of the formula on bool.
pub(super) const fn applies_to<F: PointwiseFn>() -> bool {
    matches!(F::Operands::COUNT, 1 | 2) && F::FAULT.is_none()
}

/// Elements that are computed at a time: the bytes of the widest register.
const BLOCK: usize = 64;

/// The layout of a single row.
static SINGLE_ROW: RowLayout = RowLayout { count: 1, strides: [0; MAX_OPERANDS], broadcast: None };

/// A block of bools as they are stored.
type ByteBlock = [u8; BLOCK];

/// The values of two operands in every entry of the truth table, operand by operand. One operand is the second.
static DOMAIN: [[u8; 4]; 2] = [[0, 0, 1, 1], [0, 1, 0, 1]];

/// The kernel of formula `F` on bool at level `I`.
///
/// # Safety
///
/// K1–K4 and K6 of `kernel_fn.rs`, and [`applies_to`] holds for the formula.
pub(super) unsafe fn bool_kernel<F, I>(
    out: *mut u8,
    ins: *const *const u8,
    n: usize,
    params: *const (),
    traversal: Traversal<'_>,
) -> bool
where
    I: Isa,
    F: Map<Lane<bool, Portable>>,
    F::Operands: LoadOperands<Lane<bool, Portable>>,
    F::Out: StoreOutput<Lane<bool, Portable>>,
{
    const { assert!(<F::Out as StoreOutput<Lane<bool, Portable>>>::SIZE == 1, "a formula on bools gives bools") };
    let domain = [DOMAIN[0].as_ptr(), DOMAIN[1].as_ptr()];
    let domain = domain[domain.len() - F::Operands::COUNT..].as_ptr();
    // SAFETY: `params` points to the formula's parameters (K4).
    let params = unsafe { &*params.cast::<F::Params>() }.bind::<Lane<bool, Portable>>();
    // SAFETY: `domain` points to a pointer for each of the `COUNT` operands.
    let domain = unsafe { <F::Operands as LoadOperands<Lane<bool, Portable>>>::pointers(domain) };
    let mut table = [0; 4];
    for i in 0..1 << F::Operands::COUNT {
        // SAFETY: `i < 4`, and the domain of an operand has four bytes, which are bools.
        let x = unsafe { <F::Operands as LoadOperands<Lane<bool, Portable>>>::load::<false>(domain, i) };
        let y = F::eval(x, params);
        // SAFETY: `i < 4`, and the table has four elements of one byte (asserted above).
        unsafe { <F::Out as StoreOutput<Lane<bool, Portable>>>::store::<false>(table.as_mut_ptr(), i, y, true) };
    }
    let rows = if let Traversal::Rows(rows) = traversal { rows } else { &SINGLE_ROW };
    if F::Operands::COUNT == 2 {
        // SAFETY: `ins` points to a pointer for each of two operands (K2).
        let ins = unsafe { ins.cast::<[*const u8; 2]>().read() };
        // SAFETY: the caller promises K1 to K3, and K6 where there are other rows.
        unsafe { bool_loop::<I, 2>(out, ins, n, rows, table) };
    } else {
        // SAFETY: `ins` points to a pointer for the one operand (K2).
        let ins = unsafe { ins.cast::<[*const u8; 1]>().read() };
        // SAFETY: the caller promises K1 to K3, and K6 where there are other rows.
        unsafe { bool_loop::<I, 1>(out, ins, n, rows, table) };
    }
    true
}

/// Rows of bools, and the truth table of the formula.
struct BoolLoop<'r, const N: usize> {
    out: *mut u8,
    ins: [*const u8; N],
    n: usize,
    rows: &'r RowLayout,
    table: [u8; 4],
}

/// Not inlined, so that it is compiled once for all formulas.
///
/// # Safety
///
/// K1–K3, K6.
#[inline(never)]
unsafe fn bool_loop<I: Isa, const N: usize>(
    out: *mut u8,
    ins: [*const u8; N],
    n: usize,
    rows: &RowLayout,
    table: [u8; 4],
) {
    // SAFETY: the host has the level `I` that the kernel was chosen for (K1).
    let isa = unsafe { I::assume() };
    isa.enter(BoolLoop { out, ins, n, rows, table });
}

impl<const N: usize, I: Isa> Kernel<I> for BoolLoop<'_, N> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let BoolLoop { mut out, mut ins, n, rows, table: [t0, t1, t2, t3] } = self;
        // y = c0 ^ ca·a ^ cb·b ^ cab·a·b
        let (c0, ca, cb, cab) = (t0, t0 ^ t2, t0 ^ t1, t0 ^ t1 ^ t2 ^ t3);
        // Blocks are arguments of their own, not an array: the compiler would put an array in memory.
        let block = |a: &ByteBlock, b: &ByteBlock, to: &mut ByteBlock| {
            for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                // Any nonzero byte is true.
                let (a, b) = ((*a).min(1), (*b).min(1));
                *to = c0 ^ (cb & b);
                if N == 2 {
                    *to ^= (ca ^ (cab & b)) & a;
                }
            }
        };
        let prefetches = n > OUTPUT_PREFETCH_MIN
            && ins.iter().all(|&at| !std::ptr::eq(at, out))
            && Vendor::current().needs_output_prefetch();
        let [step, strides @ ..] = &rows.strides;
        for _ in 0..rows.count {
            // SAFETY: the row is in bounds (K2), and inputs are the output or apart from it (K3); K6 says both for
            // every row.
            unsafe { row(out, ins, n, prefetches, block) };
            out = out.wrapping_offset(*step);
            ins = each(|k| ins[k].wrapping_offset(strides[k]));
        }
    }
}

/// A row, block by block; `prefetches` says whether the output is prefetched.
///
/// # Safety
///
/// K2, K3.
#[inline(always)]
unsafe fn row<const N: usize>(
    out: *mut u8,
    ins: [*const u8; N],
    n: usize,
    prefetches: bool,
    block: impl Fn(&ByteBlock, &ByteBlock, &mut ByteBlock),
) {
    let whole = n - n % BLOCK;
    let mut done = 0;
    while done < whole {
        let end = if prefetches { whole.min(done + OUTPUT_PREFETCH_CHUNK) } else { whole };
        if prefetches {
            prefetch_run(out.wrapping_add(done), end - done);
        }
        while done < end {
            let read = |k: usize| {
                // SAFETY: `done + BLOCK <= n`, so the block of each input is in bounds and initialised (K2).
                unsafe { ins[k].wrapping_add(done).cast::<ByteBlock>().read_unaligned() }
            };
            let (a, b) = (read(0), read(N - 1));
            let mut to = [0; BLOCK];
            block(&a, &b, &mut to);
            // SAFETY: `done + BLOCK <= n`, so the block of the output is writable (K2); an input that is the output was
            // read before (K3).
            unsafe { out.wrapping_add(done).cast::<ByteBlock>().write_unaligned(to) };
            done += BLOCK;
        }
    }
    if done == n {
        return;
    }
    let mut last = [[0; BLOCK]; N];
    for (at, last) in ins.iter().zip(&mut last) {
        // SAFETY: `n - done < BLOCK` bytes of the input are in bounds and initialised (K2); a block has room for them
        // and is a local.
        unsafe { std::ptr::copy_nonoverlapping(at.wrapping_add(done), last.as_mut_ptr(), n - done) };
    }
    let mut to = [0; BLOCK];
    block(&last[0], &last[N - 1], &mut to);
    // SAFETY: `n - done < BLOCK` bytes of the output are writable (K2); `to` is a local; inputs were read before (K3).
    unsafe { std::ptr::copy_nonoverlapping(to.as_ptr(), out.wrapping_add(done), n - done) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Avx2, Avx512, Level};

    type BoolLoopFn<const N: usize> = unsafe fn(*mut u8, [*const u8; N], usize, &RowLayout, [u8; 4]);

    fn at<const N: usize>(level: Level) -> BoolLoopFn<N> {
        level.choose(
            bool_loop::<Portable, N>,
            #[cfg(target_arch = "x86_64")]
            [bool_loop::<Avx2, N>, bool_loop::<Avx512, N>],
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
                    // SAFETY: K1: `level` is available; K2: all have 200 elements; K3: they are different vectors.
                    unsafe { at::<2>(level)(out.as_mut_ptr(), [a.as_ptr(), b.as_ptr()], n, &SINGLE_ROW, table) };
                    assert_eq!((&out[..n], &out[n..]), (&want[..], &vec![9; 200 - n][..]), "{number} {n} {level}");
                    let mut this = a.clone();
                    // SAFETY: K1: `level` is available; K2: all have 200 elements; K3: the first input is the output
                    // exactly.
                    unsafe { at::<2>(level)(this.as_mut_ptr(), [this.as_ptr(), b.as_ptr()], n, &SINGLE_ROW, table) };
                    assert_eq!((&this[..n], &this[n..]), (&want[..], &a[n..]), "{number} {n} {level} in place");
                    let want: Vec<u8> = (0..n).map(|i| table[usize::from(b[i] != 0)]).collect();
                    // SAFETY: K1: `level` is available; K2: all have 200 elements; K3: they are different vectors.
                    unsafe { at::<1>(level)(out.as_mut_ptr(), [b.as_ptr()], n, &SINGLE_ROW, table) };
                    assert_eq!(out[..n], want, "{number} {n} {level} of one");
                }
            }
        }
    }
}

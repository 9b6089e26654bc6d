//! Small products with at most eight columns: B is copied to a panel whose rows are as wide as a register, and rows of
//! C are summed in registers, each an element of A times a row of the panel at a time.
//!
//! ```text
//!     A      panel              C
//!   ┌────┐  ┌────────┐     ┌────────┐
//!   │ a  │  │b b b b │     │ += a·b │  six rows together
//!   └────┘  └────────┘     └────────┘
//! ```
//!
//! Sums of products along rows of A, as `skinny` takes them of large ones, would be folded for each element of C: of
//! few products that takes longer than these.

use super::ending::Ending;
use super::skinny::{FEW, RUN};
use super::summed::Summed;
use super::{Matrices, Product};
use crate::element::{CpuElement, load, store};
use crate::isa::Isa;
use std::mem::MaybeUninit;

/// Rows of C whose sums are in registers together.
const TOGETHER: usize = 6;

/// Rows of A up to which this is faster, where its columns are runs of memory.
const ROWS: usize = 64;

/// Whether a product with few columns is one of these.
pub(super) fn suits(product: &Product) -> bool {
    let Product { m, n, k, a, .. } = *product;
    (2..=FEW).contains(&n) && k <= RUN && (a.col == 1 || m <= ROWS)
}

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of `C` and which sums are taken in; the host has the level;
/// the product [`suits`].
#[inline(always)]
pub(super) unsafe fn multiply<I: Isa, C: CpuElement<Repr: Summed>>(product: &Product, at: Matrices) {
    let Product { m, n, k, b, .. } = *product;
    let ending = Ending::of(product);
    // Only the rows that there are get written: all of it would take as long as a small product.
    let mut panel = [[MaybeUninit::<C::Repr>::uninit(); FEW]; RUN];
    let panel = &mut panel[..k];
    for (p, row) in panel.iter_mut().enumerate() {
        for (col, x) in row.iter_mut().enumerate() {
            let place = at.b.wrapping_offset(b.at(p, col).wrapping_mul(size_of::<C::Stored>() as isize));
            // SAFETY: an element of B (M1).
            x.write(if col < n { unsafe { load::<C>(place, 0) } } else { <C::Repr as Summed>::ZERO });
        }
    }
    // SAFETY: all `k` rows were just written.
    let panel = unsafe { std::slice::from_raw_parts(panel.as_ptr().cast::<[C::Repr; FEW]>(), k) };
    let mut row = 0;
    while row + TOGETHER <= m {
        // SAFETY: rows of A and C (M1, M2).
        unsafe { rows::<I, C, TOGETHER>(product, at, row, panel, &ending) };
        row += TOGETHER;
    }
    while row + 2 <= m {
        // SAFETY: rows of A and C (M1, M2).
        unsafe { rows::<I, C, 2>(product, at, row, panel, &ending) };
        row += 2;
    }
    if row < m {
        // SAFETY: a row of A and C (M1, M2).
        unsafe { rows::<I, C, 1>(product, at, row, panel, &ending) };
    }
}

/// Computes `N` rows from `first` on.
///
/// # Safety
///
/// M1 and M2 for these rows; the host has the level.
#[inline(always)]
unsafe fn rows<I: Isa, C: CpuElement<Repr: Summed>, const N: usize>(
    product: &Product,
    at: Matrices,
    first: usize,
    panel: &[[C::Repr; FEW]],
    ending: &Ending<C::Repr>,
) {
    let bytes = |elements: isize| elements.wrapping_mul(size_of::<C::Stored>() as isize);
    let step = bytes(product.a.col);
    let mut from: [*const u8; N] = std::array::from_fn(|i| at.a.wrapping_offset(bytes(product.a.at(first + i, 0))));
    let mut sums = [[<C::Repr as Summed>::ZERO; FEW]; N];
    for b in panel {
        for (sums, from) in sums.iter_mut().zip(&mut from) {
            // SAFETY: an element of A: the panel has a row for each of its columns (M1).
            let a = unsafe { load::<C>(*from, 0) };
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = a.fused::<I>(*b, *sum);
            }
            *from = from.wrapping_offset(step);
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        for (col, sum) in sums.iter().enumerate().take(product.n) {
            let place = at.c.wrapping_offset(bytes(product.c.at(first + i, col)));
            // SAFETY: an element of C, initialised where it is asked for (M1).
            let value = ending.element(*sum, || unsafe { load::<C>(place, 0) });
            // SAFETY: an element of C, which nobody else uses (M1, M2).
            unsafe { store::<C>(place, 0, value) };
        }
    }
}

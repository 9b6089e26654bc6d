//! Products of few to middling many rows: B is copied to panels of as many columns as fill two registers, and rows of
//! C are summed in registers from the first row of a panel to the last, while A is read where it lies.
//!
//! ```text
//!       A            panels of B                 C
//!   ┌────────┐      ┌────┬────┬─ ─          ┌────┬────┬─ ─
//!   │ ─► row │      │ │  │    │             │    │    │      up to six rows together
//!   │ ─►     │      │ ▼  │    │             ├────┼────┤
//!   └────────┘      └────┴────┴─ ─          └────┴────┴─ ─
//! ```
//!
//! Packing A as well, as [`floats`](super::floats) does it, pays where it has many rows (Goto and van de Geijn,
//! "Anatomy of high-performance matrix multiplication", 2008). Of few rows packing B takes about as long as the sums:
//! a B that stays is packed once ([`Product::pack`]).

use super::skinny::{FEW, Real};
use super::{Layout, Matrices, Product};
use crate::isa::{Isa, Kernel, Level};
use monomorph_core::{DType, Result, list};

/// Rows whose sums are in registers together.
const TOGETHER: usize = 6;

/// The most rows; of more, packing both factors is no worse.
const ROWS: usize = 192;

/// The fewest columns: of fewer, packing takes longer than reading.
const COLUMNS: usize = 32;

/// Rows of a panel: its columns stay in the second cache.
const DEPTH: std::ops::RangeInclusive<usize> = 16..=4096;

/// Rows and columns that are exchanged in registers.
const BLOCK: usize = 4;

/// Whether a product of these sizes and layouts is one of these. B is transposed, as the weights of linear layers are:
/// rows of others are read where they lie by [`floats`](super::floats).
pub(super) fn suits(dtype: DType, [m, n, k]: [usize; 3], [a, b, c]: [Layout; 3]) -> bool {
    let is_real = matches!(dtype, DType::F32 | DType::F64);
    let are_runs = a.col == 1 && b.row == 1 && c.col == 1;
    is_real && are_runs && (FEW + 1..=ROWS).contains(&m) && n >= COLUMNS && DEPTH.contains(&k)
}

/// Columns of a panel: two registers.
fn width(level: Level, dtype: DType) -> usize {
    let bytes = match level {
        Level::Avx512 => 128,
        Level::Avx2 => 64,
        Level::Portable | Level::Sse2 => 32,
    };
    bytes / dtype.size()
}

/// Copies B to panels.
///
/// # Safety
///
/// M1 of [`Product::run`] for B, for a dtype that is that of `T`.
pub(super) unsafe fn pack<T: Real>(product: &Product, at: Matrices) -> Result<Vec<u128>> {
    match width(product.level, product.dtype) {
        // SAFETY: the caller's promise.
        32 => unsafe { pack_by::<T, 32>(product, at) },
        // SAFETY: the caller's promise.
        16 => unsafe { pack_by::<T, 16>(product, at) },
        // SAFETY: the caller's promise.
        8 => unsafe { pack_by::<T, 8>(product, at) },
        // SAFETY: the caller's promise.
        _ => unsafe { pack_by::<T, 4>(product, at) },
    }
}

/// The same for panels of `W` columns.
///
/// # Safety
///
/// As of [`pack`].
unsafe fn pack_by<T: Real, const W: usize>(product: &Product, at: Matrices) -> Result<Vec<u128>> {
    let Product { n, k, b, .. } = *product;
    let words = (n.next_multiple_of(W) * k * size_of::<T>()).div_ceil(size_of::<u128>());
    let mut own: Vec<u128> = list::with_capacity(words)?;
    let to = own.spare_capacity_mut().as_mut_ptr().cast::<T>();
    for first in (0..n).step_by(W) {
        let to = to.wrapping_add(first * k);
        // Columns beyond the last, whose sums are not stored, are that one.
        let columns: [*const T; W] =
            std::array::from_fn(|i| at.b.cast::<T>().wrapping_offset(b.at(0, (first + i).min(n - 1))));
        let mut row = 0;
        while row < k {
            let from = columns.map(|column| column.wrapping_add(row));
            let to = to.wrapping_add(row * W);
            if row + BLOCK <= k {
                for (i, from) in from.chunks_exact(BLOCK).enumerate() {
                    // SAFETY: so many elements of each of these columns of B, which lie one behind the other (M1).
                    let block: [[T; BLOCK]; BLOCK] =
                        std::array::from_fn(|i| unsafe { from[i].cast::<[T; BLOCK]>().read_unaligned() });
                    let exchanged: [[T; BLOCK]; BLOCK] = std::array::from_fn(|j| block.map(|column| column[j]));
                    for (j, row) in exchanged.into_iter().enumerate() {
                        let to = to.wrapping_add(j * W + i * BLOCK).cast::<[T; BLOCK]>();
                        // SAFETY: there is room for `k` rows of each panel.
                        unsafe { to.write_unaligned(row) };
                    }
                }
                row += BLOCK;
                continue;
            }
            // SAFETY: elements of B (M1).
            let elements: [T; W] = from.map(|from| unsafe { from.read() });
            // SAFETY: there is room for `k` rows of each panel.
            unsafe { to.cast::<[T; W]>().write_unaligned(elements) };
            row += 1;
        }
    }
    // SAFETY: all columns of all panels were just written, in whole words: a row of a panel is some.
    unsafe { own.set_len(words) };
    Ok(own)
}

/// Computes a product from panels of its B.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of `T`; the product [`suits`]; `panels` are what [`pack`]
/// makes of B.
pub(super) unsafe fn multiply<T: Real>(product: &Product, at: Matrices, panels: *const T) {
    product.level.enter(Panels { product, at, panels });
}

struct Panels<'a, T> {
    product: &'a Product,
    at: Matrices,
    panels: *const T,
}

impl<T: Real, I: Isa> Kernel<I> for Panels<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        // The widths of `width`.
        match (I::LEVEL, size_of::<T>()) {
            (Level::Avx512, 4) => self.panels::<I, 32>(),
            (Level::Avx512, _) | (Level::Avx2, 4) => self.panels::<I, 16>(),
            (Level::Avx2, _) | (_, 4) => self.panels::<I, 8>(),
            _ => self.panels::<I, 4>(),
        }
    }
}

impl<T: Real> Panels<'_, T> {
    #[inline(always)]
    fn panels<I: Isa, const W: usize>(self) {
        let Product { m, n, k, a, c, .. } = *self.product;
        let number = |x: monomorph_core::Scalar| T::of(x.to_f64());
        let beta = if self.product.overwrites() { None } else { Some(number(self.product.beta)) };
        let alpha = number(self.product.alpha);
        // As equal as that goes: six, five or four rows, since there are more than eight.
        let blocks = m.div_ceil(TOGETHER);
        for column in (0..n).step_by(W) {
            let panel = self.panels.wrapping_add(column * k);
            let live = W.min(n - column);
            for block in 0..blocks {
                let (first, end) = (block * m / blocks, (block + 1) * m / blocks);
                let from = self.at.a.cast::<T>().wrapping_offset(a.at(first, 0));
                let to = self.at.c.cast::<T>().wrapping_offset(c.at(first, column));
                let ending = Ending { to, row: c.row, live, alpha, beta };
                match end - first {
                    // SAFETY: rows of A, a panel with `k` rows, and elements of C that nobody else uses (M1, M2).
                    6 => unsafe { ending.fill::<I, 6, W>(from, a.row, panel, k) },
                    // SAFETY: as above.
                    5 => unsafe { ending.fill::<I, 5, W>(from, a.row, panel, k) },
                    // SAFETY: as above.
                    _ => unsafe { ending.fill::<I, 4, W>(from, a.row, panel, k) },
                }
            }
        }
    }
}

/// The products of `N` rows of A, so far apart, with a panel.
///
/// # Safety
///
/// From `from` on there are `N` rows of `k` elements, and in the panel `k` rows of `W`, all initialised.
#[inline(always)]
unsafe fn sums<T: Real, I: Isa, const N: usize, const W: usize>(
    from: *const T,
    row: isize,
    mut panel: *const T,
    k: usize,
) -> [[T; W]; N] {
    let rows: [*const T; N] = std::array::from_fn(|i| from.wrapping_offset((i as isize).wrapping_mul(row)));
    let mut sums = [[T::ZERO; W]; N];
    for p in 0..k {
        // SAFETY: row `p` of the panel.
        let b: [T; W] = unsafe { panel.cast::<[T; W]>().read_unaligned() };
        panel = panel.wrapping_add(W);
        for (sums, row) in sums.iter_mut().zip(&rows) {
            // SAFETY: element `p` of the row.
            let a = unsafe { row.wrapping_add(p).read() };
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = a.fused::<I>(b, *sum);
            }
        }
    }
    sums
}

/// Where sums go: `alpha * sum`, and `beta` times what there was.
struct Ending<T> {
    to: *mut T,
    row: isize,
    live: usize,
    alpha: T,
    beta: Option<T>,
}

impl<T: Real> Ending<T> {
    /// Computes rows and stores them.
    ///
    /// # Safety
    ///
    /// As of [`sums`] and [`store`](Ending::store).
    #[inline(always)]
    unsafe fn fill<I: Isa, const N: usize, const W: usize>(
        &self,
        from: *const T,
        row: isize,
        panel: *const T,
        k: usize,
    ) {
        // SAFETY: the caller's promise.
        let sums = unsafe { sums::<T, I, N, W>(from, row, panel, k) };
        // SAFETY: the caller's promise.
        unsafe { self.store(&sums) };
    }

    /// # Safety
    ///
    /// From `to` on there are `N` rows of `live` elements, which nobody else uses, initialised if there is a `beta`.
    #[inline(always)]
    unsafe fn store<const N: usize, const W: usize>(&self, sums: &[[T; W]; N]) {
        for (i, sums) in sums.iter().enumerate() {
            let to = self.to.wrapping_offset((i as isize).wrapping_mul(self.row));
            let mut values = sums.map(|sum| sum.times(self.alpha));
            if self.live == W {
                let to = to.cast::<[T; W]>();
                if let Some(beta) = self.beta {
                    // SAFETY: a row of initialised elements: the caller's promise.
                    let before = unsafe { to.read_unaligned() };
                    values.iter_mut().zip(before).for_each(|(value, x)| *value = value.plus(x.times(beta)));
                }
                // SAFETY: a row of elements: the caller's promise.
                unsafe { to.write_unaligned(values) };
                continue;
            }
            for (j, &value) in values[..self.live].iter().enumerate() {
                let to = to.wrapping_add(j);
                let value = match self.beta {
                    // SAFETY: an initialised element: the caller's promise.
                    Some(beta) => value.plus(unsafe { to.read() }.times(beta)),
                    None => value,
                };
                // SAFETY: an element: the caller's promise.
                unsafe { to.write(value) };
            }
        }
    }
}

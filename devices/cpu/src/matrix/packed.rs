//! Products of 9 rows and more with a transposed B: that is copied to panels of as many columns as fill two registers,
//! and rows of C are summed in registers from the first row of a panel to the last, while A is read where it lies.
//!
//! ```text
//!       A            panels of B                 C
//!   ┌────────┐      ┌────┬────┬─ ─          ┌────┬────┬─ ─
//!   │ ─► row │      │ │  │    │             │    │    │      up to six rows together
//!   │ ─►     │      │ ▼  │    │             ├────┼────┤
//!   └────────┘      └────┴────┴─ ─          └────┴────┴─ ─
//! ```
//!
//! Packing A as well, as [`floats`](super::floats) does it, pays where it is more than the caches hold (Goto and van de
//! Geijn, "Anatomy of high-performance matrix multiplication", 2008). Of few rows packing B takes about as long as the
//! sums: a B that stays is packed once ([`Product::pack`]); of any other one panel is there at a time, in the second
//! cache.

use super::ending::Ending;
use super::skinny::FEW;
use super::summed::Summed;
use super::{Layout, Matrices, Product};
use crate::cache_lines::{CACHE_LINE, prefetch_line};
use crate::isa::{Isa, Kernel, Level};
use monomorph_core::{DType, Result, list};

/// Rows whose sums are in registers together.
const TOGETHER: usize = 6;

/// Rows up to which this is faster for all sums.
const ROWS: usize = 192;

/// Terms of a sum from which on it is for more rows.
const DEEP: usize = 256;

/// The most bytes of so many rows of A, which are read once for each panel: more would come from memory each time.
const NEAR: usize = 4 << 20;

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
    let is_near = m.saturating_mul(k).saturating_mul(dtype.size()) <= NEAR;
    let gains = m <= ROWS || k >= DEEP && is_near;
    is_real && are_runs && m > FEW && gains && n >= COLUMNS && DEPTH.contains(&k)
}

/// Columns of a panel of elements of so many bytes: two registers.
const fn width(level: Level, size: usize) -> usize {
    let bytes = match level {
        Level::Avx512 => 128,
        Level::Avx2 => 64,
        Level::Portable | Level::Sse2 => 32,
    };
    bytes / size
}

/// Copies B to panels.
///
/// # Safety
///
/// M1 of [`Product::run`] for B, for a dtype that is that of `T`.
pub(super) unsafe fn pack<T: Summed>(product: &Product, at: Matrices) -> Result<Vec<u128>> {
    match width(product.level, size_of::<T>()) {
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
unsafe fn pack_by<T: Summed, const W: usize>(product: &Product, at: Matrices) -> Result<Vec<u128>> {
    let Product { n, k, .. } = *product;
    let mut own = room::<T>(n.next_multiple_of(W) * k)?;
    let to = own.spare_capacity_mut().as_mut_ptr().cast::<T>();
    for first in (0..n).step_by(W) {
        // SAFETY: M1 for B; there is room for all panels.
        unsafe { pack_panel::<T, W>(product, at, first, to.wrapping_add(first * k)) };
    }
    // SAFETY: all columns of all panels were just written, in whole words: a row of a panel is some.
    unsafe { own.set_len(n.next_multiple_of(W) * k * size_of::<T>() / size_of::<u128>()) };
    Ok(own)
}

/// Memory for so many elements.
fn room<T>(elements: usize) -> Result<Vec<u128>> {
    list::with_capacity((elements * size_of::<T>()).div_ceil(size_of::<u128>()))
}

/// Copies the columns of B from `first` on to a panel.
///
/// # Safety
///
/// M1 of [`Product::run`] for B; there is room for `k` rows of `W` elements, which nobody else uses.
#[inline(never)] // Compiled once, not in the frame of each level: squares are no faster there (decision 0010).
unsafe fn pack_panel<T: Summed, const W: usize>(product: &Product, at: Matrices, first: usize, to: *mut T) {
    let Product { n, k, b, .. } = *product;
    // Columns beyond the last, whose sums are not stored, are that one.
    let columns: [*const T; W] =
        std::array::from_fn(|i| at.b.cast::<T>().wrapping_offset(b.at(0, (first + i).min(n - 1))));
    let whole = k / BLOCK * BLOCK;
    // A cache line of a few columns at a time: those of a whole panel, which are often a power of two apart, would put
    // each other out of the first cache before they are used up.
    let line = CACHE_LINE / size_of::<T>();
    for rows in (0..whole).step_by(line) {
        for (i, from) in columns.chunks_exact(BLOCK).enumerate() {
            for row in (rows..whole.min(rows + line)).step_by(BLOCK) {
                // SAFETY: so many elements of each of these columns of B, which lie one behind the other (M1).
                let block: [[T; BLOCK]; BLOCK] =
                    std::array::from_fn(|i| unsafe { from[i].wrapping_add(row).cast::<[T; BLOCK]>().read_unaligned() });
                let exchanged: [[T; BLOCK]; BLOCK] = std::array::from_fn(|j| block.map(|column| column[j]));
                for (j, elements) in exchanged.into_iter().enumerate() {
                    let to = to.wrapping_add((row + j) * W + i * BLOCK).cast::<[T; BLOCK]>();
                    // SAFETY: there is room for `k` rows of the panel.
                    unsafe { to.write_unaligned(elements) };
                }
            }
        }
    }
    for row in whole..k {
        // SAFETY: elements of B (M1).
        let elements: [T; W] = columns.map(|from| unsafe { from.wrapping_add(row).read() });
        // SAFETY: there is room for `k` rows of the panel.
        unsafe { to.wrapping_add(row * W).cast::<[T; W]>().write_unaligned(elements) };
    }
}

/// Computes a product from panels of its B, or packs one after the other; false if there was no memory for one.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of `T`; the product [`suits`], or is a piece of one
/// that does; `panels`, if there are some, are what [`pack`] makes of B.
pub(super) unsafe fn multiply<T: Summed>(product: &Product, at: Matrices, panels: Option<*const u8>) -> bool {
    let one = || room::<T>(width(product.level, size_of::<T>()) * product.k);
    let Ok(mut own) = (if panels.is_none() { one() } else { Ok(Vec::new()) }) else { return false };
    let room = || Given::Room(own.spare_capacity_mut().as_mut_ptr().cast::<T>());
    let panels = panels.map_or_else(room, |all| Given::All(all.cast::<T>()));
    product.level.enter(Panels { product, at, panels });
    true
}

/// The panels of B.
#[derive(Clone, Copy)]
enum Given<T> {
    /// All of them.
    All(*const T),
    /// Room for one.
    Room(*mut T),
}

/// Made only where what [`multiply`] asks for holds; the panels are those of B, and room is nobody else's.
struct Panels<'a, T> {
    product: &'a Product,
    at: Matrices,
    panels: Given<T>,
}

impl<T: Summed, I: Isa> Kernel<I> for Panels<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        match const { width(I::LEVEL, size_of::<T>()) } {
            32 => self.panels::<I, 32>(),
            16 => self.panels::<I, 16>(),
            8 => self.panels::<I, 8>(),
            _ => self.panels::<I, 4>(),
        }
    }
}

impl<T: Summed> Panels<'_, T> {
    #[inline(always)]
    fn panels<I: Isa, const W: usize>(self) {
        let Product { m, n, k, a, c, .. } = *self.product;
        let ending = Ending::of(self.product);
        // As equal as that goes: of more than eight rows six, five or four.
        let blocks = m.div_ceil(TOGETHER);
        // Panels that stay are mostly read from memory: while one is multiplied the next one comes, a line for so many
        // of its rows.
        let every = match self.panels {
            Given::All(_) => (blocks * CACHE_LINE / const { W * size_of::<T>() }).max(1),
            Given::Room(_) => k,
        };
        for column in (0..n).step_by(W) {
            let panel = match self.panels {
                Given::All(all) => all.wrapping_add(column * k),
                Given::Room(room) => {
                    // SAFETY: M1 (the struct's promise); there is room for a panel.
                    unsafe { pack_panel::<T, W>(self.product, self.at, column, room) };
                    room
                }
            };
            let live = W.min(n - column);
            for block in 0..blocks {
                let (first, end) = (block * m / blocks, (block + 1) * m / blocks);
                let next = panel.wrapping_add(W * k).cast::<u8>().wrapping_add(block * k.div_ceil(every) * CACHE_LINE);
                let rows = |first: usize| {
                    let from = self.at.a.cast::<T>().wrapping_offset(a.at(first, 0));
                    let to = self.at.c.cast::<T>().wrapping_offset(c.at(first, column));
                    Rows { from, row: a.row, panel, k, to, to_row: c.row, live, ending, next, every }
                };
                match end - first {
                    // SAFETY: six rows of A and C, and a panel with `k` rows (M1, M2).
                    6 => unsafe { rows(first).compute::<I, 6, W>() },
                    // SAFETY: the same of five rows.
                    5 => unsafe { rows(first).compute::<I, 5, W>() },
                    // SAFETY: the same of four.
                    4 => unsafe { rows(first).compute::<I, 4, W>() },
                    // No piece is that small (`Cut`), but none may be read beyond its rows.
                    _ => (first..end).for_each(|row| {
                        // SAFETY: the same of one.
                        unsafe { rows(row).compute::<I, 1, W>() };
                    }),
                }
            }
        }
    }
}

/// Some rows of A and C, and a panel.
struct Rows<T> {
    from: *const T,
    row: isize,
    panel: *const T,
    k: usize,
    to: *mut T,
    to_row: isize,
    /// Columns of the panel that C has.
    live: usize,
    ending: Ending<T>,
    /// What to prefetch: a line for so many rows of the panel.
    next: *const u8,
    every: usize,
}

impl<T: Summed> Rows<T> {
    /// # Safety
    ///
    /// There are `N` rows of A of `k` elements, and in the panel `k` rows of `W`, all initialised; `N` rows of C of
    /// `live` elements, which nobody else uses, initialised unless C is only written.
    #[inline(always)]
    unsafe fn compute<I: Isa, const N: usize, const W: usize>(&self) {
        // SAFETY: the caller's promise.
        let sums = unsafe { self.sums::<I, N, W>() };
        for (i, sums) in sums.iter().enumerate() {
            let to = self.to.wrapping_offset((i as isize).wrapping_mul(self.to_row));
            if self.live == W {
                let to = to.cast::<[T; W]>();
                let elements: [T; W] = std::array::from_fn(|j| {
                    // SAFETY: an element of the row, initialised where it is asked for.
                    self.ending.element(sums[j], || unsafe { to.cast::<T>().wrapping_add(j).read() })
                });
                // SAFETY: a row of C.
                unsafe { to.write_unaligned(elements) };
                continue;
            }
            for (j, &sum) in sums[..self.live].iter().enumerate() {
                let to = to.wrapping_add(j);
                // SAFETY: an element of the row, initialised where it is asked for.
                let element = self.ending.element(sum, || unsafe { to.read() });
                // SAFETY: an element of the row.
                unsafe { to.write(element) };
            }
        }
    }

    /// The products of the rows of A with the panel.
    ///
    /// # Safety
    ///
    /// As of [`compute`](Rows::compute), for A and the panel.
    #[inline(always)]
    unsafe fn sums<I: Isa, const N: usize, const W: usize>(&self) -> [[T; W]; N] {
        let rows: [*const T; N] =
            std::array::from_fn(|i| self.from.wrapping_offset((i as isize).wrapping_mul(self.row)));
        let mut panel = self.panel;
        let mut sums = [[T::ZERO; W]; N];
        let (mut p, mut next) = (0, self.next);
        while p < self.k {
            prefetch_line(next);
            next = next.wrapping_add(CACHE_LINE);
            let end = self.k.min(p + self.every);
            while p < end {
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
                p += 1;
            }
        }
        sums
    }
}

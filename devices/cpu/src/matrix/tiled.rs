//! Products by tiles: both factors are packed to panels, and the sums of a tile of C stay in registers while a panel of
//! A and a few of B run past. Owns the blocking and the order of the sums; what a panel holds and how registers are
//! multiplied is a [`Tiles`], one for each instruction that is worth it.
//!
//! ```text
//!  a panel: as many rows of A, or columns     a tile of C: 8 rows, three panels of columns
//!  of B, as a register has lanes
//!  ┌ terms  ┬ terms  ┬ ─ ─                           b b b
//!  │ of 1st │ of 2nd │      a register             a ▪ ▪ ▪
//!  ├ next   ┼ next   ┼ ─ ─                         a ▪ ▪ ▪     24 registers of sums
//!  │        │        │      the next               : : : :
//! ```
//!
//! The blocking is that of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008). The sum
//! of an element runs over `k` in one order, whatever piece of C it is in.

use super::{Layout, Matrices, Product};
use crate::scratch::unwritten;
use bytemuck::Pod;
use monomorph_core::Result;

/// Rows of a tile.
pub(super) const TALL: usize = 8;

/// Panels of B that a tile is wide.
const WIDE: usize = 3;

/// Bytes of a panel: three of B and one of A stay in the first cache.
const PANEL: usize = 8 << 10;

/// Rows of A, and panels of B, that are packed at a time: they stay in the second cache.
const ROWS: usize = 512;
const PANELS: usize = 8 * WIDE;

/// A factor: elements from one lane to the next, and from one term of a sum to the next.
pub(super) struct Factor<E> {
    data: *const E,
    pub(super) lane: isize,
    pub(super) term: isize,
}

impl<E> Clone for Factor<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Factor<E> {}

impl<E> Factor<E> {
    pub(super) fn at(self, lane: usize, term: usize) -> *const E {
        let offset = (lane as isize).wrapping_mul(self.lane).wrapping_add((term as isize).wrapping_mul(self.term));
        self.data.wrapping_offset(offset)
    }

    fn from(self, lane: usize, term: usize) -> Factor<E> {
        Factor { data: self.at(lane, term), ..self }
    }
}

/// A part of a row of C.
pub(super) struct Line<E> {
    pub(super) data: *mut E,
    /// Elements from one column to the next.
    pub(super) step: isize,
    /// How many there are, at most the lanes of a register.
    pub(super) columns: usize,
}

/// How registers are multiplied.
pub(super) trait Tiles {
    /// An element of a matrix.
    type Element: Copy;
    /// A register of a panel: some terms for each lane, zero where there are none.
    type Row: Pod;
    /// A register of sums.
    type Sums: Pod;
    /// Lanes of a register, [`TALL`] or a multiple of it.
    const LANES: usize;
    /// Terms of a lane in a register.
    const TERMS: usize;

    /// Copies up to [`LANES`](Tiles::LANES) lanes of `depth` terms to a panel.
    ///
    /// # Safety
    ///
    /// The factor has them, in bounds and initialised; the host has the instructions.
    unsafe fn pack(from: Factor<Self::Element>, lanes: usize, depth: usize, panel: &mut [Self::Row]);

    /// Adds the products of [`TALL`] lanes of A, from `first` on, and of `N` panels of B as long as that of A, to the
    /// sums, or begins with them.
    ///
    /// # Safety
    ///
    /// The host has the instructions.
    unsafe fn add<const N: usize>(
        a: &[Self::Row],
        first: usize,
        b: &[Self::Row],
        sums: &mut [[Self::Sums; TALL]],
        is_first: bool,
    );

    /// Writes what the sums of a row make of C: `beta * C + alpha * sum`.
    ///
    /// # Safety
    ///
    /// The line is in bounds, nobody else's, and initialised unless beta is zero; the host has the instructions.
    unsafe fn write(product: &Product, sums: &Self::Sums, line: Line<Self::Element>);
}

/// Computes a product. An error if there was no memory for the panels.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of the elements; the host has the instructions.
pub(super) unsafe fn multiply<T: Tiles>(product: &Product, at: Matrices) -> Result<()> {
    let Product { m, n, k, a, b, c, .. } = *product;
    let by_rows = Factor { data: at.a.cast(), lane: a.row, term: a.col };
    let by_columns = Factor { data: at.b.cast(), lane: b.col, term: b.row };
    // The product of the transposed matrices is the transposed product, and its rows are runs of memory.
    let is_transposed = c.row == 1 && c.col != 1;
    let (m, n, c) = if is_transposed { (n, m, c.t()) } else { (m, n, c) };
    let [a, b] = if is_transposed { [by_columns, by_rows] } else { [by_rows, by_columns] };

    let deep = PANEL / size_of::<T::Row>() * T::TERMS;
    let wide = PANELS * T::LANES;
    let (rows, columns, steps) = (m.min(ROWS), n.min(wide), k.min(deep).div_ceil(T::TERMS));
    let mut a_panels = unwritten::<T::Row>(rows.div_ceil(T::LANES) * steps)?;
    let mut b_panels = unwritten::<T::Row>(columns.div_ceil(T::LANES) * steps)?;
    // Sums of more terms wait there for the next ones; those of few are a tile at a time.
    let waits = k > deep;
    let tiles = if waits { rows.div_ceil(TALL) * columns.div_ceil(T::LANES) } else { WIDE };
    let mut sums = unwritten::<[T::Sums; TALL]>(tiles)?;
    for column in (0..n).step_by(wide) {
        for row in (0..m).step_by(ROWS) {
            for term in (0..k.max(1)).step_by(deep) {
                let depth = deep.min(k - term);
                let block = Block::<T> {
                    product,
                    c: at.c.cast::<T::Element>().wrapping_offset(c.at(row, column)),
                    layout: c,
                    rows: ROWS.min(m - row),
                    columns: wide.min(n - column),
                    steps: depth.div_ceil(T::TERMS),
                    is_first: term == 0,
                    is_last: k - term <= deep,
                };
                // SAFETY: lanes and terms of A (M1); the host has the instructions.
                unsafe { pack::<T>(a.from(row, term), block.rows, depth, &mut a_panels) };
                // SAFETY: lanes and terms of B (M1); the host has the instructions.
                unsafe { pack::<T>(b.from(column, term), block.columns, depth, &mut b_panels) };
                // SAFETY: the block is a part of C (M1), which nobody else uses (M2); the host has the instructions.
                unsafe { block.compute(&a_panels, &b_panels, &mut sums, waits) };
            }
        }
    }
    Ok(())
}

/// Copies lanes of a factor to panels.
///
/// # Safety
///
/// The factor has `lanes` lanes of `depth` terms, in bounds and initialised; the host has the instructions.
unsafe fn pack<T: Tiles>(from: Factor<T::Element>, lanes: usize, depth: usize, panels: &mut [T::Row]) {
    let steps = depth.div_ceil(T::TERMS);
    if steps == 0 {
        return;
    }
    for (panel, first) in panels.chunks_exact_mut(steps).zip((0..lanes).step_by(T::LANES)) {
        // SAFETY: some of the lanes.
        unsafe { T::pack(from.from(first, 0), T::LANES.min(lanes - first), depth, panel) };
    }
}

/// A part of C and some terms of its sums.
struct Block<'a, T: Tiles> {
    product: &'a Product,
    c: *mut T::Element,
    layout: Layout,
    rows: usize,
    columns: usize,
    steps: usize,
    is_first: bool,
    is_last: bool,
}

impl<T: Tiles> Block<'_, T> {
    /// Adds the terms to the sums, and writes C behind the last.
    ///
    /// # Safety
    ///
    /// The block is a part of C, in bounds, initialised unless beta is zero, and nobody else's; the host has the
    /// instructions.
    unsafe fn compute(&self, a: &[T::Row], b: &[T::Row], sums: &mut [[T::Sums; TALL]], waits: bool) {
        let across = self.columns.div_ceil(T::LANES);
        let mut panel = 0;
        while panel < across {
            // Not one panel alone behind three: so few sums would wait for each other.
            let wide = match across - panel {
                4 => 2,
                left => left.min(WIDE),
            };
            let b = &b[panel * self.steps..][..wide * self.steps];
            for row in (0..self.rows).step_by(TALL) {
                let tile = if waits { row / TALL * across + panel } else { 0 };
                let sums = &mut sums[tile..][..wide];
                let a = &a[row / T::LANES * self.steps..][..self.steps];
                let first = row % T::LANES;
                match wide {
                    // SAFETY: the host has the instructions.
                    3 => unsafe { T::add::<3>(a, first, b, sums, self.is_first) },
                    // SAFETY: the host has the instructions.
                    2 => unsafe { T::add::<2>(a, first, b, sums, self.is_first) },
                    // SAFETY: the host has the instructions.
                    _ => unsafe { T::add::<1>(a, first, b, sums, self.is_first) },
                }
                if self.is_last {
                    for (column, sums) in sums.iter().enumerate().map(|(i, sums)| ((panel + i) * T::LANES, sums)) {
                        for (row, sums) in (row..self.rows).zip(sums) {
                            let data = self.c.wrapping_offset(self.layout.at(row, column));
                            let columns = T::LANES.min(self.columns - column);
                            // SAFETY: a part of a row of the block.
                            unsafe { T::write(self.product, sums, Line { data, step: self.layout.col, columns }) };
                        }
                    }
                }
            }
            panel += wide;
        }
    }
}

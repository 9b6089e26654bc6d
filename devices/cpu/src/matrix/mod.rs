//! Products of matrices: `C = beta * C + alpha * A B` over memory with any strides, of every dtype but bool.
//!
//! ```text
//!                  n                 a product is cut into pieces of C, which threads take:
//!            ┌───────────┐             float32, float64, complex   blocked and packed (`floats`)
//!          k │     B     │             float16, bfloat16           widened block by block to float32,
//!            └───────────┘                                         which is rounded once (`halves`)
//!      k     ┌─────┬─────┐             integers                    modulo 2^bits, in blocks (`integers`)
//!   ┌──────┐ │piece│     │             bfloat16, int64 where the   tiles of panels (`tiled`, with `pairs` and
//! m │  A   │ ├─────┼─────┤               host has instructions     `words`)
//!   └──────┘ └─────┴─────┘             at most 8 rows or columns   runs of memory, each read once (`skinny`)
//!                                      a transposed B, many rows   panels of B (`packed`)
//!                                      few multiplications         in float64 (`tiny`)
//! ```
//!
//! The sum of an element runs over `k` in the same order whatever piece it is in, so results do not depend on the
//! number of threads. Owns the cut and the choice of a kernel; refuses to know what a tensor is.

mod bf16_rows;
mod ending;
mod floats;
mod halves;
mod integers;
mod packed;
#[cfg(target_arch = "x86_64")]
mod pairs;
mod panel;
mod skinny;
mod summed;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tiled;
mod tiny;
#[cfg(target_arch = "x86_64")]
mod words;

use crate::cast::Bits;
use crate::isa::Level;
use crate::left_out::{left_out, no_kernel};
use half::{bf16, f16};
use monomorph_core::{Complex, DType, ErrorKind, Result, Scalar};
use monomorph_iter::{is_parallel, pieces, share};
use std::sync::atomic::{AtomicBool, Ordering};

/// Products of fewer multiplications than this stay on one thread: they take as long as waking another.
const SERIAL: usize = 1 << 18;

/// The shortest side of a piece. Packing a factor costs about as much as 16 multiplications an element, and a kernel
/// that is chosen for small products (at most 64 rows and columns) must not be chosen for a part of a large one.
const SIDE: usize = 128;

/// How a matrix lies in memory: elements from one row to the next, and from one column to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) row: isize,
    pub(crate) col: isize,
}

impl Layout {
    /// The layout of the transposed matrix.
    pub(crate) fn t(self) -> Layout {
        Layout { row: self.col, col: self.row }
    }

    /// Elements from the first one to that in this row and column.
    fn at(self, row: usize, col: usize) -> isize {
        (row as isize).wrapping_mul(self.row).wrapping_add((col as isize).wrapping_mul(self.col))
    }

    /// The same, with a dimension of one element having no stride.
    fn of_sizes(self, rows: usize, cols: usize) -> Layout {
        Layout { row: if rows > 1 { self.row } else { 0 }, col: if cols > 1 { self.col } else { 0 } }
    }
}

/// The matrices of a product, as memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrices {
    pub(crate) a: *const u8,
    pub(crate) b: *const u8,
    pub(crate) c: *mut u8,
}

// SAFETY: whoever is given pieces of a product by several threads promises that A and B are only read, and that pieces
// of C are apart.
unsafe impl Send for Matrices {}
// SAFETY: whoever is given pieces of a product by several threads promises that A and B are only read, and that pieces
// of C are apart.
unsafe impl Sync for Matrices {}

impl Matrices {
    /// The matrices so many bytes on.
    pub(crate) fn moved(self, [a, b, c]: [isize; 3]) -> Matrices {
        let Matrices { a: from_a, b: from_b, c: from_c } = self;
        Matrices { a: from_a.wrapping_offset(a), b: from_b.wrapping_offset(b), c: from_c.wrapping_offset(c) }
    }
}

/// A product, without its memory: it serves every member of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    pub(crate) dtype: DType,
    /// Rows of A and C; columns of B and C; columns of A and rows of B.
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: Layout,
    pub(crate) b: Layout,
    pub(crate) c: Layout,
    /// Elements of A and B are the conjugates of those in memory.
    pub(crate) conj: [bool; 2],
    pub(crate) alpha: Scalar,
    /// Of zero, C is not read.
    pub(crate) beta: Scalar,
    way: Way,
    level: Level,
}

/// Which kernel computes a product. Chosen for the whole, so that it does not depend on the cut.
#[derive(Clone, Copy, Debug)]
enum Way {
    Tiny,
    Skinny,
    Packed,
    #[cfg(target_arch = "x86_64")]
    Tiled,
    Blocked,
}

impl Product {
    /// The product of matrices with these layouts, `sizes` being `[m, n, k]`. The bits of A and B say what their
    /// elements are to those in memory; those of C are its elements.
    pub(crate) fn new(
        dtype: DType,
        [m, n, k]: [usize; 3],
        [a, b, c]: [Layout; 3],
        bits: [Bits; 2],
        [alpha, beta]: [Scalar; 2],
    ) -> Result<Product> {
        if dtype == DType::Bool || left_out(dtype).is_some() {
            return Err(no_kernel(dtype, "all dtypes but bool").into());
        }
        let alpha = if bits[0].neg != bits[1].neg { negative(alpha) } else { alpha };
        let (a, b, c) = (a.of_sizes(m, k), b.of_sizes(k, n), c.of_sizes(m, n));
        let level = crate::level()?;
        let way = match (tiny::suits([m, n, k], dtype.is_complex()), skinny::suits([m, n, k], a, b)) {
            // Where sums have terms enough for vectors of them; those of halves would be widened first.
            (true, true) if m.min(n) == 1 && k >= 16 && !dtype.is_complex() => Way::Skinny,
            (true, true) if k >= 8 && matches!(dtype, DType::F32 | DType::F64) => Way::Skinny,
            (true, _) => Way::Tiny,
            (_, true) => Way::Skinny,
            _ if packed::suits(dtype, [m, n, k], [a, b, c]) => Way::Packed,
            #[cfg(target_arch = "x86_64")]
            _ if level == Level::Avx512 && (dtype == DType::I64 || dtype == DType::BF16 && pairs::is_available()) => {
                Way::Tiled
            }
            _ => Way::Blocked,
        };
        Ok(Product { dtype, m, n, k, a, b, c, way, conj: bits.map(|bits| bits.conj), alpha, beta, level })
    }

    /// True if C is only written.
    fn overwrites(&self) -> bool {
        self.beta.to_complex() == Scalar::Int(0).to_complex()
    }

    /// Computes the product.
    ///
    /// # Safety
    ///
    /// * M1: `at` are the first elements of matrices of these sizes, layouts and dtype, initialised (C unless beta is
    ///   zero) and aligned to their components.
    /// * M2: nobody writes A or B meanwhile, and nobody else uses C, whose elements lie apart from each other and from
    ///   A and B.
    pub(crate) unsafe fn run(&self, at: Matrices) -> Result<()> {
        // SAFETY: M1, M2 for a batch of one.
        unsafe { self.run_batch(1, |_| at, None) }
    }

    /// B in panels, for [`run_batch`](Product::run_batch), if the product is computed from such.
    ///
    /// # Safety
    ///
    /// M1 for B.
    pub(crate) unsafe fn pack(&self, at: Matrices) -> Result<Option<Vec<u128>>> {
        match (self.way, self.dtype) {
            // SAFETY: the caller's promise.
            (Way::Packed, DType::F32) => unsafe { packed::pack::<f32>(self, at) }.map(Some),
            // SAFETY: the caller's promise.
            (Way::Packed, DType::F64) => unsafe { packed::pack::<f64>(self, at) }.map(Some),
            _ => Ok(None),
        }
    }

    /// Computes the product on this thread, for callers that share their work among threads themselves; false if there
    /// was no memory for it.
    ///
    /// # Safety
    ///
    /// M1 and M2.
    pub(crate) unsafe fn run_here(&self, at: Matrices) -> bool {
        // SAFETY: M1 and M2 for the whole as a piece.
        unsafe { self.piece(at, Piece { row: 0, col: 0, rows: self.m, cols: self.n }, None) }
    }

    /// Computes a product for each of `batch` members, whose matrices `at` tells; from `panels`, if there are some,
    /// where all have one B.
    ///
    /// # Safety
    ///
    /// M1 and M2 for all of them: the matrices C of two members lie apart, too. `panels` are what
    /// [`pack`](Product::pack) makes of every B.
    pub(crate) unsafe fn run_batch(
        &self,
        batch: usize,
        at: impl Fn(usize) -> Matrices + Sync,
        panels: Option<&[u128]>,
    ) -> Result<()> {
        if batch == 0 || self.m == 0 || self.n == 0 {
            return Ok(());
        }
        let work = self.m.saturating_mul(self.n).saturating_mul(self.k.max(1));
        let parallel = is_parallel(work.saturating_mul(batch), SERIAL);
        let wanted = if parallel { pieces().div_ceil(batch) } else { 1 };
        // SAFETY: the caller's promise.
        unsafe { self.run_cut(batch, at, Cut::new(self.m, self.n, wanted), parallel, panels) }
    }

    /// The same, cut so.
    ///
    /// # Safety
    ///
    /// As of [`run_batch`](Product::run_batch).
    unsafe fn run_cut(
        &self,
        batch: usize,
        at: impl Fn(usize) -> Matrices + Sync,
        cut: Cut,
        parallel: bool,
        panels: Option<&[u128]>,
    ) -> Result<()> {
        let work = self.m.saturating_mul(self.n).saturating_mul(self.k.max(1));
        let total = batch * cut.pieces();
        // Small products go to threads many at a time.
        let together = if parallel { (SERIAL / 4 / (work / cut.pieces()).max(1)).clamp(1, total) } else { total };
        let failed = AtomicBool::new(false);
        share(total.div_ceil(together), |group| {
            for i in group * together..total.min((group + 1) * together) {
                // SAFETY: M1, M2 for a member, of which this is a piece that nobody else computes.
                if !unsafe { self.piece(at(i / cut.pieces()), cut.piece(i % cut.pieces()), panels) } {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        match failed.into_inner() {
            false => Ok(()),
            true => Err(ErrorKind::Allocation { bytes: halves::SCRATCH, device: monomorph_core::DeviceId::CPU }.into()),
        }
    }

    /// Computes a piece of C; false if there was no memory for it.
    ///
    /// # Safety
    ///
    /// M1; M2 for the piece; the panels are those of B.
    unsafe fn piece(&self, at: Matrices, piece: Piece, panels: Option<&[u128]>) -> bool {
        let size = self.dtype.size() as isize;
        let product = Product { m: piece.rows, n: piece.cols, ..*self };
        let [a, b, c] = [self.a.at(piece.row, 0), self.b.at(0, piece.col), self.c.at(piece.row, piece.col)];
        let at = at.moved([a, b, c].map(|elements| elements.wrapping_mul(size)));
        // Pieces begin with a panel.
        let panels = panels.map(|all| all.as_ptr().cast::<u8>().wrapping_add(piece.col * self.k * self.dtype.size()));
        // SAFETY, of all: M1 and M2 hold for the rows of A, columns of B and elements of C that make the piece; the
        // element types are those of the dtype.
        let done = match (self.way, self.dtype) {
            // SAFETY: see above.
            (Way::Tiny, DType::F32) => unsafe { tiny::multiply::<f32>(&product, at) },
            // SAFETY: see above.
            (Way::Tiny, DType::F64) => unsafe { tiny::multiply::<f64>(&product, at) },
            // SAFETY: see above.
            (Way::Tiny, DType::F16) => unsafe { tiny::multiply::<f16>(&product, at) },
            // SAFETY: see above.
            (Way::Tiny, DType::BF16) => unsafe { tiny::multiply::<bf16>(&product, at) },
            // SAFETY: see above.
            (Way::Tiny, DType::C64) => unsafe { tiny::multiply::<Complex<f32>>(&product, at) },
            // SAFETY: see above.
            (Way::Tiny, DType::C128) => unsafe { tiny::multiply::<Complex<f64>>(&product, at) },
            // SAFETY: see above.
            (Way::Skinny, DType::F32) => unsafe { skinny::multiply::<f32>(&product, at) },
            // SAFETY: see above.
            (Way::Skinny, DType::F64) => unsafe { skinny::multiply::<f64>(&product, at) },
            // SAFETY: see above.
            (Way::Skinny, DType::F16) => unsafe { skinny::multiply::<f16>(&product, at) },
            // SAFETY: see above.
            (Way::Skinny, DType::BF16) => unsafe { bf16_rows::multiply(&product, at) },
            // SAFETY: see above.
            (Way::Skinny, DType::I32) => unsafe { skinny::multiply::<i32>(&product, at) },
            // SAFETY: see above.
            (Way::Skinny, DType::I64) => unsafe { skinny::multiply::<i64>(&product, at) },
            // SAFETY: see above.
            (Way::Packed, DType::F32) => return unsafe { packed::multiply::<f32>(&product, at, panels) },
            // SAFETY: see above.
            (Way::Packed, DType::F64) => return unsafe { packed::multiply::<f64>(&product, at, panels) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see above; the way is chosen where the host has the instructions.
            (Way::Tiled, DType::BF16) => return unsafe { tiled::multiply::<pairs::BrainPairs>(&product, at) }.is_ok(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see above; the way is chosen where the host has the instructions.
            (Way::Tiled, DType::I64) => return unsafe { tiled::multiply::<words::WideWords>(&product, at) }.is_ok(),
            _ => false,
        };
        if done {
            return true;
        }
        match self.dtype {
            // SAFETY: see above.
            DType::F32 => unsafe { floats::multiply::<f32>(&product, at) },
            // SAFETY: see above.
            DType::F64 => unsafe { floats::multiply::<f64>(&product, at) },
            // SAFETY: see above.
            DType::C64 => unsafe { floats::multiply::<Complex<f32>>(&product, at) },
            // SAFETY: see above.
            DType::C128 => unsafe { floats::multiply::<Complex<f64>>(&product, at) },
            // SAFETY: see above.
            DType::F16 | DType::BF16 => return unsafe { halves::multiply(&product, at) }.is_ok(),
            // SAFETY: see above; modulo 2^bits a signed product is that of unsigned integers.
            _ => unsafe { integers::multiply(&product, at) },
        }
        true
    }
}

fn negative(number: Scalar) -> Scalar {
    match number {
        Scalar::Bool(b) => Scalar::Int(-i64::from(b)),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(c) => Scalar::Complex(-c),
    }
}

/// A part of C: its first row and column, and how many it has.
#[derive(Clone, Copy, Debug)]
struct Piece {
    row: usize,
    col: usize,
    rows: usize,
    cols: usize,
}

/// The cut of C into pieces: into how many its rows and columns are cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    m: usize,
    n: usize,
    down: usize,
    across: usize,
}

impl Cut {
    /// A cut into about as many pieces as wanted, their sides as long and as equal as that allows.
    fn new(m: usize, n: usize, wanted: usize) -> Cut {
        let (mut down, mut across) = (1, 1);
        while down * across < wanted {
            let (rows, cols) = (m / down, n / across);
            if rows.max(cols) < 2 * SIDE {
                break;
            }
            if rows >= cols { down *= 2 } else { across *= 2 }
        }
        Cut { m, n, down, across }
    }

    fn pieces(&self) -> usize {
        self.down * self.across
    }

    fn piece(&self, i: usize) -> Piece {
        // Registers hold 16 or 32 rows and a few columns; a piece that begins elsewhere leaves some unused.
        let start = |size: usize, parts: usize, i: usize| (size.div_ceil(32) * i / parts * 32).min(size);
        let (down, across) = (i / self.across, i % self.across);
        let (row, col) = (start(self.m, self.down, down), start(self.n, self.across, across));
        let rows = start(self.m, self.down, down + 1) - row;
        Piece { row, col, rows, cols: start(self.n, self.across, across + 1) - col }
    }
}

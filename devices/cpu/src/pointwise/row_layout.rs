//! Rows that a kernel goes through by itself, in one call.
//!
//! ```text
//! out     [x x x x x]····[x x x x x]····     `count` rows of `n` elements; `strides[k]` bytes lead from a row of
//! dense   [x x x x x]·[x x x x x]·           operand k to the next
//! column  [x]·······[x]·······               broadcast: one element for a whole row
//! ```
//!
//! A call of the kernel for every row costs 20 ns and more, as much as a short row takes to compute; copying a
//! broadcast row into tiles costs almost as much (measured in decision 0010). So light formulas take rows
//! ([`RowMode`]). Owns which formulas, dtypes and levels do, and which planes are such rows; refuses to look at memory.

use super::operand_base::MAX_OPERANDS;
use crate::isa::Level;
use crate::tuning::{Tuning, TuningValues};
use monomorph_core::DType;
use monomorph_ops::pointwise::{Operands, PointwiseFn};

/// Rows with fewer elements than this are joined into tiles, unless the kernel takes them as they are: a call of a
/// kernel costs about as much as so many elements of a light formula.
pub(super) const SHORT_ROW: usize = 64;

/// Rows of at least so many bytes are not joined into tiles where the kernel takes rows: beside so many bytes the
/// beginning of a row costs little.
pub(super) const LONG_ROW_BYTES: usize = 1024;

/// Rows of as many elements each, and what leads from one to the next.
#[derive(Clone, Copy, Debug)]
pub struct RowLayout {
    /// How many rows.
    pub count: usize,
    /// Bytes from the beginning of a row to that of the next, of the output and then of each input.
    pub strides: [isize; MAX_OPERANDS],
    /// The input, counted from 0, that is broadcast along rows: one element for each.
    pub broadcast: Option<usize>,
}

impl RowLayout {
    /// `count` rows of `cols` elements, if a kernel with this mode takes them: every operand is a dense run in each
    /// row, or is broadcast along it where the mode allows that. `operand` says how many bytes an element of one has,
    /// and how many lie between elements and between rows.
    #[inline]
    pub(super) fn of(
        mode: RowMode,
        [cols, count]: [usize; 2],
        operands: usize,
        operand: impl Fn(usize) -> (usize, [isize; 2]),
    ) -> Option<RowLayout> {
        let mut rows = RowLayout { count, strides: [0; MAX_OPERANDS], broadcast: None };
        for (k, stride) in rows.strides.iter_mut().enumerate().take(operands) {
            let (size, [inner, outer]) = operand(k);
            let is_broadcast =
                k > 0 && inner == 0 && mode == RowMode::Broadcast && rows.broadcast.is_none() && cols >= SHORT_ROW;
            match inner == size as isize {
                true => {}
                false if is_broadcast => rows.broadcast = Some(k - 1),
                false => return None,
            }
            *stride = outer;
        }
        (mode != RowMode::Single && count > 1).then_some(rows)
    }
}

/// Which rows a kernel goes through by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum RowMode {
    /// One row.
    Single,
    /// Any number of rows, in each of which every operand is a dense run.
    Dense,
    /// The same, and one of two inputs may be broadcast along rows.
    Broadcast,
}

impl RowMode {
    /// The most that kernels of the formula, tuned by `T`, take at any dtype and level.
    pub(super) const fn of<F: PointwiseFn, T: Tuning>() -> RowMode {
        RowMode::tuned::<F>(&TuningValues::of::<T>())
    }

    /// The same of kernels that are tuned like this.
    pub(super) const fn tuned<F: PointwiseFn>(tuning: &TuningValues) -> RowMode {
        match has_plain_light_loop::<F>(tuning) {
            false => RowMode::Single,
            true if F::Operands::ALIKE && F::Operands::COUNT == 2 && !tuning.elementwise_only => RowMode::Broadcast,
            true => RowMode::Dense,
        }
    }

    /// What is left of it on this dtype at this level.
    pub(super) fn restricted_to(self, dtype: DType, level: Level) -> RowMode {
        if compiles_broadcast(dtype, level) { self } else { self.min(RowMode::Dense) }
    }
}

/// Whether the formula is light and its loop nothing but load, evaluate, store: no scan before it, no masked blocks.
pub(super) const fn has_plain_light_loop<F: PointwiseFn>(tuning: &TuningValues) -> bool {
    tuning.light && F::FAULT.is_none() && !tuning.usual && !tuning.partial && tuning.steps == 0
}

/// Whether kernels on the dtype have, at the level, a loop in which an operand is broadcast. Not where it gains
/// little: halves are loaded in pairs, bools have a kernel of their own, complex numbers
/// take longer to compute (decision 0010).
pub(super) const fn compiles_broadcast(dtype: DType, level: Level) -> bool {
    level.has_special_loops() && !matches!(dtype, DType::Bool | DType::F16 | DType::BF16 | DType::C64 | DType::C128)
}

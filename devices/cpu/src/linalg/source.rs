//! How matrices are read: where they lie, or converted and turned one by one.

use super::number::Number;
use crate::dense::Dense;
use monomorph_core::strides::contiguous_strides;
use monomorph_core::structured::Operand;
use monomorph_core::{DType, Geometry, Result};
use monomorph_ops::linalg::Input;

/// Up to how many elements a matrix is converted, and turned, when its turn comes. Of larger ones all are converted
/// first, by copies that go through memory in tiles.
const SMALL: usize = 64 * 64;

/// An input as it lies.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) elements: Dense,
    /// In single precision.
    is_narrow: bool,
    /// Row by row, where columns are wanted.
    is_turned: bool,
}

impl Source {
    /// An operand of a dtype, which is computed in a `wide` one.
    ///
    /// # Safety
    ///
    /// The operand is initialised, and stays borrowed as long as the result lives.
    pub(super) unsafe fn new(
        operand: &Operand<'_>,
        input: &Input,
        (dtype, wide): (DType, DType),
        copies: bool,
    ) -> Result<Source> {
        let is_small = input.size <= SMALL && !matches!(dtype, DType::F16 | DType::BF16);
        let by_rows = contiguous_strides(operand.sizes());
        let is_turned = is_small && input.strides != by_rows && operand.geometry().is_some_and(Geometry::is_contiguous);
        let strides = if is_turned { &by_rows } else { &input.strides };
        let read_as = match input.is_integer {
            true => DType::I32,
            false if is_small => dtype,
            false => wide,
        };
        // SAFETY: the caller's promise; the strides are those of matrices that lie one after another, which are dense.
        let elements = unsafe { Dense::in_strides(operand, read_as, copies, strides) }?;
        Ok(Source { elements, is_narrow: read_as != wide && !input.is_integer, is_turned })
    }

    /// Whether matrices are used where they lie.
    pub(super) fn is_direct(&self) -> bool {
        !self.is_narrow && !self.is_turned
    }

    /// Converts a matrix, of which `first` is the first element.
    pub(super) fn load<E: Number>(&self, first: usize, input: &Input, matrix: &mut [E]) {
        if self.is_narrow {
            self.turn(&self.elements.elements()[first..], input, matrix, E::widen);
        } else {
            self.turn(&self.elements.elements()[first..], input, matrix, |x: E| x);
        }
    }

    fn turn<F: Copy, E: Number>(&self, from: &[F], input: &Input, matrix: &mut [E], widen: impl Fn(F) -> E) {
        let [rows, columns] = input.matrix;
        if !self.is_turned {
            matrix.iter_mut().zip(from).for_each(|(x, &from)| *x = widen(from));
            return;
        }
        for (j, column) in matrix.chunks_exact_mut(rows.max(1)).enumerate() {
            let elements = from[j..].iter().step_by(columns.max(1));
            column.iter_mut().zip(elements).for_each(|(x, &from)| *x = widen(from));
        }
    }
}

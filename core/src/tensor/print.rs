//! Printing tensors: values in nested brackets with the dtype, cut in the middle of long dimensions.

use super::{AnyTensor, Tensor};
use crate::storage::Device;
use std::fmt::{Debug, Display, Formatter, Result, Write};

/// More elements than this are cut to [`EDGE`] at each end of a dimension.
const FULL: usize = 1000;
const EDGE: i64 = 3;

/// Tensors with more dimensions, or more elements left after the cut, are not printed element by element.
const DEEP: usize = 64;
const MANY: i64 = 1 << 20;

fn print(tensor: &AnyTensor, f: &mut Formatter<'_>) -> Result {
    let g = tensor.geometry();
    let edge = if g.numel() > FULL { EDGE } else { i64::MAX };
    let shown = |n: i64, &size: &i64| n.saturating_mul(size.min(edge.saturating_mul(2)));
    if g.ndim() <= DEEP
        && g.sizes().iter().fold(1, shown) <= MANY
        && let Ok(cells) = tensor.0.to_text(edge)
    {
        f.write_str("tensor(")?;
        let width = cells.iter().map(String::len).max().unwrap_or(0);
        if cells.is_empty() {
            write!(f, "[], sizes={:?}", g.sizes())?;
        } else {
            nested(f, g.sizes(), &cells, edge, 0, width)?;
        }
        write!(f, ", dtype={}", g.dtype())?;
        // As in PyTorch: not of the CPU.
        return if tensor.device().is_cpu() { f.write_char(')') } else { write!(f, ", device={})", tensor.device()) };
    }
    write!(f, "tensor(..., sizes={:?}, dtype={}, device={})", g.sizes(), g.dtype(), tensor.device())
}

/// Writes the dimensions from `dim` on; `cells` are those of one index of the dimensions before.
fn nested(f: &mut Formatter<'_>, sizes: &[i64], cells: &[String], edge: i64, dim: usize, width: usize) -> Result {
    if dim == sizes.len() {
        return write!(f, "{:>width$}", cells[0]);
    }
    let cut = sizes[dim] > edge.saturating_mul(2);
    let shown = if cut { 2 * edge } else { sizes[dim] } as usize;
    let step = cells.len() / shown;
    f.write_char('[')?;
    for (i, cells) in cells.chunks(step).enumerate() {
        if cut && i == shown / 2 {
            f.write_str(", ...")?;
        }
        if i > 0 {
            if dim + 1 == sizes.len() {
                f.write_str(", ")?;
            } else {
                write!(f, ",\n{:indent$}", "", indent = 8 + dim)?;
            }
        }
        nested(f, sizes, cells, edge, dim + 1, width)?;
    }
    f.write_char(']')
}

impl Display for AnyTensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        print(self, f)
    }
}

impl Debug for AnyTensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        print(self, f)
    }
}

impl<D: Device> Display for Tensor<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        print(self.as_any(), f)
    }
}

impl<D: Device> Debug for Tensor<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        print(self.as_any(), f)
    }
}

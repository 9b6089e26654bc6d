//! Printing tensors: values in nested brackets with the dtype, cut in the middle of long dimensions.

use crate::device::Device;
use crate::element::Element;
use crate::geometry::Geometry;
use crate::tensor::{AnyTensor, Tensor};
use std::fmt::{Debug, Display, Formatter, Result, Write};

/// More elements than this are cut to [`EDGE`] at each end of a dimension.
const FULL: usize = 1000;
const EDGE: usize = 3;

fn print(tensor: &AnyTensor, f: &mut Formatter<'_>) -> Result {
    let g = tensor.geometry();
    let cells: std::result::Result<Vec<String>, _> = crate::with_element!(g.dtype(), T => tensor.to_vec::<T>().map(|v| v.iter().map(|x| x.to_scalar().to_string()).collect()));
    match cells {
        Ok(cells) => {
            f.write_str("tensor(")?;
            let width = cells.iter().map(String::len).max().unwrap_or(0);
            nested(f, g, &cells, 0, 0, cells.len(), width)?;
            write!(f, ", dtype={})", g.dtype())
        }
        Err(_) => write!(f, "tensor(..., sizes={:?}, dtype={}, device={})", g.sizes(), g.dtype(), tensor.device()),
    }
}

fn nested(
    f: &mut Formatter<'_>,
    g: &Geometry,
    cells: &[String],
    dim: usize,
    start: usize,
    len: usize,
    width: usize,
) -> Result {
    if dim == g.ndim() {
        return write!(f, "{:>width$}", cells[start]);
    }
    let size = g.sizes()[dim] as usize;
    let step = len.checked_div(size).unwrap_or(0);
    f.write_char('[')?;
    let cut = cells.len() > FULL && size > 2 * EDGE;
    for i in 0..size {
        if cut && (EDGE..size - EDGE).contains(&i) {
            if i == EDGE {
                f.write_str(", ...")?;
            }
            continue;
        }
        if i > 0 {
            if dim + 1 == g.ndim() {
                f.write_str(", ")?;
            } else {
                write!(f, ",\n{:indent$}", "", indent = 8 + dim)?;
            }
        }
        nested(f, g, cells, dim + 1, start + i * step, step, width)?;
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

//! A reduction over nothing: the outputs have elements, and the input has none. Owns the walk over the outputs.

use super::body::Bodies;
use super::lanes::Lanes;
use super::results::Stores;
use crate::staging::StageBlock;
use monomorph_core::{ErrorKind, Geometry, Result};
use smallvec::SmallVec;

/// The most elements that are filled. Memory may be reached again and again, so its size is no bound, and time would
/// be none.
const MOST: usize = 1 << 40;

/// A dimension of the outputs: its size, and from one step to the next the bytes in each output.
type Dim = (usize, [isize; 2]);

/// Outputs to be filled with the result of no element.
///
/// Invariants:
/// * F1: `outs` and `dims` reach elements of the outputs, of the dtypes that `stores` are for, and reach all of them.
/// * F2: `nothing` is that of `bodies`, which give what `stores` store and were chosen for this host (B1).
pub(super) struct Fill {
    bodies: Bodies,
    nothing: unsafe fn(Lanes),
    stores: Stores,
    outs: [*mut u8; 2],
    /// The dimensions in which there is something to be told apart, innermost first.
    dims: SmallVec<[Dim; 4]>,
    /// The product of their sizes.
    count: usize,
}

impl Fill {
    /// The bodies are those of the fold, and the stores and pointers those of `outputs`, which have elements, and as many
    /// as each other.
    ///
    /// # Errors
    /// No accumulator of no element; more elements than can be filled.
    pub(super) fn new(bodies: Bodies, stores: Stores, outs: [*mut u8; 2], outputs: &[&Geometry]) -> Result<Fill> {
        let nothing = bodies.nothing.ok_or(ErrorKind::EmptyInput)?;
        let sizes = outputs.first().map_or(&[][..], |first| first.sizes());
        let mut dims: SmallVec<[Dim; 4]> = SmallVec::new();
        for (d, &size) in sizes.iter().enumerate().rev().filter(|&(_, &size)| size != 1) {
            let mut strides = [0; 2];
            for (stride, output) in strides.iter_mut().zip(outputs) {
                // There is an element one step further, so its distance in bytes is that of two places in one storage.
                *stride = (output.strides()[d] as isize).wrapping_mul(output.dtype().size() as isize);
            }
            // The elements of an expanded dimension are one.
            if strides != [0; 2] {
                dims.push((size as usize, strides));
            }
        }
        let count = dims.iter().try_fold(1_usize, |all, dim| all.checked_mul(dim.0));
        let Some(count) = count.filter(|&count| count <= MOST) else {
            let rule = "an output of a reduction over nothing has more than 2^40 elements; give a smaller one";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        };
        Ok(Fill { bodies, nothing, stores, outs, dims, count })
    }

    /// Writes the result to every element.
    ///
    /// # Safety
    ///
    /// The outputs are borrowed for writing.
    pub(super) unsafe fn run(&self) {
        let (mut first, mut second) = (StageBlock::NEW, StageBlock::NEW);
        let lanes = Lanes { first: first.data(), second: second.data() };
        // SAFETY: B1 by F2; B2: each block has room for a part, is aligned for any, and is this function's own.
        unsafe { (self.nothing)(lanes) };
        for index in 0..self.count {
            let (mut outs, mut rest) = (self.outs, index);
            for &(size, strides) in &self.dims {
                let at = (rest % size) as isize;
                rest /= size;
                for (out, stride) in outs.iter_mut().zip(strides) {
                    *out = out.wrapping_offset(stride.wrapping_mul(at));
                }
            }
            // SAFETY: lane 0 holds an accumulator of this fold (F2), and from `outs` on there is one element of each
            // output (F1), which nobody else uses.
            unsafe { self.stores.store(&self.bodies, lanes, 1, 0, outs, [0; 2]) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Level;
    use crate::reduce::here;
    use monomorph_core::DType;
    use monomorph_iter::TensorIter;
    use monomorph_ops::reduce::{AmaxFn, SumFn};

    /// Meta functions refuse such calls, so nobody gets here with one.
    #[test]
    fn nothing_is_filled_with_what_there_is_not() {
        let output = Geometry::new(DType::F32, &[3], &[1], 0).unwrap();
        let fill = |bodies: Option<Bodies>| {
            let stores = Stores::new(&TensorIter::default(), &[], DType::F32, Level::Portable);
            Fill::new(bodies.unwrap(), stores, [std::ptr::null_mut(); 2], &[&output])
        };
        let error = fill(here::<AmaxFn>(DType::F32, Level::Portable)).err().unwrap();
        assert_eq!(*error.kind(), ErrorKind::EmptyInput);
        assert_eq!(fill(here::<SumFn>(DType::F32, Level::Portable)).unwrap().count, 3);
    }
}

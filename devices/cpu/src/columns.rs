//! Columns summed to images: each plane for itself, place by place of a patch, line by line of patches. Lines of
//! patches are dense, and so are those of the image where patches begin at each place: these are added side by side.

use crate::dense::Dense;
use crate::device::Cpu;
use crate::isa::Level;
use crate::planes::{Added, PlaneSum, Planes, add_line};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::columns::{ColumnInputs, ColumnPlan, ColumnSum, PatchAxis};

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    level: Level,
    dtype: DType,
    columns: Dense,
    output: *mut u8,
}

// SAFETY: the output is written by whoever has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the columns is in bounds, and every one of the output, which is row-major, is written.
unsafe impl Executes<ColumnSum> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &ColumnPlan, inputs: &ColumnInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let dtype = outputs.geometry(0).dtype();
        Planes::<ColumnPlan>::check(dtype)?;
        // SAFETY: E2: the columns are borrowed as long as the result lives.
        let columns = unsafe { Dense::new(inputs.columns(), dtype, plan.copies) }?;
        Ok(Ready { level: crate::level()?, dtype, columns, output: outputs.data(0) })
    }

    unsafe fn run(ready: &mut Ready, plan: &ColumnPlan) -> Result<()> {
        // Beside no planes, sizes may be as large as they like.
        if plan.planes == 0 {
            return Ok(());
        }
        // SAFETY: E2: the columns are borrowed.
        unsafe { ready.columns.load() }?;
        let volume = |of: fn(&PatchAxis) -> i64| plan.axes.iter().map(|axis| of(axis) as usize).product::<usize>();
        let (written, read) = (volume(|axis| axis.size), volume(|axis| axis.kernel * axis.patches));
        let (from, to) = (ready.columns.start(), ready.output);
        let planes = Planes { sum: plan, count: plan.planes, from, read, to, written };
        // SAFETY: P1, P2: the columns and the output have as many elements.
        unsafe { planes.run(ready.level, ready.dtype) }
    }
}

impl PlaneSum for ColumnPlan {
    #[inline(always)]
    unsafe fn add<C: Added>(&self, from: *const u8, to: *mut u8) {
        let ([h, w], size, mut column) = (&self.axes, size_of::<C::Stored>(), from);
        for (y, x) in (0..h.kernel).flat_map(|y| (0..w.kernel).map(move |x| (y, x))) {
            let ((first, lines), (left, n)) = (h.inside(y), w.inside(x));
            for line in first..first + lines {
                let from = column.wrapping_add((line * w.patches + left) as usize * size);
                let to = to.wrapping_add((h.at(line, y) * w.size + w.at(left, x)) as usize * size);
                // SAFETY: P1, P2: elements of a line of patches, whose places lie within a line of the image.
                unsafe { add_line::<C>(from, to, n as usize, w.stride as usize) };
            }
            column = column.wrapping_add((h.patches * w.patches) as usize * size);
        }
    }
}

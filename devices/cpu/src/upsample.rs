//! `upsample_nearest1d` on the CPU: rows of elements picked by a table of offsets.

use crate::cast::{Bits, moved};
use crate::device::Cpu;
use crate::staging::{STAGE_BLOCK_BYTES, StageBlock};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Geometry, Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::upsample::{UpsampleInputs, UpsampleNearest1d, UpsamplePlan};

/// A call bound to memory.
///
/// Invariants:
/// * U1: `input` and `output` are the first elements of tensors of these sizes and strides (in bytes); input and output
///   have elements of `dtype`.
/// * U2: `offsets` are bytes from the first element of an input row to elements of it, one per element of an output
///   row.
pub struct Ready {
    input: *const u8,
    output: *mut u8,
    dtype: DType,
    rows: [usize; 2],
    input_strides: [isize; 2],
    output_strides: [isize; 3],
    offsets: Vec<isize>,
    /// What turns an element of the input into one of the output.
    bits: Bits,
    serial: bool,
}

// SAFETY: a row of the input is read and a row of the output written, within their geometries (U1, U2); together the
// rows are all of the output.
unsafe impl<W: 'static> Executes<UpsampleNearest1d<W>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &UpsamplePlan, inputs: &UpsampleInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let out = outputs.geometry(0);
        let dtype = out.dtype();
        // Modulo 2^64: exact in a dimension of two elements or more (T1), and of one element nothing is multiplied by
        // it but 0.
        let stride = |g: &Geometry, d: usize| (g.strides()[d] as isize).wrapping_mul(dtype.size() as isize);
        let size = |d: usize| out.sizes()[d] as usize;
        let mut ready = Ready {
            input: std::ptr::null(),
            output: outputs.data(0),
            dtype,
            rows: [size(0), size(1)],
            input_strides: [0; 2],
            output_strides: [0, 1, 2].map(|d| stride(out, d)),
            offsets: Vec::new(),
            bits: Bits::default(),
            serial: plan.serial,
        };
        // Meta takes three dimensions, so a number is no input. A row of no element may have any number of columns.
        let Operand::Tensor(tensor) = inputs.operand() else {
            ready.rows = [0; 2];
            return Ok(ready);
        };
        if out.numel() == 0 {
            ready.rows = [0; 2];
            return Ok(ready);
        }
        let geometry = tensor.geometry();
        // SAFETY: E2: the storage is borrowed as long as the result lives.
        ready.input = unsafe { tensor.data() };
        ready.input_strides = [0, 1].map(|d| stride(geometry, d));
        ready.offsets = list::with_capacity(size(2))?;
        ready.offsets.extend((0..out.sizes()[2]).map(|i| (plan.source(i) as isize).wrapping_mul(stride(geometry, 2))));
        ready.bits = Bits::of(dtype, false, geometry.is_neg() != out.is_neg());
        Ok(ready)
    }

    unsafe fn run(ready: &mut Ready, _: &UpsamplePlan) -> Result<()> {
        // Nothing was made ready for an output without elements; others have a number of elements.
        let rows = ready.rows[0].saturating_mul(ready.rows[1]);
        if rows == 0 || ready.offsets.is_empty() {
            return Ok(());
        }
        let call = SharedCall(ready);
        let together = if ready.serial || !is_parallel(rows * ready.offsets.len(), GRAIN) {
            rows
        } else {
            (GRAIN / ready.offsets.len()).max(1)
        };
        share(rows.div_ceil(together.max(1)), |piece| {
            // SAFETY: E2, and rows of the output lie apart.
            (piece * together..rows.min((piece + 1) * together)).for_each(|row| unsafe { call.row(row) });
        });
        Ok(())
    }
}

/// A call, shared by the threads that do it.
struct SharedCall<'a>(&'a Ready);

// SAFETY: threads read the input, which nobody writes, and write different rows of the output, which lie apart: a call
// that cannot be sure of that is serial.
unsafe impl Send for SharedCall<'_> {}
// SAFETY: threads that share a call read the input, which nobody writes, and write different rows of the output, which
// lie apart: a call that cannot be sure of that is serial.
unsafe impl Sync for SharedCall<'_> {}

impl SharedCall<'_> {
    /// # Safety
    ///
    /// U1, U2; nobody else writes the input, or uses the row of the output.
    unsafe fn row(&self, row: usize) {
        let call = self.0;
        let (n, c) = ((row / call.rows[1]) as isize, (row % call.rows[1]) as isize);
        let at = |strides: &[isize]| n.wrapping_mul(strides[0]).wrapping_add(c.wrapping_mul(strides[1]));
        let from = call.input.wrapping_offset(at(&call.input_strides));
        let to = call.output.wrapping_offset(at(&call.output_strides));
        let size = call.dtype.size();
        let step = call.output_strides[2];
        if call.bits.is_none() && step == size as isize {
            // SAFETY: elements of the input row lie at the offsets (U1, U2). The row of the output is dense, since
            // `step == size`, and has one element per offset (U2); the caller promises that nobody else uses it.
            return unsafe { pick(from, &call.offsets, to, size) };
        }
        let mut block = StageBlock::NEW;
        let mut to = to;
        for offsets in call.offsets.chunks(STAGE_BLOCK_BYTES / size) {
            // SAFETY: elements of the input row lie at the offsets (U1, U2). The block is a local, with room for as
            // many elements as a chunk has offsets at most.
            unsafe { pick(from, offsets, block.data(), size) };
            // SAFETY: the block was just filled.
            unsafe { call.bits.apply(call.dtype, block.data(), offsets.len()) };
            // SAFETY: R1 by U1, R2 since a block is no operand.
            unsafe { moved(block.data(), size as isize, to, step, size, offsets.len()) };
            to = to.wrapping_offset(step.wrapping_mul(offsets.len() as isize));
        }
    }
}

/// Copies the elements at `offsets` to a dense run.
///
/// # Safety
///
/// Elements of `size` bytes lie there, and the run has room for them, which nobody else uses.
pub(crate) unsafe fn pick(from: *const u8, offsets: &[isize], to: *mut u8, size: usize) {
    macro_rules! each {
        ($t:ty) => {
            for (i, &offset) in offsets.iter().enumerate() {
                // SAFETY: the caller's promise.
                let x = unsafe { from.wrapping_offset(offset).cast::<$t>().read_unaligned() };
                // SAFETY: the caller's promise.
                unsafe { to.cast::<$t>().wrapping_add(i).write_unaligned(x) };
            }
        };
    }
    match size {
        1 => each!(u8),
        2 => each!(u16),
        4 => each!(u32),
        8 => each!(u64),
        _ => each!([u64; 2]),
    }
}

//! Coordinates of true elements: blocks of the mask are packed to lists of places without a branch, which then are
//! written to the columns of the result.

use super::placed::{Argument, Placed, product};
use crate::device::Cpu;
use monomorph_core::structured::StructuredOp;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{ErrorKind, Result};
use monomorph_ops::index::nonzero::{Coordinates, CoordinatesInputs, CoordinatesPlan};

/// Elements of the mask that are packed at once: their places stay in the first-level cache.
const BLOCK: usize = 512;

/// A call bound to memory. P1 for both; the output is an int64 matrix with a column for each dimension of the mask.
pub struct Ready {
    mask: Placed,
    output: Placed,
}

// SAFETY: every element of the mask within its geometry may be read, and every row of the output is written: as many
// as there are true elements, and the others with what the plan says.
unsafe impl Executes<Coordinates> for Cpu {
    type Ready = Ready;

    unsafe fn ready(_: &CoordinatesPlan, inputs: &CoordinatesInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E2: the storage is borrowed as long as the result lives.
        let mask = Coordinates::operands(inputs).first().map(|operand| unsafe { Argument::of(operand) });
        let rule = "nonzero has no mask";
        let mask = mask.as_ref().and_then(Argument::tensor).ok_or(ErrorKind::ArgumentRule { rule })?.clone();
        Ok(Ready { mask, output: Placed::output(outputs) })
    }

    unsafe fn run(ready: &mut Ready, plan: &CoordinatesPlan) -> Result<()> {
        // SAFETY: E2, E3 keep the memory of P1 borrowed.
        unsafe { ready.run(plan.fill) }
    }
}

/// Where rows of the output are written.
struct Rows<'a> {
    output: &'a Placed,
    /// How many there are, and how many are written.
    rows: usize,
    written: usize,
}

impl Rows<'_> {
    /// Writes a value for each of the next rows in one column.
    ///
    /// # Safety
    ///
    /// P1 for the output, which nobody else uses; it has this column.
    unsafe fn column(&self, column: usize, values: impl ExactSizeIterator<Item = i64>) {
        let (row, first) = (self.output.step(0), self.output.step(1).wrapping_mul(column as isize));
        for (i, value) in values.enumerate().take(self.rows - self.written) {
            let at = row.wrapping_mul((self.written + i) as isize).wrapping_add(first);
            // SAFETY: row `written + i` is below `rows`, and the output has the column (the caller's promise).
            unsafe { self.output.data.wrapping_offset(at).cast::<i64>().write_unaligned(value) };
        }
    }
}

impl Ready {
    /// # Safety
    ///
    /// P1; nobody else uses the output, and nobody writes the mask.
    unsafe fn run(&self, fill: i64) -> Result<()> {
        let copy = match self.mask.is_contiguous() {
            true => None,
            // SAFETY: P1, and nobody writes the mask.
            false => Some(unsafe { self.mask.copied(self.mask.dtype) }?),
        };
        let mask = copy.as_ref().map_or(&self.mask, |(_, placed)| placed);
        let sizes: Vec<usize> = mask.sizes.iter().map(|&size| size as usize).collect();
        let rows = self.output.sizes.first().map_or(0, |&rows| rows as usize);
        let (Some((&width, outer)), true) = (sizes.split_last(), rows > 0) else { return Ok(()) };
        let mut to = Rows { output: &self.output, rows, written: 0 };
        let lines = product(outer.iter().copied());
        let mut at = vec![0_usize; outer.len()];
        let mut places = [0_i64; BLOCK];
        for line in 0..if width == 0 { 0 } else { lines } {
            for start in (0..width).step_by(BLOCK) {
                let n = BLOCK.min(width - start);
                // SAFETY: the mask is contiguous, and these are bytes of its line (P1).
                let block = unsafe { std::slice::from_raw_parts(mask.data.wrapping_add(line * width + start), n) };
                let found = pack(block, start as i64, &mut places);
                if found == 0 {
                    continue;
                }
                // SAFETY: P1; the last column is that of the last dimension.
                unsafe { to.column(outer.len(), places[..found].iter().copied()) };
                for (d, &coordinate) in at.iter().enumerate() {
                    // SAFETY: P1; there is a column for each dimension.
                    unsafe { to.column(d, std::iter::repeat_n(coordinate as i64, found)) };
                }
                to.written = (to.written + found).min(rows);
                if to.written == rows {
                    return Ok(());
                }
            }
            for (place, &size) in at.iter_mut().zip(outer).rev() {
                *place += 1;
                if *place < size {
                    break;
                }
                *place = 0;
            }
        }
        for column in 0..sizes.len() {
            // SAFETY: P1; there is a column for each dimension.
            unsafe { to.column(column, std::iter::repeat_n(fill, rows - to.written)) };
        }
        Ok(())
    }
}

/// Writes the places of the bytes that are not 0, counted from `start`, and says how many they are.
fn pack(block: &[u8], start: i64, places: &mut [i64; BLOCK]) -> usize {
    let mut found = 0;
    let (words, rest) = block.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        if u64::from_ne_bytes(*word) == 0 {
            continue;
        }
        for (j, &byte) in word.iter().enumerate() {
            // In bounds as long as there are more elements than were found.
            if let Some(place) = places.get_mut(found) {
                *place = start + (i * 8 + j) as i64;
            }
            found += usize::from(byte != 0);
        }
    }
    for (j, &byte) in rest.iter().enumerate() {
        if let Some(place) = places.get_mut(found) {
            *place = start + (words.len() * 8 + j) as i64;
        }
        found += usize::from(byte != 0);
    }
    found
}

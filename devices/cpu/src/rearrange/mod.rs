//! Elements copied to other places in one pass over the target: paddings, rolls, triangles. What goes where is a
//! [`Rearrangement`]; it is walked in the order of the target's memory, a row at a time.
//!
//! ```text
//! a row of the target:    c b | a b c d | c        one run for each segment of the innermost dimension:
//! a row of the source:          a b c d            backwards, as bytes, forwards, or one element again and again
//! ```
//!
//! Dimensions that lie densely on both sides are walked as one (`plan.rs`). A source that is transposed against the
//! target is copied block by block instead, one for each choice of segments, by the copy that knows squares
//! (`copy.rs`). Knows no dtype, only the size of an element.
//!
//! Contract of what is unsafe here:
//! * P1: every element of both sides that the plan reaches is in bounds of a live block, those of the source are
//!   initialised.
//! * P2: the two sides are apart; nobody else uses the elements of the target that are written, or writes the source.

mod leaf;
mod plan;
mod runs;
#[cfg(test)]
mod tests;
mod triangle;

use crate::copy::copy;
use crate::offsets::Sides;
use leaf::Leaf;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::elements_are_read;
use monomorph_core::{Part, Rearrangement, Result, Strided};
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use plan::{Dim, Plan, Run};
use runs::fill_run;
use smallvec::SmallVec;

/// Elements from which on a transposed source is copied by blocks: below, it stays in the first-level cache and rows
/// are as fast.
const MIN_BLOCKS: usize = 8192;

/// The kernel of the CPU.
///
/// # Safety
///
/// That of [`Rearrange`](monomorph_core::Rearrange).
pub(crate) unsafe fn rearrange(
    _index: u8,
    sizes: &[i64],
    to: Strided<'_>,
    from: Strided<'_>,
    how: &Rearrangement,
) -> Result<()> {
    elements_are_read();
    let (segments, filler) = match how {
        Rearrangement::Segments { segments, filler } => (segments, filler),
        // SAFETY: the caller's promise: all elements of both sides are in bounds, the target is dense and new.
        Rearrangement::Parts(parts) => return unsafe { shuffle(to, from, parts) },
        &Rearrangement::Triangle { diagonal, is_upper } => {
            // SAFETY: the caller's promise: all elements of both sides are in bounds, the target is dense and new.
            return unsafe { triangle::triangle(sizes, to, from, diagonal, is_upper) };
        }
    };
    let size = to.dtype.size();
    let plan = Plan::new(sizes, &to, &from, segments);
    let sides = Sides { to: to.data, from: from.data.cast_const() }.at(0, plan.first);
    if plan.numel() >= MIN_BLOCKS && plan.is_transposed() {
        let blocks = Blocks { to, from, filler };
        // SAFETY: P1 and P2 by the caller's promise: the plan reaches what the segments name, all of the target once.
        return unsafe { blocks.walk(&plan.dims, sides, &mut DimVec::new(), &mut [DimVec::new(), DimVec::new()]) };
    }
    match size {
        // SAFETY: P1 and P2 as above, for elements of one byte.
        1 => unsafe { walk_shared::<u8>(&plan, sides, filler) },
        // SAFETY: P1 and P2 as above, for elements of two bytes.
        2 => unsafe { walk_shared::<u16>(&plan, sides, filler) },
        // SAFETY: P1 and P2 as above, for elements of four bytes.
        4 => unsafe { walk_shared::<u32>(&plan, sides, filler) },
        // SAFETY: P1 and P2 as above, for elements of eight bytes.
        8 => unsafe { walk_shared::<u64>(&plan, sides, filler) },
        // SAFETY: P1 and P2 as above, for elements of sixteen bytes: no dtype has another size.
        _ => unsafe { walk_shared::<[u64; 2]>(&plan, sides, filler) },
    }
    Ok(())
}

/// Copies the parts of dimensions to where they go.
///
/// # Safety
///
/// That of [`Rearrange`](monomorph_core::Rearrange).
unsafe fn shuffle(to: Strided<'_>, from: Strided<'_>, parts: &[Part]) -> Result<()> {
    let mut sizes = DimVec::new();
    let (mut to_strides, mut from_strides) = (DimVec::new(), DimVec::new());
    for (i, part) in parts.iter().enumerate() {
        // The parts behind it of the same dimension lie within one of its places.
        let inner: i64 = parts[i + 1..].iter().filter(|other| other.to == part.to).map(|other| other.size).product();
        sizes.push(part.size);
        // The stride of a dimension of size 1 leads nowhere, so it may be any; those of others lead to elements.
        to_strides.push(to.strides[part.to].wrapping_mul(inner));
        from_strides.push(from.strides[part.dim].wrapping_mul(part.step));
    }
    let (to, from) = (Strided { strides: &to_strides, ..to }, Strided { strides: &from_strides, ..from });
    // SAFETY: C1: the elements of all parts are in bounds, as the rearrangement's sizes say (P1); C2: the sides are
    // apart (P2), and the target is dense.
    unsafe { copy(&sizes, to, from) }
}

/// Walks the whole target, by several threads where it is large.
///
/// # Safety
///
/// P1, P2 for elements of the size of `T`.
unsafe fn walk_shared<T: bytemuck::Pod + Sync>(plan: &Plan, sides: Sides, filler: &[u8; 16]) {
    let filler: T = bytemuck::pod_read_unaligned(&filler[..size_of::<T>()]);
    let (outer, inner) = plan.dims.split_at(plan.dims.len() - plan.leaf_dims());
    let is_shared = is_parallel(plan.numel(), GRAIN);
    let Some(first) = plan.dims.first().filter(|_| is_shared) else {
        let leaf = Leaf::new(plan, inner, size_of::<T>());
        // SAFETY: P1 and P2 are this function's own preconditions.
        return unsafe { walk(outer, &leaf, sides, filler) };
    };
    let (length, row) = (first.length(), first.to);
    let each = length.div_ceil(pieces());
    let part = |piece: usize| first.part(piece * each..((piece + 1) * each).min(length));
    let part_of = |sides: Sides, piece: usize| sides.at(row * (piece * each) as isize, 0);
    let pieces = length.div_ceil(each);
    match outer {
        // One row, cut into parts.
        [] => share(pieces, |piece| {
            let leaf = Leaf::new(plan, &[part(piece)], size_of::<T>());
            // SAFETY: P1 and P2: the parts are apart in the target, and all within the whole.
            unsafe { walk(&[], &leaf, part_of(sides, piece), filler) };
        }),
        [_, between @ ..] => {
            let leaf = Leaf::new(plan, inner, size_of::<T>());
            share(pieces, |piece| {
                let outer: SmallVec<[Dim; 4]> = std::iter::once(part(piece)).chain(between.iter().cloned()).collect();
                // SAFETY: P1 and P2: the parts of the outermost dimension are apart in the target, and all within the
                // whole.
                unsafe { walk(&outer, &leaf, part_of(sides, piece), filler) };
            });
        }
    }
}

/// Walks dimensions, and writes a leaf at each place.
///
/// # Safety
///
/// P1, P2 for elements of the size of `T`.
unsafe fn walk<T: Copy>(dims: &[Dim], leaf: &Leaf, sides: Sides, filler: T) {
    let Some((dim, inner)) = dims.split_first() else {
        // SAFETY: P1 and P2 for the leaf.
        return unsafe { leaf.write(sides, filler) };
    };
    let mut to = sides.to;
    for run in &dim.runs {
        match *run {
            Run::Filler(n) => {
                for _ in 0..n {
                    // SAFETY: P1 and P2 for this place of the dimension, which is in the target.
                    unsafe { fill(inner, leaf.length, to, filler) };
                    to = to.wrapping_offset(dim.to);
                }
            }
            Run::Elements { first, step, n } => {
                let mut from = sides.from.wrapping_offset(first);
                for _ in 0..n {
                    let sides = Sides { to, from };
                    match inner {
                        // SAFETY: P1 and P2 for this place of the dimension, which is in the target and shows one that
                        // is in the source.
                        [] => unsafe { leaf.write(sides, filler) },
                        // SAFETY: P1 and P2 for this place of the dimension, which is in the target and shows one that
                        // is in the source.
                        _ => unsafe { walk(inner, leaf, sides, filler) },
                    }
                    (to, from) = (to.wrapping_offset(dim.to), from.wrapping_offset(step));
                }
            }
        }
    }
}

/// Fills all places of some dimensions, at each of which a dense leaf of `length` elements begins.
///
/// # Safety
///
/// P1, P2 for the target and elements of the size of `T`.
unsafe fn fill<T: Copy>(dims: &[Dim], length: usize, to: *mut u8, filler: T) {
    let Some((dim, inner)) = dims.split_first() else {
        // SAFETY: the leaf is dense, in bounds (P1) and nobody else's (P2).
        return unsafe { fill_run(filler, to, length) };
    };
    for place in 0..dim.length() as isize {
        // SAFETY: P1 and P2 for this place of the dimension, which is in the target.
        unsafe { fill(inner, length, to.wrapping_offset(place * dim.to), filler) };
    }
}

/// A target that is written block by block, each by a copy.
struct Blocks<'a> {
    to: Strided<'a>,
    from: Strided<'a>,
    filler: &'a [u8; 16],
}

impl Blocks<'_> {
    /// Chooses a run of each of the dimensions that are left, in every way, and copies what is chosen.
    ///
    /// # Safety
    ///
    /// P1, P2.
    unsafe fn walk(&self, dims: &[Dim], sides: Sides, sizes: &mut DimVec, strides: &mut [DimVec; 2]) -> Result<()> {
        let size = self.to.dtype.size() as isize;
        let Some((dim, inner)) = dims.split_first() else {
            let [to_strides, from_strides] = strides;
            let to = Strided { data: sides.to, strides: to_strides, ..self.to };
            let from = Strided { data: sides.from.cast_mut(), strides: from_strides, ..self.from };
            // SAFETY: C1: all elements of the block are those of the plan (P1), and the copy takes strides below zero
            // in its source; C2: the sides are apart (P2), and the target is dense.
            return unsafe { copy(sizes, to, from) };
        };
        let mut place = 0;
        for run in &dim.runs {
            let (first, step) = match *run {
                Run::Elements { first, step, .. } => (sides.at(place * dim.to, first), step),
                // One element for all, of whose strides none leads anywhere.
                Run::Filler(_) => (Sides { from: self.filler.as_ptr(), ..sides.at(place * dim.to, 0) }, 0),
            };
            sizes.push(run.length() as i64);
            strides[0].push((dim.to / size) as i64);
            strides[1].push((step / size) as i64);
            let done = match *run {
                // SAFETY: P1 and P2: the run's places are in the target, and show some that are in the source.
                Run::Elements { .. } => unsafe { self.walk(inner, first, sizes, strides) },
                // SAFETY: P1 and P2: the run's places are in the target; the filler is an element.
                Run::Filler(_) => unsafe { self.fill(inner, first, sizes, strides) },
            };
            sizes.pop();
            for strides in strides.iter_mut() {
                strides.pop();
            }
            done?;
            place += run.length() as isize;
        }
        Ok(())
    }

    /// Fills all places of the dimensions that are left, and of those that are chosen, with the element of the source.
    ///
    /// # Safety
    ///
    /// P1, P2; the source is one element.
    unsafe fn fill(&self, inner: &[Dim], sides: Sides, sizes: &DimVec, strides: &[DimVec; 2]) -> Result<()> {
        let size = self.to.dtype.size() as isize;
        let mut sizes = sizes.clone();
        let mut to_strides = strides[0].clone();
        sizes.extend(inner.iter().map(|dim| dim.length() as i64));
        to_strides.extend(inner.iter().map(|dim| (dim.to / size) as i64));
        let from_strides = DimVec::from_elem(0, sizes.len());
        let to = Strided { data: sides.to, strides: &to_strides, ..self.to };
        let from = Strided { data: sides.from.cast_mut(), strides: &from_strides, ..self.from };
        // SAFETY: C1: the block is a part of the target (P1), the source one element, which all places show (stride 0);
        // C2: the filler is no part of the target.
        unsafe { copy(&sizes, to, from) }
    }
}

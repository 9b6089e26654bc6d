//! Triangles of matrices: tril, triu. In one pass where the device has a kernel for it, else a few copies into a tensor
//! of zeros.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Fillers};
use crate::table::native;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{ErrorKind, MemoryFormat, Rearrangement, Result, Scalar};

/// `tril`: the elements up to a diagonal, zeros above it.
pub fn tril<C: Fillers>(calls: &C, this: &C::Tensor, diagonal: i64) -> Result<C::Tensor> {
    if let Some(result) = triangle(calls, this, diagonal, false)? {
        return Ok(result);
    }
    let result = calls.full_like(this, C::any(this).sizes(), Scalar::Int(0))?;
    copy_lower(calls, this, &result, diagonal)?;
    Ok(result)
}

/// `triu`: the elements from a diagonal on, zeros below it. They are the lower ones of the transposed matrix.
pub fn triu<C: Fillers>(calls: &C, this: &C::Tensor, diagonal: i64) -> Result<C::Tensor> {
    if let Some(result) = triangle(calls, this, diagonal, true)? {
        return Ok(result);
    }
    let result = calls.full_like(this, C::any(this).sizes(), Scalar::Int(0))?;
    let last = C::any(this).ndim().saturating_sub(1);
    let [from, to] = [this, &result].map(|t| calls.transpose(t, last.saturating_sub(1), last));
    copy_lower(calls, &from?, &to?, diagonal.saturating_neg())?;
    Ok(result)
}

/// Either in one pass, where the device has a kernel for it.
fn triangle<C: Fillers>(calls: &C, this: &C::Tensor, diagonal: i64, is_upper: bool) -> Result<Option<C::Tensor>> {
    match C::any(this).ndim() {
        got @ 0..2 => Err(ErrorKind::DimCount { arg: "self", got, accepted: "2 or more" }.into()),
        _ => calls.rearranged(this, || Rearrangement::Triangle { diagonal, is_upper }, MemoryFormat::Contiguous),
    }
}

/// Copies the elements of matrices up to a diagonal, in as few copies as their sizes have bits:
///
/// ```text
///   a a a b            whole rows and columns at once; of the triangle between them the diagonal, the blocks of
///   a a a c b          one element below it (c), those of two (d), of four (e), ...: blocks of a size lie at equal
///   a a a d d b        distances, so all of them are one view
///   a a a d d c b
/// ```
fn copy_lower<C: Fillers>(calls: &C, from: &C::Tensor, to: &C::Tensor, diagonal: i64) -> Result<()> {
    let &[.., rows, columns] = C::any(from).sizes() else { return Ok(()) };
    let last = C::any(from).ndim().saturating_sub(1);
    let copy = |part: &dyn Fn(&C::Tensor) -> Result<C::Tensor>| calls.copy_into(part(to)?, &part(from)?);
    // Rows before the first one are empty, those from the second one on are whole.
    let whole = columns.saturating_sub(diagonal).saturating_sub(1).clamp(0, rows);
    let first = diagonal.saturating_neg().clamp(0, whole);
    let rows_from =
        |t: &C::Tensor, start: i64, end: i64| calls.narrow(t, last.saturating_sub(1), start, end.saturating_sub(start));
    if whole < rows {
        copy(&|t| rows_from(t, whole, rows))?;
    }
    // The triangle has `n` rows, and begins behind columns that all of its rows have.
    let (n, left) = (whole.saturating_sub(first), first.saturating_add(diagonal));
    if n == 0 {
        return Ok(());
    }
    if left > 0 {
        copy(&|t| calls.narrow(&rows_from(t, first, whole)?, last, 0, left))?;
    }
    let corner = |t: &C::Tensor| calls.narrow(&rows_from(t, first, whole)?, last, left, n);
    let (from, to) = (corner(from)?, corner(to)?);
    let copy = |part: &dyn Fn(&C::Tensor) -> Result<C::Tensor>| calls.copy_into(part(&to)?, &part(&from)?);
    copy(&|t| calls.diagonal(t, 0, last.saturating_sub(1), last))?;
    let mut side = 1_i64;
    while side < n {
        let (pair, whole_pairs) = (side.saturating_mul(2), n.checked_div(side.saturating_mul(2)).unwrap_or(0));
        let start = whole_pairs.saturating_mul(pair);
        // A view of them all has a dimension more than the tensor.
        let together = if last.saturating_add(1) < strides::MAX_DIMS { whole_pairs } else { 1 };
        for block in (0..whole_pairs).step_by(together.max(1) as usize) {
            copy(&|t| blocks(calls, t, [together, side, side], block.saturating_mul(pair)))?;
        }
        let height = n.saturating_sub(start).saturating_sub(side);
        if height > 0 {
            copy(&|t| blocks(calls, t, [1, height, side], start))?;
        }
        side = pair;
    }
    Ok(())
}

/// Blocks of a size below the diagonal of matrices: as many as are said, the first one beside element `start` of the
/// diagonal, the others each two widths further.
fn blocks<C: Callees>(
    calls: &C,
    corner: &C::Tensor,
    [count, height, width]: [i64; 3],
    start: i64,
) -> Result<C::Tensor> {
    let t = C::any(corner);
    let (mut sizes, mut strides) = (DimVec::from_slice(t.sizes()), DimVec::from_slice(t.strides()));
    let (Some(down), Some(right)) = (strides.iter().rev().nth(1).copied(), strides.last().copied()) else {
        return Ok(corner.clone());
    };
    sizes.truncate(sizes.len().saturating_sub(2));
    strides.truncate(sizes.len());
    sizes.extend((count > 1).then_some(count));
    sizes.extend([height, width]);
    // Distances of elements of the matrix, which do not overflow.
    let along = down.wrapping_add(right);
    strides.extend((count > 1).then(|| along.wrapping_mul(width).wrapping_mul(2)));
    strides.extend([down, right]);
    let offset = t.offset().wrapping_add(along.wrapping_mul(start)).wrapping_add(down.wrapping_mul(width));
    calls.as_strided(corner, &sizes, &strides, offset)
}

native! {
    family: Triangles, functions: crate::fill::Fills;

    /// The lower triangle of matrices, a copy with 0 above a diagonal.
    ///
    /// The diagonal is part of it, and lies `diagonal` above the main one, 0 unless options say otherwise. Dimensions
    /// in front of the last two are a batch.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].tril()?.to_vec::<i32>()?, [1, 0, 3, 4]);
    /// ```
    func: tril(Tensor self, SymInt diagonal=0) -> Tensor,
    inplace: tril_, autogen: tril.out, variants: function, direct: true, composed: explicit tril;

    /// The upper triangle of matrices, a copy with 0 below a diagonal.
    ///
    /// The diagonal is part of it, and lies `diagonal` above the main one, 0 unless options say otherwise. Dimensions
    /// in front of the last two are a batch.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].triu()?.to_vec::<i32>()?, [1, 2, 0, 4]);
    /// ```
    func: triu(Tensor self, SymInt diagonal=0) -> Tensor,
    inplace: triu_, autogen: triu.out, variants: function, direct: true, composed: explicit triu;
}

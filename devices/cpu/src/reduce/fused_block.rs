//! A block of lanes of [`OperandRows`]: rows of elements, each computed by a formula, and accumulated in registers.

use super::lane_kernel::merge_each;
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt};
use super::registers::RegisterLanes;
use super::rows::GROUP_ROWS;
use crate::element::CpuElement;
use crate::isa::Isa;
use crate::pointwise::{InputPointers, LoadOperands, MAX_OPERANDS};
use crate::scalar::Lane;
use monomorph_core::each;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{In, Map, Operands, Outputs, Params, ParamsOf};
use monomorph_ops::reduce::{Fold, Numbers};

/// Lanes of a block, whose accumulators stay in registers.
pub(super) const BLOCK_LANES: usize = 16;

/// One operand of [`OperandRows`].
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandRow {
    /// The first element.
    pub(super) at: *const u8,
    /// Bytes from one row to the next, and from the first row of an output to that of the next.
    pub(super) strides: [isize; 2],
    /// Bytes from one lane to the next: those of an element, or none where the operand is broadcast along lanes.
    pub(super) lane: isize,
}

/// Rows of what a formula gives, to be accumulated into lanes: several outputs have `rows` rows of `lanes` lanes each.
///
/// Invariants:
/// * FR1: operands have initialised elements wherever their strides lead, of the dtypes that the formula loads on the
///   dtype of the kernel, apart from the lanes, and there is one for each of the formula's. All but the one that the
///   kernel is for ([`FusedKernels`](super::fused_kernel::FusedKernels)) are dense along lanes.
/// * FR2: `params` points to the formula's parameters.
pub(super) struct OperandRows<'a> {
    pub(super) operands: &'a [OperandRow],
    pub(super) rows: usize,
    /// At least [`BLOCK_LANES`].
    pub(super) lanes: usize,
    pub(super) outputs: usize,
    /// The number of the first row, which is that of its elements among those of their outputs.
    pub(super) start: usize,
    /// The lanes hold no accumulator yet: the first rows set them, and the others are merged into them.
    pub(super) fresh: bool,
    /// What the fold is told besides the elements.
    pub(super) numbers: Numbers,
    pub(super) params: *const (),
}

/// A row: where the operands have its first lane, and what they have there, which a broadcast one has in all lanes.
type Row<G, C, I> = (InputPointers<G, C, I>, In<G, Lane<C, I>>);

/// Element `j` of a row. A function, as [`all_rows`] is: closures that are called more than once may not be inlined,
/// and are then not compiled for the level.
///
/// # Safety
///
/// FR1 for the row, which has such a lane.
#[inline(always)]
unsafe fn element<G, C, I, const BROADCAST: usize>(
    (row, first): &Row<G, C, I>,
    j: usize,
    params: ParamsOf<G, Lane<C, I>>,
) -> Lane<C, I>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
{
    // SAFETY: FR1: the operands that are not broadcast have an element in each lane of the row.
    G::eval(unsafe { <G::Operands as LoadOperands<Lane<C, I>>>::load_others(*row, j, BROADCAST, first) }, params)
}

/// The accumulator of element `j` of rows `k` to `k + 3` of a group that begins at row `start` of the output.
///
/// # Safety
///
/// FR1 for the rows, which have such a lane.
#[inline(always)]
unsafe fn four_rows<G, F, C, I, const BROADCAST: usize>(
    group: &[Row<G, C, I>; GROUP_ROWS],
    k: usize,
    j: usize,
    start: usize,
    (params, numbers): (ParamsOf<G, Lane<C, I>>, Numbers),
) -> Acc<F, C, I>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: FR1 for row `k`, by the caller's promise.
    let a = unsafe { element::<G, C, I, BROADCAST>(&group[k], j, params) };
    // SAFETY: FR1 for row `k + 1`, by the caller's promise.
    let b = unsafe { element::<G, C, I, BROADCAST>(&group[k + 1], j, params) };
    // SAFETY: FR1 for row `k + 2`, by the caller's promise.
    let c = unsafe { element::<G, C, I, BROADCAST>(&group[k + 2], j, params) };
    // SAFETY: FR1 for row `k + 3`, by the caller's promise.
    let d = unsafe { element::<G, C, I, BROADCAST>(&group[k + 3], j, params) };
    let at = start + k;
    F::four_by([a, b, c, d], [index(at), index(at + 1), index(at + 2), index(at + 3)], numbers)
}

/// The accumulator of element `j` of all rows of a group.
///
/// # Safety
///
/// That of [`four_rows`].
#[inline(always)]
unsafe fn all_rows<G, F, C, I, const BROADCAST: usize>(
    group: &[Row<G, C, I>; GROUP_ROWS],
    j: usize,
    start: usize,
    parameters: (ParamsOf<G, Lane<C, I>>, Numbers),
) -> Acc<F, C, I>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: the caller's promise.
    let first = unsafe { four_rows::<G, F, C, I, BROADCAST>(group, 0, j, start, parameters) };
    // SAFETY: the caller's promise.
    F::merge(first, unsafe { four_rows::<G, F, C, I, BROADCAST>(group, GROUP_ROWS / 2, j, start, parameters) })
}

/// The number of a row as the index of an element.
#[inline(always)]
fn index<I: Isa>(row: usize) -> Lane<i64, I> {
    Lane::new(row as i64)
}

/// Accumulates a block of lanes of an output from lane `first` on, but for the first `kept` ones; `into` has those
/// of the output.
///
/// # Safety
///
/// A2 for these lanes, FR1, FR2.
#[inline(always)]
pub(super) unsafe fn block<G, F, C, I, const BROADCAST: usize>(
    into: Lanes,
    rows: &OperandRows<'_>,
    output: usize,
    first: usize,
    kept: usize,
) where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    const { assert!(G::Operands::COUNT <= MAX_OPERANDS, "there is room for each operand") };
    // SAFETY: `params` points to the formula's parameters (FR2).
    let params = unsafe { &*rows.params.cast::<G::Params>() }.bind::<Lane<C, I>>();
    let (mut start, mut strides) = ([std::ptr::null::<u8>(); MAX_OPERANDS], [0; MAX_OPERANDS]);
    for (k, &OperandRow { at, strides: [stride, step], lane }) in rows.operands.iter().enumerate() {
        let offset = step.wrapping_mul(output as isize).wrapping_add(lane.wrapping_mul(first as isize));
        (start[k], strides[k]) = (at.wrapping_offset(offset), stride);
    }
    // SAFETY: there is a pointer for each operand (FR1).
    let mut next = unsafe { <G::Operands as LoadOperands<Lane<C, I>>>::pointers(start.as_ptr()) };
    let mut next_row = || -> Row<G, C, I> {
        let row = next;
        next = <G::Operands as LoadOperands<Lane<C, I>>>::advanced(next, &strides);
        // SAFETY: each operand has an element in the first lane of the row (FR1).
        (row, unsafe { <G::Operands as LoadOperands<Lane<C, I>>>::load::<false>(row, 0) })
    };
    let mut registers = RegisterLanes::<Acc<F, C, I>>::new();
    let mut done = 0;
    if !rows.fresh {
        for j in 0..BLOCK_LANES {
            // SAFETY: lane `first + j` is one of the output's, and holds an accumulator (A2).
            registers.set(j, unsafe { into.get::<Acc<F, C, I>>(first + j) });
        }
    } else if rows.rows < GROUP_ROWS {
        let row = next_row();
        for j in 0..BLOCK_LANES {
            // SAFETY: FR1 for the row.
            let x = unsafe { element::<G, C, I, BROADCAST>(&row, j, params) };
            registers.set(j, F::one_by(x, index(rows.start), rows.numbers));
        }
        done = 1;
    }
    let parameters = (params, rows.numbers);
    while rows.rows - done >= GROUP_ROWS {
        let group: [_; GROUP_ROWS] = each(|_| next_row());
        let start = rows.start + done;
        if rows.fresh && done == 0 {
            for j in 0..BLOCK_LANES {
                // SAFETY: FR1 for the rows.
                registers.set(j, unsafe { all_rows::<G, F, C, I, BROADCAST>(&group, j, start, parameters) });
            }
        } else {
            let (firsts, seconds) = registers.of(BLOCK_LANES);
            // SAFETY: FR1 for the rows.
            let all = |j| unsafe { all_rows::<G, F, C, I, BROADCAST>(&group, j, start, parameters) };
            // SAFETY: accumulators `0..BLOCK_LANES` were set, here or in a loop above.
            unsafe { merge_each::<F, C, I>(firsts, seconds, all) };
        }
        done += GROUP_ROWS;
    }
    while done < rows.rows {
        let row = next_row();
        let (firsts, seconds) = registers.of(BLOCK_LANES);
        let one = |j| {
            // SAFETY: FR1 for the row.
            let x = unsafe { element::<G, C, I, BROADCAST>(&row, j, params) };
            F::one_by(x, index(rows.start + done), rows.numbers)
        };
        // SAFETY: accumulators `0..BLOCK_LANES` were set in a loop above.
        unsafe { merge_each::<F, C, I>(firsts, seconds, one) };
        done += 1;
    }
    // SAFETY: these lanes are the output's (A2).
    let (firsts, seconds) = unsafe { into.from::<Acc<F, C, I>>(first).of::<Acc<F, C, I>>(BLOCK_LANES) };
    let (from, from_seconds) = registers.of(BLOCK_LANES);
    firsts[kept..].copy_from_slice(&from[kept..]);
    seconds[kept..].copy_from_slice(&from_seconds[kept..]);
}

//! The loop of a formula and a fold in one: elements are computed in registers and accumulated there. One for each pair
//! that a program names, on float32 and float64; on other dtypes elements are computed window by window.

use super::classes::KernelsOn;
use super::lane_kernel::merge_each;
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt};
use super::registers::RegisterLanes;
use super::rows::GROUP_ROWS;
use crate::element::CpuElement;
use crate::isa::{Avx2, Avx512, Isa, Kernel, Level, Portable};
use crate::left_out::left_out;
use crate::pointwise::{InputPointers, LoadOperands, MAX_OPERANDS};
use crate::scalar::Lane;
use monomorph_core::{DType, each};
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{
    Common, DomainSet, Exact, In, Intersect, Magnitude, Map, Membership, No, Operands, Outputs, Params, PointwiseFn,
    Truth, Wide, Yes,
};
use monomorph_ops::reduce::{Fold, Numbers, ReduceFn};
use std::marker::PhantomData;

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
///   kernel is for ([`FusedKernels`]) are dense along lanes.
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

/// The kernels of a formula and a fold: for operands that are all dense along lanes, and for the first, the second, or
/// the third one broadcast along them, if a formula has that and others.
///
/// Unsafe to call by A1 and A2 of `lanes.rs`, for the lanes of one output behind those of the other, and FR1 and FR2;
/// only this crate does.
#[derive(Clone, Copy)]
pub struct FusedKernels(pub(super) [Option<FusedKernel>; 4]);

/// Accumulates rows into lanes.
pub(super) type FusedKernel = unsafe fn(Lanes, &OperandRows<'_>);

/// No operand is broadcast.
const NONE: usize = usize::MAX;

/// A formula `G` and a fold `F`, which may have kernels together. Implemented by the formula's output: there are none
/// where that is not of the dtype of the operands.
pub trait FuseWith<G, F> {
    /// The kernels on a dtype, at a level or at the best one below it that the host has.
    fn kernels(dtype: DType, level: Level) -> Option<FusedKernels>;
}

impl<G, F> FuseWith<G, F> for Common
where
    G: PointwiseFn<Domain: Intersect<F::Domain, Both: FloatKernels<G, F>>>,
    F: ReduceFn,
{
    fn kernels(dtype: DType, level: Level) -> Option<FusedKernels> {
        // A formula that may fail is looked over first, which a loop in registers has no place for.
        match G::FAULT {
            Some(_) => None,
            None => <<G::Domain as Intersect<F::Domain>>::Both as FloatKernels<G, F>>::kernels(dtype, level),
        }
    }
}

impl<G, F> FuseWith<G, F> for Truth {
    fn kernels(_: DType, _: Level) -> Option<FusedKernels> {
        None
    }
}

impl<G, F> FuseWith<G, F> for Magnitude {
    fn kernels(_: DType, _: Level) -> Option<FusedKernels> {
        None
    }
}

/// The kernels on the floats of a domain.
pub trait FloatKernels<G, F>: DomainSet {
    /// The kernels for one dtype at a level; `None` for other dtypes.
    fn kernels(dtype: DType, level: Level) -> Option<FusedKernels>;
}

impl<G, F, B, I, R, C> FloatKernels<G, F> for Exact<B, I, R, C>
where
    B: Membership,
    I: Membership,
    R: ClassKernel<G, F> + Membership,
    C: Membership,
{
    fn kernels(dtype: DType, level: Level) -> Option<FusedKernels> {
        R::kernels(dtype, level)
    }
}

/// Whether the class of floats has kernels.
pub trait ClassKernel<G, F> {
    /// The kernels for one dtype at a level; `None` for other dtypes.
    fn kernels(dtype: DType, level: Level) -> Option<FusedKernels>;
}

impl<G, F> ClassKernel<G, F> for No {
    fn kernels(_: DType, _: Level) -> Option<FusedKernels> {
        None
    }
}

/// Kernels on these dtypes at every level, of a class that has them.
macro_rules! classes {
    ($($member:ty: $($dtype:ident $element:ty),*;)*) => {$(
        impl<G, F> ClassKernel<G, F> for $member
        where
            FusedKernels: $(
                KernelsOn<(G, F), $element, Portable> + KernelsOn<(G, F), $element, Avx2> +
                KernelsOn<(G, F), $element, Avx512> +
            )*,
        {
            fn kernels(dtype: DType, level: Level) -> Option<FusedKernels> {
                match dtype {
                    $(DType::$dtype if const { left_out(DType::$dtype).is_none() } => Some(level.choose(
                        <FusedKernels as KernelsOn<(G, F), $element, Portable>>::KERNELS,
                        #[cfg(target_arch = "x86_64")]
                        [
                            <FusedKernels as KernelsOn<(G, F), $element, Avx2>>::KERNELS,
                            <FusedKernels as KernelsOn<(G, F), $element, Avx512>>::KERNELS,
                        ],
                    )),)*
                    _ => None,
                }
            }
        }
    )*};
}
classes! {
    Yes: F32 f32, F64 f64;
    Wide: F32 f32, F64 f64;
}

impl<G, F, C, I> KernelsOn<(G, F), C, I> for FusedKernels
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    const KERNELS: FusedKernels = FusedKernels([
        Some(accumulate::<G, F, C, I, NONE>),
        if G::Operands::COUNT > 1 { Some(accumulate::<G, F, C, I, 0>) } else { None },
        if G::Operands::COUNT > 1 { Some(accumulate::<G, F, C, I, 1>) } else { None },
        if G::Operands::COUNT > 2 { Some(accumulate::<G, F, C, I, 2>) } else { None },
    ]);
}

/// Accumulates rows into lanes, of which operand `BROADCAST` has one element each.
///
/// # Safety
///
/// A1 and A2, FR1 and FR2.
unsafe fn accumulate<G, F, C, I, const BROADCAST: usize>(lanes: Lanes, rows: &OperandRows<'_>)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    // SAFETY: the host has the level (A1).
    let isa = unsafe { I::assume() };
    isa.enter(FusedLoop::<G, F, C, BROADCAST> { lanes, rows, types: PhantomData });
}

struct FusedLoop<'a, G, F, C, const BROADCAST: usize> {
    lanes: Lanes,
    rows: &'a OperandRows<'a>,
    types: PhantomData<(G, F, C)>,
}

impl<G, F, C, I, const BROADCAST: usize> Kernel<I> for FusedLoop<'_, G, F, C, BROADCAST>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    G: Map<Lane<C, I>, Operands: LoadOperands<Lane<C, I>>, Out: Outputs<Of<Lane<C, I>> = Lane<C, I>>>,
    F: Fold<Lane<C, I>, Lane<i64, I>, Accumulator: AccumulatorAt<C, I>>,
{
    type Home = F;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let FusedLoop { lanes, rows, .. } = self;
        for output in 0..rows.outputs {
            let into = lanes.from::<Acc<F, C, I>>(output * rows.lanes);
            let mut done = 0;
            while done < rows.lanes {
                // A block always has the same number of lanes, so that one loop serves: the last one may begin in the
                // one before, whose lanes it computes again and leaves as they are.
                let first = done.min(rows.lanes - BLOCK_LANES);
                // SAFETY: A2 for lanes of this output, FR1 and FR2 by the caller's promise.
                unsafe { block::<G, F, C, I, BROADCAST>(into, rows, output, first, done - first) };
                done = first + BLOCK_LANES;
            }
        }
    }
}

/// A row: where the operands have its first lane, and what they have there, which a broadcast one has in all lanes.
type Row<G, C, I> = (InputPointers<G, C, I>, In<G, Lane<C, I>>);

/// Accumulates a block of lanes of an output from lane `first` on, but for the first `kept` ones; `into` has those
/// of the output.
///
/// # Safety
///
/// A2 for these lanes, FR1, FR2.
#[inline(always)]
unsafe fn block<G, F, C, I, const BROADCAST: usize>(
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
    let element = |(row, first): &Row<G, C, I>, j: usize| {
        // SAFETY: FR1: the operands that are not broadcast have an element in each lane of the row.
        G::eval(unsafe { <G::Operands as LoadOperands<Lane<C, I>>>::load_others(*row, j, BROADCAST, first) }, params)
    };
    let index = |row: usize| Lane::<i64, I>::new((rows.start + row) as i64);
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
            registers.set(j, F::one_by(element(&row, j), index(0), rows.numbers));
        }
        done = 1;
    }
    while rows.rows - done >= GROUP_ROWS {
        let group: [_; GROUP_ROWS] = each(|_| next_row());
        let four = |k: usize, j: usize| {
            let x = [0, 1, 2, 3].map(|i| element(&group[k + i], j));
            let at = done + k;
            F::four_by(x, [index(at), index(at + 1), index(at + 2), index(at + 3)], rows.numbers)
        };
        if rows.fresh && done == 0 {
            for j in 0..BLOCK_LANES {
                registers.set(j, F::merge(four(0, j), four(4, j)));
            }
        } else {
            let (firsts, seconds) = registers.of(BLOCK_LANES);
            // SAFETY: accumulators `0..BLOCK_LANES` were set, here or in a loop above.
            unsafe { merge_each::<F, C, I>(firsts, seconds, |j| F::merge(four(0, j), four(4, j))) };
        }
        done += GROUP_ROWS;
    }
    while done < rows.rows {
        let row = next_row();
        let (firsts, seconds) = registers.of(BLOCK_LANES);
        let one = |j| F::one_by(element(&row, j), index(done), rows.numbers);
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

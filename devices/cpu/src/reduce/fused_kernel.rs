//! The loop of a formula and a fold in one: elements are computed in registers and accumulated there. One for each pair
//! that a program names, on float32 and float64; on other dtypes elements are computed window by window.

use super::classes::KernelsOn;
use super::fused_block::{BLOCK_LANES, OperandRows, block};
use super::lanes::Lanes;
use super::parts::{Acc, AccumulatorAt};
use crate::element::CpuElement;
use crate::isa::{Avx2, Avx512, Isa, Kernel, Level, Portable};
use crate::left_out::left_out;
use crate::pointwise::LoadOperands;
use crate::scalar::Lane;
use monomorph_core::DType;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{
    Common, DomainSet, Exact, Intersect, Magnitude, Map, Membership, No, Operands, Outputs, PointwiseFn, Truth, Wide,
    Yes,
};
use monomorph_ops::reduce::{Fold, ReduceFn};
use std::marker::PhantomData;

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

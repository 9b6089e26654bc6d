//! The loops of scans, and where they are compiled: in the crate that calls a scan, or in this one.

use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level};
use crate::reduce::classes::{DomainKernels, KernelsOn};
use crate::scalar::Lane;
use monomorph_core::DType;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Common, Here, Prebuilt};
use monomorph_ops::reduce::{AccumulatorOf, Fold, Identity, ReduceFn};
use monomorph_ops::scan::ScanFn;
use std::marker::PhantomData;

/// Bytes and alignment that an accumulator has at most: two parts of complex128.
pub(super) const ACCUMULATOR: usize = 32;

/// The loops of one scan on one dtype at one level. Unsafe to call: the host has the level, and
/// * L1: a pass's block has room for `rows * lanes` elements of the dtype, dense, and `from` so many that are
///   initialised: those of the block, or for one lane others, apart from it;
/// * L2: accumulators are of this fold and dtype and were written by these very loops, `lanes` of them; nobody else
///   uses either.
#[derive(Clone, Copy)]
pub struct ScanKernels {
    pub(super) begin: unsafe fn(*mut u8, usize),
    pub(super) scan: unsafe fn(Pass),
    pub(super) total: unsafe fn(Pass),
    pub(super) prefix: unsafe fn(Prefix),
}

/// Rows to be accumulated into lanes.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) from: *const u8,
    pub(super) block: *mut u8,
    pub(super) rows: usize,
    pub(super) lanes: usize,
    pub(super) accumulators: *mut u8,
}

/// Totals of segments that become what comes before each.
#[derive(Clone, Copy)]
pub(super) struct Prefix {
    pub(super) totals: *mut u8,
    pub(super) lanes: usize,
    /// What comes before the first; afterwards what comes before the next that follows the last.
    pub(super) carry: *mut u8,
}

/// What a fold accumulates elements `C` in at level `I`.
type Acc<F, C, I> = AccumulatorOf<F, Lane<C, I>, Lane<i64, I>>;

impl<F, C, I> KernelsOn<F, C, I> for ScanKernels
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: ReduceFn<Results = Common> + Fold<Lane<C, I>, Lane<i64, I>>,
{
    const KERNELS: Self = {
        assert!(size_of::<Acc<F, C, I>>() <= ACCUMULATOR && align_of::<Acc<F, C, I>>() <= ACCUMULATOR);
        ScanKernels {
            begin: begin::<F, C, I>,
            scan: pass::<F, C, I, true>,
            total: pass::<F, C, I, false>,
            prefix: prefix::<F, C, I>,
        }
    };
}

/// # Safety
///
/// Room for `lanes` accumulators, which nobody else uses; the host has the level.
unsafe fn begin<F, C, I>(accumulators: *mut u8, lanes: usize)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    let identity = F::Identity::optional::<Acc<F, C, I>>(<F as Fold<Lane<C, I>, Lane<i64, I>>>::identity());
    let Some(identity) = identity else { return };
    for j in 0..lanes {
        // SAFETY: there is room for accumulator `j < lanes`, which nobody else uses.
        unsafe { accumulators.cast::<Acc<F, C, I>>().wrapping_add(j).write(identity) };
    }
}

/// # Safety
///
/// L1, L2; the host has the level.
unsafe fn pass<F, C, I, const WRITES: bool>(pass: Pass)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: ReduceFn<Results = Common> + Fold<Lane<C, I>, Lane<i64, I>>,
{
    // SAFETY: the host has the level: the caller's promise.
    let isa = unsafe { I::assume() };
    isa.enter(Loop::<F, C, WRITES>(pass, PhantomData));
}

/// A pass in the frame of its level.
struct Loop<F, C, const WRITES: bool>(Pass, PhantomData<(F, C)>);

impl<F, C, I, const WRITES: bool> Kernel<I> for Loop<F, C, WRITES>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: ReduceFn<Results = Common> + Fold<Lane<C, I>, Lane<i64, I>>,
{
    type Home = F;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Pass { from, block, rows, lanes, accumulators } = self.0;
        let accumulators = accumulators.cast::<Acc<F, C, I>>();
        let none = Lane::new(0);
        if lanes == 1 {
            // SAFETY: there is one accumulator (L2).
            let mut acc = unsafe { accumulators.read() };
            for r in 0..rows {
                // SAFETY: element `r < rows`, which is initialised (L1).
                let x = Lane::new(unsafe { load::<C>(from, r) });
                acc = F::merge(acc, F::one(x, none));
                if WRITES {
                    // SAFETY: element `r` of the block, which nobody else uses (L2).
                    unsafe { store::<C>(block, r, F::finish(acc, none).get()) };
                }
            }
            // SAFETY: as it was read; nobody else uses it (L2).
            return unsafe { accumulators.write(acc) };
        }
        for r in 0..rows {
            let row = block.wrapping_add(r * lanes * size_of::<C::Stored>());
            for j in 0..lanes {
                // SAFETY: row `r < rows` has an initialised element `j < lanes` (L1).
                let x = Lane::new(unsafe { load::<C>(row, j) });
                let at = accumulators.wrapping_add(j);
                // SAFETY: lane `j < lanes` holds an accumulator (L2).
                let acc = F::merge(unsafe { at.read() }, F::one(x, none));
                // SAFETY: as it was read; nobody else uses it (L2).
                unsafe { at.write(acc) };
                if WRITES {
                    // SAFETY: the element that was just read, which nobody else uses (L2).
                    unsafe { store::<C>(row, j, F::finish(acc, none).get()) };
                }
            }
        }
    }
}

/// # Safety
///
/// L2 for the totals and for the one accumulator of `carry`, which lies apart; the host has the level.
unsafe fn prefix<F, C, I>(Prefix { totals, lanes, carry }: Prefix)
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Fold<Lane<C, I>, Lane<i64, I>>,
{
    let (totals, carry) = (totals.cast::<Acc<F, C, I>>(), carry.cast::<Acc<F, C, I>>());
    // SAFETY: it holds an accumulator (L2).
    let mut before = unsafe { carry.read() };
    for j in 0..lanes {
        let at = totals.wrapping_add(j);
        // SAFETY: lane `j < lanes` holds an accumulator (L2).
        let total = unsafe { at.read() };
        // SAFETY: as it was read; nobody else uses it (L2).
        unsafe { at.write(before) };
        before = F::merge(before, total);
    }
    // SAFETY: as it was read; nobody else uses it (L2).
    unsafe { carry.write(before) };
}

/// A scan whose kernels exist, compiled `W`here.
///
/// # Safety
///
/// `lookup` gives the kernels of this very scan for this very dtype, at a level that the host has.
#[diagnostic::on_unimplemented(
    message = "the CPU has no kernels of the scan `{Self}` compiled `{W}`",
    label = "no kernels of this scan",
    note = "`Scan<F, Here>` compiles them in the calling crate, for every fold that covers the domain of the scan"
)]
pub unsafe trait Kernels<W>: ScanFn {
    /// The kernels for one dtype at a level, or at the best one below it that the host has; `None` outside of the
    /// domain.
    fn lookup(dtype: DType, level: Level) -> Option<ScanKernels>;
}

// SAFETY: `DomainKernels::kernels` gives the kernels of this fold for this dtype, and `Level::choose` asks the host
// for the level.
unsafe impl<F> Kernels<Here> for F
where
    F: ScanFn,
    F::Domain: DomainKernels<F::Fold, ScanKernels>,
{
    fn lookup(dtype: DType, level: Level) -> Option<ScanKernels> {
        <F::Domain as DomainKernels<F::Fold, ScanKernels>>::kernels(dtype, level)
    }
}

/// The kernels of every in-tree scan, compiled in this crate.
mod table {
    use super::{DType, Here, Kernels, Level, Prebuilt, ScanKernels};

    macro_rules! prebuild {
        ($scan:ty, $name:literal) => {
            // SAFETY: those of the same scan. Not inlined: an inlined lookup would name the kernels in the crates
            // downstream, which would then compile them.
            unsafe impl super::Kernels<super::Prebuilt> for $scan {
                #[inline(never)]
                fn lookup(dtype: super::DType, level: super::Level) -> Option<super::ScanKernels> {
                    <$scan as super::Kernels<super::Here>>::lookup(dtype, level)
                }
            }
        };
    }
    monomorph_ops::for_each_kernel! { modules Scan prebuild }
}

//! Columns summed to images: each plane for itself, place by place of a patch, line by line of patches. Lines of
//! patches are dense, and so are those of the image where patches begin at each place: these are added side by side.

use crate::dense::Dense;
use crate::device::Cpu;
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level};
use crate::left_out::no_kernel;
use half::{bf16, f16};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{Complex, DType, Result};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::columns::{ColumnInputs, ColumnPlan, ColumnSum, PatchAxis};
use std::marker::PhantomData;
use std::ops::Range;

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
        planes_kernel(dtype).ok_or_else(|| no_kernel(dtype, "others"))?;
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
        let Some(kernel) = planes_kernel(ready.dtype) else { return Err(no_kernel(ready.dtype, "others").into()) };
        let volume = |of: fn(&PatchAxis) -> i64| plan.axes.iter().map(|axis| of(axis) as usize).product::<usize>();
        let (image, column) = (volume(|axis| axis.size), volume(|axis| axis.kernel * axis.patches));
        let call = Planes { plan, columns: ready.columns.start(), output: ready.output, image, column };
        let elements = plan.planes * column;
        let together = if is_parallel(elements, GRAIN) { (GRAIN / column.max(1)).max(1) } else { plan.planes.max(1) };
        let level = ready.level;
        share(plan.planes.div_ceil(together), |piece| {
            let planes = piece * together..plan.planes.min((piece + 1) * together);
            // SAFETY: L1, L2: the columns have as many elements, and the output, of whose planes each is one piece's.
            unsafe { kernel(level, &call, planes) };
        });
        Ok(())
    }
}

/// What the threads of a call share. Invariants:
/// * L1: `columns` are dense elements of the dtype, `column` for each plane, which nobody writes;
/// * L2: so is `output`, with `image` for each plane, which nobody else uses.
struct Planes<'a> {
    plan: &'a ColumnPlan,
    columns: *const u8,
    output: *mut u8,
    image: usize,
    column: usize,
}

// SAFETY: threads read the columns, and write planes of their own.
unsafe impl Sync for Planes<'_> {}

/// Computes planes. Unsafe to call: L1, L2 for a dtype, whose kernel it is, and these planes of the output are nobody
/// else's.
type PlanesKernel = unsafe fn(Level, &Planes<'_>, Range<usize>);

fn planes_kernel(dtype: DType) -> Option<PlanesKernel> {
    Some(match dtype {
        DType::Bool => sums::<bool>,
        #[cfg(feature = "halves")]
        DType::F16 => sums::<f16>,
        #[cfg(feature = "halves")]
        DType::BF16 => sums::<bf16>,
        DType::F32 => sums::<f32>,
        DType::F64 => sums::<f64>,
        #[cfg(feature = "complex")]
        DType::C64 => sums::<Complex<f32>>,
        #[cfg(feature = "complex")]
        DType::C128 => sums::<Complex<f64>>,
        _ => return None,
    })
}

/// Elements that are added.
pub(crate) trait Added: CpuElement {
    const ZERO: Self::Repr;
    fn plus(a: Self::Repr, b: Self::Repr) -> Self::Repr;
}
macro_rules! added {
    ($($t:ty: $zero:expr, |$a:ident, $b:ident| $plus:expr;)*) => {$(
        impl Added for $t {
            const ZERO: Self::Repr = $zero;
            #[inline(always)]
            fn plus($a: Self::Repr, $b: Self::Repr) -> Self::Repr {
                $plus
            }
        }
    )*};
}
added! {
    bool: false, |a, b| a | b;
    f16: 0.0, |a, b| a + b;
    bf16: 0.0, |a, b| a + b;
    f32: 0.0, |a, b| a + b;
    f64: 0.0, |a, b| a + b;
    Complex<f32>: Complex::new(0.0, 0.0), |a, b| a + b;
    Complex<f64>: Complex::new(0.0, 0.0), |a, b| a + b;
}

/// # Safety
///
/// L1, L2 for elements of `C`; nobody else uses these planes of the output.
unsafe fn sums<C: Added>(level: Level, of: &Planes<'_>, planes: Range<usize>) {
    level.enter(Sums::<C>(of, planes, PhantomData));
}

struct Sums<'a, C>(&'a Planes<'a>, Range<usize>, PhantomData<C>);

impl<C: Added, I: Isa> Kernel<I> for Sums<'_, C> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Sums(call, planes, _) = self;
        let ([h, w], size) = (&call.plan.axes, size_of::<C::Stored>());
        for plane in planes {
            let image = call.output.wrapping_add(plane * call.image * size);
            let mut column = call.columns.wrapping_add(plane * call.column * size);
            for i in 0..call.image {
                // SAFETY: an element of the plane (L2).
                unsafe { store::<C>(image, i, C::ZERO) };
            }
            for (y, x) in (0..h.kernel).flat_map(|y| (0..w.kernel).map(move |x| (y, x))) {
                let ((first, lines), (left, n)) = (h.inside(y), w.inside(x));
                for line in first..first + lines {
                    let from = column.wrapping_add((line * w.patches + left) as usize * size);
                    let to = image.wrapping_add((h.at(line, y) * w.size + w.at(left, x)) as usize * size);
                    // SAFETY: L1, L2: elements of a line of patches, whose places lie within a line of the image.
                    unsafe { add_line::<C>(from, to, n as usize, w.stride as usize) };
                }
                column = column.wrapping_add((h.patches * w.patches) as usize * size);
            }
        }
    }
}

/// Adds `n` elements to those that lie `stride` elements apart.
///
/// # Safety
///
/// As many elements are initialised, and so are those that are added to, which nobody else uses.
#[inline(always)]
pub(crate) unsafe fn add_line<C: Added>(from: *const u8, to: *mut u8, n: usize, stride: usize) {
    let add = |i: usize, at: usize| {
        // SAFETY: `i < n`, and element `at` was written before: the caller's promise.
        let sum = unsafe { load::<C>(to, at) };
        // SAFETY: `i < n`: the caller's promise.
        let x = unsafe { load::<C>(from, i) };
        // SAFETY: `i < n`: the caller's promise.
        unsafe { store::<C>(to, at, C::plus(sum, x)) };
    };
    match stride {
        1 => (0..n).for_each(|i| add(i, i)),
        _ => (0..n).for_each(|i| add(i, i * stride)),
    }
}

//! CUDA as a device: its kind, its memory, what is current, its copy. How operators run on it is `execute`.

use crate::driver::{Address, Bound, Context};
use crate::execute::{Plan, is_blocking};
use crate::functor::Functor;
use crate::gpu::{gpu, open_already};
use crate::memory::MEMORY;
use crate::operand::Source;
use crate::stream::make_current;
use monomorph_core::{DType, Device, DeviceKind, Memory, Result, Scalar, Strided, Tensor, with_element};
use monomorph_iter::{Config, Flags, View, build_over};
use monomorph_ops::algebra::Value;
use monomorph_ops::algebra::sym::{Compute, Function, Sym, c_suffix, trace};
use monomorph_ops::fill::{Fills, fill_by_kernel};
use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

/// NVIDIA's GPUs, of compute capability 7.0 or more. Which of them is meant is the index of a tensor's device.
///
/// Where the library cannot tell whether a written tensor reaches an element twice, threads of the device write at
/// once, and which write stays is not specified; on the CPU it is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuda;

/// Makes the device and the context that were current before current again.
#[derive(Debug)]
pub struct Guard {
    former: u8,
    _bound: Option<Bound<Arc<Context>>>,
    /// What is current is so on one thread.
    thread: PhantomData<*const ()>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        make_current(self.former);
    }
}

// SAFETY: no other type has the kind CUDA. `MEMORY` keeps M1, M2 and M4, as it says; no address is followed by the
// host. `copy` has kernels that reach the elements of the iteration, or copies the bytes of dense ones; `across` copies
// bytes.
unsafe impl Device for Cuda {
    const KIND: DeviceKind = DeviceKind::CUDA;
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    type Guard = Guard;
    type StdOps = monomorph_ops::StdOps;

    fn enter(index: u8) -> Guard {
        let former = make_current(index);
        // Calls of the driver bind by themselves; it is less to do once.
        let bound = open_already(index).and_then(|gpu| {
            let context = gpu.context();
            // It is told by what is called next.
            context.enter().inspect_err(|error| context.keep(error.clone())).ok()
        });
        Guard { former, _bound: bound, thread: PhantomData }
    }

    unsafe fn copy(index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        let same = to.dtype == from.dtype && (to.conj, to.neg) == (from.conj, from.neg);
        if same && to.data == from.data && to.strides == from.strides {
            return Ok(());
        }
        // The device's halves have one NaN: what is copied as it is may not go through its conversions.
        let moved = |dtype: DType| if same && dtype.size() == 2 { DType::I16 } else { dtype };
        fn view<'a>(side: &Strided<'a>, dtype: DType, sizes: &'a [i64], is_lazy: bool) -> View<'a> {
            let (conj, neg) = (is_lazy && side.conj, is_lazy && side.neg);
            View { conj, neg, ..View::new(dtype, sizes, side.strides) }
        }
        // Everything off: the operands are what they are.
        let flags = Flags::DEFAULT
            .with_overlap_check(false)
            .without_resizing()
            .with_dtype_check(false)
            .with_device_check(false);
        // What one side undoes the other does again.
        let target = view(&to, moved(to.dtype), sizes, !same);
        let source = view(&from, moved(from.dtype), sizes, !same);
        let iter = build_over(&Config::new(flags), &[target], &[source])?;
        if iter.numel() == 0 {
            return Ok(());
        }
        let [out, input] = [to.data, from.data].map(|data| data.addr() as Address);
        let copied = gpu(index).and_then(|gpu| {
            if same && iter.is_contiguous() {
                // SAFETY: C1; C2: the sides share nothing, since they are not equal.
                unsafe { gpu.copy(out, input, iter.numel() * to.dtype.size()) }?;
                return if is_blocking() { gpu.stream().queue().synchronize() } else { Ok(()) };
            }
            let dtype = moved(to.dtype);
            let kernel = gpu.kernels.formulas.of((TypeId::of::<Copies>(), dtype), || identity(dtype));
            let kernel = kernel.ok_or(crate::CudaError::Stray { what: "a dtype cannot be copied" })?;
            let mut plan = Plan::new(index, kernel, out, [Source::At(input)].into_iter().collect());
            // SAFETY: C1: the iteration is within both sides, which are borrowed.
            unsafe { plan.run(&gpu, &iter, &[]) }.map(|_| ())
        });
        copied.map_err(|error| error.on(index))
    }

    unsafe fn across(to: (u8, *mut u8), from: (u8, *const u8), bytes: usize) -> Result<bool> {
        let source = gpu(from.0).map_err(|error| error.on(from.0))?;
        let target = gpu(to.0).map_err(|error| error.on(to.0))?;
        // SAFETY: so many bytes lie in live blocks of the devices.
        let copied = unsafe { target.take(to.1.addr() as Address, &source, from.1.addr() as Address, bytes) };
        copied.map(|()| true).map_err(|error| error.on(to.0))
    }
}

impl Fills for Cuda {
    fn fill(this: &mut Tensor<Cuda>, value: Scalar) -> Result<()> {
        fill_by_kernel(this, value)
    }
}

/// The name of the copy among kernels.
pub(crate) struct Copies;

/// The formula of a copy: a kernel loads, converts and stores.
pub(crate) fn identity(dtype: DType) -> Option<Functor> {
    fn of<C: Compute>() -> Option<Function>
    where
        Sym<C>: Value,
    {
        trace(|t| {
            let x = t.input::<C>();
            t.output(x);
        })
        .ok()
    }
    let function = with_element!(dtype, E => of::<E>())?;
    Some(Functor::new(&format!("copy_{}", c_suffix(dtype)), function).with_light(true))
}

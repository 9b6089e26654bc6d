//! Forms that are written by hand, without a template: all three of `neg`; and `zero_` alone, over the one that every
//! device has.

use crate::add::{COMPUTED, unsupported};
use crate::device::Arena;
use crate::memory::arena;
use crate::walk::{Elements, byte_strides, each, negated};
use monomorph::crates::core::Access;
use monomorph::crates::core::dispatch::{Backend, KernelFunction};
use monomorph::crates::ops::fill::unexpanded;
use monomorph::crates::ops::table::resize;
use monomorph::{ErrorKind, Library, Result, Scalar, Tensor, ops::empty_like};
use std::sync::atomic::{AtomicUsize, Ordering};

static ZEROED: AtomicUsize = AtomicUsize::new(0);

/// How often the arena's own `zero_` was called.
pub fn zeroed() -> usize {
    ZEROED.load(Ordering::Relaxed)
}

pub(crate) fn register(library: &mut Library, arena: Backend) -> Result<()> {
    library.kernel("neg", arena, KernelFunction::function(neg))?;
    library.kernel("neg_", arena, KernelFunction::function(neg_))?;
    library.kernel("neg.out", arena, KernelFunction::function(neg_out))?;
    library.replace("zero_", arena, KernelFunction::function(zero_))
}

fn neg(this: &Tensor<Arena>) -> Result<Tensor<Arena>> {
    let mut out = empty_like(this)?;
    neg_out(this, &mut out)?;
    Ok(out)
}

fn neg_out(this: &Tensor<Arena>, out: &mut Tensor<Arena>) -> Result<()> {
    if !COMPUTED.contains(&this.dtype()) {
        return Err(unsupported(Some(this.dtype())));
    }
    if !this.dtype().can_cast(out.dtype()) {
        return Err(ErrorKind::Cast { from: this.dtype(), to: out.dtype() }.into());
    }
    resize(out, this.sizes())?;
    let access = Access::new([this], [out])?;
    let ((from, input), (to, output)) = (access.input::<0>(), access.output::<0>());
    let mut arena = arena(Arena::current()).ok_or_else(|| unsupported(None))?;
    let (source, target) = (Elements::in_geometry(from), Elements::in_geometry(to));
    let sizes: Vec<usize> = to.sizes().iter().map(|&size| size as usize).collect();
    let strides = [byte_strides(to.strides(), to.dtype()), byte_strides(from.strides(), from.dtype())];
    each(&sizes, [&strides[0], &strides[1]], [output, input.cast_mut()], |[to, from]| {
        let value = negated(source.load(&arena, from)?);
        target.store(&mut arena, to, value)
    })
}

fn neg_(this: &mut Tensor<Arena>) -> Result<()> {
    let input = this.clone();
    neg_out(&input, this)
}

fn zero_(this: &mut Tensor<Arena>) -> Result<()> {
    ZEROED.fetch_add(1, Ordering::Relaxed);
    // An expanded tensor is filled as any other: each element once.
    let mut once = this.with_geometry(unexpanded(this.geometry())?)?;
    let access = Access::new([], [&mut once])?;
    let (geometry, at) = access.output::<0>();
    let mut arena = arena(Arena::current()).ok_or_else(|| unsupported(None))?;
    let elements = Elements::in_geometry(geometry);
    let sizes: Vec<usize> = geometry.sizes().iter().map(|&size| size as usize).collect();
    let strides = byte_strides(geometry.strides(), geometry.dtype());
    each(&sizes, [&strides], [at], |[at]| elements.store(&mut arena, at, Scalar::Int(0)))
}

//! An out= kernel that is written by hand, `mul.out`: dispatch checks, promotes the sizes and makes the other forms.

use crate::add::{COMPUTED, times, unsupported};
use crate::device::Arena;
use crate::memory::arena;
use crate::walk::{Elements, each};
use monomorph::crates::core::Access;
use monomorph::crates::core::dispatch::{Backend, KernelFunction};
use monomorph::crates::iter::{Config, Flags, View, build_over};
use monomorph::{Geometry, Library, Result, Tensor, meta};

fn view(g: &Geometry) -> View<'_> {
    View::new(g.dtype(), g.sizes(), g.strides())
}

pub(crate) fn register(library: &mut Library, arena: Backend) -> Result<()> {
    library.kernel("mul.out", arena, KernelFunction::after_meta::<Arena, _, _>(mul_out))
}

/// `out` has the sizes of the product already; the dtype that it is computed in may be another.
fn mul_out(a: &Tensor<Arena>, b: &Tensor<Arena>, out: &mut Tensor<Arena>) -> Result<()> {
    let dtype = meta::mul(a, b)?.dtype();
    if !COMPUTED.contains(&dtype) {
        return Err(unsupported(Some(dtype)));
    }
    let access = Access::new([a, b], [out])?;
    let ((x, a), (y, b), (z, out)) = (access.input::<0>(), access.input::<1>(), access.output::<0>());
    let [x_elements, y_elements, z_elements] = [x, y, z].map(Elements::in_geometry);
    // Broadcasts the inputs, and merges dimensions that all three walk as one.
    let flags = Flags::DEFAULT.with_overlap_check(false).with_dtype_check(false);
    let iter = build_over(&Config::new(flags), &[view(z)], &[view(x), view(y)])?;
    let mut arena = arena(Arena::current()).ok_or_else(|| unsupported(None))?;
    let bases = [out, a.cast_mut(), b.cast_mut()];
    each(iter.shape(), [0, 1, 2].map(|k| iter.strides(k)), bases, |[z, x, y]| {
        let (x, y) = (x_elements.load(&arena, x)?, y_elements.load(&arena, y)?);
        z_elements.store(&mut arena, z, times(dtype, x.cast(dtype), y.cast(dtype)))
    })
}

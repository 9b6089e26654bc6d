//! What becomes of a sum of products: `alpha * sum`, and `beta` times what C had there.

use super::Product;
use super::summed::Summed;

#[derive(Clone, Copy)]
pub(super) struct Ending<R> {
    alpha: R,
    /// None where C is only written.
    beta: Option<R>,
}

impl<R: Summed> Ending<R> {
    pub(super) fn of(product: &Product) -> Ending<R> {
        let beta = (!product.overwrites()).then(|| R::of(product.beta));
        Ending { alpha: R::of(product.alpha), beta }
    }

    /// The element of C; `before` reads what it was, which is asked of initialised elements only.
    #[inline(always)]
    pub(super) fn element(&self, sum: R, before: impl FnOnce() -> R) -> R {
        let value = sum.times(self.alpha);
        match self.beta {
            Some(beta) => value.plus(before().times(beta)),
            None => value,
        }
    }
}

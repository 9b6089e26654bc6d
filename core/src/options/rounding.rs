//! Whether results may be rounded otherwise than PyTorch's. Owns the choice of each thread; which operators make use of
//! it is theirs.

use std::cell::Cell;

thread_local! {
    static IS_RELAXED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread takes results that are rounded otherwise than PyTorch's.
pub fn is_relaxed() -> bool {
    IS_RELAXED.get()
}

/// Calls `f`, in which operators of this thread may round otherwise than PyTorch's where that is faster: float32
/// convolutions of 3×3 windows by a frozen weight, whose errors grow some tenfold (Winograd's filtering, in Lavin and
/// Gray, "Fast algorithms for convolutional neural networks", 2016).
///
/// Prepared calls keep what held when they were prepared.
pub fn relaxed<R>(f: impl FnOnce() -> R) -> R {
    /// Puts back what was, also if `f` panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IS_RELAXED.set(self.0);
        }
    }
    let _before = Before(IS_RELAXED.replace(true));
    f()
}

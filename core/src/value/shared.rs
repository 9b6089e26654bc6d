//! A tensor behind one counted word: what a boxed value holds, so that values are small and a copy of one copies no
//! geometry. Owns the count and the block of it; refuses to know what a boxed value is.
//!
//! Invariants:
//! * B1: the node is live as long as a handle to it is, and is changed only through `&mut` to the only handle.
//! * B2: the node lies in a `Room` that was leaked, and nobody else frees it.

use crate::storage::Header;
use crate::storage::borrow::RefCount;
use crate::tensor::AnyTensor;
use std::cell::Cell;
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::ptr::NonNull;

struct Node {
    refs: RefCount,
    tensor: AnyTensor,
}

/// Room for a node.
type Room = Box<MaybeUninit<Node>>;

thread_local! {
    /// The room of the last node that the thread dropped. A boxed call drops one and makes one, so it allocates none.
    static SPARE: Cell<Option<Room>> = const { Cell::new(None) };
}

/// Keeps room for the next node, and frees what was kept. A thread that is about to end keeps nothing.
#[inline]
fn keep(room: Room) {
    let _ = SPARE.try_with(|spare| drop(spare.replace(Some(room))));
}

/// A tensor that its clones share: one word. Like an `Arc<AnyTensor>`, but the last handle is dropped without a locked
/// instruction, as that of a storage is.
pub struct SharedTensor(NonNull<Node>);

// SAFETY: a handle is a counted reference to a node, as an `Arc` is: whichever thread has the last may take or drop the
// tensor, which is `Send`, and the others lend `&AnyTensor`, which is `Sync`. The count is atomic.
unsafe impl Send for SharedTensor {}
// SAFETY: `&SharedTensor` lends `&AnyTensor`, which is `Sync`, and can be cloned into a handle, which is `Send`.
unsafe impl Sync for SharedTensor {}

impl SharedTensor {
    /// The tensor on its own: moved out of the only handle, else cloned.
    pub fn into_tensor(self) -> AnyTensor {
        if !self.node().refs.is_unique() {
            return AnyTensor::clone(&self);
        }
        let node = ManuallyDrop::new(self).0;
        // SAFETY: the node is live and initialised (B1). This was the only handle, and it is not dropped, so that
        // nobody looks at the node again: what is read is not dropped twice.
        let Node { tensor, .. } = unsafe { node.read() };
        // SAFETY: the pointer is that of a leaked `Room` (B2), which is empty now: a `MaybeUninit` need not be
        // initialised.
        keep(unsafe { Box::from_raw(node.as_ptr().cast()) });
        tensor
    }

    /// The tensor to be written or resized. Where other handles share it, this one gets a clone of its own first, which
    /// has the same storage: they see what is written, but keep their geometry.
    pub fn make_mut(&mut self) -> &mut AnyTensor {
        if !self.node().refs.is_unique() {
            *self = SharedTensor::from(AnyTensor::clone(self));
        }
        // SAFETY: the node is live (B1), and `&mut` to the only handle means that nobody else has a reference to it.
        let node = unsafe { self.0.as_mut() };
        &mut node.tensor
    }

    /// True if nobody else has it, or a tensor that shares its storage, and it is not frozen.
    pub fn is_alone(&self) -> bool {
        let Node { refs, tensor } = self.node();
        let is_ours = |header: &Header| header.borrow().is_unique() && !header.borrow().is_frozen();
        refs.is_unique() && tensor.0.header().is_some_and(is_ours)
    }

    #[inline]
    fn node(&self) -> &Node {
        // SAFETY: the node is live as long as `self` (B1), and nobody has `&mut` to it, since that takes `&mut` to the
        // only handle.
        unsafe { self.0.as_ref() }
    }

    #[inline(never)]
    fn free(&mut self) {
        // SAFETY: the node is live, aligned and initialised (B1), and the last handle is being dropped: nobody looks at
        // it again, nor drops it again.
        unsafe { self.0.drop_in_place() };
        // SAFETY: the pointer is that of a leaked `Room` (B2), which is empty now: a `MaybeUninit` need not be
        // initialised.
        keep(unsafe { Box::from_raw(self.0.as_ptr().cast()) });
    }
}

impl From<AnyTensor> for SharedTensor {
    #[inline]
    fn from(tensor: AnyTensor) -> SharedTensor {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let room: Room = spare.unwrap_or_else(Box::new_uninit);
        SharedTensor(NonNull::from(Box::leak(room).write(Node { refs: RefCount::one(), tensor })))
    }
}

impl Deref for SharedTensor {
    type Target = AnyTensor;
    #[inline]
    fn deref(&self) -> &AnyTensor {
        &self.node().tensor
    }
}

impl Clone for SharedTensor {
    #[inline]
    fn clone(&self) -> SharedTensor {
        self.node().refs.retain();
        SharedTensor(self.0)
    }
}

impl Drop for SharedTensor {
    #[inline]
    fn drop(&mut self) {
        if self.node().refs.release() {
            self.free();
        }
    }
}

impl fmt::Debug for SharedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AnyTensor::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Geometry, Meta, Tensor};

    fn tensor() -> AnyTensor {
        Tensor::<Meta>::zeros_contiguous(DType::F32, &[2, 3]).unwrap().into_any()
    }

    #[test]
    fn clones_share_the_tensor_until_one_is_changed() {
        let mut a = SharedTensor::from(tensor());
        let b = a.clone();
        assert!(std::ptr::eq(&*a, &*b));
        let changed = a.make_mut().downcast_mut::<Meta>().unwrap();
        changed.set_view(Geometry::contiguous(DType::F32, &[6]).unwrap()).unwrap();
        assert_eq!((a.sizes(), b.sizes()), (&[6][..], &[2, 3][..]));
        assert_eq!(a.storage_id(), b.storage_id());
        let place = std::ptr::from_ref(&*a);
        assert!(std::ptr::eq(a.make_mut(), place), "the only handle changes its tensor in place");
    }

    #[test]
    fn the_only_handle_gives_its_tensor_away() {
        let original = tensor();
        let id = original.storage_id();
        let (a, b) = (SharedTensor::from(original.clone()), SharedTensor::from(original));
        let kept = b.clone();
        assert_eq!(a.into_tensor().storage_id(), id);
        assert_eq!(b.into_tensor().storage_id(), id);
        assert_eq!(kept.sizes(), [2, 3]);
    }
}

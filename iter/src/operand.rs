//! An operand during planning: its view, what it is to the iteration, and the strides that decide the order of
//! dimensions.

use crate::DimVec;
use crate::config::View;
use crate::order::broadcast_stride;
use monomorph_core::overlap::Place;
use monomorph_core::{DType, Names, strides};
use smallvec::SmallVec;

/// The strides of copies that are not made, one list after the other. [`Op`] stays small and `Copy` because they are
/// here.
pub(crate) type Replaced = SmallVec<[i64; 20]>;

/// One operand while the iteration is planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op<'a> {
    pub(crate) view: View<'a>,
    pub(crate) names: Option<&'a Names>,
    /// False for an output that does not exist; its view is then empty.
    pub(crate) defined: bool,
    pub(crate) output: bool,
    pub(crate) read_write: bool,
    pub(crate) resize: bool,
    /// The dtype that the loop computes with for this operand.
    pub(crate) target: DType,
    /// Where [`Replaced`] has the strides of the dense copy that PyTorch would walk instead of the operand (it copies
    /// operands that are cast on the CPU, and operands with a conj or neg bit). Nothing is copied here, but dimensions
    /// are ordered, and outputs laid out, as if it were.
    pub(crate) replaced: Option<u32>,
}

impl<'a> Op<'a> {
    #[inline]
    pub(crate) fn new(view: View<'a>, names: Option<&'a Names>, output: bool, store: &mut Replaced) -> Op<'a> {
        let target = view.dtype;
        let mut op =
            Op { view, names, defined: true, output, read_write: false, resize: false, target, replaced: None };
        if view.conj || view.neg {
            op.replace(&strides::preserve_strides(view.sizes, view.strides), store);
        }
        op
    }

    /// An output that is not there yet.
    pub(crate) fn undefined() -> Op<'static> {
        let view = View::new(DType::F32, &[], &[]);
        Op {
            view,
            names: None,
            defined: false,
            output: true,
            read_write: false,
            resize: true,
            target: DType::F32,
            replaced: None,
        }
    }

    /// Records the strides of a copy that is not made.
    pub(crate) fn replace(&mut self, strides: &DimVec, store: &mut Replaced) {
        self.replaced = u32::try_from(store.len()).ok();
        store.extend_from_slice(strides);
    }

    /// The strides that decide order and layout.
    #[inline]
    pub(crate) fn order_strides<'s>(&self, store: &'s Replaced) -> &'s [i64]
    where
        'a: 's,
    {
        match self.replaced {
            None => self.view.strides,
            Some(start) => &store[start as usize..start as usize + self.view.sizes.len()],
        }
    }

    /// True if the operand has a say in order and layout.
    pub(crate) fn has_layout(&self) -> bool {
        self.defined && !self.resize
    }

    /// True if the strides that decide order and layout are the real ones.
    #[inline]
    pub(crate) fn is_as_it_seems(&self, store: &Replaced) -> bool {
        self.replaced.is_none() || self.order_strides(store) == self.view.strides
    }

    /// True if both are the same tensor.
    pub(crate) fn is_same(&self, other: &Op<'_>) -> bool {
        let (a, b) = (&self.view, &other.view);
        a.storage.is_some()
            && a.storage == b.storage
            && a.start == b.start
            && a.dtype == b.dtype
            && a.sizes == b.sizes
            && a.strides == b.strides
            && (a.conj, a.neg) == (b.conj, b.neg)
    }
}

impl<'a> View<'a> {
    /// Lowest and one past the highest byte that is reached; equal if there is no element.
    pub(crate) fn bytes(&self) -> (i128, i128) {
        let start = i128::from(self.start);
        if self.sizes.contains(&0) {
            return (start, start);
        }
        let size = self.dtype.size() as i128;
        let (mut low, mut high) = (start, start + size);
        for (&n, &stride) in self.sizes.iter().zip(self.strides) {
            let reach = i128::from(n - 1).saturating_mul(i128::from(stride)).saturating_mul(size);
            if reach < 0 { low = low.saturating_add(reach) } else { high = high.saturating_add(reach) }
        }
        (low, high)
    }

    /// True if both may reach a byte.
    pub(crate) fn touches(&self, other: &View<'_>) -> bool {
        if self.storage.is_none() || self.storage != other.storage {
            return false;
        }
        let ((a0, a1), (b0, b1)) = (self.bytes(), other.bytes());
        a0 < b1 && b0 < a1
    }

    /// True if both are the same element at every index of `shape`.
    pub(crate) fn walks_as(&self, other: &View<'_>, shape: &[i64]) -> bool {
        let (a, b) = (self, other);
        let same_at =
            |d| broadcast_stride(a.sizes, a.strides, shape, d) == broadcast_stride(b.sizes, b.strides, shape, d);
        a.start == b.start
            && a.dtype.size() == b.dtype.size()
            && (0..shape.len()).filter(|&d| shape[d] > 1).all(same_at)
    }

    /// Its place in memory. `None` if it has no storage that another operand could share, or reaches beyond an `i64`.
    pub(crate) fn place(&self) -> Option<Place<'a>> {
        let (low, high) = self.bytes();
        let (start, end) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        Some(Place {
            storage: self.storage?,
            start,
            bytes: end.checked_sub(start)?,
            element: self.dtype.size(),
            sizes: self.sizes,
            strides: self.strides,
        })
    }
}

//! Drives a body over the operands of an iteration. Knows no formula and no dtype by name: operands that are not dense runs
//! of what the body takes are staged, tile by tile, in blocks that stay in the first-level cache.
//! `planes` walks, this owns the choice of how.

use super::body::{Body, Going};
use super::flat::is_whole;
use super::planes::Planes;
use super::rows::Walks;
use super::taking::Taking;
use crate::lane::Lane;
use monomorph_core::{ErrorKind, Result};
use monomorph_iter::{GRAIN, TensorIter};
use smallvec::SmallVec;

/// One more than the inputs that a pointwise operator may have.
pub(super) const MAX: usize = 8;

/// Bytes of the block that a tile of rows is staged in: those of three operands stay in a first-level cache of 32 KiB.
pub(super) const STAGE: usize = 8192;

/// Where an operand begins.
#[derive(Clone, Copy)]
pub(crate) enum Base {
    /// In memory that is borrowed for as long as the driver lives.
    At(*mut u8),
    /// In the driver itself; resolved when it runs, because a driver may be moved.
    Number(Number),
}

/// The bytes of a number, aligned for any dtype.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Number([u8; 16]);

impl Base {
    pub(crate) fn at(pointer: *mut u8) -> Base {
        Base::At(pointer)
    }

    pub(crate) fn number(bytes: [u8; 16]) -> Base {
        Base::Number(Number(bytes))
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        match self {
            Base::At(pointer) => *pointer,
            // Inputs are only read.
            Base::Number(number) => number.0.as_ptr().cast_mut(),
        }
    }
}

/// An iteration bound to memory and a body.
///
/// Invariants:
/// * D1: `bases` are the first elements of the operands that the iteration was planned for, output first.
/// * D2: lanes end in the dtypes that the body takes (K2), which was chosen for this host (K1).
pub(super) struct Driver {
    pub(super) body: Body,
    bases: SmallVec<[Base; 4]>,
    /// An element takes longer to move than to compute.
    pub(super) light: bool,
    /// [`Taking::walks`].
    pub(super) walks: Walks,
    /// The operand that a body may find to be its output.
    pub(super) first: usize,
    walk: Walk,
}

/// How the elements are reached.
enum Walk {
    /// All operands are dense runs of so many elements, of the dtypes that the body takes: one call, on one thread.
    Flat(usize),
    /// Anything else.
    Planes(SmallVec<[Lane; 4]>),
}

impl Driver {
    /// A driver of what `taking` says over `iter`.
    ///
    /// # Safety
    ///
    /// D1 and D2 for `bases` and the lanes that `taking` makes.
    pub(super) unsafe fn new(iter: &TensorIter, taking: &Taking, bases: SmallVec<[Base; 4]>) -> Driver {
        let lanes = (0..iter.noperands()).map(|k| taking.lane(iter, k)).collect();
        // SAFETY: passed on.
        unsafe { Driver::over(iter, taking.body, (taking.light, taking.walks), taking.first(), lanes, bases) }
    }

    /// A driver of a body over `iter`, by these lanes; whether it is light, and the rows that it takes; `first` is the operand that the
    /// body may find to be its output.
    ///
    /// # Safety
    ///
    /// D1 and D2.
    pub(super) unsafe fn over(
        iter: &TensorIter,
        body: Body,
        (light, walks): (bool, Walks),
        first: usize,
        lanes: SmallVec<[Lane; 4]>,
        bases: SmallVec<[Base; 4]>,
    ) -> Driver {
        let out = bases[0].pointer();
        let is_flat = |k: usize| {
            let dense = iter.strides(k).first().is_none_or(|&stride| stride == lanes[k].size() as isize);
            lanes[k].is_direct() && dense && (k <= first || bases[k].pointer() != out)
        };
        let small = iter.ndim() <= 1 && is_whole(iter.numel()) && !iter.must_be_serial();
        let masks_apart = (1..first.min(bases.len())).all(|k| bases[k].pointer() != out);
        let walk = if small && masks_apart && (0..lanes.len()).all(is_flat) {
            Walk::Flat(iter.numel())
        } else {
            Walk::Planes(lanes)
        };
        Driver { body, light, walks, bases, first, walk }
    }

    /// Where an operand begins.
    pub(super) fn start(&self, operand: usize) -> *mut u8 {
        self.bases[operand].pointer()
    }

    /// Computes every element.
    ///
    /// # Safety
    ///
    /// * K4 for `params`, whose target may be read from several threads.
    /// * The operands are borrowed: nobody else writes inputs, or uses the output.
    /// * `iter` is the iteration that the driver was made for.
    pub(super) unsafe fn run(&self, iter: &TensorIter, params: *const ()) -> Result<()> {
        let done = match &self.walk {
            Walk::Flat(0) => true,
            Walk::Flat(n) => {
                let mut ins = [std::ptr::null(); MAX];
                for (to, base) in ins.iter_mut().zip(&self.bases[1..]) {
                    *to = base.pointer().cast_const();
                }
                // SAFETY: K1, K2 by D1 and D2, K3 since the plan found no doubtful overlap, K4 passed on.
                unsafe { (self.body)(self.bases[0].pointer(), ins.as_ptr(), *n, params, Going::Along) }
            }
            Walk::Planes(lanes) => {
                let bases: SmallVec<[*mut u8; 4]> = self.bases.iter().map(Base::pointer).collect();
                let planes = Planes::new(self, iter, lanes, params);
                // SAFETY: W1 by D1, W2 since the operands are borrowed.
                unsafe {
                    iter.for_each(&bases, GRAIN, |at, strides, cols, rows| planes.plane(at, strides, cols, rows));
                }
                !planes.fault.into_inner()
            }
        };
        if done { Ok(()) } else { Err(ErrorKind::DivisionByZero.into()) }
    }
}

//! Closures over the elements of foreign views.

use super::view::{ForeignView, ForeignViewMut, Place};
use crate::config::{Config, Flags, View};
use crate::finish;
use crate::plan::build_over;
use crate::tensor_iter::TensorIter;
use crate::walk::GRAIN;
use monomorph_core::overlap::Internal;
use monomorph_core::{DType, Element, ErrorKind, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// Broadcast, nothing converted, outputs keep their size.
pub(super) const FLAGS: Flags = Flags::DEFAULT.with_dtype_check(false).without_resizing();

/// The operands of an iteration over foreign memory, for any number of outputs and inputs.
#[derive(Debug)]
pub struct ForeignIter<'a> {
    config: Config<'a>,
    outputs: SmallVec<[(Place, DType); 1]>,
    inputs: SmallVec<[(Place, DType); 3]>,
    memory: PhantomData<&'a mut [u8]>,
}

impl Default for ForeignIter<'_> {
    fn default() -> Self {
        ForeignIter::new(Config::new(FLAGS))
    }
}

impl<'a> ForeignIter<'a> {
    /// No operand yet. Of the flags of `config`, those that ask for conversion are refused by
    /// [`build`](ForeignIter::build): closures get the elements as they are.
    pub fn new(config: Config<'a>) -> ForeignIter<'a> {
        let flags = Flags { check_all_same_dtype: false, resize_outputs: false, ..config.flags };
        let config = Config { flags, ..config };
        ForeignIter { config, outputs: SmallVec::new(), inputs: SmallVec::new(), memory: PhantomData }
    }

    /// Adds an output.
    #[must_use]
    pub fn output<T: Element>(mut self, view: ForeignViewMut<'a, T>) -> ForeignIter<'a> {
        self.outputs.push((view.place, T::DTYPE));
        self
    }

    /// Adds an input.
    #[must_use]
    pub fn input<T: Element>(mut self, view: ForeignView<'a, T>) -> ForeignIter<'a> {
        self.inputs.push((view.place, T::DTYPE));
        self
    }

    /// Plans the iteration.
    ///
    /// Errors: sizes that do not broadcast, an output of another size, an output of which it is not certain that its
    /// indices reach different elements, flags that ask for conversion, a configuration that names an input that there
    /// is none of.
    pub fn build(self) -> Result<ForeignPlan<'a>> {
        let reduction = self.config.flags.is_reduction;
        let named = [("promote_from", Some(self.config.promote_from)), ("outputs_like", self.config.outputs_like)];
        for (arg, input) in named {
            // All inputs may be masks, so the first that is none may be one behind the last.
            let high = if arg == "promote_from" { self.inputs.len() } else { self.inputs.len().saturating_sub(1) };
            if let Some(got) = input.filter(|&input| input > high) {
                let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
                return Err(ErrorKind::OutOfRange { arg, got: number(got), low: 0, high: number(high) }.into());
            }
        }
        for (index, (place, _)) in self.outputs.iter().enumerate() {
            if finish::internal(&place.sizes, &place.strides) != Internal::No {
                let (sizes, strides) = (place.sizes.to_vec(), place.strides.to_vec());
                return Err(ErrorKind::InternalOverlap { index, sizes, strides }.into());
            }
        }
        fn views<'p>(places: &'p [(Place, DType)]) -> SmallVec<[View<'p>; 3]> {
            places.iter().map(|(place, dtype)| View::new(*dtype, &place.sizes, &place.strides)).collect()
        }
        let iter = build_over(&self.config, &views(&self.outputs), &views(&self.inputs))?;
        if iter.has_casts() {
            let rule =
                "foreign memory is not converted; leave promotion and casts off, and give views of the types wanted";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let base = self.outputs.iter().chain(&self.inputs).map(|(place, _)| place.data).collect();
        debug_assert!(reduction || iter.noutputs() == 0 || !iter.must_be_serial());
        Ok(ForeignPlan { iter, base, memory: PhantomData })
    }
}

/// A planned iteration that borrows its memory.
///
/// * F3: `base[k]` is the first element of operand `k` of the geometry that `iter` was built for (F1, F2 of the views).
#[derive(Debug)]
pub struct ForeignPlan<'a> {
    pub(super) iter: TensorIter,
    pub(super) base: SmallVec<[*mut u8; 4]>,
    memory: PhantomData<&'a mut [u8]>,
}

impl ForeignPlan<'_> {
    /// The plan.
    pub fn iter(&self) -> &TensorIter {
        &self.iter
    }

    fn check<T: Element>(&self, k: usize) -> Result<()> {
        let got = self.iter.dtype(k);
        if got == T::DTYPE { Ok(()) } else { Err(ErrorKind::ElementType { got, want: T::DTYPE }.into()) }
    }

    fn check_count(&self, outputs: usize, inputs: usize) -> Result<()> {
        let pairs = [("outputs", self.iter.noutputs(), outputs), ("inputs", self.iter.ninputs(), inputs)];
        match pairs.into_iter().find(|(_, got, want)| got != want) {
            Some((arg, got, want)) => Err(ErrorKind::ListLength { arg, got, want }.into()),
            None => Ok(()),
        }
    }

    /// Writes `f` of the inputs' elements to each element of the only output. Several threads call `f` where there are
    /// many elements. An error if the number or the types of the operands are not those of `f`.
    pub fn map<O: Element, T: Element, const N: usize>(&mut self, f: impl Fn([T; N]) -> O + Sync) -> Result<()> {
        self.check_count(1, N)?;
        self.check::<O>(0)?;
        (1..=N).try_for_each(|k| self.check::<T>(k))?;
        self.each(|p| {
            // SAFETY: the pointers are those of one index (R1); input k has type T, which was checked.
            let x = std::array::from_fn(|k| unsafe { load::<T>(p[k + 1]) });
            // SAFETY: R1; the output has type O, which was checked.
            unsafe { store(p[0], f(x)) };
        });
        Ok(())
    }

    /// Calls `f` with the pointers of each index.
    ///
    /// * R1: the pointers that `f` gets are aligned elements of the operands at one index, valid for reading and, for
    ///   outputs, for writing; other threads have other indices.
    fn each(&mut self, f: impl Fn(&[*mut u8]) + Sync) {
        let run = |p: &[*mut u8], s: &[isize], n0: usize, n1: usize| each_index(p, s, n0, n1, &f);
        // SAFETY: W1: F3 and F1; W2: F2, and the memory is borrowed for as long as the plan lives.
        unsafe { self.iter.for_each(&self.base, GRAIN, run) };
    }
}

/// Calls `f` with the pointers of each index of one loop call.
#[inline]
pub(super) fn each_index(p: &[*mut u8], strides: &[isize], n0: usize, n1: usize, mut f: impl FnMut(&[*mut u8])) {
    let n = p.len();
    let mut row: SmallVec<[*mut u8; 4]> = SmallVec::from_slice(p);
    let mut at = row.clone();
    for _ in 0..n1 {
        at.copy_from_slice(&row);
        for _ in 0..n0 {
            f(&at);
            for k in 0..n {
                at[k] = at[k].wrapping_offset(strides[k]);
            }
        }
        for k in 0..n {
            row[k] = row[k].wrapping_offset(strides[n + k]);
        }
    }
}

/// # Safety
///
/// R1, for an operand of type `T`.
#[inline(always)]
pub(super) unsafe fn load<T: Element>(p: *mut u8) -> T {
    // SAFETY: R1: an aligned, initialised element of type T.
    T::load(unsafe { p.cast::<T::Stored>().read() })
}

/// # Safety
///
/// R1, for an output of type `T`.
#[inline(always)]
pub(super) unsafe fn store<T: Element>(p: *mut u8, value: T) {
    // SAFETY: R1: an aligned element of type T that this thread may write.
    unsafe { p.cast::<T::Stored>().write(value.store()) }
}

/// Writes `f(x)` for each element of `a`, broadcast to the sizes of `out`. Errors as for [`ForeignIter::build`].
pub fn map1<O: Element, A: Element>(
    out: ForeignViewMut<'_, O>,
    a: ForeignView<'_, A>,
    f: impl Fn(A) -> O + Sync,
) -> Result<()> {
    let mut plan = ForeignIter::default().output(out).input(a).build()?;
    plan.each(|p| {
        // SAFETY: R1; operand 1 is of type A.
        let x = unsafe { load::<A>(p[1]) };
        // SAFETY: R1; operand 0 is of type O.
        unsafe { store(p[0], f(x)) };
    });
    Ok(())
}

/// Writes `f(x, y)` for each pair of elements of `a` and `b`, broadcast to the sizes of `out`. Errors as for
/// [`ForeignIter::build`].
pub fn map2<O: Element, A: Element, B: Element>(
    out: ForeignViewMut<'_, O>,
    a: ForeignView<'_, A>,
    b: ForeignView<'_, B>,
    f: impl Fn(A, B) -> O + Sync,
) -> Result<()> {
    let mut plan = ForeignIter::default().output(out).input(a).input(b).build()?;
    plan.each(|p| {
        // SAFETY: R1; operand 1 is of type A.
        let x = unsafe { load::<A>(p[1]) };
        // SAFETY: R1; operand 2 is of type B.
        let y = unsafe { load::<B>(p[2]) };
        // SAFETY: R1; operand 0 is of type O.
        unsafe { store(p[0], f(x, y)) };
    });
    Ok(())
}

/// Writes `f(x, y, z)` for each triple of elements of `a`, `b` and `c`, broadcast to the sizes of `out`. Errors as for
/// [`ForeignIter::build`].
pub fn map3<O: Element, A: Element, B: Element, C: Element>(
    out: ForeignViewMut<'_, O>,
    a: ForeignView<'_, A>,
    b: ForeignView<'_, B>,
    c: ForeignView<'_, C>,
    f: impl Fn(A, B, C) -> O + Sync,
) -> Result<()> {
    let mut plan = ForeignIter::default().output(out).input(a).input(b).input(c).build()?;
    plan.each(|p| {
        // SAFETY: R1; operand 1 is of type A.
        let x = unsafe { load::<A>(p[1]) };
        // SAFETY: R1; operand 2 is of type B.
        let y = unsafe { load::<B>(p[2]) };
        // SAFETY: R1; operand 3 is of type C.
        let z = unsafe { load::<C>(p[3]) };
        // SAFETY: R1; operand 0 is of type O.
        unsafe { store(p[0], f(x, y, z)) };
    });
    Ok(())
}

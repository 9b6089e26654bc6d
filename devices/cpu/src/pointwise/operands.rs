//! Operands and outputs of formulas between memory and registers: which pointer holds what, element by element.

use crate::cell::{self, Cell};
use crate::isa::Isa;
use crate::on::On;
use monomorph_core::each;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Common, Fed, Joined, Magnitude, MaskAndTwo, Operands, Outputs, Same, Truth};

/// A value that lies in memory as one element: as it is stored, or `WIDE`, as it lies in a register.
pub trait Register: Value {
    /// Bytes per stored element.
    const SIZE: usize;
    /// Bytes per wide element.
    const WIDE_SIZE: usize;

    /// Loads element `i`.
    ///
    /// # Safety
    ///
    /// Element `i` from `from` is in bounds and initialised.
    unsafe fn load<const WIDE: bool>(from: *const u8, i: usize) -> Self;

    /// Stores element `i`; an `exact` value is one that needs no rounding.
    ///
    /// # Safety
    ///
    /// Element `i` from `to` is in bounds, and nobody else reads or writes it.
    unsafe fn store<const WIDE: bool>(self, to: *mut u8, i: usize, exact: bool);

    /// Neighbours are loaded and stored as one word.
    const PAIRED: bool;

    /// Loads elements `2 * i` and `2 * i + 1`.
    ///
    /// # Safety
    ///
    /// Both are in bounds from `from` and initialised.
    unsafe fn load_pair(from: *const u8, i: usize) -> [Self; 2];

    /// Stores elements `2 * i` and `2 * i + 1`.
    ///
    /// # Safety
    ///
    /// Both are in bounds from `to`, and nobody else reads or writes them.
    unsafe fn store_pair(pair: [Self; 2], to: *mut u8, i: usize, exact: bool);

    /// Widens `n` stored elements.
    ///
    /// # Safety
    ///
    /// R1 and R2 of `cast.rs`, and the host has the value's level.
    unsafe fn widen_run(from: *const u8, to: *mut u8, n: usize);

    /// Narrows `n` wide elements.
    ///
    /// # Safety
    ///
    /// As for [`widen_run`](Register::widen_run).
    unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize);
}

impl<C: Cell, I: Isa> Register for On<C, I>
where
    On<C, I>: Value,
{
    const SIZE: usize = size_of::<C::Stored>();
    const WIDE_SIZE: usize = size_of::<C::Repr>();

    #[inline(always)]
    unsafe fn load<const WIDE: bool>(from: *const u8, i: usize) -> Self {
        On::new(if WIDE {
            // SAFETY: passed on.
            unsafe { from.cast::<C::Repr>().wrapping_add(i).read() }
        } else {
            // SAFETY: passed on.
            unsafe { cell::load::<C>(from, i) }
        })
    }

    #[inline(always)]
    unsafe fn store<const WIDE: bool>(self, to: *mut u8, i: usize, exact: bool) {
        if WIDE {
            // SAFETY: passed on.
            unsafe { to.cast::<C::Repr>().wrapping_add(i).write(self.get()) };
        } else {
            // SAFETY: passed on.
            unsafe { cell::store_narrow::<C>(to, i, self.get(), exact) };
        }
    }

    const PAIRED: bool = C::PAIRED;

    #[inline(always)]
    unsafe fn load_pair(from: *const u8, i: usize) -> [Self; 2] {
        // SAFETY: passed on.
        let [a, b] = unsafe { C::load_pair(from, i) };
        [On::new(a), On::new(b)]
    }

    #[inline(always)]
    unsafe fn store_pair([a, b]: [Self; 2], to: *mut u8, i: usize, exact: bool) {
        // SAFETY: passed on.
        unsafe { C::store_pair(to, i, [a.get(), b.get()], exact) };
    }

    #[inline(always)]
    unsafe fn widen_run(from: *const u8, to: *mut u8, n: usize) {
        // SAFETY: passed on.
        unsafe { C::widen_run::<I>(from, to.cast(), n) };
    }

    #[inline(always)]
    unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize) {
        // SAFETY: passed on.
        unsafe { C::narrow_run::<I>(from.cast(), to, n) };
    }
}

/// Operands of a formula that computes on `V`.
///
/// # Safety
///
/// `load` reads element `i` of each operand, masks as stored `V::Mask`, the others as `V`, `WIDE` or not, and nothing else.
pub unsafe trait Load<V: Value>: Operands {
    /// The type of the pointers, in registers. It varies with the number of operands.
    type Pointers: Copy;

    /// Takes the pointers out of memory, so that a store cannot seem to change them.
    ///
    /// # Safety
    ///
    /// `ins` points to `COUNT` pointers.
    unsafe fn pointers(ins: *const *const u8) -> Self::Pointers;

    /// The pointer of the first operand that is not a mask, if there is one.
    fn first(pointers: &mut Self::Pointers) -> Option<&mut *const u8>;

    /// The pointers with those of masks moved by `masks` elements, and the others replaced by what `value` makes of them.
    fn replaced(pointers: Self::Pointers, masks: usize, value: impl FnMut(*const u8) -> *const u8) -> Self::Pointers;

    /// The pointers, each moved by its step, of which there is one for each operand.
    fn moved(pointers: Self::Pointers, steps: &[isize]) -> Self::Pointers;

    /// Element `i` of each operand.
    ///
    /// # Safety
    ///
    /// Element `i` of each operand is in bounds and initialised.
    unsafe fn load<const WIDE: bool>(pointers: Self::Pointers, i: usize) -> Self::Of<V>;

    /// The pointers, that of operand `k` by another one; of operands that are [`ALIKE`](Operands::ALIKE), and of which there are several.
    #[inline(always)]
    fn without(pointers: Self::Pointers, _k: usize) -> Self::Pointers {
        pointers
    }

    /// `x`, but operand `k` that of `held`; as above.
    #[inline(always)]
    fn holding(x: Self::Of<V>, _held: &Self::Of<V>, _k: usize) -> Self::Of<V> {
        x
    }

    /// Neighbours are loaded as one word.
    const PAIRED: bool = false;

    /// Elements `2 * i` and `2 * i + 1` of each operand.
    ///
    /// # Safety
    ///
    /// Both of each operand are in bounds and initialised.
    #[inline(always)]
    unsafe fn load_pair(pointers: Self::Pointers, i: usize) -> [Self::Of<V>; 2] {
        // SAFETY: passed on.
        let first = unsafe { Self::load::<false>(pointers, 2 * i) };
        // SAFETY: as above.
        [first, unsafe { Self::load::<false>(pointers, 2 * i + 1) }]
    }
}

// SAFETY: every operand is read at `i` as `V`.
unsafe impl<V: Register, const N: usize> Load<V> for Same<N> {
    type Pointers = [*const u8; N];

    #[inline(always)]
    unsafe fn pointers(ins: *const *const u8) -> [*const u8; N] {
        // SAFETY: there are N pointers, by the caller's promise.
        unsafe { ins.cast::<[*const u8; N]>().read() }
    }

    #[inline(always)]
    fn first(pointers: &mut [*const u8; N]) -> Option<&mut *const u8> {
        pointers.first_mut()
    }

    #[inline(always)]
    fn replaced(pointers: [*const u8; N], _: usize, mut value: impl FnMut(*const u8) -> *const u8) -> [*const u8; N] {
        each(|k| value(pointers[k]))
    }

    #[inline(always)]
    fn moved(pointers: [*const u8; N], steps: &[isize]) -> [*const u8; N] {
        each(|k| pointers[k].wrapping_offset(steps[k]))
    }

    #[inline(always)]
    unsafe fn load<const WIDE: bool>(pointers: [*const u8; N], i: usize) -> [V; N] {
        each(
            #[inline(always)]
            |k| {
                // SAFETY: in bounds and initialised, by the caller's promise.
                unsafe { V::load::<WIDE>(pointers[k], i) }
            },
        )
    }

    #[inline(always)]
    fn without(mut pointers: [*const u8; N], k: usize) -> [*const u8; N] {
        pointers[k] = pointers[(k + 1) % N];
        pointers
    }

    #[inline(always)]
    fn holding(mut x: [V; N], held: &[V; N], k: usize) -> [V; N] {
        x[k] = held[k];
        x
    }

    const PAIRED: bool = V::PAIRED;

    #[inline(always)]
    unsafe fn load_pair(pointers: [*const u8; N], i: usize) -> [[V; N]; 2] {
        let pairs: [[V; 2]; N] = each(
            #[inline(always)]
            |k| {
                // SAFETY: in bounds and initialised, by the caller's promise.
                unsafe { V::load_pair(pointers[k], i) }
            },
        );
        [each(|k| pairs[k][0]), each(|k| pairs[k][1])]
    }
}

// SAFETY: the mask is read at `i` as a mask, the others as `V`.
unsafe impl<V: Register> Load<V> for MaskAndTwo
where
    V::Mask: Register,
{
    type Pointers = [*const u8; 3];

    #[inline(always)]
    unsafe fn pointers(ins: *const *const u8) -> [*const u8; 3] {
        // SAFETY: there are three pointers, by the caller's promise.
        unsafe { ins.cast::<[*const u8; 3]>().read() }
    }

    #[inline(always)]
    fn first(pointers: &mut [*const u8; 3]) -> Option<&mut *const u8> {
        pointers.get_mut(1)
    }

    #[inline(always)]
    fn replaced(
        [mask, a, b]: [*const u8; 3],
        masks: usize,
        mut value: impl FnMut(*const u8) -> *const u8,
    ) -> [*const u8; 3] {
        [mask.wrapping_add(masks * V::Mask::SIZE), value(a), value(b)]
    }

    #[inline(always)]
    fn moved(pointers: [*const u8; 3], steps: &[isize]) -> [*const u8; 3] {
        each(|k| pointers[k].wrapping_offset(steps[k]))
    }

    #[inline(always)]
    unsafe fn load<const WIDE: bool>([mask, a, b]: [*const u8; 3], i: usize) -> (V::Mask, [V; 2]) {
        // SAFETY: in bounds and initialised, by the caller's promise.
        let mask = unsafe { V::Mask::load::<false>(mask, i) };
        // SAFETY: as above.
        let a = unsafe { V::load::<WIDE>(a, i) };
        // SAFETY: as above.
        let b = unsafe { V::load::<WIDE>(b, i) };
        (mask, [a, b])
    }
}

// SAFETY: `A` reads its operands, the others are read at `i` as `V`.
unsafe impl<V: Register, A: Load<V>, B: Fed> Load<V> for Joined<A, B> {
    type Pointers = (A::Pointers, B::Rest<*const u8>);

    #[inline(always)]
    unsafe fn pointers(ins: *const *const u8) -> Self::Pointers {
        // SAFETY: the pointers of `A` come first.
        let first = unsafe { A::pointers(ins) };
        let rest = B::rest(
            #[inline(always)]
            |k| {
                // SAFETY: there are COUNT pointers in all, by the caller's promise.
                let at = unsafe { ins.add(A::COUNT + k) };
                // SAFETY: as above.
                unsafe { at.read() }
            },
        );
        (first, rest)
    }

    #[inline(always)]
    fn first(pointers: &mut Self::Pointers) -> Option<&mut *const u8> {
        A::first(&mut pointers.0)
    }

    #[inline(always)]
    fn replaced(
        (first, rest): Self::Pointers,
        masks: usize,
        mut value: impl FnMut(*const u8) -> *const u8,
    ) -> Self::Pointers {
        (A::replaced(first, masks, &mut value), B::map_rest(rest, value))
    }

    #[inline(always)]
    fn moved((first, rest): Self::Pointers, steps: &[isize]) -> Self::Pointers {
        let mut steps_of_rest = steps[A::COUNT..].iter();
        let rest = B::map_rest(
            rest,
            #[inline(always)]
            |p| steps_of_rest.next().map_or(p, |&step| p.wrapping_offset(step)),
        );
        (A::moved(first, steps), rest)
    }

    #[inline(always)]
    unsafe fn load<const WIDE: bool>((first, rest): Self::Pointers, i: usize) -> (A::Of<V>, B::Rest<V>) {
        // SAFETY: passed on.
        let first = unsafe { A::load::<WIDE>(first, i) };
        let rest = B::map_rest(
            rest,
            #[inline(always)]
            |p| {
                // SAFETY: in bounds and initialised, by the caller's promise.
                unsafe { V::load::<WIDE>(p, i) }
            },
        );
        (first, rest)
    }
}

/// The output of a formula that computes on `V`.
///
/// # Safety
///
/// `store` writes element `i` of an output with elements of `SIZE` bytes, or of `WIDE_SIZE` if `WIDE`, and nothing else.
pub unsafe trait Store<V: Value>: Outputs {
    /// Bytes per element of the output.
    const SIZE: usize;
    /// Bytes per wide element.
    const WIDE_SIZE: usize;

    /// Stores element `i`; an `exact` value is one that needs no rounding.
    ///
    /// # Safety
    ///
    /// Element `i` is in bounds, and nobody else reads or writes it.
    unsafe fn store<const WIDE: bool>(out: *mut u8, i: usize, value: Self::Of<V>, exact: bool);

    /// Neighbours are stored as one word.
    const PAIRED: bool;

    /// Stores elements `2 * i` and `2 * i + 1`.
    ///
    /// # Safety
    ///
    /// Both are in bounds, and nobody else reads or writes them.
    unsafe fn store_pair(out: *mut u8, i: usize, pair: [Self::Of<V>; 2], exact: bool);

    /// Narrows `n` wide elements.
    ///
    /// # Safety
    ///
    /// As for [`Register::widen_run`].
    unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize);
}

/// How each kind of output is stored: as which register.
macro_rules! stores {
    ($($kind:ty, $register:ty;)*) => {$(
        // SAFETY: a register of SIZE bytes is written at `i`.
        unsafe impl<V: Value> Store<V> for $kind
        where
            $register: Register,
        {
            const SIZE: usize = <$register as Register>::SIZE;
            const WIDE_SIZE: usize = <$register as Register>::WIDE_SIZE;

            #[inline(always)]
            unsafe fn store<const WIDE: bool>(out: *mut u8, i: usize, value: $register, exact: bool) {
                // SAFETY: passed on.
                unsafe { value.store::<WIDE>(out, i, exact) };
            }

            const PAIRED: bool = <$register as Register>::PAIRED;

            #[inline(always)]
            unsafe fn store_pair(out: *mut u8, i: usize, pair: [$register; 2], exact: bool) {
                // SAFETY: passed on.
                unsafe { <$register as Register>::store_pair(pair, out, i, exact) };
            }

            #[inline(always)]
            unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize) {
                // SAFETY: passed on.
                unsafe { <$register as Register>::narrow_run(from, to, n) };
            }
        }
    )*};
}
stores! {
    Common, V;
    Truth, V::Mask;
    Magnitude, V::Re;
}

//! Operands and outputs of formulas between memory and registers: which pointer holds what, element by element.
//!
//! A loop names no operand: it asks [`LoadOperands`] for element `i` of all of them, in the shape that the formula
//! takes (an array, a mask and two values, …), and gives what the formula returns to [`StoreOutput`]. Both go through
//! [`LoadStore`], which knows how one value lies in memory. An element is *wide* if it lies in a buffer as a register
//! holds it (float16 as float32).

use super::load_store::LoadStore;
use crate::scalar::Lane;
use monomorph_core::each;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{
    Common, Fed, Joined, Magnitude, MaskAndTwo, Operands, Outputs, PointwiseFn, Same, Truth,
};

/// The operands of a formula that computes on `V`, loaded by position.
///
/// # Safety
///
/// `load` reads element `i` of each operand, masks as stored `V::Mask`, the others as `V`, `WIDE` or not, and nothing
/// else.
pub unsafe trait LoadOperands<V: Value>: Operands {
    /// The type of the pointers to the operands. It varies with the number of operands.
    type Pointers: Copy;

    /// Copies the pointers out of memory, so that the compiler knows that no store of the loop changes them and keeps
    /// them in registers.
    ///
    /// # Safety
    ///
    /// `ins` points to `COUNT` pointers.
    unsafe fn pointers(ins: *const *const u8) -> Self::Pointers;

    /// The pointer of the first operand that is not a mask, if there is one: the one that a loop may find to be its
    /// output.
    fn first_value(pointers: &mut Self::Pointers) -> Option<&mut *const u8>;

    /// The pointers, with those of masks moved by `masks` elements and each of the others replaced by what `value`
    /// makes of it.
    fn map_values(pointers: Self::Pointers, masks: usize, value: impl FnMut(*const u8) -> *const u8) -> Self::Pointers;

    /// The pointers, each moved by its stride in bytes; there is one for each operand.
    fn advanced(pointers: Self::Pointers, strides: &[isize]) -> Self::Pointers;

    /// Element `i` of each operand.
    ///
    /// # Safety
    ///
    /// Element `i` of each operand is in bounds and initialised; wide ones are aligned.
    unsafe fn load<const WIDE: bool>(pointers: Self::Pointers, i: usize) -> Self::Of<V>;

    /// Element `i` of each operand, but operand `k`, counted from 0, as in `loaded`.
    ///
    /// # Safety
    ///
    /// As for [`load`](LoadOperands::load), of the other operands.
    unsafe fn load_others(pointers: Self::Pointers, i: usize, k: usize, loaded: &Self::Of<V>) -> Self::Of<V>;

    /// Whether two neighbours are loaded as one word.
    const PAIRED: bool = false;

    /// Elements `2 * i` and `2 * i + 1` of each operand.
    ///
    /// # Safety
    ///
    /// Both of each operand are in bounds and initialised.
    #[inline(always)]
    unsafe fn load_pair(pointers: Self::Pointers, i: usize) -> [Self::Of<V>; 2] {
        // SAFETY: the caller promises that element `2 * i` of each operand is in bounds and initialised.
        let first = unsafe { Self::load::<false>(pointers, 2 * i) };
        // SAFETY: the caller promises that element `2 * i + 1` of each operand is in bounds and initialised.
        [first, unsafe { Self::load::<false>(pointers, 2 * i + 1) }]
    }
}

// SAFETY: every operand is read at `i` as `V`.
unsafe impl<V: LoadStore, const N: usize> LoadOperands<V> for Same<N> {
    type Pointers = [*const u8; N];

    #[inline(always)]
    unsafe fn pointers(ins: *const *const u8) -> [*const u8; N] {
        // SAFETY: `ins` points to N pointers, by the caller's promise; an array of them has their layout.
        unsafe { ins.cast::<[*const u8; N]>().read() }
    }

    #[inline(always)]
    fn first_value(pointers: &mut [*const u8; N]) -> Option<&mut *const u8> {
        pointers.first_mut()
    }

    #[inline(always)]
    fn map_values(pointers: [*const u8; N], _: usize, mut value: impl FnMut(*const u8) -> *const u8) -> [*const u8; N] {
        each(|k| value(pointers[k]))
    }

    #[inline(always)]
    fn advanced(pointers: [*const u8; N], strides: &[isize]) -> [*const u8; N] {
        each(|k| pointers[k].wrapping_offset(strides[k]))
    }

    #[inline(always)]
    unsafe fn load<const WIDE: bool>(pointers: [*const u8; N], i: usize) -> [V; N] {
        each(
            #[inline(always)]
            |k| {
                // SAFETY: element `i` of operand `k` is in bounds and initialised, by the caller's promise.
                unsafe { V::load::<WIDE>(pointers[k], i) }
            },
        )
    }

    #[inline(always)]
    unsafe fn load_others(pointers: [*const u8; N], i: usize, k: usize, loaded: &[V; N]) -> [V; N] {
        each(
            #[inline(always)]
            |q| {
                if q == k {
                    loaded[q]
                } else {
                    // SAFETY: element `i` of operand `q` is in bounds and initialised, by the caller's promise.
                    unsafe { V::load::<false>(pointers[q], i) }
                }
            },
        )
    }

    const PAIRED: bool = V::PAIRED;

    #[inline(always)]
    unsafe fn load_pair(pointers: [*const u8; N], i: usize) -> [[V; N]; 2] {
        let pairs: [[V; 2]; N] = each(
            #[inline(always)]
            |k| {
                // SAFETY: elements `2 * i` and `2 * i + 1` of operand `k` are in bounds and initialised, by the
                // caller's promise.
                unsafe { V::load_pair(pointers[k], i) }
            },
        );
        [each(|k| pairs[k][0]), each(|k| pairs[k][1])]
    }
}

// SAFETY: the mask is read at `i` as a mask, the others as `V`.
unsafe impl<V: LoadStore> LoadOperands<V> for MaskAndTwo
where
    V::Mask: LoadStore,
{
    type Pointers = [*const u8; 3];

    #[inline(always)]
    unsafe fn pointers(ins: *const *const u8) -> [*const u8; 3] {
        // SAFETY: `ins` points to three pointers, by the caller's promise; an array of them has their layout.
        unsafe { ins.cast::<[*const u8; 3]>().read() }
    }

    #[inline(always)]
    fn first_value(pointers: &mut [*const u8; 3]) -> Option<&mut *const u8> {
        pointers.get_mut(1)
    }

    #[inline(always)]
    fn map_values(
        [mask, a, b]: [*const u8; 3],
        masks: usize,
        mut value: impl FnMut(*const u8) -> *const u8,
    ) -> [*const u8; 3] {
        [mask.wrapping_add(masks * V::Mask::SIZE), value(a), value(b)]
    }

    #[inline(always)]
    fn advanced(pointers: [*const u8; 3], strides: &[isize]) -> [*const u8; 3] {
        each(|k| pointers[k].wrapping_offset(strides[k]))
    }

    #[inline(always)]
    unsafe fn load<const WIDE: bool>([mask, a, b]: [*const u8; 3], i: usize) -> (V::Mask, [V; 2]) {
        // SAFETY: element `i` of the mask is in bounds and initialised, by the caller's promise.
        let mask = unsafe { V::Mask::load::<false>(mask, i) };
        // SAFETY: element `i` of the second operand is in bounds and initialised, by the caller's promise.
        let a = unsafe { V::load::<WIDE>(a, i) };
        // SAFETY: element `i` of the third operand is in bounds and initialised, by the caller's promise.
        let b = unsafe { V::load::<WIDE>(b, i) };
        (mask, [a, b])
    }

    #[inline(always)]
    unsafe fn load_others(
        [mask, a, b]: [*const u8; 3],
        i: usize,
        k: usize,
        &(loaded, values): &(V::Mask, [V; 2]),
    ) -> (V::Mask, [V; 2]) {
        let mask = match k {
            0 => loaded,
            // SAFETY: element `i` of the mask is in bounds and initialised, by the caller's promise.
            _ => unsafe { V::Mask::load::<false>(mask, i) },
        };
        // SAFETY: element `i` of both values but `k` is in bounds and initialised, by the caller's promise.
        let values = unsafe { <Same<2> as LoadOperands<V>>::load_others([a, b], i, k.wrapping_sub(1), &values) };
        (mask, values)
    }
}

// SAFETY: `A` reads its own operands by its contract; the others are read at `i` as `V`.
unsafe impl<V: LoadStore, A: LoadOperands<V>, B: Fed> LoadOperands<V> for Joined<A, B> {
    type Pointers = (A::Pointers, B::Rest<*const u8>);

    #[inline(always)]
    unsafe fn pointers(ins: *const *const u8) -> Self::Pointers {
        // SAFETY: `ins` points to `COUNT` pointers, of which those of `A` come first.
        let first = unsafe { A::pointers(ins) };
        let rest = B::rest(
            #[inline(always)]
            |k| {
                // SAFETY: there are `COUNT` pointers in all, by the caller's promise, and `k` counts those behind
                // `A`'s.
                let at = unsafe { ins.add(A::COUNT + k) };
                // SAFETY: a pointer of the caller's array is initialised.
                unsafe { at.read() }
            },
        );
        (first, rest)
    }

    #[inline(always)]
    fn first_value(pointers: &mut Self::Pointers) -> Option<&mut *const u8> {
        A::first_value(&mut pointers.0)
    }

    #[inline(always)]
    fn map_values(
        (first, rest): Self::Pointers,
        masks: usize,
        mut value: impl FnMut(*const u8) -> *const u8,
    ) -> Self::Pointers {
        (A::map_values(first, masks, &mut value), B::map_rest(rest, value))
    }

    #[inline(always)]
    fn advanced((first, rest): Self::Pointers, strides: &[isize]) -> Self::Pointers {
        let mut strides_of_rest = strides[A::COUNT..].iter();
        let rest = B::map_rest(
            rest,
            #[inline(always)]
            |p| strides_of_rest.next().map_or(p, |&stride| p.wrapping_offset(stride)),
        );
        (A::advanced(first, strides), rest)
    }

    #[inline(always)]
    unsafe fn load<const WIDE: bool>((first, rest): Self::Pointers, i: usize) -> (A::Of<V>, B::Rest<V>) {
        // SAFETY: the caller promises that element `i` of each operand is in bounds and initialised, so of those of `A`
        // too.
        let first = unsafe { A::load::<WIDE>(first, i) };
        let rest = B::map_rest(
            rest,
            #[inline(always)]
            |p| {
                // SAFETY: element `i` of every operand is in bounds and initialised, by the caller's promise.
                unsafe { V::load::<WIDE>(p, i) }
            },
        );
        (first, rest)
    }

    #[inline(always)]
    unsafe fn load_others(
        (first, rest): Self::Pointers,
        i: usize,
        k: usize,
        (loaded, values): &(A::Of<V>, B::Rest<V>),
    ) -> (A::Of<V>, B::Rest<V>) {
        // SAFETY: the caller's promise, of the operands of `A`.
        let first = unsafe { A::load_others(first, i, k, loaded) };
        let rest = B::zip_rest(
            rest,
            *values,
            #[inline(always)]
            |q, p, value| {
                if A::COUNT + q == k {
                    value
                } else {
                    // SAFETY: element `i` of this operand is in bounds and initialised, by the caller's promise.
                    unsafe { V::load::<false>(p, i) }
                }
            },
        );
        (first, rest)
    }
}

/// The pointers to the inputs of a formula, in a kernel on `C` at level `I`.
pub(crate) type InputPointers<F, C, I> = <<F as PointwiseFn>::Operands as LoadOperands<Lane<C, I>>>::Pointers;

/// The output of a formula that computes on `V`.
///
/// # Safety
///
/// `store` writes element `i` of an output with elements of `SIZE` bytes, or of `WIDE_SIZE` if `WIDE`, and nothing
/// else.
pub unsafe trait StoreOutput<V: Value>: Outputs {
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

    /// Whether two neighbours are stored as one word.
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
    /// R1 and R2 of `cast.rs`, and the host has the level of `V`.
    unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize);
}

/// Each kind of output is stored as one value: which one.
macro_rules! stores {
    ($($kind:ty, $register:ty;)*) => {$(
        // SAFETY: one value of SIZE bytes is written at `i`, and nothing else.
        unsafe impl<V: Value> StoreOutput<V> for $kind
        where
            $register: LoadStore,
        {
            const SIZE: usize = <$register as LoadStore>::SIZE;
            const WIDE_SIZE: usize = <$register as LoadStore>::WIDE_SIZE;

            #[inline(always)]
            unsafe fn store<const WIDE: bool>(out: *mut u8, i: usize, value: $register, exact: bool) {
                // SAFETY: the caller promises that element `i` of the output, which holds such values, is in bounds and
                // nobody else's.
                unsafe { value.store::<WIDE>(out, i, exact) };
            }

            const PAIRED: bool = <$register as LoadStore>::PAIRED;

            #[inline(always)]
            unsafe fn store_pair(out: *mut u8, i: usize, pair: [$register; 2], exact: bool) {
                // SAFETY: the caller promises that elements `2 * i` and `2 * i + 1` of the output are in bounds and
                // nobody else's.
                unsafe { <$register as LoadStore>::store_pair(pair, out, i, exact) };
            }

            #[inline(always)]
            unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize) {
                // SAFETY: the caller promises R1 and R2 for elements of the output, which hold such values, and the
                // level.
                unsafe { <$register as LoadStore>::narrow_run(from, to, n) };
            }
        }
    )*};
}
stores! {
    Common, V;
    Truth, V::Mask;
    Magnitude, V::Re;
}

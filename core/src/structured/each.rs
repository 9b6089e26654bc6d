//! An array of what a function makes of each index. Exists for what the standard library's `map` and `from_fn` are not:
//! compiled where it is called, so that nothing is in a unit with what all other callers make (see
//! `docs/decisions/0025-rebuilds.md`).

use std::mem::MaybeUninit;

/// `[f(0), f(1), ..]`. If `f` panics, what it has made is leaked.
#[doc(hidden)]
#[inline(always)]
pub fn each<T, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut made = MaybeUninit::<[T; N]>::uninit();
    let first = made.as_mut_ptr().cast::<T>();
    let mut k = 0;
    // Not `for`, whose range would be code that is compiled for every caller.
    while k < N {
        // SAFETY: `k < N`, so place `k` is in the array.
        let place = unsafe { first.add(k) };
        // SAFETY: the place is in the array, aligned as its type, and nothing was in it that had to be dropped.
        unsafe { place.write(f(k)) };
        k += 1;
    }
    // SAFETY: the loop made all N.
    unsafe { made.assume_init() }
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn each_is_made_once_and_in_order() {
        let mut seen = vec![];
        let made: [String; 3] = each(|k| {
            seen.push(k);
            format!("{k}")
        });
        assert_eq!((made, seen), (["0", "1", "2"].map(String::from), vec![0, 1, 2]));
        assert_eq!(each(|k| k), [(); 0].map(|()| 0));
    }
}

//! Sixteen lanes merged to one: the first half with the second, and so on.
//!
//! Parts of eight lanes go by way of memory: left to itself the compiler makes the loop that computes the lanes fit the
//! tree, in registers of two elements. Wider parts would be stored by instructions of 64 bytes, and a load of half of
//! them waits until they are in the cache: about 10 ns where the tree takes 2.

use std::array;
use std::hint::black_box;

pub(crate) const LANES: usize = 16;

#[inline(always)]
pub(crate) fn merged<T: Copy>(lanes: [T; LANES], merge: impl Fn(T, T) -> T) -> T {
    let front: [T; LANES / 2] = black_box(array::from_fn(|i| lanes[i]));
    let back: [T; LANES / 2] = black_box(array::from_fn(|i| lanes[i + LANES / 2]));
    let eight: [T; LANES / 2] = black_box(array::from_fn(|i| merge(front[i], back[i])));
    let four: [T; LANES / 4] = array::from_fn(|i| merge(eight[i], eight[i + LANES / 4]));
    merge(merge(four[0], four[2]), merge(four[1], four[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_merged_in_turn() {
        let names: [u64; LANES] = array::from_fn(|i| i as u64 + 1);
        // Not associative and not commutative, so that the order shows.
        let merge = |a: u64, b: u64| a.wrapping_mul(31) ^ b.rotate_left(7);
        let mut want = names.to_vec();
        while want.len() > 1 {
            let (front, back) = want.split_at(want.len() / 2);
            want = front.iter().zip(back).map(|(&a, &b)| merge(a, b)).collect();
        }
        assert_eq!(merged(names, merge), want[0]);
    }
}

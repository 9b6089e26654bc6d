//! Sixteen lanes merged to one: the first half with the second, and so on. Owns the intrinsics that do so for the sums
//! of four rows of float32 together.
//!
//! Parts of eight lanes go by way of memory: left to itself the compiler makes the loop that computes the lanes fit the
//! tree, in registers of two elements. Wider parts would be stored by instructions of 64 bytes, and a load of half of
//! them waits until they are in the cache: about 10 ns where the tree takes 2.

use crate::isa::Isa;
#[cfg(any(target_arch = "x86_64", test))]
use crate::isa::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
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

/// The sums of sixteen lanes each, added as [`merged`] merges them, but all four together, in registers: `linear`
/// of one row of 128 elements to 512 is 1.2 times as fast.
///
/// # Safety
///
/// The host has the level.
#[inline(always)]
pub(crate) unsafe fn four_sums<I: Isa>(lanes: [[f32; LANES]; 4]) -> [f32; 4] {
    #[cfg(target_arch = "x86_64")]
    if const { matches!(I::LEVEL, Level::Avx2 | Level::Avx512) } {
        // SAFETY: the host has the level (the caller's promise), which includes the features of the function.
        return unsafe { four_sums_avx2(lanes) };
    }
    let [a, b, c, d] = lanes;
    let plus = |a: f32, b: f32| a + b;
    [merged(a, plus), merged(b, plus), merged(c, plus), merged(d, plus)]
}

/// Each step of the four trees is one addition: of the eight lanes that are left of two trees to the other eight, until
/// all four are in one register.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_sums_avx2([a, b, c, d]: [[f32; LANES]; 4]) -> [f32; 4] {
    let eight = |lanes: &[f32; LANES]| {
        let (front, back) = lanes.split_at(LANES / 2);
        // SAFETY: the first half is eight elements.
        let front = unsafe { _mm256_loadu_ps(front.as_ptr()) };
        // SAFETY: the second half is eight elements.
        let back = unsafe { _mm256_loadu_ps(back.as_ptr()) };
        _mm256_add_ps(front, back)
    };
    let four = |a, b| _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b));
    // a0 a1 a2 a3 │ b0 b1 b2 b3, and c and d.
    let (ab, cd) = (four(eight(&a), eight(&b)), four(eight(&c), eight(&d)));
    // a0 a1 c0 c1 │ b0 b1 d0 d1.
    let two = _mm256_add_ps(_mm256_shuffle_ps::<0x44>(ab, cd), _mm256_shuffle_ps::<0xee>(ab, cd));
    // a · c · │ b · d ·.
    let one = _mm256_add_ps(two, _mm256_movehdup_ps(two));
    let (ac, bd) = (_mm256_castps256_ps128(one), _mm256_extractf128_ps::<1>(one));
    let sums = _mm_movelh_ps(_mm_unpacklo_ps(ac, bd), _mm_unpackhi_ps(ac, bd));
    let mut four = [0.0; 4];
    // SAFETY: there is room for four elements.
    unsafe { _mm_storeu_ps(four.as_mut_ptr(), sums) };
    four
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Kernel;

    struct FourSums([[f32; LANES]; 4]);
    impl<I: Isa> Kernel<I> for FourSums {
        type Home = Self;
        type Output = [f32; 4];
        #[inline(always)]
        fn run(self, _: I) -> [f32; 4] {
            // SAFETY: the token proves that the host has the level.
            unsafe { four_sums::<I>(self.0) }
        }
    }

    #[test]
    fn four_trees_are_added_as_one_is_at_every_level() {
        // Of magnitudes so far apart that another order would round otherwise.
        let number = |i: usize| f32::from((i * 37 % 64) as u8 + 1) * 10f32.powi((i * 11 % 9) as i32);
        let lanes: [[f32; LANES]; 4] = array::from_fn(|row| array::from_fn(|i| number(row * LANES + i)));
        let want = lanes.map(|lanes| merged(lanes, |a, b| a + b).to_bits());
        for level in Level::available() {
            assert_eq!(level.enter(FourSums(lanes)).map(f32::to_bits), want, "{level}");
        }
    }

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

//! The Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), seeded and read as PyTorch's generator on the CPU
//! does, with the normal numbers that it keeps for the next call.

/// Words of the state.
const N: usize = 624;
/// How far apart two words lie that are mixed.
const M: usize = 397;

/// A stream of random bits. Draws are a function of the seed and of what was drawn before.
///
/// Invariant: before the next twist `left - 1` words are handed out, from `next` on, so `next + left - 1 <= N`.
#[derive(Clone)]
pub struct Mt19937 {
    pub(super) seed: u64,
    pub(super) left: usize,
    pub(super) next: usize,
    pub(super) words: [u32; N],
    /// The second number of a pair of normal ones, for the next call that wants one.
    pub next_normal: Option<f64>,
    /// The same in float32, which other devices' generators keep: read and written with the state.
    pub(super) next_normal_f32: Option<f32>,
}

impl Mt19937 {
    /// The stream of a seed, whose lower 32 bits count.
    pub fn new(seed: u64) -> Mt19937 {
        let mut words = [0; N];
        words[0] = seed as u32;
        for i in 1..N {
            let before: u32 = words[i - 1];
            words[i] = (before ^ before >> 30).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Mt19937 { seed, left: 1, next: 0, words, next_normal: None, next_normal_f32: None }
    }

    /// The next 32 bits.
    #[inline(always)]
    pub fn bits32(&mut self) -> u32 {
        self.left -= 1;
        if self.left == 0 {
            self.twist();
        }
        let mut y = self.words[self.next % N];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }

    /// The next 64 bits, the upper half first.
    #[inline(always)]
    pub fn bits64(&mut self) -> u64 {
        let high = u64::from(self.bits32());
        high << 32 | u64::from(self.bits32())
    }

    /// A multiple of 2⁻²⁴ in [0, 1).
    #[inline(always)]
    pub fn unit_f32(&mut self) -> f32 {
        (self.bits32() & 0x00ff_ffff) as f32 * (1.0 / 16_777_216.0)
    }

    /// A multiple of 2⁻⁵³ in [0, 1).
    #[inline(always)]
    pub fn unit_f64(&mut self) -> f64 {
        (self.bits64() & ((1 << 53) - 1)) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// The next state: each word from itself, the next one and the one that is `M` on.
    #[inline(never)]
    fn twist(&mut self) {
        let mixed = |a: u32, b: u32| ((a & 0x8000_0000 | b & 0x7fff_ffff) >> 1) ^ (b & 1).wrapping_neg() & 0x9908_b0df;
        for i in 0..N - M {
            self.words[i] = self.words[i + M] ^ mixed(self.words[i], self.words[i + 1]);
        }
        for i in N - M..N - 1 {
            self.words[i] = self.words[i + M - N] ^ mixed(self.words[i], self.words[i + 1]);
        }
        self.words[N - 1] = self.words[M - 1] ^ mixed(self.words[N - 1], self.words[0]);
        (self.left, self.next) = (N, 0);
    }
}

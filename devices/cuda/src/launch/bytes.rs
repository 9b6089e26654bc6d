//! Arguments of kernels as bytes, laid out as a C compiler of the device lays out a structure.

use monomorph_core::{DType, Element, Scalar, with_element};

/// Bytes as a C compiler of the device lays out a structure.
#[derive(Default)]
pub(crate) struct Bytes {
    bytes: Vec<u8>,
    align: usize,
}

impl Bytes {
    pub(crate) fn put(&mut self, bytes: &[u8], align: usize) {
        self.align = self.align.max(align);
        self.bytes.resize(self.bytes.len().next_multiple_of(align), 0);
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn u32(&mut self, x: u32) {
        self.put(&x.to_le_bytes(), 4);
    }

    pub(crate) fn u64(&mut self, x: u64) {
        self.put(&x.to_le_bytes(), 8);
    }

    /// A `k_divisor`: by the rule that is stated there.
    pub(crate) fn divisor(&mut self, divisor: u32) {
        let shift = 32 - (divisor - 1).leading_zeros();
        let rest = (1_u64 << shift) - u64::from(divisor);
        let multiplier = ((rest << 32) / u64::from(divisor) + 1) as u32;
        [divisor, multiplier, shift].into_iter().for_each(|part| self.u32(part));
    }

    /// A number as the register that the kernel keeps it in: float32 for the halves.
    pub(crate) fn number(&mut self, dtype: DType, number: Scalar) {
        let register = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
        let align = if dtype.is_complex() { register.size() / 2 } else { register.size() };
        with_element!(register, E => self.put(bytemuck::bytes_of(&E::from_scalar(number).store()), align));
    }

    /// The structure with the numbers of the call as its last part; one byte stands for no number, as in C++.
    pub(crate) fn finish(mut self, numbers: &Bytes) -> Vec<u8> {
        let none = [0];
        let numbers = if numbers.bytes.is_empty() { (&none[..], 1) } else { (&numbers.bytes[..], numbers.align) };
        self.put(numbers.0, numbers.1);
        self.whole()
    }

    /// The structure.
    pub(crate) fn whole(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(self.align), 0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `k_quotient` computes.
    fn quotient(n: u32, divisor: u32) -> u32 {
        let mut bytes = Bytes::default();
        bytes.divisor(divisor);
        let part = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| bytes.bytes[4 * i + k]));
        let high = ((u64::from(n) * u64::from(part(1))) >> 32) as u32;
        high.wrapping_add(n) >> part(2)
    }

    #[test]
    fn division_by_multiplication_is_division() {
        let edges = |d: u32| [0, 1, d - 1, d, d.saturating_add(1), (1 << 31) - 1, (1 << 31) - d.min(1 << 30), 12345];
        let divisors = (1..2000).chain((1..31).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        for divisor in divisors.chain([(1 << 31) - 1]) {
            for n in edges(divisor).into_iter().filter(|&n| n < 1 << 31) {
                assert_eq!(quotient(n, divisor), n / divisor, "{n} / {divisor}");
            }
        }
    }
}

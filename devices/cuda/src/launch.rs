//! A launch: which kernel of a functor walks an iteration, with how many blocks, and the bytes of its arguments as the
//! kernel reads them. Owns that choice and the layout of `k_vector_arguments` and `k_strided_arguments`; launches nothing.

use crate::functor::{Form, Functor};
use monomorph_core::{DType, Element, Scalar, with_element};
use monomorph_iter::TensorIter;

/// Threads of a block: `K_THREADS` of the kernels.
pub const THREADS: usize = 128;

/// Dimensions of an iteration: `K_DIMS` of the kernels.
pub const DIMS: usize = 25;

/// Kernels number elements, groups and bytes inside of an operand with 31 or 32 bits.
const INDICES: u64 = 1 << 31;

/// Why an iteration is not one launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The kernel counts with 32 bits.
    #[error("the iteration has more elements or bytes than a kernel counts; split it")]
    TooLarge,
    /// There are more dimensions than the kernel has room for.
    #[error("the iteration has {0} dimensions; a kernel takes 25; copy an operand")]
    Dimensions(usize),
    /// An operand has another dtype than the loop, or is conjugated or negated on the way.
    #[error("operand {0} is not of the dtype that the kernel takes; cast or resolve it first")]
    Staged(usize),
    /// Operands or parameters are not as many as the functor has.
    #[error("the functor takes {want} {what}, got {got}")]
    Count {
        /// Operands or numbers.
        what: &'static str,
        /// How many the functor has.
        want: usize,
        /// How many there are.
        got: usize,
    },
}

/// A kernel with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The loop.
    pub form: Form,
    /// Blocks of [`THREADS`] threads; 0 if there is no element, and nothing is to be launched.
    pub blocks: u32,
    /// The argument of the kernel.
    pub arguments: Vec<u8>,
}

impl Launch {
    /// The launch that walks `iter`, whose operands begin at `bases`, outputs first, with the numbers of the call. Where
    /// operands have no result, the kernel writes a 1 to the four bytes at `fault`.
    ///
    /// # Errors
    /// [`LaunchError`] says why this iteration is not one launch of a kernel of this functor.
    pub fn new(
        functor: &Functor,
        iter: &TensorIter,
        bases: &[u64],
        fault: u64,
        params: &[Scalar],
    ) -> Result<Launch, LaunchError> {
        let function = functor.function();
        let operands = function.inputs().len() + 1;
        let count = |what, want, got| if want == got { Ok(()) } else { Err(LaunchError::Count { what, want, got }) };
        count("operands", operands, iter.noperands())?;
        count("operands", operands, bases.len())?;
        count("numbers", function.params().len(), params.len())?;
        let dtypes = std::iter::once(functor.output()).chain(function.inputs().iter().copied());
        let is_staged = |(k, dtype)| iter.dtype(k) != dtype || iter.is_conj(k) || iter.is_neg(k);
        if let Some((k, _)) = dtypes.enumerate().find(|&place| is_staged(place)) {
            return Err(LaunchError::Staged(k));
        }
        let walk = Walk::new(iter, operands)?;
        let mut numbers = Bytes::default();
        for (&dtype, &number) in function.params().iter().zip(params) {
            numbers.number(dtype, number);
        }
        match Rows::new(functor, iter, &walk, bases) {
            Some(rows) => rows.launch(functor, &walk, bases, fault, &numbers),
            None => walk.launch(functor, bases, fault, &numbers),
        }
    }
}

/// Dimensions of more than one element, the fastest first, with the bytes between elements of each operand.
struct Walk {
    sizes: Vec<u64>,
    strides: Vec<Vec<u64>>,
    numel: u64,
}

impl Walk {
    fn new(iter: &TensorIter, operands: usize) -> Result<Walk, LaunchError> {
        let numel = iter.numel() as u64;
        let kept: Vec<usize> = (0..iter.ndim()).filter(|&d| iter.shape()[d] != 1 && numel != 0).collect();
        let sizes: Vec<u64> = kept.iter().map(|&d| iter.shape()[d] as u64).collect();
        let strides = kept.iter().map(|&d| (0..operands).map(|k| iter.strides(k)[d] as u64).collect()).collect();
        if sizes.len() > DIMS {
            return Err(LaunchError::Dimensions(sizes.len()));
        }
        Ok(Walk { sizes, strides, numel })
    }

    /// Whether, from dimension `from` on, kernels can count bytes and elements.
    fn fits(&self, from: usize) -> bool {
        let operands = self.strides.first().map_or(0, Vec::len);
        let elements = self.sizes[from..].iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
        let reach = |k: usize| {
            let spans = self.sizes[from..].iter().zip(&self.strides[from..]);
            spans.into_iter().try_fold(0_u64, |all, (size, strides)| all.checked_add(strides[k].checked_mul(size - 1)?))
        };
        elements.is_some_and(|n| n < INDICES) && (0..operands).all(|k| reach(k).is_some_and(|end| end < INDICES))
    }

    /// Sizes as divisors and strides, in arrays of `room`.
    fn write(&self, from: usize, room: usize, operands: usize, bytes: &mut Bytes) {
        let none = vec![0; operands];
        (0..room).for_each(|d| bytes.divisor(self.sizes.get(from + d).map_or(1, |&size| size as u32)));
        for strides in (0..room).map(|d| self.strides.get(from + d).unwrap_or(&none)) {
            strides.iter().for_each(|&stride| bytes.u32(stride as u32));
        }
    }

    fn launch(&self, functor: &Functor, bases: &[u64], fault: u64, numbers: &Bytes) -> Result<Launch, LaunchError> {
        if !self.fits(0) {
            return Err(LaunchError::TooLarge);
        }
        let mut bytes = Bytes::default();
        bases.iter().for_each(|&base| bytes.u64(base));
        bytes.u64(fault);
        bytes.u32(self.numel as u32);
        bytes.u32(self.sizes.len() as u32);
        self.write(0, DIMS, bases.len(), &mut bytes);
        let blocks = self.numel.div_ceil((functor.strided() * THREADS) as u64) as u32;
        Ok(Launch { form: Form::Strided, blocks, arguments: bytes.finish(numbers) })
    }
}

/// How the vectorised loop walks: along the fastest dimension, every operand dense or one element.
struct Rows {
    length: u64,
    repeated: u32,
}

impl Rows {
    /// `None` where an operand is neither along the fastest dimension, is not aligned to words, or rows are shorter than one.
    fn new(functor: &Functor, iter: &TensorIter, walk: &Walk, bases: &[u64]) -> Option<Rows> {
        let (length, first) = match (walk.sizes.first(), walk.strides.first()) {
            (Some(&length), Some(first)) => (length, first.clone()),
            // One element, or none: dense by definition.
            _ => (walk.numel, (0..bases.len()).map(|k| iter.dtype(k).size() as u64).collect()),
        };
        let outer = walk.sizes.len().min(1);
        if !walk.fits(outer) || (walk.sizes.len() > 1 && length < functor.group() as u64) {
            return None;
        }
        let mut repeated = 0;
        for (k, &base) in bases.iter().enumerate() {
            let size = iter.dtype(k).size() as u64;
            if k > 0 && first[k] == 0 {
                repeated |= 1 << k;
                continue;
            }
            let word = size * functor.group() as u64;
            let aligned = base.is_multiple_of(word) && walk.strides[outer..].iter().all(|s| s[k].is_multiple_of(word));
            if first[k] != size || !aligned {
                return None;
            }
        }
        Some(Rows { length, repeated })
    }

    fn launch(
        &self,
        functor: &Functor,
        walk: &Walk,
        bases: &[u64],
        fault: u64,
        numbers: &Bytes,
    ) -> Result<Launch, LaunchError> {
        let outer = walk.sizes.len().min(1);
        let per_row = self.length.div_ceil(functor.group() as u64);
        let rows: u64 = walk.sizes[outer..].iter().product();
        let groups = per_row.checked_mul(rows).filter(|&groups| groups < INDICES).ok_or(LaunchError::TooLarge)?;
        let mut bytes = Bytes::default();
        bases.iter().for_each(|&base| bytes.u64(base));
        bytes.u64(fault);
        bytes.u64(self.length);
        bytes.u32(groups as u32);
        bytes.u32(self.repeated);
        bytes.u32(walk.sizes.len().saturating_sub(1) as u32);
        bytes.divisor(per_row.max(1) as u32);
        walk.write(outer, DIMS - 1, bases.len(), &mut bytes);
        let blocks = groups.div_ceil((functor.groups() * THREADS) as u64) as u32;
        Ok(Launch { form: Form::Vector, blocks, arguments: bytes.finish(numbers) })
    }
}

/// Bytes as a C compiler of the device lays out a structure.
#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    align: usize,
}

impl Bytes {
    fn put(&mut self, bytes: &[u8], align: usize) {
        self.align = self.align.max(align);
        self.bytes.resize(self.bytes.len().next_multiple_of(align), 0);
        self.bytes.extend_from_slice(bytes);
    }

    fn u32(&mut self, x: u32) {
        self.put(&x.to_le_bytes(), 4);
    }

    fn u64(&mut self, x: u64) {
        self.put(&x.to_le_bytes(), 8);
    }

    /// A `k_divisor`: by the rule that is stated there.
    fn divisor(&mut self, divisor: u32) {
        let shift = 32 - (divisor - 1).leading_zeros();
        let rest = (1_u64 << shift) - u64::from(divisor);
        let multiplier = ((rest << 32) / u64::from(divisor) + 1) as u32;
        [divisor, multiplier, shift].into_iter().for_each(|part| self.u32(part));
    }

    /// A number as the register that the kernel keeps it in: float32 for the halves.
    fn number(&mut self, dtype: DType, number: Scalar) {
        let register = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
        let align = if dtype.is_complex() { register.size() / 2 } else { register.size() };
        with_element!(register, E => self.put(bytemuck::bytes_of(&E::from_scalar(number).store()), align));
    }

    /// The structure with the numbers of the call as its last part; one byte stands for no number, as in C++.
    fn finish(mut self, numbers: &Bytes) -> Vec<u8> {
        let none = [0];
        let numbers = if numbers.bytes.is_empty() { (&none[..], 1) } else { (&numbers.bytes[..], numbers.align) };
        self.put(numbers.0, numbers.1);
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

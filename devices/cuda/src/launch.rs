//! A launch: which kernel of a functor walks an iteration, with how many blocks, and the bytes of its arguments as the
//! kernel reads them. Owns that choice and the layout of the argument; launches nothing.

use crate::functor::{Form, Functor};
use monomorph_core::{DType, Element, Scalar, scalar_bytes, with_element};
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
    /// The output is a number.
    #[error("the output has no address")]
    Output,
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

/// Where an operand begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Base {
    /// At an address of the device.
    At(u64),
    /// Nowhere: it is this number, for every element.
    Number(Scalar),
}

impl Base {
    /// The address; 0 for a number.
    fn address(self) -> u64 {
        if let Base::At(address) = self { address } else { 0 }
    }

    /// The operand of a part of an iteration that begins so many bytes later.
    fn offset(self, bytes: isize) -> Base {
        match self {
            Base::At(address) => Base::At(address.wrapping_add_signed(bytes as i64)),
            number => number,
        }
    }
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

/// The parts of a call that all of its launches share.
struct Call<'a> {
    functor: &'a Functor,
    fault: u64,
    numbers: Bytes,
}

impl Launch {
    /// The launches that walk `iter` together, whose operands begin at `bases`, outputs first, with the numbers of the
    /// call. There is more than one where a kernel cannot count the elements or bytes of the whole. Where operands have
    /// no result, the kernel writes a 1 to the four bytes at `fault`.
    ///
    /// # Errors
    /// [`LaunchError`] says why this iteration is not one of this functor.
    pub fn new(
        functor: &Functor,
        iter: &TensorIter,
        bases: &[Base],
        fault: u64,
        params: &[Scalar],
    ) -> Result<Vec<Launch>, LaunchError> {
        let function = functor.function();
        let operands = function.inputs().len() + 1;
        let count = |what, want, got| if want == got { Ok(()) } else { Err(LaunchError::Count { what, want, got }) };
        count("operands", operands, iter.noperands())?;
        count("operands", operands, bases.len())?;
        count("numbers", function.params().len(), params.len())?;
        if let Some(Base::Number(_)) = bases.first() {
            return Err(LaunchError::Output);
        }
        let mut numbers = Bytes::default();
        for (&dtype, &number) in function.params().iter().zip(params) {
            numbers.number(dtype, number);
        }
        let mut launches = Vec::with_capacity(1);
        Call { functor, fault, numbers }.split(iter, bases, &mut launches)?;
        Ok(launches)
    }

    /// The same launch with its flag at another address, of a kernel with so many operands.
    pub(crate) fn set_fault(&mut self, operands: usize, fault: u64) {
        // Behind the addresses of the operands.
        if let Some(place) = self.arguments.get_mut(8 * operands..8 * operands + 8) {
            place.copy_from_slice(&fault.to_le_bytes());
        }
    }
}

impl Call<'_> {
    /// Halves the iteration until a kernel can count it.
    fn split(&self, iter: &TensorIter, bases: &[Base], launches: &mut Vec<Launch>) -> Result<(), LaunchError> {
        match self.launch(iter, bases) {
            Ok(launch) => launches.push(launch),
            Err(LaunchError::TooLarge) => {
                let dim = iter.dim_to_split().ok_or(LaunchError::TooLarge)?;
                for half in iter.split(dim).map_err(|_| LaunchError::TooLarge)? {
                    let moved: Vec<Base> = bases.iter().zip(&half.offsets).map(|(b, &bytes)| b.offset(bytes)).collect();
                    self.split(&half.iter, &moved, launches)?;
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn launch(&self, iter: &TensorIter, bases: &[Base]) -> Result<Launch, LaunchError> {
        let walk = Walk::new(iter, bases.len())?;
        if !self.functor.is_exact(iter, bases) {
            return walk.launch(self, bases, Some(iter));
        }
        match Rows::new(self.functor, iter, &walk, bases) {
            Some(rows) => rows.launch(self, &walk, bases),
            None => walk.launch(self, bases, None),
        }
    }

    /// What every argument begins with: addresses, the flag, and operands that are numbers.
    fn head(&self, bases: &[Base]) -> Bytes {
        let mut bytes = Bytes::default();
        bases.iter().for_each(|base| bytes.u64(base.address()));
        bytes.u64(self.fault);
        for (base, dtype) in bases.iter().zip(self.functor.dtypes()) {
            let mut element = [0; 16];
            if let Base::Number(number) = base {
                element[..dtype.size()].copy_from_slice(&scalar_bytes(number.cast(dtype), dtype)[..dtype.size()]);
            }
            bytes.put(&element, 8);
        }
        bytes
    }
}

impl Functor {
    /// The dtypes of its operands, the output first.
    fn dtypes(&self) -> impl Iterator<Item = DType> + '_ {
        std::iter::once(self.output()).chain(self.function().inputs().iter().copied())
    }

    /// Whether operands are of its own dtypes and as they lie in memory.
    pub(crate) fn is_exact(&self, iter: &TensorIter, bases: &[Base]) -> bool {
        let is = |(k, (base, dtype)): (usize, (&Base, DType))| match base {
            Base::Number(_) => true,
            Base::At(_) => iter.dtype(k) == dtype && !iter.is_conj(k) && !iter.is_neg(k),
        };
        bases.iter().zip(self.dtypes()).enumerate().all(is)
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

    /// Element by element; converted if `cast` is the iteration that has the dtypes.
    fn launch(&self, call: &Call<'_>, bases: &[Base], cast: Option<&TensorIter>) -> Result<Launch, LaunchError> {
        if !self.fits(0) {
            return Err(LaunchError::TooLarge);
        }
        let mut bytes = call.head(bases);
        bytes.u32(self.numel as u32);
        bytes.u32(self.sizes.len() as u32);
        self.write(0, DIMS, bases.len(), &mut bytes);
        let (form, each) = match cast {
            None => (Form::Strided, call.functor.strided()),
            Some(iter) => {
                (0..bases.len()).for_each(|k| bytes.u32(iter.dtype(k) as u32));
                (0..bases.len()).for_each(|k| bytes.u32(u32::from(iter.is_conj(k)) | u32::from(iter.is_neg(k)) << 1));
                (Form::Casting, 1)
            }
        };
        let blocks = self.numel.div_ceil((each * THREADS) as u64) as u32;
        Ok(Launch { form, blocks, arguments: bytes.finish(&call.numbers) })
    }
}

/// How the vectorised loop walks: along the fastest dimension, every operand dense or one element.
struct Rows {
    length: u64,
    repeated: u32,
}

impl Rows {
    /// `None` where an operand is neither along the fastest dimension, is not aligned to words, or rows are shorter
    /// than one.
    fn new(functor: &Functor, iter: &TensorIter, walk: &Walk, bases: &[Base]) -> Option<Rows> {
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
            let Base::At(base) = base else {
                repeated |= 1 << k;
                continue;
            };
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

    fn launch(&self, call: &Call<'_>, walk: &Walk, bases: &[Base]) -> Result<Launch, LaunchError> {
        let functor = call.functor;
        let outer = walk.sizes.len().min(1);
        let per_row = self.length.div_ceil(functor.group() as u64);
        let rows: u64 = walk.sizes[outer..].iter().product();
        let groups = per_row.checked_mul(rows).filter(|&groups| groups < INDICES).ok_or(LaunchError::TooLarge)?;
        let mut bytes = call.head(bases);
        bytes.u64(self.length);
        bytes.u32(groups as u32);
        bytes.u32(self.repeated);
        bytes.u32(walk.sizes.len().saturating_sub(1) as u32);
        bytes.divisor(per_row.max(1) as u32);
        walk.write(outer, DIMS - 1, bases.len(), &mut bytes);
        let blocks = groups.div_ceil((functor.groups() * THREADS) as u64) as u32;
        Ok(Launch { form: Form::Vector, blocks, arguments: bytes.finish(&call.numbers) })
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

    use monomorph_core::DType;
    use monomorph_iter::{Config, Flags, View, build_over};
    use monomorph_ops::arithmetic::AddFn;
    use monomorph_ops::pointwise::symbolic;

    /// The launches of an addition of int8 over these strides.
    fn launches(sizes: &[i64], strides: [&[i64]; 3], bases: [Base; 3]) -> Vec<Launch> {
        let views = strides.map(|strides| View::new(DType::I8, sizes, strides));
        let flags = Flags { check_all_same_dtype: false, resize_outputs: false, ..Flags::DEFAULT };
        let iter = build_over(&Config::new(flags), &views[..1], &views[1..]).unwrap();
        let functor = Functor::new("add", symbolic::<AddFn>(DType::I8).unwrap());
        Launch::new(&functor, &iter, &bases, 0, &[Scalar::Int(1)]).unwrap()
    }

    fn word(launch: &Launch, at: usize) -> u64 {
        u64::from_le_bytes(launch.arguments[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn what_a_kernel_cannot_count_is_split() {
        let at = |base| [0, 1, 2].map(|k: u64| Base::At(base + (k << 40)));
        // 2^35 elements: 2^31 groups of 16, one too many.
        let halves = launches(&[1 << 35], [&[1]; 3], at(0));
        assert_eq!(halves.len(), 2);
        let lengths = halves.iter().map(|launch| word(launch, 8 * 4 + 16 * 3));
        assert!(lengths.eq([1 << 34, 1 << 34]) && halves.iter().all(|half| half.form == Form::Vector));
        let begins = |launch: &Launch| [0, 1, 2].map(|k| word(launch, 8 * k));
        assert_eq!(begins(&halves[1]), [1 << 34, (1 << 40) + (1 << 34), (1 << 41) + (1 << 34)]);
        // Element by element 2^31 is the limit, of elements and of bytes.
        let parts = launches(&[1 << 20, 1 << 12], [&[1 << 14, 4]; 3], at(0));
        let count = |launch: &Launch| word(launch, 8 * 4 + 16 * 3) & 0xffff_ffff;
        assert_eq!(parts.iter().map(count).sum::<u64>(), 1 << 32);
        assert!(parts.iter().all(|part| part.form == Form::Strided && count(part) < INDICES));
        let mut starts: Vec<u64> = parts.iter().map(|part| word(part, 0)).collect();
        starts.dedup();
        assert_eq!(starts.len(), parts.len(), "parts begin at one place");
        // A number stays where it is.
        let halves =
            launches(&[1 << 35], [&[1], &[0], &[1]], [Base::At(16), Base::Number(Scalar::Int(7)), Base::At(0)]);
        assert!(halves.iter().all(|half| word(half, 8) == 0 && word(half, 8 * 4 + 16) == 7));
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

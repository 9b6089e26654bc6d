//! A launch: which kernel of a functor walks an iteration, with how many blocks, and the bytes of its arguments as the
//! kernel reads them. Owns that choice; how a walk is laid out is `walk`'s, the layout of structures `bytes`'. Launches
//! nothing.

mod bytes;
mod walk;

use crate::functor::{Form, Functor};
pub(crate) use bytes::Bytes;
use monomorph_core::{DType, Scalar, scalar_bytes};
use monomorph_iter::TensorIter;
use walk::{Rows, Walk};

/// Threads of a block: `K_THREADS` of the kernels.
pub const THREADS: usize = 128;

/// Dimensions of an iteration: `K_DIMS` of the kernels.
pub const DIMS: usize = 25;

/// Kernels number elements, groups and bytes inside of an operand with 31 or 32 bits.
pub(crate) const INDICES: u64 = 1 << 31;

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

#[cfg(test)]
mod tests {
    use super::*;
    use monomorph_core::DType;
    use monomorph_iter::{Config, Flags, View, build_over};
    use monomorph_ops::arithmetic::AddFn;
    use monomorph_ops::pointwise::symbolic;

    /// The launches of an addition of int8 over these strides.
    fn launches(sizes: &[i64], strides: [&[i64]; 3], bases: [Base; 3]) -> Vec<Launch> {
        let views = strides.map(|strides| View::new(DType::I8, sizes, strides));
        let flags = Flags::DEFAULT.with_dtype_check(false).without_resizing();
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
}

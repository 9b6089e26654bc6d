//! Tensors to try operators on: every layout of memory that a tensor can have, and values worth computing with. Owns no
//! expectation of what an operator makes of them.

use monomorph::crates::core::{Kind, with_element};
use monomorph::crates::ops::record::Inputs;
use monomorph::{Complex64, Cpu, DType, Geometry, Scalar, Tensor};
use monomorph_core::{Element, strides};

/// How the elements of a tensor lie in its storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Row-major.
    Contiguous,
    /// Row-major, a few elements into the storage.
    Offset,
    /// Column-major.
    Transposed,
    /// Every second element of rows with gaps.
    Stepped,
    /// The first dimension repeated with stride 0; row-major behind it.
    Expanded,
    /// NHWC where there are four dimensions, row-major elsewhere.
    ChannelsLast,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 6] = [
        Layout::Contiguous,
        Layout::Offset,
        Layout::Transposed,
        Layout::Stepped,
        Layout::Expanded,
        Layout::ChannelsLast,
    ];

    /// The layouts in which no element is reached twice: those of outputs.
    pub const WRITABLE: [Layout; 5] =
        [Layout::Contiguous, Layout::Offset, Layout::Transposed, Layout::Stepped, Layout::ChannelsLast];

    /// The geometry of a tensor of `sizes` in this layout.
    pub fn geometry(self, dtype: DType, sizes: &[i64]) -> Geometry {
        let row_major = strides::contiguous_strides(sizes);
        let dense = |order: &[usize]| {
            let (mut strides, mut next) = (vec![0; sizes.len()], 1);
            for &d in order {
                strides[d] = next;
                next *= sizes[d].max(1);
            }
            strides
        };
        let (strides, offset) = match self {
            Layout::Contiguous => (row_major.to_vec(), 0),
            Layout::Offset => (row_major.to_vec(), 3),
            Layout::Transposed => (dense(&(0..sizes.len()).collect::<Vec<_>>()), 0),
            Layout::Stepped => {
                let (mut strides, mut next) = (vec![0; sizes.len()], 2);
                for d in (0..sizes.len()).rev() {
                    strides[d] = next;
                    next = next * sizes[d].max(1) + 1;
                }
                (strides, 1)
            }
            Layout::Expanded => {
                let mut strides = row_major.to_vec();
                strides.iter_mut().take(1).for_each(|stride| *stride = 0);
                (strides, 0)
            }
            Layout::ChannelsLast if sizes.len() == 4 => (dense(&[1, 3, 2, 0]), 0),
            Layout::ChannelsLast => (row_major.to_vec(), 0),
        };
        Geometry::new(dtype, sizes, &strides, offset).expect("a small geometry")
    }
}

/// A tensor over its own storage, whose elements, gaps included, are `values` over and over.
pub fn tensor(geometry: Geometry, values: &[Scalar]) -> Tensor<Cpu> {
    let dtype = geometry.dtype();
    let elements = geometry.bytes_needed().expect("a small geometry") / dtype.size() + 2;
    with_element!(dtype, E => {
        let data: Vec<E> = values.iter().cycle().take(elements).map(|&v| E::from_scalar(v)).collect();
        let whole = Tensor::<Cpu>::from_slice(&data, [elements as i64]).expect("a small tensor");
        whole.with_geometry(geometry).expect("a view of the storage")
    })
}

/// Every element as a number, in row-major order.
pub fn values(t: &Tensor<Cpu>) -> Vec<Scalar> {
    with_element!(t.dtype(), E => t.to_vec::<E>().expect("data on the host").into_iter().map(E::to_scalar).collect())
}

/// A number converted to a dtype.
pub fn convert(x: Scalar, dtype: DType) -> Scalar {
    with_element!(dtype, E => E::from_scalar(x).to_scalar())
}

/// A pseudo-random sequence (Marsaglia's xorshift64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of a list.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

const FLOATS: [f64; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.0,
    1.5607,
    -7.3,
    0.1,
    1e-3,
    11.1,
    88.6,
    -103.5,
    709.9,
    -730.0,
    2049.0,
    65504.0,
    3e38,
    -1e300,
    1e-40,
    1e-310,
    6e-8,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

const SMALL: [f64; 16] =
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.0, -3.5, 5.0, 7.5, -16.0, 15.5, f64::INFINITY, f64::NAN];

const TAME: [f64; 11] = [0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.5, 3.0, -4.0, 4.0];

const PARTS: [f64; 8] = [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 4.0, -7.0];

/// Values of a dtype worth trying: zeros, ones, extremes, what is not finite.
pub fn samples(dtype: DType, inputs: Inputs) -> Vec<Scalar> {
    let floats = match inputs {
        Inputs::Any => &FLOATS[..],
        Inputs::Small => &SMALL[..],
        Inputs::Tame => &TAME[..],
    };
    match dtype.kind() {
        Kind::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        Kind::Int => {
            let bits = dtype.size() * 8;
            let high = if dtype == DType::U8 { 255 } else { i64::MAX >> (64 - bits) };
            let low = if dtype == DType::U8 { 0 } else { !high };
            let all = [0, 1, 2, 3, 4, -1, -2, -4, 7, 16, -7, 63, 100, -100, high, high - 6, high / 3, low, low + 1];
            let count = match inputs {
                Inputs::Any => all.len(),
                Inputs::Small => 11,
                Inputs::Tame => 8,
            };
            // The smallest ones of a signed dtype would be large ones of `uint8`.
            all[..count]
                .iter()
                .filter(|x| inputs == Inputs::Any || **x >= low)
                .map(|x| convert(Scalar::Int(*x), dtype))
                .collect()
        }
        Kind::Float => floats.iter().map(|&x| convert(Scalar::Float(x), dtype)).collect(),
        Kind::Complex => {
            let parts = PARTS.into_iter().flat_map(|re| PARTS.map(|im| Scalar::Complex(Complex64::new(re, im))));
            parts.collect()
        }
    }
}

/// `n` of the values worth trying, in an order that `random` chooses.
pub fn mixed(dtype: DType, inputs: Inputs, n: usize, random: &mut Random) -> Vec<Scalar> {
    let samples = samples(dtype, inputs);
    (0..n).map(|_| random.pick(&samples)).collect()
}

/// `n` small numbers, exact in every dtype: products and quotients of none overflow, complex ones neither.
pub fn plain(dtype: DType, n: usize, random: &mut Random) -> Vec<Scalar> {
    let part = |random: &mut Random| random.pick(&PARTS);
    (0..n).map(|_| convert(Scalar::Complex(Complex64::new(part(random), part(random))), dtype)).collect()
}

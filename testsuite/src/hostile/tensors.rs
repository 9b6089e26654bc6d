//! Hostile tensors over small storages. Owns sizes, strides, offsets and bits; what operator gets them is decided in
//! `arguments`.
//!
//! The number of elements is small, or so large (2⁴¹ and more, by stride 0) that nobody may walk them: what lies
//! between would only cost time. Tensors on the meta device and tensors without elements have any sizes.

use super::options::Class;
use crate::layout::Random;
use monomorph::crates::core::with_element;
use monomorph::{AnyTensor, Cpu, DType, Geometry, Meta, Scalar, Tensor};
use monomorph_core::{Element, strides};

/// Sizes at which something overflows: an int32, a number of bytes, an address, an int64.
pub(super) const HUGE: [i64; 10] =
    [1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40, 1 << 42, 1 << 53, 1 << 61, 1 << 62, i64::MAX - 1, i64::MAX];

/// Strides and offsets of tensors without elements.
const FAR: [i64; 10] = [0, 1, 2, 1 << 31, 1 << 40, 1 << 60, 1 << 62, (1 << 62) + 1, i64::MAX - 1, i64::MAX];

/// More elements than any walk over memory may have, and fewer than any walk takes long for.
const UNWALKABLE: u128 = 1 << 41;
const WALKABLE: u128 = 1 << 12;

/// Storages above this are on the meta device.
const MAX_BYTES: usize = 1 << 20;

/// Makes the tensors of one call.
pub(super) struct Maker<'r> {
    pub(super) random: &'r mut Random,
    without: &'r [Class],
    /// What later arguments may share storages with.
    made: Vec<AnyTensor>,
}

impl<'r> Maker<'r> {
    pub(super) fn new(random: &'r mut Random, without: &'r [Class]) -> Maker<'r> {
        Maker { random, without, made: Vec::new() }
    }

    /// True once in `n` times, and never for a class that is left out.
    pub(super) fn hostile(&mut self, class: Class, n: usize) -> bool {
        // Drawn in any case, so that leaving a class out changes as little else as can be.
        self.random.one_in(n) && !self.without.contains(&class)
    }

    /// The number, or a larger one where it is of a class that is left out.
    pub(super) fn number(&self, number: i64) -> i64 {
        let affordable = (1 << 20..1 << 42).contains(&number.unsigned_abs());
        if affordable && self.without.contains(&Class::Gigabytes) { 1 << 48 } else { number }
    }

    /// One of the tensors so far.
    pub(super) fn known(&mut self) -> Option<AnyTensor> {
        if self.made.is_empty() { None } else { Some(self.random.pick(&self.made)) }
    }

    pub(super) fn remember(&mut self, tensor: &AnyTensor) {
        self.made.push(tensor.clone());
    }

    pub(super) fn dtype(&mut self) -> DType {
        self.random.pick(&DType::ALL)
    }

    pub(super) fn sizes(&mut self) -> Vec<i64> {
        let mut ndim = self.random.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6]);
        if self.hostile(Class::Long, 40) {
            ndim = self.random.pick(&[7, 8, 16, 25, 63, 64, 65, 70]);
        }
        if self.hostile(Class::Long, 4000) {
            ndim = self.random.pick(&[1000, 100_000]);
        }
        let of = if ndim < 7 { &[0, 1, 1, 2, 2, 3, 3, 4, 5][..] } else { &[1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1] };
        let mut sizes: Vec<i64> = (0..ndim).map(|_| self.random.pick(of)).collect();
        if ndim > 0 && self.hostile(Class::Sizes, 6) {
            for _ in 0..=self.random.below(2) {
                let at = self.random.below(ndim);
                sizes[at] = self.random.pick(&HUGE);
                sizes[at] = self.number(sizes[at]);
            }
        }
        sizes
    }

    /// A tensor of any dtype, sizes and layout.
    pub(super) fn any(&mut self) -> AnyTensor {
        let (dtype, sizes) = (self.dtype(), self.sizes());
        self.tensor(dtype, &sizes)
    }

    /// A tensor of these sizes in some layout, or of others where these can't be.
    pub(super) fn tensor(&mut self, dtype: DType, sizes: &[i64]) -> AnyTensor {
        let made = self.try_tensor(dtype, sizes).or_else(|| self.try_tensor(dtype, &[2, 3]));
        let tensor =
            made.unwrap_or_else(|| Tensor::<Cpu>::zeros_contiguous(dtype, &[1]).expect("one element").into_any());
        if self.hostile(Class::Frozen, 25) {
            tensor.freeze().expect("nobody writes it");
        }
        self.remember(&tensor);
        tensor
    }

    fn try_tensor(&mut self, dtype: DType, sizes: &[i64]) -> Option<AnyTensor> {
        let numel = sizes.iter().try_fold(1u128, |n, &size| n.checked_mul(size as u128)).unwrap_or(u128::MAX);
        let (strides, offset) = self.layout(sizes, if sizes.contains(&0) { 0 } else { numel });
        let mut geometry = Geometry::new(dtype, sizes, &strides, offset).ok()?;
        let is_complex = matches!(dtype, DType::C64 | DType::C128);
        let conj = self.random.one_in(if is_complex { 3 } else { 40 });
        geometry = geometry.with_conj(conj).with_neg(self.random.one_in(10) && dtype != DType::Bool);
        if self.random.one_in(40) {
            let names = sizes
                .iter()
                .map(|_| self.random.pick(&[None, None, Some("a".into()), Some("b".into()), Some("c".into())]));
            let names: Vec<_> = names.collect();
            geometry = geometry.clone().with_names(Some(names.into())).unwrap_or(geometry);
        }
        if sizes.is_empty() && self.random.one_in(8) {
            geometry = geometry.with_wrapped(true);
        }
        let bytes = geometry.bytes_needed().ok()?;
        let walkable = !(WALKABLE..UNWALKABLE).contains(&geometry_numel(&geometry));
        if bytes > MAX_BYTES || !walkable || self.random.one_in(16) {
            let whole = Tensor::<Meta>::zeroed(DType::U8, &[i64::try_from(bytes).ok()?], &[1], 0).ok()?;
            return Some(whole.with_geometry(geometry).ok()?.into_any());
        }
        if self.hostile(Class::Aliases, 6)
            && let Some(other) = self.known()
            && let Ok(view) = other.with_geometry(geometry.clone())
        {
            return Some(view);
        }
        let contents = self.contents(dtype, bytes);
        Some(Tensor::<Cpu>::from_storage(&contents, geometry).ok()?.into_any())
    }

    /// Strides and offset.
    fn layout(&mut self, sizes: &[i64], numel: u128) -> (Vec<i64>, i64) {
        let row_major = strides::contiguous_strides(sizes).to_vec();
        if numel == 0 && self.hostile(Class::Limits, 2) {
            let strides = sizes.iter().map(|_| self.random.pick(&FAR)).collect();
            return (strides, self.random.pick(&FAR));
        }
        if numel > WALKABLE {
            // Row-major over the small dimensions; the large ones repeat.
            let mut next = 1;
            let mut strides = vec![0; sizes.len()];
            for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
                if size <= 8 && next < 256 {
                    *stride = next;
                    next *= size;
                }
            }
            return (strides, self.random.below(3) as i64);
        }
        let mut strides = match self.random.below(8) {
            0 => {
                // Column-major.
                let mut next = 1i64;
                let stride = |&size: &i64| {
                    let own = next;
                    next *= size.clamp(1, 64);
                    own
                };
                sizes.iter().map(stride).collect()
            }
            1 => row_major.iter().map(|stride| stride.saturating_mul(2)).collect(),
            2 => sizes.iter().map(|_| self.random.pick(&[0, 1, 1, 2, 3, 4, 6, 12])).collect(),
            3 => row_major.iter().map(|&stride| if self.random.one_in(2) { 0 } else { stride }).collect(),
            _ => row_major,
        };
        if self.hostile(Class::Limits, 20) {
            for (stride, _) in strides.iter_mut().zip(sizes).filter(|(_, size)| **size == 1) {
                *stride = self.random.pick(&FAR);
            }
        }
        let offset = if self.random.one_in(3) { self.random.below(4) as i64 } else { 0 };
        (strides, offset)
    }

    /// Bytes that are small numbers, or anything; those of bool tensors are 0 or 1.
    fn contents(&mut self, dtype: DType, bytes: usize) -> Vec<u8> {
        let bytes = bytes + self.random.below(9);
        if dtype == DType::Bool {
            return (0..bytes).map(|_| self.random.below(2) as u8).collect();
        }
        if self.random.one_in(3) {
            return (0..bytes).map(|_| self.random.below(256) as u8).collect();
        }
        let size = dtype.size();
        let mut contents = Vec::with_capacity(bytes + size);
        while contents.len() < bytes {
            let value = Scalar::Int(self.random.below(7) as i64 - 1);
            with_element!(dtype, E => {
                let number = E::from_scalar(value).to_scalar();
                contents.extend(&monomorph::crates::core::scalar_bytes(number, dtype)[..size]);
            });
        }
        contents.truncate(bytes);
        contents
    }
}

fn geometry_numel(geometry: &Geometry) -> u128 {
    geometry.numel() as u128
}

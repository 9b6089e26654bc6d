//! What a kernel that is written by hand needs of its tensors: their addresses, while they are borrowed. Owns the
//! borrowing of one call; structured operators have theirs from [`call`](crate::structured::call).

use super::{Raw, Tensor, check_apart, check_itself};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::storage::{Device, Header, Held};
use smallvec::SmallVec;

/// The tensors of a hand-written kernel, borrowed: outputs for writing, inputs for reading, and a storage that is both
/// for writing, once. While this lives the device of the tensors is current and their addresses are good; outputs count
/// as written.
///
/// What an address means, the device knows. To follow one is unsafe, and the kernel's own affair: elements in the
/// bounds of the geometry it comes with lie in one live block, nobody else writes them, and nobody else reads those of
/// outputs. An input may be the very elements of an output, as in-place forms have it; where it is too hard to tell how
/// strided ones share a storage, as everywhere, elements done one after the other are safe.
pub struct Access<'a, D: Device, const I: usize, const O: usize> {
    inputs: [&'a Raw; I],
    outputs: [&'a Raw; O],
    held: SmallVec<[Held<'a>; 4]>,
    _guard: Option<D::Guard>,
}

impl<'a, D: Device, const I: usize, const O: usize> Access<'a, D, I, O> {
    /// Borrows them.
    ///
    /// Errors: tensors on different devices of the kind, an output that reaches an element twice or shares some of an
    /// input's, a storage that somebody else writes, or reads if it is an output's.
    pub fn new(inputs: [&'a Tensor<D>; I], outputs: [&'a mut Tensor<D>; O]) -> Result<Self> {
        let inputs = inputs.map(|tensor| tensor.raw());
        let outputs = outputs.map(|tensor| (*tensor).raw());
        let devices = || outputs.iter().chain(&inputs).map(|raw| raw.device());
        let first = devices().next();
        if let Some((position, got)) = devices().enumerate().find(|(_, device)| Some(*device) != first) {
            let arg = match position.checked_sub(O) {
                None => format!("out {position}"),
                Some(input) => format!("{input}"),
            };
            return Err(ErrorKind::DeviceMismatch { arg: arg.into(), got, want: first.unwrap_or(got) }.into());
        }
        for (i, out) in outputs.iter().enumerate() {
            let out = out.as_ref();
            check_itself(i, &out)?;
            inputs.iter().try_for_each(|input| check_apart(i, "an input", &out, &input.as_ref()).map(|_| ()))?;
        }
        let mut held: SmallVec<[Held<'a>; 4]> = SmallVec::new();
        let is_held = |held: &[Held<'a>], header: &Header| held.iter().any(|h| std::ptr::eq(h.header(), header));
        for header in outputs.iter().filter_map(|raw| raw.header()) {
            if !is_held(&held, header) {
                held.push(Held::write(header, true, "out")?);
            }
        }
        let written = held.len();
        for header in inputs.iter().filter_map(|raw| raw.header()) {
            if !is_held(&held, header) {
                held.push(Held::read(header, "an input")?);
            }
        }
        held[..written].iter().for_each(|held| held.header().bump_version());
        let guard = first.map(|device| D::enter(device.index));
        Ok(Access { inputs, outputs, held, _guard: guard })
    }

    /// The geometry of input `N`, and the address of its first element (null for a meta tensor). Without such an input
    /// it does not compile.
    pub fn input<const N: usize>(&self) -> (&'a Geometry, *const u8) {
        const { assert!(N < I, "the access has no input of this number") };
        let raw = self.inputs[N];
        (raw.geometry(), self.address(raw).cast_const())
    }

    /// The geometry of output `N`, and the address of its first element (null for a meta tensor). Without such an
    /// output it does not compile.
    pub fn output<const N: usize>(&self) -> (&'a Geometry, *mut u8) {
        const { assert!(N < O, "the access has no output of this number") };
        let raw = self.outputs[N];
        (raw.geometry(), self.address(raw))
    }

    fn address(&self, raw: &'a Raw) -> *mut u8 {
        debug_assert!(raw.header().is_none_or(|header| self.held.iter().any(|h| std::ptr::eq(h.header(), header))));
        // SAFETY: the storage is borrowed by `held`.
        unsafe { raw.as_ref().data() }
    }
}

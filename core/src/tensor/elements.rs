//! Every element of a tensor in turn, on the host: whatever the strides, with the conj and neg bits applied. As values
//! of its type for who wants all of them, and as numbers, a few at a time, for who wants the ends of long dimensions.

use super::data::lend;
use super::{Raw, transfer};
use crate::dtype::{Element, Scalar, scalar_from_bytes};
use crate::error::{ErrorKind, Result};
use crate::geometry::{Geometry, strides};
use crate::storage::Held;

/// Bytes that are brought at once from memory that the host cannot reach. A dense tensor of 1000 elements, the most of
/// which all are printed, comes in one transfer, whatever its dtype; of a larger one no more than this lies here.
const WINDOW: usize = 16_000;

fn resolved(c: Scalar, geometry: &Geometry) -> Scalar {
    let c = match c {
        Scalar::Complex(z) if geometry.is_conj() => Scalar::Complex(z.conj()),
        other => other,
    };
    if !geometry.is_neg() {
        return c;
    }
    match c {
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(z) => Scalar::Complex(-z),
        Scalar::Bool(b) => Scalar::Bool(b),
    }
}

fn resolve<T: Element>(value: T, geometry: &Geometry) -> T {
    if !geometry.is_conj() && !geometry.is_neg() {
        return value;
    }
    T::from_scalar(resolved(value.to_scalar(), geometry))
}

/// Calls `visit` with each element in row-major order, whatever the strides, with the conj and neg bits applied.
pub(super) fn for_each_element<T: Element>(raw: &Raw, held: &Held<'_>, mut visit: impl FnMut(T)) -> Result<()> {
    let geometry = raw.geometry();
    let staged;
    let first = if held.header().is_host() {
        lend::<T>(geometry, held)?.cast_const()
    } else {
        staged = transfer::reached::<T>(geometry, held)?;
        staged.as_ptr()
    };
    for_each_offset(geometry, i64::MAX, |offset, _| {
        // SAFETY: T1: every element that the geometry reaches lies inside the storage, and in the copy of what it
        // reaches.
        let element = unsafe { first.offset(offset as isize) };
        // SAFETY: it is initialised (S1), aligned, of type Stored, and read-borrowed or a copy.
        let stored = unsafe { element.read() };
        visit(resolve(T::load(stored), geometry));
        Ok(())
    })
}

/// How an element follows the one before it in row-major order.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The outermost dimension in which it is behind that one; 0 for the first element.
    pub(super) dim: usize,
    /// True if the middle of that dimension was left out between the two.
    pub(super) is_cut: bool,
}

/// The elements of a tensor as numbers, while its storage is borrowed for reading.
pub(super) struct Elements<'t> {
    geometry: &'t Geometry,
    held: Held<'t>,
    /// Elements from the first of the geometry to its last, gaps included.
    extent: usize,
    /// The bytes of some of these, beginning with the one at `first`.
    window: Vec<u8>,
    first: usize,
}

impl Raw {
    /// The elements as numbers. An error for a tensor without data, and for one that is being written.
    pub(super) fn elements(&self) -> Result<Elements<'_>> {
        let geometry = self.geometry();
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        let extent = strides::extent(geometry.sizes(), geometry.strides())?;
        Ok(Elements { geometry, held: Held::read(header, "self")?, extent, window: Vec::new(), first: 0 })
    }
}

impl Elements<'_> {
    /// Calls `visit` with each element in row-major order, with the conj and neg bits applied, until it fails; of
    /// dimensions longer than `2 * edge` with `edge` at either end. An element is an error if its device does not give
    /// it.
    pub(super) fn for_each<E>(
        &mut self,
        edge: i64,
        mut visit: impl FnMut(Step, Result<Scalar>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for_each_offset(self.geometry, edge, |offset, step| visit(step, self.read(offset as usize)))
    }

    /// The element `offset` elements behind the first, which is one that the geometry reaches.
    fn read(&mut self, offset: usize) -> Result<Scalar> {
        let (geometry, header) = (self.geometry, self.held.header());
        let size = geometry.dtype().size();
        if !(self.first..self.first + self.window.len() / size).contains(&offset) {
            let most = if header.is_host() { 1 } else { WINDOW / size };
            let elements = self.extent.saturating_sub(offset).min(most);
            self.window.resize(elements * size, 0);
            self.first = offset;
            let start = (geometry.offset() as usize + offset) * size;
            // SAFETY:
            // * `held` is a borrow.
            // * T1: every element that the geometry reaches lies inside the storage. `extent` is the last of them, so
            //   the storage has the `elements` elements from this one on.
            let read = unsafe { header.read(start, &mut self.window) };
            if read.is_err() {
                self.window.clear();
            }
            read?;
        }
        let bytes = self.window.get((offset - self.first) * size..).unwrap_or_default();
        let dtype = geometry.dtype();
        let stored = scalar_from_bytes(bytes, dtype).ok_or(ErrorKind::NoHostData { device: header.device() })?;
        let is_resolved = !geometry.is_conj() && !geometry.is_neg();
        // Cast, because the negative of an integer is that of its width.
        Ok(if is_resolved { stored } else { resolved(stored, geometry).cast(dtype) })
    }
}

/// Calls `visit` with the offset of each element in row-major order, until it fails; of dimensions longer than
/// `2 * edge` only with `edge` at either end.
fn for_each_offset<E>(
    geometry: &Geometry,
    edge: i64,
    mut visit: impl FnMut(i64, Step) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let (sizes, strides) = (geometry.sizes(), geometry.strides());
    if sizes.contains(&0) {
        return Ok(());
    }
    let mut index = strides::DimVec::from_elem(0, sizes.len());
    let mut offset = 0;
    let mut step = Step { dim: 0, is_cut: false };
    loop {
        visit(offset, step)?;
        let mut d = sizes.len();
        loop {
            if d == 0 {
                return Ok(());
            }
            d -= 1;
            // The middle of a long dimension is skipped; `edge` near i64::MAX skips nothing.
            let after = index[d] + 1;
            let next = if after == edge { after.max(sizes[d] - edge) } else { after };
            if next < sizes[d] {
                offset += strides[d] * (next - index[d]);
                index[d] = next;
                step = Step { dim: d, is_cut: next != after };
                break;
            }
            offset -= strides[d] * index[d];
            index[d] = 0;
        }
    }
}

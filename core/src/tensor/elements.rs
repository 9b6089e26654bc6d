//! Every element of a tensor in turn, on the host: whatever the strides, with the conj and neg bits applied.

use super::data::lend;
use super::{Raw, transfer};
use crate::dtype::{Element, Scalar};
use crate::error::Result;
use crate::geometry::{Geometry, strides};
use crate::storage::Held;

fn resolve<T: Element>(value: T, geometry: &Geometry) -> T {
    if !geometry.is_conj() && !geometry.is_neg() {
        return value;
    }
    let mut c = value.to_scalar();
    if let (true, Scalar::Complex(z)) = (geometry.is_conj(), c) {
        c = Scalar::Complex(z.conj());
    }
    if geometry.is_neg() {
        c = match c {
            Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
            Scalar::Float(f) => Scalar::Float(-f),
            Scalar::Complex(z) => Scalar::Complex(-z),
            Scalar::Bool(b) => Scalar::Bool(b),
        };
    }
    T::from_scalar(c)
}

/// Calls `visit` with each element in row-major order, whatever the strides, with the conj and neg bits applied; of
/// dimensions longer than `2 * edge` only with `edge` at either end.
pub(super) fn for_each_element<T: Element>(
    raw: &Raw,
    held: &Held<'_>,
    edge: i64,
    mut visit: impl FnMut(T),
) -> Result<()> {
    let geometry = raw.geometry();
    let staged;
    let first = if held.header().is_host() {
        lend::<T>(geometry, held)?.cast_const()
    } else {
        staged = transfer::reached::<T>(geometry, held)?;
        staged.as_ptr()
    };
    for_each_offset(geometry.sizes(), geometry.strides(), edge, |offset| {
        // SAFETY: T1: every element that the geometry reaches lies inside the storage, and in the copy of what it
        // reaches.
        let element = unsafe { first.offset(offset as isize) };
        // SAFETY: it is initialised (S1), aligned, of type Stored, and read-borrowed or a copy.
        let stored = unsafe { element.read() };
        visit(resolve(T::load(stored), geometry));
    });
    Ok(())
}

/// Calls `visit` with the offset of each element that [`for_each_element`] visits.
fn for_each_offset(sizes: &[i64], strides: &[i64], edge: i64, mut visit: impl FnMut(i64)) {
    if sizes.contains(&0) {
        return;
    }
    let mut index = strides::Dims::from_elem(0, sizes.len());
    let mut offset = 0;
    loop {
        visit(offset);
        let mut d = sizes.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            // The middle of a long dimension is skipped; `edge` near i64::MAX skips nothing.
            let next = if index[d] + 1 == edge { (index[d] + 1).max(sizes[d] - edge) } else { index[d] + 1 };
            if next < sizes[d] {
                offset += strides[d] * (next - index[d]);
                index[d] = next;
                break;
            }
            offset -= strides[d] * index[d];
            index[d] = 0;
        }
    }
}

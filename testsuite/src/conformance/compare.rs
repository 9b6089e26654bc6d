//! An outcome against a recording: results here, arguments and memory in `memory.rs`. Owns what counts as the same
//! answer, never how it was computed.
//!
//! Values are compared as they are seen through the conj and neg bits; the bits of a *result* are no contract of their
//! own, because a result that holds conjugated bytes without the bit shows the same values. Arguments that must not
//! change keep their bits too.

use super::case::{Case, Expected};
use super::element::{Element, Tolerance, byte_of, each_index};
use super::mismatch::{Change, Mismatch, Place};
use super::replay::{After, Call, GotTensor, GotValue, Identity, Outcome, StorageId};
use super::storages::Storages;
use super::value::{Alias, AliasKind, TensorSpec, Value, extent};

/// What became of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Everything agrees.
    Passed,
    /// The overload is not in the library's table.
    Unsupported,
    /// Something differs.
    Failed(Vec<Mismatch>),
}

/// Compares everything that the format records.
pub fn compare(case: &Case, storages: &Storages, outcome: &Outcome) -> Verdict {
    let found = match (outcome, &case.expected) {
        (Outcome::Unsupported, _) => return Verdict::Unsupported,
        (Outcome::Error { message, after }, expected) => {
            let mut comparison = Comparison::new(case, storages, after);
            if let Expected::Results { .. } = expected {
                comparison.found.push(Mismatch::UnexpectedError { message: message.clone() });
            }
            comparison.arguments_after_error();
            comparison.found
        }
        (Outcome::Returned { .. }, Expected::Error(error)) => {
            vec![Mismatch::MissingError { kind: error.kind.clone(), message: error.message.clone() }]
        }
        (Outcome::Returned { outputs, after }, Expected::Results { outputs: wanted, mutated }) => {
            let mut comparison = Comparison::new(case, storages, after);
            comparison.outputs(outputs, wanted);
            comparison.arguments_after_return(mutated);
            comparison.found
        }
    };
    if found.is_empty() { Verdict::Passed } else { Verdict::Failed(found) }
}

/// One outcome being compared.
pub(super) struct Comparison<'a> {
    pub(super) case: &'a Case,
    pub(super) storages: &'a Storages,
    pub(super) call: Call<'a>,
    pub(super) after: &'a After,
    pub(super) found: Vec<Mismatch>,
}

impl<'a> Comparison<'a> {
    fn new(case: &'a Case, storages: &'a Storages, after: &'a After) -> Comparison<'a> {
        Comparison { case, storages, call: Call::new(case, storages), after, found: Vec::new() }
    }

    pub(super) fn bytes(&self, id: StorageId) -> Option<&'a [u8]> {
        self.after.storages.iter().find(|storage| storage.id == id).map(|storage| &storage.bytes[..])
    }

    pub(super) fn argument(&self, path: &str) -> Option<&'a GotTensor> {
        self.after.arguments.iter().find(|state| state.path == path).map(|state| &state.tensor)
    }

    fn tolerance(&self) -> Tolerance {
        // It is recorded with three digits.
        let excess = self.case.f64_excess * 1.005;
        Tolerance { rtol: self.case.rtol, atol: self.case.atol, scale: 1.0 + excess }
    }

    fn outputs(&mut self, got: &[GotValue], want: &[Value]) {
        if got.len() != want.len() {
            self.found.push(Mismatch::Count { place: None, got: got.len(), want: want.len() });
        }
        for (i, (got, want)) in got.iter().zip(want).enumerate() {
            self.value(&[i], got, want);
        }
    }

    fn value(&mut self, path: &[usize], got: &GotValue, want: &Value) {
        let place = || Place::Output(path.to_vec());
        let item = |i: usize| [path, &[i]].concat();
        match (got, want) {
            (GotValue::Tensor(got), Value::Tensor(want)) => self.output(place(), got, want),
            (GotValue::Tensors(got), Value::Tensors(want)) => {
                self.count(place(), got.len(), want.len());
                for (i, (got, want)) in got.iter().zip(want).enumerate() {
                    self.output(Place::Output(item(i)), got, want);
                }
            }
            (GotValue::List(got), Value::List(want)) => {
                self.count(place(), got.len(), want.len());
                for (i, (got, want)) in got.iter().zip(want).enumerate() {
                    self.value(&item(i), got, want);
                }
            }
            // The recording does not know what an empty list is a list of.
            (GotValue::Tensors(got), Value::Ints(want)) if want.is_empty() => self.count(place(), got.len(), 0),
            (GotValue::Plain(got), want) if got.kind() == want.kind() => self.plain(place(), got, want),
            _ => self.found.push(Mismatch::Kind { place: place(), got: got.kind(), want: want.kind() }),
        }
    }

    fn count(&mut self, place: Place, got: usize, want: usize) {
        if got != want {
            self.found.push(Mismatch::Count { place: Some(place), got, want });
        }
    }

    fn plain(&mut self, place: Place, got: &Value, want: &Value) {
        let tolerance = self.tolerance();
        let floats = |got: f64, want: f64| tolerance.admits(&Element::Float(got), &Element::Float(want));
        let same = match (got, want) {
            (Value::Float(got), Value::Float(want)) => floats(*got, *want),
            (Value::Floats(got), Value::Floats(want)) => {
                got.len() == want.len() && got.iter().zip(want).all(|(got, want)| floats(*got, *want))
            }
            (Value::Complex(a, b), Value::Complex(c, d)) => {
                tolerance.admits(&Element::Complex(*a, *b), &Element::Complex(*c, *d))
            }
            _ => got == want,
        };
        if !same {
            self.found.push(Mismatch::Plain { place, got: format!("{got:?}"), want: format!("{want:?}") });
        }
    }

    fn output(&mut self, place: Place, got: &GotTensor, want: &TensorSpec) {
        self.metadata(&place, got, want);
        self.values(&place, got, want);
        self.alias(place, got, want.alias.as_ref());
    }

    /// dtype, sizes, strides and offset.
    pub(super) fn metadata(&mut self, place: &Place, got: &GotTensor, want: &TensorSpec) {
        for change in geometry_changes(got, want) {
            self.found.push(Mismatch::Metadata { place: place.clone(), change });
        }
    }

    /// Every element, where dtype and sizes leave something to compare and the values are part of the contract.
    pub(super) fn values(&mut self, place: &Place, got: &GotTensor, want: &TensorSpec) {
        let Some(wanted) = want.storage.as_deref().and_then(|name| self.storages.get(name)) else { return };
        let Some(bytes) = self.bytes(got.storage) else {
            self.found.push(Mismatch::Unreported { what: format!("the storage of {place}") });
            return;
        };
        let end = extent(&got.sizes, &got.strides, got.offset).and_then(|end| end.checked_mul(got.dtype.size()));
        if end.is_none_or(|end| end > bytes.len()) {
            self.found.push(Mismatch::OutOfBounds { place: place.clone(), has: bytes.len() });
            return;
        }
        if got.dtype != want.dtype || got.sizes != want.sizes {
            return;
        }
        let read = |bytes: &[u8], index: &[usize], strides: &[isize], offset, conj, neg| {
            let start = byte_of(index, strides, offset, want.dtype)?;
            let element = bytes.get(start..start.checked_add(want.dtype.size())?)?;
            Some(Element::decode(want.dtype, element)?.seen_through(conj, neg))
        };
        let tolerance = self.tolerance();
        let (mut first, mut wrong, mut total) = (None, 0usize, 0usize);
        each_index(&want.sizes, |index| {
            let element = read(bytes, index, &got.strides, got.offset, got.conj, got.neg);
            let recorded = read(wanted, index, &want.strides, want.offset, want.conj, want.neg);
            // Both ranges were checked as a whole, so neither is missing here.
            if let (Some(element), Some(recorded)) = (element, recorded) {
                total += 1;
                if !tolerance.admits(&element, &recorded) {
                    wrong += 1;
                    first.get_or_insert_with(|| (index.to_vec(), element, recorded));
                }
            }
            true
        });
        if let Some((index, got, want)) = first {
            let allowed = tolerance.allowed(&want);
            self.found.push(Mismatch::Element { place: place.clone(), index, got, want, allowed, wrong, total });
        }
    }

    fn alias(&mut self, place: Place, got: &GotTensor, want: Option<&Alias>) {
        let shared = self.shared_argument(got, want);
        let agrees = match (&shared, want) {
            (None, None) => true,
            // A recording may leave out that a view of a storage without bytes is one.
            (Some(_), None) => self.after.storages.iter().any(|s| s.id == got.storage && s.bytes.is_empty()),
            (Some((arg, kind)), Some(want)) => *arg == want.arg && *kind == want.kind,
            _ => false,
        };
        if !agrees {
            let want = want.map(|alias| (alias.arg.clone(), alias.kind));
            self.found.push(Mismatch::Alias { place, got: shared, want });
        }
    }

    /// The argument whose memory `got` lies in, before or after the call. Of several such arguments the wanted one is
    /// named, if it is among them, otherwise the first.
    fn shared_argument(&self, got: &GotTensor, want: Option<&Alias>) -> Option<(String, AliasKind)> {
        let lies_in = |path: &str, spec: &TensorSpec| {
            let before = self.call.buffer_of(spec).and_then(|i| self.after.buffers.get(i)).copied();
            let now = self.argument(path).map(|tensor| tensor.storage);
            before == Some(got.storage) || now == Some(got.storage)
        };
        let arguments = self.call.tensors();
        let sharing: Vec<_> =
            arguments.iter().filter(|(path, spec)| lies_in(path, spec)).map(|(path, _)| path).collect();
        let wanted = want.and_then(|want| sharing.iter().find(|path| **path == &want.arg));
        let path = *wanted.or(sharing.first())?;
        let state = self.argument(path);
        let kind = match got.identity {
            Identity::Other => AliasKind::View,
            // Two arguments may be one tensor (`add(x, y, out=x)`); the recording names the first.
            Identity::Argument(i) => {
                let is = arguments.get(i).and_then(|(path, _)| self.argument(path));
                if is.zip(state).is_some_and(|(a, b)| coincide(a, b)) { AliasKind::Same } else { AliasKind::View }
            }
            // Without identities a view over exactly the argument's elements cannot be told from the argument.
            Identity::ByGeometry => match want {
                Some(Alias { kind: AliasKind::View, .. }) => AliasKind::View,
                _ if state.is_some_and(|state| coincide(got, state)) => AliasKind::Same,
                _ => AliasKind::View,
            },
        };
        Some((path.clone(), kind))
    }
}

/// Whether two tensors lie in the same memory with the same geometry, dtype and bits.
fn coincide(a: &GotTensor, b: &GotTensor) -> bool {
    let geometry = |t: &GotTensor| (t.storage, t.dtype, t.offset, t.conj, t.neg);
    geometry(a) == geometry(b) && a.sizes == b.sizes && a.strides == b.strides
}

/// Everything but the bits in which `got` differs from `want`.
pub(super) fn geometry_changes(got: &GotTensor, want: &TensorSpec) -> Vec<Change> {
    let mut changes = Vec::new();
    if got.dtype != want.dtype {
        changes.push(Change::DType(got.dtype, want.dtype));
    }
    if got.sizes != want.sizes {
        changes.push(Change::Sizes(got.sizes.clone(), want.sizes.clone()));
    }
    if got.strides != want.strides {
        changes.push(Change::Strides(got.strides.clone(), want.strides.clone()));
    }
    if got.offset != want.offset {
        changes.push(Change::Offset(got.offset, want.offset));
    }
    changes
}

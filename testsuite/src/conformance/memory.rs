//! Arguments after a call: those that were written against the recording, all others against what they were, byte by
//! byte. Results are `compare.rs`'s.

use super::case::{Expected, Mutated};
use super::compare::{Comparison, geometry_changes};
use super::element::{byte_of, each_index};
use super::mismatch::{Change, Mismatch, Place};
use super::replay::{GotTensor, StorageId};
use super::value::TensorSpec;

impl<'a> Comparison<'a> {
    /// Written arguments as recorded, the others as they were.
    pub(super) fn arguments_after_return(&mut self, mutated: &[Mutated]) {
        let arguments = self.call.tensors();
        let entry = |path: &str| mutated.iter().find(|m| m.arg == path);
        // The buffers that a written argument lies in: their bytes are compared with the recording instead of with
        // what they were, also where an argument that is not listed shares them.
        let mut written: Vec<Option<usize>> = Vec::new();
        for (path, spec) in &arguments {
            if let Some(m) = entry(path) {
                written.push(self.call.buffer_of(spec));
                self.written(path, spec, &m.tensor, mutated);
            }
        }
        for (path, spec) in &arguments {
            if entry(path).is_none() {
                let buffer = self.call.buffer_of(spec);
                self.unchanged(path, spec, !written.contains(&buffer), false);
            }
        }
    }

    /// Nothing may have changed, except the bytes of outputs after an error that only the data could reveal.
    pub(super) fn arguments_after_error(&mut self) {
        for (path, spec) in self.call.tensors() {
            let spoilt = self.data_dependent_error() && self.is_written_by_schema(&path);
            self.unchanged(&path, spec, !spoilt, true);
        }
    }

    /// Integer division by zero is found while elements are being written.
    fn data_dependent_error(&self) -> bool {
        matches!(&self.case.expected, Expected::Error(error) if error.message.contains("ZeroDivisionError"))
    }

    fn is_written_by_schema(&self, path: &str) -> bool {
        let name = self.case.op.split('.').next().unwrap_or_default();
        path.starts_with("out") || (name.ends_with('_') && path.starts_with("self"))
    }

    fn unchanged(&mut self, path: &str, spec: &TensorSpec, bytes_too: bool, failed: bool) {
        let arg = || path.to_owned();
        let Some(state) = self.argument(path) else {
            self.found.push(Mismatch::Unreported { what: format!("argument {path}") });
            return;
        };
        let mut changes = geometry_changes(state, spec);
        if state.conj != spec.conj {
            changes.push(Change::Conj(state.conj, spec.conj));
        }
        if state.neg != spec.neg {
            changes.push(Change::Neg(state.neg, spec.neg));
        }
        self.found.extend(changes.into_iter().map(|change| Mismatch::ArgumentMetadata { arg: arg(), change, failed }));
        let Some((buffer, before)) = self.call.buffer_of(spec).and_then(|i| self.memory(i)) else {
            self.found.push(Mismatch::Unreported { what: format!("the buffer of argument {path}") });
            return;
        };
        if state.storage != buffer {
            self.found.push(Mismatch::ArgumentMoved { arg: arg(), failed });
        }
        if !bytes_too {
            return;
        }
        let Some(now) = self.bytes(state.storage) else {
            self.found.push(Mismatch::Unreported { what: format!("the storage of argument {path}") });
            return;
        };
        if now.len() != before.len() {
            let (got, want) = (now.len(), before.len());
            self.found.push(Mismatch::ArgumentLength { arg: arg(), got, want, failed });
        } else if let Some(byte) = (0..now.len()).find(|&byte| now[byte] != before[byte]) {
            let (got, want) = (now[byte], before[byte]);
            self.found.push(Mismatch::ArgumentBytes { arg: arg(), byte, got, want, failed });
        }
    }

    /// The memory made from buffer `i` and its initial bytes.
    fn memory(&self, i: usize) -> Option<(StorageId, &'a [u8])> {
        self.after.buffers.get(i).copied().zip(self.call.buffers.get(i).map(|buffer| buffer.bytes))
    }

    fn written(&mut self, path: &str, before: &TensorSpec, want: &TensorSpec, mutated: &[Mutated]) {
        let place = Place::Argument(path.to_owned());
        let Some(state) = self.argument(path) else {
            self.found.push(Mismatch::Unreported { what: place.to_string() });
            return;
        };
        self.metadata(&place, state, want);
        self.values(&place, state, want);
        let Some(wanted) = want.storage.as_deref().and_then(|name| self.storages.get(name)) else { return };
        let Some((buffer, initial)) = self.call.buffer_of(before).and_then(|i| self.memory(i)) else {
            self.found.push(Mismatch::Unreported { what: format!("the buffer of argument {path}") });
            return;
        };
        // A grown storage is recorded only as far as its elements; so is one that `set_` put in the place of another.
        if wanted.len() != initial.len() || self.replaces_storage() {
            return;
        }
        if state.storage != buffer {
            self.found.push(Mismatch::Moved { place });
            return;
        }
        let Some(now) = self.bytes(state.storage) else { return };
        if now.len() != wanted.len() {
            self.found.push(Mismatch::StorageLength { place, got: now.len(), want: wanted.len() });
            return;
        }
        let covered = self.covered(state.storage, now.len(), mutated);
        if let Some(byte) = (0..now.len()).find(|&byte| !covered[byte] && now[byte] != wanted[byte]) {
            self.found.push(Mismatch::Gap { place, byte, got: now[byte], want: wanted[byte] });
        }
    }

    /// `set_` is the one operator that gives a tensor another storage.
    fn replaces_storage(&self) -> bool {
        self.case.op.split('.').next().is_some_and(|name| matches!(name, "set_" | "set" | "set_data"))
    }

    /// Which bytes of a memory some written argument's elements cover: those are compared as values.
    fn covered(&self, storage: StorageId, len: usize, mutated: &[Mutated]) -> Vec<bool> {
        let mut covered = vec![false; len];
        for state in mutated.iter().filter_map(|m| self.argument(&m.arg)).filter(|state| state.storage == storage) {
            cover(state, &mut covered);
        }
        covered
    }
}

fn cover(tensor: &GotTensor, covered: &mut [bool]) {
    each_index(&tensor.sizes, |index| {
        let start = byte_of(index, &tensor.strides, tensor.offset, tensor.dtype);
        let end = start.and_then(|start| start.checked_add(tensor.dtype.size()));
        // An element outside the storage ends the walk: `values` has reported it, and sizes may be absurd.
        match start.zip(end).and_then(|(start, end)| covered.get_mut(start..end)) {
            Some(bytes) => {
                bytes.fill(true);
                true
            }
            None => false,
        }
    });
}

//! The tensors of a session that outlive its runs. Those of the program are frozen and shared; one is copied when it is
//! about to be written, once, and then is this session's.

use crate::copies::Copies;
use crate::program::Inner;
use monomorph_core::{AnyTensor, IValue, Result};
use std::collections::HashSet;

pub(super) struct State {
    /// By input of the graph; None for those of the caller.
    tensors: Vec<IValue>,
    /// The storages that other sessions share.
    shared: HashSet<usize>,
    /// Those that took the place of shared ones, because a run was to write them.
    written: Vec<usize>,
    copies: Copies,
}

impl State {
    pub(super) fn new(program: &Inner) -> State {
        let tensors: Vec<IValue> = program.given.iter().map(|tensor| IValue::from(tensor.clone())).collect();
        let shared = tensors.iter().flat_map(IValue::tensors).map(AnyTensor::storage_id).collect();
        State { tensors, shared, written: Vec::new(), copies: program.copies }
    }

    /// What stands for an input of the graph that is not the caller's.
    pub(super) fn value(&self, position: usize) -> IValue {
        self.tensors.get(position).cloned().unwrap_or_default()
    }

    /// All of them.
    pub(super) fn tensors(&self) -> impl Iterator<Item = &AnyTensor> {
        self.tensors.iter().flat_map(IValue::tensors)
    }

    pub(super) fn tensor(&self, position: usize) -> Option<&AnyTensor> {
        self.tensors.get(position)?.as_tensor()
    }

    /// Whether inputs share memory with each other or with what the session has: then who is a view of whom would not
    /// follow from the program.
    pub(super) fn shares_memory(&self, inputs: &[IValue]) -> bool {
        let mut storages: Vec<usize> = inputs
            .iter()
            .flat_map(IValue::tensors)
            .filter(|tensor| tensor.numel() > 0)
            .map(AnyTensor::storage_id)
            .collect();
        storages.sort_unstable();
        storages.windows(2).any(|pair| pair[0] == pair[1])
            || self.tensors().any(|tensor| storages.binary_search(&tensor.storage_id()).is_ok())
    }

    /// Whether an input lies in a storage that runs write.
    pub(super) fn has_written(&self, inputs: &[IValue]) -> bool {
        let mut storages = inputs.iter().flat_map(IValue::tensors).map(AnyTensor::storage_id);
        !self.written.is_empty() && storages.any(|storage| self.written.contains(&storage))
    }

    /// A tensor of the same geometry in a copy of the storage.
    pub(super) fn copied(&self, tensor: &AnyTensor) -> Result<AnyTensor> {
        self.copied_in(tensor, usize::MAX)
    }

    /// The same in a copy of the first `bytes` of it, if it has more.
    pub(super) fn copied_in(&self, tensor: &AnyTensor, bytes: usize) -> Result<AnyTensor> {
        let mut storage = tensor.storage_to_vec()?;
        storage.truncate(bytes);
        (self.copies.storage)(&storage)?.with_geometry(tensor.geometry().clone())
    }

    /// True if a storage is shared with other sessions, so that it must not be written.
    pub(super) fn is_shared(&self, storage: usize) -> bool {
        self.shared.contains(&storage)
    }

    /// Makes a storage this session's own, if it is not: a copy takes its place in every tensor of the session and of
    /// the run.
    pub(super) fn own(&mut self, storage: usize, frames: &mut [Vec<IValue>]) -> Result<()> {
        if !self.is_shared(storage) {
            return Ok(());
        }
        let in_it = |tensor: &&AnyTensor| tensor.storage_id() == storage;
        let Some(copy) = self.tensors.iter().flat_map(IValue::tensors).find(in_it) else { return Ok(()) };
        let copy = (self.copies.storage)(&copy.storage_to_vec()?)?;
        for value in self.tensors.iter_mut().chain(frames.iter_mut().flatten()) {
            moved(value, storage, &copy)?;
        }
        self.shared.remove(&storage);
        self.written.push(copy.storage_id());
        Ok(())
    }
}

/// Lets a value that lies in `storage` lie in its copy.
fn moved(value: &mut IValue, storage: usize, copy: &AnyTensor) -> Result<()> {
    let there = |tensor: &AnyTensor| copy.with_geometry(tensor.geometry().clone());
    match value {
        IValue::Tensor(tensor) if tensor.storage_id() == storage => *value = there(tensor)?.into(),
        IValue::Tensors(tensors) => {
            for tensor in tensors.iter_mut().filter(|tensor| tensor.storage_id() == storage) {
                *tensor = there(tensor)?;
            }
        }
        IValue::OptionalTensors(tensors) => {
            for tensor in tensors.iter_mut().flatten().filter(|tensor| tensor.storage_id() == storage) {
                *tensor = there(tensor)?;
            }
        }
        _ => {}
    }
    Ok(())
}

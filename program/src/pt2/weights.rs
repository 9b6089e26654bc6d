//! Parameters, buffers and constants: tensors over the records of an archive. Records that lie in the file as they are
//! become storages over its memory; what is deflated, lies at an odd address or shares bytes with another record is
//! copied.

use super::archive::{Archive, Record};
use super::model::{Payload, PayloadConfig, SymInt, TensorMeta};
use super::numbers;
use crate::copies::copied;
use crate::error::{ProgramError, Result, cut, malformed, unsupported};
use monomorph_core::{AnyTensor, DefaultDevice, Device, Error as OperatorError, Geometry, Standard, Tensor};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// One tensor: the record that it lies in, by path, and its geometry there.
struct Weight {
    name: String,
    path: String,
    geometry: Geometry,
}

/// What is to be made of an archive's records once its memory is given away.
#[derive(Default)]
pub(super) struct Weights {
    weights: Vec<Weight>,
    records: BTreeMap<String, Record>,
}

impl Weights {
    /// Adds the tensors that a configuration lists, whose records lie in `folder`.
    pub(super) fn add(&mut self, archive: &mut Archive<'_>, folder: &str, config: &str) -> Result<()> {
        let place = format!("{folder}/{config}");
        if !archive.has(&place) {
            return Ok(());
        }
        let json = archive.bytes(&place)?;
        let PayloadConfig { config } =
            serde_json::from_slice(&json).map_err(|error| malformed(&place, error.to_string()))?;
        let mut entries: Vec<(String, Payload)> = config.into_iter().collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, payload) in entries {
            let place = format!("{folder}: {}", cut(&name));
            if payload.use_pickle {
                return Err(unsupported(format!("{place} is pickled; pickles are programs and are never run")));
            }
            let Some(meta) = payload.tensor_meta else {
                return Err(unsupported(format!("{place} is an object of a custom class, which is not read")));
            };
            let geometry = geometry(&place, &meta)?;
            let path = format!("{folder}/{}", payload.path_name);
            if !self.records.contains_key(&path) {
                let record = archive.record(&path)?;
                self.records.insert(path.clone(), record);
            }
            self.weights.push(Weight { name, path, geometry });
        }
        Ok(())
    }

    /// The tensors by name. `owner` is the archive's memory.
    pub(super) fn make<D, O>(mut self, mut owner: O) -> Result<HashMap<Box<str>, AnyTensor>>
    where
        D: Device,
        O: AsMut<[u8]> + Send + 'static,
        Standard: DefaultDevice<D>,
    {
        let failed = |place: &str| {
            let place = cut(place);
            move |source: OperatorError| ProgramError::Tensor { place, source }
        };
        // Each record is either one that the memory keeps, or a copy.
        let mut storages: HashMap<String, Tensor<D>> = HashMap::new();
        let mut kept: Vec<(Range<usize>, String)> = Vec::new();
        let bytes = owner.as_mut();
        let first = bytes.as_ptr().addr();
        for (path, record) in std::mem::take(&mut self.records) {
            let range = match record {
                Record::Inflated(bytes) => {
                    storages.insert(path.clone(), copied::<D>(&bytes).map_err(failed(&path))?);
                    continue;
                }
                Record::Stored(range) => range,
            };
            if range.is_empty() || !(first + range.start).is_multiple_of(16) {
                storages.insert(path.clone(), copied::<D>(&bytes[range]).map_err(failed(&path))?);
            } else {
                kept.push((range, path));
            }
        }
        kept.sort_by_key(|(range, _)| (range.start, range.end));
        let mut apart: Vec<(Range<usize>, String)> = Vec::with_capacity(kept.len());
        for (range, path) in kept {
            if apart.last().is_some_and(|(before, _)| range.start < before.end) {
                storages.insert(path.clone(), copied::<D>(&bytes[range]).map_err(failed(&path))?);
            } else {
                apart.push((range, path));
            }
        }
        let parts: Vec<Range<usize>> = apart.iter().map(|(range, _)| range.clone()).collect();
        let tensors = Tensor::<D>::from_owner(owner, &parts).map_err(failed("the archive's memory"))?;
        storages.extend(apart.into_iter().map(|(_, path)| path).zip(tensors));
        let mut made = HashMap::new();
        for Weight { name, path, geometry } in self.weights {
            let Some(storage) = storages.get(&path) else { continue };
            let tensor = storage.with_geometry(geometry).map_err(failed(&name))?;
            // Read-only: a session that writes one copies it first.
            tensor.freeze().map_err(failed(&name))?;
            made.insert(name.into_boxed_str(), tensor.into_any());
        }
        Ok(made)
    }
}

fn geometry(place: &str, meta: &TensorMeta) -> Result<Geometry> {
    let known = |value: &SymInt| match value {
        SymInt::Int(value) => Ok(*value),
        SymInt::Expr(_) => Err(malformed(place, "a size of a stored tensor is left open")),
    };
    let dtype = numbers::dtype(meta.dtype).map_err(|error| unsupported(format!("{place}: {error}")))?;
    if let Some(layout) = meta.layout {
        numbers::layout(layout).map_err(|error| unsupported(format!("{place}: {error}")))?;
    }
    let sizes: Vec<i64> = meta.sizes.iter().map(known).collect::<Result<_>>()?;
    let strides: Vec<i64> = meta.strides.iter().map(known).collect::<Result<_>>()?;
    let offset = known(&meta.storage_offset)?;
    Geometry::new(dtype, &sizes, &strides, offset).map_err(|source| ProgramError::Tensor { place: cut(place), source })
}

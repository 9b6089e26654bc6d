//! The bytes of every storage of a `.safetensors` file. Treats entries as bytes: the dtype in the header is only a
//! hint, because tensors may view a storage with another one.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use safetensors::SafeTensors;

use super::case::CaseError;

/// The storages of one file by name.
#[derive(Debug, Clone, Default)]
pub struct Storages {
    file: Vec<u8>,
    entries: HashMap<String, Range<usize>>,
}

impl Storages {
    /// Reads `path` whole.
    pub fn load(path: &Path) -> Result<Storages, CaseError> {
        let bytes = std::fs::read(path).map_err(|error| CaseError::read(path, &error))?;
        Storages::parse(&path.display().to_string(), bytes)
    }

    /// Takes the contents of a file; `file` names it in errors.
    pub fn parse(file: &str, bytes: Vec<u8>) -> Result<Storages, CaseError> {
        let broken = |problem: String| CaseError::Storages { file: file.to_owned(), problem };
        let (header, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| broken(error.to_string()))?;
        let data = header.checked_add(size_of::<u64>()).ok_or_else(|| broken("the header overflows".to_owned()))?;
        let mut entries = HashMap::new();
        for (name, info) in metadata.tensors() {
            let (start, end) = info.data_offsets;
            let range = data.checked_add(start).zip(data.checked_add(end)).map(|(start, end)| start..end);
            match range.filter(|range| bytes.get(range.clone()).is_some()) {
                Some(range) => entries.insert(name, range),
                None => return Err(broken(format!("entry {name} lies outside the file"))),
            };
        }
        Ok(Storages { file: bytes, entries })
    }

    /// The bytes of one storage.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.entries.get(name).and_then(|range| self.file.get(range.clone()))
    }

    /// How many storages there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

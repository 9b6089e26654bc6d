//! What was recorded of a program: `NAME.json`, and the tensors of `NAME.safetensors`.

use monomorph::files::safetensors;
use monomorph::prelude::CopiesMethods;
use monomorph::{Cpu, Tensor};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was recorded of one program, for both of its archives.
#[derive(Debug)]
pub struct Record {
    pub(super) name: String,
    dir: PathBuf,
    pub(super) sets: usize,
    /// Whether the sets are calls of one instance.
    pub(super) successive: bool,
    /// Names of inputs that are to be refused, with the reason.
    pub(super) refused: Vec<(String, String)>,
    numbers: BTreeMap<String, Json>,
    tolerances: BTreeMap<String, Tolerance>,
    tensors: BTreeMap<String, Tensor<Cpu>>,
}

/// How far a value may be off: `|x - y| <= atol + rtol * |y|`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tolerance {
    pub(super) rtol: f64,
    pub(super) atol: f64,
}

/// A recorded value.
pub(super) enum Entry {
    Tensor(Tensor<Cpu>),
    Number(Json),
}

impl Record {
    /// The names of the programs of a directory, sorted.
    ///
    /// # Errors
    /// The directory cannot be read or has no program.
    pub fn names(dir: &Path) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let stem = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_suffix(".json")?;
            dir.join(format!("{name}.pt2")).exists().then(|| name.to_owned())
        };
        let mut names: Vec<String> = entries.filter_map(Result::ok).filter_map(stem).collect();
        if names.is_empty() {
            return Err(format!("{}: holds no programs; expected are NAME.pt2 with NAME.json", dir.display()));
        }
        names.sort();
        Ok(names)
    }

    /// Reads what was recorded of a program.
    ///
    /// # Errors
    /// A file is missing or not of the format.
    pub fn load(dir: &Path, name: &str) -> Result<Record, String> {
        let file = |suffix: &str| dir.join(format!("{name}.{suffix}"));
        let read = |path: PathBuf| std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
        let json: Json =
            serde_json::from_slice(&read(file("json"))?).map_err(|error| format!("{name}.json: {error}"))?;
        let missing = |key: &str| format!("{name}.json: {key} is missing or of another kind");
        let sets = json["sets"].as_u64().ok_or_else(|| missing("sets"))? as usize;
        let successive = json["seq"].as_bool().ok_or_else(|| missing("seq"))?;
        let mut numbers = BTreeMap::new();
        for key in ["non_tensor_inputs", "non_tensor_outputs"] {
            let object = json[key].as_object().ok_or_else(|| missing(key))?;
            numbers.extend(object.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let mut tolerances = BTreeMap::new();
        for (entry, tolerance) in json["tolerance"].as_object().ok_or_else(|| missing("tolerance"))? {
            let bound = |key: &str| tolerance[key].as_f64().ok_or_else(|| missing("tolerance"));
            tolerances.insert(entry.clone(), Tolerance { rtol: bound("rtol")?, atol: bound("atol")? });
        }
        let mut refused = Vec::new();
        for case in json["expects_error"].as_array().ok_or_else(|| missing("expects_error"))? {
            let text = |key: &str| case[key].as_str().map(str::to_owned).ok_or_else(|| missing("expects_error"));
            refused.push((text("inputs")?, text("why")?));
        }
        let tensors = safetensors::read(file("safetensors")).map_err(|error| error.to_string())?;
        Ok(Record {
            name: name.to_owned(),
            dir: dir.to_owned(),
            sets,
            successive,
            refused,
            numbers,
            tolerances,
            tensors: tensors.into_iter().collect(),
        })
    }

    /// The program's archives that there are, with their form: as it was exported, and decomposed.
    pub fn archives(&self) -> Vec<(&'static str, PathBuf)> {
        let forms = [("exported", "pt2"), ("core", "core.pt2")];
        let path = |(form, suffix)| (form, self.dir.join(format!("{}.{suffix}", self.name)));
        forms.into_iter().map(path).filter(|(_, path)| path.exists()).collect()
    }

    /// The recorded value of this name.
    pub(super) fn entry(&self, name: &str) -> Result<Option<Entry>, String> {
        if let Some(tensor) = self.tensors.get(name) {
            // A copy: a program may write its inputs.
            let copy = tensor.deep_clone().map_err(|error| format!("{name}: {error}"))?;
            return Ok(Some(Entry::Tensor(copy)));
        }
        Ok(self.numbers.get(name).cloned().map(Entry::Number))
    }

    /// The names of recorded values that begin with this, and what follows in each.
    pub(super) fn entries<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let names = self.tensors.keys().chain(self.numbers.keys());
        names.filter_map(move |name| Some((name.as_str(), name.strip_prefix(prefix)?)))
    }

    /// How far the value of this name may be off; it has no number of a set.
    pub(super) fn tolerance(&self, name: &str) -> Tolerance {
        self.tolerances.get(name).copied().unwrap_or_default()
    }
}

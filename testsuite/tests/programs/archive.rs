//! Archives as tests take them apart and put them together.

use monomorph::program::{Program, ProgramError};
use serde_json::Value as Json;
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// A golden archive.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden/programs")).join(name)
}

/// Its bytes.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).expect("a golden archive")
}

/// The entries of an archive, with their contents.
#[derive(Clone)]
pub(crate) struct Entries(pub(crate) Vec<(String, Vec<u8>)>);

impl Entries {
    pub(crate) fn of(name: &str) -> Entries {
        let mut zip = ZipArchive::new(Cursor::new(bytes(name))).expect("a zip");
        let mut entries = Vec::new();
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index).expect("an entry");
            let mut data = Vec::new();
            entry.read_to_end(&mut data).expect("its bytes");
            entries.push((entry.name().expect("a name").into_owned(), data));
        }
        Entries(entries)
    }

    /// The entry whose path ends so.
    pub(crate) fn entry(&mut self, suffix: &str) -> &mut Vec<u8> {
        let entry = self.0.iter_mut().find(|(name, _)| name.ends_with(suffix));
        &mut entry.unwrap_or_else(|| panic!("{suffix}")).1
    }

    pub(crate) fn json(&mut self, suffix: &str) -> Json {
        serde_json::from_slice(self.entry(suffix)).expect("JSON")
    }

    pub(crate) fn set_json(&mut self, suffix: &str, json: &Json) {
        *self.entry(suffix) = serde_json::to_vec(json).expect("JSON");
    }

    /// The archive with the JSON of its model changed.
    pub(crate) fn with_model(mut self, change: impl FnOnce(&mut Json)) -> Entries {
        let mut model = self.json("models/model.json");
        change(&mut model);
        self.set_json("models/model.json", &model);
        self
    }

    /// As an archive. Stored entries begin at multiples of 64 bytes, as those of PyTorch do.
    pub(crate) fn zip(&self, method: CompressionMethod) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method).with_alignment(64);
        for (name, data) in &self.0 {
            writer.start_file(name.as_str(), options).expect("an entry");
            writer.write_all(data).expect("its bytes");
        }
        writer.finish().expect("an archive").into_inner()
    }

    pub(crate) fn load(&self) -> Result<Program, ProgramError> {
        Program::from_bytes(self.zip(CompressionMethod::Stored))
    }

    /// What is wrong with it.
    pub(crate) fn refusal(&self) -> String {
        self.load().map(|_| ()).expect_err("is to be refused").to_string()
    }
}

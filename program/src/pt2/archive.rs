//! The zip of an archive: which entries there are and where their bytes lie. Owns the budget of what is inflated; an
//! entry that is stored is never copied.

use crate::error::{ProgramError, Result, cut, malformed, unsupported};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::ops::Range;
use zip::read::{ArchiveOffset, Config};
use zip::{CompressionMethod, ZipArchive};

/// What may be inflated of a file: so many bytes for each of its own. Compressed weights of one value only, which
/// deflate a thousandfold, are refused for it.
const INFLATED_PER_BYTE: u64 = 4;

/// What may be inflated of a small file. The JSON of a graph deflates tenfold, and has a few megabytes.
const INFLATED_AT_LEAST: u64 = 16 << 20;

/// The entries of an archive, by their path without its top folder.
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    zip: ZipArchive<Cursor<&'a [u8]>>,
    entries: HashMap<String, usize>,
    left: u64,
}

/// The bytes of an entry.
pub(super) enum Record {
    /// In the file itself.
    Stored(Range<usize>),
    /// Inflated.
    Inflated(Vec<u8>),
}

fn broken(what: impl ToString) -> ProgramError {
    ProgramError::Archive { what: what.to_string() }
}

impl<'a> Archive<'a> {
    /// The entries of the archive.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Archive<'a>> {
        // Offsets count from the first byte of the file. Looking for another beginning, as for a self-extracting
        // archive, would be misled by the archive of example inputs that lies inside.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let zip = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(broken)?;
        let mut entries = HashMap::new();
        let mut top: Option<String> = None;
        for index in 0..zip.len() {
            let Some(name) = zip.name_for_index(index) else { continue };
            let name = &*name.map_err(broken)?;
            let Some((folder, path)) = name.split_once('/') else {
                return Err(unsupported(format!(
                    "entry {} lies outside of a folder, as no archive of torch.export has it",
                    cut(name)
                )));
            };
            if *top.get_or_insert_with(|| folder.to_owned()) != folder {
                return Err(broken(format!("top folders {} and {}", cut(top.as_deref().unwrap_or("")), cut(folder))));
            }
            if entries.insert(path.to_owned(), index).is_some() {
                return Err(broken(format!("two entries {}", cut(name))));
            }
        }
        let left = (bytes.len() as u64).saturating_mul(INFLATED_PER_BYTE).max(INFLATED_AT_LEAST);
        Ok(Archive { bytes, zip, entries, left })
    }

    /// The paths of all entries.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// True if there is such an entry.
    pub(super) fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// Where the bytes of an entry are.
    pub(super) fn record(&mut self, path: &str) -> Result<Record> {
        let index = *self.entries.get(path).ok_or_else(|| malformed(path, "there is no such entry in the archive"))?;
        let mut entry = self.zip.by_index(index).map_err(|error| malformed(path, error.to_string()))?;
        if entry.compression() == CompressionMethod::Stored {
            let start = entry.data_start().ok_or_else(|| malformed(path, "the entry has no data"))?;
            let end = start.checked_add(entry.size());
            let inside = |end: &u64| *end <= self.bytes.len() as u64 && entry.compressed_size() == entry.size();
            let Some(end) = end.filter(inside) else {
                return Err(malformed(
                    path,
                    format!("{} bytes from byte {start} on reach past the file", entry.size()),
                ));
            };
            return Ok(Record::Stored(start as usize..end as usize));
        }
        let size = entry.size();
        if size > self.left {
            let what = format!(
                "the entry inflates to {size} bytes; {INFLATED_PER_BYTE} for each byte of the file or 16 MiB are \
                 accepted, of which {} are left",
                self.left
            );
            return Err(malformed(path, what));
        }
        self.left -= size;
        let mut inflated = Vec::with_capacity(size as usize);
        // One byte more than was announced shows that the announcement is wrong.
        let read = entry.by_ref().take(size.saturating_add(1)).read_to_end(&mut inflated);
        read.map_err(|error| malformed(path, error.to_string()))?;
        if inflated.len() as u64 != size {
            return Err(malformed(path, format!("the entry is to have {size} bytes and inflates to another number")));
        }
        Ok(Record::Inflated(inflated))
    }

    /// The bytes of an entry.
    pub(super) fn bytes(&mut self, path: &str) -> Result<Cow<'a, [u8]>> {
        Ok(match self.record(path)? {
            Record::Stored(range) => Cow::Borrowed(&self.bytes[range]),
            Record::Inflated(bytes) => Cow::Owned(bytes),
        })
    }

    /// The text of a short entry, such as `byteorder`.
    pub(super) fn text(&mut self, path: &str) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes(path)?).trim().to_owned())
    }
}

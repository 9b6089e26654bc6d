//! What a program carries behind its own bytes: images of machine code, and files. Owns the format.
//!
//! ```text
//! program | entries, deflated | their length, 8 bytes | checksum, 8 bytes | "monogpu1"
//! entry     keys: count, 4 bytes, and 16 bytes each | name: length, 4 bytes, and text | length, 8 bytes, and bytes
//! ```
//!
//! An entry with keys is an image, one with a name a file.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"monogpu1";
const TRAILER: usize = 24;

/// One thing that is carried.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) keys: Vec<u128>,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

fn checksum(bytes: &[u8]) -> u64 {
    // G. Fowler, L. C. Noll, K.-P. Vo.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The program without what it carries, and that: nothing where it carries nothing.
///
/// # Errors
/// What it carries is not whole.
pub(crate) fn split(program: &[u8]) -> Result<(&[u8], Vec<Entry>), String> {
    let Some((rest, trailer)) = program.split_at_checked(program.len().saturating_sub(TRAILER)) else {
        return Ok((program, Vec::new()));
    };
    if trailer.get(16..) != Some(&MAGIC[..]) {
        return Ok((program, Vec::new()));
    }
    let broken = || "what the program carries is damaged; fetch it again".to_owned();
    let word = |at: usize| trailer[at..at + 8].try_into().map(u64::from_le_bytes).map_err(|_| broken());
    let length = usize::try_from(word(0)?).map_err(|_| broken())?;
    let at = rest.len().checked_sub(length).ok_or_else(broken)?;
    let (own, packed) = rest.split_at(at);
    if checksum(packed) != word(8)? {
        return Err(broken());
    }
    let mut raw = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut raw).map_err(|_| broken())?;
    let mut left = raw.as_slice();
    let mut entries = Vec::new();
    while !left.is_empty() {
        entries.push(entry(&mut left).ok_or_else(broken)?);
    }
    Ok((own, entries))
}

fn take<'a>(left: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (first, rest) = left.split_at_checked(bytes)?;
    *left = rest;
    Some(first)
}

fn number(left: &mut &[u8], bytes: usize) -> Option<usize> {
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(take(left, bytes)?);
    usize::try_from(u64::from_le_bytes(word)).ok()
}

fn entry(left: &mut &[u8]) -> Option<Entry> {
    let keys = (0..number(left, 4)?).map(|_| Some(u128::from_le_bytes(take(left, 16)?.try_into().ok()?)));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    let length = number(left, 4)?;
    let name = String::from_utf8(take(left, length)?.to_vec()).ok()?;
    let length = number(left, 8)?;
    Some(Entry { keys, name, bytes: take(left, length)?.to_vec() })
}

/// A program that carries these.
///
/// # Errors
/// No room.
pub(crate) fn join(program: &[u8], entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    for Entry { keys, name, bytes } in entries {
        let mut head = (keys.len() as u32).to_le_bytes().to_vec();
        keys.iter().for_each(|key| head.extend(key.to_le_bytes()));
        head.extend((name.len() as u32).to_le_bytes());
        head.extend(name.as_bytes());
        head.extend((bytes.len() as u64).to_le_bytes());
        packed.write_all(&head).and_then(|()| packed.write_all(bytes)).map_err(|error| error.to_string())?;
    }
    let packed = packed.finish().map_err(|error| error.to_string())?;
    let (length, sum) = ((packed.len() as u64).to_le_bytes(), checksum(&packed).to_le_bytes());
    Ok([program, &packed, &length, &sum, MAGIC].concat())
}

/// Writes files below a folder, which is made.
///
/// # Errors
/// No room.
pub(crate) fn unpack(entries: &[Entry], folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.iter().filter(|entry| !entry.name.is_empty()) {
        let file = folder.join(&entry.name);
        std::fs::write(&file, &entry.bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_comes_back_or_is_damaged() {
        let entries = vec![
            Entry { keys: vec![1, u128::MAX], name: String::new(), bytes: vec![7; 1000] },
            Entry { keys: vec![], name: "add.json".to_owned(), bytes: vec![] },
        ];
        let whole = join(b"program", &entries).unwrap();
        assert_eq!(split(&whole), Ok((&b"program"[..], entries)));
        for at in 7..whole.len() - 8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert!(split(&damaged).is_err(), "byte {at}");
        }
        for plain in [&b""[..], b"program", &whole[..whole.len() - 1]] {
            assert_eq!(split(plain), Ok((plain, Vec::new())));
        }
    }
}

//! Compiled kernels on disk, so that a process need not compile what another one has. Owns the files; a file that is
//! not whole is none.
//!
//! ```text
//! file     <folder>/<fingerprint of all that the machine code depends on, 32 digits>.cubin
//! content  "monomor1" | fingerprint, 16 bytes | length, 8 bytes | checksum of the machine code, 8 bytes | machine code
//! ```
//!
//! A file is written under another name and renamed, so a reader sees all of it or none; writers of one file write the
//! same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const MAGIC: &[u8; 8] = b"monomor1";
const HEAD: usize = 40;

/// A hash of 128 bits (G. Fowler, L. C. Noll, K.-P. Vo); texts are told apart at their borders.
pub(crate) fn fingerprint<'a>(texts: impl IntoIterator<Item = &'a str>) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    // 0xff is in no text.
    for byte in texts.into_iter().flat_map(|text| text.bytes().chain([0xff])) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}

/// The same in 64 bits, of bytes.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn file(folder: &Path, key: u128) -> PathBuf {
    folder.join(format!("{key:032x}.cubin"))
}

/// The machine code of this key; `None` if there is none, or what is there is not whole.
pub(crate) fn get(folder: &Path, key: u128) -> Option<Vec<u8>> {
    let mut bytes = fs::read(file(folder, key)).ok()?;
    let (head, code) = bytes.split_at_checked(HEAD)?;
    let whole = head[..8] == *MAGIC
        && head[8..24] == key.to_le_bytes()
        && head[24..32] == (code.len() as u64).to_le_bytes()
        && head[32..] == checksum(code).to_le_bytes();
    whole.then(|| bytes.split_off(HEAD))
}

/// Keeps machine code. A folder that cannot be written is no error: kernels are compiled again.
pub(crate) fn put(folder: &Path, key: u128, code: &[u8]) {
    static WRITES: AtomicU32 = AtomicU32::new(0);
    let own = format!("{}-{}.part", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    let part = folder.join(own);
    let mut bytes = Vec::with_capacity(HEAD + code.len());
    bytes.extend(MAGIC);
    bytes.extend(key.to_le_bytes());
    bytes.extend((code.len() as u64).to_le_bytes());
    bytes.extend(checksum(code).to_le_bytes());
    bytes.extend(code);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&part, bytes));
    if written.and_then(|()| fs::rename(&part, file(folder, key))).is_err() {
        let _ = fs::remove_file(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_is_not_there() {
        let folder = std::env::temp_dir().join(format!("monomorph-cache-{}", std::process::id()));
        let key = fingerprint(["source", "sm_90"]);
        assert_ne!(key, fingerprint(["sources", "m_90"]));
        assert_eq!(get(&folder, key), None);
        put(&folder, key, b"machine code");
        assert_eq!(get(&folder, key).as_deref(), Some(&b"machine code"[..]));
        let path = file(&folder, key);
        let whole = fs::read(&path).unwrap();
        for damaged in [whole[..whole.len() - 1].to_vec(), whole[..20].to_vec(), Vec::new()] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(get(&folder, key), None);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert_eq!(get(&folder, key), None, "byte {at}");
        }
        // Another's file under this name.
        put(&folder, key ^ 1, b"other code");
        fs::rename(file(&folder, key ^ 1), &path).unwrap();
        assert_eq!(get(&folder, key), None);
        put(&folder, key, b"machine code");
        assert!(get(&folder, key).is_some());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "parts are left");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn writers_do_not_disturb_readers() {
        let folder = std::env::temp_dir().join(format!("monomorph-cache-race-{}", std::process::id()));
        let code = vec![7_u8; 100_000];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        put(&folder, 1, &code);
                        assert!(get(&folder, 1).is_some_and(|got| got == code));
                    }
                });
            }
        });
        fs::remove_dir_all(&folder).unwrap();
    }
}

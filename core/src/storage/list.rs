//! Lists in the host's memory whose length a caller chose, or that follows from a size: their room is asked for before
//! they are filled, so that what there is no room for is an error and not the end of the process. Whoever makes a list
//! of one entry per element, index, part or result makes it here.
#![deny(clippy::arithmetic_side_effects)]

use crate::error::{ErrorKind, Result};
use crate::options::DeviceId;
use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

/// The most tensors that one call returns. PyTorch has no limit; it runs out of memory. This many views take 3 GiB.
pub const MAX_PARTS: usize = 1 << 24;

/// Lists of more bytes than this are compared with the memory of the machine. A smaller one costs just its allocation.
const LARGE: usize = 1 << 30;

/// An empty list with room for this many entries.
///
/// # Errors
///
/// [`ErrorKind::Allocation`] where there is no room. More than the machine's memory there never is, although some
/// systems grant it, to end the process that fills it.
pub fn with_capacity<T>(entries: usize) -> Result<Vec<T>> {
    let bytes = entries.saturating_mul(size_of::<T>());
    let mut list = Vec::new();
    if (bytes > LARGE && bytes > machine_bytes()) || list.try_reserve_exact(entries).is_err() {
        return Err(ErrorKind::Allocation { bytes, device: DeviceId::CPU }.into());
    }
    Ok(list)
}

/// An empty list with room for this many tensors, of which a call makes at most [`MAX_PARTS`].
///
/// # Errors
///
/// [`ErrorKind::OutOfRange`] for more, or less than none, and those of [`with_capacity`].
pub fn of_parts<T>(parts: i64) -> Result<Vec<T>> {
    match usize::try_from(parts) {
        Ok(parts) if parts <= MAX_PARTS => with_capacity(parts),
        _ => {
            let high = MAX_PARTS as i64;
            Err(ErrorKind::OutOfRange { arg: "number of parts", got: parts, low: 0, high }.into())
        }
    }
}

/// Bytes of the machine's memory; as many as there can be where the system does not say. Linux does so in the first
/// line of a file: `MemTotal:       24603148 kB`.
fn machine_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let mut head = [0; 64];
        let read = File::open("/proc/meminfo").and_then(|mut file| file.read(&mut head)).unwrap_or(0);
        let line = head.iter().take(read).take_while(|byte| **byte != b'\n');
        let digits = line.filter(|byte| byte.is_ascii_digit());
        let digit = |number: usize, digit: &u8| number.saturating_mul(10).saturating_add(usize::from(digit & 15));
        match digits.fold(0, digit) {
            0 => usize::MAX,
            kilobytes => kilobytes.saturating_mul(1024),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_an_error() {
        assert_eq!(with_capacity::<u64>(5).map(|list| list.capacity() >= 5), Ok(true));
        for entries in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 8 + 1, 1 << 56] {
            let error = with_capacity::<u64>(entries).expect_err("no machine has it");
            assert!(matches!(error.kind(), ErrorKind::Allocation { .. }), "{entries}: {error}");
        }
        if cfg!(target_os = "linux") {
            assert!((1 << 24..1 << 50).contains(&machine_bytes()), "{}", machine_bytes());
            // Whatever the system would grant.
            assert!(with_capacity::<u8>(machine_bytes() + 1).is_err());
        }
        // Nothing is allocated for what takes no room.
        assert_eq!(with_capacity::<()>(usize::MAX).map(|list| list.len()), Ok(0));
    }

    #[test]
    fn a_call_makes_a_limited_number_of_tensors() {
        assert!(of_parts::<u8>(MAX_PARTS as i64).is_ok() && of_parts::<u8>(0).is_ok());
        for parts in [i64::MIN, -1, MAX_PARTS as i64 + 1, i64::MAX] {
            let error = of_parts::<u8>(parts).expect_err("too many, or no number");
            assert!(matches!(error.kind(), ErrorKind::OutOfRange { high: 0x100_0000, .. }), "{parts}: {error}");
        }
    }
}

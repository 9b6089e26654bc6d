//! What processors of the same level do differently, as far as it was measured. Which instructions the host has is `isa`'s.

use std::sync::OnceLock;

/// Who made the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Maker {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
    /// Anyone else, of any architecture.
    Other,
}

impl Maker {
    /// That of this host. Asked once: in a virtual machine the question takes as long as a small call.
    pub(crate) fn current() -> Maker {
        static CURRENT: OnceLock<Maker> = OnceLock::new();
        *CURRENT.get_or_init(Maker::detect)
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> Maker {
        let leaf = std::arch::x86_64::__cpuid(0);
        let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        match name.as_flattened() {
            b"GenuineIntel" => Maker::Intel,
            b"AuthenticAMD" => Maker::Amd,
            _ => Maker::Other,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Maker {
        Maker::Other
    }

    /// Whether rows that are met eight at a time had better be asked for ahead: its own prefetchers don't follow so many.
    pub(crate) fn loses_rows(self) -> bool {
        self == Maker::Intel
    }

    /// Whether lines had better be asked for before they are written: a store that waits for its line holds up those behind it.
    pub(crate) fn waits_for_lines(self) -> bool {
        self == Maker::Intel
    }

    /// Whether a line that is about to be overwritten whole is read from memory first, unless it is stored past the caches.
    pub(crate) fn reads_what_it_overwrites(self) -> bool {
        self == Maker::Amd
    }
}

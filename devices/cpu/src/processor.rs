//! What processors of the same level do differently, by vendor, as far as it was measured (decisions 0010 and 0012).
//! Which instructions the host has is `isa`'s.

use std::sync::OnceLock;

/// Who made the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vendor {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
    /// Anyone else, of any architecture.
    Other,
}

impl Vendor {
    /// That of this host. Asked once: a hypervisor traps `cpuid`, which then takes as long as a small call.
    pub(crate) fn current() -> Vendor {
        static CURRENT: OnceLock<Vendor> = OnceLock::new();
        *CURRENT.get_or_init(Vendor::detect)
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> Vendor {
        let leaf = std::arch::x86_64::__cpuid(0);
        let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        match name.as_flattened() {
            b"GenuineIntel" => Vendor::Intel,
            b"AuthenticAMD" => Vendor::Amd,
            _ => Vendor::Other,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Vendor {
        Vendor::Other
    }

    /// Whether rows that are read eight at a time had better be prefetched by software: the hardware prefetcher doesn't
    /// follow so many streams (a Xeon: 2.9 ms without, 2.4 with; decision 0012).
    pub(crate) fn needs_row_prefetch(self) -> bool {
        self == Vendor::Intel
    }

    /// Whether lines of an output had better be prefetched before they are stored to: stores leave the store buffer in
    /// order, so one that misses the cache holds up those behind it. On a Zen 4 the prefetches cost more than they save
    /// (decision 0010).
    pub(crate) fn needs_output_prefetch(self) -> bool {
        self == Vendor::Intel
    }

    /// Whether a large output had better be written with non-temporal stores: ordinary ones read each line from memory
    /// before they overwrite it. The Xeon that was measured doesn't where lines are overwritten whole (decision 0010).
    pub(crate) fn gains_by_non_temporal_stores(self) -> bool {
        self == Vendor::Amd
    }
}

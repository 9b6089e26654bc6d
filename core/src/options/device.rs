//! Which device is meant, as a plain value. What a device *is*, the trait, is a matter of storage.

/// The family of a device. Out-of-tree devices choose a number of 16 or more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct DeviceKind(pub u8);

impl DeviceKind {
    /// The host's processor.
    pub const CPU: DeviceKind = DeviceKind(0);
    /// Shapes only, no data.
    pub const META: DeviceKind = DeviceKind(1);
    /// NVIDIA GPUs.
    pub const CUDA: DeviceKind = DeviceKind(2);

    /// The name in schemas and messages.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceKind::CPU => "cpu",
            DeviceKind::META => "meta",
            DeviceKind::CUDA => "cuda",
            _ => "privateuse",
        }
    }
}

/// One device: a kind, and an index where there are several of the kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct DeviceId {
    /// The kind.
    pub kind: DeviceKind,
    /// Which of the kind, from 0.
    pub index: u8,
}

impl DeviceId {
    /// The CPU.
    pub const CPU: DeviceId = DeviceId { kind: DeviceKind::CPU, index: 0 };
    /// The meta device.
    pub const META: DeviceId = DeviceId { kind: DeviceKind::META, index: 0 };

    /// Kind and index as one number, which is compared at once.
    #[inline]
    pub(crate) const fn bits(self) -> u16 {
        u16::from_le_bytes([self.kind.0, self.index])
    }

    /// True for the meta device.
    pub const fn is_meta(self) -> bool {
        self.kind.0 == DeviceKind::META.0
    }

    /// True for the CPU.
    pub const fn is_cpu(self) -> bool {
        self.kind.0 == DeviceKind::CPU.0
    }
}

impl std::fmt::Display for DeviceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            DeviceKind::CPU | DeviceKind::META => f.write_str(self.kind.name()),
            kind => write!(f, "{}:{}", kind.name(), self.index),
        }
    }
}

//! The options of a new tensor: memory formats, layouts, devices, each as a plain value; and of how it is computed.

mod device;
pub mod rounding;

pub use device::{DeviceId, DeviceKind};

use crate::dtype::DType;

/// How the dimensions of a new tensor are ordered in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum MemoryFormat {
    /// Row-major: the last dimension is dense.
    Contiguous,
    /// The strides of the source where it is dense and non-overlapping, else the closest dense order.
    Preserve,
    /// NHWC strides for NCHW sizes (4 dimensions).
    ChannelsLast,
    /// NDHWC strides for NCDHW sizes (5 dimensions).
    ChannelsLast3d,
}

impl MemoryFormat {
    /// The name in schemas.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryFormat::Contiguous => "contiguous_format",
            MemoryFormat::Preserve => "preserve_format",
            MemoryFormat::ChannelsLast => "channels_last",
            MemoryFormat::ChannelsLast3d => "channels_last_3d",
        }
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<MemoryFormat> {
        [MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d]
            .into_iter()
            .find(|f| f.name() == name)
    }
}

impl std::fmt::Display for MemoryFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How elements are found in storage. Strided is the only layout that this library has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Sizes, strides and an offset into one storage.
    Strided,
}

/// What a meta function asks of an output besides its geometry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The element type.
    pub dtype: DType,
    /// The device.
    pub device: DeviceId,
    /// A memory format; never together with strides.
    pub memory_format: Option<MemoryFormat>,
}

impl Options {
    /// Options with no memory format.
    pub const fn new(dtype: DType, device: DeviceId) -> Options {
        Options { dtype, device, memory_format: None }
    }
}

//! The numbers by which the JSON means dtypes, layouts and memory formats (`torch/_export/serde/schema.py`; they are
//! not those of c10).

use crate::error::{Result, cut, unsupported};
use monomorph_core::{DType, DeviceId, Layout, MemoryFormat};

/// The dtype of this number.
pub(super) fn dtype(number: i64) -> Result<DType> {
    Ok(match number {
        1 => DType::U8,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::F16,
        7 => DType::F32,
        8 => DType::F64,
        10 => DType::C64,
        11 => DType::C128,
        12 => DType::Bool,
        13 => DType::BF16,
        _ => {
            let name = match number {
                9 => "complex32",
                28 => "uint16",
                29 => "float8_e4m3fn",
                30 => "float8_e5m2",
                31 => "float8_e4m3fnuz",
                32 => "float8_e5m2fnuz",
                33 => "float8_e8m0fnu",
                34 => "uint32",
                35 => "uint64",
                _ => "unknown",
            };
            return Err(unsupported(format!("dtype {number} ({name}) is none of those that tensors have here")));
        }
    })
}

/// The layout of this number.
pub(super) fn layout(number: i64) -> Result<Layout> {
    match number {
        7 => Ok(Layout::Strided),
        _ => Err(unsupported(format!("layout {number} is sparse or unknown; strided tensors are accepted"))),
    }
}

/// The memory format of this number.
pub(super) fn memory_format(number: i64) -> Result<MemoryFormat> {
    Ok(match number {
        1 => MemoryFormat::Contiguous,
        2 => MemoryFormat::ChannelsLast,
        3 => MemoryFormat::ChannelsLast3d,
        4 => MemoryFormat::Preserve,
        _ => return Err(unsupported(format!("memory format {number} is unknown"))),
    })
}

/// The device of this name.
pub(super) fn device(name: &str) -> Result<DeviceId> {
    match name {
        "cpu" => Ok(DeviceId::CPU),
        "meta" => Ok(DeviceId::META),
        _ => Err(unsupported(format!("device {}: programs run on the CPU; export the program there", cut(name)))),
    }
}

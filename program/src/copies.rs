//! Copies of tensors on the device of a program: functions made where the device is known as a type, for where it is
//! not.

use monomorph_core::{AnyTensor, DType, Device, ErrorKind, Geometry, Result, Tensor};

/// How tensors are copied on the device of a program.
#[derive(Clone, Copy)]
pub(crate) struct Copies {
    /// A tensor of bytes over a storage of its own.
    pub(crate) storage: fn(&[u8]) -> Result<AnyTensor>,
    /// Writes the elements of the second tensor to the first.
    pub(crate) elements: fn(&mut AnyTensor, &AnyTensor) -> Result<()>,
}

impl Copies {
    pub(crate) fn of<D: Device>() -> Copies {
        Copies {
            storage: |bytes| copied::<D>(bytes).map(Tensor::into_any),
            elements: |to, from| {
                let (got, want) = (from.device(), to.device());
                match (to.downcast_mut::<D>(), from.downcast_ref::<D>()) {
                    (Some(to), Some(from)) => to.copy_from(from),
                    _ => Err(ErrorKind::DeviceMismatch { arg: "src".into(), got, want }.into()),
                }
            },
        }
    }
}

/// A tensor of bytes over a storage of its own.
pub(crate) fn copied<D: Device>(bytes: &[u8]) -> Result<Tensor<D>> {
    Tensor::from_storage(bytes, Geometry::contiguous(DType::U8, &[bytes.len() as i64])?)
}

//! Storages by themselves: what `set_` gives to a tensor. Owns no memory and changes no element.
#![deny(clippy::arithmetic_side_effects)]

use super::raw::Store;
use super::{AnyTensor, Raw, Tensor};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::options::DeviceId;
use crate::storage::Device;
use std::fmt::{self, Debug, Formatter};

/// The storage of a tensor, without sizes, strides or dtype. It lives as long as anybody has it.
#[derive(Clone)]
pub struct Storage(Store);

impl Storage {
    /// The device.
    pub fn device(&self) -> DeviceId {
        self.0.device()
    }

    /// How many bytes it has now.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Its identity: that of every tensor over it.
    pub fn id(&self) -> usize {
        self.0.id()
    }
}

impl Debug for Storage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({} bytes on {})", self.bytes(), self.device())
    }
}

impl AnyTensor {
    /// The storage by itself.
    pub fn storage(&self) -> Storage {
        Storage(self.0.store().clone())
    }
}

impl<D: Device> Tensor<D> {
    /// The storage by itself.
    pub fn storage(&self) -> Storage {
        self.as_any().storage()
    }

    /// Moves the tensor to another storage on its device, which grows if the geometry reaches beyond it; other tensors
    /// over either storage stay as they are.
    ///
    /// An error, with nothing changed, for a storage on another device, and those of [`grow_to`](Tensor::grow_to).
    pub fn set_storage(&mut self, storage: &Storage, geometry: Geometry) -> Result<()> {
        let (got, want) = (storage.device(), self.device());
        if got != want {
            return Err(ErrorKind::DeviceMismatch { arg: "source".into(), got, want }.into());
        }
        let mut moved = Tensor::from_raw(Raw::without_elements(storage.0.clone(), geometry.dtype())?);
        moved.grow_to(geometry)?;
        *self = moved;
        Ok(())
    }
}

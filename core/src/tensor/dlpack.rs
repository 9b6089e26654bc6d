//! Tensors of other libraries in the same process, without a copy: [DLPack](https://dmlc.github.io/dlpack/latest/), the
//! structures by which PyTorch, NumPy, JAX and others hand arrays to each other. Owns the structures, and who frees
//! what.
//!
//! ```text
//! theirs:  Managed ── from_dlpack ──► Tensor over their memory; their deleter runs behind the last tensor of it
//! ours:    Tensor ── into_dlpack ──► Managed over our memory; the storage is freed by the deleter
//! ```

use super::Tensor;
use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::storage::{DefaultDevice, Device, Header, Standard};
use std::ffi::c_void;
use std::ptr::NonNull;

/// `DLPackVersion`: that of the structures.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Another one has other structures.
    pub major: u32,
    /// Another one has other values.
    pub minor: u32,
}

/// `DLDevice`: where the memory is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDevice {
    /// 1 is the CPU.
    pub device_type: i32,
    /// Which one of them.
    pub device_id: i32,
}

/// `DLDataType`: the type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDataType {
    /// Signed 0, unsigned 1, float 2, bfloat 4, complex 5, bool 6.
    pub code: u8,
    /// Bits of an element.
    pub bits: u8,
    /// Elements of a vector; 1.
    pub lanes: u16,
}

/// `DLTensor`: the elements and how they lie.
#[repr(C)]
#[derive(Debug)]
pub struct DlTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DlDevice,
    /// Dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DlDataType,
    /// A size for each dimension.
    pub shape: *mut i64,
    /// A stride in elements for each dimension; null of a tensor in row-major order.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// `DLManagedTensorVersioned`: a tensor and how it is given back.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedTensorVersioned {
    /// That of the structures, [`VERSION`] or another.
    pub version: Version,
    /// The producer's.
    pub manager_ctx: *mut c_void,
    /// Gives the tensor back.
    pub deleter: Option<unsafe extern "C" fn(*mut DlManagedTensorVersioned)>,
    /// [`READ_ONLY`] and others.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DlTensor,
}

/// The version of these structures.
pub const VERSION: Version = Version { major: 1, minor: 1 };

/// The flag of a tensor that must not be written.
pub const READ_ONLY: u64 = 1;

/// The type of device that is the CPU.
const CPU: i32 = 1;

/// Elements as DLPack calls them: code, bits, dtype.
const DTYPES: [(u8, u8, DType); 12] = [
    (0, 8, DType::I8),
    (0, 16, DType::I16),
    (0, 32, DType::I32),
    (0, 64, DType::I64),
    (1, 8, DType::U8),
    (2, 16, DType::F16),
    (2, 32, DType::F32),
    (2, 64, DType::F64),
    (4, 16, DType::BF16),
    (5, 64, DType::C64),
    (5, 128, DType::C128),
    (6, 8, DType::Bool),
];

fn refused<T>(rule: &'static str) -> Result<T> {
    Err(ErrorKind::ArgumentRule { rule }.into())
}

/// A tensor of another library, or one for another library. Dropped, it is given back.
#[derive(Debug)]
pub struct Managed(NonNull<DlManagedTensorVersioned>);

// SAFETY: by the promise of `from_raw` any thread may use the tensor and give it back; ours are made of a storage and
// lists.
unsafe impl Send for Managed {}

impl Managed {
    /// Takes over a tensor that another library has made, a `DLManagedTensorVersioned *`.
    ///
    /// # Safety
    ///
    /// It is as DLPack says: `shape`, and `strides` unless it is null, have `ndim` elements, and all elements of the
    /// tensor lie in memory that is initialised, valid until the deleter is called, and, if the device is the CPU,
    /// reachable from the host. Nobody else writes them meanwhile; nobody reads or writes them, unless the tensor is
    /// read-only. The deleter may be called by any thread, and is called by nobody else.
    pub unsafe fn from_raw(managed: NonNull<DlManagedTensorVersioned>) -> Managed {
        Managed(managed)
    }

    /// The tensor for another library, which has to call its deleter.
    pub fn into_raw(self) -> NonNull<DlManagedTensorVersioned> {
        let managed = self.0;
        std::mem::forget(self);
        managed
    }

    /// What it says of itself.
    pub fn describe(&self) -> &DlManagedTensorVersioned {
        // SAFETY: it is live until its deleter is called, which `drop` does.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        if let Some(deleter) = self.describe().deleter {
            // SAFETY: `self` was its only owner, and ends here.
            unsafe { deleter(self.0.as_ptr()) };
        }
    }
}

/// The memory of a tensor of another library, from its first element on.
struct Memory {
    managed: Managed,
    bytes: usize,
}

impl Memory {
    fn first(&self) -> *mut u8 {
        let tensor = &self.managed.describe().dl_tensor;
        tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize)
    }
}

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: `bytes` reach from the first element to the last, all of which are initialised and nobody else's
        // (`Managed::from_raw`); a tensor that is read-only is frozen before anybody could write it.
        unsafe { std::slice::from_raw_parts_mut(self.first(), self.bytes) }
    }
}

/// The geometry of a tensor of another library, counted from its first element.
fn geometry(managed: &DlManagedTensorVersioned) -> Result<Geometry> {
    let tensor = &managed.dl_tensor;
    if managed.version.major != VERSION.major {
        return refused("a DLPack tensor is of another major version than 1");
    }
    if tensor.device.device_type != CPU {
        return refused("a DLPack tensor is on another device than the CPU; copy it there");
    }
    let (code, bits) = (tensor.dtype.code, tensor.dtype.bits);
    let known = DTYPES.iter().find(|(c, b, _)| (*c, *b, 1) == (code, bits, tensor.dtype.lanes));
    let Some((.., dtype)) = known else { return refused("a DLPack tensor has elements of no known dtype") };
    let Ok(ndim) = usize::try_from(tensor.ndim) else { return refused("a DLPack tensor has less than no dimensions") };
    let list = |list: *mut i64| match ndim {
        0 => &[][..],
        // SAFETY: there are `ndim` elements (`Managed::from_raw`).
        _ => unsafe { std::slice::from_raw_parts(list.cast_const(), ndim) },
    };
    let sizes = list(tensor.shape);
    if tensor.strides.is_null() {
        return Geometry::contiguous(*dtype, sizes);
    }
    let strides = list(tensor.strides);
    if strides.iter().any(|&stride| stride < 0) {
        return refused("a DLPack tensor has strides below 0; copy it");
    }
    Geometry::new(*dtype, sizes, strides, 0)
}

impl<D: Device> Tensor<D>
where
    Standard: DefaultDevice<D>,
{
    /// A tensor of another library, over its memory: what is written to one is seen in the other. Its deleter is called
    /// behind the last tensor that shares the storage, or at once if there is an error. One that is read-only is
    /// [frozen](Tensor::freeze), and stays so. One whose first element is at an address that is no multiple of 16 is
    /// copied.
    ///
    /// # Errors
    ///
    /// Another major version than 1, another device than the CPU, a dtype that there is not, strides below zero.
    pub fn from_dlpack(managed: Managed) -> Result<Tensor<D>> {
        Tensor::taken(managed).map_err(|e| e.of("from_dlpack"))
    }

    fn taken(managed: Managed) -> Result<Tensor<D>> {
        let geometry = geometry(managed.describe())?;
        let is_read_only = managed.describe().flags & READ_ONLY != 0;
        let mut memory = Memory { managed, bytes: geometry.bytes_needed()? };
        if !memory.first().addr().is_multiple_of(16) || memory.bytes == 0 {
            let bytes = memory.as_mut();
            return Tensor::from_slice::<u8>(bytes, bytes.len())?.with_geometry(geometry);
        }
        let whole = 0..memory.bytes;
        let parts = Tensor::from_owner(memory, std::slice::from_ref(&whole))?;
        let Some(part) = parts.first() else { return refused("a memory of one part has one tensor") };
        let tensor = part.with_geometry(geometry)?;
        if is_read_only && let Some(header) = tensor.as_operand().header() {
            let written = |_| ErrorKind::Borrowed { arg: "self", state: "written" };
            header.borrow().lock().map_err(written)?;
        }
        Ok(tensor)
    }

    /// The tensor for another library, `tensor.into_dlpack()?.into_raw()`. A storage that nobody else has a tensor of
    /// goes along, and may be written there. One that is [frozen](Tensor::freeze) is shared, read-only. Any other is
    /// copied, since what the other library does cannot be held against what is done here.
    ///
    /// # Errors
    ///
    /// Elements that are conjugated or negated when they are read (`resolve_conj`, `resolve_neg`); no memory for a
    /// copy.
    pub fn into_dlpack(self) -> Result<Managed> {
        self.given().map_err(|e| e.of("into_dlpack"))
    }

    fn given(self) -> Result<Managed> {
        let geometry = self.geometry().clone();
        if geometry.is_conj() || geometry.is_neg() {
            return refused("a tensor with a conj or neg bit has no DLPack form; resolve it first");
        }
        let may_write = |header: &Header| header.borrow().is_unique() && !header.borrow().is_locked();
        let is_alone = self.as_operand().header().is_some_and(may_write);
        let is_read_only = self.is_frozen() && !is_alone;
        let tensor = match is_alone || is_read_only {
            true => self,
            false => {
                let bytes = self.storage_to_vec()?;
                Tensor::from_slice::<u8>(&bytes, bytes.len())?.with_geometry(geometry.clone())?
            }
        };
        // SAFETY: the storage is nobody else's, or is frozen and stays so as long as there are two handles of it or for
        // good; its block stays where it is, since nobody writes it here, and the handle goes along.
        let data = unsafe { tensor.as_operand().data() };
        let known = DTYPES.iter().find(|(.., dtype)| *dtype == geometry.dtype());
        let Some(&(code, bits, _)) = known else { return refused("elements of this dtype have no DLPack form") };
        let (mut sizes, mut strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
        let dl_tensor = DlTensor {
            data: data.cast(),
            device: DlDevice { device_type: CPU, device_id: 0 },
            ndim: sizes.len() as i32,
            dtype: DlDataType { code, bits, lanes: 1 },
            shape: sizes.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let context: Box<Context> = Box::new((tensor.into_any(), sizes, strides));
        let managed = DlManagedTensorVersioned {
            version: VERSION,
            manager_ctx: Box::into_raw(context).cast(),
            deleter: Some(give_back),
            flags: if is_read_only { READ_ONLY } else { 0 },
            dl_tensor,
        };
        Ok(Managed(NonNull::from(Box::leak(Box::new(managed)))))
    }
}

/// What a tensor for another library keeps: the storage, and the lists that its structure points to.
type Context = (super::AnyTensor, Vec<i64>, Vec<i64>);

/// The deleter of tensors for other libraries.
///
/// # Safety
///
/// The tensor is one of `into_dlpack`, and nobody uses it any more.
unsafe extern "C" fn give_back(managed: *mut DlManagedTensorVersioned) {
    // SAFETY: it was boxed by `into_dlpack`, and this is its end (the caller's promise).
    let managed = unsafe { Box::from_raw(managed) };
    // SAFETY: so was its context.
    drop(unsafe { Box::from_raw(managed.manager_ctx.cast::<Context>()) });
}

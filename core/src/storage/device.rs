//! What a device is: an identity, memory, and a strided copy. How a device runs an operator is the trait
//! [`Executes`](crate::structured::Executes).

use super::Rearrangement;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::options::{DeviceId, DeviceKind};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// What a new block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Zero bytes.
    Zeroed,
    /// Anything: the caller writes every byte before anyone reads.
    Unspecified,
}

/// The memory functions of a device, kept by every storage so that it can be grown and freed without knowing its device
/// type.
///
/// Invariants, relied on by the storage:
/// * M1: `allocate` returns a block of at least `bytes` bytes, aligned to 16, or `None`; zeroed where asked.
/// * M2: `free` and `copy` are given blocks of `allocate` with the same index and byte count, `copy` two live blocks
///   that do not overlap.
/// * M3: with [`Reach::Host`] the host may read and write the block, at the address that it has.
/// * M4: with [`Reach::Transfer`], `write` and `read` are given `bytes` bytes inside one live block of the same index
///   and as many of the host; when they return without an error, those bytes have arrived, and nothing else has
///   changed.
#[derive(Debug)]
pub struct Memory {
    /// Allocates on device `index`.
    pub allocate: fn(index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>>,
    /// Frees a block.
    pub free: unsafe fn(index: u8, block: NonNull<u8>, bytes: usize),
    /// Copies `bytes` bytes between two blocks of the device.
    pub copy: unsafe fn(index: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize),
    /// How the host gets at the memory.
    pub reach: Reach,
}

/// How the host gets at the memory of a device.
#[derive(Clone, Copy, Debug)]
pub enum Reach {
    /// By itself: an address of the device is one of the host.
    Host,
    /// By these functions alone. What an address is, only the device knows; the host adds bytes to it and nothing else.
    Transfer {
        /// Copies bytes of the host into a block.
        write: unsafe fn(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()>,
        /// Copies bytes out of a block to the host.
        read: unsafe fn(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()>,
        /// Why the last `allocate` of this thread gave nothing, told once; `None` where memory is short and there is no
        /// more to say.
        refusal: fn(index: u8) -> Option<Error>,
    },
}

impl Reach {
    /// True if the host can follow the device's addresses.
    #[inline]
    pub const fn is_host(&self) -> bool {
        matches!(self, Reach::Host)
    }
}

/// One side of a strided copy: where the first element lies and how the others follow.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    /// The first element.
    pub data: *mut u8,
    /// Strides in elements.
    pub strides: &'a [i64],
    /// The element type.
    pub dtype: DType,
    /// The stored values are conjugates of the tensor's.
    pub conj: bool,
    /// The stored values are negatives of the tensor's.
    pub neg: bool,
}

/// A kernel that writes elements of `from`, of the given sizes, to the places of `to` that a [`Rearrangement`] says.
///
/// # Safety
///
/// * Every element of `from` is in bounds of one live block of the device, and every element of `to` of another: `to`
///   is dense, with the sizes that the rearrangement [gives](Rearrangement::sizes) for these. No other thread writes
///   either block or reads `to`.
/// * Both are of one dtype, without conj and neg bits. No stride is below zero.
pub type Rearrange = unsafe fn(u8, &[i64], Strided<'_>, Strided<'_>, &Rearrangement) -> Result<()>;

/// A device, as a type. The type carries no state: which of several devices of the kind is meant is a
/// [`DeviceId`](crate::DeviceId).
///
/// # Safety
///
/// No other type has this [`KIND`](Device::KIND) but for [`Meta`]'s, [`MEMORY`](Device::MEMORY) keeps M1–M4 and is
/// `None` for [`Meta`] alone, and `copy` touches nothing but the elements it is given.
pub unsafe trait Device: Sized + Copy + Send + Sync + 'static {
    /// The kind that all devices of this type have.
    const KIND: DeviceKind;
    /// The memory functions; `None` for a device without data.
    const MEMORY: Option<&'static Memory>;
    /// True if [`copy`](Device::copy) takes strides below zero in `from`: a tensor whose elements are reversed is then
    /// one copy, and else one for each place of the dimension.
    const REVERSES: bool = false;
    /// What copies elements to other places in one pass; `None` for a device where such operators are made of copies.
    const REARRANGE: Option<Rearrange> = None;
    /// Restores the device that was current before, when dropped.
    type Guard;
    /// What `a + b` and the other operators of Rust compute between tensors of the device: a type that implements
    /// `BinaryStdOp` and `UnaryStdOp`, or `()` for a device without tensor operators.
    type StdOps;

    /// Makes device `index` current for the calling thread.
    fn enter(index: u8) -> Self::Guard;

    /// Copies `sizes` elements from `from` to `to`, converting dtypes and applying the conj and neg bits of both sides.
    ///
    /// # Safety
    ///
    /// * C1: every element of both sides is in bounds of one live block of the device, and no other thread writes
    ///   either block or reads `to`. Strides of `from` are below zero only where the device [says](Device::REVERSES)
    ///   that it takes them, those of `to` never.
    /// * C2: the two sides share no element unless they are equal in every respect. `to` has no internal overlap that
    ///   [`overlap::internal`](crate::overlap::internal) can prove; where it can prove nothing, the implementation must
    ///   not write from two threads.
    unsafe fn copy(index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()>;

    /// Copies two operands to the real and the imaginary parts of complex elements, and says whether it did: `false`
    /// for devices that know no shorter way than two copies.
    ///
    /// # Safety
    ///
    /// C1, and C2 for `to` and either part. `to` is complex without lazy bits, the parts are of its real dtype.
    unsafe fn join(index: u8, sizes: &[i64], to: &Strided<'_>, parts: &[Strided<'_>; 2]) -> Result<bool> {
        let _ = (index, sizes, to, parts);
        Ok(false)
    }

    /// Copies bytes from one device of the kind to another, both given as index and address, and says whether it did:
    /// `false` for devices that know no way but by the host.
    ///
    /// # Safety
    ///
    /// `bytes` bytes, one or more, lie in one live block on both sides, of different devices; no other thread writes
    /// either block or reads `to`.
    unsafe fn across(to: (u8, *mut u8), from: (u8, *const u8), bytes: usize) -> Result<bool> {
        let _ = (to, from, bytes);
        Ok(false)
    }
}

/// The implementor of [`DefaultDevice`], by which the compiler finds the device of a call that names none.
pub struct Standard;

/// Says that `D` is the device of tensors made by calls that name none, such as `Tensor::from_slice(&[1.0, 2.0], 2)`.
/// [`Standard`] implements it once in a program, for the CPU, so `Standard: DefaultDevice<D>` tells the compiler which
/// `D` is meant.
///
/// # Safety
///
/// The host reaches the memory of `D` ([`Reach::Host`]), and a block of Rust's global allocator that is aligned to 16
/// is as good to the device as one of its own: its kernels run on it, and `copy` of its [`Memory`] takes it.
#[diagnostic::on_unimplemented(
    message = "`{D}` is not the default device",
    label = "makes a tensor on the CPU",
    note = "on another device: `Tensor::<{D}>::from_slice_on(0, ..)`"
)]
pub unsafe trait DefaultDevice<D: Device> {}

/// One device of a kind, such as the second GPU: the methods of factories make tensors on it.
pub struct DeviceHandle<D> {
    index: u8,
    kind: PhantomData<fn() -> D>,
}

impl<D> Clone for DeviceHandle<D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D> Copy for DeviceHandle<D> {}

impl<D: Device> DeviceHandle<D> {
    /// The device of this index. Whether there is one shows where it is used.
    pub const fn new(index: u8) -> DeviceHandle<D> {
        DeviceHandle { index, kind: PhantomData }
    }

    /// Its kind and index.
    pub fn id(self) -> DeviceId {
        DeviceId { kind: D::KIND, index: self.index }
    }
}

impl<D: Device> std::fmt::Debug for DeviceHandle<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceHandle({})", self.id())
    }
}

/// Whether a device's kernels have ended when a call returns.
pub(crate) const fn on_host<D: Device>() -> bool {
    match D::MEMORY {
        Some(memory) => memory.reach.is_host(),
        None => false,
    }
}

/// The device of tensors without data: sizes, strides and dtype only. `S` is its [`StdOps`](Device::StdOps), which the
/// crate of tensor operators gives.
pub struct Meta<S = ()>(PhantomData<fn() -> S>);

impl<S> Clone for Meta<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Meta<S> {}

// SAFETY: there is no memory, and `copy` touches nothing. All types of this kind are `Meta`, and tensors of them
// differ in nothing.
unsafe impl<S: 'static> Device for Meta<S> {
    const KIND: DeviceKind = DeviceKind::META;
    const MEMORY: Option<&'static Memory> = None;
    type Guard = ();
    type StdOps = S;

    fn enter(_index: u8) {}

    unsafe fn copy(_index: u8, _sizes: &[i64], _to: Strided<'_>, _from: Strided<'_>) -> Result<()> {
        Ok(())
    }
}

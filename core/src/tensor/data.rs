//! Data in and out of tensors: guarded slices where the host reaches the memory; copies from slices and to vectors on
//! any device that has data.

use super::elements::for_each_element;
use super::{AnyTensor, Raw, Tensor, transfer};
use crate::dtype::{DType, Element, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::{Geometry, Sizes, strides};
use crate::options::DeviceId;
use crate::storage::{Contents, DefaultDevice, Device, Handle, Held, Standard, list};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The elements of a contiguous tensor, read-borrowed.
pub struct Data<'t, T: Element> {
    elements: *const T::Stored,
    len: usize,
    _held: Held<'t>,
    element: PhantomData<&'t T>,
}

/// The elements of a contiguous tensor, write-borrowed.
pub struct DataMut<'t, T: Element> {
    elements: *mut T::Stored,
    len: usize,
    _held: Held<'t>,
    element: PhantomData<&'t mut T>,
}

impl<T: Element> Deref for Data<'_, T> {
    type Target = [T::Stored];
    fn deref(&self) -> &[T::Stored] {
        // SAFETY: `lend` checked bounds and alignment; the read borrow lasts as long as `self`.
        unsafe { std::slice::from_raw_parts(self.elements, self.len) }
    }
}

impl<T: Element> Deref for DataMut<'_, T> {
    type Target = [T::Stored];
    fn deref(&self) -> &[T::Stored] {
        // SAFETY: `lend` checked bounds and alignment; the write borrow lasts as long as `self`.
        unsafe { std::slice::from_raw_parts(self.elements, self.len) }
    }
}

impl<T: Element> DerefMut for DataMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T::Stored] {
        // SAFETY: as for Deref, and `&mut self` makes this the only slice.
        unsafe { std::slice::from_raw_parts_mut(self.elements, self.len) }
    }
}

impl<'t, T: Element> Data<'t, T> {
    /// The elements of a contiguous tensor whose storage `held` borrows.
    pub(crate) fn through(geometry: &Geometry, held: Held<'t>) -> Result<Data<'t, T>> {
        check_elements::<T>(geometry, held.header().is_host(), held.header().device())?;
        let elements = lend::<T>(geometry, &held)?;
        Ok(Data { elements, len: geometry.numel(), _held: held, element: PhantomData })
    }
}

impl<'t, T: Element> DataMut<'t, T> {
    /// The elements of a contiguous tensor whose storage `held` borrows for writing.
    pub(crate) fn through(geometry: &Geometry, held: Held<'t>) -> Result<DataMut<'t, T>> {
        check_elements::<T>(geometry, held.header().is_host(), held.header().device())?;
        let elements = lend::<T>(geometry, &held)?;
        held.header().bump_version();
        Ok(DataMut { elements, len: geometry.numel(), _held: held, element: PhantomData })
    }
}

/// The first element of `geometry` in the storage that `held` borrows, as a `T`, after the checks that a slice of all
/// its elements needs.
pub(super) fn lend<T: Element>(geometry: &Geometry, held: &Held<'_>) -> Result<*mut T::Stored> {
    if geometry.numel() == 0 {
        return Ok(std::ptr::NonNull::dangling().as_ptr());
    }
    // SAFETY: `held` is a borrow of the storage.
    let base = unsafe { held.header().data() };
    // SAFETY: T1: the first element lies inside the storage.
    let first = unsafe { base.add(geometry.offset() as usize * geometry.dtype().size()) }.cast::<T::Stored>();
    // Storages are aligned to 16 and offsets count whole elements, so this holds for every tensor.
    debug_assert!(first.is_aligned());
    Ok(first)
}

fn check_dtype<T: Element>(geometry: &Geometry) -> Result<()> {
    if geometry.dtype() != T::DTYPE {
        return Err(ErrorKind::ElementType { got: geometry.dtype(), want: T::DTYPE }.into());
    }
    Ok(())
}

fn check_slice<T: Element>(raw: &Raw) -> Result<()> {
    check_elements::<T>(raw.geometry(), raw.header().is_some_and(|header| header.is_host()), raw.device())
}

fn check_elements<T: Element>(geometry: &Geometry, is_host: bool, device: DeviceId) -> Result<()> {
    check_dtype::<T>(geometry)?;
    if !is_host {
        return Err(ErrorKind::NoHostData { device }.into());
    }
    if !geometry.is_contiguous() || geometry.is_conj() || geometry.is_neg() {
        let (sizes, strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
        return Err(ErrorKind::NotContiguous { sizes, strides }.into());
    }
    Ok(())
}

impl Raw {
    fn data<T: Element>(&self) -> Result<Data<'_, T>> {
        check_slice::<T>(self)?;
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        let held = Held::read(header, "self")?;
        let elements = lend::<T>(self.geometry(), &held)?;
        Ok(Data { elements, len: self.geometry().numel(), _held: held, element: PhantomData })
    }

    fn bytes(&self) -> Result<Data<'_, u8>> {
        crate::with_element!(self.geometry().dtype(), T => {
            let Data { elements, len, _held, .. } = self.data::<T>()?;
            // `Stored` has no padding and the size of the dtype, so the elements are as many bytes.
            Ok(Data { elements: elements.cast(), len: len * size_of::<T>(), _held, element: PhantomData })
        })
    }

    fn data_mut<T: Element>(&mut self) -> Result<DataMut<'_, T>> {
        let data = self.fresh_data_mut()?;
        data._held.header().bump_version();
        Ok(data)
    }

    /// The same for a tensor that is still being made: giving it its first contents is no write of it.
    fn fresh_data_mut<T: Element>(&mut self) -> Result<DataMut<'_, T>> {
        check_slice::<T>(self)?;
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        let held = Held::write(header, true, "self")?;
        let elements = lend::<T>(self.geometry(), &held)?;
        Ok(DataMut { elements, len: self.geometry().numel(), _held: held, element: PhantomData })
    }

    /// Every element in row-major order, whatever the strides, with the conj and neg bits applied.
    fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        check_dtype::<T>(self.geometry())?;
        let geometry = self.geometry();
        if check_slice::<T>(self).is_ok() {
            let data = self.data::<T>()?;
            let mut out = list::with_capacity(data.len())?;
            // Moves bytes for all types but bool, and the compiler sees it.
            out.extend(data.iter().map(|element| T::load(*element)));
            return Ok(out);
        }
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        let held = Held::read(header, "self")?;
        let numel = geometry.numel();
        // An expanded tensor can have more elements than there is memory.
        let mut out = list::with_capacity(numel)?;
        for_each_element(self, &held, |value: T| out.push(value))?;
        Ok(out)
    }

    pub(crate) fn bytes_of_storage(&self) -> Result<Vec<u8>> {
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        let held = Held::read(header, "self")?;
        let bytes = held.header().bytes() as i64;
        transfer::reached::<u8>(&Geometry::new(crate::DType::U8, &[bytes], &[1], 0)?, &held)
    }
}

macro_rules! host_data {
    ($([$($generics:tt)*] $t:ty, $raw:ident, $raw_mut:ident;)*) => {$(
        impl<$($generics)*> $t {
            /// The elements of a contiguous tensor of element type `T`, borrowed for reading.
            ///
            /// Errors: another dtype, not contiguous (or a conj or neg bit), data that the host cannot reach, or a
            /// storage that is being written.
            pub fn data<T: Element>(&self) -> Result<Data<'_, T>> { self.$raw().data().map_err(|e| e.of("data")) }
            /// The elements of a contiguous tensor of element type `T`, borrowed for writing. Errors as for `data`.
            pub fn data_mut<T: Element>(&mut self) -> Result<DataMut<'_, T>> {
                self.$raw_mut().data_mut().map_err(|e| e.of("data_mut"))
            }
            /// A copy of every element in row-major order, whatever the strides; conj and neg bits are applied.
            pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> { self.$raw().to_vec().map_err(|e| e.of("to_vec")) }
            /// The only element, as a number of its kind. An error unless there is exactly one.
            pub fn item(&self) -> Result<Scalar> {
                if self.numel() != 1 {
                    return Err(Error::new(ErrorKind::OneElement { numel: self.numel() }).of("item"));
                }
                let one = || crate::with_element!(self.dtype(), T => Ok(self.$raw().to_vec::<T>()?[0].to_scalar()));
                one().map_err(|e: Error| e.of("item"))
            }
            /// The element at an index of one integer for each dimension; negative ones count from the end.
            ///
            /// Errors: another dtype, another number of integers, one out of range.
            pub fn at<T: Element>(&self, index: impl Into<Sizes>) -> Result<T> {
                let index = index.into();
                let element = || {
                    if index.len() != self.ndim() {
                        return Err(ErrorKind::ListLength { arg: "index", got: index.len(), want: self.ndim() }.into());
                    }
                    let whole = self.geometry().clone();
                    let element = index.iter().try_fold(whole, |geometry, &index| geometry.select(0, index))?;
                    self.$raw().view(element)?.to_vec::<T>().map(|one| one[0])
                };
                element().map_err(|e: Error| e.of("at"))
            }
            /// The bytes of a contiguous tensor of any dtype, borrowed for reading. Errors as for `data`, but for the
            /// dtype.
            pub fn as_bytes(&self) -> Result<Data<'_, u8>> { self.$raw().bytes() }
            /// A copy of the whole storage, also of bytes that this tensor does not reach.
            pub fn storage_to_vec(&self) -> Result<Vec<u8>> { self.$raw().bytes_of_storage() }
        }
    )*};
}
host_data! {
    [D: Device] Tensor<D>, raw, raw_mut;
    [] AnyTensor, raw_ref, raw_mut;
}

impl AnyTensor {
    fn raw_ref(&self) -> &Raw {
        &self.0
    }
}

impl<D: Device> Tensor<D> {
    /// A contiguous tensor of `sizes` on the CPU with a copy of `data`; on other devices
    /// [`from_slice_on`](Tensor::from_slice_on). An error if the lengths disagree.
    pub fn from_slice<T: Element>(data: &[T], sizes: impl Into<Sizes>) -> Result<Tensor<D>>
    where
        Standard: DefaultDevice<D>,
    {
        Tensor::from_slice_on(0, data, sizes)
    }

    /// The same on device `index` of the kind. An error for the meta device, too, which has no data.
    pub fn from_slice_on<T: Element>(index: u8, data: &[T], sizes: impl Into<Sizes>) -> Result<Tensor<D>> {
        let geometry = check_length::<T>(data.len(), &sizes.into()).map_err(|e| e.of("from_slice"))?;
        let mut tensor = Tensor::<D>::from_raw(Raw::allocate::<D>(geometry, index, Contents::Zeroed)?);
        if !tensor.raw().header().is_some_and(|header| header.is_host()) {
            let mut stored: Vec<T::Stored> = list::with_capacity(data.len())?;
            stored.extend(data.iter().map(|x| x.store()));
            tensor.raw().write_first(bytemuck::cast_slice(&stored))?;
            return Ok(tensor);
        }
        for (to, from) in tensor.raw_mut().fresh_data_mut::<T>()?.iter_mut().zip(data) {
            *to = from.store();
        }
        Ok(tensor)
    }

    /// A contiguous tensor of `sizes` on the CPU that takes the vector's buffer, without a copy unless that is not
    /// aligned to 16 bytes. An error if the lengths disagree.
    pub fn from_vec<T: Element>(data: Vec<T>, sizes: impl Into<Sizes>) -> Result<Tensor<D>>
    where
        Standard: DefaultDevice<D>,
    {
        let sizes = sizes.into();
        let geometry = check_length::<T>(data.len(), &sizes).map_err(|e| e.of("from_vec"))?;
        match Handle::from_vec::<D, T>(data) {
            Ok(handle) => {
                let mut raw = Raw::pending(geometry);
                raw.settle(handle);
                Ok(Tensor::from_raw(raw))
            }
            Err(data) => Tensor::from_slice_on(0, &data, sizes),
        }
    }

    /// A contiguous tensor of `sizes` on the CPU with a copy of bytes as they lie in memory, such as those of bfloat16
    /// in a file. An error if their number is not that of the elements times the bytes of one.
    pub fn from_bytes(bytes: &[u8], dtype: DType, sizes: impl Into<Sizes>) -> Result<Tensor<D>>
    where
        Standard: DefaultDevice<D>,
    {
        let sizes = sizes.into();
        if strides::numel(&sizes)?.checked_mul(dtype.size()) != Some(bytes.len()) {
            return Err(ErrorKind::ShapeNumel { want: sizes.to_vec(), numel: bytes.len() / dtype.size() }.into());
        }
        Tensor::from_storage(bytes, Geometry::contiguous(dtype, &sizes)?)
    }

    /// Every element in row-major order. Takes the buffer of a tensor that was made of a vector, is contiguous and
    /// shares its storage with no other; copies as [`to_vec`](Tensor::to_vec) does otherwise.
    pub fn into_vec<T: Element>(mut self) -> Result<Vec<T>> {
        check_dtype::<T>(self.geometry()).map_err(|e| e.of("into_vec"))?;
        let whole = self.geometry().offset() == 0
            && check_slice::<T>(self.raw()).is_ok()
            && self.numel().checked_mul(size_of::<T>()) == Some(self.storage_bytes());
        let taken = if whole { self.raw.take_vec() } else { None };
        taken.map_or_else(|| self.to_vec(), Ok)
    }

    /// A tensor of bytes `storage` seen through `geometry`.
    pub fn from_storage(storage: &[u8], geometry: Geometry) -> Result<Tensor<D>> {
        let whole = Geometry::new(DType::U8, &[storage.len() as i64], &[1], 0)?;
        let whole = Tensor::<D>::from_raw(Raw::allocate::<D>(whole, 0, Contents::Zeroed)?);
        if !storage.is_empty() {
            whole.raw().write_first(storage)?;
        }
        whole.with_geometry(geometry)
    }
}

/// The geometry of `sizes`, if that has so many elements.
fn check_length<T: Element>(len: usize, sizes: &[i64]) -> Result<Geometry> {
    if strides::numel(sizes)? != len {
        return Err(ErrorKind::ShapeNumel { want: sizes.to_vec(), numel: len }.into());
    }
    Geometry::contiguous(T::DTYPE, sizes)
}

impl<T: Element, D: Device> TryFrom<Vec<T>> for Tensor<D>
where
    Standard: DefaultDevice<D>,
{
    type Error = crate::error::Error;
    fn try_from(data: Vec<T>) -> Result<Tensor<D>> {
        let len = data.len();
        Tensor::from_vec(data, len)
    }
}

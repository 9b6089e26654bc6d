//! The arguments of a boxed call where they lie on the stack: reading them by schema type, lending those that are
//! written, and leaving results in their place. Owns the passage; what is called in between is the kernel's.

use super::declaration::Parameter;
use monomorph_core::{AnyTensor, ArgType, Device, DeviceId, Error, ErrorKind, Geometry, IValue, Result, Stack, Tensor};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Reads boxed arguments one after another.
pub struct Reader<'a> {
    /// Those that are left.
    args: std::slice::Iter<'a, IValue>,
    parameters: &'static [Parameter],
}

impl<'a> Reader<'a> {
    /// A reader of arguments, the last of which is that of the last parameter; those before the first are read
    /// elsewhere.
    #[inline]
    pub fn new(args: &'a [IValue], parameters: &'static [Parameter]) -> Reader<'a> {
        Reader { args: args.iter(), parameters }
    }

    /// The next argument as a `T`.
    #[inline(always)]
    pub fn read<T: ArgType>(&mut self) -> Result<T::Value<'a>> {
        let value = self.take();
        T::get(value).ok_or_else(|| self.mismatch(value))
    }

    /// The next argument as a tensor on `D`, where it lies; a number becomes a wrapped 0-dim tensor.
    pub fn tensor<D: Device>(&mut self) -> Result<Cow<'a, Tensor<D>>> {
        let value = self.take();
        match value {
            IValue::Tensor(t) => match t.downcast_ref::<D>() {
                Some(t) => Ok(Cow::Borrowed(t)),
                None => Err(device_error::<D>(t, self.last().1.name)),
            },
            other => match other.to_scalar() {
                Some(number) => wrapped_number::<D>(number).map(Cow::Owned),
                None => Err(self.mismatch(value)),
            },
        }
    }

    /// The next argument as a tensor on `D`, where it lies; no number may stand for it.
    pub fn plain_tensor<D: Device>(&mut self) -> Result<&'a Tensor<D>> {
        let value = self.take();
        match value {
            IValue::Tensor(t) => t.downcast_ref::<D>().ok_or_else(|| device_error::<D>(t, self.last().1.name)),
            other => Err(self.mismatch(other)),
        }
    }

    /// The next argument as a tensor on `D` that may be absent.
    pub fn optional_tensor<D: Device>(&mut self) -> Result<Option<Cow<'a, Tensor<D>>>> {
        match self.args.as_slice().first() {
            None | Some(IValue::None) => {
                self.take();
                Ok(None)
            }
            _ => self.tensor::<D>().map(Some),
        }
    }

    #[inline(always)]
    fn take(&mut self) -> &'a IValue {
        self.args.next().unwrap_or(&IValue::None)
    }

    /// The position and declaration of the argument that was read last.
    fn last(&self) -> (usize, Parameter) {
        let position = self.parameters.len().wrapping_sub(self.args.len() + 1);
        let parameter = self.parameters.get(position).copied();
        (position, parameter.unwrap_or(Parameter { name: "", ty: "" }))
    }

    #[cold]
    fn mismatch(&self, value: &IValue) -> Error {
        let (position, Parameter { name, ty }) = self.last();
        kind_error(value, position, name, ty)
    }
}

/// A 0-dim tensor on the first device of the kind that counts as a number in type promotion.
fn wrapped_number<D: Device>(number: monomorph_core::Scalar) -> Result<Tensor<D>> {
    let bytes = monomorph_core::scalar_bytes(number, number.dtype());
    let geometry = Geometry::new(number.dtype(), &[], &[], 0)?.with_wrapped(true);
    match D::MEMORY {
        Some(_) => Tensor::from_storage(&bytes[..number.dtype().size()], geometry),
        None => Tensor::<D>::zeroed(number.dtype(), &[], &[], 0)?.with_geometry(geometry),
    }
}

#[cold]
pub(super) fn kind_error(value: &IValue, position: usize, name: &str, want: &str) -> Error {
    ErrorKind::ArgumentKind { position, arg: name.to_owned(), got: value.kind_name(), want: want.to_owned() }.into()
}

#[cold]
pub(super) fn device_error<D: Device>(tensor: &AnyTensor, name: &str) -> Error {
    let want = DeviceId { kind: D::KIND, index: 0 };
    ErrorKind::DeviceMismatch { arg: name.to_owned().into(), got: tensor.device(), want }.into()
}

/// The last `count` values of the stack: the arguments of a kernel.
///
/// # Errors
///
/// There are fewer.
#[inline]
pub(super) fn arguments(stack: &mut Stack, count: usize) -> Result<&mut [IValue]> {
    let given = stack.len();
    match given.checked_sub(count) {
        Some(first) => Ok(&mut stack[first..]),
        None => Err(ErrorKind::ListLength { arg: "stack", got: given, want: count }.into()),
    }
}

/// The argument that is written in place, and those behind it.
///
/// # Errors
///
/// There is none.
#[inline]
pub(super) fn split_first(args: &mut [IValue]) -> Result<(&mut [IValue], &mut [IValue])> {
    let given = args.len();
    args.split_at_mut_checked(1).ok_or_else(|| ErrorKind::ListLength { arg: "stack", got: given, want: 1 }.into())
}

/// Replaces the last `count` values of the stack by the results of the call that they were the arguments of.
#[inline]
pub fn finish(stack: &mut Stack, count: usize, results: impl IntoIterator<Item = IValue>) {
    stack.truncate(stack.len() - count);
    stack.extend(results);
}

/// Leaves the first of the last `count` values, a tensor or a number, as the result of the call that they were the
/// arguments of.
pub(super) fn keep_first<D: Device>(stack: &mut Stack, count: usize) -> Result<()> {
    stack.truncate(stack.len() + 1 - count);
    let first = stack.last_mut().filter(|value| !matches!(value, IValue::Tensor(_)));
    if let Some(number) = first.and_then(|value| value.to_scalar().map(|number| (value, number))) {
        *number.0 = wrapped_number::<D>(number.1)?.into();
    }
    Ok(())
}

/// Checks that the values are tensors to be written; they are arguments from number `first` on.
#[inline]
pub(super) fn check_written(values: &[IValue], first: usize) -> Result<()> {
    match values.iter().position(|v| !matches!(v, IValue::Tensor(_))) {
        None => Ok(()),
        Some(i) => Err(kind_error(&values[i], first + i, "out", "Tensor")),
    }
}

/// Values that were checked to be tensors as `N` on device `D` to be written.
#[inline]
pub(super) fn written<D: Device, const N: usize>(values: &mut [IValue]) -> Result<[&mut Tensor<D>; N]> {
    let typed: SmallVec<[&mut Tensor<D>; N]> = all_written(values)?;
    typed.into_inner().map_err(|short| ErrorKind::ListLength { arg: "out", got: short.len(), want: N }.into())
}

/// The same for a number of values that is known when the program runs. A loop, not `collect`: collecting `Result`s
/// costs a small call 13 ns of 140.
#[inline]
pub(super) fn all_written<D: Device, const N: usize>(values: &mut [IValue]) -> Result<SmallVec<[&mut Tensor<D>; N]>> {
    let mut typed = SmallVec::new();
    for value in values {
        let IValue::Tensor(tensor) = value else { continue };
        if tensor.device().kind != D::KIND {
            return Err(device_error::<D>(tensor, "out"));
        }
        typed.extend(tensor.make_mut().downcast_mut());
    }
    Ok(typed)
}

/// Leaves of the last `count` values of the stack only the written ones, which are the last `written`.
#[inline]
pub(super) fn keep_written(stack: &mut Stack, count: usize, written: usize) {
    let end = stack.len();
    drop(stack.drain(end - count..end - written));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meta;
    use monomorph_core::DType;

    fn tensor(sizes: &[i64]) -> Tensor<Meta> {
        Tensor::zeros_contiguous(DType::F32, sizes).unwrap()
    }

    /// A kernel takes what is its own off the end of a stack, whatever lies below.
    #[test]
    fn what_lies_below_the_arguments_stays() {
        let mut stack: Stack = vec![IValue::Int(7), tensor(&[2]).into(), IValue::Bool(true)];
        assert_eq!(arguments(&mut stack, 2).unwrap().len(), 2);
        assert!(matches!(arguments(&mut stack, 4).unwrap_err().kind(), ErrorKind::ListLength { got: 3, want: 4, .. }));
        finish(&mut stack, 2, [IValue::Float(1.5)]);
        assert!(matches!(stack[..], [IValue::Int(7), IValue::Float(1.5)]));
        finish(&mut stack, 0, [IValue::None, IValue::None]);
        keep_written(&mut stack, 3, 1);
        assert!(matches!(stack[..], [IValue::Int(7), IValue::None]));
    }

    #[test]
    fn nothing_is_written_in_place_where_there_is_no_argument() {
        assert!(matches!(split_first(&mut []).unwrap_err().kind(), ErrorKind::ListLength { got: 0, want: 1, .. }));
        assert_eq!(split_first(&mut [IValue::None, IValue::Int(1)]).unwrap().1.len(), 1);
    }

    #[test]
    fn the_first_argument_may_be_the_result_and_a_number_becomes_a_tensor() {
        let mut stack: Stack = vec![IValue::Int(7), tensor(&[2]).into(), IValue::Bool(true)];
        keep_first::<Meta>(&mut stack, 2).unwrap();
        assert!(matches!(&stack[..], [IValue::Int(7), IValue::Tensor(t)] if t.sizes() == [2]));
        keep_first::<Meta>(&mut stack, 2).unwrap();
        assert!(matches!(&stack[..], [IValue::Tensor(t)] if t.dtype() == DType::I64 && t.sizes().is_empty()));
    }

    #[test]
    fn written_values_are_lent_where_they_lie() {
        let mut stack: Stack = vec![tensor(&[2]).into(), tensor(&[3]).into()];
        check_written(&stack, 0).unwrap();
        let [a, b] = written::<Meta, 2>(&mut stack).unwrap();
        a.set_view(Geometry::contiguous(DType::F32, &[1, 2]).unwrap()).unwrap();
        assert_eq!(b.sizes(), [3]);
        let IValue::Tensor(changed) = &stack[0] else { panic!("a tensor") };
        assert_eq!(changed.sizes(), [1, 2]);
        assert!(written::<Meta, 3>(&mut stack).is_err());
        stack[1] = IValue::Int(1);
        assert!(matches!(check_written(&stack, 4).unwrap_err().kind(), ErrorKind::ArgumentKind { position: 5, .. }));
    }
}

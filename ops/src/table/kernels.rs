//! The boxed kernels of a row's forms: closures that read arguments off the stack by schema type and call the typed
//! operator. Owns their expansion; the reading is in `stack.rs`, the other door in `unboxed.rs`.

use crate::copies::clone_tensor;
use monomorph_core::{AnyTensor, Device, Geometry, IValue, MemoryFormat, Result, Tensor, list};
use smallvec::{SmallVec, smallvec};

/// The boxed kernel of one form on one device: a closure without captures. Arguments are read where they lie on the
/// stack, and what is written lies there too. Arguments of hand-written functions have the names of the row, so that
/// one of another type is an error at the row.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel {
    (functional op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let mut reader = $crate::table::Reader::new(args, 0);
        let values = ($(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
        let sink = $crate::core::structured::Functional::<$device, { $crate::__results!(count $rets) }>::default();
        let outputs = <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
        $crate::table::finish(stack, COUNT, outputs.map(Into::into));
        Ok(())
    } };
    (out op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        const OUTPUTS: usize = $crate::__results!(count $rets);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + OUTPUTS)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let values = ($(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
        let sink = $crate::core::structured::Out($crate::table::written::<$device, OUTPUTS>(outs)?);
        <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
        $crate::table::keep_written(stack, INPUTS + OUTPUTS, OUTPUTS);
        Ok(())
    } };
    (autoout op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let values = ($(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
        let sink = $crate::core::structured::Functional::<$device, 1>::default();
        let [result] = <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $crate::table::write_out(&result, out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
    (inplace op $device:ident ($op:ty) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (first, rest) = $crate::table::arguments(stack, 1 + OTHERS)?.split_at_mut(1);
        $crate::table::check_written(first, 0)?;
        let [this] = $crate::table::written::<$device, 1>(first)?;
        $crate::core::structured::in_place(this, |input, sink, _| {
            #[allow(unused_mut, unused_variables, reason = "an operator may have no argument besides self")]
            let mut reader = $crate::table::Reader::new(rest, 1);
            let values = ($crate::core::structured::Operand::from(input),
                $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
            <$op as $crate::core::structured::Operator<'_, $device,
                ($crate::__value_type!('_ Tensor), $($crate::__value_type!('_ $ty),)*)>>::call(values, sink)
        })?;
        stack.truncate(stack.len() - OTHERS);
        Ok(())
    } };
    (functional view $($row:tt)*) => { $crate::__kernel! { @made shared view $($row)* } };
    (copy view $($row:tt)*) => { $crate::__kernel! { @made copied view $($row)* } };
    (functional views $($row:tt)*) => { $crate::__kernel! { @made shared_parts view $($row)* } };
    (copy views $($row:tt)*) => { $crate::__kernel! { @made copied_parts view $($row)* } };
    (copyout view $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = 1 + <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let copy = {
            let mut reader = $crate::table::Reader::new(inputs, 0);
            let this = reader.tensor::<$device>(stringify!($this))?;
            let geometry = $($op)*(this.geometry(),
                $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
            $crate::table::copied(&this, geometry)?
        };
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $crate::table::write_out(&copy, out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
    (copyout views $($row:tt)*) => { $crate::__kernel! { @outs write_outs $($row)* } };
    (copyinto views $($row:tt)*) => { $crate::__kernel! { @outs copy_into $($row)* } };
    (@outs $write:ident $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = 1 + <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        let parts = {
            let mut reader = $crate::table::Reader::new(inputs, 0);
            let this = reader.tensor::<$device>(stringify!($this))?;
            let geometries = $($op)*(this.geometry(),
                $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
            $crate::table::copied_parts(&this, geometries)?
        };
        let mut written = $crate::table::written_list::<$device>(&mut outs[0], INPUTS)?;
        $crate::table::$write(&parts, &mut written)?;
        $crate::table::keep_written(stack, INPUTS + 1, 0);
        Ok(())
    } };
    (inplace view $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (first, rest) = $crate::table::arguments(stack, 1 + OTHERS)?.split_at_mut(1);
        $crate::table::check_written(first, 0)?;
        let [this] = $crate::table::written::<$device, 1>(first)?;
        #[allow(unused_mut, unused_variables, reason = "an operator may have no argument besides self")]
        let mut reader = $crate::table::Reader::new(rest, 1);
        let geometry = $($op)*(this.geometry(),
            $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
        this.set_view(geometry)?;
        stack.truncate(stack.len() - OTHERS);
        Ok(())
    } };
    (@made $how_made:ident view $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = 1 + <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let result = {
            let mut reader = $crate::table::Reader::new(args, 0);
            let this = reader.tensor::<$device>(stringify!($this))?;
            let geometry = $($op)*(this.geometry(),
                $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
            $crate::table::IntoResults::into_results($crate::table::$how_made(&this, geometry)?)
        };
        $crate::table::finish(stack, COUNT, result);
        Ok(())
    } };
    (inplace hand $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (first, rest) = $crate::table::arguments(stack, 1 + OTHERS)?.split_at_mut(1);
        $crate::table::check_written(first, 0)?;
        let [this] = $crate::table::written::<$device, 1>(first)?;
        {
            #[allow(unused_mut, unused_variables, reason = "an operator may have no argument besides self")]
            let mut reader = $crate::table::Reader::new(rest, 1);
            $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
            $($op)*(this, $($n),*)?;
        }
        stack.truncate(stack.len() - OTHERS);
        Ok(())
    } };
    (functional hand $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let result: $crate::__hand_result!($device $rets) = {
            let mut reader = $crate::table::Reader::new(args, 0);
            $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
            $($op)*($($n),*)?
        };
        $crate::table::finish(stack, COUNT, $crate::table::IntoResults::into_results(result));
        Ok(())
    } };
    (functional itself $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let made: Option<$crate::core::Tensor<$device>> = {
            let mut reader = $crate::table::Reader::new(args, 0);
            $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
            $($op)*($($n),*)?
        };
        match made {
            Some(made) => $crate::table::finish(stack, COUNT, [made.into()]),
            None => $crate::table::keep_first::<$device>(stack, COUNT)?,
        }
        Ok(())
    } };
    (autoout hand $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let result: $crate::__hand_result!($device $rets) = {
            let mut reader = $crate::table::Reader::new(inputs, 0);
            $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
            $($op)*($($n),*)?
        };
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $crate::table::write_out(&result, out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
    (out hand $device:ident ($($op:tt)*) (Tensor $a:ident, Tensor $b:ident) [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 2)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let [$a, $b] = $crate::table::written::<$device, 2>(outs)?;
        {
            let mut reader = $crate::table::Reader::new(inputs, 0);
            $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
            $($op)*($($n,)* $a, $b)?;
        }
        $crate::table::keep_written(stack, INPUTS + 2, 2);
        Ok(())
    } };
    (out hand $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        {
            let mut reader = $crate::table::Reader::new(inputs, 0);
            $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
            $($op)*($($n,)* out)?;
        }
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
}

/// A view of this geometry.
pub fn shared<D: Device>(this: &Tensor<D>, geometry: Geometry) -> Result<Tensor<D>> {
    this.view_as(geometry)
}

/// A contiguous copy of a view of this geometry.
pub fn copied<D: Device>(this: &Tensor<D>, geometry: Geometry) -> Result<Tensor<D>> {
    clone_tensor(&this.view_as(geometry)?, Some(MemoryFormat::Contiguous))
}

/// A view of each geometry.
pub fn shared_parts<D: Device>(this: &Tensor<D>, geometries: Vec<Geometry>) -> Result<Vec<Tensor<D>>> {
    each_part(geometries, |geometry| shared(this, geometry))
}

/// A contiguous copy of a view of each geometry.
pub fn copied_parts<D: Device>(this: &Tensor<D>, geometries: Vec<Geometry>) -> Result<Vec<Tensor<D>>> {
    each_part(geometries, |geometry| copied(this, geometry))
}

fn each_part<D: Device>(
    geometries: Vec<Geometry>,
    make: impl Fn(Geometry) -> Result<Tensor<D>>,
) -> Result<Vec<Tensor<D>>> {
    let mut parts = list::with_capacity(geometries.len())?;
    for geometry in geometries {
        parts.push(make(geometry)?);
    }
    Ok(parts)
}

/// The type of the result of a hand-written function.
#[doc(hidden)]
#[macro_export]
macro_rules! __hand_result {
    ($device:ident (Tensor $(($($alias:tt)*))? [])) => { Vec<$crate::core::Tensor<$device>> };
    ($device:ident (Tensor $($a:ident)?, Tensor $($b:ident)?)) => {
        ($crate::core::Tensor<$device>, $crate::core::Tensor<$device>)
    };
    ($device:ident $rets:tt) => { $crate::core::Tensor<$device> };
}

/// An argument of a hand-written function: tensors by reference, everything else as operators take it.
#[doc(hidden)]
#[macro_export]
macro_rules! __hand_value {
    ($reader:ident $device:ident Tensor $n:ident) => {
        &*$reader.tensor::<$device>(stringify!($n))?
    };
    ($reader:ident $device:ident $ty:ident $n:ident) => {
        $reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?
    };
}

/// The result of a hand-written function as boxed values.
pub trait IntoResults {
    /// The boxed values, in order.
    fn into_results(self) -> SmallVec<[IValue; 2]>;
}

impl<D: Device> IntoResults for Tensor<D> {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![self.into()]
    }
}

impl IntoResults for AnyTensor {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![self.into()]
    }
}

impl IntoResults for Vec<AnyTensor> {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![self.into()]
    }
}

impl<D: Device> IntoResults for (Tensor<D>, Tensor<D>) {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![self.0.into(), self.1.into()]
    }
}

impl<D: Device> IntoResults for Vec<Tensor<D>> {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![IValue::Tensors(AnyTensor::list(self))]
    }
}

//! The unboxed doors of a row's kernels: closures over the Rust types of the schema, for calls through a typed handle.
//! Owns the expansion of structured forms; all others have the boxed door alone, which serves unboxed calls too.

/// The kernel of one form on one device, with both doors where the form is a structured operator's.
#[doc(hidden)]
#[macro_export]
macro_rules! __two_doors {
    (functional op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => {
        $crate::core::dispatch::KernelFunction::with_stack(
            |$($n: $crate::__unboxed_type!($ty)),*| -> $crate::core::Result<$crate::__results!(owned $device $rets)> {
                let values = ($($crate::__unboxed_value!($ty $n),)*);
                let sink = $crate::core::structured::Functional::<$device, { $crate::__results!(count $rets) }>::default();
                let outputs = <$op as $crate::core::structured::Operator<'_, $device,
                    ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
                Ok($crate::__results!(tuple $rets outputs))
            },
            $crate::__kernel! { functional op $device ($op) $rets [$((arg $ty $n))*] },
        )
    };
    (inplace op $device:ident ($op:ty) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => {
        $crate::core::dispatch::KernelFunction::with_stack(
            |$this: &mut $crate::core::Tensor<$device> $(, $n: $crate::__unboxed_type!($ty))*| -> $crate::core::Result<()> {
                $crate::core::structured::in_place($this, |input, sink, _| {
                    let values = ($crate::core::structured::Operand::from(input), $($crate::__unboxed_value!($ty $n),)*);
                    <$op as $crate::core::structured::Operator<'_, $device,
                        ($crate::__value_type!('_ Tensor), $($crate::__value_type!('_ $ty),)*)>>::call(values, sink)
                })?;
                Ok(())
            },
            $crate::__kernel! { inplace op $device ($op) $rets [(arg Tensor $this) $((arg $ty $n))*] },
        )
    };
    (out op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => {
        $crate::core::dispatch::KernelFunction::with_stack(
            $crate::__unboxed_out! { $device ($op) $rets [$(($ty $n))*] },
            $crate::__kernel! { out op $device ($op) $rets [$((arg $ty $n))*] },
        )
    };
    (autoout copying $($row:tt)*) => { $crate::__two_doors! { autoout hand $($row)* } };
    (autoout moving $($row:tt)*) => { $crate::__two_doors! { autoout hand $($row)* } };
    ($form:ident copying $device:ident $op:tt $rets:tt $args:tt) => {
        $crate::across::copying::<$device>($crate::__kernel! { $form hand $device $op $rets $args })
    };
    ($form:ident moving $device:ident $op:tt $rets:tt $args:tt) => {
        $crate::across::moving::<$device>($crate::__kernel! { $form hand $device $op $rets $args })
    };
    ($form:ident $kind:ident $device:ident $op:tt $rets:tt $args:tt) => {
        $crate::core::dispatch::KernelFunction::stack($crate::__kernel! { $form $kind $device $op $rets $args })
    };
}

/// The out= form with its one or two outputs as parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __unboxed_out {
    ($device:ident $op:tt (Tensor $($name:ident)?) $args:tt) => {
        $crate::__unboxed_out! { @of $device $op [out] $args }
    };
    ($device:ident $op:tt (Tensor $a:ident, Tensor $b:ident) $args:tt) => {
        $crate::__unboxed_out! { @of $device $op [first second] $args }
    };
    (@of $device:ident ($op:ty) [$($out:ident)*] [$(($ty:ident $n:ident))*]) => {
        |$($n: $crate::__unboxed_type!($ty),)* $($out: &mut $crate::core::Tensor<$device>),*| -> $crate::core::Result<()> {
            let values = ($($crate::__unboxed_value!($ty $n),)*);
            let sink = $crate::core::structured::Out([$($out),*]);
            <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
            Ok(())
        }
    };
}

/// The Rust type of a schema type in an unboxed call.
#[doc(hidden)]
#[macro_export]
macro_rules! __unboxed_type {
    (Tensor) => { &$crate::core::AnyTensor };
    (OptTensor) => { Option<&$crate::core::AnyTensor> };
    (Scalar) => { $crate::core::Scalar };
    (OptScalar) => { Option<$crate::core::Scalar> };
    (Int) => { i64 };
    (OptInt) => { Option<i64> };
    (Ints) => { &[i64] };
    (OptInts) => { Option<&[i64]> };
    (OptFloat) => { Option<f64> };
    (OptFloats) => { Option<&[f64]> };
    (Bool) => { bool };
    (Str) => { &str };
    (OptStr) => { Option<&str> };
    (OptDType) => { Option<$crate::core::DType> };
}

/// The argument as operators take it.
#[doc(hidden)]
#[macro_export]
macro_rules! __unboxed_value {
    (Tensor $n:ident) => {
        $crate::core::structured::Operand::from($n)
    };
    (OptTensor $n:ident) => {
        $n.map_or($crate::core::structured::Operand::Absent, $crate::core::structured::Operand::from)
    };
    ($ty:ident $n:ident) => {
        $n
    };
}

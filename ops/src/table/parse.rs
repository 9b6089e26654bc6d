//! Reading a schema's argument list at compile time. One macro walks the tokens and hands the callback a list of
//! `(arg TYPE name)` and `(fixed TYPE {default})`; a second says what each TYPE is in Rust.

/// Walks the arguments of a schema.
///
/// `__schema_args! { @walk $mode no $callback {context} ([] {}) args.. , }` calls
/// `$callback! { {context} [ (arg Tensor this) (arg Scalar alpha) .. ] { (Tensor this) (Scalar alpha) .. } }`: all
/// arguments, then those that are parameters of the generated function. In mode `short`, keyword-only arguments that
/// have a default are `(fixed TYPE default)` in the first list and not in the second.
#[doc(hidden)]
#[macro_export]
macro_rules! __schema_args {
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt ([$($all:tt)*] {$($params:tt)*})) => {
        $crate::$cb! { $ctx [$($all)*] {$($params)*} }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt ,) => { $crate::__schema_args! { @walk $mode $kw $cb $ctx $acc } };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt * , $($rest:tt)*) => {
        $crate::__schema_args! { @walk $mode yes $cb $ctx $acc $($rest)* }
    };

    // `self` cannot name a parameter of a free function.
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Tensor $(($($a:tt)*))? self $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Tensor this $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Scalar self $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Scalar this $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Tensor [] $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Tensors $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Tensor ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptTensor $n $($rest)* }
    };
    // A tensor with the default `[]` may be undefined.
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Tensor $n:ident = [] $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptTensor $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Tensor $(($($a:tt)*))? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Tensor $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Scalar ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptScalar $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Scalar $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Scalar $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt SymInt $($rest:tt)*) => {
        $crate::__schema_args! { @walk $mode $kw $cb $ctx $acc int $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt int [$($len:literal)?] ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptInts $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt int [$($len:literal)?] $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Ints $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt int ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptInt $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt int $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Int $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt float [] ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptFloats $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt float ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptFloat $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt float $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Float $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt bool [$($len:literal)?] $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Bools $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Storage $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Storage $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt bool ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptBool $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt bool $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Bool $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt str ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptStr $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt str $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Str $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt ScalarType ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptDType $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt ScalarType $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc DType $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Layout ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptLayout $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Device ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptDevice $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt Device $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc Device $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt MemoryFormat ? $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc OptMemoryFormat $n $($rest)* }
    };
    (@walk $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt MemoryFormat $n:ident $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc MemoryFormat $n $($rest)* }
    };

    // Defaults matter only for keyword-only arguments in short mode, where none is negative.
    (@default $mode:ident $kw:ident $cb:ident $ctx:tt $acc:tt $ty:ident $n:ident = - $default:literal , $($rest:tt)*) => {
        $crate::__schema_args! { @default $mode $kw $cb $ctx $acc $ty $n , $($rest)* }
    };
    (@default short yes $cb:ident $ctx:tt ([$($all:tt)*] $params:tt) $ty:ident $n:ident = $default:tt , $($rest:tt)*) => {
        $crate::__schema_args! { @walk short yes $cb $ctx ([$($all)* (fixed $ty $default)] $params) $($rest)* }
    };
    (@default $mode:ident $kw:ident $cb:ident $ctx:tt ([$($all:tt)*] {$($params:tt)*}) $ty:ident $n:ident
        $(= $default:tt)? , $($rest:tt)*) => {
        $crate::__schema_args! {
            @walk $mode $kw $cb $ctx ([$($all)* (arg $ty $n)] {$($params)* ($ty $n)}) $($rest)*
        }
    };
}

/// The parameter type of a generated function for a schema type.
#[doc(hidden)]
#[macro_export]
macro_rules! __param_type {
    ($t:lifetime $d:ident Tensor) => { impl $crate::core::IntoArg<$t, $d> };
    ($t:lifetime $d:ident OptTensor) => { Option<&$t $crate::core::Tensor<$d>> };
    ($t:lifetime $d:ident Scalar) => { impl Into<$crate::core::Scalar> };
    ($t:lifetime $d:ident Ints) => { impl Into<$crate::core::IntList<$t>> };
    ($t:lifetime $d:ident $ty:ident) => { $crate::__value_type!($t $ty) };
}

/// The type of an argument as operators take it.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_type {
    ($t:lifetime $ty:ident) => { <$crate::__marker!($ty) as $crate::core::ArgType>::Value<$t> };
}

/// Calls `$to! { context [(arg Tensor this) ..] }` with the arguments of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! __parsed {
    ($to:ident $ctx:tt ($($args:tt)*)) => { $crate::__schema_args! { @walk full no __parsed_to {$to $ctx} ([] {}) $($args)* , } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __parsed_to {
    ({$to:ident $ctx:tt} $all:tt $params:tt) => {
        $to! { $ctx $all }
    };
}

/// The arguments of a row as operators take them: a tuple, in type position.
#[doc(hidden)]
#[macro_export]
macro_rules! __arguments_type {
    ($t:lifetime [$((arg $ty:ident $n:ident))*]) => { ($($crate::__value_type!($t $ty),)*) };
}

/// The marker type of a schema type.
#[doc(hidden)]
#[macro_export]
macro_rules! __marker {
    (Tensor) => { $crate::core::TensorArg };
    (OptTensor) => { $crate::core::OptionalTensorArg };
    (Tensors) => { $crate::core::TensorsArg };
    (Scalar) => { $crate::core::ScalarArg };
    (OptScalar) => { $crate::core::Optional<$crate::core::ScalarArg> };
    (Int) => { $crate::core::IntArg };
    (OptInt) => { $crate::core::Optional<$crate::core::IntArg> };
    (Ints) => { $crate::core::IntsArg };
    (OptInts) => { $crate::core::Optional<$crate::core::IntsArg> };
    (Float) => { $crate::core::FloatArg };
    (OptFloat) => { $crate::core::Optional<$crate::core::FloatArg> };
    (OptFloats) => { $crate::core::Optional<$crate::core::FloatsArg> };
    (Bools) => { $crate::core::BoolsArg };
    (Storage) => { $crate::core::StorageArg };
    (Bool) => { $crate::core::BoolArg };
    (OptBool) => { $crate::core::Optional<$crate::core::BoolArg> };
    (Str) => { $crate::core::StrArg };
    (OptStr) => { $crate::core::Optional<$crate::core::StrArg> };
    (DType) => { $crate::core::DTypeArg };
    (OptDType) => { $crate::core::Optional<$crate::core::DTypeArg> };
    (OptLayout) => { $crate::core::Optional<$crate::core::LayoutArg> };
    (Device) => { $crate::core::DeviceArg };
    (OptDevice) => { $crate::core::Optional<$crate::core::DeviceArg> };
    (MemoryFormat) => { $crate::core::MemoryFormatArg };
    (OptMemoryFormat) => { $crate::core::Optional<$crate::core::MemoryFormatArg> };
}

/// A parameter, or the default of a fixed argument, as operators take it.
#[doc(hidden)]
#[macro_export]
macro_rules! __value {
    ($d:ident (arg Tensor $n:ident)) => {
        $crate::core::IntoArg::<'_, $d>::into_arg($n).operand()
    };
    ($d:ident (arg OptTensor $n:ident)) => {
        $crate::core::IntoArg::<'_, $d>::into_arg($n).operand()
    };
    ($d:ident (arg Scalar $n:ident)) => {
        Into::<$crate::core::Scalar>::into($n)
    };
    ($d:ident (arg Ints $n:ident)) => {
        Into::<$crate::core::IntList<'_>>::into($n).0
    };
    ($d:ident (arg $ty:ident $n:ident)) => {
        $n
    };
    ($d:ident (fixed $ty:ident None)) => {
        None
    };
    ($d:ident (fixed $ty:ident False)) => {
        false
    };
    ($d:ident (fixed $ty:ident True)) => {
        true
    };
    ($d:ident (fixed Scalar $default:literal)) => {
        $crate::core::Scalar::from($default)
    };
    ($d:ident (fixed Str $default:literal)) => {
        $default
    };
    ($d:ident (fixed MemoryFormat contiguous_format)) => {
        $crate::core::MemoryFormat::Contiguous
    };
}

//! The typed forms of a row: free functions, and methods through a trait of the same name, so that one `use` brings both.

/// Expands the table into functions and method traits.
#[doc(hidden)]
#[macro_export]
macro_rules! __functions {
    ($({ [$($name:tt)*] ($($args:tt)*) -> ($($rets:tt)*) : $kind:ident ($($op:tt)*) $({ $($form:ident $fn:tt $([$($fname:tt)*])? ;)* })? })*) => {$($($(
        $crate::__function! { $form $kind $fn ($($op)*) ($($args)*) -> ($($rets)*) [$($name)*] }
    )*)?)*};
}

/// Expands the table into functions whose results are meta tensors, for operands of any device.
#[doc(hidden)]
#[macro_export]
macro_rules! __meta_functions {
    ($({ [$($name:tt)*] ($($args:tt)*) -> ($($rets:tt)*) : $kind:ident ($($op:tt)*) $({ $($form:ident $fn:tt $([$($fname:tt)*])? ;)* })? })*) => {$($($(
        $crate::__meta_function! { $form $kind $fn ($($op)*) ($($args)*) -> ($($rets)*) [$($name)*] }
    )*)?)*};
}

/// One form of one row as a function and a method.
#[doc(hidden)]
#[macro_export]
macro_rules! __function {
    ($form:ident $kind:ident - $($rest:tt)*) => {};
    (functional op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __functional_fn {$fn $op $rets $name} [] $($args)* , }
    };
    (functional_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __functional_fn {$fn $op $rets $name} [] $($args)* , }
    };
    (out op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __out_fn {$fn $op $rets $name} [] $($args)* , }
    };
    (out_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __out_fn {$fn $op $rets $name} [] $($args)* , }
    };
    (inplace op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __inplace_fn {$fn $op $name} [] $($args)* , }
    };
    (inplace_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __inplace_fn {$fn $op $name} [] $($args)* , }
    };
    (functional view $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __view_fn {$fn $op $name} [] $($args)* , }
    };
    (inplace view $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __inplace_view_fn {$fn $op $name} [] $($args)* , }
    };
    // Hand-written functions are re-exported by their module; nothing is generated.
    ($form:ident $kind:ident $fn:ident $op:tt $args:tt -> $rets:tt $name:tt) => {};
}

/// One form of one row as a meta function.
#[doc(hidden)]
#[macro_export]
macro_rules! __meta_function {
    ($form:ident $kind:ident - $($rest:tt)*) => {};
    (functional op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __meta_fn {$fn $op $rets $name} [] $($args)* , }
    };
    (functional_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __meta_fn {$fn $op $rets $name} [] $($args)* , }
    };
    ($form:ident $kind:ident $fn:ident $op:tt $args:tt -> $rets:tt $name:tt) => {};
}

/// The number of outputs and the types of results, from the returns of a schema.
#[doc(hidden)]
#[macro_export]
macro_rules! __results {
    (count (Tensor $($n:ident)?)) => { 1 };
    (count (Tensor $a:ident, Tensor $b:ident)) => { 2 };
    (owned $d:ident (Tensor $($n:ident)?)) => { $crate::core::Tensor<$d> };
    (owned $d:ident (Tensor $a:ident, Tensor $b:ident)) => { ($crate::core::Tensor<$d>, $crate::core::Tensor<$d>) };
    (lent $t:lifetime $d:ident (Tensor $($n:ident)?)) => { &$t mut $crate::core::Tensor<$d> };
    (lent $t:lifetime $d:ident (Tensor $a:ident, Tensor $b:ident)) => {
        (&$t mut $crate::core::Tensor<$d>, &$t mut $crate::core::Tensor<$d>)
    };
    (array (Tensor $($n:ident)?) $e:expr) => { [$e] };
    (array (Tensor $a:ident, Tensor $b:ident) $e:expr) => {{ let (a, b) = $e; [a, b] }};
    (tuple (Tensor $($n:ident)?) $e:expr) => {{ let [out] = $e; out }};
    (tuple (Tensor $a:ident, Tensor $b:ident) $e:expr) => {{ let [a, b] = $e; (a, b) }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __functional_fn {
    ({ $fn:ident ($op:ty) $rets:tt [$($name:tt)*] } [$(($how:ident $ty:ident $n:tt))*]) => {
        $crate::__functional_fn! { @fn $fn ($op) $rets [$($name)*] [$(($how $ty $n))*] }
    };
    (@fn $fn:ident ($op:ty) $rets:tt [$($name:tt)*] [$($arg:tt)*]) => {
        $crate::__functional_fn! { @emit $fn ($op) $rets [$($name)*] [$($arg)*] {} $($arg)* }
    };
    // Parameters are the arguments that are not fixed.
    (@emit $fn:ident $op:tt $rets:tt $name:tt $all:tt {$($params:tt)*} (arg $ty:ident $n:ident) $($rest:tt)*) => {
        $crate::__functional_fn! { @emit $fn $op $rets $name $all {$($params)* ($ty $n)} $($rest)* }
    };
    (@emit $fn:ident $op:tt $rets:tt $name:tt $all:tt {$($params:tt)*} (fixed $ty:ident $n:tt) $($rest:tt)*) => {
        $crate::__functional_fn! { @emit $fn $op $rets $name $all {$($params)*} $($rest)* }
    };
    (@emit $fn:ident ($op:ty) $rets:tt [$($name:tt)*] [$(($how:ident $ty:ident $n:tt))*] {$(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "`: the functional form. Errors are those of its meta function.")]
        pub fn $fn<'t, D: $crate::core::Device>($($pn: $crate::__param_type!('t D $pty)),*)
            -> $crate::core::Result<$crate::__results!(owned D $rets)>
        where
            $op: $crate::core::structured::Operator<'t, D, ($($crate::__value_type!('t $ty),)*)>,
        {
            let args = ($($crate::__value!(D ($how $ty $n)),)*);
            let sink = $crate::core::structured::Functional::<D, { $crate::__results!(count $rets) }>::default();
            let outputs = <$op as $crate::core::structured::Operator<'t, D, _>>::call(args, sink)?;
            Ok($crate::__results!(tuple $rets outputs))
        }
    };
}

//! All rows: the families one after another.

/// Calls `$callback! { [context] {row} {row} .. }` with the rows of each family.
#[macro_export]
macro_rules! op_table {
    ($callback:ident $($context:tt)*) => {
        $crate::__arithmetic_rows! { $callback $($context)* }
        $crate::__exponential_rows! { $callback $($context)* }
        $crate::__comparison_rows! { $callback $($context)* }
        $crate::__logic_rows! { $callback $($context)* }
        $crate::__fill_rows! { $callback $($context)* }
        $crate::__nonzero_rows! { $callback $($context)* }
        $crate::__factory_rows! { $callback $($context)* }
        $crate::__arange_rows! { $callback $($context)* }
        $crate::__view_rows! { $callback $($context)* }
    };
}

/// Calls `$macro! { path::to::Formula }` for every in-tree formula: how a device compiles its kernels.
#[macro_export]
macro_rules! for_each_formula {
    ($macro:ident) => {
        $crate::op_table! { __each_formula $macro }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __each_formula {
    ([$macro:ident] $({ [$($name:tt)*] $args:tt -> $rets:tt : $kind:ident ($($what:tt)*) $forms:tt })*) => {
        $( $crate::__if_formula! { $kind $macro $($what)* } )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __if_formula {
    (formula $macro:ident $path:path) => {
        $macro! { $path }
    };
    ($kind:ident $macro:ident $($what:tt)*) => {};
}

/// A trait whose bounds are that a device executes every formula of a family.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernels_trait {
    ([$trait:ident] $({ [$($name:tt)*] $args:tt -> $rets:tt : $kind:ident ($($what:tt)*) $forms:tt })*) => {
        $crate::__kernels_trait! { @split $trait [] $($kind ($($what)*))* }
    };
    (@split $trait:ident [$($path:path,)*] formula ($next:path) $($rest:tt)*) => {
        $crate::__kernels_trait! { @split $trait [$($path,)* $next,] $($rest)* }
    };
    (@split $trait:ident $paths:tt $kind:ident $what:tt $($rest:tt)*) => {
        $crate::__kernels_trait! { @split $trait $paths $($rest)* }
    };
    (@split $trait:ident [$($path:path,)*]) => {
        /// Executes every formula of the family.
        pub trait $trait: $crate::core::Device $(+ $crate::core::structured::Executes<$crate::Op<$path>>)* {}
        impl<D: $crate::core::Device $(+ $crate::core::structured::Executes<$crate::Op<$path>>)*> $trait for D {}
    };
}

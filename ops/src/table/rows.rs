//! All rows: the families one after another.

/// Calls `$macro! { family rows context }` for each family, where `rows!` is the macro of the crate that has its rows.
/// What is expanded in a module of each family is numbered by the compiler in that module, so that a row more is no
/// change to other families.
#[macro_export]
macro_rules! for_each_family {
    ($macro:ident $($context:tt)*) => {
        $crate::__families! { [$macro] $($context)* }
        $crate::__memory_families! { [$macro] $($context)* }
    };
}

/// The families of operators that compute.
#[doc(hidden)]
#[macro_export]
macro_rules! __families {
    ([$($macro:tt)*] $($context:tt)*) => {
        $($macro)*! { arithmetic __arithmetic_rows $($context)* }
        $($macro)*! { exponential __exponential_rows $($context)* }
        $($macro)*! { logarithmic __logarithmic_rows $($context)* }
        $($macro)*! { trigonometric __trigonometric_rows $($context)* }
        $($macro)*! { hyperbolic __hyperbolic_rows $($context)* }
        $($macro)*! { bessel __bessel_rows $($context)* }
        $($macro)*! { modified_bessel __modified_bessel_rows $($context)* }
        $($macro)*! { normal __normal_rows $($context)* }
        $($macro)*! { airy __airy_rows $($context)* }
        $($macro)*! { orthogonal __orthogonal_rows $($context)* }
        $($macro)*! { logistic __logistic_rows $($context)* }
        $($macro)*! { polar __polar_rows $($context)* }
        $($macro)*! { gamma __gamma_rows $($context)* }
        $($macro)*! { incomplete_gamma __incomplete_gamma_rows $($context)* }
        $($macro)*! { power __power_rows $($context)* }
        $($macro)*! { activation __activation_rows $($context)* }
        $($macro)*! { piecewise __piecewise_rows $($context)* }
        $($macro)*! { comparison __comparison_rows $($context)* }
        $($macro)*! { extrema __extrema_rows $($context)* }
        $($macro)*! { clamp __clamp_rows $($context)* }
        $($macro)*! { selection __selection_rows $($context)* }
        $($macro)*! { blend __blend_rows $($context)* }
        $($macro)*! { logic __logic_rows $($context)* }
        $($macro)*! { bitwise __bitwise_rows $($context)* }
        $($macro)*! { rounding __rounding_rows $($context)* }
        $($macro)*! { sign __sign_rows $($context)* }
        $($macro)*! { remainder __remainder_rows $($context)* }
        $($macro)*! { neighbours __neighbours_rows $($context)* }
        $($macro)*! { classification __classification_rows $($context)* }
        $($macro)*! { sum __sum_rows $($context)* }
        $($macro)*! { mean __mean_rows $($context)* }
        $($macro)*! { amax __amax_rows $($context)* }
        $($macro)*! { amin __amin_rows $($context)* }
        $($macro)*! { any __any_rows $($context)* }
        $($macro)*! { argmax __argmax_rows $($context)* }
        $($macro)*! { aminmax __aminmax_rows $($context)* }
        $($macro)*! { upsample __upsample_rows $($context)* }
        $($macro)*! { float_power __float_power_rows $($context)* }
        $($macro)*! { nonzero __nonzero_rows $($context)* }
    };
}

/// The families whose operators need of a device its memory and its copy: factories, copies and views. A row of theirs
/// that is written by hand asks for no more than [`Fills`](crate::fill::Fills).
#[doc(hidden)]
#[macro_export]
macro_rules! __memory_families {
    ([$($macro:tt)*] $($context:tt)*) => {
        $($macro)*! { fill __fill_rows $($context)* }
        $($macro)*! { copies __copies_rows $($context)* }
        $($macro)*! { factory __factory_rows $($context)* }
        $($macro)*! { new_factories __new_factories_rows $($context)* }
        $($macro)*! { matrix_factories __matrix_factories_rows $($context)* }
        $($macro)*! { arange __arange_rows $($context)* }
        $($macro)*! { spaced __spaced_rows $($context)* }
        $($macro)*! { windows __windows_rows $($context)* }
        $($macro)*! { frequencies __frequencies_rows $($context)* }
        $($macro)*! { resize __resize_rows $($context)* }
        $($macro)*! { scatter __scatter_rows $($context)* }
        $($macro)*! { view __view_rows $($context)* }
        $($macro)*! { rearrange __rearrange_rows $($context)* }
        $($macro)*! { complex_view __complex_view_rows $($context)* }
        $($macro)*! { parts __parts_rows $($context)* }
        $($macro)*! { composite_shape __composite_shape_rows $($context)* }
        $($macro)*! { composite_join __composite_join_rows $($context)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __rows_of {
    ($family:ident $rows:ident $callback:ident $($context:tt)*) => {
        $crate::$rows! { $callback $($context)* }
    };
}

/// Calls `$callback! { [context] {row} {row} .. }` with the rows of each family.
#[macro_export]
macro_rules! op_table {
    ($callback:ident $($context:tt)*) => {
        $crate::__families! { [$crate::__rows_of] $callback $($context)* }
        $crate::memory_table! { $callback $($context)* }
    };
}

/// The same for the families whose operators need of a device its memory and its copy.
#[macro_export]
macro_rules! memory_table {
    ($callback:ident $($context:tt)*) => {
        $crate::__memory_families! { [$crate::__rows_of] $callback $($context)* }
    };
}

/// Calls `$macro! { path::to::Formula }` for every in-tree formula: how a device compiles its kernels.
#[macro_export]
macro_rules! for_each_formula {
    ($macro:ident) => {
        $crate::op_table! { __each formula $macro }
    };
}

/// Calls `$macro! { path::to::Fold }` for every in-tree fold.
#[macro_export]
macro_rules! for_each_fold {
    ($macro:ident) => {
        $crate::op_table! { __each fold $macro }
    };
}

/// Calls `$macro! { [context] name args -> rets : kind (what) {forms} }` for every row that has a name.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_row {
    ([$macro:ident $context:tt] $({ $($row:tt)* })*) => {
        $( $crate::__if_named! { $macro $context $($row)* } )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __if_named {
    ($macro:ident $context:tt [] $($row:tt)*) => {};
    ($macro:ident $context:tt $($row:tt)*) => { $macro! { $context $($row)* } };
}

/// The name of a row as text.
#[doc(hidden)]
#[macro_export]
macro_rules! __row_name {
    ([$($name:tt)*]) => { stringify!($($name)*) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __each {
    ([$wanted:ident $macro:ident] $({ [$($name:tt)*] $args:tt -> $rets:tt : $kind:ident ($($what:tt)*) $forms:tt })*) => {
        $( $crate::__if_kind! { $wanted $kind $macro $($what)* } )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __if_kind {
    (formula formula $macro:ident $path:path) => {
        $macro! { $path }
    };
    (fold fold $macro:ident $path:path) => {
        $macro! { $path }
    };
    ($wanted:ident $kind:ident $macro:ident $($what:tt)*) => {};
}

/// A trait whose bounds are that a device executes every formula and fold of a family.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernels_trait {
    ([$trait:ident] $({ [$($name:tt)*] $args:tt -> $rets:tt : $kind:ident ($($what:tt)*) $forms:tt })*) => {
        $crate::__kernels_trait! { @split $trait [] $($kind ($($what)*))* }
    };
    (@split $trait:ident [$($op:ty,)*] formula ($next:path) $($rest:tt)*) => {
        $crate::__kernels_trait! { @split $trait [$($op,)* $crate::Op<$next>,] $($rest)* }
    };
    (@split $trait:ident [$($op:ty,)*] fold ($next:path) $($rest:tt)*) => {
        $crate::__kernels_trait! { @split $trait [$($op,)* $crate::reduce::Reduce<$next, $crate::pointwise::Prebuilt>,] $($rest)* }
    };
    (@split $trait:ident [$($op:ty,)*] template ($next:ty) $($rest:tt)*) => {
        $crate::__kernels_trait! { @split $trait [$($op,)* $next,] $($rest)* }
    };
    (@split $trait:ident $ops:tt $kind:ident $what:tt $($rest:tt)*) => {
        $crate::__kernels_trait! { @split $trait $ops $($rest)* }
    };
    (@split $trait:ident [$($op:ty,)*]) => {
        /// Executes every operator of the family.
        pub trait $trait: $crate::core::Device $(+ $crate::core::structured::Executes<$op>)* {}
        impl<D: $crate::core::Device $(+ $crate::core::structured::Executes<$op>)*> $trait for D {}
    };
}

//! All rows: the families one after another.

/// Calls `$callback! { [context] {row} {row} .. }` with the rows of each family.
#[macro_export]
macro_rules! op_table {
    ($callback:ident $($context:tt)*) => {
        $crate::__arithmetic_rows! { $callback $($context)* }
        $crate::__exponential_rows! { $callback $($context)* }
        $crate::__logarithmic_rows! { $callback $($context)* }
        $crate::__trigonometric_rows! { $callback $($context)* }
        $crate::__hyperbolic_rows! { $callback $($context)* }
        $crate::__bessel_rows! { $callback $($context)* }
        $crate::__modified_bessel_rows! { $callback $($context)* }
        $crate::__normal_rows! { $callback $($context)* }
        $crate::__airy_rows! { $callback $($context)* }
        $crate::__orthogonal_rows! { $callback $($context)* }
        $crate::__logistic_rows! { $callback $($context)* }
        $crate::__polar_rows! { $callback $($context)* }
        $crate::__gamma_rows! { $callback $($context)* }
        $crate::__incomplete_gamma_rows! { $callback $($context)* }
        $crate::__power_rows! { $callback $($context)* }
        $crate::__activation_rows! { $callback $($context)* }
        $crate::__piecewise_rows! { $callback $($context)* }
        $crate::__comparison_rows! { $callback $($context)* }
        $crate::__extrema_rows! { $callback $($context)* }
        $crate::__clamp_rows! { $callback $($context)* }
        $crate::__selection_rows! { $callback $($context)* }
        $crate::__blend_rows! { $callback $($context)* }
        $crate::__logic_rows! { $callback $($context)* }
        $crate::__bitwise_rows! { $callback $($context)* }
        $crate::__rounding_rows! { $callback $($context)* }
        $crate::__sign_rows! { $callback $($context)* }
        $crate::__remainder_rows! { $callback $($context)* }
        $crate::__neighbours_rows! { $callback $($context)* }
        $crate::__classification_rows! { $callback $($context)* }
        $crate::__sum_rows! { $callback $($context)* }
        $crate::__mean_rows! { $callback $($context)* }
        $crate::__amax_rows! { $callback $($context)* }
        $crate::__amin_rows! { $callback $($context)* }
        $crate::__any_rows! { $callback $($context)* }
        $crate::__argmax_rows! { $callback $($context)* }
        $crate::__aminmax_rows! { $callback $($context)* }
        $crate::__upsample_rows! { $callback $($context)* }
        $crate::__float_power_rows! { $callback $($context)* }
        $crate::__nonzero_rows! { $callback $($context)* }
        $crate::memory_table! { $callback $($context)* }
    };
}

/// The same for the families whose operators need of a device its memory and its copy: factories, copies and views. A row of theirs that
/// is written by hand asks for no more than [`Fills`](crate::fill::Fills).
#[macro_export]
macro_rules! memory_table {
    ($callback:ident $($context:tt)*) => {
        $crate::__fill_rows! { $callback $($context)* }
        $crate::__copies_rows! { $callback $($context)* }
        $crate::__factory_rows! { $callback $($context)* }
        $crate::__new_factories_rows! { $callback $($context)* }
        $crate::__matrix_factories_rows! { $callback $($context)* }
        $crate::__arange_rows! { $callback $($context)* }
        $crate::__spaced_rows! { $callback $($context)* }
        $crate::__windows_rows! { $callback $($context)* }
        $crate::__frequencies_rows! { $callback $($context)* }
        $crate::__resize_rows! { $callback $($context)* }
        $crate::__scatter_rows! { $callback $($context)* }
        $crate::__view_rows! { $callback $($context)* }
        $crate::__rearrange_rows! { $callback $($context)* }
        $crate::__complex_view_rows! { $callback $($context)* }
        $crate::__parts_rows! { $callback $($context)* }
        $crate::__composite_shape_rows! { $callback $($context)* }
        $crate::__composite_join_rows! { $callback $($context)* }
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

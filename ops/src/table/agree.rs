//! Rows against operators, at compile time: a row whose arguments or results are not those of its operator does not
//! build, and the error is at the row.

use crate::pointwise::{Here, Pointwise, PointwiseFn};
use monomorph_core::Meta;
use monomorph_core::structured::Operator;

/// Checks the number of results.
pub const fn agrees(returns: usize, outputs: usize) {
    assert!(returns == outputs, "the row returns another number of tensors than its operator has outputs");
}

/// A formula whose operator takes the arguments `Args`. A trait of the formula itself, so that an error points at what
/// the author of the row wrote, and not at a type that a macro did. Meta tensors stand for those of any device, because
/// every operator runs on them.
pub trait Takes<Args> {
    /// The number of outputs of the operator.
    const OUTPUTS: usize;
}

impl<F: PointwiseFn, Args> Takes<Args> for F
where
    Pointwise<F, Here>: Operator<'static, Meta, Args>,
{
    const OUTPUTS: usize = <Pointwise<F, Here> as Operator<'static, Meta, Args>>::OUTPUTS;
}

/// The check of the text of one row. It is made once, with the functions.
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_row {
    (__function $kind:ident [$($name:tt)*] ($($args:tt)*) ($($rets:tt)*)) => {
        const _: () = $crate::table::declares(
            stringify!($kind), stringify!($($name)*), stringify!($($args)*), stringify!($($rets)*));
    };
    ($($other:tt)*) => {};
}

/// The check of one row against its operator. It is made once, with the functions.
#[doc(hidden)]
#[macro_export]
macro_rules! __agree_row {
    (__function op $op:tt $args:tt $rets:tt) => { $crate::__agree_row! { operator $op $args $rets } };
    (__function template $op:tt $args:tt $rets:tt) => { $crate::__agree_row! { operator $op $args $rets } };
    (__function formula $op:tt $args:tt $rets:tt) => { $crate::__agree_row! { formula $op $args $rets } };
    (__function formula_here $op:tt $args:tt $rets:tt) => { $crate::__agree_row! { formula $op $args $rets } };
    (__function alias ($base:ident = $op:ty) $args:tt $rets:tt) => { $crate::__agree_row! { operator ($op) $args $rets } };
    (__function fold ($op:path) $args:tt $rets:tt) => {
        $crate::__agree_row! { operator ($crate::reduce::Reduce<$op, $crate::pointwise::Here>) $args $rets }
    };
    (__function fold_here $op:tt $args:tt $rets:tt) => { $crate::__agree_row! { __function fold $op $args $rets } };
    ($what:ident $op:tt ($($args:tt)*) $rets:tt) => {
        $crate::__schema_args! { @walk full no __agree {$what $op $rets} ([] {}) $($args)* , }
    };
    // Views and functions written by hand are called as they are, which the compiler checks by itself.
    ($($other:tt)*) => {};
}

/// One check.
#[doc(hidden)]
#[macro_export]
macro_rules! __agree {
    ({formula ($op:ty) $rets:tt} [$((arg $ty:ident $n:ident))*] $params:tt) => {
        const _: () = $crate::table::agrees(
            $crate::__results!(count $rets),
            <$op as $crate::table::Takes<($($crate::__value_type!('static $ty),)*)>>::OUTPUTS,
        );
    };
    ({operator ($op:ty) $rets:tt} [$((arg $ty:ident $n:ident))*] $params:tt) => {
        const _: () = $crate::table::agrees(
            $crate::__results!(count $rets),
            <$op as $crate::core::structured::Operator<
                'static,
                $crate::core::Meta,
                ($($crate::__value_type!('static $ty),)*),
            >>::OUTPUTS,
        );
    };
}

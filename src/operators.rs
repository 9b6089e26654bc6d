//! Operators of other crates: the rows of the operator table, for a caller's own formulas. Owns the expansion of
//! [`operators!`](crate::operators!); the forms themselves are expanded by the same macros as in-tree rows.

/// Declares operators: each row gives functions and methods for its forms, meta functions in a module `meta`, and an
/// entry that `register` puts in a [`Library`](crate::Library). Kernels are compiled in the calling crate.
///
/// ```
/// use monomorph::algebra::Num;
/// use monomorph::pointwise::*;
/// use monomorph::{Cpu, Tensor};
///
/// pointwise! { Axpy "axpy": Numeric, Same<2>; Number => Common; Rule::BINARY }
/// impl<V: Num> Map<V> for Axpy {
///     #[inline(always)] // into the frame of the instruction set
///     fn eval([x, y]: [V; 2], alpha: V) -> V {
///         alpha * x + y
///     }
/// }
/// monomorph::operators! {
///     { [my::axpy] (Tensor self, Tensor other, Scalar alpha) -> (Tensor) : formula (Axpy) {
///         functional axpy; inplace axpy_ [my::axpy_]; out axpy_out [my::axpy.out];
///     } }
/// }
///
/// # fn main() -> monomorph::Result<()> {
/// let x = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0], &[2])?;
/// assert_eq!(x.axpy(&x, 3)?.to_vec::<f32>()?, [4.0, 8.0]);
/// # Ok(())
/// # }
/// ```
///
/// A row is that of the in-tree table: see [`monomorph_ops::table`]. It expands to
///
/// ```text
/// pub fn axpy<D>(..) -> Result<Tensor<D>>         // for each device that executes `Pointwise<Axpy, Here>`
/// pub trait axpy<D> { fn axpy(&self, ..) .. }     // implemented for Tensor<D>
/// pub mod meta { pub fn axpy<D>(..) -> Result<Tensor<Meta>> }
/// pub fn register(library: &mut Library) -> Result<()>    // `my::axpy`, `my::axpy_`, `my::axpy.out` on the CPU and meta
/// ```
///
/// so a module has at most one `operators!`. A row whose arguments are not those of its formula does not compile.
/// Devices of other crates that execute all of the rows stand in front of them, as in
/// `operators! { [Arena] {..} {..} }`: `register` brings their kernels along.
#[macro_export]
macro_rules! operators {
    ($({ $($row:tt)* })*) => {
        $crate::operators! { [] $({ $($row)* })* }
    };
    ([$($device:ident),* $(,)?] $({ $($row:tt)* })*) => {
        $crate::__operators! { [Cpu Meta $($device)*] $({ $($row)* })* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __operators {
    ($devices:tt $({ $($row:tt)* })*) => {
        $( $crate::__operator_row! { {__typed_row __function} $($row)* } )*
        #[doc = "Shapes only: the functional forms with a meta tensor as their result, for operands of any device."]
        pub mod meta {
            #[allow(unused_imports, reason = "formulas may be named by any path")]
            use super::*;
            $( $crate::__operator_row! { {__typed_row __meta_function} $($row)* } )*
        }
        #[doc = "Defines every form of these operators that has a name, with kernels for the CPU and for meta tensors. An error if \
            the library is of another namespace or one of them is defined already; then none is."]
        pub fn register(library: &mut $crate::Library) -> $crate::Result<()> {
            #[allow(unused_imports, reason = "the expansion names devices by identifier")]
            use $crate::{Cpu, Meta};
            library.all_or_none(|library| {
                $( $crate::__registered_row! { library $devices $($row)* } )*
                Ok(())
            })
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __registered_row {
    ($library:ident [$($device:ident)*] $($row:tt)*) => {
        $crate::__operator_row! { {__register_row [$library $($device)*]} $($row)* }
    };
}

/// One row, its formula compiled where it is.
#[doc(hidden)]
#[macro_export]
macro_rules! __operator_row {
    ({$to:ident $context:tt} $name:tt $args:tt -> $rets:tt : formula $formula:tt $forms:tt) => {
        $crate::ops::$to! { $context $name $args -> $rets : formula_here $formula $forms }
    };
    ({$to:ident $context:tt} $name:tt $args:tt -> $rets:tt : fold $fold:tt $forms:tt) => {
        $crate::ops::$to! { $context $name $args -> $rets : fold_here $fold $forms }
    };
    ({$to:ident $context:tt} $($row:tt)*) => {
        $crate::ops::$to! { $context $($row)* }
    };
}

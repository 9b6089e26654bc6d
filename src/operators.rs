//! Operators of other crates: declarations like those of the tree, for a caller's own formulas. Owns the devices that
//! they are registered for; what a declaration is, is `monomorph_ops`'s.

/// Declares operators: each gives functions and methods for its forms, meta functions in a module `meta`, and an entry
/// that `register` puts in a [`Library`](crate::Library). Kernels are compiled in the calling crate.
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
///     family: Mine;
///
///     /// `alpha * self + other`, elementwise.
///     func: my::axpy(Tensor self, Tensor other, Scalar alpha) -> Tensor,
///     inplace: my::axpy_, out: my::axpy.out, variants: function, method, structured: Pointwise<Axpy>;
/// }
///
/// # fn main() -> monomorph::Result<()> {
/// let x = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0], [2])?;
/// assert_eq!(x.axpy(&x, 3)?.to_vec::<f32>()?, [4.0, 8.0]);
/// # Ok(())
/// # }
/// ```
///
/// The options of a declaration are those of the tree: see [`monomorph_ops::table`]. It expands to
///
/// ```text
/// pub fn axpy<D>(..) -> Result<Tensor<D>>         // for each device that executes `Pointwise<Axpy>`
/// pub trait MineMethods<D> { fn axpy(&self, ..) .. }     // implemented for Tensor<D>
/// pub mod meta { pub fn axpy<D>(..) -> Result<Tensor<Meta>> }
/// pub fn register(library: &mut Library) -> Result<()>    // `my::axpy`, `my::axpy_`, `my::axpy.out`
/// ```
///
/// so a module has at most one `operators!`. A declaration whose arguments are not those of its formula does not
/// compile. Devices of other crates that execute all of the operators stand in front, as in `operators! { [Arena]
/// family: .. }`: `register` brings their kernels along.
#[macro_export]
macro_rules! operators {
    ([$($device:path),* $(,)?] $($declarations:tt)*) => {
        $crate::crates::ops::table::native_at! { [$crate::crates::ops] $($declarations)* }

        #[allow(unused_imports, unreachable_pub, reason = "not every declaration has typed forms")]
        pub use native::{functions::*, methods::*};

        #[doc = "Shapes only: the functional forms with a meta tensor as their result, for operands of any device."]
        pub mod meta {
            #[allow(unused_imports, reason = "not every declaration has typed forms")]
            pub use super::native::meta::*;
        }

        #[doc = "Defines every form of these operators that has a name, with kernels for the CPU and for meta tensors."]
        #[doc = ""]
        #[doc = "An error if the library is of another namespace or one of them is defined already; then none is."]
        pub fn register(library: &mut $crate::Library) -> $crate::Result<()> {
            let mut kernels = Vec::new();
            $crate::__operator_kernels! { kernels $crate::Cpu, $crate::Meta $(, $device)* }
            library.all_or_none(|library| $crate::crates::ops::table::define(library, &native::entries(), kernels))
        }
    };
    ($($declarations:tt)*) => {
        $crate::operators! { [] $($declarations)* }
    };
}

/// The kernels of each device for the declarations of a module.
#[doc(hidden)]
#[macro_export]
macro_rules! __operator_kernels {
    ($kernels:ident $($device:path),*) => { $(
        let rows = native::structured_kernels::<$device>().into_iter().zip(native::function_kernels::<$device>());
        let rows = rows.map(|(structured, functions)| if structured.is_empty() { functions } else { structured });
        $kernels.push($crate::crates::ops::table::DeviceKernels::new::<$device>(rows.collect()));
    )* };
}

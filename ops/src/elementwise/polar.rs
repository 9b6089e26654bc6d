//! Complex tensors from lengths and angles.

use crate::algebra::{Real, Trigonometric};
use crate::complex_view::{complex_like, parts, write_complex};
use crate::kernels::Polar;
use crate::pointwise::{Common, Map, Rule, Same, WideReals, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::Out;
use monomorph_core::{Error, Result, Tensor, observe};

pointwise! { PolarReFn "polar": WideReals, Same<2>; () => Common; Rule::BINARY_EXACT }
impl<V: Real + Trigonometric> Map<V> for PolarReFn {
    #[inline(always)]
    fn eval([length, angle]: [V; 2], (): ()) -> V {
        length * angle.cos()
    }
}

pointwise! { PolarImFn "polar": WideReals, Same<2>; () => Common; Rule::BINARY_EXACT }
impl<V: Real + Trigonometric> Map<V> for PolarImFn {
    #[inline(always)]
    fn eval([length, angle]: [V; 2], (): ()) -> V {
        length * angle.sin()
    }
}

const OPERANDS: [&str; 2] = ["argument abs has dtype", "argument angle has dtype"];

/// `polar`: a complex tensor of these lengths and angles, float32 or float64.
pub fn polar<D: Polar>(abs: &Tensor<D>, angle: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("polar", [abs.geometry(), angle.geometry()]);
    let make = || {
        let out = complex_like(OPERANDS, abs, angle)?;
        compute_parts(parts(&out)?.each_mut(), abs, angle)?;
        Ok(out)
    };
    make().map_err(|e: Error| e.of("polar"))
}

/// `polar.out`.
pub fn polar_out<D: Polar>(abs: &Tensor<D>, angle: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("polar", [abs.geometry(), angle.geometry(), out.geometry()]);
    write_complex(OPERANDS, [abs, angle], out, |out| compute_parts(parts(out)?.each_mut(), abs, angle))
        .map_err(|e| e.of("polar"))
}

fn compute_parts<D: Polar>([re, im]: [&mut Tensor<D>; 2], abs: &Tensor<D>, angle: &Tensor<D>) -> Result<()> {
    run::<PolarReFn, D, _, _>((abs, angle), Out([re]))?;
    run::<PolarImFn, D, _, _>((abs, angle), Out([im])).map(drop)
}

record! { PolarReFn "-: x x", Tame within 4: float |[length, angle], []| length * angle.cos() }
record! { PolarImFn "-: x x", Tame within 4: float |[length, angle], []| length * angle.sin() }

native! {
    family: Polar;

    /// Makes complex numbers of their absolute values and angles in radians, elementwise.
    ///
    /// Both have the same dtype, float32 or float64, and broadcast. [`complex`](super::functions::complex) takes the
    /// real and the imaginary part.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = ops::polar(&tensor![2.0f32], &tensor![0.0f32])?;
    /// assert_eq!(z.to_vec::<Complex32>()?, [Complex32::new(2.0, 0.0)]);
    /// ```
    func: polar(Tensor abs, Tensor angle) -> Tensor,
    variants: function, kernel: polar;

    /// [`polar`](super::functions::polar) into `out`.
    func: polar.out(Tensor abs, Tensor angle, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: polar_out;

    structured: Pointwise<PolarReFn>;

    structured: Pointwise<PolarImFn>;
}

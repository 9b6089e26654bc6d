//! Pointwise kernels of two operands and a number: `add`, and the crate's own `axpy`. The library has checked,
//! promoted, broadcast and allocated before these run; they walk.

use crate::device::Arena;
use crate::memory::arena;
use crate::scaled::Axpy;
use crate::walk::{Elements, each};
use monomorph::crates::core::scalar_from_bytes;
use monomorph::crates::core::structured::{Executes, Operand, Outputs};
use monomorph::crates::iter::TensorIter;
use monomorph::crates::ops::arithmetic::AddFn;
use monomorph::pointwise::{Here, Number, Pointwise, PointwiseInputs, PointwisePlan, Prebuilt};
use monomorph::{DType, ErrorKind, Result, Scalar};

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// From an address of the arena.
    At(*mut u8),
    /// From the host: a number, or the element of a CPU tensor without dimensions.
    Value(Scalar),
}

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    index: u8,
    compute: DType,
    out: *mut u8,
    inputs: [Source; 2],
}

/// `a + p · b`, or `p · a + b`, in the dtype of the computation.
type Formula = fn(DType, [Scalar; 2], Scalar) -> Scalar;

macro_rules! kernel {
    ($formula:ident, $compiled:ident, $eval:expr) => {
        // SAFETY: addresses are followed by way of the arena's checked loads and stores alone, within the plan's
        // iteration, which reaches every element of the output.
        unsafe impl Executes<Pointwise<$formula, $compiled>> for Arena {
            type Ready = Ready;

            unsafe fn ready(
                plan: &PointwisePlan<Number>,
                inputs: &PointwiseInputs<'_, $formula>,
                outputs: &Outputs<'_>,
            ) -> Result<Ready> {
                let [a, b] = inputs.operands() else { return Err(unsupported(None)) };
                // SAFETY: E2.
                let inputs = [unsafe { source(a) }?, unsafe { source(b) }?];
                Ready::new(plan.compute(), outputs.data(0), inputs)
            }

            unsafe fn run(ready: &mut Ready, plan: &PointwisePlan<Number>) -> Result<()> {
                ready.run(plan.iter(), plan.params().0, $eval)
            }
        }
    };
}
kernel! { AddFn, Prebuilt, |dtype, [a, b], alpha| plus(dtype, a, times(dtype, alpha, b)) }
kernel! { Axpy, Here, |dtype, [x, y], alpha| plus(dtype, times(dtype, alpha, x), y) }

/// Where an operand lies.
///
/// # Safety
///
/// E2: the storage of a tensor is borrowed as long as the result is used.
unsafe fn source(operand: &Operand<'_>) -> Result<Source> {
    match operand {
        Operand::Number(number) => Ok(Source::Value(number.scalar())),
        Operand::Tensor(t) if t.device().is_cpu() => {
            let dtype = t.geometry().dtype();
            // SAFETY: passed on.
            let at = unsafe { t.data() };
            // SAFETY: a CPU tensor among tensors of another device has no dimensions, so one element lies there.
            let bytes = unsafe { std::slice::from_raw_parts(at, dtype.size()) };
            let lazy = Elements::in_geometry(t.geometry());
            scalar_from_bytes(bytes, dtype).map(|x| Source::Value(lazy.turned(x))).ok_or_else(|| unsupported(None))
        }
        // SAFETY: passed on.
        Operand::Tensor(t) => Ok(Source::At(unsafe { t.data() })),
        Operand::Absent => Err(unsupported(None)),
    }
}

impl Ready {
    fn new(compute: Option<DType>, out: *mut u8, inputs: [Source; 2]) -> Result<Ready> {
        let compute = compute.filter(|dtype| COMPUTED.contains(dtype)).ok_or_else(|| unsupported(compute))?;
        Ok(Ready { index: Arena::current(), compute, out, inputs })
    }

    fn run(&self, iter: &TensorIter, number: Scalar, formula: Formula) -> Result<()> {
        let mut arena = arena(self.index).ok_or_else(|| unsupported(None))?;
        let compute = self.compute;
        let elements = [0, 1, 2].map(|k| Elements::of(iter, k));
        let number = number.cast(compute);
        let base = |source: Source| if let Source::At(at) = source { at } else { std::ptr::null_mut() };
        let bases = [self.out, base(self.inputs[0]), base(self.inputs[1])];
        each(iter.shape(), [0, 1, 2].map(|k| iter.strides(k)), bases, |[out, a, b]| {
            let mut x = [Scalar::Int(0); 2];
            for (k, (at, x)) in [a, b].into_iter().zip(&mut x).enumerate() {
                let value = match self.inputs[k] {
                    Source::At(_) => elements[k + 1].load(&arena, at)?,
                    Source::Value(value) => value,
                };
                *x = value.cast(compute);
            }
            elements[0].store(&mut arena, out, formula(compute, x, number))
        })
    }
}

/// The dtypes that arenas compute in.
pub(crate) const COMPUTED: [DType; 4] = [DType::I32, DType::I64, DType::F32, DType::F64];

/// The error for any other.
#[cold]
pub(crate) fn unsupported(got: Option<DType>) -> monomorph::Error {
    let (what, accepted) = ("an arena does not compute in", "int32, int64, float32 and float64");
    ErrorKind::DTypeNotSupported { what, got: got.unwrap_or(DType::Bool), accepted }.into()
}

/// The sum in one of [`COMPUTED`].
pub(crate) fn plus(dtype: DType, a: Scalar, b: Scalar) -> Scalar {
    match dtype {
        DType::I32 | DType::I64 => Scalar::Int(a.to_i64().wrapping_add(b.to_i64())).cast(dtype),
        // Rounded once: float64 holds the sum of two float32 to more than twice their precision.
        _ => Scalar::Float(a.to_f64() + b.to_f64()).cast(dtype),
    }
}

/// The product in one of [`COMPUTED`].
pub(crate) fn times(dtype: DType, a: Scalar, b: Scalar) -> Scalar {
    match dtype {
        DType::I32 | DType::I64 => Scalar::Int(a.to_i64().wrapping_mul(b.to_i64())).cast(dtype),
        _ => Scalar::Float(a.to_f64() * b.to_f64()).cast(dtype),
    }
}

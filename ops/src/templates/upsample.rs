//! `upsample_nearest1d`: each element of the output is the nearest one of the input. Owns sizes, scales and the formula
//! of the source index; refuses other modes and more dimensions until they have a file.
#![deny(clippy::arithmetic_side_effects)]

use crate::pointwise::Prebuilt;
use crate::table::native;
use monomorph_core::overlap::{self, Internal};
use monomorph_core::strides::check_ndim;
use monomorph_core::structured::{Executes, FromArgs, Operand, Operator, SinkState, StructuredOp, ValueSink};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The operator that resizes the last of three dimensions to the nearest elements, its kernel compiled `W`here.
pub struct UpsampleNearest1d<W = Prebuilt>(PhantomData<fn() -> W>);

/// The inputs of a call.
pub struct UpsampleInputs<'t> {
    operand: [Operand<'t>; 1],
    output_size: SmallVec<[i64; 1]>,
    scale: Option<f64>,
}

impl<'t> UpsampleInputs<'t> {
    /// The tensor.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64], Option<f64>)> for UpsampleInputs<'t> {
    fn from_args((operand, output_size, scale): (A, &'t [i64], Option<f64>)) -> Result<Self> {
        check_ndim(output_size.len())?;
        Ok(UpsampleInputs { operand: [operand.into()], output_size: output_size.into(), scale })
    }
}

/// What a device needs: which element of the input each of the output is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct UpsamplePlan {
    step: Step,
    input: i64,
    /// The output shares a storage with the input.
    pub serial: bool,
}

/// Elements of the input per element of the output, in the precision of the dtype.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// For all dtypes but float64.
    Single(f32),
    /// For float64.
    Double(f64),
}

impl Default for Step {
    fn default() -> Step {
        Step::Single(1.0)
    }
}

impl UpsamplePlan {
    /// The step of a dtype, from sizes and the scale that the caller gave. A scale that is not above 0 counts as none.
    pub fn new(dtype: DType, input: i64, output: i64, scale: Option<f64>, serial: bool) -> UpsamplePlan {
        let given = scale.filter(|&s| s > 0.0).map(|s| 1.0 / s);
        let step = match dtype {
            DType::F64 => Step::Double(given.unwrap_or(input as f64 / output as f64)),
            _ => Step::Single(given.map_or(input as f32 / output as f32, |step| step as f32)),
        };
        UpsamplePlan { step, input, serial }
    }

    /// Elements of the input per element of the output, for devices that compute [`source`](Self::source) themselves.
    pub fn step(&self) -> Step {
        self.step
    }

    /// The element of the input, along the last dimension, that is element `i` of the output.
    ///
    /// In float64, too, the position is rounded to float32 before it is cut, as in PyTorch.
    pub fn source(&self, i: i64) -> i64 {
        let at = match self.step {
            Step::Single(step) => step * i as f32,
            Step::Double(step) => (step * i as f64) as f32,
        };
        // A position that is no number, or beyond the end, is one of the ends.
        (at.floor() as i64).min(self.input.saturating_sub(1)).max(0)
    }
}

impl<W: 'static> StructuredOp for UpsampleNearest1d<W> {
    const NAME: &'static str = "upsample_nearest1d";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = UpsampleInputs<'t>;
    type Plan = UpsamplePlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let sizes = inputs.operand().sizes();
        let &[output] = inputs.output_size.as_slice() else {
            return Err(ErrorKind::ListLength { arg: "output_size", got: inputs.output_size.len(), want: 1 }.into());
        };
        let &[batch, channels, input] = sizes else {
            return Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "3" }.into());
        };
        let positive = |arg, got| match got {
            1.. => Ok(()),
            _ => Err(ErrorKind::OutOfRange { arg, got, low: 1, high: i64::MAX }),
        };
        positive("self.size(2)", input)?;
        positive("output_size", output)?;
        // A batch may be empty.
        positive("self.size(1)", channels)?;
        let dtype = inputs.operand().dtype().unwrap_or(DType::F32);
        if !(dtype.is_floating() || dtype == DType::U8) {
            let (what, accepted) = ("argument self has dtype", "floats and uint8");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        let tensor = inputs.operand().tensor();
        let device = tensor.map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_raw_strided(0, &[batch, channels, output], None, Options::new(dtype, device), None)?;
        let mut serial = false;
        if let (Some(out), Some(written)) = (sink.existing(0), sink.written(0)) {
            let (sizes, strides) = (written.sizes(), written.strides());
            if overlap::internal(sizes, strides) == Internal::Yes {
                let (sizes, strides) = (sizes.to_vec(), strides.to_vec());
                return Err(ErrorKind::InternalOverlap { index: 0, sizes, strides }.into());
            }
            serial = overlap::internal(sizes, strides) != Internal::No
                || tensor.is_some_and(|t| t.storage_id() == out.storage_id());
        }
        *plan = UpsamplePlan::new(dtype, input, output, inputs.scale, serial);
        Ok(())
    }
}

/// `upsample_nearest1d.vec`: the size, or the factor that it grows by.
pub struct UpsampleNearest1dVec;

impl<'t, D, A> Operator<'t, D, (A, Option<&'t [i64]>, Option<&'t [f64]>)> for UpsampleNearest1dVec
where
    D: Executes<UpsampleNearest1d>,
    A: Into<Operand<'t>>,
{
    fn call<S: ValueSink<'t, D>>(
        (operand, output_size, scale_factors): (A, Option<&'t [i64]>, Option<&'t [f64]>),
        sink: S,
    ) -> Result<S::Value> {
        let operand = operand.into();
        let name = <UpsampleNearest1d as StructuredOp>::NAME;
        let (output_size, scale) =
            sizes_and_scale(operand.sizes(), output_size, scale_factors).map_err(|e| e.of(name))?;
        let inputs = UpsampleInputs { operand: [operand], output_size, scale };
        monomorph_core::structured::call::<UpsampleNearest1d, D, S>(&inputs, sink).map(S::value::<UpsampleNearest1d>)
    }
}

/// The size of the output, and the scale if the caller gave it. Exactly one of the two arguments may be given, with one
/// entry per dimension after the second.
fn sizes_and_scale(
    input: &[i64],
    output_size: Option<&[i64]>,
    scale_factors: Option<&[f64]>,
) -> Result<(SmallVec<[i64; 1]>, Option<f64>)> {
    let want = input.len().saturating_sub(2);
    let check = |arg, got| if got == want { Ok(()) } else { Err(ErrorKind::ListLength { arg, got, want }) };
    match (output_size, scale_factors) {
        (Some(size), None) => {
            check("output_size", size.len())?;
            Ok((size.into(), None))
        }
        (None, Some(factors)) => {
            check("scale_factors", factors.len())?;
            let grown = |(&size, &factor): (&i64, &f64)| -> Result<i64> {
                let size = size as f64 * factor;
                // 2^63 is the first float64 that an int64 cannot hold.
                let limit = -(i64::MIN as f64);
                if (-limit..limit).contains(&size) {
                    return Ok(size as i64);
                }
                let got = factor.to_string();
                Err(ErrorKind::NumberRange { arg: "scale_factors", got, dtype: DType::I64 }.into())
            };
            let sizes = input[2.min(input.len())..].iter().zip(factors).map(grown).collect::<Result<_>>()?;
            Ok((sizes, factors.first().copied()))
        }
        _ => Err(ErrorKind::ArgumentRule { rule: "exactly one of output_size and scale_factors must be given" }.into()),
    }
}

native! {
    family: Upsample;

    /// Resizes the last dimension to `output_size` by the nearest element.
    ///
    /// The tensor is `[batch, channels, width]`. The option `scales` is the factor of which the size was computed.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 2.0]]];
    /// assert_eq!(x.upsample_nearest1d(4)?.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
    /// ```
    func: upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor,
    out: upsample_nearest1d.out, variants: function, method, structured: UpsampleNearest1d;

    /// Resizes the last dimension by the nearest element, to `output_size` or by `scale_factors`; exactly one is given.
    ///
    /// The tensor is `[batch, channels, width]`.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 2.0]]];
    /// let y = ops::upsample_nearest1d_vec(&x, None, Some(&[2.0]))?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
    /// ```
    func: upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor,
    variants: function, name: upsample_nearest1d_vec, operator: UpsampleNearest1dVec;
}

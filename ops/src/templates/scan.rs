//! The scan template: a fold whose every partial result is an element of the output. Owns what scans are, the meta
//! function that all of them share, and `cumsum` and `cumprod`. Devices may regroup along the dimension (a prefix of
//! blocks), as folds allow.

use crate::pointwise::{Common, DomainSet, Numeric};
use crate::reduce::{ProdFn, ReduceFn, SumFn, WithIdentity};
use crate::table::native;
use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Geometry, Kind, Options, Result};
use std::marker::PhantomData;

/// A scan: its name, its dtypes, and the fold whose partial results it keeps.
pub trait ScanFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// The type of the set of dtypes that it computes in. Varies per operator.
    type Domain: DomainSet;
    /// The fold. It has an accumulator of no element, with which each line begins.
    type Fold: ReduceFn<Results = Common, Identity = WithIdentity>;
}

/// The operator of scan `F`, its kernel compiled `W`here.
pub struct Scan<F, W = crate::pointwise::Prebuilt>(PhantomData<fn() -> (F, W)>);

impl<F, W> crate::table::Template for Scan<F, W> {
    type Body = F;
}

/// The inputs of a call.
pub struct ScanInputs<'t> {
    operand: [Operand<'t>; 1],
    dim: i64,
    dtype: Option<DType>,
}

impl<'t> ScanInputs<'t> {
    /// The tensor, or a number in place of one.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }

    /// The same, computed in the dtype of the input.
    pub(crate) fn in_own_dtype(self) -> Self {
        ScanInputs { dtype: self.operand[0].dtype(), ..self }
    }
}

/// A scan of fractional numbers in their own dtype, or in that of the output.
impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64)> for ScanInputs<'t> {
    fn from_args((operand, dim): (A, i64)) -> Result<Self> {
        let operand = operand.into();
        if let Some(got) = operand.dtype().filter(|dtype| dtype.is_integral(true)) {
            let (what, accepted) = ("argument self has dtype", "floating and complex dtypes");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        Ok(ScanInputs { operand: [operand], dim, dtype: None })
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, Option<DType>)> for ScanInputs<'t> {
    fn from_args((operand, dim, dtype): (A, i64, Option<DType>)) -> Result<Self> {
        Ok(ScanInputs { operand: [operand.into()], dim, dtype })
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScanPlan {
    /// The dimension along which elements accumulate; `None` for a tensor without dimensions, which is copied.
    pub dim: Option<usize>,
    /// Lines of the output may share memory with each other, so they have to be computed one after another.
    pub serial: bool,
    /// The output may overwrite elements of the input that are still to be read, so that is to be copied first.
    pub copies: bool,
}

impl<F: ScanFn, W: 'static> StructuredOp for Scan<F, W> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = ScanInputs<'t>;
    type Plan = ScanPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        *plan = plan_call(inputs, sink, (F::Domain::MASK, F::Domain::WORDS))?;
        Ok(())
    }
}

/// The meta function of every scan: the sizes of the input; the dtype that is asked for, that of the caller's output,
/// or the input's own, where bool and integers become int64.
fn plan_call(inputs: &ScanInputs<'_>, sink: &mut SinkState<'_>, domain: (u16, &'static str)) -> Result<ScanPlan> {
    let operand = inputs.operand();
    let absent = ErrorKind::ArgumentRule { rule: "argument self is absent; a scan needs a tensor" };
    let input = operand.dtype().ok_or(absent)?;
    let sizes = operand.sizes();
    let dim = wrap_dim(inputs.dim, sizes.len(), "dim")?;
    let own = if input.kind() < Kind::Float { DType::I64 } else { input };
    let existing = sink.existing(0).map(|out| out.geometry().dtype());
    let dtype = inputs.dtype.or(existing).unwrap_or(own);
    let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
    let names = operand.geometry().and_then(Geometry::names).cloned();
    sink.set_output_raw_strided(0, sizes, None, Options::new(dtype, device), names)?;
    // One element is itself, and none are none, in every dtype.
    if sizes.is_empty() || sizes.contains(&0) {
        return Ok(ScanPlan::default());
    }
    let (mask, accepted) = domain;
    if mask >> dtype as usize & 1 == 0 {
        return Err(ErrorKind::DTypeNotSupported { what: "the scan computes in dtype", got: dtype, accepted }.into());
    }
    let (serial, copies) = check_overlap(operand, input == dtype, sink, 0)?;
    Ok(ScanPlan { dim: Some(dim), serial, copies })
}

/// An error if the output reaches an element twice, or shares memory with an input of its dtype otherwise than
/// element for element. Else whether lines of the output may share memory with each other, and whether it may
/// overwrite the input.
pub(super) fn check_overlap(
    operand: &Operand<'_>,
    same_dtype: bool,
    sink: &SinkState<'_>,
    index: usize,
) -> Result<(bool, bool)> {
    let (Some(out), Some(written)) = (sink.existing(index), sink.written(index)) else { return Ok((false, false)) };
    let (sizes, strides) = (written.sizes(), written.strides());
    let internal = overlap::internal(sizes, strides);
    if internal == Internal::Yes {
        let (sizes, strides) = (sizes.to_vec(), strides.to_vec());
        return Err(ErrorKind::InternalOverlap { index, sizes, strides }.into());
    }
    let serial = internal != Internal::No;
    let Some(tensor) = operand.tensor().filter(|t| t.storage_id() == out.storage_id()) else {
        return Ok((serial, false));
    };
    let shared = overlap::shared(&Place::of(out, written), &Place::of(tensor, tensor.geometry()));
    if same_dtype && shared == Shared::Partial {
        return Err(ErrorKind::PartialOverlap { output: index, other: "the input".into() }.into());
    }
    let same_places = shared == Shared::Full && tensor.geometry().dtype().size() == written.dtype().size();
    Ok((serial, !same_places))
}

/// `cumsum`: the fold of `sum`.
pub struct CumsumFn;

impl ScanFn for CumsumFn {
    const NAME: &'static str = "cumsum";
    type Domain = Numeric;
    type Fold = SumFn;
}

/// `cumprod`: the fold of products.
pub struct CumprodFn;

impl ScanFn for CumprodFn {
    const NAME: &'static str = "cumprod";
    type Domain = Numeric;
    type Fold = ProdFn;
}

native! {
    family: Scans;

    /// Sums of all elements up to each along the dimension `dim`.
    ///
    /// The sizes stay. Bool and integers give int64, which wraps; other dtypes stay. The option `dtype` converts the
    /// elements first and is the dtype of the result. From the first NaN on, all is NaN.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.cumsum(1)?.to_vec::<i64>()?, [1, 3, 6, 4, 9, 15]);
    /// ```
    func: cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor,
    inplace: cumsum_, out: cumsum.out, variants: function, method, structured: Scan<CumsumFn>;

    /// Products of all elements up to each along the dimension `dim`.
    ///
    /// The sizes stay. Bool and integers give int64, which wraps; other dtypes stay. The option `dtype` converts the
    /// elements first and is the dtype of the result. From the first NaN on, all is NaN.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 3.0, 4.0];
    /// assert_eq!(x.cumprod(0)?.to_vec::<f32>()?, [1.0, 2.0, 6.0, 24.0]);
    /// ```
    func: cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor,
    inplace: cumprod_, out: cumprod.out, variants: function, method, structured: Scan<CumprodFn>;
}

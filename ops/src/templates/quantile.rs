//! Quantiles: sorted rows, and the elements at fractions of them. Owns the operator that picks and interpolates, and
//! the shapes that PyTorch gives its results.
#![deny(clippy::arithmetic_side_effects)]

use crate::copies::{contiguous, reshape};
use crate::functions::sort;
use crate::kernels::AllKernels;
use crate::order::check_overlap;
use crate::table::native;
use crate::view;
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{FromArgs, Functional, Operand, SinkState, StructuredOp, call};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Geometry, MemoryFormat, Options, Result, Tensor, observe};

/// What is between two elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interpolation {
    /// The point on the line from one to the other.
    #[default]
    Linear,
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
    /// The middle of both.
    Midpoint,
    /// The nearer one; half way the one with the even rank.
    Nearest,
}

impl Interpolation {
    fn named(name: &str) -> Result<Interpolation> {
        Ok(match name {
            "linear" => Interpolation::Linear,
            "lower" => Interpolation::Lower,
            "higher" => Interpolation::Higher,
            "midpoint" => Interpolation::Midpoint,
            "nearest" => Interpolation::Nearest,
            _ => {
                let (arg, accepted) = ("interpolation", "linear, lower, higher, midpoint and nearest");
                return Err(ErrorKind::UnknownOption { arg, got: name.to_owned(), accepted }.into());
            }
        })
    }
}

/// The operator that takes the sorted rows of a matrix, NaN last, and fractions, and gives for each row its quantiles.
pub struct SortedQuantiles;

/// The inputs of a call.
pub struct QuantileInputs<'t> {
    operands: [Operand<'t>; 2],
    plan: QuantilePlan,
}

impl<'t> QuantileInputs<'t> {
    /// The rows and the fractions.
    pub fn operands(&self) -> &[Operand<'t>; 2] {
        &self.operands
    }
}

type Picked<'t> = (Operand<'t>, Operand<'t>, Interpolation, bool);

impl<'t> FromArgs<Picked<'t>> for QuantileInputs<'t> {
    fn from_args((rows, fractions, interpolation, skips_nan): Picked<'t>) -> Result<Self> {
        let plan = QuantilePlan { interpolation, skips_nan, columns: 0, copies: false };
        Ok(QuantileInputs { operands: [rows, fractions], plan })
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuantilePlan {
    /// What is between two elements.
    pub interpolation: Interpolation,
    /// NaN is left out; otherwise the quantiles of a row with NaN are NaN.
    pub skips_nan: bool,
    /// Elements of a row.
    pub columns: usize,
    /// The output may overwrite an input, so those are to be copied first.
    pub copies: bool,
}

impl StructuredOp for SortedQuantiles {
    const NAME: &'static str = "quantile";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = QuantileInputs<'t>;
    type Plan = QuantilePlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let [rows, fractions] = &inputs.operands;
        let (&[n, columns], &[count]) = (rows.sizes(), fractions.sizes()) else {
            let (arg, got) = ("self", rows.sizes().len());
            return Err(ErrorKind::DimCount { arg, got, accepted: "2" }.into());
        };
        let dtype = rows.dtype().unwrap_or(DType::F32);
        check_dtypes(dtype, fractions.dtype().unwrap_or(dtype))?;
        let device = rows.tensor().map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_contiguous(0, &[n, count], Options::new(dtype, device), None)?;
        let (_, copies) = check_overlap(&inputs.operands, sink, false)?;
        *plan = QuantilePlan { columns: columns as usize, copies, ..inputs.plan };
        Ok(())
    }
}

fn check_dtypes(dtype: DType, fractions: DType) -> Result<()> {
    if !matches!(dtype, DType::F32 | DType::F64) {
        let (what, accepted) = ("argument self has dtype", "float32 and float64");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    if fractions != dtype {
        return Err(ErrorKind::DTypeMismatch { arg: "q", got: fractions, want: dtype }.into());
    }
    Ok(())
}

fn compute<D: AllKernels>(
    this: &Tensor<D>,
    q: &Tensor<D>,
    (dim, keepdim): (Option<i64>, bool),
    interpolation: &str,
    skips_nan: bool,
) -> Result<Tensor<D>> {
    let ndim = this.ndim();
    let wrapped = dim.map(|dim| wrap_dim(dim, ndim, "dim")).transpose()?;
    if this.numel() == 0 {
        return Err(ErrorKind::EmptyInput.into());
    }
    if q.ndim() > 1 {
        return Err(ErrorKind::DimCount { arg: "q", got: q.ndim(), accepted: "0 and 1" }.into());
    }
    check_dtypes(this.dtype(), q.dtype())?;
    if q.device() != this.device() {
        let (got, want) = (q.device(), this.device());
        return Err(ErrorKind::DeviceMismatch { arg: "q".into(), got, want }.into());
    }
    let interpolation = Interpolation::named(interpolation)?;
    let viewed = |t: &Tensor<D>, view: &dyn Fn(&Geometry) -> Result<Geometry>| t.with_geometry(view(t.geometry())?);
    let last = match wrapped {
        None => reshape(this, &[-1])?,
        Some(dim) if dim.checked_add(1) == Some(ndim) => this.clone(),
        Some(dim) => viewed(this, &|g| view::transpose(&view::unsqueeze(g, -1)?, dim as i64, -1))?,
    };
    let (sorted, _) = sort(&last, -1)?;
    let columns = last.sizes().last().copied().unwrap_or(1);
    let matrix = contiguous(&reshape(&sorted, &[-1, columns])?, MemoryFormat::Contiguous)?;
    let fractions = reshape(q, &[q.numel() as i64])?;
    let inputs = QuantileInputs::from_args(((&matrix).into(), (&fractions).into(), interpolation, skips_nan))?;
    let [picked] = call::<SortedQuantiles, D, _>(&inputs, Functional::default())?;
    // The sizes without the dimension, and the quantiles of each row behind.
    let mut sizes: Vec<i64> = match wrapped {
        Some(_) if ndim > 0 => this.sizes().to_vec(),
        _ if keepdim => vec![1; ndim],
        _ => Vec::new(),
    };
    if let Some(dim) = wrapped.filter(|_| ndim > 0) {
        match keepdim {
            true => sizes.iter_mut().skip(dim).take(1).for_each(|size| *size = 1),
            false => drop(sizes.remove(dim)),
        }
    }
    if q.ndim() == 0 {
        return viewed(&picked, &|g| view::view(g, &sizes));
    }
    sizes.push(q.numel() as i64);
    viewed(&picked, &|g| {
        let apart = view::unsqueeze(&view::view(g, &sizes)?, 0)?;
        view::squeeze_dim(&view::transpose(&apart, 0, -1)?, -1)
    })
}

/// The quantiles of `name` at fractions.
fn at_fractions<D: AllKernels>(
    name: &'static str,
    this: &Tensor<D>,
    q: &Tensor<D>,
    dims: (Option<i64>, bool),
    interpolation: &str,
) -> Result<Tensor<D>> {
    compute(this, q, dims, interpolation, name == "nanquantile").map_err(|e: Error| e.of(name))
}

/// The quantile of `name` at one fraction.
fn at_fraction<D: AllKernels>(
    name: &'static str,
    this: &Tensor<D>,
    q: f64,
    dims: (Option<i64>, bool),
    interpolation: &str,
) -> Result<Tensor<D>> {
    let make = || {
        if !(0.0..=1.0).contains(&q) {
            return Err(Error::from(FRACTIONS));
        }
        let mut fraction = Tensor::zeroed(this.dtype(), &[], &[], this.device().index)?;
        D::fill(&mut fraction, q.into())?;
        Ok(fraction)
    };
    at_fractions(name, this, &make().map_err(|e: Error| e.of(name))?, dims, interpolation)
}

/// The error for fractions that are none.
pub const FRACTIONS: ErrorKind =
    ErrorKind::ArgumentRule { rule: "argument q has a fraction out of range; 0.0..=1.0 is accepted" };

/// `quantile` at the fractions of a tensor.
pub fn quantile<D: AllKernels>(
    this: &Tensor<D>,
    q: &Tensor<D>,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor<D>> {
    let _span = observe::operator("quantile", [this.geometry(), q.geometry()]);
    at_fractions("quantile", this, q, (dim, keepdim), interpolation)
}

/// `quantile` at one fraction.
pub fn quantile_number<D: AllKernels>(
    this: &Tensor<D>,
    q: f64,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor<D>> {
    let _span = observe::operator("quantile", [this.geometry()]);
    at_fraction("quantile", this, q, (dim, keepdim), interpolation)
}

/// `nanquantile` at the fractions of a tensor.
pub fn nanquantile<D: AllKernels>(
    this: &Tensor<D>,
    q: &Tensor<D>,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor<D>> {
    let _span = observe::operator("nanquantile", [this.geometry(), q.geometry()]);
    at_fractions("nanquantile", this, q, (dim, keepdim), interpolation)
}

/// `nanquantile` at one fraction.
pub fn nanquantile_number<D: AllKernels>(
    this: &Tensor<D>,
    q: f64,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor<D>> {
    let _span = observe::operator("nanquantile", [this.geometry()]);
    at_fraction("nanquantile", this, q, (dim, keepdim), interpolation)
}

native! {
    family: Quantiles, functions: crate::kernels::AllKernels;

    structured: SortedQuantiles;

    /// The quantiles at the fractions `q`, a tensor of at most one dimension: of all elements, or along `dim`.
    ///
    /// The first dimension of the result is that of `q`, if it has one. See [`quantile`](super::functions::quantile).
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 4.0];
    /// assert_eq!(x.quantiles(&tensor![0.25f32, 0.5])?.to_vec::<f32>()?, [1.5, 2.0]);
    /// ```
    func: quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor,
    out: quantile.out, variants: function, name: quantiles, kernel: quantile;

    /// The element below which a fraction `q` of all elements is, or of the elements along the option `dim`.
    ///
    /// What is between two elements the option `interpolation` says: `linear`, `lower`, `higher`, `midpoint` or
    /// `nearest`. The dimension goes, or becomes 1 with `keepdim`. With NaN the quantile is NaN. Accepted are float32
    /// and float64; a fraction outside of 0 to 1 is an error, and so is a tensor without elements.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0, 4.0], [8.0, 16.0, 32.0]];
    /// assert_eq!(x.quantile(0.5)?.to_vec::<f32>()?, [6.0]);
    /// let rows = x.quantile_with(0.5, Quantile { dim: Some(1), ..Default::default() })?;
    /// assert_eq!(rows.to_vec::<f32>()?, [2.0, 16.0]);
    /// ```
    func: quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear")
        -> Tensor,
    out: quantile.scalar_out, variants: function, name: quantile, kernel: quantile_number;

    /// The [quantiles](super::functions::quantiles) of the elements that are not NaN.
    ///
    /// Of NaN alone they are NaN.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::NAN, 2.0];
    /// assert_eq!(x.nanquantiles(&tensor![0.0f32, 0.5])?.to_vec::<f32>()?, [1.0, 1.5]);
    /// ```
    func: nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear")
        -> Tensor,
    out: nanquantile.out, variants: function, name: nanquantiles, kernel: nanquantile;

    /// The [quantile](super::functions::quantile) of the elements that are not NaN.
    ///
    /// Of NaN alone it is NaN.
    ///
    /// ```
    /// assert_eq!(tensor![1.0f32, f32::NAN, 2.0].nanquantile(0.5)?.at::<f32>(())?, 1.5);
    /// ```
    func: nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear")
        -> Tensor,
    out: nanquantile.scalar_out, variants: function, name: nanquantile, kernel: nanquantile_number;
}

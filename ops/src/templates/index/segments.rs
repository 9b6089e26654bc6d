//! Runs of a dimension folded to one element each: `segment_reduce` and its gradient. Runs are found on the host,
//! where they are folded in float64, too: the operator is for few and short ones.

use super::bags::{entries, host_ints};
use crate::copies::to_dtype;
use crate::functions::new_zeros;
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::strides::{self, DimVec, wrap_dim};
use monomorph_core::structured::Operand;
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Result, Scalar, Tensor, list, observe};
use std::ops::Range;

/// The folds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    Sum,
    Mean,
    Max,
    Min,
    Prod,
}

impl Reduction {
    fn of(text: &str) -> Result<Reduction> {
        Ok(match text {
            "sum" => Reduction::Sum,
            "mean" => Reduction::Mean,
            "max" | "amax" => Reduction::Max,
            "min" | "amin" => Reduction::Min,
            "prod" => Reduction::Prod,
            got => {
                let accepted = "sum, mean, max, min and prod";
                return Err(ErrorKind::UnknownOption { arg: "reduce", got: got.into(), accepted }.into());
            }
        })
    }

    fn identity(self) -> f64 {
        match self {
            Reduction::Sum | Reduction::Mean => 0.0,
            Reduction::Max => f64::NEG_INFINITY,
            Reduction::Min => f64::INFINITY,
            Reduction::Prod => 1.0,
        }
    }

    fn merge(self, a: f64, b: f64) -> f64 {
        match self {
            Reduction::Sum | Reduction::Mean => a + b,
            Reduction::Max if b.is_nan() || b > a => b,
            Reduction::Min if b.is_nan() || b < a => b,
            Reduction::Max | Reduction::Min => a,
            Reduction::Prod => a * b,
        }
    }
}

/// The runs of one row of the dimension after the other, and the sizes around it.
struct Runs {
    runs: Vec<Range<usize>>,
    /// How many of them are in each row.
    segments: usize,
    /// The length of the dimension, and elements between two of its entries.
    n: usize,
    inner: usize,
    /// The sizes of the result.
    sizes: DimVec,
}

impl Runs {
    fn of<D: AllKernels>(
        data: &Tensor<D>,
        lengths: Operand<'_>,
        offsets: Operand<'_>,
        axis: i64,
        is_whole: bool,
    ) -> Result<Runs> {
        let axis = wrap_dim(axis, data.ndim(), "axis")?;
        let (given, arg, by_offset) = match (offsets.dtype(), lengths.dtype()) {
            (Some(_), _) => (offsets, "offsets", true),
            (None, Some(_)) => (lengths, "lengths", false),
            (None, None) => {
                let rule = "neither of the arguments lengths and offsets is given; accepted is one of them";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
        };
        match given.dtype() {
            Some(DType::I64 | DType::I32) => {}
            got => {
                let (what, got) = ("argument lengths or offsets has dtype", got.unwrap_or(DType::F32));
                return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "int64 and int32" }.into());
            }
        }
        let of = given.sizes();
        if of.len() != axis + 1 || of.len() > data.ndim() {
            return Err(ErrorKind::DimCount { arg, got: of.len(), accepted: "as many as there are up to axis" }.into());
        }
        if of[..axis] != data.sizes()[..axis] {
            let (got, want) = (of[..axis].to_vec(), data.sizes()[..axis].to_vec());
            return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
        }
        let width = of[axis] as usize;
        let Some(segments) = width.checked_sub(usize::from(by_offset)) else {
            return Err(ErrorKind::ListLength { arg, got: width, want: 1 }.into());
        };
        let n = data.sizes()[axis];
        let mut sizes = DimVec::from_slice(data.sizes());
        sizes[axis] = segments as i64;
        let inner = strides::numel(&data.sizes()[axis + 1..])?;
        if data.device() == DeviceId::META {
            return Ok(Runs { runs: Vec::new(), segments, n: n as usize, inner, sizes });
        }
        let mut rows: Vec<i64> = list::with_capacity(of[0] as usize)?;
        rows.extend(0..of[0]);
        let rows = Tensor::<D>::from_slice_on(data.device().index, &rows, rows.len())?;
        let list = host_ints::<D>(&entries(given, &rows)?)?;
        let mut runs = Vec::with_capacity(list.len());
        for row in list.chunks(width.max(1)) {
            let mut start = 0_i64;
            for k in 0..segments {
                let (from, to) = match by_offset {
                    true => (row[k], Some(row[k + 1])),
                    false => (start, start.checked_add(row[k])),
                };
                match to {
                    Some(to) if (0..=to).contains(&from) && to <= n => {
                        runs.push(from as usize..to as usize);
                        start = to;
                    }
                    _ => return Err(ErrorKind::OutOfRange { arg, got: row[k], low: 0, high: n }.into()),
                }
            }
            if is_whole && !by_offset && start != n {
                let rule = "argument lengths must add up to the length of the dimension axis in every row; with unsafe \
                            they may be less";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
        }
        Ok(Runs { runs, segments, n: n as usize, inner, sizes })
    }

    /// Each run and inner place: the place of the result, and those of the elements.
    fn each(&self, mut f: impl FnMut(usize, &mut dyn Iterator<Item = usize>)) {
        for (k, run) in self.runs.iter().enumerate() {
            let row = k / self.segments.max(1);
            for i in 0..self.inner {
                f(k * self.inner + i, &mut run.clone().map(|at| (row * self.n + at) * self.inner + i));
            }
        }
    }
}

fn check_dtype<D: AllKernels>(data: &Tensor<D>) -> Result<()> {
    let (what, got, accepted) = ("argument data has dtype", data.dtype(), "floating dtypes");
    if got.is_floating() { Ok(()) } else { Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into()) }
}

fn host<D: AllKernels>(t: &Tensor<D>) -> Result<Vec<f64>> {
    to_dtype(t, DType::F64, false, false, None)?.to_vec::<f64>()
}

fn zeros(n: usize) -> Result<Vec<f64>> {
    let mut zeros = list::with_capacity(n)?;
    zeros.resize(n, 0.0);
    Ok(zeros)
}

fn made<D: AllKernels>(like: &Tensor<D>, list: &[f64], sizes: &[i64]) -> Result<Tensor<D>> {
    let made = Tensor::<D>::from_slice_on(like.device().index, list, sizes)?;
    to_dtype(&made, like.dtype(), false, false, None)
}

/// `segment_reduce`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn segment_reduce<D: AllKernels>(
    data: &Tensor<D>,
    reduce: &str,
    lengths: Option<&Tensor<D>>,
    indices: Option<&Tensor<D>>,
    offsets: Option<&Tensor<D>>,
    axis: i64,
    unchecked: bool,
    initial: Option<Scalar>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("segment_reduce", [data.geometry()]);
    let lengths = super::bags::forward::given(lengths);
    let indices = super::bags::forward::given(indices);
    let offsets = super::bags::forward::given(offsets);
    let make = || {
        let reduction = Reduction::of(reduce)?;
        if indices.dtype().is_some() {
            let rule = "argument indices is given; accepted are lengths or offsets";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        check_dtype(data)?;
        let runs = Runs::of(data, lengths, offsets, axis, !unchecked)?;
        if data.device() == DeviceId::META {
            return new_zeros(data, &runs.sizes[..]);
        }
        let elements = host(data)?;
        let mut folded = zeros(runs.runs.len().saturating_mul(runs.inner))?;
        let first = initial.map_or(reduction.identity(), |x| x.to_f64());
        runs.each(|place, run| {
            let (all, n) = run.fold((first, 0), |(all, n), at| (reduction.merge(all, elements[at]), n + 1));
            folded[place] = match (reduction, n) {
                (Reduction::Mean, 0) if initial.is_none() => f64::NAN,
                (Reduction::Mean, n) if n > 0 => all / f64::from(n),
                _ => all,
            };
        });
        made(data, &folded, &runs.sizes)
    };
    make().map_err(|e: Error| e.called("segment_reduce"))
}

/// `_segment_reduce_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn segment_reduce_backward<D: AllKernels>(
    grad: &Tensor<D>,
    output: &Tensor<D>,
    data: &Tensor<D>,
    reduce: &str,
    lengths: Option<&Tensor<D>>,
    offsets: Option<&Tensor<D>>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_segment_reduce_backward", [grad.geometry(), output.geometry(), data.geometry()]);
    let lengths = super::bags::forward::given(lengths);
    let offsets = super::bags::forward::given(offsets);
    let make = || {
        let reduction = Reduction::of(reduce)?;
        check_dtype(data)?;
        let runs = Runs::of(data, lengths, offsets, axis, false)?;
        for (arg, t) in [("grad", grad), ("output", output)] {
            if t.sizes() != &runs.sizes[..] {
                let (got, want) = (t.sizes().to_vec(), runs.sizes.to_vec());
                return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
            }
            if t.dtype() != data.dtype() {
                return Err(ErrorKind::DTypeMismatch { arg, got: t.dtype(), want: data.dtype() }.into());
            }
        }
        if data.device() == DeviceId::META {
            return new_zeros(data, data.sizes());
        }
        let (grad, output, elements) = (host(grad)?, host(output)?, host(data)?);
        let first = initial.map_or(reduction.identity(), |x| x.to_f64());
        let mut slopes = zeros(elements.len())?;
        runs.each(|place, run| {
            let (grad, output) = (grad[place], output[place]);
            let places: Vec<usize> = run.collect();
            for (k, &at) in places.iter().enumerate() {
                let x = elements[at];
                slopes[at] = match reduction {
                    Reduction::Sum => grad,
                    Reduction::Mean => grad / places.len() as f64,
                    Reduction::Max | Reduction::Min if x.is_nan() || x == output => grad,
                    Reduction::Max | Reduction::Min => 0.0,
                    Reduction::Prod if x.is_nan() || x == 0.0 => {
                        let others = places.iter().enumerate().filter(|(other, _)| *other != k);
                        grad * others.fold(first, |product, (_, &at)| product * elements[at])
                    }
                    Reduction::Prod => grad * output / x,
                };
            }
            // Elements that are extreme share a gradient, of which PyTorch divides positive ones only.
            if matches!(reduction, Reduction::Max | Reduction::Min) {
                let is_extreme = |&&at: &&usize| elements[at].is_nan() || elements[at] == output;
                let n = places.iter().filter(is_extreme).count();
                places.iter().filter(|_| n > 1).for_each(|&at| {
                    slopes[at] = if slopes[at] > 0.0 { slopes[at] / n as f64 } else { slopes[at] };
                });
            }
        });
        made(data, &slopes, data.sizes())
    };
    make().map_err(|e: Error| e.called("_segment_reduce_backward"))
}

native! {
    family: Segments, functions: crate::kernels::AllKernels;

    /// Folds runs of the dimension `axis`, one after the other, by `sum`, `mean`, `max`, `min` or `prod`.
    ///
    /// Either `lengths` says how long each run is, or `offsets` where each begins and the last ends: int64 or int32,
    /// a row for each row of the dimensions before `axis`. A run without an element is `initial`, or what changes
    /// nothing; its mean is NaN. Dtypes are floating.
    ///
    /// ```
    /// let (x, lengths) = (tensor![1.0f32, 2.0, 3.0], tensor![2i64, 1]);
    /// let runs = SegmentReduce { lengths: Some(&lengths), ..Default::default() };
    /// assert_eq!(ops::segment_reduce_with(&x, "sum", runs)?.to_vec::<f32>()?, [3.0, 3.0]);
    /// ```
    func: segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None,
        int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor,
    autogen: segment_reduce.out, variants: function,
    kernel: segment_reduce;

    func: _segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None,
        Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor,
    autogen: _segment_reduce_backward.out, kernel: segment_reduce_backward;
}

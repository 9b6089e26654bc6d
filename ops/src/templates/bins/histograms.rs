//! `histc`, `histogram` and the parts of `histogramdd`: edges, counts, density.

use super::{BinInputs, Bins, Finding};
use crate::copies::{clone_tensor, reshape};
use crate::functions::{aminmax, div, sub, sum};
use crate::kernels::AllKernels;
use crate::spaced::linspace;
use crate::table::native;
use crate::view;
use monomorph_core::dispatch::Calls;
use monomorph_core::structured::{FromArgs, Functional, Operand, call};
use monomorph_core::{AnyTensor, DType, Error, ErrorKind, IValue, MemoryFormat, Result, Scalar, Tensor, list, observe};

/// The points of a tensor whose last dimension are coordinates, as rows.
fn points<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let Some((&coordinates, rows)) = this.sizes().split_last().filter(|(_, rows)| !rows.is_empty()) else {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2 or more" }.into());
    };
    let rows = rows.iter().fold(1, |rows: i64, &size| rows.saturating_mul(size));
    reshape(this, &[rows, coordinates])
}

/// An error for anything but float32 and float64, and halves where `halves`.
fn check_dtype(got: DType, halves: bool) -> Result<()> {
    if got.is_floating() && (halves || got.size() > 2) {
        return Ok(());
    }
    let (what, accepted) = ("argument self has dtype", if halves { "floating dtypes" } else { "float32 and float64" });
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

fn check_counts(counts: &[i64]) -> Result<()> {
    match counts.iter().find(|&&count| count <= 0) {
        Some(&got) => Err(ErrorKind::OutOfRange { arg: "bins", got, low: 1, high: i64::MAX }.into()),
        None => Ok(()),
    }
}

/// The smallest and the largest element of a column; of shapes alone any numbers will do.
fn extrema<D: AllKernels>(points: &Tensor<D>, column: usize) -> Result<[f64; 2]> {
    if D::MEMORY.is_none() {
        return Ok([0.0, 1.0]);
    }
    let column = points.with_geometry(points.geometry().select(1, column as i64)?)?;
    let (least, most) = aminmax(&column, ..)?;
    Ok([least.item()?.to_f64(), most.item()?.to_f64()])
}

fn not_finite() -> Error {
    let rule = "the range of bins is not finite; give a finite range, or elements that are finite";
    ErrorKind::ArgumentRule { rule }.into()
}

/// The first and the last edge of each coordinate: what the caller gives, or what there is. An empty range is widened.
fn outer_edges<D: AllKernels>(points: &Tensor<D>, range: Option<&[f64]>) -> Result<Vec<[f64; 2]>> {
    let [rows, coordinates] = [0, 1].map(|d| points.sizes().get(d).copied().unwrap_or(0) as usize);
    if let Some(range) = range.filter(|range| range.len() != 2 * coordinates) {
        return Err(ErrorKind::ListLength { arg: "range", got: range.len(), want: 2 * coordinates }.into());
    }
    let mut outer = list::with_capacity(coordinates)?;
    for coordinate in 0..coordinates {
        let [low, high] = match range {
            Some(range) => [range[2 * coordinate], range[2 * coordinate + 1]],
            None if rows == 0 => [0.0, 1.0],
            None => extrema(points, coordinate)?,
        };
        if !low.is_finite() || !high.is_finite() {
            return Err(not_finite());
        }
        if low > high {
            let rule = "argument range has a start above its end; accepted is a start of at most the end";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        outer.push(if low == high { [low - 0.5, high + 0.5] } else { [low, high] });
    }
    Ok(outer)
}

/// Edges of so many bins of one width.
fn even_edges<D: AllKernels>(this: &Tensor<D>, [low, high]: [f64; 2], count: i64) -> Result<Tensor<D>> {
    let [low, high] = [low, high].map(Scalar::Float);
    let steps =
        count.checked_add(1).ok_or(ErrorKind::OutOfRange { arg: "bins", got: count, low: 1, high: i64::MAX - 1 })?;
    linspace(low, high, steps, Some(this.dtype()), None, Some(this.device()), None)
}

/// The edges of each coordinate, from the number of bins.
fn edges_of_counts<D: AllKernels>(
    this: &Tensor<D>,
    points: &Tensor<D>,
    counts: &[i64],
    range: Option<&[f64]>,
) -> Result<Vec<Tensor<D>>> {
    let coordinates = points.sizes()[1] as usize;
    if counts.len() != coordinates {
        return Err(ErrorKind::ListLength { arg: "bins", got: counts.len(), want: coordinates }.into());
    }
    check_dtype(this.dtype(), false)?;
    check_counts(counts)?;
    let outer = outer_edges(points, range)?;
    outer.into_iter().zip(counts).map(|(outer, &count)| even_edges(this, outer, count)).collect()
}

/// Edges of the caller's, checked: one dimension, two edges or more.
fn check_edges<D: AllKernels>(points: &Tensor<D>, edges: &[Tensor<D>]) -> Result<()> {
    let want = points.sizes()[1] as usize;
    if edges.len() != want {
        return Err(ErrorKind::ListLength { arg: "bins", got: edges.len(), want }.into());
    }
    for edges in edges {
        if edges.dtype() != points.dtype() {
            return Err(ErrorKind::DTypeMismatch { arg: "bins", got: edges.dtype(), want: points.dtype() }.into());
        }
        if edges.ndim() != 1 {
            return Err(ErrorKind::DimCount { arg: "bins", got: edges.ndim(), accepted: "1" }.into());
        }
        check_counts(&[edges.numel() as i64 - 1])?;
    }
    Ok(())
}

/// The weights of points as a row; those of a tensor without coordinates have its sizes.
fn weights_of<D: AllKernels>(rows: &[i64], weight: Option<Tensor<D>>) -> Result<Option<Tensor<D>>> {
    let Some(weight) = weight else { return Ok(None) };
    if weight.sizes() != rows {
        let (got, want) = (weight.sizes().to_vec(), rows.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "weight", got, want }.into());
    }
    reshape(&weight, &[-1]).map(Some)
}

/// The counts of points between edges.
fn counted<D: AllKernels>(
    points: &Tensor<D>,
    weights: Option<&Tensor<D>>,
    edges: &[Tensor<D>],
    finding: Finding,
    density: bool,
) -> Result<Tensor<D>> {
    let counts = edges.iter().map(|edges| edges.numel() as i64 - 1).collect();
    let joined = match edges {
        [] => Tensor::zeroed(points.dtype(), &[0], &[1], points.device().index)?,
        [one] => one.clone(),
        several => crate::functions::cat(several)?,
    };
    let weights = weights.map_or(Operand::Absent, Operand::from);
    let inputs = BinInputs::from_args((points.into(), weights, (&joined).into(), counts, finding))?;
    let [mut hist] = call::<Bins, D, _>(&inputs, Functional::default())?;
    if density {
        hist = div(&hist, &sum(&hist, ..)?)?;
        for (coordinate, edges) in edges.iter().enumerate() {
            let part = |start| edges.with_geometry(view::narrow(edges.geometry(), 0, start, edges.numel() as i64 - 1)?);
            let lengths = sub(&part(1)?, &part(0)?)?;
            let mut sizes = vec![1; hist.ndim()];
            sizes[coordinate] = lengths.numel() as i64;
            hist = div(&hist, &reshape(&lengths, &sizes)?)?;
        }
    }
    Ok(hist)
}

/// `histc`: bins of one width from `min` to `max`; where both are equal, from the smallest to the largest element.
pub fn histc<D: AllKernels>(this: &Tensor<D>, bins: i64, min: Scalar, max: Scalar) -> Result<Tensor<D>> {
    let _span = observe::operator("histc", [this.geometry()]);
    let make = || {
        check_dtype(this.dtype(), true)?;
        check_counts(&[bins])?;
        if [min, max].iter().any(|end| matches!(end, Scalar::Complex(c) if c.im != 0.0)) {
            let rule = "arguments min and max are complex; accepted are real numbers";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let points = reshape(this, &[this.numel() as i64, 1])?;
        let [mut low, mut high] = [min, max].map(|end| end.to_f64());
        if low == high && this.numel() > 0 {
            [low, high] = extrema(&points, 0)?;
        }
        if low == high {
            [low, high] = [low - 1.0, high + 1.0];
        }
        if !low.is_finite() || !high.is_finite() {
            return Err(not_finite());
        }
        if low > high {
            let rule = "argument max is below min; accepted is a max above it, or equal ends for those of the elements";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        counted(&points, None, &[even_edges(this, [low, high], bins)?], Finding::Division, false)
    };
    make().map_err(|e: Error| e.of("histc"))
}

type Two<D> = (Tensor<D>, Tensor<D>);

/// `histogram` with so many bins.
pub fn histogram<D: AllKernels>(
    this: &Tensor<D>,
    bins: i64,
    range: Option<&[f64]>,
    weight: Option<&Tensor<D>>,
    density: bool,
) -> Result<Two<D>> {
    let _span = observe::operator("histogram", [this.geometry()]);
    let make = || {
        let points = reshape(this, &[this.numel() as i64, 1])?;
        let weights = flat_weights(this, weight)?;
        let edges = edges_of_counts(this, &points, &[bins], range)?;
        let hist = counted(&points, weights.as_ref(), &edges, Finding::Corrected, density)?;
        Ok((hist, edges.into_iter().next().unwrap_or(points)))
    };
    make().map_err(|e: Error| e.of("histogram"))
}

/// Weights of the elements of a tensor, in their order.
fn flat_weights<D: AllKernels>(this: &Tensor<D>, weight: Option<&Tensor<D>>) -> Result<Option<Tensor<D>>> {
    let weight = weight.map(|w| reshape(w, &[-1])).transpose()?;
    weights_of(&[this.numel() as i64], weight)
}

/// `histogram` between edges.
pub fn histogram_between<D: AllKernels>(
    this: &Tensor<D>,
    bins: &Tensor<D>,
    weight: Option<&Tensor<D>>,
    density: bool,
) -> Result<Two<D>> {
    let _span = observe::operator("histogram", [this.geometry()]);
    let make = || {
        check_dtype(this.dtype(), true)?;
        let points = reshape(this, &[this.numel() as i64, 1])?;
        let weights = flat_weights(this, weight)?;
        let edges = [clone_tensor(bins, Some(MemoryFormat::Contiguous))?];
        check_edges(&points, &edges)?;
        let hist = counted(&points, weights.as_ref(), &edges, Finding::Search, density)?;
        let [edges] = edges;
        Ok((hist, edges))
    };
    make().map_err(|e: Error| e.of("histogram"))
}

/// `_histogramdd_bin_edges`: the edges of each coordinate.
pub fn bin_edges<D: AllKernels>(
    this: &Tensor<D>,
    bins: &[i64],
    range: Option<&[f64]>,
    _weight: Option<&Tensor<D>>,
    _density: bool,
) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("histogramdd", [this.geometry()]);
    points(this).and_then(|points| edges_of_counts(this, &points, bins, range)).map_err(|e: Error| e.of("histogramdd"))
}

/// Counts of points between edges, with the weights of points.
fn of_points<D: AllKernels>(
    this: &Tensor<D>,
    points: &Tensor<D>,
    edges: &[Tensor<D>],
    weight: Option<&Tensor<D>>,
    (finding, density): (Finding, bool),
) -> Result<Tensor<D>> {
    let rows = this.sizes().split_last().map_or(&[][..], |(_, rows)| rows);
    let weights = weights_of(rows, weight.cloned())?;
    counted(points, weights.as_ref(), edges, finding, density)
}

/// `_histogramdd_from_bin_cts`: the counts of points in so many bins.
pub fn from_bin_counts<D: AllKernels>(
    this: &Tensor<D>,
    bins: &[i64],
    range: Option<&[f64]>,
    weight: Option<&Tensor<D>>,
    density: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("histogramdd", [this.geometry()]);
    let make = || {
        let points = points(this)?;
        let edges = edges_of_counts(this, &points, bins, range)?;
        of_points(this, &points, &edges, weight, (Finding::Corrected, density))
    };
    make().map_err(|e: Error| e.of("histogramdd"))
}

/// `_histogramdd_from_bin_tensors`: the counts of points between edges.
pub fn from_bin_tensors<D: AllKernels>(
    this: &Tensor<D>,
    bins: &[AnyTensor],
    weight: Option<&Tensor<D>>,
    density: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("histogramdd", [this.geometry()]);
    let make = || {
        check_dtype(this.dtype(), true)?;
        let points = points(this)?;
        let mut edges = list::with_capacity(bins.len())?;
        for bins in bins {
            let own = Tensor::<D>::from_any(bins, this.device().index)?;
            edges.push(clone_tensor(&own, Some(MemoryFormat::Contiguous))?);
        }
        check_edges(&points, &edges)?;
        of_points(this, &points, &edges, weight, (Finding::Search, density))
    };
    make().map_err(|e: Error| e.of("histogramdd"))
}

/// `histogramdd` with so many bins: the counts, and the edges of each coordinate.
pub fn histogramdd(
    calls: &Calls<'_>,
    this: &IValue,
    bins: &[i64],
    range: Option<&[f64]>,
    weight: &IValue,
    density: bool,
) -> Result<(AnyTensor, Vec<AnyTensor>)> {
    let range = range.map_or(IValue::None, |range| IValue::Floats(range.to_vec()));
    let arguments = [this.clone(), IValue::Ints(bins.to_vec()), range, weight.clone(), density.into()];
    let edges = calls.tensors("_histogramdd_bin_edges", arguments.clone())?;
    Ok((calls.tensor("_histogramdd_from_bin_cts", arguments)?, edges))
}

/// `histogramdd` between edges, which are a result, too.
pub fn histogramdd_between(
    calls: &Calls<'_>,
    this: &IValue,
    bins: &[AnyTensor],
    _range: Option<&[f64]>,
    weight: &IValue,
    density: bool,
) -> Result<(AnyTensor, Vec<AnyTensor>)> {
    let arguments = [this.clone(), IValue::Tensors(bins.to_vec()), weight.clone(), density.into()];
    Ok((calls.tensor("_histogramdd_from_bin_tensors", arguments)?, bins.to_vec()))
}

native! {
    family: Histograms, functions: crate::kernels::AllKernels;

    structured: Bins;

    /// How many elements are in each of `bins` bins of one width from `min` to `max`, both included.
    ///
    /// There are 100 bins unless the options say otherwise. Where `min` and `max` are equal, bins reach from the
    /// smallest to the largest element. Counts are in the dtype of the elements, a floating one. NaN is in no bin.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 1.0];
    /// let counts = x.histc_with(Histc { bins: 4, max: 3.into(), ..Default::default() })?;
    /// assert_eq!(counts.to_vec::<f32>()?, [0.0, 2.0, 1.0, 0.0]);
    /// ```
    func: histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor,
    out: histc.out, variants: function, kernel: histc;

    /// How many elements are in each bin, or the sum of their weights, and the edges of the bins.
    ///
    /// The bins, 100 unless `bins` says otherwise, have one width, and reach from the smallest to the largest element
    /// or over `range`. With `density` the integral over all bins is 1. Accepted are float32 and float64.
    ///
    /// ```
    /// let (counts, edges) = tensor![1.0f32, 2.0, 1.0].histogram_with(Histogram {
    ///     bins: 4,
    ///     range: Some(&[0.0, 3.0]),
    ///     ..Default::default()
    /// })?;
    /// assert_eq!(counts.to_vec::<f32>()?, [0.0, 2.0, 1.0, 0.0]);
    /// assert_eq!(edges.to_vec::<f32>()?, [0.0, 0.75, 1.5, 2.25, 3.0]);
    /// ```
    func: histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False)
        -> (Tensor hist, Tensor bin_edges),
    out: histogram.bin_ct_out, variants: function, name: histogram, kernel: histogram;

    /// How many elements are between each two of the edges `bins`, or the sum of their weights, and the edges.
    ///
    /// Edges are in ascending order; the last bin has both of its edges. With `density` the integral over all bins is
    /// 1.
    ///
    /// ```
    /// let (counts, _) = tensor![1.0f32, 2.0, 1.0].histogram_between(&tensor![0.0f32, 1.5, 3.0])?;
    /// assert_eq!(counts.to_vec::<f32>()?, [2.0, 1.0]);
    /// ```
    func: histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False)
        -> (Tensor hist, Tensor bin_edges),
    out: histogram.bins_tensor_out, variants: function, name: histogram_between, kernel: histogram_between;

    func: _histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
        bool density=False) -> Tensor[],
    autogen: _histogramdd_bin_edges.out, kernel: bin_edges;

    func: _histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None,
        bool density=False) -> Tensor,
    autogen: _histogramdd_from_bin_cts.out, kernel: from_bin_counts;

    func: _histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False)
        -> Tensor,
    autogen: _histogramdd_from_bin_tensors.out, kernel: from_bin_tensors;

    func: histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False)
        -> (Tensor hist, Tensor[] bin_edges),
    composite: implicit histogramdd;

    func: histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None,
        bool density=False) -> (Tensor hist, Tensor[] bin_edges),
    silent_view: true, composite: implicit histogramdd_between;
}

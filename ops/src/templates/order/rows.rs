//! The operators on rows: sort, topk, kthvalue, median, nanmedian, mode.

use super::{Ask, Order, OrderFn, OrderInputs};
use crate::pointwise::{Ordered, Real};
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// `sort`.
pub struct SortFn;

impl OrderFn for SortFn {
    const NAME: &'static str = "sort";
    type Domain = Ordered;
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, bool)> for OrderInputs<'t, SortFn> {
    fn from_args((operand, dim, descending): (A, i64, bool)) -> Result<Self> {
        Ok(OrderInputs::new(operand.into(), dim, true, Ask::Sort { descending }))
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, Option<bool>, i64, bool)> for OrderInputs<'t, SortFn> {
    fn from_args((operand, _, dim, descending): (A, Option<bool>, i64, bool)) -> Result<Self> {
        FromArgs::from_args((operand, dim, descending))
    }
}

/// `topk`.
pub struct TopkFn;

impl OrderFn for TopkFn {
    const NAME: &'static str = "topk";
    type Domain = Real;
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, i64, bool, bool)> for OrderInputs<'t, TopkFn> {
    fn from_args((operand, k, dim, largest, sorted): (A, i64, i64, bool, bool)) -> Result<Self> {
        Ok(OrderInputs::new(operand.into(), dim, true, Ask::Top { k, largest, sorted }))
    }
}

/// `kthvalue`.
pub struct KthvalueFn;

impl OrderFn for KthvalueFn {
    const NAME: &'static str = "kthvalue";
    type Domain = Real;
    const SINGLE: bool = true;
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, i64, bool)> for OrderInputs<'t, KthvalueFn> {
    fn from_args((operand, k, dim, keepdim): (A, i64, i64, bool)) -> Result<Self> {
        Ok(OrderInputs::new(operand.into(), dim, keepdim, Ask::Kth { k }))
    }
}

/// `median`.
pub struct MedianFn;

impl OrderFn for MedianFn {
    const NAME: &'static str = "median";
    type Domain = Real;
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, bool)> for OrderInputs<'t, MedianFn> {
    fn from_args((operand, dim, keepdim): (A, i64, bool)) -> Result<Self> {
        Ok(OrderInputs::new(operand.into(), dim, keepdim, Ask::Median { skips_nan: false }))
    }
}

/// `nanmedian`.
pub struct NanmedianFn;

impl OrderFn for NanmedianFn {
    const NAME: &'static str = "nanmedian";
    type Domain = Real;
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, bool)> for OrderInputs<'t, NanmedianFn> {
    fn from_args((operand, dim, keepdim): (A, i64, bool)) -> Result<Self> {
        Ok(OrderInputs::new(operand.into(), dim, keepdim, Ask::Median { skips_nan: true }))
    }
}

/// `mode`.
pub struct ModeFn;

impl OrderFn for ModeFn {
    const NAME: &'static str = "mode";
    type Domain = Ordered;
    const SINGLE: bool = true;
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, i64, bool)> for OrderInputs<'t, ModeFn> {
    fn from_args((operand, dim, keepdim): (A, i64, bool)) -> Result<Self> {
        Ok(OrderInputs::new(operand.into(), dim, keepdim, Ask::Mode))
    }
}

native! {
    family: Orders;

    /// The elements of each row along the dimension `dim` in order, and the indices that they had.
    ///
    /// Sorting is stable. The option `descending` turns the order around. NaN is above everything; the two zeros are
    /// equal. Sizes and dense strides stay. Complex numbers have no order, so they are an error.
    ///
    /// ```
    /// let (values, indices) = tensor![3.0f32, 1.0, 2.0].sort(0)?;
    /// assert_eq!(values.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 2, 0]);
    /// let (values, _) = tensor![3, 1, 2].sort_with(0, Sort { descending: true, ..Default::default() })?;
    /// assert_eq!(values.to_vec::<i32>()?, [3, 2, 1]);
    /// ```
    func: sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices),
    out: sort.values, variants: function, method, positional: [dim], structured: Order<SortFn>;

    func: sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False)
        -> (Tensor values, Tensor indices),
    out: sort.values_stable, structured: Order<SortFn>;

    /// The `k` largest elements of each row along the last dimension, from the largest on, and their indices.
    ///
    /// The option `dim` names another dimension; with `largest: false` they are the smallest; with `sorted: false` they
    /// come in any order. NaN is above everything. Which of equal elements are taken is PyTorch's choice. More than the
    /// row has is an error, and so are bool and complex numbers.
    ///
    /// ```
    /// let (values, indices) = tensor![3, 9, 1, 7].topk(2)?;
    /// assert_eq!(values.to_vec::<i32>()?, [9, 7]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 3]);
    /// ```
    func: topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True)
        -> (Tensor values, Tensor indices),
    out: topk.values, variants: function, method, structured: Order<TopkFn>;

    /// The `k`th smallest element of each row along the last dimension, counted from 1, and its index.
    ///
    /// The option `dim` names another dimension, which goes, or becomes 1 with `keepdim`. NaN is above everything. An
    /// empty row is an error, and so are bool and complex numbers.
    ///
    /// ```
    /// let (value, index) = tensor![3, 9, 1, 7].kthvalue(2)?;
    /// assert_eq!((value.at::<i32>(())?, index.at::<i64>(())?), (3, 0));
    /// ```
    func: kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices),
    out: kthvalue.values, variants: function, method, structured: Order<KthvalueFn>;

    /// The median of each row along the dimension `dim`, the lower one of two, and its index.
    ///
    /// The dimension goes, or becomes 1 with `keepdim`. A row with NaN has the median NaN. An empty row is an error,
    /// and so are bool and complex numbers.
    ///
    /// ```
    /// let (value, index) = tensor![3.0f32, 9.0, 1.0, 7.0].median_dim(0)?;
    /// assert_eq!((value.at::<f32>(())?, index.at::<i64>(())?), (3.0, 0));
    /// ```
    func: median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices),
    out: median.dim_values, variants: function, method, name: median_dim, structured: Order<MedianFn>;

    /// The median of each row along the dimension `dim` without NaN, the lower one of two, and its index.
    ///
    /// The dimension goes, or becomes 1 with `keepdim`. Of NaN alone the median is NaN. An empty row is an error, and
    /// so are bool and complex numbers.
    ///
    /// ```
    /// let (value, index) = tensor![3.0f32, f32::NAN, 1.0].nanmedian_dim(0)?;
    /// assert_eq!((value.at::<f32>(())?, index.at::<i64>(())?), (1.0, 2));
    /// ```
    func: nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices),
    out: nanmedian.dim_values, variants: function, method, name: nanmedian_dim, structured: Order<NanmedianFn>;

    /// The most frequent element of each row along the dimension `dim`, the smallest of several, and an index of it.
    ///
    /// The dimension goes, or becomes 1 with `keepdim`. The index is that of the last such element where the row has 16
    /// elements or fewer, and else PyTorch's choice. An empty row is an error, and so are complex numbers.
    ///
    /// ```
    /// let (value, index) = tensor![5, 2, 5, 2, 7].mode(0)?;
    /// assert_eq!((value.at::<i32>(())?, index.at::<i64>(())?), (2, 3));
    /// ```
    func: mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices),
    out: mode.values, variants: function, method, positional: [dim], structured: Order<ModeFn>;
}

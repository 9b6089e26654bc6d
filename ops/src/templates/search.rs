//! Searches: where values belong in sorted sequences (searchsorted, bucketize), and whether they are among others
//! (isin). Owns what is checked and the dtype that values are compared in.
#![deny(clippy::arithmetic_side_effects)]

use crate::order::check_overlap;
use crate::pointwise::{DomainSet, Real, common_dtype};
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, IntoArg, Options, Result};
use std::marker::PhantomData;

/// What is found out about each value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// How many elements of the sequence come before it; `right`: or are equal to it.
    Place {
        /// Equal elements count.
        right: bool,
    },
    /// Whether the sequence, in no order, has it; `invert`: or has it not.
    Member {
        /// The opposite.
        invert: bool,
    },
}

/// The operator with the name of `F`.
pub struct Search<F>(PhantomData<fn() -> F>);

/// A name of a search.
pub trait SearchFn: Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
}

/// `searchsorted`.
pub struct SearchsortedFn;
impl SearchFn for SearchsortedFn {
    const NAME: &'static str = "searchsorted";
}
/// `bucketize`.
pub struct BucketizeFn;
impl SearchFn for BucketizeFn {
    const NAME: &'static str = "bucketize";
}
/// `isin`.
pub struct IsinFn;
impl SearchFn for IsinFn {
    const NAME: &'static str = "isin";
}

/// The inputs of a call: sequences, values, and the order that makes sequences sorted.
pub struct SearchInputs<'t, F> {
    operands: [Operand<'t>; 3],
    question: Question,
    result: DType,
    of: PhantomData<fn() -> F>,
}

impl<'t, F> SearchInputs<'t, F> {
    /// The sequences, the values, and indices that sort the sequences if they are not sorted.
    pub fn operands(&self) -> &[Operand<'t>; 3] {
        &self.operands
    }

    fn places(sequence: Operand<'t>, values: Operand<'t>, sorter: Operand<'t>, int32: bool, right: bool) -> Self {
        let result = if int32 { DType::I32 } else { DType::I64 };
        SearchInputs {
            operands: [sequence, values, sorter],
            question: Question::Place { right },
            result,
            of: PhantomData,
        }
    }

    fn member(values: Operand<'t>, among: Operand<'t>, invert: bool) -> Self {
        let operands = [among, values, Operand::Absent];
        SearchInputs { operands, question: Question::Member { invert }, result: DType::Bool, of: PhantomData }
    }
}

type Searchsorted<'t, A, B, C> = (A, B, bool, bool, Option<&'t str>, C);

impl<'t, A, B, C> FromArgs<Searchsorted<'t, A, B, C>> for SearchInputs<'t, SearchsortedFn>
where
    A: Into<Operand<'t>>,
    B: Into<Operand<'t>>,
    C: Into<Operand<'t>>,
{
    fn from_args((sequence, values, int32, right, side, sorter): Searchsorted<'t, A, B, C>) -> Result<Self> {
        let right = match side {
            None => right,
            Some("left") if right => {
                let rule = "argument side is left, but right is true; give one of them, or both alike";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
            Some("left") => false,
            Some("right") => true,
            Some(got) => {
                let (arg, accepted) = ("side", "left and right");
                return Err(ErrorKind::UnknownOption { arg, got: got.to_owned(), accepted }.into());
            }
        };
        Ok(SearchInputs::places(sequence.into(), values.into(), sorter.into(), int32, right))
    }
}

impl<'t, A: Into<Operand<'t>>, B: Into<Operand<'t>>> FromArgs<(A, B, bool, bool)> for SearchInputs<'t, BucketizeFn> {
    fn from_args((values, sequence, int32, right): (A, B, bool, bool)) -> Result<Self> {
        let sequence = sequence.into();
        if sequence.sizes().len() != 1 {
            let (arg, got) = ("boundaries", sequence.sizes().len());
            return Err(ErrorKind::DimCount { arg, got, accepted: "1" }.into());
        }
        Ok(SearchInputs::places(sequence, values.into(), Operand::Absent, int32, right))
    }
}

impl<'t, A: Into<Operand<'t>>, B: Into<Operand<'t>>> FromArgs<(A, B, bool, bool)> for SearchInputs<'t, IsinFn> {
    fn from_args((values, among, _, invert): (A, B, bool, bool)) -> Result<Self> {
        Ok(SearchInputs::member(values.into(), among.into(), invert))
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchPlan {
    /// What is asked of each value.
    pub question: Question,
    /// The dtype to compare in.
    pub common: DType,
    /// Elements of a sequence: there is one for all values, or as many as values have rows of the last dimension.
    pub length: usize,
    /// Values that share a sequence.
    pub values: usize,
    /// The output may overwrite an input, so those are to be copied first.
    pub copies: bool,
}

impl Default for SearchPlan {
    fn default() -> SearchPlan {
        let question = Question::Place { right: false };
        SearchPlan { question, common: DType::F32, length: 0, values: 0, copies: false }
    }
}

impl<F: SearchFn> StructuredOp for Search<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = SearchInputs<'t, F>;
    type Plan = SearchPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        *plan = plan_call(&inputs.operands, inputs.question, inputs.result, sink)?;
        Ok(())
    }
}

/// The meta function of every search.
fn plan_call(
    operands: &[Operand<'_>; 3],
    question: Question,
    result: DType,
    sink: &mut SinkState<'_>,
) -> Result<SearchPlan> {
    let [sequence, values, sorter] = operands;
    let numel = |o: &Operand<'_>| o.geometry().map_or(1, |g| g.numel());
    let (mut length, mut each) = (numel(sequence), numel(values));
    if let Question::Place { .. } = question {
        check_sequences(sequence, values)?;
        check_sorter(sequence, sorter)?;
        let last = |o: &Operand<'_>| o.sizes().last().map_or(1, |&size| size as usize);
        length = last(sequence);
        if sequence.sizes().len() > 1 {
            each = last(values);
        }
        let limit = i32::MAX as usize;
        if result == DType::I32 && length >= limit {
            return Err(ErrorKind::TooManyElements { sizes: sequence.sizes().to_vec(), limit }.into());
        }
    }
    let unsupported = |what, got| -> Error {
        ErrorKind::DTypeNotSupported { what, got, accepted: <Real as DomainSet>::WORDS }.into()
    };
    let is_real = |dtype: DType| Real::MASK.checked_shr(dtype as u32).is_some_and(|bits| bits & 1 == 1);
    if let Question::Member { .. } = question {
        for operand in [values, sequence] {
            // A number takes on the dtype of the tensor.
            if let Some(tensor) = operand.tensor().filter(|t| !is_real(t.geometry().dtype())) {
                return Err(unsupported("an operand has dtype", tensor.geometry().dtype()));
            }
        }
    }
    let common = common_dtype([sequence, values]).unwrap_or(DType::F32);
    if !is_real(common) {
        return Err(unsupported("the operands promote to", common));
    }
    let device = operands.iter().find_map(Operand::tensor).map_or(DeviceId::CPU, |t| t.device());
    sink.set_output_contiguous(0, values.sizes(), Options::new(result, device), None)?;
    let (_, copies) = check_overlap(operands, sink, false)?;
    Ok(SearchPlan { question, common, length, values: each, copies })
}

fn check_sequences(sequence: &Operand<'_>, values: &Operand<'_>) -> Result<()> {
    let (all, wanted) = (sequence.sizes(), values.sizes());
    let (arg, got) = ("sorted_sequence", all.len());
    if got == 0 {
        return Err(ErrorKind::DimCount { arg, got, accepted: "1 or more" }.into());
    }
    let rows = |sizes: &'_ [i64]| sizes.split_last().map(|(_, rows)| rows.to_vec());
    if got > 1 && rows(all) != rows(wanted) {
        let (got, want) = (wanted.to_vec(), all.to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "self", got, want }.into());
    }
    Ok(())
}

fn check_sorter(sequence: &Operand<'_>, sorter: &Operand<'_>) -> Result<()> {
    let Some(dtype) = sorter.dtype() else { return Ok(()) };
    if sorter.sizes() != sequence.sizes() {
        let (got, want) = (sorter.sizes().to_vec(), sequence.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "sorter", got, want }.into());
    }
    if dtype != DType::I64 {
        let (what, accepted) = ("argument sorter has dtype", "int64");
        return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
    }
    Ok(())
}

native! {
    family: Searches;

    /// Where each value belongs in a sorted sequence: how many of its elements come before the value.
    ///
    /// The sequence is the last dimension of `sorted_sequence`: one for all values, or one for each row of them. With
    /// `right`, or `side: Some("right")`, equal elements come before the value, too. `sorter` are the indices that sort
    /// a sequence which is not sorted. The result is int64, or int32 with `out_int32`.
    ///
    /// ```
    /// let sequence = tensor![1, 3, 5, 7, 9];
    /// assert_eq!(ops::searchsorted(&sequence, &tensor![3, 6, 9])?.to_vec::<i64>()?, [1, 3, 4]);
    /// let right = Searchsorted { right: true, ..Default::default() };
    /// assert_eq!(ops::searchsorted_with(&sequence, &tensor![3, 6, 9], right)?.to_vec::<i64>()?, [2, 3, 5]);
    /// ```
    func: searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False,
        str? side=None, Tensor? sorter=None) -> Tensor,
    out: searchsorted.Tensor_out, variants: function, structured: Search<SearchsortedFn>;

    func: searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False,
        str? side=None, Tensor? sorter=None) -> Tensor,
    out: searchsorted.Scalar_out, structured: Search<SearchsortedFn>;

    /// The number of the bucket that each element is in, between `boundaries` in ascending order.
    ///
    /// An element that is a boundary is below it, or above it with `right`. The result is int64, or int32 with
    /// `out_int32`.
    ///
    /// ```
    /// let x = tensor![[3, 6], [9, 0]];
    /// assert_eq!(x.bucketize(&tensor![1, 3, 5, 7, 9])?.to_vec::<i64>()?, [1, 3, 4, 0]);
    /// ```
    func: bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor,
    out: bucketize.Tensor_out, variants: function, structured: Search<BucketizeFn>;

    func: bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor,
    autogen: bucketize.Scalar_out, structured: Search<BucketizeFn>;

    /// Whether each element is among `test_elements`, or is not with `invert`.
    ///
    /// Elements are compared in the dtype that both promote to; NaN is among nothing. Bool and complex numbers are an
    /// error.
    ///
    /// ```
    /// let found = ops::isin(&tensor![[1, 2], [3, 4]], &tensor![2, 3])?;
    /// assert_eq!(found.to_vec::<bool>()?, [false, true, true, false]);
    /// ```
    func: isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False)
        -> Tensor,
    out: isin.Tensor_Tensor_out, variants: function, structured: Search<IsinFn>;

    func: isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False)
        -> Tensor,
    out: isin.Tensor_Scalar_out, structured: Search<IsinFn>;

    func: isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False)
        -> Tensor,
    out: isin.Scalar_Tensor_out, structured: Search<IsinFn>;
}

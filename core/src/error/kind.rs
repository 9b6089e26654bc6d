//! What went wrong, and what would have been accepted, as plain data: a kind names no type of a layer above its own.

use super::DispatchError;
use crate::dtype::DType;
use crate::options::DeviceId;
use std::borrow::Cow;

/// Every kind of error. Fields hold what was got and what would have been accepted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Between a name and a kernel.
    #[error("{0}")]
    Dispatch(DispatchError),
    /// Two sizes that cannot be broadcast together.
    #[error(
        "sizes {left:?} and {right:?} do not broadcast: dimension {dim} (from the left of the result) is {left_size} \
            and {right_size}; equal sizes or 1 are accepted"
    )]
    Broadcast {
        /// Sizes of the first operand or of the broadcast so far.
        left: Vec<i64>,
        /// Sizes of the other operand.
        right: Vec<i64>,
        /// The dimension of the result.
        dim: usize,
        /// The size on the left.
        left_size: i64,
        /// The size on the right.
        right_size: i64,
    },
    /// An output whose size may not change.
    #[error("output {index} has sizes {got:?}; the result has sizes {want:?} and this output cannot be resized")]
    OutputSize {
        /// Which output.
        index: usize,
        /// Its sizes.
        got: Vec<i64>,
        /// The sizes of the result.
        want: Vec<i64>,
    },
    /// An in-place call whose tensor does not have the size, dtype or device of the result.
    #[error(
        "in-place on a tensor of sizes {got:?} and dtype {got_dtype}, but the result has sizes {want:?} and dtype \
            {want_dtype}; use the functional form"
    )]
    InPlace {
        /// Sizes of the tensor.
        got: Vec<i64>,
        /// Its dtype.
        got_dtype: DType,
        /// Sizes of the result.
        want: Vec<i64>,
        /// Dtype of the result.
        want_dtype: DType,
    },
    /// An out= tensor of another dtype than the operator writes.
    #[error("out ({index}) has dtype {got}; accepted is {want}")]
    OutputDType {
        /// Which output.
        index: usize,
        /// Its dtype.
        got: DType,
        /// The accepted dtype.
        want: DType,
    },
    /// A result that may not be cast to the dtype it has to be written to.
    #[error(
        "result dtype {from} cannot be cast to the output dtype {to}; cast the inputs with .to({to:?}) or give an \
         output of dtype {from}"
    )]
    Cast {
        /// The dtype of the result.
        from: DType,
        /// The dtype of the output.
        to: DType,
    },
    /// An operand of a dtype that the operator does not take.
    #[error("{what} {got}; accepted are {accepted}; cast one with .to(..)")]
    DTypeNotSupported {
        /// Which operand: "the operands promote to", "argument self has dtype".
        what: &'static str,
        /// Its dtype.
        got: DType,
        /// The accepted set, in words.
        accepted: &'static str,
    },
    /// Operands that must have one dtype and have two.
    #[error("argument {arg} has dtype {got}; {want} is accepted, the dtype of the other operands")]
    DTypeMismatch {
        /// Which argument.
        arg: &'static str,
        /// Its dtype.
        got: DType,
        /// The other dtype.
        want: DType,
    },
    /// Tensors of two devices in one call.
    #[error(
        "argument {arg} is on {got}; the call runs on {want}, and all tensors must be there; move it with \
         .to_device(..)"
    )]
    DeviceMismatch {
        /// The argument, by position or name.
        arg: Cow<'static, str>,
        /// Its device.
        got: DeviceId,
        /// The device of the call.
        want: DeviceId,
    },
    /// A written tensor in which two indices reach the same element.
    #[error(
        "the written tensor (output {index}) has sizes {sizes:?} and strides {strides:?}: more than one index reaches \
            the same element; clone it first"
    )]
    InternalOverlap {
        /// Which output.
        index: usize,
        /// Its sizes.
        sizes: Vec<i64>,
        /// Its strides.
        strides: Vec<i64>,
    },
    /// An input that shares some memory, but not its geometry, with an output.
    #[error("output {output} overlaps {other} in memory without being the same elements; clone one of them first")]
    PartialOverlap {
        /// Which output.
        output: usize,
        /// Which other operand.
        other: String,
    },
    /// An output that shares memory with another output or with the input, where that is refused.
    #[error("output {output} overlaps {other} in memory; give outputs that lie apart, or clone the input")]
    Overlap {
        /// Which output.
        output: usize,
        /// Which other operand.
        other: String,
    },
    /// Tensors of a list whose sizes must be equal, but for the dimension that they are joined along.
    #[error(
        "argument {arg} has tensors of sizes {want:?} and {got:?}; equal sizes are accepted, but for a dimension that \
            they are joined along"
    )]
    UnequalSizes {
        /// Which argument.
        arg: &'static str,
        /// The sizes that differ.
        got: Vec<i64>,
        /// Those of the first tensor.
        want: Vec<i64>,
    },
    /// More dimensions than a tensor may have.
    #[error("{got} dimensions are too many; at most {most} are accepted; merge some with reshape, or squeeze some")]
    TooManyDims {
        /// How many.
        got: usize,
        /// The most that are accepted.
        most: usize,
    },
    /// A size below zero.
    #[error("argument {arg} contains the negative size {got}; sizes of 0 or more are accepted")]
    NegativeSize {
        /// Which argument.
        arg: &'static str,
        /// The size.
        got: i64,
    },
    /// A stride below zero.
    #[error("argument {arg} contains the negative stride {got}; strides of 0 or more are accepted")]
    NegativeStride {
        /// Which argument.
        arg: &'static str,
        /// The stride.
        got: i64,
    },
    /// Sizes whose element count or byte count does not fit.
    #[error("sizes {sizes:?} with strides {strides:?} need more memory than can be addressed")]
    SizeOverflow {
        /// The sizes.
        sizes: Vec<i64>,
        /// The strides, empty for contiguous.
        strides: Vec<i64>,
    },
    /// More elements than can be walked one by one: broadcasting and expanded tensors reach numbers that no memory
    /// holds.
    #[error(
        "sizes {sizes:?} are more than {limit} elements, the most that are computed one by one; reduce or select \
            before expanding"
    )]
    TooManyElements {
        /// The sizes of the iteration.
        sizes: Vec<i64>,
        /// The most elements that are accepted.
        limit: usize,
    },
    /// A view that reaches outside its storage.
    #[error("sizes {sizes:?}, strides {strides:?} and offset {offset} need {need} bytes of storage; it has {have}")]
    OutOfStorage {
        /// The sizes.
        sizes: Vec<i64>,
        /// The strides.
        strides: Vec<i64>,
        /// The offset in elements.
        offset: i64,
        /// Bytes needed.
        need: u128,
        /// Bytes there.
        have: usize,
    },
    /// Memory whose address does not suit the element type.
    #[error(
        "the memory of {arg} is not aligned to {align} bytes, as its element type needs; copy it to aligned memory"
    )]
    Unaligned {
        /// Which operand.
        arg: &'static str,
        /// The alignment in bytes.
        align: usize,
    },
    /// Lists that must have one length.
    #[error("argument {arg} has {got} entries; {want} are accepted")]
    ListLength {
        /// Which argument.
        arg: &'static str,
        /// Its length.
        got: usize,
        /// The accepted length.
        want: usize,
    },
    /// A view of sizes that the strides do not allow.
    #[error(
        "a tensor of sizes {sizes:?} and strides {strides:?} cannot be viewed as {want:?} without a copy; use reshape"
    )]
    ImpossibleView {
        /// The sizes.
        sizes: Vec<i64>,
        /// The strides.
        strides: Vec<i64>,
        /// The sizes asked for.
        want: Vec<i64>,
    },
    /// Sizes whose product is not the number of elements.
    #[error(
        "sizes {want:?} do not hold the {numel} elements of the tensor; the product must be {numel}, with at most \
            one -1"
    )]
    ShapeNumel {
        /// The sizes asked for.
        want: Vec<i64>,
        /// The elements that there are.
        numel: usize,
    },
    /// A dimension that the tensor does not have.
    #[error("argument {arg} is {got}; the tensor has {ndim} dimensions, so {low}..={high} is accepted")]
    DimOutOfRange {
        /// Which argument.
        arg: &'static str,
        /// The dimension.
        got: i64,
        /// Dimensions of the tensor.
        ndim: usize,
        /// The lowest accepted.
        low: i64,
        /// The highest accepted.
        high: i64,
    },
    /// A dimension named twice.
    #[error("argument {arg} names dimension {dim} twice; each may appear once")]
    DimRepeated {
        /// Which argument.
        arg: &'static str,
        /// The dimension.
        dim: usize,
    },
    /// A tensor with the wrong number of dimensions.
    #[error("argument {arg} has {got} dimensions; accepted: {accepted}")]
    DimCount {
        /// Which argument.
        arg: &'static str,
        /// Its dimensions.
        got: usize,
        /// What is accepted.
        accepted: &'static str,
    },
    /// An index or length outside of its range.
    #[error("argument {arg} is {got}; {low}..={high} is accepted")]
    OutOfRange {
        /// Which argument.
        arg: &'static str,
        /// Its value.
        got: i64,
        /// The lowest accepted.
        low: i64,
        /// The highest accepted.
        high: i64,
    },
    /// An index, among the elements of a tensor, that what it indexes does not have.
    #[error("argument {arg} has the index {got} for {}; {}", indexed(*dim, *size), accepted_indices(*low, *size))]
    IndexOutOfRange {
        /// Which argument.
        arg: &'static str,
        /// The index.
        got: i64,
        /// The dimension that it indexes; `None` for all elements in row-major order.
        dim: Option<usize>,
        /// The size of the dimension, or the number of elements.
        size: i64,
        /// The lowest index that is accepted.
        low: i64,
    },
    /// A mask among indices whose sizes are not those of what it indexes.
    #[error("argument {arg} has a mask of sizes {got:?}; accepted is {want:?}, the sizes of what it indexes")]
    MaskSizes {
        /// Which argument.
        arg: &'static str,
        /// The sizes of the mask.
        got: Vec<i64>,
        /// The sizes that it indexes.
        want: Vec<i64>,
    },
    /// A reduction without an identity over no element.
    #[error(
        "dimension {dim} has size 0 and the reduction has no identity; reduce a dimension with at least one element"
    )]
    EmptyReduction {
        /// The dimension.
        dim: i64,
    },
    /// A whole-tensor reduction without an identity over nothing.
    #[error(
        "the tensor has no elements and the reduction has no identity; give a tensor with at least one element, or \
            a dim"
    )]
    EmptyInput,
    /// Memory that could not be had.
    #[error("{bytes} bytes could not be allocated on {device}")]
    Allocation {
        /// How many bytes.
        bytes: usize,
        /// Where.
        device: DeviceId,
    },
    /// What the driver or the compiler of a device reports.
    #[error("{device}: {message}")]
    Device {
        /// Which device.
        device: DeviceId,
        /// Its words.
        message: String,
    },
    /// An assertion of the caller's about a tensor does not hold.
    #[error("an assertion does not hold: {message}")]
    Assertion {
        /// Its words.
        message: String,
    },
    /// A matrix of a batch that cannot be factored or inverted.
    #[error("matrix {matrix} {problem}, as row {row} of its factor shows; rows count from 1")]
    Matrix {
        /// Its number in the batch.
        matrix: usize,
        /// What it is or has.
        problem: &'static str,
        /// The row of its factor at which that turned out.
        row: i64,
    },
    /// A storage that is being read or written elsewhere.
    #[error("the storage of {arg} is being {state} elsewhere; drop that borrow first")]
    Borrowed {
        /// Which operand.
        arg: &'static str,
        /// "read" or "written".
        state: &'static str,
    },
    /// A write to a storage that was frozen.
    #[error("the storage is frozen and shared; drop the other tensors that share it, or write to a clone")]
    Frozen,
    /// Integer division by zero.
    #[error("integer division by zero; accepted are nonzero divisors of an integer dtype, or a floating dtype")]
    DivisionByZero,
    /// A string that names no option.
    #[error("argument {arg} is {got:?}; accepted are {accepted}")]
    UnknownOption {
        /// Which argument.
        arg: &'static str,
        /// The string.
        got: String,
        /// What is accepted.
        accepted: &'static str,
    },
    /// An instruction-set level that the environment asks for and that cannot run here.
    #[error("{variable} is {got:?}; this host has {accepted}; unset it to use the best of them")]
    InstructionSet {
        /// The environment variable.
        variable: &'static str,
        /// What it holds.
        got: String,
        /// The levels of the host, in words.
        accepted: String,
    },
    /// Arguments that exclude each other, or of which one is needed.
    #[error("{rule}")]
    ArgumentRule {
        /// The rule that was broken, in words.
        rule: &'static str,
    },
    /// A number that has no value in the dtype of the result.
    #[error("argument {arg} is {got}, which {dtype} cannot hold")]
    NumberRange {
        /// Which argument.
        arg: &'static str,
        /// The number.
        got: String,
        /// The dtype.
        dtype: DType,
    },
    /// Data that can't be lent as a slice.
    #[error("a tensor of sizes {sizes:?} and strides {strides:?} is not contiguous; call .contiguous() first")]
    NotContiguous {
        /// The sizes.
        sizes: Vec<i64>,
        /// The strides.
        strides: Vec<i64>,
    },
    /// A tensor of other than one element, where its only one is asked for.
    #[error("the tensor has {numel} elements; accepted is one: take it with .at(..), or a part with .i(..)")]
    OneElement {
        /// How many it has.
        numel: usize,
    },
    /// A tensor whose dtype is not the one that the caller's type has.
    #[error("the tensor has dtype {got}, the element type asked for is {want}; convert it first with .to({want:?})")]
    ElementType {
        /// The dtype of the tensor.
        got: DType,
        /// The dtype of the element type.
        want: DType,
    },
    /// An operation that needs data on a tensor that has none, or whose data the host cannot reach.
    #[error("the tensor is on {device}, whose data the host cannot reach; move it to the CPU first")]
    NoHostData {
        /// The device.
        device: DeviceId,
    },
    /// A device that this build does not have.
    #[error("argument {arg} names device {got}; this call can run on {accepted}")]
    UnknownDevice {
        /// Which argument.
        arg: &'static str,
        /// What was asked for.
        got: String,
        /// What there is.
        accepted: &'static str,
    },
    /// Dimension names that do not agree.
    #[error("dimension names {left:?} and {right:?} do not unify at position {position} from the right")]
    Names {
        /// Names on the left.
        left: Vec<String>,
        /// Names on the right.
        right: Vec<String>,
        /// The position.
        position: usize,
    },
    /// A name in the operator table that there is none of.
    #[error("there is no operator {name:?}{}", near_list(near))]
    UnknownOperator {
        /// What was asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// A boxed call with the wrong number of arguments.
    #[error("got {got} arguments; the schema takes {want}: {schema}")]
    ArgumentCount {
        /// How many there were.
        got: usize,
        /// How many are accepted.
        want: usize,
        /// The schema.
        schema: String,
    },
    /// A boxed call with an argument of the wrong kind.
    #[error("argument {position} ({arg}) is {got}; the schema takes {want}")]
    ArgumentKind {
        /// The position, from 0.
        position: usize,
        /// Its name.
        arg: String,
        /// The kind that it has.
        got: &'static str,
        /// The schema's type.
        want: String,
    },
    /// A boxed kernel that wrote an argument whose schema does not say so. Found in debug builds.
    #[error(
        "argument {position} ({arg}) was changed by the call, but the schema does not mark it as written; write \
            `Tensor(a!) {arg}` in the schema, or have the kernel leave it alone"
    )]
    UndeclaredWrite {
        /// The position, from 0.
        position: usize,
        /// Its name.
        arg: String,
    },
    /// A boxed kernel whose result shares storage with an argument that the schema does not name. Found in debug
    /// builds.
    #[error(
        "result {result} shares the storage of argument {arg}, which the schema does not say; give both the alias set \
            `(a)` in the schema, or return a copy"
    )]
    UndeclaredAlias {
        /// Which result, from 0.
        result: usize,
        /// The first argument that has the storage.
        arg: String,
    },
    /// A boxed kernel with another number of results than its schema.
    #[error("the kernel returned {got} results; the schema has {want}")]
    ResultCount {
        /// How many there were.
        got: usize,
        /// How many the schema has.
        want: usize,
    },
    /// A result that is undefined and should not be. Where the schema has an `output_mask`, found in debug builds.
    #[error(
        "result {result} is undefined {}; a result may be undefined only where output_mask is false",
        if mask.is_some() { "although output_mask is true there" } else { "and the schema has no output_mask for it" }
    )]
    Undefined {
        /// Which result, from 0.
        result: usize,
        /// What `output_mask` says of it, if the schema has one.
        mask: Option<bool>,
    },
    /// A meta function that broke its contract: an output declared twice, never, out of range, or with contradictory
    /// options.
    #[error("the operator's meta function {rule} (output {index})")]
    MetaContract {
        /// Which output.
        index: usize,
        /// What it did.
        rule: &'static str,
    },
}

fn indexed(dim: Option<usize>, size: i64) -> String {
    match dim {
        Some(dim) => format!("dimension {dim}, whose size is {size}"),
        None => format!("a tensor of {size} elements"),
    }
}

fn accepted_indices(low: i64, size: i64) -> String {
    match size {
        0 => "no index is accepted".to_owned(),
        _ => format!("{low}..={} is accepted", size.saturating_sub(1)),
    }
}

fn near_list(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; near names are {}", near.join(", ")) }
}

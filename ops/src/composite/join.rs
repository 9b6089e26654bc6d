//! Tensors joined to one: cat along a dimension that they have, stack along a new one, and their relatives. Each part is copied into a
//! view of the result.

use super::shape::{all_at_least, at_least};
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, Dims};
use monomorph_core::{AnyTensor, Category, DType, ErrorKind, IValue, MemoryFormat, Result, ResultType};

/// A tensor of one dimension of size 0 is left out, whatever the dimensions of the others are.
fn is_left_out(t: &AnyTensor) -> bool {
    t.sizes() == [0]
}

/// The format that all prefer; contiguous where they differ.
fn common_format(tensors: &[AnyTensor]) -> MemoryFormat {
    let mut formats = tensors.iter().map(|t| strides::suggest_format(t.sizes(), t.strides()));
    let first = formats.next().unwrap_or(MemoryFormat::Contiguous);
    if formats.all(|format| format == first) { first } else { MemoryFormat::Contiguous }
}

/// What `cat` gives, and where its parts are in it.
struct Joined {
    dim: usize,
    sizes: Dims,
    dtype: DType,
}

fn joined(tensors: &[AnyTensor], dim: i64) -> Result<Joined> {
    let mut types = ResultType::default();
    for t in tensors {
        if t.ndim() == 0 {
            return Err(ErrorKind::DimCount { arg: "tensors", got: 0, accepted: "1 or more" }.into());
        }
        types.push(t.dtype(), Category::Dimensioned);
    }
    let Some(dtype) = types.dtype() else {
        return Err(ErrorKind::ArgumentRule { rule: "argument tensors is empty; give at least one tensor" }.into());
    };
    let mut parts = tensors.iter().filter(|t| !is_left_out(t));
    let Some(first) = parts.next() else {
        return Ok(Joined { dim: 0, sizes: Dims::from_slice(&[0]), dtype });
    };
    let dim = strides::wrap_dim(dim, first.ndim(), "dim")?;
    let mut sizes = Dims::from_slice(first.sizes());
    for part in parts {
        let fits = part.ndim() == sizes.len()
            && part.sizes().iter().zip(&sizes).enumerate().all(|(d, (a, b))| d == dim || a == b);
        if !fits {
            let (got, want) = (part.sizes().to_vec(), first.sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg: "tensors", got, want }.into());
        }
        sizes[dim] = sizes[dim].saturating_add(part.sizes()[dim]);
    }
    Ok(Joined { dim, sizes, dtype })
}

/// `cat`: along a dimension that all have.
pub fn cat(calls: &Calls<'_>, tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
    let Joined { dim, sizes, dtype } = joined(tensors, dim)?;
    let Some(first) = tensors.first() else { return Err(ErrorKind::EmptyInput.into()) };
    let options = [
        IValue::Ints(sizes.to_vec()),
        dtype.into(),
        IValue::None,
        first.device().into(),
        IValue::None,
        common_format(tensors).into(),
    ];
    let result = calls.tensor("empty.memory_format", options)?;
    let mut start = 0;
    for part in tensors.iter().filter(|t| !is_left_out(t)) {
        let length = part.sizes()[dim];
        let range = [result.clone().into(), (dim as i64).into(), start.into(), length.into()];
        let place = calls.tensor("narrow", range)?;
        calls.tensor("copy_", [place.into(), part.clone().into(), false.into()])?;
        start += length;
    }
    Ok(result)
}

fn cat_of(calls: &Calls<'_>, tensors: Vec<AnyTensor>, dim: i64) -> Result<AnyTensor> {
    calls.tensor("cat", [IValue::Tensors(tensors), dim.into()])
}

fn not_empty(tensors: &[AnyTensor]) -> Result<&AnyTensor> {
    let rule = "argument tensors is empty; give at least one tensor";
    tensors.first().ok_or_else(|| ErrorKind::ArgumentRule { rule }.into())
}

/// `stack`: along a new dimension. Where it is not the last, the parts lie one behind the other along the dimension that follows it, so
/// they are joined there, and that dimension is split.
pub fn stack(calls: &Calls<'_>, tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
    let first = not_empty(tensors)?;
    let dim = strides::wrap_dim(dim, first.ndim() + 1, "dim")?;
    if let Some(other) = tensors.iter().find(|t| t.sizes() != first.sizes()) {
        let (got, want) = (other.sizes().to_vec(), first.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "tensors", got, want }.into());
    }
    if dim < first.ndim() {
        let mut sizes = first.sizes().to_vec();
        sizes.insert(dim, tensors.len() as i64);
        let joined = cat_of(calls, tensors.to_vec(), dim as i64)?;
        return calls.tensor("view", [joined.into(), IValue::Ints(sizes)]);
    }
    let unsqueezed = |t: &AnyTensor| calls.tensor("unsqueeze", [t.clone().into(), (dim as i64).into()]);
    cat_of(calls, tensors.iter().map(unsqueezed).collect::<Result<_>>()?, dim as i64)
}

/// `hstack`: side by side.
pub fn hstack(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<AnyTensor> {
    not_empty(tensors)?;
    let parts = all_at_least(calls, tensors, 1)?;
    let dim = i64::from(parts[0].ndim() > 1);
    cat_of(calls, parts, dim)
}

/// `vstack`: one below the other.
pub fn vstack(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<AnyTensor> {
    not_empty(tensors)?;
    cat_of(calls, all_at_least(calls, tensors, 2)?, 0)
}

/// `dstack`: one behind the other.
pub fn dstack(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<AnyTensor> {
    not_empty(tensors)?;
    cat_of(calls, all_at_least(calls, tensors, 3)?, 2)
}

/// `column_stack`: side by side, where a tensor of one dimension or none is a column.
pub fn column_stack(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<AnyTensor> {
    not_empty(tensors)?;
    let column = |t: &AnyTensor| match t.ndim() {
        0 | 1 => calls.tensor("reshape", [t.clone().into(), IValue::Ints(vec![t.numel() as i64, 1])]),
        _ => at_least(calls, t, 1),
    };
    let columns = tensors.iter().map(column).collect::<Result<Vec<_>>>()?;
    calls.tensor("hstack", [IValue::Tensors(columns)])
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __composite_join_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [cat] (Tensor[] tensors, int dim=0) -> (Tensor) : explicit ($crate::composite::join::cat) {
            functional -; outapart - [cat.out];
        } }
        { [concat] (Tensor[] tensors, int dim=0) -> (Tensor) : redirect (cat) { functional -; out - [concat.out]; } }
        { [concatenate] (Tensor[] tensors, int dim=0) -> (Tensor) : redirect (cat) {
            functional -; out - [concatenate.out];
        } }
        { [stack] (Tensor[] tensors, int dim=0) -> (Tensor) : explicit ($crate::composite::join::stack) {
            functional -; outapart - [stack.out];
        } }
        { [_stack] (Tensor[] tensors, int dim=0) -> (Tensor) : explicit ($crate::composite::join::stack) {
            functional -; outapart - [_stack.out];
        } }
        { [hstack] (Tensor[] tensors) -> (Tensor) : implicit ($crate::composite::join::hstack) {
            functional -; outapart - [hstack.out];
        } }
        { [vstack] (Tensor[] tensors) -> (Tensor) : implicit ($crate::composite::join::vstack) {
            functional -; outapart - [vstack.out];
        } }
        { [row_stack] (Tensor[] tensors) -> (Tensor) : redirect (vstack) { functional -; out - [row_stack.out]; } }
        { [dstack] (Tensor[] tensors) -> (Tensor) : implicit ($crate::composite::join::dstack) {
            functional -; outapart - [dstack.out];
        } }
        { [column_stack] (Tensor[] tensors) -> (Tensor) : implicit ($crate::composite::join::column_stack) {
            functional -; outapart - [column_stack.out];
        } }
    } };
}

//! The order template: operators that look at the elements of each row of a dimension in ascending or descending order,
//! and return some of them with their indices. Owns what there is to ask of a row ([`Task`]) and the meta function that
//! all have in common; the operators are in `rows.rs`.
//!
//! Every operator has two outputs, values in the dtype of the input and indices in int64:
//!
//! ```text
//! sort                   all elements in order         sizes and strides of the input
//! topk                   k elements                    k in place of the dimension, row-major
//! kthvalue median mode   one element                   the dimension goes, or is 1
//! ```
//!
//! NaN is above everything and the two zeros are equal, as in PyTorch. Sorting is stable. Which of equal elements the
//! others return is part of what they are: devices select as PyTorch does, whose choice follows from the algorithms
//! that it runs.
#![deny(clippy::arithmetic_side_effects)]

pub mod derived;
mod rows;

pub use rows::{KthvalueFn, MedianFn, ModeFn, NanmedianFn, SortFn, TopkFn, native};

use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::strides::{DimVec, preserve_strides, wrap_dim};
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};
use std::marker::PhantomData;

/// An operator on rows: its name and its dtypes.
pub trait OrderFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// The type of the set of dtypes that it takes. Varies per operator.
    type Domain: crate::pointwise::DomainSet;
    /// Whether a tensor without dimensions may have any dtype, since its one element is the result.
    const SINGLE: bool = false;
}

/// The operator of `F`.
pub struct Order<F>(PhantomData<fn() -> F>);

/// What is asked of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// All elements in order; equal ones in the order in which they were.
    Sort {
        /// From the largest on.
        descending: bool,
    },
    /// The first elements in order.
    Top {
        /// How many.
        k: usize,
        /// From the largest on.
        largest: bool,
        /// In order; otherwise in the order in which selection leaves them.
        sorted: bool,
    },
    /// The element that has so many before it in ascending order.
    Kth {
        /// How many.
        below: usize,
    },
    /// The lower one of the middle elements.
    Median {
        /// NaN is left out; otherwise the first one is the median, if there is one.
        skips_nan: bool,
    },
    /// The most frequent element, the smallest of several such.
    Mode,
}

/// The inputs of a call.
pub struct OrderInputs<'t, F> {
    operand: [Operand<'t>; 1],
    dim: i64,
    keepdim: bool,
    ask: Ask,
    of: PhantomData<fn() -> F>,
}

/// What the arguments of a call ask for, before they were checked.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Sort { descending: bool },
    Top { k: i64, largest: bool, sorted: bool },
    Kth { k: i64 },
    Median { skips_nan: bool },
    Mode,
}

impl<'t, F> OrderInputs<'t, F> {
    fn new(operand: Operand<'t>, dim: i64, keepdim: bool, ask: Ask) -> Self {
        OrderInputs { operand: [operand], dim, keepdim, ask, of: PhantomData }
    }

    /// The tensor, or a number in place of one.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderPlan {
    /// The dimension of the input along which rows lie; `None` for a tensor without dimensions, which is one row.
    pub dim: Option<usize>,
    /// What is asked of each row.
    pub task: Task,
    /// The dimension is still there in the outputs.
    pub keeps_dim: bool,
    /// Rows of the outputs may share memory with each other, so they have to be written one after another.
    pub serial: bool,
    /// An output may overwrite elements of the input that are still to be read, so that is to be copied first.
    pub copies: bool,
}

impl Default for OrderPlan {
    fn default() -> OrderPlan {
        OrderPlan { dim: None, task: Task::Mode, keeps_dim: false, serial: false, copies: false }
    }
}

impl<F: OrderFn> StructuredOp for Order<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 2;
    type Inputs<'t> = OrderInputs<'t, F>;
    type Plan = OrderPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        use crate::pointwise::DomainSet;
        let OrderInputs { operand: [operand], dim, keepdim, ask, .. } = inputs;
        let domain = if F::SINGLE && operand.sizes().is_empty() { !0 } else { F::Domain::MASK };
        *plan = plan_call(operand, (*dim, *keepdim, *ask), sink, (domain, F::Domain::WORDS))?;
        Ok(())
    }
}

/// The meta function of every operator on rows.
fn plan_call(
    operand: &Operand<'_>,
    (dim, keepdim, ask): (i64, bool, Ask),
    sink: &mut SinkState<'_>,
    (domain, accepted): (u16, &'static str),
) -> Result<OrderPlan> {
    let absent = ErrorKind::ArgumentRule { rule: "argument self is absent; a row needs a tensor" };
    let dtype = operand.dtype().ok_or(absent)?;
    let sizes = operand.sizes();
    // A tensor without dimensions is a row of one element.
    let wrapped = wrap_dim(dim, sizes.len(), "dim")?;
    let size = sizes.get(wrapped).copied().unwrap_or(1);
    let mut task = checked(ask, wrapped, size)?;
    if let Task::Top { k, .. } = &mut task
        && sizes.is_empty()
    {
        // There is no dimension that would be 0, so the element is the result even of none.
        *k = 1;
    }
    if domain.checked_shr(dtype as u32).is_none_or(|bits| bits & 1 == 0) {
        return Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got: dtype, accepted }.into());
    }
    // Elements that are narrower than an address are ordered beside indices of 32 bits.
    if size > i64::from(u32::MAX) && dtype.size() < 8 && !sink.is_meta() {
        return Err(ErrorKind::TooManyElements { sizes: vec![size], limit: u32::MAX as usize }.into());
    }
    let mut wanted = DimVec::from_slice(sizes);
    let mut hint = None;
    let mut keeps_dim = true;
    match task {
        Task::Sort { .. } => hint = Some(preserve_strides(sizes, operand.strides())),
        Task::Top { k, .. } => wanted.iter_mut().skip(wrapped).take(1).for_each(|size| *size = k as i64),
        _ if keepdim => wanted.iter_mut().skip(wrapped).take(1).for_each(|size| *size = 1),
        _ => {
            keeps_dim = false;
            if !sizes.is_empty() {
                wanted.remove(wrapped);
            }
        }
    }
    let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
    for (i, dtype) in [dtype, DType::I64].into_iter().enumerate() {
        sink.set_output_raw_strided(i, &wanted, hint.as_deref(), Options::new(dtype, device), None)?;
    }
    let selects = !matches!(task, Task::Sort { .. } | Task::Top { .. });
    let (serial, copies) = check_overlap(std::slice::from_ref(operand), sink, selects)?;
    let dim = (!sizes.is_empty()).then_some(wrapped);
    Ok(OrderPlan { dim, task, keeps_dim, serial, copies })
}

/// The task, if the row has enough elements for it.
fn checked(ask: Ask, dim: usize, size: i64) -> Result<Task> {
    let not_empty = || match size {
        0 => Err(ErrorKind::EmptyReduction { dim: dim as i64 }),
        _ => Ok(()),
    };
    Ok(match ask {
        Ask::Sort { descending } => Task::Sort { descending },
        Ask::Top { k, largest, sorted } => {
            if !(0..=size).contains(&k) {
                return Err(ErrorKind::OutOfRange { arg: "k", got: k, low: 0, high: size }.into());
            }
            Task::Top { k: k as usize, largest, sorted }
        }
        Ask::Kth { k } => {
            not_empty()?;
            if !(1..=size).contains(&k) {
                return Err(ErrorKind::OutOfRange { arg: "k", got: k, low: 1, high: size }.into());
            }
            Task::Kth { below: k.saturating_sub(1) as usize }
        }
        Ask::Median { skips_nan } => {
            not_empty()?;
            Task::Median { skips_nan }
        }
        Ask::Mode => {
            not_empty()?;
            Task::Mode
        }
    })
}

/// An error if an output reaches an element twice or shares memory with the other output or, where `apart`, with an
/// input. Else whether rows of the outputs may share memory with each other, and whether they may overwrite an input.
pub(crate) fn check_overlap(operands: &[Operand<'_>], sink: &SinkState<'_>, apart: bool) -> Result<(bool, bool)> {
    let (mut serial, mut copies) = (false, false);
    for i in 0..sink.noutputs() {
        let (Some(out), Some(written)) = (sink.existing(i), sink.written(i)) else { continue };
        let internal = overlap::internal(written.sizes(), written.strides());
        if internal == Internal::Yes {
            let (sizes, strides) = (written.sizes().to_vec(), written.strides().to_vec());
            return Err(ErrorKind::InternalOverlap { index: i, sizes, strides }.into());
        }
        serial |= internal != Internal::No;
        let place = Place::of(out, written);
        let shares = |shared| matches!(shared, Shared::Full | Shared::Partial);
        for j in 0..i {
            let (Some(other), Some(geometry)) = (sink.existing(j), sink.written(j)) else { continue };
            let shared = overlap::shared(&Place::of(other, geometry), &place);
            if shares(shared) {
                return Err(ErrorKind::Overlap { output: i, other: format!("output {j}") }.into());
            }
            serial |= shared != Shared::None;
        }
        for input in operands.iter().filter_map(Operand::tensor).filter(|t| t.storage_id() == out.storage_id()) {
            if apart && shares(overlap::shared(&place, &Place::of(input, input.geometry()))) {
                return Err(ErrorKind::Overlap { output: i, other: "the input".into() }.into());
            }
            copies = true;
        }
    }
    Ok((serial, copies))
}

//! Type promotion: the lattice of the twelve dtypes, what may be cast to what, and the three categories of operands.
//!
//! Source of the rules: PyTorch's "Tensor Attributes" note on type promotion; `testsuite` compares every pair with
//! PyTorch's own answers.

use super::{DType, Kind};

/// The dtype of floating results of integers and of Rust floats, PyTorch's default dtype.
pub const DEFAULT_FLOAT: DType = DType::F32;

impl DType {
    /// The smallest dtype that both convert to: bool < integers < floats < complex, the wider of one kind, int16 for
    /// uint8 with int8, float32 for float16 with bfloat16.
    pub const fn promote(self, other: DType) -> DType {
        if self as u8 == other as u8 {
            return self;
        }
        let (low, high) = if (self as u8) < (other as u8) { (self, other) } else { (other, self) };
        match (low, high) {
            (DType::U8, DType::I8) => DType::I16,
            (DType::F16, DType::BF16) => DType::F32,
            (DType::F64, DType::C64) => DType::C128,
            (_, high) => high,
        }
    }

    /// Whether a result of this dtype may be written to an output of dtype `to`: complex not to real, floating not to
    /// integral, anything but bool not to bool.
    pub const fn can_cast(self, to: DType) -> bool {
        match (self.kind(), to.kind()) {
            (Kind::Complex, Kind::Complex) => true,
            (Kind::Complex, _) => false,
            (Kind::Float, Kind::Int | Kind::Bool) => false,
            (Kind::Int, Kind::Bool) => false,
            _ => true,
        }
    }
}

/// What an operand counts as in type promotion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// A tensor with at least one dimension.
    Dimensioned,
    /// A tensor with none.
    ZeroDim,
    /// A Rust number that joined a tensor operation.
    Number,
}

/// The running result of promotion over the operands of one call (`result_type`).
#[derive(Clone, Copy, Default, Debug)]
pub struct ResultType {
    dimensioned: Option<DType>,
    zero_dim: Option<DType>,
    number: Option<DType>,
}

impl ResultType {
    /// Takes one more operand into account.
    pub fn push(&mut self, dtype: DType, category: Category) {
        let (slot, dtype) = match category {
            Category::Dimensioned => (&mut self.dimensioned, dtype),
            Category::ZeroDim => (&mut self.zero_dim, dtype),
            // A number brings its kind, not its width.
            Category::Number => (
                &mut self.number,
                match dtype.kind() {
                    Kind::Float => DEFAULT_FLOAT,
                    Kind::Complex => DEFAULT_FLOAT.to_complex(),
                    _ => dtype,
                },
            ),
        };
        *slot = Some(slot.map_or(dtype, |d| d.promote(dtype)));
    }

    /// Whether a float of 16 bits meets a complex number of a lower category. PyTorch has a dtype for that, complex32,
    /// with which it computes next to nothing; [`dtype`](ResultType::dtype) gives complex64.
    pub fn is_half_complex(self) -> bool {
        let half = |of: Option<DType>| matches!(of, Some(DType::F16 | DType::BF16));
        let complex = |of: Option<DType>| of.is_some_and(DType::is_complex);
        half(self.dimensioned) && complex(combine(self.zero_dim, self.number))
            || half(self.zero_dim) && complex(self.number)
    }

    /// The common dtype; `None` if nothing was pushed.
    pub fn dtype(self) -> Option<DType> {
        combine(self.dimensioned, combine(self.zero_dim, self.number))
    }
}

/// The higher category wins unless the lower one has a higher kind; a floating dtype that meets a lower complex one
/// keeps its own precision.
fn combine(higher: Option<DType>, lower: Option<DType>) -> Option<DType> {
    let (Some(h), Some(l)) = (higher, lower) else { return higher.or(lower) };
    Some(match (h.kind(), l.kind()) {
        (Kind::Float, Kind::Complex) => h.to_complex(),
        (high, low) if low > high => h.promote(l),
        _ => h,
    })
}

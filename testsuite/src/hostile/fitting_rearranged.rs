//! Arguments that suit rearrangements, operators over lists and questions, where the usual ones do not.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{DType, IValue};

/// A value of an argument.
#[derive(Clone, Copy)]
enum Suits {
    /// A tensor of 1, 2, 3, ... of these sizes.
    Of(DType, &'static [i64]),
    /// Two such tensors.
    Two(DType, &'static [i64]),
    Ints(&'static [i64]),
    Int(i64),
    Str(&'static str),
}
use DType::{Bool, F32};
use Suits::{Int, Ints, Of, Str, Two};

/// Operators, an argument, and a value. The first whose sort the argument takes is its.
const TABLE: &[(&[&str], &str, Suits)] = &[
    (&["_foreach_add", "_foreach_mul", "_foreach_div"], "other", Of(F32, &[])),
    (&["_is_all_true", "_is_any_true"], "self", Of(Bool, &[3, 2])),
    (&["item", "is_nonzero"], "self", Of(F32, &[1])),
    (&["cartesian_prod", "meshgrid"], "tensors", Two(F32, &[3])),
    (&["meshgrid"], "indexing", Str("ij")),
    (&["combinations"], "self", Of(F32, &[3])),
    (&["constant_pad_nd"], "pad", Ints(&[1, -1])),
    (&["pad"], "pad", Ints(&[1, 0])),
    (&["pad"], "mode", Str("reflect")),
    (&["pad_sequence"], "padding_side", Str("left")),
    (&["_pad_circular"], "self", Of(F32, &[1, 3, 2])),
    (&["_pad_circular"], "pad", Ints(&[1, 0])),
    (PADS[0], "self", Of(F32, &[3, 2])),
    (PADS[0], "padding", Ints(&[1, 0])),
    (PADS[0], "grad_output", Of(F32, &[3, 3])),
    (PADS[1], "self", Of(F32, &[1, 3, 2])),
    (PADS[1], "padding", Ints(&[1, 0, 0, 1])),
    (PADS[1], "grad_output", Of(F32, &[1, 4, 3])),
    (PADS[2], "self", Of(F32, &[1, 2, 3, 2])),
    (PADS[2], "padding", Ints(&[1, 0, 0, 1, 0, 0])),
    (PADS[2], "grad_output", Of(F32, &[1, 2, 4, 3])),
    (&["repeat"], "repeats", Ints(&[2, 1])),
    (&["roll"], "shifts", Ints(&[1, 2])),
    (VIEWS, "input_sizes", Ints(&[3, 2])),
    (&["select_backward"], "grad_output", Of(F32, &[3])),
    (&["slice_backward"], "end", Int(2)),
    (&["slice_backward"], "grad_output", Of(F32, &[3, 1])),
    (&["diagonal_backward"], "grad_output", Of(F32, &[2])),
];

/// Operators that continue one, two and three dimensions beyond their edges.
const PADS: [&[&str]; 3] = [
    &["reflection_pad1d", "replication_pad1d", "reflection_pad1d_backward", "replication_pad1d_backward"],
    &["reflection_pad2d", "replication_pad2d", "reflection_pad2d_backward", "replication_pad2d_backward"],
    &["reflection_pad3d", "replication_pad3d", "reflection_pad3d_backward", "replication_pad3d_backward"],
];
const VIEWS: &[&str] = &["select_backward", "slice_backward", "diagonal_backward"];

impl Suits {
    fn fits(self, argument: &Argument) -> bool {
        let (base, is_list) = (argument.ty().base(), argument.ty().is_list());
        match self {
            Of(..) => base == Base::Tensor && !is_list,
            Two(..) => base == Base::Tensor && is_list,
            Ints(_) => matches!(base, Base::Int | Base::SymInt) && is_list,
            Int(_) => matches!(base, Base::Int | Base::SymInt | Base::Scalar) && !is_list,
            Str(_) => base == Base::Str,
        }
    }
}

/// The value, if the table says.
pub(super) fn fitting(schema: &Schema, argument: &Argument) -> Option<IValue> {
    let name = schema.name().strip_suffix('_').unwrap_or(schema.name());
    let is_it = |(names, arg, value): &&(&[&str], &str, Suits)| {
        *arg == argument.name() && names.contains(&name) && value.fits(argument)
    };
    let (.., value) = TABLE.iter().find(is_it)?;
    Some(match *value {
        Of(dtype, sizes) => ramp(dtype, sizes).into(),
        Two(dtype, sizes) => IValue::Tensors(vec![ramp(dtype, sizes), ramp(dtype, sizes)]),
        Ints(list) => IValue::Ints(list.to_vec()),
        Int(number) => IValue::Int(number),
        Str(text) => IValue::Str(text.into()),
    })
}

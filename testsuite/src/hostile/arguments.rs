//! The arguments of a call: those with which the overload returns, of other dtypes, sizes and layouts, with a few of
//! them replaced by hostile ones. Owns the mixture: about half of the calls have to get behind the checks.

use super::extremes::{every_kind, extremes};
use super::fitting::fitting_stack;
use super::options::Class;
use super::tensors::{HUGE, Maker};
use monomorph::crates::core::Layout as StridedLayout;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::crates::core::{DeviceKind, Scalar};
use monomorph::{AnyTensor, Complex64, DType, DeviceId, Generator, IValue, MemoryFormat, Stack};

const NUMBERS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e300, 1e-320, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

const INTS: [i64; 14] =
    [0, 1, -1, 2, -2, 3, 64, 1 << 31, -1 << 31, 1 << 62, -1 << 62, i64::MAX, i64::MIN, i64::MIN + 1];

/// The arguments of one call.
pub(super) fn arguments(schema: &Schema, maker: &mut Maker<'_>) -> Stack {
    let mut stack = fitting_stack(schema);
    stack.iter().flat_map(IValue::tensors).for_each(|tensor| maker.remember(tensor));
    vary(&mut stack, maker);
    let args: Vec<&Argument> = schema.args().collect();
    let changes = match maker.random.below(12) {
        0 => args.len(),
        n => [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3][n - 1],
    };
    for _ in 0..changes {
        if args.is_empty() {
            break;
        }
        let at = maker.random.below(args.len());
        stack[at] = hostile(args[at], &stack, maker);
    }
    for (arg, value) in args.iter().zip(&mut stack) {
        if matches!(value, IValue::None) && arg.ty().is_optional() && maker.random.one_in(5) {
            *value = benign(arg, maker);
        }
    }
    for value in &mut stack {
        match value {
            IValue::Int(number) => *number = maker.number(*number),
            IValue::Ints(list) => list.iter_mut().for_each(|number| *number = maker.number(*number)),
            _ => {}
        }
    }
    if maker.hostile(Class::Kinds, 40) {
        stack.truncate(maker.random.below(stack.len() + 1));
    }
    if maker.hostile(Class::Kinds, 80) {
        let more = maker.random.pick(&every_kind());
        stack.push(more);
    }
    stack
}

/// Other dtypes, sizes and layouts for tensors that fit: the same ones for those that had the same.
fn vary(stack: &mut Stack, maker: &mut Maker<'_>) {
    let dtype = if maker.random.one_in(2) { Some(maker.dtype()) } else { None };
    let sizes = if maker.random.one_in(3) { Some(maker.sizes()) } else { None };
    let usual = stack.iter().flat_map(IValue::tensors).map(|t| t.sizes().to_vec()).next().unwrap_or_default();
    let device = maker.random.one_in(12);
    let mut varied = |tensor: &AnyTensor| {
        let to_dtype = dtype.filter(|_| tensor.dtype() == DType::F32).unwrap_or(tensor.dtype());
        let to_sizes = sizes.as_deref().filter(|_| *tensor.sizes() == usual).unwrap_or(tensor.sizes()).to_vec();
        let same = to_dtype == tensor.dtype() && *to_sizes == *tensor.sizes();
        let tensor = if same && maker.random.one_in(2) { tensor.clone() } else { maker.tensor(to_dtype, &to_sizes) };
        if device { tensor.to_meta() } else { tensor }
    };
    for value in stack.iter_mut() {
        match value {
            IValue::Tensor(tensor) => *value = varied(tensor).into(),
            IValue::Tensors(list) => list.iter_mut().for_each(|tensor| *tensor = varied(tensor)),
            IValue::OptionalTensors(list) => list.iter_mut().flatten().for_each(|tensor| *tensor = varied(tensor)),
            _ => {}
        }
    }
}

/// A value for an argument that is left out.
fn benign(arg: &Argument, maker: &mut Maker<'_>) -> IValue {
    match (arg.ty().base(), arg.ty().is_list()) {
        (Base::Int | Base::SymInt, false) => IValue::Int(maker.random.below(4) as i64 - 1),
        (Base::Int | Base::SymInt, true) => {
            IValue::Ints((0..maker.random.below(3)).map(|i| i as i64 - i64::from(maker.random.one_in(4))).collect())
        }
        (Base::Float, false) => IValue::Float(maker.random.pick(&[0.5, 1.0, 2.0])),
        (Base::Bool, false) => IValue::Bool(maker.random.one_in(2)),
        (Base::Scalar, false) => IValue::Int(maker.random.below(3) as i64),
        (Base::Device, false) => IValue::Device(maker.random.pick(&[DeviceId::CPU, DeviceId::CPU, DeviceId::META])),
        (Base::Layout, false) => IValue::Layout(StridedLayout::Strided),
        _ => value(arg, maker),
    }
}

/// A hostile value, mostly of the argument's own type.
fn hostile(arg: &Argument, stack: &Stack, maker: &mut Maker<'_>) -> IValue {
    if maker.hostile(Class::Kinds, 12) {
        return maker.random.pick(&every_kind());
    }
    if arg.ty().is_optional() && maker.random.one_in(5) {
        return IValue::None;
    }
    if arg.ty().is_tensor() && maker.hostile(Class::Aliases, 4) {
        // The very same value twice, or the same tensor behind two handles.
        let other = stack[maker.random.below(stack.len())].clone();
        if other.tensors().next().is_some() {
            return other;
        }
    }
    if maker.hostile(Class::Numbers, 4)
        && let values @ [_, ..] = &extremes(arg)[..]
    {
        return maker.random.pick(values);
    }
    value(arg, maker)
}

/// Any value of the argument's type.
fn value(arg: &Argument, maker: &mut Maker<'_>) -> IValue {
    match (arg.ty().base(), arg.ty().is_list()) {
        (Base::Tensor, false) => match maker.random.below(12) {
            0 => number(maker).into(),
            1 if maker.hostile(Class::Kinds, 2) => IValue::None,
            _ => maker.any().into(),
        },
        (Base::Tensor, true) => {
            let count = if maker.hostile(Class::Long, 60) { 1000 } else { maker.random.below(5) };
            let first = maker.any();
            let mut list = Vec::with_capacity(count);
            for i in 0..count {
                list.push(match maker.random.below(6) {
                    _ if i == 0 || count > 5 => first.clone(),
                    0 => maker.any(),
                    1 => maker.tensor(first.dtype(), &[0]),
                    _ => maker.tensor(first.dtype(), first.sizes()),
                });
            }
            let optional = arg.ty().wraps().len() > 1 && maker.random.one_in(2);
            match optional {
                true => {
                    IValue::OptionalTensors(list.into_iter().map(|t| (!maker.random.one_in(4)).then_some(t)).collect())
                }
                false => IValue::Tensors(list),
            }
        }
        (Base::Scalar, false) => number(maker).into(),
        (Base::Scalar, true) => IValue::Scalars((0..maker.random.below(4)).map(|_| number(maker)).collect()),
        (Base::Int | Base::SymInt, false) => IValue::Int(int(maker)),
        (Base::Int | Base::SymInt, true) => ints(maker),
        (Base::Float, false) => IValue::Float(maker.random.pick(&NUMBERS)),
        (Base::Float, true) => {
            IValue::Floats((0..maker.random.below(4)).map(|_| maker.random.pick(&NUMBERS)).collect())
        }
        (Base::Bool, false) => IValue::Bool(maker.random.one_in(2)),
        (Base::Bool, true) => IValue::Bools((0..maker.random.below(5)).map(|_| maker.random.one_in(2)).collect()),
        (Base::Str, false) => IValue::Str(
            maker.random.pick(&["trunc", "floor", "round", "none", "tanh", "ij", "xy", "", "\u{0}é𝄞"]).into(),
        ),
        (Base::ScalarType, false) => IValue::DType(maker.dtype()),
        (Base::Device, false) => {
            let other = |kind, index| DeviceId { kind: DeviceKind(kind), index };
            let all = [
                DeviceId::CPU,
                DeviceId::CPU,
                DeviceId::META,
                other(0, 7),
                other(1, 255),
                other(2, 0),
                other(16, 0),
                other(255, 255),
            ];
            IValue::Device(maker.random.pick(&all))
        }
        (Base::Layout, false) => IValue::Layout(StridedLayout::Strided),
        (Base::MemoryFormat, false) => IValue::MemoryFormat(maker.random.pick(&[
            MemoryFormat::Contiguous,
            MemoryFormat::Preserve,
            MemoryFormat::ChannelsLast,
            MemoryFormat::ChannelsLast3d,
        ])),
        (Base::Storage, false) => IValue::Storage(maker.any().storage()),
        (Base::Generator, false) => IValue::Generator(Generator::new(1)),
        _ => maker.random.pick(&every_kind()),
    }
}

fn int(maker: &mut Maker<'_>) -> i64 {
    if maker.hostile(Class::Numbers, 4) { maker.random.pick(&INTS) } else { maker.random.below(9) as i64 - 4 }
}

fn ints(maker: &mut Maker<'_>) -> IValue {
    let mut len = maker.random.below(6);
    if maker.hostile(Class::Long, 20) {
        len = maker.random.pick(&[7, 63, 64, 65, 128, 129, 1000]);
    }
    if maker.hostile(Class::Long, 2000) {
        len = 100_000;
    }
    let mut list: Vec<i64> = (0..len).map(|_| if len > 6 { 1 } else { maker.random.below(6) as i64 - 1 }).collect();
    if len > 0 && maker.hostile(Class::Numbers, 2) {
        for _ in 0..=maker.random.below(2) {
            let at = maker.random.below(len);
            list[at] = if maker.random.one_in(2) { maker.random.pick(&HUGE) } else { maker.random.pick(&INTS) };
        }
    }
    IValue::Ints(list)
}

fn number(maker: &mut Maker<'_>) -> Scalar {
    match maker.random.below(5) {
        0 => Scalar::Bool(maker.random.one_in(2)),
        1 | 2 => Scalar::Int(int(maker)),
        3 => Scalar::Float(maker.random.pick(&NUMBERS)),
        _ => Scalar::Complex(Complex64::new(maker.random.pick(&NUMBERS), maker.random.pick(&NUMBERS))),
    }
}

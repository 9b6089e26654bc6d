//! A call that fails leaves its arguments as they were: each output, not only the first; and a storage that others see
//! never shrinks.

use super::{Case, call, case, empty, expanded, ramp, refused, unexpected};
use monomorph::{AnyTensor, Cpu, DType, Geometry, IValue, Stack, Tensor};

pub(super) const CASES: &[Case] = &[
    case("outputs_log_sigmoid", "one output resized and written, the other refused", log_sigmoid),
    case("outputs_frexp", "the mantissa written, the exponent refused", frexp),
    case("outputs_aminmax", "two outputs, the second refused", aminmax),
    case("outputs_of_a_list", "the first output of a list written, the second refused", list),
    case("outputs_frozen", "the sizes of an output that is frozen and shared", frozen),
    case("outputs_too_large", "an output that cannot grow", too_large),
    case("outputs_divided_by_zero", "an output that grew before the kernel failed", divided_by_zero),
];

/// Sizes, strides, offset and version in words, and the bytes: all that a failed call has to leave.
fn state(t: &AnyTensor) -> (String, Vec<u8>) {
    let text = format!("{} {:?} {:?} {} version {}", t.dtype(), t.sizes(), t.strides(), t.offset(), t.version());
    (text, t.storage_to_vec().unwrap_or_default())
}

/// Calls, which must fail, and looks at the arguments and at the caller's own handles.
fn unchanged(name: &str, stack: Stack) -> Result<(), String> {
    let before: Vec<_> = stack.iter().flat_map(IValue::tensors).map(state).collect();
    let own = stack.clone();
    let mut stack = stack;
    refused(monomorph::call(name, &mut stack))?;
    for (whose, values) in [("the stack", &stack), ("the caller", &own)] {
        let after: Vec<_> = values.iter().flat_map(IValue::tensors).map(state).collect();
        for (i, (before, after)) in before.iter().zip(&after).enumerate() {
            // A storage may keep what it has grown by: it never shrinks while others may look at it.
            if before.0 != after.0 || !after.1.starts_with(&before.1) {
                return Err(format!("{name}: tensor {i} of {whose} was\n{before:?}\nand is\n{after:?}"));
            }
        }
    }
    Ok(())
}

/// One place, seen as six: nothing may be written to it.
fn overlapping(dtype: DType) -> AnyTensor {
    expanded(dtype, &[3, 2])
}

fn log_sigmoid() -> Result<(), String> {
    let input = ramp(&[3, 2]);
    let frozen = ramp(&[5]);
    frozen.freeze().map_err(unexpected)?;
    // The buffer is of another dtype, or cannot be written, or cannot grow.
    let far = empty(&[0], &[1], 1 << 60);
    for (output, buffer) in [
        (ramp(&[5]), expanded(DType::I64, &[1])),
        (ramp(&[3, 2]), expanded(DType::I64, &[1])),
        (ramp(&[5]), frozen),
        (ramp(&[5]), far),
        (overlapping(DType::F32), ramp(&[7])),
    ] {
        unchanged("log_sigmoid_forward.output", vec![input.clone().into(), output.into(), buffer.into()])?;
    }
    Ok(())
}

fn frexp() -> Result<(), String> {
    let input = ramp(&[3, 2]);
    unchanged("frexp.Tensor_out", vec![input.clone().into(), ramp(&[3, 2]).into(), overlapping(DType::I32).into()])?;
    unchanged("frexp.Tensor_out", vec![input.into(), ramp(&[5]).into(), ramp(&[6]).into()])
}

fn aminmax() -> Result<(), String> {
    let arguments = |min: AnyTensor, max: AnyTensor| {
        vec![ramp(&[3, 2]).into(), IValue::Int(0), IValue::Bool(false), min.into(), max.into()]
    };
    unchanged("aminmax.out", arguments(ramp(&[5]), expanded(DType::I64, &[2])))?;
    unchanged("aminmax.out", arguments(ramp(&[5]), expanded(DType::F32, &[2])))
}

fn list() -> Result<(), String> {
    let frozen = ramp(&[3]);
    frozen.freeze().map_err(unexpected)?;
    for second in [expanded(DType::F32, &[3]), expanded(DType::I64, &[7]), frozen] {
        let outputs = IValue::Tensors(vec![ramp(&[7]), second]);
        unchanged("unbind_copy.int_out", vec![ramp(&[2, 3]).into(), IValue::Int(0), outputs])?;
    }
    let outputs = IValue::Tensors(vec![ramp(&[7]), expanded(DType::F32, &[3, 1])]);
    unchanged("split_copy.Tensor_out", vec![ramp(&[3, 2]).into(), IValue::Int(1), IValue::Int(1), outputs])
}

fn frozen() -> Result<(), String> {
    let out = || -> Result<IValue, String> {
        let out = ramp(&[5]);
        out.freeze().map_err(unexpected)?;
        Ok(out.into())
    };
    unchanged("sum.out", vec![ramp(&[3]).into(), IValue::None, out()?])?;
    unchanged("neg.out", vec![ramp(&[2, 2]).into(), out()?])?;
    unchanged("ones.out", vec![IValue::Ints(vec![2]), out()?])?;
    unchanged("eye.out", vec![IValue::Int(2), out()?])?;
    unchanged("hstack.out", vec![IValue::Tensors(vec![ramp(&[2]), ramp(&[1])]), out()?])?;
    unchanged("div.Scalar_mode_out", vec![ramp(&[2, 1]).into(), IValue::Int(2), IValue::Str("floor".into()), out()?])
}

fn too_large() -> Result<(), String> {
    let huge = IValue::Ints(vec![1 << 50]);
    unchanged("ones.out", vec![huge.clone(), ramp(&[3]).into()])?;
    unchanged("resize_", vec![ramp(&[3]).into(), huge])?;
    unchanged("neg.out", vec![expanded(DType::F32, &[1 << 50]).into(), ramp(&[3]).into()])
}

fn divided_by_zero() -> Result<(), String> {
    let ints =
        |data: &[i64]| Tensor::<Cpu>::from_slice(data, [data.len() as i64]).map(Tensor::into_any).map_err(unexpected);
    let long = ints(&[1; 1000])?;
    let out = ints(&[7])?;
    let handle = out.clone();
    refused(call("floor_divide.out", [long.into(), ints(&[0])?.into(), out.into()]))?;
    // What the quotients were is open; a view that was made meanwhile must still lie in the storage.
    if handle.sizes() != [1] || handle.storage_bytes() < 8 {
        return Err(format!("{:?} over {} bytes", handle.geometry(), handle.storage_bytes()));
    }
    let grown = handle.storage_bytes() as i64 / 8;
    let view =
        handle.with_geometry(Geometry::new(DType::I64, &[grown], &[1], 0).map_err(unexpected)?).map_err(unexpected)?;
    refused(call("floor_divide.out", [ints(&[1; 1000])?.into(), ints(&[0])?.into(), handle.into()]))?;
    super::in_bounds(&view)
}

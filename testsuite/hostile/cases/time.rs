//! Time that does not depend on what a caller has in memory: walks over expanded elements, very many dimensions, lists.

use super::{Case, call, case, empty, expanded, meta, ramp, refused, total, unexpected};
use monomorph::{DType, Geometry, IValue, Stack};

pub(super) const CASES: &[Case] = &[
    case("time_sum_expanded", "a sum over 2^62 elements of one place", || reduced("sum")),
    case("time_mean_expanded", "a mean over 2^62 elements", || reduced("mean")),
    case("time_argmax_expanded", "argmax over 2^62 elements", || reduced("argmax")),
    case("time_any_expanded", "any over 2^62 elements", || reduced("any")),
    case("time_amax_expanded", "amax over 2^62 elements", || {
        refused(call("amax", [expanded(DType::F32, &[1 << 31, 1 << 31]).into()]))
    }),
    case("time_aminmax_expanded", "aminmax over 2^62 elements", || reduced("aminmax")),
    case("time_fill_expanded", "a fill of 2^60 elements of one place", fill),
    case("time_copy_expanded", "a copy onto 2^60 elements of one place", copy),
    case("time_read_expanded", "elements read one by one", read),
    case("time_tril_indices", "2^62 rows and two results", tril_indices),
    case("time_triu_indices", "2^62 rows and few results", triu_indices),
    case("time_empty_walks", "walks over one size of a tensor without elements", empty_walks),
    case("time_many_dims", "100,000 dimensions in every way to make them", many_dims),
    case("time_many_inputs", "20,000 tensors in a list", many_inputs),
];

fn reduced(name: &str) -> Result<(), String> {
    refused(call(name, [expanded(DType::F32, &[1 << 60]).into()]))?;
    refused(call(name, [expanded(DType::F32, &[1 << 31, 1 << 31]).into()]))?;
    // Shapes need no walk.
    call(name, [meta(DType::F32, &[1 << 60]).into()]).map(|_| ()).map_err(unexpected)
}

fn fill() -> Result<(), String> {
    // Each place is written once.
    call("zero_", [expanded(DType::C64, &[1 << 60]).into()]).map_err(unexpected)?;
    let wide = expanded(DType::F32, &[1 << 31, 1 << 29]);
    let mut stack: Stack = vec![wide.clone().into(), IValue::Int(2)];
    monomorph::call("fill_.Scalar", &mut stack).map_err(unexpected)?;
    let one = wide.with_geometry(Geometry::new(DType::F32, &[1], &[1], 0).map_err(unexpected)?).map_err(unexpected)?;
    match one.to_vec::<f32>() {
        Ok(values) if values == [2.0] => Ok(()),
        other => Err(format!("the place holds {other:?}")),
    }
}

fn copy() -> Result<(), String> {
    let to = expanded(DType::F32, &[1 << 60]);
    refused(call("copy_", [to.into(), ramp(&[1]).into()]))?;
    let mut out: Stack = vec![expanded(DType::F32, &[1 << 60]).into(), ramp(&[1]).into()];
    refused(monomorph::call("neg.out", &mut out))
}

fn read() -> Result<(), String> {
    let long = expanded(DType::F32, &[1 << 60]);
    refused(long.to_vec::<f32>())?;
    refused(long.item())
}

fn tril_indices() -> Result<(), String> {
    let rows = 1i64 << 62;
    let results =
        call("tril_indices", [IValue::Int(rows), IValue::Int(1), IValue::Int(2 - rows)]).map_err(unexpected)?;
    let found = results[0].as_tensor().ok_or("no tensor")?.to_vec::<i64>().map_err(unexpected)?;
    let want = [rows - 2, rows - 1, 0, 0];
    if found == want { Ok(()) } else { Err(format!("{found:?}; PyTorch's formula gives {want:?}")) }
}

fn triu_indices() -> Result<(), String> {
    let results = call("triu_indices", [IValue::Int(1 << 62), IValue::Int(2), IValue::Int(0)]).map_err(unexpected)?;
    let found = results[0].as_tensor().ok_or("no tensor")?.to_vec::<i64>().map_err(unexpected)?;
    if found == [0, 0, 1, 0, 1, 1] { Ok(()) } else { Err(format!("{found:?}")) }
}

fn empty_walks() -> Result<(), String> {
    let long = empty(&[1 << 62, 0], &[1, 1], 0);
    for name in ["neg", "sum", "clone", "any", "logical_not", "where"] {
        total(call(name, [long.clone().into()]))?;
    }
    for dims in [vec![1], vec![0, 1]] {
        total(call("sum.dim_IntList", [empty(&[0, 1 << 62], &[1, 1], 0).into(), IValue::Ints(dims)]))?;
    }
    total(call("eye.m", [IValue::Int(0), IValue::Int(1 << 62)]))?;
    total(call("tril_indices", [IValue::Int(1 << 62), IValue::Int(0)]))?;
    total(call("unfold", [long.into(), IValue::Int(0), IValue::Int(1), IValue::Int(1)]))
}

fn many_dims() -> Result<(), String> {
    let ones = vec![1i64; 100_000];
    total(call("view", [ramp(&[1]).into(), IValue::Ints(ones.clone())]))?;
    total(call("zeros", [IValue::Ints(ones.clone())]))?;
    total(call("expand", [ramp(&[1]).into(), IValue::Ints(ones.clone())]))?;
    total(call("as_strided", [ramp(&[1]).into(), IValue::Ints(ones.clone()), IValue::Ints(ones.clone())]))?;
    total(call("sum.dim_IntList", [ramp(&[1]).into(), IValue::Ints(ones.clone())]))?;
    total(call("permute", [ramp(&[1]).into(), IValue::Ints((0..100_000).rev().collect())]))?;
    let strides: Vec<i64> = (0..100_000).rev().collect();
    if let Ok(geometry) = Geometry::new(DType::F32, &ones, &strides, 0) {
        let one = monomorph::Tensor::<monomorph::Cpu>::from_storage(&[0; 4], geometry).map_err(unexpected)?.into_any();
        for name in ["neg", "sum", "clone", "squeeze", "contiguous"] {
            total(call(name, [one.clone().into()]))?;
        }
        total(call("add.Tensor", [one.clone().into(), one.into()]))?;
    }
    // One at a time, as far as it goes.
    let mut grown = ramp(&[1]);
    for _ in 0..300 {
        match call("unsqueeze", [grown.clone().into(), IValue::Int(0)]) {
            Ok(mut results) => grown = results.pop().and_then(IValue::into_tensor).ok_or("no tensor")?,
            Err(error) => return refused::<()>(Err(error)),
        }
    }
    total(call("neg", [grown.into()]))
}

fn many_inputs() -> Result<(), String> {
    let list = IValue::Tensors(vec![ramp(&[1]); 20_000]);
    total(call("cat", [list.clone()]))?;
    total(call("stack", [list.clone()]))?;
    total(call("hstack", [list.clone()]))?;
    total(call("column_stack", [list]))
}

//! Memory that depends on what the caller passes: the process must not end for want of it.

use super::{Case, call, case, empty, expanded, meta, refused, total, unexpected};
use monomorph::{DType, IValue, MemoryFormat};

pub(super) const CASES: &[Case] = &[
    case("alloc_upsample_empty_batch", "one entry per output column, of an empty batch", upsample),
    case("alloc_unbind_expanded", "a list of 2^40 results: unbind", || parts("unbind.int", None)),
    case("alloc_split_expanded", "a list of 2^40 results: split", || parts("split.Tensor", Some(1))),
    case("alloc_split_copy_expanded", "a list of 2^40 results, each copied", || parts("split_copy.Tensor", Some(1))),
    case("alloc_chunk_expanded", "a list of 2^40 results: chunk", || parts("chunk", Some(1 << 40))),
    case("alloc_tensor_split_expanded", "a list of 2^40 results: tensor_split", || {
        parts("tensor_split.sections", Some(1 << 40))
    }),
    case("alloc_unbind_meta", "a list of 2^40 meta results", || {
        refused(call("unbind.int", [meta(DType::F32, &[1 << 40]).into()]))
    }),
    case("alloc_unbind_no_elements", "a list of 2^40 results without elements", unbind_no_elements),
    case("alloc_where_mask", "the indices of 2^27 trues, 2 GiB of them", mask),
    case("alloc_factories", "new tensors of 2^50 elements", factories),
    case("alloc_cat", "many expanded tensors joined", cat),
    case("alloc_shape_list", "a shape of 10^6 dimensions", shape_list),
    case("alloc_clone_expanded", "a copy of 2^50 elements", clone),
];

fn upsample() -> Result<(), String> {
    let batch = empty(&[0, 1, 1], &[1, 1, 1], 0);
    total(call("upsample_nearest1d", [batch.clone().into(), IValue::Ints(vec![1 << 44]), IValue::None]))?;
    let channels = empty(&[1, 0, 1], &[1, 1, 1], 0);
    total(call("upsample_nearest1d", [channels.into(), IValue::Ints(vec![1 << 62]), IValue::None]))?;
    total(call("upsample_nearest1d", [batch.into(), IValue::Ints(vec![i64::MAX]), IValue::Float(1e300)]))
}

fn parts(name: &str, number: Option<i64>) -> Result<(), String> {
    let whole = expanded(DType::F32, &[1 << 40]);
    refused(match number {
        None => call(name, [whole.into()]),
        Some(number) => call(name, [whole.into(), IValue::Int(number)]),
    })
}

fn unbind_no_elements() -> Result<(), String> {
    refused(call("unbind.int", [empty(&[1 << 40, 0], &[1, 1], 0).into()]))
}

fn mask() -> Result<(), String> {
    refused(call("where", [expanded(DType::Bool, &[1 << 41]).into()]))?;
    // The mask itself can be had; where memory is not limited, its indices can, too. Without optimisation reading it
    // takes minutes.
    let long = if cfg!(debug_assertions) { 1 << 16 } else { 1 << 26 };
    total(call("where", [expanded(DType::Bool, &[long, 2]).into()]))
}

fn factories() -> Result<(), String> {
    let long = 1i64 << 50;
    refused(call("zeros", [IValue::Ints(vec![long])]))?;
    refused(call("ones", [IValue::Ints(vec![1 << 31, 1 << 31])]))?;
    refused(call("full", [IValue::Ints(vec![long]), IValue::Int(1)]))?;
    refused(call("arange", [IValue::Int(long)]))?;
    refused(call("arange", [IValue::Float(1e300)]))?;
    refused(call("linspace", [IValue::Int(0), IValue::Int(1), IValue::Int(i64::MAX)]))?;
    refused(call("eye", [IValue::Int(1 << 31)]))?;
    refused(call("hann_window", [IValue::Int(i64::MAX)]))?;
    total(call("eye.m", [IValue::Int(1 << 62), IValue::Int(0)]))?;
    total(call("zeros", [IValue::Ints(vec![i64::MAX, 0, i64::MAX])]))
}

fn cat() -> Result<(), String> {
    let part = expanded(DType::F32, &[1 << 40]);
    refused(call("cat", [IValue::Tensors(vec![part.clone(); 1000])]))?;
    let max = expanded(DType::U8, &[i64::MAX]);
    refused(call("cat", [IValue::Tensors(vec![max.clone(), max])]))?;
    refused(call("stack", [IValue::Tensors(vec![part; 100])]))
}

fn shape_list() -> Result<(), String> {
    let long = vec![1i64; 1_000_000];
    total(call("zeros", [IValue::Ints(long.clone())]))?;
    let mut one = expanded(DType::F32, &[1]).into();
    for name in ["view", "reshape", "expand", "broadcast_to"] {
        total(call(name, [one, IValue::Ints(long.clone())]))?;
        one = expanded(DType::F32, &[1]).into();
    }
    Ok(())
}

fn clone() -> Result<(), String> {
    let long = expanded(DType::F32, &[1 << 50]);
    refused(call("clone", [long.clone().into(), IValue::MemoryFormat(MemoryFormat::Contiguous)]))?;
    refused(call("contiguous", [long.clone().into()]))?;
    refused(call("add.Tensor", [long.clone().into(), long.clone().into()]))?;
    let cpu = long.downcast::<monomorph::Cpu>().ok_or("a CPU tensor")?;
    refused(cpu.to_vec::<f32>())?;
    let small = monomorph::Tensor::<monomorph::Cpu>::from_slice(&[1.0f32], [1]).map_err(unexpected)?;
    if small.to_vec::<f32>().map_err(unexpected)? == [1.0] { Ok(()) } else { Err("a tensor of one lost it".to_owned()) }
}

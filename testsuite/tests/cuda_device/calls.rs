//! Calls of the library on the device: copies from device to device, fused operators, printing; and streams and
//! compilers that are none for the call.

use crate::{Outcome, scenario};
use monomorph::crates::ops::arithmetic::{AddFn, MulFn, NegFn};
use monomorph::pointwise::Then;
use monomorph::{Cpu, DType, Result, Tensor, crates::ops::Op, ops::add};
use monomorph_cuda::{Cuda, Stream, release};
use monomorph_testsuite::cuda::fake::StandIn;
use monomorph_testsuite::layout::{Layout, tensor};

/// −(a · b + alpha · c).
type MulAddNeg = Then<Then<Op<MulFn>, Op<AddFn>>, Op<NegFn>>;

monomorph::operators! {
    family: Mine;

    func: stand_in::mul_add_neg(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    out: stand_in::mul_add_neg.out, variants: function, method, operator: MulAddNeg;
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn count(stand_in: &StandIn, what: &str) -> usize {
    stand_in.tell(what).parse().unwrap_or(0)
}

pub(crate) fn devices_copy(stand_in: &StandIn) -> Outcome {
    scenario::across().map_err(words)?;
    match count(stand_in, "peers") {
        3 => Ok(()),
        n => Err(format!("{n} of 3 copies went from device to device")),
    }
}

pub(crate) fn streams_have_a_device(_: &StandIn) -> Outcome {
    let stream = Stream::new(1).map_err(words)?;
    let refused = stream.enter_on(0).err().ok_or("a stream of the other device was taken")?.to_string();
    let current = Stream::current(0).map_err(words)?;
    let entered = stream.enter_on(1).map_err(words)?;
    let untouched = Stream::current(0).map_err(words)? == current && Stream::current(1).map_err(words)? == stream;
    drop(entered);
    match untouched && refused.starts_with("cuda:0: the stream is of cuda:1") {
        true => Ok(()),
        false => Err(refused),
    }
}

/// The same tensor on the device.
fn there(here: &Tensor<Cpu>) -> Result<Tensor<Cuda>> {
    Tensor::from_storage(&here.storage_to_vec()?, here.geometry().clone())
}

/// What the fused operator gives on both devices, and the launches that the device made.
fn both(stand_in: &StandIn, dtypes: [DType; 3], sizes: [&[i64]; 3], layout: Layout) -> Result<(bool, usize)> {
    let values: Vec<_> = (1..60).map(|i| monomorph::Scalar::Int(i * 7 % 23 - 9)).collect();
    let operand = |k: usize| tensor(layout.geometry(dtypes[k], sizes[k]), &values);
    let here = [operand(0), operand(1), operand(2)];
    let on_device = [there(&here[0])?, there(&here[1])?, there(&here[2])?];
    let [a, b, c] = &on_device;
    let before = count(stand_in, "launches");
    let got = mul_add_neg(a, b, c, 3)?;
    let launches = count(stand_in, "launches") - before;
    let [a, b, c] = &here;
    let want = mul_add_neg(a, b, c, 3)?;
    let same = (got.sizes(), got.strides(), got.dtype()) == (want.sizes(), want.strides(), want.dtype());
    Ok((same && got.storage_to_vec()? == want.storage_to_vec()?, launches))
}

pub(crate) fn fused(stand_in: &StandIn) -> Outcome {
    let (image, own) = ([&[2, 3, 4, 5][..]; 3], [DType::F32; 3]);
    for dtype in [DType::F32, DType::BF16, DType::I32] {
        for layout in Layout::ALL {
            match both(stand_in, [dtype; 3], image, layout).map_err(words)? {
                (true, 1) => {}
                other => return Err(format!("{dtype} {layout:?}: {other:?}")),
            }
        }
    }
    let broadcast = both(stand_in, own, [&[4, 5], &[5], &[4, 1]], Layout::Contiguous).map_err(words)?;
    let empty = both(stand_in, own, [&[3, 0, 5], &[5], &[3, 1, 1]], Layout::Contiguous).map_err(words)?;
    // An operator after the other, since they compute in different dtypes.
    let (same, launches) =
        both(stand_in, [DType::I32, DType::I32, DType::F32], image, Layout::ChannelsLast).map_err(words)?;
    match (broadcast, empty, same && launches > 1) {
        ((true, 1), (true, 0), true) => Ok(()),
        other => Err(format!("broadcast, without elements, in turn: {other:?}, {launches} launches")),
    }
}

pub(crate) fn printed(_: &StandIn) -> Outcome {
    let print = || -> Result<[String; 2]> {
        let x = Tensor::<Cuda>::from_slice_on(1, &[1.5f32, -2.0], [2])?;
        let many = Tensor::<Cuda>::zeroed(DType::I64, &[2000], &[1], 0)?;
        Ok([x.to_string(), many.to_string()])
    };
    let got = print().map_err(words)?;
    let want = ["tensor([ 1.5000, -2.0000], device='cuda:1')", "tensor([0, 0, 0,  ..., 0, 0, 0], device='cuda:0')"];
    if got == want { Ok(()) } else { Err(format!("{got:?}")) }
}

pub(crate) fn uncompiled(stand_in: &StandIn) -> Outcome {
    // What another test compiled is forgotten with the device.
    release(0).map_err(words)?;
    let x = Tensor::<Cuda>::from_slice_on(0, &[1.0f32, 2.0], [2]).map_err(words)?;
    stand_in.tell("spoil");
    let error = add(&x, &x).err().ok_or("a text that does not compile")?.to_string();
    let whole = x.to_vec::<f32>().map_err(words)? == [1.0, 2.0];
    let parts = ["add", "cuda:0", "do not compile", "told to spoil this"];
    if whole && parts.iter().all(|part| error.contains(part)) { Ok(()) } else { Err(error) }
}

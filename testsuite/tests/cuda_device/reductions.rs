//! Reductions on the device against those of the CPU: every layout of operands, dims, forms, and errors. What kernels
//! are tried on by themselves is in the test suite's `cuda::folds`.

use crate::Outcome;
use monomorph::crates::core::with_element;
use monomorph::crates::ops::reduce::{AmaxFn, AminFn, AminmaxFn, AnyFn, ArgmaxFn, MeanFn, SumFn};
use monomorph::{
    Cpu, DType, Device, ErrorKind, Geometry, Result, Scalar, Tensor,
    ops::{
        add, amax_with, aminmax, aminmax_out_with, aminmax_with, any, any_with, argmax, argmax_with, mean_with,
        options::*, sum, sum_out, sum_with,
    },
    prepared,
};
use monomorph_cuda::{Cuda, Stream, compile_fold, live_blocks, set_blocking};
use monomorph_testsuite::cuda::fake::StandIn;
use monomorph_testsuite::layout::tensor;

/// The dtypes that are tried: with the wider accumulator and without, converted, of one byte, complex.
const DTYPES: [DType; 6] = [DType::F32, DType::F16, DType::F64, DType::I32, DType::Bool, DType::C64];

/// In few translation units, for all that is tried and most of what is recorded.
pub(crate) fn compile() -> Result<()> {
    let own = DType::ALL.map(|dtype| (dtype, dtype));
    let sums = DType::ALL.map(|d| (d, if d.is_integral(true) { DType::I64 } else { d }));
    compile_fold::<SumFn>(0, &sums)?;
    compile_fold::<MeanFn>(0, &own)?;
    compile_fold::<AmaxFn>(0, &own)?;
    compile_fold::<AminFn>(0, &own)?;
    compile_fold::<AnyFn>(0, &own)?;
    compile_fold::<ArgmaxFn>(0, &own)?;
    compile_fold::<AminmaxFn>(0, &own)
}

/// Sizes, strides and offset of an input.
const INPUTS: [(&[i64], &[i64], i64); 12] = [
    (&[40_003], &[1], 0),
    (&[40_003], &[1], 1),
    (&[33, 101], &[101, 1], 0),
    (&[33, 100], &[112, 1], 0),
    (&[3001, 3], &[3, 1], 0),
    (&[64, 65], &[1, 64], 0),
    (&[4, 5, 6, 7], &[210, 1, 35, 5], 0),
    (&[50, 9], &[0, 1], 0),
    (&[7, 6, 5], &[61, 10, 2], 1),
    (&[], &[], 2),
    (&[3, 0, 2], &[2, 2, 1], 0),
    (&[5, 1], &[1, 1], 0),
];

/// The dims of a call: none, the first, the last, both.
fn dims(ndim: usize) -> Vec<Option<Vec<i64>>> {
    let mut all = vec![None];
    if ndim > 0 {
        all.extend([Some(vec![0]), Some(vec![-1])]);
    }
    if ndim > 2 {
        all.push(Some(vec![0, -1]));
    }
    all
}

/// The elements, where they are.
fn elements<D: Device>(t: &Tensor<D>) -> Result<Vec<Scalar>> {
    with_element!(t.dtype(), E => Ok(t.to_vec::<E>()?.into_iter().map(monomorph_core::Element::to_scalar).collect()))
}

/// What is compared: sizes, strides and dtype of each result, and its elements.
type Seen = Vec<(Vec<i64>, Vec<i64>, DType, String)>;

fn seen<D: Device>(results: Vec<Tensor<D>>) -> Result<Seen> {
    let see = |t: &Tensor<D>| {
        let elements = format!("{:?}", elements(t)?);
        Ok((t.sizes().to_vec(), t.strides().to_vec(), t.dtype(), elements))
    };
    results.iter().map(see).collect()
}

/// That both devices give the same, or the same error.
fn same(there: Result<Seen>, here: Result<Seen>, what: &dyn Fn() -> String) -> Outcome {
    match (there, here) {
        (Ok(there), Ok(here)) if there == here => Ok(()),
        (Err(there), Err(here)) if there.kind() == here.kind() => Ok(()),
        (there, here) => Err(format!("{}: {there:?}, the CPU gives {here:?}", what())),
    }
}

/// Evaluates a call on both devices.
macro_rules! both {
    ($what:expr, $operands:expr, |$x:ident| $results:expr) => {{
        let (there, here) = $operands;
        let on_device = {
            let $x = there;
            (|| seen($results))()
        };
        let on_cpu = {
            let $x = here;
            (|| seen($results))()
        };
        same(on_device, on_cpu, &|| $what)
    }};
}

fn words(error: monomorph::Error) -> String {
    error.to_string()
}

/// A tensor on both devices, of whole numbers, whose sums are exact in any order.
fn input(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Result<(Tensor<Cuda>, Tensor<Cpu>)> {
    let values: Vec<Scalar> = (0..211).map(|i| Scalar::Int((i * 7 + i / 5) % 23 - 11)).collect();
    let here = tensor(Geometry::new(dtype, sizes, strides, offset)?, &values);
    let there = Tensor::<Cuda>::from_storage(&here.storage_to_vec()?, here.geometry().clone())?;
    Ok((there, here))
}

pub(crate) fn agree(_: &StandIn) -> Outcome {
    for dtype in DTYPES {
        for (sizes, strides, offset) in INPUTS {
            let (there, here) = input(dtype, sizes, strides, offset).map_err(words)?;
            for dims in dims(sizes.len()) {
                let list = dims.as_deref();
                for keepdim in [false, true] {
                    let place = |op: &str| format!("{op} of {dtype} {sizes:?} {strides:?} along {dims:?}");
                    let x = (&there, &here);
                    both!(place("sum"), x, |x| vec![sum_with(x, list, Sum { keepdim, ..Default::default() })?])?;
                    both!(place("mean"), x, |x| vec![mean_with(x, list, Mean { keepdim, ..Default::default() })?])?;
                    both!(place("amax"), x, |x| vec![amax_with(
                        x,
                        list.unwrap_or(&[]),
                        Amax { keepdim, ..Default::default() }
                    )?])?;
                    both!(place("any"), x, |x| vec![any_with(x, list, Any { keepdim, ..Default::default() })?])?;
                    let (None | Some([_])) = list else { continue };
                    let dim = list.map(|list| list[0]);
                    both!(place("argmax"), x, |x| vec![argmax_with(
                        x,
                        dim,
                        Argmax { keepdim, ..Default::default() }
                    )?])?;
                    both!(place("aminmax"), x, |x| {
                        let (min, max) = aminmax_with(x, dim, Aminmax { keepdim, ..Default::default() })?;
                        vec![min, max]
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// Results of the caller: other dtypes, strides, and none of the right size.
pub(crate) fn outputs(_: &StandIn) -> Outcome {
    let run = || -> Result<Outcome> {
        let (there, here) = input(DType::F32, &[5, 33], &[33, 1], 0)?;
        for (out, stride) in [(DType::F32, 3), (DType::F64, 1), (DType::I16, 2)] {
            let mut on_device = Tensor::<Cuda>::zeroed(out, &[5], &[stride], 0)?;
            let mut on_cpu = Tensor::<Cpu>::zeroed(out, &[5], &[stride], 0)?;
            let told = sum_out(&there, 1, &mut on_device).err().map(|e| e.kind().clone());
            let want = sum_out(&here, 1, &mut on_cpu).err().map(|e| e.kind().clone());
            if told != want || on_device.storage_to_vec()? != on_cpu.storage_to_vec()? {
                return Ok(Err(format!("sum into {out}: {told:?}, the CPU says {want:?}")));
            }
        }
        let mut results = [0, 1].map(|_| Tensor::<Cuda>::zeroed(DType::F32, &[0], &[1], 0)).into_iter();
        let (Some(min), Some(max)) = (results.next(), results.next()) else { return Ok(Err("no outputs".into())) };
        let (mut min, mut max) = (min?, max?);
        aminmax_out_with(&there, Some(0), Aminmax { keepdim: true, ..Default::default() }, (&mut min, &mut max))?;
        let (want_min, want_max) = aminmax_with(&here, Some(0), Aminmax { keepdim: true, ..Default::default() })?;
        let right = (elements(&min)?, elements(&max)?) == (elements(&want_min)?, elements(&want_max)?);
        // A dtype that is asked for, and bits that are resolved on the way.
        let asked = sum_with(&there, .., Sum { dtype: Some(DType::I32), ..Default::default() })?;
        let want = sum_with(&here, .., Sum { dtype: Some(DType::I32), ..Default::default() })?;
        let (z, z_here) = input(DType::C64, &[9, 9], &[9, 1], 0)?;
        let turned = |g: &Geometry| g.clone().with_conj(true);
        let conj = sum(&z.with_geometry(turned(z.geometry()))?, ..)?;
        let want_conj = sum(&z_here.with_geometry(turned(z_here.geometry()))?, ..)?;
        let agrees = right && elements(&asked)? == elements(&want)? && elements(&conj)? == elements(&want_conj)?;
        let refused = aminmax(&Tensor::<Cuda>::zeroed(DType::F32, &[0, 2], &[2, 1], 0)?, Some(0)).err();
        match refused.map(|error| error.kind().clone()) {
            Some(ErrorKind::EmptyReduction { dim: 0 }) if agrees => Ok(Ok(())),
            other => Ok(Err(format!("{agrees}, over nothing {other:?}"))),
        }
    };
    run().map_err(words)?
}

/// Blocks share outputs on two streams, in a call that is prepared and run again, and give back what they share.
pub(crate) fn scenario() -> Result<()> {
    let stream = Stream::new(0)?;
    let ramp: Vec<f32> = (0..40_000).map(|i| (i % 100) as f32).collect();
    let x = Tensor::<Cuda>::from_slice_on(0, &ramp, [40_000])?;
    let total = {
        let _entered = stream.enter();
        sum(&add(&x, &x)?, ..)?
    };
    assert_eq!(total.to_vec::<f32>()?, [3_960_000.0]);
    let mut out = Tensor::<Cuda>::zeroed(DType::F32, &[], &[], 0)?;
    {
        let mut call = prepared::sum(&x, None, false, None, &mut out)?;
        call.run()?;
        call.run()?;
        let _entered = stream.enter();
        call.run()?;
    }
    assert_eq!(out.to_vec::<f32>()?, [1_980_000.0]);
    assert_eq!(any(&x, ..)?.to_vec::<bool>()?, [true]);
    let _entered = stream.enter();
    assert_eq!(argmax(&x, ..)?.to_vec::<i64>()?, [99]);
    Ok(())
}

pub(crate) fn share(_: &StandIn) -> Outcome {
    scenario().map_err(words)?;
    if live_blocks(0).0 == 0 { Ok(()) } else { Err(format!("{:?} blocks are live", live_blocks(0))) }
}

/// A kernel that fails is named by a blocking call.
pub(crate) fn named(stand_in: &StandIn) -> Outcome {
    let x = Tensor::<Cuda>::from_slice_on(0, &[1.0f32, 2.0], [2]).map_err(words)?;
    sum(&x, ..).map_err(words)?;
    set_blocking(true);
    let mut errors = Vec::new();
    for at in 1..20 {
        stand_in.tell(&format!("inject {at} 1"));
        errors.extend(sum(&x, ..).err().map(words));
    }
    stand_in.tell("inject 0 0");
    set_blocking(false);
    // Errors of drops are told by the next call.
    let _ = sum(&x, ..);
    let name = "r_sum_f32_to_f32_of_f32_apart: ";
    let missed = ["cuLaunchKernel", "cuStreamSynchronize"]
        .into_iter()
        .find(|call| !errors.iter().any(|error| error.contains(&format!("{call} of {name}"))));
    missed.map_or(Ok(()), |call| Err(format!("no error of {call} names the kernel: {errors:?}")))
}

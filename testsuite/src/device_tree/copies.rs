//! Checks of views and of the strided copy, against the CPU's. Knows no operator.

use super::{Subject, Verdict, ensure, geometry, placed, ramp, refused, same, values};
use crate::layout::{Layout, Random, plain, samples, tensor};
use monomorph::crates::ops::record::Inputs;
use monomorph::{Cpu, DType, ErrorKind, Geometry, Tensor};

/// A view reads and writes its base; geometries are those that the CPU reads.
pub fn views_share_memory<S: Subject>() -> Verdict {
    let mut base = ramp::<S::Device>(0, DType::F32, &[4, 6])?;
    let here = ramp::<Cpu>(0, DType::F32, &[4, 6])?;
    let cases: [(&[i64], &[i64], i64); 7] = [
        (&[6, 4], &[1, 6], 0),
        (&[2, 3], &[12, 2], 1),
        (&[], &[], 23),
        (&[3, 4], &[0, 1], 4),
        (&[0], &[1], 24),
        (&[2, 2], &[5, 5], 2),
        (&[24], &[1], 0),
    ];
    for (sizes, strides, offset) in cases {
        let g = geometry(DType::F32, sizes, strides, offset)?;
        let (there, want) = (base.with_geometry(g.clone())?, here.with_geometry(g)?);
        same(
            &there.to_vec::<f32>()?,
            &want.to_vec::<f32>()?,
            &format!("a view of sizes {sizes:?}, strides {strides:?}"),
        )?;
        same(&there.storage_id(), &base.storage_id(), "the storage of a view")?;
    }
    let mut column = base.with_geometry(geometry(DType::F32, &[4], &[6], 2)?)?;
    column.copy_from(&ramp::<S::Device>(0, DType::F32, &[4])?)?;
    let written: Vec<f32> = base.to_vec::<f32>()?.into_iter().skip(2).step_by(6).collect();
    same(&written, &vec![1.0, 2.0, 3.0, 4.0], "a column that was written through a view")?;
    same(&(base.version(), column.version()), &(1, 1), "versions behind one write")?;
    base.copy_from(&here_on::<S>(&here)?)?;
    same(&column.to_vec::<f32>()?, &vec![3.0, 9.0, 15.0, 21.0], "a view behind a write of its base")?;
    refused(base.with_geometry(geometry(DType::F32, &[25], &[1], 0)?), "a view beyond the storage")?;
    Ok(())
}

fn here_on<S: Subject>(tensor: &Tensor<Cpu>) -> monomorph::Result<Tensor<S::Device>> {
    placed(tensor)
}

/// What a copy leaves of the target's whole storage.
fn copied<S: Subject>(to: &Tensor<Cpu>, from: &Tensor<Cpu>, what: &str) -> Verdict {
    let (mut there, source) = (here_on::<S>(to)?, here_on::<S>(from)?);
    there.copy_from(&source)?;
    let mut here: Tensor<Cpu> = placed(to)?;
    here.copy_from(from)?;
    let (mut got, mut want) = (there.storage_to_vec()?, here.storage_to_vec()?);
    // What is converted to a NaN is one; which, the device decides.
    if to.dtype() != from.dtype() {
        one_nan(&mut got, to.dtype());
        one_nan(&mut want, to.dtype());
    }
    same(&got, &want, what)?;
    same(&source.storage_to_vec()?, &from.storage_to_vec()?, &format!("the source of {what}"))
}

/// Makes every NaN the same.
fn one_nan(storage: &mut [u8], dtype: DType) {
    let (size, exponent) = match dtype {
        DType::F16 => (2, 0x7c00),
        DType::BF16 => (2, 0x7f80),
        DType::F32 | DType::C64 => (4, 0x7f80_0000),
        DType::F64 | DType::C128 => (8, 0x7ff0_0000_0000_0000_u64),
        _ => return,
    };
    let mantissa = (exponent & exponent.wrapping_neg()) - 1;
    for element in storage.chunks_exact_mut(size) {
        let bits = element.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        if bits & exponent == exponent && bits & mantissa != 0 {
            element.fill(0xff);
        }
    }
}

/// A copy from every layout to every layout writes the elements, and nothing between them.
pub fn copies_reach_every_layout<S: Subject>() -> Verdict {
    let mut random = Random::new(7);
    for sizes in [&[][..], &[5], &[3, 4], &[2, 3, 4], &[2, 3, 2, 2], &[1, 1], &[3, 0]] {
        for (to, from) in Layout::WRITABLE.into_iter().flat_map(|to| Layout::ALL.map(|from| (to, from))) {
            for (a, b) in [(DType::F32, DType::F32), (DType::F64, DType::I16)] {
                let target = tensor(to.geometry(a, sizes), &plain(a, 200, &mut random));
                let source = tensor(from.geometry(b, sizes), &plain(b, 200, &mut random));
                copied::<S>(&target, &source, &format!("a copy of {sizes:?} from {b} {from:?} to {a} {to:?}"))?;
            }
        }
    }
    let target = tensor(Layout::Contiguous.geometry(DType::F32, &[3, 4]), &plain(DType::F32, 12, &mut random));
    for sizes in [&[4][..], &[3, 1], &[1, 4], &[]] {
        let source = tensor(Layout::Contiguous.geometry(DType::F32, sizes), &plain(DType::F32, 12, &mut random));
        copied::<S>(&target, &source, &format!("a broadcast copy of {sizes:?}"))?;
    }
    Ok(())
}

/// A copy converts every dtype to every other, and resolves the conj and neg bits of both sides.
pub fn copies_convert_every_dtype<S: Subject>() -> Verdict {
    let mut random = Random::new(11);
    for (to, from) in DType::ALL.into_iter().flat_map(|to| DType::ALL.map(|from| (to, from))) {
        let target = tensor(Layout::Stepped.geometry(to, &[9, 8]), &plain(to, 300, &mut random));
        let source = tensor(Layout::Transposed.geometry(from, &[9, 8]), &samples(from, Inputs::Any));
        copied::<S>(&target, &source, &format!("a copy from {from} to {to}"))?;
        if !to.is_complex() || !from.is_complex() {
            continue;
        }
        let bit = |t: &Tensor<Cpu>, conj, neg| t.with_geometry(t.geometry().clone().with_conj(conj).with_neg(neg));
        for k in 0..16 {
            let on = |i: i32| k >> i & 1 == 1;
            let (a, b) = (bit(&target, on(0), on(1))?, bit(&source, on(2), on(3))?);
            copied::<S>(&a, &b, &format!("a copy from {from} to {to} with bits {k:04b}"))?;
        }
    }
    Ok(())
}

/// A target that overlaps itself or part of its source is refused, and stays as it was; a copy within a storage is
/// none.
pub fn overlapping_copies_are_errors<S: Subject>() -> Verdict {
    let base = ramp::<S::Device>(0, DType::F32, &[12])?;
    let before = values(base.as_any())?;
    let view = |sizes: &[i64], strides: &[i64], offset| -> monomorph::Result<Tensor<S::Device>> {
        base.with_geometry(Geometry::new(DType::F32, sizes, strides, offset)?)
    };
    let mut expanded = view(&[3, 2], &[0, 1], 0)?;
    let error =
        refused(expanded.copy_from(&ramp::<S::Device>(0, DType::F32, &[3, 2])?), "a write of an expanded tensor")?;
    ensure(matches!(error.kind(), ErrorKind::InternalOverlap { .. }), || format!("another error: {error}"))?;
    let error = refused(view(&[4], &[1], 0)?.copy_from(&view(&[4], &[1], 2)?), "a copy onto part of its source")?;
    ensure(matches!(error.kind(), ErrorKind::PartialOverlap { .. }), || format!("another error: {error}"))?;
    same(&values(base.as_any())?, &before, "a tensor behind refused copies")?;
    view(&[6], &[1], 0)?.copy_from(&view(&[6], &[1], 6)?)?;
    same(&base.to_vec::<f32>()?[..6].to_vec(), &vec![7.0, 8.0, 9.0, 10.0, 11.0, 12.0], "a copy within a storage")?;
    let error =
        refused(view(&[3, 3], &[3, 1], 0)?.copy_from(&view(&[3, 3], &[1, 3], 0)?), "a transposed copy onto itself")?;
    ensure(matches!(error.kind(), ErrorKind::PartialOverlap { .. }), || format!("another error: {error}"))
}

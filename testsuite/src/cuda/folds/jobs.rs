//! What the kernels of a fold are tried on, and what the CPU makes of it. Runs no kernel.

use super::super::jobs::{BEFORE, converted, row_major};
use super::FoldCase;
use super::layouts::{Layout, layouts};
use crate::layout::{samples, tensor};
use monomorph::crates::ops::record::{Inputs, Within};
use monomorph::{Cpu, DType, Geometry, Scalar, Tensor};
use monomorph_cuda::{FoldLaunch, FoldPlan, Stored};
use monomorph_iter::{Config, Flags, TensorIter, View, build_over};

/// The launches of a reduction, and what they should give.
pub(super) struct Job {
    /// What is special about it.
    pub(super) layout: String,
    pub(super) launches: Vec<FoldLaunch>,
    /// Bytes of accumulators and of tickets.
    pub(super) shared: [usize; 2],
    /// The storages of the results, filled with what is there before, then that of the input.
    pub(super) storages: Vec<Vec<u8>>,
    /// How the results lie.
    pub(super) results: Vec<Geometry>,
    pub(super) want: Vec<Tensor<Cpu>>,
    pub(super) near: Within,
}

/// What the input holds.
struct Values {
    name: &'static str,
    values: Vec<Scalar>,
    near: Within,
}

/// Small integers, whose sums are exact in any order; for folds that choose, everything there is; for those that round,
/// fractions.
fn values(case: &FoldCase) -> Vec<Values> {
    let dtype = case.reduction.input().dtype;
    // Of products nothing overflows on the way, whatever the order; a uint8 may be negated, which makes 255 of 1.
    let is_product = case.fold == "ProdFn";
    let whole = |i: i64| match is_product {
        true if dtype == DType::U8 => 0,
        true => 1 - 2 * (i / 3 % 2),
        false => (i * 7 + i / 5) % 23 - 11,
    };
    let whole = (0..211).map(|i| Scalar::Int(whole(i))).collect();
    // The sign of a zero that is a part of a complex product depends on the order of the factors.
    let near = if is_product && case.dtype.is_complex() { Within::units(1) } else { Within::EXACT };
    let mut all = vec![Values { name: "whole numbers", values: whole, near }];
    if case.rounds() && (dtype == case.dtype || !is_product) {
        let fraction = |i: i32| f64::from(i * 37 % 97) / 97.0;
        let fraction = |i: i32| if is_product { 1.0 + (fraction(i) - 0.5) / 10.0 } else { fraction(i) };
        let fractions = (1..97).map(|i| Scalar::Float(fraction(i))).collect();
        // Every order of sums in the dtype itself rounds otherwise.
        let units = match case.dtype {
            // A product is rounded once for each factor, by a part of itself; a lost factor is 10¹⁰ units or more.
            DType::F64 | DType::C128 if is_product => 1 << 14,
            DType::F64 | DType::C128 => 16,
            _ => 1,
        };
        all.push(Values { name: "fractions", values: fractions, near: Within::units(units) });
    } else if dtype == case.dtype {
        let mut any = samples(dtype, Inputs::Any);
        any.rotate_left(1);
        all.push(Values { name: "any numbers", values: any, near: Within::EXACT });
    }
    all
}

/// Every job of a case.
///
/// # Errors
/// What the CPU, or the plan, says of operands that it should take.
pub(super) fn jobs(case: &FoldCase) -> Result<Vec<Job>, String> {
    let each = 16 / case.reduction.input().dtype.size() as i64;
    let mut jobs = Vec::new();
    for values in values(case) {
        for layout in layouts(each) {
            let name = format!("{}, {}", layout.name, values.name);
            let made = job(case, &layout, &values).map_err(|why| format!("{name}: {why}"))?;
            jobs.extend(made.map(|job| Job { layout: name, ..job }));
        }
    }
    Ok(jobs)
}

fn geometry(stored: Stored, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Geometry, String> {
    let plain = Geometry::new(stored.dtype, sizes, strides, offset).map_err(|error| error.to_string())?;
    Ok(plain.with_conj(stored.conj).with_neg(stored.neg))
}

/// `None` where the operator does not take the dims, or has no result.
fn job(case: &FoldCase, layout: &Layout, values: &Values) -> Result<Option<Job>, String> {
    let words = |error: monomorph::Error| error.to_string();
    let reduction = &case.reduction;
    let own = geometry(reduction.input(), &layout.sizes, &layout.input.0, layout.input.1)?;
    let plain = own.clone().with_conj(false).with_neg(false);
    let input = tensor(plain, &values.values).with_geometry(own.clone()).map_err(words)?;
    let Some(want) = (case.on_cpu)(&converted(&input, case.dtype)?, &layout.dims) else { return Ok(None) };
    let is_empty = layout.sizes.contains(&0);
    let want = match want {
        // A fold without an identity.
        Err(_) if is_empty => return Ok(None),
        want => want.map_err(words)?,
    };
    let is_reduced = |d: usize| layout.dims.contains(&(d as i64));
    let kept: Vec<i64> = layout.sizes.iter().enumerate().map(|(d, &n)| if is_reduced(d) { 1 } else { n }).collect();
    let step = if layout.is_stepped { 2 } else { 1 };
    let strides: Vec<i64> = row_major(&kept).iter().map(|stride| stride * step).collect();
    let stored = reduction.results();
    let results = stored.iter().map(|&stored| geometry(stored, &kept, &strides, step - 1));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let want = want.iter().zip(stored).map(|(want, stored)| converted(want, stored.dtype));
    let want = want.collect::<Result<Vec<_>, _>>()?;
    let iter = iteration(case, layout, &results, &own)?;
    let base = |g: &Geometry| g.offset() as u64 * g.dtype().size() as u64;
    let bases: Vec<u64> = results.iter().chain([&own]).map(base).collect();
    let empty = if is_empty { &results[..] } else { &[] };
    let plan = match layout.limit {
        None => FoldPlan::new(reduction, &iter, &bases, empty),
        Some((limit, _)) => FoldPlan::counting(reduction, &iter, &bases, empty, limit),
    };
    let plan = plan.map_err(|error| error.to_string())?;
    let chosen = plan.launches().first().map(|launch| launch.layout);
    if layout.kernel.is_some_and(|kernel| chosen.is_some_and(|chosen| kernel != chosen)) {
        return Err(format!("walked by the {chosen:?} loop"));
    }
    if layout.is_shared != (plan.scratch() > 0) && layout.limit.is_none() {
        return Err(format!("{} bytes are shared", plan.scratch()));
    }
    if layout.limit.is_some_and(|(_, launches)| plan.launches().len() < launches) {
        return Err(format!("{} launches", plan.launches().len()));
    }
    let before = |g: &Geometry| Ok(vec![BEFORE; g.bytes_needed().map_err(words)?]);
    let mut storages = results.iter().map(before).collect::<Result<Vec<_>, String>>()?;
    storages.push(input.storage_to_vec().map_err(words)?);
    let shared = [plan.tickets().start, plan.tickets().len()];
    let launches = plan.launches().to_vec();
    Ok(Some(Job { layout: String::new(), launches, shared, storages, results, want, near: values.near }))
}

/// The iteration as the operator plans it: results with stride 0 in reduced dims, then the input.
fn iteration(case: &FoldCase, layout: &Layout, results: &[Geometry], input: &Geometry) -> Result<TensorIter, String> {
    let view = |g| View { conj: Geometry::is_conj(g), neg: g.is_neg(), ..View::new(g.dtype(), g.sizes(), g.strides()) };
    let reduced = |d: usize| layout.dims.contains(&(d as i64));
    let strides = |g: &Geometry| -> Vec<i64> {
        g.strides().iter().enumerate().map(|(d, &stride)| if reduced(d) { 0 } else { stride }).collect()
    };
    let strides: Vec<Vec<i64>> = results.iter().map(strides).collect();
    let outputs: Vec<View<'_>> = results.iter().zip(&strides).map(|(g, strides)| View { strides, ..view(g) }).collect();
    let linear = case.rule.is_indexed() && layout.dims.len() == layout.sizes.len();
    let flags = Flags::REDUCE_2.with_device_check(false).with_linear_order(linear);
    build_over(&Config::new(flags), &outputs, &[view(input)]).map_err(|error| error.to_string())
}

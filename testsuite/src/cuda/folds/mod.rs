//! The kernels of the folds on CUDA, checked on a machine without a GPU: every fold of the table at every dtype of its
//! domain, for operands of its own dtypes and for others. Owns the list.

pub mod compiles;
pub mod computes;
pub mod faults;
mod jobs;
mod layouts;

use super::{Checked, Finding};
use monomorph::crates::ops::algebra::sym::c_suffix;
use monomorph::crates::ops::reduce::{ReduceFn, SymFold, TypedRule, symbolic};
use monomorph::{
    Cpu, DType, Tensor,
    ops::{
        all_with, amax_with, amin_with, aminmax_with, any_with, argmax_with, argmin_with, max_with, mean_with,
        min_with, nansum_with, options::*, prod_with, sum_with,
    },
};
use monomorph_cuda::{CompileError, InputLayout, Nvrtc, Reduction, Stored, reductions_source};
use std::path::Path;

/// What the CPU gives for an input of the dtype that is computed in, along these dims of it, which stay with size 1;
/// `None` where the operator does not take those.
pub(super) type OnCpu = fn(&Tensor<Cpu>, &[i64]) -> Option<monomorph::Result<Vec<Tensor<Cpu>>>>;

/// One fold at one dtype.
pub struct FoldCase {
    /// The name of the fold.
    pub fold: String,
    /// The dtype that it computes in.
    pub dtype: DType,
    /// Its kernels.
    pub reduction: Reduction,
    /// What it checks.
    pub rule: TypedRule,
    is_cast: bool,
    on_cpu: OnCpu,
}

impl FoldCase {
    /// Whether sums are rounded, so that their order shows.
    fn rounds(&self) -> bool {
        matches!(self.fold.as_str(), "SumFn" | "MeanFn" | "NansumFn" | "ProdFn") && !self.dtype.is_integral(true)
    }
}

/// The only dim, or all of as many.
fn one_or_all(x: &Tensor<Cpu>, dims: &[i64]) -> Option<Option<i64>> {
    match dims {
        [dim] => Some(Some(*dim)),
        _ if dims.len() == x.sizes().len() => Some(None),
        _ => None,
    }
}

/// The operator of each fold, with the dims kept. A fold that is not here is found by a test.
const CALLS: [(&str, OnCpu); 13] = [
    ("SumFn", |x, dims| {
        let options = Sum { keepdim: true, dtype: Some(x.dtype()), ..Default::default() };
        Some(sum_with(x, dims, options).map(|y| vec![y]))
    }),
    ("MeanFn", |x, dims| {
        let options = Mean { keepdim: true, dtype: Some(x.dtype()), ..Default::default() };
        Some(mean_with(x, dims, options).map(|y| vec![y]))
    }),
    ("AmaxFn", |x, dims| Some(amax_with(x, dims, Amax { keepdim: true, ..Default::default() }).map(|y| vec![y]))),
    ("AminFn", |x, dims| Some(amin_with(x, dims, Amin { keepdim: true, ..Default::default() }).map(|y| vec![y]))),
    ("AnyFn", |x, dims| Some(any_with(x, dims, Any { keepdim: true, ..Default::default() }).map(|y| vec![y]))),
    ("ArgmaxFn", |x, dims| {
        let options = Argmax { keepdim: true, ..Default::default() };
        one_or_all(x, dims).map(|dim| argmax_with(x, dim, options).map(|y| vec![y]))
    }),
    ("AllFn", |x, dims| Some(all_with(x, dims, All { keepdim: true, ..Default::default() }).map(|y| vec![y]))),
    ("ArgminFn", |x, dims| {
        let options = Argmin { keepdim: true, ..Default::default() };
        one_or_all(x, dims).map(|dim| argmin_with(x, dim, options).map(|y| vec![y]))
    }),
    ("MaxFn", |x, dims| {
        let [dim] = dims else { return None };
        Some(max_with(x, *dim, Max { keepdim: true, ..Default::default() }).map(|(a, b)| vec![a, b]))
    }),
    ("MinFn", |x, dims| {
        let [dim] = dims else { return None };
        Some(min_with(x, *dim, Min { keepdim: true, ..Default::default() }).map(|(a, b)| vec![a, b]))
    }),
    ("NansumFn", |x, dims| {
        let options = Nansum { keepdim: true, dtype: Some(x.dtype()), ..Default::default() };
        Some(nansum_with(x, dims, options).map(|y| vec![y]))
    }),
    ("ProdFn", |x, dims| {
        let options = Prod { keepdim: true, dtype: Some(x.dtype()), ..Default::default() };
        let [dim] = dims else { return None };
        Some(prod_with(x, *dim, options).map(|y| vec![y]))
    }),
    ("AminmaxFn", |x, dims| {
        let options = Aminmax { keepdim: true, ..Default::default() };
        one_or_all(x, dims).map(|dim| aminmax_with(x, dim, options).map(|(a, b)| vec![a, b]))
    }),
];

/// Folds that are told numbers, which kernels of CUDA are not: their families are not registered there.
#[cfg(test)]
const NOT_ON_CUDA: [&str; 8] = [
    "VarianceFn",
    "VarianceMeanFn",
    "NormTwoFn",
    "NormTwoScaledFn",
    "NormOneFn",
    "NormMaxFn",
    "NormMinFn",
    "NormPowerFn",
];

/// Operands of other dtypes than those of the fold, conjugated and negated by turns.
fn others(seed: usize, results: usize) -> (Stored, Vec<Stored>) {
    let other = |k: usize| {
        let dtype = DType::ALL[(seed + 5 * k) % DType::COUNT];
        let conj = dtype.is_complex() && (seed + k).is_multiple_of(2);
        Stored { conj, neg: dtype != DType::Bool && (seed / 2 + k).is_multiple_of(3), ..dtype.into() }
    };
    (other(0), (1..=results).map(other).collect())
}

fn push<F: ReduceFn>(path: &str, cases: &mut Vec<FoldCase>)
where
    F::Domain: SymFold<F>,
{
    let fold = path.rsplit("::").next().unwrap_or_default().trim();
    let Some(&(_, on_cpu)) = CALLS.iter().find(|(name, _)| *name == fold) else { return };
    for (number, dtype) in DType::ALL.into_iter().enumerate() {
        let Some(recording) = symbolic::<F>(dtype) else { continue };
        for is_cast in [false, true] {
            let name = format!("{fold}_{}{}", c_suffix(dtype), if is_cast { "_cast" } else { "" });
            let own = Reduction::new(&name, dtype, recording.clone());
            let (input, results) = others(number + 3 * fold.len(), own.results().len());
            let reduction = if is_cast { own.of(input, &results) } else { own };
            cases.push(FoldCase {
                fold: fold.to_owned(),
                dtype,
                reduction,
                rule: TypedRule::of::<F>(),
                is_cast,
                on_cpu,
            });
        }
    }
}

/// Every case.
pub fn cases() -> Vec<FoldCase> {
    let mut cases = Vec::new();
    macro_rules! each {
        ($fold:ty, $name:literal) => {
            push::<$fold>($name, &mut cases);
        };
    }
    monomorph::crates::ops::for_each_kernel! { Reduce each }
    cases
}

impl Checked for FoldCase {
    fn name(&self) -> String {
        format!("{} {}{}", self.fold, c_suffix(self.dtype), if self.is_cast { " cast" } else { "" })
    }
    fn family(&self) -> &str {
        &self.fold
    }
    fn text(&self) -> String {
        reductions_source(std::slice::from_ref(&self.reduction))
    }
    fn is_of(&self, finding: &Finding) -> bool {
        InputLayout::ALL.iter().any(|&layout| finding.place == self.reduction.kernel(layout))
            || finding.place.split(", ").any(|name| name == self.name())
    }
    fn compiles(nvrtc: &Nvrtc, cases: &[FoldCase]) -> Result<Vec<Finding>, CompileError> {
        compiles::check(nvrtc, cases)
    }
    fn computes(cases: &[FoldCase], folder: &Path) -> Result<Vec<Finding>, String> {
        computes::check(cases, folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fold_of_the_table_is_a_case() {
        let mut folds = Vec::new();
        macro_rules! each {
            ($fold:ty, $name:literal) => {
                folds.push($name);
            };
        }
        monomorph::crates::ops::for_each_kernel! { Reduce each }
        let cases = cases();
        for path in folds {
            let name = path.rsplit("::").next().unwrap().trim();
            let is_case = cases.iter().any(|case| case.fold == name);
            assert!(is_case != NOT_ON_CUDA.contains(&name), "{name} has no call on the CPU");
        }
    }
}

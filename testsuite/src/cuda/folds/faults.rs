//! Faults planted into the text of the loops over folds, each of which a check has to find.

use super::{FoldCase, cases, compiles, computes};
use crate::cuda::Finding;
use crate::cuda::faults::{By, Fault, Look, fault, plant};
use monomorph::DType;
use monomorph_cuda::{Nvrtc, Reduction, reductions_source};
use std::path::Path;

/// Every fault.
pub const FAULTS: [Fault; 20] = [
    fault(
        "elements are loaded one by one",
        By::Compiles,
        "return *(const Unit *)(input + (k_u64)i * sizeof(Unit));",
        "Unit u; for (int k = 0; k < EACH; k++) u.of[k] = ((const Memory *)input)[(k_u64)i * EACH + k]; return u;",
        "of 16 bytes",
    ),
    fault(
        "registers are chosen while the kernel runs",
        By::Compiles,
        "F::take(word.of[k])",
        "F::take(word.of[(k + threadIdx.x) % EACH])",
        "of stack",
    ),
    fault(
        "pointers hide where they point",
        By::Compiles,
        "elements.a = &a, elements.input = a.data[F::RESULTS] + at[F::RESULTS];",
        "k_u64 raw = (k_u64)a.data[F::RESULTS]; asm volatile(\"\" : \"+l\"(raw)); elements.a = &a, elements.input = \
            (const char *)raw;",
        "no kind of memory",
    ),
    fault(
        "lanes do not wait for each other",
        By::Computes,
        "__syncthreads();\n    if (lane < step",
        "if (lane < step",
        "order of threads",
    ),
    fault("the first step is left out", By::Computes, "step = across >> 1;", "step = across >> 2;", "units apart"),
    fault("a step too much", By::Computes, "step = across >> 1;", "step = across;", ""),
    fault("lanes without an element are merged", By::Computes, "lane < step && lane + step < live", "lane < step", ""),
    fault(
        "the mask of lanes is off by one",
        By::Computes,
        "threadIdx.x & (a.across - 1)",
        "threadIdx.x & a.across",
        "",
    ),
    fault(
        "neighbours are merged that are of other outputs",
        By::Computes,
        "apart = a.adjacent ? 1 : beside",
        "apart = 1",
        "",
    ),
    fault(
        "a thread begins anew with every batch",
        By::Computes,
        "acc = some ? F::merge(acc, next) : next;",
        "acc = next;",
        "units apart",
    ),
    fault("elements behind the last word are left out", By::Computes, "k < rest;", "k < 0;", "units apart"),
    fault("one output too many", By::Computes, "output < a.outputs", "output <= a.outputs", "overflow"),
    fault("places are those of a launch", By::Computes, "a->start + (k_i64)i * EACH", "(k_i64)i * EACH", "units apart"),
    fault("places of four elements are mixed up", By::Computes, "at + 2 * (k_i64)step", "at + step", "units apart"),
    fault("launches write over each other", By::Computes, "left[a.before + share]", "left[share]", ""),
    fault("the result of nothing is what is there", By::Computes, "a.total == 0 ? F::nothing() :", "", "units apart"),
    fault("tickets stay drawn", By::Computes, "if (threadIdx.x == 0) a.tickets[run] = 0;", "", "tickets are left"),
    fault(
        "what a block leaves is not fenced",
        By::Computes,
        "__threadfence();\n    __syncthreads();",
        "__syncthreads();",
        "in front of a fence",
    ),
    fault(
        "a ticket is drawn while others still write",
        By::Computes,
        "__syncthreads();\n    if (threadIdx.x == 0) last",
        "if (threadIdx.x == 0) last",
        "in front of a fence",
    ),
    fault(
        "what others have left is read without a fence",
        By::Computes,
        "if (!last) return;\n    __threadfence();",
        "if (!last) return;",
        "in front of a fence",
    ),
];

/// The cases whose kernels get the faults: one that rounds and widens, and one that looks at places.
fn victims() -> Vec<FoldCase> {
    let wanted = [("SumFn", DType::F32), ("ArgmaxFn", DType::I16)];
    let is_wanted = |case: &FoldCase| !case.is_cast && wanted.contains(&(case.fold.as_str(), case.dtype));
    cases().into_iter().filter(is_wanted).collect()
}

/// Plants each fault that a check can find with this compiler, and on the host with programs below this folder. Says
/// how many these are, and which are not found.
pub fn check(nvrtc: Option<&Nvrtc>, folder: Option<&Path>) -> (usize, Vec<Finding>) {
    let victims = victims();
    let reductions: Vec<Reduction> = victims.iter().map(|case| case.reduction.clone()).collect();
    let compiles = nvrtc
        .map(|nvrtc| |text: &str| compiles::check_text(nvrtc, &reductions, text).map_err(|error| error.to_string()));
    let computes =
        folder.map(|folder| |text: &str| computes::check_text(&victims, &computes::program(&reductions, text), folder));
    let compiles = compiles.as_ref().map(|look| -> Look<'_> { look });
    let computes = computes.as_ref().map(|look| -> Look<'_> { look });
    plant(&FAULTS, &reductions_source(&reductions), compiles, computes)
}

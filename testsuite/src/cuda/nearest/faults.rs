//! Faults planted into the text of resampling, each of which a check has to find.

use super::{NearestCase, cases, check_results, check_usage, kernels, program};
use crate::cuda::Finding;
use crate::cuda::faults::{By, Fault, Look, fault, plant};
use monomorph_cuda::{Nvrtc, nearest_source};
use std::path::Path;

/// Every fault.
pub const FAULTS: [Fault; 9] = [
    fault(
        "pointers hide where they point",
        By::Compiles,
        "x[j] = *(const M *)((const char *)a.data[1] + from);",
        "{ k_u64 raw = (k_u64)a.data[1]; asm volatile(\"\" : \"+l\"(raw)); x[j] = *(const M *)((const char *)raw + \
            from); }",
        "no kind of memory",
    ),
    fault(
        "registers are chosen while the kernel runs",
        By::Compiles,
        "= x[j];",
        "= x[(j + threadIdx.x) % K_NEAREST];",
        "of stack",
    ),
    fault(
        "places of float64 are computed in float32",
        By::Computes,
        "(k_f32)(step * (k_f64)i)",
        "(k_f32)step * (k_f32)i",
        "units apart",
    ),
    fault("rows have no end", By::Computes, " && (k_i64)at < last", "", "overflow"),
    fault("one element too many", By::Computes, "index < a.count", "index <= a.count", "overflow"),
    fault("channels follow as batches do", By::Computes, "c * a.strides[0][1]", "c * a.strides[0][0]", ""),
    fault("the input lies as the output", By::Computes, "at * a.strides[1][2]", "at * a.strides[0][2]", ""),
    fault("every launch begins with the row", By::Computes, "a.start + i", "i", "units apart"),
    fault("negatives are taken as they are", By::Computes, "if (a.bits != 0)", "if (false)", "units apart"),
];

/// Plants each fault that a check can find. Says how many these are, and which are not found.
pub fn check(nvrtc: Option<&Nvrtc>, folder: Option<&Path>) -> (usize, Vec<Finding>) {
    let cases: Vec<NearestCase> = cases();
    let compiles = nvrtc.map(|nvrtc| |text: &str| check_usage(nvrtc, &cases, text).map_err(|error| error.to_string()));
    let computes = folder.map(|folder| |text: &str| check_results(&cases, &program(&cases, text), folder));
    let compiles = compiles.as_ref().map(|look| -> Look<'_> { look });
    let computes = computes.as_ref().map(|look| -> Look<'_> { look });
    plant(&FAULTS, &nearest_source(&kernels(&cases)), compiles, computes)
}

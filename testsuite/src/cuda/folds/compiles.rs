//! The kernels of folds compile to machine code that keeps its values in registers and loads words of 16 bytes. Owns
//! what is demanded of them beyond what is demanded of every kernel.

use super::FoldCase;
use crate::cuda::Finding;
use crate::cuda::compiles::{ARCH, in_halves, judge};
use monomorph_cuda::{CompileError, InputLayout, Nvrtc, Reduction, Usage, reductions_source};

/// Words that a thread has in flight.
const FLIGHT: usize = 4;

/// Compiles the kernels of these cases and says what is wrong with them.
///
/// # Errors
/// Those of a compiler that cannot be used at all; a kernel that does not compile is a finding.
pub fn check(nvrtc: &Nvrtc, cases: &[FoldCase]) -> Result<Vec<Finding>, CompileError> {
    in_halves(cases, &|cases| {
        let reductions: Vec<Reduction> = cases.iter().map(|case| case.reduction.clone()).collect();
        check_text(nvrtc, &reductions, &reductions_source(&reductions))
    })
}

/// The same for the text of a translation unit, which may be another than theirs.
///
/// # Errors
/// Those of the compiler.
pub fn check_text(nvrtc: &Nvrtc, reductions: &[Reduction], text: &str) -> Result<Vec<Finding>, CompileError> {
    let compiled = nvrtc.compile(text, ARCH)?;
    let mut findings = Vec::new();
    for reduction in reductions {
        for input in InputLayout::ALL {
            let place = reduction.kernel(input);
            let usage = Usage::of(&compiled, &place).unwrap_or_default();
            let mut wrong = judge(&usage);
            // Of complex numbers that are taken as real ones, the other half is not loaded.
            let is_whole = !reduction.input().dtype.is_complex() || reduction.compute().is_complex();
            if input == InputLayout::Dense && is_whole && usage.loads[0] < FLIGHT {
                wrong.push(format!("{} loads are of 16 bytes; {FLIGHT} are wanted", usage.loads[0]));
            }
            findings.extend(wrong.into_iter().map(|what| Finding { place: place.clone(), what }));
        }
    }
    Ok(findings)
}

//! Faults planted into the text of the kernels, each of which a check has to find. Owns the faults; a check that finds
//! none of them proves nothing.

use super::{Case, Finding, cases, compiles, computes};
use monomorph::DType;
use monomorph_cuda::{Functor, Nvrtc, source};
use std::path::Path;

/// The check that has to find a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// [`compiles`].
    Compiles,
    /// [`computes`].
    Computes,
}

/// A fault: what is written in place of what, and a word of the finding.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What is wrong.
    pub name: &'static str,
    by: By,
    from: &'static str,
    to: &'static str,
    found: &'static str,
}

pub(super) const fn fault(
    name: &'static str,
    by: By,
    from: &'static str,
    to: &'static str,
    found: &'static str,
) -> Fault {
    Fault { name, by, from, to, found }
}

/// Every fault.
pub const FAULTS: [Fault; 21] = [
    fault("two blocks of many threads share the registers", By::Compiles, "(K_THREADS, 1)", "(1024, 2)", "spills"),
    fault(
        "pointers hide where they point",
        By::Compiles,
        "const char *p = (const char *)a->data[K] + row[K];",
        "k_u64 raw = (k_u64)a->data[K]; asm volatile(\"\" : \"+l\"(raw)); const char *p = (const char *)raw + row[K];",
        "no kind of memory",
    ),
    fault(
        "elements are loaded one by one",
        By::Compiles,
        "else if (valid == F::GROUP) word",
        "else if (false) word",
        "of 16 bytes",
    ),
    fault(
        "elements are stored one by one",
        By::Compiles,
        "if (valid == F::GROUP) *(k_word",
        "if (false) *(k_word",
        "of 16 bytes",
    ),
    fault(
        "registers are chosen while the kernel runs",
        By::Compiles,
        "x..., First::load(word.of[i]));",
        "x..., First::load(word.of[(i + threadIdx.x) % N]));",
        "of stack",
    ),
    fault(
        "the end of a row is loaded whole",
        By::Computes,
        "else if (valid == F::GROUP) word",
        "else if (valid) word",
        "overflow",
    ),
    fault(
        "the end of a row is stored whole",
        By::Computes,
        "if (valid == F::GROUP) *(k_word",
        "if (valid) *(k_word",
        "overflow",
    ),
    fault("the strides of the output serve all", By::Computes, "a.strides[d][k]", "a.strides[d][0]", "overflow"),
    fault("one group too many", By::Computes, "group >= a->groups", "group > a->groups", "overflow"),
    fault("one element too many", By::Computes, "index < a->count", "index <= a->count", "in place"),
    fault("a repeated element is read on", By::Computes, "if (a->repeated >> K & 1)", "if (false)", "overflow"),
    fault("quotients are halved", By::Computes, ">> by.shift;", ">> by.shift >> 1;", "overflow"),
    fault(
        "the first operand is loaded for each",
        By::Computes,
        "place.template load<K, First>",
        "place.template load<1, First>",
        "units apart",
    ),
    fault("rows begin where the first does", By::Computes, "a->data[0] + row[0]", "a->data[0]", "order of threads"),
    fault("numbers of the call are lost", By::Computes, "(i, a.params)", "(i, typename F::Params())", "units apart"),
    fault("a number is looked for in memory", By::Computes, "if (a->data[K] == 0)", "if (false)", "null pointer"),
    fault(
        "negative floats are rounded down",
        By::Computes,
        "? (k_i64)x :",
        "? (k_i64)(x < 0 ? x - 1 : x) :",
        "units apart",
    ),
    fault("the dtype of the output serves all", By::Computes, "dtypes[k], bits[k]", "dtypes[0], bits[k]", ""),
    fault(
        "conjugates are taken as they are",
        By::Computes,
        "if (bits & K_CONJ) z = k_conj",
        "if (false) z = k_conj",
        "units apart",
    ),
    fault("results are stored unrounded", By::Computes, "x = E::load(E::store(x));", "", "units apart"),
    fault("a missing result is not told", By::Computes, "if (F::FAULTS && fault) *a.fault = 1;", "", "does not say"),
];

/// The cases whose kernels get the faults: light and heavy ones, of every kind of dtype, with numbers of a call and
/// data without a result.
fn victims() -> Vec<Case> {
    let wanted = [
        ("AddFn", DType::F32),
        ("AddFn", DType::F16),
        ("AddFn", DType::U8),
        ("AddFn", DType::C64),
        ("DivFloorFn", DType::I32),
        ("ErfinvFn", DType::F64),
    ];
    let is_wanted = |case: &Case| wanted.contains(&(case.formula.as_str(), case.dtype));
    cases().into_iter().filter(is_wanted).collect()
}

/// What a check finds in the text of kernels.
pub(super) type Look<'a> = &'a dyn Fn(&str) -> Result<Vec<Finding>, String>;

/// Plants each of these faults that a check can find into the text of kernels. Says how many these are, and which are
/// not found.
pub(super) fn plant(
    faults: &[Fault],
    kernels: &str,
    compiles: Option<Look<'_>>,
    computes: Option<Look<'_>>,
) -> (usize, Vec<Finding>) {
    let (mut planted, mut missed) = (0, Vec::new());
    for fault in faults {
        let look = if fault.by == By::Compiles { compiles } else { computes };
        let Some(look) = look else { continue };
        let text = kernels.replace(fault.from, fault.to);
        let found = if text == kernels { Err("has no place in the text any more".to_owned()) } else { look(&text) };
        planted += 1;
        let what = match found {
            Ok(findings) if findings.iter().any(|finding| finding.what.contains(fault.found)) => continue,
            Ok(findings) => match findings.first() {
                Some(other) => format!("is found as something else: {other}"),
                None => "is not found".to_owned(),
            },
            Err(problem) => problem,
        };
        missed.push(Finding { place: format!("planted fault: {}", fault.name), what });
    }
    (planted, missed)
}

/// Plants each fault that a check can find with this compiler, and on the host with programs below this folder. Says
/// how many these are, and which are not found.
pub fn check(nvrtc: Option<&Nvrtc>, folder: Option<&Path>) -> (usize, Vec<Finding>) {
    let victims = victims();
    let functors: Vec<Functor> = victims.iter().map(|case| case.functor.clone()).collect();
    let compiles =
        nvrtc.map(|nvrtc| |text: &str| compiles::check_text(nvrtc, &functors, text).map_err(|error| error.to_string()));
    let computes =
        folder.map(|folder| |text: &str| computes::check_text(&victims, &computes::program(&functors, text), folder));
    let compiles = compiles.as_ref().map(|look| -> Look<'_> { look });
    let computes = computes.as_ref().map(|look| -> Look<'_> { look });
    plant(&FAULTS, &source(&functors), compiles, computes)
}

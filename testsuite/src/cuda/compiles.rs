//! The first check: every kernel compiles to machine code that keeps its values in registers and moves words of 16
//! bytes. Owns what is demanded of a kernel.

use super::{Case, Checked, Finding};
use monomorph_cuda::{CompileError, Form, Functor, Nvrtc, Usage, source};

/// The architecture that kernels are compiled for.
pub const ARCH: &str = "sm_90";

/// CUDA's functions of an angle keep the bits of a large one in an array; so much stack is accepted where one is
/// called.
pub const ANGLE_STACK: u32 = 64;

type Found = Result<Vec<Finding>, CompileError>;

/// Compiles the kernels of these cases and says what is wrong with them.
///
/// # Errors
/// Those of a compiler that cannot be used at all; a kernel that does not compile is a finding.
pub fn check(nvrtc: &Nvrtc, cases: &[Case]) -> Result<Vec<Finding>, CompileError> {
    in_halves(cases, &|cases| {
        let functors: Vec<Functor> = cases.iter().map(|case| case.functor.clone()).collect();
        check_text(nvrtc, &functors, &source(&functors))
    })
}

/// Checks cases as one translation unit, and those of one that does not compile in halves: one case spoils the others.
pub(super) fn in_halves<C: Checked>(cases: &[C], check: &dyn Fn(&[C]) -> Found) -> Found {
    match check(cases) {
        Err(CompileError::Text { log }) => match cases {
            [case] => Ok(vec![Finding { place: case.name(), what: format!("does not compile:\n{log}") }]),
            _ => {
                let (first, rest) = cases.split_at(cases.len() / 2);
                Ok([in_halves(first, check)?, in_halves(rest, check)?].concat())
            }
        },
        other => other,
    }
}

/// The same for the text of a translation unit, which may be another than theirs.
///
/// # Errors
/// Those of the compiler.
pub fn check_text(nvrtc: &Nvrtc, functors: &[Functor], text: &str) -> Result<Vec<Finding>, CompileError> {
    let compiled = nvrtc.compile(text, ARCH)?;
    let mut findings = Vec::new();
    if !compiled.cubin.starts_with(b"\x7fELF") {
        findings.push(Finding { place: ARCH.to_owned(), what: "the machine code is no ELF file".to_owned() });
    }
    for functor in functors {
        let usage = |form| Usage::of(&compiled, &functor.kernel(form)).unwrap_or_default();
        let [vector, strided, casting] = [Form::Vector, Form::Strided, Form::Casting].map(usage);
        let judged = [vectorised(functor, &vector, &strided), judge(&strided), judge(&casting)];
        for (form, wrong) in [Form::Vector, Form::Strided, Form::Casting].into_iter().zip(judged) {
            findings.extend(wrong.into_iter().map(|what| Finding { place: functor.kernel(form), what }));
        }
    }
    Ok(findings)
}

/// What is wrong with a kernel that uses the machine so.
pub(super) fn judge(usage: &Usage) -> Vec<String> {
    let mut wrong = Vec::new();
    if usage.registers == 0 {
        wrong.push("the compiler does not report it".to_owned());
    }
    if usage.spills != [0, 0] {
        let [written, read] = usage.spills;
        wrong.push(format!("spills {written} bytes and reads {read} back; registers must do"));
    }
    let accepted = if usage.reduces_angles { ANGLE_STACK } else { 0 };
    if usage.stack > accepted {
        wrong.push(format!("has {} bytes of stack; {accepted} are accepted", usage.stack));
    }
    if let Some(first) = usage.generic.first() {
        wrong.push(format!("{} accesses name no kind of memory, the first is {first}", usage.generic.len()));
    }
    wrong
}

/// The same for the vectorised loop, which has to move whole words. An operand that the formula does not look at is not
/// loaded; the strided loop shows how many are: it loads each element once.
fn vectorised(functor: &Functor, usage: &Usage, strided: &Usage) -> Vec<String> {
    let mut wrong = judge(usage);
    let word = |size: usize| usize::from(functor.group() * size == 16);
    let inputs = functor.function().inputs();
    let unread = inputs.len().saturating_sub(strided.loads.iter().sum::<usize>() / functor.strided());
    let words: usize = inputs.iter().map(|dtype| word(dtype.size())).sum();
    let loads = words.saturating_sub(unread) * functor.groups();
    let stores = word(functor.output().size()) * functor.groups();
    if usage.loads[0] < loads || usage.stores[0] < stores {
        let [got, put] = [usage.loads[0], usage.stores[0]];
        wrong.push(format!("{got} loads and {put} stores are of 16 bytes; {loads} and {stores} are wanted"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::cases;
    use monomorph::DType;

    #[test]
    fn every_fault_is_a_finding() {
        let add = cases().into_iter().find(|case| case.formula == "AddFn" && case.dtype == DType::F32).unwrap().functor;
        let fine = Usage { registers: 30, loads: [4, 9], stores: [2, 4], ..Usage::default() };
        let strided = Usage { registers: 30, loads: [0, 8], stores: [0, 4], ..Usage::default() };
        let judged = |usage: &Usage| vectorised(&add, usage, &strided).len();
        assert_eq!(judged(&fine), 0);
        assert_eq!(judged(&Usage { registers: 0, ..fine.clone() }), 1);
        assert_eq!(judged(&Usage { spills: [8, 0], ..fine.clone() }), 1);
        assert_eq!(judged(&Usage { stack: 8, ..fine.clone() }), 1);
        assert_eq!(judged(&Usage { stack: 64, reduces_angles: true, ..fine.clone() }), 0);
        assert_eq!(judged(&Usage { stack: 72, reduces_angles: true, ..fine.clone() }), 1);
        assert_eq!(judged(&Usage { generic: vec!["ld.u32".to_owned()], ..fine.clone() }), 1);
        assert_eq!(judged(&Usage { loads: [3, 12], ..fine.clone() }), 1);
        assert_eq!(judged(&Usage { stores: [1, 8], ..fine.clone() }), 1);
        // A formula that looks at one operand only loads one.
        let one = Usage { loads: [0, 4], ..strided.clone() };
        assert!(vectorised(&add, &Usage { loads: [2, 5], ..fine }, &one).is_empty());
        assert!(judge(&strided).is_empty());
    }

    #[test]
    fn every_formula_of_the_table_is_a_case() {
        let cases = cases();
        for formula in crate::formulas::formulas() {
            let name = formula.path.rsplit("::").next().unwrap().trim();
            for dtype in formula.domain() {
                let found = cases.iter().filter(|case| case.formula == name && case.dtype == dtype).count();
                assert_eq!(found, 1, "{name} at {dtype}");
            }
        }
    }
}

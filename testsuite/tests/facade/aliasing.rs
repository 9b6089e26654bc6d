//! Outputs that share memory with an operand: the same elements are computed in place, part of them is an error, and
//! neither depends on the layout or on how many elements there are.

use monomorph::crates::core::ErrorKind;
use monomorph::crates::core::structured::Operand;
use monomorph::crates::ops::pointwise::OutputKind;
use monomorph::crates::ops::record::Inputs;
use monomorph::{Cpu, DType, Geometry, Tensor};
use monomorph_testsuite::formulas::{Formula, formulas};
use monomorph_testsuite::layout::{Layout, Random, convert, mixed, tensor, values};

/// One operand of each kind that the formula takes.
fn operands(formula: &Formula, dtype: DType, geometry: &Geometry, layout: Layout) -> Vec<Tensor<Cpu>> {
    let mut random = Random::new(dtype as u64 + 1);
    (0..formula.operands)
        .map(|k| {
            let kind = if k < formula.masks { DType::Bool } else { dtype };
            // No zero: integers are divided, too.
            let numbers: Vec<_> = mixed(kind, Inputs::Small, 97, &mut random)
                .into_iter()
                .map(|v| if v.to_bool() || kind == DType::Bool { v } else { monomorph::Scalar::Int(1) })
                .collect();
            tensor(layout.geometry(kind, geometry.sizes()), &numbers)
        })
        .collect()
}

#[test]
fn an_output_may_be_an_operand_and_may_not_overlap_one() {
    let (mut same, mut refused) = (0, 0);
    for formula in formulas().iter().filter(|f| f.operands > 0) {
        for dtype in formula.domain() {
            let result = match formula.rule.output() {
                OutputKind::Common => dtype,
                OutputKind::Truth => DType::Bool,
                OutputKind::Magnitude => dtype.to_real(),
            };
            for (sizes, layout) in [&[6][..], &[3, 4], &[2, 3, 2, 3], &[9, 70]]
                .into_iter()
                .flat_map(|sizes| Layout::WRITABLE.map(move |layout| (sizes, layout)))
            {
                let geometry = layout.geometry(dtype, sizes);
                // Of the dtype, so that a number that takes part in promotion changes nothing.
                let params = vec![convert(monomorph::Scalar::Int(1), dtype); formula.params];
                for alias in formula.masks..formula.operands {
                    if dtype != result {
                        continue;
                    }
                    let what = format!("{} of {dtype} {sizes:?} {layout:?}, output is operand {alias}", formula.path);
                    let given = operands(formula, dtype, &geometry, layout);
                    let want = {
                        let lent: Vec<Operand<'_>> = given.iter().map(Into::into).collect();
                        values(&(formula.cpu.functional)(&lent, &params).unwrap_or_else(|e| panic!("{what}: {e}")))
                    };
                    let mut out = given[alias].clone();
                    let lent: Vec<Operand<'_>> = given.iter().map(Into::into).collect();
                    (formula.cpu.out)(&lent, &params, &mut out).unwrap_or_else(|e| panic!("{what}: {e}"));
                    let got = values(&out);
                    let equal = |(a, b): (&monomorph::Scalar, &monomorph::Scalar)| {
                        monomorph_testsuite::naive::distance(dtype, *a, *b) == 0
                    };
                    assert!(got.iter().zip(&want).all(equal), "{what}:\n got {got:?}\nwant {want:?}");
                    same += 1;
                    refused += u32::from(shifted(formula, &given, alias, &params, &what));
                }
            }
        }
    }
    assert!(same > 1000 && refused > 400, "{same} {refused}");
}

/// An output that begins one element behind an operand: an error if both are dense. True if it was one.
fn shifted(formula: &Formula, given: &[Tensor<Cpu>], alias: usize, params: &[monomorph::Scalar], what: &str) -> bool {
    let g = given[alias].geometry();
    let Ok(moved) = Geometry::new(g.dtype(), g.sizes(), g.strides(), g.offset() + 1) else { return false };
    let mut out = given[alias].with_geometry(moved).expect("two spare elements");
    let before = out.storage_to_vec().unwrap();
    let lent: Vec<Operand<'_>> = given.iter().map(Into::into).collect();
    let dense = monomorph_core::strides::is_non_overlapping_and_dense(g.sizes(), g.strides());
    match (formula.cpu.out)(&lent, params, &mut out) {
        // What the first call wrote may hold zeros, and this one reads them.
        Err(error) if *error.kind() == ErrorKind::DivisionByZero && !dense => false,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::PartialOverlap { .. }), "{what}, moved: {error}");
            assert_eq!(out.storage_to_vec().unwrap(), before, "{what}, moved");
            true
        }
        Ok(()) => {
            let checked = formula.rule.flags().checks_overlap();
            assert!(!dense || !checked, "{what}, moved: partial overlap was accepted");
            false
        }
    }
}

//! What formulas say of float16 and bfloat16.

use monomorph::crates::core::structured::Operand;
use monomorph::{Cpu, DType, Tensor, bf16, crates::ops};
use monomorph_testsuite::formulas::formulas;

#[test]
fn halves_go_through_the_loop_of_float32_where_and_only_where_it_is_theirs() {
    for formula in formulas() {
        let tuning = &formula.tuning;
        let Some(single) = (formula.symbolic)(DType::F32) else { continue };
        for half in [DType::F16, DType::BF16] {
            let Some(function) = (formula.symbolic)(half) else { continue };
            let same = function.c_source("f") == single.c_source("f");
            assert!(same || !tuning.halves_as_f32, "{}: {half} has a formula of its own", formula.path);
            // A light formula may have a loop that spares it the conversion.
            assert!(!same || tuning.halves_as_f32 || tuning.light, "{}: tune it by `HALVES_AS_F32`", formula.path);
        }
    }
}

/// Every bfloat16 in the order of `factor` times its bits.
fn every(factor: u16) -> Tensor<Cpu> {
    let all: Vec<bf16> = (0..=u16::MAX).map(|bits| bf16::from_bits(bits.wrapping_mul(factor))).collect();
    Tensor::from_slice(&all, [1 << 16]).expect("as many as there are")
}

fn to(dtype: DType, t: &Tensor<Cpu>) -> Tensor<Cpu> {
    ops::copies::to_dtype(t, dtype, false, false, None).expect("any dtype is cast to any")
}

fn bits(t: &Tensor<Cpu>) -> Vec<u16> {
    let values = t.to_vec::<bf16>().expect("a tensor of bfloat16");
    values.iter().map(|x| if x.is_nan() { 0x7fc0 } else { x.to_bits() }).collect()
}

#[test]
fn what_is_not_rounded_needs_no_rounding() {
    let exact: Vec<_> = formulas().into_iter().filter(|formula| formula.tuning.exact).collect();
    assert!(exact.len() > 10);
    for formula in exact {
        let mask = Tensor::<Cpu>::from_slice(&[true, false, true, true].repeat(1 << 14), [1 << 16]).expect("a mask");
        let halves: Vec<Tensor<Cpu>> = [1, 25_173, 4_093].into_iter().map(every).collect();
        let singles: Vec<Tensor<Cpu>> = halves.iter().map(|t| to(DType::F32, t)).collect();
        let call = |tensors: &[Tensor<Cpu>]| {
            let masks = std::iter::repeat_n(&mask, formula.masks);
            let operands: Vec<Operand<'_>> = masks.chain(tensors).take(formula.operands).map(Operand::from).collect();
            (formula.cpu.functional)(&operands, &[]).expect(formula.path)
        };
        let (half, single) = (call(&halves), call(&singles));
        let rounded = to(DType::BF16, &single);
        let lost = to(DType::F32, &rounded).to_vec::<f32>().expect("float32");
        let single = single.to_vec::<f32>().expect("float32");
        let differ = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits() && !a.is_nan();
        assert!(!single.iter().zip(&lost).any(differ), "{}: its results are rounded", formula.path);
        assert!(bits(&half) == bits(&rounded), "{}: bfloat16 differs from float32", formula.path);
    }
}

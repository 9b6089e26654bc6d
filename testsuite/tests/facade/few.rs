//! Operands that take few values: what a formula makes of bools, and of integers that it does not tell apart.

use monomorph::crates::core::MemoryFormat;
use monomorph::crates::core::structured::Operand;
use monomorph::{Cpu, DType, Geometry, Result, Scalar, Tensor, crates::ops};
use monomorph_testsuite::formulas::{Formula, formulas};

/// Both ways: every int16 has the same result, or not, as the formula says. In runs too short to be worth asking first.
#[test]
fn integers_are_alike_to_a_formula_that_says_so() {
    let mut alike = 0;
    for formula in formulas().into_iter().filter(|formula| formula.operands == 1 && formula.masks == 0) {
        if (formula.symbolic)(DType::I16).is_none() {
            continue;
        }
        let params: Vec<Scalar> = (1..).take(formula.params).map(Scalar::Int).collect();
        let mut results = (i16::MIN..=i16::MAX).step_by(32).map(|start| {
            let run: Vec<i16> = (start..=start.saturating_add(31)).collect();
            let of = Tensor::<Cpu>::from_slice(&run, [32]).expect("so many");
            bytes(&(formula.cpu.functional)(&[Operand::from(&of)], &params).expect(formula.path))
        });
        let same = results.next().is_some_and(|first| {
            let one = &first[..first.len() / 32];
            first.chunks(one.len()).all(|x| x == one) && results.all(|other| other == first)
        });
        assert_eq!(same, formula.tuning.integers_alike, "{}", formula.path);
        alike += usize::from(same);
    }
    assert!(alike > 3);
}

const ROWS: i64 = 20;
const COLS: i64 = 17;

/// A formula over tensors of zeros and ones at these places, the other operands being numbers.
fn compute(formula: &Formula, places: &[usize], of: &[Tensor<Cpu>; 2]) -> Result<Tensor<Cpu>> {
    let number = Operand::from(Scalar::Int(2));
    let mut tensors = of.iter();
    let mut operand = |k| if places.contains(&k) { tensors.next().map(Operand::from) } else { None }.unwrap_or(number);
    let operands: Vec<Operand<'_>> = (0..formula.operands).map(&mut operand).collect();
    (formula.cpu.functional)(&operands, &vec![Scalar::Int(2); formula.params])
}

/// Calls too small to be worth asking first are computed element by element: what they give is what large calls give.
#[test]
fn large_calls_give_what_small_ones_do() {
    let bits: Vec<bool> = (0..2 * ROWS * COLS + 5).map(|i| i * i % 7 < 3 && i % 5 != 1).collect();
    let storage = Tensor::<Cpu>::from_slice(&bits, [2 * ROWS * COLS + 5]).expect("so many");
    let mut checked = [0; 2];
    for dtype in [DType::Bool, DType::I16] {
        let storage = ops::copies::to_dtype(&storage, dtype, false, true, None).expect("any dtype is cast to any");
        // Dense, transposed, with gaps, one row for all, one column for all.
        for strides in [[COLS, 1], [1, ROWS], [2 * COLS, 2], [0, 1], [1, 0]] {
            let view = |sizes: &[i64], at: i64| {
                [at, at + 5].map(|at| {
                    storage
                        .with_geometry(Geometry::new(dtype, sizes, &strides, at).expect("in bounds"))
                        .expect("in bounds")
                })
            };
            let whole = view(&[ROWS, COLS], 0);
            for formula in formulas() {
                let pair = (formula.operands > 1).then_some(vec![0, 1]);
                for places in (0..formula.operands).map(|k| vec![k]).chain(pair) {
                    let Ok(all) = compute(&formula, &places, &whole) else { continue };
                    for row in 0..ROWS {
                        let one = compute(&formula, &places, &view(&[1, COLS], row * strides[0])).expect(formula.path);
                        let geometry = all.geometry();
                        let at = geometry.offset() + row * geometry.strides()[0];
                        let of = Geometry::new(all.dtype(), &[1, COLS], geometry.strides(), at).expect("in bounds");
                        let of = all.with_geometry(of).expect("in bounds");
                        let same = bytes(&of) == bytes(&one);
                        assert!(same, "{} of {dtype} by {strides:?} at {places:?}: {of} but {one}", formula.path);
                        checked[places.len() - 1] += 1;
                    }
                }
            }
        }
    }
    assert!(checked.iter().all(|&n| n > 5_000), "{checked:?}");
}

fn bytes(t: &Tensor<Cpu>) -> Vec<u8> {
    let copy = ops::copies::to_dtype(t, t.dtype(), false, true, Some(MemoryFormat::Contiguous));
    copy.and_then(|t| t.storage_to_vec()).expect("a tensor of the host")
}

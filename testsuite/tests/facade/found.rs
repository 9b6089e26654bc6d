//! The element that `max`, `min`, `argmax` and `argmin` find in long rows: the first of equal ones, wherever it lies.

use crate::reductions::{numbers, run};
use monomorph::prelude::*;
use monomorph::{IValue, Result};
use monomorph_testsuite::layout::{Layout, Random, tensor};

/// Elements of a row: `usual` ones but for two, which the operator takes for equal and prefers to all others.
#[derive(Clone, Copy)]
struct Found {
    operators: [&'static str; 2],
    usual: f64,
    two: [f64; 2],
}

const LARGEST: [&str; 2] = ["max.dim", "argmax"];
const SMALLEST: [&str; 2] = ["min.dim", "argmin"];

fn cases(dtype: DType) -> Vec<Found> {
    let case = |operators, usual, two| Found { operators, usual, two };
    let mut cases = vec![case(LARGEST, 1.0, [3.0, 3.0]), case(SMALLEST, 5.0, [2.0, 2.0])];
    if dtype.is_floating() {
        let nan = f64::NAN;
        cases.extend([case(LARGEST, f64::INFINITY, [nan, -nan]), case(SMALLEST, f64::NEG_INFINITY, [nan, -nan])]);
        cases.extend([case(LARGEST, -1.0, [-0.0, 0.0]), case(SMALLEST, 1.0, [0.0, -0.0])]);
    }
    cases
}

/// Both operators along a dimension of a matrix; `places` are those of the two elements, in each row.
fn check(x: &Tensor<Cpu>, dim: i64, case: Found, places: &[[usize; 2]]) -> Result<()> {
    let what = format!("{:?} of {:?} along {dim}, {:?} at {places:?}", case.operators, x.geometry(), case.two);
    let [both, index] = case.operators;
    let arguments = || vec![x.clone().into(), IValue::Int(dim), IValue::Bool(false)];
    let found = run(both, arguments())?;
    let indices: Vec<Scalar> = places.iter().map(|&[first, second]| Scalar::Int(first.min(second) as i64)).collect();
    assert_eq!(numbers(&found[1]), indices, "{what}");
    assert_eq!(numbers(&run(index, arguments())?[0]), indices, "{what}");
    for (value, &[first, second]) in numbers(&found[0]).into_iter().zip(places) {
        // The value is that element itself: the zero with its sign.
        let (got, want) = (value.to_f64(), case.two[usize::from(second < first)]);
        assert!(got.is_nan() && want.is_nan() || got.to_bits() == want.to_bits(), "{what}: {got}");
    }
    Ok(())
}

#[test]
fn the_first_of_equal_elements_is_found_wherever_it_lies() -> Result<()> {
    let mut random = Random::new(91);
    for dtype in DType::ALL.into_iter().filter(|&dtype| !dtype.is_complex() && dtype != DType::Bool) {
        for n in [128, 200, 1024, 4096, 40_000] {
            for case in cases(dtype) {
                let rows = if n > 4096 { 1 } else { random.pick(&[1, 5, 16]) };
                let ends = [0, 1, n / 2, n - 1];
                let mut place = |_| if random.below(3) == 0 { ends[random.below(4)] } else { random.below(n) };
                let places: Vec<[usize; 2]> = (0..rows).map(|row| [place(row), place(row)]).collect();
                let mut elements = vec![Scalar::Float(case.usual); rows * n];
                for (row, two) in places.iter().enumerate() {
                    for (&place, &x) in two.iter().zip(&case.two).rev() {
                        elements[row * n + place] = Scalar::Float(x);
                    }
                }
                let sizes = [rows as i64, n as i64];
                let x = tensor(Layout::Contiguous.geometry(dtype, &sizes), &elements);
                check(&x, 1, case, &places)?;
                // Rows whose elements lie apart, where lanes are rows, and a dense row that is a dimension of its own.
                let columns = x.t()?.contiguous()?;
                check(&columns, 0, case, &places)?;
                check(&columns.t()?, 1, case, &places)?;
            }
        }
    }
    Ok(())
}

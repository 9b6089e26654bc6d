//! Singular values, and the norms that follow from them.

use monomorph::prelude::*;
use monomorph::{Cpu, IValue, Result, Tensor, call, ops, tensor};
use monomorph_testsuite::layout::Random;

fn values(x: &Tensor<Cpu>) -> Vec<f64> {
    let values = ops::linalg_svdvals(x).expect("singular values");
    values.to(F64).expect("doubles").to_vec().expect("their elements")
}

fn matrix(random: &mut Random, rows: i64, columns: i64, scale: f64) -> Tensor<Cpu> {
    let elements =
        (0..rows * columns).map(|_| (random.below(1 << 20) as f64 / 1e6 - 0.5) * scale).collect::<Vec<f64>>();
    Tensor::from_vec(elements, (rows, columns)).expect("a matrix")
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

#[test]
fn squares_sum_to_those_of_the_elements_whatever_the_scale() {
    let mut random = Random::new(1);
    for (rows, columns) in [(1, 1), (1, 7), (7, 1), (3, 3), (9, 4), (4, 9), (40, 33)] {
        // The squares of the largest overflow, and those of the smallest vanish.
        for scale in [1.0, 1e300, 1e-290] {
            let x = matrix(&mut random, rows, columns, scale);
            let found = values(&x);
            assert_eq!(found.len() as i64, rows.min(columns));
            assert!(found.windows(2).all(|pair| pair[0] >= pair[1]) && found.iter().all(|value| *value >= 0.0));
            let square = |x: &[f64]| x.iter().map(|x| (x / scale).powi(2)).sum::<f64>();
            let elements = x.to_vec::<f64>().expect("its elements");
            assert!(close(square(&found), square(&elements), 1e-13), "{rows} x {columns}, {scale}: {found:?}");
            let other = values(&x.t().expect("its transpose"));
            assert!(found.iter().zip(&other).all(|(a, b)| close(*a, *b, 1e-13)), "{found:?} {other:?}");
        }
    }
}

#[test]
fn values_of_few_directions_are_known() -> Result<()> {
    // Of rank 1: the product of the lengths, and zeros.
    let x = ops::outer(&tensor![3.0f64, 4.0], &tensor![2.0f64, 1.0, 2.0])?;
    let found = values(&x);
    assert!(close(found[0], 15.0, 1e-14) && found[1].abs() < 1e-13, "{found:?}");
    // Small values beside large ones keep their digits.
    let x = tensor![[1e20f64, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1e-20, 0.0]];
    let found = values(&x);
    assert!([1e20, 1.0, 1e-20].iter().zip(&found).all(|(a, b)| close(*a, *b, 1e-14)), "{found:?}");
    assert_eq!(values(&tensor![[0.0f32, 0.0], [0.0, 0.0]]), [0.0, 0.0]);
    assert!(values(&tensor![[f32::INFINITY, 0.0], [0.0, 0.0]]).iter().all(|value| value.is_nan()));
    assert!(ops::linalg_svdvals(&tensor![[f32::NAN, 0.0], [0.0, 0.0]]).is_err());
    assert!(ops::linalg_svdvals(&tensor![[1i64, 0], [0, 1]]).is_err());
    Ok(())
}

#[test]
fn norms_are_reductions_of_the_values() -> Result<()> {
    let x = matrix(&mut Random::new(2), 5, 4, 1.0);
    let found = values(&x);
    let norm = |order: IValue, name: &str| -> Result<f64> {
        let mut stack = vec![x.clone().into(), order];
        call(name, &mut stack)?;
        let norm = stack[0].as_tensor().expect("a tensor").item()?.to_f64();
        Ok(norm)
    };
    assert!(close(norm(2.0.into(), "linalg_matrix_norm")?, found[0], 1e-14));
    assert!(close(norm((-2.0).into(), "linalg_matrix_norm")?, found[3], 1e-14));
    let sum: f64 = found.iter().sum();
    assert!(close(norm(IValue::Str("nuc".into()), "linalg_matrix_norm.str_ord")?, sum, 1e-14));
    assert!(close(norm(false.into(), "nuclear_norm")?, sum, 1e-14));
    assert!(close(norm(IValue::None, "linalg_cond")?, found[0] / found[3], 1e-14));
    Ok(())
}

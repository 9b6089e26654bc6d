//! Linear algebra against what defines it: factors multiply to the matrix, solutions solve.

use monomorph::prelude::*;
use monomorph::{Complex64, Cpu, ErrorKind, IValue, Result, Tensor, call, ops, tensor};
use monomorph_testsuite::layout::Random;

/// Sizes at which blocks and panels begin and end.
const SIZES: [i64; 10] = [1, 2, 3, 5, 16, 17, 32, 33, 70, 131];

const DTYPES: [(DType, f64); 4] = [(F32, 2e-5), (F64, 1e-12), (C64, 2e-5), (C128, 1e-12)];

fn matrix(random: &mut Random, sizes: &[i64], dtype: DType) -> Tensor<Cpu> {
    let mut numbers = || -> Vec<f64> {
        (0..sizes.iter().product::<i64>()).map(|_| random.below(1 << 20) as f64 / (1 << 19) as f64 - 1.0).collect()
    };
    let [real, imaginary] = [numbers(), numbers()].map(|x| Tensor::from_vec(x, sizes).expect("a tensor"));
    if dtype.is_complex() {
        return ops::complex(&real, &imaginary).and_then(|x| x.to(dtype)).expect("complex numbers");
    }
    real.to(dtype).expect("real numbers")
}

/// One that is symmetric or Hermitian, and positive definite.
fn definite(random: &mut Random, sizes: &[i64], dtype: DType) -> Tensor<Cpu> {
    let x = matrix(random, sizes, dtype);
    let size = *sizes.last().expect("a matrix");
    let one = ops::eye(size, dtype).expect("an identity");
    x.matmul(&adjoint(&x)).and_then(|square| square.add(&one)).expect("a sum")
}

fn adjoint(x: &Tensor<Cpu>) -> Tensor<Cpu> {
    ops::conj(&x.transpose(-2, -1).expect("a transpose")).expect("conjugates")
}

/// Calls an operator by name.
pub(crate) fn run(name: &str, arguments: Vec<IValue>) -> Result<Vec<Tensor<Cpu>>> {
    let mut stack = arguments;
    call(name, &mut stack)?;
    Ok(stack.iter().map(|value| value.as_tensor().and_then(|t| t.downcast_ref().cloned()).expect("a tensor")).collect())
}

/// The largest absolute value.
fn largest(x: &Tensor<Cpu>) -> f64 {
    let x = ops::abs(x).and_then(|x| x.to(F64)?.contiguous()?.to_vec::<f64>()).expect("absolute values");
    x.into_iter().fold(0.0, f64::max)
}

/// Rounding is in proportion to the largest element.
fn assert_close(found: &Tensor<Cpu>, want: &Tensor<Cpu>, tolerance: f64, what: &str) {
    assert_eq!(found.sizes(), want.sizes(), "{what}");
    if found.numel() == 0 {
        return;
    }
    let difference = largest(&found.sub(want).expect("a difference"));
    assert!(difference <= tolerance * largest(want).max(1.0), "{what}: off by {difference}");
}

fn identity(like: &Tensor<Cpu>, size: i64) -> Tensor<Cpu> {
    let mut sizes = like.sizes().to_vec();
    let last = sizes.len() - 2;
    sizes[last..].fill(size);
    ops::eye(size, like.dtype()).and_then(|x| x.expand(&sizes[..])).expect("an identity")
}

#[test]
fn lu_factors_multiply_to_the_matrix_and_no_factor_is_above_one() -> Result<()> {
    let mut random = Random::new(1);
    for n in SIZES {
        for (rows, columns) in [(n, n), (n, 2 * n + 1), (3 * n, n)] {
            for (dtype, tolerance) in DTYPES {
                let x = matrix(&mut random, &[2, rows, columns], dtype);
                let what = format!("{rows} x {columns}, {dtype}");
                let parts = run("linalg_lu", vec![x.clone().into(), true.into()])?;
                let (p, l, u) = (&parts[0], &parts[1], &parts[2]);
                assert_close(&p.matmul(l)?.matmul(u)?, &x, tolerance, &what);
                // Of complex numbers it is the sum of both parts that is not above 1.
                let most = largest(l);
                assert!(most <= if dtype.is_complex() { 1.5 } else { 1.0 }, "{what}: {most}");
                let lower = run("tril", vec![l.clone().into(), 0.into()])?;
                assert_close(&lower[0], l, 0.0, &what);
                let factored = run("linalg_lu_factor_ex", vec![x.into(), true.into(), false.into()])?;
                let arguments = vec![factored[0].clone().into(), factored[1].clone().into(), true.into(), true.into()];
                for (part, again) in parts.iter().zip(run("lu_unpack", arguments)?) {
                    assert_close(&again, part, 0.0, &what);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn solutions_solve_from_both_sides_and_inverses_are_inverse() -> Result<()> {
    let mut random = Random::new(2);
    for n in SIZES {
        for (dtype, tolerance) in DTYPES {
            let one = identity(&matrix(&mut random, &[1, n, n], dtype), n);
            // Far from singular, so that rounding is not amplified.
            let a = matrix(&mut random, &[2, n, n], dtype).add(&one.mul(n as f64)?)?;
            let what = format!("{n}, {dtype}");
            let b = matrix(&mut random, &[3, 1, n, 40], dtype);
            let x = ops::linalg_solve(&a, &b)?;
            assert_close(&a.matmul(&x)?, &b.expand([3, 2, n, 40])?, tolerance, &what);
            let right = adjoint(&b);
            let x = ops::linalg_solve_with(&a, &right, LinalgSolve { left: false, ..Default::default() })?;
            assert_close(&x.matmul(&a)?, &right.expand([3, 2, 40, n])?, tolerance, &what);
            let vectors = matrix(&mut random, &[2, n], dtype);
            let x = ops::linalg_solve(&a, &vectors)?;
            assert_close(&a.matmul(&x.unsqueeze(-1)?)?, &vectors.unsqueeze(-1)?, tolerance, &what);
            assert_close(&ops::linalg_inv(&a)?.matmul(&a)?, &one.expand(a.sizes())?, tolerance, &what);
            let factored = run("linalg_lu_factor_ex", vec![a.clone().into(), true.into(), false.into()])?;
            for (left, conjugate) in [(true, true), (true, false), (false, true), (false, false)] {
                let of = if conjugate { adjoint(&a) } else { a.clone() };
                let b = if left { b.clone() } else { right.clone() };
                let x = run(
                    "linalg_lu_solve",
                    vec![
                        factored[0].clone().into(),
                        factored[1].clone().into(),
                        b.clone().into(),
                        left.into(),
                        conjugate.into(),
                    ],
                )?;
                let found = if left { of.matmul(&x[0])? } else { x[0].matmul(&of)? };
                assert_close(&found, &b.expand(found.sizes())?, tolerance, &format!("{what}, {left}, {conjugate}"));
            }
        }
    }
    Ok(())
}

#[test]
fn determinants_multiply() -> Result<()> {
    let mut random = Random::new(3);
    for n in [1, 2, 3, 8, 20] {
        for (dtype, tolerance) in DTYPES {
            let [a, b] = [(); 2].map(|()| matrix(&mut random, &[n, n], dtype));
            let det = |x: &Tensor<Cpu>| ops::linalg_det(x);
            let (product, both) = (det(&a)?.mul(&det(&b)?)?, det(&a.matmul(&b)?)?);
            assert_close(&product, &both, 50.0 * tolerance, &format!("{n}, {dtype}"));
            let (sign, logarithm) = ops::linalg_slogdet(&a)?;
            assert_close(&sign.mul(&ops::exp(&logarithm)?)?, &det(&a)?, 10.0 * tolerance, &format!("{n}, {dtype}"));
        }
    }
    // Exchanges of rows count, and nothing overflows on the way.
    assert_eq!(ops::linalg_det(&tensor![[0.0f64, 1.0], [1.0, 0.0]])?.item()?.to_f64(), -1.0);
    let (sign, logarithm) = ops::linalg_slogdet(&tensor![[1e200f64, 0.0], [0.0, -1e200]])?;
    assert!(sign.item()?.to_f64() == -1.0 && (logarithm.item()?.to_f64() - 400.0 * 10f64.ln()).abs() < 1e-9);
    Ok(())
}

#[test]
fn only_one_triangle_is_read() -> Result<()> {
    let mut random = Random::new(4);
    for n in SIZES {
        for (dtype, tolerance) in DTYPES {
            let a = definite(&mut random, &[2, n, n], dtype);
            let nan = ops::full_like(&a, f64::NAN)?;
            let triangle = |upper: bool, diagonal: i64| -> Result<Tensor<Cpu>> {
                let [name, other] = if upper { ["triu", "tril"] } else { ["tril", "triu"] };
                let kept = &run(name, vec![a.clone().into(), diagonal.into()])?[0];
                let hidden = &run(other, vec![nan.clone().into(), if upper { -1 } else { 1 }.into()])?[0];
                kept.add(hidden)
            };
            for upper in [true, false] {
                let what = format!("{n}, {dtype}, upper: {upper}");
                let half = triangle(upper, 0)?;
                let factor = ops::linalg_cholesky_with(&half, LinalgCholesky { upper, ..Default::default() })?;
                let square =
                    if upper { adjoint(&factor).matmul(&factor)? } else { factor.matmul(&adjoint(&factor))? };
                assert_close(&square, &a, tolerance, &what);
                let name = if upper { "U" } else { "L" };
                let (values, vectors) = ops::linalg_eigh_with(&half, LinalgEigh { UPLO: name, ..Default::default() })?;
                let scaled = vectors.mul(&values.unsqueeze(-2)?)?;
                assert_close(&scaled.matmul(&adjoint(&vectors))?, &a, tolerance, &what);
                assert_close(
                    &adjoint(&vectors).matmul(&vectors)?,
                    &identity(&a, n).expand(a.sizes())?,
                    tolerance,
                    &what,
                );
                let b = matrix(&mut random, &[2, n, 37], dtype);
                let x = ops::linalg_solve_triangular(&half, &b, upper)?;
                let kept = &run(if upper { "triu" } else { "tril" }, vec![a.clone().into(), 0.into()])?[0];
                assert_close(&kept.matmul(&x)?, &b, 10.0 * tolerance, &what);
                let arguments = vec![b.clone().into(), factor.clone().into(), upper.into()];
                assert_close(&a.matmul(&run("cholesky_solve", arguments)?[0])?, &b, 10.0 * tolerance, &what);
                let inverse = &run("cholesky_inverse", vec![factor.into(), upper.into()])?[0];
                assert_close(&a.matmul(inverse)?, &identity(&a, n).expand(a.sizes())?, 10.0 * tolerance, &what);
            }
        }
    }
    Ok(())
}

#[test]
fn orthogonal_factors_are_orthogonal() -> Result<()> {
    let mut random = Random::new(5);
    for (rows, columns) in [(1, 1), (3, 3), (7, 4), (4, 7), (33, 20), (70, 71)] {
        for (dtype, tolerance) in DTYPES {
            let x = matrix(&mut random, &[2, rows, columns], dtype);
            for mode in ["reduced", "complete"] {
                let (q, r) = ops::linalg_qr_with(&x, LinalgQr { mode, ..Default::default() })?;
                let what = format!("{rows} x {columns}, {dtype}, {mode}");
                assert_close(&q.matmul(&r)?, &x, tolerance, &what);
                let size = q.sizes()[2];
                assert_close(&adjoint(&q).matmul(&q)?, &identity(&q, size), tolerance, &what);
                assert_close(&run("triu", vec![r.clone().into(), 0.into()])?[0], &r, 0.0, &what);
            }
            let parts = run("geqrf", vec![x.clone().into()])?;
            let (q, _) = ops::linalg_qr_with(&x, LinalgQr { mode: "complete", ..Default::default() })?;
            let other = matrix(&mut random, &[2, rows, 20], dtype);
            for (left, conjugate) in [(true, true), (true, false), (false, true), (false, false)] {
                let other = if left { other.clone() } else { adjoint(&other) };
                let of = if conjugate { adjoint(&q) } else { q.clone() };
                let want = if left { of.matmul(&other)? } else { other.matmul(&of)? };
                let found = run(
                    "ormqr",
                    vec![parts[0].clone().into(), parts[1].clone().into(), other.into(), left.into(), conjugate.into()],
                )?;
                assert_close(&found[0], &want, tolerance, &format!("{rows} x {columns}, {dtype}"));
            }
        }
    }
    Ok(())
}

#[test]
fn singular_vectors_and_eigenvectors_give_the_matrix_back() -> Result<()> {
    let mut random = Random::new(6);
    for (rows, columns) in [(1, 1), (2, 2), (6, 4), (4, 9), (30, 27), (60, 20)] {
        for (dtype, tolerance) in DTYPES {
            let x = matrix(&mut random, &[2, rows, columns], dtype);
            let what = format!("{rows} x {columns}, {dtype}");
            for full in [true, false] {
                let parts = run("linalg_svd", vec![x.clone().into(), full.into(), IValue::None])?;
                let (u, values, vh) = (&parts[0], &parts[1], &parts[2]);
                let count = rows.min(columns);
                let thin = u.narrow(-1, 0, count)?.mul(&values.unsqueeze(-2)?)?;
                assert_close(&thin.matmul(&vh.narrow(-2, 0, count)?)?, &x, tolerance, &what);
                assert_close(&adjoint(u).matmul(u)?, &identity(u, u.sizes()[2]), tolerance, &what);
                assert_close(&vh.matmul(&adjoint(vh))?, &identity(vh, vh.sizes()[1]), tolerance, &what);
            }
            let pinv =
                run("linalg_pinv.atol_rtol_float", vec![x.clone().into(), IValue::None, IValue::None, false.into()])?;
            assert_close(&x.matmul(&pinv[0])?.matmul(&x)?, &x, 10.0 * tolerance, &what);
            if rows == columns {
                let parts = run("linalg_eig", vec![x.clone().into()])?;
                let x = x.to(dtype.to_complex())?;
                assert_close(&x.matmul(&parts[1])?, &parts[1].mul(&parts[0].unsqueeze(-2)?)?, tolerance, &what);
                let alone = run("linalg_eigvals", vec![x.into()])?;
                let sum = |x: &Tensor<Cpu>| ops::sum(x, -1);
                assert_close(&sum(&alone[0])?, &sum(&parts[0])?, 10.0 * tolerance, &what);
            }
        }
    }
    Ok(())
}

#[test]
fn least_squares_leave_what_no_column_reaches_and_are_of_least_norm() -> Result<()> {
    let mut random = Random::new(8);
    for (rows, columns) in [(5, 3), (3, 5), (4, 4), (40, 20)] {
        for (dtype, tolerance) in DTYPES {
            let a = matrix(&mut random, &[2, rows, columns], dtype);
            let b = matrix(&mut random, &[2, rows, 3], dtype);
            let what = format!("{rows} x {columns}, {dtype}");
            for driver in ["gels", "gelsy", "gelsd"] {
                let what = format!("{what}, {driver}");
                let name = IValue::Str(driver.into());
                let parts = run("linalg_lstsq", vec![a.clone().into(), b.clone().into(), IValue::None, name])?;
                let (x, residuals) = (&parts[0], &parts[1]);
                let left = a.matmul(x)?.sub(&b)?;
                assert_close(&adjoint(&a).matmul(&left)?, &adjoint(&a).matmul(&b)?.mul(0.0)?, 100.0 * tolerance, &what);
                // In the space of the rows: what projects to it leaves it as it is.
                let pinv = &run("linalg_pinv", vec![a.clone().into(), 1e-6.into(), false.into()])?[0];
                assert_close(&pinv.matmul(&a)?.matmul(x)?, x, 100.0 * tolerance, &what);
                let squares = ops::abs(&left)?.pow(2.0)?;
                let has_residuals = rows > columns && driver != "gelsy";
                let sums = if has_residuals { ops::sum(&squares, -2)? } else { ops::zeros(0, residuals.dtype())? };
                assert_close(residuals, &sums, 10.0 * tolerance, &what);
                let ranks = if driver == "gels" { vec![] } else { vec![rows.min(columns); 2] };
                assert_eq!(parts[2].to_vec::<i64>()?, ranks, "{what}");
            }
        }
    }
    Ok(())
}

#[test]
fn least_squares_of_deficient_rank_are_those_of_the_columns_that_count() -> Result<()> {
    let a = tensor![[1.0f64, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 2.0, 3.0], [0.0, 1.0, 5.0]];
    // The first two columns differ by 1e-9 of the second from each other's direction.
    let nearly = a.add(&tensor![[0.0f64, 0.0, 0.0], [1e-9, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 2.5]])?;
    let b = tensor![1.0f64, 2.0, 0.0, 3.0];
    let pinv = |a: &Tensor<Cpu>| -> Result<Tensor<Cpu>> {
        Ok(run("linalg_pinv", vec![a.clone().into(), 1e-6.into(), false.into()])?.swap_remove(0))
    };
    for (a, rcond) in [(&a, IValue::None), (&nearly, IValue::Float(1e-6))] {
        for driver in ["gelsy", "gelsd"] {
            let name = IValue::Str(driver.into());
            let parts = run("linalg_lstsq", vec![a.clone().into(), b.clone().into(), rcond.clone(), name])?;
            assert_eq!(parts[2].to_vec::<i64>()?, [2], "{driver}");
            assert_close(&parts[0], &pinv(a)?.matmul(&b)?, 1e-7, driver);
        }
    }
    let zero = ops::linalg_lstsq(&a.mul(0.0)?, &b)?;
    assert_eq!((zero.0.to_vec::<f64>()?, zero.2.to_vec::<i64>()?), (vec![0.0; 3], vec![0]));
    let gels = IValue::Str("gels".into());
    let error = run("linalg_lstsq", vec![a.mul(0.0)?.into(), b.into(), IValue::None, gels]).expect_err("no rank");
    assert_eq!(error.kind(), &ErrorKind::Matrix { matrix: 0, problem: "does not have full rank", row: 1 });
    Ok(())
}

#[test]
fn indefinite_factors_solve_and_functions_are_those_of_the_eigenvalues() -> Result<()> {
    let mut random = Random::new(7);
    for n in [1, 2, 3, 6, 20] {
        for (dtype, tolerance) in DTYPES {
            let what = format!("{n}, {dtype}");
            let x = matrix(&mut random, &[2, n, n], dtype);
            for hermitian in [true, false] {
                let other = if hermitian { adjoint(&x) } else { x.transpose(-2, -1)? };
                let a = x.add(&other)?.add(&identity(&x, n).mul(0.1)?)?;
                let parts = run("linalg_ldl_factor_ex", vec![a.clone().into(), hermitian.into(), false.into()])?;
                let b = matrix(&mut random, &[2, n, 3], dtype);
                let [factors, pivots] = [parts[0].clone(), parts[1].clone()];
                let solution =
                    run("linalg_ldl_solve", vec![factors.into(), pivots.into(), b.clone().into(), hermitian.into()])?;
                assert_close(&a.matmul(&solution[0])?, &b, 1e3 * tolerance, &what);
            }
            // exp(A)·exp(-A) = 1, also after squarings.
            for scale in [0.01, 1.0, 5.0 / n as f64] {
                let x = x.mul(scale)?;
                let product = ops::linalg_matrix_exp(&x)?.matmul(&ops::linalg_matrix_exp(&x.mul(-1.0)?)?)?;
                assert_close(&product, &identity(&x, n), 1e3 * tolerance, &what);
            }
            let a = definite(&mut random, &[2, n, n], dtype);
            let root = &run("linalg_matrix_sqrth", vec![a.clone().into()])?[0];
            assert_close(&root.matmul(root)?, &a, tolerance, &what);
            let parts = run("linalg_polar", vec![x.clone().into()])?;
            assert_close(&parts[0].matmul(&parts[1])?, &x, tolerance, &what);
            assert_close(&adjoint(&parts[0]).matmul(&parts[0])?, &identity(&x, n), tolerance, &what);
            assert_close(&adjoint(&parts[1]), &parts[1], tolerance, &what);
        }
    }
    assert_close(&ops::linalg_matrix_exp(&tensor![[1.0f64]])?, &tensor![[std::f64::consts::E]], 1e-15, "e");
    Ok(())
}

#[test]
fn matrices_that_fail_are_told_and_outputs_stay() -> Result<()> {
    let a = tensor![[[1.0f64, 2.0], [2.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]];
    let error = ops::linalg_inv(&a.flip(0)?).expect_err("singular");
    assert_eq!(error.kind(), &ErrorKind::Matrix { matrix: 1, problem: "is singular", row: 2 });
    assert_eq!(error.to_string(), "linalg_inv: matrix 1 is singular, as row 2 of its factor shows; rows count from 1");
    let info = &run("linalg_inv_ex", vec![a.clone().into(), false.into()])?[1];
    assert_eq!(info.to_vec::<i32>()?, [2, 0]);
    assert!(run("linalg_lu_factor_ex", vec![a.clone().into(), false.into(), false.into()]).is_err());
    let mut out = ops::full_like(&a, 7.0)?;
    assert!(ops::linalg_inv_out(&a, &mut out).is_err());
    assert_eq!(out.to_vec::<f64>()?, [7.0; 8]);
    let indefinite = tensor![[4.0f64, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]];
    let error = ops::linalg_cholesky(&indefinite).expect_err("not positive definite");
    assert_eq!(error.kind(), &ErrorKind::Matrix { matrix: 0, problem: "is not positive definite", row: 2 });
    let check = |info: Tensor<Cpu>| {
        run("_linalg_check_errors", vec![info.into(), IValue::Str("linalg.inv".into()), false.into()])
    };
    assert!(check(tensor![0i32, 3]).is_err() && check(tensor![0i32, 0]).is_ok());
    // Pivots are rows of the matrix, and come in pairs where they are negative.
    let square = tensor![[1.0f64, 0.0], [0.0, 1.0]];
    for pivots in [[0, 1], [1, 3], [-1, 1], [i32::MIN, 1]] {
        let arguments = |last: Vec<IValue>| {
            let mut all: Vec<IValue> =
                vec![square.clone().into(), tensor![pivots[0], pivots[1]].into(), square.clone().into()];
            all.extend(last);
            all
        };
        assert!(run("linalg_lu_solve", arguments(vec![true.into(), false.into()])).is_err(), "{pivots:?}");
        assert!(run("linalg_ldl_solve", arguments(vec![false.into()])).is_err(), "{pivots:?}");
    }
    // NaN has no spectrum, and where an element is infinite every value is NaN; vectors it has none then.
    let [nan, infinite] = [f64::NAN, f64::INFINITY].map(|x| tensor![[x, 0.0], [0.0, 1.0]]);
    for name in ["linalg_eigvals", "linalg_eig"] {
        assert!(run(name, vec![nan.clone().into()]).is_err());
    }
    let values = &run("linalg_eigvals", vec![infinite.clone().into()])?[0];
    assert!(values.to_vec::<Complex64>()?.iter().all(|value| value.re.is_nan()));
    assert!(run("linalg_eig", vec![infinite.into()]).is_err());
    let (sign, logarithm) = ops::linalg_slogdet(&tensor![[f64::INFINITY]])?;
    assert_eq!((sign.to_vec::<f64>()?, logarithm.to_vec::<f64>()?), (vec![1.0], vec![f64::INFINITY]));
    assert!(ops::linalg_eigh(&tensor![[f64::NAN]]).is_err());
    Ok(())
}

//! What each operator computes of one matrix by its LU or Cholesky factors, or of a triangular one.

use super::number::{Number, identity};
use super::product::Op;
use super::triangle::Triangle;
use super::{Kernel, Part, cholesky, lu};
use monomorph_core::Result;
use monomorph_ops::linalg::MatrixPlan;
use monomorph_ops::linalg::cholesky::{Cholesky, CholeskyInverse, CholeskyOptions, CholeskySolve};
use monomorph_ops::linalg::determinants::{Determinant, LogDeterminant, Transposed};
use monomorph_ops::linalg::lu::{Lu, LuFactor, LuOptions, LuParts, LuUnpack};
use monomorph_ops::linalg::solve::{Inverse, InverseOptions, LuSolve, LuSolveOptions, Solve, SolveOptions};
use monomorph_ops::linalg::triangular::{SolveTriangular, TriangleOptions, TriangularSolve};

impl<const CHECKED: bool> Kernel for LuFactor<CHECKED> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LuOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [factors, ..], integers: [pivots, info], .. } = part;
        factors.copy_from_slice(a);
        info[0] = lu::factor(factors, plan.sizes[0], pivots)?;
        Ok(())
    }
}

impl Kernel for Lu {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LuOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [p, l, u, factors], integers: [pivots, _], .. } = part;
        factors.copy_from_slice(a);
        lu::factor(factors, plan.sizes[0], pivots)?;
        lu::unpack(factors, plan.sizes, Some(pivots), [p, l, u])
    }
}

impl Kernel for LuUnpack {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LuParts>) -> Result<()> {
        let Part { inputs: [factors, ..], pivots, elements: [p, l, u, _], .. } = part;
        lu::unpack(factors, plan.sizes, plan.options.pivots.then_some(*pivots), [p, l, u])
    }
}

/// Factors a matrix. Returns whether rows were exchanged an odd number of times.
fn factored<E: Number>(a: &[E], factors: &mut [E], pivots: &mut [i32]) -> Result<bool> {
    factors.copy_from_slice(a);
    lu::factor(factors, pivots.len(), pivots)?;
    let exchanged = pivots.iter().zip(1..).filter(|(pivot, row)| *pivot != row);
    Ok(exchanged.count() % 2 == 1)
}

/// The diagonal of a square matrix.
fn diagonal<E: Number>(a: &[E], n: usize) -> impl Iterator<Item = E> {
    a.iter().step_by(n + 1).copied()
}

impl<const ALONE: bool> Kernel for Determinant<ALONE> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<Transposed>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [result, factors, ..], integers: [pivots, _], .. } = part;
        let is_odd = factored(a, factors, pivots)?;
        let sign = E::of(if is_odd { -1.0 } else { 1.0 });
        result[0] = diagonal(factors, plan.sizes[0]).fold(sign, |product, x| product * x);
        Ok(())
    }
}

impl<const ALONE: bool> Kernel for LogDeterminant<ALONE> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<Transposed>) -> Result<()> {
        let Part {
            inputs: [a, ..], elements: [sign, factors, ..], reals: [logarithm, _], integers: [pivots, _], ..
        } = part;
        let is_odd = factored(a, factors, pivots)?;
        let (mut product, mut sum) = (E::of(if is_odd { -1.0 } else { 1.0 }), 0.0);
        for x in diagonal(factors, plan.sizes[0]) {
            product *= x.sign();
            sum += x.abs().ln();
        }
        (sign[0], logarithm[0]) = (product, sum);
        Ok(())
    }
}

impl<const OUTPUTS: u8> Kernel for Solve<OUTPUTS> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<SolveOptions>) -> Result<()> {
        let Part { inputs: [a, b, _], is_first, elements: [x, factors, ..], integers: [pivots, info], .. } = part;
        if *is_first {
            factors.copy_from_slice(a);
            info[0] = lu::factor(factors, plan.sizes[0], pivots)?;
        }
        x.copy_from_slice(b);
        let op = if plan.options.left { Op::Itself } else { Op::Transposed };
        lu::solve(factors, pivots, op, x, plan.sizes[0])
    }
}

impl<const CHECKED: bool> Kernel for Inverse<CHECKED> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<InverseOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [x, factors, ..], integers: [pivots, info], .. } = part;
        factors.copy_from_slice(a);
        info[0] = lu::factor(factors, plan.sizes[0], pivots)?;
        identity(x, plan.sizes[0]);
        lu::solve(factors, pivots, Op::Itself, x, plan.sizes[0])
    }
}

impl Kernel for LuSolve {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LuSolveOptions>) -> Result<()> {
        let Part { inputs: [factors, _, b], pivots, elements: [x, ..], .. } = part;
        let LuSolveOptions { left, adjoint } = plan.options;
        x.copy_from_slice(b);
        // X A = B is Aᵀ Xᵀ = Bᵀ, and X Aᴴ = B is conj(A) Xᵀ = Bᵀ: A conj(Xᵀ) = conj(Bᵀ).
        let conjugates = !left && adjoint;
        if conjugates {
            x.iter_mut().for_each(|x| *x = x.conj());
        }
        let op = match (left, adjoint) {
            (true, true) => Op::Adjoint,
            (false, false) => Op::Transposed,
            _ => Op::Itself,
        };
        lu::solve(factors, pivots, op, x, plan.sizes[0])?;
        if conjugates {
            x.iter_mut().for_each(|x| *x = x.conj());
        }
        Ok(())
    }
}

/// Solves the system of a triangular matrix.
fn triangular<E: Number>(a: &[E], b: &[E], x: &mut [E], plan: &MatrixPlan<TriangleOptions>) -> Result<()> {
    let TriangleOptions { upper, left, transposed, unit } = plan.options;
    x.copy_from_slice(b);
    let op = if transposed == left { Op::Transposed } else { Op::Itself };
    let [n, _, columns] = plan.sizes;
    Triangle { unit, ..Triangle::new(a, n, upper, op) }.solve(x, n, columns)
}

impl Kernel for SolveTriangular {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<TriangleOptions>) -> Result<()> {
        let Part { inputs: [a, b, _], elements: [x, ..], .. } = part;
        triangular(a, b, x, plan)
    }
}

impl Kernel for TriangularSolve {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<TriangleOptions>) -> Result<()> {
        let Part { inputs: [b, a, _], elements: [x, copy, ..], .. } = part;
        copy.copy_from_slice(a);
        triangular(a, b, x, plan)
    }
}

impl<const CHECKED: bool> Kernel for Cholesky<CHECKED> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<CholeskyOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [factor, ..], integers: [info, _], .. } = part;
        factor.copy_from_slice(a);
        info[0] = cholesky::factor(factor, plan.sizes[0])?;
        Ok(())
    }
}

/// Solves the system of a matrix of which this is the Cholesky factor.
fn by_factor<E: Number>(factor: &[E], x: &mut [E], plan: &MatrixPlan<CholeskyOptions>) -> Result<()> {
    let ([n, _, columns], upper) = (plan.sizes, plan.options.upper);
    let ops = if upper { [Op::Adjoint, Op::Itself] } else { [Op::Itself, Op::Adjoint] };
    ops.into_iter().try_for_each(|op| Triangle::new(factor, n, upper, op).solve(x, n, columns))
}

impl Kernel for CholeskySolve {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<CholeskyOptions>) -> Result<()> {
        let Part { inputs: [b, factor, _], elements: [x, ..], .. } = part;
        x.copy_from_slice(b);
        by_factor(factor, x, plan)
    }
}

impl Kernel for CholeskyInverse {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<CholeskyOptions>) -> Result<()> {
        let Part { inputs: [factor, ..], elements: [x, ..], integers: [info, _], .. } = part;
        let zero = diagonal(factor, plan.sizes[0]).position(|x| x == E::zero());
        info[0] = zero.map_or(0, |row| row as i32 + 1);
        identity(x, plan.sizes[0]);
        by_factor(factor, x, plan)
    }
}

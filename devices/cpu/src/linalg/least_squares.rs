//! Least squares: by QR factors, by QR factors with columns exchanged, or by singular values.

use super::decompositions::is_infinite;
use super::householder::{Reflectors, factor, reflect_columns, reflector};
use super::number::{Number, zeros};
use super::precision::Precision;
use super::product::{Factor, Op, multiply, subtract};
use super::spectra::{Decomposition, Vectors, svd};
use super::triangle::Triangle;
use super::vectors::{dot, norm};
use super::{Kernel, Part};
use monomorph_core::{Result, list};
use monomorph_ops::linalg::MatrixPlan;
use monomorph_ops::linalg::least_squares::{Driver, LeastSquares, LeastSquaresOptions};

impl Kernel for LeastSquares {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LeastSquaresOptions>) -> Result<()> {
        let Part { inputs: [a, b, _], elements: [x, factors, right, _], reals, integers: [rank, info], .. } = part;
        let [residuals, values] = reals;
        factors.copy_from_slice(a);
        right.copy_from_slice(b);
        let mut system = System { sizes: plan.sizes, factors, right, x };
        match plan.options.driver {
            Driver::Gels => info[0] = system.of_full_rank(residuals)?,
            Driver::Gelsy => rank[0] = system.by_exchanges(plan.options.rcond)? as i32,
            Driver::Gelsd => rank[0] = system.by_singular_values(a, plan.options.rcond, values, residuals)? as i32,
        }
        Ok(())
    }
}

/// `A X = B`.
struct System<'a, E> {
    /// Rows and columns of A, columns of B.
    sizes: [usize; 3],
    /// A, which is used up.
    factors: &'a mut [E],
    /// B, which is used up.
    right: &'a mut [E],
    /// The solution.
    x: &'a mut [E],
}

impl<E: Number> System<'_, E> {
    /// By QR of A or, of fewer rows than columns, of Aᴴ: LAPACK's xGELS. Returns the number of a column or row that
    /// depends on the others, counted from 1, or 0.
    fn of_full_rank(&mut self, residuals: &mut [f64]) -> Result<i32> {
        let [rows, columns, count] = self.sizes;
        if rows < columns {
            let mut adjoint = zeros(rows * columns)?;
            super::product::adjoint(self.factors, rows, &mut adjoint, columns);
            return self.of_least_norm(&mut adjoint, rows);
        }
        let mut taus = zeros(columns)?;
        factor(self.factors, rows, columns, &mut taus)?;
        let q = Reflectors { elements: self.factors, stride: rows, height: rows, taus: &taus };
        q.apply_left(self.right, rows, true)?;
        for (residual, column) in residuals.iter_mut().zip(self.right.chunks_exact(rows.max(1))) {
            *residual = column[columns..].iter().map(|x| x.re() * x.re() + x.im() * x.im()).sum();
        }
        self.solve_triangle(count)?;
        Ok(dependent(self.factors, rows, columns))
    }

    /// Solves with the upper triangle that A became.
    fn solve_triangle(&mut self, count: usize) -> Result<()> {
        let [rows, columns, _] = self.sizes;
        let triangle = Triangle { step: rows, ..Triangle::new(self.factors, columns, true, Op::Itself) };
        triangle.solve(self.right, rows, count)?;
        copy_rows(self.right, rows, self.x, columns, columns);
        Ok(())
    }

    /// The solution of least norm of `adjointᴴ X` = the first `rank` rows of B, where `adjoint` has `rank` columns.
    fn of_least_norm(&mut self, adjoint: &mut [E], rank: usize) -> Result<i32> {
        let [rows, columns, count] = self.sizes;
        let mut taus = zeros(rank)?;
        factor(adjoint, columns, rank, &mut taus)?;
        copy_rows(self.right, rows, self.x, columns, rank);
        let triangle = Triangle { step: columns, ..Triangle::new(adjoint, rank, true, Op::Adjoint) };
        triangle.solve(self.x, columns, count)?;
        Reflectors { elements: adjoint, stride: columns, height: columns, taus: &taus }
            .apply_left(self.x, columns, false)?;
        Ok(dependent(adjoint, columns, rank))
    }

    /// By QR with columns exchanged, of which the first ones count: LAPACK's xGELSY. Returns how many.
    fn by_exchanges(&mut self, rcond: f64) -> Result<usize> {
        let [rows, columns, count] = self.sizes;
        let least = rows.min(columns);
        let (mut taus, mut order) = (zeros(least)?, list::with_capacity(columns)?);
        order.extend(0..columns);
        factor_with_exchanges(self.factors, rows, &mut taus, &mut order)?;
        let q = Reflectors { elements: self.factors, stride: rows, height: rows, taus: &taus };
        q.apply_left(self.right, rows, true)?;
        let rank = rank(self.factors, rows, least, rcond)?;
        if rank == columns {
            self.solve_triangle(count)?;
        } else {
            // What is below the first rows counts as zero.
            let mut adjoint = zeros(columns * rank)?;
            for (j, column) in self.factors.chunks_exact(rows.max(1)).enumerate() {
                for i in 0..rank.min(j + 1) {
                    adjoint[i * columns + j] = column[i].conj();
                }
            }
            self.of_least_norm(&mut adjoint, rank)?;
        }
        let mut exchanged = zeros(columns)?;
        for column in self.x.chunks_exact_mut(columns.max(1)) {
            exchanged.copy_from_slice(column);
            order.iter().zip(&exchanged).for_each(|(&row, &x)| column[row] = x);
        }
        Ok(rank)
    }

    /// By singular values, of which those count that are not too small: LAPACK's xGELSD. Returns how many.
    fn by_singular_values(&mut self, a: &[E], rcond: f64, values: &mut [f64], residuals: &mut [f64]) -> Result<usize> {
        let [rows, columns, count] = self.sizes;
        let least = rows.min(columns);
        if is_infinite(a)? {
            values.fill(f64::NAN);
            self.x.fill(E::of(f64::NAN));
            residuals.fill(f64::NAN);
            return Ok(0);
        }
        let (mut u, mut vh, mut along) = (zeros(rows * least)?, zeros(least * columns)?, zeros(least * count)?);
        let decomposition = Decomposition { u: &mut u, values, vh: &mut vh };
        svd(self.factors, rows, columns, Vectors::Thin, Precision::Double, decomposition)?;
        let bound = values.first().map_or(0.0, |largest| largest * rcond);
        let rank = values.iter().take_while(|value| **value > bound).count();
        let [by_u, by_v] =
            [(&u, rows), (&vh, least)].map(|(elements, step)| Factor { elements, step, op: Op::Adjoint });
        multiply((&mut along, least), by_u, (self.right, rows), [least, count, rows])?;
        for column in along.chunks_exact_mut(least.max(1)) {
            column.iter_mut().zip(&*values).for_each(|(x, &value)| *x = *x / value);
            column[rank..].fill(E::zero());
        }
        multiply((self.x, columns), by_v, (&along, least), [columns, count, least])?;
        if !residuals.is_empty() {
            let a = Factor { elements: a, step: rows, op: Op::Itself };
            subtract((self.right, rows), a, (self.x, columns), [rows, count, columns])?;
        }
        for (residual, column) in residuals.iter_mut().zip(self.right.chunks_exact(rows.max(1))) {
            *residual = dot(column, column).re();
        }
        Ok(rank)
    }
}

/// Copies the first rows of columns.
fn copy_rows<E: Copy>(from: &[E], from_height: usize, to: &mut [E], to_height: usize, rows: usize) {
    for (from, to) in from.chunks_exact(from_height.max(1)).zip(to.chunks_exact_mut(to_height.max(1))) {
        to[..rows].copy_from_slice(&from[..rows]);
    }
}

/// The number of the first zero on the diagonal of a triangle, counted from 1, or 0.
fn dependent<E: Number>(triangle: &[E], height: usize, size: usize) -> i32 {
    let mut diagonal = triangle.iter().step_by(height + 1).take(size);
    diagonal.position(|x| x.is_zero()).map_or(0, |row| row as i32 + 1)
}

/// QR factors of a matrix of which the longest column that is left comes next: `order` becomes the numbers of the
/// columns.
///
/// P. Businger and G. H. Golub, *Linear least squares solutions by Householder transformations*, Numer. Math. 7, 1965;
/// norms are updated as long as that is accurate (Z. Drmač and Z. Bujanović, *On the failure of rank-revealing QR
/// factorization software*, ACM Trans. Math. Softw. 35(2), 2008).
fn factor_with_exchanges<E: Number>(a: &mut [E], rows: usize, taus: &mut [E], order: &mut [usize]) -> Result<()> {
    /// The norm of what is left of a column, and as it was when it was last computed.
    #[derive(Clone, Copy)]
    struct Norm {
        now: f64,
        computed: f64,
    }
    let mut norms = list::with_capacity(order.len())?;
    norms.extend(a.chunks_exact(rows.max(1)).map(|column| {
        let norm = norm(column);
        Norm { now: norm, computed: norm }
    }));
    for (k, tau) in taus.iter_mut().enumerate() {
        let longest = (k..norms.len()).fold(k, |best, i| if norms[i].now > norms[best].now { i } else { best });
        if longest != k {
            let (head, rest) = a.split_at_mut(longest * rows);
            head[k * rows..][..rows].swap_with_slice(&mut rest[..rows]);
            order.swap(k, longest);
            norms[longest] = norms[k];
        }
        let (head, rest) = a.split_at_mut((k + 1) * rows);
        let column = &mut head[k * rows + k..];
        *tau = reflector(column).0;
        reflect_columns(&column[1..], tau.conj(), rest, rows, k);
        for (norm_left, column) in norms[k + 1..].iter_mut().zip(rest.chunks_exact(rows)) {
            let Norm { now, computed } = *norm_left;
            if now == 0.0 {
                continue;
            }
            let part = column[k].abs() / now;
            let left = (1.0 - part * part).max(0.0);
            if left * (now / computed) * (now / computed) <= f64::EPSILON.sqrt() {
                let norm = norm(&column[k + 1..]);
                *norm_left = Norm { now: norm, computed: norm };
            } else {
                norm_left.now = now * left.sqrt();
            }
        }
    }
    Ok(())
}

/// An approximate singular vector x of a triangle Rᴴ, with the singular value ‖Rᴴ·x‖.
struct Estimate<E> {
    value: f64,
    vector: Vec<E>,
}

impl<E: Number> Estimate<E> {
    /// The value of the triangle with one more column `w` and the element γ below it, of the largest or the smallest:
    /// that value, and what the vector is multiplied by and continued with.
    ///
    /// With α = xᴴ·w, it is the root of an eigenvalue of the matrix of two rows
    ///
    /// ```text
    ///   | value² + |α|²   α·γ  |
    ///   | conj(α·γ)       |γ|² |
    /// ```
    ///
    /// and its eigenvector (C. H. Bischof, *Incremental condition estimation*, SIAM J. Matrix Anal. Appl. 11(2), 1990).
    fn continued(&self, w: &[E], gamma: E, largest: bool) -> (f64, E, E) {
        let alpha = dot(&self.vector, w);
        let unit = self.value.max(alpha.abs()).max(gamma.abs());
        if unit == 0.0 || !unit.is_finite() {
            return (unit, E::one(), E::zero());
        }
        let (f, alpha, gamma) = (self.value / unit, alpha / unit, gamma / unit);
        let (g, h) = (alpha.abs(), gamma.abs());
        let most = 0.5 * ((f + h).hypot(g) + (f - h).hypot(g));
        let value = if largest { most } else { f * h / most };
        let square = value * value;
        // The two rows give the same direction, one of them more accurately.
        let rows = [
            (E::of(square - h * h), (alpha * gamma).conj()),
            (alpha * gamma, E::of((value - f) * (value + f) - g * g)),
        ];
        let [first, second] = rows.map(|(s, c)| s.abs().hypot(c.abs()));
        let ((s, c), length) = if first >= second { (rows[0], first) } else { (rows[1], second) };
        if length == 0.0 {
            return (value * unit, E::one(), E::zero());
        }
        (value * unit, s / length, c / length)
    }

    fn take(&mut self, (value, by, with): (f64, E, E)) {
        self.value = value;
        self.vector.iter_mut().for_each(|x| *x *= by);
        self.vector.push(with);
    }
}

/// How many of the first rows and columns of a triangle have no singular value up to `rcond` times the largest, as far
/// as they are estimated.
fn rank<E: Number>(triangle: &[E], height: usize, size: usize, rcond: f64) -> Result<usize> {
    let first = triangle.first().map_or(0.0, |x| x.abs());
    if size == 0 || first == 0.0 {
        return Ok(0);
    }
    let estimate = || -> Result<Estimate<E>> {
        let mut vector = list::with_capacity(size)?;
        vector.push(E::one());
        Ok(Estimate { value: first, vector })
    };
    let (mut largest, mut smallest) = (estimate()?, estimate()?);
    for (rank, column) in triangle.chunks_exact(height).enumerate().take(size).skip(1) {
        let (w, gamma) = (&column[..rank], column[rank]);
        let (most, least) = (largest.continued(w, gamma, true), smallest.continued(w, gamma, false));
        let counts = most.0 * rcond <= least.0;
        if !counts {
            return Ok(rank);
        }
        largest.take(most);
        smallest.take(least);
    }
    Ok(size)
}

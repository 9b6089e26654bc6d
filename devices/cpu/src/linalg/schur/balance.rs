//! Balancing: a similarity P⁻¹·A·P that makes the eigenvalues of A easier to find (Parlett & Reinsch, *Balancing a
//! matrix for calculation of eigenvalues and eigenvectors*, Numer. Math. 13, 1969; *LAPACK Users' Guide*, 2.4.5).
//!
//! ```text
//!        ┌ T X Y ┐    Permuted: eigenvalues that stand alone in their row or column are moved to the diagonals of
//!        │   B Z │    the triangles T and U, and no iteration needs to touch them.
//!        └     U ┘    Scaled: powers of two make the rows and columns of B about as large as each other.
//! ```

use super::super::number::{Number, zeros};
use super::super::vectors::norm;
use monomorph_core::Result;
use num_complex::Complex;

/// What [`balance`] did.
pub(super) struct Balance {
    /// The first row of B.
    pub(super) low: usize,
    /// The row after the last of B.
    pub(super) high: usize,
    /// For a row of B the power of two that its component of a vector is to be multiplied by, else the row (or
    /// column) that it was exchanged with.
    scale: Vec<f64>,
}

/// A step must make the sum of both norms smaller than this part of what it was.
const WORTHWHILE: f64 = 0.95;

/// Factors and norms stay above this and below its reciprocal, so that nothing underflows or overflows later on.
const SMALLEST: f64 = f64::from_bits((1023 - 969) << 52);

/// Balances a matrix, `n` elements a column.
pub(super) fn balance<E: Number>(matrix: &mut [E], n: usize) -> Result<Balance> {
    let mut balance = Balance { low: 0, high: n, scale: zeros(n)? };
    balance.permute(matrix, n);
    let Balance { low, high, scale } = &mut balance;
    scale[*low..*high].fill(1.0);
    balance.equalize(matrix, n)?;
    Ok(balance)
}

impl Balance {
    fn permute<E: Number>(&mut self, matrix: &mut [E], n: usize) {
        // Each eigenvalue that is moved leaves a smaller matrix, in which others may stand alone now.
        while let Some(row) =
            (0..self.high).rev().find(|&i| (0..self.high).all(|j| i == j || matrix[i + j * n].is_zero()))
        {
            self.high -= 1;
            self.exchange(matrix, n, row, self.high);
            if self.high == 0 {
                // LAPACK leaves the last one as a block of its own.
                self.high = 1;
                return;
            }
        }
        while let Some(column) =
            (self.low..self.high).find(|&j| (self.low..self.high).all(|i| i == j || matrix[i + j * n].is_zero()))
        {
            self.exchange(matrix, n, column, self.low);
            self.low += 1;
        }
    }

    /// Exchanges a row and column of B with the first or last, which leaves B.
    fn exchange<E: Number>(&mut self, matrix: &mut [E], n: usize, from: usize, to: usize) {
        self.scale[to] = from as f64;
        if from == to {
            return;
        }
        let (head, tail) = matrix.split_at_mut(from.max(to) * n);
        head[from.min(to) * n..][..n].swap_with_slice(&mut tail[..n]);
        matrix.chunks_exact_mut(n).for_each(|column| column.swap(from, to));
    }

    fn equalize<E: Number>(&mut self, matrix: &mut [E], n: usize) -> Result<()> {
        let Balance { low, high, scale } = self;
        let (low, high) = (*low, *high);
        let mut values = zeros::<E>(n)?;
        let largest = |x: &[E]| x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        loop {
            let mut is_balanced = true;
            for i in low..high {
                for (x, column) in values.iter_mut().zip(matrix.chunks_exact(n)) {
                    *x = column[i];
                }
                let column = &matrix[i * n..][..n];
                let (mut c, mut r) = (norm(&column[low..high]), norm(&values[low..high]));
                if c == 0.0 || r == 0.0 || !(c + r).is_finite() {
                    continue;
                }
                let (mut c_largest, mut r_largest) = (largest(&column[..high]), largest(&values[low..]));
                let (mut factor, before) = (1.0_f64, c + r);
                while c < r / 2.0
                    && factor.max(c).max(c_largest) < SMALLEST.recip()
                    && (r / 2.0).min(r_largest) > SMALLEST
                {
                    (factor, c, c_largest) = (factor * 2.0, c * 2.0, c_largest * 2.0);
                    (r, r_largest) = (r / 2.0, r_largest / 2.0);
                }
                while c / 2.0 >= r
                    && r.max(r_largest) < SMALLEST.recip()
                    && factor.min(c / 2.0).min(c_largest) > SMALLEST
                {
                    (factor, c, c_largest) = (factor / 2.0, c / 2.0, c_largest / 2.0);
                    (r, r_largest) = (r * 2.0, r_largest * 2.0);
                }
                let total = scale[i] * factor;
                let is_extreme = total <= SMALLEST / 2.0 || total >= 2.0 * SMALLEST.recip();
                if c + r >= WORTHWHILE * before || is_extreme {
                    continue;
                }
                scale[i] = total;
                is_balanced = false;
                matrix[low * n..].iter_mut().skip(i).step_by(n).for_each(|x| *x = *x * factor.recip());
                matrix[i * n..][..high].iter_mut().for_each(|x| *x = *x * factor);
            }
            if is_balanced {
                return Ok(());
            }
        }
    }

    /// P·x: the eigenvector of A for one of P⁻¹·A·P.
    pub(super) fn undo(&self, x: &mut [Complex<f64>]) {
        let scales = &self.scale[self.low..self.high];
        x[self.low..self.high].iter_mut().zip(scales).for_each(|(x, &scale)| *x *= scale);
        // The last exchange is undone first; rows above and below B were exchanged among different ones.
        for i in (0..self.low).rev().chain(self.high..x.len()) {
            x.swap(i, self.scale[i] as usize);
        }
    }
}

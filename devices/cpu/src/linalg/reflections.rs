//! What each operator computes of one matrix by Householder reflections.

use super::householder::{Reflectors, factor, form_q};
use super::number::Number;
use super::{Kernel, Part};
use monomorph_core::Result;
use monomorph_ops::linalg::MatrixPlan;
use monomorph_ops::linalg::orthogonal::{HouseholderProduct, OrthogonalProduct, ProductOptions, Qr, QrFactor, QrMode};

impl Kernel for Qr {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<QrMode>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [q, r, factors, taus], .. } = part;
        let [rows, columns, width] = plan.sizes;
        factors.copy_from_slice(a);
        factor(factors, rows, columns, taus)?;
        if width == 0 {
            return Ok(());
        }
        for (j, (r, factors)) in r.chunks_exact_mut(width).zip(factors.chunks_exact(rows)).enumerate() {
            let height = width.min(j + 1);
            r[..height].copy_from_slice(&factors[..height]);
        }
        if plan.options != QrMode::TriangleOnly {
            let kept = q.len().min(factors.len());
            q[..kept].copy_from_slice(&factors[..kept]);
            form_q(q, rows, width, taus)?;
        }
        Ok(())
    }
}

impl Kernel for QrFactor {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<()>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [factors, taus, ..], .. } = part;
        factors.copy_from_slice(a);
        factor(factors, plan.sizes[0], plan.sizes[1], taus)
    }
}

impl Kernel for HouseholderProduct {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<()>) -> Result<()> {
        let Part { inputs: [vectors, taus, _], elements: [q, ..], .. } = part;
        q.copy_from_slice(vectors);
        form_q(q, plan.sizes[0], plan.sizes[1], taus)
    }
}

impl Kernel for OrthogonalProduct {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<ProductOptions>) -> Result<()> {
        let Part { inputs: [vectors, taus, other], elements: [product, ..], .. } = part;
        let ([rows, ..], ProductOptions { left, adjoint, height }) = (plan.sizes, plan.options);
        product.copy_from_slice(other);
        let q = Reflectors { elements: vectors, stride: height, height, taus };
        match left {
            true => q.apply_left(product, rows, adjoint),
            false => q.apply_right(product, rows, adjoint),
        }
    }
}

//! `embedding_renorm_`: rows scaled down to a norm.

use super::{cast, check_ndim, host_ints, scaled, sum_dtype, vector};
use crate::copies::clone_tensor;
use crate::functions::{index_copy_, index_select};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, observe};

fn norm(row: &[f64], p: f64) -> f64 {
    let all = row.iter().map(|x| x.abs());
    match p {
        f64::INFINITY => all.fold(0.0, |most, x| if x > most || x.is_nan() { x } else { most }),
        f64::NEG_INFINITY => all.fold(f64::INFINITY, |least, x| if x < least || x.is_nan() { x } else { least }),
        0.0 => all.filter(|&x| x != 0.0).count() as f64,
        1.0 => all.sum(),
        2.0 => all.map(|x| x * x).sum::<f64>().sqrt(),
        p => all.map(|x| x.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

/// `embedding_renorm_`. Negative indices count from the end.
pub fn embedding_renorm_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    indices: &Tensor<D>,
    max_norm: f64,
    norm_type: f64,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("embedding_renorm_", [this.geometry(), indices.geometry()]);
    let make = |this: &mut Tensor<D>| {
        check_ndim(this, "self", 2)?;
        if !matches!(indices.dtype(), DType::I64 | DType::I32) {
            let (what, accepted) = ("argument indices has dtype", "int64 and int32");
            return Err(ErrorKind::DTypeNotSupported { what, got: indices.dtype(), accepted }.into());
        }
        let (rows, columns) = (this.sizes()[0], this.sizes()[1] as usize);
        let mut named = host_ints(indices)?;
        if named.is_empty() {
            return Ok(());
        }
        if !this.dtype().is_floating() {
            let (what, got, accepted) = ("argument self has dtype", this.dtype(), "floating dtypes");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        for index in &mut named {
            if !(-rows..rows).contains(index) {
                let (arg, got, low) = ("indices", *index, -rows);
                return Err(ErrorKind::IndexOutOfRange { arg, got, dim: Some(0), size: rows, low }.into());
            }
            *index = index.rem_euclid(rows);
        }
        named.sort_unstable();
        named.dedup();
        let values =
            cast(&index_select(&*this, 0, &vector(this, &named, DType::I64)?)?, DType::F64)?.to_vec::<f64>()?;
        let (mut places, mut factors) = (Vec::new(), Vec::new());
        for (k, &index) in named.iter().enumerate() {
            let norm = norm(&values[k * columns..(k + 1) * columns], norm_type);
            if norm > max_norm {
                places.push(index);
                factors.push(max_norm / (norm + 1e-7));
            }
        }
        let (places, factors) = (
            vector(this, &places, DType::I64)?,
            Tensor::<D>::from_slice_on(this.device().index, &factors, factors.len())?,
        );
        let rows = cast(&index_select(&*this, 0, &places)?, sum_dtype(this.dtype()))?;
        let rows = cast(&scaled(&rows, &factors)?, this.dtype())?;
        index_copy_(this, 0, &places, &rows)?;
        Ok(())
    };
    make(this).map_err(|e: Error| e.called("embedding_renorm_"))?;
    Ok(this)
}

/// `embedding_renorm`: of a copy.
pub fn embedding_renorm<D: AllKernels>(
    this: &Tensor<D>,
    indices: &Tensor<D>,
    max_norm: f64,
    norm_type: f64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("embedding_renorm", [this.geometry(), indices.geometry()]);
    let mut copy = clone_tensor(this, None)?;
    embedding_renorm_(&mut copy, indices, max_norm, norm_type).map_err(|e| e.called("embedding_renorm"))?;
    Ok(copy)
}

native! {
    family: RowNorms, functions: crate::kernels::AllKernels;

    func: embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor,
    autogen: embedding_renorm.out, kernel: embedding_renorm;

    /// Scales rows that indices name, and whose norm is above `max_norm`, down to it.
    ///
    /// The norm is the `norm_type`-norm of a row of the matrix, whose dtype is floating. Indices are int32 or int64.
    ///
    /// ```
    /// let mut weight = tensor![[3.0f64, 4.0], [3.0, 4.0]];
    /// ops::embedding_renorm_(&mut weight, &tensor![1i64], 1.0, 2.0)?;
    /// assert!((weight.to_vec::<f64>()?[2] - 0.6).abs() < 1e-6);
    /// ```
    func: embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!),
    variants: function, kernel: embedding_renorm_;
}

//! `bincount`: how often each number is there. The size of the result depends on data.

use super::{CountInputs, Counts};
use crate::functions::aminmax;
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Functional, Operand, call};
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, observe};

/// `bincount`.
pub fn bincount<D: AllKernels>(this: &Tensor<D>, weights: Option<&Tensor<D>>, minlength: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("bincount", [this.geometry()]);
    let make = || {
        let dtype = this.dtype();
        if dtype == DType::Bool || !dtype.is_integral(true) {
            let (what, accepted) = ("argument self has dtype", "integers");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        if minlength < 0 {
            let arg = "minlength";
            return Err(ErrorKind::OutOfRange { arg, got: minlength, low: 0, high: i64::MAX }.into());
        }
        if this.ndim() != 1 {
            return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "1" }.into());
        }
        if this.numel() == 0 {
            return Tensor::zeroed(DType::I64, &[minlength], &[1], this.device().index);
        }
        let (least, most) = aminmax(this, ..)?;
        let end = |t: &Tensor<D>| -> Result<i64> { Ok(t.item()?.to_i64()) };
        let (least, most) = (end(&least)?, end(&most)?);
        if least < 0 || most == i64::MAX {
            let (arg, got) = ("self", if least < 0 { least } else { most });
            return Err(ErrorKind::OutOfRange { arg, got, low: 0, high: i64::MAX - 1 }.into());
        }
        let size = minlength.max(most + 1);
        let [counts] = call::<Counts, D, _>(
            &CountInputs::from_args((this.into(), weights.map_or(Operand::Absent, Operand::from), size))?,
            Functional::default(),
        )?;
        Ok(counts)
    };
    make().map_err(|e: Error| e.of("bincount"))
}

native! {
    family: Bincounts, functions: crate::kernels::AllKernels;

    structured: Counts;

    /// How often each number from 0 on is there, or the sum of its weights.
    ///
    /// The result has as many elements as the largest number needs, and `minlength` at least. Without weights it is
    /// int64; with weights it is float32 for float32 and else float64. Negative numbers are an error, and so are meta
    /// tensors.
    ///
    /// ```
    /// assert_eq!(tensor![1, 3, 1].bincount()?.to_vec::<i64>()?, [0, 2, 0, 1]);
    /// ```
    func: bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor,
    autogen: bincount.out, variants: function, kernel: bincount;
}

//! Products in groups, as experts have them: parts of one operand, one after the other, each with a matrix of its own.
//! Each is a product of matrices by itself.
//!
//! ```text
//!            a          b          out        a group has
//!   rows     S K        G K N      S N        some rows of a
//!   columns  G M K      K N        M N        some columns of b
//!   terms    M K        K N        G M N      some columns of a, and the same rows of b
//! ```

use crate::copies::to_dtype;
use crate::functions::{bmm, mm_out, new_zeros};
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view::{narrow, select};
use monomorph_core::{DType, Error, ErrorKind, Geometry, Result, Tensor, observe};

/// What is divided into groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Divided {
    Rows,
    Columns,
    Terms,
}

impl Divided {
    fn of(a: usize, b: usize) -> Result<Divided> {
        match (a, b) {
            (2, 3) => Ok(Divided::Rows),
            (3, 2) => Ok(Divided::Columns),
            (2, 2) => Ok(Divided::Terms),
            (2 | 3, got) => Err(ErrorKind::DimCount { arg: "mat2", got, accepted: "2 or 3" }.into()),
            (got, _) => Err(ErrorKind::DimCount { arg: "self", got, accepted: "2 or 3" }.into()),
        }
    }

    /// The sizes of the result, whose groups are so many, and the size that is divided.
    fn sizes(self, a: &[i64], b: &[i64], groups: i64) -> (Vec<i64>, i64) {
        let (rows, columns) = (a[a.len() - 2], b[b.len() - 1]);
        match self {
            Divided::Rows => (vec![rows, columns], rows),
            Divided::Columns => (vec![rows, columns], columns),
            Divided::Terms => (vec![groups, rows, columns], a[1]),
        }
    }

    /// The factors and the result of group `i`, whose part is so long.
    fn group(self, [a, b, out]: [&Geometry; 3], i: i64, start: i64, length: i64) -> Result<[Geometry; 3]> {
        Ok(match self {
            Divided::Rows => [narrow(a, 0, start, length)?, select(b, 0, i)?, narrow(out, 0, start, length)?],
            Divided::Columns => [select(a, 0, i)?, narrow(b, 1, start, length)?, narrow(out, 1, start, length)?],
            Divided::Terms => [narrow(a, 1, start, length)?, narrow(b, 0, start, length)?, select(out, 0, i)?],
        })
    }
}

/// Where the groups end.
fn ends<D: AllKernels>(offs: &Tensor<D>, size: i64) -> Result<Vec<i64>> {
    let ends = to_dtype(offs, DType::I64, false, false, None)?.to_vec::<i64>()?;
    let mut low = 0;
    for &got in &ends {
        if !(low..=size).contains(&got) {
            return Err(ErrorKind::OutOfRange { arg: "offs", got, low, high: size }.into());
        }
        low = got;
    }
    Ok(ends)
}

/// The products of all groups. Rows and columns behind the last group are 0.
fn products<D: AllKernels>(a: &Tensor<D>, b: &Tensor<D>, offs: &Tensor<D>) -> Result<Tensor<D>> {
    let divided = Divided::of(a.ndim(), b.ndim())?;
    if a.dtype() != b.dtype() {
        return Err(ErrorKind::DTypeMismatch { arg: "mat2", got: b.dtype(), want: a.dtype() }.into());
    }
    let (terms, want) = (b.sizes()[b.ndim() - 2], a.sizes()[a.ndim() - 1]);
    if terms != want {
        return Err(ErrorKind::UnequalSizes { arg: "mat2", got: b.sizes().to_vec(), want: vec![want] }.into());
    }
    let &[groups] = offs.sizes() else {
        return Err(ErrorKind::DimCount { arg: "offs", got: offs.ndim(), accepted: "1" }.into());
    };
    let matrices = [a, b].into_iter().find(|t| t.ndim() == 3).map_or(groups, |t| t.sizes()[0]);
    if matrices != groups {
        return Err(ErrorKind::ListLength { arg: "offs", got: groups as usize, want: matrices as usize }.into());
    }
    let (sizes, size) = divided.sizes(a.sizes(), b.sizes(), groups);
    let out = new_zeros(a, sizes)?;
    if a.device().is_meta() {
        return Ok(out);
    }
    let mut start = 0;
    for (i, end) in (0..).zip(ends(offs, size)?) {
        if end > start {
            let [from, by, to] = divided.group([a.geometry(), b.geometry(), out.geometry()], i, start, end - start)?;
            mm_out(&a.with_geometry(from)?, &b.with_geometry(by)?, &mut out.with_geometry(to)?)?;
        }
        start = end;
    }
    Ok(out)
}

/// `transformers::grouped_mm_fallback`, of the Python library transformers: some rows of `input` by each of `weight`.
pub fn of_rows<D: AllKernels>(input: &Tensor<D>, weight: &Tensor<D>, offs: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("grouped_mm_fallback", [input.geometry(), weight.geometry(), offs.geometry()]);
    let make = || {
        for (arg, t, want, accepted) in [("input", input, 2, "2"), ("weight", weight, 3, "3")] {
            if t.ndim() != want {
                return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted }.into());
            }
        }
        if !matches!(offs.dtype(), DType::I32 | DType::I64) {
            let (what, accepted) = ("argument offs has dtype", "int32 and int64");
            return Err(ErrorKind::DTypeNotSupported { what, got: offs.dtype(), accepted }.into());
        }
        products(input, weight, offs)
    };
    make().map_err(|e: Error| e.called("grouped_mm_fallback"))
}

/// `_grouped_mm`: groups end where `offs` says, or are members of two batches.
pub fn grouped_mm<D: AllKernels>(
    this: &Tensor<D>,
    mat2: &Tensor<D>,
    offs: Option<&Tensor<D>>,
    bias: Option<&Tensor<D>>,
    out_dtype: Option<DType>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_grouped_mm", [this.geometry(), mat2.geometry()]);
    let rule = |rule: &'static str| -> Error { ErrorKind::ArgumentRule { rule }.into() };
    let make = || {
        if !matches!(this.dtype(), DType::F32 | DType::BF16 | DType::F16) {
            let (what, accepted) = ("argument self has dtype", "float32, bfloat16 and float16");
            return Err(ErrorKind::DTypeNotSupported { what, got: this.dtype(), accepted }.into());
        }
        if bias.is_some() {
            return Err(rule("argument bias is a tensor; accepted is none"));
        }
        if let Some(got) = out_dtype.filter(|&dtype| dtype != this.dtype()) {
            return Err(ErrorKind::DTypeMismatch { arg: "out_dtype", got, want: this.dtype() }.into());
        }
        match offs {
            None if this.ndim() == 3 && mat2.ndim() == 3 => bmm(this, mat2),
            None => Err(rule("argument offs is missing; accepted is that of two operands of three dimensions")),
            Some(_) if this.ndim() == 3 && mat2.ndim() == 3 => {
                Err(rule("argument offs is given; accepted is none of two operands of three dimensions"))
            }
            Some(offs) if offs.dtype() != DType::I32 => {
                let what = "argument offs has dtype";
                Err(ErrorKind::DTypeNotSupported { what, got: offs.dtype(), accepted: "int32" }.into())
            }
            Some(offs) => products(this, mat2, offs),
        }
    };
    make().map_err(|e: Error| e.called("_grouped_mm"))
}

native! {
    family: GroupedProducts, functions: crate::kernels::AllKernels;

    func: _grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None)
        -> Tensor,
    kernel: grouped_mm;
}

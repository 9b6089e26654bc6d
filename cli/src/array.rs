//! Arrays of NumPy's files (.npy) as tensors.

use monomorph::{AnyTensor, Complex32, Complex64, Cpu, DType, Tensor, f16};
use npyz::WriterBuilder;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// The array of a file.
pub(crate) fn read(path: &Path) -> Result<Tensor<Cpu>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| failed(&error))?;
    let npy = npyz::NpyFile::new(BufReader::new(file)).map_err(|error| failed(&error))?;
    let sizes: Vec<i64> = npy.shape().iter().map(|size| i64::try_from(*size).unwrap_or(i64::MAX)).collect();
    let columns_first = npy.order() == npyz::Order::Fortran;
    let descr = npy.dtype().descr();
    let kind = descr.trim_matches('\'').trim_start_matches(['<', '|', '=', '>']).to_owned();
    macro_rules! of {
        ($t:ty) => {{
            let data = npy.into_vec::<$t>().map_err(|error| failed(&error))?;
            let mut shape = sizes.clone();
            if columns_first {
                shape.reverse();
            }
            let tensor = Tensor::<Cpu>::from_vec(data, &shape[..]).map_err(|error| failed(&error))?;
            if columns_first { reversed(&tensor).map_err(|error| failed(&error)) } else { Ok(tensor) }
        }};
    }
    match &*kind {
        "b1" => of!(bool),
        "u1" => of!(u8),
        "i1" => of!(i8),
        "i2" => of!(i16),
        "i4" => of!(i32),
        "i8" => of!(i64),
        "f2" => of!(f16),
        "f4" => of!(f32),
        "f8" => of!(f64),
        "c8" => of!(Complex32),
        "c16" => of!(Complex64),
        _ => Err(failed(&format!("arrays of {descr} are no tensors"))),
    }
}

/// The transpose, which is the array whose columns come first in the file.
fn reversed(tensor: &Tensor<Cpu>) -> monomorph::Result<Tensor<Cpu>> {
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    let back = |list: &[i64]| list.iter().rev().copied().collect::<Vec<_>>();
    tensor.with_geometry(monomorph::Geometry::new(tensor.dtype(), &back(sizes), &back(strides), tensor.offset())?)
}

/// Writes a tensor; bfloat16, which NumPy lacks, as float32.
pub(crate) fn write(path: &Path, tensor: &AnyTensor) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let shape: Vec<u64> = tensor.sizes().iter().map(|size| size.unsigned_abs()).collect();
    let file = BufWriter::new(File::create(path).map_err(|error| failed(&error))?);
    macro_rules! of {
        ($data:expr) => {{
            let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
            let mut writer = options.writer(file).begin_nd().map_err(|error| failed(&error))?;
            writer.extend($data).map_err(|error| failed(&error))?;
            writer.finish().map_err(|error| failed(&error))
        }};
    }
    if tensor.dtype() == DType::BF16 {
        let data = tensor.to_vec::<monomorph::bf16>().map_err(|error| failed(&error))?;
        return of!(data.into_iter().map(f32::from));
    }
    macro_rules! plain {
        ($($dtype:ident $t:ty),*) => {
            match tensor.dtype() {
                $(DType::$dtype => of!(tensor.to_vec::<$t>().map_err(|error| failed(&error))?),)*
                other => Err(failed(&format!("dtype {other} is not written"))),
            }
        };
    }
    plain!(Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, F32 f32, F64 f64, C64 Complex32, C128 Complex64)
}

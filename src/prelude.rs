//! What programs bring into scope: `use monomorph::prelude::*`. The types, the dtypes, the methods of tensors, and the
//! options of operators. Functions are in [`ops`](crate::ops).

pub use crate::kernels::Kernels;
pub use crate::{Cpu, DType, Device, MemoryFormat, Meta, Scalar, Sizes, Tensor, tensor};
pub use monomorph_core::DType::{BF16, Bool, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8};
pub use monomorph_core::{By, Ellipsis};
pub use monomorph_ops::methods::*;
pub use monomorph_ops::options::*;

//! A handle for unboxed calls with a parameter of a Rust type that no schema type is passed as.
use monomorph::{AnyTensor, dispatcher};

fn main() {
    let _ = dispatcher().find("pow.Tensor_Scalar").and_then(|pow| pow.typed::<(&AnyTensor, i32), AnyTensor>());
}

//! A kernel with a parameter of a Rust type that no schema type is passed as.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn scaled(x: &AnyTensor, by: i32) -> AnyTensor {
    let _ = by;
    x.clone()
}

fn main() {
    let _ = KernelFunction::function(scaled);
}

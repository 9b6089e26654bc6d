//! A kernel that takes a list by value.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn main() {
    let _ = KernelFunction::function(|x: &AnyTensor, dims: Vec<i64>| {
        let _ = dims;
        x.clone()
    });
}

//! A kernel that takes its tensor by value.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn main() {
    let _ = KernelFunction::function(|x: AnyTensor| x);
}

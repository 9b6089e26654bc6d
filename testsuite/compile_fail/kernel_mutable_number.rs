//! A kernel that writes a number.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn next(x: &AnyTensor, n: &mut i64) -> AnyTensor {
    *n += 1;
    x.clone()
}

fn main() {
    let _ = KernelFunction::function(next);
}

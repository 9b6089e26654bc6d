//! A kernel of more parameters than kernels have.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn many(x: &AnyTensor, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64) -> AnyTensor {
    x.clone()
}

fn main() {
    let _ = KernelFunction::function(many);
}

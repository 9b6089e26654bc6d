//! A kernel without state that captures a value.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn main() {
    let most = std::env::args().count();
    let _ = KernelFunction::function(move |x: &AnyTensor| i64::from(x.ndim() < most));
}

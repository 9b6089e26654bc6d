//! A kernel that returns what no schema returns.
use monomorph::AnyTensor;
use monomorph::crates::core::dispatch::KernelFunction;

fn name(_: &AnyTensor) -> String {
    String::new()
}

fn main() {
    let _ = KernelFunction::function(name);
}

//! A closure whose parameters are left to be inferred.
use monomorph::crates::core::dispatch::KernelFunction;

fn main() {
    let _ = KernelFunction::function(|x| x);
}

//! The feature `cuda`, on machines with and without a GPU.

use monomorph::crates::core::DeviceKind;
use monomorph::crates::core::dispatch::{Backend, DispatchKey, Source};
use monomorph::cuda::{Cuda, device_count, register};
use monomorph::prelude::ArithmeticMethods as _;
use monomorph::{Dispatcher, ErrorKind, Tensor, selection};

#[test]
fn without_a_gpu_calls_say_so() {
    let made = Tensor::<Cuda>::from_slice_on(0, &[1.0f32, 2.0], [2]).and_then(|a| a.add(&a)?.to_vec::<f32>());
    match device_count() {
        Ok(n) if n > 0 => assert_eq!(made.expect("a sum"), [2.0, 4.0]),
        _ => {
            let error = made.expect_err("a tensor without a GPU");
            assert!(matches!(error.kind(), ErrorKind::Device { .. }), "{error}");
            assert!(error.to_string().starts_with("cuda:0: "), "{error}");
        }
    }
}

#[test]
fn every_operator_of_a_formula_or_a_fold_is_registered() {
    let dispatcher = Dispatcher::new();
    let mut table = dispatcher.library("aten");
    selection::register_all(&mut table).expect("the table");
    let library = register(&dispatcher).expect("CUDA");
    assert!(register(&dispatcher).is_err(), "a second registration");
    let key = DispatchKey::dense(Backend::of(DeviceKind::CUDA).expect("a key"));
    let runs = |name: &str| {
        let lines = dispatcher.find(name).expect("an operator").explain();
        lines.iter().any(|(at, resolution, _)| *at == key && resolution.source == Source::Kernel(key.into()))
    };
    for name in [
        "add.Tensor",
        "add_.Tensor",
        "add.out",
        "exp",
        "where.self",
        "clamp",
        "view",
        "copy_",
        "zeros",
        "sum",
        "mean.dim",
        "any.all_out",
        "upsample_nearest1d.out",
        "upsample_nearest1d.vec",
    ] {
        assert!(runs(name), "{name}");
    }
    drop(library);
    assert!(!runs("add.Tensor"));
}

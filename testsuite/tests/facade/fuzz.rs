//! Random boxed calls over the whole table: no panic, no crash, and an error changes nothing. `MONOMORPH_FUZZ_ITERS` sets
//! how many, `MONOMORPH_FUZZ_SEED` which.

use monomorph::core::ErrorKind;
use monomorph::{AnyTensor, DType, IValue, dispatcher};
use monomorph_testsuite::layout::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::values::{describe, random_tensor, random_value};

/// Larger results leave the pool: a view may have any number of elements, and operators would walk them all.
const MAX_ELEMENTS: usize = 500;
const MAX_BYTES: usize = 1 << 14;

#[test]
fn random_boxed_calls_do_not_panic() {
    let calls: usize = std::env::var("MONOMORPH_FUZZ_ITERS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let seed = std::env::var("MONOMORPH_FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut random = Random::new(seed);
    let entries = dispatcher().operators();
    let mut pool: Vec<AnyTensor> = (0..16).map(|_| random_tensor(&mut random)).collect();
    let (mut returned, mut refused) = (0, 0);
    for call in 0..calls {
        let slot = random.below(pool.len());
        if random.one_in(8) {
            pool[slot] = random_tensor(&mut random);
        }
        let entry = random.pick(&entries);
        let schema = entry.schema().unwrap();
        let mut stack: Vec<IValue> = schema.args().map(|arg| random_value(arg, &pool, &mut random)).collect();
        if random.one_in(30) {
            stack.truncate(random.below(stack.len() + 1));
        }
        let given = stack.clone();
        let before: Vec<String> = given.iter().map(|value| describe(value, true)).collect();
        let shapes: Vec<String> = given.iter().map(|value| describe(value, false)).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| entry.call(&mut stack)));
        let text = || format!("call {call}: {schema}\n{}", shapes.join("\n"));
        match outcome {
            Err(_) => panic!("panicked in {}", text()),
            Ok(Err(error)) => {
                refused += 1;
                let bytes = *error.kind() != ErrorKind::DivisionByZero;
                let after: Vec<String> = stack.iter().map(|value| describe(value, bytes)).collect();
                assert_eq!(after, if bytes { before } else { shapes.clone() }, "{error}: {}", text());
                // The caller's own handles saw nothing either.
                let own: Vec<String> = given.iter().map(|value| describe(value, false)).collect();
                assert_eq!(own, shapes, "{error}: {}", text());
            }
            Ok(Ok(())) => {
                returned += 1;
                let written: Vec<usize> = schema
                    .args()
                    .zip(&given)
                    .filter(|(arg, _)| arg.is_mutable())
                    .flat_map(|(_, value)| value.tensors().map(AnyTensor::storage_id))
                    .collect();
                // `set_` lets the storage that it is given grow, which changes none of its tensors.
                for (value, before) in given.iter().zip(&before).filter(|_| !matches!(schema.name(), "set_" | "set")) {
                    if !value.tensors().any(|t| written.contains(&t.storage_id())) {
                        assert_eq!(describe(value, true), *before, "an argument changed: {}", text());
                    }
                }
                let kept = stack
                    .iter()
                    .flat_map(IValue::tensors)
                    .find(|t| t.numel() <= MAX_ELEMENTS && t.ndim() <= 9 && t.storage_bytes() <= MAX_BYTES);
                if let Some(t) = kept {
                    pool[slot] = t.clone();
                }
            }
        }
        if call % 997 == 0 {
            bool_bytes_are_truth_values(&pool);
        }
    }
    assert!(returned * 8 > calls && refused * 8 > calls, "{returned} returned, {refused} refused of {calls}");
}

/// Whatever bytes a bool tensor lies on, its elements are read as bools.
fn bool_bytes_are_truth_values(pool: &[AnyTensor]) {
    for t in pool.iter().filter(|t| t.dtype() == DType::Bool && !t.device().is_meta()) {
        let _: Vec<bool> = t.to_vec::<bool>().expect("a bool tensor");
    }
}

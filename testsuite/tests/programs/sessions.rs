//! Sessions: buffers of their own, weights that all share, inputs that a run changes, errors.

use super::archive::path;
use monomorph::prelude::*;
use monomorph::program::{Kept, MemoryBlock, Program, ProgramError, Value};
use monomorph::{Result, ops};

fn pair() -> [Value; 2] {
    let ones = |x: f32| Tensor::from_vec(vec![x; 20], (5, 4)).expect("a tensor").into();
    [ones(1.0), ones(2.0)]
}

fn calls(session: &monomorph::program::Session) -> i64 {
    session.weight("calls").expect("the buffer").to_vec::<i64>().expect("its value")[0]
}

#[test]
fn buffers_are_a_sessions_own() {
    for archive in ["counter.pt2", "counter.core.pt2"] {
        let program = Program::load(path(archive)).expect("a program");
        let (mut one, mut other) = (program.session().expect("a session"), program.session().expect("a session"));
        for _ in 0..3 {
            one.run(&pair()).expect("a run");
        }
        other.run(&pair()).expect("a run");
        assert_eq!((calls(&one), calls(&other)), (3, 1), "{archive}");
        assert_eq!(calls(&program.session().expect("a session")), 0, "{archive}");
        let storage = |s: &monomorph::program::Session, name: &str| s.weight(name).expect("a weight").storage_id();
        // What no run writes is not copied. The schema of `batch_norm` keeps quiet about what it writes, so as exported
        // all tensors of its arguments are.
        if archive == "counter.core.pt2" {
            assert_eq!(storage(&one, "norm.weight"), storage(&other, "norm.weight"));
        }
        assert_ne!(storage(&one, "calls"), storage(&other, "calls"), "{archive}");
    }
}

#[test]
fn a_changed_input_is_the_callers() {
    let program = Program::load(path("counter.pt2")).expect("a program");
    let inputs = pair();
    program.session().expect("a session").run(&inputs).expect("a run");
    let y = inputs[1].as_tensor().expect("a tensor");
    assert_eq!(y.to_vec::<f32>().expect("its elements"), [3.0; 20]);
}

#[test]
fn a_refused_run_changes_nothing() {
    let program = Program::load(path("counter.pt2")).expect("a program");
    let mut session = program.session().expect("a session");
    let [x, y] = pair();
    let wide: Value = tensor![1.0f64, 2.0].into();
    for inputs in [vec![x.clone()], vec![x.clone(), wide], vec![Value::Int(1), y.clone()], vec![x, y, Value::None]] {
        assert!(session.run(&inputs).is_err());
    }
    assert_eq!(calls(&session), 0);
}

#[test]
fn assertions_about_elements_hold_in_every_run() {
    let program = Program::load(path("asserted.pt2")).expect("a program");
    let mut session = program.session().expect("a session");
    let x = |last: f32| -> Value { tensor![1.0f32, 2.0, last].into() };
    for _ in 0..3 {
        session.run(&[x(3.0)]).expect("positive elements");
    }
    let error = session.run(&[x(-3.0)]).expect_err("a negative element").to_string();
    assert!(error.contains("elements are positive"), "{error}");
}

#[test]
fn errors_name_inputs_and_nodes() {
    let program = Program::load(path("tied.pt2")).expect("a program");
    let mut session = program.session().expect("a session");
    let scale: Value = Tensor::from_vec(vec![1.0f32], ()).expect("a tensor").into();
    let ids = |ids: Vec<i64>| -> Value { Tensor::from_vec(ids, 3).expect("a tensor").into() };
    let error = session.run(&[ids(vec![0, 1, 7]), scale.clone()]).expect_err("an index outside of the table");
    assert!(matches!(error, ProgramError::Node { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("embedding") && text.contains("in embed"), "{text}");
    let error = session.run(&[scale.clone(), scale]).expect_err("another dtype").to_string();
    assert!(error.starts_with("input 0 (ids): dtype float32; int64 is accepted"), "{error}");
}

/// From the third run on kernels are run where they were bound: what an earlier run gave stays as it is, and errors
/// name nodes as before.
#[test]
fn later_runs_leave_earlier_outputs() {
    let program = Program::load(path("tied.pt2")).expect("a program");
    let (mut session, mut in_turn) = (program.session().expect("a session"), program.session().expect("a session"));
    in_turn.run_in_turn();
    let inputs = |ids: [i64; 3], scale: f32| -> [Value; 2] {
        [tensor![ids[0], ids[1], ids[2]].into(), Tensor::from_vec(vec![scale], ()).expect("a tensor").into()]
    };
    let text = |values: Vec<Value>| format!("{values:?}");
    let kinds: Vec<_> = (0..6).map(|i| inputs([i % 3, 1, 2 - i % 3], i as f32 + 0.5)).collect();
    let outputs: Vec<_> = kinds.iter().map(|inputs| session.run(inputs).expect("a run")).collect();
    let elements = |values: &[Value]| -> Vec<Vec<u8>> {
        values.iter().flat_map(Value::tensors).map(|t| t.storage_to_vec().expect("its bytes")).collect()
    };
    for (inputs, outputs) in kinds.iter().zip(&outputs) {
        let want = in_turn.run(inputs).expect("a run");
        assert_eq!(elements(outputs), elements(&want), "{}", text(want));
    }
    let wrong = inputs([0, 1, 7], 1.0);
    let error = |session: &mut monomorph::program::Session| session.run(&wrong).expect_err("no such row").to_string();
    assert_eq!(error(&mut session), error(&mut in_turn));
    let again = session.run(&kinds[0]).expect("a run");
    assert_eq!(elements(&again), elements(&outputs[0]));
}

/// What lives at the same time lies apart, in as many bytes as there are, and those that are live are counted right.
/// All take a tenth more than these at most, and `more` bytes.
fn check_memory(kept: &Kept, blocks: &[MemoryBlock], more: usize) {
    assert!(blocks.len() > 3 && blocks.iter().any(|block| !block.node.is_empty()), "{blocks:?}");
    for (i, one) in blocks.iter().enumerate() {
        assert!(one.kernels.start < one.kernels.end && one.kernels.end <= kept.kernels, "{one:?}");
        assert!(one.offset + one.bytes <= kept.bytes.next_multiple_of(64) + 64 * blocks.len(), "{one:?}");
        for other in &blocks[..i] {
            let meet = one.kernels.start < other.kernels.end && other.kernels.start < one.kernels.end;
            let overlap = one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes;
            assert!(!(meet && overlap), "{one:?} and {other:?}");
        }
    }
    let live = |k: usize| blocks.iter().filter(|block| block.kernels.contains(&k)).map(|block| block.bytes).sum();
    assert_eq!((0..kept.kernels).map(live).max(), Some(kept.live));
    assert!(kept.live <= kept.bytes, "{kept:?}");
    assert!(kept.bytes <= kept.live + kept.live / 10 + more, "more than what lives at once: {kept:?}");
}

/// Pointwise kernels run block by block where tensors are large, with the bits of the operators in turn.
#[test]
fn chains_run_block_by_block() {
    let program = Program::load(path("chain.pt2")).expect("a program");
    let (mut session, mut in_turn) = (program.session().expect("a session"), program.session().expect("a session"));
    in_turn.run_in_turn();
    let numbers = |n: i64, seed: i64| -> Value {
        let values: Vec<f32> = (0..n).map(|i| ((i * 7 + seed) % 1013) as f32 * 0.01 - 5.0).collect();
        Tensor::from_vec(values, n).expect("a tensor").into()
    };
    assert_eq!(session.kept(), None);
    for (n, is_large) in [(100, false), (8192, true), (70_001, true)] {
        for seed in 0..4 {
            let inputs = [numbers(n, seed), numbers(n, seed + 500)];
            let bytes = |values: Vec<Value>| -> Vec<Vec<u8>> {
                values.iter().flat_map(Value::tensors).map(|t| t.storage_to_vec().expect("its bytes")).collect()
            };
            let got = bytes(session.run(&inputs).expect("a run"));
            assert_eq!(got, bytes(in_turn.run(&inputs).expect("a run")), "{n} {seed}");
            assert_eq!(session.kept().is_some(), seed > 0);
        }
        let kept = session.kept().expect("kernels");
        assert!(kept.kernels >= 10 && (kept.grouped >= 8) == is_large && kept.bytes > 0, "{n}: {kept:?}");
        check_memory(&kept, &session.memory(), 0);
    }
}

/// Where blocks of a pool would be of use to few, the third run lays all out in one block, with the same results.
#[test]
fn memory_is_laid_out_in_one_block() {
    fn widening<D: Kernels>(x: &Tensor<D>) -> Result<Tensor<D>> {
        let mut y = x.mul(1.5)?;
        for i in 1..8 {
            let wide = ops::cat(&vec![&y; i as usize])?;
            y = wide.i(..10_000)?.add(&wide.i(-10_000..)?)?.mul(0.5)?.add(i)?;
        }
        Ok(y)
    }
    let program = Program::trace(|t| widening(&t.input("x", [10_000], F32)?)).expect("a program");
    let mut session = program.session().expect("a session");
    for run in 0..6 {
        let x = Tensor::from_vec((0..10_000).map(|i| (i * 7 + run * 13) as f32 * 0.01).collect(), 10_000);
        let x = x.expect("a tensor");
        let results = session.run(&[x.clone().into()]).expect("a run");
        let want = widening(&x).expect("a result").to_vec::<f32>();
        assert_eq!(results[0].as_tensor().expect("a tensor").to_vec::<f32>(), want, "run {run}");
        // The second one shows how much less it can be.
        assert_eq!(session.kept().is_some(), run > 1, "run {run}");
    }
    // Kernels that run block by block share whole tensors alone, which takes one more here.
    check_memory(&session.kept().expect("kernels"), &session.memory(), 40_000);
}

#[test]
fn sessions_run_on_threads() {
    let program = Program::load(path("counter.pt2")).expect("a program");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = program.session().expect("a session");
                for _ in 0..10 {
                    session.run(&pair()).expect("a run");
                }
                assert_eq!(calls(&session), 10);
            });
        }
    });
}

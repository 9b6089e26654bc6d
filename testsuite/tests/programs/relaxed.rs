//! Relaxed programs: what is folded, what is not, and how near the results are.

use super::archive::path;
use monomorph::program::{Program, Value};
use monomorph::{Tensor, rounding};

/// The batch norms of a program.
fn norms(program: &Program) -> usize {
    program.graph().nodes().iter().filter(|node| node.target().contains("batch_norm")).count()
}

fn elements(outputs: &[Value]) -> Vec<Vec<f32>> {
    outputs.iter().flat_map(Value::tensors).map(|tensor| tensor.to_vec().expect("float32")).collect()
}

/// Of six norms three have a convolution of their own with constant weights: not those of a sum, of a transposed
/// convolution and of one whose result is used again.
#[test]
fn norms_are_folded_where_nobody_sees_what_is_between() {
    for name in ["norms.pt2", "norms.core.pt2"] {
        let exact = Program::load(path(name)).expect("a program");
        let relaxed = exact.relaxed().expect("its relaxed form");
        assert_eq!((norms(&exact), norms(&relaxed)), (6, 3), "{name}\n{relaxed}");
        assert_eq!(norms(&relaxed.relaxed().expect("once more")), 3);
        let mut sessions = [&exact, &relaxed].map(|program| program.session().expect("a session"));
        // The plan, its kernels, and later runs.
        for run in 0..4 {
            let x: Vec<f32> = (0..180).map(|i| ((i * 37 + run) % 101) as f32 / 50.0 - 1.0).collect();
            let x = Tensor::from_vec(x, (2, 3, 5, 6)).expect("a tensor");
            let [exact, relaxed] =
                sessions.each_mut().map(|session| elements(&session.run(&[x.clone().into()]).expect("a run")));
            assert_eq!(exact.len(), 3);
            assert_ne!(exact, relaxed, "nothing was folded");
            for (exact, relaxed) in exact.iter().zip(&relaxed) {
                let largest = exact.iter().fold(0.0f32, |most, x| most.max(x.abs()));
                let off = exact.iter().zip(relaxed).fold(0.0f32, |most, (x, y)| most.max((x - y).abs()));
                assert!(off <= 4e-6 * largest, "{name}, run {run}: {off} of {largest}");
            }
        }
    }
}

/// Convolutions round otherwise where the program is relaxed, in every run: the plan, its kernels, and later ones; and
/// where the caller says so.
#[test]
fn roundings_are_relaxed_while_a_program_runs() {
    let exact = Program::load(path("filtered.pt2")).expect("a program");
    let relaxed = exact.relaxed().expect("its relaxed form");
    let mut sessions = [&exact, &exact, &relaxed].map(|program| program.session().expect("a session"));
    for run in 0..4 {
        let x: Vec<f32> = (0..32 * 12 * 14).map(|i| ((i * 37 + run) % 101) as f32 / 50.0 - 1.0).collect();
        let x = [Tensor::from_vec(x, (1, 32, 12, 14)).expect("a tensor").into()];
        let [exact, asked, relaxed] = &mut sessions;
        let outputs = [
            exact.run(&x).expect("an exact run"),
            rounding::relaxed(|| asked.run(&x)).expect("a run"),
            relaxed.run(&x).expect("a relaxed run"),
        ];
        let [exact, asked, relaxed] = outputs.map(|outputs| elements(&outputs));
        assert_ne!(exact, relaxed, "run {run} was exact");
        assert_eq!(asked, relaxed, "run {run}");
        assert!(!rounding::is_relaxed());
    }
}

/// Statistics that runs change are no constants, and programs without norms stay as they are.
#[test]
fn what_changes_is_not_folded() {
    for name in ["counter.pt2", "tied.pt2", "scopes.pt2"] {
        let program = Program::load(path(name)).expect("a program");
        assert_eq!(program.to_string(), program.relaxed().expect("its relaxed form").to_string());
    }
}

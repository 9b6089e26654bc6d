//! A program in words.

use monomorph::program::{Callee, InputKind, OutputKind, Program};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a program is; every node or weight if asked for.
pub(crate) fn text(program: &Program, graph: bool, weights: bool) -> String {
    if graph {
        return program.to_string();
    }
    let mut text = String::new();
    let mut bytes: BTreeMap<usize, usize> = BTreeMap::new();
    let mut elements = 0;
    for (_, tensor) in program.weights() {
        bytes.insert(tensor.storage_id(), tensor.storage_bytes());
        elements += tensor.numel();
    }
    let (mut nodes, mut operators) = (0_usize, BTreeMap::<&str, usize>::new());
    program.graph().visit_nodes(&mut |node| {
        nodes += 1;
        if matches!(node.callee(), Callee::Operator(_)) {
            *operators.entry(node.target()).or_default() += 1;
        }
    });
    let _ = writeln!(text, "written by PyTorch {} ({})", program.torch_version(), program.verifiers().join(", "));
    let bytes: usize = bytes.values().sum();
    let _ = writeln!(text, "{} weights, {elements} elements, {bytes} bytes", program.weights().count());
    let _ = writeln!(text, "{nodes} nodes, {} operators", operators.len());
    // The lines of the whole text that are about inputs have the sizes in symbols.
    for line in program.to_string().lines() {
        if line.contains(" = input ") || line.contains(" in ") && line.starts_with("  ") && line.contains("..") {
            let _ = writeln!(text, "{line}");
        }
    }
    let outputs = program.outputs().iter().filter(|kind| **kind == OutputKind::User).count();
    let written = program.outputs().iter().filter(|kind| matches!(kind, OutputKind::Mutation(_))).count();
    let _ = writeln!(text, "  {outputs} outputs; {written} buffers or inputs are given new contents");
    if weights {
        for (name, tensor) in program.weights() {
            let kind = program.inputs().iter().find_map(|kind| match kind {
                InputKind::Parameter(own) if **own == *name => Some("parameter"),
                InputKind::Buffer(own) if **own == *name => Some("buffer"),
                _ => None,
            });
            let kind = kind.unwrap_or("constant");
            let _ = writeln!(text, "  {kind} {name}: {} {:?}", tensor.dtype(), tensor.sizes());
        }
    } else {
        let mut by_count: Vec<(&str, usize)> = operators.into_iter().collect();
        by_count.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        by_count.iter().for_each(|(name, count)| {
            let _ = writeln!(text, "  {count:>5} {name}");
        });
    }
    text
}

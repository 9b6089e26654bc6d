//! A program in words.

use crate::inputs::indented;
use crate::{Result, plan};
use clap::ArgMatches;
use monomorph::program::{Callee, InputKind, OutputKind, Program};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) fn inspect(program: &Program, args: &ArgMatches, out: &mut String) -> Result<bool> {
    if args.get_flag("graph") {
        out.push_str(&program.to_string());
    } else if args.get_flag("dot") {
        out.push_str(&program.to_dot());
    } else {
        summary(program, args.get_flag("weights"), out);
    }
    let drawing = args.get_one::<PathBuf>("svg");
    if args.get_flag("plan") || drawing.is_some() {
        plan::plan(program, args, drawing, out)?;
    }
    Ok(true)
}

fn summary(program: &Program, lists_weights: bool, out: &mut String) {
    say!(out, "written by PyTorch {} ({})", program.torch_version(), program.verifiers().join(", "));
    let storages: BTreeMap<usize, usize> =
        program.weights().map(|(_, tensor)| (tensor.storage_id(), tensor.storage_bytes())).collect();
    let elements: usize = program.weights().map(|(_, tensor)| tensor.numel()).sum();
    let bytes: usize = storages.values().sum();
    say!(out, "\n{} weights, {elements} elements, {:.3} MB", program.weights().count(), bytes as f64 / 1e6);
    if lists_weights {
        for (name, tensor) in program.weights() {
            let kind = program.inputs().iter().find_map(|kind| match kind {
                InputKind::Parameter(own) if **own == *name => Some("parameter"),
                InputKind::Buffer(own) if **own == *name => Some("buffer"),
                _ => None,
            });
            say!(out, "  {} {name}: {}{:?}", kind.unwrap_or("constant"), tensor.dtype(), tensor.sizes());
        }
    }
    say!(out, "\ninputs\n{}", indented(&program.inputs_text()));
    say!(out, "outputs\n{}", indented(&program.outputs_text()));
    let written = program.outputs().iter().filter(|kind| matches!(kind, OutputKind::Mutation(_))).count();
    if written > 0 {
        say!(out, "  and the new contents of {written} buffers or inputs");
    }
    let (mut nodes, mut operators) = (0_usize, BTreeMap::<&str, usize>::new());
    program.graph().visit_nodes(&mut |node| {
        nodes += 1;
        if matches!(node.callee(), Callee::Operator(_)) {
            *operators.entry(node.target()).or_default() += 1;
        }
    });
    say!(out, "\n{nodes} nodes, {} operators", operators.len());
    let mut by_count: Vec<(&str, usize)> = operators.into_iter().collect();
    by_count.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    by_count.iter().for_each(|(name, count)| say!(out, "  {count:>5} {name}"));
}

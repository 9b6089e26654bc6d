//! The numbers in `iter/README.md` are those of the plan.

use crate::support::{Arguments, Preset};
use monomorph_core::{DType, Meta, Tensor};
use monomorph_iter::{Config, Flags, View, build_over};

#[test]
fn numbers_are_true() {
    let readme = include_str!("../../README.md");
    let holds = |line: String| assert!(readme.contains(&line), "iter/README.md does not contain:\n{line}");

    let x = Tensor::<Meta>::zeros_contiguous(DType::F32, &[3, 4]).unwrap();
    let y = Tensor::<Meta>::zeros_contiguous(DType::I64, &[4, 3]).unwrap();
    let yt = y.with_geometry(monomorph_core::Geometry::new(DType::I64, &[3, 4], &[1, 3], 0).unwrap()).unwrap();
    let arguments = Arguments { preset: Preset::Binary, operands: vec![(&x).into(), (&yt).into()] };
    let out = crate::support::meta_call(&arguments).unwrap();
    holds(format!("out      sizes {:?}  strides {:?}  {}", out.sizes(), out.strides(), out.dtype()));

    let views = [&out, &x, &yt].map(|t| View { storage: None, ..View::of_tensor(t.as_operand()) });
    let iter = build_over(&Config::new(Flags::BINARY), &views[..1], &views[1..]).unwrap();
    holds(format!("common dtype  {}", iter.common_dtype()));
    holds(format!("perm  {:?}", iter.perm()));
    holds(format!("shape  {:?}", iter.shape()));
    for (k, name) in ["out", "x", "y.t()"].iter().enumerate() {
        let (dtype, target) = (iter.dtype(k), iter.loop_dtype(k));
        holds(format!("{name:<7}  {:?} bytes  {dtype} computed as {target}", iter.strides(k)));
    }
    let mut calls = Vec::new();
    // SAFETY: the loop looks at no element.
    unsafe {
        let base = [std::ptr::without_provenance_mut(64); 3];
        iter.serial_for_each(&base, 0..12, |_, s, n0, n1| calls.push(format!("loop(pointers, {s:?}, {n0}, {n1})")));
    }
    assert_eq!(calls.len(), 1);
    holds(calls.remove(0));
    let mut halves = Vec::new();
    // SAFETY: as above.
    unsafe {
        let base = [std::ptr::without_provenance_mut(0); 3];
        iter.serial_for_each(&base, 6..12, |p, _, n0, n1| {
            halves.push(format!("{:?} × {n0} × {n1}", p.iter().map(|p| p.addr()).collect::<Vec<_>>()));
        });
    }
    holds(format!("elements 6..12: {}", halves.join(", then ")));
}

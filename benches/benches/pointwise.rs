//! Pointwise operators of the library, out= form, so that no allocation is timed. Each bench asserts its answer first.
//!
//! Groups: `op/dtype/layout/size`.
#![allow(missing_docs, reason = "criterion's macros make public functions without documentation")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use monomorph::{Cpu, DType, Result, Tensor, add_out, eq_out, exp_out, mul_out};
use monomorph_benches::{Layout, SIDES, group, tensor, values};
use std::hint::black_box;

type Run = fn(&Tensor<Cpu>, &Tensor<Cpu>, &mut Tensor<Cpu>) -> Result<()>;

type Reference = fn(f64, f64) -> f64;

/// An operator: its name, its call, and its reference in double precision.
const OPS: [(&str, Run, Reference); 4] = [
    ("add", |a, b, out| add_out(a, b, out).map(drop), |x, y| x + y),
    ("mul", |a, b, out| mul_out(a, b, out).map(drop), |x, y| x * y),
    ("exp", |a, _, out| exp_out(a, out).map(drop), |x, _| x.exp()),
    ("eq", |a, b, out| eq_out(a, b, out).map(drop), |x, y| f64::from(u8::from(x == y))),
];

/// The dtype of the result.
fn result(op: &str, dtype: DType) -> DType {
    match op {
        "eq" => DType::Bool,
        "exp" if dtype == DType::I32 => DType::F32,
        _ => dtype,
    }
}

/// Panics unless the output holds the reference of the operands, within the precision of its dtype.
fn check(name: &str, reference: Reference, a: &Tensor<Cpu>, b: &Tensor<Cpu>, out: &Tensor<Cpu>) {
    let tolerance = if out.dtype() == DType::BF16 { 1.0 / 256.0 } else { 1e-6 };
    let (a, b, out) = (values(a), values(b), values(out));
    for (i, got) in out.iter().enumerate() {
        // A row that is broadcast comes round again.
        let want = reference(a[i], b[i % b.len()]);
        assert!((got - want).abs() <= tolerance * want.abs(), "{name} at {i}: {got}, not {want}");
    }
}

fn pointwise(c: &mut Criterion) {
    for (op, run, reference) in OPS {
        for dtype in [DType::F32, DType::I32, DType::BF16] {
            for layout in Layout::ALL {
                for side in SIDES {
                    let name = group(op, dtype, layout, side);
                    let [a, b] = layout.operands(dtype, side);
                    let mut out = tensor(result(op, dtype), &[side, side], 0);
                    run(&a, &b, &mut out).expect("valid operands");
                    check(&name, reference, &a, &b, &out);
                    let mut group = c.benchmark_group(name);
                    group.throughput(Throughput::Elements((side * side) as u64));
                    group.bench_function("monomorph", |bencher| {
                        bencher.iter(|| run(black_box(&a), black_box(&b), black_box(&mut out)));
                    });
                    group.finish();
                }
            }
        }
    }
}

criterion_group!(benches, pointwise);
criterion_main!(benches);

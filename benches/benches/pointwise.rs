//! Pointwise operators of the library, out= form, so that no allocation is timed. Each bench asserts its answer first.
//!
//! Groups: `op/dtype/layout/size`.
#![allow(missing_docs, reason = "criterion's macros make public functions without documentation")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use monomorph::{
    Cpu, DType, Result, Tensor,
    ops::{add_out, eq_out, exp_out, mul_out, tanh_out, where_out},
};
use monomorph_benches::{Layout, SIDES, group, tensor, values};
use std::hint::black_box;

/// A mask, two operands, the output.
type Run = fn(&Tensor<Cpu>, &Tensor<Cpu>, &Tensor<Cpu>, &mut Tensor<Cpu>) -> Result<()>;

type Reference = fn(bool, f64, f64) -> f64;

const DTYPES: [DType; 8] =
    [DType::F32, DType::F64, DType::BF16, DType::F16, DType::I32, DType::I64, DType::U8, DType::Bool];

/// An operator: its name, its call, and its reference in double precision.
const OPS: [(&str, Run, Reference); 6] = [
    ("add", |_, a, b, out| add_out(a, b, out).map(drop), |_, x, y| x + y),
    ("mul", |_, a, b, out| mul_out(a, b, out).map(drop), |_, x, y| x * y),
    ("eq", |_, a, b, out| eq_out(a, b, out).map(drop), |_, x, y| f64::from(u8::from(x == y))),
    ("where", |mask, a, b, out| where_out(mask, a, b, out).map(drop), |mask, x, y| if mask { x } else { y }),
    ("exp", |_, a, _, out| exp_out(a, out).map(drop), |_, x, _| x.exp()),
    ("tanh", |_, a, _, out| tanh_out(a, out).map(drop), |_, x, _| x.tanh()),
];

/// The dtype of the result.
fn result(op: &str, dtype: DType) -> DType {
    match op {
        "eq" => DType::Bool,
        "exp" | "tanh" if dtype.is_integral(true) => DType::F32,
        _ => dtype,
    }
}

/// Panics unless the output holds the reference of the operands, within the precision of its dtype.
fn check(name: &str, layout: Layout, reference: Reference, operands: [&Tensor<Cpu>; 3], out: &Tensor<Cpu>) {
    let side = out.sizes()[1] as usize;
    let tolerance = match out.dtype() {
        DType::BF16 => 1.0 / 256.0,
        DType::F16 => 1.0 / 2048.0,
        _ => 1e-6,
    };
    // The sum of two true values is true.
    let most = if out.dtype() == DType::Bool { 1.0 } else { f64::INFINITY };
    let [mask, a, b] = operands.map(values);
    for (i, got) in values(out).into_iter().enumerate() {
        let second = match layout {
            Layout::RowBroadcast => b[i % side],
            Layout::ColumnBroadcast => b[i / side],
            _ => b[i],
        };
        let want = reference(mask[i] != 0.0, a[i], second).min(most);
        assert!((got - want).abs() <= tolerance * want.abs(), "{name} at {i}: {got}, not {want}");
    }
}

fn pointwise(c: &mut Criterion) {
    for (op, run, reference) in OPS {
        for dtype in DTYPES {
            for layout in Layout::ALL {
                for side in SIDES {
                    let name = group(op, dtype, layout, side);
                    let [a, b] = layout.operands(dtype, side);
                    let mask = tensor(DType::Bool, &[side, side], 2);
                    let mut out = tensor(result(op, dtype), &[side, side], 0);
                    run(&mask, &a, &b, &mut out).expect("valid operands");
                    check(&name, layout, reference, [&mask, &a, &b], &out);
                    let mut group = c.benchmark_group(name);
                    group.throughput(Throughput::Elements((side * side) as u64));
                    group.bench_function("monomorph", |bencher| {
                        bencher.iter(|| run(black_box(&mask), black_box(&a), black_box(&b), black_box(&mut out)));
                    });
                    group.finish();
                }
            }
        }
    }
}

criterion_group!(benches, pointwise);
criterion_main!(benches);

//! A chain of eight pointwise operators: eight calls with an output of their own each time, the same kernels recorded
//! and run again one after another, and recorded and run block by block. Each answer is compared with the others first.
//!
//! Groups: `chain/float32/ELEMENTS`; a bench is `out`, `recorded` or `blocks`.
#![allow(missing_docs, reason = "criterion's macros make public functions without documentation")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use monomorph::prelude::*;
use monomorph::{Cpu, DType, Result, Tensor, ops};
use monomorph_core::structured::Recording;
use std::hint::black_box;

/// The chain with two buffers by turns.
fn out(x: &Tensor<Cpu>, y: &Tensor<Cpu>, [a, b]: &mut [Tensor<Cpu>; 2]) -> Result<()> {
    ops::mul_out(x, 1.5, a)?;
    ops::add_out(&*a, y, b)?;
    ops::minimum_out(&*b, y, a)?;
    ops::sub_out(&*a, 0.25, b)?;
    ops::mul_out(&*b, y, a)?;
    ops::abs_out(&*a, b)?;
    ops::maximum_out(&*b, x, a)?;
    ops::neg_out(&*a, b).map(drop)
}

/// The same as a calculation.
fn chain(x: &Tensor<Cpu>, y: &Tensor<Cpu>) -> Result<Tensor<Cpu>> {
    x.mul(1.5)?.add(y)?.minimum(y)?.sub(0.25)?.mul(y)?.abs()?.maximum(x)?.neg()
}

fn recorded(c: &mut Criterion) {
    for n in [1i64 << 16, 1 << 20, 1 << 24] {
        let numbers = |seed: i64| (0..n).map(|i| ((i * 7 + seed) % 1013) as f32 * 0.01 - 5.0).collect::<Vec<f32>>();
        let [x, y] = [1, 5].map(|seed| Tensor::from_vec(numbers(seed), [n]).expect("a tensor"));
        let mut buffers = [0, 0].map(|_| ops::zeros(n, DType::F32).expect("a tensor"));
        out(&x, &y, &mut buffers).expect("valid operands");
        let want = buffers[1].to_vec::<f32>().expect("float32");
        let mut group = c.benchmark_group(format!("chain/float32/{n}"));
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function("out", |bencher| bencher.iter(|| out(black_box(&x), &y, &mut buffers)));
        for name in ["recorded", "blocks"] {
            let mut recording = Recording::default();
            let (result, kernels) = recording.record(|| chain(&x, &y));
            let (result, kernels) = (result.expect("valid operands"), kernels.expect("kernels"));
            if name == "blocks" {
                recording.group(kernels.clone(), 1);
                assert_eq!(recording.grouped(), kernels.len());
            }
            recording.run(kernels.clone()).expect("a run");
            assert!(result.to_vec::<f32>().expect("float32") == want, "{name} differs");
            group.bench_function(name, |bencher| bencher.iter(|| recording.run(kernels.clone())));
        }
        group.finish();
    }
}

criterion_group!(benches, recorded);
criterion_main!(benches);

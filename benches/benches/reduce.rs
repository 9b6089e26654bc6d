//! Reductions of the library. Each bench asserts its answer first.
//!
//! Groups: `op/dtype/layout/size`; a bench is the dimension that is reduced. `squared_distance` is a reduction of what
//! operators give, beside these operators one after another.
#![allow(missing_docs, reason = "criterion's macros make public functions without documentation")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use monomorph::ops::{square, sub, sum};
use monomorph::{Cpu, DType, Dims, Result, Tensor};
use monomorph_benches::fused::squared_distance;
use monomorph_benches::{Data, Layout, SIDES, group, values};
use std::hint::black_box;

/// Panics unless `got` holds the sums of `a` over `dim`, or of all of it.
fn check(name: &str, a: &Tensor<Cpu>, dim: Option<i64>, got: &Tensor<Cpu>) {
    let side = a.sizes()[1] as usize;
    let (a, got) = (values(a), values(got));
    for (k, got) in got.iter().enumerate() {
        let belongs = |i: usize| match dim {
            None => true,
            Some(0) => i % side == k,
            Some(_) => i / side == k,
        };
        let want: f64 = a.iter().enumerate().filter(|(i, _)| belongs(*i)).map(|(_, x)| x).sum();
        let size: f64 = a.iter().map(|x| x.abs()).sum();
        assert!((got - want).abs() <= size / 128.0, "{name} over {dim:?} at {k}: {got}, not {want}");
    }
}

fn reduce(c: &mut Criterion) {
    for dtype in [DType::F32, DType::I32, DType::BF16] {
        for layout in [Layout::Contiguous, Layout::Transposed] {
            for side in SIDES {
                let name = group("sum", dtype, layout, side);
                let a = layout.operand(Data::signed(dtype), &[side, side], 0, 1).expect("two dimensions");
                let mut group = c.benchmark_group(&name);
                group.throughput(Throughput::Elements((side * side) as u64));
                for dim in [None, Some(0), Some(1)] {
                    let run = |a: &Tensor<Cpu>| sum(a, dim.map_or(Dims::from(..), Dims::from));
                    check(&name, &a, dim, &run(&a).expect("valid operands"));
                    let id = dim.map_or("all".to_owned(), |dim| format!("dim {dim}"));
                    group.bench_function(id, |bencher| bencher.iter(|| run(black_box(&a))));
                }
                group.finish();
            }
        }
    }
}

/// Squared distances of many points to a few centres.
fn squared_distances(c: &mut Criterion) {
    let dtype = DType::F32;
    let points = Layout::Contiguous.operand(Data::signed(dtype), &[100_000, 1, 16], 0, 1).expect("three dimensions");
    let centres = Layout::Contiguous.operand(Data::signed(dtype), &[1, 16, 16], 1, 1).expect("three dimensions");
    let fused = |a: &Tensor<Cpu>| squared_distance(a, &centres, 1, 2, -1, false, None);
    let in_turn = |a: &Tensor<Cpu>| -> Result<Tensor<Cpu>> { sum(&square(&sub(a, &centres)?)?, -1) };
    let results = [fused(&points), in_turn(&points)].map(|result| values(&result.expect("valid operands")));
    assert_eq!(results[0], results[1]);
    let mut group = c.benchmark_group("squared_distance/float32/contiguous/100000x16x16");
    group.throughput(Throughput::Elements(100_000 * 16 * 16));
    group.bench_function("fused", |bencher| bencher.iter(|| fused(black_box(&points))));
    group.bench_function("in turn", |bencher| bencher.iter(|| in_turn(black_box(&points))));
    group.finish();
}

criterion_group!(benches, reduce, squared_distances);
criterion_main!(benches);

//! The instruction-set frame against the lane types of `wide`: the figures behind the decision page on `wide`. Owns its
//! own small kernels, so that both sides compute the same thing.
//!
//! Groups: `op/dtype/layout/size`; a bench is `frame/LEVEL` (plain loop inside the frame of a level), `wide/outside`
//! (lane types as the build compiles them) or `wide/inside LEVEL` (the same code called inside the frame).
#![allow(missing_docs, reason = "criterion's macros make public functions without documentation")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use monomorph_cpu::isa::{Isa, Kernel, Level};
use std::hint::black_box;
use wide::{f32x8, f32x16};

const N: usize = 64 * 1024;

/// exp(x) for |x| <= 1/2, as a polynomial: what is left of an exponential behind its range reduction.
const COEFFICIENTS: [f32; 8] = [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0];

#[derive(Clone, Copy, PartialEq)]
enum Op {
    AddMul,
    Poly,
}

/// A plain loop; the frame that it is inlined into decides how it is vectorised.
struct Plain<'a> {
    op: Op,
    a: &'a [f32],
    b: &'a [f32],
    out: &'a mut [f32],
}

impl<I: Isa> Kernel<I> for Plain<'_> {
    type Home = Self;
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        let fma = |x: f32, y: f32, z: f32| if I::FMA { x.mul_add(y, z) } else { x * y + z };
        let n = self.out.len();
        let (a, b) = (&self.a[..n], &self.b[..n]);
        match self.op {
            Op::AddMul => (0..n).for_each(|i| self.out[i] = (a[i] + b[i]) * b[i]),
            Op::Poly => {
                let [c0, c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS;
                for (out, &x) in self.out.iter_mut().zip(a) {
                    let high = fma(x, fma(x, fma(x, c7, c6), c5), c4);
                    *out = fma(x, fma(x, fma(x, fma(x, high, c3), c2), c1), c0);
                }
            }
        }
    }
}

/// The same in lanes.
macro_rules! lanes {
    ($name:ident, $lane:ident, $width:literal) => {
        struct $name<'a>(Plain<'a>);

        impl<I: Isa> Kernel<I> for $name<'_> {
            type Home = Self;
            type Output = ();
            #[inline(always)]
            fn run(self, _: I) {
                let Plain { op, a, b, out } = self.0;
                let (a, _) = a.as_chunks::<$width>();
                let (b, _) = b.as_chunks::<$width>();
                let (out, _) = out.as_chunks_mut::<$width>();
                let [c0, c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS.map($lane::splat);
                for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                    let (x, y) = ($lane::from(*a), $lane::from(*b));
                    let value = match op {
                        Op::AddMul => (x + y) * y,
                        Op::Poly => {
                            let high = x.mul_add(x.mul_add(x.mul_add(c7, c6), c5), c4);
                            x.mul_add(x.mul_add(x.mul_add(x.mul_add(high, c3), c2), c1), c0)
                        }
                    };
                    *out = value.to_array();
                }
            }
        }
    };
}
lanes!(Lanes8, f32x8, 8);
lanes!(Lanes16, f32x16, 16);

fn wide(c: &mut Criterion) {
    let a: Vec<f32> = (0..N).map(|i| (i % 1000) as f32 / 1000.0 - 0.5).collect();
    let b: Vec<f32> = (0..N).map(|i| (i % 37) as f32).collect();
    for (name, op) in [("add_mul", Op::AddMul), ("exp_polynomial", Op::Poly)] {
        let want = |i: usize| match op {
            Op::AddMul => (a[i] + b[i]) * b[i],
            Op::Poly => a[i].exp(),
        };
        let check = |out: &[f32]| {
            assert!((0..N).all(|i| (out[i] - want(i)).abs() <= 1e-6 * want(i).abs()), "{name} gives another answer");
        };
        let mut group = c.benchmark_group(format!("{name}/float32/contiguous/64Ki"));
        let mut out = vec![0.0f32; N];
        let mut bench = |id: BenchmarkId, run: &dyn Fn(Plain<'_>)| {
            out.fill(0.0);
            run(Plain { op, a: &a, b: &b, out: &mut out });
            check(&out);
            group.bench_function(id, |bencher| {
                bencher.iter(|| run(Plain { op, a: black_box(&a), b: black_box(&b), out: black_box(&mut out) }));
            });
        };
        for level in [Level::Portable, Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()) {
            bench(BenchmarkId::new("frame", level), &|plain| level.enter(plain));
            bench(BenchmarkId::new("wide f32x8 inside", level), &|plain| level.enter(Lanes8(plain)));
            bench(BenchmarkId::new("wide f32x16 inside", level), &|plain| level.enter(Lanes16(plain)));
        }
        group.finish();
    }
}

criterion_group!(benches, wide);
criterion_main!(benches);

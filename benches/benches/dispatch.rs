//! What dispatch adds to a call: the typed call, the same through an unboxed and a boxed handle, and the look-up by
//! name.

use criterion::Criterion;
use monomorph::{AnyTensor, Cpu, Scalar, Stack, Tensor, dispatcher, ops::add};
use std::hint::black_box;

fn calls(c: &mut Criterion) {
    let a = Tensor::<Cpu>::from_slice(&[1.5f32; 16], [16]).expect("memory");
    let want = add(&a, &a).expect("it adds").to_vec::<f32>().expect("float32");
    let handle = dispatcher().find("add.Tensor").expect("in the table");
    let typed = handle.typed::<(&AnyTensor, &AnyTensor, Scalar), AnyTensor>().expect("its signature");
    let any = a.as_any();
    let sum = typed.call((any, any, Scalar::Int(1))).expect("it adds");
    assert_eq!(sum.downcast::<Cpu>().expect("on the CPU").to_vec::<f32>().expect("float32"), want);

    let mut group = c.benchmark_group("add/float32/contiguous/16");
    group.bench_function("typed", |b| b.iter(|| add(black_box(&a), black_box(&a))));
    group.bench_function("unboxed handle", |b| b.iter(|| typed.call((black_box(any), black_box(any), Scalar::Int(1)))));
    let arguments: Stack = vec![any.clone().into(), any.clone().into(), Scalar::Int(1).into()];
    let mut stack = Stack::new();
    group.bench_function("boxed handle", |b| {
        b.iter(|| {
            stack.clear();
            stack.extend(arguments.iter().cloned());
            handle.call(black_box(&mut stack))
        });
    });
    group.finish();
    c.bench_function("look-up by name", |b| b.iter(|| dispatcher().find(black_box("add.Tensor"))));
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    calls(&mut criterion);
    criterion.final_summary();
}

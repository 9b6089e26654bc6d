//! Reductions by name against loops over indices: values, sizes and dtypes over dtypes × layouts × dimensions, the out=
//! form and the form without data besides.

use monomorph::crates::core::Kind;
use monomorph::{AnyTensor, Cpu, DType, IValue, Meta, Result, Scalar, Tensor, call};
use monomorph_testsuite::layout::{Layout, Random, convert, plain, tensor, values};
use monomorph_testsuite::naive::each_index;

pub(crate) fn run(name: &str, mut stack: Vec<IValue>) -> Result<Vec<AnyTensor>> {
    call(name, &mut stack)?;
    Ok(stack.iter().flat_map(IValue::tensors).cloned().collect())
}

pub(crate) fn numbers(t: &AnyTensor) -> Vec<Scalar> {
    values(t.downcast_ref::<Cpu>().expect("a tensor on the CPU"))
}

/// The elements that go into each element of a result, in row-major order of both.
pub(crate) fn groups(t: &Tensor<Cpu>, dims: &[usize]) -> Vec<Vec<Scalar>> {
    let kept: Vec<usize> = (0..t.ndim()).filter(|d| !dims.contains(d)).collect();
    let count: i64 = kept.iter().map(|&d| t.sizes()[d]).product();
    let mut groups = vec![Vec::new(); count as usize];
    let (all, mut k) = (values(t), 0);
    each_index(t.sizes(), |index| {
        let place = kept.iter().fold(0, |place, &d| place * t.sizes()[d] + index[d]);
        groups[place as usize].push(all[k]);
        k += 1;
    });
    groups
}

/// Equal, where NaN equals NaN.
pub(crate) fn alike(a: &[Scalar], b: &[Scalar]) -> bool {
    let nan = |v: &Scalar| v.to_complex().is_nan();
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || nan(a) && nan(b))
}

fn sum(group: &[Scalar], dtype: DType) -> Scalar {
    match dtype.kind() {
        Kind::Complex => Scalar::Complex(group.iter().map(|v| v.to_complex()).sum()),
        Kind::Float => Scalar::Float(group.iter().map(|v| v.to_f64()).sum()),
        _ => Scalar::Int(group.iter().map(|v| v.to_i64()).sum()),
    }
}

/// The place of the first element that no other one exceeds.
fn argmax(group: &[Scalar]) -> usize {
    (0..group.len()).rev().max_by(|&a, &b| group[a].to_f64().total_cmp(&group[b].to_f64())).unwrap_or(0)
}

/// The overload on a tensor and on its twin without data, and its out= form: the same result, or the same error.
pub(crate) fn forms(name: &str, out_name: &str, t: &Tensor<Cpu>, args: &[IValue]) -> Option<Vec<AnyTensor>> {
    let what = format!("{name}{args:?} of {:?}", t.geometry());
    let with = |this: IValue, outs: Vec<IValue>| -> Vec<IValue> {
        std::iter::once(this).chain(args.iter().cloned()).chain(outs).collect()
    };
    let real = run(name, with(t.clone().into(), Vec::new()));
    let whole = Tensor::<Meta>::zeroed(DType::U8, &[t.storage_bytes() as i64], &[1], 0).unwrap();
    let twin = whole.with_geometry(t.geometry().clone()).unwrap();
    let dry = run(name, with(twin.into(), Vec::new()));
    match (&real, &dry) {
        (Ok(real), Ok(dry)) => {
            for (r, d) in real.iter().zip(dry) {
                assert_eq!((r.sizes(), r.strides(), r.dtype()), (d.sizes(), d.strides(), d.dtype()), "{what}: meta");
            }
        }
        (Err(real), Err(dry)) => assert_eq!(real, dry, "{what}: meta"),
        (real, dry) => panic!("{what}: {real:?}, meta {dry:?}"),
    }
    let real = real.ok()?;
    let outs = real.iter().map(|r| Tensor::<Cpu>::zeros_contiguous(r.dtype(), &[0]).unwrap().into()).collect();
    let into = run(out_name, with(t.clone().into(), outs)).unwrap_or_else(|error| panic!("{what}: out= {error}"));
    for (r, o) in real.iter().zip(&into) {
        assert_eq!(r.sizes(), o.sizes(), "{what}: out=");
        assert!(alike(&numbers(r), &numbers(o)), "{what}: out= {:?} instead of {:?}", numbers(o), numbers(r));
    }
    Some(real)
}

fn check(t: &Tensor<Cpu>, dims: &[usize], keepdim: bool, real: bool) {
    let what = format!("dims {dims:?} of {:?}", t.geometry());
    let dtype = t.dtype();
    let groups = groups(t, dims);
    let kept = |d: usize| if dims.contains(&d) { keepdim.then_some(1) } else { Some(t.sizes()[d]) };
    let sizes: Vec<i64> = (0..t.ndim()).filter_map(kept).collect();
    let list = IValue::Ints(dims.iter().map(|&d| d as i64).collect());
    let keep = IValue::Bool(keepdim);
    let compare = |got: &AnyTensor, dtype: DType, want: Vec<Scalar>, op: &str| {
        assert_eq!((got.sizes(), got.dtype()), (&sizes[..], dtype), "{op}, {what}");
        let want: Vec<Scalar> = want.into_iter().map(|v| convert(v, dtype)).collect();
        assert!(alike(&numbers(got), &want), "{op}, {what}: {:?} instead of {want:?}", numbers(got));
    };

    let summed = if dtype.is_integral(true) { DType::I64 } else { dtype };
    let args = [list.clone(), keep.clone(), IValue::None];
    let got = forms("sum.dim_IntList", "sum.IntList_out", t, &args).expect("every dtype has sums");
    compare(&got[0], summed, groups.iter().map(|group| sum(group, dtype)).collect(), "sum");

    let fractional = dtype.is_floating() || dtype.is_complex();
    let got = forms("mean.dim", "mean.out", t, &args);
    assert_eq!(got.is_some(), fractional, "mean, {what}");
    if let Some(got) = got {
        let mean = |group: &Vec<Scalar>| match sum(group, dtype) {
            // As PyTorch divides complex numbers.
            Scalar::Complex(z) => Scalar::Complex(z * (1.0 / group.len() as f64)),
            x => Scalar::Float(x.to_f64() / group.len() as f64),
        };
        compare(&got[0], dtype, groups.iter().map(mean).collect(), "mean");
    }

    let empty = groups.iter().any(Vec::is_empty);
    let place = |group: &Vec<Scalar>| argmax(&group.iter().map(|v| Scalar::Float(-v.to_f64())).collect::<Vec<_>>());
    for (name, out_name, largest) in [("amax", "amax.out", true), ("amin", "amin.out", false)] {
        let got = forms(name, out_name, t, &[list.clone(), keep.clone()]);
        assert_eq!(got.is_some(), !empty && (real || t.numel() == 0), "{name}, {what}");
        if let Some(got) = got {
            let end = |group: &Vec<Scalar>| group[if largest { argmax(group) } else { place(group) }];
            compare(&got[0], dtype, groups.iter().map(end).collect(), name);
        }
    }

    let got = forms("any.dims", "any.dims_out", t, &[list, keep.clone()]).expect("every dtype has truth");
    let truth = if dtype == DType::U8 { DType::U8 } else { DType::Bool };
    let any = |group: &Vec<Scalar>| Scalar::Bool(group.iter().any(|v| v.to_bool()));
    compare(&got[0], truth, groups.iter().map(any).collect(), "any");

    let [dim] = dims else { return };
    let dim = IValue::Int(*dim as i64);
    let got = forms("argmax", "argmax.out", t, &[dim.clone(), keep.clone()]);
    assert_eq!(got.is_some(), real && dtype != DType::Bool && !empty, "argmax, {what}");
    if let Some(got) = got {
        let want = groups.iter().map(|group| Scalar::Int(argmax(group) as i64)).collect();
        compare(&got[0], DType::I64, want, "argmax");
    }
    let got = forms("aminmax", "aminmax.out", t, &[dim, keep]);
    assert_eq!(got.is_some(), real && !empty, "aminmax, {what}");
    if let Some(got) = got {
        compare(&got[0], dtype, groups.iter().map(|group| group[place(group)]).collect(), "min");
        compare(&got[1], dtype, groups.iter().map(|group| group[argmax(group)]).collect(), "max");
    }
}

#[test]
fn reductions_equal_loops() {
    let mut random = Random::new(5);
    for (dtype, layout) in DType::ALL.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout))) {
        for sizes in [&[7][..], &[2, 3], &[3, 1, 4], &[2, 3, 2, 3], &[2, 0, 3], &[3, 90]] {
            let small = plain(dtype, 31, &mut random);
            let t = tensor(layout.geometry(dtype, sizes), &small);
            for bits in 1..1usize << sizes.len() {
                let dims: Vec<usize> = (0..sizes.len()).filter(|d| bits >> d & 1 == 1).collect();
                check(&t, &dims, bits % 2 == 0, !dtype.is_complex());
            }
        }
    }
}

#[test]
fn nearest_upsampling_equals_a_loop() {
    for layout in Layout::ALL {
        for (size, new) in [(5, 10), (4, 6), (7, 3), (1, 4), (3, 3)] {
            let ramp: Vec<Scalar> = (0..40).map(Scalar::Int).collect();
            let t = tensor(layout.geometry(DType::F32, &[2, 3, size]), &ramp);
            let args = [IValue::Ints(vec![new]), IValue::None];
            let got = forms("upsample_nearest1d", "upsample_nearest1d.out", &t, &args).expect("sizes are given");
            let old = values(&t);
            let mut want = Vec::new();
            each_index(&[2, 3, new], |index| {
                let from = (index[2] as f32 * (size as f32 / new as f32)) as i64;
                want.push(old[((index[0] * 3 + index[1]) * size + from.min(size - 1)) as usize]);
            });
            assert_eq!((got[0].sizes(), numbers(&got[0])), (&[2, 3, new][..], want), "{layout:?} {size} -> {new}");
        }
    }
}

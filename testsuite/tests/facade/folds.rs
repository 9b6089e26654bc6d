//! Folds beyond sums and extremes against loops over indices: all, argmin, prod, nansum, variances and norms, over
//! dtypes × layouts × dimensions in every form; offsets that would cancel, and numbers whose squares would overflow.

use crate::reductions::{alike, forms, groups, numbers, run};
use monomorph::crates::core::Kind;
use monomorph::{AnyTensor, Cpu, DType, ErrorKind, IValue, Scalar, Tensor};
use monomorph_testsuite::layout::{Layout, Random, convert, plain, tensor};

/// Equal to within a few units in the last place of the dtype, or both NaN.
fn near(got: &[Scalar], want: &[f64], dtype: DType) -> bool {
    let unit = match dtype.to_real() {
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        DType::F32 => 2e-7,
        _ => 1e-14,
    };
    let fits = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= unit * b.abs().max(1.0);
    got.len() == want.len() && got.iter().zip(want).all(|(a, b)| fits(a.to_f64(), *b))
}

/// The mean and the sum of squared deviations from it, of the parts of complex numbers.
fn moments(group: &[Scalar]) -> f64 {
    let of = |parts: Vec<f64>| {
        let mean = parts.iter().sum::<f64>() / parts.len() as f64;
        parts.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let part = |part: fn(Scalar) -> f64| of(group.iter().map(|&v| part(v)).collect());
    part(|v| v.to_complex().re) + part(|v| v.to_complex().im)
}

fn norm(group: &[Scalar], order: f64) -> f64 {
    let sizes = || group.iter().map(|v| v.to_complex().norm());
    match order {
        0.0 => sizes().filter(|&x| x != 0.0).count() as f64,
        f64::INFINITY => sizes().fold(0.0, f64::max),
        f64::NEG_INFINITY => sizes().fold(f64::INFINITY, f64::min),
        p => sizes().map(|x| x.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

struct Case<'a> {
    t: &'a Tensor<Cpu>,
    dims: &'a [usize],
    groups: Vec<Vec<Scalar>>,
    sizes: Vec<i64>,
    keep: IValue,
}

impl Case<'_> {
    fn what(&self, name: &str) -> String {
        format!("{name}, dims {:?} of {:?}", self.dims, self.t.geometry())
    }

    fn list(&self) -> IValue {
        IValue::Ints(self.dims.iter().map(|&d| d as i64).collect())
    }

    fn shape(&self, got: &AnyTensor, dtype: DType, name: &str) {
        assert_eq!((got.sizes(), got.dtype()), (&self.sizes[..], dtype), "{}", self.what(name));
    }

    fn exact(&self, got: &AnyTensor, dtype: DType, name: &str, want: impl Fn(&[Scalar]) -> Scalar) {
        self.shape(got, dtype, name);
        let want: Vec<Scalar> = self.groups.iter().map(|group| convert(want(group), dtype)).collect();
        assert!(alike(&numbers(got), &want), "{}: {:?} instead of {want:?}", self.what(name), numbers(got));
    }

    fn near(&self, got: &AnyTensor, dtype: DType, name: &str, want: impl Fn(&[Scalar]) -> f64) {
        self.shape(got, dtype, name);
        let want = self.groups.iter().map(|group| convert(Scalar::Float(want(group)), dtype).to_f64());
        let want: Vec<f64> = want.collect();
        let got = numbers(got);
        assert!(near(&got, &want, dtype), "{}: {got:?} instead of {want:?}", self.what(name));
    }

    fn check(&self) {
        let (t, dtype) = (self.t, self.t.dtype());
        let (list, keep) = (self.list(), self.keep.clone());
        let truth = if dtype == DType::U8 { DType::U8 } else { DType::Bool };
        let got = forms("all.dims", "all.dims_out", t, &[list.clone(), keep.clone()]).expect("every dtype has truth");
        self.exact(&got[0], truth, "all", |group| Scalar::Bool(group.iter().all(|v| v.to_bool())));

        let real = !dtype.is_complex();
        let got = forms("nansum", "nansum.out", t, &[list.clone(), keep.clone(), IValue::None]);
        assert_eq!(got.is_some(), real, "{}", self.what("nansum"));
        if let Some(got) = got {
            let summed = if dtype.is_integral(true) { DType::I64 } else { dtype };
            self.exact(&got[0], summed, "nansum", |group| match dtype.kind() {
                Kind::Float => Scalar::Float(group.iter().map(|v| v.to_f64()).filter(|x| !x.is_nan()).sum()),
                _ => Scalar::Int(group.iter().map(|v| v.to_i64()).sum()),
            });
        }

        let fractional = !dtype.is_integral(true);
        for (correction, less) in [(IValue::None, 1.0), (0i64.into(), 0.0), (0.5.into(), 0.5)] {
            let args = [list.clone(), correction.clone(), keep.clone()];
            let variance = |group: &[Scalar]| match group.len() as f64 {
                0.0 => f64::NAN,
                n => moments(group) / (n - less).max(0.0),
            };
            let var = forms("var.correction", "var.correction_out", t, &args);
            let std = forms("std.correction", "std.correction_out", t, &args);
            let both = forms("var_mean.correction", "var_mean.correction_out", t, &args);
            assert_eq!([&var, &std, &both].map(Option::is_some), [fractional; 3], "{}", self.what("var"));
            let (Some(var), Some(std), Some(both)) = (var, std, both) else { continue };
            self.near(&var[0], dtype.to_real(), "var", variance);
            self.near(&std[0], dtype.to_real(), "std", |group| variance(group).sqrt());
            assert!(alike(&numbers(&both[0]), &numbers(&var[0])), "{}", self.what("var_mean"));
            self.shape(&both[1], dtype, "var_mean");
            let mean = run("mean.dim", vec![t.clone().into(), list.clone(), keep.clone(), IValue::None]).unwrap();
            let parts =
                |t: &AnyTensor, part: fn(Scalar) -> f64| -> Vec<f64> { numbers(t).into_iter().map(part).collect() };
            for part in [|v: Scalar| v.to_complex().re, |v: Scalar| v.to_complex().im] {
                let got: Vec<Scalar> = parts(&both[1], part).into_iter().map(Scalar::Float).collect();
                assert!(near(&got, &parts(&mean[0], part), dtype), "{}", self.what("mean of var_mean"));
            }
        }

        let empty = self.groups.iter().any(Vec::is_empty);
        for order in [0.0, 1.0, 2.0, 3.0, 0.5, f64::INFINITY, f64::NEG_INFINITY] {
            let args = [order.into(), list.clone(), keep.clone(), IValue::None];
            let got = forms("linalg_vector_norm", "linalg_vector_norm.out", t, &args);
            let exists = fractional && !(empty && order.is_infinite());
            assert_eq!(got.is_some(), exists, "{} of order {order}", self.what("norm"));
            if let Some(got) = got {
                self.near(&got[0], dtype.to_real(), &format!("norm {order}"), |group| norm(group, order));
            }
        }

        let [dim] = self.dims else { return };
        let dim = IValue::Int(*dim as i64);
        let got = forms("argmin", "argmin.out", t, &[dim.clone(), keep.clone()]);
        assert_eq!(got.is_some(), real && dtype != DType::Bool && !empty, "{}", self.what("argmin"));
        if let Some(got) = got {
            self.exact(&got[0], DType::I64, "argmin", |group| {
                let least = (0..group.len()).min_by(|&a, &b| group[a].to_f64().total_cmp(&group[b].to_f64()));
                Scalar::Int(least.unwrap_or(0) as i64)
            });
        }
        let got =
            forms("prod.dim_int", "prod.int_out", t, &[dim, keep, IValue::None]).expect("every dtype has products");
        if dtype.is_integral(true) {
            self.exact(&got[0], DType::I64, "prod", |group| {
                Scalar::Int(group.iter().fold(1, |product, v| product.wrapping_mul(v.to_i64())))
            });
        } else if real {
            self.near(&got[0], dtype, "prod", |group| group.iter().map(|v| v.to_f64()).product());
        }
    }
}

#[test]
fn folds_equal_loops() {
    let mut random = Random::new(11);
    for (dtype, layout) in DType::ALL.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout))) {
        for sizes in [&[7][..], &[2, 3], &[3, 1, 4], &[2, 0, 3], &[3, 90]] {
            let t = tensor(layout.geometry(dtype, sizes), &plain(dtype, 31, &mut random));
            for bits in 1..1usize << sizes.len() {
                let dims: Vec<usize> = (0..sizes.len()).filter(|d| bits >> d & 1 == 1).collect();
                let keepdim = bits % 2 == 0;
                let kept = |d: usize| if dims.contains(&d) { keepdim.then_some(1) } else { Some(sizes[d]) };
                let kept = (0..sizes.len()).filter_map(kept).collect();
                Case { t: &t, dims: &dims, groups: groups(&t, &dims), sizes: kept, keep: keepdim.into() }.check();
            }
        }
    }
}

fn of(name: &str, data: &[f64], dtype: DType, args: &[IValue]) -> f64 {
    let t = Tensor::<Cpu>::from_slice(data, [data.len() as i64]).unwrap();
    let t = run("to.dtype", vec![t.into(), dtype.into(), false.into(), false.into(), IValue::None]).unwrap();
    let stack = std::iter::once(t[0].clone().into()).chain(args.iter().cloned()).collect();
    numbers(&run(name, stack).unwrap()[0])[0].to_f64()
}

#[test]
fn what_is_added_does_not_cancel() {
    // Alternating around a large mean: a sum of squares less a squared sum would lose all digits.
    for (offset, dtype) in [(1e9, DType::F64), (1e6, DType::F32)] {
        let data: Vec<f64> = (0..100_000).map(|i| offset + f64::from(i % 2)).collect();
        let want = 0.25 * 100_000.0 / 99_999.0;
        let got = of("var", &data, dtype, &[true.into()]);
        assert!((got - want).abs() < 1e-6 * want, "{dtype:?}: {got} instead of {want}");
    }
}

#[test]
fn norms_overflow_only_where_they_are_too_large() {
    let two = [2i64.into(), IValue::None, false.into(), IValue::None];
    for scale in [1e300, 1e-300, 5e-324, 1.0] {
        let got = of("linalg_vector_norm", &[3.0 * scale, -4.0 * scale], DType::F64, &two);
        assert!((got - 5.0 * scale).abs() <= 1e-15 * got, "{scale}: {got}");
    }
    let mixed = of("linalg_vector_norm", &[1e200, 1.0, 1e-200, 0.0], DType::F64, &two);
    assert!((mixed - 1e200).abs() <= 1e185, "{mixed}");
    assert_eq!(of("linalg_vector_norm", &[1.0, f64::INFINITY], DType::F64, &two), f64::INFINITY);
    assert!(of("linalg_vector_norm", &[1e300, f64::NAN], DType::F64, &two).is_nan());
    assert_eq!(of("linalg_vector_norm", &[3e38, 0.0], DType::F32, &two), f64::from(3e38f32));
}

#[test]
fn what_folds_do_not_take_is_an_error() {
    let x: IValue = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0], [2]).unwrap().into();
    let n: IValue = Tensor::<Cpu>::from_slice(&[1i32, 2], [2]).unwrap().into();
    let complex: IValue = Scalar::Complex(monomorph::Complex64::new(1.0, 1.0)).into();
    let error = |name: &str, stack: Vec<IValue>| run(name, stack).expect_err(name);
    assert!(matches!(error("var", vec![n.clone(), true.into()]).kind(), ErrorKind::DTypeNotSupported { .. }));
    let dims = |list: &[i64]| IValue::Ints(list.to_vec());
    error("var.correction", vec![x.clone(), dims(&[0, 0]), IValue::None, false.into()]);
    error("var.correction", vec![x.clone(), dims(&[1]), IValue::None, false.into()]);
    error("var.correction", vec![x.clone(), dims(&[0]), complex.clone(), false.into()]);
    let norm =
        |x: &IValue, order: IValue, dims: IValue, dtype: IValue| vec![x.clone(), order, dims, false.into(), dtype];
    for stack in [
        norm(&n, 2i64.into(), IValue::None, IValue::None),
        norm(&n, 2i64.into(), IValue::None, DType::F32.into()),
        norm(&x, complex, IValue::None, IValue::None),
        norm(&x, 2i64.into(), dims(&[i64::MIN]), IValue::None),
        norm(&x, 2i64.into(), IValue::None, DType::F16.into()),
        norm(&x, 2i64.into(), IValue::None, DType::C64.into()),
        norm(&x, 2i64.into(), IValue::None, DType::I64.into()),
    ] {
        error("linalg_vector_norm", stack);
    }
    error("frobenius_norm.dim", vec![x, dims(&[0, 0, 0]), false.into()]);
}

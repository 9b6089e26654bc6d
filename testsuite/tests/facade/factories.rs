//! Factories against what they are said to make: values, strides, dtypes; and the copies that make one tensor of
//! another.

use monomorph::ops::options::*;
use monomorph::prelude::FactoryConstructors as _;
use monomorph::{Cpu, DType, DeviceHandle, MemoryFormat, Meta, Scalar, Tensor, bf16, f16};
use monomorph_testsuite::layout::{Layout, convert, samples, tensor, values};
use monomorph_testsuite::naive::each_index;

use monomorph::crates::ops::record::Inputs;

const SIZES: [&[i64]; 6] = [&[], &[0], &[5], &[2, 3], &[2, 0, 3], &[2, 3, 2, 2]];

/// Each stride is the number of elements in what lies behind it; a size of 0 counts as 1.
fn row_major(sizes: &[i64]) -> Vec<i64> {
    (0..sizes.len()).map(|d| sizes[d + 1..].iter().map(|&s| s.max(1)).product()).collect()
}

/// The strides of a channels-last tensor: the channel is the innermost dimension.
fn channels_last(sizes: &[i64]) -> Vec<i64> {
    let &[_, c, h, w] = sizes else { panic!("4 dimensions") };
    vec![h * w * c, 1, w * c, c]
}

#[test]
fn constants_of_every_dtype_and_size() {
    for dtype in DType::ALL {
        for sizes in SIZES {
            let filled = |t: Tensor<Cpu>, value: Scalar| {
                assert_eq!((t.sizes(), t.dtype()), (sizes, dtype));
                assert_eq!(t.strides(), &row_major(sizes)[..]);
                assert!(values(&t).iter().all(|&v| v == convert(value, dtype)), "{dtype} {sizes:?}");
                assert_eq!(values(&t).len() as i64, sizes.iter().product::<i64>());
            };
            let (zero, one, two) = (Scalar::Int(0), Scalar::Int(1), Scalar::Int(2));
            filled(monomorph::ops::zeros(sizes, Some(dtype)).unwrap(), zero);
            filled(monomorph::ops::ones(sizes, Some(dtype)).unwrap(), one);
            filled(
                monomorph::ops::full_with(sizes, 2, Full { dtype: Some(dtype), ..Default::default() }).unwrap(),
                two,
            );
            filled(monomorph::ops::empty(sizes, Some(dtype)).unwrap(), zero);
            let mut out = Tensor::<Cpu>::zeros_contiguous(dtype, &[1]).unwrap();
            monomorph::ops::ones_out(sizes, &mut out).unwrap();
            filled(out, one);
            let dry = DeviceHandle::<Meta>::new(0).ones(sizes, Some(dtype)).unwrap();
            assert_eq!((dry.sizes(), dry.dtype()), (sizes, dtype));
        }
    }
    let t = monomorph::ops::full([2], 2.5).unwrap();
    assert_eq!((t.dtype(), values(&t)), (DType::F32, vec![Scalar::Float(2.5); 2]));
    assert_eq!(monomorph::ops::full((), true).unwrap().dtype(), DType::Bool);
    assert_eq!(monomorph::ops::full((), 7).unwrap().dtype(), DType::I64);
    assert_eq!(monomorph::ops::scalar_tensor(7).unwrap().dtype(), DType::F32);
    for wrong in [&[-1][..], &[2, -3], &[i64::MAX, 2], &[i64::MAX], &[i64::MIN]] {
        assert!(monomorph::ops::empty(wrong, None).is_err(), "{wrong:?}");
        assert!(monomorph::ops::full(wrong, 1).is_err(), "{wrong:?}");
    }
    assert!(monomorph::ops::full_with([2], 1e300, Full { dtype: Some(DType::F16), ..Default::default() }).is_err());
}

#[test]
fn formats_and_likes() {
    for layout in Layout::ALL {
        for sizes in SIZES {
            let numbers = samples(DType::I16, Inputs::Any);
            let t = tensor(layout.geometry(DType::I16, sizes), &numbers);
            let like =
                monomorph::ops::ones_like_with(&t, OnesLike { dtype: Some(DType::F64), ..Default::default() }).unwrap();
            assert_eq!((like.sizes(), like.dtype()), (sizes, DType::F64));
            assert!(values(&like).iter().all(|&v| v == Scalar::Float(1.0)));
            let copy = monomorph::ops::deep_clone(&t).unwrap();
            assert_eq!(values(&copy), values(&t), "{layout:?} {sizes:?}");
            assert_ne!(copy.storage_id(), t.storage_id());
            if !matches!(layout, Layout::Stepped | Layout::Expanded) {
                assert_eq!(copy.strides(), t.strides(), "preserve_format keeps dense strides");
            }
            let row_major = monomorph::ops::contiguous(&t).unwrap();
            assert!(row_major.is_contiguous());
            assert_eq!(values(&row_major), values(&t));
            assert_eq!(row_major.storage_id() == t.storage_id(), t.is_contiguous());
            for dtype in [DType::I16, DType::F32, DType::Bool, DType::C64] {
                let to = monomorph::ops::to(&t, dtype).unwrap();
                let want: Vec<Scalar> = values(&t).into_iter().map(|v| convert(v, dtype)).collect();
                assert_eq!(values(&to), want, "{layout:?} to {dtype}");
                assert_eq!(to.storage_id() == t.storage_id(), dtype == DType::I16);
                let copied = monomorph::ops::to_with(&t, dtype, To { copy: true, ..Default::default() }).unwrap();
                assert_ne!(copied.storage_id(), t.storage_id(), "copy=True copies");
            }
            if sizes.len() == 4 {
                let nhwc = monomorph::ops::contiguous_with(
                    &t,
                    Contiguous { memory_format: MemoryFormat::ChannelsLast, ..Default::default() },
                )
                .unwrap();
                assert_eq!(nhwc.strides(), channels_last(sizes), "{layout:?}");
                assert_eq!(values(&nhwc), values(&t));
            } else {
                assert!(
                    monomorph::ops::contiguous_with(
                        &t,
                        Contiguous { memory_format: MemoryFormat::ChannelsLast, ..Default::default() }
                    )
                    .is_err()
                );
            }
        }
    }
}

#[test]
fn ranges_count_as_a_loop_does() {
    let number = |x: f64, int: bool| if int { Scalar::Int(x as i64) } else { Scalar::Float(x) };
    let ends: [f64; 8] = [-7.0, -2.0, -0.5, 0.0, 1.0, 2.5, 6.0, 17.0];
    for (start, end) in ends.into_iter().flat_map(|a| ends.map(|b| (a, b))) {
        for step in [1.0, 2.0, 0.5, -1.0, -3.0, 0.75] {
            for dtype in [DType::I64, DType::I32, DType::F32, DType::F64] {
                let int = dtype.is_integral(false);
                if int && [start, end, step].iter().any(|x: &f64| x.fract() != 0.0) {
                    continue;
                }
                let args = [start, end, step].map(|x| number(x, int));
                let made = monomorph::ops::arange_with(
                    args[1],
                    Arange { start: args[0], step: args[2], dtype: Some(dtype), ..Default::default() },
                );
                let away = (step > 0.0 && end < start) || (step < 0.0 && end > start);
                if away {
                    assert!(made.is_err(), "{args:?}");
                    continue;
                }
                let mut want = Vec::new();
                while (step > 0.0 && start + want.len() as f64 * step < end)
                    || (step < 0.0 && start + want.len() as f64 * step > end)
                {
                    want.push(convert(Scalar::Float(start + want.len() as f64 * step), dtype));
                }
                assert_eq!(values(&made.unwrap()), want, "{args:?} {dtype}");
            }
        }
    }
    assert!(monomorph::ops::arange_with(5, Arange { step: 0.into(), ..Default::default() }).is_err());
    assert!(monomorph::ops::arange(f64::NAN).is_err());
    assert!(monomorph::ops::arange(f64::INFINITY).is_err());
    assert!(monomorph::ops::arange(i64::MAX).is_err());
}

/// The bits are those of PyTorch 2.15 on x86-64, which rounds a multiple of the step and its sum with an end once.
#[test]
fn numbers_between_ends_have_the_bits_of_pytorch() {
    let between = |start: f64, end: f64, steps, dtype| {
        let options = Linspace { dtype: Some(dtype), ..Default::default() };
        monomorph::ops::linspace_with(start, end, steps, options).expect("numbers")
    };
    let single = between(-4.0, 3.999_877_929_687_5, 51, DType::F32).to_vec::<f32>().expect("float32");
    assert_eq!(
        [7, 9, 25, 43].map(|i: usize| single[i].to_bits() as i32),
        [-1_070_050_765, -1_071_392_921, -1_199_611_904, 1_077_432_371]
    );
    let halves = |dtype| between(-1.7, 2.3, 7, dtype);
    let bits: Vec<_> = halves(DType::F16).to_vec::<f16>().expect("float16").into_iter().map(f16::to_bits).collect();
    assert_eq!(bits, [-16691i16, -17374, -18979, 13518, 15293, 16009, 16538].map(|x| x as u16));
    let bits: Vec<_> = halves(DType::BF16).to_vec::<bf16>().expect("bfloat16").into_iter().map(bf16::to_bits).collect();
    assert_eq!(bits, [-16422i16, -16507, -16707, 16024, 16247, 16337, 16403].map(|x| x as u16));
    let double = between(-1.7, 2.3, 7, DType::F64).to_vec::<f64>().expect("float64");
    assert_eq!(double[2].to_bits() as i64, -4_623_095_137_483_393_160);
    // With a product that is rounded, too, one number of each would be 1 less.
    let whole = |end| between(-40.0, end, 7, DType::I32).to_vec::<i32>().expect("int32");
    assert_eq!((whole(12.0), whole(18.0)), (vec![-40, -31, -22, -13, -5, 3, 12], vec![-40, -30, -20, -10, -1, 8, 18]));
}

#[test]
fn indices_of_true_elements_are_those_of_a_loop() {
    for layout in Layout::ALL {
        for sizes in SIZES {
            let numbers = [1, 0, 0, 1, 1, 0, 1].map(Scalar::Int);
            let t = tensor(layout.geometry(DType::Bool, sizes), &numbers);
            let found = monomorph::ops::where_nonzero(&t).unwrap();
            let truth = values(&t);
            let (mut want, mut k) = (vec![Vec::new(); sizes.len().max(1)], 0);
            each_index(sizes, |index| {
                if truth[k].to_bool() {
                    let index = if index.is_empty() { &[0][..] } else { index };
                    want.iter_mut().zip(index).for_each(|(list, &i)| list.push(i));
                }
                k += 1;
            });
            let got: Vec<Vec<i64>> = found.iter().map(|t| t.to_vec::<i64>().unwrap()).collect();
            assert_eq!(got, want, "{layout:?} {sizes:?}");
        }
    }
}

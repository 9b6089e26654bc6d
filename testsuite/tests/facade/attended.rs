//! Attention against loops in float64: masks, causal order, shared heads, more queries and keys than a block has; its
//! gradients against differences; what is refused.

use monomorph::ops::options::*;
use monomorph::prelude::*;
use monomorph::{Cpu, DType, ErrorKind, IValue, Result, Tensor, call, ops};
use monomorph_testsuite::layout::Random;

type T = Tensor<Cpu>;

fn numbers(random: &mut Random, sizes: &[i64], dtype: DType) -> T {
    let n = sizes.iter().product::<i64>() as usize;
    let all: Vec<f64> = (0..n).map(|_| random.below(2001) as f64 / 1000.0 - 1.0).collect();
    T::from_slice(&all, sizes).unwrap().to(dtype).unwrap()
}

fn doubles(t: &T) -> Vec<f64> {
    t.contiguous().unwrap().to(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

/// What a call is made of: batch, heads of queries and of keys, queries, keys, elements of both and of values.
#[derive(Clone, Copy)]
struct Shape {
    b: i64,
    h: i64,
    kh: i64,
    l: i64,
    s: i64,
    e: i64,
    ev: i64,
}

/// Outputs and logarithms of sums.
fn naive(shape: Shape, [q, k, v]: [&[f64]; 3], mask: impl Fn(usize, usize) -> f64, scale: f64) -> (Vec<f64>, Vec<f64>) {
    let Shape { b, h, kh, l, s, e, ev } = shape;
    let (mut outputs, mut sums) = (Vec::new(), Vec::new());
    for (batch, head) in (0..b).flat_map(|batch| (0..h).map(move |head| (batch, head))) {
        let seen = batch * kh + head / (h / kh);
        for i in 0..l {
            let row = |t: &'_ [f64], at: i64, width: i64| t[(at * width) as usize..][..width as usize].to_vec();
            let query = row(q, (batch * h + head) * l + i, e);
            let scores: Vec<f64> = (0..s)
                .map(|j| {
                    let key = row(k, seen * s + j, e);
                    let product: f64 = query.iter().zip(&key).map(|(q, k)| q * k).sum();
                    product * scale + mask(i as usize, j as usize)
                })
                .collect();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> =
                scores.iter().map(|score| if top == f64::NEG_INFINITY { 0.0 } else { (score - top).exp() }).collect();
            let sum: f64 = powers.iter().sum();
            sums.push(if sum == 0.0 { 0.0 } else { top + sum.ln() });
            for x in 0..ev {
                let weighted: f64 =
                    powers.iter().enumerate().map(|(j, p)| p * v[((seen * s + j as i64) * ev + x) as usize]).sum();
                outputs.push(if sum == 0.0 { 0.0 } else { weighted / sum });
            }
        }
    }
    (outputs, sums)
}

fn close(got: &[f64], want: &[f64], far: f64) {
    assert_eq!(got.len(), want.len());
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got - want).abs() <= far * want.abs().max(1.0), "element {i}: got {got}, want {want}");
    }
}

const FLASH: &str = "_scaled_dot_product_flash_attention_for_cpu";

fn flash(three: [&T; 3], causal: bool, mask: Option<&T>, scale: Option<f64>) -> Result<[T; 2]> {
    let [q, k, v] = three.map(|t| IValue::from(t.clone()));
    let mask = mask.map_or(IValue::None, |mask| mask.clone().into());
    let mut stack = vec![q, k, v, 0.0.into(), causal.into(), mask, scale.map_or(IValue::None, IValue::from)];
    call(FLASH, &mut stack)?;
    Ok([0, 1].map(|i| stack[i].as_tensor().unwrap().downcast_ref::<Cpu>().unwrap().clone()))
}

#[test]
fn outputs_and_sums_are_those_of_loops() -> Result<()> {
    let mut random = Random::new(21);
    let small = Shape { b: 2, h: 4, kh: 4, l: 5, s: 7, e: 3, ev: 3 };
    let shapes = [
        small,
        Shape { kh: 2, ..small },
        Shape { l: 1, s: 40, ..small },
        Shape { b: 1, h: 1, kh: 1, l: 150, s: 1100, e: 9, ev: 9 },
        Shape { l: 70, s: 3, ..small },
    ];
    for (round, (shape, dtype)) in shapes
        .into_iter()
        .flat_map(|shape| [DType::F32, DType::F64, DType::BF16].map(|dtype| (shape, dtype)))
        .enumerate()
    {
        let Shape { b, h, kh, l, s, e, .. } = shape;
        // Halves are what is computed with; the twin sees them rounded.
        let q = numbers(&mut random, &[b, l, h, e], dtype).transpose(1, 2)?;
        let (k, v) = (numbers(&mut random, &[b, kh, s, e], dtype), numbers(&mut random, &[b, kh, s, e], dtype));
        let far = if dtype == DType::BF16 { 1e-2 } else { 1e-5 };
        let data = [doubles(&q), doubles(&k), doubles(&v)];
        let data = data.each_ref().map(|d| &d[..]);
        let scale = if round % 2 == 0 { (e as f64).sqrt().recip() } else { -0.7 };
        let given = if round % 2 == 0 { None } else { Some(scale) };
        let [output, sums] = flash([&q, &k, &v], false, None, given)?;
        assert_eq!(output.strides(), q.strides());
        let (want, logs) = naive(shape, data, |_, _| 0.0, scale);
        close(&doubles(&output), &want, far);
        close(&doubles(&sums), &logs, far);
        let [output, _] = flash([&q, &k, &v], true, None, given)?;
        let (want, _) = naive(shape, data, |i, j| if j > i { f64::NEG_INFINITY } else { 0.0 }, scale);
        close(&doubles(&output), &want, far);
        // Query 1 sees nothing.
        let hides = |i: usize, j: usize| if i == 1 || j == 2 { f64::NEG_INFINITY } else { j as f64 / 64.0 };
        let mask: Vec<f64> = (0..l * s).map(|at| hides((at / s) as usize, (at % s) as usize)).collect();
        let mask = T::from_slice(&mask, [l, s])?.to(if dtype == DType::BF16 { DType::F32 } else { dtype })?;
        let [output, sums] = flash([&q, &k, &v], false, Some(&mask), given)?;
        let (want, logs) = naive(shape, data, hides, scale);
        close(&doubles(&output), &want, far);
        close(&doubles(&sums), &logs, far);
    }
    Ok(())
}

#[test]
fn gradients_are_differences() -> Result<()> {
    let mut random = Random::new(22);
    for (shape, causal) in [
        (Shape { b: 2, h: 2, kh: 2, l: 4, s: 5, e: 3, ev: 3 }, false),
        (Shape { b: 1, h: 4, kh: 2, l: 3, s: 4, e: 2, ev: 2 }, true),
    ] {
        let Shape { b, h, kh, l, s, e, .. } = shape;
        let q = numbers(&mut random, &[b, h, l, e], DType::F64);
        let (k, v) =
            (numbers(&mut random, &[b, kh, s, e], DType::F64), numbers(&mut random, &[b, kh, s, e], DType::F64));
        let (mask, grad) = (numbers(&mut random, &[l, s], DType::F64), numbers(&mut random, &[b, h, l, e], DType::F64));
        let [output, sums] = flash([&q, &k, &v], causal, Some(&mask), None)?;
        let tensors = [&grad, &q, &k, &v, &output, &sums].map(|t| IValue::from(t.clone()));
        let mut stack = tensors.to_vec();
        stack.extend([0.0.into(), causal.into(), mask.clone().into(), IValue::None]);
        call(&format!("{FLASH}_backward"), &mut stack)?;
        let loss = |three: [&T; 3]| -> Result<f64> {
            let [output, _] = flash(three, causal, Some(&mask), None)?;
            Ok(doubles(&output).iter().zip(doubles(&grad)).map(|(o, g)| o * g).sum())
        };
        for (which, got) in stack.iter().enumerate() {
            let got = doubles(got.as_tensor().unwrap().downcast_ref::<Cpu>().unwrap());
            let base = [&q, &k, &v][which];
            for (i, got) in got.into_iter().enumerate() {
                const STEP: f64 = 1e-6;
                let moved = |by: f64| -> Result<f64> {
                    let mut all = doubles(base);
                    all[i] += by;
                    let moved = T::from_slice(&all, base.sizes())?;
                    let mut three = [&q, &k, &v];
                    three[which] = &moved;
                    loss(three)
                };
                let slope = (moved(STEP)? - moved(-STEP)?) / (2.0 * STEP);
                assert!((got - slope).abs() < 1e-7, "gradient {which}, element {i}: got {got}, want {slope}");
            }
        }
    }
    Ok(())
}

#[test]
fn dimensions_in_front_broadcast() -> Result<()> {
    let mut random = Random::new(23);
    let shape = Shape { b: 6, h: 1, kh: 1, l: 3, s: 4, e: 2, ev: 5 };
    let q = numbers(&mut random, &[2, 3, 3, 2], DType::F32);
    let (k, v) = (numbers(&mut random, &[2, 3, 4, 2], DType::F32), numbers(&mut random, &[2, 3, 4, 5], DType::F32));
    let scale = 2f64.sqrt().recip();
    let attend = |q: &T, k: &T, v: &T| ops::scaled_dot_product_attention(q, k, v);
    let (want, _) = naive(shape, [&doubles(&q), &doubles(&k), &doubles(&v)], |_, _| 0.0, scale);
    let got = attend(&q, &k, &v)?;
    assert_eq!(got.sizes(), [2, 3, 3, 5]);
    close(&doubles(&got), &want, 1e-5);
    // Five dimensions, and two.
    let more = |t: &T| t.unsqueeze(1).unwrap();
    assert_eq!(doubles(&attend(&more(&q), &more(&k), &more(&v))?), doubles(&got));
    let first = |t: &T| t.select(0, 0).unwrap().select(0, 0).unwrap();
    close(&doubles(&attend(&first(&q), &first(&k), &first(&v))?), &want[..15], 1e-5);
    // One head of keys for all of queries, by broadcasting and as a group.
    let (k, v) = (k.narrow(1, 0, 1)?, v.narrow(1, 0, 1)?);
    let repeated = attend(&q, &k.expand([2, 3, 4, 2])?, &v.expand([2, 3, 4, 5])?)?;
    assert_eq!(doubles(&attend(&q, &k, &v)?), doubles(&repeated));
    let options = ScaledDotProductAttention { enable_gqa: true, ..Default::default() };
    assert_eq!(doubles(&ops::scaled_dot_product_attention_with(&q, &k, &v, options)?), doubles(&repeated));
    // A bool mask hides where it is false.
    let truth =
        T::from_slice(&[true, false, true, true, true, true, false, false, false, false, false, false], [3, 4])?;
    let options = ScaledDotProductAttention { attn_mask: Some(&truth), ..Default::default() };
    let masked = doubles(&ops::scaled_dot_product_attention_with(&q, &k, &v, options)?);
    assert!(masked.chunks(15).all(|head| head[10..].iter().all(|&x| x == 0.0)));
    assert!(masked.iter().all(|x| x.is_finite()) && masked[0] != 0.0);
    Ok(())
}

/// Of the smallest probability there is, next to no weight is dropped: what is composed then is what is computed
/// otherwise in one pass, with every option.
#[test]
fn dropping_next_to_nothing_changes_nothing() -> Result<()> {
    let mut random = Random::new(9);
    for dtype in [DType::F64, DType::F32, DType::BF16] {
        let t = |random: &mut Random, sizes: &[i64]| numbers(random, sizes, dtype);
        let (q, k) = (t(&mut random, &[2, 4, 3, 5]), t(&mut random, &[2, 2, 6, 5]));
        let v = t(&mut random, &[2, 2, 6, 7]);
        let mask = T::from_slice(&[true, false, true, true, true, true].repeat(3), [3, 6])?;
        let blind = T::from_slice(&[false; 18], [3, 6])?;
        let with = |dropout_p, (is_causal, scale, attn_mask)| {
            let options = ScaledDotProductAttention {
                attn_mask,
                dropout_p,
                is_causal,
                scale,
                enable_gqa: true,
                ..Default::default()
            };
            ops::scaled_dot_product_attention_with(&q, &k, &v, options).map(|t| doubles(&t))
        };
        for call in [
            (false, None, None),
            (true, None, None),
            (false, Some(-0.3), None),
            (false, None, Some(&mask)),
            (false, None, Some(&blind)),
        ] {
            let (want, got) = (with(0.0, call)?, with(f64::MIN_POSITIVE, call)?);
            let tolerance = if dtype == DType::BF16 { 1e-2 } else { 1e-5 };
            assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= tolerance), "{dtype}: {got:?}, want {want:?}");
        }
        assert_eq!(with(1.0, (false, None, None))?, vec![0.0; 168]);
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<()> {
    let t = |sizes: &[i64]| T::from_slice(&vec![1.0f32; sizes.iter().product::<i64>() as usize], sizes).unwrap();
    let (q, k) = (t(&[1, 2, 3, 4]), t(&[1, 2, 5, 4]));
    let with = |options| ops::scaled_dot_product_attention_with(&q, &k, &k, options);
    for dropout_p in [-0.5, 1.5, f64::NAN] {
        let error = with(ScaledDotProductAttention { dropout_p, ..Default::default() }).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }), "{error}");
    }
    let mask = t(&[3, 5]);
    let error = with(ScaledDotProductAttention { attn_mask: Some(&mask), is_causal: true, ..Default::default() });
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    for wrong in [t(&[1, 2, 5, 3]), t(&[1, 3, 5, 4]), t(&[4])] {
        assert!(ops::scaled_dot_product_attention(&q, &wrong, &k).is_err());
        assert!(flash([&q, &wrong, &k], false, None, None).is_err());
    }
    assert!(flash([&q, &k, &t(&[1, 2, 6, 4])], false, None, None).is_err());
    assert!(flash([&q, &k, &k], false, Some(&t(&[3, 6])), None).is_err());
    // No keys: nothing is seen.
    let none = t(&[1, 2, 0, 4]);
    assert_eq!(doubles(&ops::scaled_dot_product_attention(&q, &none, &none)?), vec![0.0; 24]);
    Ok(())
}

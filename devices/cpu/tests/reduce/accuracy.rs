//! Accuracy of sums against exact ones.

use monomorph_core::structured::{Functional, Operator};
use monomorph_core::{Complex32, Element, Tensor, bf16, f16};
use monomorph_cpu::Cpu;
use monomorph_ops::reduce::{Mean, Sum};

fn sum<T: Element>(data: &[T]) -> T {
    let t = Tensor::<Cpu>::from_slice(data, [data.len() as i64]).unwrap();
    let [sum] = Sum::call((&t, None), Functional::<Cpu, 1>::default()).unwrap();
    sum.to_vec::<T>().unwrap()[0]
}

/// The correctly rounded sum, or very near it: Neumaier's compensated summation (Zeitschrift für Angewandte Mathematik
/// und Mechanik 54, 1974) in float64.
fn exact(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for x in values {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Units in the last place between float32 values.
fn ulps_f32(a: f32, b: f32) -> u32 {
    a.to_bits().abs_diff(b.to_bits())
}

fn ulps_f64(a: f64, b: f64) -> u64 {
    a.to_bits().abs_diff(b.to_bits())
}

fn uniform(n: usize) -> impl Iterator<Item = f64> + Clone {
    (0..n).scan(88172645463325252u64, |state, _| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        Some((*state >> 11) as f64 / (1u64 << 53) as f64)
    })
}

#[test]
fn float32_sums_are_the_nearest_float32() {
    const N: usize = 1 << 22;
    // PyTorch 2.15 is 12 units off here.
    assert_eq!(sum(&vec![0.1f32; 1 << 24]), (f64::from(1 << 24) * f64::from(0.1f32)) as f32);
    let values: Vec<f32> = uniform(N).map(|x| x as f32).collect();
    assert_eq!(ulps_f32(sum(&values), exact(values.iter().map(|&x| f64::from(x))) as f32), 0);
    // Pairs cancel but for a small rest.
    let cancelling: Vec<f32> =
        uniform(N / 2).flat_map(|x| [(x * 1e6) as f32, -((x * 1e6) as f32) + 0.001]).map(|x| x - 0.5 + 0.5).collect();
    let want = exact(cancelling.iter().map(|&x| f64::from(x)));
    let magnitude: f64 = cancelling.iter().map(|&x| f64::from(x.abs())).sum();
    let error = (f64::from(sum(&cancelling)) - want).abs();
    assert!(error <= 1e-11 * magnitude, "{error} of {magnitude}");
}

#[test]
fn float64_sums_are_near_the_nearest_float64() {
    const N: usize = 1 << 22;
    let tenth = vec![0.1f64; 1 << 24];
    let want = exact(tenth.iter().copied());
    // PyTorch 2.15 is 5 units off here.
    assert!(ulps_f64(sum(&tenth), want) <= 1);
    let values: Vec<f64> = uniform(N).collect();
    let want = exact(values.iter().copied());
    assert_eq!(ulps_f64(sum(&values), want), 0);
}

/// A number in [0, 1) of 24 bits.
fn hashed(i: u64) -> f64 {
    let h = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 24)
}

/// Element `i` of the data that testsuite/record/accuracy.py has, too.
fn element(data: &str, i: u64) -> f64 {
    match data {
        "tenth" => 0.1,
        "uniform" => hashed(i),
        "normal" => {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| hashed(4 * i + k));
            ((a + b) + (c + d) - 2.0) * 1.75
        }
        "offset" => 1e3 + hashed(i),
        _ => (if i.is_multiple_of(2) { 1e4 } else { -1e4 }) * hashed(i / 2) + 0.01,
    }
}

/// The error of our sum or mean of so many elements, in units in the last place of the exact one.
fn error<T: Element>(op: &str, data: &str, n: u64, make: impl Fn(f64) -> T, get: impl Fn(T) -> f64, bits: i32) -> f64 {
    let t = match data {
        "tenth" => vec![make(0.1); n as usize],
        _ => (0..n).map(|i| make(element(data, i))).collect(),
    };
    let sum = exact(t.iter().map(|&x| get(x)));
    let want = if op == "mean" { sum / n as f64 } else { sum };
    let t = Tensor::<Cpu>::from_slice(&t, [n as i64]).unwrap();
    let sink = Functional::<Cpu, 1>::default();
    let [got] = if op == "mean" { Mean::call((&t, None), sink) } else { Sum::call((&t, None), sink) }.unwrap();
    let ulp = 2f64.powi(want.abs().log2().floor() as i32 + 1 - bits);
    (get(got.to_vec::<T>().unwrap()[0]) - want).abs() / ulp
}

/// `accuracy.txt` says how far PyTorch 2.15 is from the exact result. We are no further, or round correctly.
#[test]
fn sums_and_means_are_at_least_as_near_as_those_of_pytorch() {
    let mut failures = Vec::new();
    for line in include_str!("accuracy.txt").lines() {
        let [op, dtype, data, n, theirs] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("line {line:?}") };
        let n: u64 = n.parse().unwrap();
        let ours = match dtype {
            "float16" => error(op, data, n, f16::from_f64, |x| x.to_f64(), 11),
            "bfloat16" => error(op, data, n, bf16::from_f64, |x| x.to_f64(), 8),
            "float32" => error(op, data, n, |x| x as f32, f64::from, 24),
            "float64" => error(op, data, n, |x| x, |x| x, 53),
            _ => error(op, data, n, |x| Complex32::new(x as f32, 0.0), |z| f64::from(z.re), 24),
        };
        println!("{line}: ours {ours:.2}");
        if ours > theirs.parse::<f64>().unwrap().max(0.51) {
            failures.push(format!("{line}: ours {ours:.2}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn columns_are_as_accurate_as_rows() {
    let (rows, columns) = (1 << 18, 20);
    let t = Tensor::<Cpu>::from_slice(&vec![0.1f32; rows * columns], [rows as i64, columns as i64]).unwrap();
    let [sum] = Sum::call((&t, Some(&[0][..]), false, None), Functional::<Cpu, 1>::default()).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), vec![(rows as f64 * f64::from(0.1f32)) as f32; columns]);
}

#[test]
fn halves_are_summed_in_float32() {
    // In float16 the sum would stop at 2048.
    assert_eq!(sum(&vec![f16::from_f32(1.0); 50_000]), f16::from_f32(50_000.0));
    assert_eq!(sum(&vec![bf16::from_f32(1.0); 50_000]), bf16::from_f32(50_000.0));
    let big = f16::from_f32(60_000.0);
    assert_eq!(sum(&[big, big, -big]), big);
}

#[test]
fn integers_wrap_and_infinities_stay() {
    assert_eq!(sum(&[i64::MAX, 1]), i64::MIN);
    assert_eq!(sum(&[1.0f32, f32::INFINITY]), f32::INFINITY);
    assert!(sum(&[f32::NEG_INFINITY, f32::INFINITY]).is_nan());
    assert!(sum(&[f32::NAN, 1.0]).is_nan());
    assert!(sum(&[-0.0f32, -0.0]).is_sign_positive());
}

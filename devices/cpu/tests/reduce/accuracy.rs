//! Accuracy of sums against exact ones.

use monomorph_core::structured::{Functional, Operator};
use monomorph_core::{Element, Tensor, bf16, f16};
use monomorph_cpu::Cpu;
use monomorph_ops::reduce::Sum;

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

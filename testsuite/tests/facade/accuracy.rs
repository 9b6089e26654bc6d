//! Accuracy of reductions and running sums: how far they are from the exact result, beside how far PyTorch's are.

use crate::linalg::run;
use monomorph::{Cpu, DType, IValue, Result, Tensor, ops, prelude::*};
use monomorph_testsuite::layout::values;

/// A number in [0, 1) of 24 bits.
fn hashed(i: u64) -> f64 {
    let h = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 24)
}

/// Element `i` of the data, as in testsuite/record/accuracy.py.
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

/// The same for products.
fn factor(data: &str, i: u64) -> f64 {
    match data {
        "offset" => element(data, i) / 1000.5,
        "cancelling" => {
            let factor = 1.0 + 1e-3 * hashed(i / 2);
            if i.is_multiple_of(2) { factor } else { 1.0 / factor }
        }
        _ => 1.0 + 1e-3 * (element(data, i) - if data == "uniform" { 0.5 } else { 0.0 }),
    }
}

/// The largest error of the running sums of numbers, and the largest of these sums: exact ones by Neumaier's
/// compensated summation (Zeitschrift für Angewandte Mathematik und Mechanik 54, 1974).
fn error_of_sums(numbers: &[f64], got: &[f64]) -> [f64; 2] {
    let (mut sum, mut lost, mut worst, mut largest) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for (&x, &got) in numbers.iter().zip(got) {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
        (worst, largest) = (worst.max((got - sum - lost).abs()), largest.max((sum + lost).abs()));
    }
    [worst, largest]
}

/// The error of our result of these numbers, in units in the last place.
fn error(op: &str, dtype: &str, numbers: &Tensor<Cpu>, exact: [f64; 2]) -> Result<f64> {
    let dtype = DType::from_name(dtype).expect("a dtype");
    let x: Tensor<Cpu> = numbers.to(dtype)?;
    let one = |name: &str, arguments| run(name, arguments).map(|mut results| results.swap_remove(0));
    let got = match op {
        "sum" => ops::sum(&x, ..)?,
        "mean" => ops::mean(&x, ..)?,
        "var" => ops::var(&x, ..)?,
        "norm" => one("linalg_vector_norm", vec![x.clone().into(), 2i64.into()])?,
        "logsumexp" => one("logsumexp", vec![x.clone().into(), IValue::Ints(vec![0]), false.into()])?,
        "prod" => one("prod", vec![x.clone().into()])?,
        _ => ops::cumsum(&x, 0)?,
    };
    let (bits, least) = match dtype {
        DType::F16 => (11, -24),
        DType::BF16 => (8, -133),
        DType::F32 | DType::C64 => (24, -149),
        _ => (53, -1074),
    };
    let as_f64 = |t: &Tensor<Cpu>| t.to(DType::F64)?.to_vec::<f64>();
    let [error, result] = match op {
        "cumsum" => error_of_sums(&as_f64(&x)?, &as_f64(&got)?),
        _ => [((values(&got)[0].to_complex().re - exact[0]) - exact[1]).abs(), exact[0]],
    };
    let exponent = if result == 0.0 { least } else { result.abs().log2().floor() as i32 + 1 - bits };
    Ok(if error == 0.0 { 0.0 } else { error / 2f64.powi(exponent.max(least)) })
}

/// How far a result may be from the exact one: as far as PyTorch's, or half a unit, which is the nearest there is. A
/// product of `n` float64 has no wider accumulator: `n` roundings in one direction or the other lead √n units away, in
/// any order.
fn accepted(op: &str, dtype: &str, n: u64, theirs: f64) -> f64 {
    let walk = if (op, dtype) == ("prod", "float64") { (n as f64).sqrt() } else { 0.0 };
    theirs.max(0.51).max(walk)
}

/// `accuracy.txt` says how far PyTorch 2.15 is from the exact result. We are no further, or round correctly.
#[test]
fn results_are_at_least_as_near_as_those_of_pytorch() -> Result<()> {
    let (mut failures, mut made) = (Vec::new(), None);
    for line in include_str!("accuracy.txt").lines() {
        let [op, dtype, data, n, theirs, high, low] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("line {line:?}")
        };
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let (n, theirs): (u64, f64) = (n.parse().expect("a number"), number(theirs));
        let key = (data, n, op == "prod");
        let numbers = match made.take() {
            Some((same, numbers)) if same == key => numbers,
            _ => {
                let make = if key.2 { factor } else { element };
                Tensor::from_vec((0..n).map(|i| make(data, i)).collect::<Vec<f64>>(), n as i64)?
            }
        };
        let ours = error(op, dtype, &numbers, [number(high), number(low)])?;
        made = Some((key, numbers));
        println!("{op} {dtype} {data} {n} {theirs:.2} {ours:.2}");
        if ours.is_nan() || ours > accepted(op, dtype, n, theirs) {
            failures.push(format!("{op} {dtype} {data} {n}: PyTorch {theirs:.2}, ours {ours:.2}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    Ok(())
}

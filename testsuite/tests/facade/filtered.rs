//! Convolutions whose roundings are relaxed, against exact ones in float64.

use monomorph::ops::options::Conv2d;
use monomorph::prelude::*;
use monomorph::{Cpu, DType, Result, Tensor, ops, rounding};
use monomorph_testsuite::layout::Random;

type T = Tensor<Cpu>;

fn random(sizes: &[i64], random: &mut Random) -> Result<T> {
    let elements = sizes.iter().product::<i64>() as usize;
    let numbers: Vec<f32> = (0..elements).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect();
    Tensor::from_vec(numbers, sizes)
}

/// One convolution: its sizes, groups and padding, and whether it has a bias.
#[derive(Clone, Copy, Debug)]
struct Case {
    batch: i64,
    channels: [i64; 2],
    groups: i64,
    image: [i64; 2],
    padding: [i64; 2],
    has_bias: bool,
}

/// The result as usual and where roundings are relaxed, how far each is from that in float64, and the largest element.
fn both(case: Case, source: &mut Random) -> Result<([Vec<u32>; 2], [f64; 2], f64)> {
    let Case { batch, channels: [c, m], groups, image: [h, w], padding, has_bias } = case;
    let x = random(&[batch, c * groups, h, w], source)?;
    let weight = random(&[m * groups, c, 3, 3], source)?;
    let bias = random(&[m * groups], source)?;
    weight.freeze()?;
    let options = |bias| Conv2d { bias, padding: &padding, groups, ..Default::default() };
    let bias64 = bias.to(DType::F64)?;
    let exact = ops::conv2d_with(&x.to(DType::F64)?, &weight.to(DType::F64)?, options(has_bias.then_some(&bias64)))?;
    let of = || ops::conv2d_with(&x, &weight, options(has_bias.then_some(&bias)));
    let usual = of()?;
    // The allocator gives the memory of this one for the next: an element that is not written is no number.
    drop(ops::full_like(&usual, f64::NAN)?);
    let (usual, relaxed) = (usual.to_vec::<f32>()?, rounding::relaxed(of)?.to_vec::<f32>()?);
    let exact = exact.to_vec::<f64>()?;
    // A NaN is more than any number, and stays.
    let most = |most: f64, off: f64| if off > most || off.is_nan() { off } else { most };
    let off = |made: &[f32]| made.iter().zip(&exact).map(|(x, y)| (f64::from(*x) - y).abs()).fold(0.0, most);
    let largest = exact.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let bits = |made: &[f32]| made.iter().map(|x| x.to_bits()).collect();
    Ok(([bits(&usual), bits(&relaxed)], [off(&usual), off(&relaxed)], largest))
}

/// Tiles beyond every edge, blocks across rows and images, panels that are not full, and one thread or several.
#[test]
fn relaxed_windows_of_three_by_three_are_near() -> Result<()> {
    let mut source = Random::new(3);
    let mut cases = Vec::new();
    for image in [[16, 16], [14, 14], [28, 28], [15, 33], [23, 9], [12, 70]] {
        for (padding, batch) in [([1, 1], 1), ([0, 0], 3), ([2, 0], 2), ([1, 3], 1)] {
            let groups = 1 + i64::from(batch == 2);
            let channels = source.pick(&[[32, 32], [33, 40], [64, 37]]);
            cases.push(Case { batch, channels, groups, image, padding, has_bias: batch != 3 });
        }
    }
    let mut worst = 0.0_f64;
    for case in cases {
        let ([usual, relaxed], [of_usual, of_relaxed], largest) = both(case, &mut source)?;
        assert_ne!(usual, relaxed, "{case:?} was computed as usual");
        assert!(of_relaxed <= 1e-5 * largest, "{case:?}: {of_relaxed:.1e}, as usual {of_usual:.1e}, of {largest}");
        worst = worst.max(of_relaxed / largest);
    }
    println!("relaxed convolutions are off by at most {worst:.1e} of the largest element");
    Ok(())
}

/// Few channels, few tiles, and every call outside.
#[test]
fn what_would_not_gain_is_computed_as_usual() -> Result<()> {
    let mut source = Random::new(4);
    let usual = Case { batch: 1, channels: [32, 32], groups: 1, image: [16, 16], padding: [1, 1], has_bias: true };
    for case in [
        Case { channels: [31, 32], ..usual },
        Case { channels: [32, 8], ..usual },
        Case { image: [7, 7], ..usual },
        Case { image: [3, 300], padding: [0, 0], ..usual },
        Case { image: [16, 16], batch: 0, ..usual },
    ] {
        let ([usual, relaxed], ..) = both(case, &mut source)?;
        assert_eq!(usual, relaxed, "{case:?}");
    }
    Ok(())
}

/// The weight may change, or the window moves otherwise.
#[test]
fn other_windows_are_computed_as_usual() -> Result<()> {
    let mut source = Random::new(5);
    let x = random(&[1, 32, 24, 24], &mut source)?;
    let check = |sizes: &[i64], is_frozen: bool, [stride, dilation]: [&[i64]; 2]| -> Result<()> {
        let weight = random(sizes, &mut Random::new(6))?;
        if is_frozen {
            weight.freeze()?;
        }
        let options = || Conv2d { stride, dilation, ..Default::default() };
        let of = || ops::conv2d_with(&x, &weight, options())?.to_vec::<f32>();
        assert_eq!(of()?, rounding::relaxed(of)?, "{sizes:?}");
        Ok(())
    };
    let one: &[i64] = &[1, 1];
    check(&[32, 32, 3, 3], false, [one, one])?;
    check(&[32, 32, 3, 3], true, [&[2, 1], one])?;
    check(&[32, 32, 3, 3], true, [one, &[1, 2]])?;
    check(&[32, 32, 3, 5], true, [one, one])?;
    check(&[32, 32, 1, 3], true, [one, one])
}

/// A panic puts back what was.
#[test]
fn roundings_are_relaxed_for_one_call() {
    assert!(!rounding::is_relaxed());
    let panicked = std::panic::catch_unwind(|| {
        rounding::relaxed(|| -> () {
            assert!(rounding::is_relaxed());
            rounding::relaxed(|| ());
            assert!(rounding::is_relaxed());
            std::panic::resume_unwind(Box::new("unwound"));
        })
    });
    assert!(panicked.is_err() && !rounding::is_relaxed());
}

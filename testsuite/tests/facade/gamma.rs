//! What the gamma family refuses, and what the dimensions and orders of its calls are.

use monomorph::ops::gamma::MOST_DIMENSIONS;
use monomorph::{Cpu, DType, Tensor, digamma, mvlgamma, polygamma, t};

fn tensor(data: &[f32], sizes: &[i64]) -> Tensor<Cpu> {
    Tensor::from_slice(data, sizes).unwrap()
}

#[test]
fn the_dimension_of_mvlgamma_has_bounds() {
    let x = tensor(&[700_000.0], &[1]);
    for p in [0, -1, MOST_DIMENSIONS + 1, i64::MAX] {
        let refused = mvlgamma(&x, p).unwrap_err().to_string();
        assert!(refused.contains("mvlgamma: argument p is") && refused.contains("1..=1048576"), "{refused}");
    }
    let most = mvlgamma(&x, MOST_DIMENSIONS).unwrap().to_vec::<f32>().unwrap();
    assert!(most[0].is_finite() && most[0] > 1e12, "{most:?}");
    let truth = Tensor::<Cpu>::from_slice(&[true], &[1]).unwrap();
    let refused = mvlgamma(&truth, 0).unwrap_err().to_string();
    assert!(
        refused.contains("self") && refused.contains("bool") && refused.contains("integers and floats"),
        "{refused}"
    );
}

#[test]
fn the_multivariate_form_is_row_major() {
    let x = t(&tensor(&[3.0, 4.0, 5.0, 6.0, 7.0, 8.0], &[3, 2])).unwrap();
    let y = mvlgamma(&x, 2).unwrap();
    assert_eq!((y.sizes(), y.strides()), (&[2, 3][..], &[3, 1][..]));
    // Of 3 and of 8.
    let got = y.to_vec::<f32>().unwrap();
    assert!((got[0] - 1.550_195).abs() < 1e-6 && (got[5] - 16.631_891).abs() < 1e-5, "{got:?}");
}

#[test]
fn orders_of_polygamma_begin_with_digamma() {
    let x = tensor(&[1.0, 2.5], &[2]);
    let of = |n| polygamma(n, &x).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(of(0), digamma(&x).unwrap().to_vec::<f32>().unwrap());
    for (n, want) in [(1, [1.644_934, 0.490_357_76]), (2, [-2.404_113_8, -0.236_204_06])] {
        let got = of(n);
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() <= 4e-7), "{n}: {got:?}");
    }
    // The factorial overflows in float32.
    assert_eq!(of(35), [f32::INFINITY; 2]);
    let refused = polygamma(-1, &x).unwrap_err().to_string();
    assert!(refused.contains("polygamma: argument n is -1") && refused.contains("0..="), "{refused}");
    let whole = Tensor::<Cpu>::from_slice(&[1i64], &[1]).unwrap();
    assert_eq!(polygamma(3, &whole).unwrap().dtype(), DType::F32);
}

//! What the gamma family refuses, and what the dimensions and orders of its calls are.

use monomorph::crates::ops::gamma::MOST_DIMENSIONS;
use monomorph::{
    Cpu, DType, IValue, Stack, Tensor, call,
    ops::{digamma, mvlgamma, polygamma, t},
};

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
    let truth = Tensor::<Cpu>::from_slice(&[true], [1]).unwrap();
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
    let whole = Tensor::<Cpu>::from_slice(&[1i64], [1]).unwrap();
    assert_eq!(polygamma(3, &whole).unwrap().dtype(), DType::F32);
}

/// A call by name with one result.
fn result(name: &str, args: impl IntoIterator<Item = IValue>) -> Tensor<Cpu> {
    let mut stack: Stack = args.into_iter().collect();
    call(name, &mut stack).unwrap();
    stack.pop().and_then(IValue::into_tensor).and_then(|t| t.downcast()).unwrap()
}

/// What most elements are computed by, the ways for others, and the order in which they stand: none shows.
#[test]
fn an_element_does_not_depend_on_its_neighbours() {
    let special = [0.0, -0.0, -1.0, -2.0, -2.457_024_738_220_8, -0.504_083, 1e-300, 1e300, f64::INFINITY, f64::NAN];
    let ordinary = (0..500).map(|k| f64::from(k) * 0.37 - 61.3);
    let positive = (0..300).map(|k| f64::from(k) * 0.031 + 0.01);
    let values: Vec<f64> = positive.chain(special).chain(ordinary).collect();
    for dtype in [DType::F32, DType::F64] {
        let x = Tensor::<Cpu>::from_slice(&values, [values.len() as i64]).unwrap();
        let x = result("to.dtype", [x.into(), dtype.into()]);
        let degrees = result("floor", [result("abs", [x.clone().into()]).into()]);
        type Arguments = fn(&Tensor<Cpu>, &Tensor<Cpu>) -> Vec<IValue>;
        let calls: [(&str, &str, Arguments); 7] = [
            ("lgamma", "lgamma_", |x, _| vec![x.clone().into()]),
            ("digamma", "digamma_", |x, _| vec![x.clone().into()]),
            ("special_polygamma", "", |x, _| vec![1i64.into(), x.clone().into()]),
            ("mvlgamma", "mvlgamma_", |x, _| vec![x.clone().into(), 3i64.into()]),
            ("special_airy_ai", "", |x, _| vec![x.clone().into()]),
            ("special_chebyshev_polynomial_v", "", |x, n| vec![x.clone().into(), n.clone().into()]),
            ("special_hermite_polynomial_he", "", |x, n| vec![x.clone().into(), n.clone().into()]),
        ];
        for (name, in_place, args) in calls {
            let bits = |t: &Tensor<Cpu>| -> Vec<u64> {
                let wide = result("to.dtype", [t.clone().into(), DType::F64.into()]).to_vec::<f64>().unwrap();
                wide.into_iter().map(|y| if y.is_nan() { u64::MAX } else { y.to_bits() }).collect()
            };
            let together = bits(&result(name, args(&x, &degrees)));
            for (k, together) in (0i64..).zip(&together) {
                let one = |t: &Tensor<Cpu>| result("narrow", [t.clone().into(), 0i64.into(), k.into(), 1i64.into()]);
                let alone = bits(&result(name, args(&one(&x), &one(&degrees))));
                assert_eq!(alone, [*together], "{name} of element {k} in {dtype}");
            }
            if !in_place.is_empty() {
                let copy = result("clone", [x.clone().into()]);
                assert_eq!(bits(&result(in_place, args(&copy, &degrees))), together, "{in_place} in {dtype}");
            }
        }
    }
}

//! `hash_tensor` against the exclusive or of the bits, one by one.

use crate::linalg::run;
use monomorph::crates::ops::record::Inputs;
use monomorph::{Cpu, DType, ErrorKind, IValue, Result, Scalar, Tensor, ops};
use monomorph_testsuite::layout::{Layout, Random, mixed, tensor, values};

fn hash(t: &Tensor<Cpu>, dims: &[i64], keepdim: bool) -> Result<Tensor<Cpu>> {
    let arguments = vec![t.clone().into(), IValue::Ints(dims.to_vec()), keepdim.into(), 0i64.into()];
    Ok(run("hash_tensor", arguments)?.swap_remove(0))
}

fn bits(number: Scalar) -> i64 {
    match number {
        Scalar::Float(x) => x.to_bits() as i64,
        other => other.to_i64(),
    }
}

#[test]
fn bits_are_combined_along_any_dimensions() -> Result<()> {
    let mut random = Random::new(71);
    for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
        for sizes in [[3, 4, 5], [2, 1, 8], [1, 7, 6]] {
            let layout = random.pick(&Layout::ALL);
            let x = tensor(layout.geometry(dtype, &sizes), &mixed(dtype, Inputs::Any, 41, &mut random));
            let elements = values(&x);
            for dims in [&[] as &[i64], &[1], &[-1, 0], &[0, 1, 2]] {
                let reduced =
                    |d: usize| dims.is_empty() || dims.iter().any(|&dim: &i64| dim.rem_euclid(3) as usize == d);
                let mut want = std::collections::BTreeMap::new();
                for (i, &element) in elements.iter().enumerate() {
                    let at = [i as i64 / (sizes[1] * sizes[2]), i as i64 / sizes[2] % sizes[1], i as i64 % sizes[2]];
                    let kept: Vec<i64> = (0..3).map(|d| if reduced(d) { 0 } else { at[d] }).collect();
                    *want.entry(kept).or_insert(0) ^= bits(element);
                }
                let got = hash(&x, dims, true)?;
                let ones: Vec<i64> = (0..3).map(|d| if reduced(d) { 1 } else { sizes[d] }).collect();
                assert_eq!((got.sizes(), got.dtype()), (&ones[..], DType::I64), "{x:?} along {dims:?}");
                assert_eq!(got.to_vec::<i64>()?, want.into_values().collect::<Vec<i64>>(), "{x:?} along {dims:?}");
                let squeezed: Vec<i64> = (0..3).filter(|&d| !reduced(d)).map(|d| sizes[d]).collect();
                assert_eq!(hash(&x, dims, false)?.sizes(), squeezed, "{x:?} along {dims:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn what_has_no_bits_is_refused() -> Result<()> {
    let empty = ops::zeros((0, 3), DType::F32)?;
    assert_eq!(hash(&empty, &[1], false)?.sizes(), [0]);
    assert_eq!(*hash(&empty, &[0], false).unwrap_err().kind(), ErrorKind::EmptyReduction { dim: 0 });
    assert_eq!(*hash(&empty, &[], false).unwrap_err().kind(), ErrorKind::EmptyInput);
    let complex = ops::zeros(2, DType::C64)?;
    assert!(matches!(hash(&complex, &[], false).unwrap_err().kind(), ErrorKind::DTypeNotSupported { .. }));
    let mode = vec![ops::zeros(2, DType::F32)?.into(), IValue::Ints(vec![]), false.into(), 1i64.into()];
    assert!(run("hash_tensor", mode).unwrap_err().to_string().contains("mode"));
    // Of another dtype than the result's there is no output.
    let bytes = vec![
        ops::zeros(2, DType::F32)?.into(),
        IValue::Ints(vec![]),
        false.into(),
        0i64.into(),
        ops::zeros((), DType::Bool)?.into(),
    ];
    assert!(matches!(run("hash_tensor.out", bytes).unwrap_err().kind(), ErrorKind::OutputDType { .. }));
    Ok(())
}

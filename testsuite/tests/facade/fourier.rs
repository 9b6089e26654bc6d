//! Fourier transforms against the sums that define them, in float64.

use monomorph::prelude::*;
use monomorph::{Complex64, Cpu, IValue, Result, Tensor, call, ops, tensor};
use monomorph_testsuite::layout::Random;
use std::f64::consts::TAU;

type Numbers = Vec<Complex64>;

/// `Σ x[j] · exp(∓2πi·jk/n)` along one dimension of a row-major array.
fn summed(x: &[Complex64], sizes: &[usize], dim: usize, forward: bool) -> Numbers {
    let (n, inner) = (sizes[dim], sizes[dim + 1..].iter().product::<usize>());
    let sign = if forward { -1.0 } else { 1.0 };
    let mut sums = vec![Complex64::default(); x.len()];
    for (at, sum) in sums.iter_mut().enumerate() {
        let (k, start) = (at / inner % n, at / (n * inner) * n * inner + at % inner);
        for j in 0..n {
            let angle = sign * TAU * ((j * k) % n) as f64 / n as f64;
            *sum += x[start + j * inner] * Complex64::new(angle.cos(), angle.sin());
        }
    }
    sums
}

fn numbers(random: &mut Random, n: usize) -> Numbers {
    let mut number = || random.below(1 << 20) as f64 / (1 << 19) as f64 - 1.0;
    (0..n).map(|_| Complex64::new(number(), number())).collect()
}

fn complex_tensor(x: &[Complex64], sizes: &[usize]) -> Tensor<Cpu> {
    let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    Tensor::from_vec(x.to_vec(), &sizes[..]).expect("a tensor")
}

fn elements(x: &Tensor<Cpu>) -> Numbers {
    x.to(C128).expect("complex numbers").to_vec().expect("their elements")
}

/// Rounding is in proportion to the largest sums, not to those that cancel.
fn assert_close(found: &[Complex64], want: &[Complex64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    let scale = want.iter().map(|x| x.norm()).fold(1.0, f64::max);
    for (found, want) in found.iter().zip(want) {
        assert!((found - want).norm() <= tolerance * scale, "{what}: {found} is not {want}");
    }
}

/// Sizes: 1, primes, powers, products, a prime that is convolved.
const SIZES: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 30, 97, 128, 211];

#[test]
fn one_dimension_is_the_sum_in_every_direction_and_layout() -> Result<()> {
    let mut random = Random::new(1);
    for n in SIZES {
        for (sizes, dim) in [(vec![n], 0), (vec![3, n], 1), (vec![n, 5], 0), (vec![2, n, 19], 1)] {
            let x = numbers(&mut random, sizes.iter().product());
            for (dtype, tolerance) in [(C64, 3e-6), (C128, 1e-14)] {
                let t = complex_tensor(&x, &sizes).to(dtype)?;
                let options = || FftFft { dim: dim as i64, ..Default::default() };
                let what = format!("{sizes:?} along {dim}, {dtype}");
                let want = summed(&x, &sizes, dim, true);
                assert_close(&elements(&ops::fft_fft_with(&t, options())?), &want, tolerance, &what);
                // Elements that lie in another order, and conjugates.
                let reversed: Vec<i64> = (0..sizes.len() as i64).rev().collect();
                let moved = t.permute(&reversed[..])?.contiguous()?.permute(&reversed[..])?;
                let moved = ops::fft_fft_with(&moved, options())?;
                assert_close(&elements(&moved), &want, tolerance, &what);
                let conjugates: Numbers = x.iter().map(|x| x.conj()).collect();
                let want = summed(&conjugates, &sizes, dim, true);
                assert_close(&elements(&ops::fft_fft_with(&ops::conj(&t)?, options())?), &want, tolerance, &what);
                // And back.
                let back = ops::fft_ifft_with(
                    &ops::fft_fft_with(&t, options())?,
                    FftIfft { dim: dim as i64, ..Default::default() },
                )?;
                assert_close(&elements(&back), &x, tolerance, &what);
            }
        }
    }
    Ok(())
}

#[test]
fn real_tensors_have_half_of_the_sum_and_come_back_from_it() -> Result<()> {
    let mut random = Random::new(2);
    for n in SIZES {
        for (dtype, tolerance) in [(F32, 3e-6), (F64, 1e-14)] {
            let x: Numbers = numbers(&mut random, 3 * n).iter().map(|x| x.re.into()).collect();
            let t = ops::real(&complex_tensor(&x, &[3, n]))?.contiguous()?.to(dtype)?;
            let want = summed(&x, &[3, n], 1, true);
            let what = format!("{n}, {dtype}");
            assert_close(&elements(&ops::fft_fft(&t)?), &want, tolerance, &what);
            let half = ops::fft_rfft(&t)?;
            let first: Numbers = want.chunks(n).flat_map(|row| row[..n / 2 + 1].iter().copied()).collect();
            assert_close(&elements(&half), &first, tolerance, &what);
            let n = Some(n as i64);
            let back = ops::fft_irfft_with(&half, FftIrfft { n, ..Default::default() })?;
            assert_close(&elements(&back), &x, tolerance, &what);
            // Of a signal whose half is given, and its inverse.
            let hermitian = ops::fft_hfft_with(&half, FftHfft { n, ..Default::default() })?;
            let again = ops::fft_ihfft(&hermitian)?;
            assert_close(&elements(&again), &elements(&half), tolerance, &what);
        }
    }
    Ok(())
}

#[test]
fn several_dimensions_are_one_after_the_other() -> Result<()> {
    let mut random = Random::new(3);
    for sizes in [[2, 3, 4], [5, 1, 6], [7, 16, 3], [1, 1, 1], [33, 20, 31]] {
        let x = numbers(&mut random, sizes.iter().product());
        for dims in [&[0usize, 1][..], &[2, 0], &[1, 2], &[2, 1, 0], &[1], &[]] {
            for (dtype, tolerance) in [(C64, 3e-6), (C128, 1e-14)] {
                let t = complex_tensor(&x, &sizes).to(dtype)?;
                let names: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
                let dim = Some(&names[..]);
                let what = format!("{sizes:?} along {dims:?}, {dtype}");
                let want = dims.iter().fold(x.clone(), |x, &dim| summed(&x, &sizes, dim, true));
                let found = ops::fft_fftn_with(&t, FftFftn { dim, ..Default::default() })?;
                assert_close(&elements(&found), &want, tolerance, &what);
                let Some(&last) = dims.last() else { continue };
                // Real: half along the last of them, and back.
                let real = ops::real(&t)?.contiguous()?;
                let parts: Numbers = x.iter().map(|x| x.re.into()).collect();
                let want = dims.iter().fold(parts.clone(), |x, &dim| summed(&x, &sizes, dim, true));
                let want = complex_tensor(&want, &sizes).narrow(last as i64, 0, sizes[last] as i64 / 2 + 1)?;
                let half = ops::fft_rfftn_with(&real, FftRfftn { dim, ..Default::default() })?;
                assert_close(&elements(&half), &elements(&want), tolerance, &what);
                let s: Vec<i64> = dims.iter().map(|&dim| sizes[dim] as i64).collect();
                let options = FftIrfftn { s: Some(&s), dim, ..Default::default() };
                assert_close(&elements(&ops::fft_irfftn_with(&half, options)?), &parts, tolerance, &what);
            }
        }
    }
    Ok(())
}

/// float32 along several dimensions, of few elements: the nearest to the sum in float64.
#[test]
fn small_transforms_along_several_dimensions_are_rounded_once() -> Result<()> {
    let mut random = Random::new(4);
    let x = numbers(&mut random, 5 * 6 * 7);
    let t = complex_tensor(&x, &[5, 6, 7]).to(C64)?;
    let found: Vec<monomorph::Complex32> = ops::fft_fftn(&t)?.to_vec()?;
    let want: Vec<monomorph::Complex32> = ops::fft_fftn(&t.to(C128)?)?.to(C64)?.to_vec()?;
    assert_eq!(found, want);
    Ok(())
}

#[test]
fn sizes_cut_off_or_continue_with_zeros() -> Result<()> {
    let t = tensor![[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let with = |n, dim| ops::fft_fft_with(&t, FftFft { n: Some(n), dim, ..Default::default() });
    let of = |t: Tensor<Cpu>| ops::fft_fft(&t).map(|t| elements(&t));
    assert_eq!(elements(&with(2, 1)?), of(tensor![[1.0f64, 2.0], [4.0, 5.0]])?);
    assert_eq!(elements(&with(4, -1)?), of(tensor![[1.0f64, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 0.0]])?);
    let both = FftFftn { s: Some(&[1, 4]), ..Default::default() };
    assert_eq!(elements(&ops::fft_fftn_with(&t, both)?), of(tensor![1.0f64, 2.0, 3.0, 0.0])?);
    Ok(())
}

#[test]
fn bad_calls_say_what_is_accepted() -> Result<()> {
    let (x, c) = (tensor![[1.0f32, 2.0], [3.0, 4.0]], ops::fft_fft(&tensor![[1.0f32, 2.0, 3.0]])?);
    let error = |result: Result<Tensor<Cpu>>| result.expect_err("an error").to_string();
    let n = |n| ops::fft_fft_with(&x, FftFft { n: Some(n), ..Default::default() });
    assert_eq!(error(n(0)), "fft_fft: argument n is 0; 1..=9223372036854775807 is accepted");
    let norm = ops::fft_fft_with(&x, FftFft { norm: Some("none"), ..Default::default() });
    assert!(error(norm).contains("backward, ortho and forward"));
    assert!(error(ops::fft_rfft(&c)).contains("accepted are real dtypes"), "{}", error(ops::fft_rfft(&c)));
    assert!(error(ops::fft_fft(&x.to(F16)?)).contains("float16"));
    assert!(error(ops::fft_fft(&x.sum(..)?)).contains("0 dimensions"));
    let twice = FftFftn { dim: Some(&[0, -2]), ..Default::default() };
    assert!(error(ops::fft_fftn_with(&x, twice)).contains("twice"));
    let lengths = FftFftn { s: Some(&[2]), dim: Some(&[0, 1]), ..Default::default() };
    assert!(ops::fft_fftn_with(&x, lengths).is_err());
    // By name, with what the functions of torch.fft never give.
    let by_name = |name, t: &Tensor<Cpu>, last: IValue| {
        call(name, &mut vec![t.clone().into(), IValue::Ints(vec![1]), 0_i64.into(), last]).map_err(|e| e.to_string())
    };
    assert!(by_name("_fft_c2c", &x, true.into()).is_err_and(|e| e.contains("complex64 and complex128")));
    assert!(by_name("_fft_r2c", &c, true.into()).is_err_and(|e| e.contains("float32 and float64")));
    assert!(by_name("_fft_c2r", &c, 9_i64.into()).is_err_and(|e| e.contains("[1, 5]")));
    assert!(by_name("_fft_c2r", &c, (-1_i64).into()).is_err());
    // As many complex numbers as real ones are wanted: the first half counts.
    assert!(by_name("_fft_c2r", &c, 3_i64.into()).is_ok());
    Ok(())
}

#[test]
fn a_signal_comes_back_from_the_transforms_of_its_pieces() -> Result<()> {
    let signal: Vec<f32> = (0..500).map(|i| (i as f32 * 0.37).sin() + (i % 7) as f32).collect();
    let signal = Tensor::<Cpu>::from_vec(signal, 500)?;
    let hann = ops::hann_window(64)?;
    let (hop_length, return_complex) = (Some(16), Some(true));
    let window = Some(&hann);
    let options = StftCentered { hop_length, window, return_complex, ..Default::default() };
    let spectra = ops::stft_centered_with(&signal, 64, options)?;
    let back = || Istft { hop_length, window, ..Default::default() };
    let (again, first) = (ops::istft_with(&spectra, 64, back())?.to_vec::<f32>()?, signal.to_vec::<f32>()?);
    assert_eq!(again.len(), 496);
    assert!(again.iter().zip(&first).all(|(a, b)| (a - b).abs() < 1e-5));
    let longer = ops::istft_with(&spectra, 64, Istft { length: Some(540), ..back() })?;
    assert_eq!(longer.sizes(), [540]);
    // Behind the last piece there is nothing.
    assert_eq!(longer.to_vec::<f32>()?[528..], [0.0; 12]);
    // The window is 0 where the first piece begins.
    let options = Stft { hop_length, window, return_complex, ..Default::default() };
    let spectra = ops::stft_with(&signal, 64, options)?;
    let error = ops::istft_with(&spectra, 64, Istft { center: false, ..back() }).expect_err("no window there");
    assert!(error.to_string().contains("an element of the signal is in no window"), "{error}");
    // A piece is the transform of so many elements.
    let piece = ops::fft_rfft(&(signal.narrow(0, 32, 64)? * &hann)?)?;
    assert_eq!(elements(&spectra.select(1, 2)?), elements(&piece));
    Ok(())
}

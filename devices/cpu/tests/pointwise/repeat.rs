//! Loops whose number of steps the data tell, on values and on dual numbers.

use monomorph_cpu::isa::{Avx2, Isa, Portable};
use monomorph_cpu::scalar::Lane;
use monomorph_ops::algebra::{Dual, Equal, Num, Repeat, Value};

/// xⁿ, and how many steps it took; it ends early where it leaves 100.
fn power<V: Repeat>(x: V, n: V) -> [V; 2] {
    V::repeat(n, [V::one(), V::zero()], |[y, _]| y.le(V::from_i64(100)), |k, [y, _]| [y * x, k + V::one()])
}

fn powers<I: Isa>() {
    for (x, n, want) in [
        (2.0, 5.0, [32.0, 5.0]),
        (2.0, 5.9, [32.0, 5.0]),
        (2.0, 0.9, [1.0, 0.0]),
        (2.0, -3.0, [1.0, 0.0]),
        (2.0, f64::NAN, [1.0, 0.0]),
        (2.0, f64::NEG_INFINITY, [1.0, 0.0]),
        (2.0, f64::INFINITY, [128.0, 7.0]),
        (2.0, 1e300, [128.0, 7.0]),
    ] {
        assert_eq!(power(Lane::<f64, I>::new(x), Lane::new(n)).map(Lane::get), want, "{x}, {n}");
        let single = power(Lane::<f32, I>::new(x as f32), Lane::new(n as f32));
        assert_eq!(single.map(|y| f64::from(y.get())), want, "{x}, {n} in float32");
    }
}

#[test]
fn the_data_tell_the_number_of_steps() {
    powers::<Portable>();
    if Avx2::detect().is_some() {
        powers::<Avx2>();
    }
}

#[test]
fn slopes_go_through_the_steps() {
    type F = Lane<f64, Portable>;
    let at = |x: f64, n: f64| power(Dual::variable(F::new(x)), Dual::constant(F::new(n)))[0];
    for n in 0..6 {
        let slope = at(1.5, f64::from(n)).slope.get();
        let want = if n == 0 { 0.0 } else { f64::from(n) * 1.5f64.powi(n - 1) };
        assert!((slope - want).abs() < 1e-12, "{n}: {slope}, want {want}");
    }
    // e^x − 1 by its series: the slope ends with the value.
    let (x, most) = (Dual::variable(F::new(0.3)), Dual::from_i64(100));
    let goes_on = |[sum, term]: [Dual<F>; 2]| (sum + term).ne(sum);
    let step = |k: Dual<F>, [sum, term]: [Dual<F>; 2]| [sum + term, term * x / (k + Dual::from_i64(2))];
    let [sum, _] = Dual::repeat(most, [Dual::zero(), x], goes_on, step);
    assert!((sum.value.get() - 0.3f64.exp_m1()).abs() < 1e-15);
    assert!((sum.slope.get() - 0.3f64.exp()).abs() < 1e-14);
}

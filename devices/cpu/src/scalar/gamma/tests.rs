//! The functions against numbers of 60 digits, and the values that no series gives.

use super::incomplete::Precision;
use super::{digamma_f32, digamma_f64, lgamma_f32, lgamma_f64, quick, share_f64, trigamma_f32, trigamma_f64, zeta_f64};
use crate::isa::{Avx2, Avx512, Isa, Portable};

/// Arguments and values of 60 digits, rounded: regions, their edges, zeros, poles.
const LGAMMA: [(f64, f64); 42] = [
    (1e-300, 690.7755278982137),
    (1e-19, 43.74911676688687),
    (1e-10, 23.025850929882736),
    (0.1, 2.252712651734206),
    (0.5, 0.5723649429247001),
    (0.95, 0.030968795237972926),
    (0.999999999, 5.77215649399226e-10),
    (1.000000001, -5.772157118381039e-10),
    (1.0625, -0.03295710029357782),
    (1.4616321449683622, -0.12148629053584961),
    (1.5, -0.12078223763524522),
    (1.99, -0.004195529088791668),
    (2.000000000001, 4.2282192087238456e-13),
    (2.7, 0.4348205536551047),
    (3.0, std::f64::consts::LN_2),
    (7.25, 7.0521854507385395),
    (9.999, 12.799575780077413),
    (10.0, 12.801827480081469),
    (33.3, 82.60372358165495),
    (100000.0, 1051287.7089736569),
    (1e+16, 3.584136148790473e+17),
    (3e+17, 1.1772767660870066e+19),
    (1e+305, 7.012884533631839e+307),
    (-1e-19, 43.74911676688687),
    (-0.3, 1.4648400508576025),
    (-1.5, 0.860047015376481),
    (-2.4570247382208, 7.292550612674704e-16),
    (-2.7476826467274127, 1.733509244024501e-16),
    (-3.955294284858598, -4.14382750757705e-16),
    (-100.7, -365.61225576180533),
    (-4503599627370.25, -126712820244545.14),
    (0.8499999999999999, 0.10659511647811776),
    (0.85, 0.10659511647811766),
    (1.4999999999999998, -0.12078223763524523),
    (2.4999999999999996, 0.28468287047291885),
    (2.5, 0.2846828704729192),
    (2.55, 0.3204487862866607),
    (-0.7, 1.4524729387568078),
    (-1.2, 1.5791760340399836),
    (-2.55, -0.09942418386840478),
    (-3.3, -0.8243558050174264),
    (-20.5, -42.70719597482576),
];

/// The same.
const DIGAMMA: [(f64, f64); 33] = [
    (1e-300, -9.999999999999999e+299),
    (1e-18, -9.999999999999999e+17),
    (1e-10, -10000000000.577215),
    (0.1, -10.423754940411076),
    (0.5, -1.9635100260214235),
    (1.0, -0.5772156649015329),
    (1.4, -0.06138454458511624),
    (1.4616321449, -6.615230062364537e-11),
    (1.47, 0.008066489011364869),
    (2.0, 0.42278433509846713),
    (3.5, 1.103156640645243),
    (9.999, 2.2516474172057355),
    (10.0, 2.251752589066721),
    (33.3, 3.490467238520243),
    (1e+16, 36.841361487904734),
    (3e+17, 40.242558869566885),
    (1e+305, 702.288453363184),
    (-1e-19, 1e+19),
    (-0.3, 2.113309779635399),
    (-0.504083, 7.388256696842615e-08),
    (-1.5, 0.7031566406452432),
    (-3.001, 1001.2531115811869),
    (-100.7, 2.334602156719901),
    (-4503599627370.25, 32.27749076372487),
    (0.8999999999999999, -0.7549269499470516),
    (0.9, -0.7549269499470513),
    (1.5999999999999999, 0.12604745277347615),
    (1.6, 0.12604745277347632),
    (2.4999999999999996, 0.703156640645243),
    (2.5, 0.7031566406452432),
    (-0.6, -0.8947178779184493),
    (-1.2, 4.868324766627196),
    (-20.5, 3.044616882512525),
];

/// The same.
const TRIGAMMA: [(f64, f64); 24] = [
    (1e-100, 1e+200),
    (1e-10, 1e+20),
    (0.1, 101.43329915079275),
    (0.49, 5.1080924838814035),
    (0.5, 4.934802200544679),
    (1.0, 1.6449340668482264),
    (2.0, 0.6449340668482264),
    (3.5, 0.3303577561002349),
    (9.999, 0.10517738667672887),
    (10.0, 0.10516633568168575),
    (33.3, 0.030485444095338887),
    (1e+16, 1.0000000000000001e-16),
    (1e+305, 1.0000000000000001e-305),
    (-0.3, 13.945160267805722),
    (-1.5, 9.379246644989124),
    (-3.0001, 100000003.00563118),
    (-100.7, 15.069532360278806),
    (0.9999999999999999, 1.6449340668482266),
    (1.7499999999999998, 0.7641018698938289),
    (1.75, 0.7641018698938287),
    (2.9999999999999996, 0.3949340668482265),
    (3.0, 0.39493406684822646),
    (-0.7, 14.28618087263834),
    (-20.5, 9.82199434464988),
];

/// Exponents, second arguments and values.
const ZETA: [(f64, f64, f64); 12] = [
    (1.5, 0.5, 4.776537947554833),
    (2.0, 1.0, 1.6449340668482264),
    (1.0001, 3.0, 9999.077257603696),
    (3.0, 0.001, 1000000001.1988161),
    (2.5, 1000000.0, 6.66667166666875e-10),
    (12.0, 0.75, 31.570509390832157),
    (30.0, 9.5, 4.90684887489325e-30),
    (2.0, -0.5, 8.934802200544679),
    (3.0, -7.25, -62.00426301828287),
    (4.0, -20.5, 32.46966105882883),
    (2.0, -5000.25, 19.739008832174886),
    (3.0, -5000.25, -62.01255334060564),
];

/// Shapes, arguments and values, for each of the ways.
const LOWER: [(f64, f64, f64); 16] = [
    (0.5, 0.25, 0.5204998778130465),
    (0.5, 3.0, 0.9856941215645704),
    (3.0, 0.5, 0.014387677966970687),
    (3.0, 12.0, 0.9994777419499671),
    (1e-05, 0.3, 0.9999909432172828),
    (0.01, 1.05, 0.9979599184768839),
    (19.0, 19.5, 0.5753915996504615),
    (150.0, 140.0, 0.20954362391860706),
    (150.0, 165.0, 0.8874634904019885),
    (250.0, 240.0, 0.2676500698540158),
    (250.0, 290.0, 0.9923890743594291),
    (250.0, 120.0, 2.8273219487691166e-25),
    (250.0, 400.0, 0.9999999999999997),
    (10000.0, 10100.0, 0.8413487504471796),
    (10000.0, 9900.0, 0.15865119219356466),
    (700.0, 400.0, 5.0826895230206406e-42),
];

/// The same.
const UPPER: [(f64, f64, f64); 16] = [
    (0.5, 0.25, 0.4795001221869535),
    (0.5, 3.0, 0.01430587843542964),
    (3.0, 0.5, 0.9856123220330293),
    (3.0, 12.0, 0.0005222580500328978),
    (1e-05, 0.3, 9.056782717213817e-06),
    (0.01, 1.05, 0.002040081523116111),
    (19.0, 19.5, 0.4246084003495385),
    (150.0, 140.0, 0.790456376081393),
    (150.0, 165.0, 0.11253650959801158),
    (250.0, 240.0, 0.7323499301459842),
    (250.0, 290.0, 0.007610925640570824),
    (250.0, 120.0, 1.0),
    (250.0, 400.0, 3.1770076592385687e-16),
    (10000.0, 10100.0, 0.15865124955282037),
    (10000.0, 9900.0, 0.8413488078064354),
    (700.0, 400.0, 1.0),
];

/// That a number is so many units of the last place from the nearest to the exact one, or next to a zero.
fn near(name: &str, at: &[f64], got: f64, want: f64, units: f64) {
    let unit = f64::from_bits(want.abs().to_bits() + 1) - want.abs();
    assert!((got - want).abs() <= units * unit + 1e-20, "{name} of {at:?}: {got:e}, want {want:e}");
}

/// That the shorter way of float32 gives what the longer one does.
fn alike(name: &str, x: f64, got: f32, want: f32) {
    assert!(got == want || (got.is_nan() && want.is_nan()), "{name} of {x} in float32: {got:e}, want {want:e}");
}

#[test]
fn functions_equal_recorded_numbers() {
    functions_equal_recorded_numbers_at::<Portable>();
    functions_equal_recorded_numbers_at::<Avx2>();
    functions_equal_recorded_numbers_at::<Avx512>();
}

fn functions_equal_recorded_numbers_at<I: Isa>() {
    for (x, want) in LGAMMA {
        near("lgamma", &[x], lgamma_f64::<I>(x), want, 1.0);
        alike("lgamma", x, lgamma_f32::<I>(x as f32), lgamma_f64::<I>((x as f32).into()) as f32);
    }
    for (x, want) in DIGAMMA {
        near("digamma", &[x], digamma_f64::<I>(x), want, 1.0);
        alike("digamma", x, digamma_f32::<I>(x as f32), digamma_f64::<I>((x as f32).into()) as f32);
    }
    for (x, want) in TRIGAMMA {
        near("trigamma", &[x], trigamma_f64::<I>(x), want, if I::FMA { 1.0 } else { 4.0 });
    }
    for (s, q, want) in ZETA {
        near("zeta", &[s, q], zeta_f64::<I>(s, q), want, 8.0);
    }
}

/// What PyTorch 2.15 gives.
#[test]
fn poles_and_infinities_are_pytorchs() {
    poles_and_infinities_are_pytorchs_at::<Portable>();
    poles_and_infinities_are_pytorchs_at::<Avx2>();
    poles_and_infinities_are_pytorchs_at::<Avx512>();
}

fn poles_and_infinities_are_pytorchs_at<I: Isa>() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let same = |name: &str, at: &[f64], got: f64, want: f64| {
        let equal = got == want && got.is_sign_negative() == want.is_sign_negative();
        assert!(equal || (got.is_nan() && want.is_nan()), "{name} of {at:?}: {got:e}, want {want:e}");
    };
    for (x, [log, slope, curvature]) in [
        (0.0, [INF, -INF, INF]),
        (-0.0, [INF, INF, INF]),
        (INF, [INF, INF, 0.0]),
        (-INF, [INF, NAN, NAN]),
        (NAN, [NAN; 3]),
        (5e-324, [744.4400719213812, -INF, INF]),
    ] {
        same("lgamma", &[x], lgamma_f64::<I>(x), log);
        same("digamma", &[x], digamma_f64::<I>(x), slope);
        same("trigamma", &[x], trigamma_f64::<I>(x), curvature);
        if x.abs() != 5e-324 {
            same("lgamma", &[x], lgamma_f32::<I>(x as f32).into(), log);
            same("digamma", &[x], digamma_f32::<I>(x as f32).into(), slope);
            same("trigamma", &[x], trigamma_f32::<I>(x as f32).into(), curvature);
        }
    }
    for x in [-1.0, -2.0, -1e30] {
        same("lgamma", &[x], lgamma_f64::<I>(x), INF);
        same("digamma", &[x], digamma_f64::<I>(x), NAN);
    }
    // π² / sin² of the rounded product, in either precision.
    near("trigamma", &[-1.0], trigamma_f64::<I>(-1.0), 6.580790147320947e32, 8.0);
    let single = trigamma_f32::<I>(-1.0);
    assert!((single / 1.291_369_7e15 - 1.0).abs() < 1e-6, "{single:e}");
    for (s, q, want) in [
        (1.0, 0.5, INF),
        (0.5, 2.0, NAN),
        (2.0, 0.0, INF),
        (2.0, -3.0, INF),
        (2.5, -0.5, NAN),
        (2.0, INF, NAN),
        (2.0, -INF, INF),
        (INF, 1.0, 1.0),
        (INF, 2.0, NAN),
        (INF, 0.5, INF),
        (1e5, 2.0, 0.0),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (1.0, NAN, INF),
    ] {
        same("zeta", &[s, q], zeta_f64::<I>(s, q), want);
    }
}

#[test]
fn shares_equal_recorded_numbers() {
    shares_equal_recorded_numbers_at::<Portable>();
    shares_equal_recorded_numbers_at::<Avx2>();
    shares_equal_recorded_numbers_at::<Avx512>();
}

fn shares_equal_recorded_numbers_at<I: Isa>() {
    for (a, x, want) in LOWER {
        near("igamma", &[a, x], share_f64::<I>(a, x, false, &Precision::DOUBLE), want, 16.0);
    }
    for (a, x, want) in UPPER {
        near("igammac", &[a, x], share_f64::<I>(a, x, true, &Precision::DOUBLE), want, 16.0);
    }
}

/// The ways without branches, where they hold, which is nearly everywhere that they may.
#[test]
fn shares_without_branches_equal_the_others() {
    let mut seed = 1_u64;
    let mut random = move |to: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        to * (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut held = [0; 4];
    for i in 0..20_000 {
        let to = if i % 2 == 0 { 4.0 } else { 22.0 };
        let (a, x) = (random(to), random(to));
        for (k, is_upper) in [false, true].into_iter().enumerate() {
            let want = share_f64::<Avx2>(a, x, is_upper, &Precision::DOUBLE);
            let quick = if is_upper { quick::upper_quick::<Avx2> } else { quick::lower_quick::<Avx2> };
            let short = if is_upper { quick::upper_short::<Avx2> } else { quick::lower_short::<Avx2> };
            let (value, holds) = quick(a, x);
            assert!(!holds || quick::is_within(a, x), "{a} {x}");
            if holds {
                held[k] += 1;
                // Most of it is the other's.
                near("share without branches", &[a, x], value, want, 60.0);
            }
            let (value, holds) = short(a, x);
            if holds {
                held[2 + k] += 1;
                assert!((value - want).abs() <= 4e-9 * want, "{a} {x}: {value}, not {want}");
            }
        }
    }
    assert!(held.iter().all(|held| *held > 16_000), "{held:?}");
    // Where there is no number, or another rule, they do not hold.
    for (a, x) in [
        (-1.0, 2.0),
        (1.0, -2.0),
        (0.3, -0.7),
        (2.4, -0.5),
        (4.0, -2.0),
        (9.0, -30.0),
        (0.0, 1.0),
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
        (2.0, f64::INFINITY),
        (f64::INFINITY, 1.0),
    ] {
        let ways = [
            quick::lower_quick::<Avx2>,
            quick::upper_quick::<Avx2>,
            quick::lower_short::<Avx2>,
            quick::upper_short::<Avx2>,
        ];
        assert!(ways.iter().all(|way| !way(a, x).1), "{a} {x}");
    }
}

/// What PyTorch 2.15 gives, also where a factor of its series vanishes.
#[test]
fn edges_of_the_shares_are_pytorchs() {
    edges_of_the_shares_are_pytorchs_at::<Portable>();
    edges_of_the_shares_are_pytorchs_at::<Avx2>();
    edges_of_the_shares_are_pytorchs_at::<Avx512>();
}

fn edges_of_the_shares_are_pytorchs_at<I: Isa>() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let shares = |a, x, precision| [share_f64::<I>(a, x, false, precision), share_f64::<I>(a, x, true, precision)];
    let same = |a: f64, x: f64, got: [f64; 2], want: [f64; 2]| {
        let equal = got.iter().zip(want).all(|(got, want)| *got == want || (got.is_nan() && want.is_nan()));
        assert!(equal, "shares of {a:e} at {x:e}: {got:?}, want {want:?}");
    };
    for (a, x, want) in [
        (0.0, 0.0, [NAN; 2]),
        (0.0, 1e-310, [1.0, 0.0]),
        (0.0, NAN, [NAN; 2]),
        (1.0, 0.0, [0.0, 1.0]),
        (NAN, 0.0, [0.0, 1.0]),
        (NAN, 1.0, [NAN; 2]),
        (NAN, INF, [1.0, 0.0]),
        (INF, 1.0, [0.0, 1.0]),
        (INF, INF, [NAN; 2]),
        (INF, NAN, [0.0, 1.0]),
        (1.0, INF, [1.0, 0.0]),
        (-1.0, 1.0, [NAN; 2]),
        (1.0, -1.0, [NAN; 2]),
        (1e300, 1e300, [0.5, 0.5]),
        (1e300, 1e20, [0.0, 1.0]),
        (1e20, 1e300, [1.0, 0.0]),
    ] {
        same(a, x, shares(a, x, &Precision::DOUBLE), want);
    }
    // The power of a subnormal argument is not small, and a subnormal shape has a logarithm, too.
    for (a, x, want) in [
        (1e-3, 1e-310, [0.490_061_206_119_645, 0.509_938_793_880_355_3]),
        (6e-8, 1e-310, [0.999_957_207_465_833_9, 4.279_253_416_614_444e-5]),
        (1e-310, 6e-8, [0.0, 1.66e-309]),
    ] {
        let got = shares(a, x, &Precision::DOUBLE);
        let close = got.iter().zip(want).all(|(got, want)| (got - want).abs() <= 1e-12 * want + 1e-310);
        assert!(close, "shares of {a:e} at {x:e}: {got:?}, want {want:?}");
    }
    // A shape of a subnormal float32: the lower share vanishes with the factor, the upper one does not.
    for (a, x, want) in [
        (2.938_735_877_055_719e-39, 1.175_494_350_822_287_5e-38, 1.0),
        (2.9e-39, 1e-40, 0.0),
        (4e-39, 4e-39, 0.0),
        (4e-39, 1e-20, 1.0),
        (4e-39, 0.5, 0.0),
        (2.9e-39, 1.5, 1.0),
    ] {
        assert_eq!(share_f64::<I>(a, x, false, &Precision::SINGLE) as f32, want, "igamma of {a:e} at {x:e}");
        assert_eq!(share_f64::<I>(a, x, false, &Precision::DOUBLE) as f32, 1.0, "igamma of {a:e} at {x:e}");
    }
}

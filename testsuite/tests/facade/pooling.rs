//! Windows against loops over their places: maxima, means, their gradients and unpooling, over dtypes × layouts ×
//! parameters; and what is refused.

use monomorph::{AnyTensor, Cpu, DType, ErrorKind, IValue, Result, Scalar, Stack, Tensor, call};
use monomorph_testsuite::layout::{Layout, convert, tensor, values};
use monomorph_testsuite::naive::each_index;

fn called(name: &str, arguments: Vec<IValue>) -> Result<Vec<AnyTensor>> {
    let mut stack: Stack = arguments;
    call(name, &mut stack)?;
    Ok(stack.into_iter().filter_map(IValue::into_tensor).collect())
}

fn ints(list: &[i64]) -> IValue {
    IValue::Ints(list.to_vec())
}

/// Small whole numbers with repetitions: sums of them are exact in every dtype.
fn input(dtype: DType, sizes: &[i64], layout: Layout) -> Tensor<Cpu> {
    let low = if dtype == DType::U8 { 0 } else { 9 };
    let all: Vec<Scalar> = (0..37).map(|i: i64| convert(Scalar::Int(i * 7 % 19 - low), dtype)).collect();
    tensor(layout.geometry(dtype, sizes), &all)
}

fn numbers(t: &AnyTensor) -> Vec<f64> {
    values(&t.clone().downcast::<Cpu>().expect("on the CPU")).into_iter().map(Scalar::to_f64).collect()
}

/// The parameters of windows.
#[derive(Clone, Copy, Debug)]
struct Pool {
    kernel: i64,
    stride: i64,
    padding: i64,
    dilation: i64,
    ceil: bool,
}

const POOLS: [Pool; 5] = [
    Pool { kernel: 2, stride: 2, padding: 0, dilation: 1, ceil: false },
    Pool { kernel: 3, stride: 1, padding: 1, dilation: 1, ceil: false },
    Pool { kernel: 3, stride: 2, padding: 1, dilation: 1, ceil: true },
    Pool { kernel: 2, stride: 1, padding: 0, dilation: 2, ceil: false },
    Pool { kernel: 4, stride: 3, padding: 2, dilation: 1, ceil: true },
];

/// Sizes of planes, with a batch and without, narrower and wider than a block of lanes.
const SIZES: [&[i64]; 4] = [&[2, 3, 5, 6], &[3, 7, 5], &[1, 17, 4, 4], &[1, 2, 5, 41]];

impl Pool {
    fn windows(&self, input: i64) -> i64 {
        let room = input + 2 * self.padding - self.dilation * (self.kernel - 1) - 1;
        let mut n = (room + if self.ceil { self.stride - 1 } else { 0 }) / self.stride + 1;
        if self.ceil && (n - 1) * self.stride >= input + self.padding {
            n -= 1;
        }
        n
    }

    /// The places of window `o`, without the padding.
    fn places(&self, o: i64, input: i64) -> Vec<i64> {
        let all = (0..self.kernel).map(|k| o * self.stride - self.padding + k * self.dilation);
        all.filter(|place| (0..input).contains(place)).collect()
    }

    /// The size of window `o` with the padding.
    fn size(&self, o: i64, input: i64) -> i64 {
        let start = o * self.stride - self.padding;
        (start + self.kernel).min(input + self.padding) - start
    }
}

/// The elements of the window of each element of the output, in order: places in the plane.
fn each_window(pool: &Pool, sizes: &[i64], mut visit: impl FnMut(i64, [i64; 2], Vec<i64>)) {
    let (outer, inner) = sizes.split_at(sizes.len() - 2);
    let (height, width) = (inner[0], inner[1]);
    each_index(&[outer.iter().product(), pool.windows(height), pool.windows(width)], |index| {
        let (plane, h, w) = (index[0], index[1], index[2]);
        let rows = pool.places(h, height);
        let places =
            rows.iter().flat_map(|row| pool.places(w, width).into_iter().map(move |place| row * width + place));
        visit(plane, [h, w], places.collect());
    });
}

#[test]
fn maxima_are_those_of_windows_with_their_places() {
    for (sizes, pool) in SIZES.iter().flat_map(|sizes| POOLS.map(|pool| (*sizes, pool))) {
        for (dtype, layout) in [DType::U8, DType::I64, DType::F16, DType::F32, DType::F64]
            .iter()
            .flat_map(|dtype| Layout::ALL.map(|layout| (*dtype, layout)))
        {
            let x = input(dtype, sizes, layout);
            let all: Vec<f64> = values(&x).into_iter().map(Scalar::to_f64).collect();
            let plane = sizes[sizes.len() - 2] * sizes[sizes.len() - 1];
            let (mut want, mut want_places) = (Vec::new(), Vec::new());
            each_window(&pool, sizes, |n, _, places| {
                let at = |place: &i64| all[(n * plane + place) as usize];
                let best =
                    places.iter().fold(places[0], |best, place| if at(place) > at(&best) { *place } else { best });
                want.push(at(&best));
                want_places.push(best as f64);
            });
            let arguments = vec![
                x.into(),
                ints(&[pool.kernel]),
                ints(&[pool.stride]),
                ints(&[pool.padding]),
                ints(&[pool.dilation]),
                pool.ceil.into(),
            ];
            let got = called("max_pool2d_with_indices", arguments).unwrap();
            assert_eq!(numbers(&got[0]), want, "{dtype} {sizes:?} {layout:?} {pool:?}");
            assert_eq!(numbers(&got[1]), want_places, "{dtype} {sizes:?} {layout:?} {pool:?}");
        }
    }
}

#[test]
fn means_and_their_gradients_are_those_of_windows() {
    let pools = || POOLS.into_iter().filter(|pool| pool.dilation == 1);
    for (sizes, pool) in SIZES.iter().flat_map(|sizes| pools().map(|pool| (*sizes, pool))) {
        let inner = &sizes[sizes.len() - 2..];
        let plane = inner[0] * inner[1];
        for (counts, divisor) in [(true, None), (false, None), (true, Some(3_i64))] {
            for layout in Layout::ALL {
                let x = input(DType::F64, sizes, layout);
                let all: Vec<f64> = values(&x).into_iter().map(Scalar::to_f64).collect();
                let mut want = Vec::new();
                let mut gradient = vec![0.0; all.len()];
                each_window(&pool, sizes, |n, [h, w], places| {
                    let whole = pool.size(h, inner[0]) * pool.size(w, inner[1]);
                    let by = divisor.unwrap_or(if counts { whole } else { places.len() as i64 }) as f64;
                    want.push(places.iter().map(|place| all[(n * plane + place) as usize]).sum::<f64>() / by);
                    let given = (want.len() % 5) as f64;
                    places.iter().for_each(|place| gradient[(n * plane + place) as usize] += given / by);
                });
                let pool_arguments = |tensors: Vec<IValue>| {
                    let lists = [ints(&[pool.kernel]), ints(&[pool.stride]), ints(&[pool.padding])];
                    let flags = [pool.ceil.into(), counts.into(), divisor.map_or(IValue::None, IValue::Int)];
                    tensors.into_iter().chain(lists).chain(flags).collect::<Vec<IValue>>()
                };
                let got = called("avg_pool2d", pool_arguments(vec![x.clone().into()])).unwrap();
                let context = format!("{sizes:?} {layout:?} {pool:?} {counts} {divisor:?}");
                assert_eq!(numbers(&got[0]), want, "{context}");
                let given: Vec<f64> = (1..=want.len()).map(|i| (i % 5) as f64).collect();
                let given = Tensor::<Cpu>::from_slice(&given, got[0].sizes()).unwrap();
                let got = called("avg_pool2d_backward", pool_arguments(vec![given.into(), x.into()])).unwrap();
                let close = numbers(&got[0]).iter().zip(&gradient).all(|(got, want)| (got - want).abs() < 1e-12);
                assert!(close, "gradient: {context}");
            }
        }
    }
}

#[test]
fn adaptive_windows_cover_what_belongs_to_them_in_part() {
    for (sizes, output) in SIZES.iter().flat_map(|sizes| [[3, 2], [1, 1], [8, 5]].map(|output| (*sizes, output))) {
        let inner = &sizes[sizes.len() - 2..];
        let plane = inner[0] * inner[1];
        let window = |o: i64, d: usize| o * inner[d] / output[d]..((o + 1) * inner[d] + output[d] - 1) / output[d];
        for layout in Layout::ALL {
            let x = input(DType::F64, sizes, layout);
            let all: Vec<f64> = values(&x).into_iter().map(Scalar::to_f64).collect();
            let (mut means, mut maxima) = (Vec::new(), Vec::new());
            let planes: i64 = sizes[..sizes.len() - 2].iter().product();
            each_index(&[planes, output[0], output[1]], |index| {
                let rows = window(index[1], 0);
                let places: Vec<f64> = rows
                    .flat_map(|row| window(index[2], 1).map(move |place| row * inner[1] + place))
                    .map(|place| all[(index[0] * plane + place) as usize])
                    .collect();
                means.push(places.iter().sum::<f64>() / places.len() as f64);
                maxima.push(places.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            });
            let arguments = || vec![x.clone().into(), ints(&output)];
            let got = numbers(&called("adaptive_avg_pool2d", arguments()).unwrap()[0]);
            assert!(got.iter().zip(&means).all(|(a, b)| (a - b).abs() < 1e-12), "{sizes:?} {output:?} {layout:?}");
            let got = called("adaptive_max_pool2d", arguments()).unwrap();
            assert_eq!(numbers(&got[0]), maxima, "{sizes:?} {output:?} {layout:?}");
        }
    }
}

/// Windows of which many are of another size than the next, and the places of the last dimension fewer than lanes.
#[test]
fn gradients_of_adaptive_means_are_spread_over_windows() {
    for (sizes, output) in
        SIZES.iter().flat_map(|sizes| [[3, 2], [1, 1], [8, 5], [2, 4]].map(|output| (*sizes, output)))
    {
        let (outer, inner) = sizes.split_at(sizes.len() - 2);
        let window = |o: i64, d: usize| o * inner[d] / output[d]..((o + 1) * inner[d] + output[d] - 1) / output[d];
        let grad_sizes = [outer, &output[..]].concat();
        for (dtype, layout) in
            [DType::F64, DType::BF16].iter().flat_map(|dtype| Layout::ALL.map(|layout| (*dtype, layout)))
        {
            let (grad, x) = (input(dtype, &grad_sizes, layout), input(dtype, sizes, layout));
            let all: Vec<f64> = values(&grad).into_iter().map(Scalar::to_f64).collect();
            let rounded = |x: f64| convert(Scalar::Float(x), dtype).to_f64();
            let mut want = vec![0.0; sizes.iter().product::<i64>() as usize];
            each_index(&grad_sizes[grad_sizes.len() - 2..], |index| {
                let (rows, columns) = (window(index[0], 0), window(index[1], 1));
                let (height, width) = ((rows.end - rows.start) as f64, (columns.end - columns.start) as f64);
                for plane in 0..outer.iter().product::<i64>() {
                    let given = all[((plane * output[0] + index[0]) * output[1] + index[1]) as usize];
                    let part = rounded(rounded(given / height) / width);
                    for (row, column) in rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column))) {
                        let to = &mut want[((plane * inner[0] + row) * inner[1] + column) as usize];
                        *to = rounded(*to + part);
                    }
                }
            });
            let got = called("_adaptive_avg_pool2d_backward", vec![grad.into(), x.into()]).unwrap();
            assert_eq!(numbers(&got[0]), want, "{dtype} {sizes:?} {output:?} {layout:?}");
        }
    }
}

/// The last NaN of a window is its largest element, else the first one of equals; a window of nothing but -inf has its
/// first place.
#[test]
fn equal_elements_and_no_numbers_have_the_places_of_pytorch() {
    let kinds = [f32::NAN, 1.0, f32::NEG_INFINITY, -0.0, 0.0, 1.0, f32::NEG_INFINITY, 0.5];
    for (seed, width) in (0..40_u64).flat_map(|seed| [5, 9, 20, 41].map(|width| (seed, width))) {
        // Few of the kinds, so that windows of one occur.
        let below = 2 + seed as usize % 7;
        let element =
            |i: u64| kinds[((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % below + (8 - below)];
        let all: Vec<f32> = (0..2 * 6 * width as u64).map(element).collect();
        let x = Tensor::<Cpu>::from_slice(&all, [2, 6, width]).unwrap();
        let output = [2, 1 + width / 4];
        let window = |o: i64, d: usize| {
            let (size, n) = ([6, width][d], output[d]);
            o * size / n..((o + 1) * size + n - 1) / n
        };
        let got = called("adaptive_max_pool2d", vec![x.into(), ints(&output)]).unwrap();
        let (found, places) = (numbers(&got[0]), numbers(&got[1]));
        let mut i = 0;
        each_index(&[2, output[0], output[1]], |index| {
            let columns = window(index[2], 1);
            let (mut best, mut at) = (f32::NEG_INFINITY, window(index[1], 0).start * width + columns.start);
            for place in window(index[1], 0).flat_map(|row| columns.clone().map(move |column| row * width + column)) {
                let x = all[(index[0] * 6 * width + place) as usize];
                if x > best || x.is_nan() {
                    (best, at) = (x, place);
                }
            }
            let context = format!("{seed} {width} {index:?}");
            assert_eq!(found[i].to_bits(), f64::from(best).to_bits(), "{context}");
            assert_eq!(places[i], at as f64, "{context}");
            i += 1;
        });
    }
}

#[test]
fn maxima_go_back_to_their_places() {
    let x = input(DType::F32, &[2, 3, 6, 4], Layout::ALL[0]);
    let pool = |x: &Tensor<Cpu>| vec![x.clone().into(), ints(&[2]), ints(&[]), ints(&[0]), ints(&[1]), false.into()];
    let [values, places] = &called("max_pool2d_with_indices", pool(&x)).unwrap()[..] else { panic!("two results") };
    let back = called("max_unpool2d", vec![values.clone().into(), places.clone().into(), ints(&[6, 4])]).unwrap();
    let (all, back) = (numbers(x.as_any()), numbers(&back[0]));
    assert!(back.iter().zip(&all).all(|(back, x)| *back == 0.0 || back == x));
    let nonzero = numbers(values).iter().filter(|value| **value != 0.0).count();
    assert_eq!(back.iter().filter(|back| **back != 0.0).count(), nonzero);
    let mut arguments = vec![values.clone().into()];
    arguments.extend(pool(&x));
    arguments.push(places.clone().into());
    let gradient = called("max_pool2d_with_indices_backward", arguments).unwrap();
    assert_eq!(numbers(&gradient[0]), back, "windows that share no place");
}

#[test]
fn places_outside_of_a_plane_are_errors() {
    let values = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0], [1, 1, 1, 2]).unwrap();
    for bad in [4_i64, -5, i64::MAX, i64::MIN] {
        let places = Tensor::<Cpu>::from_slice(&[0, bad], [1, 1, 1, 2]).unwrap();
        let arguments = vec![values.clone().into(), places.into(), ints(&[2, 2])];
        let error = called("max_unpool2d", arguments).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::IndexOutOfRange { .. }), "{bad}: {error}");
    }
}

#[test]
fn windows_that_do_not_fit_are_errors() {
    let x = input(DType::F32, &[1, 1, 4, 4], Layout::ALL[0]);
    let max = i64::MAX;
    let call = |kernel: i64, stride: i64, padding: i64, dilation: i64| {
        let lists = [ints(&[kernel]), ints(&[stride]), ints(&[padding]), ints(&[dilation])];
        let arguments = [IValue::from(x.clone())].into_iter().chain(lists).chain([true.into()]);
        called("max_pool2d_with_indices", arguments.collect())
    };
    for (kernel, stride, padding, dilation) in [
        (0, 1, 0, 1),
        (1, 0, 0, 1),
        (2, 1, 2, 1),
        (2, 1, -1, 1),
        (2, 1, 0, 0),
        (5, 1, 0, 1),
        (max, 1, 0, 1),
        (max, max, max / 2, max),
        (2, 1, 0, max),
        (1, max, 0, 1),
    ] {
        let error = call(kernel, stride, padding, dilation).unwrap_err();
        assert_eq!(error.op(), "max_pool2d_with_indices", "{kernel} {stride} {padding} {dilation}");
    }
    assert!(call(3, 2, 1, 1).is_ok());
}

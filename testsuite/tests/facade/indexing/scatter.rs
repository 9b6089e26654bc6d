//! `scatter`, `scatter_add`, `scatter_reduce`, `put`, `index_add`, `index_copy`, `index_fill`, `index_reduce`.

use super::*;
use monomorph::ErrorKind;
use monomorph::ops::options::{Put, ScatterReduce};
use monomorph::ops::scatter_reduce_with;
use monomorph::ops::{self, index_add, index_add_, index_copy, index_copy_, index_fill, index_fill_};
use monomorph::ops::{put_, put_with, scatter, scatter_, scatter_add, scatter_add_out};

/// What scatters do to the element at a place: the values that meet there in their order.
struct Meeting {
    this: Elements,
    met: Vec<Vec<Scalar>>,
}

impl Meeting {
    fn of(this: &Tensor<Cpu>) -> Meeting {
        let this = Elements::of(this);
        let met = vec![Vec::new(); this.values.len()];
        Meeting { this, met }
    }

    fn add(&mut self, at: &[usize], value: Scalar) {
        let place = self.this.place(at);
        self.met[place].push(value);
    }

    /// The elements afterwards: the old one and those that it meets, by `f`; `f` gets no old one where it does not
    /// count.
    fn combined(&self, include_self: bool, f: impl Fn(&[Scalar]) -> Scalar) -> Vec<Scalar> {
        let each = |(old, met): (&Scalar, &Vec<Scalar>)| match met.is_empty() {
            true => *old,
            false => f(&include_self.then_some(*old).into_iter().chain(met.iter().copied()).collect::<Vec<_>>()),
        };
        self.this.values.iter().zip(&self.met).map(each).collect()
    }

    fn last(&self) -> Vec<Scalar> {
        self.combined(true, |all| all[all.len() - 1])
    }

    /// Exact in small integers, which is what the tests of sums are of.
    fn sum(&self) -> Vec<Scalar> {
        self.combined(true, |all| Scalar::Int(all.iter().map(|x| x.to_i64()).sum()))
    }
}

/// Integers from -3 to 3 in any dtype, whose sums and products are exact.
fn small(dtype: DType, layout: Layout, sizes: &[i64], random: &mut Random) -> Tensor<Cpu> {
    let n = sizes.iter().product::<i64>().max(1) as usize;
    let low = if matches!(dtype, DType::U8 | DType::Bool) { 0 } else { -3 };
    let high = if dtype == DType::Bool { 2 } else { 4 };
    let all: Vec<Scalar> = (0..2 * n).map(|_| Scalar::Int(low + random.below((high - low) as usize) as i64)).collect();
    tensor(layout.geometry(dtype, sizes), &all)
}

/// The values as integers; of bool 0 and 1.
fn as_ints(t: &Tensor<Cpu>) -> Vec<i64> {
    values(t).iter().map(|x| x.to_i64()).collect()
}

fn wrapped(values: &[Scalar], dtype: DType) -> Vec<i64> {
    let one = |x: &Scalar| match dtype {
        DType::Bool => i64::from(x.to_i64() != 0),
        _ => x.to_i64(),
    };
    values.iter().map(one).collect()
}

#[test]
fn slices_meet_where_their_indices_say() {
    let mut random = Random::new(31);
    for dtype in DType::ALL {
        for layout in Layout::WRITABLE {
            for sizes in [&[7][..], &[3, 5], &[2, 3, 2]] {
                for (dim, &size) in sizes.iter().enumerate() {
                    for n in [0, 1, 6] {
                        let x = small(dtype, layout, sizes, &mut random);
                        let mut of = sizes.to_vec();
                        of[dim] = n;
                        let source = small(dtype, layout, &of, &mut random);
                        let index = random_indices(DType::I64, layout, &[n], (0, size), &mut random);
                        let (at, from, mut meeting) = (Elements::of(&index), Elements::of(&source), Meeting::of(&x));
                        each(&of, |p| {
                            let mut q = p.to_vec();
                            q[dim] = at.index(&[p[dim]], size);
                            meeting.add(&q, from.get(p));
                            Scalar::Int(0)
                        });
                        let what = format!("{dtype} {layout:?} {sizes:?} {dim} {n}");
                        let dim = dim as i64;
                        let got = index_add(&x, dim, &index, &source).unwrap();
                        assert_eq!(as_ints(&got), wrapped(&meeting.sum(), dtype), "index_add {what}");
                        assert!(is_row_major(&got));
                        let got = index_copy(&x, dim, &index, &source).unwrap();
                        assert_eq!(values(&got), meeting.last(), "index_copy {what}");
                        let mut y = ops::deep_clone(&x).unwrap();
                        index_add_(&mut y, dim, &index, &source).unwrap();
                        assert_eq!(as_ints(&y), wrapped(&meeting.sum(), dtype), "index_add_ {what}");
                        let mut y = small(dtype, layout, sizes, &mut random);
                        y.copy_from(&x).unwrap();
                        index_copy_(&mut y, dim, &index, &source).unwrap();
                        assert_eq!(values(&y), meeting.last(), "index_copy_ {what}");
                        let filled = meeting.combined(true, |_| Scalar::Int(1));
                        let got = index_fill(&x, dim, &index, 1).unwrap();
                        assert_eq!(as_ints(&got), wrapped(&filled, dtype), "index_fill {what}");
                        index_fill_(&mut y, dim, &index, 1).unwrap();
                        assert_eq!(as_ints(&y), wrapped(&filled, dtype), "index_fill_ {what}");
                    }
                }
            }
        }
    }
}

#[test]
fn elements_meet_where_their_indices_say() {
    let mut random = Random::new(32);
    for dtype in DType::ALL {
        for layout in Layout::WRITABLE {
            for sizes in [&[7][..], &[3, 5], &[2, 3, 2]] {
                for (dim, &size) in sizes.iter().enumerate() {
                    let x = small(dtype, layout, sizes, &mut random);
                    let mut of = sizes.to_vec();
                    of.iter_mut().for_each(|n| *n = (*n - 1).max(1));
                    of[dim] = 8;
                    let longer: Vec<i64> = of.iter().map(|n| n + 1).collect();
                    let source = small(dtype, layout, &longer, &mut random);
                    let kind = INDEX_DTYPES[dim % 2];
                    let index = random_indices(kind, layout, &of, (0, size), &mut random);
                    let (at, from, mut meeting) = (Elements::of(&index), Elements::of(&source), Meeting::of(&x));
                    each(&of, |p| {
                        let mut q = p.to_vec();
                        q[dim] = at.index(p, size);
                        meeting.add(&q, from.get(p));
                        Scalar::Int(0)
                    });
                    let (what, dim) = (format!("{dtype} {layout:?} {sizes:?} {dim}"), dim as i64);
                    let got = scatter(&x, dim, &index, &source).unwrap();
                    assert_eq!(values(&got), meeting.last(), "scatter {what}");
                    assert!(is_row_major(&got));
                    let got = scatter_add(&x, dim, &index, &source).unwrap();
                    assert_eq!(as_ints(&got), wrapped(&meeting.sum(), dtype), "scatter_add {what}");
                    let mut out = small(dtype, layout, sizes, &mut random);
                    scatter_add_out(&x, dim, &index, &source, &mut out).unwrap();
                    assert_eq!(as_ints(&out), wrapped(&meeting.sum(), dtype), "scatter_add.out {what}");
                    let mut y = small(dtype, layout, sizes, &mut random);
                    y.copy_from(&x).unwrap();
                    scatter_(&mut y, dim, &index, 1).unwrap();
                    let filled = meeting.combined(true, |_| Scalar::Int(1));
                    assert_eq!(as_ints(&y), wrapped(&filled, dtype), "scatter_.value {what}");
                    reductions(&x, dim, &index, &source, &meeting, &what);
                }
            }
        }
    }
}

/// The five reductions, with the old element and without.
fn reductions(x: &Tensor<Cpu>, dim: i64, index: &Tensor<Cpu>, src: &Tensor<Cpu>, meeting: &Meeting, what: &str) {
    let dtype = x.dtype();
    for include_self in [true, false] {
        let with = ScatterReduce { include_self, ..Default::default() };
        for reduce in ["sum", "prod", "mean", "amax", "amin"] {
            let got = scatter_reduce_with(x, dim, index, src, reduce, with.clone());
            let is_refused = match reduce {
                "mean" => dtype == DType::Bool,
                "amax" | "amin" => dtype.is_complex(),
                _ => false,
            };
            if is_refused {
                assert!(matches!(error(got).kind(), ErrorKind::DTypeNotSupported { .. }), "{reduce} {what}");
                continue;
            }
            let want = meeting.combined(include_self, |all| {
                let all: Vec<i64> = all.iter().map(|x| x.to_i64()).collect();
                let (sum, n) = (all.iter().sum::<i64>(), all.len() as i64);
                Scalar::Int(match reduce {
                    "sum" => sum,
                    "prod" => all.iter().product(),
                    "mean" if dtype.is_floating() || dtype.is_complex() => {
                        return Scalar::Float(sum as f64 / n as f64);
                    }
                    "mean" => sum.div_euclid(n),
                    "amax" => all.iter().copied().max().unwrap_or(0),
                    _ => all.iter().copied().min().unwrap_or(0),
                })
            });
            let got = values(&got.unwrap());
            let wraps = |x: i64| if dtype.size() == 1 { x & 255 } else { x };
            for (got, want) in got.iter().zip(&want) {
                let near = match want {
                    Scalar::Float(want) => (got.to_complex().re - want).abs() <= 0.02,
                    _ if dtype == DType::Bool => (got.to_i64() != 0) == (want.to_i64() != 0),
                    _ => wraps(got.to_i64()) == wraps(want.to_i64()),
                };
                assert!(near, "{reduce} {include_self} {what}: {got:?}, {want:?}");
            }
        }
    }
}

#[test]
fn put_reads_and_writes_in_row_major_order() {
    let mut random = Random::new(33);
    let dtypes = [DType::Bool, DType::U8, DType::F16, DType::F32, DType::C128];
    // Of the larger one few elements are written, so that it is not moved as a whole.
    for (dtype, sizes) in dtypes.into_iter().flat_map(|dtype| [&[3, 4][..], &[6, 5, 4]].map(|sizes| (dtype, sizes))) {
        for layout in Layout::WRITABLE {
            let x = small(dtype, layout, sizes, &mut random);
            let n = x.numel() as i64;
            let source = small(dtype, layout, &[2, 3], &mut random);
            let index = random_indices(DType::I64, layout, &[2, 3], (-n, n), &mut random);
            let mut meeting = Meeting::of(&x);
            for (at, value) in values(&index).iter().zip(values(&source)) {
                let place = at.to_i64().rem_euclid(n) as usize;
                meeting.met[place].push(value);
            }
            assert_eq!(values(&ops::put(&x, &index, &source).unwrap()), meeting.last());
            let add = Put { accumulate: true, ..Default::default() };
            // An index of other sizes, in the same order.
            let other = ops::reshape(&index, 6).unwrap();
            let got = put_with(&x, &other, &source, add).unwrap();
            assert_eq!(as_ints(&got), wrapped(&meeting.sum(), dtype));
            let mut y = small(dtype, layout, sizes, &mut random);
            y.copy_from(&x).unwrap();
            put_(&mut y, &index, &source).unwrap();
            assert_eq!(values(&y), meeting.last());
        }
    }
}

/// Threads share calls of this size where slices lie apart; the sums are those of one thread.
#[test]
fn large_calls_add_as_small_ones() {
    let mut random = Random::new(34);
    let (rows, columns) = (300, 700);
    let x = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[7, columns]).unwrap();
    let source = random_tensor(DType::F32, Layout::Contiguous, &[rows, columns], &mut random);
    let index = random_indices(DType::I64, Layout::Contiguous, &[rows, columns], (0, 7), &mut random);
    let (at, from) = (Elements::of(&index), Elements::of(&source));
    let mut want = vec![0.0f32; 7 * columns as usize];
    each(&[rows, columns], |p| {
        want[at.index(p, 7) * columns as usize + p[1]] += from.get(p).to_f64() as f32;
        Scalar::Int(0)
    });
    assert_eq!(scatter_add(&x, 0, &index, &source).unwrap().to_vec::<f32>().unwrap(), want);
    let narrow = ops::select(&index, 1, 0).unwrap();
    let mut want = vec![0.0f32; 7 * columns as usize];
    each(&[rows, columns], |p| {
        want[at.index(&[p[0], 0], 7) * columns as usize + p[1]] += from.get(p).to_f64() as f32;
        Scalar::Int(0)
    });
    assert_eq!(index_add(&x, 0, &narrow, &source).unwrap().to_vec::<f32>().unwrap(), want);
}

#[test]
fn sizes_beside_a_zero_may_be_as_large_as_they_like() {
    let sizes = [i64::MAX, 1 << 42, 0];
    let index = Tensor::<Cpu>::zeroed(DType::I64, &sizes, &[1, 1, 1], 0).unwrap();
    let one = || Tensor::<Cpu>::zeroed(DType::F32, &[1, 1, 1], &[1, 1, 1], 0).unwrap();
    let (mut x, values) = (one(), one());
    // No element is scattered, whether that is refused or not; nothing overflows on the way.
    let _ = ops::scatter_(&mut x, 1, &index, &values);
    let _ = ops::scatter_reduce_(&mut x, 1, &index, &values, "sum");
    assert_eq!(x.to_vec::<f32>().unwrap(), [0.0]);
}

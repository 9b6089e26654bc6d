//! Several thousand random calls against a naive twin that computes element by element on numbers.

use super::formulas::{Axpy, T, axpy, axpy_, axpy_out, numbers};
use monomorph_core::structured::Operand;
use monomorph_core::{Complex64, DType, Device, Element, Geometry, Kind, Scalar, Strided, Tensor, with_element};
use monomorph_cpu::Cpu;
use monomorph_ops::pointwise::{PointwiseFn, Rule};

/// A pseudo-random sequence (Marsaglia's xorshift64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<X: Copy>(&mut self, from: &[X]) -> X {
        from[self.below(from.len())]
    }

    /// A tensor of small values: any order of dimensions, gaps, an offset, perhaps expanded dimensions and lazy bits.
    fn tensor(&mut self, dtype: DType, sizes: &[i64], expand: bool) -> T {
        let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
        if self.one_in(2) {
            for i in (1..order.len()).rev() {
                order.swap(i, self.below(i + 1));
            }
        }
        let gaps = self.one_in(3);
        let mut strides = vec![0; sizes.len()];
        let mut next = if gaps { 1 + self.below(2) as i64 } else { 1 };
        for d in order {
            if expand && self.one_in(6) {
                continue;
            }
            strides[d] = next;
            next *= sizes[d].max(1) + if gaps { self.below(2) as i64 } else { 0 };
        }
        let offset = if self.one_in(3) { self.below(5) as i64 } else { 0 };
        let geometry = Geometry::new(dtype, sizes, &strides, offset).unwrap();
        let geometry = geometry.with_conj(self.one_in(3)).with_neg(dtype != DType::Bool && self.one_in(6));
        let bytes = geometry.bytes_needed().unwrap();
        let elements = bytes / dtype.size() + 3;
        with_element!(dtype, E => {
            let data: Vec<E> = (0..elements)
                .map(|_| {
                    let (re, im) = (self.below(4) as f64, self.below(4) as f64);
                    E::from_scalar(Scalar::Complex(Complex64::new(re, if dtype.is_complex() { im } else { 0.0 })))
                })
                .collect();
            Tensor::<Cpu>::from_slice(&data, [elements as i64]).unwrap().with_geometry(geometry).unwrap()
        })
    }

    fn sizes(&mut self) -> Vec<i64> {
        let ndim = self.below(5);
        let long = self.one_in(4);
        (0..ndim)
            .map(
                |d| {
                    if long && d == ndim - 1 {
                        self.pick(&[70, 129, 700])
                    } else {
                        self.pick(&[0, 1, 2, 3, 5, 7, 3, 2])
                    }
                },
            )
            .collect()
    }

    /// Sizes that broadcast to `sizes`.
    fn narrower(&mut self, sizes: &[i64]) -> Vec<i64> {
        if self.one_in(2) {
            return sizes.to_vec();
        }
        let skip = self.below(sizes.len() + 1);
        sizes[skip..].iter().map(|&s| if self.one_in(3) { 1 } else { s }).collect()
    }
}

/// A number in `dtype`, as PyTorch converts it there.
fn convert(x: Scalar, dtype: DType) -> Scalar {
    // Integers convert by wrapping, whatever the source; nothing here is out of int64's range.
    with_element!(dtype, E => E::from_scalar(x).to_scalar())
}

fn naive_axpy(a: Scalar, b: Scalar, alpha: i64, compute: DType) -> Scalar {
    let (a, b, alpha) = (convert(a, compute), convert(b, compute), convert(Scalar::Int(alpha), compute));
    let sum = match compute.kind() {
        Kind::Bool => Scalar::Bool(a.to_bool() | (alpha.to_bool() & b.to_bool())),
        Kind::Int => Scalar::Int(a.to_i64() + alpha.to_i64() * b.to_i64()),
        Kind::Float => Scalar::Float(a.to_f64() + alpha.to_f64() * b.to_f64()),
        Kind::Complex => Scalar::Complex(a.to_complex() + alpha.to_complex() * b.to_complex()),
    };
    convert(sum, compute)
}

/// The elements of `t` broadcast to `sizes`.
fn broadcast(t: &T, sizes: &[i64]) -> Vec<Scalar> {
    let missing = sizes.len() - t.ndim();
    let strides = |d: usize| if d < missing || t.sizes()[d - missing] == 1 { 0 } else { t.strides()[d - missing] };
    let strides: Vec<i64> = (0..sizes.len()).map(strides).collect();
    let geometry = Geometry::new(t.dtype(), sizes, &strides, t.offset()).unwrap();
    numbers(&t.with_geometry(geometry.with_conj(t.is_conj()).with_neg(t.is_neg())).unwrap())
}

fn same(a: Scalar, b: Scalar) -> bool {
    // Zeroes may differ in sign: negating is lazy on one side.
    a.to_complex() == b.to_complex()
}

#[test]
fn random_calls_equal_a_naive_loop() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut seen = [0; 4];
    for case in 0..6000 {
        let sizes = random.sizes();
        let dtype = random.pick(&DType::ALL);
        let other = if random.one_in(2) { dtype } else { random.pick(&DType::ALL) };
        let alpha = random.below(3) as i64;
        let narrow = random.narrower(&sizes);
        let (a, b) = (random.tensor(dtype, &sizes, true), random.tensor(other, &narrow, true));
        let number = random.one_in(6).then(|| random.pick(&[Scalar::Int(3), Scalar::Float(2.0), Scalar::Bool(true)]));
        let b_operand = || number.map_or(Operand::from(&b), Operand::from);
        let half = matches!(dtype, DType::F16 | DType::BF16);
        let is_complex32 = half && other.is_complex() && narrow.is_empty() && !sizes.is_empty();
        if is_complex32 && number.is_none() {
            // PyTorch's dtype of these is complex32.
            assert!(axpy(&a, &b, alpha).is_err(), "case {case}: {dtype} {other}");
            continue;
        }
        let reference = axpy(&a, b_operand(), alpha).unwrap();
        let compute = reference.dtype();
        let left = numbers(&a);
        let right = match number {
            Some(x) => vec![x; left.len()],
            None => broadcast(&b, &sizes),
        };
        let want: Vec<_> = left.iter().zip(&right).map(|(&x, &y)| naive_axpy(x, y, alpha, compute)).collect();
        let check = |got: &T, what: &str| {
            let want: Vec<_> = want.iter().map(|&x| convert(x, got.dtype())).collect();
            let got_numbers = numbers(got);
            let equal = got_numbers.len() == want.len() && got_numbers.iter().zip(&want).all(|(&x, &y)| same(x, y));
            assert!(
                equal,
                "case {case}, {what}: {dtype} {other} {number:?} -> {compute} {}\na {:?}\nb {:?}\nout {:?}\n got \
                    {got_numbers:?}\nwant {want:?}",
                got.dtype(),
                a.geometry(),
                b.geometry(),
                got.geometry(),
            );
        };
        check(&reference, "functional");
        seen[0] += 1;

        let to = random.pick(&DType::ALL);
        if compute.can_cast(to) {
            let mut out = random.tensor(to, &sizes, false);
            axpy_out(&a, b_operand(), alpha, &mut out).unwrap();
            check(&out, "out=");
            seen[1] += 1;
        }
        if compute.can_cast(dtype) && number.is_none() {
            let mut this = random.tensor(dtype, &sizes, false);
            copy(&mut this, &a);
            axpy_(&mut this, Some(&b), alpha).unwrap();
            check(&this, "in-place");
            seen[2] += 1;
        }
        if other == compute && narrow == sizes && number.is_none() {
            // The second operand is the output.
            let mut this = random.tensor(other, &sizes, false);
            copy(&mut this, &b);
            let alias = this.clone();
            axpy_out(&a, &alias, alpha, &mut this).unwrap();
            check(&this, "out= second operand");
            seen[3] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 500), "{seen:?}");
    assert!(Axpy::RULE.flags() == Rule::BINARY.flags());
}

/// `to = from` through the device's copy.
fn copy(to: &mut T, from: &T) {
    fn side(t: &T) -> Strided<'_> {
        // SAFETY: the tests below use the pointer while both tensors live and nobody else uses them.
        let data = unsafe { t.as_operand().data() };
        Strided { data, strides: t.strides(), dtype: t.dtype(), conj: t.is_conj(), neg: t.is_neg() }
    }
    // SAFETY: C1: both tensors are valid and only this thread uses them. C2: they have their own storages, and no test
    // copies to a tensor that overlaps itself.
    unsafe { Cpu::copy(0, to.sizes(), side(to), side(from)) }.unwrap();
}

#[test]
fn random_copies_convert_every_pair_of_dtypes() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    for case in 0..4000 {
        let sizes = random.sizes();
        let (from, to) = (DType::ALL[case % 12], DType::ALL[case / 12 % 12]);
        let source = random.tensor(from, &sizes, true);
        let mut target = random.tensor(to, &sizes, false);
        copy(&mut target, &source);
        let want: Vec<_> = numbers(&source).into_iter().map(|x| convert(x, to)).collect();
        let got = numbers(&target);
        assert!(
            got.len() == want.len() && got.iter().zip(&want).all(|(&x, &y)| same(x, y)),
            "case {case}: {:?} -> {:?}\n got {got:?}\nwant {want:?}",
            source.geometry(),
            target.geometry(),
        );
    }
}

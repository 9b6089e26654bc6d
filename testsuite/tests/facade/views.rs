//! Views against a naive model that knows no strides: a list of storage offsets, one for each index in row-major order. And
//! the operators that may be views: reshape, contiguous, to.

use monomorph::{AnyTensor, Cpu, DType, IValue, Meta, Tensor, call};
use monomorph_testsuite::layout::{Layout, Random, tensor, values};
use monomorph_testsuite::naive::each_index;

/// What a tensor is, without strides.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    sizes: Vec<i64>,
    offsets: Vec<i64>,
}

impl Model {
    fn of(t: &AnyTensor) -> Model {
        let mut offsets = Vec::new();
        let place = |index: &[i64]| index.iter().zip(t.strides()).map(|(i, s)| i * s).sum::<i64>() + t.offset();
        each_index(t.sizes(), |index| offsets.push(place(index)));
        Model { sizes: t.sizes().to_vec(), offsets }
    }

    /// The model of other sizes, in which each index stands for an index of this one.
    fn map(&self, sizes: Vec<i64>, old: impl Fn(&[i64]) -> Vec<i64>) -> Model {
        let mut offsets = Vec::new();
        each_index(&sizes, |index| {
            let place = old(index).iter().zip(&self.sizes).fold(0, |place, (i, size)| place * size + i);
            offsets.push(self.offsets[place as usize]);
        });
        Model { sizes, offsets }
    }

    fn dim(&self, dim: i64) -> Option<usize> {
        let n = (self.sizes.len() as i64).max(1);
        (-n..n).contains(&dim).then(|| dim.rem_euclid(n) as usize)
    }

    fn permute(&self, dims: &[i64]) -> Option<Model> {
        let n = self.sizes.len();
        let dims: Vec<usize> = dims.iter().map(|&d| self.dim(d).filter(|&d| d < n)).collect::<Option<_>>()?;
        let mut sorted = dims.clone();
        sorted.sort_unstable();
        if sorted != (0..n).collect::<Vec<_>>() {
            return None;
        }
        let sizes = dims.iter().map(|&d| self.sizes[d]).collect();
        let old = |index: &[i64]| (0..n).map(|d| index[dims.iter().position(|&p| p == d).unwrap_or(0)]).collect();
        Some(self.map(sizes, old))
    }

    fn transpose(&self, a: i64, b: i64) -> Option<Model> {
        let (a, b) = (self.dim(a)?, self.dim(b)?);
        let mut dims: Vec<i64> = (0..self.sizes.len() as i64).collect();
        if !dims.is_empty() {
            dims.swap(a, b);
        }
        self.permute(&dims)
    }

    fn expand(&self, sizes: &[i64]) -> Option<Model> {
        let lead = sizes.len().checked_sub(self.sizes.len())?;
        let fit = |(d, &want): (usize, &i64)| match d.checked_sub(lead).map(|d| self.sizes[d]) {
            Some(old) if want == -1 || want == old => Some(old),
            Some(1) | None if want >= 0 => Some(want),
            _ => None,
        };
        let sizes: Vec<i64> = sizes.iter().enumerate().map(fit).collect::<Option<_>>()?;
        let old =
            |index: &[i64]| index[lead..].iter().zip(&self.sizes).map(|(&i, &s)| if s == 1 { 0 } else { i }).collect();
        Some(self.map(sizes, old))
    }

    fn view(&self, sizes: &[i64]) -> Option<Model> {
        let numel = self.offsets.len() as i64;
        let known: i64 = sizes.iter().filter(|&&s| s != -1).product();
        let free = sizes.iter().filter(|&&s| s == -1).count();
        let inferred = match free {
            0 => 1,
            1 if known != 0 && numel % known == 0 => numel / known,
            _ => return None,
        };
        let sizes: Vec<i64> = sizes.iter().map(|&s| if s == -1 { inferred } else { s }).collect();
        let fits = sizes.iter().all(|&s| s >= 0) && sizes.iter().product::<i64>() == numel;
        fits.then(|| Model { sizes, offsets: self.offsets.clone() })
    }

    fn squeeze(&self, dims: impl Fn(usize) -> bool) -> Model {
        let keep = |d: &usize| !(dims(*d) && self.sizes[*d] == 1);
        let kept: Vec<usize> = (0..self.sizes.len()).filter(keep).collect();
        Model { sizes: kept.iter().map(|&d| self.sizes[d]).collect(), offsets: self.offsets.clone() }
    }

    fn unsqueeze(&self, dim: i64) -> Option<Model> {
        let n = self.sizes.len() as i64 + 1;
        let at = (-n..n).contains(&dim).then(|| dim.rem_euclid(n) as usize)?;
        let mut sizes = self.sizes.clone();
        sizes.insert(at, 1);
        Some(Model { sizes, offsets: self.offsets.clone() })
    }

    fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Option<Model> {
        let d = self.dim(dim).filter(|_| !self.sizes.is_empty() && step > 0)?;
        let size = self.sizes[d];
        let end_of = |i: i64| if i < 0 { (i + size).max(0) } else { i.min(size) };
        let taken: Vec<i64> =
            (end_of(start.unwrap_or(0))..end_of(end.unwrap_or(size))).step_by(step as usize).collect();
        let mut sizes = self.sizes.clone();
        sizes[d] = taken.len() as i64;
        let old = |index: &[i64]| {
            let mut index = index.to_vec();
            index[d] = taken[index[d] as usize];
            index
        };
        Some(self.map(sizes, old))
    }

    fn select(&self, dim: i64, index: i64) -> Option<Model> {
        let d = self.dim(dim).filter(|_| !self.sizes.is_empty())?;
        let size = self.sizes[d];
        let at = (-size..size).contains(&index).then(|| index.rem_euclid(size))?;
        let one = self.slice(d as i64, Some(at), Some(at + 1), 1)?;
        Some(one.squeeze(|e| e == d))
    }

    fn narrow(&self, dim: i64, start: i64, length: i64) -> Option<Model> {
        let d = self.dim(dim).filter(|_| !self.sizes.is_empty())?;
        let size = self.sizes[d];
        let start = if (-size..0).contains(&start) { start + size } else { start };
        let inside = length >= 0 && (0..=size).contains(&start) && start + length <= size;
        inside.then(|| self.slice(d as i64, Some(start), Some(start + length), 1))?
    }

    /// True if some strides reach these offsets.
    fn has_strides(&self) -> bool {
        let n = self.sizes.len();
        let row_major = |d: usize| self.sizes[d + 1..].iter().product::<i64>() as usize;
        let Some(&first) = self.offsets.first() else { return true };
        let stride = |d: usize| if self.sizes[d] > 1 { self.offsets[row_major(d)] - first } else { 0 };
        let strides: Vec<i64> = (0..n).map(stride).collect();
        let (mut k, mut same) = (0, strides.iter().all(|&s| s >= 0));
        each_index(&self.sizes, |index| {
            same &= self.offsets[k] == first + index.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>();
            k += 1;
        });
        same
    }
}

/// One random view: its name, its arguments behind `self`, and what the model says.
fn step(model: &Model, random: &mut Random) -> (&'static str, Vec<IValue>, Option<Model>) {
    let n = model.sizes.len() as i64;
    let dim = |random: &mut Random| random.below(n as usize * 2 + 3) as i64 - n - 1;
    let small = |random: &mut Random| random.below(9) as i64 - 3;
    let ints = |list: &[i64]| IValue::Ints(list.to_vec());
    match random.below(10) {
        0 => {
            let mut sizes: Vec<i64> = match random.below(3) {
                0 => vec![model.offsets.len() as i64],
                1 => model.sizes.iter().rev().copied().collect(),
                _ => model.sizes.clone(),
            };
            if random.one_in(2) && !sizes.is_empty() {
                let at = random.below(sizes.len());
                sizes[at] = -1;
            }
            if random.one_in(3) {
                sizes.insert(random.below(sizes.len() + 1), random.pick(&[1, 2, -1, 0]));
            }
            if sizes.len() > 1 && random.one_in(2) {
                let last = sizes.pop().unwrap_or(1);
                if let Some(s) = sizes.last_mut() {
                    *s *= last;
                }
            }
            ("view", vec![ints(&sizes)], model.view(&sizes))
        }
        1 => {
            let mut dims: Vec<i64> = (0..n).collect();
            for i in (1..dims.len()).rev() {
                dims.swap(i, random.below(i + 1));
            }
            if random.one_in(5) && n > 0 {
                dims[random.below(n as usize)] = dim(random);
            }
            ("permute", vec![ints(&dims)], model.permute(&dims))
        }
        2 => {
            let (a, b) = (dim(random), dim(random));
            ("transpose.int", vec![IValue::Int(a), IValue::Int(b)], model.transpose(a, b))
        }
        3 => {
            let mut sizes: Vec<i64> =
                model.sizes.iter().map(|&s| if s == 1 { 2 } else { random.pick(&[s, s, s, -1]) }).collect();
            if random.one_in(4) {
                sizes.insert(0, random.pick(&[2, 1, -1, 0]));
            }
            ("expand", vec![ints(&sizes)], model.expand(&sizes))
        }
        4 => ("squeeze", Vec::new(), Some(model.squeeze(|_| true))),
        5 => {
            let d = dim(random);
            ("squeeze.dim", vec![IValue::Int(d)], model.dim(d).map(|d| model.squeeze(|e| e == d)))
        }
        6 => {
            let d = dim(random);
            ("unsqueeze", vec![IValue::Int(d)], model.unsqueeze(d))
        }
        7 => {
            let (d, i) = (dim(random), small(random));
            ("select.int", vec![IValue::Int(d), IValue::Int(i)], model.select(d, i))
        }
        8 => {
            let (d, step) = (dim(random), small(random));
            let end = |random: &mut Random| (!random.one_in(3)).then(|| small(random));
            let (start, end) = (end(random), end(random));
            let value = |i: Option<i64>| i.map_or(IValue::None, IValue::Int);
            let args = vec![IValue::Int(d), value(start), value(end), IValue::Int(step)];
            ("slice.Tensor", args, model.slice(d, start, end, step))
        }
        _ => {
            let (d, start, length) = (dim(random), small(random), small(random));
            let args = vec![IValue::Int(d), IValue::Int(start), IValue::Int(length)];
            ("narrow", args, model.narrow(d, start, length))
        }
    }
}

fn run(name: &str, this: &AnyTensor, args: &[IValue]) -> monomorph::Result<AnyTensor> {
    let mut stack = vec![IValue::Tensor(this.clone())];
    stack.extend(args.iter().cloned());
    call(name, &mut stack)?;
    match stack.pop() {
        Some(IValue::Tensor(t)) => Ok(t),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn chains_of_views_reach_the_elements_that_the_model_names() {
    let mut random = Random::new(3);
    let (mut made, mut refused) = (0, 0);
    for chain in 0..3000 {
        let sizes: Vec<i64> = (0..random.below(5)).map(|_| random.pick(&[1, 2, 3, 1, 4, 0])).collect();
        let geometry = random.pick(&Layout::ALL).geometry(DType::F32, &sizes);
        let zero = [monomorph::Scalar::Int(0)];
        let mut real = tensor(geometry.clone(), &zero).into_any();
        let bytes = real.storage_bytes() as i64;
        let mut dry =
            Tensor::<Meta>::zeroed(DType::U8, &[bytes], &[1], 0).unwrap().view_as(geometry).unwrap().into_any();
        for _ in 0..5 {
            let model = Model::of(&real);
            let (name, args, want) = step(&model, &mut random);
            let what = format!("chain {chain}: {name}{args:?} of {:?}", real.geometry());
            let (got, meta) = (run(name, &real, &args), run(name, &dry, &args));
            match (got, meta, want) {
                (Ok(got), Ok(meta), Some(want)) => {
                    made += 1;
                    assert_eq!(Model::of(&got), want, "{what}");
                    assert_eq!(got.storage_id(), real.storage_id(), "{what}: another storage");
                    assert_eq!((got.strides(), got.offset()), (meta.strides(), meta.offset()), "{what}: meta");
                    if got.numel() <= 1000 && got.ndim() < 8 {
                        (real, dry) = (got, meta);
                    }
                }
                (Err(got), Err(meta), want) => {
                    refused += 1;
                    assert_eq!(got, meta, "{what}");
                    let possible = want.is_some_and(|want| want.has_strides());
                    assert!(!possible, "{what}: {got}, but there are such strides");
                }
                (got, meta, want) => panic!("{what}: {got:?}, meta {meta:?}, want {want:?}"),
            }
        }
    }
    assert!(made > 5000 && refused > 1000, "{made} views, {refused} errors");
}

#[test]
fn reshape_keeps_the_elements_and_copies_only_where_it_must() {
    let mut random = Random::new(4);
    for layout in Layout::ALL {
        for sizes in [vec![], vec![6], vec![2, 3], vec![2, 3, 4], vec![2, 3, 2, 2], vec![0, 3]] {
            let numbers: Vec<_> = (0..60).map(|i| monomorph::Scalar::Int(i + 1)).collect();
            let t = tensor(layout.geometry(DType::I32, &sizes), &numbers);
            for _ in 0..12 {
                let mut shape: Vec<i64> = sizes.clone();
                if shape.len() > 1 && random.one_in(2) {
                    let last = shape.pop().unwrap_or(1);
                    *shape.last_mut().unwrap() *= last;
                }
                if random.one_in(2) {
                    shape.insert(0, 1);
                }
                let out = monomorph::reshape(&t, &shape).unwrap();
                assert_eq!(out.sizes(), shape);
                assert_eq!(values(&out), values(&t), "{layout:?} {sizes:?} -> {shape:?}");
                let model = Model { sizes: shape.clone(), offsets: Model::of(t.as_any()).offsets };
                assert_eq!(
                    out.storage_id() == t.storage_id(),
                    model.has_strides(),
                    "{layout:?} {sizes:?} -> {shape:?}"
                );
            }
            assert!(monomorph::reshape(&t, &[7, 11]).is_err());
        }
    }
    let t = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[2, 3]).unwrap();
    assert!(monomorph::reshape(&t, &[-1, -1]).is_err() && monomorph::reshape(&t, &[-2, 3]).is_err());
}

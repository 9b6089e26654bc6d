//! Views against a naive model that knows no strides: a list of storage offsets, one for each index in row-major order.
//! And the operators that may be views: reshape, contiguous, to.

use monomorph::ops::{options::*, *};
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

    fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Option<Model> {
        let n = self.sizes.len();
        let (a, b) = (self.dim(dim1).filter(|&a| a < n)?, self.dim(dim2).filter(|&b| b < n)?);
        if a == b {
            return None;
        }
        let on = |i: i64| i - offset.min(0) < self.sizes[a] && i + offset.max(0) < self.sizes[b];
        let length = (0..).take_while(|&i| on(i)).count() as i64;
        let kept: Vec<usize> = (0..n).filter(|&d| d != a && d != b).collect();
        let mut sizes: Vec<i64> = kept.iter().map(|&d| self.sizes[d]).collect();
        sizes.push(length);
        let old = |index: &[i64]| {
            let (at, mut old) = (index[n - 2], vec![0; n]);
            kept.iter().zip(index).for_each(|(&d, &i)| old[d] = i);
            (old[a], old[b]) = (at - offset.min(0), at + offset.max(0));
            old
        };
        Some(self.map(sizes, old))
    }

    fn unfold(&self, dim: i64, size: i64, step: i64) -> Option<Model> {
        let d = self.dim(dim)?;
        let length = self.sizes.get(d).copied().unwrap_or(1);
        if size < 0 || size > length || step <= 0 {
            return None;
        }
        let mut sizes = self.sizes.clone();
        if let Some(windows) = sizes.get_mut(d) {
            *windows = (0..=length - size).step_by(step as usize).count() as i64;
        }
        sizes.push(size);
        let old = |index: &[i64]| {
            let (&within, index) = index.split_last().expect("the window's dimension");
            let mut old = index.to_vec();
            if let Some(i) = old.get_mut(d) {
                *i = *i * step + within;
            }
            old
        };
        Some(self.map(sizes, old))
    }

    fn movedim(&self, source: i64, destination: i64) -> Option<Model> {
        let (from, to) = (self.dim(source)?, self.dim(destination)?);
        let mut dims: Vec<i64> = (0..self.sizes.len() as i64).collect();
        if !dims.is_empty() {
            let moved = dims.remove(from);
            dims.insert(to, moved);
        }
        self.permute(&dims)
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
    match random.below(13) {
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
        9 => {
            let (offset, a, b) = (small(random), dim(random), dim(random));
            ("diagonal", [offset, a, b].map(IValue::Int).to_vec(), model.diagonal(offset, a, b))
        }
        10 => {
            let (d, size, step) = (dim(random), small(random), small(random));
            ("unfold", [d, size, step].map(IValue::Int).to_vec(), model.unfold(d, size, step))
        }
        11 => {
            let (from, to) = (dim(random), dim(random));
            ("movedim.int", [from, to].map(IValue::Int).to_vec(), model.movedim(from, to))
        }
        _ => {
            let (d, start, length) = (dim(random), small(random), small(random));
            let args = vec![IValue::Int(d), IValue::Int(start), IValue::Int(length)];
            ("narrow", args, model.narrow(d, start, length))
        }
    }
}

fn run(name: &str, this: &AnyTensor, args: &[IValue]) -> monomorph::Result<AnyTensor> {
    let mut stack = vec![IValue::from(this.clone())];
    stack.extend(args.iter().cloned());
    call(name, &mut stack)?;
    match stack.pop() {
        Some(IValue::Tensor(t)) => Ok(t.into_tensor()),
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
            Tensor::<Meta>::zeroed(DType::U8, &[bytes], &[1], 0).unwrap().with_geometry(geometry).unwrap().into_any();
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

/// The parts of a dimension, by where each begins and ends.
fn check_parts(t: &Tensor<Cpu>, dim: i64, parts: monomorph::Result<Vec<Tensor<Cpu>>>, ends: &[(i64, i64)]) {
    let (whole, parts) = (Model::of(t.as_any()), parts.unwrap());
    let got: Vec<Model> = parts.iter().map(|part| Model::of(part.as_any())).collect();
    let want: Vec<Model> = ends.iter().map(|&(a, b)| whole.slice(dim, Some(a), Some(b), 1).unwrap()).collect();
    assert_eq!(got, want);
    assert!(parts.iter().all(|part| part.storage_id() == t.storage_id()));
}

#[test]
fn parts_are_slices() {
    let numbers: Vec<_> = (0..70).map(monomorph::Scalar::Int).collect();
    let t = tensor(Layout::Transposed.geometry(DType::I64, &[2, 7, 4]), &numbers);
    check_parts(&t, 1, split_with(&t, 3, Split { dim: 1, ..Default::default() }), &[(0, 3), (3, 6), (6, 7)]);
    check_parts(
        &t,
        -2,
        split_with_sizes_with(&t, [0, 5, 2], SplitWithSizes { dim: -2, ..Default::default() }),
        &[(0, 0), (0, 5), (5, 7)],
    );
    check_parts(&t, 1, chunk_with(&t, 5, Chunk { dim: 1, ..Default::default() }), &[(0, 2), (2, 4), (4, 6), (6, 7)]);
    check_parts(
        &t,
        1,
        tensor_split_with(&t, 3, TensorSplit { dim: 1, ..Default::default() }),
        &[(0, 3), (3, 5), (5, 7)],
    );
    check_parts(
        &t,
        1,
        tensor_split_indices_with(&t, [2, 1, 9, -3], TensorSplitIndices { dim: 1, ..Default::default() }),
        &[(0, 2), (2, 1), (1, 9), (9, -3), (-3, 7)],
    );
    check_parts(&t, 1, hsplit(&t, 7), &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]);
    check_parts(&t, 0, vsplit(&t, 2), &[(0, 1), (1, 2)]);
    check_parts(&t, 2, dsplit_indices(&t, [1]), &[(0, 1), (1, 4)]);
    let rows = unbind(&t, 0).unwrap();
    assert_eq!(values(&rows[1]), values(&monomorph::ops::select(&t, 0, 1).unwrap()));

    // Nothing is shared out, but as often as was asked for.
    let none = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[0]).unwrap();
    assert_eq!(chunk(&none, 3).unwrap().len(), 3);
    assert!(chunk(&none, i64::MAX).is_err() && chunk(&t, 0).is_err() && split(&t, 0).is_err());
    assert!(split_with_sizes(&t, [i64::MAX, i64::MAX]).is_err() && hsplit(&t, 2).is_err());
    assert_eq!(split(&t, i64::MAX).unwrap().len(), 1);
}

#[test]
fn copies_of_views_are_contiguous_and_their_own() {
    let numbers: Vec<_> = (0..70).map(monomorph::Scalar::Int).collect();
    let t = tensor(Layout::Stepped.geometry(DType::I32, &[3, 4]), &numbers);
    let (view, copy) =
        (monomorph::ops::transpose(&t, 0, 1).unwrap(), monomorph::ops::transpose_copy(&t, 0, 1).unwrap());
    assert_eq!((values(&copy), copy.sizes()), (values(&view), view.sizes()));
    assert!(copy.is_contiguous() && copy.storage_id() != t.storage_id());
    let mut stack = vec![t.clone().into(), IValue::Int(1), IValue::Int(0), IValue::Int(1), copy.into()];
    call("diagonal_copy.out", &mut stack).unwrap();
    let [IValue::Tensor(out)] = &stack[..] else { panic!("one result") };
    assert_eq!(out.sizes(), [3]);
    let parts = monomorph::ops::unbind_copy(&t, 1).unwrap();
    assert!(parts.len() == 4 && parts.iter().all(|part| part.storage_id() != t.storage_id()));
}

#[test]
fn parts_of_complex_numbers() {
    let numbers = [(1.0, 2.0), (-3.0, 4.0)].map(|(re, im)| monomorph::Complex32::new(re, im));
    let t = Tensor::<Cpu>::from_slice(&numbers, [2]).unwrap();
    let conj = monomorph::ops::conj(&t).unwrap();
    assert_eq!(monomorph::ops::imag(&t).unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!(monomorph::ops::imag(&conj).unwrap().to_vec::<f32>().unwrap(), [-2.0, -4.0]);
    assert_eq!(monomorph::ops::real(&conj).unwrap().to_vec::<f32>().unwrap(), [1.0, -3.0]);
    assert!(monomorph::ops::view_as_real(&conj).is_err());
    let pairs = monomorph::ops::view_as_real(&monomorph::ops::resolve_conj(&conj).unwrap()).unwrap();
    assert_eq!(pairs.to_vec::<f32>().unwrap(), [1.0, -2.0, -3.0, -4.0]);
    let back = monomorph::ops::view_as_complex(&pairs).unwrap();
    assert_eq!(back.to_vec::<monomorph::Complex32>().unwrap(), numbers.map(|z| z.conj()));
    assert_eq!(back.storage_id(), pairs.storage_id());
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
                let out = monomorph::ops::reshape(&t, &shape).unwrap();
                assert_eq!(out.sizes(), shape);
                assert_eq!(values(&out), values(&t), "{layout:?} {sizes:?} -> {shape:?}");
                let model = Model { sizes: shape.clone(), offsets: Model::of(t.as_any()).offsets };
                assert_eq!(
                    out.storage_id() == t.storage_id(),
                    model.has_strides(),
                    "{layout:?} {sizes:?} -> {shape:?}"
                );
            }
            assert!(monomorph::ops::reshape(&t, [7, 11]).is_err());
        }
    }
    let t = Tensor::<Cpu>::zeros_contiguous(DType::F32, &[2, 3]).unwrap();
    assert!(monomorph::ops::reshape(&t, [-1, -1]).is_err() && monomorph::ops::reshape(&t, [-2, 3]).is_err());
}

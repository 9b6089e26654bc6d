//! `index` and `index_put` by several tensors and masks, against coordinates one by one.

use super::*;
use monomorph::ErrorKind;
use monomorph::crates::core::{AnyTensor, OptionalTensors};
use monomorph::ops::options::IndexPut;
use monomorph::ops::{self, index, index_out, index_put_, index_put_with};

/// Which element of the base each element of the result is, by NumPy's rules, and the sizes of the result.
fn places(sizes: &[i64], indices: &[Option<AnyTensor>]) -> (Vec<i64>, Vec<Vec<usize>>) {
    // Masks as the coordinates of their true elements.
    let mut chosen: Vec<(usize, Vec<i64>, Vec<i64>)> = Vec::new();
    let mut dim = 0;
    for index in indices {
        let Some(t) = index.as_ref().map(|t| t.downcast_ref::<Cpu>().unwrap()) else {
            dim += 1;
            continue;
        };
        let elements = Elements::of(t);
        if t.dtype() == DType::Bool {
            let mut found = vec![Vec::new(); t.ndim()];
            each_index(t.sizes(), |at| {
                let place: Vec<usize> = at.iter().map(|&i| i as usize).collect();
                if elements.get(&place).to_bool() {
                    found.iter_mut().zip(at).for_each(|(list, &i)| list.push(i));
                }
            });
            for list in found {
                chosen.push((dim, vec![list.len() as i64], list));
                dim += 1;
            }
        } else {
            chosen.push((dim, t.sizes().to_vec(), values(t).iter().map(|x| x.to_i64()).collect()));
            dim += 1;
        }
    }
    let ndim = chosen.iter().map(|(_, sizes, _)| sizes.len()).max().unwrap_or(0);
    let mut common = vec![1; ndim];
    for (_, sizes, _) in &chosen {
        for (d, &n) in sizes.iter().enumerate() {
            let at = ndim - sizes.len() + d;
            common[at] = if common[at] == 1 { n } else { common[at] };
        }
    }
    let dims: Vec<usize> = chosen.iter().map(|(d, ..)| *d).collect();
    let adjacent = dims.windows(2).all(|w| w[1] == w[0] + 1);
    let before = if adjacent { dims[0] } else { 0 };
    let rest: Vec<usize> = (0..sizes.len()).filter(|d| !dims.contains(d)).collect();
    let mut result: Vec<i64> = rest.iter().map(|&d| sizes[d]).collect();
    result.splice(before..before, common.iter().copied());
    let mut all = Vec::new();
    each_index(&result, |p| {
        let inner = &p[before..before + ndim];
        let mut outer = p[..before].iter().chain(&p[before + ndim..]);
        let mut place = vec![0; sizes.len()];
        for &d in &rest {
            place[d] = *outer.next().unwrap() as usize;
        }
        for (d, own, list) in &chosen {
            let steps = contiguous_strides(own);
            let skip = ndim - own.len();
            let at: i64 = (0..own.len()).map(|i| if own[i] == 1 { 0 } else { inner[skip + i] * steps[i] }).sum();
            place[*d] = list[at as usize].rem_euclid(sizes[*d]) as usize;
        }
        all.push(place);
    });
    (result, all)
}

/// Random choices of whole dimensions, indices that broadcast, and masks.
fn random_choice(sizes: &[i64], layout: Layout, random: &mut Random) -> Vec<Option<AnyTensor>> {
    let mut all = Vec::new();
    let mut dim = 0;
    let mask_length = 1 + random.below(2);
    // Indices broadcast with what masks give only if those are known; so a choice has either.
    let has_mask = random.below(3) == 0;
    while dim < sizes.len() {
        match random.below(3) {
            0 => all.push(None),
            _ if has_mask && all.iter().all(Option::is_none) && dim + mask_length <= sizes.len() => {
                let of = &sizes[dim..dim + mask_length];
                let n = of.iter().product::<i64>().max(1) as usize;
                let truth: Vec<Scalar> = (0..2 * n).map(|_| Scalar::Bool(random.below(2) == 0)).collect();
                all.push(Some(tensor(layout.geometry(DType::Bool, of), &truth).into_any()));
                dim += mask_length - 1;
            }
            _ if has_mask => all.push(None),
            kind => {
                let of: &[i64] = [&[][..], &[3], &[1], &[2, 3], &[2, 1]][random.below(5)];
                let dtype = INDEX_DTYPES[kind % 2];
                let size = sizes[dim];
                all.push(Some(random_indices(dtype, layout, of, (-size, size), random).into_any()));
            }
        }
        dim += 1;
    }
    all
}

#[test]
fn any_choice_of_any_dimensions() {
    let mut random = Random::new(41);
    for dtype in [DType::Bool, DType::I16, DType::F32, DType::C64, DType::C128] {
        for layout in Layout::WRITABLE {
            for sizes in [&[5][..], &[3, 4], &[2, 3, 4], &[2, 3, 1, 4]] {
                for _ in 0..12 {
                    let indices = random_choice(sizes, layout, &mut random);
                    if indices.iter().all(Option::is_none) {
                        continue;
                    }
                    let x = random_tensor(dtype, layout, sizes, &mut random);
                    let at = OptionalTensors::Some(&indices);
                    let what = format!("{dtype} {layout:?} {sizes:?} {indices:?}");
                    let (want, places) = places(sizes, &indices);
                    let elements = Elements::of(&x);
                    let twin: Vec<Scalar> = places.iter().map(|p| elements.get(p)).collect();
                    let got = index(&x, at).unwrap();
                    assert_eq!((got.sizes(), values(&got)), (&want[..], twin.clone()), "{what}");
                    let mut out = random_tensor(dtype, layout, &want, &mut random);
                    index_out(&x, at, &mut out).unwrap();
                    assert_eq!(values(&out), twin, "out {what}");
                    put(&x, at, &want, &places, &what, &mut random);
                }
            }
        }
    }
}

/// `index_put_` with values that broadcast, the last of which stays, and sums of all.
fn put(x: &Tensor<Cpu>, at: OptionalTensors<'_>, want: &[i64], places: &[Vec<usize>], what: &str, random: &mut Random) {
    let skipped = random.below(want.len() + 1);
    let of: Vec<i64> = want[skipped..].iter().map(|&n| if random.below(3) == 0 { 1 } else { n }).collect();
    let from = random_tensor(x.dtype(), Layout::Transposed, &of, random);
    let expanded = ops::expand(&from, want.to_vec()).unwrap();
    let (before, of_values) = (Elements::of(x), values(&expanded));
    let mut twin = Elements::of(x);
    for (place, &value) in places.iter().zip(&of_values) {
        let at = twin.place(place);
        twin.values[at] = value;
    }
    let mut y = random_tensor(x.dtype(), Layout::Transposed, x.sizes(), random);
    y.copy_from(x).unwrap();
    index_put_(&mut y, at, &from).unwrap();
    assert_eq!(values(&y), twin.values, "index_put_ {what} {of:?}");
    if x.dtype() != DType::I16 {
        return;
    }
    let mut sums: Vec<i64> = before.values.iter().map(|v| v.to_i64()).collect();
    for (place, value) in places.iter().zip(&of_values) {
        let at = before.place(place);
        sums[at] = (sums[at] as i16).wrapping_add(value.to_i64() as i16).into();
    }
    let add = IndexPut { accumulate: true, ..Default::default() };
    let got = index_put_with(x, at, &from, add).unwrap();
    assert_eq!(values(&got).iter().map(|v| v.to_i64()).collect::<Vec<_>>(), sums, "accumulated {what}");
}

fn ints(data: &[i64], sizes: &[i64]) -> Tensor<Cpu> {
    Tensor::<Cpu>::from_slice(data, sizes.to_vec()).unwrap()
}

/// Strides as PyTorch was seen to give them: the walk over base and indices decides.
#[test]
fn strides_of_results_are_those_of_the_walk() {
    let x = ints(&(0..24).collect::<Vec<_>>(), &[2, 3, 4]);
    let turned = ops::permute(&x, (2, 0, 1)).unwrap();
    let (i, j) = (ints(&[0, 1], &[2]).into_any(), ints(&[1, 0], &[2]).into_any());
    let k = ops::transpose(&ints(&[0, 1, 1, 1, 0, 0], &[2, 3]), 0, 1).unwrap().into_any();
    let strides =
        |x: &Tensor<Cpu>, at: &[Option<AnyTensor>]| index(x, OptionalTensors::Some(at)).unwrap().strides().to_vec();
    assert_eq!(strides(&turned, &[Some(i.clone())]), [6, 3, 1]);
    assert_eq!(strides(&turned, &[None, Some(i.clone())]), [1, 4, 8]);
    assert_eq!(strides(&turned, &[Some(i.clone()), None, Some(j.clone())]), [2, 1]);
    assert_eq!(strides(&turned, &[None, None, Some(i.clone())]), [2, 8, 1]);
    assert_eq!(strides(&turned, &[None, Some(i), Some(j)]), [2, 1]);
    assert_eq!(strides(&turned, &[Some(k.clone())]), [6, 18, 3, 1]);
    assert_eq!(strides(&turned, &[None, Some(k.clone())]), [1, 4, 12, 24]);
    assert_eq!(strides(&x, &[None, Some(k.clone())]), [24, 4, 12, 1]);
    assert_eq!(strides(&x, &[None, None, Some(k)]), [18, 6, 1, 3]);
}

/// A wrong index anywhere is an error that names it, and nothing is written.
#[test]
fn wrong_indices_change_nothing() {
    let data: Vec<i64> = (0..12).collect();
    for bad in [3, -4, i64::MAX, i64::MIN, 1 << 40] {
        for place in [0, 511, 512, 699] {
            let mut list = vec![1; 700];
            list[place] = bad;
            let indices = [Some(ints(&[0], &[1]).into_any()), Some(ints(&list, &[700]).into_any())];
            let at = OptionalTensors::Some(&indices);
            let mut x = ints(&data, &[4, 3]);
            let want = ErrorKind::IndexOutOfRange { arg: "indices", got: bad, dim: Some(1), size: 3, low: -3 };
            assert_eq!(error(index(&x, at)).kind(), &want);
            assert_eq!(error(index_put_(&mut x, at, &ints(&[9; 700], &[700]))).kind(), &want);
            assert_eq!(error(index_put_(&mut x, at, &ints(&[9], &[]))).kind(), &want);
            let mut out = ints(&[5], &[1]);
            assert_eq!(error(index_out(&x, at, &mut out)).kind(), &want);
            assert_eq!((x.to_vec::<i64>().unwrap(), out.to_vec::<i64>().unwrap()), (data.clone(), vec![5]));
        }
    }
}

#[test]
fn edges_of_choices_are_pytorchs() {
    let mut x = ints(&(0..12).collect::<Vec<_>>(), &[4, 3]);
    let all = |list: Vec<AnyTensor>| list;
    let mask = |truth: &[bool]| Tensor::<Cpu>::from_slice(truth, [truth.len() as i64]).unwrap().into_any();
    let fails = |x: &Tensor<Cpu>, list: Vec<AnyTensor>| error(index(x, OptionalTensors::All(&list)));
    assert!(matches!(fails(&x, all(vec![mask(&[true; 3])])).kind(), ErrorKind::MaskSizes { .. }));
    assert!(matches!(fails(&x, all(vec![])).kind(), ErrorKind::ArgumentRule { .. }));
    let one = ints(&[0], &[1]).into_any();
    assert!(matches!(fails(&x, vec![one.clone(), one.clone(), one.clone()]).kind(), ErrorKind::ListLength { .. }));
    let halves = Tensor::<Cpu>::from_slice(&[0.0f32], [1]).unwrap().into_any();
    assert!(matches!(fails(&x, vec![halves]).kind(), ErrorKind::DTypeNotSupported { .. }));
    let pair = ints(&[0, 1], &[2]).into_any();
    let triple = ints(&[0, 1, 2], &[3]).into_any();
    assert!(matches!(fails(&x, vec![pair.clone(), triple]).kind(), ErrorKind::Broadcast { .. }));
    let hollow = ints(&[], &[0, 3]);
    assert!(fails(&hollow, vec![one.clone()]).to_string().contains("size 0"));
    let far = ints(&[9], &[1]).into_any();
    let at = [None, Some(far)];
    assert_eq!(index(&hollow, OptionalTensors::Some(&at)).unwrap().sizes(), [0, 1]);
    // A number of another dtype, where a single mask chooses.
    let truth = [mask(&[true, false, false, true])];
    let float = Tensor::<Cpu>::from_slice(&[7.5f64], [1]).unwrap();
    index_put_(&mut x, OptionalTensors::All(&truth), &float).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [7, 7, 7, 3, 4, 5, 6, 7, 8, 7, 7, 7]);
    let add = IndexPut { accumulate: true, ..Default::default() };
    assert!(index_put_with(&x, OptionalTensors::All(&truth), &float, add).is_err());
    let part = ops::narrow(&x, 0, 0, 1).unwrap();
    let shared = error(index_put_(&mut x, OptionalTensors::All(&[one]), &part));
    assert!(matches!(shared.kind(), ErrorKind::Overlap { .. }), "{shared}");
}

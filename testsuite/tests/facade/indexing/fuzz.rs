//! Hostile indices: any number at any place, in any layout. A call gives what the loops give, or is an error and has
//! changed nothing.

use super::*;
use monomorph::crates::core::{AnyTensor, OptionalTensors};
use monomorph::ops;

/// Numbers at which checks go wrong: ends of ranges, of types, and of products with sizes.
fn hostile(size: i64, random: &mut Random) -> i64 {
    let ends = [
        -1,
        size,
        -size - 1,
        i64::MAX,
        i64::MIN,
        i64::MIN + 1,
        1 << 32,
        -(1 << 32),
        1 << 61,
        i64::MAX / size.max(1),
        i64::MAX / 8 + 1,
    ];
    ends[random.below(ends.len())]
}

/// Indices that are in range, but one in several.
fn indices(layout: Layout, sizes: &[i64], size: i64, random: &mut Random) -> Tensor<Cpu> {
    let n = 2 * sizes.iter().product::<i64>().max(1) as usize;
    let rare = 1 + random.below(40);
    let one = |_| match random.below(rare + 1) {
        0 => hostile(size, random),
        _ => random.below(size.max(1) as usize) as i64,
    };
    let list: Vec<Scalar> = (0..n).map(one).map(Scalar::Int).collect();
    tensor(layout.geometry(DType::I64, sizes), &list)
}

#[test]
fn whatever_the_indices_nothing_breaks() {
    let mut random = Random::new(71);
    let (mut good, mut bad) = (0, 0);
    for round in 0..3000 {
        let layout = Layout::WRITABLE[round % Layout::WRITABLE.len()];
        let dtype = DType::ALL[random.below(DType::ALL.len())];
        let sizes: Vec<i64> = (0..1 + random.below(3)).map(|_| random.below(5) as i64).collect();
        let dim = random.below(sizes.len());
        let size = sizes[dim];
        let n = random.below(6) as i64;
        let mut x = random_tensor(dtype, layout, &sizes, &mut random);
        let before = (values(&x), x.strides().to_vec());
        let index = indices(layout, &[n], size, &mut random);
        let mut of = sizes.clone();
        of[dim] = n;
        let whole = indices(layout, &of, size, &mut random);
        let source = random_tensor(dtype, layout, &of, &mut random);
        let flat = indices(layout, &[n], x.numel() as i64, &mut random);
        let line = random_tensor(dtype, layout, &[n], &mut random);
        let mut list: Vec<Option<AnyTensor>> = vec![None; dim];
        list.push(Some(index.clone().into_any()));
        let at = OptionalTensors::Some(&list);
        let in_range =
            |t: &Tensor<Cpu>, low: i64, high: i64| values(t).iter().all(|i| (low..high).contains(&i.to_i64()));
        let d = dim as i64;
        // Reads give an error just where an index is out of range.
        let read = ops::gather(&x, d, &whole);
        assert_eq!(read.is_ok(), in_range(&whole, 0, size), "gather {sizes:?} {dim} {whole:?}");
        let read = ops::index_select(&x, d, &index);
        assert_eq!(read.is_ok(), in_range(&index, 0, size), "index_select {sizes:?} {dim} {index:?}");
        let read = ops::take(&x, &flat);
        assert_eq!(read.is_ok(), in_range(&flat, -(x.numel() as i64), x.numel() as i64), "take {flat:?}");
        let _ = ops::index(&x, at);
        // Writes that are an error have changed nothing.
        let operation = random.below(8);
        let done = match operation {
            0 => ops::index_add_(&mut x, d, &index, &source).map(drop),
            1 => ops::index_copy_(&mut x, d, &index, &source).map(drop),
            2 => ops::index_fill_(&mut x, d, &index, 1).map(drop),
            3 => ops::scatter_(&mut x, d, &whole, &source).map(drop),
            4 => ops::scatter_add_(&mut x, d, &whole, &source).map(drop),
            5 => ops::scatter_reduce_(&mut x, d, &whole, &source, "prod").map(drop),
            6 => ops::put_(&mut x, &flat, &line).map(drop),
            _ => ops::index_put_(&mut x, at, &ops::narrow(&line, 0, 0, n.min(1)).unwrap()).map(drop),
        };
        match done {
            Ok(()) => good += 1,
            Err(_) => {
                bad += 1;
                assert_eq!((values(&x), x.strides().to_vec()), before, "operation {operation} of {sizes:?} wrote");
            }
        }
    }
    assert!(good > 500 && bad > 200, "{good} calls and {bad} errors: the test tests nothing");
}

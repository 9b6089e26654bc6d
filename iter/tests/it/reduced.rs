//! The shortcut of reductions against the stages: random shapes and dimensions.

use crate::fuzz::Rng;
use monomorph_core::{DType, Geometry};
use monomorph_iter::{Config, Flags, TensorIter, View, build_over, build_reduction};

/// The plan of the stages for new outputs of these dtypes.
fn in_stages(input: &Geometry, outputs: &[DType], is_reduced: &[bool]) -> TensorIter {
    let kept: Vec<i64> = input.sizes().iter().zip(is_reduced).filter(|&(_, &r)| !r).map(|(&size, _)| size).collect();
    let made = Geometry::contiguous(DType::F32, &kept).unwrap();
    let mut places = made.sizes().iter().zip(made.strides());
    let back = |&reduced: &bool| if reduced { (1, 0) } else { places.next().map(|(&n, &s)| (n, s)).unwrap() };
    let (sizes, strides): (Vec<i64>, Vec<i64>) = is_reduced.iter().map(back).unzip();
    let views: Vec<View<'_>> = outputs.iter().map(|&dtype| View::new(dtype, &sizes, &strides)).collect();
    let config = Config::new(Flags::REDUCE_2.with_device_check(false));
    build_over(&config, &views, &[View::new(input.dtype(), input.sizes(), input.strides())]).unwrap()
}

#[test]
fn reductions_of_row_major_tensors_are_planned_as_in_stages() {
    let mut rng = Rng(11);
    let mut taken = 0;
    for case in 0..20_000 {
        let sizes: Vec<i64> =
            (0..rng.below(8)).map(|_| [1, 1, 2, 3, 5, 0][rng.below(if case % 8 == 0 { 6 } else { 5 })]).collect();
        let is_reduced: Vec<bool> = sizes.iter().map(|_| rng.chance(50)).collect();
        let dtypes = [DType::F32, DType::I64, DType::Bool, DType::C64];
        let input = Geometry::contiguous(dtypes[rng.below(4)], &sizes).unwrap();
        let outputs: Vec<DType> = (0..=rng.below(2)).map(|_| dtypes[rng.below(4)]).collect();
        let mut plan = TensorIter::default();
        if build_reduction(&input, &outputs, &is_reduced, &mut plan) {
            taken += 1;
            assert_eq!(plan, in_stages(&input, &outputs, &is_reduced), "{sizes:?} {is_reduced:?} {outputs:?}");
        } else {
            assert_eq!(plan, TensorIter::default(), "{sizes:?} {is_reduced:?} {outputs:?}");
        }
    }
    assert!(taken > 8_000, "{taken} of 20000 calls take the shortcut");
}

#[test]
fn other_tensors_are_left_to_the_stages() {
    let transposed = Geometry::new(DType::F32, &[2, 3], &[1, 2], 0).unwrap();
    let conjugate = Geometry::contiguous(DType::C64, &[2, 3]).unwrap().with_conj(true);
    for input in [transposed, conjugate] {
        assert!(!build_reduction(&input, &[DType::F32], &[true, true], &mut TensorIter::default()));
    }
}

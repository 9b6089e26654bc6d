//! Small planes that are computed several at a time: the same bits as with operands that are laid out in full, for
//! every size of elements, any place of the broadcast dimensions, in place, with out= and on several threads.

use monomorph::ops;
use monomorph::prelude::*;
use monomorph_testsuite::layout::Random;

/// A tensor of these sizes in which no row is like another.
fn ramp(dtype: DType, sizes: &[i64]) -> Tensor<Cpu> {
    let numel: i64 = sizes.iter().product();
    ops::arange(numel).and_then(|t| t.remainder(97)?.sub(20)?.reshape(sizes)?.to(dtype)).unwrap()
}

fn bytes(t: &Tensor<Cpu>) -> Vec<u8> {
    t.contiguous().and_then(|t| t.storage_to_vec()).unwrap()
}

fn laid_out(t: &Tensor<Cpu>, sizes: &[i64]) -> Tensor<Cpu> {
    t.expand(sizes).and_then(|t| t.contiguous()).unwrap()
}

#[test]
fn planes_together_are_planes_one_by_one() {
    let mut random = Random::new(7);
    let mut below = |n: usize| random.below(n) as i64;
    for trial in 0..400 {
        let dtype = [F32, U8, I16, F64, C128, Bool, BF16, C64][trial % 8];
        let n = if trial % 50 == 0 { 20_000 } else { 1 + below(150) };
        let sizes = [n, 1 + below(5), 1 + below(40)];
        // Each operand lacks some of the dimensions.
        let mut operand = || {
            let own: Vec<i64> = sizes.iter().map(|&size| if below(2) == 0 { size } else { 1 }).collect();
            ramp(dtype, &own)
        };
        let (a, b, c) = (operand(), operand(), operand());
        let (full_a, full_b) = (laid_out(&a, &sizes), laid_out(&b, &sizes));
        let what = format!("{dtype} {sizes:?}: {:?} and {:?}", a.sizes(), b.sizes());
        let want = full_a.mul(&full_b).unwrap();
        // The output is larger than the result of the operands where both lack a dimension.
        let mut out = ramp(dtype, &sizes);
        ops::mul_out(&a.expand(sizes).unwrap(), &b.expand(sizes).unwrap(), &mut out).unwrap();
        assert!(bytes(&out) == bytes(&want), "{what}");
        // In place, as the first operand and as the second.
        let mut this = full_a.deep_clone().unwrap();
        assert!(bytes(this.mul_(&b).unwrap()) == bytes(&want), "{what} in place");
        // With a mask, and of a formula that is not light.
        let mask = c.ne(3).unwrap();
        let want = full_a.where_(&laid_out(&mask, &sizes), &full_b).unwrap();
        let got = a.expand(sizes).and_then(|a| a.where_(&mask, &b)).unwrap();
        assert!(bytes(&got) == bytes(&want), "{what} where");
        if dtype.is_floating() {
            let want = full_a.atan2(&full_b).unwrap();
            let got = a.expand(sizes).and_then(|a| a.atan2(&b)).unwrap();
            assert!(bytes(&got) == bytes(&want), "{what} atan2");
        }
    }
}

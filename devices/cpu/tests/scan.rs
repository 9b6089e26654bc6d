//! Scans on the CPU give the same bits whichever way a long line is taken: by several threads, or by one.

use monomorph_core::Tensor;
use monomorph_core::structured::{Functional, Operator};
use monomorph_cpu::Cpu;
use monomorph_ops::scan::{CumsumFn, Scan};

/// The bits of the sums of numbers that rounding tells apart.
fn bits(n: i32) -> Vec<u64> {
    let numbers: Vec<f64> = (0..n).map(|i| f64::from(i % 1000 * 7919 % 1000) * 1e-3 + 1e-9).collect();
    let x = Tensor::<Cpu>::from_slice(&numbers, [i64::from(n)]).unwrap();
    let [sums] = Scan::<CumsumFn>::call((&x, 0, None), Functional::<Cpu, 1>::default()).unwrap();
    sums.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect()
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for n in [65_536, 65_537, 300_001, 1_000_003] {
        // A thread of a pool works alone.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(|| bits(n));
        assert!(bits(n) == alone, "{n}");
    }
}

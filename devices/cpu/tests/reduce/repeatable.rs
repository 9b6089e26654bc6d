//! The same bits for any number of threads and at any level.

use monomorph_core::structured::{Functional, Operator};
use monomorph_core::{DType, Geometry, Tensor, bf16, f16};
use monomorph_cpu::Cpu;
use monomorph_cpu::isa::{Level, VARIABLE};
use monomorph_ops::reduce::{Amax, Aminmax, Argmax, Mean, Sum};
use std::process::Command;

fn input(sizes: &[i64], strides: &[i64]) -> Tensor<Cpu> {
    let need: i64 = 1 + sizes.iter().zip(strides).map(|(n, s)| (n - 1) * s).sum::<i64>();
    let value = |i: i64| (i.wrapping_mul(0x1E37_79B9_7F4A_7C15) >> 20) as f64 * 1e-7;
    let bytes: Vec<u8> = (0..need).flat_map(|i| value(i).to_ne_bytes()).collect();
    Tensor::from_storage(&bytes, Geometry::new(DType::F64, sizes, strides, 0).unwrap()).unwrap()
}

/// The same numbers in another dtype.
fn narrowed(sizes: &[i64], strides: &[i64], dtype: DType) -> Tensor<Cpu> {
    let values = input(sizes, strides).storage_to_vec().unwrap();
    let values = values.chunks(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap()));
    let bytes: Vec<u8> = match dtype {
        DType::F32 => values.flat_map(|x| (x as f32).to_ne_bytes()).collect(),
        DType::F16 => values.flat_map(|x| f16::from_f64(x * 1e-3).to_ne_bytes()).collect(),
        _ => values.flat_map(|x| bf16::from_f64(x).to_ne_bytes()).collect(),
    };
    Tensor::from_storage(&bytes, Geometry::new(dtype, sizes, strides, 0).unwrap()).unwrap()
}

/// The bits of the elements of a dense result.
fn bits(t: &Tensor<Cpu>) -> Vec<u64> {
    let size = t.dtype().size();
    let bytes = t.storage_to_vec().unwrap();
    let word = |b: &[u8]| b.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes[..t.numel() * size].chunks(size).map(word).collect()
}

/// The bits of many results, float64 and so without a wider type to hide differences in.
fn results() -> Vec<u64> {
    let mut all = Vec::new();
    let cases: [(&[i64], &[i64], &[i64]); 7] = [
        (&[300_001], &[1], &[0]),
        (&[200_000], &[2], &[0]),
        (&[700, 500], &[500, 1], &[0]),
        (&[700, 500], &[500, 1], &[1]),
        (&[700, 500], &[1, 700], &[0, 1]),
        (&[100_000, 3], &[3, 1], &[0]),
        (&[30, 50, 70], &[70, 2100, 1], &[0, 2]),
    ];
    for (sizes, strides, dims) in cases {
        let t = input(sizes, strides);
        let [sum] = Sum::call((&t, Some(dims), false, None), Functional::<Cpu, 1>::default()).unwrap();
        all.extend(sum.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits));
        // Every dtype that is accumulated in another way than float64.
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            for asked in [dtype, DType::C64] {
                let single = narrowed(sizes, strides, dtype);
                let [mean] =
                    Mean::call((&single, Some(dims), false, Some(asked)), Functional::<Cpu, 1>::default()).unwrap();
                all.extend(bits(&mean));
            }
        }
        let [mean] = Mean::call((&t, Some(dims), false, None), Functional::<Cpu, 1>::default()).unwrap();
        all.extend(bits(&mean));
        let [max] = Amax::call((&t, dims, false), Functional::<Cpu, 1>::default()).unwrap();
        all.extend(bits(&max));
        let dim = (dims.len() == 1).then(|| dims[0]);
        let [index] = Argmax::call((&t, dim, false), Functional::<Cpu, 1>::default()).unwrap();
        all.extend(index.to_vec::<i64>().unwrap().into_iter().map(|i| i as u64));
        let [min, max] = Aminmax::call((&t, dim, false), Functional::<Cpu, 2>::default()).unwrap();
        for t in [min, max] {
            all.extend(t.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits));
        }
    }
    all
}

/// A number that stands for the results, to be compared between processes.
fn digest() -> u64 {
    results().into_iter().fold(0xcbf2_9ce4_8422_2325, |h, x| (h ^ x).wrapping_mul(0x0100_0000_01b3).rotate_left(17))
}

/// The digest of a process of its own with this environment: level and threads are decided once per process.
fn digest_with(test: &str, variable: &str, value: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .env(variable, value)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let digest = text.split("digest ").nth(1).unwrap_or_else(|| panic!("{variable}={value}: {text}"));
    digest[..16].to_owned()
}

const CHILD: &str = "MONOMORPH_TEST_DIGEST";

/// Prints the digest where the process is a child of a test. False if it is not.
fn is_child() -> bool {
    let child = std::env::var_os(CHILD).is_some();
    if child {
        println!("digest {:016x}", digest());
    }
    child
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    if is_child() {
        return;
    }
    // A thread of a pool works alone.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(digest);
    for threads in ["1", "2", "7"] {
        let digest = digest_with("repeatable::any_number_of_threads_gives_the_same_bits", "RAYON_NUM_THREADS", threads);
        assert_eq!(digest, format!("{alone:016x}"), "{threads} threads");
    }
}

#[test]
fn any_level_gives_the_same_bits() {
    if is_child() {
        return;
    }
    let here = digest();
    for level in Level::available() {
        let digest = digest_with("repeatable::any_level_gives_the_same_bits", VARIABLE, level.name());
        assert_eq!(digest, format!("{here:016x}"), "{level}");
    }
}

/// Tasks of a caller's pool that share tensors: while one waited for the parts of its reduction, its thread could be
/// handed another one, which would find the output borrowed.
#[test]
fn reductions_inside_a_pool_work_alone() {
    let t = input(&[2_000_003], &[1]);
    let [want] = Sum::call((&t, None, false, None), Functional::<Cpu, 1>::default()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    thread_local!(static BUSY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    let task = || {
        assert!(!BUSY.replace(true), "another task runs inside of a call");
        let [sum] = Sum::call((&t, None, false, None), Functional::<Cpu, 1>::default()).unwrap();
        BUSY.set(false);
        assert_eq!(bits(&sum), bits(&want));
    };
    // Tasks that come one by one meet threads that wait for the half of a reduction.
    pool.in_place_scope(|scope| {
        for _ in 0..300 {
            scope.spawn(|_| task());
            std::thread::sleep(std::time::Duration::from_micros(700));
        }
    });
}

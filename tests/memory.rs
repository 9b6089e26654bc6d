//! Memory of large tensors, as a program sees it: counted, kept for the next result of its size, limited, emptied, and
//! shared by threads. One test, because the counts are the process's.

use monomorph::{
    Cpu, DType, Result, Tensor, memory,
    ops::{add, narrow, ne, sum},
};

const MIB: usize = 1 << 20;

fn zeros(bytes: usize) -> Tensor<Cpu> {
    Tensor::zeros_contiguous(DType::U8, &[bytes as i64]).unwrap()
}

/// Whether every element is `value`.
fn holds(tensor: &Tensor<Cpu>, value: u8) -> bool {
    let others = sum(&ne(tensor, i64::from(value)).unwrap(), ..).unwrap();
    others.to_vec::<i64>().unwrap() == [0]
}

#[test]
fn large_results_are_counted_kept_limited_and_returned() -> Result<()> {
    memory::set_cache_limit(64 * MIB);
    let live = || memory::statistics().live;
    let cached = || memory::statistics().cached;
    assert_eq!((live(), cached()), (0, 0), "nothing large is held when a program begins");

    // Blocks are rounded up by an eighth at most.
    let a = zeros(8 * MIB);
    let block = live();
    assert!((8 * MIB..=9 * MIB).contains(&block), "{block}");

    // A result's block is kept when it is dropped, and the next of its size has it; what a kept block holds is not
    // seen.
    let sum = add(&a, 1)?;
    assert_eq!(live(), 2 * block);
    drop(sum);
    assert_eq!((live(), cached()), (block, block));
    let kept = memory::statistics();
    let again = zeros(8 * MIB);
    let reused = memory::statistics();
    assert_eq!((reused.cached, reused.hits, reused.misses), (0, kept.hits + 1, kept.misses));
    let some = narrow(&again, 0, 0, 1000)?.to_vec::<u8>()?;
    assert!(some.iter().all(|&x| x == 0), "a kept block held ones");
    assert_eq!(reused.peak, 2 * block);

    // A view keeps the block that it looks at.
    let view = narrow(&again, 0, 0, 1)?;
    drop(again);
    assert_eq!((live(), cached()), (2 * block, 0));
    drop(view);
    assert_eq!((live(), cached()), (block, block));

    // A lower limit returns what is beyond it, at once and from then on; none keeps nothing.
    memory::set_cache_limit(4 * MIB);
    assert_eq!((memory::cache_limit(), cached()), (4 * MIB, 0));
    drop((zeros(8 * MIB), zeros(2 * MIB)));
    let small = cached();
    assert!((2 * MIB..=4 * MIB).contains(&small), "{small}");
    memory::set_cache_limit(0);
    drop(zeros(2 * MIB));
    assert_eq!(cached(), 0);

    // Emptying says how much it returned, and tensors keep theirs.
    memory::set_cache_limit(64 * MIB);
    drop(zeros(2 * MIB));
    assert_eq!(memory::empty_cache(), small);
    assert_eq!(memory::empty_cache(), 0);
    assert!(holds(&a, 0));

    // Threads allocate, compute, free each other's, and empty and limit the cache meanwhile; every tensor holds what
    // was written to it.
    let (to, from) = std::sync::mpsc::channel::<(Tensor<Cpu>, u8)>();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let to = to.clone();
            scope.spawn(move || {
                for round in 0..60usize {
                    let bytes = (round * 7 + usize::from(thread) * 13) % 40 * (MIB / 16) + 1;
                    let mark = thread * 60 + round as u8;
                    let tensor = add(&zeros(bytes), i64::from(mark)).unwrap();
                    to.send((tensor, mark)).unwrap();
                    match round % 20 {
                        7 => drop(memory::empty_cache()),
                        13 => memory::set_cache_limit(usize::from(thread) * MIB),
                        _ => {}
                    }
                }
            });
        }
        drop(to);
        scope.spawn(move || {
            let mut held = std::collections::VecDeque::new();
            for (tensor, mark) in from {
                held.push_back((tensor, mark));
                if held.len() > 10
                    && let Some((tensor, mark)) = held.pop_front()
                {
                    assert!(holds(&tensor, mark));
                }
            }
        });
    });
    assert_eq!(live(), block, "what threads freed is counted");
    drop(a);
    memory::empty_cache();
    assert_eq!((live(), cached()), (0, 0));
    Ok(())
}

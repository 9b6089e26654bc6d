//! Checks of memory: what is written is there, blocks lie apart, and everything is given back. Knows no operator.

use super::{Balance, Failure, Subject, Verdict, device, ensure, geometry, ramp, refused, same, values};
use crate::layout::plain;
use monomorph::crates::core::{Element, Kind, with_element};
use monomorph::{AnyTensor, Cpu, DType, Device, ErrorKind, Tensor};

type Lane<S> = Tensor<<S as Subject>::Device>;

/// Elements of every dtype arrive on every device and come back, as slices, bytes and tensors.
pub fn contents_arrive<S: Subject>() -> Verdict {
    let balance = Balance::begin::<S>();
    for index in 0..S::DEVICES {
        for dtype in DType::ALL {
            let what = format!("{dtype} on device {index}");
            with_element!(dtype, T => {
                let values = plain(dtype, 37, &mut crate::layout::Random::new(u64::from(index) + 1));
                let data: Vec<T> = values.into_iter().map(T::from_scalar).collect();
                let there = Lane::<S>::from_slice_on(index, &data, [37])?;
                same(&there.device(), &device::<S>(index), "the device")?;
                same(&there.to_vec::<T>()?, &data, &what)?;
                same(&there.version(), &0, "first contents are no write, so the version")?;
                let here = Tensor::<Cpu>::from_slice(&data, [37])?;
                same(&there.storage_to_vec()?, &here.storage_to_vec()?, &format!("bytes of {what}"))?;
                same(&Tensor::<Cpu>::from_any(there.as_any(), 0)?.to_vec::<T>()?, &data,
                    &format!("{what} on the CPU"))?;
                let again = Lane::<S>::from_any(here.as_any(), index)?;
                same(&again.to_vec::<T>()?, &data, &format!("{what} from the CPU"))?;
                let last = there.with_geometry(geometry(dtype, &[], &[], 36)?)?;
                same(&vec![last.item()?], &vec![data[36].to_scalar()], &format!("the last element of {what}"))?;
            });
        }
    }
    let bytes: Vec<u8> = (0..=255).collect();
    let stored = Lane::<S>::from_storage(&bytes, geometry(DType::U8, &[5, 3], &[40, 2], 7)?)?;
    let want: Vec<u8> = (0..5).flat_map(|i| (0..3).map(move |j| 7 + 40 * i + 2 * j)).collect();
    same(&stored.to_vec::<u8>()?, &want, "strided elements of a storage")?;
    same(&stored.storage_to_vec()?, &bytes, "the storage")?;
    drop(stored);
    balance.check::<S>("contents")
}

/// Tensors without elements can be made, copied, viewed and dropped.
pub fn empty_tensors_have_no_memory<S: Subject>() -> Verdict {
    let balance = Balance::begin::<S>();
    for sizes in [&[0][..], &[2, 0, 3], &[0, 0]] {
        let mut empty = Lane::<S>::zeros_contiguous(DType::F32, sizes)?;
        same(&empty.to_vec::<f32>()?, &Vec::new(), "an empty tensor")?;
        same(&empty.storage_to_vec()?, &Vec::new(), "its storage")?;
        let other = Lane::<S>::from_slice_on::<f32>(0, &[], sizes)?;
        empty.copy_from(&other)?;
        same(&Lane::<S>::from_any(empty.as_any(), 0)?.sizes(), &sizes, "sizes of an empty tensor that was moved")?;
        empty.grow_to(geometry(DType::F32, &[3], &[1], 0)?)?;
        same(&empty.to_vec::<f32>()?, &vec![0.0; 3], "an empty tensor that grew")?;
    }
    balance.check::<S>("empty tensors")
}

/// What no memory holds is an error, and leaves nothing behind.
pub fn impossible_sizes_are_errors<S: Subject>() -> Verdict {
    let balance = Balance::begin::<S>();
    for sizes in [&[1 << 58][..], &[i64::MAX / 16], &[1 << 30, 1 << 29], &[i64::MAX, 2]] {
        let error = refused(Lane::<S>::zeros_contiguous(DType::F64, sizes), &format!("a tensor of {sizes:?}"))?;
        let accepted = matches!(error.kind(), ErrorKind::Allocation { .. } | ErrorKind::SizeOverflow { .. });
        ensure(accepted, || format!("a tensor of {sizes:?}: another error: {error}"))?;
    }
    let mut small = ramp::<S::Device>(0, DType::F64, &[3])?;
    refused(small.grow_to(geometry(DType::F64, &[1 << 58], &[1], 0)?), "growth beyond all memory")?;
    same(&small.to_vec::<f64>()?, &vec![1.0, 2.0, 3.0], "a tensor that could not grow")?;
    drop(small);
    balance.check::<S>("impossible sizes")
}

/// Memory that is asked to be zero is zero, also where something else was.
pub fn zeroed_memory_is_zero<S: Subject>() -> Verdict {
    for n in [1, 3, 17, 64, 1000, 300_000] {
        for _ in 0..2 {
            let mut tensor = Lane::<S>::zeros_contiguous(DType::U8, &[n])?;
            ensure(tensor.to_vec::<u8>()?.iter().all(|&byte| byte == 0), || format!("{n} bytes are not all zero"))?;
            tensor.copy_from(&Lane::<S>::from_slice_on(0, &vec![0xAAu8; n as usize], [n])?)?;
        }
        let mut grown = ramp::<S::Device>(0, DType::U8, &[1])?;
        grown.grow_to(geometry(DType::U8, &[n + 1], &[1], 0)?)?;
        let zero = grown.to_vec::<u8>()?[1..].iter().all(|&byte| byte == 0);
        ensure(zero, || format!("{n} bytes beyond a grown storage are not all zero"))?;
    }
    Ok(())
}

/// Writing one block changes no other, whatever was freed in between.
pub fn blocks_lie_apart<S: Subject>() -> Verdict {
    let make = |n: i64| -> Result<(i64, Lane<S>), Failure> {
        Ok((n, Lane::<S>::from_slice_on(0, &vec![n as u8; n as usize], [n])?))
    };
    let intact = |blocks: &[(i64, Lane<S>)]| -> Verdict {
        for (n, block) in blocks {
            ensure(block.to_vec::<u8>()? == vec![*n as u8; *n as usize], || format!("a block of {n} bytes changed"))?;
        }
        Ok(())
    };
    let mut blocks = (1..120).map(make).collect::<Result<Vec<_>, _>>()?;
    intact(&blocks)?;
    blocks.retain(|(n, _)| n % 3 != 0);
    for n in [5, 70, 200, 64, 16, 15, 1, 131] {
        blocks.push(make(n)?);
    }
    intact(&blocks)
}

/// A storage that grows keeps its bytes, for every tensor over it.
pub fn growth_keeps_contents<S: Subject>() -> Verdict {
    let mut tensor = ramp::<S::Device>(S::DEVICES - 1, DType::I32, &[2, 3])?;
    let view = tensor.with_geometry(geometry(DType::I32, &[3], &[1], 3)?)?;
    for n in [7, 100, 5000] {
        tensor.grow_to(geometry(DType::I32, &[n], &[1], 0)?)?;
        let mut want: Vec<i32> = (1..=6).collect();
        want.resize(n as usize, 0);
        same(&tensor.to_vec::<i32>()?, &want, "a tensor that grew")?;
        same(&view.to_vec::<i32>()?, &vec![4, 5, 6], "a view of a storage that grew")?;
    }
    Ok(())
}

/// A block lives as long as a tensor over it and no longer.
pub fn memory_is_given_back<S: Subject>() -> Verdict {
    let balance = Balance::begin::<S>();
    let tensor = ramp::<S::Device>(0, DType::F32, &[4, 4])?;
    let (clone, any) = (tensor.clone(), tensor.clone().into_any());
    let view = any.with_geometry(geometry(DType::F32, &[4], &[4], 1)?)?;
    if let (Some(before), Some(now)) = (balance.0, S::live_blocks()) {
        same(&now, &(before + 1), "live blocks with one storage")?;
    }
    drop((tensor, any, clone));
    same(&view.to_vec::<f32>()?, &vec![2.0, 6.0, 10.0, 14.0], "a view that outlives its base")?;
    drop(view);
    balance.check::<S>("a storage, a clone and a view")?;
    for n in 0..50 {
        let mut a = ramp::<S::Device>(0, DType::F32, &[n])?;
        a.grow_to(geometry(DType::F32, &[n + 1], &[1], 0)?)?;
        let _ = a.with_geometry(geometry(DType::F32, &[n + 2], &[1], 0)?);
        let _ = Lane::<S>::from_any(a.as_any(), 0)?;
    }
    balance.check::<S>("fifty storages that grew and were moved")
}

/// Threads allocate, copy and free at once, and tensors pass between them.
pub fn threads_share_the_device<S: Subject>() -> Verdict {
    let balance = Balance::begin::<S>();
    let (send, receive) = std::sync::mpsc::channel::<(i64, AnyTensor)>();
    let work = |worker: i64, send: std::sync::mpsc::Sender<(i64, AnyTensor)>| -> Verdict {
        for round in 0..40 {
            let n = worker * 40 + round + 1;
            let tensor = Lane::<S>::from_slice_on(0, &vec![n; n as usize], [n])?;
            let mut copy = Lane::<S>::zeros_contiguous(DType::F64, &[n])?;
            copy.copy_from(&tensor)?;
            same(&copy.to_vec::<f64>()?, &vec![n as f64; n as usize], "a copy made by one of four threads")?;
            let _ = send.send((n, copy.into_any()));
        }
        Ok(())
    };
    let verdict = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                scope.spawn({
                    let send = send.clone();
                    move || work(worker, send)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(verdict) => verdict,
            Err(_) => Err(Failure("a thread panicked".to_owned())),
        })
    });
    drop(send);
    for (n, tensor) in receive {
        ensure(values(&tensor)?.iter().all(|value| value.to_f64() == n as f64), || {
            "a tensor of another thread".to_owned()
        })?;
    }
    verdict?;
    balance.check::<S>("four threads")
}

/// Devices of one kind have memory of their own; elements pass between them by `from_any`.
pub fn devices_of_a_kind_lie_apart<S: Subject>() -> Verdict {
    let tensors = (0..S::DEVICES).map(|i| ramp::<S::Device>(i, DType::I64, &[i64::from(i) + 2]));
    let mut tensors = tensors.collect::<monomorph::Result<Vec<_>>>()?;
    for (i, tensor) in tensors.iter().enumerate() {
        same(&usize::from(tensor.device().index), &i, "the index of a device")?;
        same(&tensor.to_vec::<i64>()?, &(1..=i as i64 + 2).collect(), "elements on a device of several")?;
    }
    if let [first, second, ..] = &mut tensors[..] {
        let moved = Lane::<S>::from_any(second.as_any(), 0)?;
        same(&(moved.device(), moved.to_vec::<i64>()?), &(device::<S>(0), second.to_vec::<i64>()?), "moved")?;
        let error = refused(first.copy_from(second), "a copy between devices")?;
        ensure(matches!(error.kind(), ErrorKind::DeviceMismatch { .. }), || format!("another error: {error}"))?;
    }
    let none = Lane::<S>::zeroed(DType::F32, &[2], &[1], u8::MAX);
    ensure(<S::Device as Device>::KIND.0 == 0 || none.is_err(), || "there is a device number 255".to_owned())?;
    let complex = ramp::<S::Device>(0, DType::C64, &[2])?;
    ensure(complex.dtype().kind() == Kind::Complex, || "a complex tensor".to_owned())
}

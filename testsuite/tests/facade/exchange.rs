//! Tensors handed to other libraries and taken from them, by DLPack: whose memory it is, who frees it when, and what is
//! refused.

use monomorph::dlpack::{DlDataType, DlDevice, DlManagedTensorVersioned, DlTensor, Managed, READ_ONLY, VERSION};
use monomorph::prelude::*;
use monomorph::{Cpu, DType, ErrorKind, Result, Tensor, ops, tensor};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A tensor of another library, as that would keep it: 24 numbers 0, 1, 2, ... behind 16 bytes of something else.
#[repr(C, align(64))]
struct Theirs {
    numbers: [f32; 28],
    shape: [i64; 3],
    strides: [i64; 3],
    given_back: Arc<AtomicU32>,
}

unsafe extern "C" fn give_back(managed: *mut DlManagedTensorVersioned) {
    // SAFETY: it was boxed by `theirs`.
    let managed = unsafe { Box::from_raw(managed) };
    // SAFETY: likewise.
    let theirs = unsafe { Box::from_raw(managed.manager_ctx.cast::<Theirs>()) };
    theirs.given_back.fetch_add(1, Ordering::Relaxed);
}

/// Their tensor, changed by `change`, and how often it was given back.
fn theirs(change: impl FnOnce(&mut DlManagedTensorVersioned)) -> (Managed, Arc<AtomicU32>) {
    let given_back = Arc::new(AtomicU32::new(0));
    let numbers = std::array::from_fn(|i| i as f32 - 4.0);
    let theirs = Theirs { numbers, shape: [2, 3, 4], strides: [12, 4, 1], given_back: given_back.clone() };
    let theirs = Box::leak(Box::new(theirs));
    let mut managed = DlManagedTensorVersioned {
        version: VERSION,
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(give_back),
        flags: 0,
        dl_tensor: DlTensor {
            data: theirs.numbers.as_mut_ptr().cast(),
            device: DlDevice { device_type: 1, device_id: 0 },
            ndim: 3,
            dtype: DlDataType { code: 2, bits: 32, lanes: 1 },
            shape: theirs.shape.as_mut_ptr(),
            strides: theirs.strides.as_mut_ptr(),
            byte_offset: 16,
        },
    };
    managed.manager_ctx = std::ptr::from_mut(theirs).cast::<c_void>();
    change(&mut managed);
    // SAFETY: 24 numbers behind 16 bytes, which nobody else uses, and lists of three.
    (unsafe { Managed::from_raw(NonNull::from(Box::leak(Box::new(managed)))) }, given_back)
}

fn times(given_back: &AtomicU32) -> u32 {
    given_back.load(Ordering::Relaxed)
}

#[test]
fn what_others_have_is_read_and_written_where_it_is() -> Result<()> {
    let (managed, given_back) = theirs(|_| {});
    let numbers = managed.describe().dl_tensor.data.cast::<f32>();
    let mut x: Tensor<Cpu> = Tensor::from_dlpack(managed)?;
    assert_eq!((x.dtype(), x.sizes(), x.strides()), (DType::F32, &[2, 3, 4][..], &[12, 4, 1][..]));
    x.add_(1.0)?;
    let last = numbers.wrapping_add(4 + 23);
    // SAFETY: the memory lives as long as `x`, and nobody writes it now.
    assert_eq!(unsafe { last.read() }, 24.0);
    let view = x.select(0, 1)?;
    drop(x);
    assert_eq!((times(&given_back), view.sum(..)?.item()?), (0, monomorph::Scalar::Float(222.0)));
    drop(view);
    assert_eq!(times(&given_back), 1);
    Ok(())
}

#[test]
fn any_layout_but_a_reversed_one_is_taken() -> Result<()> {
    // In row-major order without strides, transposed, and from an odd place on, which is copied.
    let (plain, _) = theirs(|managed| managed.dl_tensor.strides = std::ptr::null_mut());
    assert_eq!(Tensor::<Cpu>::from_dlpack(plain)?.strides(), [12, 4, 1]);
    let (turned, _) = theirs(|managed| {
        // SAFETY: lists of three.
        let [shape, strides] = [managed.dl_tensor.shape, managed.dl_tensor.strides]
            .map(|list| unsafe { std::slice::from_raw_parts_mut(list, 3) });
        shape.copy_from_slice(&[4, 3, 2]);
        strides.copy_from_slice(&[1, 4, 12]);
    });
    let turned = Tensor::<Cpu>::from_dlpack(turned)?;
    assert_eq!(turned.contiguous()?.to_vec::<f32>()?[..4], [0.0, 12.0, 4.0, 16.0]);
    let (odd, given_back) = theirs(|managed| {
        managed.dl_tensor.byte_offset = 20;
        managed.dl_tensor.ndim = 2;
    });
    let odd = Tensor::<Cpu>::from_dlpack(odd)?;
    assert_eq!((times(&given_back), odd.to_vec::<f32>()), (1, Ok(vec![1.0, 5.0, 9.0, 13.0, 17.0, 21.0])));
    let (empty, given_back) = theirs(|managed| {
        // SAFETY: a list of three.
        unsafe { managed.dl_tensor.shape.write(0) };
        managed.dl_tensor.data = std::ptr::null_mut();
    });
    assert_eq!((Tensor::<Cpu>::from_dlpack(empty)?.numel(), times(&given_back)), (0, 1));
    let (read_only, _) = theirs(|managed| managed.flags = READ_ONLY);
    let mut x: Tensor<Cpu> = Tensor::from_dlpack(read_only)?;
    assert!(x.is_frozen() && x.add_(1.0).is_err() && x.clone().add_(1.0).is_err());
    assert_eq!(x.into_dlpack()?.describe().flags, READ_ONLY);
    Ok(())
}

#[test]
fn what_is_refused_is_given_back_once() {
    type Change = fn(&mut DlManagedTensorVersioned);
    let cases: [(&str, Change); 7] = [
        ("major version", |managed| managed.version.major = 2),
        ("device", |managed| managed.dl_tensor.device.device_type = 2),
        ("dtype", |managed| managed.dl_tensor.dtype.bits = 4),
        ("dtype", |managed| managed.dl_tensor.dtype.lanes = 4),
        ("dimensions", |managed| managed.dl_tensor.ndim = -1),
        // SAFETY: a list of three.
        ("strides", |managed| unsafe { managed.dl_tensor.strides.write(-12) }),
        // SAFETY: a list of three.
        ("", |managed| unsafe { managed.dl_tensor.shape.write(-2) }),
    ];
    for (words, change) in cases {
        let (managed, given_back) = theirs(change);
        let error = Tensor::<Cpu>::from_dlpack(managed).map(drop).expect_err(words);
        assert!(error.to_string().contains(words) && error.op() == "from_dlpack", "{error}");
        assert_eq!(times(&given_back), 1, "{words}");
    }
    // Also where the tensor is dropped by a panic, or on another thread, or never becomes one.
    let (managed, given_back) = theirs(|_| {});
    let panics = std::panic::catch_unwind(move || {
        let _x: Tensor<Cpu> = Tensor::from_dlpack(managed).expect("a tensor");
        panic!("within");
    });
    assert!(panics.is_err() && times(&given_back) == 1);
    let (managed, given_back) = theirs(|_| {});
    std::thread::spawn(move || drop(managed)).join().expect("no panic");
    assert_eq!(times(&given_back), 1);
}

#[test]
fn what_others_get_is_shared_handed_over_or_copied() -> Result<()> {
    let data = |managed: &Managed| managed.describe().dl_tensor.data;
    // Nobody else has it: the memory goes along.
    let base = Tensor::from_vec(vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0], [2, 3])?;
    let address = base.data::<f32>()?.as_ptr().addr();
    let x = base.t()?;
    drop(base);
    let managed = x.into_dlpack()?;
    assert_eq!((data(&managed).addr(), managed.describe().flags), (address, 0));
    let back: Tensor<Cpu> = Tensor::from_dlpack(managed)?;
    assert_eq!((back.sizes(), back.strides()), (&[3, 2][..], &[1, 3][..]));
    // Others have it, too.
    let shared = back.clone();
    let managed = shared.into_dlpack()?;
    assert!(data(&managed).addr() != address);
    let copy: Tensor<Cpu> = Tensor::from_dlpack(managed)?;
    assert_eq!((copy.strides(), copy.eq(&back)?.all(..)?.item()?), (&[1, 3][..], monomorph::Scalar::Bool(true)));
    // Nobody writes it any more.
    back.freeze()?;
    let managed = back.clone().into_dlpack()?;
    assert_eq!((data(&managed).addr(), managed.describe().flags), (address, READ_ONLY));
    let again: Tensor<Cpu> = Tensor::from_dlpack(managed)?;
    drop(back);
    assert!(again.is_frozen());
    // Of each dtype, through raw pointers, and with lazy bits none.
    for (dtype, ..) in [(DType::BF16, 4), (DType::C64, 5), (DType::Bool, 6), (DType::I64, 0), (DType::U8, 1)] {
        let x = ops::ones([3, 2], dtype)?;
        let raw = x.into_dlpack()?.into_raw();
        // SAFETY: it is ours, and given back once.
        let x: Tensor<Cpu> = Tensor::from_dlpack(unsafe { Managed::from_raw(raw) })?;
        assert_eq!((x.dtype(), x.sum(..)?.numel()), (dtype, 1));
    }
    let conjugated = tensor![monomorph::Complex32::new(1.0, 2.0)].conj()?;
    assert!(matches!(conjugated.into_dlpack().map(drop).unwrap_err().kind(), ErrorKind::ArgumentRule { .. }));
    Ok(())
}

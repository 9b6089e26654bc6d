//! Tensors that are given other sizes or another storage, and lists of outputs. What is expected was seen in PyTorch.

use monomorph::crates::core::ErrorKind;
use monomorph::{
    AnyTensor, Cpu, DType, Geometry, IValue, MemoryFormat, Meta, Stack, Tensor, call,
    crates::ops::resize::{
        resize_, resize_as_, set_, set_storage_, set_storage_offset_, set_tensor_, set_tensor_offset_,
    },
};

fn ramp(sizes: &[i64]) -> Tensor<Cpu> {
    let data: Vec<f32> = (0..sizes.iter().product::<i64>()).map(|i| i as f32).collect();
    Tensor::from_slice(&data, sizes).unwrap()
}

/// Sizes, strides, offset and bytes of storage.
fn shape(t: &AnyTensor) -> (Vec<i64>, Vec<i64>, i64, usize) {
    (t.sizes().to_vec(), t.strides().to_vec(), t.offset(), t.storage_bytes())
}

#[test]
fn a_tensor_moves_to_the_storage_of_another() {
    let source = monomorph::ops::transpose(&ramp(&[2, 3]), 0, 1).unwrap();
    let mut t = ramp(&[3]);
    let left = t.clone();
    set_tensor_(&mut t, &source).unwrap();
    assert_eq!(shape(t.as_any()), (vec![3, 2], vec![1, 3], 0, 24));
    assert_eq!(t.storage_id(), source.storage_id());
    assert_eq!(left.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0], "whoever shared the old storage keeps it");

    // In the dtype of the tensor: larger elements make the storage grow, smaller ones do not.
    let bytes = Tensor::<Cpu>::from_slice(&[1u8, 0, 2, 0], [4]).unwrap();
    let mut wide = Tensor::<Cpu>::from_slice(&[0i16], [1]).unwrap();
    set_tensor_(&mut wide, &bytes).unwrap();
    assert_eq!((wide.to_vec::<i16>().unwrap(), wide.storage_bytes()), (vec![1, 2, 0, 0], 8));
    assert_eq!(bytes.to_vec::<u8>().unwrap(), [1, 0, 2, 0]);

    let mut t = ramp(&[3]);
    set_(&mut t).unwrap();
    assert_eq!(shape(t.as_any()), (vec![0], vec![1], 0, 0));
}

#[test]
fn a_tensor_is_set_to_parts_of_a_storage() {
    let source = ramp(&[6]);
    let mut t = ramp(&[3]);
    set_storage_(&mut t, &source.storage()).unwrap();
    assert_eq!(shape(t.as_any()), (vec![6], vec![1], 0, 24));
    let mut halves = Tensor::<Cpu>::from_slice(&[0i16], [1]).unwrap();
    set_storage_(&mut halves, &source.storage()).unwrap();
    assert_eq!(halves.sizes(), [12]);

    set_storage_offset_(&mut t, &source.storage(), 1, &[2, 2], &[]).unwrap();
    assert_eq!(t.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    set_tensor_offset_(&mut t, &source, 1, &[2, 2], &[1, 3]).unwrap();
    assert_eq!(t.to_vec::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0]);
    // A part of a tensor counts from its own offset on.
    let part = monomorph::ops::narrow(&source, 0, 2, 4).unwrap();
    set_tensor_offset_(&mut t, &part, 1, &[2], &[]).unwrap();
    assert_eq!(t.to_vec::<f32>().unwrap(), [3.0, 4.0]);

    // Beyond its end the storage grows, for everybody.
    set_storage_offset_(&mut t, &source.storage(), 1, &[20], &[1]).unwrap();
    assert_eq!((t.storage_bytes(), source.storage_bytes()), (84, 84));
    assert_eq!(source.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);

    let before = shape(t.as_any());
    let stepped = monomorph::ops::slice(&source, 0, None, None, 2).unwrap();
    assert!(set_tensor_offset_(&mut t, &stepped, 0, &[1], &[]).is_err());
    for (offset, size, stride) in
        [(-1, &[2][..], &[1][..]), (0, &[-1], &[1]), (0, &[2], &[-1]), (0, &[2, 2], &[1]), (i64::MAX, &[1], &[1])]
    {
        assert!(set_storage_offset_(&mut t, &source.storage(), offset, size, stride).is_err(), "{offset} {size:?}");
        assert!(set_tensor_offset_(&mut t, &part, offset, size, stride).is_err(), "{offset} {size:?}");
    }
    assert_eq!(shape(t.as_any()), before);
}

#[test]
fn storages_stay_on_their_device() {
    let meta = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2, 2]).unwrap();
    let mut t = ramp(&[3]);
    let error = set_storage_(&mut t, &meta.storage()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DeviceMismatch { .. }), "{error}");
    let mut dry = Tensor::<Meta>::zeros_contiguous(DType::F32, &[3]).unwrap();
    set_tensor_(&mut dry, &meta).unwrap();
    assert_eq!((dry.sizes(), dry.storage_id()), (&[2i64, 2][..], meta.storage_id()));
}

/// The functional forms say that they return no alias, and the boxed entry holds them to it.
#[test]
fn functional_forms_copy() {
    let source = ramp(&[6]);
    for name in ["set.source_Tensor", "set.source_Storage"] {
        let argument = if name.ends_with("Tensor") { source.clone().into() } else { IValue::from(source.storage()) };
        let mut stack: Stack = vec![ramp(&[2]).into(), argument];
        call(name, &mut stack).unwrap();
        let t = stack[0].tensors().next().unwrap();
        assert_eq!(t.sizes(), [6]);
        assert_ne!(t.storage_id(), source.storage_id());
        assert_eq!(t.downcast_ref::<Cpu>().unwrap().to_vec::<f32>().unwrap(), source.to_vec::<f32>().unwrap());
    }
}

#[test]
fn resizing_keeps_strides_only_where_sizes_stay() {
    let turned = || monomorph::ops::transpose(&ramp(&[2, 3]), 0, 1).unwrap();
    let resized = |mut t: Tensor<Cpu>, size: &[i64], format| {
        resize_(&mut t, size, format).unwrap();
        shape(t.as_any())
    };
    let contiguous = Some(MemoryFormat::Contiguous);
    let last = Some(MemoryFormat::ChannelsLast);
    assert_eq!(resized(turned(), &[3, 2], None), (vec![3, 2], vec![1, 3], 0, 24));
    assert_eq!(resized(turned(), &[3, 2], contiguous), (vec![3, 2], vec![2, 1], 0, 24));
    assert_eq!(resized(turned(), &[2, 2], None), (vec![2, 2], vec![2, 1], 0, 24));
    assert_eq!(
        resized(monomorph::ops::select(&ramp(&[2, 3]), 0, 1).unwrap(), &[3, 2], None),
        (vec![3, 2], vec![2, 1], 3, 36)
    );
    assert_eq!(resized(ramp(&[3]), &[1, 2, 3, 4], last), (vec![1, 2, 3, 4], vec![24, 1, 8, 2], 0, 96));
    let mut t = ramp(&[3]);
    for (size, format) in
        [(&[-1][..], None), (&[2], last), (&[2], Some(MemoryFormat::Preserve)), (&[i64::MAX, 2], None)]
    {
        assert!(resize_(&mut t, size, format).is_err(), "{size:?} {format:?}");
    }
    assert_eq!(shape(t.as_any()), (vec![3], vec![1], 0, 12));

    let template =
        monomorph::crates::ops::copies::contiguous(&ramp(&[1, 2, 3, 4]), MemoryFormat::ChannelsLast).unwrap();
    resize_as_(&mut t, &template, None).unwrap();
    assert_eq!(t.strides(), [24, 12, 4, 1]);
    resize_as_(&mut t, &template, Some(MemoryFormat::Preserve)).unwrap();
    assert_eq!(t.strides(), [24, 1, 8, 2]);
}

#[test]
fn parts_are_copied_into_a_list() {
    let source = ramp(&[3, 4]);
    let run = |name: &str, arguments: Vec<IValue>, outs: &[Tensor<Cpu>]| {
        let list = outs.iter().map(|t| t.clone().into_any()).collect();
        let mut stack: Stack = [IValue::from(source.clone())].into_iter().chain(arguments).collect();
        stack.push(IValue::Tensors(list));
        let kept = stack.clone();
        call(name, &mut stack).map(|()| assert!(stack.is_empty())).inspect_err(|_| {
            assert_eq!(stack.len(), kept.len());
        })
    };
    let zeros = |dtype, sizes: &[i64]| Tensor::<Cpu>::zeros_contiguous(dtype, sizes).unwrap();

    // split_copy keeps the outputs as they are, and converts.
    let outs = [zeros(DType::I32, &[2, 4]), zeros(DType::F64, &[1, 4])];
    run("split_copy.Tensor_out", vec![2i64.into(), 0i64.into()], &outs).unwrap();
    assert_eq!(outs[0].to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(outs[1].to_vec::<f64>().unwrap(), [8.0, 9.0, 10.0, 11.0]);
    for wrong in [&[zeros(DType::F32, &[2, 4]), zeros(DType::F32, &[7])][..], &[zeros(DType::F32, &[2, 4])]] {
        assert!(run("split_copy.Tensor_out", vec![2i64.into(), 0i64.into()], wrong).is_err());
        assert_eq!(wrong[0].to_vec::<f32>().unwrap(), [0.0; 8], "nothing was written");
    }

    // The others resize them, and want their dtype.
    let mut outs = [zeros(DType::F32, &[0]), zeros(DType::F32, &[9]), zeros(DType::F32, &[4])];
    let list = IValue::Tensors(outs.iter().map(|t| t.clone().into_any()).collect());
    let mut stack: Stack = vec![source.clone().into(), 0i64.into(), list];
    let out_of = |stack: &Stack| stack[2].tensors().map(AnyTensor::storage_id).collect::<Vec<_>>();
    let ids = out_of(&stack);
    call("unbind_copy.int_out", &mut stack).unwrap();
    assert_eq!(outs[2].to_vec::<f32>().unwrap(), [8.0, 9.0, 10.0, 11.0]);
    // The caller's own handles keep their sizes; what was grown is shared.
    assert_eq!(ids, outs.iter().map(Tensor::storage_id).collect::<Vec<_>>());
    resize_(&mut outs[0], &[4], None).unwrap();
    assert_eq!(outs[0].to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    let outs = [zeros(DType::F32, &[1, 4]), zeros(DType::I64, &[2, 4])];
    assert!(run("split_with_sizes_copy.out", vec![vec![1, 2].into(), 0i64.into()], &outs).is_err());
    assert_eq!(outs[0].to_vec::<f32>().unwrap(), [0.0; 4], "nothing was written");
    let expanded =
        zeros(DType::F32, &[1]).with_geometry(Geometry::new(DType::F32, &[2, 4], &[0, 0], 0).unwrap()).unwrap();
    let outs = [zeros(DType::F32, &[1, 4]), expanded];
    assert!(run("split_with_sizes_copy.out", vec![vec![1, 2].into(), 0i64.into()], &outs).is_err());
    assert_eq!(outs[0].to_vec::<f32>().unwrap(), [0.0; 4], "nothing was written");
}

//! Scenarios that use most of the device: transfers in pieces; two streams, copies that convert, operands of other
//! dtypes and numbers, a prepared call, division that may have no result.

use monomorph::{
    Cpu, DType, ErrorKind, Geometry, Result, Tensor,
    ops::{add, div_with, fill_, floor_divide, mul, options::Div, upsample_nearest1d},
    prelude::ArithmeticMethods as _,
    prepared,
};
use monomorph_cuda::{Cuda, Event, Stream};

/// More than two pieces of a transfer.
const LARGE: usize = (8 << 20) + 1000;

/// Bytes that go to the device and back in pieces, by way of a storage that grows.
pub(crate) fn transfer() -> Result<()> {
    let mut bytes = b"monomorph".repeat(LARGE / 9 + 1);
    bytes.truncate(LARGE);
    let n = LARGE as i64;
    let mut there = Tensor::<Cuda>::from_storage(&bytes, Geometry::new(DType::U8, &[n], &[1], 0)?)?;
    there.grow_to(Geometry::new(DType::U8, &[n + 1], &[1], 0)?)?;
    let back = there.storage_to_vec()?;
    assert!(back.len() == LARGE + 1 && back[..LARGE] == bytes && back[LARGE] == 0);
    Ok(())
}

/// A tensor that goes from one device to the other and back, on streams of both, and is written and freed behind the
/// copies; and one that is resampled.
pub(crate) fn across() -> Result<()> {
    let (here, there) = (Stream::new(0)?, Stream::new(1)?);
    let ramp: Vec<f32> = (0..120).map(|i| i as f32).collect();
    let a = Tensor::<Cuda>::from_slice_on(0, &ramp, [10, 12])?;
    let mut doubled = {
        let _entered = here.enter();
        add(&a, &a)?
    };
    let far = {
        let _entered = there.enter();
        Tensor::<Cuda>::from_any(doubled.as_any(), 1)?
    };
    fill_(&mut doubled, 0)?;
    drop(doubled);
    let sum = add(&far, &far)?;
    let back = Tensor::<Cuda>::from_any(sum.as_any(), 0)?;
    drop((sum, far));
    // A column, with what lies between its elements.
    let column = back.with_geometry(Geometry::new(DType::F32, &[10], &[12], 3)?)?;
    let moved = Tensor::<Cuda>::from_any(column.as_any(), 1)?;
    here.wait_for(&Event::record(&there)?)?;
    let rows = {
        let _entered = here.enter();
        upsample_nearest1d(&back.with_geometry(Geometry::new(DType::F32, &[2, 5, 12], &[60, 12, 1], 0)?)?, 3)?
    };
    let want: Vec<f32> = (0..10).flat_map(|i| [0, 4, 8].map(|k| 4.0 * (12 * i + k) as f32)).collect();
    assert_eq!(rows.to_vec::<f32>()?, want);
    assert_eq!(back.to_vec::<f32>()?, ramp.iter().map(|x| 4.0 * x).collect::<Vec<f32>>());
    assert_eq!(moved.to_vec::<f32>()?, (0..10).map(|i| 4.0 * (12 * i + 3) as f32).collect::<Vec<f32>>());
    Ok(())
}

/// Runs it. Values that are wrong are a panic; an error is returned as it came.
pub(crate) fn run() -> Result<()> {
    let stream = Stream::new(0)?;
    let ramp: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let a = Tensor::<Cuda>::from_slice_on(0, &ramp, [10, 10])?;
    let doubled = {
        let _entered = stream.enter();
        add(&a, &a)?
    };
    let mut c = mul(&doubled, &a)?;
    {
        let _entered = stream.enter();
        c.add_(2.5)?;
    }
    drop(doubled);
    let want: Vec<f32> = ramp.iter().map(|x| 2.0 * x * x + 2.5).collect();
    assert_eq!(c.to_vec::<f32>()?, want);

    // The other way round: what the stream reads is written on the default one, and then freed there.
    let sum = {
        let _entered = stream.enter();
        add(&c, &a)?
    };
    fill_(&mut c, 1)?;
    drop((a, c));
    let b = Tensor::<Cuda>::from_slice_on(0, &ramp, [10, 10])?;
    let sum = {
        let _entered = stream.enter();
        add(&sum, &b)?
    };
    drop(b);
    let point = Event::record(&stream)?;
    let column = sum.with_geometry(Geometry::new(DType::F32, &[10], &[10], 3)?)?;
    let mut converted = Tensor::<Cuda>::zeroed(DType::I16, &[10], &[2], 0)?;
    converted.copy_from(&column)?;
    let want: Vec<i16> =
        (0..10).map(|i| f32::from(10_i16 * i + 3)).map(|x| (2.0 * x * x + 2.5 + 2.0 * x) as i16).collect();
    assert_eq!(converted.to_vec::<i16>()?, want);
    point.synchronize()?;
    assert!(point.is_done()? && stream.is_done()?);
    drop(stream);

    let (x, y) =
        (Tensor::<Cuda>::from_slice_on(0, &[7i32, -7, 9], [3])?, Tensor::<Cuda>::from_slice_on(0, &[2i32, 2, 0], [3])?);
    let divisors = y.with_geometry(Geometry::new(DType::I32, &[2], &[1], 0)?)?;
    let few = x.with_geometry(Geometry::new(DType::I32, &[2], &[1], 0)?)?;
    assert_eq!(floor_divide(&few, &divisors)?.to_vec::<i32>()?, [3, -4]);
    let faulty = div_with(&x, &y, Div { rounding_mode: Some("floor"), ..Div::default() }).map(|_| ());
    match faulty {
        Err(error) if *error.kind() == ErrorKind::DivisionByZero => {}
        Err(error) => return Err(error),
        Ok(()) => panic!("a quotient by zero"),
    }

    // A number of the host among the operands, refilled between runs.
    let (halves, one) =
        (Tensor::<Cuda>::from_slice_on(0, &[0.5f64, 1.5], [2])?, Tensor::<Cpu>::from_slice(&[1i64], ())?);
    let mut out = Tensor::<Cuda>::zeroed(DType::F64, &[2], &[1], 0)?;
    {
        let operands = [monomorph::crates::core::structured::Operand::from(&halves), (&one).into()];
        let inputs = monomorph::pointwise::PointwiseInputs::from_lists(&operands, &[2.into()])?;
        type Add = monomorph::crates::ops::Op<monomorph::crates::ops::arithmetic::AddFn>;
        let mut call = monomorph::crates::core::structured::prepare::<Add, Cuda, 1>(&inputs, [&mut out])?;
        call.run()?;
        call.input_mut::<i64>(1)?[0] = 10;
        call.run()?;
    }
    assert_eq!(out.to_vec::<f64>()?, [20.5, 21.5]);
    let mut same = prepared::add(&halves, &halves, 1, &mut out)?;
    same.run()?;
    same.run()?;
    drop(same);
    assert_eq!(out.to_vec::<f64>()?, [1.0, 3.0]);
    Ok(())
}

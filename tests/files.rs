//! Tensors in files of NumPy and of safetensors: what is written is read again, and what is wrong is an error.

use monomorph::files::{npy, safetensors};
use monomorph::prelude::*;
use monomorph::{AnyTensor, Complex32, bf16, f16};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A tensor of each dtype that has elements in no order of memory.
fn tensors() -> Vec<(&'static str, AnyTensor)> {
    let whole = tensor![[1i64, -2, 3], [4, 5, -6]];
    let dtypes = [Bool, U8, I8, I16, I32, I64, F16, BF16, F32, F64, C64, C128];
    let mut all: Vec<(&str, AnyTensor)> =
        dtypes.iter().map(|&dtype| (dtype.name(), whole.to(dtype).unwrap().t().unwrap().into_any())).collect();
    all.push(("empty", monomorph::ops::zeros((0, 3), F32).map(Tensor::<Cpu>::into_any).unwrap()));
    all.push(("scalar", tensor![2.5f32].select(0, 0).unwrap().into_any()));
    let complex = Tensor::<Cpu>::from_vec(vec![Complex32::new(1.0, 2.0)], 1).unwrap();
    all.push(("conjugated", complex.conj().unwrap().into_any()));
    all
}

fn assert_same(name: &str, got: &Tensor<Cpu>, want: &AnyTensor) {
    let want = want.downcast_ref::<Cpu>().unwrap();
    assert_eq!((got.dtype(), got.sizes()), (want.dtype(), want.sizes()), "{name}");
    assert!(got.equal(want).unwrap(), "{name}: {got} is not {want}");
}

#[test]
fn safetensors_come_back() {
    let all: Vec<_> = tensors().into_iter().filter(|(name, _)| *name != "complex128").collect();
    let file = path("all.safetensors");
    safetensors::write(&file, all.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
    let read = safetensors::read(&file).unwrap();
    assert_eq!(read.len(), all.len());
    assert!(read.is_sorted_by(|(a, _), (b, _)| a < b));
    for (name, want) in &all {
        assert_same(name, &read.iter().find(|(own, _)| own == name).unwrap().1, want);
    }
    let wide = Tensor::<Cpu>::from_vec(vec![monomorph::Complex64::new(1.0, 2.0)], 1).unwrap().into_any();
    let error = safetensors::write(path("wide.safetensors"), [("x", &wide)]).unwrap_err().to_string();
    assert!(error.ends_with("x: the format has no dtype complex128"), "{error}");
}

#[test]
fn arrays_of_numpy_come_back() {
    let all: Vec<_> = tensors().into_iter().filter(|(name, _)| *name != "bfloat16").collect();
    for (name, want) in &all {
        let file = path(&format!("{name}.npy"));
        npy::write(&file, want).unwrap();
        assert_same(name, &npy::read(&file).unwrap(), want);
    }
    let file = path("all.npz");
    npy::write_archive(&file, all.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
    let read = npy::read_archive(&file).unwrap();
    assert!(read.iter().map(|(name, _)| &**name).eq(all.iter().map(|(name, _)| *name)));
    for ((name, got), (_, want)) in read.iter().zip(&all) {
        assert_same(name, got, want);
    }
    let half = Tensor::<Cpu>::from_vec(vec![bf16::ONE], 1).unwrap().into_any();
    assert!(npy::write(path("half.npy"), &half).unwrap_err().to_string().contains("no bfloat16"));
    assert_eq!(npy::read(path("float16.npy")).unwrap().to_vec::<f16>().unwrap()[1], f16::from_f32(4.0));
}

/// A file of NumPy with this header before the data.
fn array(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{header}\n");
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn read(name: &str, bytes: &[u8]) -> monomorph::files::Result<Tensor<Cpu>> {
    let file = path(name);
    std::fs::write(&file, bytes).unwrap();
    npy::read(file)
}

#[test]
fn columns_may_come_first_and_bytes_in_the_other_order() {
    let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
    let data: Vec<u8> = (1..=6i16).flat_map(i16::to_be_bytes).collect();
    let read = read("columns.npy", &array(header, &data)).unwrap();
    assert_eq!(read.strides(), [1, 2]);
    assert_eq!(read.to_vec::<i16>().unwrap(), [1, 3, 5, 2, 4, 6]);
}

#[test]
fn what_is_wrong_is_an_error_and_takes_no_memory() {
    let header = |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let cases = [
        ("'<f4'", "(1000000000000,)", "more than the file holds"),
        ("'<f4'", "(4294967296, 4294967296)", "more than the file holds"),
        ("'<f4'", "(3,)", "more than the file holds"),
        ("'<u8'", "(1,)", "elements of the kind"),
        ("[('a', '<f4')]", "(1,)", "an array of records"),
        ("'<f4'", "(-1,)", "shape has"),
        ("'<f4'", "((((1,),),),)", "shape has"),
    ];
    for (index, (descr, shape, expected)) in cases.into_iter().enumerate() {
        let error = read(&format!("wrong{index}.npy"), &array(&header(descr, shape), &[0; 8])).unwrap_err().to_string();
        assert!(error.contains(expected), "{descr} {shape}: {error}");
    }
    let whole = array(&header("'<f4'", "(2,)"), &[0; 8]);
    for length in 0..whole.len() {
        assert!(read("cut.npy", &whole[..length]).is_err(), "{length} bytes");
    }
    let file = path("cut.safetensors");
    safetensors::write(&file, [("x", &tensor![1.0f32].into_any())]).unwrap();
    let whole = std::fs::read(&file).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        assert!(safetensors::read(&file).is_err(), "{length} bytes");
    }
    assert!(npy::read(path("absent.npy")).unwrap_err().to_string().contains("absent.npy: "));
    assert!(npy::read_archive(path("cut.npy")).is_err());
}

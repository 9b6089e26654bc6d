//! Arrays of NumPy: one in a file (.npy), or several with names (.npz). The format is that of NumPy's `format.py`:
//! magic bytes, a version, the length of a header, the header as a literal of Python, the elements.

use super::header::{Header, of_dtype};
use super::{Result, failed, row_major};
use crate::{AnyTensor, Cpu, Geometry, Tensor};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Elements begin at a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// A longer header is none of an array of numbers.
const MAX_HEADER: u64 = 1 << 16;

/// An archive of more than this many times its size is not read.
const MAX_INFLATION: u64 = 1 << 10;

/// The array in a file (.npy) as a tensor: row-major, or with the columns first where the file has it so. Bool, uint8,
/// integers with a sign, float16, float32, float64 and complex numbers, in either byte order.
///
/// # Errors
///
/// The file cannot be read, is no such array, or has elements of another kind.
pub fn read(path: impl AsRef<Path>) -> Result<Tensor<Cpu>> {
    let path = path.as_ref();
    let file = File::open(path).map_err(failed(path))?;
    let length = file.metadata().map_err(failed(path))?.len();
    array(BufReader::new(file), length).map_err(failed(path))
}

/// Writes a tensor to a file (.npy), row-major.
///
/// # Errors
///
/// The file cannot be written, or the dtype is bfloat16, which NumPy does not have.
pub fn write(path: impl AsRef<Path>, tensor: &AnyTensor) -> Result<()> {
    let path = path.as_ref();
    let mut file = BufWriter::new(File::create(path).map_err(failed(path))?);
    write_array(&mut file, tensor).map_err(failed(path))?;
    file.flush().map_err(failed(path))
}

/// The arrays in an archive (.npz) with their names, in the order in which they lie there.
///
/// # Errors
///
/// The file cannot be read or is no such archive, or [`read`] would refuse an array.
pub fn read_archive(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor<Cpu>)>> {
    let path = path.as_ref();
    let file = File::open(path).map_err(failed(path))?;
    let most = file.metadata().map_err(failed(path))?.len().saturating_mul(MAX_INFLATION);
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(failed(path))?;
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(failed(path))?;
        let name = entry.name().map_err(failed(path))?.to_string();
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        let length = entry.size().min(most);
        let array = array(entry.take(most), length);
        arrays.push((name.clone(), array.map_err(|error| failed(path)(format!("{name}: {error}")))?));
    }
    Ok(arrays)
}

/// Writes tensors with their names to an archive (.npz), not compressed.
///
/// # Errors
///
/// As for [`write()`].
pub fn write_archive<'t>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (&'t str, &'t AnyTensor)>,
) -> Result<()> {
    let path = path.as_ref();
    let file = BufWriter::new(File::create(path).map_err(failed(path))?);
    let mut archive = zip::ZipWriter::new(file);
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, tensor) in tensors {
        archive.start_file(format!("{name}.npy"), options).map_err(failed(path))?;
        write_array(&mut archive, tensor).map_err(|error| failed(path)(format!("{name}: {error}")))?;
    }
    archive.finish().map_err(failed(path))?.flush().map_err(failed(path))
}

/// An array of a stream that is `length` bytes long at most.
fn array(mut from: impl Read, length: u64) -> std::result::Result<Tensor<Cpu>, String> {
    let said = |error: std::io::Error| error.to_string();
    let mut start = [0; 8];
    from.read_exact(&mut start).map_err(said)?;
    let [magic @ .., major, _] = start;
    if magic != *MAGIC || !(1..=3).contains(&major) {
        return Err("no array of NumPy of version 1, 2 or 3".to_owned());
    }
    let mut size = [0; 4];
    from.read_exact(&mut size[..if major == 1 { 2 } else { 4 }]).map_err(said)?;
    let size = u64::from(u32::from_le_bytes(size));
    if size > MAX_HEADER {
        return Err(format!("a header of {size} bytes; up to {MAX_HEADER} are read"));
    }
    let mut text = String::new();
    from.by_ref().take(size).read_to_string(&mut text).map_err(said)?;
    let header = Header::parse(&text)?;
    let wanted = header.bytes().filter(|bytes| *bytes <= length);
    let wanted = wanted.ok_or_else(|| format!("sizes {:?} are more than the file holds", header.sizes))?;
    let mut bytes = Vec::new();
    from.take(wanted).read_to_end(&mut bytes).map_err(said)?;
    if bytes.len() as u64 != wanted {
        return Err(format!("sizes {:?} are more than the file holds", header.sizes));
    }
    if header.is_big_endian != cfg!(target_endian = "big") {
        let number = header.dtype.to_real().size();
        bytes.chunks_exact_mut(number).for_each(<[u8]>::reverse);
    }
    tensor(&header, &bytes).map_err(|error| error.to_string())
}

fn tensor(header: &Header, bytes: &[u8]) -> crate::Result<Tensor<Cpu>> {
    if !header.columns_first {
        return Tensor::from_bytes(bytes, header.dtype, &header.sizes[..]);
    }
    // What the file has in columns is the transpose in rows.
    let back = |list: &[i64]| list.iter().rev().copied().collect::<Vec<_>>();
    let rows = Tensor::<Cpu>::from_bytes(bytes, header.dtype, back(&header.sizes))?;
    rows.with_geometry(Geometry::new(rows.dtype(), &header.sizes, &back(rows.strides()), rows.offset())?)
}

fn write_array(mut to: impl Write, tensor: &AnyTensor) -> std::result::Result<(), String> {
    let kind = of_dtype(tensor.dtype())
        .ok_or_else(|| format!("NumPy has no {}; convert it, or write a file of safetensors", tensor.dtype()))?;
    let sizes: String = tensor.sizes().iter().map(|size| format!("{size}, ")).collect();
    let sizes = if tensor.ndim() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    let mut header = format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Magic, version and length are ten bytes, and a line ends the header.
    let whole = (header.len() + 11).next_multiple_of(ALIGNMENT);
    header.extend(std::iter::repeat_n(' ', whole - header.len() - 11));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| "so many dimensions have no header".to_owned())?;
    let rows = row_major(tensor).map_err(|error| error.to_string())?;
    let bytes = rows.as_bytes().map_err(|error| error.to_string())?;
    let parts: [&[u8]; 5] = [MAGIC, &[1, 0], &length.to_le_bytes(), header.as_bytes(), &bytes];
    parts.into_iter().try_for_each(|part| to.write_all(part)).map_err(|error| error.to_string())
}

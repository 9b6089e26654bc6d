//! What has to hold after a call, whoever made it. Owns the checks; computes every extent anew, in 128 bits, and asks
//! the library for nothing but the numbers.

use monomorph::crates::core::annotations::Silent;
use monomorph::crates::core::schema::{Base, Schema};
use monomorph::crates::core::with_element;
use monomorph::crates::ops::linalg::ldl::PIVOTS;
use monomorph::crates::ops::linalg::spectral::{NOT_A_NUMBER, NOT_CONVERGED};
use monomorph::crates::ops::table::{Declaration, declarations};
use monomorph::{AnyTensor, DType, ErrorKind, Geometry, IValue};

/// Storages above this are not copied for comparison, tensors above this many elements not read.
const MAX_COPIED: usize = 1 << 16;

/// A tensor as it was before a call.
struct Seen {
    tensor: AnyTensor,
    geometry: String,
    storage: usize,
    storage_bytes: usize,
    version: u64,
    bytes: Option<Vec<u8>>,
}

impl Seen {
    fn of(tensor: &AnyTensor) -> Seen {
        let small = tensor.storage_bytes() <= MAX_COPIED;
        Seen {
            geometry: geometry_text(tensor.geometry()),
            storage: tensor.storage_id(),
            storage_bytes: tensor.storage_bytes(),
            version: tensor.version(),
            bytes: if small { tensor.storage_to_vec().ok() } else { None },
            tensor: tensor.clone(),
        }
    }

    /// What differs now. A storage may have grown, never shrunk.
    fn difference(&self, now: &AnyTensor, Kept { version, contents }: Kept) -> Option<String> {
        let geometry = geometry_text(now.geometry());
        if geometry != self.geometry {
            return Some(format!("its geometry was {} and is {geometry}", self.geometry));
        }
        if now.storage_id() != self.storage {
            return Some("it has another storage".to_owned());
        }
        if now.storage_bytes() < self.storage_bytes {
            return Some(format!("its storage shrank from {} to {} bytes", self.storage_bytes, now.storage_bytes()));
        }
        if version && now.version() != self.version {
            return Some(format!("its version was {} and is {}", self.version, now.version()));
        }
        if !contents {
            return None;
        }
        let bytes = self.bytes.as_ref()?;
        // It may have grown to more than can be copied.
        let same = Geometry::contiguous(DType::U8, &[bytes.len() as i64]).and_then(|same| now.with_geometry(same));
        match same.and_then(|same| same.to_vec::<u8>()) {
            Ok(now) if now == *bytes => None,
            Ok(now) => Some(format!("its bytes were {bytes:?} and are {now:?}")),
            Err(error) => Some(format!("it can no longer be read: {error}")),
        }
    }
}

/// What a call that failed has to leave as it was, besides geometry and storage.
#[derive(Clone, Copy)]
struct Kept {
    version: bool,
    contents: bool,
}

impl Kept {
    const ALL: Kept = Kept { version: true, contents: true };
    const NEITHER: Kept = Kept { version: false, contents: false };

    /// An integer division finds its zeros as it goes. Linear algebra looks at all matrices before it writes, but a
    /// kernel that was begun counts as a write.
    fn by(error: &ErrorKind) -> Kept {
        match error {
            ErrorKind::DivisionByZero => Kept::NEITHER,
            ErrorKind::Matrix { .. } | ErrorKind::OutOfRange { arg: "pivots", .. } => {
                Kept { version: false, ..Kept::ALL }
            }
            error if [NOT_A_NUMBER, NOT_CONVERGED, PIVOTS].contains(error) => Kept { version: false, ..Kept::ALL },
            _ => Kept::ALL,
        }
    }
}

/// Sizes and strides of very many dimensions are told by their number and a sum.
fn geometry_text(g: &Geometry) -> String {
    let sum = |list: &[i64]| list.iter().fold(0u64, |sum, &x| sum.rotate_left(5) ^ x as u64);
    let (sizes, strides) = (g.sizes(), g.strides());
    let shown = sizes.len().min(8);
    format!(
        "{} {} dims {:?} {:x} strides {:?} {:x} offset {} conj {} neg {} wrapped {} names {:?}",
        g.dtype(),
        sizes.len(),
        &sizes[..shown],
        sum(sizes),
        &strides[..shown],
        sum(strides),
        g.offset(),
        g.is_conj(),
        g.is_neg(),
        g.is_wrapped(),
        g.names()
    )
}

/// Whether a call may write what PyTorch's schema does not mark.
fn writes_silently(schema: &Schema, args: &[IValue]) -> bool {
    let is_it =
        |row: &&Declaration| row.overloads().any(|(_, text)| text.split('(').next() == Some(schema.full_name()));
    let write = declarations().find(is_it).map_or(&[][..], |row| row.silent_write);
    Silent { write, ..Silent::default() }.may_write(schema, |position| args.get(position))
}

/// The arguments of a call as they were before it.
pub(super) struct Before {
    given: Vec<IValue>,
    tensors: Vec<Seen>,
}

impl Before {
    pub(super) fn of(stack: &[IValue]) -> Before {
        let tensors = stack.iter().flat_map(IValue::tensors).map(Seen::of).collect();
        Before { given: stack.to_vec(), tensors }
    }

    /// After an error the stack and all that it holds are as they were; the caller's own handles, too.
    pub(super) fn unchanged(&self, stack: &[IValue], error: &monomorph::Error) -> Result<(), String> {
        if stack.len() != self.given.len() {
            return Err(format!("the stack had {} values and has {}", self.given.len(), stack.len()));
        }
        let kept = Kept::by(error.kind());
        let now: Vec<&AnyTensor> = stack.iter().flat_map(IValue::tensors).collect();
        if now.len() != self.tensors.len() {
            return Err("the stack has other tensors".to_owned());
        }
        for (i, (seen, now)) in self.tensors.iter().zip(now).enumerate() {
            for (whose, tensor) in [("on the stack", now), ("of the caller", &seen.tensor)] {
                if let Some(what) = seen.difference(tensor, kept) {
                    return Err(format!("tensor {i} {whose} was changed by a call that failed: {what}"));
                }
            }
        }
        let kinds = |values: &[IValue]| values.iter().map(IValue::kind_name).collect::<Vec<_>>();
        let (had, has) = (kinds(&self.given), kinds(stack));
        if had == has { Ok(()) } else { Err(format!("the stack had {had:?} and has {has:?}")) }
    }

    /// After success results are what the schema says, lie in their storages, and only what the schema marks was
    /// written.
    pub(super) fn finished(&self, schema: &Schema, results: &[IValue]) -> Result<(), String> {
        kinds(schema, results)?;
        // These take the bytes of another tensor as they are.
        let normal =
            !schema.name().starts_with("set") && schema.overload() != "dtype" && schema.overload() != "dtype_out";
        for (i, tensor) in results.iter().flat_map(IValue::tensors).enumerate() {
            within(tensor).map_err(|what| format!("result tensor {i}: {what}"))?;
            readable(tensor, normal && self.owns_no(tensor)).map_err(|what| format!("result tensor {i}: {what}"))?;
        }
        let silent = writes_silently(schema, &self.given);
        let written: Vec<usize> = schema
            .args()
            .zip(&self.given)
            .filter(|(arg, _)| arg.is_mutable() || silent)
            .flat_map(|(_, value)| value.tensors().map(AnyTensor::storage_id))
            .collect();
        for (i, seen) in self.tensors.iter().enumerate() {
            within(&seen.tensor).map_err(|what| format!("argument tensor {i}: {what}"))?;
            let may_be_written = written.contains(&seen.storage);
            if let Some(what) = seen.difference(&seen.tensor, if may_be_written { Kept::NEITHER } else { Kept::ALL }) {
                return Err(format!("argument tensor {i} was changed: {what}"));
            }
        }
        // `set_` moves a tensor to another storage.
        for (i, position) in schema.written_positions().enumerate().filter(|_| !schema.name().starts_with("set")) {
            let given = position.and_then(|position| self.given.get(position)).and_then(IValue::as_tensor);
            if let (Some(given), Some(result)) = (given, results.get(i).and_then(IValue::as_tensor))
                && given.storage_id() != result.storage_id()
            {
                return Err(format!("result {i} is not the argument that the schema says it is"));
            }
        }
        Ok(())
    }

    /// True for a tensor over a new storage, unless an argument lies as bool over bytes that are none: `cat` copies
    /// bytes, as PyTorch's does, and whoever reads a bool takes any byte.
    fn owns_no(&self, tensor: &AnyTensor) -> bool {
        let id = tensor.storage_id();
        let given = |value: &IValue| matches!(value, IValue::Storage(storage) if storage.id() == id);
        let odd = |seen: &Seen| {
            seen.storage == id
                || seen.tensor.dtype() == DType::Bool
                    && seen.bytes.as_ref().is_none_or(|bytes| bytes.iter().any(|byte| *byte > 1))
        };
        !self.given.iter().any(given) && !self.tensors.iter().any(odd)
    }
}

/// Number and kinds of the results.
fn kinds(schema: &Schema, results: &[IValue]) -> Result<(), String> {
    let want = schema.returns();
    if results.len() != want.len() {
        return Err(format!("{} results; the schema has {}", results.len(), want.len()));
    }
    for (i, (want, got)) in want.iter().zip(results).enumerate() {
        let fits = match (want.ty().base(), want.ty().is_list(), got) {
            (Base::Tensor, true, IValue::Tensors(_) | IValue::OptionalTensors(_)) => true,
            // Undefined where an output mask leaves it out.
            (Base::Tensor, false, IValue::Tensor(_) | IValue::None) => true,
            (Base::Bool | Base::SymBool, false, IValue::Bool(_)) => true,
            (Base::Int | Base::SymInt, false, IValue::Int(_)) => true,
            (Base::Int | Base::SymInt, true, IValue::Ints(_)) => true,
            (Base::Float, false, IValue::Float(_)) => true,
            (Base::Scalar, false, number) => number.to_scalar().is_some(),
            (Base::ScalarType, false, IValue::DType(_)) => true,
            (Base::Storage, false, IValue::Storage(_)) => true,
            _ => false,
        };
        if !fits {
            return Err(format!("result {i} is {}; the schema says {:?}", got.kind_name(), want.ty()));
        }
    }
    Ok(())
}

/// Every element of the tensor lies in its storage.
fn within(t: &AnyTensor) -> Result<(), String> {
    let text = || format!("sizes {:?} strides {:?} offset {}", t.sizes(), t.strides(), t.offset());
    if t.sizes().len() != t.strides().len() || t.offset() < 0 {
        return Err(text());
    }
    if t.sizes().iter().chain(t.strides()).any(|&x| x < 0) {
        return Err(format!("negative: {}", text()));
    }
    if t.sizes().contains(&0) {
        return if t.numel() == 0 { Ok(()) } else { Err(format!("{} elements of {}", t.numel(), text())) };
    }
    let numel = t.sizes().iter().try_fold(1u128, |n, &size| n.checked_mul(size as u128));
    if numel != Some(t.numel() as u128) {
        return Err(format!("{} elements of {}", t.numel(), text()));
    }
    let last = t.sizes().iter().zip(t.strides()).try_fold(t.offset() as u128, |at, (&size, &stride)| {
        at.checked_add((size as u128 - 1).checked_mul(stride as u128)?)
    });
    let end = last.and_then(|last| last.checked_add(1)?.checked_mul(t.dtype().size() as u128));
    match end {
        Some(end) if end <= t.storage_bytes() as u128 => Ok(()),
        _ => Err(format!("reaches byte {end:?} of {}: {}", t.storage_bytes(), text())),
    }
}

/// The elements can be read, which a sanitizer watches; those of a new bool tensor are 0 or 1.
fn readable(t: &AnyTensor, own: bool) -> Result<(), String> {
    if t.device().is_meta() || t.numel() > MAX_COPIED {
        return Ok(());
    }
    with_element!(t.dtype(), E => t.to_vec::<E>().map(|_| ()).map_err(|error| format!("it cannot be read: {error}")))?;
    if own && t.dtype() == DType::Bool && t.is_contiguous() && t.storage_bytes() <= MAX_COPIED {
        let bytes = t.storage_to_vec().map_err(|error| error.to_string())?;
        let first = usize::try_from(t.offset()).map_err(|error| error.to_string())?;
        if let Some(byte) = bytes.iter().skip(first).take(t.numel()).find(|byte| **byte > 1) {
            return Err(format!("an element of a new bool tensor is the byte {byte}"));
        }
    }
    Ok(())
}

/// The results as text, for two calls with equal arguments: `None` where there is too much of them.
pub(super) fn values(results: &[IValue]) -> Option<String> {
    let mut text = String::new();
    for t in results.iter().flat_map(IValue::tensors) {
        if t.numel() > 512 {
            return None;
        }
        text += &geometry_text(t.geometry());
        if !t.device().is_meta() {
            with_element!(t.dtype(), E => text += &format!("{:?}", t.to_vec::<E>().ok()?));
        }
    }
    Some(text)
}

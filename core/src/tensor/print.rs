//! Tensors as text: with `{}` as PyTorch 2.15 prints them, to the character; with `{:?}` on one line, for messages.
//!
//! Elements are read where they are shown, twice: once to choose how all are written ([`number`]), once to write them.
//! Nothing is kept per element, and dimensions are no recursion: an element says which dimension it begins anew
//! ([`Step`]), and that is how many brackets are closed and opened before it.
//!
//! ```text
//! tensor([[[0, 1],        0 opens three; 1 is one further in the last dimension: ", "
//!          [2, 3]],       2 is one further in the last but one: "]", ",\n", "["
//!                         4 is one further in the last but two: "]]", ",\n\n", "[["
//!         [[4, 5],
//!          [6, 7]]])
//! ```
//!
//! Nothing here fails but the writer, since `to_string` panics of that: elements that cannot be read are left out.

mod number;

use super::elements::{Elements, Step};
use super::{AnyTensor, Tensor};
use crate::dtype::{DEFAULT_FLOAT, DType, Scalar};
use crate::storage::Device;
use number::{Format, Survey};
use std::fmt::{Debug, Display, Formatter, Result, Write};

// What PyTorch prints by unless it is told otherwise (`torch.set_printoptions`): digits behind the point,
const PRECISION: usize = 4;
// the most elements that are all shown,
const THRESHOLD: usize = 1000;
// how many are shown of more, at each end of a dimension,
const EDGE_ITEMS: i64 = 3;
// columns of a line.
const LINE_WIDTH: usize = 80;

const OPENING: &str = "tensor(";

/// The most digits behind the point: with one more, Rust's scientific notation panics.
const MAX_PRECISION: usize = u16::MAX as usize - 1;

/// The most elements that are printed if there need not be as many in memory: an expanded tensor can have more than
/// anybody can wait for, and even the ends of its dimensions, 6 to the power of their number. A million is some 10 MB
/// of text.
const MAX_ELEMENTS: usize = 1 << 20;

/// The most elements that are shown with `{:?}`.
const MAX_DEBUG_ELEMENTS: usize = 10;

/// A writer that knows how wide its last line is.
struct Lines<'w> {
    to: &'w mut dyn Write,
    column: usize,
}

impl Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> Result {
        match text.rfind('\n') {
            Some(end) => self.column = text[end + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
        self.to.write_str(text)
    }
}

impl Lines<'_> {
    fn repeat(&mut self, c: char, times: usize) -> Result {
        (0..times).try_for_each(|_| self.write_char(c))
    }
}

/// The elements in nested brackets.
struct Body<'t> {
    elements: Elements<'t>,
    format: Format,
    ndim: usize,
    edge: i64,
}

impl<'t> Body<'t> {
    /// `None` if the elements cannot be read, or are too many.
    fn of(tensor: &'t AnyTensor, precision: usize, is_full: bool) -> Option<Body<'t>> {
        let edge = edge(tensor, is_full)?;
        let mut elements = tensor.0.elements().ok()?;
        let mut survey = Survey::new(tensor.dtype().kind());
        elements.for_each(edge, |_, number| number.map(|number| survey.include(number))).ok()?;
        Some(Body { elements, format: survey.format(precision), ndim: tensor.ndim(), edge })
    }

    fn write(mut self, out: &mut Lines<'_>) -> Result {
        let ndim = self.ndim;
        // Brackets stand before a row, of which PyTorch counts all but one. A comma and a space follow each element,
        // which PyTorch counts behind the last of a line, too.
        let room = (LINE_WIDTH + 1).saturating_sub(OPENING.len() + ndim);
        let per_line = (room / (self.format.width() + ", ".len())).max(1);
        let mut in_line = 0;
        let mut item = |out: &mut Lines<'_>, text: &str, begins_row: bool| {
            if begins_row {
                in_line = 0;
            } else if in_line == per_line {
                in_line = 0;
                separate(out, ndim, ndim.saturating_sub(1))?;
            } else {
                out.write_str(", ")?;
            }
            in_line += 1;
            out.write_str(text)
        };
        let mut text = String::new();
        let mut is_first = true;
        self.elements.for_each(self.edge, |Step { dim, is_cut }, number| {
            // Brackets that are closed and opened again.
            let brackets = ndim.saturating_sub(dim + 1);
            let begins_row = is_first || brackets > 0;
            if is_first {
                out.repeat('[', ndim)?;
            } else if begins_row {
                out.repeat(']', brackets)?;
                separate(out, ndim, dim)?;
                if is_cut {
                    out.write_str("...")?;
                    separate(out, ndim, dim)?;
                }
                out.repeat('[', brackets)?;
            } else if is_cut {
                // PyTorch's space: a row may be `[0, 1, 2,  ..., 7, 8, 9]`.
                item(out, " ...", false)?;
            }
            is_first = false;
            text.clear();
            match number {
                Ok(number) => self.format.push(number, &mut text),
                Err(_) => text.push('?'),
            }
            item(out, &text, begins_row)
        })?;
        out.repeat(']', ndim)
    }
}

/// How many elements are shown at each end of a dimension; `None` if those of all ends are too many.
fn edge(tensor: &AnyTensor, is_full: bool) -> Option<i64> {
    let in_memory = tensor.storage_bytes() / tensor.dtype().size();
    let most = if is_full { MAX_ELEMENTS.max(in_memory) } else { THRESHOLD };
    if tensor.numel() <= most {
        return Some(i64::MAX);
    }
    let ends = |n: usize, &size: &i64| n.saturating_mul(size.min(2 * EDGE_ITEMS) as usize);
    (tensor.sizes().iter().fold(1, ends) <= MAX_ELEMENTS).then_some(EDGE_ITEMS)
}

/// Ends an element of dimension `dim` of `ndim`, or a line of a row: what follows begins below it, behind a blank line
/// for each dimension between `dim` and the rows.
fn separate(out: &mut Lines<'_>, ndim: usize, dim: usize) -> Result {
    out.write_char(',')?;
    out.repeat('\n', ndim.saturating_sub(dim + 1).max(1))?;
    out.repeat(' ', OPENING.len() + dim + 1)
}

/// Sizes as Python writes a tuple.
fn tuple<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    match items {
        [one] => format!("({},)", text(one)),
        _ => format!("({})", items.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}

fn display(tensor: &AnyTensor, f: &mut Formatter<'_>) -> Result {
    let g = tensor.geometry();
    let (precision, is_full) = (f.precision().unwrap_or(PRECISION).min(MAX_PRECISION), f.alternate());
    let out = &mut Lines { to: f, column: 0 };
    out.write_str(OPENING)?;

    let is_empty = g.numel() == 0 && tensor.0.header().is_some();
    let body = if is_empty { None } else { Body::of(tensor, precision, is_full) };
    let has_body = body.is_some();
    match body {
        Some(body) => body.write(out)?,
        None => out.write_str(if is_empty { "[]" } else { "..." })?,
    }

    let mut suffixes = Vec::new();
    if !tensor.device().is_cpu() {
        suffixes.push(format!("device='{}'", tensor.device()));
    }
    // `[]` says by itself that the size is (0,).
    let says_size = has_body || (is_empty && g.ndim() == 1);
    if !says_size {
        suffixes.push(format!("size={}", tuple(g.sizes(), i64::to_string)));
    }
    // So do elements of these dtypes, where there are some.
    let says_dtype = has_body && matches!(g.dtype(), DType::Bool | DType::I64 | DType::C64);
    if !says_dtype && g.dtype() != DEFAULT_FLOAT {
        suffixes.push(format!("dtype=torch.{}", g.dtype()));
    }
    if let Some(names) = g.names() {
        let quoted = |name: &Option<_>| name.as_deref().map_or("None".into(), |name: &str| format!("'{name}'"));
        suffixes.push(format!("names={}", tuple(names, quoted)));
    }

    // PyTorch counts the last line of the elements as two columns wider than it is.
    let mut width = out.column + 2;
    for suffix in suffixes {
        let behind = width + ", ".len() + suffix.chars().count();
        if behind > LINE_WIDTH {
            out.write_str(",\n")?;
            out.repeat(' ', OPENING.len())?;
            width = OPENING.len() + suffix.chars().count();
        } else {
            out.write_str(", ")?;
            width = behind;
        }
        out.write_str(&suffix)?;
    }
    out.write_char(')')
}

fn debug(tensor: &AnyTensor, f: &mut Formatter<'_>) -> Result {
    let g = tensor.geometry();
    write!(f, "Tensor {{ dtype: {}, sizes: {:?}", g.dtype(), g.sizes())?;
    if !g.is_contiguous() {
        write!(f, ", strides: {:?}", g.strides())?;
    }
    write!(f, ", device: {}", tensor.device())?;
    if let (true, Ok(mut elements)) = (g.numel() <= MAX_DEBUG_ELEMENTS, tensor.0.elements()) {
        let mut values = Vec::new();
        let read = elements.for_each(i64::MAX, |_, number| number.map(|number| values.push(exact(number, g.dtype()))));
        if read.is_ok() {
            write!(f, ", values: [{}]", values.join(", "))?;
        }
    }
    f.write_str(" }")
}

/// The shortest text that is no other number of the dtype.
fn exact(number: Scalar, dtype: DType) -> String {
    match number {
        _ if matches!(dtype, DType::F64 | DType::C128) => number.to_string(),
        Scalar::Float(x) => format!("{:?}", x as f32),
        Scalar::Complex(z) => format!("{:?}{:+?}j", z.re as f32, z.im as f32),
        other => other.to_string(),
    }
}

/// As PyTorch 2.15 prints the tensor: four digits behind the point, lines of 80 columns, and of more than 1000 elements
/// three at each end of a dimension.
///
/// ```text
/// tensor([[1.0000, 0.5000, 0.3333],
///         [0.2500, 0.2000, 0.1667]])
/// ```
///
/// `{:.2}` is PyTorch's printing with `precision=2`. `{:#}` shows all elements, as with `threshold=inf`; only a tensor
/// of more than a million elements, and more than its storage has, is still cut. No more is read than is shown. A
/// tensor that is being written is printed as one without data.
///
/// ```
/// use monomorph_core::{DType, Meta, Tensor};
///
/// let t = Tensor::<Meta>::zeros_contiguous(DType::I32, &[2, 3])?;
/// assert_eq!(t.to_string(), "tensor(..., device='meta', size=(2, 3), dtype=torch.int32)");
/// # monomorph_core::Result::Ok(())
/// ```
impl Display for AnyTensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        display(self, f)
    }
}

/// The text of [`AnyTensor`]: that of PyTorch, where `{:.2}` is a precision of two digits and `{:#}` shows all
/// elements.
///
/// ```
/// use monomorph_core::{DType, Meta, Tensor};
///
/// let t = Tensor::<Meta>::zeros_contiguous(DType::F32, &[3])?;
/// assert_eq!(t.to_string(), "tensor(..., device='meta', size=(3,))");
/// # monomorph_core::Result::Ok(())
/// ```
impl<D: Device> Display for Tensor<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        display(self.as_any(), f)
    }
}

/// Dtype, sizes, strides unless contiguous, and device; the values, exactly, if they are at most ten. One line, also
/// with `{:#?}`.
///
/// ```
/// use monomorph_core::{DType, Meta, Tensor};
///
/// let t = Tensor::<Meta>::zeros_contiguous(DType::I32, &[2, 3])?.into_any();
/// assert_eq!(format!("{t:?}"), "Tensor { dtype: int32, sizes: [2, 3], device: meta }");
/// # monomorph_core::Result::Ok(())
/// ```
impl Debug for AnyTensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        debug(self, f)
    }
}

/// The text of [`AnyTensor`]: one line, with the values only if they are at most ten.
///
/// ```
/// use monomorph_core::{DType, Meta, Tensor};
///
/// let t = Tensor::<Meta>::zeroed(DType::F32, &[2, 3], &[1, 2], 0)?;
/// assert_eq!(format!("{t:?}"), "Tensor { dtype: float32, sizes: [2, 3], strides: [1, 2], device: meta }");
/// # monomorph_core::Result::Ok(())
/// ```
impl<D: Device> Debug for Tensor<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        debug(self.as_any(), f)
    }
}

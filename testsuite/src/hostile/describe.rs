//! Values in words: what a call must leave alone, and what a report of a failure shows. Owns bounded text: no value,
//! however long, makes a long one.

use monomorph::{AnyTensor, IValue};
use std::fmt::Write;

/// A value as far as a failed call must leave it alone; `bytes` says whether its memory counts, too.
pub fn describe(value: &IValue, bytes: bool) -> String {
    let mut text = value.kind_name().to_owned();
    for t in value.tensors() {
        text += &format!(" {:?} in {}", t.geometry(), t.storage_id());
        if bytes {
            text += &format!(" version {} {:?}", t.version(), t.storage_to_vec().ok());
        }
    }
    if value.tensors().next().is_none() {
        text += &format!(" {value:?}");
    }
    text
}

/// The first entries of a list, and how many there are.
fn list<T: std::fmt::Debug>(items: &[T]) -> String {
    if items.len() <= 16 { format!("{items:?}") } else { format!("{:?}.. ({} in all)", &items[..8], items.len()) }
}

fn tensor(t: &AnyTensor, storages: &mut Vec<usize>) -> String {
    let id = t.storage_id();
    let number = storages.iter().position(|known| *known == id).unwrap_or_else(|| {
        storages.push(id);
        storages.len() - 1
    });
    let mut text = format!(
        "{} {} strides {} offset {} on {} storage #{number} of {} bytes",
        t.dtype(),
        list(t.sizes()),
        list(t.strides()),
        t.offset(),
        t.device(),
        t.storage_bytes()
    );
    for (bit, name) in [
        (t.is_conj(), " conj"),
        (t.is_neg(), " neg"),
        (t.geometry().is_wrapped(), " wrapped"),
        (t.names().is_some(), " named"),
        (t.is_frozen(), " frozen"),
    ] {
        text += if bit { name } else { "" };
    }
    if let Ok(bytes) = t.storage_to_vec()
        && bytes.len() <= 64
    {
        text += " ";
        bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string takes all"));
    }
    text
}

/// A call in full: one line per argument.
pub(super) fn call(schema: &str, stack: &[IValue]) -> String {
    let mut storages = Vec::new();
    let mut text = schema.to_owned();
    for (i, value) in stack.iter().enumerate() {
        write!(text, "\n  {i}: ").expect("a string takes all");
        text += &match value {
            IValue::Tensor(t) => tensor(t, &mut storages),
            IValue::Ints(items) => list(items),
            IValue::Floats(items) => list(items),
            IValue::Bools(items) => list(items),
            IValue::Scalars(items) => list(items),
            IValue::Strs(items) => list(items),
            IValue::Tensors(items) => {
                let lines: Vec<String> = items.iter().take(6).map(|t| tensor(t, &mut storages)).collect();
                format!("{} tensors: [{}]", items.len(), lines.join(",\n      "))
            }
            IValue::OptionalTensors(items) => {
                let text = |t: &Option<AnyTensor>| t.as_ref().map_or("None".to_owned(), |t| tensor(t, &mut storages));
                let lines: Vec<String> = items.iter().take(6).map(text).collect();
                format!("{} optional tensors: [{}]", items.len(), lines.join(",\n      "))
            }
            IValue::List(_) => "a list".to_owned(),
            other => format!("{other:?}"),
        };
    }
    text
}

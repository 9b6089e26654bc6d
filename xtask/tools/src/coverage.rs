//! `cargo xtask ops --coverage FILE`: how much of PyTorch's native_functions.yaml the table has. Owns the reading of
//! that file as far as the count needs it: names, the structured flag and tags.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// One entry of the file.
#[derive(Debug, Default, PartialEq)]
struct Entry {
    /// `add.out`.
    overload: String,
    /// Whether it is the out= form that a structured kernel is declared by.
    structured: bool,
    tags: Vec<String>,
}

impl Entry {
    /// `add` of `add_.Tensor`, `__and__` of itself.
    fn base(&self) -> &str {
        let name = self.overload.split('.').next().unwrap_or_default();
        if name.ends_with("__") { name } else { name.strip_suffix('_').unwrap_or(name) }
    }
}

/// The entries, in order.
fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(schema) = line.strip_prefix("- func:") {
            let overload = schema.split('(').next().unwrap_or_default().trim().to_owned();
            entries.push(Entry { overload, ..Entry::default() });
            continue;
        }
        let Some((key, value)) = line.strip_prefix("  ").and_then(|line| line.split_once(':')) else { continue };
        let Some(entry) = entries.last_mut() else { continue };
        match key {
            "structured" => entry.structured = value.trim() == "True",
            "tags" => {
                let tags = value.trim().trim_matches(['[', ']']).split(',');
                entry.tags = tags.map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
            }
            _ => {}
        }
    }
    if entries.is_empty() { Err("no entry begins with `- func:`".to_owned()) } else { Ok(entries) }
}

/// The report on entries, of which the table has those that `has` says.
fn report(entries: &[Entry], has: impl Fn(&str) -> bool) -> String {
    let mut groups: BTreeMap<&str, bool> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.structured) {
        *groups.entry(entry.base()).or_insert(true) &= has(&entry.overload);
    }
    let tagged = |tag: &str| -> BTreeMap<&str, bool> {
        let tagged = entries.iter().filter(|entry| entry.tags.iter().any(|own| own == tag));
        tagged.map(|entry| (entry.overload.as_str(), has(&entry.overload))).collect()
    };
    let all = entries.iter().map(|entry| (entry.overload.as_str(), has(&entry.overload))).collect();
    let parts = [
        ("structured groups", groups),
        ("core-tagged overloads", tagged("core")),
        ("pointwise-tagged overloads", tagged("pointwise")),
    ];
    let mut text = String::new();
    let count = |part: &BTreeMap<&str, bool>| part.values().filter(|&&here| here).count();
    // Writing to a String cannot fail.
    for (name, part) in parts.iter().map(|(name, part)| (*name, part)).chain([("all overloads", &all)]) {
        let _ = writeln!(text, "{:>5} of {:>5}  {name}", count(part), part.len());
    }
    for (name, part) in &parts {
        let missing: BTreeSet<&str> = part.iter().filter(|(_, here)| !**here).map(|(name, _)| *name).collect();
        let _ = writeln!(text, "\nmissing {name}: {}", missing.len());
        missing.iter().for_each(|name| {
            let _ = writeln!(text, "  {name}");
        });
    }
    text
}

/// Prints the report on a file.
pub(crate) fn print(path: &str) -> Result<bool, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let entries = entries(&text).map_err(|problem| format!("{path}: {problem}"))?;
    let operators = monomorph::dispatcher().operators();
    let ours: BTreeSet<&str> = operators.iter().map(|handle| handle.name()).collect();
    print!("{}", report(&entries, |overload| ours.contains(overload)));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# - func: not_this(Tensor self) -> Tensor
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
  tags: [core, pointwise]

- func: add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  tags: pointwise

- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  tags: pointwise

- func: eye(SymInt n) -> Tensor
";

    #[test]
    fn entries_are_read_and_counted() {
        let entries = entries(FILE).unwrap();
        let overloads: Vec<&str> = entries.iter().map(|entry| entry.overload.as_str()).collect();
        assert_eq!(overloads, ["add.Tensor", "add_.Tensor", "add.out", "eye"]);
        assert_eq!(entries.iter().map(|entry| entry.structured).collect::<Vec<_>>(), [false, false, true, false]);
        assert_eq!((entries[0].tags.len(), entries[1].base(), entries[3].tags.len()), (2, "add", 0));
        let text = report(&entries, |name| name != "add_.Tensor");
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "1 of     1  structured groups",
                "1 of     1  core-tagged overloads",
                "2 of     3  pointwise-tagged overloads",
                "3 of     4  all overloads",
                "missing structured groups: 0",
                "missing core-tagged overloads: 0",
                "missing pointwise-tagged overloads: 1",
                "add_.Tensor",
            ]
        );
        assert!(super::entries("nothing").is_err());
    }
}

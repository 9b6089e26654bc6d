//! What error texts advise exists: every `.method(` and every `use operator` in a text of the library is a method or a
//! function of it. That the advice works is in the facade's `tests/errors.rs`.

use std::collections::BTreeSet;
use std::path::Path;

/// Methods that are no operator's.
const INHERENT: [&str; 4] = ["at", "i", "to_device", "by"];

fn sources(dir: &Path, all: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(std::fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// The texts of errors in a source: attributes of error kinds, rules and what is accepted.
fn texts(source: &str) -> impl Iterator<Item = &str> {
    let is_text = |line: &&str| {
        let line = line.trim_start();
        let starts = ["#[error(", "rule:", "let rule =", "let accepted =", "accepted:", "\""];
        starts.iter().any(|start| line.starts_with(start))
    };
    source.lines().filter(is_text)
}

/// The words that stand behind `before` and in front of one of `after`.
fn words<'t>(text: &'t str, before: &str, after: &[char]) -> Vec<&'t str> {
    let behind = text.match_indices(before).map(|(at, _)| &text[at + before.len()..]);
    behind
        .filter_map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'))?;
            (end > 0 && rest[end..].starts_with(after)).then_some(&rest[..end])
        })
        .collect()
}

#[test]
fn what_is_advised_exists() {
    let functions: BTreeSet<&str> = monomorph::crates::ops::table::declarations()
        .flat_map(|declaration| declaration.forms)
        .filter_map(|form| form.function)
        .chain(INHERENT)
        .collect();
    let mut all = Vec::new();
    for dir in ["core/src", "iter/src", "ops/src", "devices/cpu/src", "devices/cuda/src", "src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(dir), &mut all);
    }
    let mut advised = BTreeSet::new();
    for text in all.iter().flat_map(|source| texts(source)) {
        advised.extend(words(text, " .", &['(']).into_iter().map(str::to_owned));
        advised.extend(words(text, "use ", &['"', ',', ';', ' ']).into_iter().map(str::to_owned));
    }
    // Words behind "use" that are no names.
    for plain in ["the", "a"] {
        advised.remove(plain);
    }
    assert!(["to", "contiguous", "reshape", "logical_xor"].iter().all(|name| advised.contains(*name)), "{advised:?}");
    let unknown: Vec<_> = advised.iter().filter(|name| !functions.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "texts advise {unknown:?}, which there are not");
}

//! The workspace keeps the house rules, and each rule can be broken.

use std::path::Path;

use monomorph_testsuite::conformance::workspace_root;
use monomorph_testsuite::tidy::{
    MAX_COLUMNS, MAX_LINES, Rule, Violation, check, check_decision, check_layers, check_manifest, check_pages,
    check_source,
};

#[test]
fn the_workspace_is_tidy() {
    let violations = check(&workspace_root()).expect("a readable workspace");
    let text: Vec<_> = violations.iter().map(Violation::to_string).collect();
    assert!(text.is_empty(), "\n{}", text.join("\n"));
}

fn source(file: &str, text: &str) -> Vec<Rule> {
    check_source(Path::new(file), text).into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn sources() {
    assert_eq!(source("core/src/a.rs", "//! A.\nfn a() {}\n"), []);
    assert_eq!(source("core/src/a.rs", "fn a() {}\n"), [Rule::Opening]);
    assert_eq!(source("core/src/a.rs", ""), [Rule::Opening]);
    for name in ["utils", "helpers", "common", "misc"] {
        assert_eq!(source(&format!("core/src/{name}.rs"), "//! A.\n"), [Rule::FileName], "{name}");
    }
    let test_off = format!("//! A.\n#[test]\n{}]\nfn a() {{}}\n", concat!("#[ig", "nore"));
    assert_eq!(source("core/src/a.rs", &test_off), [Rule::SwitchedOff]);
    let later = format!("//! A.\nfn a() {{ {}) }}\n", concat!("to", "do!("));
    assert_eq!(source("core/src/a.rs", &later), [Rule::Unfinished]);
    assert_eq!(source("core/src/a.rs", &format!("//! A.\n// no {}) here\n", concat!("to", "do!("))), []);
}

#[test]
fn length_counts_no_tests() {
    let lines = |n: usize| "//! A.\n".to_owned() + &"\n".repeat(n - 1);
    assert_eq!(source("core/src/a.rs", &lines(MAX_LINES)), []);
    assert_eq!(source("core/src/a.rs", &lines(MAX_LINES + 1)), [Rule::Length]);
    assert_eq!(source("core/src/a.rs", &(lines(MAX_LINES) + "#[cfg(test)]\nmod tests {}\n")), []);
    assert_eq!(source("core/tests/a.rs", &lines(MAX_LINES + 1)), []);
}

#[test]
fn width_counts_characters() {
    let comment = |columns: usize| format!("//! A.\n// {}\n", "é".repeat(columns - 3));
    assert_eq!(source("core/src/a.rs", &comment(MAX_COLUMNS)), []);
    assert_eq!(source("core/src/a.rs", &comment(MAX_COLUMNS + 1)), [Rule::Width]);
    let within = format!("//! A.\nmacro_rules! a {{\n{}\n}}\n", " ".repeat(MAX_COLUMNS + 1));
    assert_eq!(source("ops/src/a.rs", &within), [Rule::Width]);
}

#[test]
fn some_crates_forbid_unsafe_code() {
    for root in ["ops/src/lib.rs", "testsuite/src/lib.rs", "xtask/src/main.rs"] {
        assert_eq!(source(root, "//! A.\n"), [Rule::ForbidUnsafe], "{root}");
        assert_eq!(source(root, "//! A.\n#![forbid(unsafe_code)]\n"), [], "{root}");
    }
    assert_eq!(source("core/src/lib.rs", "//! A.\n"), []);
}

#[test]
fn dependencies_point_one_way() {
    let lines = |text: &str| {
        let found = check_manifest(Path::new("Cargo.toml"), text);
        assert!(found.iter().all(|violation| violation.rule == Rule::Direction));
        found.into_iter().map(|violation| violation.line).collect::<Vec<_>>()
    };
    let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}\n");
    assert_eq!(
        lines(&manifest("monomorph-ops", "[dependencies]\nmonomorph-iter.workspace = true\nhalf = \"2\"")),
        [0usize; 0]
    );
    assert_eq!(lines(&manifest("monomorph-ops", "[dependencies]\nmonomorph-cpu.workspace = true")), [4]);
    assert_eq!(lines(&manifest("monomorph-ops", "[dependencies]\nmonomorph-cpu = { path = \"a\" }")), [4]);
    assert_eq!(lines(&manifest("monomorph-ops", "[dependencies.monomorph-cpu]\npath = \"a\"")), [3]);
    assert_eq!(lines(&manifest("monomorph-core", "[target.'cfg(unix)'.dependencies]\nmonomorph = \"1\"")), [4]);
    assert_eq!(lines(&manifest("monomorph-core", "[build-dependencies]\nmonomorph-core = \"1\"")), [4]);
    assert_eq!(lines(&manifest("monomorph-cpu", "[dependencies]\nmonomorph-cuda = \"1\"")), [4]);
    assert_eq!(lines(&manifest("monomorph-core", "[dev-dependencies]\nmonomorph-cpu = \"1\"")), [0usize; 0]);
    assert_eq!(lines("[workspace.dependencies]\nxtask = \"1\"\n[package]\nname = \"monomorph\"\n"), [0usize; 0]);
}

/// The lines and messages of the violations in `low/a.rs`, a file of the lowest of the layers low, middle and high.
fn layered(text: &str) -> Vec<(usize, String)> {
    let root = "//! R.
        mod high;
        pub use low::Low;
        pub use middle::{Middle as Centre, deep::{Deep}};
        pub use high::High;
    ";
    let exported = "//! H.\n#[macro_export]\nmacro_rules! top { () => {} }\nmacro_rules! own { () => {} }\n";
    let files = [
        ("x/src/lib.rs", root),
        ("x/src/low/a.rs", text),
        ("x/src/middle/mod.rs", "use crate::low::Low;\n"),
        ("x/src/high.rs", exported),
        ("y/src/low/b.rs", "use crate::high::High;\n"),
    ];
    let files = files.map(|(file, text)| (file.into(), text.to_owned()));
    let found = check_layers(Path::new("x/src"), &["low", "middle", "high"], &files);
    assert!(found.iter().all(|one| one.rule == Rule::Layer && one.file == Path::new("x/src/low/a.rs")), "{found:?}");
    found.into_iter().map(|violation| (violation.line, violation.message)).collect()
}

#[test]
fn layers_import_from_those_before_them() {
    let later = |name: &str, layer: &str| {
        let what = if name.is_empty() { String::new() } else { format!("{name} of ") };
        format!("the layer low imports {what}the later layer {layer}, but low ← middle ← high")
    };
    for (text, line, message) in [
        ("//! A.\nuse crate::high::High;\n", 2, later("", "high")),
        ("use std::{fmt, io};\nuse crate::{\n    low::Low,\n    high::{High, low},\n};\n", 4, later("", "high")),
        ("use crate::High;\n", 1, later("High", "high")),
        ("use crate::{Low, Centre};\n", 1, later("Centre", "middle")),
        ("fn f() -> crate::Deep {}\n", 1, later("Deep", "middle")),
        ("\nuse super::super::middle::Middle;\n", 2, later("", "middle")),
        ("mod b {\n    fn f() { if true {} }\n    use super::super::super::high::High;\n}\n", 3, later("", "high")),
        ("fn f() {\n    crate::top!()\n}\n", 2, later("top", "high")),
        ("macro_rules! m { () => { $crate::High } }\n", 1, later("High", "high")),
        ("#[cfg(test)]\nmod tests {}\nuse crate::High;\n", 3, later("High", "high")),
        ("#[cfg(test)]\nuse crate::{High};\nuse crate::Centre;\n", 3, later("Centre", "middle")),
        ("use crate::*;\n", 1, "the layer low imports the whole crate: name what it needs".to_owned()),
        ("use crate::{self as all};\n", 1, "the layer low imports the whole crate: name what it needs".to_owned()),
    ] {
        assert_eq!(layered(text), [(line, message)], "{text}");
    }
}

#[test]
fn what_is_no_import_of_a_later_layer() {
    for text in [
        "use crate::low::{high, Low};\nuse crate::Low;\nuse half::High;\nuse crate::half::High;\n",
        "//! See [`High`](crate::High).\n// crate::High\n/* crate::High */ const A: &str = \"crate::High\";\n",
        "pub(crate) fn high() {}\nuse super::high;\nmod b {\n    use super::super::high;\n}\n",
        "#[cfg(test)]\nmod tests {\n    use crate::High;\n    fn f() {}\n}\n",
        "fn f() { crate::own!() }\n",
    ] {
        assert_eq!(layered(text), [], "{text}");
    }
}

#[test]
fn a_crate_has_its_layers_and_no_others() {
    let messages = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(file, text)| (file.into(), (*text).to_owned())).collect();
        let found = check_layers(Path::new("x/src"), &["low", "high"], &files);
        found.iter().map(Violation::to_string).collect::<Vec<_>>()
    };
    assert_eq!(messages(&[]), [""; 0]);
    assert_eq!(messages(&[("x/src/lib.rs", ""), ("x/src/low/a.rs", ""), ("x/src/high.rs", "")]), [""; 0]);
    assert_eq!(
        messages(&[("x/src/lib.rs", "pub use low::*;\n"), ("x/src/low/a.rs", ""), ("x/src/other.rs", "")]),
        [
            "x/src/lib.rs:1: re-exports all of the layer low: name what is public",
            "x/src/other.rs: is in no layer: move it to the folder of one of low ← high",
            "x/src: has no layer high, but low ← high",
        ]
    );
}

#[test]
fn operators_with_typed_forms_have_pages() {
    let pages = |file: &str, page: &str, variants: &str| {
        let row =
            format!("    func: add.Tensor(Tensor self,\n        Tensor other) -> Tensor,\n    {variants}view: add;\n");
        let text = format!("//! A.\n\nnative! {{\n    family: A;\n\n{page}{row}}}\n");
        let found = check_pages(Path::new(file), &text);
        assert!(found.iter().all(|one| one.rule == Rule::Page && one.file == Path::new(file)), "{found:?}");
        found.into_iter().map(|one| (one.line, one.message)).collect::<Vec<_>>()
    };
    let (file, variants) = ("ops/src/elementwise/a.rs", "out: add.out, variants: function, method, ");
    let example = "    ///\n    /// ```\n    /// x.add(1)?;\n    /// ```\n";
    let link = "    /// [`add`](super::functions::add) under another name";
    for (page, line, message) in [
        (String::new(), 6, "no page: say in a sentence what it computes, and show it"),
        (example.to_owned(), 10, "no page: say in a sentence what it computes, and show it"),
        (
            format!("    /// Adds\n{example}"),
            11,
            "a page whose first paragraph is no sentence: end it with a full stop",
        ),
        (format!("{link}\n"), 7, "a page whose first paragraph is no sentence: end it with a full stop"),
        (
            "    /// Adds. See [`sub`](super::functions::sub).\n".to_owned(),
            7,
            "a page without an example: add a code block, or open with a link to the operator that has one",
        ),
    ] {
        assert_eq!(pages(file, &page, variants), [(line, format!("the row add.Tensor has {message}"))], "{page}");
        assert_eq!(pages(file, &page, ""), [], "by name only: {page}");
        assert_eq!(pages("ops/src/special/a.rs", &page, variants), [], "{page}");
    }
    for page in [format!("    /// Adds\n    /// elementwise.\n{example}"), format!("{link}.\n")] {
        assert_eq!(pages(file, &page, variants), [], "{page}");
    }
}

#[test]
fn decisions_have_four_parts() {
    let page = "# 1\n## Context\n## Choice\n## Rejected\n## Consequence\n";
    let decision = |text: &str| check_decision(Path::new("docs/decisions/0001-a.md"), text);
    assert_eq!(decision(page), []);
    for part in ["Context", "Choice", "Rejected", "Consequence"] {
        let found = decision(&page.replace(&format!("## {part}"), part));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains(part) && found[0].rule == Rule::Decision);
    }
}

#[test]
fn a_whole_workspace_is_walked() {
    let root = std::env::temp_dir().join(format!("monomorph-tidy-{}", std::process::id()));
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a writable directory");
        std::fs::write(path, text).expect("a writable file");
    };
    write("ops/src/lib.rs", "//! A.\n");
    write("ops/Cargo.toml", "[package]\nname = \"monomorph-ops\"\n[dependencies]\nmonomorph = \"1\"\n");
    write("docs/decisions/0001-a.md", "# 1\n## Context\n## Choice\n## Rejected\n");
    write("ops/src/views/a.rs", "//! A.\nnative! {\n    func: a() -> Tensor,\n    variants: function, view: a;\n}\n");
    write("target/built.rs", "");
    write(".hidden/a.rs", "");
    let found: Vec<_> =
        check(&root).expect("a readable workspace").into_iter().map(|violation| violation.rule).collect();
    std::fs::remove_dir_all(&root).expect("a removable directory");
    assert_eq!(found, [Rule::Decision, Rule::Direction, Rule::ForbidUnsafe, Rule::Page]);
}

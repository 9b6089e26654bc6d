//! Every operator that is written by hand begins with its span: what a generated function does by itself, an author
//! must not forget. What spans tell is asked where they are compiled in (`ops/tests/observe.rs`).

use monomorph::crates::ops::table::declarations;
use monomorph_testsuite::conformance::workspace_root;

/// Files whose functions a macro makes, all but those that can be found.
const MADE_BY_MACROS: [&str; 5] = ["windows", "random/fills", "random/factories", "random/parameters", "conv/slow"];
const ONE_FOR_ALL: &str = "let _span = observe::operator(";

/// The first line of a function's body.
fn first_line<'a>(source: &'a str, function: &str) -> Option<&'a str> {
    let declared = format!("pub fn {function}<");
    let body = &source[source.find(&declared)?..];
    let opening = body.lines().position(|line| line.ends_with('{'))?;
    body.lines().nth(opening + 1).map(str::trim)
}

#[test]
fn functions_that_are_written_by_hand_begin_with_their_span() {
    let mut seen = 0;
    let mut without = Vec::new();
    for row in declarations().filter(|row| row.kind == "kernel") {
        let module = row.module.trim_end_matches("::native").replace("monomorph_ops::", "");
        let (path, function) = (module, row.definition);
        let file = path.replace("::", "/");
        let source = workspace_root().join(format!("ops/src/{file}.rs"));
        let source = std::fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
        let first = first_line(&source, function);
        // Some are made by a macro of their own file, where one line serves all.
        if first.is_none() && MADE_BY_MACROS.iter().any(|made| file.ends_with(made)) && source.contains(ONE_FOR_ALL) {
            continue;
        }
        match first.is_some_and(|line| line.starts_with("let _span = observe::operator(\"")) {
            true => seen += 1,
            false => without.push(format!("{} ({path}::{function}) begins with {first:?}", row.name)),
        }
    }
    assert!(without.is_empty(), "{}", without.join("\n"));
    assert!(seen > 100, "{seen}");
}

//! The pages of operators: a row that has typed forms says in a sentence what it computes, and shows it.
//!
//! Rows are read off the lines of `native!` blocks: from `func:` to the semicolon at the end of a line, with the doc
//! comment in front. What a page says is not checked, and that its example runs is what doctests are for.

use std::path::Path;

use super::{Rule, Violation};

/// Folders and files whose rows have pages.
const WITH_PAGES: [&str; 6] = [
    "ops/src/elementwise",
    "ops/src/reductions",
    "ops/src/views",
    "ops/src/factories",
    "ops/src/composite",
    "ops/src/templates/scan.rs",
];

/// Checks the pages of a file; `file` is its path relative to the workspace.
///
/// The first paragraph ends with a full stop. An example is there, unless the page starts with a link to the operator
/// that has one, as in `mul under another name`.
pub fn check_pages(file: &Path, text: &str) -> Vec<Violation> {
    if !WITH_PAGES.iter().any(|part| file.starts_with(part)) {
        return Vec::new();
    }
    let (mut found, mut page) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (number, line) in lines.iter().enumerate() {
        if let Some(written) = line.strip_prefix("///") {
            page.push(written.trim());
            continue;
        }
        if let Some(row) = line.strip_prefix("func:") {
            let name = row.split('(').next().unwrap_or_default().trim();
            let end =
                lines[number..].iter().position(|line| line.ends_with(';')).map_or(lines.len(), |n| number + n + 1);
            let is_typed = lines[number..end].iter().any(|line| line.contains("variants:"));
            if let Some(what) = fault(&page).filter(|_| is_typed) {
                let message = format!("the row {name} has {what}");
                found.push(Violation { file: file.to_path_buf(), line: number + 1, rule: Rule::Page, message });
            }
        }
        page.clear();
    }
    found
}

/// What is wrong with a page.
fn fault(page: &[&str]) -> Option<&'static str> {
    let end = page.iter().position(|line| line.is_empty()).unwrap_or(page.len());
    let is_link = page.first().is_some_and(|line| line.starts_with("[`") && line.contains("](super::functions::"));
    match page[..end].last() {
        None => Some("no page: say in a sentence what it computes, and show it"),
        Some(last) if !last.ends_with('.') => {
            Some("a page whose first paragraph is no sentence: end it with a full stop")
        }
        Some(_) if is_link || page.contains(&"```") => None,
        Some(_) => {
            Some("a page without an example: add a code block, or open with a link to the operator that has one")
        }
    }
}

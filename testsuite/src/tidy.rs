//! The house rules that a program can check. Owns the rules and their messages; formatting and lints are rustfmt's and
//! clippy's.

mod layers;
mod pages;
mod tokens;

use std::fmt;
use std::path::{Path, PathBuf};

pub use layers::check_layers;
pub use pages::check_pages;

/// A rule of the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// Every source file opens with `//!`.
    Opening,
    /// At most [`MAX_LINES`] lines without the tests.
    Length,
    /// At most [`MAX_COLUMNS`] columns.
    Width,
    /// A file name says what is in it.
    FileName,
    /// No test is switched off.
    SwitchedOff,
    /// Nothing is left to be written later.
    Unfinished,
    /// Crates that need no unsafe code forbid it.
    ForbidUnsafe,
    /// Dependencies point one way.
    Direction,
    /// A layer of a crate imports only from those before it.
    Layer,
    /// An operator that has typed forms has a page, with an example.
    Page,
    /// A decision page has all its parts.
    Decision,
}

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, relative to the workspace.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The broken rule.
    pub rule: Rule,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Lines that a source file may have before its tests.
pub const MAX_LINES: usize = 600;

/// Columns that a line of a source file may have, in comments, strings and macro bodies, too, which rustfmt leaves
/// alone.
pub const MAX_COLUMNS: usize = 120;

/// Names that say nothing about what is in a file.
const EMPTY_NAMES: [&str; 4] = ["utils", "helpers", "common", "misc"];

/// Directories of the crates that forbid unsafe code.
const SAFE_CRATES: [&str; 7] = ["cli", "core/schema", "ops", "ops/macros", "testsuite", "xtask", "xtask/tools"];

/// The parts of a decision page.
const DECISION_PARTS: [&str; 4] = ["Context", "Choice", "Rejected", "Consequence"];

/// Checks every rule in the workspace at `root`.
///
/// # Errors
/// Those of reading the files.
pub fn check(root: &Path) -> std::io::Result<Vec<Violation>> {
    let (mut violations, mut sources) = (Vec::new(), Vec::new());
    for path in files(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path);
        let extension = name.extension().and_then(|extension| extension.to_str());
        let is_manifest = name.file_name().is_some_and(|file| file == "Cargo.toml");
        let is_decision = name.parent().is_some_and(|parent| parent.ends_with("docs/decisions"));
        if extension != Some("rs") && !is_manifest && !(is_decision && extension == Some("md")) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        match extension {
            Some("rs") => {
                violations.extend(check_source(name, &text));
                violations.extend(check_pages(name, &text));
                sources.push((name.to_path_buf(), text));
            }
            Some("md") => violations.extend(check_decision(name, &text)),
            _ => violations.extend(check_manifest(name, &text)),
        }
    }
    for (src, layers) in layers::LAYERED {
        violations.extend(check_layers(Path::new(src), layers, &sources));
    }
    violations.sort();
    Ok(violations)
}

/// Every file below `root` that is not built or hidden.
fn files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.') || name == "target";
            // Links are not followed: they may lead in circles or out of the workspace.
            match entry.file_type()? {
                kind if kind.is_dir() && !hidden => open.push(entry.path()),
                kind if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// Checks a `.rs` file; `file` is its path relative to the workspace.
pub fn check_source(file: &Path, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut broken = |rule, line, message: String| {
        found.push(Violation { file: file.to_path_buf(), line, rule, message });
    };
    if !text.starts_with("//!") {
        broken(
            Rule::Opening,
            1,
            "does not open with `//!`: say what the file owns and what it refuses to do".to_owned(),
        );
    }
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if EMPTY_NAMES.contains(&stem) {
        broken(Rule::FileName, 0, format!("is named {stem}: name it after the one thing that it owns"));
    }
    let own = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
    let is_test = file.components().any(|part| part.as_os_str() == "tests");
    if own > MAX_LINES && !is_test {
        broken(Rule::Length, 0, format!("has {own} lines without its tests; at most {MAX_LINES} are accepted"));
    }
    // Written in two parts so that this file does not break the rules that it checks.
    let (off, later) = (concat!("#[ig", "nore"), concat!("to", "do!("));
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        if line.contains(off) {
            broken(Rule::SwitchedOff, number + 1, "switches a test off: make it a strict expected failure".to_owned());
        }
        if line.contains(later) {
            broken(Rule::Unfinished, number + 1, "leaves code to be written later".to_owned());
        }
    }
    for (number, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > MAX_COLUMNS {
            broken(Rule::Width, number + 1, format!("has {columns} columns; at most {MAX_COLUMNS} are accepted"));
        }
    }
    let root = SAFE_CRATES
        .iter()
        .any(|dir| ["src/lib.rs", "src/main.rs"].iter().any(|root| file == Path::new(dir).join(root)));
    if root && !text.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]") {
        broken(Rule::ForbidUnsafe, 0, "lacks `#![forbid(unsafe_code)]`".to_owned());
    }
    found
}

/// How far a crate of the workspace is from the bottom; a crate may depend on lower ones only.
fn rank(package: &str) -> Option<usize> {
    Some(match package {
        "monomorph-schema" => 0,
        "monomorph-core" | "monomorph-macros" => 1,
        "monomorph-iter" => 2,
        "monomorph-ops" => 3,
        "monomorph" => 5,
        "monomorph-cli" | "monomorph-models" | "monomorph-testsuite" | "monomorph-benches" | "xtask" => 6,
        "monomorph-gpu" | "monomorph-tools" => 7,
        device if device.starts_with("monomorph-") => 4,
        _ => return None,
    })
}

/// Checks the dependencies of a `Cargo.toml`. Dependencies of tests may point anywhere.
pub fn check_manifest(file: &Path, text: &str) -> Vec<Violation> {
    let (mut package, mut section) = (None, String::new());
    let mut dependencies = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']).to_owned();
            // `[dependencies.name]` is a dependency, too.
            if let Some((kind, name)) = section.rsplit_once('.')
                && is_dependencies(kind)
            {
                dependencies.push((number + 1, name.to_owned()));
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.trim();
            if section == "package" && key == "name" {
                package = Some(value.trim().trim_matches('"').to_owned());
            } else if is_dependencies(&section) {
                dependencies.push((number + 1, key.split('.').next().unwrap_or_default().trim_matches('"').to_owned()));
            }
        }
    }
    let Some((package, own)) = package.and_then(|package| rank(&package).map(|rank| (package, rank))) else {
        return Vec::new();
    };
    let upward = dependencies.into_iter().filter(|(_, name)| rank(name).is_some_and(|theirs| theirs >= own));
    let message = |name| {
        format!(
            "{package} depends on {name}, but core ← iter ← ops ← devices ← facade ← testsuite, benches, xtask ← tools"
        )
    };
    let violation =
        |(line, name)| Violation { file: file.to_path_buf(), line, rule: Rule::Direction, message: message(name) };
    upward.map(violation).collect()
}

fn is_dependencies(section: &str) -> bool {
    let kind = section.rsplit('.').next().unwrap_or_default();
    matches!(kind, "dependencies" | "build-dependencies") && !section.starts_with("workspace")
}

/// Checks a page of `docs/decisions`.
pub fn check_decision(file: &Path, text: &str) -> Vec<Violation> {
    let headings: Vec<_> =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_matches(['#', ' '])).collect();
    let missing = DECISION_PARTS.iter().filter(|part| !headings.contains(part));
    let violation = |part: &&str| Violation {
        file: file.to_path_buf(),
        line: 0,
        rule: Rule::Decision,
        message: format!("lacks the heading {part}; a decision page has {}", DECISION_PARTS.join(", ")),
    };
    missing.map(violation).collect()
}

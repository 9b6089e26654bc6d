//! `cargo xtask schemas`: the committed list of schemas against that of an installed PyTorch, and against the parser.
//! Owns the comparison; the list is recorded by `testsuite/record/schemas.py`, and parsing is tested without PyTorch in
//! the core.

use monomorph::crates::core::schema::Schema;
use std::collections::BTreeSet;
use std::process::Command;
use xtask::workspace_root;

/// How many entries native_functions.yaml has, and how many schemas come of them.
const ENTRIES: usize = 2590;
const SCHEMAS: usize = 3110;

/// `cargo xtask schemas`.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    if let Some(other) = args.first() {
        return Err(format!("schemas takes no arguments, got {other}"));
    }
    let path = workspace_root().join("testsuite/golden/schemas.txt");
    let golden = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (entries, theirs) = ask()?;
    let problems = compare(&golden, &theirs);
    problems.iter().for_each(|problem| println!("{problem}"));
    println!("{} schemas, {entries} of them entries of native_functions.yaml; {} differ", theirs.len(), problems.len());
    Ok(problems.is_empty() && entries == ENTRIES && theirs.len() == SCHEMAS)
}

/// What PyTorch says: the number of entries that the list holds as they stand in the file, and the list.
fn ask() -> Result<(usize, Vec<String>), String> {
    let python = std::env::var_os("MONOMORPH_PYTHON").unwrap_or_else(|| "python3".into());
    let shown = python.to_string_lossy().into_owned();
    let script = workspace_root().join("testsuite/record/schemas.py");
    let output = Command::new(&python).arg(script).arg("--print").output();
    let output = output.map_err(|error| format!("PyTorch is looked for through {shown}: {error}"))?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        let last = problem.trim_end().lines().last().unwrap_or_default().to_owned();
        return Err(format!("{shown} finds no torchgen ({last}); MONOMORPH_PYTHON names one that can, with pyyaml"));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    let counts = lines.next().unwrap_or_default();
    match counts.split_once(' ').map(|(held, all)| (held.parse::<usize>(), all)) {
        Some((Ok(held), all)) if held.to_string() == all => Ok((held, lines.map(str::to_owned).collect())),
        _ => Err(format!("the list lacks entries of the file as they stand there: {counts}")),
    }
}

/// Every difference between the two lists, and every schema that does not come back unchanged.
fn compare(golden: &str, theirs: &[String]) -> Vec<String> {
    let ours: BTreeSet<&str> = golden.lines().collect();
    let all: BTreeSet<&str> = theirs.iter().map(String::as_str).collect();
    let mut problems: Vec<String> = all.difference(&ours).map(|line| format!("not in the list: {line}")).collect();
    problems.extend(ours.difference(&all).map(|line| format!("not in PyTorch: {line}")));
    for line in all {
        match Schema::parse(line) {
            Ok(schema) if schema.to_string() == line => {}
            Ok(schema) => problems.push(format!("{line}\nis printed as\n{schema}")),
            Err(error) => problems.push(error.to_string()),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_seen() {
        let theirs = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let golden = "f(Tensor x) -> Tensor\ng(int n=1) -> int\n";
        assert_eq!(compare(golden, &theirs(&["f(Tensor x) -> Tensor", "g(int n=1) -> int"])), [""; 0]);
        assert_eq!(compare(golden, &theirs(&["f(Tensor x) -> Tensor"])), ["not in PyTorch: g(int n=1) -> int"]);
        let more = compare(golden, &theirs(&["f(Tensor x) -> Tensor", "g(int n=1) -> int", "h( int n) -> int"]));
        assert_eq!(more.len(), 2, "{more:?}");
        assert!(more[1].contains("is printed as\nh(int n) -> int"), "{more:?}");
        let wrong = compare("f(Tensro x) -> ()", &theirs(&["f(Tensro x) -> ()"]));
        assert!(wrong.len() == 1 && wrong[0].contains("^ found `Tensro`"), "{wrong:?}");
    }
}

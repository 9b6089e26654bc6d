//! The recorded cases, where they lie beside the workspace: all can be read, and each agrees with itself.

use std::path::Path;

use monomorph_testsuite::conformance::{CaseFile, Selection, Verdict, bases, compare, golden_cases, recorded_cases};
use monomorph_testsuite::missing::skip;

use crate::echo::recorded;

/// How many files and cases a directory has; fails if one cannot be read or does not agree with itself.
fn read_and_echo(dir: &Path) -> (usize, usize) {
    let names = bases(dir, &Selection::default()).expect("a directory of cases");
    let (mut cases, mut broken, mut differing) = (0, Vec::new(), Vec::new());
    for base in &names {
        let file = match CaseFile::load(dir, base) {
            Ok(file) => file,
            Err(error) => {
                broken.push(error.to_string());
                continue;
            }
        };
        assert_eq!(file.base, *base);
        for case in &file.cases {
            cases += 1;
            let verdict = compare(case, &file.storages, &recorded(case, &file.storages));
            if verdict != Verdict::Passed {
                differing.push((case.id.clone(), verdict));
            }
            let by_overload = Selection { ops: vec![case.op.clone()], tags: case.tags.clone() };
            assert!(by_overload.takes(base, case));
        }
    }
    assert_eq!(broken, [] as [String; 0]);
    assert_eq!(differing, []);
    (names.len(), cases)
}

#[test]
fn the_full_recording_is_read_and_agrees_with_itself() {
    match recorded_cases() {
        Some(dir) => assert_eq!(read_and_echo(&dir), (873, 20_833)),
        None => skip("recording", "the full recording is not beside the workspace"),
    }
}

#[test]
fn the_golden_cases_are_read_and_agree_with_themselves() {
    assert_eq!(read_and_echo(&golden_cases()), (201, 2603));
}

#[test]
fn every_overload_is_found_by_its_name() {
    let Some(dir) = recorded_cases() else {
        return skip("recording", "the full recording is not beside the workspace");
    };
    for base in bases(&dir, &Selection::default()).expect("a directory of cases") {
        let text = std::fs::read_to_string(dir.join(format!("{base}.json"))).expect("a readable file");
        let header = text.lines().next().unwrap_or_default().to_owned() + "]}";
        let header: serde_json::Value = serde_json::from_str(&header).expect("a header line");
        for op in header["schemas"].as_object().expect("schemas").keys() {
            let selection = Selection { ops: vec![op.clone()], tags: Vec::new() };
            let found = bases(&dir, &selection).is_ok_and(|found| found.contains(&base));
            assert!(found, "{op} is not looked for in {base}");
        }
    }
}

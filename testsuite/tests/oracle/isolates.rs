//! Cases run in children: aborts, stack overflows, hangs and chatter cost one case each, never the run.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use monomorph_testsuite::conformance::{Call, CaseError, Outcome, Replayer, Selection, Supervisor, run_here, serve};

use crate::echo::storage_file;

/// Set for the children: the directory to serve.
const DIRECTORY: &str = "MONOMORPH_ORACLE_TEST_DIRECTORY";

/// Behaves as the overload's name demands.
struct Moody;

impl Replayer for Moody {
    fn call(&mut self, call: &Call<'_>) -> Outcome {
        match call.op.split('.').nth(1).unwrap_or_default() {
            "abort" => std::process::abort(),
            "exit" => std::process::exit(0),
            "overflow" => _ = std::hint::black_box(deeper(1)),
            "hang" => std::thread::sleep(Duration::from_secs(600)),
            "panic" => panic!("on purpose"),
            "chatter" => print!("chatter without an end of line"),
            _ => {}
        }
        Outcome::Unsupported
    }
}

#[expect(unconditional_recursion, reason = "a stack overflow is what the test needs")]
fn deeper(n: u64) -> u64 {
    let frame = std::hint::black_box([n; 512]);
    deeper(frame[3]) + frame[7]
}

/// A directory with one file of these overloads of `t`, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, overloads: &[&str]) -> Directory {
        let dir = std::env::temp_dir().join(format!("monomorph-oracle-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a writable directory");
        let schemas: Vec<_> = overloads.iter().map(|o| format!(r#""t.{o}":"t.{o}() -> ()""#)).collect();
        let case = |o: &&str| {
            format!(
                r#"{{"id":"t.{o}#0","op":"aten::t.{o}","args":[],"kwargs":{{}},"outputs":[],
            "rtol":0,"atol":0,"tags":["{o}"],"origin":"manual"}}"#
            )
        };
        let cases: Vec<_> = overloads.iter().map(case).collect();
        let json =
            format!(r#"{{"format":1,"base":"t","schemas":{{{}}},"cases":[{}]}}"#, schemas.join(","), cases.join(","));
        std::fs::write(dir.join("t.json"), json).expect("a writable file");
        std::fs::write(dir.join("t.safetensors"), storage_file(&[])).expect("a writable file");
        Directory(dir)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Not a test of its own: what the children of the other tests run.
#[test]
fn child() {
    if let Some(dir) = std::env::var_os(DIRECTORY) {
        serve(&PathBuf::from(dir), BufReader::new(io::stdin()), io::stdout(), || Moody).expect("open streams");
    }
}

fn supervisor(dir: &Directory, limit: Duration) -> Supervisor<impl Fn() -> Command + Sync> {
    let dir = dir.0.clone();
    let command = move || {
        let mut command = Command::new(std::env::current_exe().expect("a running test"));
        command.args(["--exact", "isolates::child", "--nocapture"]).env(DIRECTORY, &dir);
        command.stderr(std::process::Stdio::null());
        command
    };
    Supervisor { command, jobs: 2, limit, progress: false }
}

#[test]
fn whatever_happens_the_next_case_runs() {
    let overloads = ["a", "abort", "b", "panic", "c", "overflow", "d", "exit", "chatter", "e", "abort2"];
    let dir = Directory::new("moods", &overloads);
    let report = supervisor(&dir, Duration::from_secs(60)).run(&dir.0, &Selection::default()).expect("a directory");
    let failures: Vec<_> = report.failures.iter().map(|f| (f.op.as_str(), f.findings[0].kind.as_str())).collect();
    assert_eq!(failures, [("t.abort", "died"), ("t.exit", "died"), ("t.overflow", "died"), ("t.panic", "panicked")]);
    assert_eq!((report.total.failed, report.total.unsupported), (4, 7));
    assert!(report.failures[3].findings[0].text.contains("on purpose"));
}

#[test]
fn a_hang_ends_at_the_limit() {
    let dir = Directory::new("hang", &["hang", "a"]);
    let report = supervisor(&dir, Duration::from_secs(3)).run(&dir.0, &Selection::default()).expect("a directory");
    let text: Vec<_> = report.failures.iter().map(|failure| failure.to_string()).collect();
    assert_eq!(text, ["t.hang#0: no answer within 3 s"]);
    assert_eq!(report.total.unsupported, 1);
}

#[test]
fn a_worker_that_cannot_be_started_is_a_failure() {
    let dir = Directory::new("start", &["a"]);
    let command = || Command::new("/nowhere at all");
    let supervisor = Supervisor { command, jobs: 1, limit: Duration::from_secs(9), progress: false };
    let report = supervisor.run(&dir.0, &Selection::default()).expect("a directory");
    assert_eq!((report.total.failed, report.failures[0].findings[0].kind.as_str()), (1, "worker"));
}

#[test]
fn requests_that_make_no_sense_are_answered() {
    let dir = Directory::new("requests", &["a"]);
    let requests: &[u8] = b"nonsense\n[\"t\",7]\n[\"u\",0]\n[\"t\",0]\n";
    let mut answers = Vec::new();
    serve(&dir.0, requests, &mut answers, || Moody).expect("open streams");
    let text = String::from_utf8(answers).expect("text");
    let answers: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(answers[0].contains("bad request") && answers[1].contains("no case 7") && answers[2].contains("u.json"));
    assert!(answers[3].ends_with("verdict \"unsupported\"") && answers.len() == 4, "{answers:?}");
}

#[test]
fn unreadable_files_are_told_and_the_others_run() {
    let dir = Directory::new("unreadable", &["a", "b"]);
    std::fs::write(dir.0.join("u.json"), "{").expect("a writable file");
    std::fs::write(dir.0.join("u.safetensors"), storage_file(&[])).expect("a writable file");
    let here = run_here(&dir.0, &Selection::default(), || Moody).expect("a directory");
    let isolated = supervisor(&dir, Duration::from_secs(60)).run(&dir.0, &Selection::default()).expect("a directory");
    assert_eq!(here, isolated);
    assert!(here.total.unsupported == 2 && here.unreadable.len() == 1 && !here.is_clean());
}

#[test]
fn operators_and_tags_select() {
    let dir = Directory::new("select", &["a", "b"]);
    let count = |ops: &[&str], tags: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        let selection = Selection { ops: owned(ops), tags: owned(tags) };
        run_here(&dir.0, &selection, || Moody).map(|report| report.total.unsupported)
    };
    assert_eq!(count(&["t"], &[]), Ok(2));
    assert_eq!(count(&["t.b"], &[]), Ok(1));
    assert_eq!(count(&["t.b", "t.a"], &[]), Ok(2));
    assert_eq!(count(&[], &["a"]), Ok(1));
    for (ops, tags) in [(["t.b"], vec!["a"]), (["other"], vec![]), (["x"], vec![])] {
        assert!(matches!(count(&ops, &tags), Err(CaseError::NoCases { .. })), "{ops:?} {tags:?}");
    }
}

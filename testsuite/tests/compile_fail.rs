//! Programs that must not build, and what their author is told. Each `compile_fail/NAME.rs` is built against the
//! library as this test was, and `NAME.stderr` holds the lines that must be in the compiler's answer, in that order;
//! the rest of the answer is the compiler's own and may change with it. `builds.rs` is the control, and has no such
//! file.

use std::path::{Path, PathBuf};

use monomorph_testsuite::rustc::compile;

/// The cases: path and, but for the control, the expected lines.
fn cases() -> Vec<(PathBuf, Option<String>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail");
    let files = std::fs::read_dir(dir).expect("the cases").flatten().map(|entry| entry.path());
    let sources = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut cases: Vec<_> =
        sources.map(|path| (path.clone(), std::fs::read_to_string(path.with_extension("stderr")).ok())).collect();
    cases.sort();
    cases
}

/// The first expected line that is not there, behind those before it.
fn missing<'e>(expected: &'e str, mut text: &str) -> Option<&'e str> {
    expected.lines().map(str::trim).filter(|line| !line.is_empty()).find(|line| match text.find(line) {
        Some(at) => {
            text = &text[at + line.len()..];
            false
        }
        None => true,
    })
}

#[test]
fn every_case_is_told_what_is_wrong() {
    let (cases, object) = (cases(), std::env::temp_dir().join(format!("monomorph-case-{}.o", std::process::id())));
    let mut problems = Vec::new();
    for (source, expected) in &cases {
        let output = compile(source, &object);
        let text = String::from_utf8_lossy(&output.stderr);
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        match expected {
            None if output.status.success() => {}
            None => problems.push(format!("{name} must build:\n{text}")),
            Some(_) if output.status.success() => problems.push(format!("{name} must not build")),
            Some(expected) => {
                let line = missing(expected, &text);
                problems.extend(line.map(|line| format!("{name}: no line, or not in this place, {line:?} in\n{text}")));
            }
        }
    }
    let controls = cases.iter().filter(|(_, expected)| expected.is_none()).count();
    // The object stays away if nothing was built; a leftover in the temporary directory is no failure.
    let _ = std::fs::remove_file(&object);
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    assert_eq!((controls, cases.len()), (1, 48), "a case without expected lines would pass as a control");
}

/// Kernels of in-tree operators are compiled in the device's crate only: a program that uses them has no loop of
/// theirs.
#[test]
fn a_program_holds_no_kernel_of_the_library() {
    let dir = std::env::temp_dir().join(format!("monomorph-downstream-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let holds_kernels = |name: &str, source: &str| {
        let (path, object) = (dir.join(name).with_extension("rs"), dir.join(name).with_extension("o"));
        std::fs::write(&path, source).expect("a temporary file");
        let output = compile(&path, &object);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(&object).expect("the object file");
        // The method that all kernels are instances of, as its path is mangled.
        let kernel = b"monomorph_cpu..pointwise..kernel_fn..FormulaKernel$GT$6kernel";
        bytes.windows(kernel.len()).any(|window| window == kernel)
    };
    let uses = "use monomorph::prelude::*;
        fn main() -> monomorph::Result<()> {
            let a = Tensor::<Cpu>::from_slice(&[1.0f32], [1])?;
            a.add(&a)?.exp()?.eq(&a)?;
            Ok(())
        }";
    let defines = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail/builds.rs"));
    assert!(!holds_kernels("uses", uses), "an operator of the library was compiled in a program that only uses it");
    assert!(holds_kernels("defines", &defines.expect("the control")), "an operator of one's own is compiled here");
    std::fs::remove_dir_all(&dir).expect("the temporary directory");
}

//! The golden programs, each archive on every set of inputs.

use super::archive::{Entries, bytes, path};
use monomorph::program::Program;
use monomorph_testsuite::programs::{Record, Report, check};
use zip::CompressionMethod;

#[test]
fn golden_programs_are_as_recorded() {
    let dir = path("");
    let mut report = Report::default();
    for name in Record::names(&dir).expect("the golden programs") {
        report.checked.extend(check(&Record::load(&dir, &name).expect("a record")));
    }
    let failures: Vec<String> = report.failures().collect();
    let tally = report.tally();
    assert_eq!((tally.failed, tally.unsupported), (0, 0), "{}\n{}", failures.join("\n"), report.table());
    assert_eq!(report.strides().collect::<Vec<_>>(), [""; 0]);
    assert!(tally.passed >= 7 && report.checked.iter().all(|checked| checked.values > 0));
}

#[test]
fn a_program_is_the_same_however_it_lies_in_the_archive() {
    let entries = Entries::of("tied.pt2");
    let text = |program: Program| program.to_string();
    let mapped = text(Program::load(path("tied.pt2")).expect("from a file"));
    for archive in [bytes("tied.pt2"), entries.zip(CompressionMethod::Stored), entries.zip(CompressionMethod::Deflated)]
    {
        let program = Program::from_bytes(archive).expect("from bytes");
        assert!(program.weights().all(|(_, tensor)| tensor.is_frozen()));
        assert_eq!(text(program), mapped);
    }
    for part in ["embed.weight", "softmax.int(", "%ids: int64[3] = input 0", "return %linear", "# embed"] {
        assert!(mapped.contains(part), "{part} is not in\n{mapped}");
    }
}

#[test]
fn tied_weights_share_a_storage_of_the_map() {
    let program = Program::load(path("tied.pt2")).expect("a program");
    let weight = |name: &str| program.weights().find(|(own, _)| *own == name).expect(name).1.clone();
    let (embed, slice) = (weight("embed.weight"), weight("slice"));
    assert_eq!((slice.sizes(), slice.strides()), (&[3, 4][..], &[2, 12][..]));
    assert_eq!(weight("none").sizes(), [0, 6]);
    assert_eq!(embed.sizes(), [7, 6]);
}

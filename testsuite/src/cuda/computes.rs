//! The second check: the text of the kernels, compiled for the host and run thread by thread, gives what the CPU gives,
//! touches nothing but its operands, and does not depend on the order of threads. Owns the program and the comparison.

use super::jobs::{Job, jobs, near};
use super::{Case, Checked, Finding};
use crate::c_text::part_distance;
use crate::layout::values;
use monomorph::{Cpu, Geometry, Tensor};
use monomorph_cuda::{Form, Functor, source};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The compiler of the host, which has to know the address sanitizer.
pub const COMPILER: &str = "g++";

/// Whether it is there.
pub fn has_compiler() -> bool {
    Command::new(COMPILER).arg("--version").output().is_ok_and(|output| output.status.success())
}

const OPTIONS: [&str; 9] = [
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-Wno-unknown-pragmas",
    "-w",
    "-o",
];

/// The program that runs the kernels of these functors, in the order of [`Form::ALL`] each.
pub fn program(functors: &[Functor], kernels: &str) -> String {
    let names = functors.iter().flat_map(|f| Form::ALL.map(|form| f.kernel(form)));
    program_of(names, kernels, include_str!("host.cpp"))
}

/// The program that runs kernels by number, with a main function that calls them.
pub(super) fn program_of(names: impl Iterator<Item = String>, kernels: &str, main: &str) -> String {
    let mut text = format!("{}\n{kernels}\n{main}\n", include_str!("host.h"));
    text +=
        "static void host_kernel(unsigned kernel, const std::vector<char> &bytes, unsigned blocks, unsigned order) {\n";
    for (number, kernel) in names.enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  if (kernel == {number}) host_run({kernel}, bytes, blocks, order);");
    }
    text + "}\n"
}

/// Runs the kernels of these cases on the host, in programs below `folder`, and says what is wrong with them.
///
/// # Errors
/// If there is no compiler or no room; a kernel that does not compile or run is a finding.
pub fn check(cases: &[Case], folder: &Path) -> Result<Vec<Finding>, String> {
    let functors: Vec<Functor> = cases.iter().map(|case| case.functor.clone()).collect();
    check_text(cases, &program(&functors, &source(&functors)), folder)
}

/// The same for the text of a program, which may be another than [`program`]'s.
///
/// # Errors
/// As for [`check`].
pub fn check_text(cases: &[Case], text: &str, folder: &Path) -> Result<Vec<Finding>, String> {
    let whole = || cases.iter().map(Case::name).collect::<Vec<_>>().join(", ");
    let mut findings = Vec::new();
    let (mut fed, mut all) = (Vec::new(), Vec::new());
    for (number, case) in cases.iter().enumerate() {
        match jobs(case) {
            Ok(jobs) => {
                for job in jobs {
                    feed(&mut fed, number, &job);
                    all.push((case, job));
                }
            }
            Err(what) => findings.push(Finding { place: case.name(), what }),
        }
    }
    let ran = match run(text, &fed, folder)? {
        Ok(ran) => ran,
        Err(log) => return Ok(vec![Finding { place: whole(), what: log }]),
    };
    let mut results = ran.stdout.as_slice();
    for (number, (case, job)) in all.iter().enumerate() {
        let place = format!("{}_{}", case.name().replace(' ', "_"), job.launch.form.suffix());
        let finding = |what| Finding { place: place.clone(), what: format!("{}: {what}", job.layout) };
        let Some((result, rest)) = results.split_at_checked(job.storages[0].len() + 8) else {
            findings.push(finding(ended(&ran)));
            let mut others: Vec<String> = all[number..].iter().map(|(case, _)| case.name()).collect();
            others.dedup();
            let unrun = |place| Finding { place, what: "is not run: the program has ended".to_owned() };
            findings.extend(others.into_iter().skip(1).map(unrun));
            break;
        };
        results = rest;
        findings.extend(compare(case, job, result).into_iter().map(finding));
    }
    Ok(findings)
}

/// How a program ended before its time.
pub(super) fn ended(ran: &Output) -> String {
    let words = String::from_utf8_lossy(&ran.stderr);
    let first: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    format!("the program ends: {}\n{}", ran.status, first.join("\n"))
}

/// Compiles a program below `folder`, which is removed again, and runs it on this input: what it wrote, or why it does
/// not compile.
///
/// # Errors
/// If there is no compiler or no room.
pub(super) fn run(text: &str, input: &[u8], folder: &Path) -> Result<Result<Output, String>, String> {
    let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let (file, binary, jobs) = (folder.join("kernels.cpp"), folder.join("kernels"), folder.join("jobs"));
    std::fs::write(&file, text).map_err(|error| failed(&file, error))?;
    let built = Command::new(COMPILER).args(OPTIONS).arg(&binary).arg(&file).output();
    let built = built.map_err(|error| format!("{COMPILER}: {error}"))?;
    if !built.status.success() {
        return Ok(Err(format!("does not compile for the host:\n{}", String::from_utf8_lossy(&built.stderr))));
    }
    std::fs::write(&jobs, input).map_err(|error| failed(&jobs, error))?;
    let stdin = std::fs::File::open(&jobs).map_err(|error| failed(&jobs, error))?;
    // Leaks are of no interest, and looking for them takes rights that a container may not have.
    let ran = Command::new(&binary).stdin(Stdio::from(stdin)).env("ASAN_OPTIONS", "detect_leaks=0").output();
    let ran = ran.map_err(|error| failed(&binary, error))?;
    std::fs::remove_dir_all(folder).map_err(|error| failed(folder, error))?;
    Ok(Ok(ran))
}

/// What stands for an operand with memory of its own: `HOST_OWN` of the program.
pub(super) const OWN: u32 = u32::MAX;

/// Adds a job to what the program reads.
fn feed(fed: &mut Vec<u8>, case: usize, job: &Job) {
    let form = Form::ALL.iter().position(|&form| form == job.launch.form).unwrap_or(0);
    let (kernel, blocks) = (case * Form::ALL.len() + form, job.launch.blocks as usize);
    let head = [kernel, blocks, job.launch.arguments.len(), job.storages.len(), 1];
    head.iter().for_each(|&number| fed.extend((number as u32).to_le_bytes()));
    fed.extend(&job.launch.arguments);
    for (k, storage) in job.storages.iter().enumerate() {
        let shares = match storage {
            _ if job.in_place == Some(k) => 0,
            // A number is in the argument.
            _ if job.number == Some(k) => u32::MAX - 1,
            _ => OWN,
        };
        fed.extend((storage.len() as u64).to_le_bytes());
        fed.extend(shares.to_le_bytes());
        fed.extend(storage);
    }
}

/// What is wrong with what a kernel left behind.
fn compare(case: &Case, job: &Job, result: &[u8]) -> Option<String> {
    let (bytes, flags) = result.split_at(job.storages[0].len());
    let flag = |at: usize| flags.get(at..at + 4) != Some(&[0; 4][..]);
    if flag(4) {
        return Some("the result depends on the order of threads".to_owned());
    }
    if flag(0) != job.want.is_none() {
        return Some(
            if flag(0) { "says that a result is missing" } else { "does not say that a result is missing" }.to_owned(),
        );
    }
    let own = reached(&job.output, bytes.len());
    if let Some(at) = (0..bytes.len()).find(|&at| !own[at] && bytes[at] != job.storages[0][at]) {
        return Some(format!("writes byte {at} of the output's storage, which is no part of the output"));
    }
    let want = job.want.as_ref()?;
    let got = match Tensor::<Cpu>::from_storage(bytes, job.output.clone()) {
        Ok(got) => got,
        Err(error) => return Some(error.to_string()),
    };
    let near = near(case);
    let (got, want) = (values(&got), values(want));
    let apart = |i: &usize| part_distance(job.output.dtype(), got[*i], want[*i], near);
    if got.len() != want.len() {
        return Some(format!("{} elements; the CPU gives {}", got.len(), want.len()));
    }
    let worst = (0..want.len()).max_by_key(apart).filter(|i| apart(i) > near.ulp)?;
    Some(format!("element {worst} is {}, the CPU gives {}: {} units apart", got[worst], want[worst], apart(&worst)))
}

/// Which bytes of a storage belong to elements.
pub(super) fn reached(geometry: &Geometry, length: usize) -> Vec<bool> {
    let mut reached = vec![false; length];
    let size = geometry.dtype().size();
    crate::naive::each_index(geometry.sizes(), |index| {
        let steps = index.iter().zip(geometry.strides()).map(|(i, stride)| i * stride).sum::<i64>();
        let at = (geometry.offset() + steps) as usize * size;
        reached[at..at + size].fill(true);
    });
    reached
}

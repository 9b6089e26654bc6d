//! The kernels of `upsample_nearest1d` on CUDA, checked on a machine without a GPU: at every dtype, in every layout of
//! the input and the output. Owns the list and both checks.

pub mod faults;
mod jobs;

use super::compiles::{ARCH, in_halves, judge};
use super::computes::{OWN, ended, program_of, run};
use super::{Checked, Finding};
use jobs::{Job, jobs};
use monomorph::DType;
use monomorph_cuda::{CompileError, Nearest, Nvrtc, Usage, nearest_source};
use std::path::Path;

/// The kernel at one dtype.
pub struct NearestCase(Nearest);

/// Every case.
pub fn cases() -> Vec<NearestCase> {
    DType::ALL.into_iter().filter_map(Nearest::new).map(NearestCase).collect()
}

fn kernels(cases: &[NearestCase]) -> Vec<Nearest> {
    cases.iter().map(|case| case.0).collect()
}

impl Checked for NearestCase {
    fn name(&self) -> String {
        self.0.kernel()
    }
    fn family(&self) -> &str {
        "UpsampleNearest1d"
    }
    fn text(&self) -> String {
        nearest_source(&[self.0])
    }
    fn is_of(&self, finding: &Finding) -> bool {
        finding.place.split(", ").any(|name| name == self.name())
    }
    fn compiles(nvrtc: &Nvrtc, cases: &[NearestCase]) -> Result<Vec<Finding>, CompileError> {
        in_halves(cases, &|cases| check_usage(nvrtc, cases, &nearest_source(&kernels(cases))))
    }
    fn computes(cases: &[NearestCase], folder: &Path) -> Result<Vec<Finding>, String> {
        check_results(cases, &program(cases, &nearest_source(&kernels(cases))), folder)
    }
}

/// The first check of a text, which may be another than that of these cases.
fn check_usage(nvrtc: &Nvrtc, cases: &[NearestCase], text: &str) -> Result<Vec<Finding>, CompileError> {
    let compiled = nvrtc.compile(text, ARCH)?;
    let judged = cases.iter().flat_map(|case| {
        let usage = Usage::of(&compiled, &case.name()).unwrap_or_default();
        judge(&usage).into_iter().map(|what| Finding { place: case.name(), what })
    });
    Ok(judged.collect())
}

/// The program that runs the kernels of these cases.
fn program(cases: &[NearestCase], kernels: &str) -> String {
    program_of(cases.iter().map(NearestCase::name), kernels, include_str!("../host.cpp"))
}

/// The second check of the text of a program.
///
/// # Errors
/// If there is no compiler or no room; a kernel that does not compile or run is a finding.
fn check_results(cases: &[NearestCase], text: &str, folder: &Path) -> Result<Vec<Finding>, String> {
    let (mut fed, mut all) = (Vec::new(), Vec::new());
    for (number, case) in cases.iter().enumerate() {
        for job in jobs(case.0)? {
            feed(&mut fed, number, &job);
            all.push((case, job));
        }
    }
    let ran = match run(text, &fed, folder)? {
        Ok(ran) => ran,
        Err(log) => {
            let place = cases.iter().map(NearestCase::name).collect::<Vec<_>>().join(", ");
            return Ok(vec![Finding { place, what: log }]);
        }
    };
    let (mut left, mut findings) = (ran.stdout.as_slice(), Vec::new());
    for (case, job) in &all {
        let finding = |what| Finding { place: case.name(), what: format!("{}: {what}", job.layout) };
        let length = (job.storages[0].len() + FLAGS) * job.launches.len();
        let Some((results, rest)) = left.split_at_checked(length) else {
            findings.push(finding(ended(&ran)));
            // Nothing is known of the others.
            let unrun = |case: &NearestCase| Finding { place: case.name(), what: "the program has ended".to_owned() };
            findings.extend(cases.iter().map(unrun));
            break;
        };
        left = rest;
        findings.extend(compare(job, results).into_iter().map(finding));
    }
    Ok(findings)
}

/// Bytes behind each result: a flag of missing results, and whether threads in another order give something else.
const FLAGS: usize = 8;

/// Adds the launches of a job, each with memory of its own, to what the program reads.
fn feed(fed: &mut Vec<u8>, case: usize, job: &Job) {
    for launch in &job.launches {
        let head = [case, launch.blocks as usize, launch.arguments.len(), job.storages.len(), 0];
        head.iter().for_each(|&number| fed.extend((number as u32).to_le_bytes()));
        fed.extend(&launch.arguments);
        for storage in &job.storages {
            fed.extend((storage.len() as u64).to_le_bytes());
            fed.extend(OWN.to_le_bytes());
            fed.extend(storage);
        }
    }
}

/// What is wrong with what the launches of a job left behind. Elements are moved and not computed, so they are the
/// CPU's.
fn compare(job: &Job, results: &[u8]) -> Option<String> {
    let before = &job.storages[0];
    let mut got = before.clone();
    for result in results.chunks(before.len() + FLAGS) {
        let (bytes, flags) = result.split_at(before.len());
        if flags[4..] != [0; 4] {
            return Some("the result depends on the order of threads".to_owned());
        }
        let written = bytes.iter().zip(before).enumerate().filter(|(_, (now, before))| now != before);
        written.for_each(|(at, (&now, _))| got[at] = now);
    }
    let at = (0..got.len()).find(|&at| got[at] != job.want[at])?;
    Some(format!("byte {at} is {}, the CPU gives {}: units apart", got[at], job.want[at]))
}

//! The text of the kernels of folds, compiled for the host: threads that wait for each other in several orders give
//! what the CPU gives, touch nothing but their operands, and leave tickets as they were. Owns the program and the
//! comparison.

use super::FoldCase;
use super::jobs::{Job, jobs};
use crate::c_text::part_distance;
use crate::cuda::computes::{ended, program_of, reached, run};
use crate::cuda::{Checked, Finding};
use crate::layout::values;
use monomorph::{Cpu, Tensor};
use monomorph_cuda::{InputLayout, Reduction, reductions_source};
use std::path::Path;

/// The program that runs the kernels of these reductions, in the order of [`InputLayout::ALL`] each.
pub fn program(reductions: &[Reduction], kernels: &str) -> String {
    let names = reductions.iter().flat_map(|r| InputLayout::ALL.map(|layout| r.kernel(layout)));
    program_of(names, kernels, include_str!("host.cpp"))
}

/// Runs the kernels of these cases on the host, in programs below `folder`, and says what is wrong with them.
///
/// # Errors
/// If there is no compiler or no room; a kernel that does not compile or run is a finding.
pub fn check(cases: &[FoldCase], folder: &Path) -> Result<Vec<Finding>, String> {
    let reductions: Vec<Reduction> = cases.iter().map(|case| case.reduction.clone()).collect();
    check_text(cases, &program(&reductions, &reductions_source(&reductions)), folder)
}

/// The same for the text of a program, which may be another than [`program`]'s.
///
/// # Errors
/// As for [`check`].
pub fn check_text(cases: &[FoldCase], text: &str, folder: &Path) -> Result<Vec<Finding>, String> {
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
        Err(log) => {
            let place = cases.iter().map(FoldCase::name).collect::<Vec<_>>().join(", ");
            return Ok(vec![Finding { place, what: log }]);
        }
    };
    let mut left = ran.stdout.as_slice();
    for (number, (case, job)) in all.iter().enumerate() {
        let layout = job.launches.first().map_or(InputLayout::Strided, |launch| launch.layout);
        let finding = |what| Finding { place: case.reduction.kernel(layout), what: format!("{}: {what}", job.layout) };
        let bytes: usize = job.storages[..job.results.len()].iter().map(Vec::len).sum();
        let Some((result, rest)) = left.split_at_checked(bytes + 8) else {
            findings.push(finding(ended(&ran)));
            let mut others: Vec<String> = all[number..].iter().map(|(case, _)| case.name()).collect();
            others.dedup();
            let unrun = |place| Finding { place, what: "is not run: the program has ended".to_owned() };
            findings.extend(others.into_iter().skip(1).map(unrun));
            break;
        };
        left = rest;
        findings.extend(compare(job, result).into_iter().map(finding));
    }
    Ok(findings)
}

/// Adds a job to what the program reads.
fn feed(fed: &mut Vec<u8>, case: usize, job: &Job) {
    let numbers = |fed: &mut Vec<u8>, all: &[usize]| all.iter().for_each(|&n| fed.extend((n as u32).to_le_bytes()));
    let sizes = |fed: &mut Vec<u8>, all: &[usize]| all.iter().for_each(|&n| fed.extend((n as u64).to_le_bytes()));
    numbers(fed, &[job.launches.len(), job.storages.len(), job.results.len()]);
    for launch in &job.launches {
        let layout = InputLayout::ALL.iter().position(|&layout| layout == launch.layout).unwrap_or(0);
        numbers(fed, &[case * InputLayout::ALL.len() + layout, launch.blocks as usize, launch.arguments.len()]);
        fed.extend(&launch.arguments);
    }
    for storage in &job.storages {
        sizes(fed, &[storage.len()]);
        fed.extend(storage);
    }
    sizes(fed, &job.shared);
}

/// What is wrong with what the kernels left behind.
fn compare(job: &Job, result: &[u8]) -> Option<String> {
    let (mut bytes, flags) = result.split_at(result.len() - 8);
    // A ticket that is left makes the next run another one.
    if flags[4..] != [0; 4] {
        return Some("tickets are left".to_owned());
    }
    if flags[..4] != [0; 4] {
        return Some("the result depends on the order of threads".to_owned());
    }
    for (k, geometry) in job.results.iter().enumerate() {
        let (own, rest) = bytes.split_at(job.storages[k].len());
        bytes = rest;
        let reached = reached(geometry, own.len());
        if let Some(at) = (0..own.len()).find(|&at| !reached[at] && own[at] != job.storages[k][at]) {
            return Some(format!("writes byte {at} of the storage of result {k}, which is no part of it"));
        }
        let got = match Tensor::<Cpu>::from_storage(own, geometry.clone()) {
            Ok(got) => values(&got),
            Err(error) => return Some(error.to_string()),
        };
        let want = values(&job.want[k]);
        if got.len() != want.len() {
            return Some(format!("{} elements; the CPU gives {}", got.len(), want.len()));
        }
        let apart = |i: &usize| part_distance(geometry.dtype(), got[*i], want[*i], job.near);
        if let Some(worst) = (0..want.len()).max_by_key(apart).filter(|i| apart(i) > job.near.ulp) {
            let (got, want, apart) = (got[worst], want[worst], apart(&worst));
            return Some(format!("element {worst} of result {k} is {got}, the CPU gives {want}: {apart} units apart"));
        }
    }
    None
}

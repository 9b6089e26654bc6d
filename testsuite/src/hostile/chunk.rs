//! A row of calls in this process: makes each, checks it, and counts. Owns the report of a chunk; who runs it, and
//! what becomes of a process that dies, is the driver's.

use super::arguments::arguments;
use super::check::{Before, values};
use super::describe;
use super::options::Options;
use super::tensors::Maker;
use crate::layout::Random;
use monomorph::crates::core::dispatch::OperatorHandle;
use monomorph::{AnyTensor, Cpu, DType, Generator, Geometry, IValue, Stack, Tensor, dispatcher};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Longer than a call may take. A build without optimisation is slow, an instrumented one too.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });

/// How many of the slowest calls are kept.
const SLOWEST: usize = 5;

/// A call after which something did not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The number of the call.
    pub call: u64,
    /// What went wrong.
    pub what: String,
    /// Schema and arguments.
    pub text: String,
}

/// What became of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Calls that returned and calls that were refused, by operator.
    pub operators: BTreeMap<String, (u64, u64)>,
    /// Seconds, number and operator of the slowest calls.
    pub slowest: Vec<(f64, u64, String)>,
    /// What did not hold.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Adds another report.
    pub fn add(&mut self, other: Report) {
        for (name, (returned, refused)) in other.operators {
            let sums = self.operators.entry(name).or_default();
            *sums = (sums.0 + returned, sums.1 + refused);
        }
        other.slowest.into_iter().for_each(|slow| self.slow(slow));
        self.failures.extend(other.failures);
    }

    fn slow(&mut self, slow: (f64, u64, String)) {
        self.slowest.push(slow);
        self.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.slowest.truncate(SLOWEST);
    }
}

/// The last panic, as the hook saw it.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Makes the calls of `options`, one after the other.
///
/// # Errors
/// An operator that nobody has, and a trace that cannot be written.
pub fn run_chunk(options: &Options) -> Result<Report, String> {
    std::panic::set_hook(Box::new(|info| {
        *PANIC.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = info.to_string();
    }));
    let mut entries = dispatcher().operators();
    entries.retain(|entry| entry.name().starts_with(&options.operator));
    if entries.is_empty() {
        return Err(format!("no operator begins with {}", options.operator));
    }
    let mut report = Report::default();
    for call in options.first..options.first.saturating_add(options.calls) {
        one(options, &entries, call, &mut report)?;
    }
    let _ = std::panic::take_hook();
    Ok(report)
}

/// The numbers of one call: neighbouring seeds and calls have nothing in common (Steele, Lea and Flood's splitmix64).
fn random_of(seed: u64, call: u64) -> Random {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(call).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    Random::new(z ^ z >> 31)
}

/// The operator and the arguments of a call.
fn make<'e>(
    options: &Options,
    entries: &'e [OperatorHandle],
    call: u64,
) -> Result<(&'e OperatorHandle, Stack), String> {
    let mut random = random_of(options.seed, call);
    let entry = &entries[random.below(entries.len())];
    let schema = entry.schema().map_err(|error| error.to_string())?;
    Ok((entry, arguments(&schema, &mut Maker::new(&mut random, &options.without))))
}

fn one(options: &Options, entries: &[OperatorHandle], call: u64, report: &mut Report) -> Result<(), String> {
    if let Some(trace) = &options.trace {
        // Before anything is made: views and geometries are the library's, too.
        std::fs::write(trace, format!("{call}\nwhile its arguments were made"))
            .map_err(|error| format!("{trace}: {error}"))?;
    }
    let guarded = catch_unwind(AssertUnwindSafe(|| make(options, entries, call)));
    let Ok(made) = guarded else {
        let text = "while its arguments were made".to_owned();
        report.failures.push(Failure { call, what: panicked(), text });
        return Ok(());
    };
    let (entry, mut stack) = made?;
    let schema = entry.schema().map_err(|error| error.to_string())?;
    if let Some(trace) = &options.trace {
        let text = format!("{call}\n{}", describe::call(&schema.to_string(), &stack));
        std::fs::write(trace, text).map_err(|error| format!("{trace}: {error}"))?;
    }
    let twice = call.is_multiple_of(8) && !schema.name().contains("empty") && !schema.name().starts_with("resize");
    if twice {
        poison(0x5a);
        Generator::shared().manual_seed(call);
    }
    let before = Before::of(&stack);
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| entry.call(&mut stack)));
    let took = start.elapsed();
    let sums = report.operators.entry(entry.name().to_owned()).or_default();
    let checked = match &outcome {
        Ok(Ok(())) => {
            sums.0 += 1;
            catch_unwind(AssertUnwindSafe(|| before.finished(&schema, &stack)))
        }
        Ok(Err(error)) => {
            sums.1 += 1;
            catch_unwind(AssertUnwindSafe(|| {
                before.unchanged(&stack, error).map_err(|what| format!("{what} (the error: {error})"))
            }))
        }
        Err(_) => Ok(Err(panicked())),
    };
    let mut what = checked.unwrap_or_else(|_| Err(format!("behind the call: {}", panicked())));
    let most = LIMIT + time_for(&stack);
    if what.is_ok() && took > most {
        what = Err(format!("took {:.1} s; at most {:.1} s are accepted", took.as_secs_f64(), most.as_secs_f64()));
    }
    if what.is_ok() && twice && matches!(outcome, Ok(Ok(()))) {
        what = same_again(options, entries, call, &stack);
    }
    report.slow((took.as_secs_f64(), call, entry.name().to_owned()));
    if let Err(what) = what {
        // The arguments as they were: the call may have taken them off the stack.
        let text = make(options, entries, call).map(|(_, stack)| describe::call(&schema.to_string(), &stack))?;
        report.failures.push(Failure { call, what, text });
    }
    Ok(())
}

/// What writing the results takes besides, element by element: ranges of some GiB can be had.
fn time_for(results: &Stack) -> Duration {
    let bytes: usize = results.iter().flat_map(IValue::tensors).map(AnyTensor::storage_bytes).sum();
    Duration::from_nanos(10).saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX))
}

/// The message of the last panic.
fn panicked() -> String {
    format!("panicked: {}", PANIC.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// The same call over memory that held something else gives the same: no byte that nobody wrote is in a result.
fn same_again(options: &Options, entries: &[OperatorHandle], call: u64, first: &Stack) -> Result<(), String> {
    let Some(want) = values(first) else { return Ok(()) };
    let (entry, mut stack) = make(options, entries, call)?;
    poison(0xa5);
    Generator::shared().manual_seed(call);
    match catch_unwind(AssertUnwindSafe(|| entry.call(&mut stack))) {
        Ok(Ok(())) => match values(&stack) {
            Some(got) if got == want => Ok(()),
            got => Err(format!("two calls with the same arguments gave {want} and {}", got.unwrap_or_default())),
        },
        Ok(Err(error)) => Err(format!("the same call returned first and then said: {error}")),
        Err(_) => Err(panicked()),
    }
}

/// Leaves memory of many sizes full of a byte, for the next to be given it.
fn poison(byte: u8) {
    let contents = [byte; 2048];
    let blocks = [8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048].map(|bytes| {
        let geometry = Geometry::new(DType::U8, &[bytes as i64], &[1], 0).ok()?;
        Some((contents[..bytes].to_vec(), Tensor::<Cpu>::from_storage(&contents[..bytes], geometry).ok()?))
    });
    drop(blocks);
}

//! Makes the program that carries everything: kernels of the whole table as machine code, recorded calls, itself. Owns
//! which kernels these are.

use crate::archive::{self, Entry};
use crate::{figures, tests};
use monomorph::crates::ops::pointwise::{PointwiseFn, SymDomain};
use monomorph_cuda::{Form, Functor, Nearest, Nvrtc, copy_functors, functors, nearest_source, source_of, unit_key};
use monomorph_testsuite::conformance::golden_cases;
use monomorph_testsuite::cuda::compiles::ARCH;
use monomorph_testsuite::cuda::fake::StandIn;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Functors of one compilation.
const UNIT: usize = 16;

/// What is to be made.
pub(crate) struct Options {
    /// NVIDIA's compiler.
    pub(crate) nvrtc: PathBuf,
    /// The program.
    pub(crate) out: PathBuf,
    /// Where machine code is kept on the way, for a run that goes on where this one ends.
    pub(crate) folder: PathBuf,
    /// Only the kernels of copies, for a try.
    pub(crate) copies: bool,
}

/// A translation unit, and what it is found by.
struct Unit {
    keys: Vec<u128>,
    text: String,
}

/// The units of functors, exact and casting. Formulas may share a name, as those of division do: such go into units of
/// their own.
fn units(all: &[Functor]) -> Vec<Unit> {
    let name = |functor: &Functor| functor.kernel(Form::Vector);
    let mut chunks: Vec<Vec<Functor>> = Vec::new();
    for functor in all {
        let room = chunks
            .iter_mut()
            .rev()
            .take(2)
            .find(|chunk| chunk.len() < UNIT && chunk.iter().all(|other| name(other) != name(functor)));
        match room {
            Some(chunk) => chunk.push(functor.clone()),
            None => chunks.push(vec![functor.clone()]),
        }
    }
    let mut units = Vec::new();
    for chunk in &chunks {
        for forms in [&Form::EXACT[..], &[Form::Casting]] {
            let key = |functor: &Functor| unit_key(&source_of(std::slice::from_ref(functor), forms), ARCH);
            units.push(Unit { keys: chunk.iter().map(key).collect(), text: source_of(chunk, forms) });
        }
    }
    units
}

fn push<F: PointwiseFn>(all: &mut Vec<Functor>)
where
    F::Domain: SymDomain<F>,
{
    all.extend(functors::<F>());
}

/// The functors of the whole table.
fn table() -> Vec<Functor> {
    let mut all = Vec::new();
    macro_rules! each {
        ($formula:ty, $name:literal) => {
            push::<$formula>(&mut all);
        };
    }
    monomorph::crates::ops::for_each_kernel! { Pointwise each }
    all
}

/// The texts that the tests and the figures ask a compiler for, found by running them on the stand-in, whose kernels
/// then do nothing.
fn asked(folder: &Path) -> Result<Vec<String>, String> {
    let notes = folder.join("texts");
    let _ = std::fs::remove_file(&notes);
    let stand_in =
        StandIn::start(&folder.join("stand_in"))?.ok_or("the stand-in for the driver takes Linux and g++")?;
    stand_in.tell(&format!("note {}", notes.display()));
    println!("what is asked for, by tests and figures whose kernels do nothing:");
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let failed = tests::run(&[]);
    let figures = figures::run(1 << 12);
    std::panic::set_hook(hook);
    println!("as they must, {failed} tests failed; figures {}", figures.map_or("failed", |_| "ran"));
    let text = std::fs::read_to_string(&notes).map_err(|error| format!("{}: {error}", notes.display()))?;
    let _ = std::fs::remove_dir_all(folder.join("stand_in"));
    let texts: BTreeSet<&str> = text.split('\0').filter(|text| !text.is_empty()).collect();
    Ok(texts.into_iter().map(str::to_owned).collect())
}

/// Makes the program.
///
/// # Errors
/// No compiler, no room, a text that does not compile.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let start = Instant::now();
    std::fs::create_dir_all(&options.folder).map_err(|error| format!("{}: {error}", options.folder.display()))?;
    let nvrtc = Nvrtc::load(&options.nvrtc).map_err(|error| error.to_string())?;
    let mut all = units(&copy_functors());
    if !options.copies {
        all.extend(units(&table()));
        let nearest: Vec<Nearest> = Nearest::DTYPES.into_iter().filter_map(Nearest::new).collect();
        let key = |kernel: &Nearest| unit_key(&nearest_source(&[*kernel]), ARCH);
        all.push(Unit { keys: nearest.iter().map(key).collect(), text: nearest_source(&nearest) });
        let known: BTreeSet<u128> = all.iter().flat_map(|unit| unit.keys.iter().copied()).collect();
        let others = asked(&options.folder)?.into_iter().map(|text| Unit { keys: vec![unit_key(&text, ARCH)], text });
        all.extend(others.filter(|unit| !known.contains(&unit.keys[0])));
    }
    println!("{} kernels in {} units", all.iter().map(|unit| unit.keys.len()).sum::<usize>(), all.len());
    let mut entries = compile(&nvrtc, &all, &options.folder, start)?;
    entries.extend(files()?);
    let program = std::env::current_exe().and_then(std::fs::read).map_err(|error| format!("this program: {error}"))?;
    let (own, _) = archive::split(&program)?;
    let made = archive::join(own, &entries)?;
    let raw: usize = entries.iter().map(|entry| entry.bytes.len()).sum();
    let failed = |error: std::io::Error| format!("{}: {error}", options.out.display());
    std::fs::write(&options.out, &made).map_err(failed)?;
    runnable(&options.out).map_err(failed)?;
    let mb = |bytes: usize| bytes as f64 / 1e6;
    let (whole, own, raw) = (mb(made.len()), mb(own.len()), mb(raw));
    println!(
        "{}: {whole:.1} MB, the program {own:.1} MB; what it carries is {raw:.1} MB unpacked",
        options.out.display()
    );
    println!("{:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(unix)]
fn runnable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn runnable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Compiles the units that a former run has not, with as many threads as there are cores.
fn compile(nvrtc: &Nvrtc, all: &[Unit], folder: &Path, start: Instant) -> Result<Vec<Entry>, String> {
    let (major, minor) = nvrtc.version().map_err(|error| error.to_string())?;
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<(), String> {
        while let Some(unit) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = folder.join(format!("{:032x}.{major}.{minor}.cubin", unit_key(&unit.text, ARCH)));
            let kept = std::fs::read(&file).ok();
            let bytes = match kept {
                Some(bytes) => bytes,
                None => {
                    let bytes = nvrtc.compile(&unit.text, ARCH).map_err(|error| error.to_string())?.cubin;
                    let part = file.with_extension("part");
                    let written = std::fs::write(&part, &bytes).and_then(|()| std::fs::rename(&part, &file));
                    written.map_err(|error| format!("{}: {error}", file.display()))?;
                    bytes
                }
            };
            let mut done = done.lock().map_err(|_| "a thread has panicked")?;
            done.push(Entry { keys: unit.keys.clone(), name: String::new(), bytes });
            if done.len().is_multiple_of(20) {
                println!("{} of {}, {:.0} s", done.len(), all.len(), start.elapsed().as_secs_f64());
            }
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })?;
    done.into_inner().map_err(|_| "a thread has panicked".to_owned())
}

/// The recorded calls.
fn files() -> Result<Vec<Entry>, String> {
    let folder = golden_cases();
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        entries.push(Entry { keys: Vec::new(), name, bytes: std::fs::read(&path).map_err(failed)? });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

#[cfg(test)]
mod tests_of_units {
    use super::*;
    use monomorph::crates::ops::arithmetic::{DivFloorFn, DivFn};

    #[test]
    fn kernels_of_a_unit_have_names_of_their_own() {
        let all = [functors::<DivFn>(), functors::<DivFloorFn>()].concat();
        let units = units(&all);
        assert_eq!(units.iter().map(|unit| unit.keys.len()).sum::<usize>(), 2 * all.len());
        for unit in units {
            let kernels: Vec<&str> =
                unit.text.split("K_THREADS, 1) ").skip(1).filter_map(|k| k.split('(').next()).collect();
            let names: BTreeSet<&str> = kernels.iter().copied().collect();
            assert!(!names.is_empty() && names.len() == kernels.len(), "{kernels:?}");
        }
    }
}

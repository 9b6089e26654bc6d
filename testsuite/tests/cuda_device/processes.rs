//! Several processes that compile into one folder at once. Owns what a process does that is started for it: this
//! program again.

use crate::Outcome;
use monomorph::{Tensor, ops::add};
use monomorph_cuda::{Cuda, release};
use monomorph_testsuite::cuda::fake::StandIn;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// The folder that a started process works in.
const FOLDER: &str = "MONOMORPH_TEST_CACHE";

/// Set where it may not compile.
const CACHED: &str = "MONOMORPH_TEST_CACHED";

/// How many compile at once.
const PROCESSES: usize = 3;

/// What a process does that was started for the test; `None` in any other.
pub(crate) fn started() -> Option<ExitCode> {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let work = || -> Outcome {
        let words = |error: monomorph::Error| error.to_string();
        let stand_in = StandIn::start(&folder)?.ok_or("there is no compiler of C++")?;
        if std::env::var_os(CACHED).is_some() {
            stand_in.tell("forbid");
        }
        let x = Tensor::<Cuda>::from_slice_on(0, &[1.5f32, 2.5], [2]).map_err(words)?;
        let n = Tensor::<Cuda>::from_slice_on(0, &[3i64, -4], [2]).map_err(words)?;
        let sums = (add(&x, &x).and_then(|y| y.to_vec::<f32>()), add(&n, &n).and_then(|y| y.to_vec::<i64>()));
        drop((x, n));
        release(0).map_err(|error| error.to_string())?;
        match sums {
            (Ok(x), Ok(n)) if x == [3.0, 5.0] && n == [6, -8] => Ok(()),
            other => Err(format!("{other:?}")),
        }
    };
    Some(match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    })
}

fn start(folder: &Path, cached: bool) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.env(FOLDER, folder).stderr(Stdio::piped());
    if cached {
        command.env(CACHED, "1");
    }
    command.spawn().map_err(|error| error.to_string())
}

fn finish(child: Child) -> Outcome {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The files of compiled kernels, by name; anything else there is an error.
fn kept(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder.join("kernels")).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    match files.iter().find(|file| file.extension().is_none_or(|end| end != "cubin")) {
        Some(other) => Err(format!("{} is left", other.display())),
        None => Ok(files),
    }
}

/// All succeed, whoever is first, with one file for each text in the end; and a file that was damaged is written again.
pub(crate) fn share_a_cache(_: &StandIn) -> Outcome {
    let folder = std::env::temp_dir().join(format!("monomorph-processes-{}", std::process::id()));
    let failed = |error: std::io::Error| error.to_string();
    let run = || -> Outcome {
        finish(start(&folder, false)?)?;
        let first = kept(&folder)?;
        let [damaged, gone] = &first[..] else { return Err(format!("{first:?} are kept of two texts")) };
        let whole = std::fs::read(damaged).map_err(failed)?;
        // As long as it was, so that only its checksum tells.
        let mut other = whole.clone();
        other[whole.len() / 2] ^= 0x40;
        std::fs::write(damaged, other).map_err(failed)?;
        std::fs::remove_file(gone).map_err(failed)?;
        let children = (0..PROCESSES).map(|_| start(&folder, false)).collect::<Result<Vec<_>, _>>()?;
        children.into_iter().map(finish).collect::<Vec<_>>().into_iter().collect::<Outcome>()?;
        if kept(&folder)? != first {
            return Err(format!("{:?} are kept, not {first:?}", kept(&folder)?));
        }
        // What is there is whole: nobody needs the compiler any more.
        finish(start(&folder, true)?)?;
        std::fs::write(damaged, &whole[..whole.len() - 1]).map_err(failed)?;
        match finish(start(&folder, true)?) {
            Ok(()) => Err("a file that is cut short was taken".to_owned()),
            Err(why) if why.contains("do not compile") => Ok(()),
            Err(why) => Err(why),
        }
    };
    let outcome = run();
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

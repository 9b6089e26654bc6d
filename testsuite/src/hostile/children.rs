//! A program in a process of its own, with limits. Owns the limits and how the process ended; knows nothing of what it
//! does.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a process may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// MiB of addresses; `None` for no limit.
    pub memory: Option<u64>,
}

impl Limits {
    /// This long, and the memory that `MONOMORPH_HOSTILE_MEMORY` says, in MiB: 2048 where it says nothing, no limit
    /// where it says 0, which a sanitizer needs, since it reserves terabytes.
    pub fn new(time: Duration) -> Limits {
        let said = std::env::var("MONOMORPH_HOSTILE_MEMORY").ok().and_then(|text| text.parse().ok());
        Limits { time, memory: Some(said.unwrap_or(2048)).filter(|&memory| memory > 0) }
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By itself.
    Exited(i32),
    /// By a signal: 6 is an abort, 11 a wrong address.
    Signal(i32),
    /// It ran longer than it may.
    TimedOut,
}

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How.
    pub end: End,
    /// What it wrote.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
    /// How long it ran.
    pub took: Duration,
}

/// Runs a program to its end, or until its time is over.
///
/// # Errors
/// The program cannot be started.
pub fn run<A: AsRef<OsStr>>(
    program: &Path,
    args: &[A],
    environment: &[(&str, &str)],
    limits: Limits,
) -> io::Result<Ran> {
    let start = Instant::now();
    let mut command = limited(program, args, limits.memory);
    // Few threads, whatever the machine: each reserves addresses.
    command.env("MALLOC_ARENA_MAX", "2").env("RAYON_NUM_THREADS", "2").env("RUST_BACKTRACE", "0");
    command.envs(environment.iter().copied());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (end, stdout, stderr) = std::thread::scope(|scope| {
        let (stdout, stderr) = (scope.spawn(|| text_of(stdout)), scope.spawn(|| text_of(stderr)));
        let end = wait(&mut child, start + limits.time);
        (end, stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default())
    });
    Ok(Ran { end: end?, stdout, stderr, took: start.elapsed() })
}

#[cfg(unix)]
fn limited<A: AsRef<OsStr>>(program: &Path, args: &[A], memory: Option<u64>) -> Command {
    let mut command = Command::new("sh");
    // The shell becomes the program, so what is killed is the program.
    let limit = memory.map_or(String::new(), |mib| format!("ulimit -v {} && ", mib * 1024));
    command.arg("-c").arg(format!("ulimit -c 0; {limit}exec \"$0\" \"$@\""));
    command.arg(program).args(args.iter().map(|arg| OsString::from(arg.as_ref())));
    command
}

#[cfg(not(unix))]
fn limited<A: AsRef<OsStr>>(program: &Path, args: &[A], _: Option<u64>) -> Command {
    let mut command = Command::new(program);
    command.args(args.iter().map(|arg| OsString::from(arg.as_ref())));
    command
}

fn text_of(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is shown.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn wait(child: &mut Child, deadline: Instant) -> io::Result<End> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ended(status));
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Ok(End::TimedOut);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(unix)]
fn ended(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt;
    status.signal().map_or_else(|| End::Exited(status.code().unwrap_or(-1)), End::Signal)
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> End {
    End::Exited(status.code().unwrap_or(-1))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_apart() {
        let sh = |script: &str, millis| {
            let limits = Limits { time: Duration::from_millis(millis), memory: None };
            run(Path::new("/bin/sh"), &["-c", script], &[], limits).expect("a shell")
        };
        let good = sh("echo one; echo two >&2; exit 3", 20_000);
        assert_eq!((good.end, &*good.stdout, &*good.stderr), (End::Exited(3), "one\n", "two\n"));
        assert_eq!(sh("kill -ABRT $$", 20_000).end, End::Signal(6));
        assert_eq!(sh("exec sleep 20", 100).end, End::TimedOut);
        assert!(
            run(Path::new("/nowhere at all"), &["x"], &[], Limits { time: Duration::from_secs(9), memory: None })
                .is_ok_and(|ran| ran.end == End::Exited(127))
        );
    }

    #[test]
    fn memory_is_limited() {
        let limits = |memory| Limits { time: Duration::from_secs(20), memory };
        let ran = run(Path::new("/bin/sh"), &["-c", "ulimit -v"], &[], limits(Some(1000))).expect("a shell");
        assert_eq!(ran.stdout, "1024000\n");
    }
}

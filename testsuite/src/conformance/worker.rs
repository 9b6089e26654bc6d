//! Running cases in child processes, so that an abort, a stack overflow or a hang fails only the case that was running.
//!
//! The parent ([`Supervisor`]) writes one request line per case to a child, `["<base>",<index>]`, and waits for one
//! answer line, a mark and the verdict in JSON. Lines without the mark are something the library printed and are
//! ignored. A child that dies or does not answer is replaced, and the next case goes to the new one.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::case::{CaseError, CaseFile};
use super::mismatch::Mismatch;
use super::replay::Replayer;
use super::report::{Finding, Report, Told};
use super::run::{Selection, bases, judge};

/// What an answer line starts with.
const MARK: &str = "\u{1e}verdict ";

/// The child's side: answers request lines from `requests` until they end.
///
/// # Errors
/// Only those of reading and writing the two streams.
pub fn serve<R: Replayer>(
    dir: &Path,
    requests: impl BufRead,
    mut answers: impl Write,
    mut replayer: impl FnMut() -> R,
) -> std::io::Result<()> {
    let mut open: Option<(String, Result<CaseFile, CaseError>, R)> = None;
    for line in requests.lines() {
        let told = match serde_json::from_str::<(String, usize)>(&line?) {
            Err(error) => refused(format!("bad request: {error}")),
            Ok((base, index)) => {
                let current = match open.take().filter(|(name, ..)| *name == base) {
                    Some(current) => open.insert(current),
                    None => {
                        let file = CaseFile::load(dir, &base);
                        open.insert((base, file, replayer()))
                    }
                };
                match current {
                    (_, Err(error), _) => refused(error.to_string()),
                    (_, Ok(file), replayer) => match file.cases.get(index) {
                        Some(case) => (&judge(case, &file.storages, replayer)).into(),
                        None => refused(format!("no case {index}")),
                    },
                }
            }
        };
        let json = serde_json::to_string(&told).map_err(std::io::Error::other)?;
        // The line before may be unfinished if the library printed something.
        write!(answers, "\n{MARK}{json}\n")?;
        answers.flush()?;
    }
    Ok(())
}

fn refused(text: String) -> Told {
    Told::Failed(vec![Finding { kind: "worker".to_owned(), text }])
}

/// The parent's side.
pub struct Supervisor<F> {
    /// Makes the command that runs [`serve`] on its standard streams for the same directory.
    pub command: F,
    /// How many children run at a time; at least one.
    pub jobs: usize,
    /// How long a case may take.
    pub limit: Duration,
    /// Whether to tell the progress on standard error.
    pub progress: bool,
}

impl<F: Fn() -> Command + Sync> Supervisor<F> {
    /// Runs the selected cases of `dir`.
    pub fn run(&self, dir: &Path, selection: &Selection) -> Result<Report, CaseError> {
        let bases = bases(dir, selection)?;
        let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::default()));
        let progress = Mutex::new(Instant::now());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, bases.len()) {
                scope.spawn(|| {
                    let mut worker = None;
                    while let Some(base) = bases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let part = self.run_base(dir, base, selection, &mut worker);
                        let mut whole = report.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        whole.merge(part);
                        self.tell(&progress, next.load(Ordering::Relaxed), bases.len(), &whole);
                    }
                });
            }
        });
        let report = report.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if report.is_empty() { Err(selection.found_nothing(dir)) } else { Ok(report) }
    }

    fn tell(&self, last: &Mutex<Instant>, done: usize, of: usize, report: &Report) {
        let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.progress && last.elapsed() > Duration::from_secs(2) {
            *last = Instant::now();
            eprintln!("{} of {of} files: {}", done.min(of), report.total);
        }
    }

    fn run_base(&self, dir: &Path, base: &str, selection: &Selection, worker: &mut Option<Worker>) -> Report {
        let mut report = Report::default();
        let file = match CaseFile::load(dir, base) {
            Ok(file) => file,
            Err(error) => {
                report.unreadable(&error);
                return report;
            }
        };
        for (index, case) in file.cases.iter().enumerate().filter(|(_, case)| selection.takes(base, case)) {
            let told = self.ask(base, index, worker);
            report.tell(case, told);
        }
        report
    }

    fn ask(&self, base: &str, index: usize, slot: &mut Option<Worker>) -> Told {
        // A child that ended after its last answer is not this case's fault: only then is there a second attempt.
        for fresh in [false, true] {
            let mut worker = match slot.take().filter(|_| !fresh).map_or_else(|| Worker::start((self.command)()), Ok) {
                Ok(worker) => worker,
                Err(error) => return refused(format!("no worker could be started: {error}")),
            };
            if worker.request(base, index).is_err() {
                continue;
            }
            return match worker.answer(self.limit) {
                Ok(told) => {
                    *slot = Some(worker);
                    told
                }
                Err(finding) => Told::Failed(vec![finding]),
            };
        }
        refused("the worker takes no requests".to_owned())
    }
}

/// A running child. Dropping it ends it.
struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Worker {
    fn start(mut command: Command) -> std::io::Result<Worker> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (send, answers) = channel();
        let requests = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            // Ends with the child: its closed pipe ends the loop.
            std::thread::spawn(move || read_answers(BufReader::new(stdout), |answer| send.send(answer).is_ok()));
        }
        Ok(Worker { child, requests, answers })
    }

    fn request(&mut self, base: &str, index: usize) -> std::io::Result<()> {
        let request = serde_json::to_string(&(base, index)).map_err(std::io::Error::other)?;
        let pipe = self.requests.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        writeln!(pipe, "{request}")?;
        pipe.flush()
    }

    fn answer(&mut self, limit: Duration) -> Result<Told, Finding> {
        let mismatch = match self.answers.recv_timeout(limit) {
            Ok(answer) => match serde_json::from_str(&answer) {
                Ok(told) => return Ok(told),
                Err(error) => Mismatch::Died { how: format!("its answer {answer:?} is no verdict: {error}") },
            },
            Err(RecvTimeoutError::Timeout) => Mismatch::TimedOut { seconds: limit.as_secs() },
            Err(RecvTimeoutError::Disconnected) => self.died(),
        };
        Err(Finding::from(&mismatch))
    }

    fn died(&mut self) -> Mismatch {
        let how = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        Mismatch::Died { how }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing the pipe ends a healthy child; a hanging one has to be killed. Neither may keep the parent waiting.
        drop(self.requests.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes every marked line on. Bytes that are no UTF-8 are something the library printed, not an end.
fn read_answers(mut stdout: impl BufRead, mut send: impl FnMut(String) -> bool) {
    let mut line = Vec::new();
    while matches!(stdout.read_until(b'\n', &mut line), Ok(n) if n > 0) {
        let text = String::from_utf8_lossy(&line);
        if let Some(answer) = text.trim_end().strip_prefix(MARK)
            && !send(answer.to_owned())
        {
            return;
        }
        line.clear();
    }
}

//! A list of steps, each announced, timed and summed up at the end. Knows nothing of what the steps do.

use std::process::Command;
use std::time::{Duration, Instant};

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it should.
    Passed,
    /// It did not.
    Failed,
    /// There was nothing to do, for the reason given.
    Skipped(&'static str),
}

/// The steps so far. All run, also behind a failure, so that one run shows everything that is wrong.
#[derive(Default)]
pub struct Steps {
    done: Vec<(String, Outcome, Duration)>,
}

impl Steps {
    /// Runs one step.
    pub fn step(&mut self, name: &str, run: impl FnOnce() -> Outcome) {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = run();
        self.done.push((name.to_owned(), outcome, start.elapsed()));
        println!("== {}", line(self.done.last().expect("it was just pushed")));
    }

    /// Runs a program as a step: it passes if the program ends with success.
    pub fn command(&mut self, name: &str, mut command: Command) {
        self.step(name, || match command.status() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(_) => Outcome::Failed,
            Err(error) => {
                eprintln!("{:?}: {error}", command.get_program());
                Outcome::Failed
            }
        });
    }

    /// Prints the summary. True if no step failed.
    pub fn finish(self) -> bool {
        println!("\n== summary");
        for step in &self.done {
            println!("{}", line(step));
        }
        let failed = self.done.iter().filter(|(_, outcome, _)| *outcome == Outcome::Failed).count();
        let skipped = self.done.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Skipped(_))).count();
        let total: Duration = self.done.iter().map(|(.., duration)| *duration).sum();
        println!("{} steps, {failed} failed, {skipped} skipped, {:.1} s", self.done.len(), total.as_secs_f64());
        failed == 0
    }
}

fn line((name, outcome, duration): &(String, Outcome, Duration)) -> String {
    let word = match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed => "FAILED".to_owned(),
        Outcome::Skipped(reason) => format!("skipped ({reason})"),
    };
    format!("{:>7.1} s  {name}: {word}", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_the_whole_and_stops_nothing() {
        let mut steps = Steps::default();
        let mut ran = 0;
        for outcome in [Outcome::Passed, Outcome::Failed, Outcome::Skipped("nothing there")] {
            steps.step("step", || {
                ran += 1;
                outcome
            });
        }
        assert_eq!(ran, 3);
        assert!(!steps.finish());
    }

    #[test]
    fn skipped_steps_do_not_fail() {
        let mut steps = Steps::default();
        steps.step("step", || Outcome::Skipped("nothing there"));
        assert!(steps.finish());
    }

    #[test]
    fn a_missing_program_fails() {
        let mut steps = Steps::default();
        steps.command("step", Command::new("/nowhere at all"));
        assert!(!steps.finish());
    }
}

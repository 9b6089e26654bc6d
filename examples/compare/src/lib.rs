//! What the three programs share: inputs, agreement of answers, interleaved timing and the table. Owns no computation
//! that is compared.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Any library's error.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What a program's `main` gives.
pub type Outcome = Result<(), Failure>;

/// One library's version of a program: from the input, which is shared, to its answer as numbers.
pub struct Contender<'c> {
    /// The library.
    pub library: &'static str,
    /// The function in the source file.
    pub function: &'static str,
    /// Runs it.
    pub run: Box<dyn FnMut() -> Result<Vec<f32>, Failure> + 'c>,
    /// How long it took, without what reads the answer out.
    pub timed: Box<dyn FnMut() -> Result<(), Failure> + 'c>,
}

impl<'c> Contender<'c> {
    /// `function` computes, `read` makes numbers of what it computed.
    pub fn new<T: 'c, E: Into<Failure>, F: Into<Failure>>(
        library: &'static str,
        function: &'static str,
        compute: impl Fn() -> Result<T, E> + Copy + 'c,
        read: impl Fn(T) -> Result<Vec<f32>, F> + 'c,
    ) -> Self {
        let run = move || read(compute().map_err(Into::into)?).map_err(Into::into);
        let timed = move || {
            black_box(compute().map_err(Into::into)?);
            Ok(())
        };
        Contender { library, function, run: Box::new(run), timed: Box::new(timed) }
    }
}

/// Uniform numbers in [0, 1), the same in every run (xorshift64*: S. Vigna, 2016).
pub fn uniform(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.max(1);
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u32 << 24) as f32
    }
}

/// The source lines of a function: those from `fn name` to the brace that closes it in the first column which are
/// neither blank nor a comment alone.
pub fn source_lines(source: &str, name: &str) -> usize {
    let (head, end) = (format!("fn {name}("), "}");
    let body = source.lines().skip_while(|line| !line.starts_with(&head));
    let mut count = 0;
    for line in body {
        count += usize::from(!line.trim().is_empty() && !line.trim_start().starts_with("//"));
        if line == end {
            break;
        }
    }
    count
}

/// Checks that all give the first one's answer, times them in turns, and prints a table: medians, and the fastest,
/// which is the better figure on a machine that does something else, too; each also over the first one's.
///
/// # Errors
///
/// Those of the programs, and answers that differ by more than `tolerance`, absolutely.
pub fn compare(title: &str, source: &str, tolerance: f32, mut all: Vec<Contender<'_>>) -> Result<(), Failure> {
    const RUNS: usize = 15;
    const WARM_UP: Duration = Duration::from_millis(60);
    let mut answers = Vec::new();
    for contender in &mut all {
        answers.push((contender.run)()?);
    }
    for (contender, answer) in all.iter().zip(&answers).skip(1) {
        let pairs = answers[0].iter().zip(answer);
        let worst = pairs
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, |worst: f32, d| if d > worst || d.is_nan() { d } else { worst });
        if answer.len() != answers[0].len() || worst.is_nan() || worst > tolerance {
            return Err(format!("{}: off by {worst}, {tolerance} is allowed", contender.library).into());
        }
    }
    let mut times = vec![Vec::new(); all.len()];
    for _ in 0..RUNS {
        for (contender, times) in all.iter_mut().zip(&mut times) {
            // What the others left in the caches is not charged to whom it is the turn of: it takes some calls to go.
            let turn = Instant::now();
            (contender.timed)()?;
            while turn.elapsed() < WARM_UP {
                (contender.timed)()?;
            }
            let start = Instant::now();
            (contender.timed)()?;
            times.push(start.elapsed());
        }
    }
    let sorted = times.iter_mut().map(|times| {
        times.sort();
        [times[RUNS / 2], times[0]].map(|time| time.as_secs_f64() * 1e3)
    });
    let sorted: Vec<[f64; 2]> = sorted.collect();
    println!(
        "{title}\n{:10} {:>5} {:>10} {:>6} {:>12} {:>6}",
        "", "lines", "median ms", "/ ours", "fastest ms", "/ ours"
    );
    let [our_median, our_fastest] = sorted[0];
    for (contender, [median, fastest]) in all.iter().zip(&sorted) {
        let (library, lines) = (contender.library, source_lines(source, contender.function));
        let ratios = [median / our_median, fastest / our_fastest];
        println!("{library:10} {lines:5} {median:10.2} {:6.2} {fastest:12.2} {:6.2}", ratios[0], ratios[1]);
    }
    Ok(())
}

//! Says where somebody speaks in a sound file: `speech silero_vad.pt2 sound.wav`.
#![forbid(unsafe_code)]

use monomorph_models::Error;
use monomorph_models::speech::{Detector, FRAME, RATE, samples, stretches};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, sound] = &args[..] else { return Err("usage: speech silero_vad.pt2 sound.wav".into()) };
    let (mut detector, samples) = (Detector::load(Path::new(model))?, samples(Path::new(sound))?);
    let start = Instant::now();
    let probabilities =
        samples.chunks_exact(FRAME).map(|frame| detector.next(frame)).collect::<Result<Vec<f32>, Error>>()?;
    let time = start.elapsed();
    let seconds = |frame: usize| (frame * FRAME) as f64 / f64::from(RATE);
    for (first, end) in stretches(&probabilities) {
        println!("{:7.2} s to {:7.2} s", seconds(first), seconds(end));
    }
    let frames = probabilities.len().max(1);
    println!("{:.2} s of sound, {:.0} µs a frame", seconds(frames), time.as_secs_f64() * 1e6 / frames as f64);
    Ok(())
}

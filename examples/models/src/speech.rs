//! Where somebody speaks: Silero VAD, frame by frame, its state carried from one to the next.

use crate::Error;
use monomorph::prelude::*;
use monomorph::program::{Program, Session, Value};
use std::path::Path;

/// Samples of a frame, of 16,000 in a second.
pub const FRAME: usize = 512;
/// Samples in a second.
pub const RATE: u32 = 16_000;
/// Samples of the frame before that the model sees as well.
const CONTEXT: i64 = 64;
/// Sizes of the state.
const STATE: [i64; 3] = [2, 1, 128];

/// A stream of sound.
pub struct Detector {
    session: Session,
    context: Value,
    state: Value,
}

impl Detector {
    /// A detector at the beginning of a stream.
    ///
    /// # Errors
    /// Those of [`Program::load`].
    pub fn load(model: &Path) -> Result<Detector, Error> {
        let session = Program::load(model)?.session()?;
        let zeros = |sizes: &[i64]| monomorph::ops::zeros(sizes, F32).map(|t: Tensor<Cpu>| Value::from(t));
        Ok(Detector { session, context: zeros(&[1, CONTEXT])?, state: zeros(&STATE)? })
    }

    /// The probability of speech in the next frame, of [`FRAME`] samples between -1 and 1.
    ///
    /// # Errors
    /// Another number of samples, or a model with other outputs.
    pub fn next(&mut self, frame: &[f32]) -> Result<f32, Error> {
        let frame = Tensor::from_slice(frame, (1, frame.len() as i64))?.into();
        let outputs = self.session.run(&[frame, self.context.clone(), self.state.clone()])?;
        let [probability, context, state] =
            <[Value; 3]>::try_from(outputs).map_err(|_| "the model has other outputs")?;
        (self.context, self.state) = (context, state);
        let probability = probability.as_tensor().ok_or("the probability is no tensor")?.to_vec::<f32>()?;
        probability.first().copied().ok_or_else(|| "the probability is empty".into())
    }
}

/// The samples of a WAV file with one channel and 16,000 samples in a second, between -1 and 1.
///
/// # Errors
/// The file cannot be read, or is of another kind.
pub fn samples(path: &Path) -> Result<Vec<f32>, Error> {
    let mut reader = hound::WavReader::open(path)?;
    let spec = reader.spec();
    if (spec.channels, spec.sample_rate) != (1, RATE) {
        let (channels, rate) = (spec.channels, spec.sample_rate);
        return Err(
            format!("{channels} channels of {rate} Hz; one of {RATE} Hz is accepted: sox IN -r 16k -c 1 OUT").into()
        );
    }
    Ok(match spec.sample_format {
        hound::SampleFormat::Float => reader.samples::<f32>().collect::<Result<_, _>>()?,
        hound::SampleFormat::Int => {
            let scale = 1.0 / f32::from(2u8).powi(i32::from(spec.bits_per_sample) - 1);
            reader.samples::<i32>().map(|sample| sample.map(|x| x as f32 * scale)).collect::<Result<_, _>>()?
        }
    })
}

/// The frames, counted from 0, between which each stretch of speech lies: from where the probability exceeds a half to
/// where it is below 0.35 for a quarter of a second.
pub fn stretches(probabilities: &[f32]) -> Vec<(usize, usize)> {
    /// Frames of a quarter of a second.
    const PAUSE: usize = RATE as usize / 4 / FRAME + 1;
    let (mut all, mut open, mut last) = (Vec::new(), None, 0);
    for (frame, &probability) in probabilities.iter().enumerate() {
        if probability > 0.5 && open.is_none() {
            open = Some(frame);
        }
        if probability >= 0.35 {
            last = frame + 1;
        }
        if let Some(first) = open.filter(|_| frame + 1 - last >= PAUSE) {
            all.push((first, last));
            open = None;
        }
    }
    all.extend(open.map(|first| (first, last)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pauses_are_part_of_a_stretch() {
        let sound = |text: &str| -> Vec<f32> {
            text.chars()
                .map(|c| {
                    if c == '#' {
                        0.9
                    } else if c == '-' {
                        0.4
                    } else {
                        0.1
                    }
                })
                .collect()
        };
        assert_eq!(stretches(&sound("...###..##----.........#")), [(3, 14), (23, 24)]);
        assert_eq!(stretches(&sound("----....")), [], "below a half nothing begins");
        assert_eq!(stretches(&sound("")), []);
        assert_eq!(stretches(&sound("#")), [(0, 1)]);
    }

    #[test]
    fn samples_are_scaled_and_other_files_refused() {
        let path = std::env::temp_dir().join(format!("monomorph-models-{}.wav", std::process::id()));
        let spec = |rate| hound::WavSpec {
            channels: 1,
            sample_rate: rate,
            bits_per_sample: 16,
            sample_format: hound::SampleFormat::Int,
        };
        let write = |rate| -> Result<(), Error> {
            let mut writer = hound::WavWriter::create(&path, spec(rate))?;
            [-32768_i16, 0, 16384].iter().try_for_each(|sample| writer.write_sample(*sample))?;
            Ok(writer.finalize()?)
        };
        write(RATE).expect("a file");
        assert_eq!(samples(&path).expect("its samples"), [-1.0, 0.0, 0.5]);
        write(8000).expect("a file");
        assert!(samples(&path).expect_err("another rate").to_string().contains("8000 Hz"));
        std::fs::remove_file(&path).expect("the file is there");
    }
}

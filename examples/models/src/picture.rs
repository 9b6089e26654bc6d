//! What a picture shows: EfficientNet-Lite0, whose thousand classes are those of ImageNet.

use crate::Error;
use monomorph::prelude::*;
use monomorph::program::{Program, Session, Value};
use std::path::Path;

/// Lines and columns of what the model sees.
const SIDE: i64 = 224;
/// How many of 256 parts of the shorter side are seen: edges are cut off, as when the model was trained.
const SEEN: i64 = 224;
/// Mean and deviation of red, green and blue over ImageNet, of values between 0 and 1.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// A model and the names of its classes.
pub struct Classifier {
    session: Session,
    labels: Vec<String>,
}

impl Classifier {
    /// The model of a file, with batch norms folded into its convolutions, and `labels.txt` beside it.
    ///
    /// # Errors
    /// Those of [`Program::load`], or there are no labels.
    pub fn load(model: &Path) -> Result<Classifier, Error> {
        let labels = model.with_file_name("labels.txt");
        let labels = std::fs::read_to_string(&labels).map_err(|error| format!("{}: {error}", labels.display()))?;
        let session = Program::load(model)?.relaxed()?.session()?;
        Ok(Classifier { session, labels: labels.lines().map(str::to_owned).collect() })
    }

    /// The most probable classes of a picture, each with its probability.
    ///
    /// # Errors
    /// A picture without pixels, or a model with other outputs.
    pub fn classify(&mut self, picture: &image::RgbImage, classes: i64) -> Result<Vec<(f32, &str)>, Error> {
        let outputs = self.session.run(&[pixels(picture)?.into()])?;
        let logits = outputs.first().and_then(|output| output.as_tensor()?.downcast_ref::<Cpu>());
        let (probabilities, indices) = logits.ok_or("the model has other outputs")?.softmax(1)?.topk(classes)?;
        let label = |index: i64| self.labels.get(index as usize).map_or("a class without a name", String::as_str);
        Ok(probabilities.to_vec::<f32>()?.into_iter().zip(indices.to_vec::<i64>()?.into_iter().map(label)).collect())
    }
}

/// The middle of a picture as the model sees it: float32[1, 3, 224, 224].
///
/// # Errors
/// A picture without pixels.
fn pixels(picture: &image::RgbImage) -> Result<Tensor<Cpu>, Error> {
    let [height, width] = [picture.height(), picture.width()].map(i64::from);
    let bytes = Tensor::from_vec(picture.as_raw().clone(), [1, height, width, 3])?;
    let side = (height.min(width) * SEEN / 256).max(1);
    let (top, left) = ((height - side) / 2, (width - side) / 2);
    let middle = bytes.permute([0, 3, 1, 2])?.i((.., .., top..top + side, left..left + side))?;
    let middle = smaller(&(middle.to(F32)? / 255.0)?)?;
    let of_channel = |numbers: [f32; 3]| Tensor::from_vec(numbers.to_vec(), [1, 3, 1, 1]);
    Ok(((middle - of_channel(MEAN)?)? / of_channel(DEVIATION)?)?)
}

/// A picture of other sizes, antialiased as `torch.nn.functional.interpolate` does it.
fn smaller(picture: &Tensor<Cpu>) -> Result<Tensor<Cpu>, Error> {
    let sizes = Value::Ints([SIDE, SIDE].into_iter().collect());
    let mut stack = vec![picture.clone().into(), sizes, Value::Bool(false), Value::None, Value::None];
    monomorph::call("_upsample_bilinear2d_aa", &mut stack)?;
    let resized = stack.pop().and_then(|value| value.as_tensor()?.downcast_ref::<Cpu>().cloned());
    resized.ok_or_else(|| "a picture is no tensor of the CPU".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_seen_in_each_orientation() {
        // Red where it is seen, the rest black; a side of 256 is not resized.
        for (width, height) in [(256, 256), (512, 256), (256, 400)] {
            let (left, top) = ((width - 224) / 2, (height - 224) / 2);
            let inside = |x: u32, y: u32| (left..left + 224).contains(&x) && (top..top + 224).contains(&y);
            let color = |x, y| image::Rgb(if inside(x, y) { [255, 0, 0] } else { [0; 3] });
            let seen = pixels(&image::RgbImage::from_fn(width, height, color)).expect("a tensor");
            assert_eq!(seen.sizes(), [1, 3, 224, 224]);
            let seen = seen.to_vec::<f32>().expect("its elements");
            let (red, rest) = seen.split_at(224 * 224);
            let expected = (1.0 - MEAN[0]) / DEVIATION[0];
            assert!(red.iter().all(|x| (x - expected).abs() < 1e-5), "{width} x {height}");
            let expected = [-MEAN[1] / DEVIATION[1], -MEAN[2] / DEVIATION[2]];
            let halves = rest.chunks(224 * 224).zip(expected);
            assert!(halves.flat_map(|(all, x)| all.iter().map(move |y| (x - y).abs())).all(|off| off < 1e-5));
        }
    }

    #[test]
    fn any_size_is_seen_but_none() {
        for (width, height) in [(1, 1), (3, 700), (999, 31)] {
            let grey = image::RgbImage::from_pixel(width, height, image::Rgb([128; 3]));
            assert_eq!(pixels(&grey).expect("a tensor").sizes(), [1, 3, 224, 224]);
        }
        assert!(pixels(&image::RgbImage::new(0, 5)).is_err());
    }
}

//! Says what a picture shows: `picture efficientnet_lite0.pt2 picture.jpg`.
#![forbid(unsafe_code)]

use monomorph_models::Error;
use monomorph_models::picture::Classifier;
use std::path::Path;

/// Classes that are printed.
const SHOWN: i64 = 5;

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, picture] = &args[..] else { return Err("usage: picture efficientnet_lite0.pt2 picture.jpg".into()) };
    let mut classifier = Classifier::load(Path::new(model))?;
    let picture = image::open(picture).map_err(|error| format!("{picture}: {error}"))?.to_rgb8();
    for (probability, label) in classifier.classify(&picture, SHOWN)? {
        println!("{:5.1} %  {label}", 100.0 * probability);
    }
    Ok(())
}

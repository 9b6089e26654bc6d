//! The Iris measurements standardised: broadcasting, out=, in-place through a view, a dry run on meta tensors, an
//! error.
//!
//! `cargo run --release --example quickstart`

use monomorph::prelude::*;
use monomorph::{Result, meta, ops};

const FEATURES: [&str; 4] = ["sepal length", "sepal width", "petal length", "petal width"];

/// The rows of the data set: four measurements in cm each, and the species.
fn load() -> (Vec<f32>, Vec<&'static str>) {
    let csv = include_str!("data/iris.csv");
    let mut values = Vec::new();
    let mut species = Vec::new();
    for line in csv.lines().skip(1) {
        let mut fields = line.split(',');
        values.extend(fields.by_ref().take(4).map(|f| f.parse::<f32>().expect("a number in iris.csv")));
        species.extend(fields.next());
    }
    (values, species)
}

/// Each column minus its mean, over its mean absolute deviation. The same code runs on every device, meta included.
fn standardise<D: Kernels>(x: &Tensor<D>) -> Result<Tensor<D>> {
    let centred = (x - x.mean(0)?)?; // [150, 4] -> [4], which broadcasts over the rows
    let mut spread = centred.abs()?;
    let deviation = spread.mean(0)?;
    ops::div_out(&centred, &deviation, &mut spread)?; // out=: the buffer is reused
    Ok(spread)
}

fn main() -> Result<()> {
    let (values, species) = load();
    let x = Tensor::from_vec(values, [species.len(), 4])?;
    let z = standardise(&x)?;

    println!("Iris, {} flowers. Mean of each standardised feature by species:", species.len());
    println!("{:>12}  {}", "", FEATURES.map(|f| format!("{f:>12}")).join(" "));
    for (i, name) in ["setosa", "versicolor", "virginica"].iter().enumerate() {
        let mean = z.i(50 * i..50 * (i + 1))?.mean(0)?; // of a view
        let cells: Vec<String> = mean.to_vec::<f32>()?.iter().map(|v| format!("{v:12.3}")).collect();
        println!("{name:>12}  {}", cells.join(" "));
    }

    // In place through a view: the base sees it.
    z.i((.., 3))?.div_(2.0)?;
    let narrow_petals = z.i((.., 3))?.lt(-0.5)?.sum(..)?;
    println!("\nflowers with a halved petal width below -0.5: {narrow_petals}");

    // The same code on shapes alone: no data, no kernel.
    let dry = meta::run(standardise, &([1_000_000, 4], F32))?;
    println!("dry run on [1000000, 4]: sizes {:?}, strides {:?}, {}", dry.sizes(), dry.strides(), dry.dtype());

    // What a mistake looks like.
    let labels = z.i((None, .., ..3))?;
    match &z + &labels {
        Err(error) => println!("error on purpose: {error}"),
        Ok(_) => unreachable!("[150, 4] and [1, 150, 3] do not broadcast"),
    }
    Ok(())
}

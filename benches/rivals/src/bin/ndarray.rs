//! ndarray as an engine of `cargo xtask bench`: float32 on one thread, the forms that it has.
#![forbid(unsafe_code)]

use monomorph::DType;
use monomorph_benches::serve::{Task, Work, serve};
use monomorph_benches::{Data, Layout};
use ndarray::{ArcArray, ArrayD, Axis, IxDyn, Zip};
use std::hint::black_box;

type Shared = ArcArray<f32, IxDyn>;

fn dense(work: &Work, sizes: &[i64], seed: u32) -> Shared {
    let sizes: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
    let data = Data::signed(work.dtype);
    let numbers = (0..sizes.iter().product::<usize>() as u64).map(|i| data.number(i, seed)).collect();
    ArcArray::from_shape_vec(IxDyn(&sizes), numbers).expect("as many numbers as the sizes say")
}

/// Operand `index` of `count`, in the layout of the work.
fn operand(work: &Work, index: u32, count: u32) -> Result<Shared, String> {
    let is_last = index + 1 == count;
    match (work.layout, &work.sizes[..]) {
        (Layout::Contiguous, sizes) => Ok(dense(work, sizes, index)),
        (_, sizes @ &[_, _]) if !is_last => Ok(dense(work, sizes, index)),
        (Layout::Transposed, &[rows, columns]) => Ok(dense(work, &[columns, rows], index).reversed_axes()),
        (Layout::RowBroadcast, &[_, columns]) if count > 1 => Ok(dense(work, &[columns], index)),
        (layout, _) => Err(format!("no {} operand here", layout.name())),
    }
}

/// A call that writes or makes an array.
struct Call<F> {
    step: F,
    result: ArrayD<f32>,
    /// Whether the call makes its result, so that the last one need not be kept while the next is made.
    makes: bool,
}

impl<F: FnMut(&mut ArrayD<f32>)> Task for Call<F> {
    fn run(&mut self, n: u64) -> Result<(), String> {
        for _ in 0..n {
            if self.makes {
                self.result = ArrayD::zeros(IxDyn(&[0]));
            }
            (self.step)(black_box(&mut self.result));
        }
        Ok(())
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        Ok(self.result.iter().map(|x| f64::from(*x)).collect())
    }
}

fn makes(mut step: impl FnMut() -> ArrayD<f32> + 'static) -> Box<dyn Task> {
    let step = move |to: &mut ArrayD<f32>| *to = step();
    Box::new(Call { step, result: ArrayD::zeros(IxDyn(&[0])), makes: true })
}

fn prepare(work: &Work) -> Result<Box<dyn Task>, String> {
    if work.dtype != DType::F32 {
        return Err(format!("no {} here", work.dtype));
    }
    let one = || operand(work, 0, 1);
    let two = || Ok::<_, String>((operand(work, 0, 2)?, operand(work, 1, 2)?));
    Ok(match (&*work.op, &*work.form) {
        ("add", "functional") => {
            let (a, b) = two()?;
            makes(move || (&a + &b).into_owned())
        }
        ("add", "out") => {
            let (a, b) = two()?;
            let out = ArrayD::zeros(a.raw_dim());
            let step = move |to: &mut ArrayD<f32>| {
                Zip::from(to).and_broadcast(&a).and_broadcast(&b).for_each(|to, a, b| *to = a + b);
            };
            Box::new(Call { step, result: out, makes: false })
        }
        ("add", "inplace") => {
            let (a, b) = two()?;
            Box::new(Call { step: move |to: &mut ArrayD<f32>| *to += &b, result: a.into_owned(), makes: false })
        }
        ("exp", "functional") => {
            let a = one()?;
            makes(move || a.mapv(f32::exp))
        }
        ("sum", "all") => {
            let a = one()?;
            makes(move || ndarray::arr0(a.sum()).into_dyn())
        }
        ("sum", form @ ("dim0" | "dim1")) => {
            let (a, axis) = (one()?, Axis(usize::from(form == "dim1")));
            makes(move || a.sum_axis(axis))
        }
        (op, form) => return Err(format!("{op} has no form {form} here")),
    })
}

fn main() -> std::io::Result<()> {
    serve("ndarray 0.16", |words| prepare(&Work::parse(words)?), std::io::stdin().lock(), std::io::stdout().lock())
}

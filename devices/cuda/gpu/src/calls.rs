//! The calls that are timed against PyTorch on the same GPU. The protocol is that of every engine, the operands are the
//! CPU's, moved.

use monomorph::{
    DType, Tensor,
    ops::{add, add_out, amax, exp_out, gelu_out, mean, mul_out, sum, tanh_out},
};
use monomorph_benches::serve::{self, Task, Work};
use monomorph_benches::{Data, values};
use monomorph_cuda::{Cuda, device_name, synchronize};

type T = Tensor<Cuda>;
type Ready = Result<Box<dyn Task>, String>;
type Step = Box<dyn FnMut(&mut Option<T>) -> monomorph::Result<()>>;

fn text(error: monomorph::Error) -> String {
    error.to_string()
}

/// Answers requests on the standard input until it ends.
///
/// # Errors
/// Those of reading and writing.
pub(crate) fn serve() -> Result<(), String> {
    let device = device_name(0).map_err(text)?.replace(' ', "-");
    let name = format!("monomorph {} {device}", env!("CARGO_PKG_VERSION"));
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    serve::serve(&name, |words| prepare(&Work::parse(words)?), input, output).map_err(|error| error.to_string())
}

/// A call; the result of the last run is kept. Runs are waited for, as the device has a queue.
struct Call {
    step: Step,
    result: Option<T>,
}

impl Task for Call {
    fn run(&mut self, n: u64) -> Result<(), String> {
        (0..n).try_for_each(|_| (self.step)(&mut self.result)).and_then(|()| synchronize(0)).map_err(text)
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        let result = self.result.as_ref().ok_or("it has not run")?;
        Ok(values(&Tensor::from_any(result.as_any(), 0).map_err(text)?))
    }
}

fn operand(work: &Work, index: usize, count: usize) -> Result<T, String> {
    let here = work.layout.operand(Data::signed(work.dtype), &work.sizes, index, count).map_err(text)?;
    // As it lies: a move would make a row of a broadcast operand, and a transposed one, dense.
    T::from_storage(&here.storage_to_vec().map_err(text)?, here.geometry().clone()).map_err(text)
}

fn returning(mut call: impl FnMut() -> monomorph::Result<T> + 'static) -> Ready {
    let step = move |result: &mut Option<T>| {
        *result = Some(call()?);
        Ok(())
    };
    Ok(Box::new(Call { step: Box::new(step), result: None }))
}

fn writing(work: &Work, mut call: impl FnMut(&mut T) -> monomorph::Result<()> + 'static) -> Ready {
    let dtype = if work.op == "lt" { DType::Bool } else { work.dtype };
    let out = T::zeros_contiguous(dtype, &work.sizes).map_err(text)?;
    let step = move |result: &mut Option<T>| result.as_mut().map_or(Ok(()), &mut call);
    Ok(Box::new(Call { step: Box::new(step), result: Some(out) }))
}

fn prepare(work: &Work) -> Ready {
    let one = || operand(work, 0, 1);
    let two = || Ok::<_, String>((operand(work, 0, 2)?, operand(work, 1, 2)?));
    match (&*work.op, &*work.form) {
        ("copy", "out") => {
            let a = one()?;
            writing(work, move |out| out.copy_from(&a))
        }
        ("add", "functional") => {
            let (a, b) = two()?;
            returning(move || add(&a, &b))
        }
        ("add", "out") => {
            let (a, b) = two()?;
            writing(work, move |out| add_out(&a, &b, out).map(drop))
        }
        ("mul", "out") => {
            let (a, b) = two()?;
            writing(work, move |out| mul_out(&a, &b, out).map(drop))
        }
        ("exp", "out") => {
            let a = one()?;
            writing(work, move |out| exp_out(&a, out).map(drop))
        }
        ("tanh", "out") => {
            let a = one()?;
            writing(work, move |out| tanh_out(&a, out).map(drop))
        }
        ("gelu", "out") => {
            let a = one()?;
            writing(work, move |out| gelu_out(&a, out).map(drop))
        }
        ("sum", "all") => {
            let a = one()?;
            returning(move || sum(&a, ..))
        }
        ("mean", "all") => {
            let a = one()?;
            returning(move || mean(&a, ..))
        }
        ("sum", "dim0") => {
            let a = one()?;
            returning(move || sum(&a, 0))
        }
        ("sum", "dim1") => {
            let a = one()?;
            returning(move || sum(&a, 1))
        }
        ("amax", "dim1") => {
            let a = one()?;
            returning(move || amax(&a, 1))
        }
        (op, form) => Err(format!("{op} has no form {form} here")),
    }
}

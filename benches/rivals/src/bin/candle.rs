//! candle as an engine of `cargo xtask bench`: its CPU device, the forms that it has. Every call makes its result.
#![forbid(unsafe_code)]

use candle_core::{DType, Device, Tensor};
use monomorph::DType as Ours;
use monomorph_benches::serve::{Task, Work, serve};
use monomorph_benches::{Data, Layout};
use std::hint::black_box;

fn text(error: candle_core::Error) -> String {
    error.to_string()
}

fn dtype(dtype: Ours) -> Result<DType, String> {
    Ok(match dtype {
        Ours::F32 => DType::F32,
        Ours::F64 => DType::F64,
        Ours::F16 => DType::F16,
        Ours::BF16 => DType::BF16,
        Ours::U8 => DType::U8,
        Ours::I64 => DType::I64,
        other => return Err(format!("no {other} here")),
    })
}

fn dense(work: &Work, sizes: &[i64], seed: u32) -> Result<Tensor, String> {
    let sizes: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
    let data = Data::signed(work.dtype);
    let numbers: Vec<f32> = (0..sizes.iter().product::<usize>() as u64).map(|i| data.number(i, seed)).collect();
    let floats = Tensor::from_vec(numbers, sizes, &Device::Cpu).map_err(text)?;
    floats.to_dtype(dtype(work.dtype)?).map_err(text)
}

/// Operand `index` of `count`, in the layout of the work.
fn operand(work: &Work, index: u32, count: u32) -> Result<Tensor, String> {
    let is_last = index + 1 == count;
    match (work.layout, &work.sizes[..]) {
        (Layout::Contiguous, sizes) => dense(work, sizes, index),
        (_, sizes @ &[_, _]) if !is_last => dense(work, sizes, index),
        (Layout::Transposed, &[rows, columns]) => dense(work, &[columns, rows], index)?.t().map_err(text),
        (Layout::RowBroadcast, &[_, columns]) if count > 1 => dense(work, &[columns], index),
        (Layout::ColumnBroadcast, &[rows, _]) if count > 1 => dense(work, &[rows, 1], index),
        (layout, _) => Err(format!("no {} operand here", layout.name())),
    }
}

struct Call<F> {
    step: F,
    result: Option<Tensor>,
}

impl<F: FnMut() -> candle_core::Result<Tensor>> Task for Call<F> {
    fn run(&mut self, n: u64) -> Result<(), String> {
        self.result = None;
        for _ in 1..n {
            drop(black_box((self.step)().map_err(text)?));
        }
        self.result = Some((self.step)().map_err(text)?);
        Ok(())
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        let result = self.result.as_ref().ok_or("it has not run")?;
        result.to_dtype(DType::F64).and_then(|t| t.flatten_all()?.to_vec1()).map_err(text)
    }
}

fn call(step: impl FnMut() -> candle_core::Result<Tensor> + 'static) -> Box<dyn Task> {
    Box::new(Call { step, result: None })
}

fn prepare(work: &Work) -> Result<Box<dyn Task>, String> {
    let one = || operand(work, 0, 1);
    let two = || Ok::<_, String>((operand(work, 0, 2)?, operand(work, 1, 2)?));
    let is_broadcast = matches!(work.layout, Layout::RowBroadcast | Layout::ColumnBroadcast);
    Ok(match (&*work.op, &*work.form) {
        ("add", "functional") => {
            let (a, b) = two()?;
            call(move || if is_broadcast { a.broadcast_add(&b) } else { a.add(&b) })
        }
        ("mul", "functional") => {
            let (a, b) = two()?;
            call(move || if is_broadcast { a.broadcast_mul(&b) } else { a.mul(&b) })
        }
        ("exp", "functional") => {
            let a = one()?;
            call(move || a.exp())
        }
        ("sum", "all") => {
            let a = one()?;
            call(move || a.sum_all())
        }
        ("sum", form @ ("dim0" | "dim1")) => {
            let (a, dim) = (one()?, usize::from(form == "dim1"));
            call(move || a.sum(dim))
        }
        (op, form) => return Err(format!("{op} has no form {form} here")),
    })
}

fn main() -> std::io::Result<()> {
    serve("candle 0.9", |words| prepare(&Work::parse(words)?), std::io::stdin().lock(), std::io::stdout().lock())
}

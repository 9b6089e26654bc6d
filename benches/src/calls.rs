//! The calls of this library that are timed against other libraries. An operator that has a typed function here is
//! called through it; one that has none is called by name, so that a benchmark can be asked for before its operator
//! exists.

use crate::fused::relu_mul_add_out;
use crate::serve::{Task, Work};
use crate::{Data, Domain, Layout, named, values};
use monomorph::crates::core::dispatch::OperatorHandle;
use monomorph::{
    Cpu, DType, IValue, Meta, Stack, Tensor, dispatcher, meta,
    ops::{
        add, add_, add_out, amax, amin, cos_out, eq_out, erf_out, exp, exp_out, expm1_out, gelu_out, log_out,
        log1p_out, maximum_out, mean, minimum_out, mul, mul_out, rsqrt_out, sigmoid_out, sin_out, sqrt_out, sum,
        tanh_out, where_out,
    },
    prepared,
};
use std::hint::black_box;

type T = Tensor<Cpu>;
type Ready = Result<Box<dyn Task>, String>;

/// What the engine says it is: library, version, instruction set, threads.
///
/// # Errors
/// If the environment asks for an instruction set that the host lacks.
pub fn describe() -> Result<String, String> {
    let level = monomorph_cpu::isa::Level::current().map_err(|error| error.to_string())?;
    let threads = threads();
    Ok(format!("monomorph {} {level} {threads} threads", env!("CARGO_PKG_VERSION")))
}

/// Threads that the pool would start: what the environment asks for, else one per core.
fn threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The call, with its operands in place.
///
/// # Errors
/// Why there is no such call.
pub fn prepare(work: &Work) -> Ready {
    match &*work.form {
        "all" | "dim0" | "dim1" => reduction(work),
        "out" | "static" => into(work),
        "inplace" => in_place(work),
        "functional" => functional(work),
        "scalar" if work.op == "add" => {
            let [a] = operands(work)?;
            returning(move || add(&a, 2.0))
        }
        "prepared" if work.op == "add" => {
            let [a, b] = operands(work)?;
            Ok(Box::new(Plan { a, b, out: output(work)? }))
        }
        "meta" if work.op == "add" => {
            let [a, b] = operands(work)?.map(|t: T| Tensor::<Meta>::zeros_contiguous(t.dtype(), t.sizes()));
            let [a, b] = [a.map_err(text)?, b.map_err(text)?];
            Ok(Box::new(Shapes { step: move || meta::add(&a, &b), result: None }))
        }
        "boxed" if work.op == "add" => {
            let [a, b] = operands(work)?;
            boxed("add.Tensor", vec![a.into(), b.into(), IValue::Int(1)])
        }
        form => match form.strip_prefix("named:") {
            Some(arguments) => boxed(&work.op, named::arguments(work, arguments)?),
            None => Err(format!("{} has no form {form} here", work.op)),
        },
    }
}

fn text(error: monomorph::Error) -> String {
    error.to_string()
}

/// Operators that are defined only above zero.
const POSITIVE: [&str; 5] = ["log", "log1p", "sqrt", "rsqrt", "pow"];

fn operand(work: &Work, index: usize, count: usize) -> Result<T, String> {
    let domain = if POSITIVE.contains(&&*work.op) { Domain::Positive } else { Domain::Signed };
    let data = Data { dtype: work.dtype, domain };
    work.layout.operand(data, &work.sizes, index, count).map_err(text)
}

fn operands<const N: usize>(work: &Work) -> Result<[T; N], String> {
    let all: Result<Vec<T>, String> = (0..N).map(|i| operand(work, i, N)).collect();
    Ok(all?.try_into().unwrap_or_else(|_| unreachable!("as many operands as indices")))
}

/// A tensor for the result of a pointwise call.
fn output(work: &Work) -> Result<T, String> {
    let dtype = match &*work.op {
        "eq" => DType::Bool,
        "add" | "mul" | "where" | "fused_relu_mul_add" | "relu" | "maximum" | "minimum" | "pow" => work.dtype,
        _ if work.dtype.is_integral(true) => DType::F32,
        _ => work.dtype,
    };
    Tensor::zeros_contiguous(dtype, &work.sizes).map_err(text)
}

fn into(work: &Work) -> Ready {
    type Unary = fn(&T, &mut T) -> monomorph::Result<()>;
    type Binary = fn(&T, &T, &mut T) -> monomorph::Result<()>;
    let unary = |run: Unary| {
        let [a] = operands(work)?;
        writing(work, move |out| run(&a, out))
    };
    let binary = |run: Binary| {
        let [a, b] = operands(work)?;
        writing(work, move |out| run(&a, &b, out))
    };
    match &*work.op {
        // Not through a pointer: for 16 elements that would be seen.
        "add" => {
            let [a, b] = operands(work)?;
            writing(work, move |out| add_out(&a, &b, out).map(drop))
        }
        "mul" => binary(|a, b, out| mul_out(a, b, out).map(drop)),
        "eq" => binary(|a, b, out| eq_out(a, b, out).map(drop)),
        "exp" => unary(|a, out| exp_out(a, out).map(drop)),
        "where" => {
            let condition = Layout::operand(Layout::Contiguous, Data::signed(DType::Bool), &work.sizes, 2, 3);
            let (condition, [a, b]) = (condition.map_err(text)?, operands(work)?);
            writing(work, move |out| where_out(&condition, &a, &b, out).map(drop))
        }
        "log" => unary(|a, out| log_out(a, out).map(drop)),
        "tanh" => unary(|a, out| tanh_out(a, out).map(drop)),
        "sin" => unary(|a, out| sin_out(a, out).map(drop)),
        "cos" => unary(|a, out| cos_out(a, out).map(drop)),
        "expm1" => unary(|a, out| expm1_out(a, out).map(drop)),
        "log1p" => unary(|a, out| log1p_out(a, out).map(drop)),
        "erf" => unary(|a, out| erf_out(a, out).map(drop)),
        "gelu" => unary(|a, out| gelu_out(a, out).map(drop)),
        "sqrt" => unary(|a, out| sqrt_out(a, out).map(drop)),
        "rsqrt" => unary(|a, out| rsqrt_out(a, out).map(drop)),
        "sigmoid" => unary(|a, out| sigmoid_out(a, out).map(drop)),
        "maximum" => binary(|a, b, out| maximum_out(a, b, out).map(drop)),
        "minimum" => binary(|a, b, out| minimum_out(a, b, out).map(drop)),
        "relu" => by_name(work, 1),
        "fused_relu_mul_add" => {
            let [a, b, c] = operands(work)?;
            writing(work, move |out| relu_mul_add_out(&a, &b, &c, 1, out).map(drop))
        }
        other => Err(format!("{other} has no form out here")),
    }
}

fn in_place(work: &Work) -> Ready {
    match &*work.op {
        "add" => {
            let [out, b] = operands(work)?;
            Ok(Box::new(Writing { step: move |out: &mut T| add_(out, &b).map(drop), out }))
        }
        other => Err(format!("{other} has no form inplace here")),
    }
}

fn functional(work: &Work) -> Ready {
    match &*work.op {
        "add" => {
            let [a, b] = operands(work)?;
            returning(move || add(&a, &b))
        }
        "mul" => {
            let [a, b] = operands(work)?;
            returning(move || mul(&a, &b))
        }
        "exp" => {
            let [a] = operands(work)?;
            returning(move || exp(&a))
        }
        other => Err(format!("{other} has no form functional here")),
    }
}

/// A reduction of its only operand, over all of it or over one dimension.
fn reduction(work: &Work) -> Ready {
    let [a] = operands(work)?;
    match (&*work.op, &*work.form) {
        ("sum", "all") => returning(move || sum(&a, ..)),
        ("sum", "dim0") => returning(move || sum(&a, 0)),
        ("sum", "dim1") => returning(move || sum(&a, 1)),
        ("mean", "all") => returning(move || mean(&a, ..)),
        ("amax", "dim1") => returning(move || amax(&a, 1)),
        ("amin", "dim0") => returning(move || amin(&a, 0)),
        (other, form) => Err(format!("{other} has no form {form} here")),
    }
}

/// The out= form by name: `count` operands and the output.
fn by_name(work: &Work, count: usize) -> Ready {
    let name = format!("{}.out", work.op);
    if dispatcher().find(&name).is_err() {
        return Err("not in the table".to_owned());
    }
    let mut stack: Stack = (0..count).map(|i| Ok(operand(work, i, count)?.into())).collect::<Result<_, String>>()?;
    stack.push(output(work)?.into());
    boxed(&name, stack)
}

/// A call that writes a tensor of the caller.
struct Writing<F> {
    step: F,
    out: T,
}

fn writing<F: FnMut(&mut T) -> monomorph::Result<()> + 'static>(work: &Work, step: F) -> Ready {
    Ok(Box::new(Writing { step, out: output(work)? }))
}

impl<F: FnMut(&mut T) -> monomorph::Result<()>> Task for Writing<F> {
    fn run(&mut self, n: u64) -> Result<(), String> {
        (0..n).try_for_each(|_| (self.step)(black_box(&mut self.out))).map_err(text)
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        Ok(values(&self.out))
    }
}

/// Makes a result and drops it where it is: to move it would take a tenth of a small call.
fn made<R>(step: &mut impl FnMut() -> monomorph::Result<R>) -> Result<(), String> {
    match black_box(&step()) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// A call that returns a new tensor.
struct Returning<F> {
    step: F,
    result: Option<T>,
}

fn returning<F: FnMut() -> monomorph::Result<T> + 'static>(step: F) -> Ready {
    Ok(Box::new(Returning { step, result: None }))
}

impl<F: FnMut() -> monomorph::Result<T>> Task for Returning<F> {
    fn run(&mut self, n: u64) -> Result<(), String> {
        self.result = None;
        for _ in 1..n {
            made(&mut self.step)?;
        }
        self.result = Some((self.step)().map_err(text)?);
        Ok(())
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        self.result.as_ref().map(values).ok_or_else(|| "it has not run".to_owned())
    }
}

/// A call whose result has no data; its sizes stand for it.
struct Shapes<F> {
    step: F,
    result: Option<Tensor<Meta>>,
}

impl<F: FnMut() -> monomorph::Result<Tensor<Meta>>> Task for Shapes<F> {
    fn run(&mut self, n: u64) -> Result<(), String> {
        for _ in 1..n {
            made(&mut self.step)?;
        }
        self.result = Some((self.step)().map_err(text)?);
        Ok(())
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        let result = self.result.as_ref().ok_or("it has not run")?;
        Ok(result.sizes().iter().map(|n| *n as f64).collect())
    }
}

/// A plan that was checked once; every request prepares it anew, because it borrows its operands.
struct Plan {
    a: T,
    b: T,
    out: T,
}

impl Task for Plan {
    fn run(&mut self, n: u64) -> Result<(), String> {
        let mut plan = prepared::add(&self.a, &self.b, 1, &mut self.out).map_err(text)?;
        (0..n).try_for_each(|_| black_box(&mut plan).run()).map_err(text)
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        Ok(values(&self.out))
    }
}

/// A boxed call by handle. Its arguments are pushed anew for each call.
struct Boxed {
    handle: OperatorHandle,
    arguments: Stack,
    stack: Stack,
}

fn boxed(name: &str, arguments: Stack) -> Ready {
    let handle = dispatcher().find(name).map_err(text)?;
    Ok(Box::new(Boxed { handle, arguments, stack: Vec::new() }))
}

impl Task for Boxed {
    fn run(&mut self, n: u64) -> Result<(), String> {
        for _ in 0..n {
            self.stack.clear();
            self.stack.extend(self.arguments.iter().cloned());
            self.handle.call(black_box(&mut self.stack)).map_err(text)?;
        }
        Ok(())
    }
    fn result(&mut self) -> Result<Vec<f64>, String> {
        match &self.stack[..] {
            [IValue::Tensor(t), ..] => {
                t.downcast_ref::<Cpu>().map(values).ok_or_else(|| "a result elsewhere".to_owned())
            }
            _ => Err("it has not run".to_owned()),
        }
    }
}

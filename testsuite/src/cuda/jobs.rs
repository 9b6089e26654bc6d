//! What a kernel is tried on: operands in every layout that its loops tell apart, and what the CPU makes of them. Owns the
//! layouts; runs no kernel.

use super::{Case, Subject};
use crate::c_text::{numbers, rows};
use crate::layout::tensor;
use monomorph::core::structured::Operand;
use monomorph::{Cpu, DType, Geometry, Scalar, Tensor};
use monomorph_cuda::{Form, Launch};
use monomorph_iter::{Config, Flags, TensorIter, View, build_over};

/// A launch of a kernel of a case, and what it should give.
pub(super) struct Job {
    /// What is special about it.
    pub(super) layout: &'static str,
    pub(super) launch: Launch,
    /// The storage of the output, filled with what is there before, then those of the inputs.
    pub(super) storages: Vec<Vec<u8>>,
    /// The input that shares the output's storage.
    pub(super) in_place: Option<usize>,
    /// How the output lies in its storage.
    pub(super) output: Geometry,
    /// The result of the CPU; `None` where some operands have none, and the kernel has to say so.
    pub(super) want: Option<Tensor<Cpu>>,
}

/// What fills an output before the kernel runs.
const BEFORE: u8 = 0xa5;

/// How operands lie.
struct Layout {
    name: &'static str,
    /// The loop that must be chosen, where the layout leaves no choice.
    form: Option<Form>,
    sizes: Vec<i64>,
    /// Strides and offset of operand `k`, the output being 0.
    strides: Box<dyn Fn(usize) -> (Vec<i64>, i64)>,
}

fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for d in (1..sizes.len()).rev() {
        strides[d - 1] = strides[d] * sizes[d].max(1);
    }
    strides
}

/// The layouts, for groups of so many elements of which a block of threads takes so many.
fn layouts(group: i64, block: i64) -> Vec<Layout> {
    let dense = |sizes: &[i64]| {
        let strides = row_major(sizes);
        move |_: usize| (strides.clone(), 0)
    };
    let (flat, wide) = (vec![block + 5], 5 * group + group.min(3) - 1);
    let pad = (wide / 16 + 2) * 16;
    let (padded, image) = (vec![3, 2, wide], vec![2, 3, 4, 5]);
    let many: Vec<i64> = vec![2; 10];
    let every_other: Vec<i64> = (0..10).map(|d| 1 << ((d * 3) % 10)).collect();
    vec![
        Layout { name: "dense", form: Some(Form::Vector), strides: Box::new(dense(&flat)), sizes: flat.clone() },
        Layout {
            name: "one element repeated",
            form: Some(Form::Vector),
            sizes: flat.clone(),
            strides: Box::new(|k| (vec![i64::from(k != 1)], 0)),
        },
        Layout { name: "one group", form: Some(Form::Vector), sizes: vec![group], strides: Box::new(dense(&[group])) },
        Layout {
            name: "rows with gaps, repeated rows, repeated elements",
            form: Some(Form::Vector),
            sizes: padded,
            strides: Box::new(move |k| match k {
                1 => (vec![pad, 0, 1], 0),
                2 => (vec![2, 1, 0], 0),
                _ => (vec![2 * pad, pad, 1], 0),
            }),
        },
        Layout {
            name: "not aligned to words",
            form: (group > 1).then_some(Form::Strided),
            sizes: flat.clone(),
            strides: Box::new(|k| (vec![1], i64::from(k == 0))),
        },
        Layout {
            name: "every other element",
            form: Some(Form::Strided),
            sizes: flat,
            strides: Box::new(|k| (vec![2 - i64::from(k == 1)], 0)),
        },
        Layout {
            name: "transposed",
            form: Some(Form::Strided),
            sizes: vec![19, 13],
            strides: Box::new(|k| (if k == 1 { vec![1, 19] } else { vec![13, 1] }, 0)),
        },
        Layout {
            name: "channels last",
            form: None,
            strides: Box::new(move |k| (if k == 0 { vec![60, 1, 15, 3] } else { row_major(&[2, 3, 4, 5]) }, 0)),
            sizes: image,
        },
        Layout {
            name: "ten dimensions",
            form: None,
            strides: Box::new(move |k| (if k == 0 { row_major(&[2; 10]) } else { every_other.clone() }, 0)),
            sizes: many,
        },
        Layout { name: "no dimension", form: Some(Form::Vector), sizes: vec![], strides: Box::new(|_| (vec![], 0)) },
        Layout { name: "no element", form: Some(Form::Vector), sizes: vec![3, 0], strides: Box::new(dense(&[3, 0])) },
    ]
}

/// Every job of a case.
///
/// # Errors
/// What the CPU, or the launch, says of operands that it should take.
pub(super) fn jobs(case: &Case) -> Result<Vec<Job>, String> {
    let functor = &case.functor;
    let group = functor.group() as i64;
    let block = group * (functor.groups() * monomorph_cuda::THREADS) as i64;
    let params = numbers(functor.function().params().len(), case.dtype);
    let (fine, broken) = samples(case, &params);
    let mut jobs = Vec::new();
    for layout in layouts(group, block) {
        let job = job(case, &layout, &fine, &params, None, true).map_err(|why| format!("{}: {why}", layout.name))?;
        if layout.form.is_some_and(|form| form != job.launch.form) && !functor.function().inputs().is_empty() {
            return Err(format!("{}: walked by the {} loop", layout.name, job.launch.form.suffix()));
        }
        jobs.push(job);
    }
    let line =
        |name, step| Layout { name, form: None, sizes: vec![block + 5], strides: Box::new(move |_| (vec![step], 0)) };
    // Of the first values, zeros, a second application would make the same.
    let mut turned = fine.clone();
    turned.rotate_left((fine.len() / 3 + 1).min(fine.len()));
    if let Some(k) = functor.function().inputs().iter().position(|&dtype| dtype == functor.output()) {
        for layout in [line("in place, dense", 1), line("in place, every other element", 2)] {
            jobs.push(job(case, &layout, &turned, &params, Some(k + 1), true)?);
        }
    }
    if functor.has_fault() && !broken.is_empty() {
        jobs.push(job(case, &line("without a result", 1), &broken, &params, None, false)?);
    }
    Ok(jobs)
}

/// Operands that have a result, and all of them if some have none.
fn samples(case: &Case, params: &[Scalar]) -> (Vec<Vec<Scalar>>, Vec<Vec<Scalar>>) {
    let (operands, masks) = (case.functor.function().inputs().len(), case.subject.masks());
    let all = rows(case.dtype, operands, masks);
    let Subject::Formula(formula) = &case.subject else { return (all, Vec::new()) };
    let fine: Vec<_> =
        all.iter().filter(|row| (formula.record.reference)(case.dtype, row, params).is_some()).cloned().collect();
    let broken = if fine.len() < all.len() { all } else { Vec::new() };
    (fine, broken)
}

fn job(
    case: &Case,
    layout: &Layout,
    rows: &[Vec<Scalar>],
    params: &[Scalar],
    in_place: Option<usize>,
    has_result: bool,
) -> Result<Job, String> {
    let functor = &case.functor;
    let inputs = functor.function().inputs();
    let dtypes: Vec<DType> = std::iter::once(functor.output()).chain(inputs.iter().copied()).collect();
    let geometry = |k: usize| {
        let (strides, offset) = (layout.strides)(k);
        Geometry::new(dtypes[k], &layout.sizes, &strides, offset).map_err(|error| error.to_string())
    };
    let geometries = (0..dtypes.len()).map(geometry).collect::<Result<Vec<_>, _>>()?;
    let column = |k: usize| -> Vec<Scalar> { rows.iter().map(|row| row[k - 1]).collect() };
    let operands: Vec<Tensor<Cpu>> = (1..dtypes.len()).map(|k| tensor(geometries[k].clone(), &column(k))).collect();
    let want = match has_result {
        true => Some(case.subject.on_cpu(&operands, params, &geometries[0])?),
        false => None,
    };
    let mut storages = vec![vec![BEFORE; geometries[0].bytes_needed().map_err(|error| error.to_string())?]];
    for operand in &operands {
        storages.push(operand.storage_to_vec().map_err(|error| error.to_string())?);
    }
    let mut output = geometries[0].clone();
    if let Some(k) = in_place {
        storages[0] = std::mem::take(&mut storages[k]);
        output = geometries[k].clone();
    }
    let iter = iteration(&geometries)?;
    let bases: Vec<u64> = geometries.iter().map(|g| g.offset() as u64 * g.dtype().size() as u64).collect();
    let launch = Launch::new(functor, &iter, &bases, 0, params).map_err(|error| error.to_string())?;
    Ok(Job { layout: layout.name, launch, storages, in_place, output, want })
}

/// The iteration over these operands, the output first.
fn iteration(geometries: &[Geometry]) -> Result<TensorIter, String> {
    let views: Vec<View<'_>> = geometries.iter().map(|g| View::new(g.dtype(), g.sizes(), g.strides())).collect();
    let flags = Flags { check_all_same_dtype: false, resize_outputs: false, ..Flags::DEFAULT };
    build_over(&Config::new(flags), &views[..1], &views[1..]).map_err(|error| error.to_string())
}

impl Subject {
    fn masks(&self) -> usize {
        match self {
            Subject::Formula(formula) => formula.masks,
            Subject::Chain(_) => 0,
        }
    }

    fn on_cpu(&self, operands: &[Tensor<Cpu>], params: &[Scalar], output: &Geometry) -> Result<Tensor<Cpu>, String> {
        let lent: Vec<Operand<'_>> = operands.iter().map(Into::into).collect();
        let result = match self {
            Subject::Formula(formula) if operands.is_empty() => {
                Tensor::<Cpu>::zeros_contiguous(output.dtype(), output.sizes())
                    .and_then(|mut out| (formula.cpu.out)(&lent, params, &mut out).map(|()| out))
            }
            Subject::Formula(formula) => (formula.cpu.functional)(&lent, params),
            Subject::Chain(in_turn) => in_turn(operands, params),
        };
        result.map_err(|error| error.to_string())
    }
}

//! What a kernel is tried on: operands in every layout that its loops tell apart, and what the CPU makes of them. Owns
//! the layouts; runs no kernel.

use super::{Case, Checked, Subject};
use crate::c_text::{numbers, rows, within};
use crate::layout::tensor;
use monomorph::crates::core::structured::Operand;
use monomorph::crates::ops::record::Within;
use monomorph::{Cpu, DType, Geometry, Scalar, Tensor};
use monomorph_cuda::{Base, Form, Functor, Launch};
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
    /// The input that is a number and has no memory.
    pub(super) number: Option<usize>,
    /// How the output lies in its storage.
    pub(super) output: Geometry,
    /// The result of the CPU; `None` where some operands have none, and the kernel has to say so.
    pub(super) want: Option<Tensor<Cpu>>,
}

/// What fills an output before the kernel runs.
pub(super) const BEFORE: u8 = 0xa5;

/// What operands are, the output being 0.
struct Operands {
    /// Their dtypes in memory.
    dtypes: Vec<DType>,
    /// Whether memory has the conjugates and the negatives.
    turned: Vec<(bool, bool)>,
    /// The input that shares the output's storage.
    in_place: Option<usize>,
    /// The input that is a number.
    number: Option<usize>,
}

impl Operands {
    /// Those that the functor takes as they are.
    fn exact(functor: &Functor) -> Operands {
        let dtypes: Vec<DType> =
            std::iter::once(functor.output()).chain(functor.function().inputs().iter().copied()).collect();
        Operands { turned: vec![(false, false); dtypes.len()], dtypes, in_place: None, number: None }
    }

    /// Those of dtypes that go round with `seed`; the output's own if results are not to be compared exactly.
    fn cast(functor: &Functor, seed: usize, is_exact: bool) -> Operands {
        let exact = Operands::exact(functor);
        let other = |k: usize| DType::ALL[(seed + 5 * k) % DType::COUNT];
        let dtype = |k: usize| if k == 0 && !is_exact { exact.dtypes[0] } else { other(k) };
        let dtypes: Vec<DType> = (0..exact.dtypes.len()).map(dtype).collect();
        if dtypes == exact.dtypes && !dtypes.is_empty() && dtypes.len() > 1 {
            return Operands::cast(functor, seed + 1, is_exact);
        }
        Operands { dtypes, ..exact }
    }

    /// The same, conjugated and negated by turns.
    fn turned(self, seed: usize) -> Operands {
        let bits = |(k, dtype): (usize, &DType)| {
            (dtype.is_complex() && (seed + k).is_multiple_of(2), (seed / 2 + k).is_multiple_of(2))
        };
        Operands { turned: self.dtypes.iter().enumerate().map(bits).collect(), ..self }
    }
}

/// How operands lie.
struct Layout {
    name: &'static str,
    /// The loop that must be chosen, where the layout leaves no choice.
    form: Option<Form>,
    sizes: Vec<i64>,
    /// Strides and offset of operand `k`, the output being 0.
    strides: Box<dyn Fn(usize) -> (Vec<i64>, i64)>,
}

pub(super) fn row_major(sizes: &[i64]) -> Vec<i64> {
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
    let own = || Operands::exact(functor);
    let mut jobs = Vec::new();
    for layout in layouts(group, block) {
        let job = job(case, &layout, &fine, &params, own(), true).map_err(|why| format!("{}: {why}", layout.name))?;
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
            jobs.push(job(case, &layout, &turned, &params, Operands { in_place: Some(k + 1), ..own() }, true)?);
        }
    }
    jobs.extend(numbers_and_casts(case, &turned, &params)?);
    if functor.has_fault() && !broken.is_empty() {
        jobs.push(job(case, &line("without a result", 1), &broken, &params, own(), false)?);
    }
    Ok(jobs)
}

/// The jobs with operands that are numbers, of other dtypes, conjugated and negated.
fn numbers_and_casts(case: &Case, rows: &[Vec<Scalar>], params: &[Scalar]) -> Result<Vec<Job>, String> {
    let functor = &case.functor;
    let inputs = functor.function().inputs().len();
    let stepped = |name, first: i64, step: i64| Layout {
        name,
        form: None,
        sizes: vec![3, 67],
        strides: Box::new(move |k| (if k == 1 { vec![0, first] } else { vec![67 * step, step] }, 0)),
    };
    let mut jobs = Vec::new();
    if inputs > 0 {
        for (name, step) in [("a number, dense", 1), ("a number, every other element", 2)] {
            let operands = Operands { number: Some(1), ..Operands::exact(functor) };
            jobs.push(job(case, &stepped(name, 0, step), rows, params, operands, true)?);
        }
    }
    let seed = case.name().bytes().map(usize::from).sum::<usize>();
    let exact = near(case).ulp == 0;
    let cast = |seed| Operands::cast(functor, seed, exact);
    let number = (inputs > 1).then_some(1);
    for (name, operands) in [
        ("other dtypes", cast(seed)),
        ("other dtypes and a number", Operands { number, ..cast(seed + 3) }),
        ("conjugated and negated", Operands::exact(functor).turned(seed)),
        ("other dtypes, conjugated and negated", cast(seed + 7).turned(seed)),
    ] {
        let first = i64::from(operands.number.is_none());
        // What is converted may have no result any more.
        let own = functor.function().inputs();
        let arrives = |row: &Vec<Scalar>| -> Vec<Scalar> {
            (1..=inputs).map(|k| row[k - 1].cast(operands.dtypes[k]).cast(own[k - 1])).collect()
        };
        // Functions of C are as near as the record asks for on its own values, so these have to arrive unchanged.
        let is_fit = |row: &&Vec<Scalar>| {
            let arrived = arrives(row);
            has_result(case, &arrived, params) && (exact || arrived == **row)
        };
        let rows: Vec<_> = rows.iter().filter(is_fit).cloned().collect();
        if inputs > 0 && rows.is_empty() {
            continue;
        }
        let job = job(case, &stepped(name, first, 1), &rows, params, operands, true)?;
        jobs.push(job);
    }
    Ok(jobs)
}

/// How near results must be.
pub(super) fn near(case: &Case) -> Within {
    match &case.subject {
        Subject::Formula(formula) => within(formula.record.within, case.functor.function()),
        Subject::Chain(_) => within(Within::units(4), case.functor.function()),
    }
}

/// Whether the formula has a result for these operands.
fn has_result(case: &Case, row: &[Scalar], params: &[Scalar]) -> bool {
    match &case.subject {
        Subject::Formula(formula) => (formula.record.reference)(case.dtype, row, params).is_some(),
        Subject::Chain(_) => true,
    }
}

/// Operands that have a result, and all of them if some have none.
fn samples(case: &Case, params: &[Scalar]) -> (Vec<Vec<Scalar>>, Vec<Vec<Scalar>>) {
    let (operands, masks) = (case.functor.function().inputs().len(), case.subject.masks());
    let all = rows(case.dtype, operands, masks);
    let Subject::Formula(_) = &case.subject else { return (all, Vec::new()) };
    let fine: Vec<_> = all.iter().filter(|row| has_result(case, row, params)).cloned().collect();
    let broken = if fine.len() < all.len() { all } else { Vec::new() };
    (fine, broken)
}

fn job(
    case: &Case,
    layout: &Layout,
    rows: &[Vec<Scalar>],
    params: &[Scalar],
    operands: Operands,
    has_result: bool,
) -> Result<Job, String> {
    let functor = &case.functor;
    let Operands { dtypes, turned, in_place, number } = operands;
    let words = |error: monomorph::Error| error.to_string();
    let geometry = |k: usize| {
        let (strides, offset) = (layout.strides)(k);
        let plain = Geometry::new(dtypes[k], &layout.sizes, &strides, offset).map_err(words)?;
        Ok::<Geometry, String>(plain.with_conj(turned[k].0).with_neg(turned[k].1))
    };
    let geometries = (0..dtypes.len()).map(geometry).collect::<Result<Vec<_>, _>>()?;
    let column = |k: usize| -> Vec<Scalar> { rows.iter().map(|row| row[k - 1].cast(dtypes[k])).collect() };
    let stored = |k: usize| {
        let plain = geometries[k].clone().with_conj(false).with_neg(false);
        tensor(plain, &column(k)).with_geometry(geometries[k].clone()).map_err(words)
    };
    let lying = (1..dtypes.len()).map(stored).collect::<Result<Vec<_>, _>>()?;
    let own = functor.function().inputs();
    let taken =
        lying.iter().zip(own).map(|(tensor, &dtype)| converted(tensor, dtype)).collect::<Result<Vec<_>, _>>()?;
    let want = match has_result {
        true => Some(converted(&case.subject.on_cpu(&taken, params, functor.output(), &layout.sizes)?, dtypes[0])?),
        false => None,
    };
    let mut storages = vec![vec![BEFORE; geometries[0].bytes_needed().map_err(words)?]];
    for (k, tensor) in lying.iter().enumerate() {
        let is_number = number == Some(k + 1);
        storages.push(if is_number { Vec::new() } else { tensor.storage_to_vec().map_err(words)? });
    }
    let mut output = geometries[0].clone();
    if let Some(k) = in_place {
        storages[0] = std::mem::take(&mut storages[k]);
        output = geometries[k].clone();
    }
    let iter = iteration(&geometries)?;
    let base = |(k, g): (usize, &Geometry)| match number {
        Some(number) if number == k => Base::Number(column(k)[0]),
        _ => Base::At(g.offset() as u64 * g.dtype().size() as u64),
    };
    let bases: Vec<Base> = geometries.iter().enumerate().map(base).collect();
    let launches = Launch::new(functor, &iter, &bases, 0, params).map_err(|error| error.to_string())?;
    let [launch] = <[Launch; 1]>::try_from(launches).map_err(|all| format!("{} launches of a small job", all.len()))?;
    Ok(Job { layout: layout.name, launch, storages, in_place, number, output, want })
}

/// The tensor as the loop gets it: itself, if it is of the dtype and lies as it is.
pub(super) fn converted(tensor: &Tensor<Cpu>, dtype: DType) -> Result<Tensor<Cpu>, String> {
    if tensor.dtype() == dtype && !tensor.is_conj() && !tensor.is_neg() {
        return Ok(tensor.clone());
    }
    let mut result = Tensor::zeros_contiguous(dtype, tensor.sizes()).map_err(|error| error.to_string())?;
    result.copy_from(tensor).map_err(|error| error.to_string())?;
    Ok(result)
}

/// The iteration over these operands, the output first.
fn iteration(geometries: &[Geometry]) -> Result<TensorIter, String> {
    let view = |g| View { conj: Geometry::is_conj(g), neg: g.is_neg(), ..View::new(g.dtype(), g.sizes(), g.strides()) };
    let views: Vec<View<'_>> = geometries.iter().map(view).collect();
    let flags = Flags::DEFAULT.with_dtype_check(false).without_resizing();
    build_over(&Config::new(flags), &views[..1], &views[1..]).map_err(|error| error.to_string())
}

impl Subject {
    fn masks(&self) -> usize {
        match self {
            Subject::Formula(formula) => formula.masks,
            Subject::Chain(_) => 0,
        }
    }

    fn on_cpu(
        &self,
        operands: &[Tensor<Cpu>],
        params: &[Scalar],
        dtype: DType,
        sizes: &[i64],
    ) -> Result<Tensor<Cpu>, String> {
        let lent: Vec<Operand<'_>> = operands.iter().map(Into::into).collect();
        let result = match self {
            Subject::Formula(formula) if operands.is_empty() => Tensor::<Cpu>::zeros_contiguous(dtype, sizes)
                .and_then(|mut out| (formula.cpu.out)(&lent, params, &mut out).map(|()| out)),
            Subject::Formula(formula) => (formula.cpu.functional)(&lent, params),
            Subject::Chain(in_turn) => in_turn(operands, params),
        };
        result.map_err(|error| error.to_string())
    }
}

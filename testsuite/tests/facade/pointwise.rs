//! Every formula × dtypes × layouts × forms against the naive twin: all forms give the same answer and the same error,
//! and shapes alone give the same shapes.

use monomorph::crates::core::ErrorKind;
use monomorph::crates::core::overlap::{self, Internal};
use monomorph::crates::core::structured::Operand;
use monomorph::crates::ops::pointwise::OutputKind;
use monomorph::crates::ops::record::{Inputs, Within};
use monomorph::{Cpu, DType, Error, Geometry, Meta, Result, Scalar, Tensor};
use monomorph_testsuite::formulas::{Formula, formulas};
use monomorph_testsuite::layout::{Layout, Random, convert, mixed, plain, samples, tensor, values};
use monomorph_testsuite::naive::{self, Arg, Refusal, distance, distance_beyond};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner, contextualize_config};

use crate::boxed;
use std::cell::Cell;

/// One operand of a random call.
#[derive(Debug, Clone)]
struct Spec {
    number: bool,
    dtype: DType,
    layout: Layout,
    /// Leading dimensions that it does not have.
    lead: usize,
    /// Bit `d` is set where its size is 1.
    ones: u8,
    /// Its last size does not broadcast.
    misfit: bool,
    conj: bool,
    neg: bool,
}

/// A random call of some formula.
#[derive(Debug, Clone)]
struct Case {
    sizes: Vec<i64>,
    specs: Vec<Spec>,
    same_dtype: bool,
    out_layout: Layout,
    out_dtype: DType,
    seed: u64,
}

fn spec() -> impl Strategy<Value = Spec> {
    let dtype = prop::sample::select(DType::ALL.to_vec());
    let layout = prop::sample::select(Layout::ALL.to_vec());
    let rare = |n| prop::bool::weighted(1.0 / f64::from(n));
    (rare(8), dtype, layout, 0usize..3, any::<u8>(), rare(60), (rare(6), rare(8), rare(2))).prop_map(
        |(number, dtype, layout, lead, ones, misfit, (conj, neg, whole))| {
            let (lead, ones) = if whole { (0, 0) } else { (lead, ones) };
            Spec { number, dtype, layout, lead, ones, misfit, conj, neg }
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let size = prop::sample::select(vec![1, 2, 3, 0, 5, 4]);
    let sizes = prop_oneof![
        6 => prop::collection::vec(size, 0..=4),
        1 => Just(vec![2, 3, 2, 3]),
        1 => Just(vec![3, 150]),
    ];
    let dtype = || prop::sample::select(DType::ALL.to_vec());
    let layout = prop::sample::select(Layout::WRITABLE.to_vec());
    (sizes, prop::collection::vec(spec(), 3), prop::bool::weighted(0.5), layout, dtype(), any::<u64>()).prop_map(
        |(sizes, specs, same_dtype, out_layout, out_dtype, seed)| Case {
            sizes,
            specs,
            same_dtype,
            out_layout,
            out_dtype,
            seed,
        },
    )
}

/// A tensor or number as the spec says.
fn argument(
    spec: &Spec,
    sizes: &[i64],
    dtype: DType,
    pick: &dyn Fn(DType, usize, &mut Random) -> Vec<Scalar>,
    random: &mut Random,
) -> Arg {
    if spec.number {
        let wide = [DType::Bool, DType::I64, DType::F64, DType::C128];
        let dtype = wide.into_iter().find(|w| w.kind() == dtype.kind()).unwrap_or(dtype);
        return Arg::Number(pick(dtype, 1, random)[0]);
    }
    let mut own: Vec<i64> = sizes.iter().skip(spec.lead).copied().collect();
    for (d, size) in own.iter_mut().enumerate() {
        if spec.ones >> d & 1 == 1 {
            *size = 1;
        }
    }
    if let (true, Some(last)) = (spec.misfit, own.last_mut()) {
        *last += 6;
    }
    let geometry = spec.layout.geometry(dtype, &own);
    let geometry = geometry.with_conj(spec.conj).with_neg(spec.neg && dtype != DType::Bool);
    let values = pick(dtype, 40, random);
    Arg::Tensor(tensor(geometry, &values))
}

fn operand(arg: &Arg) -> Operand<'_> {
    match arg {
        Arg::Tensor(t) => t.into(),
        Arg::Number(n) => (*n).into(),
    }
}

/// The same geometry without data.
fn meta_like(t: &Tensor<Cpu>) -> Tensor<Meta> {
    let bytes = t.storage_bytes() as i64;
    let whole = Tensor::<Meta>::zeroed(DType::U8, &[bytes], &[1], 0).unwrap();
    whole.with_geometry(t.geometry().clone()).unwrap()
}

/// An operand without data.
enum Twin {
    Tensor(Tensor<Meta>),
    Number(Scalar),
}

impl Twin {
    fn operand(&self) -> Operand<'_> {
        match self {
            Twin::Tensor(t) => t.into(),
            Twin::Number(n) => (*n).into(),
        }
    }
}

/// What must not change when a call fails.
fn snapshot(t: &Tensor<Cpu>) -> (String, Vec<u8>, u64) {
    (format!("{:?}", t.geometry()), t.storage_to_vec().unwrap(), t.version())
}

fn shape(g: &Geometry) -> (Vec<i64>, Vec<i64>, DType) {
    (g.sizes().to_vec(), g.strides().to_vec(), g.dtype())
}

/// True if the error lies in the data, which shapes alone cannot tell.
fn in_data(error: &Error) -> bool {
    *error.kind() == ErrorKind::DivisionByZero
}

/// Real and meta: the same shape or the same error, except where the error lies in the data.
fn assert_meta(what: &str, real: &Result<Geometry>, meta: &Result<Geometry>) {
    match (real, meta) {
        (Ok(real), Ok(meta)) => assert_eq!(shape(real), shape(meta), "{what}: meta"),
        (Err(real), Err(meta)) => assert_eq!(real, meta, "{what}: meta"),
        (Err(real), Ok(_)) if in_data(real) => {}
        (real, meta) => panic!("{what}: {real:?}, but meta {meta:?}"),
    }
}

fn assert_same_values(what: &str, got: &Tensor<Cpu>, want: &[Scalar], within: Within) {
    let got_values = values(got);
    assert_eq!(got_values.len(), want.len(), "{what}");
    for (i, (&g, &w)) in got_values.iter().zip(want).enumerate() {
        let w = convert(w, got.dtype());
        let apart = distance_beyond(got.dtype(), within, g, w);
        assert!(apart <= within.ulp, "{what}: element {i} of {} is {g}, want {w}, {apart} units apart", got.dtype());
    }
}

/// One call of one formula in every form.
struct Trial<'a> {
    formula: &'a Formula,
    case: &'a Case,
    args: Vec<Arg>,
    params: Vec<Scalar>,
    what: String,
}

impl<'a> Trial<'a> {
    fn new(formula: &'a Formula, case: &'a Case) -> Trial<'a> {
        let mut random = Random::new(case.seed);
        let domain: Vec<DType> = formula.domain().collect();
        // Mostly dtypes of the domain, so that most calls return.
        let own = random.pick(&domain);
        let dtype = |k: usize, spec: &Spec| match k {
            // Only the condition of `where` may be uint8.
            k if k < formula.masks && formula.record.call.starts_with("where") => {
                [DType::Bool, DType::Bool, DType::U8][spec.ones as usize % 3]
            }
            k if k < formula.masks => DType::Bool,
            // What decides the dtype of such a result is a matter of forms, which are compared here.
            _ if case.same_dtype || formula.rule.dtype_of().is_some() => own,
            _ => spec.dtype,
        };
        let specs = || case.specs.iter().take(formula.operands).enumerate();
        let complex = specs().any(|(k, spec)| dtype(k, spec).is_complex());
        let inputs = formula.record.inputs;
        let pick = move |dtype, n, random: &mut Random| {
            if complex { plain(dtype, n, random) } else { mixed(dtype, inputs, n, random) }
        };
        let mut args = Vec::new();
        for (k, spec) in specs() {
            // The negatives of small uint8 are large.
            let neg = spec.neg && (inputs == Inputs::Any || dtype(k, spec) != DType::U8);
            let spec = Spec { number: spec.number && k >= formula.masks, neg, ..spec.clone() };
            args.push(argument(&spec, &case.sizes, dtype(k, &spec), &pick, &mut random));
        }
        let common = naive::compute_dtype(formula, &args, &[]);
        let inputs = if inputs == Inputs::Any { Inputs::Small } else { inputs };
        let params = mixed(common, inputs, formula.params, &mut random);
        let geometries: Vec<_> = args
            .iter()
            .map(|arg| match arg {
                Arg::Tensor(t) => format!("{:?}", t.geometry()),
                Arg::Number(n) => n.to_string(),
            })
            .collect();
        let what = format!("{} of {geometries:?}, {params:?}", formula.path);
        Trial { formula, case, args, params, what }
    }

    fn operands(&self) -> Vec<Operand<'_>> {
        self.args.iter().map(operand).collect()
    }

    /// The operands without data, to be lent as operands.
    fn twins(&self) -> Vec<Twin> {
        let twin = |arg: &Arg| match arg {
            Arg::Tensor(t) => Twin::Tensor(meta_like(t)),
            Arg::Number(n) => Twin::Number(*n),
        };
        self.args.iter().map(twin).collect()
    }

    /// The functional form against the naive twin, and without data, and by name.
    fn functional(&self) -> Result<Tensor<Cpu>> {
        let Trial { formula, what, params, .. } = self;
        let result = (formula.cpu.functional)(&self.operands(), params);
        let own = |error: &Error| {
            let kind = error.kind();
            let rule = matches!(kind, ErrorKind::ArgumentRule { .. } | ErrorKind::NumberRange { .. });
            let dtype = matches!(kind, ErrorKind::DTypeNotSupported { .. } | ErrorKind::DTypeMismatch { .. });
            formula.rule.has_check() && (rule || dtype)
        };
        match (&result, naive::pointwise(formula, &self.args, params)) {
            (Ok(t), Ok(want)) => {
                assert_eq!((t.sizes(), t.dtype()), (&want.sizes[..], want.dtype), "{what}");
                assert_same_values(what, t, &want.values, formula.record.within);
            }
            (Err(error), Err(refusal)) => match refusal {
                Refusal::Sizes => {
                    assert!(own(error) || matches!(error.kind(), ErrorKind::Broadcast { .. }), "{what}: {error}");
                }
                Refusal::Data => assert!(in_data(error), "{what}: {error}"),
                Refusal::Domain(_) => {}
            },
            (Err(error), Ok(_)) => {
                assert!(own(error), "{what}: {error}");
            }
            (Ok(_), Err(refusal)) => panic!("{what}: returned in spite of {refusal:?}"),
        }
        let geometry = result.as_ref().map(|t| t.geometry().clone()).map_err(Clone::clone);
        let on_cpu_operands = (formula.meta.functional)(&self.operands(), params);
        assert_meta(what, &geometry, &on_cpu_operands.map(|t| t.geometry().clone()));
        let twins = self.twins();
        let on_twins = (formula.meta.functional)(&lent(&twins), params);
        assert_meta(what, &geometry, &on_twins.map(|t| t.geometry().clone()));

        if !formula.is_named() {
            return result;
        }
        let by_name = boxed::call(&boxed::functional(formula), boxed::stack(formula, &self.args, params));
        match (&result, by_name) {
            (Ok(t), Ok(named)) => {
                assert_eq!(shape(t.geometry()), shape(named.geometry()), "{what}: by name");
                let named = named.downcast::<Cpu>().expect("a tensor on the CPU");
                assert_same_values(&format!("{what}: by name"), &named, &values(t), Within::EXACT);
            }
            (Err(error), Err(named)) => assert_eq!(error.kind(), named.kind(), "{what}: by name"),
            (direct, named) => panic!("{what}: {direct:?}, by name {named:?}"),
        }
        result
    }

    /// Runs one of the forms that write `out`, and the same without data; checks what it leaves behind.
    fn into(&self, form: Form, mut out: Tensor<Cpu>, want: &Result<Tensor<Cpu>>) -> Result<Tensor<Cpu>> {
        let Trial { formula, params, .. } = self;
        let what = &format!("{}, {form:?} {:?}", self.what, out.geometry());
        let (before, operands, twins) = (snapshot(&out), self.operands(), self.twins());
        let mut meta_out = meta_like(&out);
        let (done, dry) = match form {
            Form::Out => (
                (formula.cpu.out)(&operands, params, &mut out),
                (formula.meta.out)(&lent(&twins), params, &mut meta_out),
            ),
            Form::Prepared => (
                (formula.cpu.prepared)(&operands, params, &mut out),
                (formula.meta.prepared)(&lent(&twins), params, &mut meta_out),
            ),
            Form::InPlace => (
                (formula.cpu.in_place)(&operands[1..], params, &mut out),
                (formula.meta.in_place)(&lent(&twins)[1..], params, &mut meta_out),
            ),
        };
        let real = done.clone().map(|()| out.geometry().clone());
        assert_meta(what, &real, &dry.map(|()| meta_out.geometry().clone()));
        match (&done, want) {
            (Ok(()), Ok(want)) => {
                assert_eq!(out.sizes(), want.sizes(), "{what}");
                // Where elements share memory, operands beside the output decide what is left.
                let overlaps = overlap::internal(out.sizes(), out.strides()) != Internal::No;
                if formula.rule.flags().checks_overlap() || formula.operands == 1 || !overlaps {
                    assert_same_values(what, &out, &values(want), Within::EXACT);
                }
                assert!(out.version() > before.2, "{what}: the write was not counted");
            }
            (Err(error), _) if in_data(error) => assert!(want.is_err(), "{what}: {error}"),
            (Err(_), _) => assert_eq!(snapshot(&out), before, "{what}: changed by an error"),
            (Ok(()), Err(error)) => panic!("{what}: returned, but the functional form said {error}"),
        }
        done.map(|()| out)
    }

    /// All forms; true if the functional one returned.
    fn all_forms(&self) -> bool {
        let before: Vec<_> = self.tensors().map(snapshot).collect();
        let result = self.functional();
        self.out_forms(&result);
        if self.formula.masks == 0 {
            self.in_place(&result);
        }
        self.by_name_into(&result);
        let after: Vec<_> = self.tensors().map(snapshot).collect();
        assert_eq!(before, after, "{}: an operand changed", self.what);
        result.is_ok()
    }

    fn tensors(&self) -> impl Iterator<Item = &Tensor<Cpu>> {
        self.args.iter().filter_map(|arg| if let Arg::Tensor(t) = arg { Some(t) } else { None })
    }

    /// The sizes that the result would have, also where there is none.
    fn result_sizes(&self) -> Option<Vec<i64>> {
        self.args.iter().try_fold(Vec::new(), |sizes, arg| naive::broadcast(&sizes, arg.sizes()))
    }

    fn out_forms(&self, result: &Result<Tensor<Cpu>>) {
        let what = &self.what;
        let (Formula { rule, .. }, case) = (self.formula, self.case);
        let compute = naive::compute_dtype(self.formula, &self.args, &self.params);
        let dtype = match rule.output() {
            OutputKind::Common => compute,
            OutputKind::Truth => DType::Bool,
            OutputKind::Magnitude => compute.to_real(),
        };
        let empty = Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).unwrap();
        for form in [Form::Out, Form::Prepared] {
            let out = self.into(form, empty.with_geometry(empty.geometry().clone()).unwrap(), result);
            match (result, out) {
                // A new output has the strides that a new tensor would have.
                (Ok(t), Ok(out)) => {
                    let has_own_layout = rule.is_made_like_input() || rule.has_row_major_results();
                    if !has_own_layout && (rule.output() != OutputKind::Magnitude || !compute.is_complex()) {
                        assert_eq!(shape(t.geometry()), shape(out.geometry()), "{what}, {form:?}");
                    }
                }
                (Err(want), Err(got)) => assert_eq!(want.kind(), got.kind(), "{what}, {form:?}"),
                (Ok(_), Err(error)) => panic!("{what}, {form:?}: {error}"),
                (Err(_), Ok(_)) => unreachable!("`into` has compared"),
            }
        }
        let Some(sizes) = self.result_sizes() else { return };
        let fill = mixed(case.out_dtype, Inputs::Small, 7, &mut Random::new(case.seed));
        let make = |dtype, layout: Layout| tensor(layout.geometry(dtype, &sizes), &fill);
        let out = make(dtype, case.out_layout);
        let strides = out.strides().to_vec();
        if let (Ok(_), out) = (result, self.into(Form::Out, out, result)) {
            assert_eq!(out.expect("the dtype and sizes are right").strides(), strides, "{what}: strides are kept");
        }
        let other = self.into(Form::Out, make(case.out_dtype, case.out_layout), result);
        let castable = dtype.can_cast(case.out_dtype) || rule.output() == OutputKind::Truth;
        assert!(case.out_dtype == dtype || castable || other.is_err(), "{what} into {}", case.out_dtype);
        // Some operators let an output overlap itself, as PyTorch's do; which write is last is nobody's business.
        if !rule.flags().checks_overlap() {
            return;
        }
        let expanded = self.into(Form::Out, make(dtype, Layout::Expanded), result);
        if result.is_ok() && sizes.first().is_some_and(|&s| s > 1) && !sizes.contains(&0) {
            let error = expanded.expect_err("an output that overlaps itself");
            assert!(matches!(error.kind(), ErrorKind::InternalOverlap { .. }), "{what}: {error}");
        }
    }

    /// In-place on a copy of the first operand.
    fn in_place(&self, result: &Result<Tensor<Cpu>>) {
        let Some(Arg::Tensor(first)) = self.args.first() else { return };
        if first.geometry().is_conj() || first.geometry().is_neg() {
            return;
        }
        let bytes = first.storage_to_vec().unwrap();
        let copy = Tensor::<Cpu>::from_storage(&bytes, first.geometry().clone()).unwrap();
        let want_dtype = result.as_ref().map(Tensor::dtype);
        match (want_dtype, self.into(Form::InPlace, copy, result)) {
            (Err(want), Err(got)) => {
                let fits = self.result_sizes().is_some_and(|sizes| sizes == first.sizes());
                let overlaps = matches!(got.kind(), ErrorKind::InternalOverlap { .. } | ErrorKind::Cast { .. });
                assert!(!in_data(want) || in_data(&got) || !fits || overlaps, "{}: in place {got}", self.what);
            }
            (Ok(dtype), Err(error)) => {
                let fits = result.as_ref().is_ok_and(|t| t.sizes() == first.sizes()) && dtype == first.dtype();
                let overlaps = matches!(error.kind(), ErrorKind::InternalOverlap { .. });
                assert!(!fits || overlaps, "{}: in place {error}", self.what);
            }
            _ => {}
        }
    }

    /// The out= form and the in-place form by name.
    fn by_name_into(&self, result: &Result<Tensor<Cpu>>) {
        if !self.formula.is_named() {
            return;
        }
        let entry = boxed::functional(self.formula);
        // PyTorch's isfinite has none.
        if let Some(out_entry) = boxed::sibling(&entry, |e| e.schema().unwrap().is_out()) {
            let dtype = result.as_ref().map_or(DType::F32, Tensor::dtype);
            let mut stack = boxed::stack(self.formula, &self.args, &self.params);
            stack.push(Tensor::<Cpu>::zeros_contiguous(dtype, &[0]).unwrap().into());
            match (result, boxed::call(out_entry, stack)) {
                (Ok(want), Ok(got)) => {
                    let got = got.downcast::<Cpu>().expect("a tensor on the CPU");
                    assert_same_values(&format!("{}: out= by name", self.what), &got, &values(want), Within::EXACT);
                }
                (Err(_), Err(_)) => {}
                (want, got) => panic!("{}: {want:?}, out= by name {got:?}", self.what),
            }
        }
        let Some(Arg::Tensor(first)) = self.args.first().filter(|_| self.formula.masks == 0) else { return };
        // PyTorch's maximum has none.
        let Some(in_place) = boxed::sibling(&entry, |e| e.schema().unwrap().is_inplace()) else { return };
        let copy = || {
            let bytes = first.storage_to_vec().unwrap();
            Tensor::<Cpu>::from_storage(&bytes, first.geometry().clone()).unwrap()
        };
        let mut direct = copy();
        let done = (self.formula.cpu.in_place)(&self.operands()[1..], &self.params, &mut direct);
        let mut stack = boxed::stack(self.formula, &self.args, &self.params);
        stack[0] = copy().into();
        match (done, boxed::call(in_place, stack)) {
            (Ok(()), Ok(named)) => {
                let named = named.downcast::<Cpu>().expect("a tensor on the CPU");
                assert_same_values(
                    &format!("{}: in place by name", self.what),
                    &named,
                    &values(&direct),
                    Within::EXACT,
                );
            }
            (Err(direct), Err(named)) => assert_eq!(direct.kind(), named.kind(), "{}: in place by name", self.what),
            (direct, named) => panic!("{}: in place {direct:?}, by name {named:?}", self.what),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Out,
    Prepared,
    InPlace,
}

/// Operands without data.
fn lent(twins: &[Twin]) -> Vec<Operand<'_>> {
    twins.iter().map(Twin::operand).collect()
}

#[test]
fn every_form_of_every_formula_equals_the_naive_twin() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    for formula in formulas().iter().filter(|f| f.operands > 0) {
        let mut config = contextualize_config(ProptestConfig::with_cases(cases));
        config.failure_persistence = None;
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let returned = Cell::new(0);
        let outcome = runner.run(&case(), |case| {
            returned.set(returned.get() + u32::from(Trial::new(formula, &case).all_forms()));
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{}: {error}", formula.path);
        }
        assert!(returned.get() > cases / 5, "{}: only {} of {cases} calls returned", formula.path, returned.get());
    }
}

#[test]
fn filling_writes_every_element_and_no_gap() {
    let all = formulas();
    let fill = all.iter().find(|f| f.operands == 0).expect("fill_ has no operand");
    for (dtype, layout) in DType::ALL.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout))) {
        for sizes in [&[][..], &[0], &[5], &[2, 3], &[2, 3, 2, 2], &[3, 300]] {
            for value in samples(dtype, Inputs::Any) {
                let background = convert(Scalar::Int(1), dtype);
                let mut t = tensor(layout.geometry(dtype, sizes), &[background]);
                let want = (fill.record.reference)(dtype, &[], &[convert(value, dtype)]).expect("a value");
                let whole = t.storage_bytes() / dtype.size();
                let reached = if layout == Layout::Expanded && sizes.len() > 1 {
                    t.numel() / sizes[0].max(1) as usize
                } else {
                    t.numel()
                };
                (fill.cpu.in_place)(&[], &[value], &mut t).unwrap();
                let what = format!("{dtype} {layout:?} {sizes:?} {value}");
                assert_same_values(&what, &t, &vec![want; t.numel()], Within::EXACT);
                let all = t.with_geometry(Geometry::new(dtype, &[whole as i64], &[1], 0).unwrap()).unwrap();
                let untouched = values(&all).iter().filter(|&&v| distance(dtype, v, background) == 0).count();
                if distance(dtype, want, background) > 0 && !(layout == Layout::Expanded && sizes.len() == 1) {
                    assert_eq!(untouched, whole - reached, "{what}: a gap was written");
                }
            }
        }
    }
}

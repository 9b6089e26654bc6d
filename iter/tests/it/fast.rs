//! The shortcuts against the stages: random calls, most of them nearly of the kinds that take a shortcut, planned both
//! ways. Plan, output and error must be the same.

use crate::fuzz::Rng;
use crate::support::Host;
use monomorph_core::structured::{self, Executes, Functional, Operand, Out, Outputs, SinkState, StructuredOp};
use monomorph_core::{DType, Device, Geometry, Meta, Result, Scalar, Tensor};
use monomorph_iter::{Config, Flags, TensorIter, build_in_stages, build_into};
use std::cell::RefCell;

thread_local! {
    static PLAN: RefCell<Option<TensorIter>> = const { RefCell::new(None) };
}

/// An operator that keeps its plan for the test; planned with the shortcut or without.
struct Planned<const SHORTCUT: bool>;

struct Call<'t> {
    config: Config<'static>,
    operands: Vec<Operand<'t>>,
}

impl<const SHORTCUT: bool> StructuredOp for Planned<SHORTCUT> {
    const NAME: &'static str = "planned";
    const OUTPUTS: usize = 1;
    const CPU_SCALARS: bool = true;
    type Inputs<'t> = Call<'t>;
    type Plan = TensorIter;
    type Home = Self;

    fn operands<'a, 't>(call: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &call.operands
    }

    fn meta(call: &Call<'_>, sink: &mut SinkState<'_>, plan: &mut TensorIter) -> Result<()> {
        if SHORTCUT {
            build_into(&call.config, &call.operands, sink, plan)?;
        } else {
            build_in_stages(&call.config, &call.operands, sink, plan)?;
        }
        PLAN.set(Some(plan.clone()));
        Ok(())
    }
}

// SAFETY: nothing is read or written, and the allocator of the device gives zeroed memory.
unsafe impl<const SHORTCUT: bool> Executes<Planned<SHORTCUT>> for Host {
    type Ready = ();
    unsafe fn ready(_: &TensorIter, _: &Call<'_>, _: &Outputs<'_>) -> Result<()> {
        Ok(())
    }
    unsafe fn run((): &mut (), _: &TensorIter) -> Result<()> {
        Ok(())
    }
}

/// A tensor of a random call, by its place in one storage that all of them share or in one of its own.
#[derive(Clone, Debug)]
struct Spec {
    geometry: Geometry,
    shared: bool,
}

#[derive(Clone, Debug)]
enum Input {
    Tensor(Spec),
    Number(Scalar),
    Absent,
    /// The output itself.
    Output,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Functional,
    Out,
    InPlace,
}

const DTYPES: [DType; 5] = [DType::F32, DType::F64, DType::I32, DType::Bool, DType::C64];

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len())]
}

/// Dense strides in a random order of dimensions.
fn dense(rng: &mut Rng, sizes: &[i64], straight: usize) -> Vec<i64> {
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    if !rng.chance(straight) {
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
    }
    let mut strides = vec![0; sizes.len()];
    let mut next = 1;
    for d in order {
        strides[d] = next;
        next *= sizes[d].max(1);
        if sizes[d] == 1 && rng.chance(20) {
            // Of no importance to where elements lie.
            strides[d] = rng.below(7) as i64;
        }
    }
    strides
}

/// A row-major geometry that broadcasts with `like`, mostly.
fn broadcast(rng: &mut Rng, like: &Geometry) -> Geometry {
    let mut sizes = like.sizes()[rng.below(like.ndim() + 1).saturating_sub(rng.below(3))..].to_vec();
    for size in &mut sizes {
        if rng.chance(30) {
            *size = 1;
        }
    }
    let strides = dense(rng, &sizes, 85);
    let dtype = if rng.chance(20) { pick(rng, &DTYPES) } else { like.dtype() };
    Geometry::new(dtype, &sizes, &strides, 0).unwrap()
}

/// A geometry that mostly is `like`.
fn nearly(rng: &mut Rng, like: &Geometry) -> Geometry {
    let mut sizes = like.sizes().to_vec();
    let mut strides = like.strides().to_vec();
    if rng.chance(12) {
        strides = dense(rng, &sizes, 60);
    }
    if rng.chance(6) && !sizes.is_empty() {
        let d = rng.below(sizes.len());
        sizes[d] = pick(rng, &[1, 2, 5]);
    }
    if rng.chance(4) && !sizes.is_empty() {
        sizes.remove(0);
        strides.remove(0);
    }
    if rng.chance(3) {
        strides.iter_mut().for_each(|s| *s *= 2);
    }
    if rng.chance(3) && !sizes.is_empty() {
        let d = rng.below(sizes.len());
        strides[d] = 0;
    }
    let dtype = if rng.chance(10) { pick(rng, &DTYPES) } else { like.dtype() };
    let offset = if rng.chance(10) { rng.below(4) as i64 } else { 0 };
    let names = || sizes.iter().enumerate().map(|(d, _)| (d == 0).then(|| "n".into())).collect();
    let names = (rng.chance(3) && !sizes.is_empty()).then(names);
    let geometry = Geometry::new(dtype, &sizes, &strides, offset).unwrap();
    geometry.with_conj(rng.chance(3)).with_neg(rng.chance(3)).with_wrapped(rng.chance(10)).with_names(names).unwrap()
}

fn config(rng: &mut Rng) -> Config<'static> {
    let presets = [
        Flags::BINARY,
        Flags::BINARY,
        Flags::BINARY_FLOAT,
        Flags::COMPARISON,
        Flags::COMPARISON_CAST,
        Flags::TERNARY,
        Flags::UNARY,
        Flags::UNARY_FLOAT,
        Flags::UNARY_FORCE_BOOLEAN,
        Flags::NULLARY,
        Flags::DEFAULT,
    ];
    let mut flags = pick(rng, &presets);
    flags = flags.with_overlap_check(flags.checks_overlap() && !rng.chance(10));
    if rng.chance(10) {
        flags = flags.without_resizing();
    }
    flags = flags.with_linear_order(rng.chance(5));
    Config {
        flags,
        output_dtype: rng.chance(25).then_some(DType::Bool),
        promote_from: usize::from(rng.chance(4)),
        common_dtype: rng.chance(8).then(|| pick(rng, &DTYPES)),
        outputs_like: rng.chance(4).then_some(0),
        ..Config::default()
    }
}

fn make<D: Device>(spec: &Spec, whole: &Tensor<D>) -> Tensor<D> {
    if spec.shared {
        return whole.with_geometry(spec.geometry.clone()).unwrap();
    }
    let bytes = [spec.geometry.bytes_needed().unwrap() as i64];
    Tensor::<D>::zeroed(DType::U8, &bytes, &[1], 0).unwrap().with_geometry(spec.geometry.clone()).unwrap()
}

/// What a call came to: the output's geometry, as text because names are in it, and the plan.
type Outcome = std::result::Result<(String, TensorIter), String>;

fn outcome<D: Device>(result: Result<&Tensor<D>>) -> Outcome {
    match result {
        Ok(out) => Ok((format!("{:?}", out.geometry()), PLAN.take().expect("a plan was made"))),
        Err(error) => Err(format!("{error:?}")),
    }
}

fn run<D, const SHORTCUT: bool>(config: Config<'static>, form: Form, out: &Spec, inputs: &[Input]) -> Outcome
where
    D: Executes<Planned<SHORTCUT>>,
{
    PLAN.set(None);
    let whole = Tensor::<D>::zeroed(DType::U8, &[1 << 16], &[1], 0).unwrap();
    let mut out = make(out, &whole);
    // A copy that shares the storage is what `Input::Output` can be beside a `&mut` of the output.
    let same = out.clone();
    let tensors: Vec<Option<Tensor<D>>> =
        inputs.iter().map(|i| if let Input::Tensor(spec) = i { Some(make(spec, &whole)) } else { None }).collect();
    let operands = inputs.iter().zip(&tensors).map(|(input, tensor)| match (input, tensor) {
        (_, Some(tensor)) => Operand::from(tensor),
        (Input::Number(number), _) => Operand::from(*number),
        (Input::Output, _) => Operand::from(&same),
        _ => Operand::Absent,
    });
    let operands: Vec<Operand<'_>> = operands.collect();
    let call = |operands| Call { config, operands };
    match form {
        Form::Functional => {
            let made = structured::call::<Planned<SHORTCUT>, D, _>(&call(operands), Functional::<D, 1>::default());
            outcome(made.as_ref().map(|[out]| out).map_err(Clone::clone))
        }
        Form::Out => {
            let written = structured::call::<Planned<SHORTCUT>, D, _>(&call(operands), Out([&mut out]));
            let done = written.map(|_| ());
            outcome(done.map(|()| &out))
        }
        Form::InPlace => {
            let done = structured::in_place(&mut out, |first, sink, _| {
                let rest = operands.iter().skip(1).copied();
                let operands = std::iter::once(Operand::Tensor(first)).chain(rest).collect();
                structured::call::<Planned<SHORTCUT>, D, _>(&Call { config, operands }, sink)
            });
            outcome(done.map(|t| &*t))
        }
    }
}

fn both<D>(config: Config<'static>, form: Form, out: &Spec, inputs: &[Input]) -> bool
where
    D: Executes<Planned<true>> + Executes<Planned<false>>,
{
    let short = run::<D, true>(config, form, out, inputs);
    let staged = run::<D, false>(config, form, out, inputs);
    assert_eq!(short, staged, "{form:?} of {inputs:?}\nto {out:?}\nwith {config:?}");
    short.is_ok()
}

#[test]
fn the_shortcut_plans_what_the_stages_plan() {
    let env = |name: &str| std::env::var(name).ok()?.parse().ok();
    let (calls, seed): (usize, u64) =
        (env("MONOMORPH_FUZZ_ITERS").unwrap_or(20_000), env("MONOMORPH_FUZZ_SEED").unwrap_or(7) as u64);
    let mut rng = Rng(seed);
    let mut planned = 0;
    for _ in 0..calls {
        let ndim = rng.below(6);
        let sizes: Vec<i64> = (0..ndim).map(|_| pick(&mut rng, &[0, 1, 1, 2, 2, 3, 3, 3])).collect();
        let strides = dense(&mut rng, &sizes, 60);
        let like = Geometry::new(pick(&mut rng, &DTYPES), &sizes, &strides, 0).unwrap();
        let mixed = rng.chance(40);
        let spec = |rng: &mut Rng| {
            let geometry = if mixed && rng.chance(60) { broadcast(rng, &like) } else { nearly(rng, &like) };
            Spec { geometry, shared: rng.chance(8) }
        };
        let form = pick(&mut rng, &[Form::Functional, Form::Out, Form::InPlace]);
        let out = spec(&mut rng);
        let input = |rng: &mut Rng, k| match rng.below(100) {
            0..15 => Input::Number(pick(rng, &[Scalar::Int(1), Scalar::Float(0.5), Scalar::Bool(true)])),
            15 => Input::Absent,
            16..24 if form != Form::InPlace || k == 0 => Input::Output,
            _ => Input::Tensor(spec(rng)),
        };
        let inputs: Vec<Input> = (0..1 + rng.below(4)).map(|k| input(&mut rng, k)).collect();
        let config = config(&mut rng);
        planned += usize::from(both::<Host>(config, form, &out, &inputs));
        both::<Meta>(config, form, &out, &inputs);
    }
    assert!(planned * 4 > calls, "only {planned} of {calls} calls could be planned");
}

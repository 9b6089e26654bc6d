//! A device over the test process's memory, and an operator that does nothing but plan an iteration.

use monomorph_core::structured::{
    self, Executes, Functional, MetaSink, Operand, Out, Outputs, SinkState, StructuredOp,
};
use monomorph_core::{Contents, DType, Device, DeviceKind, ErrorKind, Memory, Meta, Reach, Result, Strided, Tensor};
use monomorph_iter::{Config, Flags, TensorIter, build_into};
use std::alloc::Layout;
use std::ptr::NonNull;

/// The device of these tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), 16).ok()
}

fn allocate(_: u8, bytes: usize, _: Contents) -> Option<NonNull<u8>> {
    // SAFETY: the layout has at least one byte.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(bytes)?) })
}

unsafe fn free(_: u8, block: NonNull<u8>, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: M2: the block is of `allocate` with this byte count.
        unsafe { std::alloc::dealloc(block.as_ptr(), layout) }
    }
}

unsafe fn copy(_: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    // SAFETY: M2: two blocks of that many bytes that do not overlap.
    unsafe { to.as_ptr().copy_from_nonoverlapping(from.as_ptr(), bytes) }
}

static MEMORY: Memory = Memory { allocate, free, copy, reach: Reach::Host };

// SAFETY: the kind is used by no other device of these tests; the memory functions keep M1 to M3.
unsafe impl Device for Host {
    const KIND: DeviceKind = DeviceKind(21);
    const MEMORY: Option<&'static Memory> = Some(&MEMORY);
    type Guard = ();
    type StdOps = ();
    fn enter(_: u8) {}
    unsafe fn copy(_: u8, _: &[i64], _: Strided<'_>, _: Strided<'_>) -> Result<()> {
        Err(ErrorKind::ArgumentRule { rule: "the test device does not copy" }.into())
    }
}

/// What a plan is asked for, by the name of its preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preset {
    Binary,
    BinaryFloat,
    Comparison,
    Ternary,
    Unary,
    UnaryFloat,
    UnaryForceBoolean,
    Where,
}

impl Preset {
    pub(crate) fn from_name(name: &str) -> Preset {
        match name {
            "binary" => Preset::Binary,
            "binary_float" => Preset::BinaryFloat,
            "comparison" => Preset::Comparison,
            "ternary" => Preset::Ternary,
            "unary" => Preset::Unary,
            "unary_float" => Preset::UnaryFloat,
            "unary_force_boolean" => Preset::UnaryForceBoolean,
            "where" => Preset::Where,
            other => panic!("unknown preset {other}"),
        }
    }

    fn config(self, sink: &SinkState<'_>) -> Config<'static> {
        let bool_output = |flags| Config { output_dtype: Some(DType::Bool), ..Config::new(flags) };
        match self {
            Preset::Binary => Config::new(Flags::BINARY),
            Preset::BinaryFloat => Config::new(Flags::BINARY_FLOAT),
            Preset::Comparison => Config::comparison(sink),
            Preset::Ternary => Config::new(Flags::TERNARY),
            Preset::Unary => Config::new(Flags::UNARY),
            Preset::UnaryFloat => Config::new(Flags::UNARY_FLOAT),
            Preset::UnaryForceBoolean => bool_output(Flags::UNARY_FORCE_BOOLEAN),
            Preset::Where => Config { promote_from: 1, ..Config::new(Flags::TERNARY.with_output_cast(false)) },
        }
    }
}

/// The operator of these tests.
pub(crate) struct Probe;

/// Its arguments.
pub(crate) struct Arguments<'t> {
    pub(crate) preset: Preset,
    pub(crate) operands: Vec<Operand<'t>>,
}

impl StructuredOp for Probe {
    const NAME: &'static str = "probe";
    const OUTPUTS: usize = 1;
    const CPU_SCALARS: bool = true;
    type Inputs<'t> = Arguments<'t>;
    type Plan = TensorIter;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Arguments<'_>, sink: &mut SinkState<'_>, plan: &mut TensorIter) -> Result<()> {
        build_into(&inputs.preset.config(sink), &inputs.operands, sink, plan)
    }
}

// SAFETY: nothing is read or written, and the allocator of the device gives zeroed memory.
unsafe impl Executes<Probe> for Host {
    type Ready = ();
    unsafe fn ready(_: &TensorIter, _: &Arguments<'_>, _: &Outputs<'_>) -> Result<()> {
        Ok(())
    }
    unsafe fn run((): &mut (), _: &TensorIter) -> Result<()> {
        Ok(())
    }
}

/// dtype, sizes and strides of an output.
pub(crate) type Seen = (DType, Vec<i64>, Vec<i64>);

fn seen<D: Device>(t: &Tensor<D>) -> Seen {
    (t.dtype(), t.sizes().to_vec(), t.strides().to_vec())
}

/// The call with a new output.
pub(crate) fn functional(arguments: &Arguments<'_>) -> Result<Seen> {
    let [out] = structured::call::<Probe, Host, _>(arguments, Functional::<Host, 1>::default())?;
    Ok(seen(&out))
}

/// The call with a new output on the meta device.
pub(crate) fn meta(arguments: &Arguments<'_>) -> Result<Seen> {
    Ok(seen(&meta_call(arguments)?))
}

/// The same, as the tensor that it returns.
pub(crate) fn meta_call(arguments: &Arguments<'_>) -> Result<Tensor<Meta>> {
    let [out] = structured::call::<Probe, Meta, _>(arguments, MetaSink::<1>)?;
    Ok(out)
}

/// The call with an output that exists.
pub(crate) fn out(arguments: &Arguments<'_>, out: &mut Tensor<Host>) -> Result<Seen> {
    let [out] = structured::call::<Probe, Host, _>(arguments, Out([out]))?;
    Ok(seen(out))
}

/// The call in place on `this`, the first operand.
pub(crate) fn in_place(preset: Preset, this: &mut Tensor<Host>, rest: &[Operand<'_>]) -> Result<Seen> {
    let this = structured::in_place(this, |first, sink, _| {
        let operands = std::iter::once(Operand::Tensor(first)).chain(rest.iter().copied()).collect();
        structured::call::<Probe, Host, _>(&Arguments { preset, operands }, sink)
    })?;
    Ok(seen(this))
}

//! The library behind the oracle's border: replays calls through the boxed entry.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use monomorph::crates::core::schema::Base;
use monomorph::crates::core::{DeviceKind, Layout};
use monomorph::{
    AnyTensor, Complex64, Cpu, DType, Device, DeviceId, Dispatcher, Error, Geometry, IValue, MemoryFormat, Meta,
    Scalar, Stack, Tensor,
};

use super::replay::{After, ArgState, Call, GotStorage, GotTensor, GotValue, Identity, Outcome, Replayer, StorageId};
use super::value::{self, Number, TensorSpec, Value};

/// Replays calls through the library's operator table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library;

impl Replayer for Library {
    fn call(&mut self, call: &Call<'_>) -> Outcome {
        let no_kernel = |_: &Error| false;
        OnDevice::<Cpu, _>::new(monomorph::dispatcher(), no_kernel).call(call)
    }
}

/// Replays calls that were recorded on the CPU on another device: tensors are the device's, and so is a `device`
/// argument that names the CPU or nothing.
#[derive(Debug, Clone, Copy)]
pub struct OnDevice<'a, D, F = fn(&Error) -> bool> {
    dispatcher: &'a Dispatcher,
    /// Errors that say that the device does not have the operator, or not for these arguments.
    refuses: F,
    device: PhantomData<D>,
}

impl<'a, D: Device, F: Fn(&Error) -> bool> OnDevice<'a, D, F> {
    /// Calls through `dispatcher`. An error for which `refuses` is true counts as an overload that the device does not
    /// have.
    pub fn new(dispatcher: &'a Dispatcher, refuses: F) -> Self {
        OnDevice { dispatcher, refuses, device: PhantomData }
    }
}

impl<D: Device, F: Fn(&Error) -> bool> Replayer for OnDevice<'_, D, F> {
    fn call(&mut self, call: &Call<'_>) -> Outcome {
        let Ok(handle) = self.dispatcher.find(call.op) else { return Outcome::Unsupported };
        let Ok(schema) = handle.schema() else { return Outcome::Unsupported };
        let memory = match Memory::<D>::new(call) {
            Ok(memory) => memory,
            Err(message) => return Outcome::Error { message, after: After::default() },
        };
        let here = IValue::Device(DeviceId { kind: D::KIND, index: 0 });
        let mut stack: Stack = Vec::with_capacity(call.args.len());
        for (arg, declared) in call.args.iter().zip(schema.args()) {
            match memory.argument(call, &arg.value) {
                Ok(IValue::Device(DeviceId::CPU)) => stack.push(here.clone()),
                Ok(IValue::None) if declared.ty().base() == Base::Device && D::KIND != DeviceKind::CPU => {
                    stack.push(here.clone());
                }
                Ok(value) => stack.push(value),
                Err(message) => return Outcome::Error { message, after: memory.after(call, &[], &[]) },
            }
        }
        let before = stack.clone();
        match handle.call(&mut stack) {
            Err(error) if (self.refuses)(&error) => Outcome::Unsupported,
            Err(error) => {
                let after = memory.after(call, &stack, &[]);
                Outcome::Error { message: error.to_string(), after }
            }
            Ok(()) => {
                // Written arguments are returned; the caller's own handle is the one with the new geometry.
                let mut state = before;
                let first_out = schema.args().len() - schema.out_args().len();
                for (i, result) in stack.iter().enumerate() {
                    if schema.is_out() {
                        state[first_out + i] = result.clone();
                    } else if schema.is_inplace() {
                        state[0] = result.clone();
                    }
                }
                let after = memory.after(call, &state, &stack);
                Outcome::Returned { outputs: stack.iter().map(output).collect(), after }
            }
        }
    }
}

/// One storage per buffer of a call.
struct Memory<D: Device> {
    storages: Vec<Tensor<D>>,
}

impl<D: Device> Memory<D> {
    fn new(call: &Call<'_>) -> Result<Memory<D>, String> {
        let whole = |bytes: &[u8]| match D::MEMORY {
            Some(_) => Tensor::<D>::from_slice_on(0, bytes, bytes.len()),
            None => Tensor::<D>::zeroed(DType::U8, &[bytes.len() as i64], &[1], 0),
        };
        let storages: Result<_, _> = call.buffers.iter().map(|b| whole(b.bytes)).collect();
        Ok(Memory { storages: storages.map_err(|e| e.to_string())? })
    }

    fn tensor(&self, call: &Call<'_>, spec: &TensorSpec) -> Result<AnyTensor, String> {
        let sizes: Vec<i64> = spec.sizes.iter().map(|&s| s as i64).collect();
        let strides: Vec<i64> = spec.strides.iter().map(|&s| s as i64).collect();
        let geometry = Geometry::new(spec.dtype, &sizes, &strides, spec.offset as i64).map_err(|e| e.to_string())?;
        let geometry = geometry.with_conj(spec.conj).with_neg(spec.neg);
        let storage = call.buffer_of(spec).ok_or("an argument has no storage")?;
        Ok(self.storages[storage].with_geometry(geometry).map_err(|e| e.to_string())?.into_any())
    }

    fn argument(&self, call: &Call<'_>, value: &Value) -> Result<IValue, String> {
        Ok(match value {
            Value::Tensor(spec) => IValue::from(self.tensor(call, spec)?),
            Value::Tensors(specs) => {
                IValue::Tensors(specs.iter().map(|s| self.tensor(call, s)).collect::<Result<_, _>>()?)
            }
            Value::OptionalTensors(specs) => {
                let one = |s: &Option<TensorSpec>| s.as_ref().map(|s| self.tensor(call, s)).transpose();
                IValue::OptionalTensors(specs.iter().map(one).collect::<Result<_, _>>()?)
            }
            Value::WrappedNumber(n) | Value::Scalar(n) => number(*n).into(),
            Value::Scalars(list) => IValue::Scalars(list.iter().map(|n| number(*n)).collect()),
            Value::Int(i) => IValue::Int(*i),
            Value::Bool(b) => IValue::Bool(*b),
            Value::Str(s) => IValue::Str(s.as_str().into()),
            Value::Float(f) => IValue::Float(*f),
            Value::Complex(re, im) => IValue::Complex(Complex64::new(*re, *im)),
            Value::Ints(list) => IValue::Ints(list.clone()),
            Value::Bools(list) => IValue::Bools(list.clone()),
            Value::Floats(list) => IValue::Floats(list.clone()),
            Value::Strs(list) => IValue::Strs(list.iter().map(|s| s.as_str().into()).collect()),
            Value::DType(d) => IValue::DType(*d),
            Value::Layout(name) if name == "strided" => IValue::Layout(Layout::Strided),
            Value::Device(name) if name == "cpu" => IValue::Device(DeviceId::CPU),
            Value::Device(name) if name == "meta" => IValue::Device(DeviceId::META),
            Value::MemoryFormat(format) => IValue::MemoryFormat(memory_format(*format)),
            Value::None => IValue::None,
            other => return Err(format!("the library has no argument of kind {}", other.kind())),
        })
    }

    /// The state of every tensor argument, and the bytes of every storage that an argument or result lies in.
    fn after(&self, call: &Call<'_>, arguments: &[IValue], results: &[IValue]) -> After {
        let mut storages: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let mut keep = |t: &AnyTensor| {
            if !t.device().is_meta() {
                storages.entry(t.storage_id() as u64).or_insert_with(|| t.storage_to_vec().unwrap_or_default());
            }
        };
        self.storages.iter().for_each(|t| keep(t.as_any()));
        arguments.iter().chain(results).flat_map(IValue::tensors).for_each(&mut keep);
        let tensors = arguments.iter().zip(call.args).filter(|(_, arg)| !arg.value.tensors("").is_empty());
        let states = tensors.flat_map(|(value, _)| value.tensors());
        After {
            buffers: self.storages.iter().map(|t| StorageId(t.storage_id() as u64)).collect(),
            arguments: call
                .tensors()
                .into_iter()
                .zip(states)
                .map(|((path, _), t)| ArgState { path, tensor: got(t) })
                .collect(),
            storages: storages.into_iter().map(|(id, bytes)| GotStorage { id: StorageId(id), bytes }).collect(),
        }
    }
}

fn number(n: Number) -> Scalar {
    match n {
        Number::Int(i) => Scalar::Int(i),
        Number::Float(f) => Scalar::Float(f),
        Number::Bool(b) => Scalar::Bool(b),
        Number::Complex(re, im) => Scalar::Complex(Complex64::new(re, im)),
    }
}

fn memory_format(format: value::MemoryFormat) -> MemoryFormat {
    match format {
        value::MemoryFormat::Contiguous => MemoryFormat::Contiguous,
        value::MemoryFormat::Preserve => MemoryFormat::Preserve,
        value::MemoryFormat::ChannelsLast => MemoryFormat::ChannelsLast,
        value::MemoryFormat::ChannelsLast3d => MemoryFormat::ChannelsLast3d,
    }
}

fn got(t: &AnyTensor) -> GotTensor {
    GotTensor {
        storage: StorageId(t.storage_id() as u64),
        dtype: t.dtype(),
        sizes: t.sizes().iter().map(|&s| s as usize).collect(),
        strides: t.strides().iter().map(|&s| s as isize).collect(),
        offset: t.offset() as usize,
        conj: t.is_conj(),
        neg: t.is_neg(),
        identity: Identity::ByGeometry,
    }
}

fn output(value: &IValue) -> GotValue {
    match value {
        IValue::Tensor(t) => GotValue::Tensor(got(t)),
        IValue::Tensors(ts) => GotValue::Tensors(ts.iter().map(got).collect()),
        IValue::List(list) => GotValue::List(list.iter().map(output).collect()),
        IValue::Bool(b) => GotValue::Plain(Value::Bool(*b)),
        IValue::Int(i) => GotValue::Plain(Value::Int(*i)),
        IValue::Float(f) => GotValue::Plain(Value::Float(*f)),
        IValue::Complex(c) => GotValue::Plain(Value::Complex(c.re, c.im)),
        IValue::Ints(list) => GotValue::Plain(Value::Ints(list.clone())),
        IValue::DType(dtype) => GotValue::Plain(Value::Int(scalar_type(*dtype))),
        _ => GotValue::Plain(Value::None),
    }
}

/// The number by which PyTorch knows a dtype (`c10/core/ScalarType.h`), which is what a call by name returns there.
fn scalar_type(dtype: DType) -> i64 {
    match dtype {
        DType::U8 => 0,
        DType::I8 => 1,
        DType::I16 => 2,
        DType::I32 => 3,
        DType::I64 => 4,
        DType::F16 => 5,
        DType::F32 => 6,
        DType::F64 => 7,
        DType::C64 => 9,
        DType::C128 => 10,
        DType::Bool => 11,
        DType::BF16 => 15,
    }
}

/// The arguments of a call on the CPU.
///
/// # Errors
/// An argument that the library cannot have.
pub fn arguments(call: &Call<'_>) -> Result<Stack, String> {
    let memory = Memory::<Cpu>::new(call)?;
    call.args.iter().map(|arg| memory.argument(call, &arg.value)).collect()
}

/// The same call without data: every tensor is a meta tensor of the same geometry, every device the meta device.
///
/// # Errors
/// An argument that the library cannot have.
pub fn meta_arguments(call: &Call<'_>) -> Result<Stack, String> {
    let memory = Memory::<Meta>::new(call)?;
    call.args
        .iter()
        .map(|arg| match memory.argument(call, &arg.value)? {
            IValue::Device(_) => Ok(IValue::Device(DeviceId::META)),
            IValue::None if arg.name == "device" => Ok(IValue::Device(DeviceId::META)),
            value => Ok(value),
        })
        .collect()
}

/// Every overload of the table, sorted by name.
pub fn overloads() -> Vec<String> {
    monomorph::dispatcher().operators().iter().map(|handle| handle.name().to_owned()).collect()
}

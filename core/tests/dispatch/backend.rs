//! A backend of another crate that has only out= kernels, completed by `Common`.

use super::host::Host;
use super::{define, fault};
use monomorph_core::dispatch::{
    Backend, Definition, DispatchError, DispatchKey, Dispatcher, KernelFunction, Library, Source,
};
use monomorph_core::{
    AnyTensor, DType, Device, DeviceId, DeviceKind, Geometry, Layout, Memory, Meta, Result, Stack, Strided, Tensor,
};
use std::cell::RefCell;

/// The host's memory under another name, which notes what is done.
#[derive(Clone, Copy, Debug)]
struct Mine;

thread_local! {
    static DONE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn note(what: impl Into<String>) {
    DONE.with_borrow_mut(|done| done.push(what.into()));
}

fn notes() -> Vec<String> {
    DONE.with_borrow_mut(std::mem::take)
}

struct Left(u8);

impl Drop for Left {
    fn drop(&mut self) {
        note(format!("leave {}", self.0));
    }
}

// SAFETY: kind 16 is this binary's; the memory functions are the host's.
unsafe impl Device for Mine {
    const KIND: DeviceKind = DeviceKind(16);
    const MEMORY: Option<&'static Memory> = Host::MEMORY;
    type Guard = Left;
    type StdOps = ();

    fn enter(index: u8) -> Left {
        note(format!("enter {index}"));
        Left(index)
    }

    unsafe fn copy(index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        // SAFETY: C1 and C2, passed on.
        unsafe { Host::copy(index, sizes, to, from) }
    }
}

fn mine(values: &[i64]) -> AnyTensor {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let geometry = Geometry::contiguous(DType::I64, &[values.len() as i64]).unwrap();
    Tensor::<Mine>::from_storage(&bytes, geometry).unwrap().into_any()
}

fn values(t: &AnyTensor) -> Vec<i64> {
    t.downcast_ref::<Mine>().expect("a tensor of the device").to_vec().unwrap()
}

fn shape(a: &AnyTensor, b: &AnyTensor) -> Result<Geometry> {
    match a.sizes() == b.sizes() {
        true => Geometry::contiguous(a.dtype(), a.sizes()),
        false => Err(monomorph_core::ErrorKind::Broadcast {
            left: a.sizes().to_vec(),
            right: b.sizes().to_vec(),
            dim: 0,
            left_size: a.sizes()[0],
            right_size: b.sizes()[0],
        }
        .into()),
    }
}

/// An operator in three forms with meta kernels, as a structured one has them, and an `empty_strided` of the device.
fn operators(dispatcher: &Dispatcher) -> Library {
    let mut library = dispatcher.library("aten");
    let schemas = [
        "plus(Tensor self, Tensor other) -> Tensor",
        "plus_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        "plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    ];
    let kernels = [
        KernelFunction::function(|a: &AnyTensor, b: &AnyTensor| -> Result<AnyTensor> {
            note("meta");
            let g = shape(a, b)?;
            Ok(Tensor::<Meta>::zeroed(g.dtype(), g.sizes(), g.strides(), 0)?.into_any())
        }),
        KernelFunction::function(|a: &mut AnyTensor, b: &AnyTensor| shape(a, b).map(|_| note("meta"))),
        KernelFunction::function(|a: &AnyTensor, b: &AnyTensor, _: &mut AnyTensor| shape(a, b).map(|_| note("meta"))),
    ];
    for (schema, kernel) in schemas.into_iter().zip(kernels) {
        let definition = Definition::parse(schema).unwrap().dispatch([DispatchKey::META], kernel);
        let out = schema.contains(".out");
        library.define(if out { definition } else { definition.completed_by("plus.out") }).unwrap();
    }
    define(
        &mut library,
        "empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? \
            device=None, bool? pin_memory=None) -> Tensor",
    );
    library
}

fn device(dispatcher: &Dispatcher) -> Library {
    let mut library = dispatcher.library("mine");
    let backend = library.backend::<Mine>("Mine").unwrap();
    type Optional = Option<Layout>;
    let empty = |sizes: &[i64],
                 strides: &[i64],
                 dtype: Option<DType>,
                 _: Optional,
                 device: Option<DeviceId>,
                 _: Option<bool>| {
        note("empty_strided");
        Tensor::<Mine>::zeroed(dtype.unwrap_or(DType::F32), sizes, strides, device.map_or(0, |d| d.index))
    };
    library.kernel("empty_strided", backend, KernelFunction::function(empty)).unwrap();
    let out = |a: &Tensor<Mine>, b: &Tensor<Mine>, out: &mut Tensor<Mine>| -> Result<()> {
        note("out");
        let sums: Vec<i64> = a.to_vec::<i64>()?.iter().zip(b.to_vec::<i64>()?).map(|(a, b)| a + b).collect();
        out.data_mut::<i64>()?.copy_from_slice(&sums);
        Ok(())
    };
    library.kernel("plus.out", backend, KernelFunction::function(out)).unwrap();
    library
}

#[test]
fn functional_and_in_place_forms_come_from_the_out_form() {
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let device = device(&dispatcher);
    let plus = dispatcher.find("plus").unwrap();
    notes();
    let mut stack: Stack = vec![mine(&[1, 2]).into(), mine(&[10, 20]).into()];
    plus.call(&mut stack).unwrap();
    assert_eq!(values(&super::result(stack)), [11, 22]);
    assert_eq!(notes(), ["meta", "empty_strided", "enter 0", "out", "leave 0"]);
    let (a, b) = (mine(&[1]), mine(&[2]));
    let typed = plus.typed::<(&AnyTensor, &AnyTensor), AnyTensor>().unwrap();
    assert_eq!(values(&typed.call((&a, &b)).unwrap()), [3]);

    let mut x = mine(&[5]);
    let storage = x.storage_id();
    notes();
    let in_place = dispatcher.find("plus_").unwrap().typed::<(&mut AnyTensor, &AnyTensor), ()>().unwrap();
    in_place.call((&mut x, &a)).unwrap();
    assert_eq!((values(&x), x.storage_id()), (vec![6], storage));
    assert_eq!(notes(), ["meta", "enter 0", "out", "leave 0"], "nothing is allocated");

    let error = plus.call(&mut vec![mine(&[1]).into(), mine(&[1, 2]).into()]).unwrap_err();
    assert!(matches!(error.kind(), monomorph_core::ErrorKind::Broadcast { .. }), "the meta kernel's error: {error}");
    drop(device);
    let error = plus.call(&mut vec![a.clone().into(), a.into()]).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::NoKernel { key, .. } if key == "Private0"), "{error}");
}

#[test]
fn a_form_of_its_own_or_a_fallthrough_is_not_completed() {
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let mut device = device(&dispatcher);
    let backend = Backend::of(Mine::KIND).unwrap();
    let plus = dispatcher.find("plus").unwrap();
    let at = |key| plus.explain().into_iter().find(|(k, ..)| *k == key).unwrap().1.source;
    assert_eq!(at(DispatchKey::common(backend)), Source::Completed);
    {
        let mut own = dispatcher.library("own");
        own.kernel("plus", backend, KernelFunction::function(|_: &AnyTensor, _: &AnyTensor| mine(&[42]))).unwrap();
        assert_eq!(at(DispatchKey::common(backend)), Source::Fallthrough);
        let mut stack: Stack = vec![mine(&[1]).into(), mine(&[2]).into()];
        plus.call(&mut stack).unwrap();
        assert_eq!(values(&super::result(stack)), [42]);
    }
    assert_eq!(at(DispatchKey::common(backend)), Source::Completed);
    device.fallback(DispatchKey::common(backend), KernelFunction::fallthrough()).unwrap();
    let error = plus.call(&mut vec![mine(&[1]).into(), mine(&[2]).into()]).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::NoKernel { .. }), "it does it all itself: {error}");
}

/// The out= kernel that completes a call may call operators itself; those of its backend are not completed again.
#[test]
fn what_completes_a_call_is_not_completed() {
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let mut device = device(&dispatcher);
    let backend = Backend::of(Mine::KIND).unwrap();
    let asks = KernelFunction::boxed(|frame, stack| {
        let mut inner: Stack = stack[..2].to_vec();
        let error = frame.dispatcher().call("plus", &mut inner).unwrap_err();
        note(error.to_string());
        *stack = vec![stack[2].clone()];
        Ok(())
    });
    device.replace("plus.out", backend, asks).unwrap();
    notes();
    dispatcher.call("plus", &mut vec![mine(&[1]).into(), mine(&[2]).into()]).unwrap();
    assert!(notes().iter().any(|note| note.contains("no kernel for Mine")), "completion is excluded meanwhile");
}

/// Shapes are those of meta tensors, also where an argument names the device.
#[test]
fn a_device_argument_is_meta_for_the_shapes() {
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let mut device = device(&dispatcher);
    let backend = Backend::of(Mine::KIND).unwrap();
    let mut library = dispatcher.library("t");
    let shapes = KernelFunction::function(|x: &AnyTensor, device: Option<DeviceId>| -> Result<AnyTensor> {
        note(format!("shapes on {}", device.unwrap_or(DeviceId::CPU)));
        Ok(Tensor::<Meta>::zeroed(x.dtype(), x.sizes(), x.strides(), 0)?.into_any())
    });
    let definition = Definition::parse("like(Tensor x, *, Device? device=None) -> Tensor").unwrap();
    library.define(definition.completed_by("t::like.out").dispatch([DispatchKey::META], shapes)).unwrap();
    define(&mut library, "like.out(Tensor x, *, Device? device=None, Tensor(a!) out) -> Tensor(a!)");
    let out = KernelFunction::function(|_: &Tensor<Mine>, _: Option<DeviceId>, _: &mut Tensor<Mine>| ());
    device.kernel("t::like.out", backend, out).unwrap();
    notes();
    dispatcher.call("t::like", &mut vec![mine(&[1]).into(), DeviceId { kind: Mine::KIND, index: 0 }.into()]).unwrap();
    assert_eq!(notes()[0], "shapes on meta");
}

#[test]
fn without_a_meta_kernel_nothing_is_completed() {
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let mut device = device(&dispatcher);
    let backend = Backend::of(Mine::KIND).unwrap();
    let mut library = dispatcher.library("t");
    let definition = Definition::parse("bare(Tensor x) -> Tensor").unwrap().completed_by("t::bare.out");
    library.define(definition).unwrap();
    define(&mut library, "bare.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
    let out = KernelFunction::function(|_: &Tensor<Mine>, _: &mut Tensor<Mine>| ());
    device.kernel("t::bare.out", backend, out).unwrap();
    let error = dispatcher.call("t::bare", &mut vec![mine(&[1]).into()]).unwrap_err();
    assert!(matches!(fault(&error), DispatchError::NoKernel { key, .. } if key == "Mine"), "{error}");
}

/// The guard of the device is one thing, the check that all tensors are on one device another.
#[test]
fn the_device_is_entered_also_where_nothing_is_checked() {
    use monomorph_core::dispatch::Flags;
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let mut device = device(&dispatcher);
    let backend = Backend::of(Mine::KIND).unwrap();
    let mut library = dispatcher.library("t");
    let flags = Flags { device_check: false, ..Flags::default() };
    let first = KernelFunction::function(|x: &AnyTensor, _: &AnyTensor| x.clone());
    let definition = Definition::parse("first(Tensor(a) x, Tensor y) -> Tensor(a)").unwrap().with_flags(flags);
    library.define(definition).unwrap();
    device.kernel("t::first", backend, first).unwrap();
    notes();
    dispatcher.call("t::first", &mut vec![mine(&[1]).into(), super::tensor(&[2]).into()]).unwrap();
    assert_eq!(notes(), ["enter 0", "leave 0"]);
    let flags = Flags { device_guard: false, ..Flags::default() };
    let same = KernelFunction::function(|x: &AnyTensor| x.clone());
    let definition = Definition::parse("same(Tensor(a) x) -> Tensor(a)").unwrap().with_flags(flags);
    library.define(definition).unwrap();
    device.kernel("t::same", backend, same).unwrap();
    dispatcher.call("t::same", &mut vec![mine(&[1]).into()]).unwrap();
    assert_eq!(notes(), [""; 0], "no guard is asked for");
}

#[test]
fn a_backend_is_known_by_its_name_and_taken_once() {
    let dispatcher = Dispatcher::new();
    let _operators = operators(&dispatcher);
    let device = device(&dispatcher);
    let backend = Backend::of(Mine::KIND).unwrap();
    assert_eq!(dispatcher.key("Mine").unwrap(), backend.into());
    let error = dispatcher.library("late").backend::<Mine>("Late").unwrap_err();
    assert!(matches!(fault(&error), DispatchError::BackendTaken { .. }), "{error}");
    drop(device);
    assert!(dispatcher.key("Mine").is_err());
}

//! What a composed kernel returns of an argument that it writes is that argument.

use super::{constant, define, tensor};
use crate::host::Host;
use monomorph_core::dispatch::compliance::{Breach, Compliance};
use monomorph_core::dispatch::{AliasKey, DispatchKey, Dispatcher, KernelFunction, Library};
use monomorph_core::{AnyTensor, Geometry, Result, Stack};

/// Operators to compose of: a copy into a tensor, a copy of one, and a view with other strides.
fn parts(dispatcher: &Dispatcher) -> Library {
    let mut library = dispatcher.library("t");
    define(&mut library, "copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)");
    define(&mut library, "clone(Tensor x) -> Tensor");
    define(&mut library, "every_second(Tensor(a) x) -> Tensor(a)");
    define(&mut library, "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
    fn copy(to: &mut AnyTensor, from: &AnyTensor) -> Result<()> {
        let from = from.downcast_ref::<Host>().expect("on the host").to_vec::<i64>()?;
        let to = to.downcast_mut::<Host>().expect("on the host");
        to.data_mut::<i64>()?.copy_from_slice(&from);
        Ok(())
    }
    fn every_second(x: &AnyTensor) -> Result<AnyTensor> {
        x.with_geometry(Geometry::new(x.dtype(), &[x.sizes()[0] / 2], &[2], 0)?)
    }
    library.kernel("t::copy_", DispatchKey::CPU, KernelFunction::function(copy)).unwrap();
    library
        .kernel("t::copy_", DispatchKey::META, KernelFunction::function(|_: &mut AnyTensor, _: &AnyTensor| ()))
        .unwrap();
    library
        .kernel("t::clone", DispatchKey::CPU, KernelFunction::function(|_: &AnyTensor| tensor(&[1, 2, 3, 4])))
        .unwrap();
    library
        .kernel(
            "t::clone",
            DispatchKey::META,
            KernelFunction::function(|_: &AnyTensor| tensor(&[1, 2, 3, 4]).to_meta()),
        )
        .unwrap();
    library.kernel("t::every_second", AliasKey::CompositeExplicit, KernelFunction::function(every_second)).unwrap();
    library
}

/// The breaches of a kernel of `f.out`: a function of the arguments that calls operators.
fn breaches(
    kernel: impl Fn(&monomorph_core::dispatch::Calls<'_>, &mut Stack) -> Result<()> + Send + Sync + 'static,
) -> Vec<Breach> {
    let dispatcher = Dispatcher::new();
    let mut library = parts(&dispatcher);
    library.kernel("t::f.out", AliasKey::CompositeImplicit, KernelFunction::composed(kernel)).unwrap();
    let compliance = Compliance::new(&dispatcher).unwrap();
    let arguments = |seed: u64| -> Stack { vec![tensor(&[seed as i64; 4]).into(), tensor(&[0; 4]).into()] };
    compliance.check("t::f.out", arguments).unwrap()
}

fn not_the_argument(breaches: &[Breach]) -> &str {
    match breaches {
        [Breach::NotTheArgument { result: 0, arg, what }] if arg == "out" => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_out_form_returns_its_output() {
    let found = breaches(|calls, stack| {
        let copied = calls.tensor("t::copy_", [stack[1].clone(), stack[0].clone()])?;
        *stack = vec![copied.into()];
        Ok(())
    });
    assert_eq!(found, []);
}

#[test]
fn a_copy_in_place_of_the_output_is_found() {
    let found = breaches(|calls, stack| {
        calls.call("t::copy_", &mut vec![stack[1].clone(), stack[0].clone()])?;
        *stack = vec![calls.tensor("t::clone", [stack[1].clone()])?.into()];
        Ok(())
    });
    assert!(not_the_argument(&found).contains("another storage"), "{found:?}");
}

#[test]
fn a_view_in_place_of_the_output_is_found() {
    let found = breaches(|calls, stack| {
        calls.call("t::copy_", &mut vec![stack[1].clone(), stack[0].clone()])?;
        *stack = vec![calls.tensor("t::every_second", [stack[1].clone()])?.into()];
        Ok(())
    });
    assert!(not_the_argument(&found).contains("strides"), "{found:?}");
}

/// The storages that the check has locked are free again after a kernel that panics.
#[test]
fn a_kernel_that_panics_leaves_nothing_locked() {
    let dispatcher = Dispatcher::new();
    let mut library = parts(&dispatcher);
    let panics = KernelFunction::composed(|_, _| std::panic::resume_unwind(Box::new(0)));
    library.kernel("t::f.out", AliasKey::CompositeImplicit, panics).unwrap();
    let compliance = Compliance::new(&dispatcher).unwrap();
    let x = tensor(&[1; 4]);
    let run =
        std::panic::AssertUnwindSafe(|| compliance.check("t::f.out", |_| vec![x.clone().into(), x.clone().into()]));
    assert!(std::panic::catch_unwind(run).is_err());
    assert_eq!(super::numbers(&x), [1; 4]);
    define(&mut library, "one(Tensor x) -> Tensor");
    library.kernel("t::one", DispatchKey::CPU, constant::<1>()).unwrap();
    assert_eq!(super::call(&library, "t::one").unwrap(), [1], "calls of this thread are no longer watched");
}

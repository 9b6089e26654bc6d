//! Kernels and libraries that lie, panic, or call the dispatcher where it is at work.

use super::{Case, case, gone, ramp, refused, unexpected};
use monomorph::crates::core::dispatch::{AliasKey, Definition, DispatchKey, KernelFunction, OperatorHandle};
use monomorph::{Dispatcher, IValue, Library, Stack};

pub(super) const CASES: &[Case] = &[
    case("kernel_owns_a_library", "a kernel whose drop undoes a library, dropped with its own", kernel_owns_a_library),
    case("kernel_calls_when_dropped", "a kernel whose drop calls the dispatcher", kernel_calls_when_dropped),
    case("replaced_kernel_owns_a_library", "a library in a kernel that is replaced and comes back", replaced),
    case("refused_kernel_owns_a_library", "a library in a kernel that is refused", refused_kernel),
    case("fallback_owns_a_library", "a library in a fallback", fallback),
    case("constructor_registers", "the constructor of a kernel with state registers and calls", constructor_registers),
    case("drop_panics", "a kernel whose drop panics", drop_panics),
    case("wrong_kind_of_result", "a boxed kernel that leaves an int for a tensor", || {
        wrong_results(|stack| stack[0] = IValue::Int(3))
    }),
    case("too_many_results", "a boxed kernel that leaves two results for one", || {
        wrong_results(|stack| stack.push(IValue::Int(3)))
    }),
    case("no_results", "a boxed kernel that leaves nothing", || wrong_results(Vec::clear)),
    case("tables_of_the_past", "a live handle through 40,000 registrations", tables_of_the_past),
];

const IMPLICIT: AliasKey = AliasKey::CompositeImplicit;

fn define(library: &mut Library, name: &str) -> Result<(), String> {
    let definition = Definition::parse(&format!("{name}(Tensor(a) x) -> Tensor(a)")).map_err(unexpected)?;
    library.define(definition).map_err(unexpected)
}

/// A kernel that owns something: it drops it when the last of those who have the kernel does.
fn owner<T: Send + Sync + 'static>(owned: T) -> KernelFunction {
    KernelFunction::boxed(move |_, _| {
        let _ = &owned;
        Ok(())
    })
}

fn called(dispatcher: &Dispatcher, name: &str) -> Result<(), String> {
    dispatcher.call(name, &mut vec![ramp(&[2]).into()]).map_err(unexpected)
}

fn kernel_owns_a_library() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    let mut inner = dispatcher.library("u");
    define(&mut inner, "g")?;
    library.kernel("t::f", IMPLICIT, owner(inner)).map_err(unexpected)?;
    called(&dispatcher, "t::f")?;
    let handle = dispatcher.find("t::f").map_err(unexpected)?;
    drop(library);
    drop(handle);
    gone(dispatcher.call("u::g", &mut vec![ramp(&[2]).into()]))
}

struct Calls(Dispatcher);

impl Drop for Calls {
    fn drop(&mut self) {
        let _ = self.0.call("t::other", &mut vec![ramp(&[2]).into()]);
        let _ = self.0.operators().len();
        let mut library = self.0.library("v");
        let _ = define(&mut library, "h");
    }
}

fn kernel_calls_when_dropped() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    for name in ["f", "other"] {
        define(&mut library, name)?;
        library.kernel(&format!("t::{name}"), IMPLICIT, owner(Calls(dispatcher.clone()))).map_err(unexpected)?;
    }
    let handle = dispatcher.find("t::f").map_err(unexpected)?;
    let mut other = dispatcher.library("w");
    other.replace("t::f", IMPLICIT, owner(Calls(dispatcher.clone()))).map_err(unexpected)?;
    handle.call(&mut vec![ramp(&[2]).into()]).map_err(unexpected)?;
    drop(other);
    handle.call(&mut vec![ramp(&[2]).into()]).map_err(unexpected)?;
    drop(library);
    drop(handle);
    Ok(())
}

fn replaced() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    library.kernel("t::f", IMPLICIT, owner(dispatcher.library("a"))).map_err(unexpected)?;
    for _ in 0..3 {
        let mut other = dispatcher.library("o");
        other.replace("t::f", IMPLICIT, owner(dispatcher.library("b"))).map_err(unexpected)?;
        called(&dispatcher, "t::f")?;
    }
    called(&dispatcher, "t::f")
}

fn refused_kernel() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    library.kernel("t::f", IMPLICIT, owner(())).map_err(unexpected)?;
    refused(library.kernel("t::f", IMPLICIT, owner(dispatcher.library("a"))))?;
    refused(library.kernel("t::f", DispatchKey::UNDEFINED, owner(Calls(dispatcher.clone()))))?;
    let definition = Definition::parse("f(Tensor(a) x) -> Tensor(a)").map_err(unexpected)?;
    refused(library.define(definition.default_kernel(owner(dispatcher.library("b")))))?;
    let failed = library.all_or_none(|part| {
        part.kernel("t::g", IMPLICIT, owner(dispatcher.library("c")))?;
        part.kernel("t::g", IMPLICIT, owner(Calls(dispatcher.clone())))
    });
    refused(failed)?;
    called(&dispatcher, "t::f")
}

fn fallback() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    library.fallback(DispatchKey::CPU, owner(dispatcher.library("a"))).map_err(unexpected)?;
    refused(library.fallback(DispatchKey::CPU, owner(Calls(dispatcher.clone()))))?;
    called(&dispatcher, "t::f")?;
    drop(library);
    gone(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))
}

fn constructor_registers() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    let own = dispatcher.clone();
    let kernel = KernelFunction::functor(move || {
        let mut library = own.library("v");
        let _ = define(&mut library, "h");
        let _ = own.operators().len();
        let _ = own.find("t::f").and_then(|handle| handle.schema());
        |x: &monomorph::AnyTensor| -> monomorph::Result<monomorph::AnyTensor> { Ok(x.clone()) }
    });
    library.kernel("t::f", IMPLICIT, kernel).map_err(unexpected)?;
    called(&dispatcher, "t::f")
}

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a drop of the caller's");
        }
    }
}

fn drop_panics() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    library.kernel("t::f", IMPLICIT, owner(())).map_err(unexpected)?;
    let mut other = dispatcher.library("o");
    other.replace("t::f", IMPLICIT, owner(Panics)).map_err(unexpected)?;
    // The caller's own panic may come out where it is dropped; what was registered is undone all the same.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || drop(other)));
    called(&dispatcher, "t::f")?;
    define(&mut library, "g")?;
    drop(library);
    gone(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))
}

fn wrong_results(spoil: fn(&mut Stack)) -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    let kernel = KernelFunction::boxed(move |_, stack| {
        spoil(stack);
        Ok(())
    });
    library.kernel("t::f", IMPLICIT, kernel).map_err(unexpected)?;
    refused(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))
}

/// KiB that the process holds; 0 where the system does not tell.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn tables_of_the_past() -> Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    define(&mut library, "f")?;
    library.kernel("t::f", IMPLICIT, owner(())).map_err(unexpected)?;
    let handle: OperatorHandle = dispatcher.find("t::f").map_err(unexpected)?;
    let before = resident();
    for _ in 0..20_000 {
        let mut other = dispatcher.library("o");
        other.replace("t::f", IMPLICIT, owner(())).map_err(unexpected)?;
        handle.call(&mut vec![ramp(&[2]).into()]).map_err(unexpected)?;
        drop(other);
        handle.call(&mut vec![ramp(&[2]).into()]).map_err(unexpected)?;
    }
    let grown = resident().saturating_sub(before);
    // A sanitizer keeps what was freed for a while.
    let most = if std::env::var("MONOMORPH_HOSTILE_MEMORY").is_ok_and(|text| text == "0") { 400_000 } else { 20_000 };
    if grown < most { Ok(()) } else { Err(format!("the process grew by {grown} KiB; less than {most} are accepted")) }
}

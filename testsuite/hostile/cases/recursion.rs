//! Recursion that a caller decides the depth of: over operators that lead to themselves, and over data.

use super::{Case, case, ramp, refused, unexpected};
use monomorph::crates::core::dispatch::{AliasKey, Definition, DispatchKey, KernelFunction};
use monomorph::crates::core::schema::Schema;
use monomorph::{Dispatcher, IValue, Result, Stack};

pub(super) const CASES: &[Case] = &[
    case("ring_of_one", "an operator that is redirected to itself", || ring(&["f", "f"])),
    case("ring_of_three", "operators that are redirected in a ring", || ring(&["f", "g", "h", "f"])),
    case("completed_by_itself", "an operator that is completed by itself", completed_by_itself),
    case("completed_by_each_other", "two operators that complete each other", completed_by_each_other),
    case("boxed_ring", "a boxed kernel that calls its own operator by name", boxed_ring),
    case("composed_ring", "a composed kernel that calls its caller", composed_ring),
    case("deep_list", "a list in a list, 200,000 deep: cloned, printed, passed, dropped", deep_list),
    case("many_callees", "a composed kernel with 40,000 callees", many_callees),
    case("deep_schema", "a schema of a megabyte of brackets", deep_schema),
];

fn definition(name: &str) -> Result<Definition> {
    Definition::parse(&format!("{name}(Tensor(a) x) -> Tensor(a)"))
}

/// Defines each operator as a redirection to the next, and calls them. One of the two has to be refused.
fn ring(names: &[&str]) -> std::result::Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    for pair in names.windows(2) {
        let kernel = KernelFunction::redirect(format!("t::{}", pair[1]));
        let defined = definition(pair[0]).and_then(|definition| library.define(definition.default_kernel(kernel)));
        if let Err(error) = defined {
            return refused::<()>(Err(error));
        }
    }
    refused(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))
}

fn completed_by_itself() -> std::result::Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    // With a kernel before its definition the operator is known, so that it finds itself.
    library.kernel("t::f", DispatchKey::META, KernelFunction::boxed(|_, _| Ok(()))).map_err(unexpected)?;
    match definition("f").and_then(|definition| library.define(definition.completed_by("t::f"))) {
        Err(error) => refused::<()>(Err(error)),
        Ok(()) => refused(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()])),
    }
}

fn completed_by_each_other() -> std::result::Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    for (name, by) in [("f", "t::g"), ("g", "t::h"), ("h", "t::f")] {
        if let Err(error) = definition(name).and_then(|definition| library.define(definition.completed_by(by))) {
            return refused::<()>(Err(error));
        }
    }
    refused(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))
}

fn boxed_ring() -> std::result::Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    library.define(definition("f").map_err(unexpected)?).map_err(unexpected)?;
    let kernel = KernelFunction::boxed(|frame, stack| frame.dispatcher().call("t::f", stack));
    library.kernel("t::f", AliasKey::CompositeImplicit, kernel).map_err(unexpected)?;
    refused(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))?;
    // On a thread with as little stack as threads have.
    let thread = std::thread::spawn(move || dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]));
    refused(thread.join().map_err(|_| "the thread panicked")?)
}

fn composed_ring() -> std::result::Result<(), String> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    for (name, to) in [("f", "t::g"), ("g", "t::f")] {
        let kernel = KernelFunction::composed(move |calls, stack| calls.call(to, stack));
        let defined = definition(name).and_then(|definition| library.define(definition.default_kernel(kernel)));
        defined.map_err(unexpected)?;
    }
    refused(dispatcher.call("t::f", &mut vec![ramp(&[2]).into()]))
}

fn deep_list() -> std::result::Result<(), String> {
    let mut value = IValue::Int(1);
    for _ in 0..200_000 {
        match vec![value].try_into().map(IValue::List) {
            Ok(list) => value = list,
            // Such a list cannot be made.
            Err(_) => return Ok(()),
        }
    }
    let copy = value.clone();
    let text = format!("{copy:?}");
    if text.len() > 1_000_000 {
        return Err(format!("printed as {} bytes", text.len()));
    }
    drop(copy);
    refused(super::call("neg", [value]))
}

fn many_callees() -> std::result::Result<(), String> {
    const CALLEES: usize = 40_000;
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("t");
    for i in 0..CALLEES {
        let kernel = KernelFunction::boxed(|_, _| Ok(()));
        let defined =
            definition(&format!("g{i}")).and_then(|definition| library.define(definition.default_kernel(kernel)));
        defined.map_err(unexpected)?;
    }
    let kernel =
        KernelFunction::composed(|calls, stack| (0..CALLEES).try_for_each(|i| calls.call(&format!("t::g{i}"), stack)));
    library.define(definition("f").map_err(unexpected)?.default_kernel(kernel)).map_err(unexpected)?;
    let handle = dispatcher.find("t::f").map_err(unexpected)?;
    let mut stack: Stack = vec![ramp(&[2]).into()];
    handle.call(&mut stack).map_err(unexpected)?;
    // Drops what it has found, on a thread with as little stack as threads have.
    std::thread::spawn(move || drop(handle)).join().map_err(|_| "the thread panicked".to_owned())
}

fn deep_schema() -> std::result::Result<(), String> {
    let brackets = "[".repeat(1 << 20);
    let text = [
        format!("f(int[] x={brackets}) -> ()"),
        format!("f(int{} x) -> ()", "[]".repeat(1 << 19)),
        format!("f(int{} x) -> ()", "?".repeat(1 << 20)),
        format!("f({}) -> ()", "(".repeat(1 << 20)),
        format!("f({} x) -> ()", "T".repeat(1 << 20)),
        format!("{}(Tensor x) -> (", "f".repeat(1 << 20)),
        format!("f(str x=\"{}", "\\".repeat(1 << 20)),
    ];
    for text in text {
        let Err(error) = Schema::parse(&text) else { return Err(format!("{}.. is a schema", &text[..20])) };
        if error.to_string().len() > 10_000 {
            return Err(format!("a message of {} bytes for {}..", error.to_string().len(), &text[..20]));
        }
    }
    Ok(())
}

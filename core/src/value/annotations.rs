//! What a schema promises of a boxed call, held against what its kernel did: which arguments it writes, which results
//! share storage with which arguments, how many results there are and which of them are undefined. Debug builds ask at
//! every boxed call ([`checked_call`]); the promises themselves are the schema's, and nothing here runs an operator.
//!
//! The rules are those that PyTorch's schema check mode holds operators to:
//!
//! * An argument without `!` is as it was: its storage, its geometry, and its storage's version. Where it shares the
//!   storage of an argument with `!`, that storage may have been written. Exempt are operators whose definition names
//!   the arguments that have them write what their schema keeps quiet about
//!   ([`Flags::silent_write`](crate::dispatch::Flags::silent_write)), where one is given and not false.
//! * A result that shares storage with arguments is in the alias set of at least one of them, as in
//!   `Tensor(a) self -> Tensor(a)`. Results need not alias what they say: `reshape` copies where it must. Exempt are
//!   operators whose definition says that their schema keeps quiet about their views
//!   ([`Flags::silent_view`](crate::dispatch::Flags::silent_view)).
//! * A result is undefined only where the schema's `output_mask: bool[N]` is false. A kernel may give it there too:
//!   those of `grid_sampler_2d_backward` always give the gradient of the grid, as PyTorch's do.
//!
//! A storage is known by its version, so a program that lets one thread write a tensor while another thread's operator
//! reads it may see that operator blamed; where the two borrow it at the same moment it sees an error in any build.

use super::{IValue, Stack};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::schema::{Alias, Argument, Base, Schema};
use crate::tensor::AnyTensor;
use std::collections::HashMap;

/// The tensors among the arguments of a call, as they were before it.
#[derive(Debug)]
pub struct Before(Vec<Seen>);

/// One tensor. Its storage is noted, not held: a handle more would make it a shared one.
#[derive(Debug)]
struct Seen {
    position: usize,
    storage: usize,
    version: u64,
    geometry: Geometry,
}

impl Before {
    /// Takes down the tensors of the arguments.
    pub fn of(args: &[IValue]) -> Before {
        let seen = |(position, value): (usize, &IValue)| {
            let one = move |t: &AnyTensor| Seen {
                position,
                storage: t.storage_id(),
                version: t.version(),
                geometry: t.geometry().clone(),
            };
            value.tensors().map(one).collect::<Vec<_>>()
        };
        Before(args.iter().enumerate().flat_map(seen).collect())
    }

    fn at(&self, position: usize) -> impl Iterator<Item = &Seen> {
        self.0.iter().filter(move |seen| seen.position == position)
    }
}

/// What the schema of an operator keeps quiet about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Silent {
    /// Results may share storage with arguments.
    pub view: bool,
    /// The arguments that have a call write what the schema does not mark, where one is given and not false.
    pub write: &'static [&'static str],
}

impl Silent {
    /// Whether a call may write arguments that the schema does not mark; `value` is what it has at a position, if that
    /// is known.
    pub fn may_write<'v>(&self, schema: &Schema, value: impl Fn(usize) -> Option<&'v IValue>) -> bool {
        self.write.iter().any(|name| {
            let position = schema.args().position(|arg| arg.name() == *name);
            !matches!(position.and_then(&value), Some(IValue::Bool(false) | IValue::None))
        })
    }
}

/// Calls `kernel` on the arguments of the whole stack; in a debug build an error if it did what the schema does not
/// say.
///
/// # Errors
///
/// Those of the kernel, and of [`check_alias_annotations`] in a debug build. The latter come after the fact: what was
/// written is not taken back.
#[inline]
pub fn checked_call(
    schema: &Schema,
    silent: Silent,
    stack: &mut Stack,
    kernel: impl FnOnce(&mut Stack) -> Result<()>,
) -> Result<()> {
    if !cfg!(debug_assertions) {
        return kernel(stack);
    }
    let before = Before::of(stack);
    // Written arguments are noted and not held: a handle more would make them shared ones.
    let held = |(arg, value): (&Argument, &IValue)| if arg.is_mutable() { IValue::None } else { value.clone() };
    let args: Vec<IValue> = schema.args().zip(&*stack).map(held).collect();
    kernel(stack)?;
    check_alias_annotations(schema, silent, &before, &args, stack).inspect_err(|_| stack.clear())
}

/// Holds a call that returned against its schema: `args` as the kernel left them, in schema order, and its results. Of
/// an argument that the schema marks as written nothing is asked but what `before` knows, and that a result which is
/// this argument is it. Results of a silent view may share storage with any argument, and a silent
/// write may be of any.
///
/// # Errors
///
/// [`ErrorKind::UndeclaredWrite`], [`ErrorKind::UndeclaredAlias`], [`ErrorKind::ResultCount`],
/// [`ErrorKind::Undefined`]: the first promise that was broken.
pub fn check_alias_annotations(
    schema: &Schema,
    silent: Silent,
    before: &Before,
    args: &[IValue],
    results: &[IValue],
) -> Result<()> {
    if results.len() != schema.returns().len() {
        return Err(ErrorKind::ResultCount { got: results.len(), want: schema.returns().len() }.into());
    }
    if !silent.may_write(schema, |position| args.get(position)) {
        check_writes(schema, before, args)?;
    }
    if !silent.view {
        check_aliases(schema, before, args, results)?;
    }
    check_undefined(schema, args, results)
}

fn check_writes(schema: &Schema, before: &Before, args: &[IValue]) -> Result<()> {
    let mutable = |position: usize| schema.args().nth(position).is_some_and(Argument::is_mutable);
    let may_be_written = |storage| before.0.iter().any(|seen| seen.storage == storage && mutable(seen.position));
    for (position, (arg, value)) in schema.args().zip(args).enumerate().filter(|(_, (arg, _))| !arg.is_mutable()) {
        let mut now = value.tensors();
        let as_it_was = before.at(position).all(|seen| {
            now.next().is_some_and(|t| {
                t.storage_id() == seen.storage
                    && t.geometry().same_elements(&seen.geometry)
                    && (t.version() == seen.version || may_be_written(seen.storage))
            })
        });
        if !as_it_was || now.next().is_some() {
            return Err(ErrorKind::UndeclaredWrite { position, arg: arg.name().to_owned() }.into());
        }
    }
    Ok(())
}

fn check_aliases(schema: &Schema, before: &Before, args: &[IValue], results: &[IValue]) -> Result<()> {
    // The arguments that have each storage, before the call or now. Lists may be long, so they are gone through once.
    let mut holders: HashMap<usize, Vec<usize>> = HashMap::new();
    let now = args.iter().enumerate().flat_map(|(i, v)| v.tensors().map(move |t| (t.storage_id(), i)));
    for (storage, position) in before.0.iter().map(|seen| (seen.storage, seen.position)).chain(now) {
        let positions = holders.entry(storage).or_default();
        if positions.last() != Some(&position) {
            positions.push(position);
        }
    }
    let held = |storage| holders.get(&storage).into_iter().flatten().copied();
    let written = schema.written_positions().collect::<Vec<_>>();
    for (index, (result, ret)) in results.iter().zip(schema.returns()).enumerate() {
        // Nothing is seen or written through a tensor without elements.
        for storage in result.tensors().filter(|tensor| tensor.numel() > 0).map(AnyTensor::storage_id) {
            // A written argument that is returned has the storage that the result has: it may be another than before.
            let itself = written.get(index).copied().flatten();
            let sharers = || held(storage).chain(itself).filter_map(|position| schema.args().nth(position));
            let Some(first) = sharers().next() else { continue };
            if !sharers().any(|arg| may_alias(arg.ty().alias(), ret.ty().alias())) {
                return Err(ErrorKind::UndeclaredAlias { result: index, arg: first.name().to_owned() }.into());
            }
        }
    }
    Ok(())
}

/// True if an argument and a result have an alias set in common; `*` is every set.
fn may_alias(arg: Option<&Alias>, result: Option<&Alias>) -> bool {
    let (Some(arg), Some(result)) = (arg, result) else { return false };
    let common = |a: &str| result.before().chain(result.after()).any(|b| a == b || a == "*" || b == "*");
    arg.before().chain(arg.after()).any(common)
}

fn check_undefined(schema: &Schema, args: &[IValue], results: &[IValue]) -> Result<()> {
    let mask = schema.args().zip(args).find(|(arg, _)| is_output_mask(arg)).map(|(_, value)| value);
    let wanted = |index: usize| match mask {
        Some(IValue::Bools(mask)) => mask.get(index).copied(),
        // A bare bool stands for as many as there are.
        Some(IValue::Bool(all)) => Some(*all),
        _ => None,
    };
    for (index, (value, ret)) in results.iter().zip(schema.returns()).enumerate() {
        if ret.ty().is_tensor() && matches!(value, IValue::None) && wanted(index).unwrap_or(true) {
            return Err(ErrorKind::Undefined { result: index, mask: wanted(index) }.into());
        }
    }
    Ok(())
}

/// `bool[N] output_mask`: which of its results the caller of a backward operator wants.
fn is_output_mask(arg: &Argument) -> bool {
    arg.name() == "output_mask" && arg.ty().base() == Base::Bool && arg.ty().is_list()
}

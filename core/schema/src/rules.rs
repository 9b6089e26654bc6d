//! The rules of a declaration that no single argument shows. They are those that PyTorch 2.15's own generator holds
//! its list to; what that list does not obey is not asked for (a sized list's default may have another length).
//!
//! 1. Argument names are unique.
//! 2. Defaults form a suffix of the positional arguments, and one of the keyword-only arguments before the out ones.
//! 3. An out argument, `Tensor(a!) out`, is keyword-only; out arguments come last, and one called `out` or `out0`
//!    after `*` is marked. Plain tensors are returned in order with their annotations; a list among them: no returns.
//! 4. An in-place operator writes `self`, has no out argument, and returns a plain tensor `self`, otherwise nothing.
//! 5. A written result is `self` or an out argument, and then all results are.
//! 6. Results are neither optional nor lists of optionals. (That they have no defaults is a matter of the grammar.)

use std::collections::HashSet;
use std::fmt::Display;

use super::error::{Accepted, Fault};
use super::parse::Places;
use super::types::{Alias, Type, Wrap};
use super::{Argument, Return, Schema};

/// Checks every rule; a finding is reported where the offending part starts.
pub(crate) fn check(schema: &Schema, places: &Places) -> Result<(), Fault> {
    unique_names(schema, places)?;
    default_suffix(schema, places)?;
    outs_last(schema, places)?;
    results(schema, places)?;
    if schema.is_inplace() {
        in_place(schema, places)?;
    }
    if schema.is_out() {
        outs_returned(schema, places)?;
    }
    Ok(())
}

fn unique_names(schema: &Schema, places: &Places) -> Result<(), Fault> {
    let mut seen = HashSet::with_capacity(schema.args.len());
    match schema.args.iter().position(|arg| !seen.insert(arg.name())) {
        Some(i) => Err(fault(places.args[i], &schema.args[i], Accepted::UniqueName)),
        None => Ok(()),
    }
}

fn default_suffix(schema: &Schema, places: &Places) -> Result<(), Fault> {
    let outs_from = schema.args.len() - schema.outs;
    for section in [0..schema.positional, schema.positional..outs_from] {
        let mut seen = false;
        for i in section {
            let has = schema.args[i].default.is_some();
            if seen && !has {
                return Err(fault(places.args[i], &schema.args[i], Accepted::DefaultToo));
            }
            seen |= has;
        }
    }
    Ok(())
}

fn outs_last(schema: &Schema, places: &Places) -> Result<(), Fault> {
    let mut seen = false;
    for (arg, &at) in schema.args.iter().zip(&places.args) {
        if arg.keyword_only && !arg.is_out() {
            if seen {
                return Err(fault(at, arg, Accepted::OutLast));
            }
            if arg.ty.is_tensor() && is_out_name(arg.name()) {
                return Err(fault(at, arg, Accepted::OutMarked));
            }
        }
        seen |= arg.is_out();
    }
    Ok(())
}

/// `out`, `out0`, `out1` …
fn is_out_name(name: &str) -> bool {
    name.strip_prefix("out").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

fn results(schema: &Schema, places: &Places) -> Result<(), Fault> {
    let is_written = |ret: &Return| ret.ty.alias().is_some_and(Alias::is_write);
    let owners = || schema.out_args().iter().chain(schema.positional().iter().filter(|arg| arg.name() == "self"));
    let first = schema.returns.first().is_some_and(is_written);
    for (ret, &at) in schema.returns.iter().zip(&places.returns) {
        if ret.ty.wraps().contains(&Wrap::Optional) {
            return Err(fault(at, ret, Accepted::NoOptionalReturn));
        }
        if is_written(ret) != first {
            return Err(fault(at, ret, Accepted::AllOrNoneWritten));
        }
        if is_written(ret) && !owners().any(|arg| same_sets(&arg.ty, &ret.ty)) {
            return Err(fault(at, ret, Accepted::ReturnOfWritten));
        }
    }
    Ok(())
}

fn in_place(schema: &Schema, places: &Places) -> Result<(), Fault> {
    let Some(i) = schema.positional().iter().position(|arg| arg.name() == "self") else {
        return Err(fault(places.name, schema.name(), Accepted::InPlaceSelf));
    };
    let self_ = &schema.args[i];
    if !self_.is_mutable() {
        return Err(fault(places.args[i], self_, Accepted::InPlaceSelf));
    }
    if let Some(out) = schema.out_args().first() {
        return Err(fault(places.args[schema.args.len() - schema.outs], out, Accepted::InPlaceWithoutOut));
    }
    let returned = match schema.returns() {
        [] => !is_plain(self_),
        [ret] => is_plain(self_) && same_sets(&self_.ty, &ret.ty),
        _ => false,
    };
    if returned { Ok(()) } else { Err(returns_fault(schema, places, Accepted::InPlaceReturn)) }
}

fn outs_returned(schema: &Schema, places: &Places) -> Result<(), Fault> {
    let outs = schema.out_args();
    if !outs.iter().all(is_plain) {
        return match schema.returns() {
            [] => Ok(()),
            _ => Err(returns_fault(schema, places, Accepted::OutListNotReturned)),
        };
    }
    // Scratch tensors are lent to the operator for its own planning, and are no results.
    let results = outs.iter().filter(|arg| !arg.name().starts_with("_scratch_")).count();
    let pairs = outs.iter().zip(schema.returns());
    if schema.returns.len() != results || !pairs.into_iter().all(|(arg, ret)| same_sets(&arg.ty, &ret.ty)) {
        return Err(returns_fault(schema, places, Accepted::OutReturned));
    }
    Ok(())
}

/// True for a tensor that is neither optional nor a list.
fn is_plain(arg: &Argument) -> bool {
    arg.ty.is_tensor() && arg.ty.wraps().is_empty()
}

/// True if both types carry the same annotation. No two fresh ones are the same.
fn same_sets(a: &Type, b: &Type) -> bool {
    a.alias().is_some_and(|alias| !alias.is_fresh() && Some(alias) == b.alias())
}

fn returns_fault(schema: &Schema, places: &Places, accepted: Accepted) -> Fault {
    fault(places.returns_open, super::print::Returns(schema.returns()), accepted)
}

fn fault(at: usize, found: impl Display, accepted: Accepted) -> Fault {
    Fault::new(at, &found.to_string(), accepted)
}

//! What a node calls: an operator by name, arithmetic on numbers, an assertion, control flow. Owns the names of what is
//! no operator; which operators there are, the dispatcher knows.

use crate::graph::{Called, Check};
use crate::number::NumberOp;
use monomorph_core::Error as OperatorError;
use monomorph_core::dispatch::Dispatcher;
use monomorph_core::schema::Schema;
use std::sync::Arc;

/// What a target is, before its arguments are looked at.
pub(super) enum Target {
    /// An operator with its schema.
    Operator(Box<Called>, Arc<Schema>),
    /// A function of numbers.
    Number(NumberOp),
    /// An assertion.
    Check(Check),
    /// Control flow and the like, by its name without `torch.ops.higher_order.`.
    HigherOrder(String),
    /// An operator that is not registered.
    Missing(OperatorError),
}

/// The name by which an operator is looked up: `aten.add.Tensor` is `add.Tensor`, `my.f.default` is `my::f`.
pub(super) fn operator_name(target: &str) -> Option<String> {
    let path = target.strip_prefix("torch.ops.")?;
    let (namespace, rest) = path.split_once('.')?;
    let (name, overload) = rest.split_once('.').unwrap_or((rest, "default"));
    let full = if overload == "default" { name.to_owned() } else { format!("{name}.{overload}") };
    Some(if namespace == "aten" { full } else { format!("{namespace}::{full}") })
}

/// What a target is; `None` for what is neither an operator nor a function that is known.
pub(super) fn resolve(dispatcher: &Dispatcher, target: &str) -> Option<Target> {
    if let Some(name) = target.strip_prefix("torch.ops.higher_order.") {
        return Some(Target::HigherOrder(name.to_owned()));
    }
    let Some(name) = operator_name(target) else { return NumberOp::from_target(target).map(Target::Number) };
    let check = match &*name {
        "_assert_scalar" | "_assert_async" | "_assert_async.msg" => Some(Check::True),
        "_assert_tensor_metadata" => Some(Check::Metadata),
        "sym_constrain_range" | "sym_constrain_range_for_size" => Some(Check::Range),
        _ => None,
    };
    if let Some(check) = check {
        return Some(Target::Check(check));
    }
    Some(match Called::find(dispatcher, &name) {
        Err(error) => Target::Missing(error),
        Ok((called, schema)) => Target::Operator(called, schema),
    })
}

//! Errors name what was called, and what they advise works.

use monomorph::prelude::*;
use monomorph::{Error, ErrorKind, IValue, Result, Stack, ops};

fn error<T>(result: Result<T>) -> Error {
    result.map(|_| ()).expect_err("an error")
}

#[test]
fn errors_name_what_was_called() {
    let x = tensor![1.0f32, 2.0, 3.0, 4.0];
    let mut n = tensor![1, 2, 3, 4];
    let mut bools = tensor![true, false];
    let named: [(&str, Error); 23] = [
        ("add", error(x.add(&tensor![1, 2]))),
        ("add_", error(n.add_(&x).map(|_| ()))),
        ("add", error(ops::add_out(&x, &x, &mut n))),
        ("exp_", error(n.exp_().map(|_| ()))),
        ("multiply", error(x.multiply(&tensor![1, 2]))),
        ("relu6", error(bools.relu6())),
        ("relu6_", error(bools.relu6_().map(|_| ()))),
        ("celu", error(bools.celu())),
        ("selu", error(bools.selu())),
        ("floor_divide", error(x.floor_divide(&tensor![1, 2]))),
        ("zeros", error(ops::zeros([-1], F32))),
        ("ones", error(ops::ones([-1], F32))),
        ("full", error(ops::full([-1], 1))),
        ("new_full", error(x.new_full([-1], 1))),
        ("isclose", error(x.isclose(&tensor![1, 2]))),
        ("masked_fill_", error(n.masked_fill_(&tensor![1], 2))),
        ("cat", error(ops::cat(&[] as &[Tensor<Cpu>]))),
        ("view", error(x.view(3))),
        ("index", error(x.i(4))),
        ("item", error(x.item())),
        ("at", error(x.at::<f32>([4]))),
        ("to_vec", error(x.to_vec::<f64>())),
        ("from_vec", error(Tensor::<Cpu>::from_vec(vec![1, 2, 3], 2))),
    ];
    for (name, error) in named {
        assert_eq!(error.op(), name, "{error}");
        assert!(error.to_string().starts_with(&format!("{name}: ")), "{error}");
    }
}

/// What a text says to do, done.
#[test]
fn advice_works() -> Result<()> {
    let x = tensor![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let advises = |error: Error, advice: &str| {
        let text = error.to_string();
        assert!(text.contains(advice), "{text}: no {advice}");
    };
    advises(error(x.to_vec::<f64>()), ".to(F64)");
    assert_eq!(x.to(F64)?.to_vec::<f64>()?.len(), 6);
    advises(error(x.t()?.view(6)), "use reshape");
    assert_eq!(x.t()?.reshape(6)?.sizes(), [6]);
    advises(error(x.t()?.data::<f32>()), ".contiguous()");
    assert_eq!(x.t()?.contiguous()?.data::<f32>()?.len(), 6);
    let mut n = tensor![[1, 2, 3], [4, 5, 6]];
    advises(error(n.add_(&x).map(|_| ())), ".to(I32)");
    n.add_(&x.to(I32)?)?;
    advises(error(n.mean(..)), ".to(..)");
    assert_eq!(n.to(F32)?.mean(..)?.item()?, 7.0.into());
    advises(error(x.item()), ".at(..)");
    assert_eq!(x.at::<f32>([1, 2])?, 6.0);
    advises(error(x.i(1..1)), "narrow with length 0");
    assert_eq!(x.narrow(0, 1, 0)?.sizes(), [0, 3]);
    advises(error(x.clamp(None, None)), "at least one of min and max");
    assert_eq!(x.clamp(2, None)?.at::<f32>([0, 0])?, 2.0);
    Ok(())
}

/// `?` in `main`, `anyhow` and the like: an error is `std::error::Error`, `Send`, `Sync` and `'static`, and one line.
#[test]
fn errors_fit_where_errors_go() {
    fn main() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        tensor![1.0f32].add(&tensor![[1, 2], [3, 4]])?.view(3)?;
        Ok(())
    }
    let error = main().expect_err("sizes that do not fit");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    let error = error.downcast::<Error>().expect("the error itself");
    assert!(matches!(error.kind(), ErrorKind::ShapeNumel { .. }), "{error}");
}

#[test]
fn a_missing_bound_is_told_as_such_by_name_too() {
    let mut stack: Stack = vec![tensor![1.0f32].into(), IValue::None, IValue::None];
    let error = monomorph::call("clamp", &mut stack).expect_err("no bound");
    assert_eq!(error.to_string(), "clamp: at least one of min and max must be given");
    assert_eq!(stack.len(), 3, "the stack is as it was");
}

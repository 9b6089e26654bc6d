//! Operators over lists: each gives what the operator of one item gives for every item, in every form, and writes
//! nothing where one item is refused.

use monomorph::crates::core::with_element;
use monomorph::crates::ops::table::{Declaration, FormKind, declarations};
use monomorph::{Cpu, DType, ErrorKind, Geometry, IValue, Result, Scalar, Stack, Tensor};
use monomorph_core::{AnyTensor, Element};

type T = Tensor<Cpu>;

const ITEMS: usize = 3;

/// A tensor of numbers between 0 and 1, in which all operators of lists are defined.
fn filled(dtype: DType, sizes: &[i64], seed: usize) -> T {
    let numel = sizes.iter().product::<i64>() as usize;
    with_element!(dtype, E => {
        let number = |i: usize| E::from_scalar(Scalar::Float(((i * 7 + seed * 3) % 11 + 1) as f64 / 12.5));
        T::from_slice(&(0..numel).map(number).collect::<Vec<E>>(), sizes).unwrap()
    })
}

/// Tensors of several dtypes and layouts: row-major, column-major, with gaps.
fn list(seed: usize) -> Vec<AnyTensor> {
    let columns = Geometry::new(DType::F64, &[3, 2], &[1, 3], 0).unwrap();
    let gaps = Geometry::new(DType::F32, &[4], &[2], 1).unwrap();
    let all = [
        filled(DType::F32, &[2, 3], seed),
        filled(DType::F64, &[6], seed + 1).with_geometry(columns).unwrap(),
        filled(DType::F32, &[9], seed + 2).with_geometry(gaps).unwrap(),
    ];
    all.into_iter().map(Tensor::into_any).collect()
}

/// Square matrices, which can be multiplied.
fn matrices(seed: usize) -> Vec<AnyTensor> {
    (0..ITEMS).map(|i| filled(DType::F32, &[3, 3], seed + i).into_any()).collect()
}

/// Arguments of a declaration.
fn arguments(declaration: &Declaration) -> Stack {
    let argument = |(i, parameter): (usize, &monomorph::crates::ops::table::Parameter)| match parameter.ty {
        "Tensor[]" if declaration.name == "_foreach_mm" => IValue::Tensors(matrices(i)),
        "Tensor[]" => IValue::Tensors(list(i)),
        "Scalar[]" => IValue::Scalars(vec![Scalar::Int(2), Scalar::Float(0.25), Scalar::Float(1.5)]),
        "Tensor" => T::from_slice(&[1.5f64], ()).unwrap().into(),
        "Scalar" => IValue::Float(0.75),
        "bool" => IValue::Bool(false),
        "MemoryFormat?" => IValue::None,
        other => panic!("{}: no argument of the type {other}", declaration.name),
    };
    declaration.parameters.iter().enumerate().map(argument).collect()
}

/// The arguments of one item.
fn item(stack: &Stack, i: usize) -> Stack {
    let one = |value: &IValue| match value {
        IValue::Tensors(list) => list[i].clone().into(),
        IValue::Scalars(list) => list[i].into(),
        other => other.clone(),
    };
    stack.iter().map(one).collect()
}

/// All that a caller can see of tensors.
fn seen<'a>(tensors: impl IntoIterator<Item = &'a AnyTensor>) -> Vec<String> {
    let text = |t: &AnyTensor| {
        let bytes = t.storage_to_vec().ok();
        format!("{} {:?} {:?}+{} {bytes:?}", t.dtype(), t.sizes(), t.strides(), t.offset())
    };
    tensors.into_iter().map(text).collect()
}

fn call(name: &str, mut stack: Stack) -> Result<Stack> {
    monomorph::call(name, &mut stack).map(|()| stack)
}

fn overload(declaration: &Declaration, kind: FormKind) -> Option<&'static str> {
    let form = declaration.forms.iter().find(|form| form.kind == kind)?;
    form.overload()
}

fn over_lists() -> Vec<&'static Declaration> {
    declarations().filter(|declaration| declaration.kind == "each").collect()
}

fn declared(name: &str) -> &'static Declaration {
    declarations().find(|other| other.name == name).unwrap_or_else(|| panic!("{name} is declared"))
}

#[test]
fn every_item_is_a_call_of_the_operator_of_one() {
    let all = over_lists();
    assert!(all.len() > 70, "{}", all.len());
    let mut forms = 0;
    for declaration in all {
        let of = declared(declaration.definition);
        for form in declaration.forms {
            let (Some(name), kind) = (form.overload(), form.kind) else { continue };
            forms += 1;
            let stack = arguments(declaration);
            let one = if kind == FormKind::Inplace { overload(of, kind) } else { Some(of.name) };
            let one = one.unwrap_or_else(|| panic!("{name} calls a form that is there"));
            // Each operator of one item has memory of its own, since some of them write.
            let apart = arguments(declaration);
            let want: Vec<AnyTensor> = (0..ITEMS)
                .map(|i| call(one, item(&apart, i)).unwrap_or_else(|e| panic!("{name}: {e}")))
                .map(|mut results| results.pop().and_then(IValue::into_tensor).expect("one result"))
                .collect();
            let held: Vec<AnyTensor> = match kind {
                FormKind::Inplace => stack[0].tensors().cloned().collect(),
                FormKind::Functional => Vec::new(),
                _ => want.iter().map(|t| filled(t.dtype(), t.sizes(), 5).into_any()).collect(),
            };
            let mut stack = stack;
            if !matches!(kind, FormKind::Inplace | FormKind::Functional) {
                stack.push(IValue::Tensors(held.clone()));
            }
            let results = call(name, stack).unwrap_or_else(|e| panic!("{name}: {e}"));
            match kind {
                FormKind::Functional => {
                    let [IValue::Tensors(results)] = &results[..] else { panic!("{name} returns a list") };
                    assert_eq!(seen(results), seen(&want), "{name}");
                }
                FormKind::Inplace => {
                    assert!(results.is_empty(), "{name}");
                    assert_eq!(seen(&held), seen(&want), "{name}");
                }
                _ => {
                    assert!(results.is_empty(), "{name}");
                    let values = |list: &[AnyTensor]| -> Vec<String> {
                        list.iter().map(|t| format!("{:?}", numbers(t))).collect()
                    };
                    assert_eq!(values(&held), values(&want), "{name}");
                }
            }
        }
    }
    assert!(forms > 200, "{forms}");
}

fn numbers(t: &AnyTensor) -> Vec<f64> {
    let t = t.downcast_ref::<Cpu>().expect("on the CPU");
    with_element!(t.dtype(), E => t.to_vec::<E>().unwrap().iter().map(|v| v.to_scalar().to_f64()).collect())
}

/// Calls with a copy of the arguments, which must be an error and change none of them.
fn refused(name: &str, stack: &Stack) -> ErrorKind {
    let before = seen(stack.iter().flat_map(IValue::tensors));
    let mut given = stack.clone();
    let error = monomorph::call(name, &mut given).expect_err(name);
    assert_eq!(seen(stack.iter().flat_map(IValue::tensors)), before, "{name}");
    assert_eq!(seen(given.iter().flat_map(IValue::tensors)), before, "{name}: the stack");
    assert_eq!(given.len(), stack.len(), "{name}");
    error.kind().clone()
}

fn tensors<const N: usize>(all: [&T; N]) -> IValue {
    IValue::Tensors(all.map(|t| t.clone().into_any()).to_vec())
}

#[test]
fn lists_have_one_length_and_at_least_one_item() {
    let x = filled(DType::F32, &[2], 1);
    let (none, one, two) = (IValue::Tensors(vec![]), tensors([&x]), tensors([&x, &x]));
    for declaration in over_lists() {
        let empty = |value: IValue| match value {
            IValue::Tensors(_) => none.clone(),
            IValue::Scalars(_) => IValue::Scalars(vec![]),
            other => other,
        };
        let mut empty: Stack = arguments(declaration).into_iter().map(empty).collect();
        assert!(matches!(refused(declaration.name, &empty), ErrorKind::ArgumentRule { .. }), "{}", declaration.name);
        // The empty list of any type.
        empty[declaration.parameters.iter().position(|p| p.ty == "Tensor[]").unwrap()] =
            IValue::List(monomorph::crates::core::ItemList::EMPTY);
        assert!(matches!(refused(declaration.name, &empty), ErrorKind::ArgumentRule { .. }), "{}", declaration.name);
    }
    let scalars = |n: usize| IValue::Scalars(vec![Scalar::Int(2); n]);
    for (name, stack, arg) in [
        ("_foreach_add.List", vec![two.clone(), one.clone(), 1i64.into()], "other"),
        ("_foreach_add_.ScalarList", vec![two.clone(), scalars(1)], "scalars"),
        ("_foreach_addcmul.Scalar", vec![one.clone(), one.clone(), two.clone(), 1i64.into()], "tensor2"),
        ("_foreach_lerp_.List", vec![one.clone(), two.clone(), one.clone()], "tensors1"),
        ("_foreach_abs.out", vec![two.clone(), one.clone()], "out"),
    ] {
        let found = refused(name, &stack);
        assert!(matches!(found, ErrorKind::ListLength { arg: found, .. } if found == arg), "{name}: {found:?}");
    }
    // A tensor beside lists is one number.
    for name in ["_foreach_mul.Tensor", "_foreach_mul_.Tensor", "_foreach_div.Tensor"] {
        let found = refused(name, &vec![two.clone(), x.clone().into()]);
        assert!(matches!(found, ErrorKind::DimCount { arg: "other", got: 1, .. }), "{name}: {found:?}");
    }
    for stack in [vec![IValue::from(x.clone()), 1i64.into()], vec![scalars(1), 1i64.into()]] {
        assert!(matches!(refused("_foreach_add.Scalar", &stack), ErrorKind::ArgumentKind { position: 0, .. }));
    }
}

/// PyTorch writes the items before the one that it refuses.
#[test]
fn nothing_is_written_where_one_item_is_refused() {
    let (x, i) = (filled(DType::F32, &[2], 1), T::from_slice(&[1i32, 2], [2]).unwrap());
    let (wide, frozen) = (filled(DType::F32, &[3], 1), filled(DType::F32, &[2], 1));
    let repeated = x.with_geometry(Geometry::new(DType::F32, &[4], &[0], 0).unwrap()).unwrap();
    frozen.freeze().unwrap();
    // A number that a dtype cannot hold, sizes, memory that is written twice or not at all, other devices.
    assert!(matches!(refused("_foreach_add_.Scalar", &vec![tensors([&x, &i]), 1.5.into()]), ErrorKind::Cast { .. }));
    let wider = vec![tensors([&x, &x]), tensors([&i, &wide]), 1i64.into()];
    assert!(matches!(
        refused("_foreach_sub_.List", &wider),
        ErrorKind::Broadcast { .. } | ErrorKind::OutputSize { .. }
    ));
    let twice = vec![tensors([&x, &repeated])];
    assert!(matches!(refused("_foreach_exp_", &twice), ErrorKind::InternalOverlap { .. }));
    assert!(matches!(refused("_foreach_zero_", &vec![tensors([&x, &frozen])]), ErrorKind::Frozen));
    let meta = IValue::Tensors(vec![x.clone().into_any(), x.as_any().to_meta()]);
    let elsewhere = vec![tensors([&x, &x]), meta.clone(), 1i64.into()];
    assert!(matches!(refused("_foreach_add_.List", &elsewhere), ErrorKind::DeviceMismatch { .. }));
    let elsewhere = vec![tensors([&x, &x]), meta, false.into()];
    assert!(matches!(
        refused("_foreach_copy_", &elsewhere),
        ErrorKind::DeviceMismatch { .. } | ErrorKind::NoHostData { .. }
    ));
    // Outputs.
    let out = |outs: IValue| vec![tensors([&x, &x]), outs];
    assert!(matches!(refused("_foreach_neg.out", &out(tensors([&x, &i]))), ErrorKind::OutputDType { index: 1, .. }));
    assert!(matches!(refused("_foreach_neg.out", &out(tensors([&x, &frozen]))), ErrorKind::Frozen));
    let frozen = filled(DType::F32, &[5], 1);
    frozen.freeze().unwrap();
    refused("_foreach_neg.out", &out(tensors([&wide, &frozen])));
}

#[test]
fn items_that_share_memory_are_written_one_after_another() {
    let (x, y) = (T::from_slice(&[1.0f32, 2.0], [2]).unwrap(), T::from_slice(&[5.0f32, 6.0], [2]).unwrap());
    call("_foreach_add_.Scalar", vec![tensors([&x, &x]), 1i64.into()]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [3.0, 4.0]);
    call("_foreach_add_.List", vec![tensors([&x, &y]), tensors([&y, &x]), 1i64.into()]).unwrap();
    assert_eq!((x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap()), (vec![8.0, 10.0], vec![13.0, 16.0]));
}

/// A tensor that nobody else holds thaws when it is written, in a list, too.
#[test]
fn a_list_that_is_given_away_is_written() {
    let x = T::from_slice(&[1.0f32, 2.0], [2]).unwrap();
    x.freeze().unwrap();
    let y = T::from_slice(&[1.0f32, 2.0], [2]).unwrap();
    call("_foreach_exp_", vec![IValue::Tensors(vec![x.into_any(), y.into_any()])]).unwrap();
}

//! Declarations of a crate of its own, over the whole schema language: lists of optional tensors, generators, sized
//! lists, more results than two, lists of tensors as results, named results; called by name.

use monomorph::crates::core::{Generator, OptionalTensors};
use monomorph::{AnyTensor, Cpu, Device, Dispatcher, ErrorKind, IValue, Result, Stack, Tensor};

/// The first of `choices` that is there, or `this`.
fn first_of<D: Device>(
    this: &Tensor<D>,
    choices: OptionalTensors<'_>,
    generator: Option<&Generator>,
) -> Result<Tensor<D>> {
    assert!(generator.is_none());
    let chosen = (0..choices.len()).find_map(|i| choices.get(i));
    Ok(chosen.and_then(AnyTensor::downcast_ref).unwrap_or(this).clone())
}

/// As many as `mask` says, three times.
fn thrice<D: Device>(this: &Tensor<D>, mask: &[bool]) -> Result<Vec<Tensor<D>>> {
    Ok(mask.iter().filter(|&&wanted| wanted).map(|_| this.clone()).collect())
}

/// Both, exchanged.
fn exchanged<D: Device>(this: &Tensor<D>, other: &Tensor<D>) -> Result<(Tensor<D>, Tensor<D>)> {
    Ok((other.clone(), this.clone()))
}

monomorph::operators! {
    family: Declared;

    func: mine::first_of(Tensor self, Tensor?[] choices, *, Generator? generator=None) -> Tensor,
    kernel: first_of, silent_view: true;

    func: mine::thrice(Tensor(a) self, bool[3] mask=[True, True, True]) -> Tensor(a)[],
    kernel: thrice;

    func: mine::exchanged(Tensor(a) self, Tensor(b) other) -> (Tensor(b) first, Tensor(a) second),
    kernel: exchanged;
}

fn tensor(x: f32) -> Tensor<Cpu> {
    Tensor::<Cpu>::from_slice(&[x], [1]).unwrap()
}

fn call(name: &str, mut stack: Stack) -> Result<Vec<f32>> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("mine");
    register(&mut library)?;
    dispatcher.call(name, &mut stack)?;
    let numbers = |t: &AnyTensor| t.downcast_ref::<Cpu>().unwrap().to_vec::<f32>().unwrap()[0];
    Ok(stack.iter().flat_map(IValue::tensors).map(numbers).collect())
}

#[test]
fn arguments_and_results_of_every_kind() {
    let [a, b] = [1.0, 2.0].map(tensor);
    let optional = IValue::OptionalTensors(vec![None, Some(b.clone().into_any())]);
    assert_eq!(call("mine::first_of", vec![a.clone().into(), optional]).unwrap(), [2.0]);
    let all = IValue::Tensors(vec![a.clone().into_any(), b.clone().into_any()]);
    assert_eq!(call("mine::first_of", vec![b.clone().into(), all, IValue::None]).unwrap(), [1.0]);
    assert_eq!(call("mine::first_of", vec![a.clone().into(), IValue::OptionalTensors(vec![None])]).unwrap(), [1.0]);
    let generator = call("mine::first_of", vec![a.clone().into(), IValue::Tensors(Vec::new()), IValue::Int(3)]);
    assert!(matches!(generator.unwrap_err().kind(), ErrorKind::ArgumentKind { position: 2, .. }));

    assert_eq!(call("mine::thrice", vec![a.clone().into()]).unwrap(), [1.0; 3]);
    let mask = IValue::Bools(vec![true, false, true]);
    assert_eq!(call("mine::thrice", vec![a.clone().into(), mask]).unwrap(), [1.0; 2]);
    assert_eq!(call("mine::exchanged", vec![a.into(), b.into()]).unwrap(), [2.0, 1.0]);
}

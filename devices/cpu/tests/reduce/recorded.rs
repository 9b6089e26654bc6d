//! Replays `recorded.txt`, which testsuite/record/reductions.py wrote by asking PyTorch 2.15; its format stands there.

use monomorph_core::structured::{Functional, Operator, Out, ValueSink};
use monomorph_core::{DType, ErrorKind, Geometry, Result, Tensor, with_element};
use monomorph_cpu::Cpu;
use monomorph_ops::reduce::{Amax, Amin, Aminmax, Any, Argmax, Mean, Sum};
use monomorph_ops::upsample::{UpsampleNearest1d, UpsampleNearest1dVec};

type T = Tensor<Cpu>;

/// One recorded call.
struct Call<'a> {
    op: &'a str,
    input: T,
    args: Vec<&'a str>,
    outs: Vec<T>,
    /// Geometry and elements of each result, or the kind of error.
    want: std::result::Result<Vec<(&'a str, &'a str)>, &'a str>,
}

fn numbers(text: &str) -> Vec<i64> {
    text.split('x').filter(|s| *s != "-").map(|s| s.parse().unwrap()).collect()
}

fn geometry(text: &str) -> Geometry {
    let [dtype, sizes, strides, offset] = text.split(' ').collect::<Vec<_>>()[..] else { panic!("geometry {text:?}") };
    let dtype = DType::from_name(dtype).unwrap();
    Geometry::new(dtype, &numbers(sizes), &numbers(strides), offset.parse().unwrap()).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn parse(line: &str) -> Call<'_> {
    let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let [op, input, values, args, outs, results] = parts[..] else { panic!("line {line:?}") };
    let input = geometry(input);
    let values: Vec<Vec<u8>> = values.split(',').map(bytes).collect();
    let elements = input.bytes_needed().unwrap() / input.dtype().size();
    let storage: Vec<u8> = (0..elements).flat_map(|i| values[(7 * i + i / 5) % values.len()].clone()).collect();
    let out = |text| {
        let g = geometry(text);
        Tensor::from_storage(&vec![0; g.bytes_needed().unwrap()], g).unwrap()
    };
    Call {
        op,
        input: Tensor::from_storage(&storage, input).unwrap(),
        args: args.split(' ').filter(|s| !s.is_empty()).collect(),
        outs: outs.split(" ; ").filter(|s| *s != "-").map(out).collect(),
        want: match results.strip_prefix("error ") {
            Some(kind) => Err(kind),
            None => Ok(results.split(';').map(|r| r.trim().split_once(" =").unwrap()).collect()),
        },
    }
}

fn list<N: std::str::FromStr>(text: &str) -> Option<Vec<N>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.split(',').filter(|s| !s.is_empty()).map(|s| s.parse().ok().unwrap()).collect())
}

fn one<N: std::str::FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}

/// The call of an operator of one result.
fn dispatch<'t, S: ValueSink<'t, Cpu>>(
    call: &'t Call<'_>,
    dims: &'t Option<Vec<i64>>,
    factors: &'t Option<Vec<f64>>,
    sink: S,
) -> Result<S::Value> {
    let (t, args) = (&call.input, &call.args);
    let arg = |i: usize| args[i];
    let keepdim = |i: usize| args[i] == "true";
    let dims = dims.as_deref();
    match call.op {
        "sum" => Sum::call((t, DType::from_name(arg(0))), sink),
        "sum.dim_IntList" => Sum::call((t, dims, keepdim(1), DType::from_name(arg(2))), sink),
        "mean" => Mean::call((t, DType::from_name(arg(0))), sink),
        "mean.dim" => Mean::call((t, dims, keepdim(1), DType::from_name(arg(2))), sink),
        "amax" => Amax::call((t, dims.unwrap_or_default(), keepdim(1)), sink),
        "amin" => Amin::call((t, dims.unwrap_or_default(), keepdim(1)), sink),
        "any" => Any::call((t,), sink),
        "any.dim" => Any::call((t, one::<i64>(arg(0)).unwrap(), keepdim(1)), sink),
        "any.dims" => Any::call((t, dims, keepdim(1)), sink),
        "argmax" => Argmax::call((t, one::<i64>(arg(0)), keepdim(1)), sink),
        "upsample_nearest1d" => <UpsampleNearest1d>::call((t, dims.unwrap(), one::<f64>(arg(1))), sink),
        "upsample_nearest1d.vec" => UpsampleNearest1dVec::call((t, dims, factors.as_deref()), sink),
        other => panic!("operator {other}"),
    }
}

/// The call of the operator of two results.
fn aminmax<'t, S: ValueSink<'t, Cpu>>(call: &'t Call<'_>, sink: S) -> Result<S::Value> {
    Aminmax::call((&call.input, one::<i64>(call.args[0]), call.args[1] == "true"), sink)
}

fn run(call: &mut Call<'_>) -> Result<Vec<T>> {
    let dims = call.args.first().and_then(|text| list::<i64>(text));
    let factors = call.args.get(1).and_then(|text| list::<f64>(text));
    let mut outs = std::mem::take(&mut call.outs);
    let call = &*call;
    let two = call.op == "aminmax";
    match (&mut outs[..], two) {
        ([], false) => Ok(dispatch(call, &dims, &factors, Functional::<Cpu, 1>::default())?.into()),
        ([], true) => Ok(aminmax(call, Functional::<Cpu, 2>::default())?.into()),
        ([out], false) => dispatch(call, &dims, &factors, Out([out])).map(|_| ()).map(|()| outs),
        ([a, b], true) => aminmax(call, Out([a, b])).map(|_| ()).map(|()| outs),
        _ => panic!("outputs of {}", call.op),
    }
}

/// The variant's name.
fn kind(error: &ErrorKind) -> String {
    format!("{error:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// Whether an element is near enough: sums of floats within a few units of the sum of magnitudes, all else exactly.
fn same(call: &Call<'_>, dtype: DType, got: &[u8], want: &[u8]) -> bool {
    let float = |bytes: &[u8]| -> Vec<f64> {
        with_element!(dtype.to_real(), E => {
            let size = dtype.to_real().size();
            bytes.chunks(size).map(|b| {
                let t = Tensor::<Cpu>::from_storage(b, Geometry::new(dtype.to_real(), &[], &[], 0).unwrap()).unwrap();
                monomorph_core::Element::to_scalar(t.to_vec::<E>().unwrap()[0]).to_f64()
            }).collect()
        })
    };
    if !dtype.is_floating() && !dtype.is_complex() {
        return got == want;
    }
    let epsilon = match dtype.to_real() {
        DType::F16 => 1e-3,
        DType::BF16 => 1e-2,
        DType::F32 => 3e-7,
        _ => 1e-15,
    };
    // What sums may differ by grows with the largest element, 1e4, of which there may be some hundreds.
    let slack = if call.op.starts_with("sum") || call.op.starts_with("mean") { epsilon * 1e5 } else { 0.0 };
    std::iter::zip(float(got), float(want)).all(|(a, b)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= slack + epsilon * b.abs() * slack.signum()
    })
}

#[test]
fn every_recorded_call_gives_what_pytorch_gave() {
    let mut failures = Vec::new();
    let text = match std::env::var_os("MONOMORPH_REDUCTIONS") {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => {
            let text = include_str!("recorded.txt");
            assert_eq!(text.lines().count(), 2042);
            text.to_owned()
        }
    };
    for (number, line) in text.lines().enumerate() {
        let mut call = parse(line);
        let got = run(&mut call);
        let verdict = match (&call.want, got) {
            (Err(want), Err(got)) if kind(got.kind()) == *want => Ok(()),
            (want, Err(got)) => Err(format!("{got:?} instead of {want:?}")),
            (Err(want), Ok(_)) => Err(format!("a result instead of {want}")),
            (Ok(want), Ok(got)) => std::iter::zip(want, &got).try_for_each(|((g, elements), t)| {
                let want = geometry(g);
                let elements: Vec<u8> = bytes(&elements.trim().replace(',', ""));
                if !t.geometry().same_elements(&want) {
                    return Err(format!("{:?} instead of {want:?}", t.geometry()));
                }
                let got: Vec<u8> = with_element!(t.dtype(), E => {
                    let values = t.to_vec::<E>().unwrap();
                    values.into_iter().flat_map(|v| {
                        let one = Tensor::<Cpu>::from_slice(&[v], [1]).unwrap();
                        one.storage_to_vec().unwrap()[..t.dtype().size()].to_vec()
                    }).collect()
                });
                let size = t.dtype().size();
                let equal = got.len() == elements.len()
                    && std::iter::zip(got.chunks(size), elements.chunks(size))
                        .all(|(a, b)| same(&call, t.dtype(), a, b));
                if equal { Ok(()) } else { Err(format!("elements {got:02x?} instead of {elements:02x?}")) }
            }),
        };
        if let Err(message) = verdict {
            failures.push(format!(
                "line {}: {}\n    {message}",
                number + 1,
                line.chars().take(180).collect::<String>()
            ));
        }
    }
    assert!(failures.is_empty(), "{} calls differ:\n{}", failures.len(), failures[..failures.len().min(30)].join("\n"));
}

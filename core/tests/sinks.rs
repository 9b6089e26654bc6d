//! What sinks make of outputs, against facts recorded from PyTorch (`testsuite/golden/sinks.json`; its format is
//! described in `testsuite/record/sinks.py`), in every form: functional, out=, in-place, meta, static. Errors are
//! transactions: every argument is afterwards what it was before.
//!
//! Where ours differs from PyTorch, [`Judge`] says so and why, and our own behaviour is checked instead. Warnings about
//! resized outputs are not: the core has none.

mod host;
mod probe;

use host::Host;
use monomorph_core::structured::{
    Executes, Functional, MetaSink, Operand, Out, OutputSink, Prepared, call, in_place, prepare,
};
use monomorph_core::{
    AnyTensor, DType, Device, DeviceId, ErrorKind, Geometry, MemoryFormat, Meta, Names, Options, Result, Scalar,
    Tensor, overlap, strides, with_element,
};
use probe::{Ask, Call, Fail, How, Probe, SEEN};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

const RECORDED: &str = include_str!("../../testsuite/golden/sinks.json");

fn ints(v: &Value) -> Vec<i64> {
    v.as_array().expect("a list").iter().map(|x| x.as_i64().expect("an integer")).collect()
}

fn dtype(v: &Value) -> DType {
    DType::from_name(v["dtype"].as_str().expect("a dtype")).expect("one of the twelve")
}

fn geometry(v: &Value) -> Geometry {
    let offset = v["offset"].as_i64().expect("an offset");
    Geometry::new(dtype(v), &ints(&v["sizes"]), &ints(&v["strides"]), offset).expect("a legal geometry")
}

fn declarations(fact: &Value, device: DeviceId) -> Vec<Call> {
    let memory_format = fact["memory_format"].as_str().map(|f| MemoryFormat::from_name(f).expect("a format"));
    let calls = fact["calls"].as_array().expect("calls").iter().enumerate();
    calls
        .map(|(index, c)| Call {
            how: match c["how"].as_str() {
                Some("raw_strided") => How::Raw,
                Some("strided") => How::Strided,
                Some("contiguous") => How::Contiguous,
                other => panic!("{other:?}"),
            },
            index,
            sizes: ints(&c["sizes"]),
            strides: c.get("strides").map(ints),
            options: Options { dtype: dtype(c), device, memory_format },
            names: None,
        })
        .collect()
}

/// A device of the tests, and how its tensors are made and looked into.
trait Place: Device + Executes<Probe<1>> + Executes<Probe<2>> {
    const ID: DeviceId;
    /// The caller's tensor: its storage holds 101, 102, ...
    fn given(fact: &Value) -> Tensor<Self>;
    fn bytes(t: &Tensor<Self>) -> Vec<u8>;
}

impl Place for Host {
    const ID: DeviceId = DeviceId::CPU;

    fn given(fact: &Value) -> Tensor<Host> {
        let length = fact["storage"].as_i64().expect("a length");
        let bytes: Vec<u8> = (0..length).flat_map(|i| element(Scalar::Int(101 + i), dtype(fact))).collect();
        Tensor::from_storage(&bytes, geometry(fact)).expect("a given tensor")
    }

    fn bytes(t: &Tensor<Host>) -> Vec<u8> {
        t.storage_to_vec().expect("host data")
    }
}

impl Place for Meta {
    const ID: DeviceId = DeviceId::META;

    fn given(fact: &Value) -> Tensor<Meta> {
        let length = fact["storage"].as_i64().expect("a length");
        let whole = Tensor::<Meta>::zeroed(dtype(fact), &[length], &[1], 0).expect("a storage");
        whole.with_geometry(geometry(fact)).expect("a given tensor")
    }

    fn bytes(_: &Tensor<Meta>) -> Vec<u8> {
        vec![]
    }
}

fn element(value: Scalar, dtype: DType) -> Vec<u8> {
    monomorph_core::scalar_bytes(value, dtype)[..dtype.size()].to_vec()
}

/// Everything about a tensor that a call may change.
#[derive(PartialEq, Debug, Clone)]
struct Snapshot {
    geometry: String,
    storage: usize,
    bytes: Vec<u8>,
    version: u64,
    id: usize,
}

fn snapshot<D: Place>(t: &Tensor<D>) -> Snapshot {
    Snapshot {
        geometry: format!("{:?}", t.geometry()),
        storage: t.storage_bytes(),
        bytes: D::bytes(t),
        version: t.version(),
        id: t.storage_id(),
    }
}

/// What a call left behind.
struct Outcome<D: Device> {
    results: Vec<Tensor<D>>,
    result: Result<()>,
    before: Vec<Snapshot>,
    /// What the kernel was bound to, by output; nothing on meta.
    kernel: Vec<Geometry>,
    /// How many runs there were.
    runs: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Functional,
    Out,
    Static,
    InPlace,
}

fn perform<D: Place>(fact: &Value, form: Form) -> Outcome<D> {
    let calls = declarations(fact, D::ID);
    match calls.len() {
        1 => perform_n::<D, 1>(fact, form, &calls),
        _ => perform_n::<D, 2>(fact, form, &calls),
    }
}

fn perform_n<D: Place + Executes<Probe<N>>, const N: usize>(fact: &Value, form: Form, calls: &[Call]) -> Outcome<D> {
    let ask = Ask::calls(calls);
    let given = fact["given"].as_array().map_or(&[][..], Vec::as_slice);
    let mut given: Vec<Tensor<D>> = given.iter().map(D::given).collect();
    let before = given.iter().map(snapshot).collect();
    SEEN.take();
    let mut runs = 1;
    let result = match form {
        Form::Functional => call::<Probe<N>, D, _>(&ask, Functional::<D, N>::default()).map(|new| given.extend(new)),
        Form::Out => call::<Probe<N>, D, _>(&ask, Out(each::<_, N>(&mut given))).map(|_| ()),
        Form::Static => {
            prepare::<Probe<N>, D, N>(&ask, each(&mut given)).and_then(|mut prepared: Prepared<'_, _, _, N>| {
                runs = 2;
                prepared.run()?;
                prepared.run()
            })
        }
        Form::InPlace => in_place(&mut given[0], |this, sink, _| {
            call::<Probe<1>, D, _>(&ask.clone().of(&[Operand::Tensor(this)]), sink)
        })
        .map(|_| ()),
    };
    Outcome { results: given, result, before, kernel: SEEN.take(), runs }
}

fn each<D: Device, const N: usize>(given: &mut [Tensor<D>]) -> [&mut Tensor<D>; N] {
    let mut rest = given.iter_mut();
    std::array::from_fn(|_| rest.next().expect("one given tensor per output"))
}

/// What a recorded fact asks of us.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Judge {
    /// The same result.
    Same,
    /// The same refusal: sizes or dtype of an in-place call.
    InPlace,
    /// The same refusal: dtype of an out= tensor.
    OutputDType,
    /// Not expressible: an out= tensor on another device than the call has another type.
    TypeSystem,
    /// Strides together with a memory format: PyTorch asserts only where it comes to use them (a new or resized
    /// output), and only after it has compared sizes and dtypes; ours is a broken contract at once, since `meta` is
    /// wrong in every form if it is in one.
    Contract,
    /// An in-place kernel that needs exact strides: PyTorch hands it the tensor itself and then copies over it a proxy
    /// that nobody has written. Ours does what the out= form does.
    InPlaceProxy,
    /// Strides with gaps for an out= that is resized: PyTorch's `resize_` makes room for a contiguous
    /// tensor, and restriding it then fails. Ours makes room for what was asked.
    Gapped,
    /// The copy out of a proxy into an output that overlaps itself: PyTorch fails when the kernel has run; ours before
    /// anything has changed. On meta, where PyTorch copies nothing and so accepts, ours foresees the refusal.
    ProxyIntoOverlap,
}

fn judge(fact: &Value) -> Judge {
    let calls = fact["calls"].as_array().expect("calls");
    let given = fact["given"].as_array().map_or(&[][..], Vec::as_slice);
    if given.iter().any(|g| g["device"].is_string() && fact["device"] == "cpu") {
        return Judge::TypeSystem;
    }
    let exact = |c: &Value| c.get("strides").is_some() || c["how"] != "raw_strided";
    if fact["memory_format"].is_string() && calls.iter().any(exact) {
        return Judge::Contract;
    }
    if fact["results"].as_array().is_some_and(|r| r.iter().any(|r| r["undefined_in_pytorch"] == true)) {
        return Judge::InPlaceProxy;
    }
    let foreseen = |(call, given): (&Value, &Value)| {
        let (sizes, strides) = (ints(&given["sizes"]), ints(&given["strides"]));
        let wanted = call.get("strides").map_or_else(|| strides::contiguous_strides(&sizes).to_vec(), ints);
        let proxied = call["how"] != "raw_strided" && ints(&call["sizes"]) == sizes && wanted != strides;
        proxied && overlap::internal(&sizes, &strides) == overlap::Internal::Yes
    };
    let Some(message) = fact["error"]["message"].as_str() else {
        let refused = fact["device"] == "meta" && calls.iter().zip(given).any(foreseen);
        return if refused { Judge::ProxyIntoOverlap } else { Judge::Same };
    };
    if fact["after_kernel"] == true {
        assert!(message.contains("more than one element of the written-to tensor"), "{message}");
        Judge::ProxyIntoOverlap
    } else if message.starts_with("setStorage: sizes") {
        Judge::Gapped
    } else if message.starts_with("Bad in-place call") {
        Judge::InPlace
    } else if message.starts_with("Expected out tensor to have dtype") {
        Judge::OutputDType
    } else {
        panic!("no rule for {fact}")
    }
}

/// Checks the results of a call that succeeds in PyTorch too.
fn same<D: Place>(fact: &Value, form: Form, outcome: &Outcome<D>) {
    let what = || format!("{form:?} {} of {fact}", D::ID);
    assert_eq!(outcome.result, Ok(()), "{}", what());
    let results = fact["results"].as_array().expect("results");
    assert_eq!(outcome.results.len(), results.len());
    for (i, (want, got)) in results.iter().zip(&outcome.results).enumerate() {
        assert_eq!(got.sizes(), ints(&want["sizes"]), "sizes, {}", what());
        assert_eq!(got.strides(), ints(&want["strides"]), "strides, {}", what());
        assert_eq!(got.offset(), want["offset"].as_i64().expect("an offset"), "offset, {}", what());
        assert_eq!(got.dtype(), dtype(want), "{}", what());
        let length = got.storage_bytes() / got.dtype().size();
        assert_eq!(length as u64, want["storage"].as_u64().expect("a length"), "storage, {}", what());
        // A meta call is over once it is declared: running a prepared one writes nothing.
        let runs = if D::MEMORY.is_none() { 1 } else { outcome.runs };
        let runs = if form == Form::Functional { 0 } else { runs };
        assert_eq!(got.version(), runs, "version, {}", what());
        if let Some(before) = outcome.before.get(i) {
            assert_eq!(got.storage_id(), before.id, "a call exchanged a storage, {}", what());
            assert_eq!(want["grew"] == true, got.storage_bytes() > before.storage, "{}", what());
        }
        if D::MEMORY.is_none() {
            continue;
        }
        let kernel = want.get("proxy").map_or_else(|| got.strides().to_vec(), ints);
        assert_eq!(outcome.kernel[i].strides(), kernel, "the kernel's strides, {}", what());
        if want["undefined_in_pytorch"] == true {
            continue;
        }
        if want.get("proxy").is_some() && overlap::internal(got.sizes(), got.strides()) != overlap::Internal::No {
            // A proxy copied into an output that may overlap itself: what stays is what the device copies last. PyTorch
            // orders a copy by strides, the device of these tests does not.
            for (n, index) in host::indices(got.sizes()).iter().enumerate() {
                let at = host::offset(index, got.strides(), DType::U8) + got.offset() as isize;
                let last = last_write(got, at);
                assert!((n as i64) < last);
                assert_eq!(stored(got)[at as usize], last, "{}", what());
            }
        } else if let Some(values) = want["values"].as_array() {
            for (at, (want, got)) in values.iter().zip(stored(got)).enumerate() {
                if let Some(want) = want.as_i64() {
                    assert_eq!(got, want, "element {at} of the storage of output {i}, {}", what());
                }
            }
        } else {
            assert_eq!(logical(got), ints(&want["logical"]), "{}", what());
        }
    }
}

/// What is left in element `at` of the storage when 1, 2, 3, ... are written in logical order.
fn last_write<D: Place>(t: &Tensor<D>, at: isize) -> i64 {
    let reaches = |i: &Vec<i64>| host::offset(i, t.strides(), DType::U8) + t.offset() as isize == at;
    host::indices(t.sizes()).iter().rposition(reaches).map_or(0, |n| n as i64 + 1)
}

fn stored<D: Place>(t: &Tensor<D>) -> Vec<i64> {
    let bytes = D::bytes(t);
    bytes.chunks_exact(t.dtype().size()).map(|c| value(c, t.dtype())).collect()
}

fn value(bytes: &[u8], dtype: DType) -> i64 {
    let mut aligned = [0u128];
    let place = aligned.as_mut_ptr().cast::<u8>();
    for (i, b) in bytes.iter().enumerate() {
        // SAFETY: an element has at most 16 bytes.
        unsafe { place.wrapping_add(i).write(*b) };
    }
    // SAFETY: the bytes of an element, aligned.
    unsafe { host::load(place, dtype) }.to_i64()
}

fn logical<D: Device>(t: &Tensor<D>) -> Vec<i64> {
    with_element!(t.dtype(), T => {
        use monomorph_core::Element as _;
        t.to_vec::<T>().expect("host data").into_iter().map(|x| x.to_scalar().to_i64()).collect()
    })
}

fn refused<D: Place>(fact: &Value, form: Form, outcome: &Outcome<D>, accepted: impl Fn(&ErrorKind) -> bool) {
    match &outcome.result {
        Ok(()) => panic!("accepted: {form:?} {} of {fact}", D::ID),
        Err(error) => {
            assert!(accepted(error.kind()), "{error} in {form:?} {} of {fact}", D::ID);
            assert_eq!(error.op(), "probe");
        }
    }
    let after: Vec<Snapshot> = outcome.results.iter().map(snapshot).collect();
    assert_eq!(after, outcome.before, "changed by an error: {form:?} {} of {fact}", D::ID);
}

/// Checks one fact on one device in one form.
fn check<D: Place>(fact: &Value, form: Form, twins: &BTreeMap<String, &Value>) -> Judge {
    let judge = judge(fact);
    if judge == Judge::TypeSystem {
        return judge;
    }
    let mut outcome = perform::<D>(fact, form);
    match judge {
        Judge::Same => same(fact, form, &outcome),
        Judge::TypeSystem => {}
        Judge::InPlace => refused(fact, form, &outcome, |e| matches!(e, ErrorKind::InPlace { .. })),
        Judge::OutputDType => refused(fact, form, &outcome, |e| matches!(e, ErrorKind::OutputDType { .. })),
        Judge::Contract => refused(fact, form, &outcome, |e| matches!(e, ErrorKind::MetaContract { .. })),
        Judge::InPlaceProxy => {
            let mut twin = twins[&twin_of(fact)].clone();
            assert!(twin["results"][0].get("proxy").is_some(), "{twin}");
            twin["given"] = fact["given"].clone();
            same(&twin, form, &outcome);
        }
        Judge::ProxyIntoOverlap => {
            refused(fact, form, &outcome, |e| matches!(e, ErrorKind::InternalOverlap { index: 0, .. }));
        }
        Judge::Gapped => {
            assert_eq!(outcome.result, Ok(()), "{fact}");
            for (i, call) in declarations(fact, D::ID).iter().enumerate() {
                let t = &outcome.results[i];
                assert_eq!(t.sizes(), call.sizes);
                assert_eq!(t.offset(), fact["given"][i]["offset"].as_i64().expect("an offset"));
                if let Some(strides) = &call.strides {
                    assert_eq!(t.strides(), strides, "{fact}");
                }
                let need = t.geometry().bytes_needed().expect("a legal geometry");
                assert_eq!(t.storage_bytes(), need.max(outcome.before[i].storage));
                if D::MEMORY.is_some() {
                    assert_eq!(logical(t), (1..=t.numel() as i64).collect::<Vec<_>>());
                    grown_tail_is_zero(t, &outcome.before[i]);
                }
            }
        }
    }
    if D::MEMORY.is_some() && outcome.result.is_ok() && form != Form::Functional {
        for (t, before) in outcome.results.iter_mut().zip(&outcome.before) {
            grown_tail_is_zero(t, before);
        }
    }
    judge
}

/// What growth added and the kernel did not reach is zero, and what was there and not reached has stayed.
fn grown_tail_is_zero<D: Place>(t: &Tensor<D>, before: &Snapshot) {
    let size = t.dtype().size();
    let reached: Vec<usize> = host::indices(t.sizes())
        .iter()
        .map(|i| t.offset() as usize * size + host::offset(i, t.strides(), t.dtype()) as usize)
        .collect();
    for (at, element) in D::bytes(t).chunks(size).enumerate() {
        if reached.contains(&(at * size)) {
            continue;
        }
        let want = before.bytes.get(at * size..(at + 1) * size).map_or(vec![0; size], <[u8]>::to_vec);
        assert_eq!(element, want, "element {at} of the storage, {:?}", t.geometry());
    }
}

/// What two facts of different forms have in common if they ask the same.
fn twin_of(fact: &Value) -> String {
    format!("{} {} {} {}", fact["device"], fact["calls"], fact["given"], fact["memory_format"])
}

#[test]
fn every_recorded_fact_holds() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("JSON");
    let facts = recorded["facts"].as_array().expect("facts");
    let twins: BTreeMap<String, &Value> =
        facts.iter().filter(|f| f["form"] == "out").map(|f| (twin_of(f), f)).collect();
    let mut counts = BTreeMap::<(Judge, &str), usize>::new();
    for fact in facts {
        let forms: &[Form] = match fact["form"].as_str() {
            Some("functional") => &[Form::Functional],
            Some("out") => &[Form::Out, Form::Static],
            Some("in_place") => &[Form::InPlace],
            other => panic!("{other:?}"),
        };
        for &form in forms {
            let judge = if fact["device"] == "meta" {
                check::<Meta>(fact, form, &twins)
            } else {
                // What the host makes of it, meta must foresee.
                check::<Meta>(fact, form, &twins);
                check::<Host>(fact, form, &twins)
            };
            if form != Form::Static {
                *counts.entry((judge, fact["form"].as_str().unwrap_or(""))).or_default() += 1;
            }
        }
    }
    // As many of each kind as there were when the file was recorded: a rule above that swallows more is a wrong rule.
    let of = |judge| counts.iter().filter(|((j, _), _)| *j == judge).map(|(_, n)| n).sum::<usize>();
    let all = [
        (Judge::Same, 658),
        (Judge::InPlace, 156),
        (Judge::OutputDType, 45),
        (Judge::TypeSystem, 12),
        (Judge::Contract, 62),
        (Judge::InPlaceProxy, 34),
        (Judge::Gapped, 40),
        (Judge::ProxyIntoOverlap, 40),
    ];
    for (judge, count) in all {
        assert_eq!(of(judge), count, "{judge:?} of {counts:?}");
    }
    assert_eq!(counts.values().sum::<usize>(), 1047);
}

/// The functional meta sink takes inputs of any device.
#[test]
fn the_meta_sink_foresees_functional_calls() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("JSON");
    let facts = recorded["facts"].as_array().expect("facts");
    for fact in
        facts.iter().filter(|f| f["form"] == "functional" && f["calls"].as_array().is_some_and(|c| c.len() == 1))
    {
        let input = Tensor::<Host>::from_slice(&[1f32], [1]).expect("a tensor");
        let ask = Ask::calls(&declarations(fact, DeviceId::CPU)).of(&[Operand::from(&input)]);
        let result = call::<Probe<1>, Meta, _>(&ask, MetaSink::<1>);
        match judge(fact) {
            Judge::Same => {
                let [t] = result.expect("a result");
                assert_eq!(t.device(), DeviceId::META);
                assert_eq!(t.strides(), ints(&fact["results"][0]["strides"]));
            }
            Judge::Contract => assert!(matches!(kind(result), ErrorKind::MetaContract { .. })),
            other => panic!("{other:?}"),
        }
    }
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => {
            assert_eq!(error.op(), "probe");
            error.kind().clone()
        }
    }
}

fn f32s() -> Options {
    Options::new(DType::F32, DeviceId::CPU)
}

fn ones() -> Tensor<Host> {
    Tensor::from_slice(&[1f32; 6], [2, 3]).expect("a tensor")
}

/// Runs declarations that break the contract in every form; each refuses and changes nothing.
fn contract<const N: usize>(calls: &[Call], index: usize, rule: &str)
where
    Host: Executes<Probe<N>>,
{
    let ask = Ask::calls(calls);
    let want = |e: ErrorKind| {
        assert!(
            matches!(&e, ErrorKind::MetaContract { index: i, rule: r } if *i == index && r.contains(rule)),
            "{e:?}"
        );
    };
    want(kind(call::<Probe<N>, Host, _>(&ask, Functional::<Host, N>::default())));
    want(kind(call::<Probe<N>, Meta, _>(&ask, MetaSink::<N>)));
    let mut given: Vec<Tensor<Host>> = (0..N).map(|_| ones()).collect();
    let before: Vec<_> = given.iter().map(snapshot).collect();
    want(kind(call::<Probe<N>, Host, _>(&ask, Out(each::<_, N>(&mut given)))));
    want(kind(prepare::<Probe<N>, Host, N>(&ask, each(&mut given))));
    if N == 1 {
        want(kind(in_place(&mut given[0], |_, sink, _| call::<Probe<1>, Host, _>(&ask, sink))));
    }
    assert_eq!(given.iter().map(snapshot).collect::<Vec<_>>(), before);
    let meta = || Tensor::<Meta>::zeros_contiguous(DType::F32, &[2, 3]).expect("a tensor");
    let mut given: Vec<Tensor<Meta>> = (0..N).map(|_| meta()).collect();
    let before: Vec<_> = given.iter().map(snapshot).collect();
    want(kind(call::<Probe<N>, Meta, _>(&ask, Out(each::<_, N>(&mut given)))));
    assert_eq!(given.iter().map(snapshot).collect::<Vec<_>>(), before);
}

#[test]
fn meta_functions_that_break_the_contract_are_reported() {
    let one = Call::raw(&[2, 3], f32s());
    contract::<1>(&[], 0, "did not declare");
    contract::<1>(&[one.clone(), one.clone()], 0, "twice");
    contract::<1>(&[one.clone().at(1)], 1, "does not have");
    contract::<1>(&[one.clone(), one.clone().at(usize::MAX)], usize::MAX, "does not have");
    contract::<2>(std::slice::from_ref(&one), 1, "did not declare");
    contract::<2>(&[one.clone().at(1)], 0, "did not declare");
    contract::<2>(&[one.clone().at(1), one.clone(), one.clone().at(1)], 1, "twice");
    contract::<2>(&[one.clone(), one.clone().at(1), one.clone().at(2)], 2, "does not have");
    let format = Options { memory_format: Some(MemoryFormat::ChannelsLast), ..f32s() };
    contract::<1>(&[Call::raw(&[1, 2, 2, 3], format).strided(&[12, 6, 3, 1])], 0, "memory format");
}

#[test]
fn illegal_sizes_and_strides_are_refused_in_every_form() {
    type Accepts = fn(&ErrorKind) -> bool;
    let bad: [(Call, Accepts); 7] = [
        (Call::raw(&[-1, 3], f32s()), |e| matches!(e, ErrorKind::NegativeSize { .. })),
        (Call::raw(&[i64::MAX, 3], f32s()), |e| matches!(e, ErrorKind::SizeOverflow { .. })),
        (Call::raw(&[1 << 62], f32s()), |e| matches!(e, ErrorKind::SizeOverflow { .. })),
        (Call::raw(&[2, 4], f32s()).strided(&[-1, 1]), |e| matches!(e, ErrorKind::NegativeStride { .. })),
        (Call::raw(&[2, 4], f32s()).strided(&[1]), |e| matches!(e, ErrorKind::ListLength { .. })),
        (Call::raw(&[2, 4], f32s()).strided(&[i64::MAX, 2]), |e| matches!(e, ErrorKind::SizeOverflow { .. })),
        (Call::raw(&[1 << 50], f32s()), |e| matches!(e, ErrorKind::Allocation { .. })),
    ];
    for (declaration, accepted) in bad {
        let ask = Ask::calls(std::slice::from_ref(&declaration));
        let refused = |e: ErrorKind| assert!(accepted(&e), "{e:?} for {declaration:?}");
        refused(kind(call::<Probe<1>, Host, _>(&ask, Functional::<Host, 1>::default())));
        let mut out = ones();
        let before = snapshot(&out);
        refused(kind(call::<Probe<1>, Host, _>(&ask, Out([&mut out]))));
        refused(kind(prepare::<Probe<1>, Host, 1>(&ask, [&mut out])));
        let e = kind(in_place(&mut out, |_, sink, _| call::<Probe<1>, Host, _>(&ask, sink)));
        assert!(matches!(e, ErrorKind::InPlace { .. }));
        assert_eq!(snapshot(&out), before);
    }
    // Exact strides that are illegal where the sizes agree: the proxy refuses.
    let ask = Ask::calls(&[Call::raw(&[2, 3], f32s()).strided(&[i64::MAX, 2])]);
    let mut out = ones();
    let before = snapshot(&out);
    assert!(matches!(kind(call::<Probe<1>, Host, _>(&ask, Out([&mut out]))), ErrorKind::SizeOverflow { .. }));
    assert_eq!(snapshot(&out), before);
}

fn names(list: &[&str]) -> Option<Names> {
    Some(list.iter().map(|n| (*n != "*").then(|| (*n).into())).collect())
}

#[test]
fn names_are_set_in_every_form() {
    let named = |sizes: &[i64]| Ask::calls(&[Call { names: names(&["n", "*"]), ..Call::raw(sizes, f32s()) }]);
    let want = names(&["n", "*"]);
    let [new] = call::<Probe<1>, Host, _>(&named(&[2, 3]), Functional::<Host, 1>::default()).expect("a result");
    assert_eq!(new.names(), want.as_ref());
    let [new] = call::<Probe<1>, Meta, _>(&named(&[2, 3]), MetaSink::<1>).expect("a result");
    assert_eq!(new.names(), want.as_ref());
    for sizes in [[2, 3], [4, 1]] {
        let mut out = ones();
        call::<Probe<1>, Host, _>(&named(&sizes), Out([&mut out])).expect("a result");
        assert_eq!(out.names(), want.as_ref());
    }
    let mut this = ones();
    in_place(&mut this, |_, sink, _| call::<Probe<1>, Host, _>(&named(&[2, 3]), sink)).expect("a result");
    assert_eq!(this.names(), want.as_ref());
    // Nothing said: an output that keeps its sizes keeps its names.
    let ask = Ask::calls(&[Call::raw(&[2, 3], f32s())]);
    call::<Probe<1>, Host, _>(&ask, Out([&mut this])).expect("a result");
    assert_eq!(this.names(), want.as_ref());
    // The wrong number of names: refused, and nothing changes.
    let ask = Ask::calls(&[Call { names: names(&["a"]), ..Call::raw(&[2, 3], f32s()) }]);
    let before = snapshot(&this);
    assert!(matches!(kind(call::<Probe<1>, Host, _>(&ask, Out([&mut this]))), ErrorKind::ListLength { .. }));
    assert_eq!(snapshot(&this), before);
}

/// Failing when the kernel is bound is still before anything changed; failing in the kernel leaves memory valid, sizes
/// as they were and contents unspecified, and counts as a write.
#[test]
fn failures_after_meta() {
    let calls = [Call::raw(&[5, 7], f32s()), Call::raw(&[2, 3], f32s()).strided(&[1, 2]).at(1)];
    for fail in [Fail::Ready, Fail::Run] {
        let ask = Ask::calls(&calls).failing(fail);
        kind(call::<Probe<2>, Host, _>(&ask, Functional::<Host, 2>::default()));
        let (mut first, mut second) = (ones(), ones());
        let base = first.clone();
        let before = [snapshot(&first), snapshot(&second)];
        let error = kind(call::<Probe<2>, Host, _>(&ask, Out([&mut first, &mut second])));
        if fail == Fail::Ready {
            assert_eq!(error, ErrorKind::EmptyInput);
            assert_eq!([snapshot(&first), snapshot(&second)], before);
            assert_eq!(base.to_vec::<f32>(), Ok(vec![1.0; 6]));
        } else {
            assert_eq!(error, ErrorKind::DivisionByZero);
            // Sizes go back, and so does the storage that had grown, with what it held.
            assert_eq!((first.sizes(), first.strides()), (&[2, 3][..], &[3, 1][..]));
            assert_eq!((first.storage_bytes(), first.version(), second.version()), (24, 1, 1));
            assert_eq!(base.to_vec::<f32>(), Ok(vec![1.0; 6]));
        }
        // The storages are free again.
        first.data_mut::<f32>().expect("no borrow is left");
        second.data_mut::<f32>().expect("no borrow is left");
    }
}

/// Two outputs over one storage that both grow it: it must end as large as the larger needs, whichever comes first.
#[test]
fn two_outputs_grow_one_storage() {
    for (a, b) in [(40, 10), (10, 40), (40, 40)] {
        let calls = [Call::raw(&[a], f32s()), Call::raw(&[b], f32s()).at(1)];
        for fail in [Fail::Never, Fail::Ready, Fail::Run] {
            let (mut first, third) = (ones(), ones());
            let mut second = first.clone();
            let before = [snapshot(&first), snapshot(&second)];
            let result = call::<Probe<2>, Host, _>(&Ask::calls(&calls).failing(fail), Out([&mut first, &mut second]))
                .map(|_| ());
            drop(third);
            if fail != Fail::Never {
                assert!(result.is_err());
                let bytes = |snapshots: &[Snapshot; 2]| snapshots.each_ref().map(|s| s.bytes.clone());
                let after = [snapshot(&first), snapshot(&second)];
                assert_eq!(bytes(&after), bytes(&before));
                // A kernel that ran counts as a write.
                assert_eq!(
                    (after == before, first.version()),
                    if fail == Fail::Ready { (true, 0) } else { (false, 1) }
                );
                continue;
            }
            result.expect("a result");
            assert_eq!(first.storage_bytes(), 160);
            // The second was written last, over the first.
            assert_eq!(logical(&second), (1..=b).collect::<Vec<_>>());
            assert_eq!(first.to_vec::<f32>().expect("data").len(), a as usize);
            assert_eq!(first.version(), 1);
        }
    }
}

/// Growing an output keeps its other views valid, and an input that shares the storage is read where it now is.
#[test]
fn growth_keeps_the_other_views() {
    let mut out = ones();
    let view = out.with_geometry(Geometry::new(DType::F32, &[3], &[1], 3).expect("legal")).expect("a view");
    let ask = Ask::calls(&[Call::raw(&[100], f32s()).contiguous()]).of(&[Operand::from(&view)]);
    call::<Probe<1>, Host, _>(&ask, Out([&mut out])).expect("a result");
    assert_eq!(view.to_vec::<f32>(), Ok(vec![4.0, 5.0, 6.0]));
    assert_eq!(view.storage_bytes(), 400);
    assert_eq!(view.storage_id(), out.storage_id());
}

/// An empty output may begin anywhere, also where no storage reaches.
#[test]
fn empty_outputs_begin_anywhere() {
    let none = Geometry::new(DType::F32, &[0, 3], &[3, 1], i64::MAX).expect("legal");
    let mut out = ones().with_geometry(none).expect("an empty view");
    let input = out.clone();
    let ask = Ask::calls(&[Call::raw(&[0, 3], f32s()).contiguous()]).of(&[Operand::from(&input)]);
    call::<Probe<1>, Host, _>(&ask, Out([&mut out])).expect("nothing to write");
    assert_eq!((out.offset(), out.version()), (i64::MAX, 1));
    // Resized, it would begin there still, and no memory reaches so far.
    let before = snapshot(&out);
    let ask = Ask::calls(&[Call::raw(&[1, 3], f32s())]);
    assert!(matches!(kind(call::<Probe<1>, Host, _>(&ask, Out([&mut out]))), ErrorKind::SizeOverflow { .. }));
    assert_eq!(snapshot(&out), before);
}

/// Storages that somebody else is using: refused, whatever the form, with nothing changed.
#[test]
fn borrowed_outputs_are_refused() {
    let ask = Ask::calls(&[Call::raw(&[50], f32s())]);
    let mut out = ones();
    let other = out.clone();
    let before = snapshot(&out);
    let guard = other.data::<f32>().expect("a borrow");
    let borrowed = |e: ErrorKind| assert!(matches!(e, ErrorKind::Borrowed { state: "read", .. }), "{e:?}");
    borrowed(kind(call::<Probe<1>, Host, _>(&ask, Out([&mut out]))));
    borrowed(kind(prepare::<Probe<1>, Host, 1>(&ask, [&mut out])));
    let same = Ask::calls(&[Call::raw(&[2, 3], f32s())]);
    borrowed(kind(in_place(&mut out, |_, sink, _| call::<Probe<1>, Host, _>(&same, sink))));
    drop(guard);
    assert_eq!(snapshot(&out), before);
    out.freeze().expect("free");
    assert_eq!(kind(call::<Probe<1>, Host, _>(&ask, Out([&mut out]))), ErrorKind::Frozen);
    assert_eq!(kind(in_place(&mut out, |_, sink, _| call::<Probe<1>, Host, _>(&same, sink))), ErrorKind::Frozen);
    assert_eq!(snapshot(&out), before);
    drop(other);
    in_place(&mut out, |_, sink, _| call::<Probe<1>, Host, _>(&same, sink)).expect("thawed: it is the only one");
    assert!(!out.is_frozen());
}

/// A prepared call keeps its borrows: outputs and inputs can't be taken from under it, and it sees what was written
/// into inputs between its runs.
#[test]
fn a_prepared_call_holds_its_operands() {
    let ask = Ask::calls(&[Call::raw(&[2, 3], f32s())]);
    let (mut out, input) = (ones(), ones());
    let (out_clone, mut input_clone) = (out.clone(), input.clone());
    {
        let ask = ask.clone().of(&[Operand::from(&input)]);
        let mut prepared = prepare::<Probe<1>, Host, 1>(&ask, [&mut out]).expect("a call");
        assert!(
            matches!(out_clone.data::<f32>().map(|_| ()), Err(e) if matches!(e.kind(), ErrorKind::Borrowed { .. }))
        );
        assert!(matches!(
            input_clone.data_mut::<f32>().map(|_| ()),
            Err(e) if matches!(e.kind(), ErrorKind::Borrowed { .. })
        ));
        prepared.run().expect("a run");
        // Forgotten, but where a leak checker still sees it.
        static FORGOTTEN: AtomicUsize = AtomicUsize::new(0);
        FORGOTTEN.store(Box::into_raw(Box::new(prepared)).expose_provenance(), Ordering::Relaxed);
    }
    // The borrows stay as long as the storage is shared, and heal when it is not.
    assert!(out_clone.data::<f32>().is_err());
    drop(out_clone);
    out.data_mut::<f32>().expect("the only tensor");
    assert_eq!(logical(&out), [1, 2, 3, 4, 5, 6]);
}

/// A kernel that fails when a prepared call runs is named like one that fails at once.
#[test]
fn a_prepared_run_that_fails_names_the_operator() {
    let ask = Ask::calls(&[Call::raw(&[2, 3], f32s())]).failing(Fail::Run);
    let mut out = ones();
    let mut prepared = prepare::<Probe<1>, Host, 1>(&ask, [&mut out]).expect("a call");
    let error = prepared.run().expect_err("the kernel fails");
    assert_eq!((error.op(), error.kind()), ("probe", &ErrorKind::DivisionByZero));
}

/// An in-place call has one tensor of the caller's, an out= call as many as it has outputs.
#[test]
fn sinks_lend_the_tensors_that_they_have() {
    let (mut this, mut other) = (ones(), ones());
    in_place(&mut this, |input, sink, _| {
        assert!(sink.existing(0).is_some_and(|t| t.geometry().same_elements(input.geometry())));
        assert!(sink.existing(1).is_none());
        Ok(())
    })
    .expect("nothing is called");
    let out = Out([&mut this, &mut other]);
    assert!(out.existing(0).is_some() && out.existing(1).is_some() && out.existing(2).is_none());
    let sink = Functional::<Host, 1>::default();
    assert!(OutputSink::<Host>::existing(&sink, 0).is_none());
}

/// On the meta device operands may be anywhere, also in a call that is kept.
#[test]
fn a_prepared_meta_call_takes_operands_of_any_device() {
    let input = ones();
    let meta = Options { device: DeviceId::META, ..f32s() };
    let ask = Ask::calls(&[Call::raw(&[2, 3], meta)]).of(&[Operand::from(&input)]);
    let mut out = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2, 3]).expect("a tensor");
    prepare::<Probe<1>, Meta, 1>(&ask, [&mut out]).expect("a call").run().expect("a run");
}

/// An in-place call lends its tensor as an input, and that reference may go to another thread: the write then conflicts
/// with the reader, it does not race with it.
#[test]
fn a_lent_reference_in_another_call_conflicts_with_the_write() {
    let mut this = ones();
    let read = Ask::calls(&[Call::raw(&[2, 3], f32s())]);
    in_place(&mut this, |input, sink, _| {
        let mut elsewhere = ones();
        let ask = read.clone().of(&[Operand::Tensor(input)]);
        let mut reader = prepare::<Probe<1>, Host, 1>(&ask, [&mut elsewhere])?;
        let error = kind(call::<Probe<1>, Host, _>(&ask, sink));
        assert!(matches!(error, ErrorKind::Borrowed { state: "read", .. }), "{error:?}");
        reader.run()
    })
    .expect("the reader's own call");
    assert_eq!(this.version(), 0);
}

/// Proxies honour the conj and neg bits of the output: what the kernel wrote is what the output then holds.
#[test]
fn proxies_honour_the_bits_of_the_output() {
    let whole = Tensor::<Host>::zeros_contiguous(DType::C64, &[2, 3]).expect("a tensor");
    let geometry = whole.geometry().clone().with_conj(true).with_neg(true);
    let mut out = whole.with_geometry(geometry).expect("a view");
    let c64 = Options::new(DType::C64, DeviceId::CPU);
    let ask = Ask::calls(&[Call::raw(&[2, 3], c64).strided(&[1, 2])]);
    call::<Probe<1>, Host, _>(&ask, Out([&mut out])).expect("a result");
    assert!(out.is_conj() && out.is_neg());
    assert_eq!(logical(&out), [1, 2, 3, 4, 5, 6]);
    assert_eq!(logical(&whole), [-1, -2, -3, -4, -5, -6]);
}

#[test]
fn the_written_geometry_of_a_format_follows_it() {
    let format = Options { memory_format: Some(MemoryFormat::ChannelsLast), ..f32s() };
    let wrong = Ask::calls(&[Call::raw(&[2, 3], format)]);
    assert!(matches!(
        kind(call::<Probe<1>, Host, _>(&wrong, Functional::<Host, 1>::default())),
        ErrorKind::DimCount { got: 2, .. }
    ));
    let ask = Ask::calls(&[Call::raw(&[2, 3, 4, 5], format)]);
    let [new] = call::<Probe<1>, Host, _>(&ask, Functional::<Host, 1>::default()).expect("a result");
    assert!(strides::is_channels_last(new.sizes(), new.strides(), MemoryFormat::ChannelsLast));
    let any: AnyTensor = new.into_any();
    assert!(any.downcast_ref::<Meta>().is_none());
}

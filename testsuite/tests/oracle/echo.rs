//! A replayer that answers exactly as recorded, and small cases to replay. Other tests spoil its answers.

use std::collections::HashMap;

use monomorph_testsuite::conformance::{
    After, ArgState, Call, Case, CaseFile, Expected, GotStorage, GotTensor, GotValue, Identity, Outcome, StorageId,
    Storages, TensorSpec, Value,
};
use safetensors::{Dtype, tensor::TensorView};

/// The outcome that a case records.
pub(crate) fn recorded(case: &Case, storages: &Storages) -> Outcome {
    let call = Call::new(case, storages);
    let mut after = After { buffers: (0..call.buffers.len() as u64).map(StorageId).collect(), ..After::default() };
    for (buffer, id) in call.buffers.iter().zip(&after.buffers) {
        after.storages.push(GotStorage { id: *id, bytes: buffer.bytes.to_vec() });
    }
    for (path, spec) in call.tensors() {
        let id = after.buffers[call.buffer_of(spec).expect("arguments have storages")];
        after.arguments.push(ArgState { path, tensor: got(spec, id) });
    }
    let mut next = 1000;
    let mut fresh = |spec: &TensorSpec, after: &mut After| {
        next += 1;
        if let Some(bytes) = spec.storage.as_deref().and_then(|name| storages.get(name)) {
            after.storages.push(GotStorage { id: StorageId(next), bytes: bytes.to_vec() });
        }
        StorageId(next)
    };
    let (outputs, mutated) = match &case.expected {
        Expected::Error(error) => return Outcome::Error { message: error.message.clone(), after },
        Expected::Results { outputs, mutated } => (outputs, mutated),
    };
    for m in mutated {
        let place = after.arguments.iter().position(|state| state.path == m.arg).expect("mutated arguments exist");
        let mut id = after.arguments[place].tensor.storage;
        if case.op.starts_with("set_") {
            id = fresh(&m.tensor, &mut after);
        } else if let Some(bytes) = m.tensor.storage.as_deref().and_then(|name| storages.get(name)) {
            after.storages.iter_mut().find(|storage| storage.id == id).expect("buffers are there").bytes =
                bytes.to_vec();
        }
        after.arguments[place].tensor = got(&m.tensor, id);
    }
    let outputs = outputs.iter().map(|output| value(output, &mut after, &mut fresh)).collect();
    Outcome::Returned { outputs, after }
}

fn value(want: &Value, after: &mut After, fresh: &mut dyn FnMut(&TensorSpec, &mut After) -> StorageId) -> GotValue {
    let mut tensor = |spec: &TensorSpec| match &spec.alias {
        Some(alias) => {
            let state = after.arguments.iter().find(|state| state.path == alias.arg).expect("aliased arguments exist");
            got(spec, state.tensor.storage)
        }
        None => {
            let id = fresh(spec, after);
            got(spec, id)
        }
    };
    match want {
        Value::Tensor(spec) => GotValue::Tensor(tensor(spec)),
        Value::Tensors(specs) => GotValue::Tensors(specs.iter().map(tensor).collect()),
        Value::List(values) => GotValue::List(values.iter().map(|item| value(item, after, fresh)).collect()),
        plain => GotValue::Plain(plain.clone()),
    }
}

fn got(spec: &TensorSpec, storage: StorageId) -> GotTensor {
    GotTensor {
        storage,
        dtype: spec.dtype,
        sizes: spec.sizes.clone(),
        strides: spec.strides.clone(),
        offset: spec.offset,
        conj: spec.conj,
        neg: spec.neg,
        identity: Identity::ByGeometry,
    }
}

/// The contents of a `.safetensors` file with these float32 storages.
pub(crate) fn storage_file(entries: &[(&str, &[f32])]) -> Vec<u8> {
    let bytes: HashMap<&str, Vec<u8>> =
        entries.iter().map(|(name, values)| (*name, values.iter().flat_map(|x| x.to_le_bytes()).collect())).collect();
    let views = entries.iter().map(|(name, values)| {
        (*name, TensorView::new(Dtype::F32, vec![values.len()], &bytes[name]).expect("whole floats"))
    });
    safetensors::serialize(views, None).expect("a small file")
}

/// A float32 tensor in JSON.
pub(crate) fn f32_tensor(storage: &str, sizes: &[usize], strides: &[isize], offset: usize, more: &str) -> String {
    format!(
        r#"{{"tensor":{{"storage":"{storage}","dtype":"float32",
            "sizes":{sizes:?},"strides":{strides:?},"offset":{offset}{more}}}}}"#
    )
}

/// The JSON of a file with one case of `neg`-like operators over float32 and the given rest.
pub(crate) fn case_file(schema: &str, args: &str, kwargs: &str, rest: &str) -> String {
    let op = schema.split('(').next().unwrap_or_default();
    format!(
        r#"{{"format":1,"base":"t","schemas":{{"{op}":"{schema}"}},"cases":[
{{"id":"{op}#0","op":"aten::{op}","args":[{args}],"kwargs":{{{kwargs}}},{rest},
            "rtol":0.001,"atol":0.0,"tags":["core"],"origin":"manual"}}
]}}
"#
    )
}

/// Parses such a file.
pub(crate) fn parse(json: &str, storages: &[u8]) -> CaseFile {
    let storages = Storages::parse("t.safetensors", storages.to_vec()).expect("valid storages");
    CaseFile::parse("t.json", json.as_bytes(), storages).expect("a valid case file")
}

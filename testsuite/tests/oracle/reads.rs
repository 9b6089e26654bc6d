//! Malformed and truncated case files are errors that say where and what, never panics.

use monomorph_testsuite::conformance::{CaseError, CaseFile, MemoryFormat, Number, Selection, Storages, Value, bases};

use crate::echo::{case_file, f32_tensor, parse, storage_file};

const SCHEMA: &str = "f.x(Tensor self, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)";

fn good() -> (String, Vec<u8>) {
    let args = format!(r#"{},{{"scalar":{{"float":"-0.0"}}}}"#, f32_tensor("s0", &[2], &[1], 1, ""));
    let kwargs = format!(r#""out":{}"#, f32_tensor("s1", &[0], &[1], 9, ""));
    let outputs =
        format!(r#""outputs":[{}]"#, f32_tensor("s1", &[1], &[1], 0, r#","alias":{"arg":"out","kind":"same"}"#));
    (case_file(SCHEMA, &args, &kwargs, &outputs), storage_file(&[("s0", &[1.0, 2.0, 3.0]), ("s1", &[4.0])]))
}

fn error(json: &str) -> CaseError {
    let storages = Storages::parse("t.safetensors", good().1).expect("valid storages");
    match CaseFile::parse("t.json", json.as_bytes(), storages) {
        Ok(_) => panic!("accepted: {json}"),
        Err(error) => error,
    }
}

#[test]
fn a_good_pair_is_read() {
    let (json, storages) = good();
    let file = parse(&json, &storages);
    assert_eq!((file.base.as_str(), file.cases.len(), file.storages.len()), ("t", 1, 2));
    let case = &file.cases[0];
    assert_eq!((case.id.as_str(), case.op.as_str()), ("f.x#0", "f.x"));
    let names: Vec<_> = case.args.iter().map(|arg| (arg.name.as_str(), arg.keyword_only)).collect();
    assert_eq!(names, [("self", false), ("alpha", false), ("out", true)]);
    assert!(matches!(case.args[1].value, Value::Scalar(Number::Float(zero)) if zero.is_sign_negative()));
}

#[test]
fn every_kind_of_value_is_read() {
    let args = r#"{"ints":[-9223372036854775808,9223372036854775807]},{"floats":["nan","-inf","0.1"]},
        {"complex":["1.0","-0.0"]},{"memory_format":"channels_last"},{"none":true},{"strs":["a"]},{"bools":[true]},
        {"wrapped_number":{"bool":true}},{"scalars":[{"int":1},{"complex":["1.0","2.0"]}]},{"dtype":"bfloat16"},
        {"layout":"strided"},{"device":"cpu"},{"str":"mean"},{"optional_tensors":[null]},{"tensors":[]},{"int":-1},
        {"bool":false},{"float":"inf"}"#;
    let schema = "f(int[] a, float[] b, Scalar c, MemoryFormat d, Tensor? e, str[] f, bool[] g, Tensor h, Scalar[] i, \
        ScalarType j, Layout k, Device l, str m, Tensor?[] n, Tensor[] o, int p, bool q, float r) -> ()";
    let file = parse(&case_file(schema, args, "", r#""outputs":[]"#), &storage_file(&[]));
    let values: Vec<_> = file.cases[0].args.iter().map(|arg| &arg.value).collect();
    assert_eq!(values[0], &Value::Ints(vec![i64::MIN, i64::MAX]));
    assert!(matches!(values[1], Value::Floats(x) if x[0].is_nan() && x[1] == f64::NEG_INFINITY && x[2] == 0.1));
    assert_eq!(values[3], &Value::MemoryFormat(MemoryFormat::ChannelsLast));
    assert_eq!(
        values.iter().map(|v| v.kind()).collect::<Vec<_>>()[4..9],
        ["none", "strs", "bools", "wrapped_number", "scalars"]
    );
}

#[test]
fn every_prefix_of_either_file_is_an_error() {
    let (json, bytes) = good();
    let storages = Storages::parse("t.safetensors", bytes.clone()).expect("valid storages");
    let whole = json.trim_end().len();
    for end in 0..whole {
        let cut = CaseFile::parse("t.json", &json.as_bytes()[..end], storages.clone());
        assert!(matches!(cut, Err(CaseError::Json { .. })), "json cut at {end}");
    }
    for end in 0..bytes.len() {
        let cut = Storages::parse("t.safetensors", bytes[..end].to_vec());
        assert!(matches!(cut, Err(CaseError::Storages { .. })), "storages cut at {end}");
    }
}

#[test]
fn no_changed_byte_makes_a_panic() {
    let (json, bytes) = good();
    let storages = Storages::parse("t.safetensors", bytes.clone()).expect("valid storages");
    for at in 0..json.len() {
        for byte in [b'0', b'9', b'-', b'"', b'}', b'[', b' ', 0xff] {
            let mut changed = json.clone().into_bytes();
            changed[at] = byte;
            let _ = CaseFile::parse("t.json", &changed, storages.clone());
        }
    }
    for at in 0..bytes.len() {
        for byte in [0, 1, 0x7f, 0xff, b'9', b'"', b'}'] {
            let mut changed = bytes.clone();
            changed[at] = byte;
            if let Ok(storages) = Storages::parse("t.safetensors", changed) {
                let _ = CaseFile::parse("t.json", json.as_bytes(), storages);
            }
        }
    }
}

#[test]
fn errors_say_where_what_and_what_else() {
    let (json, _) = good();
    let found = |from: &str, to: &str| {
        assert!(json.contains(from), "{from} is not in the file");
        error(&json.replacen(from, to, 1)).to_string()
    };
    assert_eq!(
        found(r#""dtype":"float32""#, r#""dtype":"float31""#),
        "t.json: f.x#0: args[0].tensor.dtype: found \"float31\"; accepted: bool, uint8, int8, int16, int32, int64, \
         float16, bfloat16, float32, float64, complex64, complex128"
    );
    assert_eq!(
        found(r#"{"float":"-0.0"}"#, r#"{"float":-0.0}"#),
        "t.json: f.x#0: args[1].scalar.float: found -0.0; \
         accepted: a string with a float, nan, inf or -inf"
    );
    assert_eq!(
        found(r#""sizes":[2]"#, r#""sizes":[-2]"#),
        "t.json: f.x#0: args[0].tensor.sizes[0]: found -2; \
         accepted: an integer of at least 0"
    );
    assert_eq!(found(r#""format":1"#, r#""format":2"#), "t.json: header: format: found 2; accepted: 1");
    assert_eq!(
        found(r#""out":{"#, r#""uot":{"#),
        "t.json: f.x#0: kwargs.out: found nothing; \
         accepted: every keyword-only argument of the schema"
    );
    assert!(found(r#""id":"f.x#0","#, "").starts_with("t.json: case 0: id: found nothing"));
    assert!(found(r#""rtol":0.001"#, r#""rtol":-1"#).contains("rtol: found -1"));
    assert!(found(r#""outputs":"#, r#""error":{"type":"a","message":"b"},"outputs":"#).contains("error alone"));
    assert!(found(r#""tags""#, r#""tag":1,"tags""#).contains("tag: found an unknown key"));
    assert!(found(r#""aten::f.x""#, r#""aten::g""#).contains("schemas.g: found nothing"));
    assert!(found(r#""aten::f.x""#, r#""f.x""#).contains("aten::<overload>"));
    assert!(found(r#""args":["#, r#""args":[{"int":1},"#).contains("more values"));
    assert!(found(r#""kwargs":{"#, r#""kwargs":{"x":1,"#).contains("more keys"));
    assert!(found(r#""strides":[1]"#, r#""strides":[1,1]"#).contains("as many strides as sizes"));
    assert!(found(r#"{"arg":"out""#, r#"{"arg":"in""#).contains("the path of a tensor argument"));
    assert!(found(r#""kind":"same""#, r#""kind":"some""#).contains("same, view"));
    assert!(found(r#""storage":"s0""#, r#""storage":null"#).contains("arguments have a storage"));
    assert!(found(r#""offset":1}"#, r#""offset":1,"conj":true}"#).contains("conj on complex"));
}

#[test]
fn tensors_stay_inside_their_storages() {
    let (json, _) = good();
    let missing = error(&json.replacen("s0", "s7", 1));
    assert!(matches!(missing, CaseError::MissingStorage { ref storage, .. } if storage == "s7"), "{missing}");
    let beyond = error(&json.replacen(r#""offset":1"#, r#""offset":2"#, 1));
    assert_eq!(beyond.to_string(), "t.json: f.x#0: self: needs 16 bytes of storage s0, which has 12");
    for (sizes, strides) in [("[2]", "[-2]"), ("[2]", "[9223372036854775807]"), ("[9,9]", "[-9223372036854775808,1]")] {
        let changed =
            json.replacen(r#""sizes":[2],"strides":[1]"#, &format!(r#""sizes":{sizes},"strides":{strides}"#), 1);
        assert!(matches!(error(&changed), CaseError::OutOfBounds { needs: None, .. }), "{sizes} {strides}");
    }
    let endless =
        json.replacen(r#""sizes":[2],"strides":[1]"#, r#""sizes":[9223372036854775807,3],"strides":[0,0]"#, 1);
    assert!(error(&endless).to_string().contains("at most 2^28 elements"));
}

#[test]
fn missing_files_and_directories() {
    let nowhere = std::path::Path::new("/nowhere at all");
    assert!(matches!(CaseFile::load(nowhere, "add"), Err(CaseError::Read { kind: std::io::ErrorKind::NotFound, .. })));
    assert!(matches!(bases(nowhere, &Selection::default()), Err(CaseError::Read { .. })));
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(matches!(bases(&source, &Selection::default()), Err(CaseError::NoCases { .. })));
}

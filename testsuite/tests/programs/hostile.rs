//! Archives that are wrong in one place: each is refused, by an error that names the place.

use super::archive::{Entries, bytes};
use monomorph::program::{Program, ProgramError};
use serde_json::{Value as Json, json};

/// The first node that calls this.
fn node<'j>(model: &'j mut Json, target: &str) -> &'j mut Json {
    let nodes = model["graph_module"]["graph"]["nodes"].as_array_mut().expect("nodes");
    nodes.iter_mut().find(|node| node["target"] == target).unwrap_or_else(|| panic!("{target}"))
}

#[track_caller]
fn refused(entries: &Entries, part: &str) {
    let text = entries.refusal();
    assert!(text.contains(part), "{part} is not in: {text}");
}

#[test]
fn versions_and_kinds_of_archives() {
    let tied = Entries::of("tied.pt2");
    refused(&tied.clone().with_model(|model| model["schema_version"]["major"] = json!(9)), "9.20");
    refused(&tied.clone().with_model(|model| model["schema_version"] = json!("8")), "expected struct Version");
    tied.clone().with_model(|model| model["schema_version"]["minor"] = json!(999)).load().expect("any minor version");
    let mut big = tied.clone();
    *big.entry("byteorder") = b"big".to_vec();
    refused(&big, "byte order");
    let rest = |keep: &dyn Fn(&str) -> bool| Entries(tied.0.iter().filter(|(name, _)| keep(name)).cloned().collect());
    let mut compiled = rest(&|name| !name.contains("models/"));
    compiled.0.push(("tied/data/aotinductor/model/x.so".to_owned(), Vec::new()));
    refused(&compiled, "AOTInductor");
    refused(&rest(&|name| !name.contains("models/")), "no model");
    let script = Entries(vec![("a/data.pkl".to_owned(), vec![1])]);
    refused(&script, "TorchScript");
    refused(&rest(&|name| !name.ends_with("weight_0")), "weight_0");
    let error = Program::from_bytes(b"PK".to_vec()).expect_err("no archive");
    assert!(matches!(error, ProgramError::Archive { .. }), "{error}");
    assert!(Program::from_bytes(Vec::new()).is_err());
    assert!(matches!(Program::load("/nowhere/x.pt2"), Err(ProgramError::File { .. })));
}

#[test]
fn weights() {
    let with = |change: &dyn Fn(&mut Json)| {
        let mut entries = Entries::of("tied.pt2");
        let mut config = entries.json("model_weights_config.json");
        change(&mut config["config"]["embed.weight"]);
        entries.set_json("model_weights_config.json", &config);
        entries
    };
    refused(&with(&|weight| weight["use_pickle"] = json!(true)), "pickle");
    refused(&with(&|weight| weight["tensor_meta"] = json!(null)), "custom class");
    refused(&with(&|weight| weight["path_name"] = json!("../../x")), "no such entry");
    for (key, value) in [
        ("sizes", json!([{"as_int": 8}, {"as_int": 6}])),
        ("sizes", json!([{"as_int": -7}, {"as_int": 6}])),
        ("sizes", json!([{"as_int": i64::MAX}, {"as_int": i64::MAX}])),
        ("sizes", json!([{"as_int": 7}])),
        ("strides", json!([{"as_int": 1_i64 << 62}, {"as_int": 1}])),
        ("strides", json!([{"as_int": -6}, {"as_int": 1}])),
        ("storage_offset", json!({"as_int": -1})),
        ("storage_offset", json!({"as_int": i64::MAX})),
        ("storage_offset", json!({"as_int": 1})),
        ("dtype", json!(5)),
        ("dtype", json!(-1)),
        ("dtype", json!(29)),
        ("layout", json!(1)),
        ("sizes", json!([{"as_expr": {"expr_str": "s0", "hint": null}}, {"as_int": 6}])),
    ] {
        let entries = with(&|weight| weight["tensor_meta"][key] = value.clone());
        assert!(entries.refusal().contains("embed.weight"), "{key} {value}");
    }
}

#[test]
fn nodes() {
    let with = |change: &dyn Fn(&mut Json)| Entries::of("tied.pt2").with_model(|model| change(model));
    let missing =
        |target: &str| with(&|model| node(model, "torch.ops.aten.embedding.default")["target"] = json!(target));
    match missing("torch.ops.mine.embed.default").load() {
        Err(ProgramError::MissingOperators(list)) => {
            let [one] = &list[..] else { panic!("{list:?}") };
            assert_eq!(
                (&*one.target, one.nodes, &one.modules[..]),
                ("mine.embed.default", 1, &["embed".to_owned()][..])
            );
        }
        other => panic!("{other:?}"),
    }
    refused(&missing("torch.ops.higher_order.new"), "higher-order");
    refused(&missing("os.system"), "no such function");
    refused(&missing(""), "no such function");
    let argument = |value: Json| {
        with(&|model| node(model, "torch.ops.aten.embedding.default")["inputs"][0]["arg"] = value.clone())
    };
    refused(&argument(json!({"as_tensor": {"name": "later"}})), "later is not defined");
    refused(&argument(json!({"as_new": 1})), "as_new");
    refused(&argument(json!({"as_custom_obj": {"name": "x", "class_fqn": "y"}})), "custom class");
    refused(&argument(json!({"as_scalar_type": 999})), "999");
    refused(
        &with(&|model| node(model, "torch.ops.aten.embedding.default")["inputs"][0]["name"] = json!("other")),
        "argument other is none of",
    );
    refused(
        &with(&|model| {
            node(model, "torch.ops.aten.embedding.default")["outputs"][0]["as_tensor"]["name"] = json!("ids")
        }),
        "ids is defined twice",
    );
    refused(
        &with(&|model| {
            node(model, "torch.ops.aten.embedding.default")["inputs"].as_array_mut().expect("inputs").remove(0);
        }),
        "argument weight is missing",
    );
}

#[test]
fn signatures() {
    let with = |change: &dyn Fn(&mut Json)| {
        Entries::of("counter.core.pt2").with_model(|model| change(&mut model["graph_module"]["signature"]))
    };
    refused(&with(&|signature| signature["input_specs"] = json!([])), "inputs in the signature");
    refused(&with(&|signature| signature["output_specs"] = json!([])), "outputs in the signature");
    refused(
        &with(&|signature| signature["output_specs"][0] = json!({"buffer_mutation": {"buffer_name": "x"}})),
        "x is changed and is no input",
    );
    refused(&with(&|signature| signature["output_specs"][0] = json!({"gradient_to_parameter": {}})), "gradients");
}

#[test]
fn an_archive_that_inflates_without_end() {
    let mut entries = Entries::of("tied.pt2");
    *entries.entry("weight_0") = vec![0; 20 << 20];
    let error = Program::from_bytes(entries.zip(zip::CompressionMethod::Deflated)).expect_err("a bomb").to_string();
    assert!(error.contains("inflates to 20971520 bytes"), "{error}");
}

#[test]
fn deep_nesting() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut entries = Entries::of("tied.pt2");
    *entries.entry("models/model.json") = deep.into_bytes();
    assert!(entries.load().is_err());
}

#[test]
fn records_that_overlap_are_read() {
    // Two weights in one record are tied; an archive cut anywhere is refused.
    let whole = bytes("loop.pt2");
    for length in (0..whole.len()).step_by(7) {
        assert!(Program::from_bytes(whole[..length].to_vec()).is_err(), "{length} bytes");
    }
}

//! A recorded call and the file it stands in. Owns the reading of `<base>.json`, the check that every tensor lies
//! inside its storage, and the errors of both; nothing a file holds makes it panic.

use std::path::Path;

use monomorph_core::DType;
use monomorph_core::overlap::{self, Internal};
use serde_json::{Map, Value as Json};

use super::json::{self, At, Fit, Unfit, get, get_if, list};
use super::schema::{ArgName, argument_names};
use super::storages::Storages;
use super::value::{TensorSpec, Value};

/// Elements that one tensor of a case may have. Far above every recorded case; keeps a broken file from starting a
/// comparison that never ends, since an expanded tensor needs no large storage.
const MAX_ELEMENTS: usize = 1 << 28;

/// Why case files could not be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The file or directory could not be read.
    #[error("{file}: {problem}")]
    Read {
        /// The path.
        file: String,
        /// The kind of failure.
        kind: std::io::ErrorKind,
        /// The system's words.
        problem: String,
    },
    /// A directory holds no case files, or none of the name that was asked for.
    #[error("{dir}: holds no case files{}; expected pairs <base>.json, <base>.safetensors", wanted(.asked))]
    NoCases {
        /// The directory.
        dir: String,
        /// The operators that were asked for.
        asked: Vec<String>,
    },
    /// The file is not JSON, for example because it is cut short.
    #[error("{file}:{line}:{column}: not JSON: {problem}")]
    Json {
        /// The path.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The parser's words.
        problem: String,
    },
    /// A key holds something that the format does not have there.
    #[error("{file}: {case}: {key}: found {found}; accepted: {accepted}")]
    Malformed {
        /// The path.
        file: String,
        /// The case's id, or its number if it has none, or `header`.
        case: String,
        /// The path of keys inside the case.
        key: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        accepted: String,
    },
    /// The `.safetensors` file is malformed or cut short.
    #[error("{file}: not a safetensors file: {problem}")]
    Storages {
        /// The path.
        file: String,
        /// The reader's words.
        problem: String,
    },
    /// A tensor names a storage that the `.safetensors` file does not have.
    #[error(
        "{file}: {case}: {place}: found storage {storage}; accepted: the entries of the .safetensors file beside it"
    )]
    MissingStorage {
        /// The path of the JSON file.
        file: String,
        /// The case's id.
        case: String,
        /// Which tensor.
        place: String,
        /// The missing name.
        storage: String,
    },
    /// A tensor reaches outside its storage.
    #[error("{file}: {case}: {place}: needs {} bytes of storage {storage}, which has {has}", needed(.needs))]
    OutOfBounds {
        /// The path of the JSON file.
        file: String,
        /// The case's id.
        case: String,
        /// Which tensor.
        place: String,
        /// The storage's name.
        storage: Box<str>,
        /// Bytes that the tensor spans, `None` if that overflows or starts before the storage.
        needs: Option<usize>,
        /// Bytes that the storage has.
        has: usize,
    },
}

fn wanted(asked: &[String]) -> String {
    if asked.is_empty() { String::new() } else { format!(" of {}", asked.join(", ")) }
}

fn needed(needs: &Option<usize>) -> String {
    needs.map_or_else(|| "more than all".to_owned(), |bytes| bytes.to_string())
}

impl CaseError {
    pub(super) fn read(path: &Path, error: &std::io::Error) -> CaseError {
        CaseError::Read { file: path.display().to_string(), kind: error.kind(), problem: error.to_string() }
    }
}

/// An argument with its name from the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedValue {
    /// The schema's name for it.
    pub name: String,
    /// True behind the schema's `*`.
    pub keyword_only: bool,
    /// What was passed; defaults are filled in.
    pub value: Value,
}

/// An argument as the call left it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutated {
    /// The argument, `out` or, in a list, `self[1]`.
    pub arg: String,
    /// Its metadata and storage after the call.
    pub tensor: TensorSpec,
}

/// The exception that the call raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorSpec {
    /// The Python class.
    pub kind: String,
    /// What it said, cut at 600 characters.
    pub message: String,
}

/// What PyTorch did.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// It returned.
    Results {
        /// One value per schema return.
        outputs: Vec<Value>,
        /// The arguments that were written.
        mutated: Vec<Mutated>,
    },
    /// It raised.
    Error(ErrorSpec),
}

/// One call of one overload.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// `<overload>#<hash>`.
    pub id: String,
    /// The overload without namespace: `add.Tensor`, `relu`.
    pub op: String,
    /// Every argument in schema order, positional ones first.
    pub args: Vec<NamedValue>,
    /// What PyTorch did.
    pub expected: Expected,
    /// Relative tolerance of floating and complex values.
    pub rtol: f64,
    /// Absolute tolerance of floating and complex values.
    pub atol: f64,
    /// By how many tolerances PyTorch itself differs from the float64 answer; 0 where not recorded.
    pub f64_excess: f64,
    /// What is special about the case.
    pub tags: Vec<String>,
    /// Where the call comes from.
    pub origin: String,
}

impl Case {
    /// Every tensor argument with its path, in schema order.
    pub fn tensor_arguments(&self) -> Vec<(String, &TensorSpec)> {
        self.args.iter().flat_map(|arg| arg.value.tensors(&arg.name)).collect()
    }

    /// True if the results depend on the order in which elements are computed: what is written shares elements with
    /// itself, or with another argument at other places.
    pub fn depends_on_order(&self) -> bool {
        let Expected::Results { mutated, .. } = &self.expected else { return false };
        let arguments = self.tensor_arguments();
        arguments.iter().filter(|(name, _)| mutated.iter().any(|m| m.arg == *name)).any(|(_, written)| {
            let numbers = |list: &[isize]| list.iter().map(|&n| n as i64).collect::<Vec<_>>();
            let sizes: Vec<i64> = written.sizes.iter().map(|&n| n as i64).collect();
            let place = |t: &TensorSpec| (t.sizes.clone(), t.strides.clone(), t.offset);
            let is_elsewhere = |other: &TensorSpec| other.storage == written.storage && place(other) != place(written);
            overlap::internal(&sizes, &numbers(&written.strides)) != Internal::No
                || arguments.iter().any(|(_, other)| is_elsewhere(other))
        })
    }

    /// Every tensor of the case with a name for messages.
    fn tensors(&self) -> Vec<(String, &TensorSpec)> {
        let mut all = self.tensor_arguments();
        if let Expected::Results { outputs, mutated } = &self.expected {
            all.extend(outputs.iter().enumerate().flat_map(|(i, output)| output.tensors(&format!("outputs[{i}]"))));
            all.extend(mutated.iter().map(|m| (format!("mutated {}", m.arg), &m.tensor)));
        }
        all
    }
}

/// A pair of files: the cases of one base name and their storages.
#[derive(Debug, Clone)]
pub struct CaseFile {
    /// The base name.
    pub base: String,
    /// The cases in file order.
    pub cases: Vec<Case>,
    /// The bytes they refer to.
    pub storages: Storages,
}

impl CaseFile {
    /// Reads `<dir>/<base>.json` and `<dir>/<base>.safetensors`.
    pub fn load(dir: &Path, base: &str) -> Result<CaseFile, CaseError> {
        let path = dir.join(format!("{base}.json"));
        let text = std::fs::read(&path).map_err(|error| CaseError::read(&path, &error))?;
        let storages = Storages::load(&dir.join(format!("{base}.safetensors")))?;
        CaseFile::parse(&path.display().to_string(), &text, storages)
    }

    /// Takes the contents of a JSON file and the storages beside it; `file` names the former in errors.
    pub fn parse(file: &str, text: &[u8], storages: Storages) -> Result<CaseFile, CaseError> {
        let json: Json = serde_json::from_slice(text).map_err(|error| CaseError::Json {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            problem: error.to_string(),
        })?;
        let header = Header::read(&json).map_err(|unfit| malformed(file, "header", unfit))?;
        let mut cases = Vec::with_capacity(header.cases.len());
        for (number, json) in header.cases.iter().enumerate() {
            let id = json.get("id").and_then(Json::as_str);
            let label = id.map_or_else(|| format!("case {number}"), str::to_owned);
            let case = read_case(json, header.schemas).map_err(|unfit| malformed(file, &label, unfit))?;
            check_storages(file, &case, &storages)?;
            cases.push(case);
        }
        Ok(CaseFile { base: header.base.to_owned(), cases, storages })
    }
}

fn malformed(file: &str, case: &str, unfit: Unfit) -> CaseError {
    CaseError::Malformed {
        file: file.to_owned(),
        case: case.to_owned(),
        key: unfit.key,
        found: unfit.found,
        accepted: unfit.accepted.to_owned(),
    }
}

struct Header<'a> {
    base: &'a str,
    schemas: &'a Map<String, Json>,
    cases: &'a [Json],
}

impl<'a> Header<'a> {
    fn read(json: &'a Json) -> Fit<Header<'a>> {
        let object = json::object(json)?;
        json::only(object, &["format", "base", "schemas", "cases"], "format, base, schemas, cases")?;
        let version = |json| match json::int(json) {
            Ok(1) => Ok(()),
            _ => Err(Unfit::new(json, "1")),
        };
        get(object, "format", "1", version)?;
        let array = |json: &'a Json| json.as_array().ok_or_else(|| Unfit::new(json, "an array"));
        Ok(Header {
            base: get(object, "base", "the base name", json::string)?,
            schemas: get(object, "schemas", "an object from overloads to schemas", json::object)?,
            cases: get(object, "cases", "an array", array)?,
        })
    }
}

fn read_case(json: &Json, schemas: &Map<String, Json>) -> Fit<Case> {
    const KEYS: [&str; 12] =
        ["id", "op", "args", "kwargs", "outputs", "mutated", "error", "rtol", "atol", "f64_excess", "tags", "origin"];
    const ACCEPTED: &str = "id, op, args, kwargs, outputs, mutated, error, rtol, atol, f64_excess, tags, origin";
    let object = json::object(json)?;
    json::only(object, &KEYS, ACCEPTED)?;
    let text = |json: &Json| json::string(json).map(str::to_owned);
    let overload = |json| {
        let op = json::string(json)?.strip_prefix("aten::").filter(|op| !op.is_empty());
        op.map(str::to_owned).ok_or_else(|| Unfit::new(json, "aten::<overload>"))
    };
    let op: String = get(object, "op", "aten::<overload>", overload)?;
    let names = schemas
        .get(&op)
        .ok_or_else(|| Unfit::missing("a schema for the overload of every case"))
        .and_then(|schema| {
            argument_names(json::string(schema)?).ok_or_else(|| Unfit::new(schema, "name(arguments) -> returns"))
        })
        .at(&op)
        .at("schemas")?;
    Ok(Case {
        id: get(object, "id", "<overload>#<hash>", text)?,
        args: read_arguments(object, names)?,
        expected: read_expected(object)?,
        rtol: get(object, "rtol", "a number of at least 0", json::tolerance)?,
        atol: get(object, "atol", "a number of at least 0", json::tolerance)?,
        f64_excess: get_if(object, "f64_excess", json::tolerance)?.unwrap_or(0.0),
        tags: get(object, "tags", "an array of strings", |json| list(json, text))?,
        origin: get(object, "origin", "a string", text)?,
        op,
    })
}

fn read_arguments(object: &Map<String, Json>, names: Vec<ArgName>) -> Fit<Vec<NamedValue>> {
    let positional = get(object, "args", "an array", |json| list(json, Value::read))?;
    let keywords = get(object, "kwargs", "an object", json::object)?;
    let mut positional = positional.into_iter();
    let mut used = 0;
    let mut args = Vec::with_capacity(names.len());
    for ArgName { name, keyword_only } in names {
        let value = if keyword_only {
            let json = keywords.get(&name).ok_or_else(|| Unfit::missing("every keyword-only argument of the schema"));
            used += 1;
            json.and_then(Value::read).at(&name).at("kwargs")?
        } else {
            let value = positional.next();
            value.ok_or_else(|| Unfit::missing("every positional argument of the schema")).at(&name).at("args")?
        };
        args.push(NamedValue { name, keyword_only, value });
    }
    if positional.next().is_some() {
        return Err(Unfit {
            key: "args".to_owned(),
            found: "more values".to_owned(),
            accepted: "one value per argument",
        });
    }
    if keywords.len() != used {
        return Err(Unfit {
            key: "kwargs".to_owned(),
            found: "more keys".to_owned(),
            accepted: "the schema's arguments",
        });
    }
    Ok(args)
}

fn read_expected(object: &Map<String, Json>) -> Fit<Expected> {
    let outputs = get_if(object, "outputs", |json| list(json, Value::read))?;
    let mutated = get_if(object, "mutated", |json| list(json, read_mutated))?;
    let error = get_if(object, "error", read_error)?;
    match (outputs, mutated, error) {
        (Some(outputs), mutated, None) => Ok(Expected::Results { outputs, mutated: mutated.unwrap_or_default() }),
        (None, None, Some(error)) => Ok(Expected::Error(error)),
        (None, _, None) => Err(Unfit::missing("outputs or error")).at("outputs"),
        (_, _, Some(_)) => Err(Unfit {
            key: "error".to_owned(),
            found: "an error beside results".to_owned(),
            accepted: "outputs with or without mutated, or error alone",
        }),
    }
}

fn read_mutated(json: &Json) -> Fit<Mutated> {
    let object = json::object(json)?;
    json::only(object, &["arg", "tensor"], "arg, tensor")?;
    Ok(Mutated {
        arg: get(object, "arg", "an argument's name", json::string)?.to_owned(),
        tensor: get(object, "tensor", "a tensor", TensorSpec::read)?,
    })
}

fn read_error(json: &Json) -> Fit<ErrorSpec> {
    let object = json::object(json)?;
    json::only(object, &["type", "message"], "type, message")?;
    Ok(ErrorSpec {
        kind: get(object, "type", "a string", json::string)?.to_owned(),
        message: get(object, "message", "a string", json::string)?.to_owned(),
    })
}

fn check_storages(file: &str, case: &Case, storages: &Storages) -> Result<(), CaseError> {
    let unfit = |place: &str, found: String, accepted: &str| CaseError::Malformed {
        file: file.to_owned(),
        case: case.id.clone(),
        key: place.to_owned(),
        found,
        accepted: accepted.to_owned(),
    };
    for (place, spec) in case.tensors() {
        if spec.numel().is_none_or(|n| n > MAX_ELEMENTS) {
            return Err(unfit(&place, format!("sizes {:?}", spec.sizes), "at most 2^28 elements"));
        }
        if (spec.conj && !spec.dtype.is_complex()) || (spec.neg && spec.dtype == DType::Bool) {
            return Err(unfit(
                &place,
                format!("a conj or neg bit on {}", spec.dtype),
                "conj on complex, neg on numbers",
            ));
        }
        let Some(storage) = &spec.storage else { continue };
        let (place, storage) = (place.clone(), storage.clone());
        let (file, id) = (file.to_owned(), case.id.clone());
        let Some(bytes) = storages.get(&storage) else {
            return Err(CaseError::MissingStorage { file, case: id, place, storage });
        };
        let (needs, has) = (spec.bytes_needed(), bytes.len());
        if needs.is_none_or(|needs| needs > has) {
            return Err(CaseError::OutOfBounds { file, case: id, place, storage: storage.into(), needs, has });
        }
    }
    let known = case.tensor_arguments();
    let Some(bare) = known.iter().find(|(_, spec)| spec.storage.is_none()) else {
        return check_names(case, &known, unfit);
    };
    Err(unfit(&bare.0, "a tensor without storage".to_owned(), "arguments have a storage"))
}

/// Refuses aliases and mutations of arguments that the call does not have.
fn check_names(
    case: &Case,
    known: &[(String, &TensorSpec)],
    unfit: impl Fn(&str, String, &str) -> CaseError,
) -> Result<(), CaseError> {
    let Expected::Results { outputs, mutated } = &case.expected else { return Ok(()) };
    let exists = |arg: &str| known.iter().any(|(path, _)| path == arg);
    let outputs = outputs.iter().enumerate().flat_map(|(i, output)| output.tensors(&format!("outputs[{i}]")));
    let aliases = outputs.filter_map(|(place, spec)| spec.alias.as_ref().map(|alias| (place, alias.arg.as_str())));
    let writes = mutated.iter().map(|m| ("mutated".to_owned(), m.arg.as_str()));
    match aliases.chain(writes).find(|(_, arg)| !exists(arg)) {
        Some((place, arg)) => Err(unfit(&place, format!("argument {arg:?}"), "the path of a tensor argument")),
        None => Ok(()),
    }
}

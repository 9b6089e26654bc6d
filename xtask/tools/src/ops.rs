//! The operator table on the terminal, and the lines of a new operator. Owns the printing, not the table.

use monomorph::crates::core::dispatch::{DispatchKey, Resolution, Source};
use monomorph::crates::ops::table::{Declaration, Form, declarations};
use serde_json::{Value, json};

/// `cargo xtask ops [--json | --coverage FILE | --support]`: every row with its forms; the closing line counts.
pub(crate) fn print(args: &[String]) -> Result<bool, String> {
    if let [flag, file] = args
        && flag == "--coverage"
    {
        return crate::coverage::print(file);
    }
    if args == ["--support"] {
        print!("{}", crate::support::page());
        return Ok(true);
    }
    let rows: Vec<_> = declarations().collect();
    match args {
        [] => table(&rows),
        [flag] if flag == "--json" => println!("{:#}", Value::from_iter(rows.iter().map(|row| row_json(row)))),
        [other, ..] => return Err(format!("ops takes --json, --coverage FILE, --support or nothing, got {other}")),
    }
    Ok(true)
}

/// The schema of a form, and the devices that have a kernel for it.
fn registered(form: &Form) -> Option<(String, Vec<&'static str>)> {
    let handle = monomorph::dispatcher().find(form.overload()?).ok()?;
    let computes = |(key, resolution, _): &(DispatchKey, Resolution, _)| {
        key.is_dense() && matches!(resolution.source, Source::Kernel(_))
    };
    let backends = handle.explain().into_iter().filter(computes).filter_map(|(key, ..)| key.backend());
    Some((handle.schema().ok()?.to_string(), backends.map(|backend| backend.kind().name()).collect()))
}

fn table(rows: &[&Declaration]) {
    for row in rows {
        println!("{}  ({} {})", row.name, row.kind, row.definition);
        for form in row.forms {
            let function = form.function.unwrap_or("-");
            match registered(form) {
                Some((schema, devices)) => {
                    println!("  {:<15} {function:<20} {:<9} {schema}", form.kind, devices.join(","));
                }
                None => println!("  {:<15} {function}", form.kind),
            }
        }
    }
    let forms = rows.iter().flat_map(|row| row.forms);
    let functions = forms.filter(|form| form.function.is_some()).count();
    println!("{} rows, {} overloads, {functions} functions", rows.len(), monomorph::dispatcher().operators().len());
}

fn row_json(row: &Declaration) -> Value {
    let form = |form: &Form| {
        let (schema, devices) = registered(form).unzip();
        let (kind, function, overload) = (form.kind.to_string(), form.function, form.overload());
        json!({ "form": kind, "function": function, "overload": overload, "schema": schema, "devices": devices })
    };
    let forms: Vec<Value> = row.forms.iter().map(form).collect();
    json!({ "name": row.name, "kind": row.kind, "definition": row.definition, "forms": forms })
}

/// `cargo xtask new-op NAME`: what to add for a pointwise operator, and where.
pub(crate) fn new_op(args: &[String]) -> Result<bool, String> {
    let [name] = args else { return Err("new-op needs the name of the operator, such as hypot".to_owned()) };
    println!("{}", new_op_text(name)?);
    Ok(true)
}

/// At most 20 lines besides the comments that say where they go.
fn new_op_text(name: &str) -> Result<String, String> {
    let fits = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !fits || !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.ends_with('_') {
        return Err(format!("{name} is no name of an operator: lower-case letters, digits and _, and a letter first"));
    }
    if let Ok(schema) = monomorph::dispatcher().find(name).and_then(|handle| Ok(handle.schema()?.to_string())) {
        return Err(format!("{name} is in the table: {schema}"));
    }
    let formula: String = name
        .split('_')
        .filter_map(|word| word.split_at_checked(1))
        .map(|(first, rest)| first.to_uppercase() + rest)
        .collect();
    Ok(NEW_OP.replace("NAME", name).replace("FORMULA", &format!("{formula}Fn")))
}

/// `NAME` and `FORMULA` are replaced.
const NEW_OP: &str = "\
// In the file of its family in ops/src, here one operand that promotes to float. Domains, operands and rules to choose
// from are in ops/src/templates/pointwise, the functions that formulas may use in ops/src/algebra.
pointwise! { FORMULA \"NAME\": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real> Map<V> for FORMULA {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        x // the formula
    }
}
// What tests compare with, compiled for them alone. What it calls is in ops/src/record, or beside it in a
// `mod reference` behind the feature `record`.
record! { FORMULA \"NAME: x\", Any within 1: float |[x], []| x }

// Among the declarations of that file. If the file is new, name it in the families of ops/src/lib.rs.
    func: NAME(Tensor self) -> Tensor,
    inplace: NAME_, out: NAME.out, variants: function, method, structured: Pointwise<FORMULA>;

// How the CPU runs it: by plain loops, unless devices/cpu/src/tuning says more. Where halves may be computed as
// float32, a test asks for that.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_operator_is_at_most_fifteen_lines() {
        let text = new_op_text("log_of_nothing").expect("a fitting name");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        assert!(lines <= 15, "{lines} lines");
        assert!(text.contains("LogOfNothingFn \"log_of_nothing\"") && text.contains("out: log_of_nothing.out"));
        for name in ["", "Hypot", "hypot_", "2d", "a b", "exp", "log_sigmoid"] {
            assert!(new_op_text(name).is_err(), "{name}");
        }
    }

    /// In a crate of one's own, whose operators have a namespace.
    #[test]
    fn a_new_operator_compiles() {
        let text = new_op_text("log_of_nothing").expect("a fitting name");
        let (formula, declaration) = text.split_once("// Among the declarations").expect("the declaration comes last");
        let start = declaration.find("func:").expect("a schema");
        let end = declaration.find(';').expect("the end of the declaration");
        let declaration = declaration[start..=end].replace(" log_of_nothing", " my::log_of_nothing");
        let program = format!(
            "mod family {{
                use monomorph::algebra::Real;
                use monomorph::crates::ops::record;
                use monomorph::pointwise::*;
                {formula}
                monomorph::operators! {{ family: Family; {declaration} }}
            }}
            fn main() -> monomorph::Result<()> {{
                let mut x = monomorph::Tensor::<monomorph::Cpu>::from_slice(&[1.0f32], &[1])?;
                let mut y = family::log_of_nothing(&x)?;
                family::log_of_nothing_out(&x, &mut y)?;
                family::log_of_nothing_(&mut x)?;
                Ok(())
            }}"
        );
        let folder = std::env::temp_dir().join(format!("monomorph-new-op-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary directory");
        let source = folder.join("new_op.rs");
        std::fs::write(&source, &program).expect("a temporary file");
        let output = monomorph_testsuite::rustc::compile(&source, &folder.join("new_op.o"));
        assert!(output.status.success(), "{program}\n{}", String::from_utf8_lossy(&output.stderr));
        std::fs::remove_dir_all(&folder).expect("the temporary directory");
    }

    #[test]
    fn every_overload_of_the_registry_is_a_form_of_a_row() {
        let mut listed: Vec<&str> = declarations().flat_map(|row| row.forms).filter_map(Form::overload).collect();
        listed.sort_unstable();
        let operators = monomorph::dispatcher().operators();
        let registered: Vec<&str> = operators.iter().map(|handle| handle.name()).collect();
        assert_eq!(listed, registered);
    }
}

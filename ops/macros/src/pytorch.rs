//! PyTorch's own list of operators, against which every declaration without a namespace is held.

use monomorph_schema::Schema;
use monomorph_schema::near::near_names;

/// The schemas of PyTorch 2.15, sorted.
const LIST: &str = include_str!("../../../testsuite/golden/schemas.txt");

/// The schemas one by one.
#[cfg(test)]
pub(crate) fn schemas() -> impl Iterator<Item = &'static str> {
    LIST.lines()
}

fn name_of(schema: &str) -> &str {
    schema.split('(').next().unwrap_or(schema)
}

/// What is wrong with a schema in words; nothing if PyTorch has it so.
pub(crate) fn objection(schema: &Schema) -> Option<String> {
    if schema.namespace().is_some() {
        return None;
    }
    let name = schema.full_name();
    let Some(listed) = LIST.lines().find(|line| name_of(line) == name) else {
        let near = near_names(name, LIST.lines().map(name_of));
        let hint = near.first().map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let message = "accepted are the operators of PyTorch 2.15, and names with a namespace, such as `my::name`";
        return Some(format!("found `{name}`; {message}{hint}"));
    };
    let is_same = Schema::parse(listed).is_ok_and(|listed| listed == *schema);
    if is_same { None } else { Some(format!("found `{schema}`; PyTorch has `{listed}`")) }
}

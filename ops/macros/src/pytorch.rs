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

/// Operators whose page is that of `torch.nn.functional`, of those that are declared.
const FUNCTIONAL: &str = "celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu mish prelu relu relu6 \
    selu silu softplus softshrink threshold";
/// Operators that are methods of tensors only.
const METHODS: &str = "contiguous copy expand expand_as fill masked_fill mH mT new_empty new_empty_strided new_full \
    new_ones new_zeros reshape_as resize resize_as set to type_as unfold view view_as zero";
/// Operators without a page.
const NONE: &str = "alias lift_fresh log_sigmoid_forward matrix_H numpy_T slice unsafe_chunk unsafe_split \
    unsafe_split_with_sizes";

/// The name of PyTorch's page on an operator, where it has one.
pub(crate) fn page(schema: &Schema) -> Option<String> {
    let name = schema.name();
    let is_in = |list: &str| list.split_whitespace().any(|other| other == name.trim_end_matches('_'));
    if schema.namespace().is_some() || name.starts_with('_') || name.ends_with("_backward") || is_in(NONE) {
        return None;
    }
    for module in ["special", "fft", "linalg"] {
        if let Some(rest) = name.strip_prefix(module).and_then(|rest| rest.strip_prefix('_')) {
            return Some(format!("torch.{module}.{rest}"));
        }
    }
    Some(match () {
        () if name == "log_sigmoid" => "torch.nn.functional.logsigmoid".to_owned(),
        () if name.starts_with("upsample_") => "torch.nn.functional.interpolate".to_owned(),
        () if is_in(FUNCTIONAL) => format!("torch.nn.functional.{name}"),
        () if is_in(METHODS) || name.ends_with('_') => format!("torch.Tensor.{name}"),
        () => format!("torch.{name}"),
    })
}

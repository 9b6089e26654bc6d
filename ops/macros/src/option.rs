//! The options of a declaration: which there are, and errors about those that there are not.

use proc_macro2::Ident;

/// Every option, for messages.
const ALL: [&str; 34] = [
    "func",
    "inplace",
    "out",
    "autogen",
    "out_apart",
    "out_restrided",
    "out_iterated",
    "out_sized",
    "out_copied",
    "out_cast",
    "out_matrix",
    "copy",
    "copy_out",
    "copy_into",
    "variants",
    "name",
    "positional",
    "options",
    "typed",
    "numbers",
    "structured",
    "operator",
    "view",
    "views",
    "kernel",
    "composite",
    "redirect",
    "composed",
    "direct",
    "each",
    "otherwise",
    "across",
    "silent_view",
    "silent_write",
];

/// An error for an option that there is not.
pub(crate) fn unknown(option: &Ident) -> syn::Error {
    let name = option.to_string();
    let near = monomorph_schema::near::near_names(&name, ALL.iter().copied());
    let hint = near.first().map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    syn::Error::new(option.span(), format!("found option `{name}`; accepted are {}{hint}", ALL.join(", ")))
}

/// An error for an option that was given before.
pub(crate) fn twice(option: &Ident) -> syn::Error {
    syn::Error::new(option.span(), format!("option `{option}` is given twice; accepted is one a declaration"))
}

//! The rows as data, for those who print or count them. The forms themselves are expanded elsewhere.

/// One row: an overload and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The name of its functional form, such as `add.Tensor`.
    pub name: String,
    /// How it is defined: `formula`, `fold`, `template`, `op`, `view`, `views`, `hand`, `itself`, `copying`, `moving`,
    /// `implicit`, `explicit`, `nonfunctional`, `redirect` or `alias`.
    pub kind: &'static str,
    /// The path of its definition.
    pub definition: String,
    /// Its forms, as listed.
    pub forms: Vec<RowForm>,
}

/// One form of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowForm {
    /// `functional`, `inplace`, `out`, `autoout`, `copy`, `copyout`, or one of these with `_full`.
    pub form: &'static str,
    /// The Rust function; `None` for a form that is called by name only.
    pub function: Option<&'static str>,
    /// The overload that it is by name; `None` for another function of an overload that is listed before.
    pub overload: Option<String>,
}

/// Every row of the table, in its order.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    crate::op_table! { __list rows }
    rows.retain(|row| !row.name.is_empty());
    rows
}

/// A row from the text of its parts.
fn row(name: &str, kind: &'static str, definition: &str, forms: &[(&'static str, &'static str, &str)]) -> Row {
    let name = super::schemas::squeeze(name);
    let form = |&(form, function, overload): &(&'static str, &'static str, &str)| RowForm {
        form,
        function: (function != "-").then_some(function),
        overload: match overload {
            "" => (form == "functional").then(|| name.clone()),
            overload => Some(super::schemas::squeeze(overload)),
        },
    };
    // What serves the devices without kernels is no form.
    let forms = forms.iter().filter(|(form, ..)| !form.starts_with("or_")).map(form).collect();
    let definition = definition.replace("$crate", "monomorph_ops");
    Row { name, kind, definition: super::schemas::squeeze(&definition), forms }
}

/// Adds each row to a list.
#[doc(hidden)]
#[macro_export]
macro_rules! __list {
    ([$rows:ident] $({ [$($name:tt)*] $args:tt -> $rets:tt : $kind:ident ($($what:tt)*)
        { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* } })*) => { $(
        $rows.extend([row(
            stringify!($($name)*),
            stringify!($kind),
            stringify!($($what)*),
            &[$((stringify!($form), stringify!($fn), stringify!($($($fname)*)?))),*],
        )]);
    )* };
}

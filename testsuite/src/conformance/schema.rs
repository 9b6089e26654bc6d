//! The argument names of a schema line, which the positional arguments of a case lack. Reads nothing else of it: types
//! and annotations are the library's own parser's business.

/// An argument's name and whether it stands behind the `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArgName {
    pub(super) name: String,
    pub(super) keyword_only: bool,
}

/// The names in schema order, `None` if `schema` is no `name(arguments) -> returns`.
pub(super) fn argument_names(schema: &str) -> Option<Vec<ArgName>> {
    let start = schema.find('(')? + 1;
    let mut names = Vec::new();
    let mut keyword_only = false;
    let mut depth = 0usize;
    let mut quote = None;
    let mut from = start;
    for (at, c) in schema.char_indices().skip_while(|(at, _)| *at < start) {
        match (quote, c) {
            (Some(open), _) => quote = (c != open).then_some(open),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')') if depth == 0 => {
                let last = schema[from..at].trim();
                return match last {
                    "" if names.is_empty() && !keyword_only => Some(names),
                    _ => push(last, &mut names, &mut keyword_only).then_some(names),
                };
            }
            (None, ')' | ']') => depth = depth.checked_sub(1)?,
            (None, ',') if depth == 0 => {
                if !push(schema[from..at].trim(), &mut names, &mut keyword_only) {
                    return None;
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn push(argument: &str, names: &mut Vec<ArgName>, keyword_only: &mut bool) -> bool {
    if argument == "*" {
        *keyword_only = true;
        return true;
    }
    // `Type name=default`: the name ends at the first `=` outside the type, and types hold no `=`.
    let declared = argument.split('=').next().unwrap_or_default().trim();
    match declared.rsplit_once(' ') {
        Some((_, name)) if !name.is_empty() => {
            names.push(ArgName { name: name.to_owned(), keyword_only: *keyword_only });
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(schema: &str) -> Option<String> {
        let names = argument_names(schema)?;
        Some(
            names
                .iter()
                .map(|a| format!("{}{}", if a.keyword_only { "*" } else { "" }, a.name))
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    #[test]
    fn names_in_order() {
        let add = "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
        assert_eq!(shown(add).as_deref(), Some("self other *alpha *out"));
        let pad = "pad(Tensor(a -> *) self, int[2] x=[1, 1], str mode=\"a,)\", float? v=None) -> (Tensor Q, Tensor R)";
        assert_eq!(shown(pad).as_deref(), Some("self x mode v"));
        assert_eq!(shown("f() -> ()").as_deref(), Some(""));
    }

    #[test]
    fn broken_schemas_are_none() {
        for broken in [
            "",
            "add",
            "add(",
            "add(Tensor self",
            "add(self) -> Tensor",
            "add(Tensor a,) -> b",
            "f(Tensor] a)",
            "f(str s=\"x)",
        ] {
            assert_eq!(shown(broken), None, "{broken}");
        }
    }
}

//! The text of rows, read at compile time: defaults of another kind than their argument, defaults that are no suffix,
//! alias annotations that do not go with what the row is. The panic of a constant is a compile error at the row, and
//! names the argument.
//!
//! Only what the types of the operator cannot tell is read here; those are compared in `agree.rs`, and the grammar
//! belongs to the parser of schemas.

/// Checks the text of one row: its kind, its name, and what stands in the parentheses of its arguments and of its
/// results.
pub const fn declares(kind: &str, name: &str, args: &str, rets: &str) {
    let (name, args, rets) = (Text::of(name), Text::of(args), Text::of(rets));
    defaults(name, args);
    aliases(kind, name, args, rets);
}

/// A part of a row, without blanks around it. Slices of slices, because constants cannot iterate.
#[derive(Clone, Copy)]
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    const fn of(text: &'a str) -> Text<'a> {
        Text(text.as_bytes()).trim()
    }

    const fn trim(self) -> Text<'a> {
        Text(self.0.trim_ascii())
    }

    const fn is(self, text: &str) -> bool {
        self.starts_with(text) && self.0.len() == text.len()
    }

    const fn starts_with(self, text: &str) -> bool {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() {
            if i >= self.0.len() || self.0[i] != text[i] {
                return false;
            }
            i += 1;
        }
        true
    }

    /// What comes before and what after place `at`, which is in neither.
    const fn around(self, at: usize) -> (Text<'a>, Text<'a>) {
        let (before, rest) = self.0.split_at(at);
        let (_, after) = rest.split_at(1);
        (Text(before).trim(), Text(after).trim())
    }

    /// The first `mark` outside of brackets and strings.
    const fn find(self, mark: u8) -> Option<usize> {
        let (mut depth, mut quote, mut i) = (0, 0, 0);
        while i < self.0.len() {
            let c = self.0[i];
            if quote != 0 {
                if c == b'\\' {
                    i += 1;
                } else if c == quote {
                    quote = 0;
                }
            } else if c == mark && depth == 0 {
                return Some(i);
            } else if c == b'"' || c == b'\'' {
                quote = c;
            } else if c == b'(' || c == b'[' {
                depth += 1;
            } else if c == b')' || c == b']' {
                depth -= 1;
            }
            i += 1;
        }
        None
    }

    /// What stands before the first comma outside of brackets, and what after it.
    const fn split_item(self) -> (Text<'a>, Text<'a>) {
        match self.find(b',') {
            Some(at) => self.around(at),
            None => (self, Text(&[])),
        }
    }

    const fn contains(self, mark: u8) -> bool {
        let mut i = 0;
        while i < self.0.len() {
            if self.0[i] == mark {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The identifier at the end.
    const fn last_word(self) -> Text<'a> {
        let mut start = self.0.len();
        while start > 0 && is_word(self.0[start - 1]) {
            start -= 1;
        }
        Text(self.0.split_at(start).1)
    }

    /// The identifier at the start.
    const fn first_word(self) -> Text<'a> {
        let mut end = 0;
        while end < self.0.len() && is_word(self.0[end]) {
            end += 1;
        }
        Text(self.0.split_at(end).0)
    }

    /// The alias set of a type: what stands between `Tensor(` and `)`, up to a `!` or `->`; none without parentheses.
    const fn set(self) -> Option<Text<'a>> {
        if !self.starts_with("Tensor") {
            return None;
        }
        let rest = Text(self.0.split_at(6).1).trim();
        if rest.0.is_empty() || rest.0[0] != b'(' {
            return None;
        }
        Some(Text(rest.0.split_at(1).1).trim().first_word())
    }

    const fn same(self, other: Text<'_>) -> bool {
        let mut i = 0;
        while i < self.0.len() {
            if i >= other.0.len() || self.0[i] != other.0[i] {
                return false;
            }
            i += 1;
        }
        self.0.len() == other.0.len()
    }
}

const fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// A compile error about a row and one of its arguments or sets.
const fn refuse(row: Text<'_>, before: &str, what: Text<'_>, after: &str) -> ! {
    let mut bytes = [b' '; 256];
    let mut len = 0;
    let parts = ["row `".as_bytes(), row.0, "`: ".as_bytes(), before.as_bytes(), what.0, after.as_bytes()];
    let mut part = 0;
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() && len < bytes.len() {
            bytes[len] = parts[part][i];
            len += 1;
            i += 1;
        }
        part += 1;
    }
    match core::str::from_utf8(bytes.split_at(len).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("the row does not agree with its operator"),
    }
}

/// Every default fits the type of its argument, and arguments that follow one with a default have one, too.
const fn defaults(row: Text<'_>, args: Text<'_>) {
    let (mut rest, mut seen) = (args, false);
    while !rest.0.is_empty() {
        let (item, after) = rest.split_item();
        rest = after;
        if item.is("*") {
            seen = false;
            continue;
        }
        let (declaration, default) = match item.find(b'=') {
            Some(at) => {
                let (declaration, default) = item.around(at);
                (declaration, Some(default))
            }
            None => (item, None),
        };
        let name = declaration.last_word();
        match default {
            Some(default) => {
                if !fits(declaration, default) {
                    refuse(row, "the default of argument `", name, "` is not one of its type");
                }
                seen = true;
            }
            None if seen => refuse(row, "argument `", name, "` needs a default, since one before it has one"),
            None => {}
        }
    }
}

/// True if `default` is one of the type that `declaration` starts with.
const fn fits(declaration: Text<'_>, default: Text<'_>) -> bool {
    if default.is("None") {
        return declaration.contains(b'?');
    }
    let base = declaration.first_word();
    let list = declaration.contains(b'[');
    if default.0.is_empty() || default.0[0] != b'[' {
        return (!list || is_sized(declaration)) && fits_base(base, default);
    }
    let items = Text(default.0.split_at(1).1);
    let mut rest = Text(items.0.split_at(items.0.len() - 1).0).trim();
    if !list {
        // A tensor that may be undefined.
        return base.is("Tensor") && rest.0.is_empty();
    }
    while !rest.0.is_empty() {
        let (item, after) = rest.split_item();
        if !fits_base(base, item) {
            return false;
        }
        rest = after;
    }
    true
}

/// True for a list of a given length, of which one element may stand for all.
const fn is_sized(declaration: Text<'_>) -> bool {
    let mut i = 1;
    while i < declaration.0.len() {
        if declaration.0[i].is_ascii_digit() && declaration.0[i - 1] == b'[' {
            return true;
        }
        i += 1;
    }
    false
}

const fn fits_base(base: Text<'_>, default: Text<'_>) -> bool {
    if default.0.is_empty() {
        return false;
    }
    let truth = default.is("True") || default.is("False");
    let unsigned = if default.0[0] == b'-' { Text(default.0.split_at(1).1).trim() } else { default };
    let number = !unsigned.0.is_empty() && unsigned.0[0].is_ascii_digit();
    let integer = number && unsigned.first_word().same(unsigned) && !unsigned.contains(b'e');
    let word = default.first_word().same(default) && !number && !truth && !default.is("None");
    let quoted = default.0[0] == b'"' || default.0[0] == b'\'';
    if base.is("int") {
        return integer || word;
    }
    if base.is("SymInt") {
        return integer;
    }
    if base.is("float") {
        return number;
    }
    if base.is("Scalar") {
        return number || truth;
    }
    if base.is("bool") {
        return truth;
    }
    if base.is("str") || base.is("Device") {
        return quoted;
    }
    word && (base.is("ScalarType") || base.is("Layout") || base.is("MemoryFormat"))
}

/// A row of geometries says that its results are views of its first argument; one of a structured operator says
/// nothing, because its forms do; one written by hand names in its results only sets of its arguments. Writes are
/// marked in the forms that write.
const fn aliases(kind: &str, name: Text<'_>, args: Text<'_>, rets: Text<'_>) {
    let kind = Text::of(kind);
    let (first, _) = args.split_item();
    if args.contains(b'!') || rets.contains(b'!') {
        let none = Text(&[]);
        refuse(name, "it marks no argument as written: its in-place and out= forms do that by themselves", none, "");
    }
    if kind.is("view") || kind.is("views") {
        // Some views say that they are none; see `annotations` in the core.
        let quiet = name.starts_with("unsafe_") || name.starts_with("_unsafe_");
        match (first.set(), rets.set()) {
            (Some(a), Some(b)) if a.same(b) && !quiet => {}
            (None, None) if quiet => {}
            _ => refuse(
                name,
                "a view says so: `Tensor(a) self` and `Tensor(a)`, or `Tensor(a -> *) self` and `Tensor(a)[]`",
                Text(&[]),
                "",
            ),
        }
        return;
    }
    let composed = kind.is("implicit") || kind.is("explicit") || kind.is("nonfunctional") || kind.is("redirect");
    let by_hand = kind.is("hand") || kind.is("itself") || kind.is("copying") || kind.is("moving");
    if by_hand || composed {
        let mut rest = rets;
        while !rest.0.is_empty() {
            let (item, after) = rest.split_item();
            rest = after;
            if let Some(set) = item.set()
                && !declared(args, set)
            {
                refuse(name, "it returns the alias set `", set, "`, which none of its arguments has");
            }
        }
        return;
    }
    if args.contains(b'(') || rets.contains(b'(') {
        refuse(name, "a structured operator returns no alias, so it has no alias annotations", Text(&[]), "");
    }
}

/// True if an argument has this alias set.
const fn declared(args: Text<'_>, set: Text<'_>) -> bool {
    let mut rest = args;
    while !rest.0.is_empty() {
        let (item, after) = rest.split_item();
        if let Some(own) = item.set()
            && own.same(set)
        {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits_in(declaration: &str, default: &str) -> bool {
        fits(Text::of(declaration), Text::of(default))
    }

    #[test]
    fn defaults_fit_their_types() {
        for (declaration, default) in [
            ("int dim", "-1"),
            ("int dim", "- 1"),
            ("int reduction", "Mean"),
            ("SymInt step", "1"),
            ("SymInt? start", "None"),
            ("int[1] dim", "0"),
            ("int[] dims", "[0, 1]"),
            ("int[2]? dims", "[- 2,- 1]"),
            ("float base", "10.0"),
            ("float eps", "1e-05"),
            ("float scale", "1"),
            ("Scalar alpha", "1"),
            ("Scalar x", "True"),
            ("bool flag", "False"),
            ("bool[3] mask", "True"),
            ("str mode", "\"none\""),
            ("str mode", "'none'"),
            ("ScalarType? dtype", "long"),
            ("MemoryFormat? format", "contiguous_format"),
            ("Tensor? x", "None"),
            ("Tensor x", "[]"),
            ("Tensor(a -> *) self", "[]"),
        ] {
            assert!(fits_in(declaration, default), "{declaration} = {default}");
        }
        for (declaration, default) in [
            ("int dim", "None"),
            ("int dim", "1.5"),
            ("int dim", "'a'"),
            ("int dim", "True"),
            ("int[] dims", "0"),
            ("int[] dims", "[0, 1.5]"),
            ("SymInt n", "Mean"),
            ("float base", "ten"),
            ("Scalar alpha", "'1'"),
            ("Scalar alpha", "None"),
            ("bool flag", "0"),
            ("bool flag", "true"),
            ("str mode", "none"),
            ("ScalarType dtype", "1"),
            ("MemoryFormat format", "True"),
            ("Tensor x", "None"),
            ("Tensor x", "[1]"),
            ("Tensor x", "1"),
            ("Storage s", "[]"),
        ] {
            assert!(!fits_in(declaration, default), "{declaration} = {default}");
        }
    }

    #[test]
    fn commas_in_brackets_and_strings_divide_nothing() {
        let (first, rest) = Text::of("int[] a=[1, 2], str b=\"x,y\\\",z\", Tensor(a, b) c").split_item();
        assert!(first.is("int[] a=[1, 2]"));
        let (second, third) = rest.split_item();
        assert!(second.is("str b=\"x,y\\\",z\"") && third.is("Tensor(a, b) c"));
        assert!(Text::of("Tensor (a -> *) self").set().is_some_and(|set| set.is("a")));
        assert!(Text::of("Tensor self").set().is_none());
    }
}

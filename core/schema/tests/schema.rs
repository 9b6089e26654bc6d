//! The schema language against PyTorch's own list, against malformed texts, and against thousands of damaged schemas.
//!
//! `testsuite/golden/schemas.txt` holds the 3,110 schemas of PyTorch 2.15: the 2,590 entries of
//! native_functions.yaml, whose text it has unchanged, and the variants that torchgen generates.
//! `testsuite/record/schemas.py` wrote it; `cargo xtask schemas` compares it with an installed PyTorch.

use monomorph_schema::near::near_names;
use monomorph_schema::{Accepted, Base, Literal, Schema, Wrap};

const GOLDEN: &str = include_str!("../../../testsuite/golden/schemas.txt");

fn parse(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_schema_of_pytorch_comes_back_unchanged() {
    for line in GOLDEN.lines() {
        assert_eq!(parse(line).to_string(), line);
        let qualified = format!("aten::{line}");
        let schema = parse(&qualified);
        assert_eq!(schema.namespace(), Some("aten"));
        assert_eq!(schema.to_string(), qualified);
    }
}

#[test]
fn the_list_is_complete_sorted_and_free_of_duplicates() {
    let lines: Vec<&str> = GOLDEN.lines().collect();
    assert_eq!(lines.len(), 3110);
    assert!(lines.is_sorted_by(|a, b| a < b));
    let mut names: Vec<String> = lines.iter().map(|line| parse(line).full_name().to_owned()).collect();
    names.sort();
    assert!(names.is_sorted_by(|a, b| a < b), "an overload's full name is its own");
}

/// What torchgen's own model says about the same list, summed over it.
#[test]
fn the_model_agrees_with_torchgen() {
    let all: Vec<Schema> = GOLDEN.lines().map(parse).collect();
    let schemas = |test: fn(&Schema) -> bool| all.iter().filter(|&schema| test(schema)).count();
    let sum = |count: fn(&Schema) -> usize| all.iter().map(count).sum::<usize>();
    assert_eq!(schemas(Schema::is_inplace), 339);
    assert_eq!(schemas(Schema::is_out), 1110);
    assert_eq!(schemas(Schema::is_factory), 66);
    assert_eq!(schemas(|s| !s.overload().is_empty()), 1698);
    assert_eq!(sum(|s| s.args().len()), 11988);
    assert_eq!(sum(|s| s.out_args().len()), 1308);
    assert_eq!(sum(|s| s.keyword_only().len()), 2574);
    assert_eq!(sum(|s| s.mutable_args().count()), 1735);
    assert_eq!(sum(|s| s.args().filter(|arg| arg.default().is_some()).count()), 2570);
    assert_eq!(sum(|s| s.args().filter(|arg| arg.ty().is_optional()).count()), 1695);
    assert_eq!(sum(|s| s.args().filter(|arg| arg.ty().is_list()).count()), 1752);
    assert_eq!(sum(|s| s.args().filter(|arg| arg.ty().alias().is_some()).count()), 1826);
    assert_eq!(sum(|s| s.returns().len()), 3499);
    assert_eq!(sum(|s| s.returns().iter().filter(|ret| ret.name().is_some()).count()), 354);
}

#[test]
fn names() {
    let schema = parse("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
    assert_eq!((schema.namespace(), schema.name(), schema.overload()), (Some("aten"), "add", "Tensor"));
    assert_eq!(schema.full_name(), "add.Tensor");
    let schema = parse("relu(Tensor self) -> Tensor");
    assert_eq!((schema.namespace(), schema.name(), schema.overload()), (None, "relu", ""));
    assert_eq!(schema.full_name(), "relu");
}

#[test]
fn in_place_is_told_by_the_name() {
    for (text, inplace) in [
        ("add_(Tensor(a!) self) -> Tensor(a!)", true),
        ("__iand__(Tensor(a!) self) -> Tensor(a!)", true),
        ("_foreach_add_(Tensor(a!)[] self) -> ()", true),
        ("add(Tensor self) -> Tensor", false),
        ("__and__(Tensor self) -> Tensor", false),
        ("__invert__(Tensor self) -> Tensor", false),
        ("_copy(Tensor self) -> Tensor", false),
        ("__(Tensor self) -> Tensor", false),
    ] {
        assert_eq!(parse(text).is_inplace(), inplace, "{text}");
    }
}

#[test]
fn arguments_by_role() {
    let schema = parse(
        "f(Tensor! log, Tensor self, *, int? n=None, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
    );
    let names = |args: Vec<&monomorph_schema::Argument>| {
        args.into_iter().map(|arg| arg.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(schema.args().collect()), "log self n out0 out1");
    assert_eq!(names(schema.args().filter(|arg| arg.is_keyword_only()).collect()), "n out0 out1");
    assert_eq!(names(schema.positional().iter().collect()), "log self");
    assert_eq!(names(schema.out_args().iter().collect()), "out0 out1");
    assert_eq!(names(schema.mutable_args().collect()), "log out0 out1");
    assert!(schema.is_out() && !schema.is_inplace() && !schema.is_factory());
    let log = parse("f(*, Tensor! log) -> ()");
    assert!(!log.is_out() && log.mutable_args().count() == 1, "a fresh write has no name to be returned by");
    assert!(parse("empty(SymInt[] size, *, Device? device=None) -> Tensor").is_factory());
    assert!(!parse("stack(Tensor[] tensors) -> Tensor").is_factory());
}

#[test]
fn types_and_aliases() {
    let text =
        "f(Tensor(a!)?[] x, int[1]? d, Tensor(a|b -> *) y, Tensor(* -> a|b) z, Tensor! w, complex? c) -> Tensor(b)[] l";
    let schema = parse(text);
    assert_eq!(schema.to_string(), text);
    let ty = |name: &str| schema.arg(name).unwrap().ty();
    assert_eq!(ty("x").wraps(), [Wrap::Optional, Wrap::List(None)]);
    assert_eq!(ty("d").wraps(), [Wrap::List(Some(1)), Wrap::Optional]);
    assert!(ty("d").is_optional() && ty("d").is_list() && !ty("x").is_optional());
    assert_eq!(ty("c").base(), Base::Complex);
    let y = ty("y").alias().unwrap();
    assert_eq!((y.before().collect::<Vec<_>>(), y.after().collect::<Vec<_>>()), (vec!["a", "b"], vec!["*"]));
    assert!(!y.is_write() && !y.is_fresh());
    let w = ty("w").alias().unwrap();
    assert!(w.is_write() && w.is_fresh());
    assert!(schema.arg("v").is_none());
    for base in Base::ALL {
        let text = format!("f({base} x) -> {base}");
        assert_eq!(parse(&text).to_string(), text);
    }
}

#[test]
fn defaults() {
    use Literal::{Bool, Float, Int, List, Name, None};
    let text = |s: &str| Literal::Str(s.into());
    for (ty, written, value) in [
        ("int", "-1", Int(-1)),
        ("int", "Mean", Name("Mean".into())),
        ("int", "-9223372036854775808", Int(i64::MIN)),
        ("SymInt", "007", Int(7)),
        ("float", "1e-05", Float(1e-5)),
        ("float", "1", Int(1)),
        ("float", "1.", Float(1.0)),
        ("Scalar", "0.3333333333333333", Float(1.0 / 3.0)),
        ("Scalar", "True", Bool(true)),
        ("bool?", "False", Bool(false)),
        ("Tensor?", "None", None),
        ("Tensor", "[]", List([].into())),
        ("int[2]", "2", List([Int(2), Int(2)].into())),
        ("int[1]", "[-2,-1]", List([Int(-2), Int(-1)].into())),
        ("int[2]?", "[0, 1]", List([Int(0), Int(1)].into())),
        ("int[]", "[]", List([].into())),
        ("int[][]", "[[1],[]]", List([List([Int(1)].into()), List([].into())].into())),
        ("bool[3]", "True", List([Bool(true), Bool(true), Bool(true)].into())),
        ("ScalarType?", "long", Name("long".into())),
        ("MemoryFormat", "contiguous_format", Name("contiguous_format".into())),
        ("str", "'fro'", text("fro")),
        ("str", r#""\"\\ü,) -> ""#, text("\"\\ü,) -> ")),
        ("str", r#"'\'\n'"#, text("'\n")),
        ("Device", "'cpu'", text("cpu")),
    ] {
        let line = format!("f({ty} x={written}) -> ()");
        let schema = parse(&line);
        let default = schema.arg("x").unwrap().default().unwrap();
        assert_eq!((default.text(), default.value()), (written, &value));
        assert_eq!(schema.to_string(), line);
    }
    assert_eq!(parse("f(int[2] x=2, str y='a') -> ()"), parse("f(int[2] x=[2, 2], str y=\"a\") -> ()"));
    assert_ne!(parse("f(int[2] x=2) -> ()"), parse("f(int[2] x=3) -> ()"));
}

#[test]
fn white_space_is_free_and_printed_as_pytorch_prints_it() {
    let loose = " aten :: add . Tensor ( Tensor ( a ! ) [ ] self , * , int [ 2 ] x = [ 0 ,\n1,2 ] ) -> ( Tensor )\t";
    assert_eq!(parse(loose).to_string(), "aten::add.Tensor(Tensor(a!)[] self, *, int[2] x=[0, 1,2]) -> Tensor");
}

#[test]
fn malformed_texts_are_errors_that_name_the_place() {
    use Accepted as A;
    let at = |text: &str, column: usize, found: &str, accepted: fn(&A) -> bool| {
        let error = Schema::parse(text).expect_err(text);
        assert_eq!((error.column(), error.found()), (column, found), "{error}");
        assert!(accepted(error.accepted()), "{error}");
        assert_eq!(error.text(), text);
    };
    macro_rules! reject {
        ($($text:literal @ $column:literal $found:literal $accepted:pat,)*) => {
            $(at($text, $column, $found, |accepted| matches!(accepted, $accepted));)*
        };
    }
    reject! {
        // The grammar.
        "" @ 1 "" A::Name,
        "  ä" @ 3 "ä" A::Name,
        "(Tensor a) -> ()" @ 1 "(" A::Name,
        "f" @ 2 "" A::Arguments,
        "f.(Tensor a) -> ()" @ 3 "(" A::Overload,
        "f.default(Tensor a) -> ()" @ 3 "default" A::Overload,
        "f.__x(Tensor a) -> ()" @ 3 "__x" A::Overload,
        "a::b::f() -> ()" @ 5 ":" A::Arguments,
        "f(" @ 3 "" A::Type,
        "f(Tensro a) -> ()" @ 3 "Tensro" A::Type,
        "f(Tensor) -> ()" @ 9 ")" A::ArgumentName,
        "f(Tensor a" @ 11 "" A::CommaOrClose,
        "f(Tensor a, ) -> ()" @ 13 ")" A::Type,
        "f(Tensor a b) -> ()" @ 12 "b" A::CommaOrClose,
        "f(Tensor a, *) -> ()" @ 14 ")" A::KeywordOnly,
        "f(*, Tensor a, *, Tensor b) -> ()" @ 16 "*" A::OneStar,
        "f(int[0] a) -> ()" @ 7 "0" A::ListSize,
        "f(int[256] a) -> ()" @ 7 "256" A::ListSize,
        "f(int[99999999999999999999] a) -> ()" @ 7 "99999999999999999999" A::ListSize,
        "f(int[x] a) -> ()" @ 7 "x" A::ListSize,
        "f(int[][][][][] a) -> ()" @ 14 "[" A::FewWraps,
        "f(int(a!) a) -> ()" @ 6 "(" A::AliasOfTensor,
        "f(Tensor() a) -> ()" @ 10 ")" A::AliasSet,
        "f(Tensor(a!|b) a) -> ()" @ 12 "|" A::AliasEnd,
        "f(Tensor?(a!) a) -> ()" @ 10 "(" A::ArgumentName,
        "f(Tensor a)" @ 12 "" A::Arrow,
        "f(Tensor a) -> " @ 16 "" A::Type,
        "f(Tensor a) -> (Tensor" @ 23 "" A::CommaOrClose,
        "f(Tensor a) -> Tensor x y" @ 25 "y" A::End,
        "f(Tensor a) -> Tensor, Tensor" @ 22 "," A::End,
        // Defaults.
        "f(int x=) -> ()" @ 9 ")" A::Default { .. },
        "f(int x=1.5) -> ()" @ 9 "1" A::Default { .. },
        "f(int x=None) -> ()" @ 9 "None" A::Default { .. },
        "f(int x='a') -> ()" @ 9 "'" A::Default { .. },
        "f(int[] x=3) -> ()" @ 11 "3" A::Default { .. },
        "f(int[] x=[1,]) -> ()" @ 14 "]" A::Default { .. },
        "f(int[] x=[1 2]) -> ()" @ 14 "2" A::ListItem,
        "f(int[2][2] x=1) -> ()" @ 15 "1" A::Default { .. },
        "f(Tensor x=3) -> ()" @ 12 "3" A::Default { .. },
        "f(Tensor x=[1]) -> ()" @ 12 "[" A::Default { .. },
        "f(Tensor x=None) -> ()" @ 12 "None" A::Default { .. },
        "f(bool x=true) -> ()" @ 10 "true" A::Default { .. },
        "f(str x=a) -> ()" @ 9 "a" A::Default { .. },
        "f(Stream x=0) -> ()" @ 12 "0" A::Default { .. },
        "f(int x=- 1) -> ()" @ 9 "-" A::Default { .. },
        "f(int x=9223372036854775808) -> ()" @ 9 "9223372036854775808" A::Int64,
        "f(float x=1e999) -> ()" @ 11 "1e999" A::Finite,
        "f(float x=1j) -> ()" @ 12 "j" A::CommaOrClose,
        "f(str x='ü\\q') -> ()" @ 11 "\\q" A::Escape,
        "f(str x='abc) -> ()" @ 9 "'abc) -> ()" A::ClosingQuote,
        "f(str x=\"a\n\") -> ()" @ 9 "\"a" A::ClosingQuote,
        // The rules.
        "f(Tensor a, int a) -> ()" @ 13 "int a" A::UniqueName,
        "f(Tensor a, *, int a=1) -> ()" @ 16 "int a=1" A::UniqueName,
        "f(int a=1, Tensor b) -> ()" @ 12 "Tensor b" A::DefaultToo,
        "f(*, int a=1, int b) -> ()" @ 15 "int b" A::DefaultToo,
        "f() -> Tensor x=1" @ 17 "1" A::NoDefaultInReturn,
        "f() -> (Tensor x=1, int y)" @ 17 "=" A::NoDefaultInReturn,
        "f() -> Tensor?" @ 8 "Tensor?" A::NoOptionalReturn,
        "f() -> (int, Tensor?[] x)" @ 14 "Tensor?[] x" A::NoOptionalReturn,
        "f(*, Tensor(a!) out, int b) -> Tensor(a!)" @ 22 "int b" A::OutLast,
        "f(*, Tensor out) -> Tensor" @ 6 "Tensor out" A::OutMarked,
        "f(*, Tensor(a) out1) -> Tensor(a)" @ 6 "Tensor(a) out1" A::OutMarked,
        "f(*, Tensor(a!) out) -> ()" @ 25 "()" A::OutReturned,
        "f(*, Tensor(a!) out) -> Tensor" @ 25 "Tensor" A::OutReturned,
        "f(*, Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))" @ 37 "(Tensor(b!), Tensor(a!))" A::OutReturned,
        "f(*, Tensor(a!)[] out) -> Tensor(a!)[]" @ 27 "Tensor(a!)[]" A::OutListNotReturned,
        "f(Tensor(a!) out) -> Tensor(a!)" @ 22 "Tensor(a!)" A::ReturnOfWritten,
        "f(Tensor! self) -> Tensor!" @ 20 "Tensor!" A::ReturnOfWritten,
        "f(Tensor(a!) self) -> (Tensor(a!), Tensor)" @ 36 "Tensor" A::AllOrNoneWritten,
        "aten::f_(Tensor(a!) x) -> ()" @ 7 "f_" A::InPlaceSelf,
        "f_(Tensor self) -> Tensor" @ 4 "Tensor self" A::InPlaceSelf,
        "__iadd__(Tensor self) -> Tensor" @ 10 "Tensor self" A::InPlaceSelf,
        "f_(Tensor(a!) self) -> ()" @ 24 "()" A::InPlaceReturn,
        "f_(Tensor(a!) self) -> Tensor" @ 24 "Tensor" A::InPlaceReturn,
        "f_(Tensor(a!)[] self) -> Tensor(a!)[]" @ 26 "Tensor(a!)[]" A::InPlaceReturn,
        "f_(Tensor(a!) self, *, Tensor(b!) out) -> Tensor(a!)" @ 24 "Tensor(b!) out" A::InPlaceWithoutOut,
    }
}

#[test]
fn an_error_shows_the_text_with_a_caret() {
    let print = |text: &str| Schema::parse(text).unwrap_err().to_string();
    assert_eq!(
        print("ä\tdd(Tensor self) -> Tensor"),
        "ä dd(Tensor self) -> Tensor\n^ found `ä`; accepted is an operator's name (letters, digits and `_`)"
    );
    assert_eq!(
        print("add(Tensro self) -> Tensor"),
        "add(Tensro self) -> Tensor\n    \
         ^ found `Tensro`; accepted is a type (Tensor, Scalar, int, …); did you mean Tensor?"
    );
    assert_eq!(
        print("add(Tensor self"),
        "add(Tensor self\n               ^ found the end of the text; accepted is `,` or `)`"
    );
    assert_eq!(
        print("pool(Tensor self, SymInt[2]? size=x) -> Tensor"),
        "pool(Tensor self, SymInt[2]? size=x) -> Tensor\n                                  ^ found `x`; \
         accepted is a default of the type `SymInt[2]?`: an integer, or a list of such, or None"
    );
}

#[test]
fn a_long_text_is_shown_around_the_column() {
    let many = "Tensor some_argument, ".repeat(10_000);
    let text = format!("f({many}Tensro x) -> ()");
    let error = Schema::parse(&text).unwrap_err();
    assert_eq!(error.found(), "Tensro");
    let shown = error.to_string();
    let (line, caret) = shown.split_once('\n').unwrap();
    assert!(line.chars().count() < 130 && shown.len() < 400, "{shown}");
    let under: String = line.chars().skip(caret.find('^').unwrap()).take(6).collect();
    assert_eq!(under, "Tensro");
}

#[test]
fn sizes_and_depths_out_of_all_proportion_are_errors() {
    let many = 1 << 20;
    for text in [
        format!("f(int{} x) -> ()", "[]".repeat(many)),
        format!("f(int{} x) -> ()", "?".repeat(many)),
        format!("f(int[] x={}", "[".repeat(many)),
        format!("f(int[][][][] x={}", "[".repeat(many)),
        format!("f(Tensor x={}", "[".repeat(many)),
        format!("f(Tensor{} x) -> ()", "(a".repeat(many)),
        format!("f({}", "(".repeat(many)),
        format!("f(int x={}) -> ()", "9".repeat(many)),
        format!("f(float x={}) -> ()", "9".repeat(many)),
        format!("f(str x='{}", "\\'".repeat(many)),
        "é".repeat(many),
        " ".repeat(many),
    ] {
        let error = Schema::parse(&text).unwrap_err();
        assert!(error.to_string().len() < 1000 && error.found().len() < 200);
    }
    // Long, but a schema: linear work, no limit on the number of arguments.
    let args: Vec<String> = (0..50_000).map(|i| format!("int a{i}=1")).collect();
    let text = format!("f({}) -> ()", args.join(", "));
    assert_eq!(parse(&text).to_string(), text);
}

/// xorshift64* (Marsaglia, 2003; Vigna, 2016): the damage is the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

/// Damaged schemas make errors or schemas, never panics; and what is a schema survives printing.
#[test]
fn damaged_schemas() {
    const PIECES: [&str; 32] = [
        "(",
        ")",
        "[",
        "]",
        "?",
        "!",
        "*",
        "|",
        ",",
        ".",
        "=",
        ":",
        "::",
        "->",
        " ",
        "\n",
        "'",
        "\"",
        "\\",
        "-",
        "é",
        "𝟙",
        "\0",
        "Tensor",
        "int[2]",
        "(a!)",
        "(a -> *)",
        " out",
        "None",
        "[0,1]",
        "1e999",
        "99999999999999999999",
    ];
    let lines: Vec<&str> = GOLDEN.lines().collect();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut schemas, mut errors) = (0, 0);
    for round in 0..40_000 {
        let mut chars: Vec<char> = lines[dice.below(lines.len())].chars().collect();
        for _ in 0..=dice.below(3) {
            let at = dice.below(chars.len() + 1);
            let end = (at + dice.below(12)).min(chars.len());
            match dice.below(6) {
                0 => chars.truncate(at),
                1 => drop(chars.drain(at..end)),
                2 => drop(chars.splice(at..end, PIECES[dice.below(PIECES.len())].chars())),
                3 => drop(chars.splice(at..at, PIECES[dice.below(PIECES.len())].chars())),
                4 => {
                    let copy = chars[at..end].to_vec();
                    chars.splice(at..at, copy);
                }
                _ => {
                    let other: Vec<char> = lines[dice.below(lines.len())].chars().collect();
                    let from = dice.below(other.len());
                    chars.splice(at.., other[from..].iter().copied());
                }
            }
        }
        let text: String = chars.into_iter().collect();
        match Schema::parse(&text) {
            Ok(schema) => {
                schemas += 1;
                let printed = schema.to_string();
                assert_eq!(Schema::parse(&printed).as_ref(), Ok(&schema), "round {round}: {text}");
                assert_eq!(parse(&printed).to_string(), printed, "round {round}: {text}");
            }
            Err(error) => {
                errors += 1;
                assert!((1..=text.chars().count() + 1).contains(&error.column()), "round {round}: {text}");
                assert_eq!(error.to_string().lines().count(), 2, "round {round}: {text}");
            }
        }
    }
    assert!(schemas > 1000 && errors > 10_000, "{schemas} schemas, {errors} errors: the damage is lopsided");
}

#[test]
fn near_names_over_the_whole_list() {
    let names: Vec<String> = GOLDEN.lines().map(|line| parse(line).full_name().to_owned()).collect();
    let near = |name: &str| near_names(name, names.iter().map(String::as_str));
    assert_eq!(near("add.Tensr")[0], "add.Tensor");
    assert_eq!(near("argmx")[0], "argmax");
    assert_eq!(near("bitwise_adn.Tensor")[0], "bitwise_and.Tensor");
    assert_eq!(near("no such operator at all"), [""; 0]);
    assert!(near("sum").len() <= 3);
}

//! What declarations expand to, and what their authors are told, without a compiler.

use crate::declaration::Family;
use crate::expanded;
use crate::tokens::Text;
use monomorph_schema::Schema;
use proc_macro2::TokenStream;
use std::str::FromStr;
use syn::parse::Parser;

fn tokens(text: &str) -> TokenStream {
    TokenStream::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The expansion of rows, with one blank between tokens.
fn expansion(rows: &str) -> String {
    expanded(tokens(&format!("[crate] family: Mine; {rows}"))).unwrap_or_else(|error| panic!("{error}")).to_string()
}

fn refusal(rows: &str) -> String {
    match expanded(tokens(&format!("[crate] family: Mine; {rows}"))) {
        Ok(_) => panic!("accepted: {rows}"),
        Err(error) => error.to_string(),
    }
}

const ADD: &str = "func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor, \
    inplace: add_.Tensor, out: add.out, variants: function, method, structured: Pointwise<AddFn>;";

#[test]
fn a_structured_operator_has_all_typed_forms() {
    let text = expansion(ADD);
    for item in [
        "pub fn add < 't , D : crate :: core :: Device >",
        "pub fn add_ < 't ,",
        "pub fn add_out < 't ,",
        "pub fn add_with < 't ,",
        "pub fn add_with_ < 't ,",
        "pub fn add_out_with < 't ,",
        "pub trait MineMethods < D : crate :: core :: Device >",
        "fn add_with < 't > (& 't self , other : impl crate :: core :: IntoArg < 't , D > , options : super ::",
        "fn add_with_ < 't > (& 't mut self ,",
        "pub struct Add { # [doc = \"`alpha`, 1 by default.\"] pub alpha : crate :: core :: Scalar ,",
        "Add { alpha : crate :: core :: Scalar :: from (1i64) , __others : () }",
    ] {
        assert!(text.contains(item), "{item}\n{text}");
    }
    // A function, its meta form and its prepared form; the short one has no `alpha`, and passes the default on.
    assert_eq!(text.matches("pub fn add <").count(), 3);
    assert!(!text.contains("fn add_out < 't > ("), "a function whose output is a parameter has no method");
}

/// While a function is traced, a typed function notes all arguments of the schema, those that have their defaults as
/// such, and calls itself.
#[test]
fn typed_functions_note_their_calls() {
    let text = expansion(ADD);
    let boxed = |value: &str| format!("Some (crate :: core :: trace :: TraceArg :: value (& {value}))");
    let operand =
        |name: &str| boxed(&format!("crate :: core :: IntoArg :: < '_ , D > :: into_arg ({name}) . operand ()"));
    let [this, other, written] = [operand("this"), operand("other"), boxed("* this")];
    for note in [
        format!(
            "let args = [{this} , {other} , None ,] ; return crate :: core :: trace :: typed (\"add.Tensor\" , args ,"
        ),
        format!("let args = [{this} , {other} , {} ,] ;", boxed("options . alpha")),
        format!("let args = [{written} , {other} , None ,] ; return crate :: core :: trace :: typed (\"add_.Tensor\""),
        format!("let r0 = & out ; let args = [{this} , {other} , None , {}] ;", boxed("r0").replace("& ", "")),
        "(\"add.out\" , args , move || self :: add_out :: < D > (this , other , out))".to_owned(),
    ] {
        assert!(text.contains(&note), "{note}\n{text}");
    }
}

const OPTIONS: &str = "func: my::f(Tensor x, Tensor self, int[] dim, SymInt[] size, *, str? mode, bool keep=False, \
    Layout? layout=None) -> Tensor, variants: function, positional: [keep], options: [mode], kernel: f;";

/// What a schema requires is a parameter, but what the row makes an option; what has a default is an option, but what
/// the row makes a parameter; layouts are never asked for.
#[test]
fn arguments_are_parameters_or_options() {
    let text = expansion(OPTIONS);
    let parameters = "(x : & 't crate :: core :: Tensor < D > , this : & 't crate :: core :: Tensor < D > , dim : impl \
        Into < crate :: core :: Dims > , size : impl Into < crate :: core :: Sizes > , keep : bool";
    for item in [
        &format!("pub fn f < 't , D : crate :: core :: Device > {parameters})"),
        &format!(
            "pub fn f_with < 't , D : crate :: core :: Device > {parameters} , options : super :: options :: F < 't >)"
        ),
        "pub struct F < 't > { # [doc = \"`mode`, `None` by default.\"] pub mode : Option < & 't str > ,",
        // The method's receiver is the argument `self`, wherever it stands.
        "fn f < 't > (& 't self , x : & 't crate :: core :: Tensor < D > , dim :",
        "(x , self , dim , size , keep)",
        "(x , this , dim . list (this . ndim ()) , & * size , options . mode , keep , None ,)",
    ] {
        assert!(text.contains(item), "{item}\n{text}");
    }
}

/// The name says that another row leaves the options out.
#[test]
fn a_row_may_be_the_form_with_options_of_another() {
    let text = expansion(
        "func: my::round.to(Tensor self, *, int decimals) -> Tensor, inplace: my::round_.to, variants: function, \
         name: round_with, options: [decimals = 0], operator: Round;",
    );
    assert!(text.contains("pub fn round_with <") && text.contains("pub fn round_with_ <") && text.contains("Round {"));
    assert!(!text.contains("pub fn round <") && !text.contains("pub fn round_ <"), "{text}");
}

/// A factory makes tensors on the CPU, or is a method of a device.
#[test]
fn a_factory_is_a_constructor_of_devices() {
    let text = expansion(
        "func: my::zeros(SymInt[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor, variants: function, \
         positional: [dtype], kernel: zeros;",
    );
    for item in [
        "dtype : impl Into < Option < crate :: core :: DType >>)",
        "crate :: core :: Standard : crate :: core :: DefaultDevice < D >",
        "pub trait MineConstructors < D : crate :: core :: Device > : Sized",
        "(& * size , dtype . into () , Some (self . id ()))",
    ] {
        assert!(text.contains(item), "{item}\n{text}");
    }
}

#[test]
fn a_declaration_is_data_with_the_schemas_of_its_forms() {
    let text = expansion(ADD);
    for part in [
        "name : \"add.Tensor\"",
        "kind : \"structured\"",
        "definition : \"Pointwise<AddFn>\"",
        "\"add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)\"",
        "\"add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\"",
        "Parameter { name : \"alpha\" , ty : \"Scalar\" }",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_family_is_a_trait_and_a_list_of_its_kernels_each_once() {
    let scalar = "func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor, structured: Pointwise<AddFn>;";
    let text = expansion(&format!("{ADD} {scalar} structured: Reduce<crate::reduce::SumFn>;"));
    let bounds = ["Pointwise < AddFn >", "Reduce < crate :: reduce :: SumFn >"];
    let bounds = bounds.map(|op| format!("+ crate :: core :: structured :: Executes < {op} >")).join(" ");
    assert!(text.contains(&format!("pub trait Mine : crate :: core :: Device {bounds}")), "{text}");
    assert!(text.contains("macro_rules ! __mine_kernels"));
    assert!(text.contains(":: native :: kernels :: Body0 , \"AddFn\""));
    assert!(text.contains(":: native :: kernels :: Body1 , \"SumFn\""));
    assert!(!text.contains("Body2"));
}

#[test]
fn views_copies_and_what_is_written_over_any_device() {
    let view = "func: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a), copy: select_copy.int, \
        copy_out: select_copy.int_out, variants: function, method, view: select;";
    let text = expansion(view);
    assert!(text.contains("pub fn select < 't ,") && text.contains("pub fn select_copy < 't ,"), "{text}");
    assert!(text.contains("crate :: table :: view_kernels :: < D >"));
    let kernel = "func: zero_(Tensor(a!) self) -> Tensor(a!), variants: function, kernel: zero_;";
    assert!(expansion(kernel).contains("crate :: table :: inplace_kernels :: < D >"));
    let out = "func: ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!), kernel: ones_out;";
    assert!(expansion(out).contains("crate :: table :: out_kernels :: < D , 1usize >"));
    let or_self = "func: contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a), \
        kernel: made_contiguous else self;";
    assert!(expansion(or_self).contains("let result : Option < crate :: core :: Tensor < D > >"));
}

#[test]
fn compositions_and_redirections() {
    let composite =
        "func: square(Tensor self) -> Tensor, inplace: square_, out: square.out, composite: implicit square;";
    assert!(
        expansion(composite).contains("Composition :: all (crate :: core :: dispatch :: AliasKey :: CompositeImplicit")
    );
    let direct = "func: tril(Tensor self, SymInt diagonal=0) -> Tensor, inplace: tril_, direct: true, \
        composed: explicit tril;";
    let text = expansion(direct);
    for part in ["Composition :: all (", "crate :: table :: functional :: < D >", "reader . plain_tensor :: < D > ()"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let redirect = "func: multiply.Tensor(Tensor self, Tensor other) -> Tensor, variants: function, redirect: mul, \
        operator: Pointwise<MulFn>;";
    let text = expansion(redirect);
    assert!(text.contains("Composition :: Redirect (\"mul\")") && text.contains("pub fn multiply <"), "{text}");
}

/// The forms over lists follow from those of the operator that is called for each item, whose row must be there.
#[test]
fn operators_over_lists_are_another_operator_for_each_item() {
    let text = expansion(
        "func: _foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[], inplace: _foreach_pow_.Scalar, \
         autogen: _foreach_pow.Scalar_out, each: pow.Tensor_Scalar;",
    );
    let row = format!("crate :: table :: Row < {}u64 >", crate::expand::hash("pow.Tensor_Scalar"));
    for item in [
        format!("Composition :: each (< {row} as crate :: table :: Declared > :: DECLARATION)"),
        "\"_foreach_pow_.Scalar(Tensor(a!)[] self, Scalar exponent) -> ()\"".to_owned(),
        "kind : \"each\" , definition : \"pow.Tensor_Scalar\"".to_owned(),
    ] {
        assert!(text.contains(&item), "{item}\n{text}");
    }
    // In another crate the operator may be one of the tree or of that crate.
    let local = |each: &str| {
        let rows = format!("func: my::all(Tensor[] self, Scalar[] by) -> Tensor[], each: {each};");
        expanded(tokens(&format!("[::monomorph::ops] family: Mine; {rows}"))).unwrap().to_string()
    };
    assert!(local("add.Scalar").contains("each (< :: monomorph :: ops :: table :: Row <"));
    assert!(local("my::axpy").contains("each (< LocalRow <"));
}

/// In other crates rows are types of that crate, and no list is exported.
#[test]
fn another_crate_has_types_of_its_own() {
    let rows = "func: my::axpy(Tensor self, Scalar alpha) -> Tensor, inplace: my::axpy_, structured: Pointwise<Axpy>;";
    let text = expanded(tokens(&format!("[::monomorph::ops] family: Mine; {rows}"))).unwrap().to_string();
    assert!(text.contains("pub struct LocalRow") && !text.contains("macro_rules"), "{text}");
    assert!(
        text.contains("name : \"my::axpy\"")
            && text.contains("\"my::axpy_(Tensor(a!) self, Scalar alpha) -> Tensor(a!)\"")
    );
}

#[test]
fn refusals_name_what_was_found_and_what_is_accepted() {
    for (rows, message) in [
        (
            "func: my::f(Tensro x) -> Tensor, operator: F;",
            "found `Tensro`; accepted is a type (Tensor, Scalar, int, …)",
        ),
        ("func: my::f(int x=1.5) -> Tensor, kernel: f;", "accepted is a default of the type `int`"),
        ("func: addd(Tensor self) -> Tensor, operator: F;", "did you mean `add"),
        ("func: relu(Tensor x) -> Tensor, operator: F;", "PyTorch has `relu(Tensor self) -> Tensor`"),
        ("func: relu(Tensor self) -> Tensor, out: relu.oout, operator: F;", "found `relu.oout`; accepted are"),
        ("func: my::f(Tensor self) -> Tensor, structred: F;", "did you mean `structured`?"),
        (
            "func: my::f(Tensor self) -> Tensor, out: my::f.out, out: my::g.out, operator: F;",
            "option `out` is given twice",
        ),
        ("func: my::f(Tensor self) -> Tensor, kernel: f, view: f;", "found `view` beside `kernel`"),
        ("func: my::f(Tensor self) -> Tensor;", "has no definition"),
        ("func: my::f(Dimname x) -> Tensor, kernel: f;", "argument `x` has type `Dimname`"),
        ("func: my::f(Tensor self) -> Tensor, copy: my::f_copy, operator: F;", "only views have copies"),
        ("func: my::f(Tensor self) -> Tensor, options: [x], operator: F;", "found `x` in `options`"),
        ("func: my::f(int x) -> Tensor, positional: [x], kernel: f;", "accepted is an argument with a default"),
        ("func: my::f(int x=1) -> Tensor, options: [x = 2], kernel: f;", "accepted is an argument without a default"),
        ("func: my::f(int x) -> Tensor, numbers: [x], kernel: f;", "found `x` in `numbers`; accepted is a tensor"),
        (
            "func: my::f(Tensor x, int n) -> Tensor, silent_write: [n], kernel: f;",
            "found `n` in `silent_write`; accepted is a `bool`, or an argument that may be left out",
        ),
        ("func: my::f(int x) -> Tensor, options: [x = \"a\"], kernel: f;", "accepted is a bool, an int or a float"),
        ("out: my::f.out, structured: F;", "an operator without `func` has no forms"),
        ("func: my::f(Tensor self) -> Tensor[], each: abs;", "accepted is it where an argument is `Tensor[]`"),
        ("func: my::f(Tensor[] self) -> Tensor, each: abs;", "and the result is `Tensor[]`, or none"),
        ("func: my::f(Tensor[] x) -> Tensor, direct: true, composed: explicit f;", "found `direct`"),
        ("func: my::f(Tensor x) -> Tensor, direct: true, composite: explicit f;", "found `direct`"),
        ("func: my::f(Tensor[] x) -> Tensor[], inplace: my::f_, each: abs;", "or `Tensor[] self` beside `each`"),
        (
            "func: my::f(Tensor self) -> Tensor, composite: implict f;",
            "accepted are implicit, explicit and nonfunctional",
        ),
        ("func: my::f(Tensor self) -> Tensor, redirect: g, view: f;", "found `redirect` beside `view`"),
    ] {
        let found = refusal(rows);
        assert!(found.contains(message), "{rows}\n  {found}\n  {message}");
    }
}

/// Tokens of a schema are its text: every schema of PyTorch comes back as it was, whatever Rust's lexer makes of it.
#[test]
fn every_schema_of_pytorch_can_stand_in_a_declaration() {
    let mut read = 0;
    // Strings with quotes of both kinds.
    for line in crate::pytorch::schemas().filter(|line| !line.starts_with("_test_string_default")) {
        // Rust has no strings in single quotes.
        let text = Text::parse.parse2(tokens(&line.replace('\'', "\""))).unwrap();
        let schema = Schema::parse(&text.text).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(schema, Schema::parse(line).unwrap(), "{line}");
        read += 1;
    }
    assert_eq!(read, 3109);
}

#[test]
fn options_stand_in_any_order_and_end_with_the_block() {
    let rows = "structured: Pointwise<AddFn>, variants: method, function, out: add.out, \
        func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
    let family: Family = syn::parse2(tokens(&format!("[crate] family: Mine, functions: A + B; {rows}"))).unwrap();
    let [row] = &family.rows[..] else { panic!("one row") };
    assert!(row.is_function && row.is_method && row.forms.len() == 1);
    assert_eq!(family.functions_on.unwrap().to_string(), "A + B");
}

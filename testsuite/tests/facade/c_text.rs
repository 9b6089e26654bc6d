//! Every formula of the table as C text: each dtype of its domain is written down by `Sym`, compiled with the system's
//! C compiler, run on values of every kind, and compared with what the operator gives on the CPU. Bits must be equal,
//! except where the C library has an exponential, a logarithm or another function of its own.

use monomorph::crates::ops::algebra::sym::{self, Function};
use monomorph::crates::ops::record::Within;
use monomorph::{Cpu, DType, Geometry, Scalar, Tensor};
use monomorph_testsuite::c_text::{column, numbers, part_distance, rows, within};
use monomorph_testsuite::formulas::{Formula, formulas};
use monomorph_testsuite::layout::values;
use monomorph_testsuite::missing::skip;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// One formula at one dtype.
struct Case {
    name: String,
    function: Function,
    rows: Vec<Vec<Scalar>>,
    /// Operands, one after another, then parameters: what the program reads.
    fed: Vec<u8>,
    want: Tensor<Cpu>,
    within: Within,
}

fn case(formula: &Formula, dtype: DType) -> Case {
    let function = (formula.symbolic)(dtype).expect("a formula of its own domain");
    let name = formula.path.rsplit("::").next().unwrap_or_default().trim();
    let name = format!("{name}_{}", sym::c_suffix(dtype));
    let params = numbers(formula.params, dtype);
    let mut rows = rows(dtype, formula.operands, formula.masks);
    rows.retain(|row| (formula.record.reference)(dtype, row, &params).is_some());
    let kind = |k: usize| if k < formula.masks { DType::Bool } else { dtype };
    let operands: Vec<Tensor<Cpu>> =
        (0..formula.operands).map(|k| column(kind(k), rows.iter().map(|row| row[k]))).collect();
    let lent: Vec<_> = operands.iter().map(Into::into).collect();
    let want = if formula.operands == 0 {
        let mut out = Tensor::<Cpu>::zeros_contiguous(dtype, &[rows.len() as i64]).unwrap();
        (formula.cpu.out)(&lent, &params, &mut out).unwrap();
        out
    } else {
        (formula.cpu.functional)(&lent, &params).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let bytes = operands.iter().flat_map(|t| t.storage_to_vec().unwrap());
    let param_bytes = params.iter().flat_map(|&p| column(dtype, std::iter::once(p)).storage_to_vec().unwrap());
    let fed = bytes.chain(param_bytes).collect();
    let within = within(formula.record.within, &function);
    Case { name, function, rows, fed, want, within }
}

/// The program: every function, and a `main` that reads each case's operands in turn and writes its results.
fn program(cases: &[Case]) -> String {
    let mut text = format!("{}\n#include <stdio.h>\n#include <stdlib.h>\n\n", sym::PRELUDE);
    let mut main = String::from(
        "static void *take(size_t n) {
    void *p = malloc(n + 1);
    if (!p || fread(p, 1, n, stdin) != n) exit(2);
    return p;
}

int main(void) {
",
    );
    for Case { name, function, rows, .. } in cases {
        text += &function.c_source(name);
        let result = function.outputs().next().expect("an output");
        let (n, to) = (rows.len(), sym::c_suffix(result));
        let mut arguments = Vec::new();
        main += "    {\n";
        for (k, input) in function.inputs().iter().enumerate() {
            writeln!(main, "        void *x{k} = take({});", n * input.size()).unwrap();
            arguments.push(format!("k_load_{}(x{k}, i)", sym::c_suffix(*input)));
        }
        for (k, param) in function.params().iter().enumerate() {
            writeln!(main, "        void *p{k} = take({});", param.size()).unwrap();
            arguments.push(format!("k_load_{}(p{k}, 0)", sym::c_suffix(*param)));
        }
        let call = format!("{name}({})", arguments.join(", "));
        let size = result.size();
        writeln!(main, "        void *y = malloc({n} * {size} + 1);").unwrap();
        writeln!(main, "        for (long i = 0; i < {n}; i++) k_store_{to}(y, i, {call});").unwrap();
        writeln!(main, "        fwrite(y, {size}, {n}, stdout);\n    }}").unwrap();
    }
    text + "\n" + &main + "    return 0;\n}\n"
}

/// A C compiler of this machine, if it has one.
fn compiler() -> Option<&'static str> {
    ["cc", "gcc", "clang"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

#[test]
fn c_text_of_every_formula_equals_its_operator() {
    let Some(compiler) = compiler() else {
        return skip("cc", "this machine has no C compiler (cc, gcc or clang)");
    };
    let formulas = formulas();
    let cases: Vec<Case> = formulas.iter().flat_map(|f| f.domain().map(move |dtype| case(f, dtype))).collect();
    assert!(cases.len() > 150, "{}", cases.len());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("facade_c_text_{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (source, binary, operands) = (folder.join("formulas.c"), folder.join("formulas"), folder.join("operands"));
    fs::write(&source, program(&cases)).unwrap();
    fs::write(&operands, cases.iter().flat_map(|case| case.fed.clone()).collect::<Vec<u8>>()).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Werror", "-Wno-unused-function", "-o"]);
    let built = command.arg(&binary).arg(&source).arg("-lm").output().unwrap();
    assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&binary).stdin(Stdio::from(File::open(&operands).unwrap())).output().unwrap();
    assert!(ran.status.success(), "the program ended with {}", ran.status);

    let mut results = ran.stdout.as_slice();
    let mut failures = String::new();
    for Case { name, function, rows, want, within, .. } in &cases {
        let dtype = function.outputs().next().expect("an output");
        assert_eq!(dtype, want.dtype(), "{name}");
        let (bytes, rest) = results.split_at(rows.len() * dtype.size());
        results = rest;
        let got = Tensor::<Cpu>::from_storage(bytes, Geometry::new(dtype, &[rows.len() as i64], &[1], 0).unwrap());
        let (got, want) = (values(&got.unwrap()), values(want));
        let apart = |i: &usize| part_distance(dtype, got[*i], want[*i], *within);
        if let Some(i) = (0..rows.len()).max_by_key(apart)
            && apart(&i) > within.ulp
        {
            writeln!(failures, "{name}{:?}: CPU {}, C {}: {} units", rows[i], want[i], got[i], apart(&i)).unwrap();
        }
    }
    assert!(results.is_empty(), "{} bytes too many", results.len());
    assert!(failures.is_empty(), "\n{failures}");
    fs::remove_dir_all(&folder).unwrap();
}

//! What the machine code of a program belongs to: reads its symbol table and tells operator, part and crate from the
//! demangled names. Owns the attribution; knows names, not code.
//!
//! Names must be mangled by the v0 scheme, which keeps type arguments: `sink::call::<Pointwise<AddFn>, Cpu, Out<..>>`.

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::path::Path;

/// What a piece of an operator's code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Portable,
    Avx2,
    Avx512,
    Functional,
    Out,
    InPlace,
    Prepared,
    /// The forms without data, on meta tensors.
    Meta,
    /// Code that all forms use: the meta function, the look-up of the kernel, the binding of operands.
    Shared,
}

impl Part {
    pub(crate) const ALL: [Part; 9] = [
        Part::Portable,
        Part::Avx2,
        Part::Avx512,
        Part::Functional,
        Part::Out,
        Part::InPlace,
        Part::Prepared,
        Part::Meta,
        Part::Shared,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Part::Portable => "portable",
            Part::Avx2 => "avx2",
            Part::Avx512 => "avx512",
            Part::Functional => "functional",
            Part::Out => "out",
            Part::InPlace => "in-place",
            Part::Prepared => "prepared",
            Part::Meta => "meta",
            Part::Shared => "shared",
        }
    }

    /// Whether it is loops rather than the way to them.
    pub(crate) const fn is_kernel(self) -> bool {
        matches!(self, Part::Portable | Part::Avx2 | Part::Avx512)
    }

    fn of(name: &str) -> Part {
        let has = |text: &str| name.contains(text);
        match () {
            () if has("isa::FrameOfAvx512") || has("isa::Avx512") => Part::Avx512,
            () if has("isa::FrameOfAvx2") || has("isa::Avx2") => Part::Avx2,
            () if has("isa::Portable") => Part::Portable,
            () if has("device::Meta") => Part::Meta,
            () if has("sink::Functional<") => Part::Functional,
            () if has("sink::Out<") => Part::Out,
            () if has("sink::InPlace<") => Part::InPlace,
            () if has("sink::Static<") => Part::Prepared,
            () => Part::Shared,
        }
    }
}

/// A function of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

impl Symbol {
    /// The crate that the code was written in: of a loop, which is a method of its formula, that of the loops.
    pub(crate) fn krate(&self) -> &str {
        if self.part().is_kernel() {
            return "monomorph_cpu";
        }
        let name = self.name.trim_start_matches(['<', '&', '*', '[', '(']);
        let name = name.strip_prefix("mut ").or_else(|| name.strip_prefix("dyn ")).unwrap_or(name);
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        if name[end..].starts_with("::") { &name[..end] } else { "other" }
    }

    /// The formula, fold or template that the code is for, such as `arithmetic::AddFn`: by the custom of the house,
    /// formulas and folds are named so. Of a fused operator, the first.
    pub(crate) fn op(&self) -> Option<&str> {
        const OPS: &str = "monomorph_ops::";
        let paths = self.name.match_indices(OPS).map(|(at, _)| &self.name[at + OPS.len()..]);
        paths
            .map(|rest| {
                &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len())]
            })
            .map(|path| path.trim_end_matches(':'))
            .find(|path| path.ends_with("Fn") || path.ends_with("Mode"))
    }

    pub(crate) fn part(&self) -> Part {
        Part::of(&self.name)
    }
}

/// Every function of a program with its size, by name.
pub(crate) fn read(path: &Path) -> Result<Vec<Symbol>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_text = |symbol: &object::Symbol<'_, '_>| {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        section.is_some_and(|section| section.kind() == SectionKind::Text)
    };
    let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0 && is_text(s));
    // Identical functions are merged under several names; their code is there once.
    let mut found: Vec<(u64, Symbol)> = functions
        .map(|s| {
            let name = format!("{:#}", rustc_demangle::demangle(s.name().unwrap_or("?")));
            (s.address(), Symbol { name, bytes: s.size() })
        })
        .collect();
    found.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    found.dedup_by_key(|(address, _)| *address);
    if found.is_empty() {
        return Err(format!(
            "{} has no symbols with sizes: bloat reads ELF programs that are not stripped",
            path.display()
        ));
    }
    Ok(found.into_iter().map(|(_, symbol)| symbol).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str) -> Symbol {
        Symbol { name: name.to_owned(), bytes: 1 }
    }

    #[test]
    fn names_tell_operator_part_and_crate() {
        let op = "monomorph_ops::pointwise::op::Pointwise<monomorph_ops::arithmetic::AddFn, \
            monomorph_ops::pointwise::op::Prebuilt>";
        let call = format!("monomorph_core::structured::sink::call::<{op}, ");
        let cases = [
            (
                "<monomorph_ops::exponential::ExpFn as monomorph_cpu::isa::FrameOfAvx512>::frame_avx512::<\
                    monomorph_cpu::pointwise::dense_loop::DenseLoop<monomorph_ops::exponential::ExpFn, f64>>"
                    .to_owned(),
                ("monomorph_cpu", Some("exponential::ExpFn"), Part::Avx512),
            ),
            (
                "monomorph_cpu::reduce::accumulate::accumulate::<monomorph_ops::reduce::sum::SumFn, i64, \
                    monomorph_cpu::isa::Portable>"
                    .to_owned(),
                ("monomorph_cpu", Some("reduce::sum::SumFn"), Part::Portable),
            ),
            (
                format!(
                    "{call}monomorph_cpu::device::Cpu, \
                    monomorph_core::structured::sink::Out<monomorph_cpu::device::Cpu, 1>>"
                ),
                ("monomorph_core", Some("arithmetic::AddFn"), Part::Out),
            ),
            (
                format!(
                    "{call}monomorph_core::storage::device::Meta, \
                    monomorph_core::structured::sink::Functional<monomorph_core::storage::device::Meta, 1>>"
                ),
                ("monomorph_core", Some("arithmetic::AddFn"), Part::Meta),
            ),
            (
                format!("<{op} as monomorph_core::structured::StructuredOp>::meta"),
                ("monomorph_ops", Some("arithmetic::AddFn"), Part::Shared),
            ),
            ("<&str as core::str::pattern::Pattern>::is_contained_in".to_owned(), ("other", None, Part::Shared)),
            ("main".to_owned(), ("other", None, Part::Shared)),
        ];
        for (name, (krate, op, part)) in cases {
            let symbol = symbol(&name);
            assert_eq!((symbol.krate(), symbol.op(), symbol.part()), (krate, op, part), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_no_program_is_an_error() {
        assert!(read(Path::new("/nowhere at all")).is_err());
        assert!(read(&xtask::workspace_root().join("Cargo.toml")).is_err());
    }

    #[test]
    fn this_program_has_its_own_functions() {
        let this = std::env::current_exe().expect("a path");
        let symbols = read(&this).expect("tests are not stripped");
        assert!(symbols.iter().any(|symbol| symbol.name.contains("this_program_has_its_own_functions")));
    }
}

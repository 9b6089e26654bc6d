//! From a recorded fold to the type that the loops of `kernels/reduce.cu` take, and to the text of a translation unit.

use crate::functor::{CASTING, DEVICE};
use monomorph_core::DType;
use monomorph_ops::algebra::sym::{Function, PRELUDE, c_suffix, c_type};
use monomorph_ops::reduce::Recording;
use smallvec::SmallVec;
use std::fmt::Write;

/// The loops over folds.
const REDUCE: &str = include_str!("../kernels/reduce.cu");

/// How the elements of an operand lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stored {
    /// Their dtype.
    pub dtype: DType,
    /// Memory holds the conjugates.
    pub conj: bool,
    /// Memory holds the negatives.
    pub neg: bool,
}

impl From<DType> for Stored {
    fn from(dtype: DType) -> Stored {
        Stored { dtype, conj: false, neg: false }
    }
}

impl Stored {
    /// `K_CONJ` and `K_NEG`.
    fn bits(self) -> u32 {
        u32::from(self.conj) | u32::from(self.neg) << 1
    }
}

/// Where the elements of one output are: one kernel of each for every reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputLayout {
    /// Side by side, in words of 16 bytes.
    Dense,
    /// At any strides.
    Strided,
}

impl InputLayout {
    /// Every layout.
    pub const ALL: [InputLayout; 2] = [InputLayout::Dense, InputLayout::Strided];

    /// What the names of its kernels end in.
    pub const fn suffix(self) -> &'static str {
        match self {
            InputLayout::Dense => "dense",
            InputLayout::Strided => "apart",
        }
    }
}

/// A fold at one dtype, of operands that lie so, as the type that the loops take. What is converted is so by the text:
/// a switch for each element would cost more than the element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    name: String,
    compute: DType,
    recording: Recording,
    input: Stored,
    results: SmallVec<[Stored; 2]>,
}

impl Reduction {
    /// The reduction of a fold on `compute`, whose operands are of its own dtypes. `name` must be an identifier of C,
    /// unlike others of its translation unit, and not begin with `k_`.
    pub fn new(name: &str, compute: DType, recording: Recording) -> Reduction {
        let results = recording.finish.outputs().map(Stored::from).collect();
        Reduction { name: name.to_owned(), compute, recording, input: compute.into(), results }
    }

    /// The reduction of other operands: the input, and one result for each that the fold has.
    #[must_use]
    pub fn of(self, input: Stored, results: &[Stored]) -> Reduction {
        let own = self.results.iter().enumerate();
        let results = own.map(|(k, &own)| results.get(k).copied().unwrap_or(own)).collect();
        Reduction { input, results, ..self }
    }

    /// The name of a kernel.
    pub fn kernel(&self, layout: InputLayout) -> String {
        format!("{}_{}", self.name, layout.suffix())
    }

    /// The dtype that it computes in.
    pub fn compute(&self) -> DType {
        self.compute
    }

    /// How the input lies.
    pub fn input(&self) -> Stored {
        self.input
    }

    /// How the results lie.
    pub fn results(&self) -> &[Stored] {
        &self.results
    }

    /// The recording.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Elements of a word of the input.
    pub(crate) fn each(&self) -> usize {
        16 / self.input.dtype.size()
    }

    /// Bytes of an accumulator: a structure of its parts in registers.
    pub(crate) fn accumulator(&self) -> usize {
        let registers = self.recording.one.outputs().map(|dtype| match dtype {
            DType::F16 | DType::BF16 => (4, 4),
            dtype if dtype.is_complex() => (dtype.size(), dtype.size() / 2),
            dtype => (dtype.size(), dtype.size()),
        });
        let (bytes, align) = registers
            .fold((0_usize, 1), |(end, most), (bytes, align)| (end.next_multiple_of(align) + bytes, most.max(align)));
        bytes.next_multiple_of(align)
    }

    /// The type and its kernels, as text.
    pub fn text(&self) -> String {
        let Reduction { name, recording, .. } = self;
        let parts: Vec<&str> = recording.one.outputs().map(c_type).collect();
        let of = |prefix: &str| (0..parts.len()).map(|k| format!("{prefix}.p{k}")).collect::<Vec<_>>().join(", ");
        let value = c_type(self.compute);
        let methods = [
            ("one", Some(&recording.one), format!("{value} x, k_i64 at"), "x, at".to_owned()),
            (
                "four",
                Some(&recording.four),
                format!("{value} a, {value} b, {value} c, {value} d, k_i64 i, k_i64 j, k_i64 k, k_i64 l"),
                "a, b, c, d, i, j, k, l".to_owned(),
            ),
            (
                "merge",
                Some(&recording.merge),
                "const Acc &a, const Acc &b".to_owned(),
                format!("{}, {}", of("a"), of("b")),
            ),
            ("nothing", recording.identity.as_ref(), String::new(), String::new()),
        ];
        let mut text = recording.finish.c_source(&format!("{name}_finish"));
        let mut body = String::new();
        // Writing to a String cannot fail.
        for (method, function, takes, passes) in methods {
            let calls = match function {
                Some(function) => {
                    let function_name = format!("{name}_{method}");
                    text += &function.c_source(&function_name);
                    call(function, &function_name, &passes, "y.p")
                }
                None => String::new(),
            };
            let _ = writeln!(body, "    K_FN Acc {method}({takes}) {{ Acc y = Acc(); {calls}return y; }}");
        }
        let fields: String = parts.iter().enumerate().map(|(k, of)| format!("{of} p{k}; ")).collect();
        let results: String =
            recording.finish.outputs().enumerate().map(|(k, dtype)| format!("{} y{k}; ", c_type(dtype))).collect();
        let finish = call(&recording.finish, &format!("{name}_finish"), &format!("{}, count", of("acc")), "y");
        let stores: String = recording.finish.outputs().zip(&self.results).enumerate().map(store).collect();
        let _ = write!(
            text,
            "struct {name} {{
    enum {{ RESULTS = {count} }};
    typedef K_{memory} In;
    typedef K_{own} Value;
    struct Acc {{ {fields}}};
    K_FN {value} take(const In::Memory &m) {{ return {taken}; }}
{body}    template <class A> K_FN void finish(const Acc &acc, k_i64 count, const A &a, const k_u32 *at) {{
        {results}{finish}{stores}
    }}
}};
",
            count = self.results.len(),
            memory = c_suffix(self.input.dtype),
            own = c_suffix(self.compute),
            taken = self.taken(),
        );
        for layout in InputLayout::ALL {
            let (kernel, elements) = (self.kernel(layout), layout.suffix());
            let _ = writeln!(
                text,
                "extern \"C\" __global__ void __launch_bounds__(K_THREADS, 1) {kernel}(const __grid_constant__ \
                 k_reduce_arguments<{name}> a) {{ k_reduce<{name}, k_{elements}<{name}> >(a); }}"
            );
        }
        text
    }

    /// The register of an element that is loaded.
    fn taken(&self) -> String {
        let loaded = turned("In::load(m)".to_owned(), self.input);
        if self.input.dtype == self.compute {
            return loaded;
        }
        format!("Value::load(Value::store(k_to<Value::Register>::of({loaded})))")
    }
}

/// The call of a recorded function, whose outputs go to `y0`, `y1`, …
fn call(function: &Function, name: &str, passes: &str, y: &str) -> String {
    match function.outputs().len() {
        1 => format!("{y}0 = {name}({passes}); "),
        n => {
            let pointers = (0..n).map(|k| format!("&{y}{k}"));
            let passes = Some(passes.to_owned()).filter(|passes| !passes.is_empty());
            format!("{name}({}); ", passes.into_iter().chain(pointers).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A register in place of what memory holds, or the other way round.
fn turned(x: String, stored: Stored) -> String {
    if stored.bits() == 0 { x } else { format!("k_turned({x}, {}u)", stored.bits()) }
}

/// Stores a result, rounded as its own dtype, as it is to lie.
fn store((k, (own, &stored)): (usize, (DType, &Stored))) -> String {
    let (own, to) = (c_suffix(own), c_suffix(stored.dtype));
    let rounded = format!("K_{own}::load(K_{own}::store(y{k}))");
    let value = match to == own {
        true => turned(rounded, stored),
        false => turned(format!("k_to<K_{to}::Register>::of({rounded})"), stored),
    };
    format!("*(K_{to}::Memory *)(a.data[{k}] + at[{k}]) = K_{to}::store({value}); ")
}

/// A translation unit with the kernels of these reductions: CUDA C++ without an include.
pub fn reductions_source(reductions: &[Reduction]) -> String {
    let parts = [PRELUDE, DEVICE, CASTING, REDUCE].map(str::to_owned);
    parts.into_iter().chain(reductions.iter().map(Reduction::text)).collect::<Vec<_>>().join("\n")
}

//! From a recorded formula to the type that the loops take, and to the text of a translation unit. Owns the names of
//! kernels and how many elements a thread works on; the loops are in `kernels/`, the arithmetic in the prelude of the
//! recordings.

use monomorph_core::DType;
use monomorph_ops::algebra::sym::{Function, PRELUDE, c_suffix, c_type};
use std::fmt::Write;

/// Elements in memory, words, division: what all loops stand on.
pub(crate) const DEVICE: &str = include_str!("kernels/device.cu");

/// Elements of any dtype.
pub(crate) const CASTING: &str = include_str!("kernels/casting.cu");

/// The loops over pointwise formulas.
const POINTWISE: &str = include_str!("kernels/pointwise.cu");

/// Bytes that one instruction can move.
const WORD: usize = 16;

/// A way to loop over a pointwise formula: one kernel of each for every functor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Rows along which every operand is dense or one element, in groups of 16 bytes; dims outside of a row have any
    /// strides.
    Vector,
    /// Any strides, element by element.
    Strided,
    /// Any strides and any dtypes, conjugated or negated, converted element by element.
    Casting,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 3] = [Form::Vector, Form::Strided, Form::Casting];

    /// Those for operands of the functor's own dtypes.
    pub const EXACT: [Form; 2] = [Form::Vector, Form::Strided];

    /// What the names of its kernels end in.
    pub const fn suffix(self) -> &'static str {
        match self {
            Form::Vector => "vector",
            Form::Strided => "strided",
            Form::Casting => "casting",
        }
    }
}

/// A pointwise formula at one dtype, as the type that the loops take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Functor {
    name: String,
    function: Function,
    fault: Option<Function>,
    light: bool,
}

impl Functor {
    /// The functor of a recording with one output. `name` must be an identifier of C, unlike others of its translation
    /// unit, and not begin with `k_`.
    pub fn new(name: &str, function: Function) -> Functor {
        Functor { name: name.to_owned(), function, fault: None, light: false }
    }

    /// The functor, some operands of which have no result: `fault` says of the same inputs whether it is so. What is
    /// stored for these is unspecified, and the kernel raises the flag of its arguments.
    pub fn with_fault(self, fault: Option<Function>) -> Functor {
        Functor { fault, ..self }
    }

    /// The functor, with more elements in flight where they take longer to move than to compute.
    pub fn with_light(self, light: bool) -> Functor {
        Functor { light, ..self }
    }

    /// The name of a kernel.
    pub fn kernel(&self, form: Form) -> String {
        format!("{}_{}", self.name, form.suffix())
    }

    /// The recording.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Whether operands may have no result.
    pub fn has_fault(&self) -> bool {
        self.fault.is_some()
    }

    /// The dtype of the output.
    pub fn output(&self) -> DType {
        self.function.outputs().next().unwrap_or(DType::Bool)
    }

    /// Elements of a group: one word of the largest operand.
    pub fn group(&self) -> usize {
        let sizes = self.function.inputs().iter().map(|dtype| dtype.size());
        WORD / sizes.fold(self.output().size(), usize::max)
    }

    /// Groups that a thread of the vectorised loop has in flight.
    pub fn groups(&self) -> usize {
        if self.light { 2 } else { 1 }
    }

    /// Elements that a thread of the strided loop has in flight.
    pub fn strided(&self) -> usize {
        if self.light { 4 } else { 1 }
    }

    /// The type and its kernels in every form, as text.
    pub fn text(&self) -> String {
        self.text_of(&Form::ALL)
    }

    /// The type and its kernels in these forms, as text.
    pub fn text_of(&self, forms: &[Form]) -> String {
        let Functor { name, function, .. } = self;
        let of = |prefix: &'static str, dtypes: &[DType]| -> Vec<(String, &'static str)> {
            dtypes.iter().enumerate().map(|(i, &dtype)| (format!("{prefix}{i}"), c_type(dtype))).collect()
        };
        let (inputs, params) = (of("x", function.inputs()), of("p", function.params()));
        let elements = |dtypes: &[DType]| -> Vec<String> {
            dtypes.iter().map(|&dtype| format!("K_{}", c_suffix(dtype))).collect()
        };
        let declared: Vec<String> = inputs.iter().map(|(x, of)| format!("{of} {x}")).collect();
        let passed: Vec<&str> = inputs.iter().map(|(x, _)| x.as_str()).collect();
        let numbers = params.iter().map(|(p, _)| format!("p.{p}"));
        let arguments: Vec<String> = passed.iter().map(|&x| x.to_owned()).chain(numbers).collect();
        let leading = |list: &[String]| list.iter().map(|item| format!(", {item}")).collect::<String>();

        let mut text = function.c_source(&format!("{name}_eval"));
        if let Some(fault) = &self.fault {
            text += &fault.c_source(&format!("{name}_fault"));
        }
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "struct {name} {{
    enum {{ GROUP = {group}, GROUPS = {groups}, STRIDED = {strided}, FAULTS = {faults} }};
    typedef k_list<{list}> In;
    typedef K_{out} Out;
    struct Params {{ {fields} }};
    K_FN {result} eval(const Params &p{eval}) {{ (void)p; return {name}_eval({arguments}); }}
    K_FN k_bool fault({declared}) {{ {fault} }}
}};
",
            group = self.group(),
            groups = self.groups(),
            strided = self.strided(),
            faults = u8::from(self.has_fault()),
            list = elements(function.inputs()).join(", "),
            out = c_suffix(self.output()),
            fields = params.iter().map(|(p, of)| format!("{of} {p};")).collect::<Vec<_>>().join(" "),
            result = c_type(self.output()),
            eval = leading(&declared),
            arguments = arguments.join(", "),
            fault = match self.fault {
                Some(_) => format!("return {name}_fault({});", passed.join(", ")),
                None => passed.iter().map(|x| format!("(void){x}; ")).collect::<String>() + "return false;",
            },
            declared = declared.join(", "),
        );
        for &form in forms {
            let (kernel, form) = (self.kernel(form), form.suffix());
            let _ = writeln!(
                text,
                "extern \"C\" __global__ void __launch_bounds__(K_THREADS, 1) {kernel}(const __grid_constant__ \
                 k_{form}_arguments<{name}> a) {{ k_{form}<{name}>(a); }}"
            );
        }
        text
    }
}

/// A translation unit with the kernels of these functors in every form: CUDA C++ without an include.
pub fn source(functors: &[Functor]) -> String {
    source_of(functors, &Form::ALL)
}

/// The same with these forms alone.
pub fn source_of(functors: &[Functor], forms: &[Form]) -> String {
    let parts = [PRELUDE, DEVICE, CASTING, POINTWISE].map(str::to_owned);
    parts.into_iter().chain(functors.iter().map(|functor| functor.text_of(forms))).collect::<Vec<_>>().join("\n")
}

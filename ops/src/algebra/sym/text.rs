//! C text for a recorded function. Owns its statements; names and literals are those of `source.rs`.

use super::graph::{Function, Node, Source};
use super::repeat::homes;
use super::source::{c_suffix, c_type, literal_text};
use std::fmt::Write;

impl Function {
    /// The text of the function: `K_FN k_f32 name(k_f32 x0, k_f32 x1, k_f32 p0) { … }`, after the
    /// [`PRELUDE`](super::PRELUDE).
    ///
    /// Inputs come first, then parameters. One output is returned; several are written through the pointers `y0`, `y1`,
    /// … that follow, and the function returns nothing. Half inputs and outputs are `k_f32`: whoever loads and stores
    /// them converts.
    pub fn c_source(&self, name: &str) -> String {
        let single = self.outputs.len() == 1;
        let mut arguments = Vec::new();
        for (prefix, dtypes) in [("x", &self.inputs), ("p", &self.params)] {
            for (place, &dtype) in dtypes.iter().enumerate() {
                arguments.push(format!("{} {prefix}{place}", c_type(dtype)));
            }
        }
        if !single {
            arguments.extend(self.outputs().enumerate().map(|(place, dtype)| format!("{} *y{place}", c_type(dtype))));
        }
        let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
        let result = if single { self.outputs().map(c_type).next().unwrap_or("void") } else { "void" };

        let mut text = format!("K_FN {result} {name}({arguments}) {{\n");
        let statements = Statements::new(self);
        statements.write(&mut text, None, 0..self.nodes.len());
        for (place, &index) in self.outputs.iter().enumerate() {
            let value = statements.name(index);
            // Writing to a String cannot fail.
            let _ =
                if single { writeln!(text, "    return {value};") } else { writeln!(text, "    *y{place} = {value};") };
        }
        text.push_str("}\n");
        text
    }

    /// Which nodes an output depends on.
    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        for &output in &self.outputs {
            used[output as usize] = true;
        }
        // Operands come before their uses, so one sweep backwards reaches all. The results of a loop come one after
        // another, and whichever is used needs the whole loop.
        for index in (0..self.nodes.len()).rev() {
            match self.nodes[index].source {
                _ if !used[index] => {}
                Source::Apply { arity, args, .. } => args[..arity].iter().for_each(|&arg| used[arg as usize] = true),
                Source::Result { of, place } => {
                    let each = &self.loops[of as usize];
                    let ends = [each.count, each.goes_on, (index - place as usize) as u32];
                    each.start.iter().chain(&each.next).chain(&ends).for_each(|&node| used[node as usize] = true);
                }
                _ => {}
            }
        }
        used
    }
}

/// The statements of a function.
struct Statements<'a> {
    function: &'a Function,
    used: Vec<bool>,
    homes: Vec<Option<u32>>,
    /// The first result of each loop: the others follow.
    results: Vec<u32>,
}

impl<'a> Statements<'a> {
    fn new(function: &'a Function) -> Self {
        let mut results = vec![0; function.loops.len()];
        for (index, node) in (0..).zip(&function.nodes) {
            if let Source::Result { of, place: 0 } = node.source {
                results[of as usize] = index;
            }
        }
        Statements { function, used: function.used(), homes: homes(&function.nodes, &function.loops), results }
    }

    /// Writes those of the nodes that belong to `home`.
    fn write(&self, text: &mut String, home: Option<u32>, nodes: std::ops::Range<usize>) {
        let indent = "    ".repeat(1 + home.map_or(0, |of| self.depth(of)));
        for index in nodes.filter(|&index| self.used[index] && self.homes[index] == home) {
            match self.function.nodes[index] {
                Node { source: Source::Apply { .. }, dtype } => {
                    let _ = writeln!(text, "{indent}const {} v{index} = {};", c_type(dtype), self.expression(index));
                }
                Node { source: Source::Result { of, place: 0 }, .. } => self.write_loop(text, of, &indent),
                _ => {}
            }
        }
    }

    /// What a loop carries is in variables, which have the names of its results.
    fn write_loop(&self, text: &mut String, of: u32, indent: &str) {
        let Function { nodes, loops, .. } = self.function;
        let each = &loops[of as usize];
        let variables = || (self.results[of as usize]..).zip(&each.next);
        for ((variable, _), &start) in variables().zip(&each.start) {
            let dtype = c_type(nodes[start as usize].dtype);
            let _ = writeln!(text, "{indent}{dtype} v{variable} = {};", self.name(start));
        }
        let steps = format!("k_steps_{}({})", c_suffix_of_register(nodes[each.count as usize]), self.name(each.count));
        let _ = writeln!(text, "{indent}for (k_i64 i{of} = 0, n{of} = {steps}; i{of} < n{of}; i{of}++) {{");
        let asked = each.goes_on as usize + 1;
        self.write(text, Some(of), 0..asked);
        let _ = writeln!(text, "{indent}    if (!{}) break;", self.name(each.goes_on));
        self.write(text, Some(of), asked..nodes.len());
        // All of them before the first is changed.
        for (variable, &next) in variables() {
            let dtype = c_type(nodes[next as usize].dtype);
            let _ = writeln!(text, "{indent}    const {dtype} next{variable} = {};", self.name(next));
        }
        for (variable, _) in variables() {
            let _ = writeln!(text, "{indent}    v{variable} = next{variable};");
        }
        let _ = writeln!(text, "{indent}}}");
    }

    fn depth(&self, of: u32) -> usize {
        std::iter::successors(Some(of), |&of| self.function.loops[of as usize].parent).count()
    }

    /// What stands for a node where it is used: constants stand for themselves.
    fn name(&self, index: u32) -> String {
        match self.function.nodes[index as usize] {
            Node { source: Source::Input(place), .. } => format!("x{place}"),
            Node { source: Source::Param(place), .. } => format!("p{place}"),
            Node { source: Source::Constant(literal), dtype } => literal_text(literal, dtype),
            Node { source: Source::Carried { of, place }, .. } => format!("v{}", self.results[of as usize] + place),
            Node { source: Source::Index { of }, .. } => format!("i{of}"),
            Node { source: Source::Apply { .. } | Source::Result { .. }, .. } => format!("v{index}"),
        }
    }

    fn expression(&self, index: usize) -> String {
        let Source::Apply { op, arity, operand, args } = self.function.nodes[index].source else {
            return self.name(index as u32);
        };
        let operands: Vec<String> = args[..arity].iter().map(|&arg| self.name(arg)).collect();
        format!("k_{}_{}({})", op.stem(), c_suffix(op.family(operand)), operands.join(", "))
    }
}

/// The halves are float32 in a register.
fn c_suffix_of_register(node: Node) -> &'static str {
    if node.dtype == monomorph_core::DType::F64 { "f64" } else { "f32" }
}

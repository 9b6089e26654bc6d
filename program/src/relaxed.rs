//! Changes of a program that round otherwise than its operators in turn: batch norms are folded into the weights of
//! convolutions, and operators are called where roundings are relaxed. Owns what is folded; refuses to change what a
//! program has beyond its rounding.
//!
//! ```text
//! y = norm(conv(x, w, b)) = ((conv(x, w) + b) - mean) · s + shift         s = weight / √(variance + eps)
//!                         = conv(x, w · s) + (b - mean) · s + shift       each channel its own s
//! ```
//!
//! Weights are computed in float64 and rounded once, so that each product differs by a rounding from that of the
//! program, and a sum by what its terms do (Jacob et al., "Quantization and training of neural networks for efficient
//! integer-arithmetic-only inference", 2018, section 3.2, has the same formula).

use crate::error::{ProgramError, Result};
use crate::graph::{
    Argument, Called, Callee, Graph, InputKind, Node, Output, OutputKind, Recorded, ValueId, ValueInfo,
};
use crate::program::Inner;
use monomorph_core::strides::is_non_overlapping_and_dense;
use monomorph_core::{AnyTensor, DType, Geometry, IValue};

/// A batch norm by running statistics.
struct Norm {
    input: ValueId,
    /// Weight, bias, mean and variance.
    numbers: [Option<ValueId>; 4],
    eps: f64,
    output: ValueId,
}

/// A convolution of the norm's input, by its node.
struct Convolution {
    node: usize,
    weight: ValueId,
    bias: Option<ValueId>,
}

/// The weight and bias of both.
struct Folded {
    weight: AnyTensor,
    bias: AnyTensor,
}

/// A program with these changes.
pub(crate) fn relaxed(program: &Inner) -> Result<Inner> {
    let mut own = Inner { is_relaxed: true, ..program.clone() };
    let norms: Vec<usize> = (0..own.graph.nodes.len()).filter(|&node| own.norm(node).is_some()).collect();
    let mut folded = Vec::new();
    for node in norms {
        if own.fold(node).map_err(|source| of(&program.graph.nodes[node], source))? {
            folded.push(node);
        }
    }
    let mut index = 0;
    own.graph.nodes.retain(|_| {
        index += 1;
        folded.binary_search(&(index - 1)).is_err()
    });
    own.graph.nodes.iter_mut().for_each(|node| node.last_uses.clear());
    own.graph.find_last_uses();
    Ok(own)
}

fn of(node: &Node, source: monomorph_core::Error) -> ProgramError {
    ProgramError::Tensor { place: format!("{} ({})", node.name, node.module), source }
}

fn called(node: &Node) -> Option<&Called> {
    match &node.callee {
        Callee::Operator(called) => Some(called),
        _ => None,
    }
}

/// An argument that is a value, or none.
fn value(argument: &Argument) -> Option<Option<ValueId>> {
    match argument {
        Argument::Value(id) => Some(Some(*id)),
        Argument::Constant(IValue::None) => Some(None),
        _ => None,
    }
}

fn is_false(argument: &Argument) -> bool {
    matches!(argument, Argument::Constant(IValue::Bool(false)))
}

impl Inner {
    /// What a node is if it is a norm by running statistics.
    fn norm(&self, node: usize) -> Option<Norm> {
        let node = &self.graph.nodes[node];
        let args = &node.args[..];
        let (args, eps) = match (called(node)?.handle.name(), args) {
            ("batch_norm", [args @ .., training, _, eps, _]) if is_false(training) => (args, eps),
            ("_native_batch_norm_legit_no_training", [args @ .., _, eps]) => (args, eps),
            _ => return None,
        };
        let ([x, numbers @ ..], Argument::Constant(IValue::Float(eps))) = (args, eps) else { return None };
        let [Output::One(output), rest @ ..] = &node.outputs[..] else { return None };
        let rest = rest.iter().flat_map(Output::values);
        if rest.into_iter().any(|id| self.graph.uses(*id).next().is_some() || self.graph.goes_out(*id)) {
            return None;
        }
        let numbers: Vec<_> = numbers.iter().map(value).collect::<Option<_>>()?;
        Some(Norm { input: value(x)??, numbers: numbers.try_into().ok()?, eps: *eps, output: *output })
    }

    /// The convolution that gives a value to nobody else.
    fn convolution(&self, of: ValueId) -> Option<Convolution> {
        let is_it = |node: &Node| matches!(node.outputs[..], [Output::One(output)] if output == of);
        let node = self.graph.nodes.iter().position(is_it)?;
        let call = &self.graph.nodes[node];
        let is_transposed = match called(call)?.handle.name() {
            "conv1d" | "conv2d" | "conv3d" | "conv1d.padding" | "conv2d.padding" | "conv3d.padding" => false,
            "convolution" => !is_false(call.args.get(6)?),
            _ => return None,
        };
        let is_alone = self.graph.uses(of).count() == 1 && !self.graph.goes_out(of);
        let (weight, bias) = (value(call.args.get(1)?)??, value(call.args.get(2)?)?);
        (is_alone && !is_transposed).then_some(Convolution { node, weight, bias })
    }

    /// A tensor of the program that no run writes.
    fn constant(&self, id: ValueId) -> Option<&AnyTensor> {
        let position = self.graph.inputs.iter().position(|input| *input == id)?;
        let is_written = |node: &Node| match called(node) {
            // What may write it through a view is not followed.
            Some(called) => !called.writes.is_empty() || called.gives_views(),
            None => true,
        };
        let is_mutated = self.outputs.contains(&OutputKind::Mutation(position));
        let is_constant = !is_mutated && !self.graph.goes_out(id) && !self.graph.uses(id).any(is_written);
        self.given[position].as_ref().filter(|tensor| is_constant && tensor.is_frozen())
    }

    /// Folds a norm, if it is one of a convolution with constant numbers.
    fn fold(&mut self, norm: usize) -> monomorph_core::Result<bool> {
        let Some(norm) = self.norm(norm) else { return Ok(false) };
        let Some(convolution) = self.convolution(norm.input) else { return Ok(false) };
        let Some(folded) = self.folded(&norm, &convolution)? else { return Ok(false) };
        let Folded { weight, bias } = folded;
        let name = self.graph.value(convolution.weight).name.clone();
        let place = |what: &str| format!("{name} folded into {what}").into_boxed_str();
        let weight = self.add(place("weight"), weight);
        let bias = self.add(place("bias"), bias);
        let node = &mut self.graph.nodes[convolution.node];
        node.args[1] = Argument::Value(weight);
        node.args[2] = Argument::Value(bias);
        node.outputs[0] = Output::One(norm.output);
        Ok(true)
    }

    /// The numbers of both, or none if they are not of the kind that can be folded.
    fn folded(&self, norm: &Norm, convolution: &Convolution) -> monomorph_core::Result<Option<Folded>> {
        let Some(weight) = self.constant(convolution.weight) else { return Ok(None) };
        let (dtype, channels) = (weight.dtype(), weight.sizes().first().copied().unwrap_or(0));
        let mut lists = Vec::with_capacity(5);
        for id in norm.numbers.iter().chain([&convolution.bias]) {
            let Some(id) = id else {
                lists.push(None);
                continue;
            };
            let Some(tensor) = self.constant(*id).filter(|t| t.dtype() == dtype && t.sizes() == [channels]) else {
                return Ok(None);
            };
            lists.push(numbers(tensor)?);
        }
        let [scale, shift, Some(mean), Some(variance), bias] = &lists[..] else { return Ok(None) };
        let or =
            |list: &Option<Vec<f64>>, channel: usize, absent: f64| list.as_ref().map_or(absent, |list| list[channel]);
        let factors: Vec<f64> =
            variance.iter().enumerate().map(|(c, x)| or(scale, c, 1.0) / (x + norm.eps).sqrt()).collect();
        let moved = factors.iter().enumerate().map(|(c, s)| (or(bias, c, 0.0) - mean[c]) * s + or(shift, c, 0.0));
        let Some(weight) = self.scaled(weight, &factors)? else { return Ok(None) };
        let geometry = Geometry::contiguous(dtype, &[channels])?;
        let bias = self.made(&moved.flat_map(|x| bytes(dtype, x)).collect::<Vec<u8>>(), geometry)?;
        Ok(Some(Folded { weight, bias }))
    }

    /// A weight, each channel times a factor, in strides like its own.
    fn scaled(&self, weight: &AnyTensor, factors: &[f64]) -> monomorph_core::Result<Option<AnyTensor>> {
        let (sizes, strides, dtype) = (weight.sizes(), weight.strides(), weight.dtype());
        if !is_non_overlapping_and_dense(sizes, strides) {
            return Ok(None);
        }
        let Some(elements) = numbers(weight)? else { return Ok(None) };
        let size = dtype.size();
        let mut own = vec![0; elements.len() * size];
        let of_channel = elements.len() / factors.len().max(1);
        let mut at = vec![0; sizes.len()];
        for (i, x) in elements.into_iter().enumerate() {
            let place: i64 = at.iter().zip(strides).map(|(i, stride)| i * stride).sum();
            own[place as usize * size..][..size].copy_from_slice(&bytes(dtype, x * factors[i / of_channel]));
            for (i, size) in at.iter_mut().zip(sizes).rev() {
                *i = (*i + 1) % size;
                if *i > 0 {
                    break;
                }
            }
        }
        self.made(&own, Geometry::new(dtype, sizes, strides, 0)?).map(Some)
    }

    /// A frozen tensor of these bytes.
    fn made(&self, bytes: &[u8], geometry: Geometry) -> monomorph_core::Result<AnyTensor> {
        let tensor = (self.copies.storage)(bytes)?.with_geometry(geometry)?;
        tensor.freeze()?;
        Ok(tensor)
    }

    /// Adds a constant to what the program brings along.
    fn add(&mut self, name: Box<str>, tensor: AnyTensor) -> ValueId {
        let id = ValueId(self.graph.values.len() as u32);
        self.graph.values.push(ValueInfo { name: name.clone(), recorded: Recorded::Nothing });
        self.graph.inputs.push(id);
        self.inputs.push(InputKind::Constant(name));
        self.given.push(Some(tensor));
        id
    }
}

impl Graph {
    /// The nodes that use a value, each as often as it does.
    fn uses(&self, id: ValueId) -> impl Iterator<Item = &Node> {
        self.nodes.iter().flat_map(move |node| {
            let uses = node.args.iter().flat_map(Argument::values).filter(|used| *used == id).count();
            std::iter::repeat_n(node, uses)
        })
    }

    fn goes_out(&self, id: ValueId) -> bool {
        self.outputs.iter().flat_map(Argument::values).any(|output| output == id)
    }
}

/// The elements of a tensor in row-major order; none of other dtypes than float32 and float64.
fn numbers(tensor: &AnyTensor) -> monomorph_core::Result<Option<Vec<f64>>> {
    Ok(Some(match tensor.dtype() {
        DType::F32 => tensor.to_vec::<f32>()?.into_iter().map(f64::from).collect(),
        DType::F64 => tensor.to_vec::<f64>()?,
        _ => return Ok(None),
    }))
}

/// A number as an element of a dtype, which is one of those.
fn bytes(dtype: DType, x: f64) -> Vec<u8> {
    match dtype {
        DType::F32 => (x as f32).to_ne_bytes().to_vec(),
        _ => x.to_ne_bytes().to_vec(),
    }
}

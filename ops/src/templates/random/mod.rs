//! The template of random numbers: a tensor is filled with draws from a distribution, one element after another in the
//! order of memory, by one source. Owns the distributions, what each asks of its parameters and of the dtype, and the
//! meta function; devices have the stream and the loops.
//!
//! An element's number depends on how many elements come before it, so a call is serial, and so that results are those
//! of PyTorch the order is that of its iterator: dimensions by stride, the smallest innermost.
//!
//! | file | owns |
//! | --- | --- |
//! | `fills` | operators that fill a tensor by parameters that are numbers: uniform, normal, random, exponential, … |
//! | `factories` | new tensors: rand, randn, randint, randperm and those like another tensor |
//! | `parameters` | operators whose parameters are tensors: bernoulli, normal, poisson, binomial, gamma |
//! | `slopes` | rrelu: slopes of elements up to zero |
//! | `choices` | indices by weight: multinomial |
//! | `rule` | what distributions ask of parameters and dtypes |
//! | `dropout` | compositions over these: dropout and its kin |

pub mod choices;
pub mod dropout;
pub mod factories;
pub mod fills;
pub mod parameters;
mod rule;
pub mod slopes;

use crate::copies::clone_tensor;
use crate::fill::Fills;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Executes, FromArgs, Operand, SinkState, StructuredOp, call, in_place};
use monomorph_core::{Category, DType, ErrorKind, Generator, Options, Result, Tensor};
use monomorph_iter::{Config, Flags, TensorIter, View, build_over_into};

/// What an element is drawn from. Tensors of parameters are operands of the call, in the order of the names.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Distribution {
    /// Even over [from, to).
    Uniform {
        /// The lower bound.
        from: f64,
        /// The upper bound.
        to: f64,
    },
    /// Normal. A contiguous tensor of 16 elements or more is computed in blocks of 16.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// The exponential of a normal number.
    LogNormal {
        /// The mean of the normal number.
        mean: f64,
        /// Its standard deviation.
        std: f64,
    },
    /// Of Cauchy.
    Cauchy {
        /// The median.
        median: f64,
        /// Half the distance of the quartiles.
        sigma: f64,
    },
    /// Exponential.
    Exponential {
        /// The rate.
        rate: f64,
    },
    /// How many trials up to the first success.
    Geometric {
        /// The probability of success.
        p: f64,
    },
    /// One with this probability, else zero.
    Bernoulli {
        /// The probability of one.
        p: f64,
    },
    /// Whole numbers: `base` and the `range - 1` behind it.
    Range {
        /// How many numbers.
        range: u64,
        /// The lowest.
        base: i64,
    },
    /// Any int64.
    EveryInt64,
    /// Whole numbers from zero to the largest of the dtype; of floating dtypes to the one up to which all exist.
    Whole,
    /// The numbers from zero on, each once.
    Permutation,
    /// One with the probability in a tensor, else zero.
    BernoulliOf,
    /// How many events there are of a rate in a tensor.
    PoissonOf,
    /// Of a gamma distribution with the shape in a tensor and the scale 1.
    GammaOf,
    /// How many successes there are of a count in a tensor with the probability in another.
    BinomialOf,
    /// A slope even over [lower, upper) where the element of a tensor is at most zero, else one.
    SlopeOf {
        /// The lowest slope.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// Indices by the weights in a matrix, of which each row serves `samples` elements.
    Index {
        /// Elements for each row.
        samples: usize,
    },
}

/// The operator that fills its tensor.
pub struct Draw;

/// A device that draws random numbers.
pub trait Draws: Fills + Executes<Draw> {}
impl<D: Fills + Executes<Draw>> Draws for D {}

/// The inputs of a call.
pub struct DrawInputs<'t> {
    operands: [Operand<'t>; 2],
    distribution: Distribution,
    generator: Generator,
}

impl DrawInputs<'_> {
    /// The distribution.
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// The source.
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// The tensors of parameters that there are.
    pub fn parameters(&self) -> impl Iterator<Item = &Operand<'_>> {
        self.operands.iter().filter(|operand| !operand.is_absent())
    }
}

impl<'t> FromArgs<([Operand<'t>; 2], Distribution, Generator)> for DrawInputs<'t> {
    fn from_args((operands, distribution, generator): ([Operand<'t>; 2], Distribution, Generator)) -> Result<Self> {
        Ok(DrawInputs { operands, distribution, generator })
    }
}

/// What a device needs besides the operands.
#[derive(Default)]
pub struct DrawPlan {
    /// The walk over the output and the parameters, complex numbers as pairs of real ones; `None` for no element.
    pub iter: Option<TensorIter>,
    /// The dtype that is drawn.
    pub dtype: Option<DType>,
    /// The elements lie in a row.
    pub is_contiguous: bool,
    /// Rows and columns of a matrix of weights, which the walk is not over.
    pub weights: Option<[usize; 2]>,
}

impl StructuredOp for Draw {
    const NAME: &'static str = "draw";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = DrawInputs<'t>;
    type Plan = DrawPlan;
    type Home = Draw;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let rule = "there is no tensor to be filled; accepted is a call in place";
        let existing = sink.existing(0).ok_or(ErrorKind::ArgumentRule { rule })?;
        let (g, device) = (existing.geometry(), existing.device());
        let (sizes, options) = (DimVec::from_slice(g.sizes()), Options::new(g.dtype(), device));
        let names = g.names().cloned();
        sink.set_output_raw_strided(0, &sizes, None, options, names)?;
        *plan = plan_call(inputs, sink)?;
        Ok(())
    }
}

fn plan_call(inputs: &DrawInputs<'_>, sink: &SinkState<'_>) -> Result<DrawPlan> {
    let Some(written) = sink.written(0).filter(|g| g.numel() > 0) else { return Ok(DrawPlan::default()) };
    let Some(mut output) = View::of_output(sink, 0) else { return Ok(DrawPlan::default()) };
    let (mut sizes, mut strides) = (DimVec::from_slice(written.sizes()), DimVec::from_slice(written.strides()));
    if written.dtype().is_complex() {
        // The real and the imaginary part of each element, one behind the other.
        strides.iter_mut().for_each(|stride| *stride = stride.saturating_mul(2));
        sizes.push(2);
        strides.push(1);
        output.dtype = written.dtype().to_real();
        output.category = Category::Dimensioned;
    }
    (output.sizes, output.strides) = (&sizes, &strides);
    let dtype = output.dtype;
    rule::check_dtype(inputs.distribution, written.dtype())?;
    let mut plan = DrawPlan { dtype: Some(dtype), is_contiguous: written.is_contiguous(), ..DrawPlan::default() };
    let mut views: Vec<View<'_>> = inputs.parameters().filter_map(View::of_operand).collect();
    for view in &views {
        rule::check_parameter(inputs.distribution, view.dtype)?;
    }
    if let (Distribution::Index { .. }, [weights]) = (inputs.distribution, &*views) {
        let &[rows, columns] = weights.sizes else {
            return Err(ErrorKind::DimCount { arg: "self", got: weights.sizes.len(), accepted: "2" }.into());
        };
        plan.weights = Some([rows as usize, columns as usize]);
        views.clear();
    }
    let mut iter = TensorIter::default();
    build_over_into(&Config::new(Flags::NULLARY), &[output], &views, &mut iter)?;
    plan.iter = Some(iter);
    Ok(plan)
}

/// Fills a tensor from a distribution with the parameters in these tensors.
pub(crate) fn draw_by<'a, D: Draws>(
    this: &'a mut Tensor<D>,
    parameters: &[&Tensor<D>],
    distribution: Distribution,
    generator: Option<&Generator>,
) -> Result<&'a mut Tensor<D>> {
    if this.is_conj() || this.is_neg() {
        let mut values = crate::factory::empty_like(this, None, None, None, None, None)?;
        draw_by(&mut values, parameters, distribution, generator)?;
        this.copy_from(&values)?;
        return Ok(this);
    }
    let generator = generator.unwrap_or_else(|| Generator::shared()).clone();
    let mut own = [const { None }; 2];
    for (own, parameter) in own.iter_mut().zip(parameters) {
        // Kernels read elements as they are stored.
        *own = Some(if parameter.is_neg() { clone_tensor(parameter, None)? } else { (*parameter).clone() });
    }
    let parameters: [Option<Tensor<D>>; 2] = own;
    in_place(this, move |_, sink, _| {
        let operands = parameters.each_ref().map(|one| one.as_ref().map_or(Operand::Absent, Operand::from));
        call::<Draw, D, _>(&DrawInputs { operands, distribution, generator }, sink)
    })
}

/// Fills a tensor from a distribution.
pub(crate) fn draw<'a, D: Draws>(
    this: &'a mut Tensor<D>,
    distribution: Distribution,
    generator: Option<&Generator>,
) -> Result<&'a mut Tensor<D>> {
    draw_by(this, &[], distribution, generator)
}

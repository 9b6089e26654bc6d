//! Fusion: pointwise operators one after another as one operator. `Then<A, B>` computes `B(A(..), ..)`, where the
//! result of `A` is the first operand of `B`, in every form: functional, in-place, out=, meta and by name.
//!
//! It gives what the operators give in turn, bit for bit: each intermediate result has the dtype that it would have and
//! is rounded to it, and sizes, strides, dtype and errors are those of the turns. Where all of them compute in one
//! dtype, which is the common case, that takes one pass over memory and no intermediate tensor. Otherwise the operators
//! run in turn.
//!
//! The operands of `Then<A, B>` are those of `A`, then those of `B` but its first; the parameters of `A`, then those of
//! `B`, follow.
//!
//! Owns that decision. Refuses operators that are not pointwise, masks (`where`) and results that are not of the common
//! dtype anywhere but at the end.

mod formula;

pub use formula::{AndMembership, Both, Fed, Intersect, Joined, ThenFn};

use super::formula::{Common, Operands, Params, PointwiseFn};
use super::op::{self, Here, Pointwise, PointwiseInputs};
use super::rule::Check;
use crate::Meta;
use monomorph_core::structured::{Executes, Functional, Operand, Operator, ValueSink, call};
use monomorph_core::{DType, Device, Error, ErrorKind, Result, Scalar, Tensor};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The operator `B(A(..), ..)`. `A` and `B` are operators of formulas (`Op<MulFn>`, `Pointwise<MyFn>`) or `Then` again.
///
/// ```
/// use monomorph_ops::Op;
/// use monomorph_ops::arithmetic::{AddFn, MulFn, NegFn};
/// use monomorph_ops::pointwise::Then;
///
/// /// −(a · b + alpha · c), of the arguments (a, b, c, alpha).
/// type NegatedAxpy = Then<Then<Op<MulFn>, Op<AddFn>>, Op<NegFn>>;
/// ```
pub struct Then<A, B>(PhantomData<fn() -> (A, B)>);

/// Operands on their way through a chain.
type List<'t> = SmallVec<[Operand<'t>; 4]>;

/// A pointwise operator or a chain of them.
pub trait Chain: 'static {
    /// The type of the formula that computes all of it.
    type Formula: PointwiseFn;

    /// Where the kernels of the formula are compiled.
    type Compiled: 'static;

    /// The meta tensor that the operators give in turn, and the dtype that all of them compute in, if it is one.
    fn dry(operands: &[Operand<'_>], params: &[Scalar]) -> Result<(Tensor<Meta>, Option<DType>)>;
}

impl<F: PointwiseFn, W: 'static> Chain for Pointwise<F, W> {
    type Formula = F;
    type Compiled = W;

    fn dry(operands: &[Operand<'_>], params: &[Scalar]) -> Result<(Tensor<Meta>, Option<DType>)> {
        let [result] = Meta::turn(PhantomData::<Self>, operands, params, Functional::<Meta, 1>::default())?;
        Ok((result, op::one_dtype::<F>(operands, params)))
    }
}

impl<A, B> Chain for Then<A, B>
where
    A: Chain<Formula: PointwiseFn<Out = Common>>,
    B: Chain,
    ThenFn<A::Formula, B::Formula>: PointwiseFn,
{
    type Formula = ThenFn<A::Formula, B::Formula>;
    type Compiled = Here;

    fn dry(operands: &[Operand<'_>], params: &[Scalar]) -> Result<(Tensor<Meta>, Option<DType>)> {
        let (first, rest) = split::<A>(operands, params);
        let (between, dtype) = A::dry(first.0, first.1)?;
        let operands: List<'_> = fed(&between, rest.0);
        let (result, next) = B::dry(&operands, rest.1)?;
        Ok((result, if dtype == next { dtype } else { None }))
    }
}

/// The number of operands of a chain.
pub(crate) const fn operands<C: Chain>() -> usize {
    <C::Formula as PointwiseFn>::Operands::COUNT
}

/// The number of parameters of a chain.
pub(crate) const fn params<C: Chain>() -> usize {
    <C::Formula as PointwiseFn>::Params::COUNT
}

type Arguments<'a, 't> = (&'a [Operand<'t>], &'a [Scalar]);

/// The arguments of the first operator, and those of the second but its fed operand.
fn split<'a, 't, A: Chain>(
    operands: &'a [Operand<'t>],
    params: &'a [Scalar],
) -> (Arguments<'a, 't>, Arguments<'a, 't>) {
    let (first, rest) = operands.split_at(self::operands::<A>().min(operands.len()));
    let (p, q) = params.split_at(self::params::<A>().min(params.len()));
    ((first, p), (rest, q))
}

/// The operands of a second operator.
fn fed<'s, 't: 's, D: Device>(between: &'s Tensor<D>, rest: &[Operand<'t>]) -> List<'s> {
    std::iter::once(between.into()).chain(rest.iter().copied()).collect()
}

/// A device that runs the chain `C`.
pub trait Runs<C: Chain>: Device {
    /// Runs it into a sink.
    fn turn<'t, S: ValueSink<'t, Self>>(
        chain: PhantomData<C>,
        operands: &[Operand<'t>],
        params: &[Scalar],
        sink: S,
    ) -> Result<S::Value>;
}

impl<D, F, W> Runs<Pointwise<F, W>> for D
where
    D: Executes<Pointwise<F, W>>,
    F: PointwiseFn,
    W: 'static,
{
    fn turn<'t, S: ValueSink<'t, D>>(
        _: PhantomData<Pointwise<F, W>>,
        operands: &[Operand<'t>],
        params: &[Scalar],
        sink: S,
    ) -> Result<S::Value> {
        let inputs = PointwiseInputs::from_lists(operands, params).map_err(|e| e.of(F::NAME))?;
        call::<Pointwise<F, W>, D, S>(&inputs, sink).map(S::value::<Pointwise<F, W>>)
    }
}

impl<D, A, B> Runs<Then<A, B>> for D
where
    D: Runs<A> + Runs<B> + Executes<Pointwise<<Then<A, B> as Chain>::Formula, Here>>,
    A: Chain,
    B: Chain,
    Then<A, B>: Chain,
{
    fn turn<'t, S: ValueSink<'t, D>>(
        _: PhantomData<Then<A, B>>,
        operands: &[Operand<'t>],
        params: &[Scalar],
        sink: S,
    ) -> Result<S::Value> {
        if one_pass::<Then<A, B>, D, S>(operands, params, &sink)? {
            let chain = PhantomData::<Pointwise<<Then<A, B> as Chain>::Formula, Here>>;
            return D::turn(chain, operands, params, sink);
        }
        let (first, rest) = split::<A>(operands, params);
        let [between] = <D as Runs<A>>::turn(PhantomData, first.0, first.1, Functional::<D, 1>::default())?;
        sink.through(&between, |sink, _| <D as Runs<B>>::turn(PhantomData, &fed(&between, rest.0), rest.1, sink))
    }
}

/// Whether a call may be made in one pass: everything computes in one dtype, the result is laid out as it is in turn,
/// and no operand is overwritten before it is read. An error is that of the first operator, in turn, that refuses its
/// operands.
fn one_pass<'t, C: Chain, D: Device, S: ValueSink<'t, D>>(
    operands: &[Operand<'t>],
    params: &[Scalar],
    sink: &S,
) -> Result<bool> {
    let rule = &<C::Formula as PointwiseFn>::RULE;
    let (result, dtype) = C::dry(operands, params)?;
    if D::MEMORY.is_none() || dtype.is_none() || dtype != op::common_compute::<C::Formula>(operands, params) {
        return Ok(false);
    }
    let Some(out) = sink.existing(0) else {
        return same_layout::<C>(operands, params, &result);
    };
    let casts = out.geometry().dtype() == result.dtype() || rule.flags.casts_safely();
    let apart = |t: &Operand<'_>| t.tensor().is_none_or(|t| t.storage_id() != out.storage_id() || t.is_same(&out));
    let grows = out.geometry().sizes() != result.sizes();
    Ok(casts && operands.iter().all(apart) && (!grows || same_layout::<C>(operands, params, &result)?))
}

/// Whether one pass over all operands makes a result with the strides of `result`.
fn same_layout<C: Chain>(operands: &[Operand<'_>], params: &[Scalar], result: &Tensor<Meta>) -> Result<bool> {
    let mut tensors = operands.iter().filter_map(Operand::geometry);
    let alike = tensors.all(|g| g.sizes() == result.sizes() && g.strides() == result.strides());
    if alike {
        return Ok(true);
    }
    let formula = PhantomData::<Pointwise<C::Formula, Here>>;
    let [single] = Meta::turn(formula, operands, params, Functional::<Meta, 1>::default())?;
    Ok(single.sizes() == result.sizes() && single.strides() == result.strides())
}

/// The check of a chain that is called as one formula, as a prepared call is: its operators must compute in one dtype.
pub(super) fn check_one_pass<F: PointwiseFn, G: PointwiseFn>(check: &Check<'_, '_>) -> Result<()> {
    let (first, rest) = check.operands.split_at(F::Operands::COUNT);
    let (p, q) = check.params.split_at(F::Params::COUNT);
    let refused = || {
        let rule = "the operators of a chain compute in different dtypes; call the chain, which runs them in turn, \
                    or cast \
                    its operands to one dtype";
        Error::new(ErrorKind::ArgumentRule { rule })
    };
    let between = op::one_dtype::<F>(first, p).ok_or_else(refused)?;
    let ndim = first.iter().map(|operand| operand.sizes().len()).max().unwrap_or(0);
    let between = Tensor::<Meta>::zeros_contiguous(between, &[1; 64][..ndim.min(64)])?;
    let next = op::one_dtype::<G>(&fed(&between, rest), q);
    if next == Some(between.dtype()) && check.common == between.dtype() { Ok(()) } else { Err(refused()) }
}

/// The parameters of a chain, of the arguments behind its operands.
pub(crate) fn parameters<C: Chain>(arguments: &[Operand<'_>]) -> Result<SmallVec<[Scalar; 4]>> {
    let number = |arg: &Operand<'_>| match arg {
        Operand::Number(number) => Ok(number.scalar()),
        _ => {
            let rule = "the parameters of a chain, behind its operands, are numbers";
            Err(Error::new(ErrorKind::ArgumentRule { rule }).of(<C::Formula as PointwiseFn>::NAME))
        }
    };
    arguments.iter().map(number).collect()
}

/// Arguments of a chain: as many as it has operands and parameters, each a tensor or a number.
pub trait ChainArgs<'t> {
    /// The number of arguments.
    const COUNT: usize;

    /// The arguments in order.
    fn list(self) -> SmallVec<[Operand<'t>; 4]>;
}

macro_rules! chain_args {
    ($($($arg:ident)+;)*) => {$(
        impl<'t, $($arg: Into<Operand<'t>>),+> ChainArgs<'t> for ($($arg,)+) {
            const COUNT: usize = [$(stringify!($arg)),+].len();

            #[allow(non_snake_case, reason = "the type parameters double as names of the tuple's fields")]
            fn list(self) -> SmallVec<[Operand<'t>; 4]> {
                let ($($arg,)+) = self;
                SmallVec::from_iter([$($arg.into()),+])
            }
        }
    )*};
}
chain_args! {
    A;
    A B;
    A B C;
    A B C E;
    A B C E F;
    A B C E F G;
    A B C E F G H;
    A B C E F G H I;
}

impl<'t, D, A, B, Args> Operator<'t, D, Args> for Then<A, B>
where
    D: Runs<Then<A, B>>,
    Then<A, B>: Chain,
    Args: ChainArgs<'t>,
{
    fn call<S: ValueSink<'t, D>>(args: Args, sink: S) -> Result<S::Value> {
        const {
            assert!(Args::COUNT == operands::<Self>() + params::<Self>(), "a chain takes operands, then parameters");
        };
        let args = args.list();
        let (tensors, numbers) = args.split_at(operands::<Self>());
        D::turn(PhantomData, tensors, &parameters::<Self>(numbers)?, sink)
    }
}

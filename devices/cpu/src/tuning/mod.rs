//! How the CPU runs a formula: what is worth knowing of it beyond what it computes. The formulas are in
//! `monomorph_ops`; this module refuses to say what one means.
//!
//! ```text
//! formula F ─┬─ prebuilt! { F } ──► Chosen<F> ─┬─ F: Tuning ──► kernels of F, tuned by F
//!            │                                 └─ otherwise ──► kernels of F, tuned by Untuned
//!            ├─ Pointwise<F, Here> ────────────────────────────► kernels of F, tuned by Untuned
//!            └─ Pointwise<F, Tuned> ── F: Tuning ──────────────► kernels of F, tuned by F
//! ```
//!
//! A tuning is a type, the second parameter of every kernel, so all of it is decided when a kernel is compiled. A
//! formula without an entry is computed by plain loops at every dtype and level: no result depends on a tuning that is
//! true.

#[cfg(feature = "special")]
mod bessel;
mod chosen;
mod division;
#[cfg(feature = "special")]
mod gamma;
mod lists;
#[cfg(feature = "special")]
mod orthogonal;
mod polar;
mod trigonometric;

pub use chosen::{ByDefault, Chosen};

use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{In, Map, OutOf, ParamsOf};

/// What the CPU makes of a formula. Implemented by the formula itself, or by nobody: then kernels are [`Untuned`].
pub trait Tuning: 'static {
    /// An element takes about as long to move as to compute, so that kernels spend instructions on the moving.
    const LIGHT: bool = false;
    /// The dtype of the result holds it as it is computed (operands, what is cut from them or has another sign), so
    /// that nothing is rounded.
    const EXACT: bool = false;
    /// float16 and bfloat16 may be widened beforehand, computed in float32's loop and rounded afterwards, with the
    /// same results: true of every formula that uses nothing in which the algebra treats these dtypes apart. One loop
    /// instead of three, or of two where it is light and bfloat16 is widened as fast in the loop.
    const HALVES_AS_F32: bool = false;
    /// A loop for each instruction set would gain nothing, because the formula computes one element at a time, or too
    /// little for what it costs to compile, because it is long and rarely used. One loop instead of three, for calls in
    /// place, too.
    const ELEMENTWISE_ONLY: bool = false;
    /// Most operands can take a shorter form, [`FastPaths::eval_usual`], so that blocks are looked over first.
    const USUAL: bool = false;
    /// Most elements can be computed without branches, [`FastPaths::eval_partial`], so that this is done for a block,
    /// which is completed element by element.
    const PARTIAL: bool = false;
    /// If the formula is a loop whose number of steps the data tell, [`FastPaths::step`], so that each step is taken
    /// for a block of elements: how many are taken of an element before the next has its turn. 0 of any other formula.
    const STEPS: i64 = 0;
    /// A loop for the widest instruction set is not worth compiling, because the formula is long and rarely used.
    const RARE: bool = false;
    /// All integers have the same result, so that they need not be read.
    const INTEGERS_ALIKE: bool = false;
}

/// Formula `F` on `V` by other ways than [`Map::eval`], which give the same. Every [`Tuning`] whose kernels are to be
/// compiled implements it, by an empty body if there are none.
pub trait FastPaths<V: Value, F: Map<V> = Self>: Tuning {
    /// Whether these operands may take the shorter form. Asked only where [`Tuning::USUAL`] is set.
    #[inline(always)]
    fn is_usual(_x: In<F, V>) -> V::Mask {
        <V::Mask as Value>::from_bool(true)
    }

    /// [`Map::eval`] by a shorter form, for operands of which [`FastPaths::is_usual`] holds.
    #[inline(always)]
    fn eval_usual(x: In<F, V>, p: ParamsOf<F, V>) -> OutOf<F, V> {
        F::eval(x, p)
    }

    /// What the loop of the formula begins with. Asked only where [`Tuning::STEPS`] is not 0.
    #[inline(always)]
    fn start(_x: In<F, V>, _p: ParamsOf<F, V>) -> [V; 3] {
        [V::from_bool(false); 3]
    }

    /// Step number `k`, and whether another follows. A step beyond the last leaves everything as it was.
    #[inline(always)]
    fn step(_k: V, state: [V; 3], _x: In<F, V>, _p: ParamsOf<F, V>) -> ([V; 3], V::Mask) {
        (state, <V::Mask as Value>::from_bool(false))
    }

    /// What [`Map::eval`] gives, of what the loop ended with; or something else and the mask does not hold.
    #[inline(always)]
    fn finish(_state: [V; 3], x: In<F, V>, p: ParamsOf<F, V>) -> (OutOf<F, V>, V::Mask) {
        Self::eval_partial(x, p)
    }

    /// What [`Map::eval`] gives, or something else and the mask does not hold. Asked only where [`Tuning::PARTIAL`] is
    /// set.
    #[inline(always)]
    fn eval_partial(x: In<F, V>, p: ParamsOf<F, V>) -> (OutOf<F, V>, V::Mask) {
        (F::eval(x, p), <V::Mask as Value>::from_bool(true))
    }

    /// Whether [`FastPaths::eval_partial`] may hold, told by less: where it does not for most of a block, it is not
    /// tried.
    #[inline(always)]
    fn may_hold(_x: In<F, V>) -> V::Mask {
        <V::Mask as Value>::from_bool(true)
    }
}

/// The tuning of formulas that have none of their own: the defaults.
pub struct Untuned;
impl Tuning for Untuned {}
impl<V: Value, F: Map<V>> FastPaths<V, F> for Untuned {}

/// Kernels compiled in the calling crate, as with [`Here`](monomorph_ops::pointwise::Here), by the formula's own
/// [`Tuning`]: `Pointwise<F, Tuned>`.
pub struct Tuned;

/// The constants of a [`Tuning`] as values, for code that is not generic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TuningValues {
    /// [`Tuning::LIGHT`].
    pub light: bool,
    /// [`Tuning::EXACT`].
    pub exact: bool,
    /// [`Tuning::HALVES_AS_F32`].
    pub halves_as_f32: bool,
    /// [`Tuning::ELEMENTWISE_ONLY`].
    pub elementwise_only: bool,
    /// [`Tuning::USUAL`].
    pub usual: bool,
    /// [`Tuning::PARTIAL`].
    pub partial: bool,
    /// [`Tuning::STEPS`].
    pub steps: i64,
    /// [`Tuning::RARE`].
    pub rare: bool,
    /// [`Tuning::INTEGERS_ALIKE`].
    pub integers_alike: bool,
}

impl TuningValues {
    /// Those of `T`.
    pub const fn of<T: Tuning>() -> TuningValues {
        TuningValues {
            light: T::LIGHT,
            exact: T::EXACT,
            halves_as_f32: T::HALVES_AS_F32,
            elementwise_only: T::ELEMENTWISE_ONLY,
            usual: T::USUAL,
            partial: T::PARTIAL,
            steps: T::STEPS,
            rare: T::RARE,
            integers_alike: T::INTEGERS_ALIKE,
        }
    }
}

//! Loops whose number of steps the data tell: recurrences of a degree that is an operand, series that end where their
//! terms vanish. Everything else in the algebra is straight.

use super::{Dual, Real, Value};

/// What a loop carries from step to step: so many values of one type.
pub trait Bundle<V>: Copy + 'static {
    /// The bundle with `each` applied to each value, always in the same order.
    fn map_values(self, each: &mut dyn FnMut(V) -> V) -> Self;
}

impl<V: Value, const N: usize> Bundle<V> for [V; N] {
    fn map_values(self, each: &mut dyn FnMut(V) -> V) -> Self {
        self.map(each)
    }
}

/// A value that loops can be computed with.
#[diagnostic::on_unimplemented(
    message = "the formula has a loop whose number of steps the data tell, which `{Self}` does not have",
    note = "promote integers to float in the operator's declaration, and leave complex dtypes out of its domain"
)]
pub trait Repeat: Real {
    /// What `step` makes of `start`, applied again and again: as often as the integer part of `count` says (never for
    /// NaN or below zero), but only as long as `goes_on` holds of what it made before. `step` is told how many steps
    /// came before it.
    ///
    /// Each element ends by itself, so this costs a device the vectors of its loop, unless it knows of a way to take
    /// the steps of many elements at once. A formula gives `count` a bound of its own, such as `V::from_i64(500)`, or
    /// it may run for ever.
    ///
    /// ```
    /// use monomorph_ops::algebra::Repeat;
    ///
    /// /// e^x − 1 for small x, until a term changes nothing.
    /// fn series<V: Repeat>(x: V) -> V {
    ///     let most = V::from_i64(100);
    ///     let goes_on = |[sum, term]: [V; 2]| (sum + term).ne(sum);
    ///     let step = |k: V, [sum, term]: [V; 2]| [sum + term, term * x / (k + V::from_i64(2))];
    ///     V::repeat(most, [V::zero(), x], goes_on, step)[0]
    /// }
    /// ```
    fn repeat<S: Bundle<Self>>(
        count: Self,
        start: S,
        goes_on: impl Fn(S) -> Self::Mask,
        step: impl Fn(Self, S) -> S,
    ) -> S;

    /// `yes` where the mask holds, else `no`: a [`Value::select`] that computes what is long and rarely taken only
    /// where it is taken.
    #[inline(always)]
    fn select_with(mask: Self::Mask, yes: impl Fn() -> Self, no: Self) -> Self {
        let once = Self::select(mask, Self::one(), Self::zero());
        Self::repeat(once, [no], |_| <Self::Mask as Value>::from_bool(true), |_, _| [yes()])[0]
    }
}

/// A bundle of dual numbers as one of their values and slopes.
#[derive(Clone, Copy)]
struct Parts<S>(S);

impl<V: Real, S: Bundle<Dual<V>>> Bundle<V> for Parts<S> {
    fn map_values(self, each: &mut dyn FnMut(V) -> V) -> Self {
        Parts(self.0.map_values(&mut |x| Dual { value: each(x.value), slope: each(x.slope) }))
    }
}

/// The slopes go along, and end with the values: a series that stops where its terms vanish has a slope as good as its
/// last term.
impl<V: Repeat> Repeat for Dual<V> {
    #[inline(always)]
    fn repeat<S: Bundle<Self>>(
        count: Self,
        start: S,
        goes_on: impl Fn(S) -> V::Mask,
        step: impl Fn(Self, S) -> S,
    ) -> S {
        let next = |k, Parts(state): Parts<S>| Parts(step(Dual::constant(k), state));
        V::repeat(count.value, Parts(start), |Parts(state)| goes_on(state), next).0
    }
}

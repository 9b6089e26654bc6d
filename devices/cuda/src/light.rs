//! Which formulas are light: a thread waits for memory far longer than it computes, so it has more elements in flight,
//! whose loads overlap (`GROUPS` and `STRIDED` of `kernels/pointwise.cu`). For others the registers that this takes
//! are better spent on more threads. The list is CUDA's own: what the CPU makes of a formula is another matter.

use monomorph_ops::pointwise::PointwiseFn;
use std::any::TypeId;

/// Whether a thread has more elements of the formula in flight. Formulas that are not listed are computed one by one.
pub fn is_light<F: PointwiseFn>() -> bool {
    let formula = TypeId::of::<F>();
    macro_rules! any {
        ($($family:ident: $($light:ident)+;)+) => {
            $($(formula == TypeId::of::<monomorph_ops::$family::$light>())||+)||+
        };
    }
    any! {
        activation: SigmoidBackwardFn TanhBackwardFn;
        arithmetic: AddFn SubFn MulFn DivFn NegFn AbsFn;
        bitwise: BitwiseAndFn BitwiseOrFn BitwiseXorFn BitwiseNotFn;
        blend: AddcmulFn AddcdivFn LerpFn LerpNumberFn;
        clamp: ClampFn ClampMinFn ClampMaxFn ClampNumbersFn ClampMinNumberFn ClampMaxNumberFn;
        classification: NanToNumFn;
        comparison: EqFn NeFn LtFn LeFn GtFn GeFn;
        extrema: MaximumFn MinimumFn FmaxFn FminFn;
        fill: FillFn;
        logic: LogicalNotFn LogicalAndFn LogicalOrFn LogicalXorFn;
        piecewise: ReluFn LeakyReluFn LeakyReluBackwardFn ThresholdFn ThresholdBackwardFn HardtanhBackwardFn
            HardsigmoidFn HardsigmoidBackwardFn HardswishFn HardswishBackwardFn HardshrinkFn SoftshrinkFn
            HardshrinkBackwardFn PreluFn;
        power: SqrtFn RsqrtFn ReciprocalFn PowZeroFn PowOneFn PowTwoFn PowThreeFn PowHalfFn PowMinusHalfFn PowMinusOneFn
            PowMinusTwoFn;
        rounding: CeilFn FloorFn TruncFn RoundFn;
        selection: WhereFn MaskedFillFn;
        sign: ConjFn CopysignFn;
    }
}

#[cfg(test)]
mod tests {
    use super::is_light;
    use monomorph_ops::arithmetic::AddFn;
    use monomorph_ops::exponential::ExpFn;
    use monomorph_ops::pointwise::ThenFn;

    #[test]
    fn only_listed_formulas_are_light() {
        assert!(is_light::<AddFn>());
        assert!(!is_light::<ExpFn>() && !is_light::<ThenFn<AddFn, AddFn>>());
    }
}

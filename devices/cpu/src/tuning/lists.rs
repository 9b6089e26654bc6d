//! Formulas that constants alone tune, family by family.

use super::{FastPaths, Tuning};
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::Map;

/// Tunes formulas without fast paths: the constants that are true, then the formulas.
///
/// `tuned! { arithmetic { [LIGHT EXACT] NegFn AbsFn; } }` expands, for each formula, to
///
/// ```text
/// impl Tuning for NegFn { const LIGHT: bool = true; const EXACT: bool = true; }
/// impl<V: Value> FastPaths<V> for NegFn where NegFn: Map<V> {}
/// ```
macro_rules! tuned {
    ($($family:ident { $($constants:tt $($formula:ident)+;)+ })+) => {
        $($($(tuned! { @formula $constants monomorph_ops::$family::$formula })+)+)+
    };
    (@formula [$($constant:ident)+] $formula:ty) => {
        impl Tuning for $formula {
            $(const $constant: bool = true;)+
        }
        impl<V: Value> FastPaths<V> for $formula where $formula: Map<V> {}
    };
}
tuned! {
    activation {
        [HALVES_AS_F32] GeluFn GeluTanhFn GeluBackwardFn GeluTanhBackwardFn SiluFn SiluBackwardFn MishFn MishBackwardFn
            SoftplusFn EluFn SoftplusBackwardFn EluBackwardFn EluBackwardOfResultFn;
        [LIGHT HALVES_AS_F32] SigmoidBackwardFn TanhBackwardFn;
    }
    arithmetic {
        [LIGHT] AddFn SubFn MulFn;
        [LIGHT HALVES_AS_F32] DivFn;
        [LIGHT EXACT] NegFn AbsFn;
    }
    bitwise {
        [LIGHT] BitwiseAndFn BitwiseOrFn BitwiseXorFn BitwiseNotFn;
    }
    blend {
        [LIGHT HALVES_AS_F32] AddcmulFn AddcdivFn LerpFn LerpNumberFn;
    }
    clamp {
        [LIGHT EXACT HALVES_AS_F32] ClampFn ClampMinFn ClampMaxFn;
        [LIGHT HALVES_AS_F32] ClampNumbersFn ClampMinNumberFn ClampMaxNumberFn;
    }
    classification {
        [HALVES_AS_F32 INTEGERS_ALIKE] IsinfFn IsfiniteFn IsposinfFn IsneginfFn;
        [LIGHT HALVES_AS_F32] NanToNumFn;
    }
    comparison {
        [LIGHT] EqFn NeFn LtFn LeFn GtFn GeFn;
    }
    difference_losses {
        [LIGHT] MseLossFn MseLossBackwardFn HuberLossBackwardFn;
        [LIGHT HALVES_AS_F32] SmoothL1LossFn SmoothL1LossBackwardFn HuberLossFn;
    }
    exponential {
        [HALVES_AS_F32] ExpFn LogFn TanhFn SigmoidFn ErfFn Exp2Fn Expm1Fn ErfcFn ErfinvFn;
    }
    extrema {
        [LIGHT EXACT] MaximumFn MinimumFn;
        [LIGHT EXACT HALVES_AS_F32] FmaxFn FminFn;
    }
    fill {
        [LIGHT] FillFn;
    }
    glu {
        [HALVES_AS_F32] GluFn GluGateBackwardFn;
    }
    hyperbolic {
        [HALVES_AS_F32] SinhFn CoshFn AsinhFn AcoshFn AtanhFn;
    }
    logarithmic {
        [HALVES_AS_F32] Log2Fn Log10Fn Log1pFn LogaddexpFn Logaddexp2Fn XlogyFn Xlog1pyFn LogSigmoidFn EntrFn;
    }
    logic {
        [LIGHT] LogicalNotFn;
        [LIGHT HALVES_AS_F32] LogicalAndFn LogicalOrFn LogicalXorFn;
    }
    logistic {
        [HALVES_AS_F32] LogSigmoidBufferFn LogSigmoidBackwardFn;
    }
    neighbours {
        [HALVES_AS_F32] MantissaFn ExponentFn;
    }
    piecewise {
        [LIGHT EXACT] ReluFn;
        [LIGHT HALVES_AS_F32] LeakyReluFn LeakyReluBackwardFn ThresholdFn ThresholdBackwardFn HardtanhBackwardFn
            HardsigmoidFn HardsigmoidBackwardFn HardswishFn HardswishBackwardFn HardshrinkFn SoftshrinkFn
            HardshrinkBackwardFn PreluFn;
        [HALVES_AS_F32] PreluBackwardFn PreluWeightBackwardFn;
    }
    power {
        [LIGHT HALVES_AS_F32] SqrtFn RsqrtFn ReciprocalFn;
        [HALVES_AS_F32] HypotFn PowFn;
        [LIGHT INTEGERS_ALIKE] PowZeroFn;
        [LIGHT] PowOneFn PowTwoFn PowThreeFn PowHalfFn PowMinusHalfFn PowMinusOneFn PowMinusTwoFn;
    }
    remainder {
        [ELEMENTWISE_ONLY] GcdFn LcmFn;
    }
    rounding {
        [LIGHT EXACT HALVES_AS_F32] CeilFn FloorFn TruncFn RoundFn;
        [HALVES_AS_F32] RoundDecimalsFn FracFn;
    }
    selection {
        [LIGHT EXACT] WhereFn;
        [LIGHT] MaskedFillFn;
    }
    sign {
        [HALVES_AS_F32] SgnFn SignbitFn HeavisideFn;
        [LIGHT EXACT HALVES_AS_F32] ConjFn CopysignFn;
    }
    trigonometric {
        [HALVES_AS_F32] AsinFn AcosFn AtanFn Atan2Fn AngleFn;
    }
}

#[cfg(feature = "special")]
tuned! {
    gamma {
        [PARTIAL RARE] PolygammaFn ZetaFn;
    }
    modified_bessel {
        [HALVES_AS_F32] I0Fn I0eFn I1Fn I1eFn;
    }
    normal {
        [PARTIAL RARE] ErfcxFn LogNdtrFn;
    }
}

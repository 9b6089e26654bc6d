//! The functions of one real value by the type that they compute in, under the names that the algebra has for them.

/// Lists functions: file, then names, which the files end in the type.
macro_rules! functions {
    ($($file:ident: $($name:ident $f32:ident $f64:ident),+;)+) => {
        /// Functions of float32.
        pub(super) mod f32 {
            $($(pub(in crate::scalar) use crate::scalar::$file::$f32 as $name;)+)+
        }
        /// Functions of float64.
        pub(super) mod f64 {
            $($(pub(in crate::scalar) use crate::scalar::$file::$f64 as $name;)+)+
        }
    };
}
functions! {
    arc: asin asin_f32 asin_f64, acos acos_f32 acos_f64, atan atan_f32 atan_f64;
    erf: erf erf_f32 erf_f64;
    erfc: erfc erfc_f32 erfc_f64;
    erfinv: erfinv erfinv_f32 erfinv_f64;
    exp: exp exp_f32 exp_f64;
    exp2: exp2 exp2_f32 exp2_f64;
    expm1: expm1 expm1_f32 expm1_f64, sinh sinh_f32 sinh_f64, cosh cosh_f32 cosh_f64;
    gelu: gelu gelu_f32 gelu_f64, gelu_tanh gelu_tanh_f32 gelu_tanh_f64;
    log: log log_f32 log_f64;
    log1p: log1p log1p_f32 log1p_f64, log2 log2_f32 log2_f64, log10 log10_f32 log10_f64, asinh asinh_f32 asinh_f64,
        acosh acosh_f32 acosh_f64, atanh atanh_f32 atanh_f64;
    sine: sin sin_f32 sin_f64, cos cos_f32 cos_f64, tan tan_f32 tan_f64, sin_near sin_near_f32 sin_near_f64,
        cos_near cos_near_f32 cos_near_f64, tan_near tan_near_f32 tan_near_f64;
    tanh: tanh tanh_f32 tanh_f64, sigmoid sigmoid_f32 sigmoid_f64;
}

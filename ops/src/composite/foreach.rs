//! The operators over lists of tensors, `_foreach_*`: declarations, each with the operator that is called for every
//! item. How the call is made of those of the items is in `each.rs`.

use crate::table::native;

native! {
    family: Foreach, functions: crate::fill::Fills;

    func: _foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_add_.Scalar, autogen: _foreach_add.Scalar_out, each: add.Scalar;

    func: _foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[],
    inplace: _foreach_add_.List, autogen: _foreach_add.List_out, each: add.Tensor;

    func: _foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_add_.ScalarList, autogen: _foreach_add.ScalarList_out, each: add.Scalar;

    func: _foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_sub_.Scalar, autogen: _foreach_sub.Scalar_out, each: sub.Scalar;

    func: _foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[],
    inplace: _foreach_sub_.List, autogen: _foreach_sub.List_out, each: sub.Tensor;

    func: _foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_sub_.ScalarList, autogen: _foreach_sub.ScalarList_out, each: sub.Scalar;

    func: _foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_mul_.Scalar, autogen: _foreach_mul.Scalar_out, each: mul.Scalar;

    func: _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[],
    inplace: _foreach_mul_.List, autogen: _foreach_mul.List_out, each: mul.Tensor;

    func: _foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_mul_.ScalarList, autogen: _foreach_mul.ScalarList_out, each: mul.Scalar;

    func: _foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_div_.Scalar, autogen: _foreach_div.Scalar_out, each: div.Scalar;

    func: _foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[],
    inplace: _foreach_div_.List, autogen: _foreach_div.List_out, each: div.Tensor;

    func: _foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_div_.ScalarList, autogen: _foreach_div.ScalarList_out, each: div.Scalar;

    func: _foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[],
    inplace: _foreach_add_.Tensor, autogen: _foreach_add.Tensor_out, each: add.Tensor;

    func: _foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[],
    inplace: _foreach_mul_.Tensor, autogen: _foreach_mul.Tensor_out, each: mul.Tensor;

    func: _foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[],
    inplace: _foreach_div_.Tensor, autogen: _foreach_div.Tensor_out, each: div.Tensor;

    func: _foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_clamp_max_.Scalar, autogen: _foreach_clamp_max.Scalar_out, each: clamp_max;

    func: _foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[],
    inplace: _foreach_clamp_max_.List, autogen: _foreach_clamp_max.List_out, each: clamp_max.Tensor;

    func: _foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_clamp_max_.ScalarList, autogen: _foreach_clamp_max.ScalarList_out, each: clamp_max;

    func: _foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_clamp_min_.Scalar, autogen: _foreach_clamp_min.Scalar_out, each: clamp_min;

    func: _foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[],
    inplace: _foreach_clamp_min_.List, autogen: _foreach_clamp_min.List_out, each: clamp_min.Tensor;

    func: _foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_clamp_min_.ScalarList, autogen: _foreach_clamp_min.ScalarList_out, each: clamp_min;

    func: _foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_maximum_.Scalar, autogen: _foreach_maximum.Scalar_out, each: clamp_min;

    func: _foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[],
    inplace: _foreach_maximum_.List, autogen: _foreach_maximum.List_out, each: clamp_min.Tensor;

    func: _foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_maximum_.ScalarList, autogen: _foreach_maximum.ScalarList_out, each: clamp_min;

    func: _foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[],
    inplace: _foreach_minimum_.Scalar, autogen: _foreach_minimum.Scalar_out, each: clamp_max;

    func: _foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[],
    inplace: _foreach_minimum_.List, autogen: _foreach_minimum.List_out, each: clamp_max.Tensor;

    func: _foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_minimum_.ScalarList, autogen: _foreach_minimum.ScalarList_out, each: clamp_max;

    func: _foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[],
    inplace: _foreach_addcdiv_.Scalar, autogen: _foreach_addcdiv.Scalar_out, each: addcdiv;

    func: _foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_addcdiv_.ScalarList, autogen: _foreach_addcdiv.ScalarList_out, each: addcdiv;

    func: _foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[],
    inplace: _foreach_addcmul_.Scalar, autogen: _foreach_addcmul.Scalar_out, each: addcmul;

    func: _foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[],
    inplace: _foreach_addcmul_.ScalarList, autogen: _foreach_addcmul.ScalarList_out, each: addcmul;

    func: _foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[],
    inplace: _foreach_lerp_.List, autogen: _foreach_lerp.List_out, each: lerp.Tensor;

    func: _foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[],
    inplace: _foreach_lerp_.Scalar, autogen: _foreach_lerp.Scalar_out, each: lerp.Scalar;

    func: _foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[],
    inplace: _foreach_lerp_.ScalarList, autogen: _foreach_lerp.ScalarList_out, each: lerp.Scalar;

    func: _foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[],
    inplace: _foreach_pow_.List, autogen: _foreach_pow.List_out, each: pow.Tensor_Tensor;

    func: _foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[],
    inplace: _foreach_pow_.Scalar, autogen: _foreach_pow.Scalar_out, each: pow.Tensor_Scalar;

    func: _foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[],
    inplace: _foreach_pow_.ScalarList, autogen: _foreach_pow.ScalarList_out, each: pow.Tensor_Scalar;

    func: _foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[],
    each: pow.Scalar;

    func: _foreach_abs(Tensor[] self) -> Tensor[],
    inplace: _foreach_abs_, autogen: _foreach_abs.out, each: abs;

    func: _foreach_acos(Tensor[] self) -> Tensor[],
    inplace: _foreach_acos_, autogen: _foreach_acos.out, each: acos;

    func: _foreach_asin(Tensor[] self) -> Tensor[],
    inplace: _foreach_asin_, autogen: _foreach_asin.out, each: asin;

    func: _foreach_atan(Tensor[] self) -> Tensor[],
    inplace: _foreach_atan_, autogen: _foreach_atan.out, each: atan;

    func: _foreach_ceil(Tensor[] self) -> Tensor[],
    inplace: _foreach_ceil_, autogen: _foreach_ceil.out, each: ceil;

    func: _foreach_cos(Tensor[] self) -> Tensor[],
    inplace: _foreach_cos_, autogen: _foreach_cos.out, each: cos;

    func: _foreach_cosh(Tensor[] self) -> Tensor[],
    inplace: _foreach_cosh_, autogen: _foreach_cosh.out, each: cosh;

    func: _foreach_erf(Tensor[] self) -> Tensor[],
    inplace: _foreach_erf_, autogen: _foreach_erf.out, each: erf;

    func: _foreach_erfc(Tensor[] self) -> Tensor[],
    inplace: _foreach_erfc_, autogen: _foreach_erfc.out, each: erfc;

    func: _foreach_exp(Tensor[] self) -> Tensor[],
    inplace: _foreach_exp_, autogen: _foreach_exp.out, each: exp;

    func: _foreach_expm1(Tensor[] self) -> Tensor[],
    inplace: _foreach_expm1_, autogen: _foreach_expm1.out, each: expm1;

    func: _foreach_floor(Tensor[] self) -> Tensor[],
    inplace: _foreach_floor_, autogen: _foreach_floor.out, each: floor;

    func: _foreach_frac(Tensor[] self) -> Tensor[],
    inplace: _foreach_frac_, autogen: _foreach_frac.out, each: frac;

    func: _foreach_log(Tensor[] self) -> Tensor[],
    inplace: _foreach_log_, autogen: _foreach_log.out, each: log;

    func: _foreach_log10(Tensor[] self) -> Tensor[],
    inplace: _foreach_log10_, autogen: _foreach_log10.out, each: log10;

    func: _foreach_log1p(Tensor[] self) -> Tensor[],
    inplace: _foreach_log1p_, autogen: _foreach_log1p.out, each: log1p;

    func: _foreach_log2(Tensor[] self) -> Tensor[],
    inplace: _foreach_log2_, autogen: _foreach_log2.out, each: log2;

    func: _foreach_neg(Tensor[] self) -> Tensor[],
    inplace: _foreach_neg_, autogen: _foreach_neg.out, each: neg;

    func: _foreach_reciprocal(Tensor[] self) -> Tensor[],
    inplace: _foreach_reciprocal_, autogen: _foreach_reciprocal.out, each: reciprocal;

    func: _foreach_round(Tensor[] self) -> Tensor[],
    inplace: _foreach_round_, autogen: _foreach_round.out, each: round;

    func: _foreach_rsqrt(Tensor[] self) -> Tensor[],
    inplace: _foreach_rsqrt_, autogen: _foreach_rsqrt.out, each: rsqrt;

    func: _foreach_sigmoid(Tensor[] self) -> Tensor[],
    inplace: _foreach_sigmoid_, autogen: _foreach_sigmoid.out, each: sigmoid;

    func: _foreach_sign(Tensor[] self) -> Tensor[],
    inplace: _foreach_sign_, autogen: _foreach_sign.out, each: sign;

    func: _foreach_sin(Tensor[] self) -> Tensor[],
    inplace: _foreach_sin_, autogen: _foreach_sin.out, each: sin;

    func: _foreach_sinh(Tensor[] self) -> Tensor[],
    inplace: _foreach_sinh_, autogen: _foreach_sinh.out, each: sinh;

    func: _foreach_sqrt(Tensor[] self) -> Tensor[],
    inplace: _foreach_sqrt_, autogen: _foreach_sqrt.out, each: sqrt;

    func: _foreach_tan(Tensor[] self) -> Tensor[],
    inplace: _foreach_tan_, autogen: _foreach_tan.out, each: tan;

    func: _foreach_tanh(Tensor[] self) -> Tensor[],
    inplace: _foreach_tanh_, autogen: _foreach_tanh.out, each: tanh;

    func: _foreach_trunc(Tensor[] self) -> Tensor[],
    inplace: _foreach_trunc_, autogen: _foreach_trunc.out, each: trunc;

    func: _foreach_max(Tensor[] self) -> Tensor[],
    autogen: _foreach_max.out, each: amax;

    func: _foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[],
    autogen: _foreach_clone.out, each: clone;

    func: _foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[] self_out,
    autogen: _foreach_copy.out, each: copy;

    func: _foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> (),
    each: copy_;

    func: _foreach_zero(Tensor[] self) -> Tensor[] self_out,
    autogen: _foreach_zero.out, each: zero;

    func: _foreach_zero_(Tensor(a!)[] self) -> (),
    each: zero_;
}

/* ---- rounding, signs, divisors, the floating format ---- */

K_FN k_bool k_sgn_bool(k_bool a) { return a; }
K_FN k_bool k_is_negative_bool(k_bool a) { (void)a; return false; }
K_FN k_bool k_is_infinite_bool(k_bool a) { (void)a; return false; }

#define K_DISCRETE(n, T, NEGATIVE) \
  K_FN T k_floor_##n(T a) { return a; } \
  K_FN T k_ceil_##n(T a) { return a; } \
  K_FN T k_trunc_##n(T a) { return a; } \
  K_FN T k_round_##n(T a) { return a; } \
  K_FN T k_sgn_##n(T a) { return NEGATIVE(a) ? (T)-1 : (T)(a != 0); } \
  K_FN k_bool k_is_negative_##n(T a) { (void)a; return NEGATIVE(a); } \
  K_FN k_bool k_is_infinite_##n(T a) { (void)a; return false; } \
  /* By zero: 0, and the caller reports it. */ \
  K_FN T k_rem_trunc_##n(T a, T b) { return b == 0 ? (T)0 : k_sub_##n(a, k_mul_##n(k_div_trunc_##n(a, b), b)); } \
  K_FN T k_rem_floor_##n(T a, T b) { \
    T rest = k_rem_trunc_##n(a, b); \
    return rest != 0 && NEGATIVE(rest) != NEGATIVE(b) ? k_add_##n(rest, b) : rest; \
  } \
  K_FN T k_gcd_##n(T a, T b) { \
    a = k_abs_##n(a), b = k_abs_##n(b); \
    while (a != 0) { \
      T rest = k_rem_trunc_##n(b, a); \
      b = a, a = rest; \
    } \
    return b; \
  }

K_DISCRETE(u8, k_u8, K_UNSIGNED)
K_DISCRETE(i8, k_i8, K_SIGNED)
K_DISCRETE(i16, k_i16, K_SIGNED)
K_DISCRETE(i32, k_i32, K_SIGNED)
K_DISCRETE(i64, k_i64, K_SIGNED)

#define K_FORMAT(n, T, S, INF, EPSILON) \
  K_FN T k_round_##n(T a) { return rint##S(a); } \
  K_FN T k_sgn_##n(T a) { return (T)((a > 0) - (a < 0)); } \
  K_FN k_bool k_is_negative_##n(T a) { return copysign##S((T)1, a) < 0; } \
  K_FN k_bool k_is_infinite_##n(T a) { return a == INF || a == -INF; } \
  /* NaN where the quotient overflows by more than rounding. */ \
  K_FN T k_rem_trunc_##n(T a, T b) { \
    T quotient = a * (1 - EPSILON) / b; \
    return quotient - quotient == 0 ? fmod##S(a, b) : quotient - quotient; \
  } \
  K_FN T k_rem_floor_##n(T a, T b) { \
    T rest = k_rem_trunc_##n(a, b); \
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest; \
  } \
  K_FN T k_next_after_##n(T a, T b) { return nextafter##S(a, b); } \
  K_FN T k_mantissa_##n(T a) { int e; return frexp##S(a, &e); } \
  K_FN T k_exponent_##n(T a) { int e = 0; frexp##S(a, &e); return a - a == 0 ? (T)e : 0; } \
  K_FN T k_hypot_##n(T a, T b) { return hypot##S(a, b); }

K_FORMAT(f32, k_f32, f, K_INF_F32, 0x1p-23f)
K_FORMAT(f64, k_f64, , K_INF_F64, 0x1p-52)

/* The halves step in their own bits. */
#define K_NEXT_HALF(n) \
  K_FN k_f32 k_next_after_##n(k_f32 a, k_f32 b) { \
    k_u16 bits = k_##n##_of_f32(a); \
    if (a != a || b != b) return a + b; \
    if (a == b) return b; \
    if (a == 0) return k_f32_of_##n((k_u16)((k_##n##_of_f32(b) & 0x8000u) | 1u)); \
    return k_f32_of_##n((k_u16)((a < b) == (a < 0) ? bits - 1 : bits + 1)); \
  }

K_NEXT_HALF(f16)
K_NEXT_HALF(bf16)

K_FN k_c64 k_sgn_c64(k_c64 z) {
  k_f32 length = k_abs_c64(z);
  if (z.re == 0 && z.im == 0) return k_make_c64(0, 0);
  return k_make_c64(z.re / length, z.im / length);
}
K_FN k_c128 k_sgn_c128(k_c128 z) {
  k_f64 length = hypot(z.re, z.im);
  if (z.re == 0 && z.im == 0) return k_make_c128(0, 0);
  return k_make_c128(z.re / length, z.im / length);
}
K_FN k_bool k_is_infinite_c64(k_c64 z) { return k_is_infinite_f32(z.re) || k_is_infinite_f32(z.im); }
K_FN k_bool k_is_infinite_c128(k_c128 z) { return k_is_infinite_f64(z.re) || k_is_infinite_f64(z.im); }

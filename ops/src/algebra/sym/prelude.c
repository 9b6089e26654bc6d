/* The arithmetic that generated functions call: the rules of the value algebra, once, in C99 that is C++ and CUDA C++,
 * too. A float16 or bfloat16 is a k_f32 in a register; its own precision appears in loads, stores and rounded quotients.
 * Compile without contraction of products into fused multiply-adds and without fast-math: results are exact contracts. */

#ifdef __CUDACC__
  #ifndef K_FN
    #define K_FN static __device__ __forceinline__
  #endif
  typedef unsigned char k_u8;
  typedef signed char k_i8;
  typedef unsigned short k_u16;
  typedef short k_i16;
  typedef unsigned int k_u32;
  typedef int k_i32;
  typedef unsigned long long k_u64;
  typedef long long k_i64;
  #define K_INF_F32 __int_as_float(0x7f800000)
  #define K_NAN_F32 __int_as_float(0x7fc00000)
  #define K_INF_F64 __longlong_as_double(0x7ff0000000000000LL)
  #define K_NAN_F64 __longlong_as_double(0x7ff8000000000000LL)
  K_FN k_u32 k_bits_of_f32(float x) { return __float_as_uint(x); }
  K_FN float k_f32_of_bits(k_u32 x) { return __uint_as_float(x); }
#else
  #include <math.h>
  #include <stdbool.h>
  #include <stdint.h>
  #include <string.h>
  #ifndef K_FN
    #define K_FN static inline
  #endif
  typedef uint8_t k_u8;
  typedef int8_t k_i8;
  typedef uint16_t k_u16;
  typedef int16_t k_i16;
  typedef uint32_t k_u32;
  typedef int32_t k_i32;
  typedef uint64_t k_u64;
  typedef int64_t k_i64;
  #define K_INF_F32 INFINITY
  #define K_NAN_F32 NAN
  #define K_INF_F64 ((double)INFINITY)
  #define K_NAN_F64 ((double)NAN)
  K_FN k_u32 k_bits_of_f32(float x) { k_u32 bits; memcpy(&bits, &x, sizeof bits); return bits; }
  K_FN float k_f32_of_bits(k_u32 x) { float value; memcpy(&value, &x, sizeof value); return value; }
#endif

typedef bool k_bool;
typedef float k_f32;
typedef double k_f64;
typedef struct { float re, im; } k_c64;
typedef struct { double re, im; } k_c128;

/* ---- bool: + is or, * is and, - is exclusive or ---- */

K_FN k_bool k_add_bool(k_bool a, k_bool b) { return a | b; }
K_FN k_bool k_sub_bool(k_bool a, k_bool b) { return a ^ b; }
K_FN k_bool k_mul_bool(k_bool a, k_bool b) { return a & b; }
K_FN k_bool k_neg_bool(k_bool a) { return a; }
K_FN k_bool k_abs_bool(k_bool a) { return a; }
K_FN k_bool k_truth_bool(k_bool a) { return a; }
K_FN k_bool k_and_bool(k_bool a, k_bool b) { return a & b; }
K_FN k_bool k_or_bool(k_bool a, k_bool b) { return a | b; }
K_FN k_bool k_xor_bool(k_bool a, k_bool b) { return a ^ b; }
K_FN k_bool k_not_bool(k_bool a) { return !a; }
K_FN k_bool k_eq_bool(k_bool a, k_bool b) { return a == b; }
K_FN k_bool k_ne_bool(k_bool a, k_bool b) { return a != b; }
K_FN k_bool k_lt_bool(k_bool a, k_bool b) { return !a & b; }
K_FN k_bool k_le_bool(k_bool a, k_bool b) { return !a | b; }
K_FN k_bool k_select_bool(k_bool m, k_bool a, k_bool b) { return m ? a : b; }
K_FN k_bool k_pow_bool(k_bool a, k_bool b) { return a | !b; }
K_FN k_bool k_pow_number_bool(k_bool a, k_bool b) { return a | !b; }

/* ---- integers: arithmetic goes through an unsigned type W of at least int's width, so it wraps and is defined ---- */

#define K_INTEGER(n, T, W, BITS, NEGATIVE) \
  K_FN T k_add_##n(T a, T b) { return (T)((W)a + (W)b); } \
  K_FN T k_sub_##n(T a, T b) { return (T)((W)a - (W)b); } \
  K_FN T k_mul_##n(T a, T b) { return (T)((W)a * (W)b); } \
  K_FN T k_neg_##n(T a) { return (T)((W)0 - (W)a); } \
  K_FN T k_abs_##n(T a) { return NEGATIVE(a) ? k_neg_##n(a) : a; } \
  K_FN k_bool k_truth_##n(T a) { return a != 0; } \
  K_FN T k_and_##n(T a, T b) { return (T)(a & b); } \
  K_FN T k_or_##n(T a, T b) { return (T)(a | b); } \
  K_FN T k_xor_##n(T a, T b) { return (T)(a ^ b); } \
  K_FN T k_not_##n(T a) { return (T)~a; } \
  K_FN T k_shl_##n(T a, T b) { return (k_u64)(k_i64)b < BITS ? (T)((W)a << b) : (T)0; } \
  K_FN T k_shr_##n(T a, T b) { \
    return (k_u64)(k_i64)b < BITS ? (T)(a >> b) : (NEGATIVE(a) ? (T)-1 : (T)0); \
  } \
  K_FN k_bool k_eq_##n(T a, T b) { return a == b; } \
  K_FN k_bool k_ne_##n(T a, T b) { return a != b; } \
  K_FN k_bool k_lt_##n(T a, T b) { return a < b; } \
  K_FN k_bool k_le_##n(T a, T b) { return a <= b; } \
  K_FN T k_select_##n(k_bool m, T a, T b) { return m ? a : b; } \
  /* A negative power is the reciprocal of the product, cut. */ \
  K_FN T k_pow_##n(T a, T b) { \
    T product = 1, square = a; \
    k_i64 rest; \
    if (NEGATIVE(b)) return a == 1 ? (T)1 : a == (T)-1 ? (b & 1 ? (T)-1 : (T)1) : (T)0; \
    for (rest = b; rest != 0; rest >>= 1) { \
      if (rest & 1) product = k_mul_##n(product, square); \
      square = k_mul_##n(square, square); \
    } \
    return product; \
  } \
  K_FN T k_pow_number_##n(T a, T b) { return k_pow_##n(a, b); } \
  /* By zero: 0, and the caller reports it. By -1: negation, which wraps where the machine would trap. */ \
  K_FN T k_div_trunc_##n(T a, T b) { \
    if (b == 0) return 0; \
    if (NEGATIVE(b) && b == (T)-1) return k_neg_##n(a); \
    return (T)(a / b); \
  } \
  K_FN T k_div_floor_##n(T a, T b) { \
    T quotient = k_div_trunc_##n(a, b); \
    T rest = k_sub_##n(a, k_mul_##n(quotient, b)); \
    return b != 0 && rest != 0 && NEGATIVE(rest) != NEGATIVE(b) ? (T)(quotient - 1) : quotient; \
  }

#define K_SIGNED(a) ((a) < 0)
#define K_UNSIGNED(a) false
K_INTEGER(u8, k_u8, k_u32, 8, K_UNSIGNED)
K_INTEGER(i8, k_i8, k_u32, 8, K_SIGNED)
K_INTEGER(i16, k_i16, k_u32, 16, K_SIGNED)
K_INTEGER(i32, k_i32, k_u32, 32, K_SIGNED)
K_INTEGER(i64, k_i64, k_u64, 64, K_SIGNED)

/* ---- halves: bits to float32 (exact) and back (nearest, ties to even; subnormals exact; NaN stays NaN) ---- */

K_FN k_f32 k_f32_of_bf16(k_u16 bits) { return k_f32_of_bits((k_u32)bits << 16); }

K_FN k_u16 k_bf16_of_f32(k_f32 x) {
  k_u32 bits = k_bits_of_f32(x);
  return (k_u16)(x != x ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#ifdef __CUDACC__
K_FN k_f32 k_f32_of_f16(k_u16 bits) { k_f32 x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits)); return x; }
K_FN k_u16 k_f16_of_f32(k_f32 x) { k_u16 bits; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); return bits; }
#else
K_FN k_f32 k_f32_of_f16(k_u16 bits) {
  /* In float32's fields the value is too small by 2^112; one product repairs normal and subnormal values alike. */
  k_f32 scaled = k_f32_of_bits((k_u32)(bits & 0x7fffu) << 13) * 5192296858534827628530496329220096.0f;
  k_u32 top = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  return k_f32_of_bits(k_bits_of_f32(scaled) | top | (k_u32)(bits & 0x8000u) << 16);
}

K_FN k_u16 k_f16_of_f32(k_f32 x) {
  k_u32 bits = k_bits_of_f32(x), magnitude = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u, half;
  if (x != x) half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  else if (magnitude >= 0x47800000u) half = 0x7c00u;
  /* One half has the last place of a subnormal float16: the adder rounds. */
  else if (magnitude < 0x38800000u) half = k_bits_of_f32(k_f32_of_bits(magnitude) + 0.5f) - 0x3f000000u;
  else half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  return (k_u16)(half | sign);
}
#endif

K_FN k_f32 k_through_f32(k_f32 x) { return x; }
K_FN k_f64 k_through_f64(k_f64 x) { return x; }
K_FN k_f32 k_through_f16(k_f32 x) { return k_f32_of_f16(k_f16_of_f32(x)); }
K_FN k_f32 k_through_bf16(k_f32 x) { return k_f32_of_bf16(k_bf16_of_f32(x)); }

/* ---- activations, in double ---- */

/* max(x, 0) - |x| Q(|x|), Q being half of erfc(|x| / sqrt(2)), the rounding of whose argument is made up for. */
K_FN k_f64 k_gelu(k_f64 x) {
  k_f64 a = fabs(x) > 39 ? 39 : fabs(x), scale = 0.70710678118654757, z = a * scale;
  k_f64 low = fma(a, scale, -z) + a * -4.833646656726457e-17;
  if (x == K_INF_F64) return x;
  return (x < 0 ? 0 : x) - fabs(x) * (0.5 * erfc(z) * (1 - 2 * z * low));
}

/* x / (1 + e^-t), t being sqrt(8 / pi) (x + 0.044715 x^3) as a head and a tail. */
K_FN k_f64 k_gelu_tanh(k_f64 x) {
  k_f64 a = fabs(x) > 30 ? 30 : fabs(x), square, square_low, scaled, head, low, slope, t, t_low, power;
  square = a * a, square_low = fma(a, a, -square);
  scaled = 0.044715 * square, head = 1 + scaled;
  low = scaled > 1 ? 1 - (head - scaled) : scaled - (head - 1);
  low += fma(0.044715, square, -scaled) + 0.044715 * square_low + 2.1960211427085595e-18 * square;
  slope = 1.5957691216057308 * a, t = slope * head;
  t_low = fma(slope, head, -t) + slope * low + (fma(1.5957691216057308, a, -slope) - 9.96930880911092e-17 * a) * head;
  if (fabs(x) > 30) return x < 0 ? x * 0.0 : x;
  power = exp(-t) * (1 - t_low);
  return x < 0 ? x * power / (1 + power) : x / (1 + power);
}

/* The inverse of erf, in double: S. Winitzki's approximation, 2008, then steps of Halley's, which triple its digits. */
K_FN k_f64 k_erfinv(k_f64 x) {
  k_f64 a = fabs(x), c = 4.3307467508, l, y, off;
  int k;
  if (!(a < 1)) return a == 1 ? copysign(K_INF_F64, x) : K_NAN_F64;
  if (a < 1e-20) return x * 0.88622692545275801;
  l = log1p(-a) + log1p(a);
  y = sqrt(sqrt((c + 0.5 * l) * (c + 0.5 * l) - l / 0.147) - (c + 0.5 * l));
  for (k = 0; k < 4; k++) {
    off = (a > 0.5 ? (1 - a) - erfc(y) : erf(y) - a) * 0.88622692545275801 * exp(y * y);
    y -= off / (1 + y * off);
  }
  return copysign(y, x);
}

/* ---- real floats; S is the suffix of C's functions ---- */

#define K_FLOATING(n, T, S) \
  K_FN T k_add_##n(T a, T b) { return a + b; } \
  K_FN T k_sub_##n(T a, T b) { return a - b; } \
  K_FN T k_mul_##n(T a, T b) { return a * b; } \
  K_FN T k_div_##n(T a, T b) { return a / b; } \
  K_FN T k_neg_##n(T a) { return -a; } \
  K_FN T k_abs_##n(T a) { return fabs##S(a); } \
  K_FN k_bool k_truth_##n(T a) { return a != 0; } \
  K_FN k_bool k_eq_##n(T a, T b) { return a == b; } \
  K_FN k_bool k_ne_##n(T a, T b) { return a != b; } \
  K_FN k_bool k_lt_##n(T a, T b) { return a < b; } \
  K_FN k_bool k_le_##n(T a, T b) { return a <= b; } \
  K_FN T k_select_##n(k_bool m, T a, T b) { return m ? a : b; } \
  K_FN T k_floor_##n(T a) { return floor##S(a); } \
  K_FN T k_ceil_##n(T a) { return ceil##S(a); } \
  K_FN T k_trunc_##n(T a) { return trunc##S(a); } \
  K_FN k_bool k_is_nan_##n(T a) { return a != a; } \
  K_FN k_bool k_is_finite_##n(T a) { return a - a == 0; } \
  K_FN T k_copysign_##n(T a, T b) { return copysign##S(a, b); } \
  K_FN T k_exp_##n(T a) { return exp##S(a); } \
  K_FN T k_log_##n(T a) { return log##S(a); } \
  K_FN T k_exp2_##n(T a) { return exp2##S(a); } \
  K_FN T k_expm1_##n(T a) { return expm1##S(a); } \
  K_FN T k_log2_##n(T a) { return log2##S(a); } \
  K_FN T k_log10_##n(T a) { return log10##S(a); } \
  K_FN T k_log1p_##n(T a) { return log1p##S(a); } \
  K_FN T k_sin_##n(T a) { return sin##S(a); } \
  K_FN T k_cos_##n(T a) { return cos##S(a); } \
  K_FN T k_tan_##n(T a) { return tan##S(a); } \
  K_FN T k_asin_##n(T a) { return asin##S(a); } \
  K_FN T k_acos_##n(T a) { return acos##S(a); } \
  K_FN T k_atan_##n(T a) { return atan##S(a); } \
  K_FN T k_sinh_##n(T a) { return sinh##S(a); } \
  K_FN T k_cosh_##n(T a) { return cosh##S(a); } \
  K_FN T k_asinh_##n(T a) { return asinh##S(a); } \
  K_FN T k_acosh_##n(T a) { return acosh##S(a); } \
  K_FN T k_atanh_##n(T a) { return atanh##S(a); } \
  K_FN T k_erfc_##n(T a) { return erfc##S(a); } \
  K_FN T k_atan2_##n(T a, T b) { return atan2##S(a, b); } \
  K_FN T k_erfinv_##n(T a) { return (T)k_erfinv(a); } \
  K_FN T k_sqrt_##n(T a) { return sqrt##S(a); } \
  K_FN T k_rsqrt_##n(T a) { return (T)(1 / sqrt((k_f64)a)); } \
  K_FN T k_tanh_##n(T a) { return tanh##S(a); } \
  K_FN T k_sigmoid_##n(T a) { \
    k_f64 small = exp(-fabs((k_f64)a)); \
    return (T)((a < 0 ? small : 1) / (1 + small)); \
  } \
  K_FN T k_erf_##n(T a) { return erf##S(a); } \
  K_FN T k_gelu_##n(T a) { return (T)k_gelu(a); } \
  K_FN T k_gelu_tanh_##n(T a) { return (T)k_gelu_tanh(a); } \
  K_FN T k_pow_##n(T a, T b) { return pow##S(a, b); }

K_FLOATING(f32, k_f32, f)
K_FLOATING(f64, k_f64, )

#ifdef __CUDACC__
K_FN k_f32 k_mul_add_f32(k_f32 a, k_f32 b, k_f32 c) { return fmaf(a, b, c); }
K_FN k_f64 k_mul_add_f64(k_f64 a, k_f64 b, k_f64 c) { return fma(a, b, c); }
#else
K_FN k_f32 k_mul_add_f32(k_f32 a, k_f32 b, k_f32 c) { return a * b + c; }
K_FN k_f64 k_mul_add_f64(k_f64 a, k_f64 b, k_f64 c) { return a * b + c; }
#endif
K_FN k_f32 k_add_scaled_f32(k_f32 a, k_f32 f, k_f32 x) { return fmaf(f, x, a); }
K_FN k_f64 k_add_scaled_f64(k_f64 a, k_f64 f, k_f64 x) { return fma(f, x, a); }

/* Quotients rounded to integers; every step passes through the element's own precision. */
#define K_QUOTIENT(n, T, S) \
  K_FN T k_div_trunc_##n(T a, T b) { return trunc##S(k_through_##n(a / b)); } \
  K_FN T k_div_floor_##n(T a, T b) { \
    T quotient = a / b, rest, exact, down; \
    if (b == 0) return quotient; \
    rest = fmod##S(a, b); \
    exact = k_through_##n(k_through_##n(a - rest) / b); \
    if (rest != 0 && (b < 0) != (rest < 0)) exact = k_through_##n(exact - 1); \
    if (exact == 0) return copysign##S((T)0, quotient); \
    down = floor##S(exact); \
    return k_through_##n(exact - down) > (T)0.5 ? k_through_##n(down + 1) : down; \
  }

K_QUOTIENT(f32, k_f32, f)
K_QUOTIENT(f64, k_f64, )
K_QUOTIENT(f16, k_f32, f)
K_QUOTIENT(bf16, k_f32, f)

/* Powers whose exponent is a number of the call, rounded to the element's own precision. */
#define K_POW_NUMBER(n, T, m) \
  K_FN T k_pow_number_##n(T a, T b) { \
    b = k_through_##n(b); \
    if (b == (T)0.5) return k_sqrt_##m(a); \
    if (b == (T)-0.5) return k_rsqrt_##m(a); \
    if (b == 1) return a; \
    if (b == 2) return a * a; \
    if (b == 3) return a * a * a; \
    if (b == -1) return 1 / a; \
    if (b == -2) return 1 / (a * a); \
    return k_pow_##m(a, b); \
  }

K_POW_NUMBER(f32, k_f32, f32)
K_POW_NUMBER(f64, k_f64, f64)
K_POW_NUMBER(f16, k_f32, f32)
K_POW_NUMBER(bf16, k_f32, f32)

/* ---- complex ---- */

#define K_COMPLEX(n, T, P, S) \
  K_FN T k_make_##n(P re, P im) { T z; z.re = re; z.im = im; return z; } \
  K_FN P k_re_##n(T z) { return z.re; } \
  K_FN P k_im_##n(T z) { return z.im; } \
  K_FN T k_conj_##n(T z) { return k_make_##n(z.re, -z.im); } \
  K_FN T k_add_##n(T a, T b) { return k_make_##n(a.re + b.re, a.im + b.im); } \
  K_FN T k_sub_##n(T a, T b) { return k_make_##n(a.re - b.re, a.im - b.im); } \
  K_FN T k_mul_##n(T a, T b) { return k_make_##n(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); } \
  K_FN T k_neg_##n(T a) { return k_make_##n(-a.re, -a.im); } \
  K_FN k_bool k_truth_##n(T a) { return (a.re != 0) | (a.im != 0); } \
  K_FN k_bool k_eq_##n(T a, T b) { return (a.re == b.re) & (a.im == b.im); } \
  K_FN k_bool k_ne_##n(T a, T b) { return (a.re != b.re) | (a.im != b.im); } \
  K_FN T k_select_##n(k_bool m, T a, T b) { return m ? a : b; } \
  /* Smith's method: divide by the larger part first. */ \
  K_FN T k_div_##n(T a, T b) { \
    P ratio, scale; \
    if (fabs##S(b.re) >= fabs##S(b.im)) { \
      if (b.re == 0 && b.im == 0) return k_make_##n(a.re / fabs##S(b.re), a.im / fabs##S(b.re)); \
      ratio = b.im / b.re; \
      scale = 1 / (b.re + b.im * ratio); \
      return k_make_##n((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale); \
    } \
    ratio = b.re / b.im; \
    scale = 1 / (b.re * ratio + b.im); \
    return k_make_##n((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale); \
  } \
  /* C99 Annex G: what the bare product of modulus and direction gets wrong. */ \
  K_FN T k_exp_##n(T a) { \
    T product = k_exp_product_##n(a.re, a.im); \
    if (a.im == 0) return k_make_##n(product.re, a.im); \
    if (!(a.im - a.im == 0)) { \
      if (a.re == K_INF_F32) return k_make_##n(a.re, (P)K_NAN_F32); \
      if (a.re == -K_INF_F32) return k_make_##n(0, copysign##S((P)0, a.im)); \
    } \
    return product; \
  }

/* In double no float argument overflows before the product does. */
K_FN k_c64 k_exp_product_c64(k_f32 re, k_f32 im) {
  k_f64 modulus = exp((k_f64)re);
  k_c64 z;
  z.re = (k_f32)(modulus * cos((k_f64)im));
  z.im = (k_f32)(modulus * sin((k_f64)im));
  return z;
}

/* The modulus may overflow where the product is still finite, so it is taken in steps. */
K_FN k_c128 k_exp_product_c128(k_f64 re, k_f64 im) {
  k_f64 first = re > 709.0 ? 709.0 : 0.0, rest = re - first, second = rest > 709.0 ? 709.0 : 0.0;
  k_f64 one = exp(first), two = exp(second), three = exp(rest - second);
  k_c128 z;
  z.re = cos(im) * one * two * three;
  z.im = sin(im) * one * two * three;
  return z;
}

K_COMPLEX(c64, k_c64, k_f32, f)
K_COMPLEX(c128, k_c128, k_f64, )

K_FN k_f32 k_abs_c64(k_c64 z) {
  k_f64 re = z.re, im = z.im;
  k_f32 length = (k_f32)sqrt(re * re + im * im);
  return fabsf(z.re) == K_INF_F32 || fabsf(z.im) == K_INF_F32 ? K_INF_F32 : length;
}
K_FN k_f64 k_abs_c128(k_c128 z) { return hypot(z.re, z.im); }

/* ---- functions of complex values, in double; C99 Annex G ---- */

K_FN k_f64 k_power_of_two(int n) { return ldexp(1.0, n); }

K_FN k_c128 k_complex_sqrt(k_c128 z) {
  k_f64 re = z.re, im = z.im, x, y, large, small, size;
  int exponent;
  if (fabs(im) == K_INF_F64) return k_make_c128(K_INF_F64, im);
  if (re != re || (im != im && fabs(re) != K_INF_F64)) return k_make_c128(K_NAN_F64, K_NAN_F64);
  if (fabs(re) == K_INF_F64) {
    k_f64 zero = im != im ? K_NAN_F64 : 0.0;
    return re > 0 ? k_make_c128(re, copysign(zero, im)) : k_make_c128(fabs(zero), copysign(K_INF_F64, im));
  }
  if (re == 0 && im == 0) return k_make_c128(0, im);
  size = fabs(re) > fabs(im) ? fabs(re) : fabs(im);
  exponent = size < 2.2250738585072014e-308 ? -1023 / 2 : ilogb(size) / 2;
  x = re * k_power_of_two(-exponent) * k_power_of_two(-exponent);
  y = im * k_power_of_two(-exponent) * k_power_of_two(-exponent);
  large = sqrt(0.5 * (fabs(x) + hypot(x, y)));
  small = y == 0 ? 0 : 0.5 * fabs(y) / large;
  re = x >= 0 ? large : small, im = x >= 0 ? small : large;
  return k_make_c128(re * k_power_of_two(exponent), copysign(im * k_power_of_two(exponent), z.im));
}

K_FN k_c128 k_complex_log(k_c128 z) {
  k_f64 a = fabs(z.re), b = fabs(z.im), large = a > b || b != b ? a : b, small = a > b || b != b ? b : a, modulus;
  if (a != a) large = b, small = a;
  if (large >= 0.5 && large <= 2 && small == small) {
    k_f64 square = large * large, other = small * small;
    k_f64 low = fma(large, large, -square) + fma(small, small, -other);
    k_f64 sum = square - 1, total = sum + other, t = total - sum;
    k_f64 rest = (sum - (total - t)) + (other - t);
    modulus = 0.5 * log1p(total + (rest + low));
  }
  else if (a == K_INF_F64 || b == K_INF_F64) modulus = K_INF_F64;
  else if (large > 1e300) modulus = log(hypot(large * 0.5, small * 0.5)) + 0.693147180559945309417;
  else if (large < 1e-300) {
    modulus = log(hypot(large * k_power_of_two(1000), small * k_power_of_two(1000))) - 1000 * 0.693147180559945309417;
  }
  else modulus = log(hypot(z.re, z.im));
  return k_make_c128(modulus, atan2(z.im, z.re));
}

K_FN k_c128 k_complex_tanh(k_c128 z) {
  k_f64 re = z.re, im = z.im, t, s, slope, below, fall;
  if (fabs(re) == K_INF_F64) {
    return k_make_c128(copysign(1.0, re), im - im == 0 ? sin(im) * cos(im) * 0.0 : copysign(0.0, im));
  }
  if (im - im != 0) return k_make_c128(re == 0 ? re : K_NAN_F64, K_NAN_F64);
  if (re != re) return k_make_c128(re, im == 0 ? im : K_NAN_F64);
  if (fabs(re) > 20) {
    fall = exp(-fabs(re));
    return k_make_c128(copysign(1.0, re), 4 * sin(im) * cos(im) * fall * fall);
  }
  t = tan(im), s = sinh(re), slope = 1 + t * t, below = 1 + slope * s * s;
  return k_make_c128(slope * sqrt(1 + s * s) * s / below, t / below);
}

K_FN k_c128 k_complex_exp(k_c128 z) {
  k_f64 first = z.re > 709 ? 709 : 0, one, two;
  if (z.im == 0) return k_make_c128(exp(z.re), z.im);
  if (!(z.im - z.im == 0)) {
    if (z.re == K_INF_F64) return k_make_c128(z.re, K_NAN_F64);
    if (z.re == -K_INF_F64) return k_make_c128(0, copysign(0.0, z.im));
    return k_make_c128(K_NAN_F64, K_NAN_F64);
  }
  one = exp(first), two = exp(z.re - first);
  return k_make_c128(cos(z.im) * one * two, sin(z.im) * one * two);
}

K_FN int k_is_infinite(k_c128 z) { return fabs(z.re) == K_INF_F64 || fabs(z.im) == K_INF_F64; }

/* A factor with what it adds to an infinite product: of an infinite one its direction, else all but NaN. */
K_FN k_f64 k_infinite_factor(k_f64 x, int is_direction) {
  if (is_direction) return copysign(fabs(x) == K_INF_F64 ? 1.0 : 0.0, x);
  return x != x ? copysign(0.0, x) : x;
}

/* A product that is infinite where a factor is, even if both of its parts are NaN by the rule for numbers. */
K_FN k_c128 k_complex_product(k_c128 z, k_c128 w) {
  k_c128 plain = k_mul_c128(z, w), overflow = k_make_c128(z.re * w.re, z.im * w.im);
  k_c128 mixed = k_make_c128(z.re * w.im, z.im * w.re);
  int a = k_is_infinite(z), b = k_is_infinite(w);
  if (plain.re == plain.re || plain.im == plain.im) return plain;
  if (!(a || b || k_is_infinite(overflow) || k_is_infinite(mixed))) return plain;
  z = k_make_c128(k_infinite_factor(z.re, a), k_infinite_factor(z.im, a));
  w = k_make_c128(k_infinite_factor(w.re, b), k_infinite_factor(w.im, b));
  plain = k_mul_c128(z, w);
  return k_make_c128(K_INF_F64 * plain.re, K_INF_F64 * plain.im);
}

#define K_COMPLEX_FUNCTIONS(n, T, WIDE, NARROW) \
  K_FN T k_log_##n(T a) { return NARROW(k_complex_log(WIDE(a))); } \
  K_FN T k_sqrt_##n(T a) { return NARROW(k_complex_sqrt(WIDE(a))); } \
  K_FN T k_rsqrt_##n(T a) { return k_div_##n(k_make_##n(1, 0), k_sqrt_##n(a)); } \
  K_FN T k_tanh_##n(T a) { return NARROW(k_complex_tanh(WIDE(a))); } \
  K_FN T k_sigmoid_##n(T a) { \
    T one = k_make_##n(1, 0); \
    return k_div_##n(one, k_add_##n(one, k_exp_##n(k_neg_##n(a)))); \
  } \
  K_FN T k_pow_##n(T a, T b) { return NARROW(k_complex_exp(k_complex_product(WIDE(b), k_complex_log(WIDE(a))))); } \
  K_FN T k_pow_number_##n(T a, T b) { \
    T one = k_make_##n(1, 0); \
    if (b.im == 0 && b.re == 0) return one; \
    if (b.im == 0 && b.re == 0.5) return k_sqrt_##n(a); \
    if (b.im == 0 && b.re == -0.5) return k_rsqrt_##n(a); \
    if (b.im == 0 && b.re == 1) return a; \
    if (b.im == 0 && b.re == 2) return k_mul_##n(a, a); \
    if (b.im == 0 && b.re == 3) return k_mul_##n(k_mul_##n(a, a), a); \
    if (b.im == 0 && b.re == -1) return k_div_##n(one, a); \
    if (b.im == 0 && b.re == -2) return k_div_##n(one, k_mul_##n(a, a)); \
    return k_pow_##n(a, b); \
  }

K_FN k_c128 k_to_c128(k_c64 z) { return k_make_c128(z.re, z.im); }
K_FN k_c64 k_to_c64(k_c128 z) { return k_make_c64((k_f32)z.re, (k_f32)z.im); }
K_COMPLEX_FUNCTIONS(c64, k_c64, k_to_c128, k_to_c64)
K_COMPLEX_FUNCTIONS(c128, k_c128, , )

/* ---- wider values to accumulate in ---- */

K_FN k_f64 k_widen_f32(k_f32 x) { return x; }
K_FN k_f32 k_narrow_f32(k_f64 x) { return (k_f32)x; }
K_FN k_c128 k_widen_c64(k_c64 z) { return k_make_c128(z.re, z.im); }
K_FN k_c64 k_narrow_c64(k_c128 z) { return k_make_c64((k_f32)z.re, (k_f32)z.im); }

/* ---- counts ---- */

K_FN k_f32 k_from_index_f32(k_i64 x) { return (k_f32)x; }
K_FN k_f64 k_from_index_f64(k_i64 x) { return (k_f64)x; }
K_FN k_c64 k_from_index_c64(k_i64 x) { return k_make_c64((k_f32)x, 0.0f); }
K_FN k_c128 k_from_index_c128(k_i64 x) { return k_make_c128((k_f64)x, 0.0); }

/* The steps of a loop: the integer part; none of NaN and below zero. */
K_FN k_i64 k_steps_f64(k_f64 n) { return n >= 9223372036854775808.0 ? 9223372036854775807LL : n >= 1 ? (k_i64)n : 0; }
K_FN k_i64 k_steps_f32(k_f32 n) { return k_steps_f64(n); }

/* ---- memory: elements by index; a bool is a byte, and any byte but 0 is true ---- */

#define K_MEMORY(n, T) \
  K_FN T k_load_##n(const void *p, k_i64 i) { return ((const T *)p)[i]; } \
  K_FN void k_store_##n(void *p, k_i64 i, T x) { ((T *)p)[i] = x; }

K_MEMORY(u8, k_u8)
K_MEMORY(i8, k_i8)
K_MEMORY(i16, k_i16)
K_MEMORY(i32, k_i32)
K_MEMORY(i64, k_i64)
K_MEMORY(f32, k_f32)
K_MEMORY(f64, k_f64)
K_MEMORY(c64, k_c64)
K_MEMORY(c128, k_c128)
K_FN k_bool k_load_bool(const void *p, k_i64 i) { return ((const k_u8 *)p)[i] != 0; }
K_FN void k_store_bool(void *p, k_i64 i, k_bool x) { ((k_u8 *)p)[i] = x; }
K_FN k_f32 k_load_f16(const void *p, k_i64 i) { return k_f32_of_f16(((const k_u16 *)p)[i]); }
K_FN void k_store_f16(void *p, k_i64 i, k_f32 x) { ((k_u16 *)p)[i] = k_f16_of_f32(x); }
K_FN k_f32 k_load_bf16(const void *p, k_i64 i) { return k_f32_of_bf16(((const k_u16 *)p)[i]); }
K_FN void k_store_bf16(void *p, k_i64 i, k_f32 x) { ((k_u16 *)p)[i] = k_bf16_of_f32(x); }

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

K_FN k_f32 k_through_f32(k_f32 x) { return x; }
K_FN k_f64 k_through_f64(k_f64 x) { return x; }
K_FN k_f32 k_through_f16(k_f32 x) { return k_f32_of_f16(k_f16_of_f32(x)); }
K_FN k_f32 k_through_bf16(k_f32 x) { return k_f32_of_bf16(k_bf16_of_f32(x)); }

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
  K_FN T k_exp_##n(T a) { return exp##S(a); }

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
    if (exact == 0) return copysign##S(0, quotient); \
    down = floor##S(exact); \
    return k_through_##n(exact - down) > (T)0.5 ? k_through_##n(down + 1) : down; \
  }

K_QUOTIENT(f32, k_f32, f)
K_QUOTIENT(f64, k_f64, )
K_QUOTIENT(f16, k_f32, f)
K_QUOTIENT(bf16, k_f32, f)

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
      if (a.re == -K_INF_F32) return k_make_##n(0, copysign##S(0, a.im)); \
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

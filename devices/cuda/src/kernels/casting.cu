/* Elements of a dtype that is known when the kernel runs: loaded as a register of another, stored from one. The conversions are the
 * CPU's (devices/cpu/src/convert.rs):
 *   integer to integer wraps; anything is true unless it is zero; a complex number is real by its real part
 *   a float is cut to int32 for int8, int16 and int32, to int64 for uint8 and int64, and wraps; beyond that: the smallest
 *   what is wider than a half is rounded to float32 first */

template <class T> K_FN k_i32 k_cut_i32(T x) {
  const T limit = (T)2147483648.0;
  return x >= -limit && x < limit ? (k_i32)x : (k_i32)(-2147483647 - 1);
}
template <class T> K_FN k_i64 k_cut_i64(T x) {
  const T limit = (T)9223372036854775808.0;
  return x >= -limit && x < limit ? (k_i64)x : -9223372036854775807LL - 1;
}

/* The conversion to a register of type T. */
template <class T> struct k_to;

#define K_TO_INTEGER(T, CUT) \
  template <> struct k_to<T> { \
    template <class X> K_FN T of(X x) { return (T)x; } \
    K_FN T of(k_f32 x) { return (T)CUT(x); } \
    K_FN T of(k_f64 x) { return (T)CUT(x); } \
    K_FN T of(k_c64 z) { return (T)CUT(z.re); } \
    K_FN T of(k_c128 z) { return (T)CUT(z.re); } \
  };
K_TO_INTEGER(k_u8, k_cut_i64)
K_TO_INTEGER(k_i8, k_cut_i32)
K_TO_INTEGER(k_i16, k_cut_i32)
K_TO_INTEGER(k_i32, k_cut_i32)
K_TO_INTEGER(k_i64, k_cut_i64)

template <> struct k_to<k_bool> {
  template <class X> K_FN k_bool of(X x) { return x != 0; }
  K_FN k_bool of(k_c64 z) { return z.re != 0 || z.im != 0; }
  K_FN k_bool of(k_c128 z) { return z.re != 0 || z.im != 0; }
};

#define K_TO_FLOAT(T, C, MAKE) \
  template <> struct k_to<T> { \
    template <class X> K_FN T of(X x) { return (T)x; } \
    K_FN T of(k_c64 z) { return (T)z.re; } \
    K_FN T of(k_c128 z) { return (T)z.re; } \
  }; \
  template <> struct k_to<C> { \
    template <class X> K_FN C of(X x) { return MAKE((T)x, (T)0); } \
    K_FN C of(k_c64 z) { return MAKE((T)z.re, (T)z.im); } \
    K_FN C of(k_c128 z) { return MAKE((T)z.re, (T)z.im); } \
  };
K_TO_FLOAT(k_f32, k_c64, k_make_c64)
K_TO_FLOAT(k_f64, k_c128, k_make_c128)

/* What memory holds in place of a value, or a value in place of what memory holds: its conjugate, its negative. */
#define K_CONJ 1u
#define K_NEG 2u

#define K_TURNED(T, n) K_FN T k_turned(T x, k_u32 bits) { return bits & K_NEG ? k_neg_##n(x) : x; }
K_TURNED(k_bool, bool)
K_TURNED(k_u8, u8)
K_TURNED(k_i8, i8)
K_TURNED(k_i16, i16)
K_TURNED(k_i32, i32)
K_TURNED(k_i64, i64)
K_TURNED(k_f32, f32)
K_TURNED(k_f64, f64)
#define K_TURNED_COMPLEX(T, n) \
  K_FN T k_turned(T z, k_u32 bits) { \
    if (bits & K_CONJ) z = k_conj_##n(z); \
    return bits & K_NEG ? k_neg_##n(z) : z; \
  }
K_TURNED_COMPLEX(k_c64, c64)
K_TURNED_COMPLEX(k_c128, c128)

/* Every dtype, by its number in the library. */
#define K_DTYPES(M) \
  M(0, bool) M(1, u8) M(2, i8) M(3, i16) M(4, i32) M(5, i64) M(6, f16) M(7, bf16) M(8, f32) M(9, f64) M(10, c64) M(11, c128)

/* An element of some dtype, as memory would hold it were it an E. */
template <class E> K_FN typename E::Memory k_load_as(const char *p, k_u32 dtype, k_u32 bits) {
  typedef k_to<typename E::Register> To;
  typename E::Register x = typename E::Register();
  switch (dtype) {
  #define K_CASE(code, n) case code: x = To::of(k_turned(K_##n::load(*(const K_##n::Memory *)p), bits)); break;
  K_DTYPES(K_CASE)
  #undef K_CASE
  }
  return E::store(x);
}

/* Stores a register, rounded as an E, as an element of some dtype. */
template <class E> K_FN void k_store_as(char *p, typename E::Register x, k_u32 dtype, k_u32 bits) {
  x = E::load(E::store(x));
  switch (dtype) {
  #define K_CASE(code, n) \
    case code: *(K_##n::Memory *)p = K_##n::store(k_turned(k_to<K_##n::Register>::of(x), bits)); break;
  K_DTYPES(K_CASE)
  #undef K_CASE
  }
}

/* What every kernel stands on: how elements lie in memory, words of several elements, division by a number that stays
 * the same. CUDA C++ without an include; behind the prelude of the formulas. */

/* Methods; K_FN is for free and static functions. */
#ifdef __CUDACC__
  #define K_METHOD __device__ __forceinline__
#else
  #define K_METHOD inline
#endif

/* Threads of a block: one warp for each scheduler of a multiprocessor. */
#define K_THREADS 128

/* Dimensions of an iteration, as many as PyTorch's kernels take. */
#define K_DIMS 25

/* One element: what it is in memory, what it is in a register, and the way from one to the other. */
#define K_ELEMENT(n, M) \
  struct K_##n { \
    typedef M Memory; \
    typedef decltype(k_load_##n((const void *)0, 0)) Register; \
    K_FN Register load(const Memory &m) { return k_load_##n(&m, 0); } \
    K_FN Memory store(Register x) { Memory m; k_store_##n(&m, 0, x); return m; } \
  };

K_ELEMENT(bool, k_u8)
K_ELEMENT(u8, k_u8)
K_ELEMENT(i8, k_i8)
K_ELEMENT(i16, k_i16)
K_ELEMENT(i32, k_i32)
K_ELEMENT(i64, k_i64)
K_ELEMENT(f16, k_u16)
K_ELEMENT(bf16, k_u16)
K_ELEMENT(f32, k_f32)
K_ELEMENT(f64, k_f64)
K_ELEMENT(c64, k_c64)
K_ELEMENT(c128, k_c128)

/* N elements that are read and written at once; one instruction for up to 16 bytes. */
template <class M, int N> struct alignas(N * sizeof(M)) k_word { M of[N]; };

/* A list of element types. */
template <class... E> struct k_list {};

/* Division of numbers below 2^31 by one divisor (T. Granlund, P. Montgomery, Division by Invariant Integers using
 * Multiplication, 1994): shift is the least with divisor <= 2^shift, multiplier 2^32 (2^shift - divisor) / divisor + 1. */
struct k_divisor { k_u32 divisor, multiplier, shift; };

K_FN k_u32 k_quotient(k_u32 n, const k_divisor &by) {
  return ((k_u32)(((k_u64)n * by.multiplier) >> 32) + n) >> by.shift;
}

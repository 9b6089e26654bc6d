/* upsample_nearest1d: every element of the output is one of the input, at any strides. */

/* Elements that a thread has in flight. */
#define K_NEAREST 4

template <class E> struct k_nearest_arguments {
  char *data[2];                                /* the output, the input */
  k_i64 strides[2][3];                          /* bytes between batches, channels, elements of a row */
  k_i64 start;                                  /* the place in a row of the output at which this launch begins */
  k_i64 last;                                   /* the last element of a row of the input */
  k_f64 step;                                   /* elements of the input for each of the output */
  k_divisor length, channels;                   /* elements of a row in this launch; channels */
  k_u32 count;                                  /* elements, below 2^31 */
  k_u32 bits;                                   /* K_NEG: one side holds the negatives of the other's */
};

/* The position of an element in the input's row: computed in float32 but for float64, and rounded to it in the end. */
template <class R> K_FN k_f32 k_nearest_at(k_f64 step, k_i64 i, const R *) { return (k_f32)step * (k_f32)i; }
K_FN k_f32 k_nearest_at(k_f64 step, k_i64 i, const k_f64 *) { return (k_f32)(step * (k_f64)i); }

/* The element there. What is no number, or beyond the end, is one of the ends. */
K_FN k_i64 k_nearest_source(k_f32 at, k_i64 last) {
  if (!(at >= 1)) return 0;
  return at < 9223372036854775808.0f && (k_i64)at < last ? (k_i64)at : last;
}

template <class E> K_FN void k_nearest(const k_nearest_arguments<E> &a) {
  typedef typename E::Memory M;
  M x[K_NEAREST];
  k_i64 to[K_NEAREST];
  k_bool valid[K_NEAREST];
  #pragma unroll
  for (int j = 0; j < K_NEAREST; j++) {
    const k_u32 index = (blockIdx.x * K_NEAREST + j) * K_THREADS + threadIdx.x;
    const k_u32 row = k_quotient(index, a.length), i = index - row * a.length.divisor;
    const k_u32 n = k_quotient(row, a.channels), c = row - n * a.channels.divisor;
    const k_i64 at = k_nearest_source(
        k_nearest_at(a.step, a.start + i, (const typename E::Register *)0), a.last);
    const k_i64 from = n * a.strides[1][0] + c * a.strides[1][1] + at * a.strides[1][2];
    to[j] = n * a.strides[0][0] + c * a.strides[0][1] + i * a.strides[0][2];
    valid[j] = index < a.count;
    x[j] = M();
    if (valid[j]) x[j] = *(const M *)((const char *)a.data[1] + from);
  }
  #pragma unroll
  for (int j = 0; j < K_NEAREST; j++) {
    if (a.bits != 0) x[j] = E::store(k_turned(E::load(x[j]), a.bits));
    if (valid[j]) *(M *)((char *)a.data[0] + to[j]) = x[j];
  }
}

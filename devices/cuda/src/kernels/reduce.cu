/* Loops over the elements of a fold. A fold F has
 *   RESULTS                  how many results
 *   In, Value                the element types of what memory holds, and of what is folded
 *   take(memory)             the register of an element: converted, conjugated or negated as the operand lies
 *   Acc                      the accumulator
 *   one(x, at)               that of one element, the at-th of its output
 *   four(x..., at...)        that of four
 *   merge(a, b)              that of the elements of both
 *   nothing()                that of no element, if the fold has one
 *   finish(acc, count, a, at)  stores the results
 *
 * A block folds some outputs, with a power of two of its threads each. Blocks may share the elements of an output: each then
 * leaves an accumulator in memory and draws a ticket, and who draws the last one merges what all have left, with the threads of
 * a block (NVIDIA's sample threadFenceReduction). What is merged with what depends on shapes alone, never on who is last. */

template <class F> struct k_reduce_arguments {
  /* Bit k: the kernel writes by way of the k-th pointer. */
  enum { OPERANDS = F::RESULTS + 1, WRITTEN = ((1 << F::RESULTS) - 1) | (3 << OPERANDS) };
  char *data[OPERANDS];                         /* the results first */
  typename F::Acc *partial;                     /* accumulators: those of an output side by side, one for each block */
  k_u32 *tickets;                               /* for each run of outputs, 0 before and after */
  k_i64 start;                                  /* the place of the first element in its output */
  k_i64 total;                                  /* elements of an output; 0 if there is none */
  k_u32 outputs, count;                         /* outputs, and elements of each in this launch: below 2^31 */
  k_u32 across;                                 /* threads of an output in a block, a power of two */
  k_u32 adjacent;                               /* whether these are neighbours; otherwise outputs are */
  k_u32 all, before;                            /* blocks that share an output, and how many are of earlier launches */
  k_u32 kept, reduced;                          /* dimensions */
  k_divisor shares;                             /* blocks of this launch that share an output */
  k_divisor kept_sizes[K_DIMS];                 /* the fastest first */
  k_divisor reduced_sizes[K_DIMS];
  k_u32 kept_strides[K_DIMS][OPERANDS];         /* bytes */
  k_u32 reduced_strides[K_DIMS];                /* bytes of the input */
};

/* ---- the elements of one output: units that a thread loads at once ---- */

/* Words of 16 bytes, of elements that lie side by side. */
template <class F> struct k_dense {
  typedef typename F::In::Memory Memory;
  enum { EACH = 16 / sizeof(Memory) };
  typedef k_word<Memory, EACH> Unit;
  typedef typename F::Acc Acc;
  const k_reduce_arguments<F> *a;
  const char *input;

  K_METHOD k_u32 units() const { return a->count / EACH; }
  K_METHOD k_u32 rest() const { return a->count % EACH; }
  K_METHOD Unit load(k_u32 i) const { return *(const Unit *)(input + (k_u64)i * sizeof(Unit)); }
  K_METHOD Memory load_rest(k_u32 i) const { return *(const Memory *)(input + (k_u64)i * sizeof(Memory)); }
  K_METHOD Acc one(const Unit &word, k_u32 i) const {
    const k_i64 at = a->start + (k_i64)i * EACH;
    Acc acc;
    #pragma unroll
    for (int k = 0; k < EACH / 4 * 4; k += 4) {
      Acc next = F::four(F::take(word.of[k]), F::take(word.of[k + 1]), F::take(word.of[k + 2]), F::take(word.of[k + 3]),
                         at + k, at + k + 1, at + k + 2, at + k + 3);
      acc = k == 0 ? next : F::merge(acc, next);
    }
    #pragma unroll
    for (int k = EACH / 4 * 4; k < EACH; k++) {
      Acc next = F::one(F::take(word.of[k]), at + k);
      acc = k == 0 ? next : F::merge(acc, next);
    }
    return acc;
  }
  K_METHOD Acc four(const Unit *word, k_u32 i, k_u32 step) const {
    return F::merge(F::merge(one(word[0], i), one(word[1], i + step)),
                    F::merge(one(word[2], i + 2 * step), one(word[3], i + 3 * step)));
  }
};

/* Elements at any strides. */
template <class F> struct k_apart {
  typedef typename F::In::Memory Memory;
  typedef Memory Unit;
  typedef typename F::Acc Acc;
  const k_reduce_arguments<F> *a;
  const char *input;

  K_METHOD k_u32 units() const { return a->count; }
  K_METHOD k_u32 rest() const { return 0; }
  K_METHOD Memory load(k_u32 index) const {
    k_u32 at = 0, d = 0;
    for (; d + 1 < a->reduced; d++) {
      k_u32 next = k_quotient(index, a->reduced_sizes[d]);
      at += (index - next * a->reduced_sizes[d].divisor) * a->reduced_strides[d];
      index = next;
    }
    if (a->reduced != 0) at += index * a->reduced_strides[d];
    return *(const Memory *)(input + at);
  }
  K_METHOD Memory load_rest(k_u32) const { return Memory(); }
  K_METHOD Acc one(const Memory &m, k_u32 i) const { return F::one(F::take(m), a->start + i); }
  K_METHOD Acc four(const Memory *m, k_u32 i, k_u32 step) const {
    const k_i64 at = a->start + i;
    return F::four(F::take(m[0]), F::take(m[1]), F::take(m[2]), F::take(m[3]),
                   at, at + step, at + 2 * (k_i64)step, at + 3 * (k_i64)step);
  }
};

/* ---- what threads and blocks have, merged ---- */

/* Merges the accumulators of the first `live` lanes into that of lane 0, for lane 0 to see. Every thread of the block comes
 * here, having written its own. */
template <class F>
K_FN void k_merge_lanes(typename F::Acc *shared, k_u32 lane, k_u32 across, k_u32 apart, k_u32 live) {
  for (k_u32 step = across >> 1; step != 0; step >>= 1) {
    __syncthreads();
    if (lane < step && lane + step < live) {
      shared[threadIdx.x] = F::merge(shared[threadIdx.x], shared[threadIdx.x + step * apart]);
    }
  }
}

template <class F, class Elements> K_FN void k_reduce(const k_reduce_arguments<F> &a) {
  typedef typename F::Acc Acc;
  __shared__ Acc shared[K_THREADS];
  __shared__ k_bool last;
  const k_u32 run = k_quotient(blockIdx.x, a.shares), share = blockIdx.x - run * a.shares.divisor;
  const k_u32 beside = K_THREADS / a.across, apart = a.adjacent ? 1 : beside;
  const k_u32 lane = a.adjacent ? threadIdx.x & (a.across - 1) : threadIdx.x / beside;
  const k_u32 output = run * beside + (a.adjacent ? threadIdx.x / a.across : threadIdx.x & (beside - 1));
  const k_bool valid = output < a.outputs;
  k_u32 at[k_reduce_arguments<F>::OPERANDS];
  for (int k = 0; k < k_reduce_arguments<F>::OPERANDS; k++) at[k] = 0;
  for (k_u32 d = 0, index = output; valid && d < a.kept; d++) {
    k_u32 next = k_quotient(index, a.kept_sizes[d]), i = index - next * a.kept_sizes[d].divisor;
    for (int k = 0; k < k_reduce_arguments<F>::OPERANDS; k++) at[k] += i * a.kept_strides[d][k];
    index = next;
  }
  Elements elements;
  elements.a = &a, elements.input = a.data[F::RESULTS] + at[F::RESULTS];

  /* Four units at once, whose loads do not wait for each other. */
  const k_u32 units = elements.units(), first = share * a.across, step = a.across * a.shares.divisor;
  k_u32 i = valid ? first + lane : units, live = first < units ? units - first : 0;
  k_bool some = false;
  Acc acc;
  for (; i + 3 * step < units; i += 4 * step) {
    typename Elements::Unit x[4];
    #pragma unroll
    for (int j = 0; j < 4; j++) x[j] = elements.load(i + j * step);
    Acc next = elements.four(x, i, step);
    acc = some ? F::merge(acc, next) : next;
    some = true;
  }
  for (; i < units; i += step) {
    Acc next = elements.one(elements.load(i), i);
    acc = some ? F::merge(acc, next) : next;
    some = true;
  }
  /* Elements behind the last word go to the first lanes. */
  const k_u32 rest = share == 0 && valid ? elements.rest() : 0;
  for (k_u32 k = lane; k < rest; k += a.across) {
    const k_u32 place = a.count - rest + k;
    Acc next = F::one(F::take(elements.load_rest(place)), a.start + place);
    acc = some ? F::merge(acc, next) : next;
    some = true;
  }
  if (live < rest) live = rest;
  if (some) shared[threadIdx.x] = acc;
  k_merge_lanes<F>(shared, lane, a.across, apart, live);

  if (a.all > 1) {
    Acc *left = a.partial + (k_u64)output * a.all;
    if (valid && lane == 0) left[a.before + share] = shared[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&a.tickets[run], 1u) == a.all - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (valid && lane < a.all) {
      acc = left[lane];
      for (k_u32 k = lane + a.across; k < a.all; k += a.across) acc = F::merge(acc, left[k]);
      shared[threadIdx.x] = acc;
    }
    k_merge_lanes<F>(shared, lane, a.across, apart, a.all);
    if (threadIdx.x == 0) a.tickets[run] = 0;
  }
  if (valid && lane == 0) F::finish(a.total == 0 ? F::nothing() : shared[threadIdx.x], a.total, a, at);
}

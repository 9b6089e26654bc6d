/* Loops over the elements of a pointwise formula. A functor F has
 *   In, Out                  the element types of its inputs, as a k_list, and of its output
 *   GROUP                    elements of a vectorised group: 16 bytes of the largest element
 *   GROUPS, STRIDED          groups, and elements, that a thread has in flight in the two loops
 *   Params                   the numbers of the call
 *   eval(params, x...)       the formula
 *   FAULTS, fault(x...)      whether operands may have no result, and whether these have none
 * Loads come before stores, so the output may be one of the inputs. */

/* The elements of one operand after another, N of each, from the operand with number K on. */
template <int N, int K, class List> struct k_operands;

template <int N, int K> struct k_operands<N, K, k_list<> > {
  template <class Place> K_METHOD void load(const Place &) {}
  template <class F, class... X> K_METHOD auto eval(int, const typename F::Params &p, X... x) const { return F::eval(p, x...); }
  template <class F, class... X> K_METHOD k_bool fault(int, X... x) const { return F::fault(x...); }
};

template <int N, int K, class First, class... Rest> struct k_operands<N, K, k_list<First, Rest...> > {
  k_word<typename First::Memory, N> word;
  k_operands<N, K + 1, k_list<Rest...> > rest;

  template <class Place> K_METHOD void load(const Place &place) {
    place.template load<K, First>(word);
    rest.load(place);
  }
  template <class F, class... X> K_METHOD auto eval(int i, const typename F::Params &p, X... x) const {
    return rest.template eval<F>(i, p, x..., First::load(word.of[i]));
  }
  template <class F, class... X> K_METHOD k_bool fault(int i, X... x) const {
    return rest.template fault<F>(i, x..., First::load(word.of[i]));
  }
};

template <class List> struct k_count;
template <class... E> struct k_count<k_list<E...> > { enum { OPERANDS = sizeof...(E) + 1 }; };

/* Adds to `at` the bytes of each operand at an index into the dimensions of a loop. */
template <class A> K_FN void k_seek(const A &a, k_u32 index, k_u32 *at) {
  for (k_u32 d = 0; d < a.ndim; d++) {
    k_u32 next = k_quotient(index, a.sizes[d]), i = index - next * a.sizes[d].divisor;
    for (int k = 0; k < A::OPERANDS; k++) at[k] += i * a.strides[d][k];
    index = next;
  }
}

/* ---- rows along which every operand is dense or one element, in groups ---- */

template <class F> struct k_vector_arguments {
  enum { OPERANDS = k_count<typename F::In>::OPERANDS };
  char *data[OPERANDS];                         /* the output first */
  k_u32 *fault;                                 /* gets a 1 where operands have no result */
  k_u64 number[OPERANDS][2];                    /* the element of an operand without an address, which is repeated */
  k_u64 length;                                 /* elements of a row */
  k_u32 groups;                                 /* of all rows, below 2^31 */
  k_u32 repeated;                               /* bit k: operand k is one element all along a row */
  k_u32 ndim;                                   /* dimensions of rows; 0 for a single one */
  k_divisor per_row;                            /* groups of a row */
  k_divisor sizes[K_DIMS - 1];                  /* the fastest first */
  k_u32 strides[K_DIMS - 1][OPERANDS];          /* bytes; a multiple of 16 where an operand is dense */
  typename F::Params params;
};

template <class F> struct k_vector_place {
  const k_vector_arguments<F> *a;
  k_u64 first;
  k_u32 row[k_vector_arguments<F>::OPERANDS], valid;

  K_METHOD void find(const k_vector_arguments<F> &arguments, k_u32 group) {
    a = &arguments, first = 0, valid = 0;
    for (int k = 0; k < k_vector_arguments<F>::OPERANDS; k++) row[k] = 0;
    if (group >= a->groups) return;
    if (a->ndim != 0) {
      k_u32 index = k_quotient(group, a->per_row);
      group -= index * a->per_row.divisor;
      k_seek(*a, index, row);
    }
    first = (k_u64)group * F::GROUP;
    valid = a->length - first < F::GROUP ? (k_u32)(a->length - first) : (k_u32)F::GROUP;
  }

  template <int K, class E> K_METHOD void load(k_word<typename E::Memory, F::GROUP> &word) const {
    typedef typename E::Memory M;
    const char *p = (const char *)a->data[K] + row[K];
    if (a->repeated >> K & 1) {
      M one = M();
      if (a->data[K] == 0) one = *(const M *)a->number[K];
      else if (valid != 0) one = *(const M *)p;
      for (int i = 0; i < F::GROUP; i++) word.of[i] = one;
    }
    else if (valid == F::GROUP) word = *(const k_word<M, F::GROUP> *)(p + first * sizeof(M));
    else for (int i = 0; i < F::GROUP; i++) word.of[i] = i < (int)valid ? *(const M *)(p + (first + i) * sizeof(M)) : M();
  }

  template <class M> K_METHOD void store(const k_word<M, F::GROUP> &word) const {
    char *p = (char *)a->data[0] + row[0] + first * sizeof(M);
    if (valid == F::GROUP) *(k_word<M, F::GROUP> *)p = word;
    else for (int i = 0; i < F::GROUP; i++) if (i < (int)valid) *(M *)(p + i * sizeof(M)) = word.of[i];
  }
};

template <class F> K_FN void k_vector(const k_vector_arguments<F> &a) {
  k_vector_place<F> place[F::GROUPS];
  k_operands<F::GROUP, 1, typename F::In> x[F::GROUPS];
  k_bool fault = false;
  #pragma unroll
  for (int g = 0; g < F::GROUPS; g++) {
    place[g].find(a, (blockIdx.x * F::GROUPS + g) * K_THREADS + threadIdx.x);
    x[g].load(place[g]);
  }
  #pragma unroll
  for (int g = 0; g < F::GROUPS; g++) {
    k_word<typename F::Out::Memory, F::GROUP> y;
    #pragma unroll
    for (int i = 0; i < F::GROUP; i++) {
      y.of[i] = F::Out::store(x[g].template eval<F>(i, a.params));
      if (F::FAULTS) fault |= (i < (int)place[g].valid) & x[g].template fault<F>(i);
    }
    place[g].store(y);
  }
  if (F::FAULTS && fault) *a.fault = 1;
}

/* ---- any strides, element by element ---- */

template <class F> struct k_strided_arguments {
  enum { OPERANDS = k_count<typename F::In>::OPERANDS };
  char *data[OPERANDS];                         /* the output first */
  k_u32 *fault;                                 /* gets a 1 where operands have no result */
  k_u64 number[OPERANDS][2];                    /* the element of an operand without an address */
  k_u32 count;                                  /* elements, below 2^31 */
  k_u32 ndim;
  k_divisor sizes[K_DIMS];                      /* the fastest first */
  k_u32 strides[K_DIMS][OPERANDS];              /* bytes */
  typename F::Params params;

  template <class E> K_METHOD typename E::Memory load(const char *p, int) const { return *(const typename E::Memory *)p; }
  template <class E> K_METHOD void store(char *p, typename E::Register x) const { *(typename E::Memory *)p = E::store(x); }
};

template <class F, class A> struct k_strided_place {
  const A *a;
  k_u32 at[A::OPERANDS];
  k_bool valid;

  K_METHOD void find(const A &arguments, k_u32 index) {
    a = &arguments, valid = index < a->count;
    for (int k = 0; k < A::OPERANDS; k++) at[k] = 0;
    if (valid) k_seek(*a, index, at);
  }
  template <int K, class E> K_METHOD void load(k_word<typename E::Memory, 1> &word) const {
    typedef typename E::Memory M;
    if (a->data[K] == 0) word.of[0] = *(const M *)a->number[K];
    else if (valid) word.of[0] = a->template load<E>((const char *)a->data[K] + at[K], K);
    else word.of[0] = M();
  }
};

template <class F, int FLIGHT, class A> K_FN void k_elements(const A &a) {
  k_strided_place<F, A> place[FLIGHT];
  k_operands<1, 1, typename F::In> x[FLIGHT];
  k_bool fault = false;
  #pragma unroll
  for (int i = 0; i < FLIGHT; i++) {
    place[i].find(a, (blockIdx.x * FLIGHT + i) * K_THREADS + threadIdx.x);
    x[i].load(place[i]);
  }
  #pragma unroll
  for (int i = 0; i < FLIGHT; i++) {
    typename F::Out::Register y = x[i].template eval<F>(0, a.params);
    if (place[i].valid) a.template store<typename F::Out>((char *)a.data[0] + place[i].at[0], y);
    if (F::FAULTS) fault |= place[i].valid & x[i].template fault<F>(0);
  }
  if (F::FAULTS && fault) *a.fault = 1;
}

template <class F> K_FN void k_strided(const k_strided_arguments<F> &a) { k_elements<F, F::STRIDED>(a); }

/* ---- any strides, and elements of any dtype, conjugated or negated, converted on their way ---- */

template <class F> struct k_casting_arguments {
  enum { OPERANDS = k_count<typename F::In>::OPERANDS };
  char *data[OPERANDS];                         /* the output first */
  k_u32 *fault;                                 /* gets a 1 where operands have no result */
  k_u64 number[OPERANDS][2];                    /* the element of an operand without an address, of the functor's dtype */
  k_u32 count;                                  /* elements, below 2^31 */
  k_u32 ndim;
  k_divisor sizes[K_DIMS];                      /* the fastest first */
  k_u32 strides[K_DIMS][OPERANDS];              /* bytes */
  k_u32 dtypes[OPERANDS];                       /* of the elements in memory */
  k_u32 bits[OPERANDS];                         /* K_CONJ and K_NEG */
  typename F::Params params;

  template <class E> K_METHOD typename E::Memory load(const char *p, int k) const {
    return k_load_as<E>(p, dtypes[k], bits[k]);
  }
  template <class E> K_METHOD void store(char *p, typename E::Register x) const {
    k_store_as<E>(p, x, dtypes[0], bits[0]);
  }
};

template <class F> K_FN void k_casting(const k_casting_arguments<F> &a) { k_elements<F, 1>(a); }

/* Runs the launches of reductions as jobs from the standard input: threads and blocks in several orders, which must not
 * matter, again and again with the same memory that blocks share, whose tickets nobody sets to zero but the first time. */

static const unsigned ORDERS = 3;
static_assert(K_THREADS == HOST_THREADS, "blocks of another size");

static bool host_read(void *to, size_t size) { return size == 0 || fread(to, 1, size, stdin) == size; }

static void host_take(void *to, size_t size) {
  if (!host_read(to, size)) {
    fprintf(stderr, "a job ends too early\n");
    exit(2);
  }
}

/* The i-th of n in an order: forwards, backwards, scattered. */
static unsigned host_place(unsigned i, unsigned n, unsigned order) {
  if (order == 1) return n - 1 - i;
  if (order == 2) return n == K_THREADS ? (i * 77 + 13) % K_THREADS : (i + n / 2) % n;
  return i;
}

template <class A> struct host_one {
  static A argument;
  static void (*kernel)(A);
  static void enter() { kernel(argument); }
};
template <class A> A host_one<A>::argument;
template <class A> void (*host_one<A>::kernel)(A);

template <class A> static void host_run(void (*kernel)(A), const std::vector<char> &bytes, unsigned blocks, unsigned order) {
  if (bytes.size() != sizeof(A)) {
    fprintf(stderr, "the arguments have %zu bytes, the kernel takes %zu\n", bytes.size(), sizeof(A));
    exit(3);
  }
  memcpy((void *)&host_one<A>::argument, bytes.data(), sizeof(A));
  host_one<A>::kernel = kernel;
  for (unsigned i = 0; i < blocks; i++) {
    blockIdx.x = host_place(i, blocks, order);
    const char *wrong = host_together(host_one<A>::enter, [=](unsigned j) { return host_place(j, K_THREADS, order); });
    if (wrong != nullptr) {
      fprintf(stderr, "%s\n", wrong);
      exit(5);
    }
  }
}

static void host_kernel(unsigned kernel, const std::vector<char> &bytes, unsigned blocks, unsigned order);

/* Bytes of just their size, so that the sanitizer sees an access beyond them. Sixteen bytes are what kernels rely on. */
struct host_buffer {
  char *data = nullptr;
  size_t size;
  host_buffer(size_t size, const std::vector<char> &from) : size(size) {
    if (posix_memalign((void **)&data, 16, size) != 0) exit(4);
    if (from.empty()) memset(data, 0xa5, size);
    else memcpy(data, from.data(), size);
  }
  host_buffer(const host_buffer &) = delete;
  ~host_buffer() { free(data); }
};

struct host_launch { uint32_t kernel, blocks, size; std::vector<char> bytes; };

int main() {
  uint32_t head[3]; /* launches, operands, results */
  while (host_read(head, sizeof head)) {
    std::vector<host_launch> launches(head[0]);
    for (host_launch &launch : launches) {
      host_take(&launch, 3 * sizeof(uint32_t));
      launch.bytes.resize(launch.size);
      host_take(launch.bytes.data(), launch.size);
    }
    std::vector<std::vector<char>> operands(head[1]);
    for (std::vector<char> &operand : operands) {
      uint64_t size;
      host_take(&size, sizeof size);
      operand.resize(size);
      host_take(operand.data(), size);
    }
    uint64_t shared[2]; /* bytes of accumulators and of tickets */
    host_take(shared, sizeof shared);
    host_buffer partial(shared[0], {}), tickets(shared[1], std::vector<char>(shared[1]));
    std::vector<std::vector<char>> first(head[2]);
    uint32_t differs = 0, left = 0;
    for (unsigned order = 0; order < ORDERS; order++) {
      std::vector<host_buffer *> buffers;
      for (const std::vector<char> &operand : operands) buffers.push_back(new host_buffer(operand.size(), operand));
      for (const host_launch &launch : launches) {
        std::vector<char> bytes = launch.bytes;
        for (size_t k = 0; k < operands.size() + 2; k++) {
          uint64_t address;
          memcpy(&address, &bytes[8 * k], sizeof address);
          address += k < operands.size() ? (uint64_t)buffers[k]->data
                   : (uint64_t)(k == operands.size() ? partial.data : tickets.data);
          memcpy(&bytes[8 * k], &address, sizeof address);
        }
        host_kernel(launch.kernel, bytes, launch.blocks, order);
      }
      for (size_t k = 0; k < head[2]; k++) {
        std::vector<char> result(buffers[k]->data, buffers[k]->data + buffers[k]->size);
        if (order == 0) first[k] = result;
        else differs |= result != first[k];
      }
      for (host_buffer *buffer : buffers) delete buffer;
      for (size_t i = 0; i < shared[1]; i++) left |= tickets.data[i] != 0;
    }
    for (const std::vector<char> &result : first) if (!result.empty()) fwrite(result.data(), 1, result.size(), stdout);
    fwrite(&differs, sizeof differs, 1, stdout);
    fwrite(&left, sizeof left, 1, stdout);
    fflush(stdout);
  }
  return 0;
}

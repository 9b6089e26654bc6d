/* Runs kernels as jobs from the standard input: threads in several orders, which must not matter. Every operand has a
 * buffer of just its size, so the address sanitizer sees an access beyond it. */

static const unsigned ORDERS = 3;

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
  if (order == 2 && n == K_THREADS) return (i * 77 + 13) % K_THREADS;
  return i;
}

template <class A> static void host_run(void (*kernel)(A), const std::vector<char> &bytes, unsigned blocks, unsigned order) {
  A a;
  if (bytes.size() != sizeof(A)) {
    fprintf(stderr, "the arguments have %zu bytes, the kernel takes %zu\n", bytes.size(), sizeof(A));
    exit(3);
  }
  memcpy((void *)&a, bytes.data(), sizeof(A));
  for (unsigned i = 0; i < blocks; i++) {
    for (unsigned j = 0; j < K_THREADS; j++) {
      blockIdx.x = host_place(i, blocks, order);
      threadIdx.x = host_place(j, K_THREADS, order);
      kernel(a);
    }
  }
}

static void host_kernel(unsigned kernel, const std::vector<char> &bytes, unsigned blocks, unsigned order);

/* One operand: its bytes, or the number of an earlier one whose buffer it shares, or no memory at all: a number. */
static const uint32_t HOST_OWN = UINT32_MAX, HOST_NUMBER = UINT32_MAX - 1;
struct host_operand {
  uint64_t size;
  uint32_t shares;
  std::vector<char> bytes;
};

int main() {
  uint32_t head[5]; /* kernel, blocks, bytes of the argument, operands, and whether a flag follows their addresses */
  while (host_read(head, sizeof head)) {
    std::vector<char> arguments(head[2]);
    std::vector<host_operand> operands(head[3]);
    host_take(arguments.data(), arguments.size());
    for (host_operand &operand : operands) {
      host_take(&operand.size, sizeof operand.size);
      host_take(&operand.shares, sizeof operand.shares);
      if (operand.shares == HOST_OWN) {
        operand.bytes.resize(operand.size);
        host_take(operand.bytes.data(), operand.bytes.size());
      }
    }
    std::vector<char> first;
    uint32_t fault = 0, differs = 0;
    for (unsigned order = 0; order < ORDERS; order++) {
      std::vector<char *> buffers;
      std::vector<char> patched = arguments;
      uint32_t raised = 0;
      for (size_t k = 0; k < operands.size() + head[4]; k++) {
        uint64_t address;
        memcpy(&address, &patched[8 * k], sizeof address);
        if (k == operands.size()) address = (uint64_t)&raised;
        else if (operands[k].shares == HOST_NUMBER) buffers.push_back(nullptr);
        else if (operands[k].shares != HOST_OWN) {
          buffers.push_back(buffers[operands[k].shares]);
          address += (uint64_t)buffers[k];
        }
        else {
          /* Sixteen bytes are what kernels rely on; more alignment would hide that they rely on more. */
          void *buffer = nullptr;
          if (posix_memalign(&buffer, 16, operands[k].size) != 0) exit(4);
          if (operands[k].size != 0) memcpy(buffer, operands[k].bytes.data(), operands[k].size);
          buffers.push_back((char *)buffer);
          address += (uint64_t)buffer;
        }
        memcpy(&patched[8 * k], &address, sizeof address);
      }
      host_kernel(head[0], patched, head[1], order);
      std::vector<char> result(buffers[0], buffers[0] + operands[0].size);
      if (order == 0) first = result, fault = raised;
      else differs |= result != first || fault != raised;
      for (size_t k = 0; k < operands.size(); k++) if (operands[k].shares == HOST_OWN) free(buffers[k]);
    }
    if (!first.empty()) fwrite(first.data(), 1, first.size(), stdout);
    fwrite(&fault, sizeof fault, 1, stdout);
    fwrite(&differs, sizeof differs, 1, stdout);
    fflush(stdout);
  }
  return 0;
}

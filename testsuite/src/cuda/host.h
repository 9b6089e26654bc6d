/* CUDA's words for a host compiler. Kernels behind this file are functions that are called thread by thread; threads of a
 * block that wait for each other are fibers. */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>
#ifdef __SANITIZE_ADDRESS__
  #include <sanitizer/common_interface_defs.h>
#endif

#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
/* Blocks run one after another. */
#define __shared__ static

struct host_index { unsigned x, y, z; };
static host_index threadIdx, blockIdx;

static const unsigned HOST_THREADS = 128;
static const size_t HOST_STACK = 64 << 10;

/* A thread of a block, or the one that runs them all. */
struct host_fiber {
  ucontext_t context;
  std::vector<char> stack;
  const void *bottom;
  size_t size;
  void *fake;
  bool ended;
};

/* The block that runs: which thread, what is wrong with it, and how far it is with a ticket. */
static struct {
  host_fiber all, threads[HOST_THREADS];
  unsigned running, fences, barriers;
  bool drawn;
  const char *wrong;
  void (*enter)();
} host_block;

/* Goes on with `to`; returns when somebody goes on with `from`. */
static void host_switch(host_fiber &from, host_fiber &to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(from.ended ? nullptr : &from.fake, to.bottom, to.size);
#endif
  swapcontext(&from.context, &to.context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

static void host_wrong(const char *what) {
  if (host_block.wrong == nullptr) host_block.wrong = what;
}

static void __syncthreads() { host_switch(host_block.threads[host_block.running], host_block.all); }

/* Stores are seen by other blocks behind a fence of the thread that stored, and loads see theirs behind one of their own. That
 * the first are there is known when a ticket is drawn; that the second are, at the second barrier behind it: the first one says
 * who has the last ticket, and only those go on. */
static void __threadfence() { host_block.fences++; }

static uint32_t atomicAdd(uint32_t *to, uint32_t by) {
  if (host_block.fences < HOST_THREADS) host_wrong("a ticket is drawn in front of a fence");
  host_block.drawn = true, host_block.fences = host_block.barriers = 0;
  uint32_t before = *to;
  *to += by;
  return before;
}

static void host_enter() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &host_block.all.bottom, &host_block.all.size);
#endif
  host_block.enter();
  host_fiber &own = host_block.threads[host_block.running];
  own.ended = true;
  host_switch(own, host_block.all);
}

/* Runs a block of threads that wait for each other, each from barrier to barrier; `place` is their order. Says what is wrong. */
template <class P> static const char *host_together(void (*enter)(), P place) {
  host_block.enter = enter, host_block.wrong = nullptr, host_block.drawn = false, host_block.fences = 0;
  host_block.all.ended = false;
  for (host_fiber &thread : host_block.threads) {
    thread.stack.resize(HOST_STACK), thread.ended = false, thread.fake = nullptr;
    thread.bottom = thread.stack.data(), thread.size = HOST_STACK;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data(), thread.context.uc_stack.ss_size = HOST_STACK;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, host_enter, 0);
  }
  for (unsigned ended = 0; ended < HOST_THREADS;) {
    for (unsigned j = 0; j < HOST_THREADS; j++) {
      host_block.running = threadIdx.x = place(j);
      host_fiber &thread = host_block.threads[threadIdx.x];
      if (thread.ended) continue;
      host_switch(host_block.all, thread);
      ended += thread.ended;
    }
    if (ended != 0 && ended < HOST_THREADS) {
      host_wrong("threads of a block wait for others that have ended");
      break;
    }
    if (ended == 0 && host_block.drawn && ++host_block.barriers == 2 && host_block.fences < HOST_THREADS)
      host_wrong("what other blocks have left is read in front of a fence");
  }
  return host_block.wrong;
}

/* The driver's functions. Every call is counted, may be told to fail, and looks at what it is given: handles that are
 * live, the context that is current, addresses within blocks. */

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201,
       INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600 };

#define API extern "C" __attribute__((visibility("default")))

/* Whether a code ends a context, as in cuda.h. */
static bool is_final(int code) { return code == 700 || code == 719; }

/* A call that is to be done as if it had not been made. */
static const int OMIT = -1;

/* What a call returns before it does anything: 0 to go on. `excused` is set where the call would have given something
 * back. */
static int enter(const char *name, bool needs_context, bool *excused = nullptr) {
  if (state.omitted == name) return OMIT;
  state.calls++;
  if (state.inject != 0 && state.calls == state.inject_at) {
    if (excused != nullptr) *excused = true;
    state.injected = name;
    if (state.mute) return OMIT;
    if (is_final(state.inject))
      for (Context &context : state.contexts)
        /* A call that is about no context says it of all, and whose it is shows when one is used. */
        if (&context == current || (!needs_context && context.retained > 0)) context.broken = state.inject, context.told = needs_context;
    return state.inject;
  }
  if (!needs_context) return OK;
  if (current == nullptr || current->retained == 0) {
    wrong("a call without a context");
    return INVALID_CONTEXT;
  }
  if (current->broken != 0) {
    if (current->told) wrong(std::string(name) + " in a broken context");
    current->told = true;
    return current->broken;
  }
  return OK;
}

#define ENTERED(...) if (int code = enter(__func__, __VA_ARGS__)) return code == OMIT ? OK : code;
#define ENTER(context) \
  std::lock_guard<std::recursive_mutex> guard(state.mutex); \
  ENTERED(context)
/* The same for a call that gives back what `object` points to, if it is anything. */
#define ENTER_TO_END(context, object) \
  std::lock_guard<std::recursive_mutex> guard(state.mutex); \
  bool ignored = false; \
  ENTERED(context, (object) != nullptr ? &(object)->excused : &ignored)

/* A handle of the current context that is live. */
template <class T> static bool is_fine(T *handle, const char *what) {
  if (handle != nullptr && handle->live && handle->context == current) return true;
  const char *why = handle == nullptr ? " is null" : !handle->live ? " is used after its end" : " is of another context";
  wrong(std::string(what) + why);
  return false;
}
#define FINE(handle, what) if (!is_fine(handle, what)) return INVALID_HANDLE;

static bool is_inside(uint64_t address, size_t bytes, const char *what, Context *context = current) {
  Block *block = block_at(address);
  bool fits = block != nullptr && address + bytes <= (uint64_t)block->data + block->bytes;
  if (fits && block->context == context) return true;
  wrong(std::string(what) + (block == nullptr ? " reaches no live block" : fits ? " reaches another device" : " reaches beyond its block"));
  return false;
}
#define INSIDE(address, bytes, what) if (!is_inside(address, bytes, what)) return INVALID_VALUE;

API int cuInit(unsigned) { ENTER(false) return OK; }
API int cuDeviceGetCount(int *count) { ENTER(false) *count = DEVICES; return OK; }
API int cuDeviceGet(int *device, int ordinal) {
  ENTER(false)
  if (ordinal < 0 || ordinal >= DEVICES) return INVALID_DEVICE;
  *device = ordinal;
  return OK;
}
API int cuDeviceGetName(char *name, int bytes, int device) {
  ENTER(false)
  snprintf(name, bytes, "stand-in %d", device);
  return OK;
}
API int cuDeviceGetAttribute(int *value, int attribute, int) {
  ENTER(false)
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 115 ? 1 : 0;
  return OK;
}
API int cuDevicePrimaryCtxRetain(Context **context, int device) {
  ENTER(false)
  *context = &state.contexts[device];
  (*context)->retained++;
  return OK;
}
API int cuDevicePrimaryCtxRelease_v2(int device) {
  Context *context = &state.contexts[device];
  ENTER_TO_END(false, context)
  if (--context->retained > 0) return OK;
  /* What was in a broken context ends with it. */
  if (context->broken != 0) {
    for (auto &at : state.blocks) if (at.second.context == context) at.second.live = false;
    for (auto &at : state.pinned) if (at.second.context == context) at.second.live = false;
    for (auto &at : state.streams)
      if (at->context == context) at->live = false, at->work.clear(), at->done = at->issued;
    for (auto &at : state.events) if (at->context == context) at->live = false;
    for (auto &at : state.modules) if (at->context == context) at->live = false;
    context->broken = 0;
    return OK;
  }
  run_all();
  std::string left = report();
  if (left.find("are left") != std::string::npos) {
    size_t others = 0;
    for (Context &other : state.contexts) others += other.retained != 0;
    if (others == 0) wrong("a context is released with something in it: " + left);
  }
  return OK;
}
API int cuCtxSetCurrent(Context *context) { ENTER(false) current = context; return OK; }
API int cuCtxGetCurrent(Context **context) { ENTER(false) *context = current; return OK; }
API int cuCtxSynchronize() {
  ENTER(true)
  run_all();
  for (auto &stream : state.streams) join(state.host, stream->clock);
  return OK;
}

API int cuStreamCreate(Stream **stream, unsigned flags) {
  ENTER(true)
  if (flags != 1) wrong("a stream that waits for the default one");
  int id = state.streams.size();
  state.streams.emplace_back(new Stream{id, current, true, false, {}, 0, 0, {}});
  *stream = state.streams.back().get();
  return OK;
}
API int cuStreamDestroy_v2(Stream *stream) {
  ENTER_TO_END(true, stream)
  FINE(stream, "a stream")
  stream->live = false;
  return OK;
}
API int cuStreamSynchronize(Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  run_until(stream, stream->issued);
  join(state.host, stream->clock);
  return OK;
}
API int cuStreamQuery(Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  return stream->done == stream->issued ? OK : NOT_READY;
}
API int cuStreamWaitEvent(Stream *stream, Event *event, unsigned) {
  ENTER(true)
  FINE(stream, "a stream")
  /* It may be of another device. */
  if (event == nullptr || !event->live) {
    wrong("an event is used after its end");
    return INVALID_HANDLE;
  }
  if (!event->recorded) return OK;
  Place place = event->place;
  join(stream->clock, event->clock);
  put(stream, [place] { run_until(stream_of(place.stream), place.number); });
  return OK;
}

API int cuEventCreate(Event **event, unsigned flags) {
  ENTER(true)
  if (flags != 2) wrong("an event that takes the time");
  state.events.emplace_back(new Event{current, true, false, false, {-1, 0}, {}});
  *event = state.events.back().get();
  return OK;
}
API int cuEventRecord(Event *event, Stream *stream) {
  ENTER(true)
  FINE(event, "an event")
  FINE(stream, "a stream")
  event->recorded = true, event->place = Place{stream->id, stream->issued}, event->clock = stream->clock;
  return OK;
}
API int cuEventQuery(Event *event) {
  ENTER(true)
  FINE(event, "an event")
  return is_done(event->place) ? OK : NOT_READY;
}
API int cuEventSynchronize(Event *event) {
  ENTER(true)
  FINE(event, "an event")
  if (event->recorded) run_until(stream_of(event->place.stream), event->place.number);
  join(state.host, event->clock);
  return OK;
}
API int cuEventDestroy_v2(Event *event) {
  ENTER_TO_END(true, event)
  FINE(event, "an event")
  event->live = false;
  return OK;
}

API int cuDeviceGetDefaultMemPool(State **pool, int) { ENTER(true) *pool = &state; return OK; }
API int cuMemPoolSetAttribute(State *, int attribute, void *value) {
  ENTER(true)
  if (attribute != 4 || *(uint64_t *)value != UINT64_MAX) wrong("the pool gives back what is freed");
  return OK;
}
API int cuMemPoolTrimTo(State *, size_t keep) {
  ENTER(true)
  /* Until here, what comes too late writes into nobody's block. */
  for (auto at = state.blocks.begin(); at != state.blocks.end();)
    at = at->second.live || !is_done(at->second.written) ? std::next(at) : state.blocks.erase(at);
  if (state.kept > keep) state.kept = keep;
  state.trimmed++;
  return OK;
}
API int cuMemAllocAsync(uint64_t *address, size_t bytes, Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  if (bytes == 0) return INVALID_VALUE;
  if (bytes > CAPACITY || state.used + state.kept + bytes > CAPACITY) return OUT_OF_MEMORY;
  Block block = {bytes, current, std::vector<char>(bytes + 3 * ZONE, (char)GUARD), nullptr, true, false, {-1, 0}, {}};
  uint64_t begin = ((uint64_t)block.memory.data() + 2 * ZONE - 1) / ZONE * ZONE;
  block.data = (char *)begin;
  memset(block.data, FRESH, bytes);
  use(&block, stream, true, "an allocation");
  put(stream, [] {});
  state.used += bytes;
  *address = begin;
  state.blocks[begin] = std::move(block);
  return OK;
}
API int cuMemFreeAsync(uint64_t address, Stream *stream) {
  Block *block = block_at(address);
  ENTER_TO_END(true, block)
  FINE(stream, "a stream")
  if (block == nullptr || address != (uint64_t)block->data) {
    wrong("an address is freed that is no block");
    return INVALID_VALUE;
  }
  use(block, stream, true, "a free");
  block->live = false;
  size_t bytes = block->bytes;
  state.used -= bytes, state.kept += bytes;
  put(stream, [address] {
    Block &block = state.blocks[address];
    check_zones(block, "somebody");
    memset(block.data, FREED, block.bytes);
  });
  return OK;
}
API int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  INSIDE(to, bytes, "a set")
  use(block_at(to), stream, true, "a set");
  put(stream, [=] { memset((void *)to, byte, bytes); });
  return OK;
}
static bool is_pinned(const void *host, size_t bytes, Stream *stream) {
  Pinned *pinned = pinned_at((uint64_t)host);
  auto begin = state.pinned.upper_bound((uint64_t)host);
  if (pinned == nullptr || (uint64_t)host + bytes > (--begin)->first + pinned->bytes) {
    wrong("a copy reaches beyond pinned memory");
    return false;
  }
  pinned->used = Place{stream->id, stream->issued + 1};
  return true;
}
API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  bytes += state.wider;
  INSIDE(to, bytes, "a copy")
  if (!is_pinned(from, bytes, stream)) return INVALID_VALUE;
  use(block_at(to), stream, true, "a copy from the host");
  put(stream, [=] { memcpy((void *)to, from, bytes); });
  return OK;
}
API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  INSIDE(from, bytes, "a copy")
  if (!is_pinned(to, bytes, stream)) return INVALID_VALUE;
  use(block_at(from), stream, false, "a copy to the host");
  put(stream, [=] { memcpy(to, (const void *)from, bytes); });
  return OK;
}
API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  INSIDE(to, bytes, "a copy")
  INSIDE(from, bytes, "a copy")
  use(block_at(from), stream, false, "a copy");
  if (block_at(to) != block_at(from)) use(block_at(to), stream, true, "a copy");
  else block_at(to)->written = Place{stream->id, stream->issued + 1};
  put(stream, [=] { memmove((void *)to, (const void *)from, bytes); });
  return OK;
}
API int cuMemcpyPeerAsync(
    uint64_t to, Context *to_context, uint64_t from, Context *from_context, size_t bytes, Stream *stream) {
  ENTER(true)
  FINE(stream, "a stream")
  if (from_context->broken != 0) {
    if (from_context->told) wrong("a copy from a broken context");
    from_context->told = true;
    return from_context->broken;
  }
  if (!is_inside(to, bytes, "a copy from another device", to_context)) return INVALID_VALUE;
  if (!is_inside(from, bytes, "a copy to another device", from_context)) return INVALID_VALUE;
  use(block_at(from), stream, false, "a copy to another device");
  use(block_at(to), stream, true, "a copy from another device");
  state.peers++;
  put(stream, [=] { memcpy((void *)to, (const void *)from, bytes); });
  return OK;
}
API int cuMemHostAlloc(void **host, size_t bytes, unsigned flags) {
  ENTER(true)
  if (flags != 0) wrong("pinned memory with flags");
  if (posix_memalign(host, 4096, bytes) != 0) return OUT_OF_MEMORY;
  memset(*host, FRESH, bytes);
  state.pinned[(uint64_t)*host] = Pinned{bytes, current, true, false, {-1, 0}};
  return OK;
}
API int cuMemFreeHost(void *host) {
  Pinned *pinned = pinned_at((uint64_t)host);
  ENTER_TO_END(true, pinned)
  if (pinned == nullptr) {
    wrong("pinned memory is freed that is none");
    return INVALID_VALUE;
  }
  if (!is_done(pinned->used)) wrong("pinned memory is freed while it is in use");
  state.pinned.erase((uint64_t)host);
  free(host);
  return OK;
}

API int cuModuleLoadData(Module **module, const void *image) {
  ENTER(true)
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
  if (memcmp(image, "\x7f" "ELF", 4) != 0) return 200;
  if (memcmp(image, NOTED.data(), NOTED.size()) == 0) {
    state.modules.emplace_back(new Module{current, nullptr, true, false, {-1, 0}});
    *module = state.modules.back().get();
    return OK;
  }
  /* In memory, where the system has such a place. */
  char path[] = "/dev/shm/stand-in-XXXXXX", other[] = "/tmp/stand-in-XXXXXX";
  const char *name = path;
  int file = mkstemp(path);
  if (file < 0) name = other, file = mkstemp(other);
  size_t bytes = head->e_shoff + (size_t)head->e_shentsize * head->e_shnum;
  bool is_written = file >= 0 && write(file, image, bytes) == (ssize_t)bytes;
  if (file >= 0) close(file);
  void *library = is_written ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (is_written && library == nullptr) fprintf(stderr, "%s\n", dlerror());
  unlink(name);
  if (library == nullptr) return 200;
  state.modules.emplace_back(new Module{current, library, true, false, {-1, 0}});
  *module = state.modules.back().get();
  return OK;
}
API int cuModuleUnload(Module *module) {
  ENTER_TO_END(true, module)
  FINE(module, "a module")
  if (!is_done(module->used)) {
    wrong("a module is unloaded while its kernels run");
    return INVALID_VALUE;
  }
  module->live = false;
  if (module->library != nullptr) dlclose(module->library);
  return OK;
}
API int cuModuleGetFunction(Function **function, Module *module, const char *name) {
  ENTER(true)
  FINE(module, "a module")
  if (module->library == nullptr) {
    const auto nothing = [](const void *, unsigned) -> const char * { return nullptr; };
    state.functions.emplace_back(new Function{module, name, nothing, 0, 0});
    *function = state.functions.back().get();
    return OK;
  }
  auto symbol = [&](const char *what) { return dlsym(module->library, (std::string(name) + what).c_str()); };
  void *run = symbol("__run"), *size = symbol("__size"), *written = symbol("__written");
  if (run == nullptr || size == nullptr || written == nullptr) return NOT_FOUND;
  typedef const char *(*Run)(const void *, unsigned);
  state.functions.emplace_back(
      new Function{module, name, (Run)run, ((size_t (*)())size)(), ((unsigned (*)())written)()});
  *function = state.functions.back().get();
  return OK;
}
/* An argument begins with addresses: of outputs, of inputs, of memory that blocks share. */
API int cuLaunchKernel(
    Function *function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
    unsigned shared, Stream *stream, void **arguments, void **extra) {
  ENTER(true)
  FINE(stream, "a stream")
  FINE(function->module, "the module of a kernel")
  bool is_grid = blocks != 0 && blocks <= 0x7fffffffu && y == 1 && z == 1;
  if (!is_grid || threads != 128 || ty != 1 || tz != 1 || shared != 0 || extra != nullptr) {
    wrong("a launch of another shape than kernels have");
    return INVALID_VALUE;
  }
  std::vector<char> bytes((const char *)arguments[0], (const char *)arguments[0] + function->bytes);
  std::map<Block *, bool> used;
  for (size_t at = 0; at + 8 <= bytes.size() && at < 8 * 16; at += 8) {
    uint64_t address;
    memcpy(&address, &bytes[at], 8);
    if (Block *block = block_at(address)) {
      if (block->context != current) wrong(function->name + " reaches memory of another device");
      used[block] |= function->written >> at / 8 & 1;
    }
    else if (at == 0) {
      wrong(function->name + " writes to no live block");
      return 700;
    }
    else if (Pinned *pinned = pinned_at(address)) pinned->used = Place{stream->id, stream->issued + 1};
  }
  state.launches++;
  for (auto &at : used) use(at.first, stream, at.second, function->name);
  function->module->used = Place{stream->id, stream->issued + 1};
  put(stream, [=] {
    if (const char *what = function->run(bytes.data(), blocks)) wrong(function->name + ": " + what);
    for (auto &at : used) check_zones(*at.first, function->name);
  });
  return OK;
}

static const char *name_of(int code) {
  switch (code) {
    case INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case INVALID_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    case INVALID_HANDLE: return "CUDA_ERROR_INVALID_HANDLE";
    case 700: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case 719: return "CUDA_ERROR_LAUNCH_FAILED";
    default: return "CUDA_ERROR";
  }
}
API int cuGetErrorName(int code, const char **text) { *text = name_of(code); return OK; }
API int cuGetErrorString(int, const char **text) { *text = "so the stand-in was told, or found"; return OK; }

/* What the stand-in for NVIDIA's driver knows: streams with work that waits, events, blocks with who used them last,
 * and what a caller did wrong. Behind the text of the shim, as SHIM; in front of driver.cpp and compiler.cpp.
 *
 * Work runs only when somebody waits for it, and then no more of it than must: whoever forgets to wait sees old bytes.
 * Which work is ordered behind which is known from vector clocks (C. Fidge, F. Mattern, 1988): each stream counts what
 * is put on it, waiting joins clocks, and every use of a block must be ordered behind those that it conflicts with. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <elf.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

typedef std::map<int, uint64_t> Clock;

static void join(Clock &into, const Clock &from) {
  for (const auto &at : from) {
    uint64_t &own = into[at.first];
    if (own < at.second) own = at.second;
  }
}

/* One piece of work: the place on a stream. */
struct Place { int stream; uint64_t number; };

/* `told`: somebody knows that it is broken. */
struct Context { int device, retained; bool excused; int broken; bool told; };

struct Stream {
  int id;
  Context *context;
  bool live, excused;
  std::deque<std::function<void()>> work;
  uint64_t issued, done;
  Clock clock;
};

struct Event {
  Context *context;
  bool live, excused, recorded;
  Place place;
  Clock clock;
};

struct Block {
  size_t bytes;
  Context *context;
  std::vector<char> memory;
  char *data;
  bool live, excused;
  Place written;
  std::vector<Place> read;
};

struct Pinned { size_t bytes; Context *context; bool live, excused; Place used; };

struct Module { Context *context; void *library; bool live, excused; Place used; };

struct Function {
  Module *module;
  std::string name;
  const char *(*run)(const void *, unsigned);
  size_t bytes;
  unsigned written;
};

static const size_t ZONE = 256, CAPACITY = 192u << 20;
static const unsigned char FRESH = 0xa5, FREED = 0xdd, GUARD = 0x5a;
static const int DEVICES = 2;
/* The image of kernels that do nothing. */
static const std::string NOTED = "\x7f" "ELF noted";

/* Never destroyed: the process may end in the middle of a call. */
struct State {
  std::recursive_mutex mutex;
  Context contexts[DEVICES];
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, Pinned> pinned;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::string> wrong;
  Clock host;
  size_t used, kept;
  uint64_t calls, inject_at;
  int inject, trimmed, peers, launches;
  bool mute, spoilt, forbidden;
  std::string omitted, injected, notes;
  size_t wider;
};
static State &state = *new State();
static thread_local Context *current = nullptr;

static void wrong(const std::string &what) {
  if (state.wrong.size() < 20) state.wrong.push_back(what);
}

static Stream *stream_of(int id) { return state.streams[id].get(); }

static bool is_done(Place place) { return place.stream < 0 || stream_of(place.stream)->done >= place.number; }

/* Runs a stream up to a number, and what that waits for. */
static void run_until(Stream *stream, uint64_t number) {
  while (stream->done < number && !stream->work.empty()) {
    auto work = stream->work.front();
    stream->work.pop_front();
    work();
    stream->done++;
  }
}

static void run_all() {
  /* The last stream first: nobody may rely on the order in which they were made. */
  for (size_t i = state.streams.size(); i-- > 0;) run_until(stream_of(i), stream_of(i)->issued);
}

static Place put(Stream *stream, std::function<void()> work) {
  join(stream->clock, state.host);
  stream->clock[stream->id] = ++stream->issued;
  stream->work.push_back(std::move(work));
  return Place{stream->id, stream->issued};
}

static bool is_ordered(Place before, const Clock &clock) {
  /* Nothing runs any more in a context that has broken. */
  if (before.stream < 0 || stream_of(before.stream)->context->broken != 0) return true;
  auto at = clock.find(before.stream);
  return at != clock.end() && at->second >= before.number;
}

/* The live block that an address lies in. */
static Block *block_at(uint64_t address) {
  auto at = state.blocks.upper_bound(address);
  if (at == state.blocks.begin()) return nullptr;
  --at;
  return at->second.live && address < at->first + at->second.bytes ? &at->second : nullptr;
}

static Pinned *pinned_at(uint64_t address) {
  auto at = state.pinned.upper_bound(address);
  if (at == state.pinned.begin()) return nullptr;
  --at;
  return at->second.live && address < at->first + at->second.bytes ? &at->second : nullptr;
}

/* Notes a use of a block by what is put on the stream next, and whether it is in order. */
static void use(Block *block, Stream *stream, bool writes, const std::string &what) {
  Clock clock = stream->clock;
  join(clock, state.host);
  if (!is_ordered(block->written, clock))
    wrong(what + " uses a block that stream " + std::to_string(block->written.stream) +
          " writes, without waiting for it");
  if (writes)
    for (Place read : block->read)
      if (!is_ordered(read, clock))
        wrong(what + " writes a block that stream " + std::to_string(read.stream) + " reads, without waiting for it");
  Place place = {stream->id, stream->issued + 1};
  if (writes) block->read.clear(), block->written = place;
  else block->read.push_back(place);
}

static void check_zones(const Block &block, const std::string &what) {
  const char *end = block.data + block.bytes;
  for (size_t i = 0; i < ZONE; i++) {
    if ((unsigned char)block.data[-1 - (ptrdiff_t)i] != GUARD || (unsigned char)end[i] != GUARD) {
      wrong(what + " writes beyond a block of " + std::to_string(block.bytes) + " bytes");
      return;
    }
  }
}

static std::string report() {
  std::string text;
  for (const std::string &what : state.wrong) text += what + "\n";
  auto left = [&](const char *what, size_t n) {
    if (n != 0) text += std::to_string(n) + " " + what + " are left\n";
  };
  size_t n = 0;
  for (auto &at : state.blocks) n += at.second.live && !at.second.excused;
  left("blocks", n), n = 0;
  for (auto &at : state.streams) n += at->live && !at->excused;
  left("streams", n), n = 0;
  for (auto &at : state.events) n += at->live && !at->excused;
  left("events", n), n = 0;
  for (auto &at : state.pinned) n += at.second.live && !at.second.excused;
  left("pinned buffers", n), n = 0;
  for (auto &at : state.modules) n += at->live && !at->excused;
  left("modules", n), n = 0;
  for (Context &context : state.contexts) n += context.retained != 0 && !context.excused;
  left("contexts", n);
  return text;
}

/* Everything as it was before the first call; what is live is forgotten. */
static void reset() {
  state.streams.clear(), state.events.clear(), state.blocks.clear(), state.pinned.clear();
  state.modules.clear(), state.functions.clear(), state.wrong.clear(), state.host.clear();
  for (int i = 0; i < DEVICES; i++) state.contexts[i] = Context{i, 0, false, 0, false};
  state.used = state.kept = 0, state.calls = state.inject_at = 0, state.inject = 0;
  state.trimmed = state.peers = state.launches = 0, state.spoilt = state.forbidden = false, state.mute = false, state.omitted.clear(), state.notes.clear(), state.wider = 0;
  current = nullptr;
}

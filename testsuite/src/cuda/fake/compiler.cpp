/* The run-time compiler's functions, by way of the host's compiler: "machine code" is a shared object in which each
 * kernel has a function that runs its threads. A text that begins with "#stand-in" is no kernel but a word to the
 * stand-in, whose answer is the intermediate code:
 *   reset              everything as at first, but for libraries and files
 *   inject N CODE      the N-th call of the driver from here on returns CODE and does nothing; 0 for none
 *   mute N CODE        the same, but it returns 0: somebody loses the error
 *   omit NAME          calls of this function return 0 and do nothing: somebody forgets them
 *   widen              copies to the device are of one byte more than they are said to be
 *   calls              how many calls there were since then
 *   injected           the function whose call failed
 *   report             what was done wrong, and what is left
 *   live | trimmed     how many blocks are live; how often the pool was trimmed
 *   peers | launches   how many copies from device to device there were; how many launches
 *   note FILE          texts are added to a file, and kernels do nothing from now on
 *   forbid             no text compiles from now on
 *   spoil              compilers of another version from now on, whose texts do not compile */

struct Program { std::string text, log, ptx, cubin; };

static std::string answer(const std::string &words) {
  unsigned long long at = 0;
  int code = 0;
  if (words.find("reset") == 0) reset();
  else if (sscanf(words.c_str(), "inject %llu %d", &at, &code) == 2)
    state.inject_at = at, state.inject = code, state.calls = 0;
  else if (sscanf(words.c_str(), "mute %llu %d", &at, &code) == 2)
    state.inject_at = at, state.inject = code, state.calls = 0, state.mute = true;
  else if (words.find("omit ") == 0) state.omitted = words.substr(5);
  else if (words.find("widen") == 0) state.wider = 1;
  else if (words.find("calls") == 0) return std::to_string(state.calls);
  else if (words.find("injected") == 0) return state.injected;
  else if (words.find("peers") == 0) return std::to_string(state.peers);
  else if (words.find("launches") == 0) return std::to_string(state.launches);
  else if (words.find("note ") == 0) state.notes = words.substr(5);
  else if (words.find("forbid") == 0) state.forbidden = true;
  else if (words.find("spoil") == 0) state.spoilt = true;
  else if (words.find("trimmed") == 0) return std::to_string(state.trimmed);
  else if (words.find("live") == 0) {
    int n = 0;
    for (auto &at : state.blocks) n += at.second.live;
    return std::to_string(n);
  }
  else if (words.find("report") == 0) return report();
  return "";
}

static std::string read_file(const std::string &path) {
  std::string text;
  if (FILE *file = fopen(path.c_str(), "rb")) {
    char part[1 << 16];
    while (size_t n = fread(part, 1, sizeof part, file)) text.append(part, n);
    fclose(file);
  }
  return text;
}

/* Threads of a launch, the last first, and the functions by which the driver finds each kernel: to run it, the size of its
 * argument, and which of the pointers in front of it are written through. */
static const char *const RUN = R"run(
static_assert(K_THREADS == HOST_THREADS, "blocks of another size");
template <class A> struct host_one {
  static A argument;
  static void (*kernel)(A);
  static void enter() { kernel(argument); }
};
template <class A> A host_one<A>::argument;
template <class A> void (*host_one<A>::kernel)(A);
template <class A> static const char *host_run(void (*kernel)(A), const void *bytes, unsigned blocks, bool together) {
  memcpy((void *)&host_one<A>::argument, bytes, sizeof(A));
  host_one<A>::kernel = kernel;
  const char *wrong = nullptr;
  for (unsigned i = blocks; i-- > 0 && wrong == nullptr;) {
    blockIdx.x = i;
    if (together) wrong = host_together(host_one<A>::enter, [](unsigned j) { return K_THREADS - 1 - j; });
    else for (unsigned j = K_THREADS; j-- > 0;) threadIdx.x = j, kernel(host_one<A>::argument);
  }
  return wrong;
}
template <class A> static size_t host_size(void (*)(A)) { return sizeof(A); }
template <class A> static unsigned host_written(void (*)(A), decltype(A::WRITTEN) *) { return A::WRITTEN; }
template <class A> static unsigned host_written(void (*)(A), ...) { return 1; }
)run";

static std::string launchers(const std::string &text) {
  std::string all = RUN;
  const char *const together = text.find("__syncthreads()") == std::string::npos ? "false" : "true";
  const std::string head = "extern \"C\" __global__ void __launch_bounds__(K_THREADS, 1) ";
  for (size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    size_t begin = at + head.size();
    std::string name = text.substr(begin, text.find('(', begin) - begin);
    all += "extern \"C\" const char *" + name + "__run(const void *a, unsigned n) { return host_run(" + name + ", a, n, " +
           together + "); }\n";
    all += "extern \"C\" size_t " + name + "__size() { return host_size(" + name + "); }\n";
    all += "extern \"C\" unsigned " + name + "__written() { return host_written(" + name + ", nullptr); }\n";
  }
  return all;
}

API int nvrtcVersion(int *major, int *minor) {
  /* Another shim is another compiler: what was kept on disk is of no use to it. */
  unsigned hash = 2166136261u;
  for (const char *text : {SHIM, RUN}) for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  *major = state.spoilt, *minor = hash >> 1;
  return 0;
}
API int nvrtcCreateProgram(
    Program **program, const char *text, const char *, int, const char *const *, const char *const *) {
  *program = new Program{text, "", "", ""};
  return 0;
}
API int nvrtcDestroyProgram(Program **program) {
  delete *program;
  *program = nullptr;
  return 0;
}
API int nvrtcCompileProgram(Program *program, int, const char *const *) {
  const std::string mark = "#stand-in ";
  if (program->text.compare(0, mark.size(), mark) == 0) {
    std::lock_guard<std::recursive_mutex> guard(state.mutex);
    program->ptx = answer(program->text.substr(mark.size()));
    return 0;
  }
  if (!state.notes.empty()) {
    if (FILE *f = fopen(state.notes.c_str(), "ab")) {
      fwrite(program->text.c_str(), 1, program->text.size() + 1, f);
      fclose(f);
    }
    program->cubin = NOTED;
    return 0;
  }
  char folder[] = "/tmp/stand-in-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string base = folder, file = base + "/kernels.cpp", out = base + "/kernels.so", log = base + "/log";
  if (FILE *f = fopen(file.c_str(), "wb")) {
    const std::string spoilt = state.spoilt || state.forbidden ? "#error the stand-in was told to spoil this\n" : "";
    for (const std::string &part : {spoilt, std::string(SHIM), program->text, launchers(program->text)})
      fwrite(part.data(), 1, part.size(), f);
    fclose(f);
  }
  const std::string command = "g++ -std=c++17 -O1 -shared -fPIC -ffp-contract=off -fno-strict-aliasing"
    " -Wl,-Bsymbolic -w -o " + out + " " + file + " > " + log + " 2>&1";
  int status = system(command.c_str());
  program->log = read_file(log), program->cubin = read_file(out);
  for (const std::string &path : {file, out, log}) unlink(path.c_str());
  rmdir(folder);
  return status == 0 ? 0 : 6;
}
#define SIZE_AND_BYTES(name, field) \
  API int nvrtcGet##name##Size(Program *program, size_t *size) { *size = program->field.size() + 1; return 0; } \
  API int nvrtcGet##name(Program *program, char *to) { \
    memcpy(to, program->field.c_str(), program->field.size() + 1); \
    return 0; \
  }
SIZE_AND_BYTES(ProgramLog, log)
SIZE_AND_BYTES(PTX, ptx)
SIZE_AND_BYTES(CUBIN, cubin)
API const char *nvrtcGetErrorString(int) { return "the stand-in does not compile"; }

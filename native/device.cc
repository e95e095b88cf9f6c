// Threads, seeds and libtorch's version.
#include "entries.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace dualfocus {

namespace {

napi_value libraryVersion(napi_env env, const Arguments&) { return makeString(env, TORCH_VERSION); }

napi_value setThreads(napi_env env, const Arguments& arguments) {
  const int64_t count = arguments.integer(0, "count");
  if (count < 1 || count > 1024) throw std::invalid_argument("count: expected 1 to 1024 threads, got " + std::to_string(count));
  at::set_num_threads(static_cast<int>(count));
  // OpenBLAS, which Debian's libtorch multiplies matrices with, has threads of its own: one for each core unless told.
  using Set = void (*)(int);
  if (const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(static_cast<int>(count));
  return makeUndefined(env);
}

napi_value threads(napi_env env, const Arguments&) { return makeNumber(env, at::get_num_threads()); }

/** seed(n): seeds the generator of every device. */
napi_value seed(napi_env env, const Arguments& arguments) {
  const int64_t value = arguments.integer(0, "seed");
  if (value < 0) throw std::invalid_argument("seed: expected a non-negative integer");
  at::manual_seed(static_cast<uint64_t>(value));
  return makeUndefined(env);
}

} // namespace

void registerDevice(napi_env env, napi_value exports) {
  define<libraryVersion>(env, exports, "libraryVersion");
  define<setThreads>(env, exports, "setThreads");
  define<threads>(env, exports, "threads");
  define<seed>(env, exports, "seed");
}

} // namespace dualfocus

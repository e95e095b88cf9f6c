#include "entries.h"
#if __has_include("lens.h")
#include "lens.h"
#endif

NAPI_MODULE_INIT() {
  try {
    dualfocus::registerDispatch(env, exports);
    dualfocus::registerMemory(env, exports);
    dualfocus::registerAutograd(env, exports);
    dualfocus::registerDevice(env, exports);
    dualfocus::registerCuda(env, exports);
    dualfocus::registerBenchmark(env, exports);
#if __has_include("lens.h")
    dualfocus::registerLens(env, exports);
#endif
  } catch (...) {
    dualfocus::rethrow(env);
    return nullptr;
  }
  return exports;
}

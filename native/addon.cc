#include "entries.h"

NAPI_MODULE_INIT() {
  try {
    using namespace dualfocus;
    for (const auto add : {registerDispatch, registerMemory, registerAutograd, registerDevice, registerCuda, registerDistributed,
                           registerBenchmark, registerLens, registerGather, registerNorm, registerTrainPool, registerTrainWindow, registerTrainSoftmax, registerTrainLosses, registerTrainPlanes,
                           registerTrainUpsample, registerTrainDetail, registerFuse, registerFusePool, registerFusePlanes})
      add(env, exports);
  } catch (...) {
    dualfocus::rethrow(env);
    return nullptr;
  }
  return exports;
}

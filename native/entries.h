// Each file of the addon adds its functions to the exports through one of these functions.
#pragma once

#include "tensor.h"

namespace dualfocus {

void registerDispatch(napi_env env, napi_value exports);
void registerMemory(napi_env env, napi_value exports);
void registerAutograd(napi_env env, napi_value exports);
void registerDevice(napi_env env, napi_value exports);
void registerCuda(napi_env env, napi_value exports);
void registerBenchmark(napi_env env, napi_value exports);
void registerDistributed(napi_env env, napi_value exports);
void registerLens(napi_env env, napi_value exports);
void registerGather(napi_env env, napi_value exports);
void registerNorm(napi_env env, napi_value exports);
void registerTrainPool(napi_env env, napi_value exports);
void registerTrainWindow(napi_env env, napi_value exports);
void registerTrainSoftmax(napi_env env, napi_value exports);
void registerTrainLosses(napi_env env, napi_value exports);
void registerTrainPlanes(napi_env env, napi_value exports);
void registerTrainUpsample(napi_env env, napi_value exports);
void registerTrainDetail(napi_env env, napi_value exports);
void registerFuse(napi_env env, napi_value exports);
void registerFusePool(napi_env env, napi_value exports);
void registerFusePlanes(napi_env env, napi_value exports);

} // namespace dualfocus

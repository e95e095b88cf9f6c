// The operations that bench/engine.ts times from JavaScript, looped in C++ to show what the calls from JavaScript cost.
#include "entries.h"

#ifdef DUALFOCUS_CUDA
#include <c10/cuda/CUDAFunctions.h>
#endif

#include <chrono>

namespace dualfocus {

namespace {

using Operation = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

at::Tensor add(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor conv2d(const at::Tensor& input, const at::Tensor& weight) { return at::conv2d(input, weight, {}, 1, 1); }
at::Tensor conv3d(const at::Tensor& input, const at::Tensor& weight) { return at::conv3d(input, weight, {}, 1, 1); }

Operation findOperation(const std::string& name) {
  if (name == "add") return add;
  if (name == "conv2d") return conv2d;
  if (name == "conv3d") return conv3d;
  throw std::invalid_argument("no benchmark is called \"" + name + "\"; expected add, conv2d or conv3d");
}

void finish(const at::Tensor& tensor) {
#ifdef DUALFOCUS_CUDA
  if (tensor.is_cuda()) c10::cuda::device_synchronize();
#endif
  (void)tensor;
}

/** benchmark(operation, a, b, iterations, backward): milliseconds per iteration; with backward, of the sum. */
napi_value benchmark(napi_env env, const Arguments& arguments) {
  const Operation operation = findOperation(arguments.string(0, "operation"));
  const at::Tensor& a = arguments.tensor(1, "a");
  const at::Tensor& b = arguments.tensor(2, "b");
  const int64_t iterations = arguments.integer(3, "iterations");
  const bool backward = arguments.boolean(4, "backward");
  if (iterations < 1) throw std::invalid_argument("iterations: expected at least 1");
  finish(a);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < iterations; i++) {
    const at::Tensor result = operation(a, b);
    if (!backward) continue;
    result.sum().backward();
    if (a.requires_grad()) a.mutable_grad().reset();
    if (b.requires_grad()) b.mutable_grad().reset();
  }
  finish(a);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return makeNumber(env, elapsed.count() / static_cast<double>(iterations));
}

} // namespace

void registerBenchmark(napi_env env, napi_value exports) { define<benchmark>(env, exports, "benchmark"); }

} // namespace dualfocus

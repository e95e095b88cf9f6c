// Gradients, and the modes that change how operators run on this thread.
#include "entries.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

namespace dualfocus {

namespace {

/** setRequiresGrad(tensor, on) */
napi_value setRequiresGrad(napi_env env, const Arguments& arguments) {
  const at::Tensor& tensor = arguments.tensor(0, "tensor");
  const bool on = arguments.boolean(1, "on");
  if (on && !tensor.is_floating_point()) throw std::invalid_argument("only a floating-point tensor can have a gradient");
  if (!on && !tensor.is_leaf()) throw std::invalid_argument("the tensor is computed from others; detach it instead");
  tensor.set_requires_grad(on);
  return makeUndefined(env);
}

napi_value requiresGrad(napi_env env, const Arguments& arguments) {
  return makeBoolean(env, arguments.tensor(0, "tensor").requires_grad());
}

/** backward(tensor, gradient?) */
napi_value backward(napi_env env, const Arguments& arguments) {
  const at::Tensor& tensor = arguments.tensor(0, "tensor");
  if (arguments.has(1))
    tensor.backward(arguments.tensor(1, "gradient"));
  else
    tensor.backward();
  return makeUndefined(env);
}

/** grad(tensor): the accumulated gradient, or null. It shares its memory with the tensor's own. */
napi_value grad(napi_env env, const Arguments& arguments) { return wrap(env, arguments.tensor(0, "tensor").grad()); }

/** setGrad(tensor, gradient | null) */
napi_value setGrad(napi_env env, const Arguments& arguments) {
  const at::Tensor& tensor = arguments.tensor(0, "tensor");
  if (!arguments.has(1)) {
    tensor.mutable_grad().reset();
    return makeUndefined(env);
  }
  const at::Tensor& gradient = arguments.tensor(1, "gradient");
  if (gradient.sizes() != tensor.sizes() || gradient.device() != tensor.device() || gradient.scalar_type() != tensor.scalar_type())
    throw std::invalid_argument("the gradient must have the tensor's shape, dtype and device");
  tensor.mutable_grad() = gradient;
  return makeUndefined(env);
}

/** setGradMode(on): whether operations are recorded; returns the previous setting. */
napi_value setGradMode(napi_env env, const Arguments& arguments) {
  const bool on = arguments.boolean(0, "on");
  const bool previous = at::GradMode::is_enabled();
  at::GradMode::set_enabled(on);
  return makeBoolean(env, previous);
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool autocastEnabled(at::DeviceType device) { return at::autocast::is_autocast_enabled(device); }
void enableAutocast(at::DeviceType device, bool on) {
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, on);
}
#else
bool autocastEnabled(at::DeviceType device) {
  return device == at::kCPU ? at::autocast::is_cpu_enabled() : at::autocast::is_enabled();
}
void enableAutocast(at::DeviceType device, bool on) {
  if (device == at::kCPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  }
}
#endif

/** setAutocast(device, on): bf16 for the operators on libtorch's autocast list; returns the previous setting. */
napi_value setAutocast(napi_env env, const Arguments& arguments) {
  const at::DeviceType device = parseDevice(arguments.string(0, "device")).type();
  const bool on = arguments.boolean(1, "on");
  const bool previous = autocastEnabled(device);
  enableAutocast(device, on);
  return makeBoolean(env, previous);
}

/** clearAutocastCache(): drops the bf16 copies of weights. Needed when the outermost autocast ends, because the weights may change after it. */
napi_value clearAutocastCache(napi_env env, const Arguments&) {
  at::autocast::clear_cache();
  return makeUndefined(env);
}

} // namespace

void registerAutograd(napi_env env, napi_value exports) {
  define<setRequiresGrad>(env, exports, "setRequiresGrad");
  define<requiresGrad>(env, exports, "requiresGrad");
  define<backward>(env, exports, "backward");
  define<grad>(env, exports, "grad");
  define<setGrad>(env, exports, "setGrad");
  define<setGradMode>(env, exports, "setGradMode");
  define<setAutocast>(env, exports, "setAutocast");
  define<clearAutocastCache>(env, exports, "clearAutocastCache");
}

} // namespace dualfocus

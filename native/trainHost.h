// Shared by the operators for training that take f64 as well on the CPU, where their gradients are checked.
#pragma once

#include "fuseHost.h"

#include <torch/csrc/autograd/custom_function.h>

namespace dualfocus {

/** On the CPU, calls `body` with a value of the tensor's element type; on CUDA, `launch` with that type and the stream. */
template <class Body, class Launch> void runAs(const at::Tensor& on, Body body, Launch launch) {
  if (on.is_cpu() && on.scalar_type() == at::kDouble) return body(double{});
  const Element element = elementOf(on);
  if (on.is_cpu()) {
    if (element == Element::f32) return body(float{});
    if (element == Element::f16) return body(at::Half{});
    return body(at::BFloat16{});
  }
  launchOn(on, [&](void* stream) { return launch(element, stream); });
}

/** A JavaScript array of handles. */
inline napi_value wrapAll(napi_env env, const torch::autograd::variable_list& tensors) {
  napi_value result;
  check(env, napi_create_array_with_length(env, tensors.size(), &result));
  for (uint32_t i = 0; i < tensors.size(); i++) check(env, napi_set_element(env, result, i, wrap(env, tensors[i])));
  return result;
}

/** The type of sums over values of `tensor`. */
inline at::ScalarType wideType(const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

inline void checkType(const at::Tensor& tensor, const char* name) {
  if (tensor.scalar_type() == at::kDouble && tensor.is_cpu()) return;
  elementOf(tensor);
  if (tensor.numel() == 0) throw std::invalid_argument(std::string(name) + ": expected values, got none");
}

/** `tensor` holds sums over values of `on`, on the same device, with these sizes. */
inline void checkWide(const at::Tensor& tensor, const at::Tensor& on, at::IntArrayRef sizes, const char* name) {
  if (tensor.scalar_type() != wideType(on) || tensor.device() != on.device()) throw std::invalid_argument(std::string(name) + ": expected f32 (f64 with f64) on the same device as the others");
  if (tensor.sizes() != sizes) {
    std::string shape;
    for (const int64_t size : sizes) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    throw std::invalid_argument(std::string(name) + ": expected [" + shape + "]");
  }
}

} // namespace dualfocus

// The entry of trainPool.h: its operator for autograd, and its implementation for the CPU.
#include "trainPool.h"

#include "fuseHost.h"

#include <torch/csrc/autograd/custom_function.h>

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainPoolKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Window {
  int64_t side, stride, padding;

  int64_t count(int64_t length) const { return (length + 2 * padding - side) / stride + 1; }
};

/** From the maps to the pooled ones, or back: sizes of both, and the window. */
MaxPool poolOf(const at::Tensor& from, const at::Tensor& to, const Window& window) {
  MaxPool work{};
  static_cast<Maps&>(work) = mapsOf(from, to);
  work.side = static_cast<int>(window.side), work.stride = static_cast<int>(window.stride), work.padding = static_cast<int>(window.padding);
  return work;
}

struct PoolFunction : torch::autograd::Function<PoolFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, int64_t side, int64_t stride, int64_t padding) {
    const Window window{side, stride, padding};
    const at::Tensor x = given.contiguous(at::MemoryFormat::ChannelsLast);
    const std::vector<int64_t> sizes{x.size(0), x.size(1), window.count(x.size(2)), window.count(x.size(3))};
    const at::Tensor y = at::empty(sizes, x.options().memory_format(at::MemoryFormat::ChannelsLast));
    const at::Tensor places = at::empty(sizes, x.options().dtype(at::kByte).memory_format(at::MemoryFormat::ChannelsLast));
    const TrainPool work{poolOf(x, y, window), places.data_ptr<uint8_t>()};
    run(work, y, y.numel(), launchTrainPool, [&](auto kind, int64_t i) { placePack<decltype(kind), 1>(work, i); });
    context->save_for_backward({places});
    context->saved_data["window"] = std::vector<int64_t>{side, stride, padding, x.size(2), x.size(3)};
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor places = context->get_saved_variables()[0];
    const std::vector<int64_t> sizes = context->saved_data["window"].toIntVector();
    const at::Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor dx = at::empty({dy.size(0), dy.size(1), sizes[3], sizes[4]}, dy.options().memory_format(at::MemoryFormat::ChannelsLast));
    const TrainPoolGradient work{poolOf(dy, dx, {sizes[0], sizes[1], sizes[2]}), places.data_ptr<uint8_t>()};
    run(work, dx, dx.numel(), launchTrainPoolGradient, [&](auto kind, int64_t i) { unplacePack<decltype(kind), 1>(work, i); });
    const at::Tensor none;
    return {dx, none, none, none};
  }
};

/** trainPool(x, side, stride, padding): max pooling with gradients; the channels must be a multiple of eight (of four in f32). */
napi_value trainPool(napi_env env, const Arguments& arguments) {
  const at::Tensor& x = arguments.tensor(0, "x");
  const Window window{arguments.integer(1, "side"), arguments.integer(2, "stride"), arguments.integer(3, "padding")};
  const int64_t pack = elementOf(x) == Element::f32 ? 4 : 8;
  if (x.dim() != 4 || x.numel() == 0 || x.size(1) % pack != 0) throw std::invalid_argument("x: expected images with a multiple of " + std::to_string(pack) + " channels");
  if (window.side < 1 || window.side > 15 || window.stride < 1 || window.padding < 0 || 2 * window.padding > window.side)
    throw std::invalid_argument("side: expected a window of 1 to 15 pixels, padded by half of it at most");
  if (window.count(x.size(2)) < 1 || window.count(x.size(3)) < 1) throw std::invalid_argument("side: the window is larger than the image");
  return wrap(env, PoolFunction::apply(x, window.side, window.stride, window.padding));
}

} // namespace

#ifndef DUALFOCUS_NVCC
const char* launchTrainPool(const TrainPool&, Element, void*) { return nullptr; }
const char* launchTrainPoolGradient(const TrainPoolGradient&, Element, void*) { return nullptr; }
#endif

void registerTrainPool(napi_env env, napi_value exports) { define<trainPool>(env, exports, "trainPool"); }

} // namespace dualfocus

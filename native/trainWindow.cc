// WindowSum (fuse.h) with gradients: its operator for autograd, and its implementation for the CPU.
#include "trainWindow.h"

#include "fuseHost.h"

#include <torch/csrc/autograd/custom_function.h>

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWindowKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

int64_t pictureCount(const at::Tensor& maps) { return maps.size(0) * (maps.dim() == 5 ? maps.size(2) : 1); }

/** One source at a time: its upsampled products, added to `own` if there is one. */
struct WindowFunction : torch::autograd::Function<WindowFunction> {
  static at::Tensor forward(AutogradContext* context, const Optional<at::Tensor>& given, const at::Tensor& products, int64_t height, int64_t width, bool nearest) {
    const at::Tensor source = products.contiguous(formatOf(products)), own = given ? given->contiguous(formatOf(products)) : at::Tensor();
    const int64_t rank = source.dim(), channels = source.size(1) / 9;
    std::vector<int64_t> sizes = source.sizes().vec();
    sizes[1] = channels, sizes[rank - 2] = height, sizes[rank - 1] = width;
    const at::Tensor result = at::empty(sizes, source.options().memory_format(formatOf(source)));
    const at::Tensor bias = at::zeros({channels}, source.options().dtype(at::kFloat));
    WindowSum work{};
    work.sources[0] = source.data_ptr();
    work.heights[0] = static_cast<int>(source.size(rank - 2)), work.widths[0] = static_cast<int>(source.size(rank - 1));
    work.sourceCount = 1;
    work.nearest = nearest;
    work.own = own.defined() ? own.data_ptr() : nullptr;
    work.bias = bias.data_ptr<float>();
    work.slope = 1;
    work.to = result.data_ptr();
    work.pictures = pictureCount(source);
    work.channels = work.toChannels = static_cast<int>(channels);
    work.toHeight = static_cast<int>(height), work.toWidth = static_cast<int>(width);
    run(work, result, result.numel(), launchWindowSum, [&](auto kind, int64_t i) { windowPack<decltype(kind), 1>(work, i); });
    context->saved_data["sizes"] = products.sizes().vec();
    context->saved_data["nearest"] = nearest;
    context->saved_data["own"] = own.defined();
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const std::vector<int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const at::Tensor dy = gradients[0].contiguous(formatOf(gradients[0]));
    const int64_t rank = dy.dim();
    const at::Tensor dSource = at::empty(sizes, dy.options().memory_format(formatOf(dy)));
    WindowGradient work{};
    work.from = dy.data_ptr();
    work.to = dSource.data_ptr();
    work.pictures = pictureCount(dy);
    work.channels = static_cast<int>(dy.size(1));
    work.fromHeight = static_cast<int>(dy.size(rank - 2)), work.fromWidth = static_cast<int>(dy.size(rank - 1));
    work.toHeight = static_cast<int>(sizes[rank - 2]), work.toWidth = static_cast<int>(sizes[rank - 1]);
    work.nearest = context->saved_data["nearest"].toBool();
    run(work, dy, dSource.numel(), launchWindowGradient, [&](auto kind, int64_t i) { unwindowPack<decltype(kind), 1>(work, i); });
    const at::Tensor none;
    return {context->saved_data["own"].toBool() ? dy : none, dSource, none, none, none};
  }
};

/** trainWindow(own | null, products, height, width, nearest): own + the sum of the upsampled products at each tap's neighbour, with gradients; see WindowSum. */
napi_value trainWindow(napi_env env, const Arguments& arguments) {
  const at::Tensor& products = arguments.tensor(1, "products");
  const int64_t height = arguments.integer(2, "height"), width = arguments.integer(3, "width"), rank = products.dim();
  elementOf(products);
  if ((rank != 4 && rank != 5) || products.numel() == 0 || products.size(1) % 9 != 0 || height < 1 || width < 1 || height > 65535 || width > 65535)
    throw std::invalid_argument("products: expected images or volumes with a product for each of nine taps");
  Optional<at::Tensor> own;
  if (arguments.has(0)) {
    own = arguments.tensor(0, "own");
    checkAlike(*own, products, "own");
    std::vector<int64_t> sizes = products.sizes().vec();
    sizes[1] /= 9, sizes[rank - 2] = height, sizes[rank - 1] = width;
    if (own->sizes() != at::IntArrayRef(sizes)) throw std::invalid_argument("own: expected the shape of the result");
  }
  return wrap(env, WindowFunction::apply(own, products, height, width, arguments.boolean(4, "nearest")));
}

} // namespace

#ifndef DUALFOCUS_NVCC
const char* launchWindowGradient(const WindowGradient&, Element, void*) { return nullptr; }
#endif

void registerTrainWindow(napi_env env, napi_value exports) { define<trainWindow>(env, exports, "trainWindow"); }

} // namespace dualfocus

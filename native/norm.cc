// The entry of norm.h: its operator for autograd, and its implementation for the CPU.
#include "norm.h"

#include "fuseHost.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "normKernel.h"

/** One wave of blocks on a GPU of 132 multiprocessors. */
constexpr int64_t MOST_BLOCKS = 396;

/** Values between neighbouring pixels if the channels are innermost and the pixels evenly spaced, as in a slice of channels; else 0. */
int64_t pixelStep(const at::Tensor& tensor) {
  const int64_t rank = tensor.dim(), step = tensor.stride(rank - 1);
  if (tensor.size(1) > 1 && tensor.stride(1) != 1) return 0;
  int64_t expected = step;
  for (int64_t axis = rank - 1; axis >= 0; axis--) {
    if (axis == 1) continue;
    if (tensor.size(axis) > 1 && tensor.stride(axis) != expected) return 0;
    expected *= tensor.size(axis);
  }
  const bool aligned = reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0 && step * tensor.element_size() % 16 == 0;
  return step >= tensor.size(1) && aligned ? step : 0;
}

/** `tensor` as pixels; copied only if its layout is another. The copy must outlive the result. */
Pixels pixelsOf(at::Tensor& tensor) {
  const int64_t step = pixelStep(tensor);
  if (step == 0) tensor = tensor.contiguous(formatOf(tensor));
  return {tensor.data_ptr(), step == 0 ? tensor.size(1) : step};
}

int64_t pixelCount(const at::Tensor& x) { return x.numel() / x.size(1); }

int blocksFor(const at::Tensor& x) {
  const int members = pixelsPerBlock(static_cast<int>(x.size(1)), elementOf(x));
  return static_cast<int>(std::clamp((pixelCount(x) + members - 1) / members, int64_t{1}, MOST_BLOCKS));
}

template <class T> void runOnCpu(const Norm& work) {
  for (int channel = 0; channel < work.channels; channel++) {
    const float first = static_cast<float>(static_cast<const T*>(work.x.values)[channel]);
    double sum = 0, square = 0;
    for (int64_t pixel = 0; pixel < work.pixels; pixel++) {
      float sums[1] = {}, squares[1] = {};
      addMoments<T, 1>(work, pixel, channel, &first, sums, squares);
      sum += sums[0], square += squares[0];
    }
    finishMoments(work, channel, first, sum, square);
    const float scale = work.table[SCALE * work.channels + channel], shift = work.table[SHIFT * work.channels + channel];
    for (int64_t pixel = 0; pixel < work.pixels; pixel++) normalise<T, 1>(work, pixel, channel, &scale, &shift);
  }
}

template <class T> void runOnCpu(const NormGradient& work) {
  for (int channel = 0; channel < work.channels; channel++) {
    float table[NORM_ROWS], gradients[3];
    for (int row = 0; row < NORM_ROWS; row++) table[row] = work.table[row * work.channels + channel];
    double sum = 0, product = 0;
    for (int64_t pixel = 0; pixel < work.pixels; pixel++) {
      float sums[1] = {}, products[1] = {};
      addGradients<T, 1>(work, pixel, channel, table, sums, products);
      sum += sums[0], product += products[0];
    }
    finishGradients(work, channel, sum, product);
    for (int row = 0; row < 3; row++) gradients[row] = work.gradients[(TIMES_GRADIENT + row) * work.channels + channel];
    for (int64_t pixel = 0; pixel < work.pixels; pixel++)
      spreadGradients<T, 1>(work, pixel, channel, table + SCALE, table + SHIFT, gradients);
  }
}

template <class Work> void runOn(const at::Tensor& x, const Work& work, const char* (*launch)(const Work&, Element, void*)) {
  run(work, x, 1, launch, [&](auto kind, int64_t) { runOnCpu<decltype(kind)>(work); }); // all of it is one item
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct NormFunction : torch::autograd::Function<NormFunction> {
  static at::Tensor forward(AutogradContext* context, at::Tensor x, const at::Tensor& weight, const at::Tensor& bias,
                            const Optional<at::Tensor>& residual, at::Tensor runningMean, at::Tensor runningVariance, double momentum,
                            double epsilon, double slope) {
    Norm work{};
    work.x = pixelsOf(x);
    at::Tensor added;
    if (residual) {
      added = *residual;
      work.residual = pixelsOf(added);
    }
    at::Tensor y = at::empty_like(x, x.options(), formatOf(x));
    work.y = {y.data_ptr(), x.size(1)};
    work.channels = static_cast<int>(x.size(1)), work.pixels = pixelCount(x), work.blocks = blocksFor(x);
    const at::Tensor table = at::empty({NORM_ROWS, x.size(1)}, weight.options()), partials = at::empty({work.blocks, 2, x.size(1)}, weight.options());
    work.weight = weight.data_ptr<float>(), work.bias = bias.data_ptr<float>();
    work.runningMean = runningMean.data_ptr<float>(), work.runningVariance = runningVariance.data_ptr<float>();
    work.momentum = static_cast<float>(momentum), work.epsilon = static_cast<float>(epsilon), work.slope = static_cast<float>(slope);
    work.table = table.data_ptr<float>(), work.partials = partials.data_ptr<float>();
    runOn(x, work, launchNorm);
    const bool keepsResult = residual && slope != 1; // else its sign follows from x
    context->save_for_backward({x, table, keepsResult ? y : at::Tensor()});
    context->saved_data["slope"] = slope;
    context->saved_data["residual"] = residual.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    at::Tensor dy = gradients[0], x = saved[0], y = saved[2];
    const at::Tensor& table = saved[1];
    const double slope = context->saved_data["slope"].toDouble();
    const bool residual = context->saved_data["residual"].toBool();
    NormGradient work{};
    work.dy = pixelsOf(dy);
    work.x = pixelsOf(x);
    if (y.defined()) work.y = pixelsOf(y);
    const at::Tensor dx = at::empty_like(x, x.options(), formatOf(x));
    work.dx = {dx.data_ptr(), x.size(1)};
    at::Tensor dResidual = residual ? dy : at::Tensor();
    if (residual && slope != 1) {
      dResidual = at::empty_like(x, x.options(), formatOf(x));
      work.dResidual = {dResidual.data_ptr(), x.size(1)};
    }
    work.channels = static_cast<int>(x.size(1)), work.pixels = pixelCount(x), work.blocks = blocksFor(x);
    const at::Tensor sums = at::empty({NORM_GRADIENT_ROWS, x.size(1)}, table.options()), partials = at::empty({work.blocks, 2, x.size(1)}, table.options());
    work.table = table.data_ptr<float>(), work.slope = static_cast<float>(slope);
    work.gradients = sums.data_ptr<float>(), work.partials = partials.data_ptr<float>();
    runOn(x, work, launchNormGradient);
    const at::Tensor none;
    return {dx, sums[OF_WEIGHT], sums[OF_BIAS], dResidual, none, none, none, none, none};
  }
};

/** batchNorm(x, weight, bias, runningMean, runningVariance, momentum, epsilon, slope, residual | null): see Norm; for training. */
napi_value batchNorm(napi_env env, const Arguments& arguments) {
  const at::Tensor& x = arguments.tensor(0, "x");
  if ((x.dim() != 4 && x.dim() != 5) || x.numel() == 0) throw std::invalid_argument("x: expected 4 or 5 axes and some values");
  const Element element = elementOf(x);
  if (pixelsPerBlock(static_cast<int>(x.size(1)), element) == 0) throw std::invalid_argument("x: this many channels do not fit");
  const char* names[] = {"weight", "bias", "runningMean", "runningVariance"};
  for (size_t i = 0; i < 4; i++) {
    const at::Tensor& values = arguments.tensor(i + 1, names[i]);
    checkF32(values, x, names[i]);
    if (values.numel() != x.size(1)) throw std::invalid_argument(std::string(names[i]) + ": expected a value for each channel");
  }
  Optional<at::Tensor> residual;
  if (arguments.has(8)) {
    residual = arguments.tensor(8, "residual");
    checkAlike(*residual, x, "residual");
    if (residual->sizes() != x.sizes()) throw std::invalid_argument("residual: expected the shape of x");
  }
  const at::Tensor y = NormFunction::apply(x, arguments.tensor(1, "weight"), arguments.tensor(2, "bias"), residual, arguments.tensor(3, "runningMean"),
                                           arguments.tensor(4, "runningVariance"), arguments.number(5, "momentum"), arguments.number(6, "epsilon"),
                                           arguments.number(7, "slope"));
  return wrap(env, y);
}

} // namespace

int pixelsPerBlock(int channels, Element element) {
  const int width = element == Element::f32 ? 4 : 8, threads = 256;
  return channels % width == 0 && channels / width <= threads ? threads / (channels / width) : 0;
}

#ifndef DUALFOCUS_NVCC
const char* launchNorm(const Norm&, Element, void*) { return nullptr; }
const char* launchNormGradient(const NormGradient&, Element, void*) { return nullptr; }
#endif

void registerNorm(napi_env env, napi_value exports) { define<batchNorm>(env, exports, "batchNorm"); }

} // namespace dualfocus

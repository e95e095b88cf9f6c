// Operations between convolutions at inference: bias, residual and activation in one pass; resampling straight into a concatenation.
#include "entries.h"

#include "fuseHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"

/** hasKernels(device): whether the functions of this file run there. */
napi_value hasKernels(napi_env env, const Arguments& arguments) {
#ifdef DUALFOCUS_NVCC
  const bool cuda = true;
#else
  const bool cuda = false;
#endif
  return makeBoolean(env, parseDevice(arguments.string(0, "device")).is_cpu() || cuda);
}

/** finishConvolution(values, bias, residual | null, slope, to | null, firstChannel): in place without `to`, see Epilogue. */
napi_value finishConvolution(napi_env env, const Arguments& arguments) {
  const at::Tensor& values = arguments.tensor(0, "values");
  const at::Tensor& bias = arguments.tensor(1, "bias");
  checkLayout(values, "values");
  if (bias.scalar_type() != at::kFloat || !bias.is_contiguous() || bias.dim() != 1 || bias.size(0) != values.size(1))
    throw std::invalid_argument("bias: expected an f32 value for each channel");
  if (bias.device() != values.device()) throw std::invalid_argument("bias: expected the device of the values");
  Epilogue work{};
  work.values = values.data_ptr();
  work.to = values.data_ptr();
  work.bias = bias.data_ptr<float>();
  if (arguments.has(2)) {
    const at::Tensor& residual = arguments.tensor(2, "residual");
    checkLayout(residual, "residual");
    checkAlike(residual, values, "residual");
    if (residual.sizes() != values.sizes()) throw std::invalid_argument("residual: expected the shape of the values");
    work.residual = residual.data_ptr();
  }
  work.slope = static_cast<float>(arguments.number(3, "slope"));
  work.count = values.numel();
  work.channels = work.toChannels = static_cast<int>(values.size(1));
  if (arguments.has(4)) {
    const at::Tensor& to = arguments.tensor(4, "to");
    const int64_t first = arguments.integer(5, "firstChannel");
    checkLayout(to, "to");
    checkAlike(to, values, "to");
    if (first < 0 || first + values.size(1) > to.size(1)) throw std::invalid_argument("firstChannel: the channels do not fit");
    for (int64_t axis = 0; axis < values.dim(); axis++)
      if (to.dim() != values.dim() || (axis != 1 && to.size(axis) != values.size(axis)))
        throw std::invalid_argument("to: expected the sizes of the values, except for the channels");
    work.to = to.data_ptr();
    work.toChannels = static_cast<int>(to.size(1)), work.first = static_cast<int>(first);
  }
  run(work, values, work.count, launchEpilogue, [&](auto kind, int64_t i) { finishPack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

/** resampleInto(to, firstChannel, from, nearest): see Resample. */
napi_value resampleInto(napi_env env, const Arguments& arguments) {
  const auto& [to, from, first] = intoOf(arguments);
  const int64_t rank = to.dim();
  if (from.dim() != rank || from.size(0) != to.size(0) || (rank == 5 && from.size(2) != to.size(2)))
    throw std::invalid_argument("from: expected as many images as there are in to");
  if (from.numel() == 0 || to.numel() == 0) throw std::invalid_argument("from: nothing to resample");
  Resample work{};
  work.from = from.data_ptr();
  work.to = to.data_ptr();
  work.pictures = from.size(0) * (rank == 5 ? from.size(2) : 1);
  work.channels = static_cast<int>(from.size(1));
  work.fromHeight = static_cast<int>(from.size(rank - 2)), work.fromWidth = static_cast<int>(from.size(rank - 1));
  work.toHeight = static_cast<int>(to.size(rank - 2)), work.toWidth = static_cast<int>(to.size(rank - 1));
  work.toChannels = static_cast<int>(to.size(1)), work.first = static_cast<int>(first);
  work.nearest = arguments.boolean(3, "nearest");
  const int64_t count = work.pictures * work.toHeight * work.toWidth * work.channels;
  run(work, to, count, launchResample, [&](auto kind, int64_t i) { resamplePack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

/** windowSum(to, firstChannel, own | null, bias, slope, nearest, ...sources): see WindowSum. */
napi_value windowSum(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  const int64_t first = arguments.integer(1, "firstChannel");
  const at::Tensor& bias = arguments.tensor(3, "bias");
  checkLayout(to, "to");
  checkF32(bias, to, "bias");
  const int64_t rank = to.dim(), channels = bias.numel();
  if (channels < 1 || first < 0 || first + channels > to.size(1)) throw std::invalid_argument("firstChannel: the channels do not fit");
  const auto checkMaps = [&](const at::Tensor& maps, int64_t wanted, const char* name) {
    checkLayout(maps, name);
    checkAlike(maps, to, name);
    if (maps.dim() != rank || maps.size(0) != to.size(0) || (rank == 5 && maps.size(2) != to.size(2)) || maps.size(1) != wanted || maps.numel() == 0)
      throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(wanted) + " channels and as many images as there are in to");
  };
  WindowSum work{};
  work.to = to.data_ptr();
  work.pictures = to.size(0) * (rank == 5 ? to.size(2) : 1);
  work.channels = static_cast<int>(channels);
  work.toHeight = static_cast<int>(to.size(rank - 2)), work.toWidth = static_cast<int>(to.size(rank - 1));
  work.toChannels = static_cast<int>(to.size(1)), work.first = static_cast<int>(first);
  work.bias = bias.data_ptr<float>();
  work.slope = static_cast<float>(arguments.number(4, "slope"));
  work.nearest = arguments.boolean(5, "nearest");
  if (arguments.has(2)) {
    const at::Tensor& own = arguments.tensor(2, "own");
    checkMaps(own, channels, "own");
    if (own.size(rank - 2) != work.toHeight || own.size(rank - 1) != work.toWidth) throw std::invalid_argument("own: expected the size of to");
    work.own = own.data_ptr();
  }
  for (size_t i = 6; arguments.has(i); i++) {
    if (work.sourceCount == MOST_SOURCES) throw std::invalid_argument("sources: more than " + std::to_string(MOST_SOURCES));
    const at::Tensor& source = arguments.tensor(i, "source");
    checkMaps(source, 9 * channels, "source");
    const int at = work.sourceCount++;
    work.sources[at] = source.data_ptr();
    work.heights[at] = static_cast<int>(source.size(rank - 2)), work.widths[at] = static_cast<int>(source.size(rank - 1));
  }
  const int64_t count = work.pictures * work.toHeight * work.toWidth * work.channels;
  run(work, to, count, launchWindowSum, [&](auto kind, int64_t i) { windowPack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

/** The values, one per channel, of an argument that may be null. */
const float* perChannel(const Arguments& arguments, size_t index, const char* name, const at::Tensor& on, int channels) {
  if (!arguments.has(index)) return nullptr;
  const at::Tensor& values = arguments.tensor(index, name);
  checkF32(values, on, name);
  if (values.numel() != channels) throw std::invalid_argument(std::string(name) + ": expected a value for each channel");
  return values.data_ptr<float>();
}

/** gatherBlocks(to, from, before, factor, scale | null, shift | null): see Blocks. */
napi_value gatherBlocks(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  const at::Tensor& from = arguments.tensor(1, "from");
  checkLayout(to, "to");
  const bool bytes = from.scalar_type() == at::kByte;
  if ((!bytes && from.scalar_type() != at::kFloat) || !from.is_contiguous() || from.device() != to.device())
    throw std::invalid_argument("from: expected bytes or f32, row-major, on the device of to");
  if (to.dim() != 4 || from.dim() != 4 || to.size(0) != from.size(0) || to.size(1) < 4 * from.size(1))
    throw std::invalid_argument("to: expected as many images as there are in from, with room for four times their channels");
  Blocks work{};
  work.from = from.data_ptr();
  work.bytes = bytes;
  work.to = to.data_ptr();
  work.pictures = from.size(0);
  work.channels = static_cast<int>(from.size(1)), work.height = static_cast<int>(from.size(2)), work.width = static_cast<int>(from.size(3));
  work.toChannels = static_cast<int>(to.size(1)), work.toHeight = static_cast<int>(to.size(2)), work.toWidth = static_cast<int>(to.size(3));
  work.before = static_cast<int>(arguments.integer(2, "before"));
  if (work.channels < 1) throw std::invalid_argument("from: expected channels");
  work.factor = static_cast<float>(arguments.number(3, "factor"));
  work.scale = perChannel(arguments, 4, "scale", to, work.channels);
  work.shift = perChannel(arguments, 5, "shift", to, work.channels);
  run(work, to, to.numel(), launchBlocks, [&](auto kind, int64_t i) {
    if (bytes) gatherPack<decltype(kind), uint8_t, 1>(work, i);
    else gatherPack<decltype(kind), float, 1>(work, i);
  });
  return makeUndefined(env);
}

/** logitConvolution(to, from, weight, bias): see Logit. */
napi_value logitConvolution(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  const at::Tensor& from = arguments.tensor(1, "from");
  const at::Tensor& weight = arguments.tensor(2, "weight");
  const at::Tensor& bias = arguments.tensor(3, "bias");
  checkLayout(from, "from");
  for (const auto& [tensor, name] : {std::pair(to, "to"), std::pair(weight, "weight"), std::pair(bias, "bias")}) checkF32(tensor, from, name);
  if (from.dim() != 5 || weight.numel() != 27 * from.size(1) || bias.numel() != 1 || to.numel() * from.size(1) != from.numel())
    throw std::invalid_argument("weight: expected 27 for each channel of from, one bias, and to as large as a channel");
  Logit work{};
  work.from = from.data_ptr();
  work.weight = weight.data_ptr<float>();
  work.bias = bias.data_ptr<float>();
  work.to = to.data_ptr<float>();
  work.count = to.numel();
  work.channels = static_cast<int>(from.size(1)), work.planes = static_cast<int>(from.size(2));
  work.height = static_cast<int>(from.size(3)), work.width = static_cast<int>(from.size(4));
  const int64_t strips = (work.width + LOGIT_STRIP - 1) / LOGIT_STRIP;
  run(work, from, work.width == 0 ? 0 : work.count / work.width * strips, launchLogit, [&](auto kind, int64_t strip) {
    const int64_t start = stripStart(work, strip);
    float sums[LOGIT_STRIP] = {};
    for (int channel = 0; channel < work.channels; channel++) addLogits<decltype(kind), 1>(work, work.weight, start, channel, sums);
    for (int i = 0; i < LOGIT_STRIP && start % work.width + i < work.width; i++) work.to[start + i] = sums[i] + work.bias[0];
  });
  return makeUndefined(env);
}

} // namespace

#ifndef DUALFOCUS_NVCC
const char* launchEpilogue(const Epilogue&, Element, void*) { return nullptr; }
const char* launchResample(const Resample&, Element, void*) { return nullptr; }
const char* launchWindowSum(const WindowSum&, Element, void*) { return nullptr; }
const char* launchBlocks(const Blocks&, Element, void*) { return nullptr; }
const char* launchMaxPool(const MaxPool&, Element, void*) { return nullptr; }
const char* launchMeanPool(const MeanPool&, Element, void*) { return nullptr; }
const char* launchWeightedSum(const WeightedSum&, Element, void*) { return nullptr; }
const char* launchLogit(const Logit&, Element, void*) { return nullptr; }
const char* launchPlaneDifference(const PlaneDifference&, Element, void*) { return nullptr; }
const char* launchReadout(const Readout&, Element, void*) { return nullptr; }
#endif

void registerFuse(napi_env env, napi_value exports) {
  define<hasKernels>(env, exports, "hasKernels");
  define<finishConvolution>(env, exports, "finishConvolution");
  define<resampleInto>(env, exports, "resampleInto");
  define<windowSum>(env, exports, "windowSum");
  define<gatherBlocks>(env, exports, "gatherBlocks");
  define<logitConvolution>(env, exports, "logitConvolution");
}

} // namespace dualfocus

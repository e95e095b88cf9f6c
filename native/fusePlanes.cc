// Operations along the planes of a stack at inference: differences, focus probability, depth and its standard deviation.
#include "fuseHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"

/** readOut(probability, logits, distances | null, depth | null, spread | null): see Readout; the last three together. */
napi_value readOut(napi_env env, const Arguments& arguments) {
  const at::Tensor& probability = arguments.tensor(0, "probability");
  const at::Tensor& logits = arguments.tensor(1, "logits");
  checkF32(probability, logits, "probability");
  checkF32(logits, probability, "logits");
  if (probability.dim() != 4 || logits.dim() != 4 || logits.size(0) != probability.size(0) || logits.size(1) != probability.size(1) ||
      logits.numel() == 0)
    throw std::invalid_argument("logits: expected as many stacks and planes as probability has");
  Readout work{};
  work.logits = logits.data_ptr<float>();
  work.probability = probability.data_ptr<float>();
  const int64_t B = logits.size(0), N = logits.size(1);
  work.planes = static_cast<int>(N);
  work.fromHeight = static_cast<int>(logits.size(2)), work.fromWidth = static_cast<int>(logits.size(3));
  work.toHeight = static_cast<int>(probability.size(2)), work.toWidth = static_cast<int>(probability.size(3));
  work.pixels = B * work.toHeight * work.toWidth;
  if (arguments.has(2)) {
    const auto values = [&](size_t index, const char* name, int64_t count) {
      const at::Tensor& tensor = arguments.tensor(index, name);
      checkF32(tensor, probability, name);
      if (tensor.numel() != count) throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(count) + " values");
      return tensor.data_ptr<float>();
    };
    work.distances = values(2, "distances", B * N);
    work.depth = values(3, "depth", work.pixels);
    work.spread = values(4, "spread", work.pixels);
  }
  run(work, probability, work.pixels, launchReadout, [&](auto, int64_t i) { readOutPixel(work, i); });
  return makeUndefined(env);
}

/** planeDifference(to, firstChannel, from, negative, lastIsValue): see PlaneDifference. */
napi_value planeDifference(napi_env env, const Arguments& arguments) {
  const auto& [to, from, first] = intoOf(arguments);
  if (from.dim() != 5 || to.dim() != 5 || from.size(2) < 2) throw std::invalid_argument("from: expected a volume of two planes or more");
  for (const int64_t axis : {0, 2, 3, 4})
    if (from.size(axis) != to.size(axis)) throw std::invalid_argument("from: expected the sizes of to, except for the channels");
  PlaneDifference work{};
  work.from = from.data_ptr();
  work.to = to.data_ptr();
  work.area = from.size(3) * from.size(4);
  work.pixels = from.size(0) * from.size(2) * work.area;
  work.channels = static_cast<int>(from.size(1)), work.planes = static_cast<int>(from.size(2));
  work.toChannels = static_cast<int>(to.size(1)), work.first = static_cast<int>(first);
  work.negative = arguments.boolean(3, "negative");
  work.lastIsValue = arguments.boolean(4, "lastIsValue");
  run(work, to, from.numel(), launchPlaneDifference, [&](auto kind, int64_t i) { differencePack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

} // namespace

void registerFusePlanes(napi_env env, napi_value exports) {
  define<readOut>(env, exports, "readOut");
  define<planeDifference>(env, exports, "planeDifference");
}

} // namespace dualfocus

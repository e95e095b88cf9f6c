// Pooling and weighted sums at inference.
#include "fuseHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"

Maps poolingOf(const at::Tensor& to, const at::Tensor& from) {
  checkLayout(to, "to");
  checkLayout(from, "from");
  checkAlike(from, to, "from");
  if (to.dim() != 4 || from.dim() != 4 || to.size(0) != from.size(0) || to.size(1) != from.size(1))
    throw std::invalid_argument("to: expected as many images and channels as from");
  return mapsOf(from, to);
}

/** maxPool(to, from, side, stride, padding): see MaxPool. */
napi_value maxPool(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  MaxPool work{};
  static_cast<Maps&>(work) = poolingOf(to, arguments.tensor(1, "from"));
  work.side = static_cast<int>(arguments.integer(2, "side")), work.stride = static_cast<int>(arguments.integer(3, "stride"));
  work.padding = static_cast<int>(arguments.integer(4, "padding"));
  if (work.side < 1 || work.stride < 1 || work.padding < 0) throw std::invalid_argument("side, stride, padding: expected a window");
  const int64_t count = to.numel();
  run(work, to, count, launchMaxPool, [&](auto kind, int64_t i) { poolPack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

/** meanPool(to, from, [height, width], [down, across], [above, left]): see MeanPool. */
napi_value meanPool(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  const auto pair = [&](size_t index, const char* name, int64_t least) {
    const std::vector<int64_t> values = arguments.integers(index, name);
    if (values.size() != 2 || values[0] < least || values[1] < least)
      throw std::invalid_argument(std::string(name) + ": expected two numbers of at least " + std::to_string(least));
    return std::pair(static_cast<int>(values[0]), static_cast<int>(values[1]));
  };
  MeanPool work{};
  static_cast<Maps&>(work) = poolingOf(to, arguments.tensor(1, "from"));
  std::tie(work.height, work.width) = pair(2, "window", 1);
  std::tie(work.downStride, work.acrossStride) = pair(3, "stride", 1);
  std::tie(work.above, work.left) = pair(4, "padding", 0);
  const auto last = [](int length, int stride, int before) { return (length - 1) * stride - before; };
  if (work.above >= work.height || work.left >= work.width || last(work.toHeight, work.downStride, work.above) >= work.fromHeight ||
      last(work.toWidth, work.acrossStride, work.left) >= work.fromWidth)
    throw std::invalid_argument("window: every window must overlap from");
  run(work, to, to.numel(), launchMeanPool, [&](auto kind, int64_t i) { meanPack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

/** weightedSum(to, slope, weight, term, weight, term, …): see WeightedSum. */
napi_value weightedSum(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  checkLayout(to, "to");
  WeightedSum work{};
  work.to = to.data_ptr();
  work.slope = static_cast<float>(arguments.number(1, "slope"));
  work.count = to.numel();
  work.channels = static_cast<int>(to.size(1));
  work.area = work.count == 0 ? 1 : work.count / to.size(0) / work.channels;
  work.termCount = static_cast<int>((arguments.count() - 2) / 2);
  if (work.termCount > MOST_TERMS) throw std::invalid_argument("term: more than six terms");
  for (int i = 0; i < work.termCount; i++) {
    const at::Tensor& term = arguments.tensor(3 + 2 * i, "term");
    checkLayout(term, "term");
    checkAlike(term, to, "term");
    work.spread[i] = term.sizes() != to.sizes();
    if (work.spread[i] && (term.size(0) != to.size(0) || term.size(1) != to.size(1) || term.numel() * work.area != work.count))
      throw std::invalid_argument("term: expected the shape of to, or one value per image and channel");
    work.terms[i] = term.data_ptr();
    work.weights[i] = static_cast<float>(arguments.number(2 + 2 * i, "weight"));
  }
  run(work, to, work.count, launchWeightedSum, [&](auto kind, int64_t i) { sumPack<decltype(kind), 1>(work, i); });
  return makeUndefined(env);
}

} // namespace

void registerFusePool(napi_env env, napi_value exports) {
  define<maxPool>(env, exports, "maxPool");
  define<meanPool>(env, exports, "meanPool");
  define<weightedSum>(env, exports, "weightedSum");
}

} // namespace dualfocus

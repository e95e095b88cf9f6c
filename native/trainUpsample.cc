// The entry of trainUpsample.h: its operator for autograd, and its implementation for the CPU.
#include "trainUpsample.h"

#include "trainHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWide.h"
#include "trainUpsampleKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/** `from`: logits, scores, start. */
template <class W> ConvexUpsample<W> upsampleOf(const variable_list& from, const at::Tensor& to) {
  const at::Tensor& logits = from[0];
  return {logits.data_ptr<W>(), from[1].data_ptr(), from[2].data_ptr<W>(), to.data_ptr<W>(), logits.size(0),
          static_cast<int>(logits.size(1)), static_cast<int>(logits.size(2)), static_cast<int>(logits.size(3))};
}

/** Where the gradients go. */
struct Gradients {
  at::Tensor by, logits, scores, shares;
};

template <class W> ConvexGradient<W> gradientOf(const variable_list& from, const Gradients& to) {
  return {upsampleOf<W>(from, to.logits), to.by.data_ptr<W>(), to.scores.data_ptr(), to.shares.data_ptr<W>()};
}

/** Calls `once` for each pixel of the result, by stack, cell and place in the cell. */
template <class Work, class Once> void eachPixel(const Work& work, Once once) {
  for (int64_t stack = 0; stack < work.stacks; stack++)
    for (int cell = 0; cell < work.height * work.width; cell++)
      for (int sub = 0; sub < UP_PIXELS; sub++) once(stack, cell, sub);
}

template <class T> void differentiate(const ConvexGradient<Wide<T>>& work) {
  const int64_t area = static_cast<int64_t>(work.height) * work.width;
  std::fill_n(work.shares, work.stacks * work.planes * area * NEIGHBOURS, Wide<T>(0));
  eachPixel(work, [&](int64_t stack, int cell, int sub) {
    unupsamplePixel<T>(work, stack, cell, sub, true, [&](int n, int k, Wide<T> value) { work.shares[((stack * work.planes + n) * area + cell) * NEIGHBOURS + k] += value; });
  });
  for (int64_t map = 0; map < work.stacks * work.planes; map++)
    for (int cell = 0; cell < area; cell++) collectShares(work, map, cell);
}

struct ConvexFunction : torch::autograd::Function<ConvexFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& scores, const at::Tensor& start) {
    const variable_list from{logits.contiguous(), scores.contiguous(at::MemoryFormat::ChannelsLast), start.contiguous()};
    const at::Tensor to = at::empty({logits.size(0), logits.size(1), UP * logits.size(2), UP * logits.size(3)}, logits.options());
    runAs(
        scores,
        [&](auto kind) {
          using T = decltype(kind);
          const auto work = upsampleOf<Wide<T>>(from, to);
          eachPixel(work, [&](int64_t stack, int cell, int sub) { upsamplePixel<T>(work, stack, cell, sub); });
        },
        [&](Element element, void* stream) { return launchConvexUpsample(upsampleOf<float>(from, to), element, stream); });
    context->save_for_backward(from);
    return to;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list from = context->get_saved_variables();
    const at::Tensor &logits = from[0], &scores = from[1], &start = from[2];
    const at::Tensor shares = at::empty({logits.size(0), logits.size(1), logits.size(2), logits.size(3), NEIGHBOURS}, logits.options());
    const Gradients to{gradients[0].contiguous(), at::empty_like(logits), at::empty_like(scores), shares};
    runAs(
        scores, [&](auto kind) { differentiate<decltype(kind)>(gradientOf<Wide<decltype(kind)>>(from, to)); },
        [&](Element element, void* stream) { return launchConvexGradient(gradientOf<float>(from, to), element, stream); });
    return {to.logits, to.scores, to.scores.sum({0, 2, 3}, false, start.scalar_type()).view(start.sizes())};
  }
};

/** convexUpsample(logits, scores, start): logits [B, N, h, w] at four times their size, mixed by softmax_k of scores [B, 144, h, w] + start [144, 1, 1], with gradients. */
napi_value convexUpsample(napi_env env, const Arguments& arguments) {
  const at::Tensor &logits = arguments.tensor(0, "logits"), &scores = arguments.tensor(1, "scores"), &start = arguments.tensor(2, "start");
  checkType(scores, "scores");
  constexpr int64_t channels = NEIGHBOURS * UP_PIXELS;
  if (scores.dim() != 4 || scores.numel() == 0 || scores.size(1) != channels) throw std::invalid_argument("scores: expected [B, 144, h, w]");
  if (logits.dim() != 4 || logits.numel() == 0) throw std::invalid_argument("logits: expected [B, N, h, w]");
  checkWide(logits, scores, {scores.size(0), logits.size(1), scores.size(2), scores.size(3)}, "logits");
  checkWide(start, scores, {channels, 1, 1}, "start");
  if (logits.size(0) * logits.size(1) > 65535) throw std::invalid_argument("logits: expected at most 65535 maps");
  return wrap(env, ConvexFunction::apply(logits, scores, start));
}

} // namespace

void registerTrainUpsample(napi_env env, napi_value exports) { define<convexUpsample>(env, exports, "convexUpsample"); }

} // namespace dualfocus

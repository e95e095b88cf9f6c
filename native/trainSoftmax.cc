// The entry of trainSoftmax.h: its operator for autograd, and its implementation for the CPU.
#include "trainSoftmax.h"

#include "trainHost.h"
#include "trainWindow.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWindowKernel.h"
#include "trainSoftmaxKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/** On CUDA, launches the kernel; on the CPU, calls `once` for each stack. */
template <class Work, class Once> void runStacks(const Work& work, const at::Tensor& on, const char* (*launch)(const Work&, void*), Once once) {
  if (on.is_cpu()) {
    for (int64_t stack = 0; stack < work.stacks; stack++) once(stack);
    return;
  }
  launchOn(on, [&](void* stream) { return launch(work, stream); });
}

struct SoftmaxFunction : torch::autograd::Function<SoftmaxFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, int64_t height, int64_t width) {
    const at::Tensor logits = given.contiguous(), p = at::empty({logits.size(0), logits.size(1), height, width}, logits.options());
    const TrainSoftmax work{logits.data_ptr<float>(), p.data_ptr<float>(), logits.size(0), static_cast<int>(logits.size(1)), static_cast<int>(logits.size(2)),
                            static_cast<int>(logits.size(3)), static_cast<int>(height), static_cast<int>(width)};
    runStacks(work, p, launchTrainSoftmax, [&](int64_t stack) {
      for (int row = 0; row < work.height; row++)
        for (int column = 0; column < work.width; column++) softmaxPixel(work, stack, row, column);
    });
    context->save_for_backward({p});
    context->saved_data["height"] = logits.size(2);
    context->saved_data["width"] = logits.size(3);
    return p;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor p = context->get_saved_variables()[0], by = gradients[0].contiguous(), upsampled = at::empty_like(p);
    const at::Tensor to = at::empty({p.size(0), p.size(1), context->saved_data["height"].toInt(), context->saved_data["width"].toInt()}, p.options());
    const TrainSoftmaxGradient work{p.data_ptr<float>(), by.data_ptr<float>(), upsampled.data_ptr<float>(), to.data_ptr<float>(), p.size(0),
                                    static_cast<int>(p.size(1)), static_cast<int>(to.size(2)), static_cast<int>(to.size(3)),
                                    static_cast<int>(p.size(2)), static_cast<int>(p.size(3))};
    runStacks(work, p, launchTrainSoftmaxGradient, [&](int64_t stack) {
      for (int64_t at = 0; at < static_cast<int64_t>(work.height) * work.width; at++) unsoftmaxPixel(work, stack, at);
      for (int64_t map = stack * work.planes; map < (stack + 1) * work.planes; map++)
        for (int row = 0; row < work.toHeight; row++)
          for (int column = 0; column < work.toWidth; column++) unresizePixel(work, map, row, column);
    });
    const at::Tensor none;
    return {to, none, none};
  }
};

/** trainSoftmax(logits, height, width): logits [B, N, h, w] resized bilinearly, then softmax over N, with gradients. */
napi_value trainSoftmax(napi_env env, const Arguments& arguments) {
  const at::Tensor& logits = arguments.tensor(0, "logits");
  const int64_t height = arguments.integer(1, "height"), width = arguments.integer(2, "width");
  if (logits.scalar_type() != at::kFloat || logits.dim() != 4 || logits.numel() == 0) throw std::invalid_argument("logits: expected f32 [B, N, h, w]");
  if (logits.size(0) * logits.size(1) > 65535) throw std::invalid_argument("logits: expected at most 65535 maps");
  if (height < 1 || width < 1 || height > 32767 || width > 32767) throw std::invalid_argument("height: expected a size of 1 to 32767 pixels");
  return wrap(env, SoftmaxFunction::apply(logits, height, width));
}

} // namespace

#ifndef DUALFOCUS_NVCC
const char* launchTrainSoftmax(const TrainSoftmax&, void*) { return nullptr; }
const char* launchTrainSoftmaxGradient(const TrainSoftmaxGradient&, void*) { return nullptr; }
#endif

void registerTrainSoftmax(napi_env env, napi_value exports) { define<trainSoftmax>(env, exports, "trainSoftmax"); }

} // namespace dualfocus

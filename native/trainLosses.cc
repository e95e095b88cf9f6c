// The entry of trainLosses.h: its operator for autograd, and its implementation for the CPU.
#include "trainLosses.h"

#include "trainHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainLossesKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LossOptions {
  double beta, floor, slope;
};

/** p [B, N, H, W], f [B, N], D* and valid [B, 1, H, W], all row-major. */
template <class T> PlaneLosses<T> lossesOf(const variable_list& maps, const LossOptions& options) {
  const at::Tensor &p = maps[0], &focus = maps[1], &depth = maps[2], &valid = maps[3];
  PlaneLosses<T> work{};
  work.probability = p.data_ptr<T>(), work.focus = focus.data_ptr<T>(), work.depth = depth.data_ptr<T>(), work.valid = valid.data_ptr<T>();
  work.stacks = p.size(0), work.planes = static_cast<int>(p.size(1)), work.area = p.size(2) * p.size(3);
  work.beta = static_cast<T>(options.beta), work.floor = static_cast<T>(options.floor), work.slope = static_cast<T>(options.slope);
  return work;
}

template <class T> at::Tensor sumOnCpu(const variable_list& maps, const LossOptions& options) {
  const PlaneLosses<T> work = lossesOf<T>(maps, options);
  double sums[LOSS_SUMS] = {};
  for (int64_t stack = 0; stack < work.stacks; stack++)
    for (int64_t at = 0; at < work.area; at++) addLosses(work, stack, at, sums);
  const at::Tensor result = at::empty({LOSS_SUMS}, maps[0].options());
  std::copy(sums, sums + LOSS_SUMS, result.data_ptr<T>());
  return result;
}

template <class T> PlaneLossGradient<T> gradientOf(const variable_list& maps, const LossOptions& options, const at::Tensor& by, const at::Tensor& sums, const at::Tensor& to) {
  return {lossesOf<T>(maps, options), by.data_ptr<T>(), sums.data_ptr<T>(), to.data_ptr<T>()};
}

template <class T> void writeOnCpu(const PlaneLossGradient<T>& work) {
  for (int64_t stack = 0; stack < work.losses.stacks; stack++)
    for (int64_t at = 0; at < work.losses.area; at++) writeLossGradient(work, stack, at);
}

at::Tensor sumsOf(const variable_list& maps, const LossOptions& options) {
  const at::Tensor& p = maps[0];
  if (p.is_cpu()) return p.scalar_type() == at::kDouble ? sumOnCpu<double>(maps, options) : sumOnCpu<float>(maps, options);
  at::Tensor groups;
  launchOn(p, [&](void* stream) {
    const PlaneLosses<float> work = lossesOf<float>(maps, options);
    groups = at::empty({lossGroups(work.stacks, work.area), LOSS_SUMS}, p.options());
    return launchPlaneLosses(work, groups.data_ptr<float>(), stream);
  });
  return groups.sum(0);
}

void writeGradient(const variable_list& maps, const LossOptions& options, const at::Tensor& by, const at::Tensor& sums, const at::Tensor& to) {
  if (to.is_cpu()) {
    if (to.scalar_type() == at::kDouble) return writeOnCpu(gradientOf<double>(maps, options, by, sums, to));
    return writeOnCpu(gradientOf<float>(maps, options, by, sums, to));
  }
  launchOn(to, [&](void* stream) { return launchPlaneLossGradient(gradientOf<float>(maps, options, by, sums, to), stream); });
}

struct LossFunction : torch::autograd::Function<LossFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& p, const at::Tensor& focus, const at::Tensor& depth, const at::Tensor& valid,
                            double beta, double floor, double slope) {
    const variable_list maps{p.contiguous(), focus.contiguous(), depth.contiguous(), valid.contiguous()};
    const at::Tensor sums = sumsOf(maps, {beta, floor, slope});
    context->save_for_backward({maps[0], maps[1], maps[2], maps[3], sums});
    context->saved_data["beta"] = beta;
    context->saved_data["floor"] = floor;
    context->saved_data["slope"] = slope;
    return sums.narrow(0, 0, LOSS_SUMS - 1) / sums.narrow(0, LOSS_SUMS - 1, 1).clamp_min(1);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const LossOptions options{context->saved_data["beta"].toDouble(), context->saved_data["floor"].toDouble(), context->saved_data["slope"].toDouble()};
    const at::Tensor to = at::empty_like(saved[0]);
    writeGradient(saved, options, gradients[0].contiguous(), saved[4], to);
    const at::Tensor none;
    return {to, none, none, none, none, none, none};
  }
};

/** planeLosses(p, focusDistances, trueDepth, valid, beta, floor, slope): [L_depth, L_fv, trend], means over the valid pixels, differentiable by p. */
napi_value planeLosses(napi_env env, const Arguments& arguments) {
  const at::Tensor &p = arguments.tensor(0, "p"), &focus = arguments.tensor(1, "focusDistances");
  const at::Tensor &depth = arguments.tensor(2, "trueDepth"), &valid = arguments.tensor(3, "valid");
  const bool known = p.scalar_type() == at::kFloat || (p.scalar_type() == at::kDouble && p.is_cpu());
  if (!known || p.dim() != 4 || p.numel() == 0 || p.size(0) > 65535) throw std::invalid_argument("p: expected f32 [B, N, H, W] (or f64 on the CPU)");
  checkAlike(focus, p, "focusDistances");
  checkAlike(depth, p, "trueDepth");
  checkAlike(valid, p, "valid");
  if (focus.sizes() != p.sizes().slice(0, 2)) throw std::invalid_argument("focusDistances: expected one for each plane, [B, N]");
  const std::vector<int64_t> map{p.size(0), 1, p.size(2), p.size(3)};
  if (depth.sizes() != at::IntArrayRef(map)) throw std::invalid_argument("trueDepth: expected [B, 1, H, W]");
  if (valid.sizes() != at::IntArrayRef(map)) throw std::invalid_argument("valid: expected [B, 1, H, W]");
  return wrap(env, LossFunction::apply(p, focus, depth, valid, arguments.number(4, "beta"), arguments.number(5, "floor"), arguments.number(6, "slope")));
}

} // namespace

#ifndef DUALFOCUS_NVCC
int64_t lossGroups(int64_t, int64_t) { return 0; }
const char* launchPlaneLosses(const PlaneLosses<float>&, float*, void*) { return nullptr; }
const char* launchPlaneLossGradient(const PlaneLossGradient<float>&, void*) { return nullptr; }
#endif

void registerTrainLosses(napi_env env, napi_value exports) { define<planeLosses>(env, exports, "planeLosses"); }

} // namespace dualfocus

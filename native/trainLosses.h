// L_depth, L_fv (eq. 7) and the trend loss (src/losses) of every pixel from p, in one pass each for the values and the gradient.
#pragma once

#include "fuse.h"

namespace dualfocus {

/** What the losses depend on, B stacks of N planes; T is float or, on the CPU, double. */
template <class T> struct PlaneLosses {
  const T* probability; // p, [B, N, area]
  const T* focus;       // f, [B, N]
  const T* depth;       // D*, [B, area]
  const T* valid;       // [B, area]
  int64_t stacks, area;
  int planes;
  T beta, floor, slope;
};

/** Sums over the pixels: v·L_depth, v·L_fv, v·trend, and v itself. */
constexpr int LOSS_SUMS = 4;

/** The gradient of the means by p, each mean's own gradient given. */
template <class T> struct PlaneLossGradient {
  PlaneLosses<T> losses;
  const T* by;   // [3]
  const T* sums; // [4]
  T* to;         // as p
};

/** Groups of pixels that are added up on their own, so that the sum does not depend on the order in which they finish. */
int64_t lossGroups(int64_t stacks, int64_t area);

/** `groups`: [lossGroups, 4]. */
const char* launchPlaneLosses(const PlaneLosses<float>& work, float* groups, void* stream);
const char* launchPlaneLossGradient(const PlaneLossGradient<float>& work, void* stream);

} // namespace dualfocus

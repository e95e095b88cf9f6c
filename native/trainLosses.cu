// The CUDA kernels of trainLosses.h: a thread takes a pixel for the gradient, a few for the sums.
#include "trainLosses.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainLossesKernel.h"

constexpr int PIXELS = 4 * THREADS; // to a group

__global__ void __launch_bounds__(THREADS) sumLosses(const PlaneLosses<float> work, float* groups) {
  float sums[LOSS_SUMS] = {};
  const int64_t first = static_cast<int64_t>(blockIdx.x) * PIXELS;
  for (int64_t at = first + threadIdx.x; at < first + PIXELS && at < work.area; at += THREADS) addLosses(work, blockIdx.y, at, sums);
  sumOverBlock<LOSS_SUMS>(sums, groups + (static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * LOSS_SUMS);
}

__global__ void __launch_bounds__(THREADS) writeLossGradients(const PlaneLossGradient<float> work) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (at < work.losses.area) writeLossGradient(work, blockIdx.y, at);
}

unsigned groupsOfStack(int64_t area) { return static_cast<unsigned>((area + PIXELS - 1) / PIXELS); }

} // namespace

int64_t lossGroups(int64_t stacks, int64_t area) { return stacks * groupsOfStack(area); }

const char* launchPlaneLosses(const PlaneLosses<float>& work, float* groups, void* stream) {
  const dim3 grid(groupsOfStack(work.area), static_cast<unsigned>(work.stacks));
  sumLosses<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work, groups);
  return failure();
}

const char* launchPlaneLossGradient(const PlaneLossGradient<float>& work, void* stream) {
  const dim3 grid(blocksFor(work.losses.area), static_cast<unsigned>(work.losses.stacks));
  writeLossGradients<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work);
  return failure();
}

} // namespace dualfocus

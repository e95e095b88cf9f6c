// The CUDA kernels of trainSoftmax.h: a thread takes a pixel of all planes, or a logit.
#include "trainSoftmax.h"

#include "launch.h"
#include "trainWindow.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWindowKernel.h"
#include "trainSoftmaxKernel.h"

__global__ void __launch_bounds__(THREADS) softmaxAll(const TrainSoftmax work) {
  const int at = blockIdx.x * THREADS + threadIdx.x;
  if (at < work.height * work.width) softmaxPixel(work, blockIdx.y, at / work.width, at % work.width);
}

__global__ void __launch_bounds__(THREADS) unsoftmaxAll(const TrainSoftmaxGradient work) {
  const int at = blockIdx.x * THREADS + threadIdx.x;
  if (at < work.height * work.width) unsoftmaxPixel(work, blockIdx.y, at);
}

__global__ void __launch_bounds__(THREADS) unresizeAll(const TrainSoftmaxGradient work) {
  const int at = blockIdx.x * THREADS + threadIdx.x;
  if (at < work.toHeight * work.toWidth) unresizePixel(work, blockIdx.y, at / work.toWidth, at % work.toWidth);
}

} // namespace

const char* launchTrainSoftmax(const TrainSoftmax& work, void* stream) {
  const dim3 grid(blocksFor(static_cast<int64_t>(work.height) * work.width), static_cast<unsigned>(work.stacks));
  softmaxAll<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work);
  return failure();
}

const char* launchTrainSoftmaxGradient(const TrainSoftmaxGradient& work, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const auto stacks = static_cast<unsigned>(work.stacks);
  unsoftmaxAll<<<dim3(blocksFor(static_cast<int64_t>(work.height) * work.width), stacks), THREADS, 0, on>>>(work);
  unresizeAll<<<dim3(blocksFor(static_cast<int64_t>(work.toHeight) * work.toWidth), stacks * work.planes), THREADS, 0, on>>>(work);
  return failure();
}

} // namespace dualfocus

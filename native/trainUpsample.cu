// The CUDA kernels of trainUpsample.h: a thread takes a pixel of all planes, 16 neighbouring threads a cell; or a thread takes a logit.
#include "trainUpsample.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWide.h"
#include "trainUpsampleKernel.h"

constexpr int CELLS = THREADS / UP_PIXELS; // of a block

template <class T> __global__ void __launch_bounds__(THREADS) upsampleAll(const ConvexUpsample<float> work) {
  const int cell = blockIdx.x * CELLS + threadIdx.x / UP_PIXELS;
  if (cell < work.height * work.width) upsamplePixel<T>(work, blockIdx.y, cell, threadIdx.x % UP_PIXELS);
}

/** All threads stay, as those of a cell add up their shares together; those beyond the last cell read it and write nothing. */
template <class T> __global__ void __launch_bounds__(THREADS) unupsampleAll(const ConvexGradient<float> work) {
  const int area = work.height * work.width, given = blockIdx.x * CELLS + threadIdx.x / UP_PIXELS, sub = threadIdx.x % UP_PIXELS;
  const bool inside = given < area;
  const int cell = inside ? given : area - 1;
  unupsamplePixel<T>(work, blockIdx.y, cell, sub, inside, [&](int n, int k, float value) {
    for (int step = UP_PIXELS / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step, UP_PIXELS);
    if (inside && sub == k) work.shares[((static_cast<int64_t>(blockIdx.y) * work.planes + n) * area + cell) * NEIGHBOURS + k] = value;
  });
}

__global__ void __launch_bounds__(THREADS) collectAll(const ConvexGradient<float> work) {
  const int cell = blockIdx.x * THREADS + threadIdx.x;
  if (cell < work.height * work.width) collectShares(work, blockIdx.y, cell);
}

dim3 gridOf(const ConvexUpsample<float>& work) {
  return dim3(static_cast<unsigned>((work.height * work.width + CELLS - 1) / CELLS), static_cast<unsigned>(work.stacks));
}

} // namespace

const char* launchConvexUpsample(const ConvexUpsample<float>& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) { upsampleAll<decltype(kind)><<<gridOf(work), THREADS, 0, on>>>(work); });
}

const char* launchConvexGradient(const ConvexGradient<float>& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    unupsampleAll<decltype(kind)><<<gridOf(work), THREADS, 0, on>>>(work);
    const dim3 maps(blocksFor(static_cast<int64_t>(work.height) * work.width), static_cast<unsigned>(work.stacks * work.planes));
    collectAll<<<maps, THREADS, 0, on>>>(work);
  });
}

} // namespace dualfocus

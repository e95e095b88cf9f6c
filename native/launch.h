// Shared by the .cu files: the size of their blocks, and the choice of a kernel by the type of the elements.
#pragma once

#include "fuse.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace dualfocus {

constexpr int THREADS = 256;

/** Blocks of THREADS for `count` threads. */
inline unsigned blocksFor(int64_t count) { return static_cast<unsigned>((count + THREADS - 1) / THREADS); }

constexpr int WARP = 32;

/** Adds up `count` values of every thread of a block, in a fixed order; `to` holds the sums. All threads must come here. */
template <int count> __device__ void sumOverBlock(float* values, float* to) {
  __shared__ float perWarp[THREADS / WARP][count];
#pragma unroll
  for (int k = 0; k < count; k++) {
    for (int step = WARP / 2; step > 0; step /= 2) values[k] += __shfl_down_sync(0xffffffffu, values[k], step);
    if (threadIdx.x % WARP == 0) perWarp[threadIdx.x / WARP][k] = values[k];
  }
  __syncthreads();
  if (threadIdx.x >= count) return;
  float sum = 0;
  for (int warp = 0; warp < THREADS / WARP; warp++) sum += perWarp[warp][threadIdx.x];
  to[threadIdx.x] = sum;
}

/** Why the kernels queued last could not be launched; null if they were. */
inline const char* failure() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/** Calls `queue` with a value of the element type and the stream. */
template <class Queue> const char* launchAs(Element element, void* stream, Queue queue) {
  const auto on = static_cast<cudaStream_t>(stream);
  switch (element) {
  case Element::f32:
    queue(float{}, on);
    break;
  case Element::f16:
    queue(__half{}, on);
    break;
  case Element::bf16:
    queue(__nv_bfloat16{}, on);
    break;
  }
  return failure();
}

} // namespace dualfocus

// The CUDA host of gather.h: a thread takes a pixel of a plane.
#include "gather.h"

#include <cuda_runtime.h>

namespace dualfocus {

namespace {

constexpr int THREADS = 256;

__global__ void gatherAll(const Gather work) {
  const int64_t pixel = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pixel < work.pixels) gatherPixel(work, pixel);
}

} // namespace

const char* launchGather(const Gather& work, void* stream) {
  gatherAll<<<static_cast<unsigned>((work.pixels + THREADS - 1) / THREADS), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work);
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

} // namespace dualfocus

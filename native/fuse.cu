// The CUDA host of fuse.h: a thread takes as many neighbouring channels as make 16 bytes, where they divide.
#include "fuse.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace dualfocus {

namespace {

#include "fuseKernel.h"

constexpr int THREADS = 256;

template <class T, int width> __global__ void finishAll(const Epilogue work) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack * width < work.count) finishPack<T, width>(work, pack);
}

template <class T, int width> __global__ void resampleAll(const Resample work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) resamplePack<T, width>(work, pack);
}

unsigned blocks(int64_t packs) { return static_cast<unsigned>((packs + THREADS - 1) / THREADS); }

template <class T, int width> void queue(const Epilogue& work, cudaStream_t stream) {
  finishAll<T, width><<<blocks(work.count / width), THREADS, 0, stream>>>(work);
}

template <class T, int width> void queue(const Resample& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  resampleAll<T, width><<<blocks(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, class Work> void queueWidest(const Work& work, int divisor, cudaStream_t stream) {
  constexpr int wide = 16 / sizeof(T);
  if (divisor % wide == 0) queue<T, wide>(work, stream);
  else queue<T, 1>(work, stream);
}

template <class Work> const char* launch(const Work& work, int divisor, Element element, void* stream) {
  const auto queueOn = static_cast<cudaStream_t>(stream);
  switch (element) {
  case Element::f32:
    queueWidest<float>(work, divisor, queueOn);
    break;
  case Element::f16:
    queueWidest<__half>(work, divisor, queueOn);
    break;
  case Element::bf16:
    queueWidest<__nv_bfloat16>(work, divisor, queueOn);
    break;
  }
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

int commonDivisor(int a, int b) { return b == 0 ? a : commonDivisor(b, a % b); }

} // namespace

const char* launchEpilogue(const Epilogue& work, Element element, void* stream) {
  return launch(work, work.channels, element, stream);
}

const char* launchResample(const Resample& work, Element element, void* stream) {
  return launch(work, commonDivisor(commonDivisor(work.channels, work.toChannels), work.first), element, stream);
}

} // namespace dualfocus

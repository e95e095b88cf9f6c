// The CUDA kernels of trainPool.h: a thread handles 16 bytes of neighbouring channels.
#include "trainPool.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainPoolKernel.h"

constexpr int THREADS = 256;

template <class T, int width> __global__ void placeAll(const TrainPool work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) placePack<T, width>(work, pack);
}

template <class T, int width> __global__ void unplaceAll(const TrainPoolGradient work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) unplacePack<T, width>(work, pack);
}

template <class T, int width> void queue(const TrainPool& work, int64_t packs, unsigned blocks, cudaStream_t stream) {
  placeAll<T, width><<<blocks, THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const TrainPoolGradient& work, int64_t packs, unsigned blocks, cudaStream_t stream) {
  unplaceAll<T, width><<<blocks, THREADS, 0, stream>>>(work, packs);
}

template <class T, class Work> void queueAll(const Work& work, cudaStream_t stream) {
  constexpr int width = 16 / sizeof(T);
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  queue<T, width>(work, packs, static_cast<unsigned>((packs + THREADS - 1) / THREADS), stream);
}

template <class Work> const char* launch(const Work& work, Element element, void* stream) {
  const auto queueOn = static_cast<cudaStream_t>(stream);
  switch (element) {
  case Element::f32:
    queueAll<float>(work, queueOn);
    break;
  case Element::f16:
    queueAll<__half>(work, queueOn);
    break;
  case Element::bf16:
    queueAll<__nv_bfloat16>(work, queueOn);
    break;
  }
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

} // namespace

const char* launchTrainPool(const TrainPool& work, Element element, void* stream) { return launch(work, element, stream); }
const char* launchTrainPoolGradient(const TrainPoolGradient& work, Element element, void* stream) { return launch(work, element, stream); }

} // namespace dualfocus

// The CUDA kernels of trainPool.h: a thread handles 16 bytes of neighbouring channels.
#include "trainPool.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainPoolKernel.h"

template <class T, int width> __global__ void placeAll(const TrainPool work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) placePack<T, width>(work, pack);
}

template <class T, int width> __global__ void unplaceAll(const TrainPoolGradient work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) unplacePack<T, width>(work, pack);
}

template <class T, int width> void queue(const TrainPool& work, int64_t packs, cudaStream_t stream) {
  placeAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const TrainPoolGradient& work, int64_t packs, cudaStream_t stream) {
  unplaceAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, class Work> void queueAll(const Work& work, cudaStream_t stream) {
  constexpr int width = 16 / sizeof(T);
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  queue<T, width>(work, packs, stream);
}

template <class Work> const char* launch(const Work& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) { queueAll<decltype(kind)>(work, on); });
}

} // namespace

const char* launchTrainPool(const TrainPool& work, Element element, void* stream) { return launch(work, element, stream); }
const char* launchTrainPoolGradient(const TrainPoolGradient& work, Element element, void* stream) { return launch(work, element, stream); }

} // namespace dualfocus

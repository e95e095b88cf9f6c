// The CUDA kernel of trainWindow.h: a thread handles 16 bytes of neighbouring channels of one tap.
#include "trainWindow.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWindowKernel.h"

template <class T, int width> __global__ void unwindowAll(const WindowGradient work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) unwindowPack<T, width>(work, pack);
}

template <class T, int width> void queue(const WindowGradient& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * 9 * (work.channels / width);
  unwindowAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T> void queueWidest(const WindowGradient& work, cudaStream_t stream) {
  constexpr int wide = 16 / sizeof(T);
  if (work.channels % wide == 0) queue<T, wide>(work, stream);
  else queue<T, 1>(work, stream);
}

} // namespace

const char* launchWindowGradient(const WindowGradient& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) { queueWidest<decltype(kind)>(work, on); });
}

} // namespace dualfocus

// The CUDA kernels of trainPlanes.h: a thread handles 16 bytes of neighbouring channels on all planes, or all channels of one pixel of a plane.
#include "trainPlanes.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWide.h"
#include "trainPlanesKernel.h"

template <class T, int width> __device__ void handle(const PlanePool& work, int64_t item) { poolPlanes<T, width>(work, item); }
template <class T, int width> __device__ void handle(const PlanePoolGradient& work, int64_t item) { unpoolPlanes<T, width>(work, item); }
template <class T, int width> __device__ void handle(const PlaneSpread& work, int64_t item) { spreadPlanes<T, width>(work, item); }
template <class T, int width> __device__ void handle(const PlaneSum& work, int64_t item) { sumPlanes<T, width>(work, item); }
template <class T, int width> __device__ void handle(const InFocus<float>& work, int64_t item) { sumInFocus<T, width>(work, item); }
template <class T, int width> __device__ void handle(const InFocusGradient<float>& work, int64_t item) { unsumInFocus<T, width>(work, item); }

template <class T, int width, class Work> __global__ void __launch_bounds__(THREADS) handleAll(const Work work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) handle<T, width>(work, item);
}

/** `count` gives the number of threads for packs of so many channels. */
template <class Work, class Count> const char* launch(const Work& work, Element element, void* stream, Count count) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    constexpr int width = 16 / sizeof(T);
    const int64_t items = count(width);
    handleAll<T, width><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

/** A thread for each pack of maps of so many channels. */
template <class Work> const char* launchPacks(const Work& work, int channels, Element element, void* stream) {
  return launch(work, element, stream, [&](int width) { return work.stacks * work.area * (channels / width); });
}

} // namespace

const char* launchPlanePool(const PlanePool& work, Element element, void* stream) { return launchPacks(work, work.channels, element, stream); }
const char* launchPlanePoolGradient(const PlanePoolGradient& work, Element element, void* stream) { return launchPacks(work, work.channels, element, stream); }
const char* launchPlaneSpread(const PlaneSpread& work, Element element, void* stream) { return launchPacks(work, work.channels, element, stream); }
const char* launchPlaneSum(const PlaneSum& work, Element element, void* stream) { return launchPacks(work, work.channels, element, stream); }

const char* launchInFocus(const InFocus<float>& work, Element element, void* stream) {
  return launchPacks(work, work.channels + CELL_CHANNELS, element, stream);
}

const char* launchInFocusGradient(const InFocusGradient<float>& work, Element element, void* stream) {
  return launch(work, element, stream, [&](int) { return work.stacks * work.planes * work.area; });
}

} // namespace dualfocus

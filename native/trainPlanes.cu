// The CUDA kernels of trainPlanes.h: a thread handles 16 bytes of neighbouring channels on all planes, or all channels of one pixel of a plane.
#include "trainPlanes.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWide.h"
#include "trainPlanesKernel.h"

template <class T, int width> __global__ void __launch_bounds__(THREADS) poolAll(const PlanePool work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) poolPlanes<T, width>(work, item);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) unpoolAll(const PlanePoolGradient work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) unpoolPlanes<T, width>(work, item);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) spreadAll(const PlaneSpread work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) spreadPlanes<T, width>(work, item);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) sumAll(const PlaneSum work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) sumPlanes<T, width>(work, item);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) sumInFocusAll(const InFocus<float> work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) sumInFocus<T, width>(work, item);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) unsumInFocusAll(const InFocusGradient<float> work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) unsumInFocus<T, width>(work, item);
}

/** Packs of 16 bytes in maps of so many channels. */
template <class T> int64_t packsOf(const PlaneSizes& sizes, int channels) { return sizes.stacks * sizes.area * (channels / (16 / static_cast<int64_t>(sizeof(T)))); }

} // namespace

const char* launchPlanePool(const PlanePool& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    const int64_t items = packsOf<T>(work, work.channels);
    poolAll<T, 16 / sizeof(T)><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

const char* launchPlanePoolGradient(const PlanePoolGradient& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    const int64_t items = packsOf<T>(work, work.channels);
    unpoolAll<T, 16 / sizeof(T)><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

const char* launchPlaneSpread(const PlaneSpread& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    const int64_t items = packsOf<T>(work, work.channels);
    spreadAll<T, 16 / sizeof(T)><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

const char* launchPlaneSum(const PlaneSum& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    const int64_t items = packsOf<T>(work, work.channels);
    sumAll<T, 16 / sizeof(T)><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

const char* launchInFocus(const InFocus<float>& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    const int64_t items = packsOf<T>(work, work.channels + CELL_CHANNELS);
    sumInFocusAll<T, 16 / sizeof(T)><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

const char* launchInFocusGradient(const InFocusGradient<float>& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) {
    using T = decltype(kind);
    const int64_t items = work.stacks * work.planes * work.area;
    unsumInFocusAll<T, 16 / sizeof(T)><<<blocksFor(items), THREADS, 0, on>>>(work, items);
  });
}

} // namespace dualfocus

// The CUDA kernels of fuse.h: a thread handles 16 bytes of neighbouring channels where the channel count divides evenly, else one channel.
#include "fuse.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"

template <class T, int width> __global__ void finishAll(const Epilogue work) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack * width < work.count) finishPack<T, width>(work, pack);
}

template <class T, int width> __global__ void resampleAll(const Resample work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) resamplePack<T, width>(work, pack);
}

template <class T, int width> __global__ void windowAll(const WindowSum work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) windowPack<T, width>(work, pack);
}

template <class T, class From, int width> __global__ void gatherAll(const Blocks work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) gatherPack<T, From, width>(work, pack);
}

template <class T, int width> __global__ void poolAll(const MaxPool work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) poolPack<T, width>(work, pack);
}

template <class T, int width> __global__ void meanAll(const MeanPool work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) meanPack<T, width>(work, pack);
}

template <class T, int width> __global__ void sumAll(const WeightedSum work) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack * width < work.count) sumPack<T, width>(work, pack);
}

/** Neighbouring threads take the channels of one strip of outputs; `team` of them (a power of two) add their parts up. */
template <class T, int width> __global__ void logitAll(const Logit work, int64_t strips, int team) {
  extern __shared__ float weight[];
  for (int i = threadIdx.x; i < 27 * work.channels; i += THREADS) weight[i] = work.weight[i];
  __syncthreads();
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  const int64_t strip = thread / team;
  const int member = static_cast<int>(thread % team);
  const int64_t start = strip < strips ? stripStart(work, strip) : 0;
  float sums[LOGIT_STRIP] = {};
  if (strip < strips)
    for (int channel = member * width; channel < work.channels; channel += team * width) addLogits<T, width>(work, weight, start, channel, sums);
  for (int i = 0; i < LOGIT_STRIP; i++)
    for (int step = team / 2; step > 0; step /= 2) sums[i] += __shfl_down_sync(0xffffffffu, sums[i], step, team);
  if (member != 0 || strip >= strips) return;
  const int left = work.width - static_cast<int>(start % work.width);
  for (int i = 0; i < LOGIT_STRIP; i++)
    if (i < left) work.to[start + i] = sums[i] + work.bias[0];
}

template <class T, int width> __global__ void differenceAll(const PlaneDifference work, int64_t packs) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pack < packs) differencePack<T, width>(work, pack);
}

__global__ void readOutAll(const Readout work) {
  const int64_t pixel = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (pixel < work.pixels) readOutPixel(work, pixel);
}

template <class T, int width> void queue(const Epilogue& work, cudaStream_t stream) {
  finishAll<T, width><<<blocksFor(work.count / width), THREADS, 0, stream>>>(work);
}

template <class T, int width> void queue(const Resample& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  resampleAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const WindowSum& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  windowAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const Blocks& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.toChannels / width);
  if (work.bytes) gatherAll<T, uint8_t, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
  else gatherAll<T, float, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const MaxPool& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  poolAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const MeanPool& work, cudaStream_t stream) {
  const int64_t packs = work.pictures * work.toHeight * work.toWidth * (work.channels / width);
  meanAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const WeightedSum& work, cudaStream_t stream) {
  sumAll<T, width><<<blocksFor(work.count / width), THREADS, 0, stream>>>(work);
}

template <class T, int width> void queue(const PlaneDifference& work, cudaStream_t stream) {
  const int64_t packs = work.pixels * (work.channels / width);
  differenceAll<T, width><<<blocksFor(packs), THREADS, 0, stream>>>(work, packs);
}

template <class T, int width> void queue(const Logit& work, cudaStream_t stream) {
  int team = 1;
  while (team < 8 && team * width < work.channels) team *= 2;
  const int64_t strips = work.count / work.width * ((work.width + LOGIT_STRIP - 1) / LOGIT_STRIP);
  logitAll<T, width><<<blocksFor(strips * team), THREADS, 27 * work.channels * sizeof(float), stream>>>(work, strips, team);
}

template <class T, class Work> void queueWidest(const Work& work, int divisor, cudaStream_t stream) {
  constexpr int wide = 16 / sizeof(T);
  if (divisor % wide == 0) queue<T, wide>(work, stream);
  else queue<T, 1>(work, stream);
}

template <class Work> const char* launch(const Work& work, int divisor, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) { queueWidest<decltype(kind)>(work, divisor, on); });
}

int commonDivisor(int a, int b) { return b == 0 ? a : commonDivisor(b, a % b); }

} // namespace

const char* launchEpilogue(const Epilogue& work, Element element, void* stream) {
  return launch(work, commonDivisor(commonDivisor(work.channels, work.toChannels), work.first), element, stream);
}

const char* launchResample(const Resample& work, Element element, void* stream) {
  return launch(work, commonDivisor(commonDivisor(work.channels, work.toChannels), work.first), element, stream);
}

const char* launchWindowSum(const WindowSum& work, Element element, void* stream) {
  return launch(work, commonDivisor(commonDivisor(work.channels, work.toChannels), work.first), element, stream);
}

const char* launchBlocks(const Blocks& work, Element element, void* stream) { return launch(work, work.toChannels, element, stream); }

const char* launchMaxPool(const MaxPool& work, Element element, void* stream) { return launch(work, work.channels, element, stream); }

const char* launchMeanPool(const MeanPool& work, Element element, void* stream) { return launch(work, work.channels, element, stream); }

const char* launchWeightedSum(const WeightedSum& work, Element element, void* stream) {
  return launch(work, work.channels, element, stream);
}

const char* launchLogit(const Logit& work, Element element, void* stream) { return launch(work, work.channels, element, stream); }

const char* launchPlaneDifference(const PlaneDifference& work, Element element, void* stream) {
  return launch(work, commonDivisor(commonDivisor(work.channels, work.toChannels), work.first), element, stream);
}

const char* launchReadout(const Readout& work, Element, void* stream) {
  readOutAll<<<blocksFor(work.pixels), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work);
  return failure();
}

} // namespace dualfocus

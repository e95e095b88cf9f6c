// The CUDA kernels of norm.h. A thread keeps to one pack of channels, 16 bytes, and takes pixel after pixel.
#include "norm.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "normKernel.h"

constexpr int LANES = 32, GROUPS = 8;

template <class T> constexpr int WIDTH = 16 / sizeof(T);

/** Where a thread works: its pack's first channel, its first pixel, and how many pixels all blocks take at a time. */
struct Share {
  int channel;
  int64_t pixel, step;
  bool idle;
};

template <int width> __device__ Share shareOf(int channels) {
  const int packs = channels / width, members = THREADS / packs, member = threadIdx.x / packs;
  return {static_cast<int>(threadIdx.x) % packs * width, static_cast<int64_t>(blockIdx.x) * members + member,
          static_cast<int64_t>(gridDim.x) * members, member >= members};
}

/** Adds up two values of every channel over the block's threads and writes them to this block's partial sums. */
template <int width> __device__ void sumBlock(const float* first, const float* second, int channels, float* partials) {
  __shared__ float shared[2][THREADS * width];
  const int members = THREADS / (channels / width);
  for (int i = 0; i < width; i++) {
    const int at = threadIdx.x * width + i; // member · channels + channel
    shared[0][at] = first[i];
    shared[1][at] = second[i];
  }
  __syncthreads();
  for (int value = threadIdx.x; value < 2 * channels; value += THREADS) {
    const int which = value / channels, channel = value % channels;
    float sum = 0;
    for (int member = 0; member < members; member++) sum += shared[which][member * channels + channel];
    partials[static_cast<int64_t>(blockIdx.x) * 2 * channels + value] = sum;
  }
}

/** Adds up the partial sums of a channel; the thread of group 0 gets them. */
__device__ void sumPartials(const float* partials, int channel, int channels, int blocks, double* sums) {
  __shared__ double shared[2][GROUPS][LANES];
  double own[2] = {0, 0};
  if (channel < channels)
    for (int block = threadIdx.y; block < blocks; block += GROUPS)
      for (int which = 0; which < 2; which++) own[which] += partials[(static_cast<int64_t>(block) * 2 + which) * channels + channel];
  for (int which = 0; which < 2; which++) shared[which][threadIdx.y][threadIdx.x] = own[which];
  __syncthreads();
  for (int which = 0; which < 2; which++) {
    sums[which] = 0;
    for (int group = 0; group < GROUPS; group++) sums[which] += shared[which][group][threadIdx.x];
  }
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) momentsAll(const Norm work) {
  const Share share = shareOf<width>(work.channels);
  float first[width], sums[width] = {}, squares[width] = {};
  const auto start = readPack<T, width>(work.x, 0, share.channel);
  for (int i = 0; i < width; i++) first[i] = static_cast<float>(start.values[i]);
  if (!share.idle)
#pragma unroll 4
    for (int64_t pixel = share.pixel; pixel < work.pixels; pixel += share.step) addMoments<T, width>(work, pixel, share.channel, first, sums, squares);
  sumBlock<width>(sums, squares, work.channels, work.partials);
}

template <class T> __global__ void momentsEnd(const Norm work) {
  const int channel = blockIdx.x * LANES + threadIdx.x;
  double sums[2];
  sumPartials(work.partials, channel, work.channels, work.blocks, sums);
  if (threadIdx.y == 0 && channel < work.channels)
    finishMoments(work, channel, static_cast<float>(static_cast<const T*>(work.x.values)[channel]), sums[0], sums[1]);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) normaliseAll(const Norm work) {
  const Share share = shareOf<width>(work.channels);
  if (share.idle) return;
  float scale[width], shift[width];
  for (int i = 0; i < width; i++) {
    scale[i] = work.table[SCALE * work.channels + share.channel + i];
    shift[i] = work.table[SHIFT * work.channels + share.channel + i];
  }
#pragma unroll 4
  for (int64_t pixel = share.pixel; pixel < work.pixels; pixel += share.step) normalise<T, width>(work, pixel, share.channel, scale, shift);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) gradientsAll(const NormGradient work) {
  const Share share = shareOf<width>(work.channels);
  float table[NORM_ROWS * width], sums[width] = {}, products[width] = {};
  for (int row = 0; row < NORM_ROWS; row++)
    for (int i = 0; i < width; i++) table[row * width + i] = work.table[row * work.channels + share.channel + i];
  if (!share.idle)
#pragma unroll 2
    for (int64_t pixel = share.pixel; pixel < work.pixels; pixel += share.step) addGradients<T, width>(work, pixel, share.channel, table, sums, products);
  sumBlock<width>(sums, products, work.channels, work.partials);
}

__global__ void gradientsEnd(const NormGradient work) {
  const int channel = blockIdx.x * LANES + threadIdx.x;
  double sums[2];
  sumPartials(work.partials, channel, work.channels, work.blocks, sums);
  if (threadIdx.y == 0 && channel < work.channels) finishGradients(work, channel, sums[0], sums[1]);
}

template <class T, int width> __global__ void __launch_bounds__(THREADS) spreadAll(const NormGradient work) {
  const Share share = shareOf<width>(work.channels);
  if (share.idle) return;
  float scale[width], shift[width], gradients[3 * width];
  for (int i = 0; i < width; i++) {
    scale[i] = work.table[SCALE * work.channels + share.channel + i];
    shift[i] = work.table[SHIFT * work.channels + share.channel + i];
    for (int row = 0; row < 3; row++) gradients[row * width + i] = work.gradients[(TIMES_GRADIENT + row) * work.channels + share.channel + i];
  }
#pragma unroll 2
  for (int64_t pixel = share.pixel; pixel < work.pixels; pixel += share.step)
    spreadGradients<T, width>(work, pixel, share.channel, scale, shift, gradients);
}

/** Blocks for a pass without sums: enough for every pixel to be taken once, up to many waves. */
unsigned passes(int64_t pixels, int channels, int width) {
  const int64_t members = THREADS / (channels / width), blocks = (pixels + members - 1) / members;
  return static_cast<unsigned>(blocks < 2112 ? blocks : 2112); // 16 for each of an H200's 132 multiprocessors
}

template <class T, int width> void queue(const Norm& work, cudaStream_t stream) {
  momentsAll<T, width><<<work.blocks, THREADS, 0, stream>>>(work);
  momentsEnd<T><<<(work.channels + LANES - 1) / LANES, dim3(LANES, GROUPS), 0, stream>>>(work);
  normaliseAll<T, width><<<passes(work.pixels, work.channels, width), THREADS, 0, stream>>>(work);
}

template <class T, int width> void queue(const NormGradient& work, cudaStream_t stream) {
  gradientsAll<T, width><<<work.blocks, THREADS, 0, stream>>>(work);
  gradientsEnd<<<(work.channels + LANES - 1) / LANES, dim3(LANES, GROUPS), 0, stream>>>(work);
  spreadAll<T, width><<<passes(work.pixels, work.channels, width), THREADS, 0, stream>>>(work);
}

template <class Work> const char* launch(const Work& work, Element element, void* stream) {
  return launchAs(element, stream, [&](auto kind, cudaStream_t on) { queue<decltype(kind), WIDTH<decltype(kind)>>(work, on); });
}

} // namespace

const char* launchNorm(const Norm& work, Element element, void* stream) { return launch(work, element, stream); }
const char* launchNormGradient(const NormGradient& work, Element element, void* stream) { return launch(work, element, stream); }

} // namespace dualfocus

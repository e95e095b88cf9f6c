// The CUDA kernels of trainDetail.h: a thread takes a cell of all planes for one filter; neighbouring threads take neighbouring cells.
#include "trainDetail.h"

#include "launch.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainDetailKernel.h"

__global__ void __launch_bounds__(THREADS) measureAll(const DetailEnergies<float> work) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x, area = static_cast<int64_t>(work.height) * work.width;
  if (item < work.stacks * area) measureCell(work, item / area, blockIdx.y, static_cast<int>(item % area));
}

__global__ void __launch_bounds__(THREADS) differentiateAll(const DetailGradient<float> work) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x, area = static_cast<int64_t>(work.height) * work.width;
  float sums[TAPS] = {};
  if (item < work.stacks * area) addGradients(work, item / area, blockIdx.y, static_cast<int>(item % area), sums);
  sumOverBlock<TAPS>(sums, work.groups + (static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * TAPS);
}

__global__ void __launch_bounds__(THREADS) writeLogsAll(const DetailLogs<float> work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) writeLogs(work, item);
}

__global__ void __launch_bounds__(THREADS) unwriteLogsAll(const DetailLogsGradient<float> work, int64_t items) {
  const int64_t item = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  if (item < items) unwriteLogs(work, item);
}

dim3 gridOf(const Responses<float>& work) {
  return dim3(static_cast<unsigned>(detailGroups(work.stacks, static_cast<int64_t>(work.height) * work.width)), static_cast<unsigned>(work.count));
}

} // namespace

int64_t detailGroups(int64_t stacks, int64_t area) { return blocksFor(stacks * area); }

const char* launchDetailEnergies(const DetailEnergies<float>& work, void* stream) {
  measureAll<<<gridOf(work), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work);
  return failure();
}

const char* launchDetailGradient(const DetailGradient<float>& work, void* stream) {
  differentiateAll<<<gridOf(work), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work);
  return failure();
}

const char* launchDetailLogs(const DetailLogs<float>& work, void* stream) {
  const int64_t items = work.stacks * work.count * work.area;
  writeLogsAll<<<blocksFor(items), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work, items);
  return failure();
}

const char* launchDetailLogsGradient(const DetailLogsGradient<float>& work, void* stream) {
  const int64_t items = work.stacks * work.count * work.area;
  unwriteLogsAll<<<blocksFor(items), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(work, items);
  return failure();
}

} // namespace dualfocus

// The renderer on CUDA: a block of threads renders a tile of one image, a thread one pixel.
#include "lensCuda.h"

#include <cuda_runtime.h>

namespace dualfocus {

namespace {

#include "lensKernel.h"

constexpr int THREADS = TILE * TILE, MOST_PRIMITIVES = 64, MOST_CORNERS = 17;

__device__ void store(float* out, float value) { *out = value; }
__device__ void store(uint8_t* out, float value) { *out = (uint8_t)(value * 255.f + 0.5f); }

/** The candidates of this block's tile, into shared memory; every thread takes part. */
__device__ Candidates findCandidates(const Picture& picture, int left, int top, int thread, float* keys, Candidate* list, int* counts) {
  const int count = (int)picture.camera[1];
  float near = 0;
  if (thread < 2) counts[thread] = 0;
  __syncthreads();
  if (thread < count) {
    const float* p = picture.primitives + thread * PRIMITIVE_STRIDE;
    near = tileNear(picture, p, left, top);
    const bool seen = near < FAR_AWAY, bounded = p[31] < UNBOUNDED;
    keys[thread] = !seen ? 3 * FAR_AWAY : bounded ? near : 2 * FAR_AWAY;
    if (seen) atomicAdd(&counts[1], 1);
    if (seen && bounded) atomicAdd(&counts[0], 1);
  }
  __syncthreads();
  if (thread < count) {
    int rank = 0;
    for (int k = 0; k < count; k++) rank += keys[k] < keys[thread] || (keys[k] == keys[thread] && k < thread);
    list[rank] = candidate(picture.primitives, thread, near);
  }
  __syncthreads();
  return {list, counts[0], counts[1]};
}

template <class Out> __global__ void __launch_bounds__(THREADS, 4) renderTiles(const LensLaunch launch) {
  __shared__ __align__(16) float primitives[MOST_PRIMITIVES * PRIMITIVE_STRIDE];
  __shared__ __align__(16) float camera[CAMERA_STRIDE], corners[2 * MOST_CORNERS], keys[MOST_PRIMITIVES];
  __shared__ Candidate list[MOST_PRIMITIVES];
  __shared__ int counts[2];
  const int thread = threadIdx.x;
  const int scene = blockIdx.z / (launch.planes + 1), plane = blockIdx.z % (launch.planes + 1);
  const float* source = launch.primitives + (int64_t)scene * launch.slots * PRIMITIVE_STRIDE;
  for (int i = thread; i < launch.slots * PRIMITIVE_STRIDE; i += THREADS) primitives[i] = source[i];
  if (thread < CAMERA_STRIDE) camera[thread] = launch.cameras[scene * CAMERA_STRIDE + thread];
  __syncthreads();
  const int blades = (int)camera[7];
  if (blades >= 3 && thread <= blades && thread < MOST_CORNERS) {
    const float radius = sqrtf(TURN / (blades * sinf(TURN / blades))), turn = camera[8] + TURN * (thread % blades) / blades;
    corners[2 * thread] = radius * cosf(turn);
    corners[2 * thread + 1] = radius * sinf(turn);
  }

  Picture picture{};
  picture.primitives = primitives;
  picture.camera = camera;
  picture.textures = {launch.texels, launch.textureBits};
  picture.lensX = launch.lens;
  picture.lensY = launch.lens + launch.samples;
  picture.corners = corners;
  picture.width = launch.width, picture.height = launch.height, picture.samples = launch.samples;
  picture.planes = launch.planes, picture.index = plane;
  if (plane < launch.planes) aim(picture, launch.focus + ((int64_t)scene * launch.planes + plane) * PLANE_STRIDE);
  else aimPinhole(picture);

  const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
  const Candidates candidates = findCandidates(picture, left, top, thread, keys, list, counts);
  // A warp takes 8 × 4 pixels: closer to a square, so that its rays hit the same primitives more often.
  const int x = left + (thread & 7) + 8 * ((thread >> 5) & 1), y = top + ((thread >> 3) & 3) + 4 * (thread >> 6);
  if (x >= launch.width || y >= launch.height) return;
  const int64_t pixels = (int64_t)launch.width * launch.height, pixel = (int64_t)y * launch.width + x;
  if (plane == launch.planes) launch.depth[scene * pixels + pixel] = pinholeDepth(picture, candidates, x, y);
  Out* out = (Out*)launch.images + ((int64_t)scene * launch.planes + plane) * 3 * pixels;
  if (plane == launch.planes) {
    if (!launch.allInFocus) return;
    out = (Out*)launch.allInFocus + scene * 3 * pixels;
  }
  float colour[3];
  renderPixel(picture, candidates, x, y, colour);
  for (int c = 0; c < 3; c++) store(out + c * pixels + pixel, colour[c]);
}

} // namespace

const char* launchLens(const LensLaunch& launch) {
  const dim3 grid((launch.width + TILE - 1) / TILE, (launch.height + TILE - 1) / TILE, launch.scenes * (launch.planes + 1));
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  if (launch.bytes) renderTiles<uint8_t><<<grid, THREADS, 0, stream>>>(launch);
  else renderTiles<float><<<grid, THREADS, 0, stream>>>(launch);
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

} // namespace dualfocus

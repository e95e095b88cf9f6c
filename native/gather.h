// The blur of stacks made from one picture and its depth: each blurred pixel gathers its neighbours, each weighted by its own kernel.
#pragma once

#include <cstdint>
#include <math.h>

#ifdef __CUDACC__
#define GATHER_CODE __host__ __device__ inline
#else
#define GATHER_CODE inline
#endif

namespace dualfocus {

/** Row-major f32. One picture of B gives `planes` blurred ones. */
struct Gather {
  const float* pictures;  // [B, 3, H, W]
  const float* peak;      // c⁻² where a pixel is blurred (c > 1), else 0; [B, P, H, W]
  const float* steepness; // −2 c^−exponent, [B, P, H, W]
  const float* reach;     // r^exponent by r², [B, 2 half² + 1]
  float* to;              // [B, P, 3, H, W]
  int planes, height, width, half;
  int64_t pixels; // B · P · H · W
};

/** out_p = Σ_q g_q I_q / Σ_q g_q with g_q = c_q⁻² exp(−2 (r_pq / c_q)^exponent) over the window; a pixel that is not blurred is copied. */
GATHER_CODE void gatherPixel(const Gather& work, int64_t index) {
  const int64_t area = static_cast<int64_t>(work.height) * work.width, plane = index / area, pixel = index % area;
  const int64_t stack = plane / work.planes;
  const int row = static_cast<int>(pixel / work.width), column = static_cast<int>(pixel % work.width);
  const float* picture = work.pictures + stack * 3 * area;
  const float* peak = work.peak + plane * area;
  const float* steepness = work.steepness + plane * area;
  const float* reach = work.reach + stack * (2 * work.half * work.half + 1);
  float* to = work.to + plane * 3 * area + pixel;
  if (peak[pixel] == 0) {
    for (int c = 0; c < 3; c++) to[c * area] = picture[c * area + pixel];
    return;
  }
  const int top = row > work.half ? row - work.half : 0, left = column > work.half ? column - work.half : 0;
  const int bottom = row + work.half < work.height ? row + work.half : work.height - 1;
  const int right = column + work.half < work.width ? column + work.half : work.width - 1;
  float sums[3] = {0, 0, 0}, total = 0;
  for (int y = top; y <= bottom; y++)
    for (int x = left; x <= right; x++) {
      const int64_t q = static_cast<int64_t>(y) * work.width + x;
      const float weight = peak[q] * expf(steepness[q] * reach[(y - row) * (y - row) + (x - column) * (x - column)]);
      for (int c = 0; c < 3; c++) sums[c] += weight * picture[c * area + q];
      total += weight; // never 0: the pixel itself is blurred
    }
  for (int c = 0; c < 3; c++) to[c * area] = sums[c] / total;
}

/** Queues the work on a CUDA stream; returns what went wrong, or null. */
const char* launchGather(const Gather& work, void* stream);

} // namespace dualfocus

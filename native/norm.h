// Batch normalisation while training, with the sum and the activation that follow it: y = a(scale · x + shift [+ residual]), a(v) = v for
// v > 0, else slope · v. Three passes forward instead of up to six, three backward instead of up to five.
#pragma once

#include "fuse.h"

#include <cstdint>

namespace dualfocus {

/** Values of one tensor, channels innermost: pixel after pixel, `step` values apart. */
struct Pixels {
  void* values;
  int64_t step;
};

/** Rows of the per-channel tables, each `channels` long, f32. */
enum NormRow { MEAN, INVERSE_DEVIATION, SCALE, SHIFT, NORM_ROWS };
enum NormGradientRow { OF_WEIGHT, OF_BIAS, TIMES_GRADIENT, TIMES_VALUE, CONSTANT, NORM_GRADIENT_ROWS };

struct Norm {
  Pixels x, residual, y; // residual may be null
  const float *weight, *bias;
  float *runningMean, *runningVariance;
  float momentum, epsilon, slope;
  float* table;    // [NORM_ROWS, channels]
  float* partials; // [blocks, 2, channels]: sums of x − x_0 and of its square, x_0 the first pixel
  int64_t pixels;
  int channels, blocks;
};

/**
 * With g = dy · a'(v), S₁ = Σ g and S₂ = Σ g (x − mean): d weight = S₂ / σ, d bias = S₁, d residual = g and
 * dx = weight / σ · (g − S₁ / n − (x − mean) S₂ / (n σ²)), which is linear in g and x for each channel.
 */
struct NormGradient {
  Pixels dy, x, y, dx, dResidual; // y: only if there was a residual, else v is computed from x; dResidual may be null
  const float* table; // of the forward pass
  float slope;
  float* gradients; // [NORM_GRADIENT_ROWS, channels]
  float* partials;  // [blocks, 2, channels]: S₁ and S₂
  int64_t pixels;
  int channels, blocks;
};

/** Pixels that a block of threads takes at a time; 0 if the channels do not fit. */
int pixelsPerBlock(int channels, Element element);

const char* launchNorm(const Norm& work, Element element, void* stream);
const char* launchNormGradient(const NormGradient& work, Element element, void* stream);

} // namespace dualfocus

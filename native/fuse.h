// Operations between convolutions, one pass each. Tensors have their channels innermost; sums are in f32.
#pragma once

#include <cstdint>
#include <math.h>

namespace dualfocus {

/** to = a(values + bias [+ residual]) with a(v) = v for v > 0, else slope · v (1: nothing, 0: ReLU); in place, or channels `first` … of a wider tensor. */
struct Epilogue {
  const void* values;
  void* to;
  const float* bias;    // one per channel
  const void* residual; // may be null
  float slope;
  int64_t count;
  int channels;
  int toChannels, first;
};

/** Feature maps, channels innermost, and the maps computed from them. */
struct Maps {
  const void* from;
  void* to;
  int64_t pictures;
  int channels, fromHeight, fromWidth, toHeight, toWidth;
};

/** Resampling, bilinear (pixel centres at half integers) or nearest, into channels `first` … of a wider tensor. */
struct Resample : Maps {
  int toChannels, first;
  bool nearest; // at the same size: a copy
};

constexpr int MOST_SOURCES = 3;

/**
 * A convolution with a 3×3 window over upsampled maps, whose products with each of the nine weights were taken before upsampling:
 * to(y, x) = a(bias + own(y, x) + Σ_sources Σ_{dy, dx} up(source_{dy,dx})(y + dy, x + dx)), zeros outside, a as in Epilogue, into channels
 * `first` … of a wider tensor.
 */
struct WindowSum {
  const void* sources[MOST_SOURCES]; // [pictures, height, width, 9 · channels], row by row of the window
  int heights[MOST_SOURCES], widths[MOST_SOURCES];
  int sourceCount;
  bool nearest;      // else bilinear
  const void* own;   // [pictures, toHeight, toWidth, channels]; may be null
  const float* bias; // one per channel
  float slope;
  void* to;
  int64_t pictures;
  int channels, toHeight, toWidth;
  int toChannels, first;
};

/**
 * Images [P, C, H, W] as `to` [P, h, w, to channels], whose channels hold one 2×2 block (row, column, C) each, padded with zeros.
 * Their values, bytes or f32, become (value · factor) · scale + shift.
 */
struct Blocks {
  const void* from;
  bool bytes;
  float factor;
  const float* scale; // one per channel, like shift; may be null
  const float* shift;
  void* to;
  int64_t pictures;
  int channels, height, width;
  int toChannels, toHeight, toWidth, before; // rows and columns of zeros before the first block
};

/** The largest value of a window; values outside the image do not count. */
struct MaxPool : Maps {
  int side, stride, padding;
};

/** The mean of a window's values, summed in f32; values outside the image do not count. */
struct MeanPool : Maps {
  int height, width, downStride, acrossStride, above, left; // of the window, and the rows and columns before the first value
};

constexpr int MOST_TERMS = 6;

/** to = a(Σ weight · term), a as in Epilogue: terms of one shape, or with one value per image and channel. */
struct WeightedSum {
  const void* terms[MOST_TERMS];
  float weights[MOST_TERMS];
  bool spread[MOST_TERMS]; // one value for all pixels
  int termCount;
  void* to;
  int64_t count, area; // number of values, and of an image's pixels
  int channels;
  float slope;
};

/** A 3×3×3 convolution to one channel, zeros outside, the sum in f32: to [B, N, h, w]. */
struct Logit {
  const void* from; // [B, N, h, w, channels]
  const float* weight; // [27, channels]
  const float* bias; // one
  float* to;
  int64_t count; // of outputs
  int channels, planes, height, width;
};

/** V_{n+1} − V_n of volumes, or its negative, into channels `first` … of a wider volume; the last plane repeats the previous difference, or is V_N. */
struct PlaneDifference {
  const void* from; // [B, N, h, w, channels], N > 1
  void* to;
  int64_t pixels, area; // of all planes, and of one
  int channels, planes;
  int toChannels, first;
  bool negative, lastIsValue;
};

/** Logits resampled to the image's size (bilinear), p = softmax over the planes, and with distances f: D̂ = Σ p f and √(Σ p (f − D̂)²). All f32. */
struct Readout {
  const float* logits; // [B, N, h, w]
  const float* distances; // [B, N]; null: compute only p
  float* probability; // [B, N, H, W]
  float* depth; // [B, 1, H, W], as spread
  float* spread;
  int64_t pixels; // of depth
  int planes, fromHeight, fromWidth, toHeight, toWidth;
};

enum class Element { f32, f16, bf16 };

/** Each queues its CUDA kernel and returns an error message, or null. */
const char* launchEpilogue(const Epilogue& work, Element element, void* stream);
const char* launchResample(const Resample& work, Element element, void* stream);
const char* launchWindowSum(const WindowSum& work, Element element, void* stream);
const char* launchBlocks(const Blocks& work, Element element, void* stream);
const char* launchMaxPool(const MaxPool& work, Element element, void* stream);
const char* launchMeanPool(const MeanPool& work, Element element, void* stream);
const char* launchWeightedSum(const WeightedSum& work, Element element, void* stream);
const char* launchLogit(const Logit& work, Element element, void* stream);
const char* launchPlaneDifference(const PlaneDifference& work, Element element, void* stream);
const char* launchReadout(const Readout& work, Element element, void* stream);

} // namespace dualfocus

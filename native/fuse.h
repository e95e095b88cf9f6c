// Work between convolutions, in one pass each. Tensors have their channels innermost; sums are in f32.
#pragma once

#include <cstdint>

namespace dualfocus {

/** y ← a(y + bias [+ residual]) with a(v) = v for v > 0, else slope · v (1: nothing, 0: ReLU). */
struct Epilogue {
  void* values;
  const float* bias;    // one a channel
  const void* residual; // may be null
  float slope;
  int64_t count;
  int channels;
};

/** Bilinear resampling, pixel centres at half integers, into channels `first` … of a wider tensor. */
struct Resample {
  const void* from;
  void* to;
  int64_t pictures;
  int channels, fromHeight, fromWidth, toHeight, toWidth;
  int toChannels, first;
};

enum class Element { f32, f16, bf16 };

/** The CUDA hosts queue the work; they return what went wrong, or null. */
const char* launchEpilogue(const Epilogue& work, Element element, void* stream);
const char* launchResample(const Resample& work, Element element, void* stream);

} // namespace dualfocus

// The CUDA renderer's arguments: plain pointers, so that lens.cu needs no libtorch header.
#pragma once

#include <cstdint>

namespace dualfocus {

struct LensLaunch {
  const float* primitives;
  const float* cameras;
  const float* focus;
  const uint32_t* texels;
  const float* lens; // all x, then all y
  void* images;
  void* allInFocus; // may be null
  float* depth;
  bool bytes; // images are u8, else f32
  int textureBits, scenes, slots, planes, width, height, samples;
  void* stream;
};

/** Queues the work; returns an error message, or null. */
const char* launchLens(const LensLaunch& launch);

} // namespace dualfocus

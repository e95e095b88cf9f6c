// Upsampling to four times the size by learned convex weights over the 3×3 around a place, for training.
#pragma once

#include "fuse.h"

namespace dualfocus {

/** Each cell becomes UP × UP pixels; each pixel is mixed from NEIGHBOURS cells. */
constexpr int UP = 4, UP_PIXELS = UP * UP, NEIGHBOURS = 9;

/**
 * to(pixel) = Σ_k w_k(pixel) logits(k-th neighbour of its cell), the same w for all planes, w = softmax_k(scores + start). Neighbours beyond
 * the edge are those on it. W is f32, or f64 where the scores are.
 */
template <class W> struct ConvexUpsample {
  const W* logits;    // [stacks, planes, height, width]
  const void* scores; // [stacks, height, width, NEIGHBOURS · UP_PIXELS], the channels k, row, column
  const W* start;     // [NEIGHBOURS · UP_PIXELS]
  W* to;              // [stacks, planes, UP · height, UP · width]
  int64_t stacks;
  int planes, height, width;
};

template <class W> struct ConvexGradient : ConvexUpsample<W> {
  const W* by;    // the gradient by the result; `to` is that of the logits
  void* toScores; // as the scores
  W* shares;      // [stacks, planes, height, width, NEIGHBOURS]: what a cell gives to each of its neighbours
};

const char* launchConvexUpsample(const ConvexUpsample<float>& work, Element element, void* stream);
const char* launchConvexGradient(const ConvexGradient<float>& work, Element element, void* stream);

} // namespace dualfocus

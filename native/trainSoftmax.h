// Upsampling (bilinear) and softmax over the planes in one kernel, with gradients: p at full size from logits at a quarter of it.
#pragma once

#include "fuse.h"

namespace dualfocus {

/** Maps [stacks, planes, height, width]; logits are [stacks, planes, fromHeight, fromWidth]. */
struct TrainSoftmax {
  const float* logits;
  float* to; // p
  int64_t stacks;
  int planes, fromHeight, fromWidth, height, width;
};

struct TrainSoftmaxGradient {
  const float* probability;
  const float* by; // the gradient by p
  float* upsampled; // gets the gradient by the upsampled logits
  float* to;        // and this by the logits
  int64_t stacks;
  int planes, toHeight, toWidth, height, width;
};

const char* launchTrainSoftmax(const TrainSoftmax& work, void* stream);
const char* launchTrainSoftmaxGradient(const TrainSoftmaxGradient& work, void* stream);

} // namespace dualfocus

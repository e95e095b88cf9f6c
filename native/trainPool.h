// Max pooling for training: the forward pass keeps where in its window each maximum was, a byte each, and the backward pass gathers from there.
#pragma once

#include "fuse.h"

namespace dualfocus {

/** Maps as in MaxPool; the first of equal values counts. */
struct TrainPool : MaxPool {
  uint8_t* places; // [pictures, toHeight, toWidth, channels]: row by row of the window
};

/** from: the gradient of the pooled maps, [pictures, fromHeight, fromWidth, channels]; to: that of the maps. */
struct TrainPoolGradient : MaxPool {
  const uint8_t* places; // as large as `from`
};

const char* launchTrainPool(const TrainPool& work, Element element, void* stream);
const char* launchTrainPoolGradient(const TrainPoolGradient& work, Element element, void* stream);

} // namespace dualfocus

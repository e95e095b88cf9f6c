// The gradient of WindowSum (fuse.h) by its sources, for training.
#pragma once

#include "fuse.h"

namespace dualfocus {

/** to: [pictures, toHeight, toWidth, 9 · channels], row by row of the window; from: the gradient of the sum, [pictures, fromHeight, fromWidth, channels]. */
struct WindowGradient : Maps {
  bool nearest;
};

const char* launchWindowGradient(const WindowGradient& work, Element element, void* stream);

} // namespace dualfocus

// What nearly every file of the addon includes. scripts/buildNative.js compiles it once where it builds many of them; no file includes it.
#include "tensor.h"

#include <torch/csrc/autograd/custom_function.h>

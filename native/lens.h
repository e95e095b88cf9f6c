// The thin-lens renderer: renders packed scenes into tensors of images and depth.
#pragma once

#include "tensor.h"

namespace dualfocus {

/** A batch of packed scenes (src/optics/scene/pack.ts) and the tensors to render into. All tensors are on one device. */
struct LensBatch {
  at::Tensor primitives;  // f32 [B, K, 32]
  at::Tensor cameras;     // f32 [B, 16]
  at::Tensor focus;       // f32 [B, N, 8]
  at::Tensor textures;    // u8 [T, S, S, 4], S a power of two
  at::Tensor images;      // out: f32 or u8 [B, N, 3, H, W]
  at::Tensor allInFocus;  // out: as images, [B, 3, H, W]; may be undefined
  at::Tensor depth;       // out: f32 [B, H, W]
  int samples;
};

/** Sunflower points of the unit disk, all x then all y, padded by `padding` points. */
std::vector<float> lensPoints(int samples, int padding);

/** Corners of each scene's aperture: x, y pairs, at most 17 to a scene. */
constexpr int CORNERS = 34;
std::vector<float> apertureCorners(const float* cameras, int64_t count);

int textureBits(const at::Tensor& textures);

void renderLensCpu(const LensBatch& batch);
#ifdef DUALFOCUS_NVCC
void renderLensCuda(const LensBatch& batch);
#endif

void registerLens(napi_env env, napi_value exports);

} // namespace dualfocus

// The renderer's entry, and its implementation for CPU threads.
#include "lens.h"

#include <ATen/Parallel.h>
#ifdef DUALFOCUS_NVCC
#include "lensCuda.h"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#pragma GCC diagnostic ignored "-Wpsabi" // vectors of eight never leave this file

namespace dualfocus {

std::vector<float> lensPoints(int samples, int padding) {
  std::vector<float> points(2 * (samples + padding));
  for (int i = 0; i < samples; i++) {
    const double radius = std::sqrt((i + 0.5) / samples);
    const double angle = 2 * M_PI * ((static_cast<uint32_t>(i) * 0x9e3779b9u) >> 9) / 8388608.0;
    points[i] = static_cast<float>(radius * std::cos(angle));
    points[samples + padding + i] = static_cast<float>(radius * std::sin(angle));
  }
  return points;
}

std::vector<float> apertureCorners(const float* cameras, int64_t count) {
  std::vector<float> corners(count * CORNERS);
  for (int64_t scene = 0; scene < count; scene++) {
    const int blades = static_cast<int>(cameras[scene * 16 + 7]);
    if (blades < 3) continue;
    const double radius = std::sqrt(2 * M_PI / (blades * std::sin(2 * M_PI / blades)));
    for (int k = 0; k <= blades && k < CORNERS / 2; k++) {
      const double turn = cameras[scene * 16 + 8] + 2 * M_PI * (k % blades) / blades;
      corners[scene * CORNERS + 2 * k] = static_cast<float>(radius * std::cos(turn));
      corners[scene * CORNERS + 2 * k + 1] = static_cast<float>(radius * std::sin(turn));
    }
  }
  return corners;
}

int textureBits(const at::Tensor& textures) {
  int bits = 0;
  while ((int64_t{1} << bits) < textures.size(1)) bits++;
  return bits;
}

namespace {

// The same kernel twice: for any processor, and for x86-64 processors with AVX2.
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
namespace plain {
#include "lensKernel.h"
#include "lensTile.h"
} // namespace plain
#undef LENS_FN
#if defined(__x86_64__) && defined(__GNUC__)
#define LENS_WIDE
#pragma GCC target("avx2,fma")
namespace wide {
#include "lensKernel.h"
#include "lensTile.h"
} // namespace wide
#undef LENS_FN
#endif
#pragma GCC pop_options

void expect(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("renderLens: ") + what);
}

void checkBatch(const LensBatch& b) {
  expect(b.primitives.dim() == 3 && b.primitives.size(2) == 32 && b.primitives.scalar_type() == at::kFloat, "primitives must be f32 [B, K, 32]");
  const int64_t count = b.primitives.size(0);
  expect(b.primitives.size(1) >= 1 && b.primitives.size(1) <= 64, "a scene has 1 to 64 primitives");
  expect(b.cameras.dim() == 2 && b.cameras.size(0) == count && b.cameras.size(1) == 16 && b.cameras.scalar_type() == at::kFloat, "cameras must be f32 [B, 16]");
  expect(b.focus.dim() == 3 && b.focus.size(0) == count && b.focus.size(2) == 8 && b.focus.scalar_type() == at::kFloat, "focus must be f32 [B, N, 8]");
  expect(b.textures.dim() == 4 && b.textures.size(1) == b.textures.size(2) && b.textures.size(3) == 4 && b.textures.scalar_type() == at::kByte, "textures must be u8 [T, S, S, 4]");
  expect((b.textures.size(1) & (b.textures.size(1) - 1)) == 0, "the side of a texture must be a power of two");
  expect(b.textures.numel() / 4 < (int64_t{1} << 31), "more textures than 32 bits can count");
  expect(b.images.dim() == 5 && b.images.size(0) == count && b.images.size(1) == b.focus.size(1) && b.images.size(2) == 3, "images must be [B, N, 3, H, W]");
  expect(b.images.scalar_type() == at::kByte || b.images.scalar_type() == at::kFloat, "images must be u8 or f32");
  const auto height = b.images.size(3), width = b.images.size(4);
  expect(b.depth.dim() == 3 && b.depth.size(0) == count && b.depth.size(1) == height && b.depth.size(2) == width && b.depth.scalar_type() == at::kFloat, "depth must be f32 [B, H, W]");
  if (b.allInFocus.defined())
    expect(b.allInFocus.sizes() == at::IntArrayRef({count, 3, height, width}) && b.allInFocus.scalar_type() == b.images.scalar_type(), "allInFocus must be like one plane of images");
  for (const at::Tensor& tensor : {b.primitives, b.cameras, b.focus, b.textures, b.images, b.depth, b.allInFocus}) {
    if (!tensor.defined()) continue;
    expect(tensor.device() == b.images.device(), "all tensors must be on one device");
    expect(tensor.is_contiguous(), "all tensors must be contiguous");
  }
  expect(b.samples >= 1 && b.samples <= 65536, "samples must be 1 to 65536");
}

/** renderLens(primitives, cameras, focus, textures, images, allInFocus | null, depth, samples) */
napi_value renderLens(napi_env env, const Arguments& arguments) {
  LensBatch batch{arguments.tensor(0, "primitives"), arguments.tensor(1, "cameras"), arguments.tensor(2, "focus"),
                  arguments.tensor(3, "textures"),   arguments.tensor(4, "images"),  at::Tensor(),
                  arguments.tensor(6, "depth"),      static_cast<int>(arguments.integer(7, "samples"))};
  if (arguments.has(5)) batch.allInFocus = arguments.tensor(5, "allInFocus");
  checkBatch(batch);
  if (batch.images.is_cpu()) {
    renderLensCpu(batch);
    return makeUndefined(env);
  }
#ifdef DUALFOCUS_NVCC
  renderLensCuda(batch);
  return makeUndefined(env);
#else
  throw std::runtime_error("renderLens: this build has no CUDA kernel; build it where nvcc is installed");
#endif
}

} // namespace

void renderLensCpu(const LensBatch& batch) {
#ifdef LENS_WIDE
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return wide::renderBatch(batch);
#endif
  plain::renderBatch(batch);
}

#ifdef DUALFOCUS_NVCC
void renderLensCuda(const LensBatch& batch) {
  const c10::cuda::CUDAGuard guard(batch.images.device());
  std::vector<float> points = lensPoints(batch.samples, 0);
  const at::Tensor lens = at::from_blob(points.data(), {static_cast<int64_t>(points.size())}, at::kFloat).to(batch.images.device());
  LensLaunch launch{};
  launch.primitives = batch.primitives.data_ptr<float>();
  launch.cameras = batch.cameras.data_ptr<float>();
  launch.focus = batch.focus.data_ptr<float>();
  launch.texels = reinterpret_cast<const uint32_t*>(batch.textures.data_ptr<uint8_t>());
  launch.lens = lens.data_ptr<float>();
  launch.images = batch.images.data_ptr();
  launch.allInFocus = batch.allInFocus.defined() ? batch.allInFocus.data_ptr() : nullptr;
  launch.depth = batch.depth.data_ptr<float>();
  launch.bytes = batch.images.scalar_type() == at::kByte;
  launch.textureBits = textureBits(batch.textures);
  launch.scenes = static_cast<int>(batch.primitives.size(0));
  launch.slots = static_cast<int>(batch.primitives.size(1));
  launch.planes = static_cast<int>(batch.focus.size(1));
  launch.height = static_cast<int>(batch.images.size(3));
  launch.width = static_cast<int>(batch.images.size(4));
  launch.samples = batch.samples;
  launch.stream = c10::cuda::getCurrentCUDAStream().stream();
  if (static_cast<int64_t>(launch.scenes) * (launch.planes + 1) > 65535)
    throw std::invalid_argument("renderLens: too many images for one call; render fewer scenes at a time");
  if (const char* failure = launchLens(launch)) throw std::runtime_error(std::string("renderLens: ") + failure);
}
#endif

void registerLens(napi_env env, napi_value exports) { define<&renderLens>(env, exports, "renderLens"); }

} // namespace dualfocus

// The entry of gather.h, and its host for CPU threads.
#include "gather.h"

#include "fuseHost.h"

#include <ATen/Parallel.h>

namespace dualfocus {

namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("gatherBlur: ") + what);
}

/** gatherBlur(to, pictures, peak, steepness, reach, window): see Gather. */
napi_value gatherBlur(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  const at::Tensor& pictures = arguments.tensor(1, "pictures");
  const at::Tensor& peak = arguments.tensor(2, "peak");
  const at::Tensor& steepness = arguments.tensor(3, "steepness");
  const at::Tensor& reach = arguments.tensor(4, "reach");
  const int64_t window = arguments.integer(5, "window");
  expect(window % 2 == 1 && window >= 1 && window <= 31, "the window must be odd, 1 to 31");
  const int64_t half = (window - 1) / 2;
  expect(to.dim() == 5 && to.size(2) == 3 && to.numel() > 0, "to must be [B, P, 3, H, W]");
  const int64_t batch = to.size(0), planes = to.size(1), height = to.size(3), width = to.size(4);
  expect(pictures.sizes() == at::IntArrayRef({batch, 3, height, width}), "pictures must be [B, 3, H, W]");
  expect(peak.sizes() == at::IntArrayRef({batch, planes, height, width}), "peak must be [B, P, H, W]");
  expect(steepness.sizes() == peak.sizes(), "steepness must be [B, P, H, W]");
  expect(reach.sizes() == at::IntArrayRef({batch, 2 * half * half + 1}), "reach must hold a value for each square of a distance");
  for (const auto& [tensor, name] : {std::pair{&to, "to"}, {&pictures, "pictures"}, {&peak, "peak"}, {&steepness, "steepness"}, {&reach, "reach"}})
    checkF32(*tensor, to, name);
  const Gather work{pictures.data_ptr<float>(), peak.data_ptr<float>(), steepness.data_ptr<float>(), reach.data_ptr<float>(),
                    to.data_ptr<float>(), static_cast<int>(planes), static_cast<int>(height), static_cast<int>(width),
                    static_cast<int>(half), batch * planes * height * width};
  if (to.is_cpu()) {
    at::parallel_for(0, work.pixels, width, [&](int64_t begin, int64_t end) {
      for (int64_t pixel = begin; pixel < end; pixel++) gatherPixel(work, pixel);
    });
    return makeUndefined(env);
  }
#ifdef DUALFOCUS_NVCC
  const c10::cuda::CUDAGuard guard(to.device());
  if (const char* failure = launchGather(work, c10::cuda::getCurrentCUDAStream().stream())) throw std::runtime_error(failure);
  return makeUndefined(env);
#else
  throw std::runtime_error("gatherBlur: this build has no CUDA kernels; build it where nvcc is installed");
#endif
}

} // namespace

void registerGather(napi_env env, napi_value exports) { define<&gatherBlur>(env, exports, "gatherBlur"); }

} // namespace dualfocus

// What stands between convolutions at inference: bias, residual and activation in one pass; resampling into its place in a concatenation.
#include "entries.h"

#include "fuse.h"

#ifdef DUALFOCUS_NVCC
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace dualfocus {

namespace {

#include "fuseKernel.h"

[[maybe_unused]] Element elementOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
  case at::kFloat:
    return Element::f32;
  case at::kHalf:
    return Element::f16;
  case at::kBFloat16:
    return Element::bf16;
  default:
    throw std::invalid_argument("expected f32, f16 or bf16, got " + dtypeName(tensor.scalar_type()));
  }
}

/** Channels are innermost and nothing lies between the pixels. */
void checkLayout(const at::Tensor& tensor, const char* name) {
  if (tensor.dim() != 4 && tensor.dim() != 5) throw std::invalid_argument(std::string(name) + ": expected 4 or 5 axes");
  const auto format = tensor.dim() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::ChannelsLast;
  if (!tensor.is_contiguous(format)) throw std::invalid_argument(std::string(name) + ": expected the channels innermost");
}

void checkAlike(const at::Tensor& tensor, const at::Tensor& other, const char* name) {
  if (tensor.scalar_type() != other.scalar_type() || tensor.device() != other.device())
    throw std::invalid_argument(std::string(name) + ": expected the other tensor's type and device");
}

template <class Work> void runCpu(const Work& work, const at::Tensor& on, int64_t count, void (*once)(const Work&, int64_t)) {
  if (on.scalar_type() != at::kFloat) throw std::invalid_argument("on the CPU only f32 is supported");
  for (int64_t i = 0; i < count; i++) once(work, i);
}

#ifdef DUALFOCUS_NVCC

template <class Work> void runCuda(const Work& work, const at::Tensor& on, const char* (*launch)(const Work&, Element, void*)) {
  const c10::cuda::CUDAGuard guard(on.device());
  if (const char* failure = launch(work, elementOf(on), c10::cuda::getCurrentCUDAStream().stream())) throw std::runtime_error(failure);
}

#else // CUDA without nvcc: libtorch's own kernels, several passes

void finishByTorch(at::Tensor values, const at::Tensor& bias, const at::Tensor& residual, float slope) {
  std::vector<int64_t> perChannel(values.dim(), 1);
  perChannel[1] = values.size(1);
  values.add_(bias.view(perChannel));
  if (residual.defined()) values.add_(residual);
  if (slope != 1) at::leaky_relu_(values, slope);
}

void resampleByTorch(const at::Tensor& to, int64_t first, const at::Tensor& from) {
  const auto pictures = [](const at::Tensor& tensor) { // [B, C, N, h, w] as [B·N, C, h, w], a view where channels are innermost
    if (tensor.dim() == 4) return tensor;
    return tensor.transpose(1, 2).reshape({tensor.size(0) * tensor.size(2), tensor.size(1), tensor.size(3), tensor.size(4)});
  };
  const at::Tensor target = pictures(to);
  target.narrow(1, first, from.size(1)).copy_(at::upsample_bilinear2d(pictures(from), {target.size(2), target.size(3)}, false));
}

#endif

/** finishConvolution(values, bias, residual | null, slope): in place, see Epilogue. */
napi_value finishConvolution(napi_env env, const Arguments& arguments) {
  const at::Tensor& values = arguments.tensor(0, "values");
  const at::Tensor& bias = arguments.tensor(1, "bias");
  checkLayout(values, "values");
  if (bias.scalar_type() != at::kFloat || !bias.is_contiguous() || bias.dim() != 1 || bias.size(0) != values.size(1))
    throw std::invalid_argument("bias: expected an f32 value for each channel");
  if (bias.device() != values.device()) throw std::invalid_argument("bias: expected the device of the values");
  Epilogue work{};
  work.values = values.data_ptr();
  work.bias = bias.data_ptr<float>();
  if (arguments.has(2)) {
    const at::Tensor& residual = arguments.tensor(2, "residual");
    checkLayout(residual, "residual");
    checkAlike(residual, values, "residual");
    if (residual.sizes() != values.sizes()) throw std::invalid_argument("residual: expected the shape of the values");
    work.residual = residual.data_ptr();
  }
  work.slope = static_cast<float>(arguments.number(3, "slope"));
  work.count = values.numel();
  work.channels = static_cast<int>(values.size(1));
  if (values.is_cpu()) runCpu(work, values, work.count, finishPack<float, 1>);
#ifdef DUALFOCUS_NVCC
  else if (work.count > 0) runCuda(work, values, launchEpilogue);
#else
  else finishByTorch(values, bias, arguments.has(2) ? arguments.tensor(2, "residual") : at::Tensor(), work.slope);
#endif
  return makeUndefined(env);
}

/** resampleInto(to, firstChannel, from): see Resample. */
napi_value resampleInto(napi_env env, const Arguments& arguments) {
  const at::Tensor& to = arguments.tensor(0, "to");
  const int64_t first = arguments.integer(1, "firstChannel");
  const at::Tensor& from = arguments.tensor(2, "from");
  checkLayout(to, "to");
  checkLayout(from, "from");
  checkAlike(from, to, "from");
  const int64_t rank = to.dim();
  if (from.dim() != rank || from.size(0) != to.size(0) || (rank == 5 && from.size(2) != to.size(2)))
    throw std::invalid_argument("from: expected as many pictures as there are in to");
  if (first < 0 || first + from.size(1) > to.size(1)) throw std::invalid_argument("firstChannel: the channels do not fit");
  if (from.numel() == 0 || to.numel() == 0) throw std::invalid_argument("from: nothing to resample");
  Resample work{};
  work.from = from.data_ptr();
  work.to = to.data_ptr();
  work.pictures = from.size(0) * (rank == 5 ? from.size(2) : 1);
  work.channels = static_cast<int>(from.size(1));
  work.fromHeight = static_cast<int>(from.size(rank - 2)), work.fromWidth = static_cast<int>(from.size(rank - 1));
  work.toHeight = static_cast<int>(to.size(rank - 2)), work.toWidth = static_cast<int>(to.size(rank - 1));
  work.toChannels = static_cast<int>(to.size(1)), work.first = static_cast<int>(first);
  if (to.is_cpu()) runCpu(work, to, work.pictures * work.toHeight * work.toWidth * work.channels, resamplePack<float, 1>);
#ifdef DUALFOCUS_NVCC
  else runCuda(work, to, launchResample);
#else
  else resampleByTorch(to, first, from);
#endif
  return makeUndefined(env);
}

} // namespace

void registerFuse(napi_env env, napi_value exports) {
  define<finishConvolution>(env, exports, "finishConvolution");
  define<resampleInto>(env, exports, "resampleInto");
}

} // namespace dualfocus

// Shared by the entries to fuse.h's kernels: checks of the tensors, and the choice of CPU or CUDA.
#pragma once

#include "entries.h"

#include "fuse.h"

#ifdef DUALFOCUS_NVCC
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace dualfocus {

inline Element elementOf(const at::Tensor& tensor) {
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

/** Channels innermost. */
inline at::MemoryFormat formatOf(const at::Tensor& tensor) {
  return tensor.dim() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::ChannelsLast;
}

/** Channels are innermost and nothing lies between the pixels. */
inline void checkLayout(const at::Tensor& tensor, const char* name) {
  if (tensor.dim() != 4 && tensor.dim() != 5) throw std::invalid_argument(std::string(name) + ": expected 4 or 5 axes");
  if (!tensor.is_contiguous(formatOf(tensor))) throw std::invalid_argument(std::string(name) + ": expected the channels innermost");
}

inline void checkAlike(const at::Tensor& tensor, const at::Tensor& other, const char* name) {
  if (tensor.scalar_type() != other.scalar_type() || tensor.device() != other.device())
    throw std::invalid_argument(std::string(name) + ": expected the dtype and device of the other tensor");
}

/** From images to images of as many channels. */
inline Maps mapsOf(const at::Tensor& from, const at::Tensor& to) {
  Maps maps{};
  maps.from = from.data_ptr();
  maps.to = to.data_ptr();
  maps.pictures = from.size(0);
  maps.channels = static_cast<int>(from.size(1));
  maps.fromHeight = static_cast<int>(from.size(2)), maps.fromWidth = static_cast<int>(from.size(3));
  maps.toHeight = static_cast<int>(to.size(2)), maps.toWidth = static_cast<int>(to.size(3));
  return maps;
}

template <class T, class Once> void each(int64_t count, Once once) {
  for (int64_t i = 0; i < count; i++) once(T{}, i);
}

/** Calls `launch` with the stream of the tensor's CUDA device, if nvcc compiled the kernels; it returns what failed, or null. */
template <class Launch> void launchOn(const at::Tensor& on, Launch launch) {
#ifdef DUALFOCUS_NVCC
  const c10::cuda::CUDAGuard guard(on.device());
  if (const char* failure = launch(static_cast<void*>(c10::cuda::getCurrentCUDAStream().stream()))) throw std::runtime_error(failure);
#else
  (void)on, (void)launch;
  throw std::runtime_error("this build has no CUDA kernels; build it where nvcc is installed");
#endif
}

/** On the CPU, calls `once` for each item with a value of the element type; on CUDA, launches the kernel if nvcc compiled it. */
template <class Work, class Once>
void run(const Work& work, const at::Tensor& on, int64_t count, const char* (*launch)(const Work&, Element, void*), Once once) {
  const Element element = elementOf(on);
  if (count == 0) return;
  if (on.is_cpu()) {
    if (element == Element::f32) return each<float>(count, once);
    if (element == Element::f16) return each<at::Half>(count, once);
    return each<at::BFloat16>(count, once);
  }
  launchOn(on, [&](void* stream) { return launch(work, element, stream); });
}

/** The arguments (to, firstChannel, from, …): `from` is written to the channels of `to` starting at `first`. */
struct Into {
  const at::Tensor& to;
  const at::Tensor& from;
  int64_t first;
};

inline Into intoOf(const Arguments& arguments) {
  const Into into{arguments.tensor(0, "to"), arguments.tensor(2, "from"), arguments.integer(1, "firstChannel")};
  const auto& [to, from, first] = into;
  checkLayout(to, "to");
  checkLayout(from, "from");
  checkAlike(from, to, "from");
  if (first < 0 || first + from.size(1) > to.size(1)) throw std::invalid_argument("firstChannel: the channels do not fit");
  return into;
}

inline void checkF32(const at::Tensor& tensor, const at::Tensor& on, const char* name) {
  if (tensor.scalar_type() != at::kFloat || !tensor.is_contiguous() || tensor.device() != on.device())
    throw std::invalid_argument(std::string(name) + ": expected f32, row-major, on the same device as the others");
}

} // namespace dualfocus

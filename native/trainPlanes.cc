// The entries of trainPlanes.h: its operators for autograd, and their implementation for the CPU.
#include "trainPlanes.h"

#include "trainHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWide.h"
#include "trainPlanesKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor channelsLast(const at::Tensor& tensor) { return tensor.contiguous(formatOf(tensor)); }

/** A map [B, channels, h, w] for a volume [B, C, N, h, w], the channels innermost. */
at::Tensor emptyMap(const at::Tensor& volume, int64_t channels, at::ScalarType dtype) {
  return at::empty({volume.size(0), channels, volume.size(3), volume.size(4)}, volume.options().dtype(dtype).memory_format(at::MemoryFormat::ChannelsLast));
}

PlaneSizes sizesOf(const at::Tensor& volume) {
  return {volume.size(0), volume.size(3) * volume.size(4), static_cast<int>(volume.size(2)), static_cast<int>(volume.size(1))};
}

/** Channels at a time: 16 bytes, as on CUDA, or one in f64. */
template <class T> constexpr int width = sizeof(T) == sizeof(double) ? 1 : 16 / sizeof(T);

/** Calls `once` for each pack of a map of so many channels. */
template <class T, class Once> void eachPack(const PlaneSizes& sizes, int channels, Once once) {
  for (int64_t i = 0; i < sizes.stacks * sizes.area * (channels / width<T>); i++) once(i);
}

struct PlanePoolFunction : torch::autograd::Function<PlanePoolFunction> {
  /** The pooled maps, and the volume for its other uses, so that its gradient is written once. */
  static variable_list forward(AutogradContext* context, const at::Tensor& given) {
    const at::Tensor volume = channelsLast(given), to = emptyMap(volume, 2 * volume.size(1), volume.scalar_type());
    const at::Tensor places = emptyMap(volume, volume.size(1), at::kByte);
    const PlanePool work{sizesOf(volume), volume.data_ptr(), to.data_ptr(), places.data_ptr<uint8_t>()};
    runAs(
        volume,
        [&](auto kind) {
          using T = decltype(kind);
          eachPack<T>(work, work.channels, [&](int64_t i) { poolPlanes<T, width<T>>(work, i); });
        },
        [&](Element element, void* stream) { return launchPlanePool(work, element, stream); });
    context->save_for_backward({places});
    context->saved_data["planes"] = volume.size(2);
    return {to, volume.detach()};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor places = context->get_saved_variables()[0], passed = gradients[1].defined() ? channelsLast(gradients[1]) : at::Tensor();
    if (!gradients[0].defined()) return {passed};
    const at::Tensor by = channelsLast(gradients[0]);
    const at::Tensor to = at::empty({places.size(0), places.size(1), context->saved_data["planes"].toInt(), places.size(2), places.size(3)},
                                    by.options().memory_format(at::MemoryFormat::ChannelsLast3d));
    const PlanePoolGradient work{sizesOf(to), by.data_ptr(), places.data_ptr<uint8_t>(), passed.defined() ? passed.data_ptr() : nullptr, to.data_ptr()};
    runAs(
        to,
        [&](auto kind) {
          using T = decltype(kind);
          eachPack<T>(work, work.channels, [&](int64_t i) { unpoolPlanes<T, width<T>>(work, i); });
        },
        [&](Element element, void* stream) { return launchPlanePoolGradient(work, element, stream); });
    return {to};
  }
};

struct PlaneSpreadFunction : torch::autograd::Function<PlaneSpreadFunction> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& given, const at::Tensor& givenMap) {
    const at::Tensor volume = channelsLast(given), map = channelsLast(givenMap), to = at::empty_like(volume);
    const PlaneSpread work{sizesOf(volume), volume.data_ptr(), map.data_ptr(), to.data_ptr()};
    runAs(
        volume,
        [&](auto kind) {
          using T = decltype(kind);
          eachPack<T>(work, work.channels, [&](int64_t i) { spreadPlanes<T, width<T>>(work, i); });
        },
        [&](Element element, void* stream) { return launchPlaneSpread(work, element, stream); });
    return to;
  }

  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    const at::Tensor by = channelsLast(gradients[0]), to = emptyMap(by, by.size(1), by.scalar_type());
    const PlaneSum work{sizesOf(by), by.data_ptr(), to.data_ptr()};
    runAs(
        by,
        [&](auto kind) {
          using T = decltype(kind);
          eachPack<T>(work, work.channels, [&](int64_t i) { sumPlanes<T, width<T>>(work, i); });
        },
        [&](Element element, void* stream) { return launchPlaneSum(work, element, stream); });
    return {by, to};
  }
};

/** The tensors of InFocus, in the order volume, images, p. */
template <class W> InFocus<W> inFocusOf(const variable_list& from, const at::Tensor& to) {
  InFocus<W> work{};
  static_cast<PlaneSizes&>(work) = sizesOf(from[0]);
  work.volume = from[0].data_ptr(), work.images = from[1].data_ptr<W>(), work.probability = from[2].data_ptr<W>(), work.to = to.data_ptr();
  work.width = static_cast<int>(from[0].size(4));
  return work;
}

template <class W> InFocusGradient<W> inFocusGradientOf(const variable_list& from, const at::Tensor& by, const at::Tensor& to, const at::Tensor& toProbability) {
  return {inFocusOf<W>(from, to), by.data_ptr(), toProbability.data_ptr<W>()};
}

struct InFocusFunction : torch::autograd::Function<InFocusFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& volume, const at::Tensor& images, const at::Tensor& p) {
    const variable_list from{channelsLast(volume), images.contiguous(), p.contiguous()};
    const at::Tensor to = emptyMap(volume, volume.size(1) + CELL_CHANNELS, volume.scalar_type());
    runAs(
        to,
        [&](auto kind) {
          using T = decltype(kind);
          const auto work = inFocusOf<Wide<T>>(from, to);
          eachPack<T>(work, work.channels + CELL_CHANNELS, [&](int64_t i) { sumInFocus<T, width<T>>(work, i); });
        },
        [&](Element element, void* stream) { return launchInFocus(inFocusOf<float>(from, to), element, stream); });
    context->save_for_backward(from);
    return to;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list from = context->get_saved_variables();
    const at::Tensor by = channelsLast(gradients[0]), to = at::empty_like(from[0]), toProbability = at::empty_like(from[2]);
    runAs(
        to,
        [&](auto kind) {
          using T = decltype(kind);
          const auto work = inFocusGradientOf<Wide<T>>(from, by, to, toProbability);
          for (int64_t i = 0; i < from[2].numel(); i++) unsumInFocus<T, width<T>>(work, i);
        },
        [&](Element element, void* stream) { return launchInFocusGradient(inFocusGradientOf<float>(from, by, to, toProbability), element, stream); });
    return {to, at::Tensor(), toProbability};
  }
};

const at::Tensor& volumeOf(const Arguments& arguments) {
  const at::Tensor& volume = arguments.tensor(0, "volume");
  checkType(volume, "volume");
  const int64_t pack = volume.scalar_type() == at::kDouble ? width<double> : 16 / static_cast<int64_t>(volume.element_size());
  if (volume.dim() != 5 || volume.numel() == 0 || volume.size(1) % pack != 0 || volume.size(2) > 255)
    throw std::invalid_argument("volume: expected [B, C, N, h, w] with a multiple of " + std::to_string(pack) + " channels and at most 255 planes");
  return volume;
}

/** planePool(volume): [mean and maximum over the planes, [B, 2C, h, w]; the volume for its other uses], with gradients. */
napi_value planePool(napi_env env, const Arguments& arguments) {
  return wrapAll(env, PlanePoolFunction::apply(volumeOf(arguments)));
}

/** planeSpread(volume, map): volume [B, C, N, h, w] + map [B, C, h, w] at each plane, with gradients. */
napi_value planeSpread(napi_env env, const Arguments& arguments) {
  const at::Tensor &volume = volumeOf(arguments), &map = arguments.tensor(1, "map");
  checkAlike(map, volume, "map");
  const std::vector<int64_t> sizes{volume.size(0), volume.size(1), volume.size(3), volume.size(4)};
  if (map.sizes() != at::IntArrayRef(sizes)) throw std::invalid_argument("map: expected [B, C, h, w] of the volume");
  return wrap(env, PlaneSpreadFunction::apply(volume, map));
}

/** inFocus(volume, images, p): Σ_n p_n of the volume and of the images in cells of 4×4 pixels, [B, C + 48, h, w], with gradients but by the images. */
napi_value inFocus(napi_env env, const Arguments& arguments) {
  const at::Tensor &volume = volumeOf(arguments), &images = arguments.tensor(1, "images"), &p = arguments.tensor(2, "p");
  checkWide(images, volume, {volume.size(0), volume.size(2), 3, CELL * volume.size(3), CELL * volume.size(4)}, "images");
  checkWide(p, volume, {volume.size(0), 1, volume.size(2), volume.size(3), volume.size(4)}, "p");
  return wrap(env, InFocusFunction::apply(volume, images, p));
}

} // namespace

void registerTrainPlanes(napi_env env, napi_value exports) {
  define<planePool>(env, exports, "planePool");
  define<planeSpread>(env, exports, "planeSpread");
  define<inFocus>(env, exports, "inFocus");
}

} // namespace dualfocus

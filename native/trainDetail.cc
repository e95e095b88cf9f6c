// The entry of trainDetail.h: its operator for autograd, and its implementation for the CPU.
#include "trainDetail.h"

#include "trainHost.h"

namespace dualfocus {

namespace {

#include "fuseKernel.h"
#include "trainWide.h"
#include "trainDetailKernel.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/** `from`: images [B, N, 3, H, W] and filters [F, 3, 3, 3]. */
template <class W> Responses<W> responsesOf(const variable_list& from) {
  const at::Tensor &images = from[0], &filters = from[1];
  return {images.data_ptr<W>(), filters.data_ptr<W>(), images.size(0), static_cast<int>(images.size(1)), static_cast<int>(filters.size(0)),
          static_cast<int>(images.size(3) / SIDE), static_cast<int>(images.size(4) / SIDE)};
}

template <class W> DetailEnergies<W> energiesOf(const variable_list& from, const variable_list& to) {
  return {responsesOf<W>(from), to[0].data_ptr<W>(), to[1].data_ptr<W>()};
}

template <class W> DetailGradient<W> gradientOf(const variable_list& from, const variable_list& by, const at::Tensor& groups) {
  return {responsesOf<W>(from), by[0].data_ptr<W>(), by[1].data_ptr<W>(), groups.data_ptr<W>()};
}

/** Calls `once` for each filter, stack and cell. */
template <class W, class Once> void eachCell(const Responses<W>& work, Once once) {
  for (int filter = 0; filter < work.count; filter++)
    for (int64_t stack = 0; stack < work.stacks; stack++)
      for (int cell = 0; cell < work.height * work.width; cell++) once(filter, stack, cell);
}

/** `groups` is [F, 1, 27] here. */
template <class W> void differentiate(const DetailGradient<W>& work) {
  std::fill_n(work.groups, work.count * TAPS, W(0));
  eachCell(work, [&](int filter, int64_t stack, int cell) { addGradients(work, stack, filter, cell, work.groups + filter * TAPS); });
}

int64_t groupsFor(const at::Tensor& images) {
#ifdef DUALFOCUS_NVCC
  if (!images.is_cpu()) return detailGroups(images.size(0), images.size(3) * images.size(4) / PIXELS_OF_CELL);
#else
  (void)images;
#endif
  return 1;
}

/** Row-major, and read four pixels at a time. */
at::Tensor aligned(const at::Tensor& images) {
  const at::Tensor rows = images.contiguous();
  return reinterpret_cast<uintptr_t>(rows.data_ptr()) % (SIDE * rows.element_size()) == 0 ? rows : rows.clone();
}

struct DetailFunction : torch::autograd::Function<DetailFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& images, const at::Tensor& filters) {
    const variable_list from{aligned(images), filters.contiguous()};
    const std::vector<int64_t> sizes{images.size(0) * images.size(1), filters.size(0), images.size(3) / SIDE, images.size(4) / SIDE};
    const variable_list to{at::empty(sizes, images.options()), at::empty(sizes, images.options())};
    runAs(
        images,
        [&](auto kind) {
          using W = Wide<decltype(kind)>;
          const auto work = energiesOf<W>(from, to);
          eachCell(work, [&](int filter, int64_t stack, int cell) { measureCell(work, stack, filter, cell); });
        },
        [&](Element, void* stream) { return launchDetailEnergies(energiesOf<float>(from, to), stream); });
    context->save_for_backward(from);
    return to;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list from = context->get_saved_variables();
    const at::Tensor &images = from[0], &filters = from[1];
    const auto given = [&](int i) {
      const at::Tensor& by = gradients[i];
      return by.defined() ? by.contiguous() : at::zeros({images.size(0) * images.size(1), filters.size(0), images.size(3) / SIDE, images.size(4) / SIDE}, images.options());
    };
    const variable_list by{given(0), given(1)};
    const at::Tensor groups = at::empty({filters.size(0), groupsFor(images), TAPS}, filters.options());
    runAs(
        images, [&](auto kind) { differentiate(gradientOf<Wide<decltype(kind)>>(from, by, groups)); },
        [&](Element, void* stream) { return launchDetailGradient(gradientOf<float>(from, by, groups), stream); });
    return {at::Tensor(), groups.sum(1).view(filters.sizes())};
  }
};

struct LogOptions {
  int64_t planes;
  double floor, centre, scale;
};

/** `from`: energies and changes, [B · N, F, h, w]; `to`: [B, 3F, N, h, w], the channels innermost. */
template <class W> DetailLogs<W> logsOf(const variable_list& from, const at::Tensor& to, const LogOptions& options) {
  const at::Tensor& energies = from[0];
  return {energies.data_ptr<W>(), from[1].data_ptr<W>(), to.data_ptr<W>(), energies.size(0) / options.planes, energies.size(2) * energies.size(3),
          static_cast<int>(options.planes), static_cast<int>(energies.size(1)), static_cast<W>(options.floor), static_cast<W>(options.centre), static_cast<W>(options.scale)};
}

template <class W> DetailLogsGradient<W> logsGradientOf(const variable_list& from, const at::Tensor& by, const variable_list& to, const LogOptions& options) {
  return {logsOf<W>(from, by, options), by.data_ptr<W>(), to[0].data_ptr<W>(), to[1].data_ptr<W>()};
}

struct LogsFunction : torch::autograd::Function<LogsFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& energies, const at::Tensor& changes, int64_t planes, double floor, double centre, double scale) {
    const variable_list from{energies.contiguous(), changes.contiguous()};
    const LogOptions options{planes, floor, centre, scale};
    const at::Tensor to = at::empty({energies.size(0) / planes, 3 * energies.size(1), planes, energies.size(2), energies.size(3)},
                                    energies.options().memory_format(at::MemoryFormat::ChannelsLast3d));
    runAs(
        to,
        [&](auto kind) {
          const auto work = logsOf<Wide<decltype(kind)>>(from, to, options);
          for (int64_t i = 0; i < work.stacks * work.count * work.area; i++) writeLogs(work, i);
        },
        [&](Element, void* stream) { return launchDetailLogs(logsOf<float>(from, to, options), stream); });
    context->save_for_backward(from);
    context->saved_data["planes"] = planes;
    context->saved_data["floor"] = floor;
    context->saved_data["centre"] = centre;
    context->saved_data["scale"] = scale;
    return to;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list from = context->get_saved_variables();
    const LogOptions options{context->saved_data["planes"].toInt(), context->saved_data["floor"].toDouble(), context->saved_data["centre"].toDouble(),
                             context->saved_data["scale"].toDouble()};
    const at::Tensor by = gradients[0].contiguous(at::MemoryFormat::ChannelsLast3d);
    const variable_list to{at::empty_like(from[0]), at::empty_like(from[1])};
    runAs(
        by,
        [&](auto kind) {
          const auto work = logsGradientOf<Wide<decltype(kind)>>(from, by, to, options);
          for (int64_t i = 0; i < work.stacks * work.count * work.area; i++) unwriteLogs(work, i);
        },
        [&](Element, void* stream) { return launchDetailLogsGradient(logsGradientOf<float>(from, by, to, options), stream); });
    const at::Tensor none;
    return {to[0], to[1], none, none, none, none};
  }
};

void checkDetail(const at::Tensor& tensor, const char* name) {
  if (tensor.scalar_type() != at::kFloat && !(tensor.scalar_type() == at::kDouble && tensor.is_cpu()))
    throw std::invalid_argument(std::string(name) + ": expected f32 (or f64 on the CPU)");
}

/** detailLogs(energies, changes, planes, floor, centre, scale): both [B · N, F, h, w]; see DetailLogs. Returns [B, 3F, N, h, w], with gradients. */
napi_value detailLogs(napi_env env, const Arguments& arguments) {
  const at::Tensor &energies = arguments.tensor(0, "energies"), &changes = arguments.tensor(1, "changes");
  const int64_t planes = arguments.integer(2, "planes");
  checkDetail(energies, "energies");
  if (energies.dim() != 4 || energies.numel() == 0 || planes < 1 || energies.size(0) % planes != 0) throw std::invalid_argument("energies: expected [B · N, F, h, w]");
  checkWide(changes, energies, energies.sizes(), "changes");
  return wrap(env, LogsFunction::apply(energies, changes, planes, arguments.number(3, "floor"), arguments.number(4, "centre"), arguments.number(5, "scale")));
}

/**
 * detailEnergies(images, filters): of images [B, N, 3, H, W] and filters [F, 3, 3, 3], the means of r_n² and of (r_{n+1} − r_n)² over cells of
 * 4×4 pixels, both [B · N, F, H/4, W/4], with the gradient of the filters.
 */
napi_value detailEnergies(napi_env env, const Arguments& arguments) {
  const at::Tensor &images = arguments.tensor(0, "images"), &filters = arguments.tensor(1, "filters");
  checkDetail(images, "images");
  if (images.dim() != 5 || images.numel() == 0 || images.size(1) < 2 || images.size(2) != 3 || images.size(3) % SIDE != 0 || images.size(4) % SIDE != 0)
    throw std::invalid_argument("images: expected [B, N, 3, H, W] of at least two planes, H and W multiples of 4");
  if (filters.dim() != 4 || filters.numel() == 0 || filters.size(0) > 65535) throw std::invalid_argument("filters: expected [F, 3, 3, 3]");
  checkWide(filters, images, {filters.size(0), 3, 3, 3}, "filters");
  return wrapAll(env, DetailFunction::apply(images, filters));
}

} // namespace

void registerTrainDetail(napi_env env, napi_value exports) {
  define<detailEnergies>(env, exports, "detailEnergies");
  define<detailLogs>(env, exports, "detailLogs");
}

} // namespace dualfocus

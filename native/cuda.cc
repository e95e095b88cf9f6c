// CUDA: streams, memory figures, graphs and event timing. A build without CUDA has the same entries; they throw.
#include "entries.h"

#include <ATen/Context.h>

#ifdef DUALFOCUS_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#endif

#include <memory>
#include <set>

namespace dualfocus {

namespace {

[[maybe_unused]] napi_value withoutCuda(napi_env, const Arguments&) {
  throw std::runtime_error("this addon was built against a libtorch without CUDA; point `npm run build:native` at a PyTorch with CUDA");
}

napi_value cudaAvailable(napi_env env, const Arguments&) {
#ifdef DUALFOCUS_CUDA
  return makeBoolean(env, at::hasCUDA() && c10::cuda::device_count() > 0);
#else
  return makeBoolean(env, false);
#endif
}

/** setFastMath(tf32, cudnnBenchmark): TensorFloat-32 in matrix products and convolutions; time cuDNN's algorithms and use the fastest. */
napi_value setFastMath(napi_env env, const Arguments& arguments) {
  const bool tf32 = arguments.boolean(0, "tf32");
  const bool benchmark = arguments.boolean(1, "cudnnBenchmark");
  at::globalContext().setAllowTF32CuBLAS(tf32);
  at::globalContext().setAllowTF32CuDNN(tf32);
  at::globalContext().setBenchmarkCuDNN(benchmark);
  return makeUndefined(env);
}

#ifdef DUALFOCUS_CUDA

c10::DeviceIndex deviceIndex(const Arguments& arguments) {
  const at::Device device = parseDevice(arguments.string(0, "device"));
  if (!device.is_cuda()) throw std::invalid_argument("device: expected cuda or cuda:N, got " + device.str());
  const c10::DeviceIndex count = c10::cuda::device_count();
  const c10::DeviceIndex index = device.has_index() ? device.index() : c10::DeviceIndex(0);
  if (count == 0) throw std::invalid_argument("no CUDA device was found; is a driver installed?");
  if (index < 0 || index >= count)
    throw std::invalid_argument(device.str() + " does not exist; there are " + std::to_string(static_cast<int>(count)) + " CUDA devices");
  return index;
}

/**
 * useCuda(device): makes the device current, with a stream of its own. Everything runs on that stream from then on, since
 * work on the default stream cannot be captured, and a gradient's work follows the stream its forward ran on.
 */
napi_value useCuda(napi_env env, const Arguments& arguments) {
  const c10::DeviceIndex index = deviceIndex(arguments);
  c10::cuda::set_device(index);
  if (c10::cuda::getCurrentCUDAStream(index) == c10::cuda::getDefaultCUDAStream(index))
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, index));
  return makeUndefined(env);
}

napi_value synchronize(napi_env env, const Arguments&) {
  c10::cuda::device_synchronize();
  return makeUndefined(env);
}

void setNumber(napi_env env, napi_value object, const char* name, double value) {
  check(env, napi_set_named_property(env, object, name, makeNumber(env, value)));
}

/** cudaMemory(device): bytes of PyTorch's caching allocator, and those of the device that nobody has. */
napi_value cudaMemory(napi_env env, const Arguments& arguments) {
  const c10::DeviceIndex index = deviceIndex(arguments);
  const c10::cuda::CUDAGuard guard(index);
  at::empty({1}, at::Device(at::kCUDA, index)); // the allocator knows no device before its first tensor
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index);
  size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  constexpr size_t aggregate = 0; // StatType::AGGREGATE, whose namespace moved between versions
  napi_value result;
  check(env, napi_create_object(env, &result));
  setNumber(env, result, "allocated", static_cast<double>(stats.allocated_bytes[aggregate].current));
  setNumber(env, result, "reserved", static_cast<double>(stats.reserved_bytes[aggregate].current));
  setNumber(env, result, "peak", static_cast<double>(stats.allocated_bytes[aggregate].peak));
  setNumber(env, result, "free", static_cast<double>(free));
  return result;
}

using GraphBox = Box<std::shared_ptr<at::cuda::CUDAGraph>>;

at::cuda::CUDAGraph& graphOf(const Arguments& arguments) {
  GraphBox* box = GraphBox::find(arguments.env, arguments[0]);
  if (!box || box->disposed) throw std::invalid_argument("graph: expected a live CUDA graph, got " + kindOf(arguments.env, arguments[0]));
  return *box->value;
}

/**
 * captureBegin(): until captureEnd, work on the current stream is recorded instead of run. Live graphs share one memory pool: they
 * run one after another, so a graph may use what another has freed (steps for several plane counts need only the memory of the
 * largest). A pool lives as long as its graphs; the first graph captured after all others are gone starts a new one.
 */
napi_value captureBegin(napi_env env, const Arguments&) {
  static std::weak_ptr<at::cuda::CUDAGraph> newest;
  c10::cuda::device_synchronize();
  auto graph = std::make_shared<at::cuda::CUDAGraph>();
  const auto sharer = newest.lock();
  if (sharer) graph->capture_begin(sharer->pool());
  else graph->capture_begin();
  newest = graph;
  return GraphBox::make(env, std::move(graph));
}

napi_value captureEnd(napi_env env, const Arguments& arguments) {
  graphOf(arguments).capture_end();
  return makeUndefined(env);
}

napi_value replay(napi_env env, const Arguments& arguments) {
  graphOf(arguments).replay();
  return makeUndefined(env);
}

napi_value disposeGraph(napi_env env, const Arguments& arguments) {
  GraphBox* box = GraphBox::find(env, arguments[0]);
  if (!box) throw std::invalid_argument("graph: expected a CUDA graph, got " + kindOf(env, arguments[0]));
  c10::cuda::device_synchronize(); // a replay may still be running
  box->dispose(env);
  return makeUndefined(env);
}

struct EventDelete {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::shared_ptr<CUevent_st>;
using EventBox = Box<Event>;

cudaEvent_t eventOf(const Arguments& arguments, size_t index) {
  EventBox* box = EventBox::find(arguments.env, arguments[index]);
  if (!box || box->disposed) throw std::invalid_argument("event: expected a CUDA event, got " + kindOf(arguments.env, arguments[index]));
  return box->value.get();
}

/** recordEvent(): a mark in the current stream. */
napi_value recordEvent(napi_env env, const Arguments&) {
  cudaEvent_t raw = nullptr;
  C10_CUDA_CHECK(cudaEventCreate(&raw));
  Event event(raw, EventDelete());
  C10_CUDA_CHECK(cudaEventRecord(raw, c10::cuda::getCurrentCUDAStream().stream()));
  return EventBox::make(env, std::move(event));
}

/** elapsed(from, to): milliseconds on the device; waits for both. */
napi_value elapsed(napi_env env, const Arguments& arguments) {
  float milliseconds = 0;
  C10_CUDA_CHECK(cudaEventSynchronize(eventOf(arguments, 1)));
  C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, eventOf(arguments, 0), eventOf(arguments, 1)));
  return makeNumber(env, milliseconds);
}

/** profileBegin(): records every kernel and copy until profileEnd. The first call loads the tracer, which takes a while. */
napi_value profileBegin(napi_env env, const Arguments&) {
  namespace profiler = torch::profiler::impl;
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  const std::set<profiler::ActivityType> activities{profiler::ActivityType::CUDA};
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  return makeUndefined(env);
}

/** profileEnd(path): writes the record as a Chrome trace. */
napi_value profileEnd(napi_env env, const Arguments& arguments) {
  const std::string path = arguments.string(0, "path");
  c10::cuda::device_synchronize();
  torch::autograd::profiler::disableProfiler()->save(path);
  return makeUndefined(env);
}

#else

constexpr Body useCuda = withoutCuda, synchronize = withoutCuda, cudaMemory = withoutCuda, captureBegin = withoutCuda,
               captureEnd = withoutCuda, replay = withoutCuda, disposeGraph = withoutCuda, recordEvent = withoutCuda,
               elapsed = withoutCuda, profileBegin = withoutCuda, profileEnd = withoutCuda;

#endif

} // namespace

void registerCuda(napi_env env, napi_value exports) {
  define<cudaAvailable>(env, exports, "cudaAvailable");
  define<setFastMath>(env, exports, "setFastMath");
  define<useCuda>(env, exports, "useCuda");
  define<synchronize>(env, exports, "synchronize");
  define<cudaMemory>(env, exports, "cudaMemory");
  define<captureBegin>(env, exports, "captureBegin");
  define<captureEnd>(env, exports, "captureEnd");
  define<replay>(env, exports, "replay");
  define<disposeGraph>(env, exports, "disposeGraph");
  define<recordEvent>(env, exports, "recordEvent");
  define<elapsed>(env, exports, "elapsed");
  define<profileBegin>(env, exports, "profileBegin");
  define<profileEnd>(env, exports, "profileEnd");
}

} // namespace dualfocus

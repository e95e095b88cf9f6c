// Training on several processes: one process per device, weights broadcast, gradients summed (c10d).
#include "entries.h"

#if defined(USE_C10D_GLOO) || defined(USE_C10D_NCCL)
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#define DUALFOCUS_COLLECTIVES
#endif

#include <chrono>
#include <cstdlib>

namespace dualfocus {

namespace {

#ifdef DUALFOCUS_COLLECTIVES

#if TORCH_VERSION_MAJOR >= 2
using Backend = c10d::Backend;
#else
using Backend = c10d::ProcessGroup;
#endif
using GroupBox = Box<c10::intrusive_ptr<Backend>>;
using Milliseconds = std::chrono::milliseconds;

struct Membership {
  c10::intrusive_ptr<c10d::Store> store;
  std::string host;
  int rank;
  int size;
  Milliseconds timeout;
};

c10::intrusive_ptr<Backend> joinGloo([[maybe_unused]] const Membership& member) {
#ifdef USE_C10D_GLOO
  using Gloo = c10d::ProcessGroupGloo;
  const bool local = member.host == "localhost" || member.host == "127.0.0.1";
  auto options = Gloo::Options::create(member.timeout);
  options->devices.push_back(local ? Gloo::createDeviceForHostname("127.0.0.1") : Gloo::createDefaultDevice());
  options->threads = 2;
  return c10::make_intrusive<Gloo>(member.store, member.rank, member.size, options);
#else
  throw std::invalid_argument("backend: this addon was built without Gloo (apt-get install libgloo-dev, then build again)");
#endif
}

c10::intrusive_ptr<Backend> joinNccl([[maybe_unused]] const Membership& member) {
#ifdef USE_C10D_NCCL
  // Otherwise a lost peer ends the process from a watchdog thread instead of failing the call.
  setenv("TORCH_NCCL_BLOCKING_WAIT", "1", /*replace=*/0);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = member.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(member.store, member.rank, member.size, options);
#else
  throw std::invalid_argument("backend: this addon was built without NCCL, which needs a PyTorch with CUDA and nccl.h");
#endif
}

/**
 * joinGroup(host, port, rank, size, backend, timeoutSeconds, serves, prefix): returns when all members have joined. The member
 * that `serves` runs the store at host:port; if none does, the store must already exist. `prefix` separates this group's keys from others.
 */
napi_value joinGroup(napi_env env, const Arguments& arguments) {
  Membership member;
  member.host = arguments.string(0, "host");
  const int64_t port = arguments.integer(1, "port");
  const int64_t rank = arguments.integer(2, "rank");
  const int64_t size = arguments.integer(3, "size");
  const std::string backend = arguments.string(4, "backend");
  const double seconds = arguments.number(5, "timeout");
  const bool serves = arguments.boolean(6, "serves");
  const std::string prefix = arguments.string(7, "prefix");
  if (port < 1 || port > 65535) throw std::invalid_argument("port: expected 1 to 65535");
  if (size < 1 || size > 100000) throw std::invalid_argument("size: expected at least 1");
  if (rank < 0 || rank >= size) throw std::invalid_argument("rank: expected 0 to size - 1");
  if (!(seconds > 0 && seconds < 1e6)) throw std::invalid_argument("timeout: expected a positive number of seconds");
  if (backend != "gloo" && backend != "nccl") throw std::invalid_argument("backend: expected gloo or nccl, got \"" + backend + "\"");
  member.rank = static_cast<int>(rank);
  member.size = static_cast<int>(size);
  member.timeout = Milliseconds(static_cast<int64_t>(seconds * 1000));

  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  options.isServer = serves;
  options.numWorkers = static_cast<size_t>(size);
  options.timeout = member.timeout;
  member.store = c10::make_intrusive<c10d::PrefixStore>(prefix, c10::make_intrusive<c10d::TCPStore>(member.host, options));
  return GroupBox::make(env, backend == "gloo" ? joinGloo(member) : joinNccl(member));
}

Backend& groupOf(const Arguments& arguments) {
  GroupBox* box = GroupBox::find(arguments.env, arguments[0]);
  if (!box || box->disposed) throw std::invalid_argument("group: expected a process group, got " + kindOf(arguments.env, arguments[0]));
  return *box->value;
}

std::vector<at::Tensor> dense(const Arguments& arguments) {
  at::Tensor tensor = arguments.tensor(1, "tensor").detach();
  if (!tensor.is_contiguous()) throw std::invalid_argument("tensor: must be contiguous in memory");
  return {tensor};
}

/** broadcast(group, tensor, root): root's values overwrite everyone's. */
napi_value broadcast(napi_env env, const Arguments& arguments) {
  Backend& group = groupOf(arguments);
  auto tensors = dense(arguments);
  c10d::BroadcastOptions options;
  options.rootRank = arguments.integer(2, "root");
  if (options.rootRank < 0 || options.rootRank >= group.getSize()) throw std::invalid_argument("root: expected 0 to size - 1");
  group.broadcast(tensors, options)->wait();
  return makeUndefined(env);
}

/** allReduce(group, tensor): the sum over the group, in place. */
napi_value allReduce(napi_env env, const Arguments& arguments) {
  Backend& group = groupOf(arguments);
  auto tensors = dense(arguments);
  group.allreduce(tensors)->wait();
  return makeUndefined(env);
}

napi_value leaveGroup(napi_env env, const Arguments& arguments) {
  GroupBox* box = GroupBox::find(env, arguments[0]);
  if (!box) throw std::invalid_argument("group: expected a process group, got " + kindOf(env, arguments[0]));
  box->dispose(env);
  return makeUndefined(env);
}

#else

napi_value withoutCollectives(napi_env, const Arguments&) {
  throw std::runtime_error("this addon was built without collectives (apt-get install libgloo-dev, then build again)");
}
constexpr Body joinGroup = withoutCollectives, broadcast = withoutCollectives, allReduce = withoutCollectives,
               leaveGroup = withoutCollectives;

#endif

} // namespace

void registerDistributed(napi_env env, napi_value exports) {
  define<joinGroup>(env, exports, "joinGroup");
  define<broadcast>(env, exports, "broadcast");
  define<allReduce>(env, exports, "allReduce");
  define<leaveGroup>(env, exports, "leaveGroup");
}

} // namespace dualfocus
